/* SPDX-License-Identifier: MIT */
/*
 * Begins and ends a recording. `linewise record` says what to do by the environment:
 *
 *   LINEWISE_LOG     where the log goes; absent: nothing is recorded
 *   LINEWISE_MODE    log, count (how many accesses are watched, no log of them), filter (none are)
 *   LINEWISE_WATCH   NAME[=TYPE],...: these variables alone; absent: all of the program's
 *   LINEWISE_MAX     bytes that the log may have
 */
#include "coherence/runtime/runtime.h"

#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "coherence/runtime/accesses.h"
#include "coherence/symbols.h"

#define PATH_BYTES 4096
#define MAX_BYTES_DEFAULT ((uint64_t)1 << 30)
/* Enough for the clock, 50 us altogether. */
#define COST_CALLS 500u
#define COST_BATCHES 8u

static uint64_t costs_ps[3];
const uint64_t *rt_costs_ps = costs_ps;
static bool recording;

/* The main program: the first that is shown. */
static int visit_program(struct dl_phdr_info *info, size_t bytes, void *found)
{
    *(struct dl_phdr_info *)found = *info;
    return 1;
}

static bool program_path(char *path)
{
    ssize_t length = readlink("/proc/self/exe", path, PATH_BYTES - 1);
    if (length < 0)
        return false;
    path[length] = '\0';
    return true;
}

static void watch_segments(const struct dl_phdr_info *program)
{
    for (unsigned i = 0; i < program->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &program->dlpi_phdr[i];
        if (segment->p_type == PT_LOAD && (segment->p_flags & PF_W) != 0)
            rt_watch(program->dlpi_addr + segment->p_vaddr, segment->p_memsz, NULL);
    }
}

/* One NAME[=TYPE], which is @length long. */
static bool watch_symbol(const struct coherence_symbols *symbols, const char *text, size_t length,
                         uint64_t bias)
{
    const char *equals = memchr(text, '=', length);
    size_t name_length = equals != NULL ? (size_t)(equals - text) : length;
    char type[LOG_NAME_MAX + 1] = "";
    size_t type_length = equals != NULL ? length - name_length - 1 : 0;
    if (type_length > LOG_NAME_MAX)
        return false;
    if (type_length > 0)
        memcpy(type, equals + 1, type_length);
    struct coherence_symbol symbol;
    bool found = false;
    for (size_t at = 0; coherence_symbols_next(symbols, &at, &symbol);)
        if (strncmp(symbol.name, text, name_length) == 0 && symbol.name[name_length] == '\0') {
            rt_watch(symbol.address + bias, symbol.bytes, type);
            found = true;
        }
    return found;
}

void rt_watch_globals(const char *text)
{
    struct dl_phdr_info program;
    struct coherence_symbols symbols;
    char path[PATH_BYTES];
    dl_iterate_phdr(visit_program, &program);
    if (text == NULL) {
        watch_segments(&program);
        return;
    }
    if (!program_path(path) || !coherence_symbols_open(&symbols, path)) {
        rt_say("the program has no symbol table: --watch finds nothing (was it stripped?)");
        return;
    }
    while (*text != '\0') {
        size_t length = strcspn(text, ",");
        if (length > 0 && !watch_symbol(&symbols, text, length, program.dlpi_addr))
            rt_say("the program has no variable %.*s", (int)length, text);
        text += length + (text[length] == ',');
    }
    coherence_symbols_close(&symbols);
}

/* The least of some batches: others may have the CPU meanwhile. */
static uint64_t cost_ps(const void *object)
{
    uint64_t least = UINT64_MAX;
    for (unsigned batch = 0; batch < COST_BATCHES; batch++) {
        uint64_t begin = rt_clock_ns();
        for (unsigned i = 0; i < COST_CALLS; i++) {
            rt_access(object, 1, LOG_READ);
            __asm__ __volatile__("" ::: "memory");
        }
        uint64_t ps = (rt_clock_ns() - begin) * 1000 / COST_CALLS;
        if (ps < least)
            least = ps;
    }
    return least;
}

/* What a call costs here in each mode. The records of it are thrown away. */
static void measure_costs(void)
{
    static const char probe[128] __attribute__((aligned(64)));
    struct rt_thread *self = &rt_self;
    costs_ps[0] = cost_ps(probe);
    rt_set_mode(RT_LOG);
    rt_watch((uintptr_t)probe, 64, NULL);
    rt_set_mode(RT_COUNT);
    cost_ps(probe);
    costs_ps[1] = cost_ps(probe);
    rt_set_mode(RT_LOG);
    cost_ps(probe); /* touches the pages of the buffer */
    self->record_count = 0;
    costs_ps[2] = cost_ps(probe);
    rt_unwatch((uintptr_t)probe);
    rt_set_mode(RT_OFF);
    self->record_count = 0;
    self->filtered = self->counted = self->logged = self->lost = 0;
    self->unlogged = 0;
}

static void finish(void)
{
    if (!__atomic_exchange_n(&recording, false, __ATOMIC_ACQ_REL))
        return;
    rt_set_mode(RT_OFF);
    rt_self.inside = true;
    rt_log_close();
}

/* A server is ended by a signal more often than by itself. */
static void on_signal(int number)
{
    /* Who was interrupted inside of the runtime may hold its lock. */
    if (rt_self.inside)
        rt_say("signal %d came at a bad moment; the log is torn", number);
    else
        finish();
    signal(number, SIG_DFL);
    raise(number);
}

static void catch_signals(void)
{
    static const int numbers[] = {SIGTERM, SIGINT, SIGHUP};
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        struct sigaction old;
        struct sigaction new = {.sa_handler = on_signal};
        if (sigaction(numbers[i], NULL, &old) == 0 && old.sa_handler == SIG_DFL)
            sigaction(numbers[i], &new, NULL);
    }
}

static enum rt_mode mode_of(const char *text)
{
    if (text != NULL && strcmp(text, "count") == 0)
        return RT_COUNT;
    return text != NULL && strcmp(text, "filter") == 0 ? RT_FILTER : RT_LOG;
}

static void start_once(void)
{
    const char *log = getenv("LINEWISE_LOG"), *max = getenv("LINEWISE_MAX");
    char path[PATH_BYTES];
    if (log == NULL || !rt_log_open(log, max != NULL ? strtoull(max, NULL, 10) : MAX_BYTES_DEFAULT))
        return;
    enum rt_mode mode = mode_of(getenv("LINEWISE_MODE"));
    struct dl_phdr_info program;
    dl_iterate_phdr(visit_program, &program);
    measure_costs();
    rt_set_mode(RT_LOG); /* so that objects are written down */
    if (program_path(path))
        rt_log_module(path, program.dlpi_addr);
    if (mode != RT_FILTER)
        rt_watch_globals(getenv("LINEWISE_WATCH"));
    recording = true;
    rt_set_mode(mode);
    atexit(finish);
    catch_signals();
}

void rt_start(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, start_once);
}

/* Programs whose own start-up code is not instrumented never call __tsan_init. */
__attribute__((constructor)) static void start_early(void)
{
    rt_start();
}
