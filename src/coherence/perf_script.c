/* SPDX-License-Identifier: MIT */
/*
 * Samples of `perf script -F comm,tid,ip,addr,data_src`; more fields may be there. A line is
 *
 *   COMM.. TID [CPU] TIME: PERIOD EVENT: ADDRESS DATA_SRC |OP LOAD|..|SNP HitM|..|LCK No|.. IP
 *
 * and is read from the bar to the left, since the name of a command may hold anything. Lines
 * without "|OP " are call chains and other events.
 */
#include "coherence/perf.h"

#include <stdlib.h>
#include <string.h>

#include <mglru/error.h>

/* Words of a line; a line has fewer. */
#define WORDS_MAX 64

struct script {
    struct perf_text *text;
    uint64_t tids[COHERENCE_THREADS_MAX]; /* by number of the thread */
    uint32_t thread_count;
};

/* The number of the thread @tid. False: there are too many. */
static bool find_thread(struct script *script, uint64_t tid, uint32_t *number)
{
    for (*number = 0; *number < script->thread_count; ++*number)
        if (script->tids[*number] == tid)
            return true;
    if (script->thread_count == COHERENCE_THREADS_MAX)
        return false;
    script->tids[script->thread_count++] = tid;
    return true;
}

/* Whether @part, "SNP HitM" say, of @operation begins with @wanted. */
static bool part_is(const char *operation, const char *part, const char *wanted)
{
    const char *found = strstr(operation, part);
    return found != NULL && strncmp(found + strlen(part), wanted, strlen(wanted)) == 0;
}

/* TID or PID/TID. */
static bool read_tid(const char *word, uint64_t *tid)
{
    const char *slash = strchr(word, '/');
    return perf_count(slash != NULL ? slash + 1 : word, tid);
}

/* The thread in the words before the address: the last number that is no period of an event. */
static bool find_tid(char *const *words, size_t count, uint64_t *tid)
{
    for (size_t i = count; i-- > 0;) {
        size_t length = strlen(words[i]);
        bool tagged = words[i][0] == '[' || words[i][length - 1] == ':';
        bool period = i + 1 < count && strpbrk(words[i + 1], "0123456789") != words[i + 1] &&
                      words[i + 1][strlen(words[i + 1]) - 1] == ':';
        if (!tagged && !period && read_tid(words[i], tid))
            return true;
    }
    return false;
}

static int add_sample(struct script *script, uint64_t address, uint64_t tid, const char *operation)
{
    struct coherence_samples *samples = script->text->samples;
    bool store = part_is(operation, "|OP ", "STORE"), load = part_is(operation, "|OP ", "LOAD");
    bool locked = part_is(operation, "|LCK ", "Yes");
    uint32_t thread;
    if ((!store && !load) || address == 0) {
        samples->left_out++;
        return MGLRU_OK;
    }
    if (!find_thread(script, tid, &thread))
        return MGLRU_EINVAL;
    int code = coherence_samples_access(samples, address, thread,
                                        locked  ? COHERENCE_ATOMIC
                                        : store ? COHERENCE_WRITE
                                                : COHERENCE_READ);
    if (code != MGLRU_OK)
        return code;
    bool met = load && (part_is(operation, "|SNP ", "HitM") || part_is(operation, "|SNP ", "Peer"));
    struct coherence_cell cell = {
        .thread = (uint16_t)thread, .stores = store || locked, .hitm = met};
    return coherence_samples_count(samples, address, cell);
}

static int read_sample(struct script *script, char *line, char *bar)
{
    char *words[WORDS_MAX];
    char operation[128];
    size_t count = 0;
    uint64_t address, source, tid;
    strncpy(operation, bar, sizeof(operation) - 1);
    operation[sizeof(operation) - 1] = '\0';
    *bar = '\0';
    for (char *word; (word = perf_next_word(&line)) != NULL; count++) {
        if (count == WORDS_MAX)
            return perf_fail_line(script->text, "more than 64 words before |OP");
        words[count] = word;
    }
    if (count < 3 || !perf_hex(words[count - 1], &source) || !perf_hex(words[count - 2], &address))
        return perf_fail_line(script->text,
                              "expected an address and data_src before |OP, as perf script "
                              "-F comm,tid,ip,addr,data_src prints them");
    if (!find_tid(words, count - 2, &tid))
        return perf_fail_line(script->text, "expected the number of a thread before the address");
    int code = add_sample(script, address, tid, operation);
    return code == MGLRU_OK ? code : perf_fail_add(script->text, code);
}

int perf_read_script(struct perf_text *text)
{
    struct script *script = calloc(1, sizeof(*script));
    int code = script != NULL ? MGLRU_OK : perf_fail_add(text, MGLRU_ENOMEM);
    if (script != NULL)
        script->text = text;
    for (char *line; code == MGLRU_OK && (line = perf_next_line(text)) != NULL;) {
        char *bar = strstr(line, PERF_OPERATION);
        if (bar != NULL)
            code = read_sample(script, line, bar);
    }
    free(script);
    return code;
}
