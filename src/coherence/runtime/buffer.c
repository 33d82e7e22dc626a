/* SPDX-License-Identifier: MIT */
/*
 * Threads, their buffers, and the log file.
 *
 * A buffer that is full is written as a whole with one write(2), so records of different threads
 * lie in the file in runs; the reader merges them by time. Past the file's bound records are lost
 * and counted.
 */
#include "coherence/runtime/runtime.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

__thread struct rt_thread rt_self __attribute__((tls_model("initial-exec")));

static int file = -1;
static uint64_t file_records, file_records_max;
static uint64_t totals[LOG_TOTALS];
static struct rt_thread *threads; /* that are running */
static uint32_t thread_count;     /* ever */
static pthread_key_t at_exit_key;
static bool has_key;
static uint64_t began_ticks, began_ns;
static bool locked;

uint64_t rt_clock_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

void rt_lock(void)
{
    while (__atomic_exchange_n(&locked, true, __ATOMIC_ACQUIRE)) /* pairs with rt_unlock */
        sched_yield();
}

void rt_unlock(void)
{
    __atomic_store_n(&locked, false, __ATOMIC_RELEASE); /* pairs with rt_lock */
}

void *rt_map(size_t bytes)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

void rt_say(const char *format, ...)
{
    char line[512] = "linewise record: ";
    size_t used = strlen(line);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line + used, sizeof(line) - used - 1, format, arguments);
    va_end(arguments);
    used = strlen(line);
    line[used++] = '\n';
    if (write(STDERR_FILENO, line, used) < 0)
        return; /* nobody listens */
}

/* Writes all of @bytes or gives the file up. The lock is held. */
static bool write_all(const void *data, size_t bytes)
{
    const char *at = data;
    while (bytes > 0 && file >= 0) {
        ssize_t done = write(file, at, bytes);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0) {
            rt_say("write failed: %s; the log is torn", strerror(errno));
            close(file);
            file = -1;
            return false;
        }
        at += done;
        bytes -= (size_t)done;
    }
    return file >= 0;
}

/* Empties the buffer into the file. The lock is held. */
static void flush(struct rt_thread *thread)
{
    uint32_t count = thread->record_count;
    uint64_t room = file_records_max - file_records;
    thread->record_count = 0;
    if (count == 0)
        return;
    /* Names belong to their record: a buffer fits as a whole or not at all. */
    if (count > room || !write_all(thread->records, count * sizeof(struct log_record))) {
        file_records_max = file_records; /* what comes later shall not fit by luck */
        thread->lost += count;
        return;
    }
    file_records += count;
}

static void add_up(const struct rt_thread *thread)
{
    totals[LOG_TOTAL_FILTERED] += thread->filtered;
    totals[LOG_TOTAL_COUNTED] += thread->counted;
    totals[LOG_TOTAL_LOGGED] += thread->logged;
    totals[LOG_TOTAL_LOST] += thread->lost;
}

/* The thread ends. */
static void leave(void *argument)
{
    struct rt_thread *self = argument;
    rt_lock();
    flush(self);
    add_up(self);
    for (struct rt_thread **at = &threads; *at != NULL; at = &(*at)->next)
        if (*at == self) {
            *at = self->next;
            break;
        }
    rt_unlock();
    if (self->records != NULL)
        munmap(self->records, RT_BUFFER_RECORDS * sizeof(struct log_record));
    /* Destructors of other keys may still come by: they are not recorded. */
    self->records = NULL;
    self->inside = true;
}

/* The thread's first record. */
static bool join(struct rt_thread *self)
{
    self->known = true;
    self->records = rt_map(RT_BUFFER_RECORDS * sizeof(struct log_record));
    rt_lock();
    bool taken = thread_count < RT_THREADS_MAX && self->records != NULL;
    if (taken)
        self->number = (uint16_t)thread_count++;
    else
        totals[LOG_TOTAL_LOST_THREADS]++;
    self->next = threads;
    threads = self;
    rt_unlock();
    if (!taken && self->records != NULL) {
        munmap(self->records, RT_BUFFER_RECORDS * sizeof(struct log_record));
        self->records = NULL;
    }
    if (has_key)
        pthread_setspecific(at_exit_key, self);
    return taken;
}

void rt_put(struct rt_thread *self, const struct log_record *record, const char *name)
{
    size_t name_bytes = name != NULL ? strlen(name) : 0;
    uint32_t needed = 1 + (uint32_t)((name_bytes + sizeof(*record) - 1) / sizeof(*record));
    if (!self->known && !join(self)) {
        self->lost++;
        return;
    }
    if (self->records == NULL) {
        self->lost++;
        return;
    }
    if (self->record_count + needed > RT_BUFFER_RECORDS) {
        rt_lock();
        flush(self);
        rt_unlock();
    }
    struct log_record *at = &self->records[self->record_count];
    *at = *record;
    at->thread = self->number;
    if (name_bytes > 0) {
        memset(at + 1, 0, (needed - 1) * sizeof(*at));
        memcpy(at + 1, name, name_bytes);
    }
    self->record_count += needed;
}

uint16_t rt_number(void)
{
    if (!rt_self.known)
        join(&rt_self);
    return rt_self.number;
}

void rt_started(uint64_t time, uint16_t maker)
{
    struct log_record record = {.time = time, .address = maker, .kind = LOG_START};
    rt_put(&rt_self, &record, NULL);
}

/* After fork the child has the parent's buffers and file: it records nothing. */
static void in_child(void)
{
    rt_set_mode(RT_OFF);
    if (file >= 0)
        close(file);
    file = -1;
    rt_unlock();
}

bool rt_log_open(const char *path, uint64_t max_bytes)
{
    file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_APPEND, 0666);
    if (file < 0) {
        if (errno == EEXIST)
            rt_say("a process of the command is recorded already; this one (%ld) is not",
                   (long)getpid());
        else
            rt_say("%s: %s", path, strerror(errno));
        return false;
    }
    struct log_header header = {
        .version = LOG_VERSION, .layout = LOG_LAYOUT, .record_bytes = sizeof(struct log_record)};
    memcpy(header.magic, LOG_MAGIC, sizeof(header.magic));
    began_ticks = rt_now();
    began_ns = rt_clock_ns();
    file_records = 1;
    file_records_max = max_bytes / sizeof(struct log_record);
    has_key = pthread_key_create(&at_exit_key, leave) == 0;
    pthread_atfork(rt_lock, rt_unlock, in_child);
    return write_all(&header, sizeof(header));
}

void rt_log_module(const char *path, uint64_t bias)
{
    struct log_record record = {.kind = LOG_MODULE, .address = bias};
    size_t length = strlen(path);
    if (length > LOG_NAME_MAX) /* a longer one is not found again, but nothing breaks */
        return;
    record.skipped = (uint8_t)length;
    rt_put(&rt_self, &record, path);
}

static void write_record(struct log_record record)
{
    if (write_all(&record, sizeof(record)))
        file_records++;
}

void rt_log_close(void)
{
    rt_lock();
    for (struct rt_thread *thread = threads; thread != NULL; thread = thread->next) {
        if (thread->records != NULL)
            flush(thread);
        add_up(thread);
    }
    threads = NULL;
    totals[LOG_TOTAL_LOST_OBJECTS] = rt_lost_objects;
    memcpy(&totals[LOG_TOTAL_FILTER_PS], rt_costs_ps, 3 * sizeof(*totals));
    for (uint32_t i = 0; i < LOG_TOTALS; i++)
        write_record((struct log_record){.kind = LOG_TOTAL, .address = totals[i], .bytes = i});
    uint64_t ns = rt_clock_ns() - began_ns, ticks = rt_now() - began_ticks;
    uint64_t per_s = ns == 0 ? 1000000000u : (uint64_t)((double)ticks * 1e9 / (double)ns + 0.5);
    write_record((struct log_record){
        .kind = LOG_END, .time = per_s == 0 ? 1 : per_s, .address = file_records});
    if (file >= 0)
        close(file);
    file = -1;
    rt_unlock();
}
