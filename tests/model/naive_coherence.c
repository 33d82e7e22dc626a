/* SPDX-License-Identifier: MIT */
/*
 * See naive_coherence.h. State is a history: all writes of a line, all losses of a CPU. Nothing is
 * kept that can be found by looking through the history.
 */
#include "model/naive_coherence.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"

#define LINE 64u

struct event {
    size_t access; /* index into accesses */
    uint32_t cpu;
};

struct waiting {
    struct event event;
    uint64_t end_ns;
    bool exclusive;
};

struct view {
    bool has, known;
    size_t seen; /* writes of the line when it was lost */
    long taker;  /* access that took it, or its exclusiveness; -1: none */
    bool open;   /* a false miss that may turn true */
    size_t open_seen;
};

struct line {
    uint64_t address;
    uint32_t round;
    struct event *writes;
    size_t write_count;
    struct waiting *queue; /* first is served first */
    size_t queue_count;
    uint64_t last_end_ns, last_exclusive_end_ns;
    long owner, last_reader;
    struct view views[COHERENCE_CPUS_MAX];
};

struct naive {
    const struct coherence_trace *trace;
    const struct coherence_access *accesses;
    size_t count;
    const struct coherence_options *options;
    struct naive_result *result;
    struct line *lines;
    size_t line_count;
    uint64_t clocks[COHERENCE_CPUS_MAX];
    size_t next[COHERENCE_CPUS_MAX];
    uint32_t slots;
};

static bool overlap(const struct coherence_access *a, const struct coherence_access *b)
{
    for (uint64_t i = 0; i < a->bytes; i++)
        for (uint64_t j = 0; j < b->bytes; j++)
            if (a->address + i == b->address + j)
                return true;
    return false;
}

/* Some word of the line is touched by two threads. */
static bool is_common(const struct naive *naive, uint64_t address)
{
    for (size_t i = 0; i < naive->count; i++)
        for (size_t j = 0; j < i; j++) {
            const struct coherence_access *a = &naive->accesses[i], *b = &naive->accesses[j];
            if (a->thread == b->thread || a->address / LINE != address / LINE)
                continue;
            if (a->address / 8 <= (b->address + b->bytes - 1) / 8 &&
                b->address / 8 <= (a->address + a->bytes - 1) / 8)
                return true;
        }
    return false;
}

static struct line *find(struct naive *naive, uint64_t address, uint32_t round)
{
    address = address / LINE * LINE;
    if (is_common(naive, address))
        round = 0;
    for (size_t i = 0; i < naive->line_count; i++)
        if (naive->lines[i].address == address && naive->lines[i].round == round)
            return &naive->lines[i];
    struct line *line = &naive->lines[naive->line_count++];
    *line = (struct line){.address = address, .round = round, .owner = -1, .last_reader = -1};
    size_t most = naive->count * naive->options->cpus + 1;
    line->writes = calloc(most, sizeof(*line->writes));
    line->queue = calloc(COHERENCE_CPUS_MAX, sizeof(*line->queue));
    MGLRU_CHECK(line->writes != NULL && line->queue != NULL);
    for (unsigned c = 0; c < COHERENCE_CPUS_MAX; c++)
        line->views[c].taker = -1;
    return line;
}

static bool others_wrote(const struct naive *naive, const struct line *line, struct event event,
                         size_t since)
{
    for (size_t w = since; w < line->write_count; w++)
        if (line->writes[w].cpu != event.cpu &&
            overlap(&naive->accesses[line->writes[w].access], &naive->accesses[event.access]))
            return true;
    return false;
}

static void count(struct naive *naive, const struct line *line, enum coherence_class class, int by)
{
    uint32_t number = 0;
    while (naive->trace->line_addresses[number] != line->address)
        number++;
    naive->result->misses[class] += (uint64_t)(int64_t)by;
    naive->result->line_misses[number][class] += (uint64_t)(int64_t)by;
}

/* The last miss was for a byte that another wrote, if this access touches one. */
static void look_back(struct naive *naive, struct line *line, struct event event)
{
    struct view *view = &line->views[event.cpu];
    if (!view->open || !others_wrote(naive, line, event, view->open_seen))
        return;
    view->open = false;
    count(naive, line, COHERENCE_FALSE, -1);
    count(naive, line, COHERENCE_TRUE, 1);
}

static void judge(struct naive *naive, struct line *line, struct event event)
{
    struct view *view = &line->views[event.cpu];
    const struct coherence_access *access = &naive->accesses[event.access];
    long taker = view->taker >= 0 ? view->taker : line->last_reader;
    view->taker = -1;
    if (view->has)
        look_back(naive, line, event);
    if (!view->known) {
        count(naive, line, COHERENCE_COLD, 1);
        return;
    }
    const struct coherence_access *cause = &naive->accesses[taker];
    naive->result->overlaps += overlap(access, cause);
    enum coherence_class class = COHERENCE_FALSE;
    if (view->has ? overlap(access, cause) : others_wrote(naive, line, event, view->seen))
        class = COHERENCE_TRUE;
    if (coherence_trace_coupled(naive->trace, access->lockset, cause->lockset))
        class = COHERENCE_LOCKED;
    count(naive, line, class, 1);
    if (view->has)
        return;
    view->open = class == COHERENCE_FALSE;
    view->open_seen = view->seen;
}

static void serve_first(struct naive *naive, struct line *line)
{
    struct event event = line->queue[0].event;
    memmove(line->queue, line->queue + 1, --line->queue_count * sizeof(*line->queue));
    judge(naive, line, event);
    bool write = naive->accesses[event.access].kind != COHERENCE_READ;
    unsigned holders = 0;
    for (uint32_t c = 0; c < naive->options->cpus; c++) {
        struct view *view = &line->views[c];
        if (c == event.cpu || !view->has)
            continue;
        if (write || line->owner == (long)c)
            view->taker = (long)event.access;
        if (write) {
            view->has = view->open = false;
            view->seen = line->write_count;
        }
        holders += view->has;
    }
    line->views[event.cpu].has = line->views[event.cpu].known = true;
    line->owner = holders == 0 ? (long)event.cpu : -1;
    if (write)
        line->writes[line->write_count++] = event;
    else
        line->last_reader = (long)event.access;
}

static void serve_until(struct naive *naive, struct line *line, uint64_t now_ns)
{
    while (line->queue_count > 0 && line->queue[0].end_ns <= now_ns)
        serve_first(naive, line);
}

static bool is_waiting(const struct line *line, uint32_t cpu)
{
    for (size_t i = 0; i < line->queue_count; i++)
        if (line->queue[i].event.cpu == cpu)
            return true;
    return false;
}

static void serve_own(struct naive *naive, uint32_t cpu)
{
    for (size_t i = 0; i < naive->line_count; i++)
        while (is_waiting(&naive->lines[i], cpu))
            serve_first(naive, &naive->lines[i]);
}

/* When the latest access before @end begins if nobody ever waits for a line. */
static uint64_t latest_start(const struct naive *naive, size_t end)
{
    uint64_t clocks[COHERENCE_THREADS_MAX] = {0}, latest_ns = 0;
    for (size_t i = 0; i < end; i++) {
        const struct coherence_access *access = &naive->accesses[i];
        bool first = true;
        for (size_t j = 0; j < i; j++)
            first &= naive->accesses[j].thread != access->thread;
        if (first)
            clocks[access->thread] = latest_ns;
        uint64_t start_ns = clocks[access->thread] + access->gap_ns;
        latest_ns = start_ns > latest_ns ? start_ns : latest_ns;
        clocks[access->thread] = start_ns + COHERENCE_HIT_NS;
    }
    return latest_ns;
}

static void wait_for_start(struct naive *naive, struct event event)
{
    for (size_t j = 0; j < event.access; j++)
        if (naive->accesses[j].thread == naive->accesses[event.access].thread)
            return;
    uint64_t start_ns = latest_start(naive, event.access);
    if (naive->clocks[event.cpu] < start_ns)
        naive->clocks[event.cpu] = start_ns;
}

static void access_line(struct naive *naive, struct event event)
{
    const struct coherence_access *access = &naive->accesses[event.access];
    wait_for_start(naive, event);
    uint64_t now_ns = naive->clocks[event.cpu] + access->gap_ns;
    struct line *line = find(naive, access->address, event.cpu / naive->slots);
    struct view *view = &line->views[event.cpu];
    bool write = access->kind != COHERENCE_READ;
    serve_own(naive, event.cpu);
    serve_until(naive, line, now_ns);
    if (write ? line->owner == (long)event.cpu : view->has) {
        look_back(naive, line, event);
        if (write)
            line->writes[line->write_count++] = event;
    } else {
        uint64_t start_ns = write ? line->last_end_ns : line->last_exclusive_end_ns;
        uint64_t end_ns = (start_ns > now_ns ? start_ns : now_ns) + naive->options->latency_ns;
        if (end_ns < line->last_end_ns)
            end_ns = line->last_end_ns;
        bool from_writer =
            line->queue_count > 0 ? line->queue[line->queue_count - 1].exclusive : line->owner >= 0;
        line->queue[line->queue_count++] = (struct waiting){event, end_ns, write};
        line->last_end_ns = end_ns;
        if (write || from_writer)
            line->last_exclusive_end_ns = end_ns;
        now_ns = end_ns;
    }
    naive->clocks[event.cpu] = now_ns + COHERENCE_HIT_NS;
}

/* Index of the next access of @cpu, count when there is none. */
static size_t next_of(const struct naive *naive, uint32_t cpu)
{
    size_t i = naive->next[cpu];
    while (i < naive->count && naive->accesses[i].thread % naive->slots != cpu % naive->slots)
        i++;
    return i;
}

static void run_by_clock(struct naive *naive)
{
    for (;;) {
        uint32_t best = UINT32_MAX;
        for (uint32_t c = 0; c < naive->options->cpus; c++)
            if (next_of(naive, c) < naive->count &&
                (best == UINT32_MAX || naive->clocks[c] < naive->clocks[best]))
                best = c;
        if (best == UINT32_MAX)
            return;
        for (uint32_t q = 0; q < naive->options->quantum; q++) {
            size_t i = next_of(naive, best);
            if (i == naive->count)
                break;
            naive->next[best] = i + 1;
            access_line(naive, (struct event){i, best});
        }
    }
}

static void run_as_recorded(struct naive *naive)
{
    uint64_t now_ns = 0;
    for (size_t i = 0; i < naive->count; i++)
        for (uint32_t c = 0; c < naive->options->cpus; c++) {
            uint32_t gap_ns = naive->accesses[i].gap_ns;
            if (naive->accesses[i].thread % naive->slots != c % naive->slots)
                continue;
            wait_for_start(naive, (struct event){i, c});
            if (naive->clocks[c] + gap_ns < now_ns)
                naive->clocks[c] = now_ns - gap_ns;
            now_ns = naive->clocks[c] + gap_ns;
            access_line(naive, (struct event){i, c});
        }
}

void naive_coherence(const struct coherence_trace *trace, const struct coherence_access *accesses,
                     size_t count, const struct coherence_options *options,
                     struct naive_result *result)
{
    struct naive naive = {
        .trace = trace,
        .accesses = accesses,
        .count = count,
        .options = options,
        .result = result,
        .slots = options->cpus < trace->thread_count ? options->cpus : trace->thread_count,
    };
    *result = (struct naive_result){0};
    naive.lines = calloc(trace->line_count * options->cpus + 1, sizeof(*naive.lines));
    MGLRU_CHECK(naive.lines != NULL && trace->line_count <= NAIVE_LINES_MAX);
    if (options->quantum == 0)
        run_as_recorded(&naive);
    else
        run_by_clock(&naive);
    for (size_t i = 0; i < naive.line_count; i++) {
        serve_until(&naive, &naive.lines[i], UINT64_MAX);
        free(naive.lines[i].writes);
        free(naive.lines[i].queue);
    }
    for (uint32_t c = 0; c < options->cpus; c++)
        result->clocks_ns += naive.clocks[c];
    free(naive.lines);
}
