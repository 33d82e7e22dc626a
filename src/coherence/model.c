/* SPDX-License-Identifier: MIT */
/*
 * Lets the CPUs run over a trace; see model.h.
 *
 * Idea: the accesses are laid out by thread once a run, so that each CPU walks its own array; a
 * binary heap of clocks says whose turn it is. Lines that one thread alone touches cost one cold
 * miss and are not simulated.
 */
#include "coherence/model.h"

#include <stdlib.h>
#include <string.h>

#include <mglru/error.h>

#include "base/check.h"
#include "coherence/protocol.h"

struct cpu {
    uint64_t clock_ns;
    const struct coherence_op *next, *end;
    uint32_t round; /* which repetition of the threads */
};

struct run {
    struct protocol protocol;
    const struct coherence_options *options;
    struct cpu cpus[COHERENCE_CPUS_MAX];
    struct coherence_op *ops; /* by slot: thread mod slots */
    size_t *starts;           /* of each slot in ops, and the end */
    uint8_t *alone_seen;      /* of lines: the one thread has met it */
    uint32_t slots;
    uint32_t heap[COHERENCE_CPUS_MAX];
    uint32_t heap_count;
    uint64_t done; /* accesses */
};

static void wait_until(struct run *run, struct cpu *cpu, uint64_t until_ns)
{
    if (cpu->clock_ns >= until_ns)
        return;
    run->protocol.ideal_ns += until_ns - cpu->clock_ns;
    cpu->clock_ns = until_ns;
}

static void wait_for_start(struct run *run, struct cpu *cpu, const struct coherence_op *op)
{
    if (op->begins)
        wait_until(run, cpu, run->protocol.trace->starts_ns[op->thread]);
}

static void step(struct run *run, uint32_t number, const struct coherence_op *op)
{
    struct cpu *cpu = &run->cpus[number];
    struct protocol *protocol = &run->protocol;
    const struct coherence_trace *trace = protocol->trace;
    wait_for_start(run, cpu, op);
    uint64_t start_ns = cpu->clock_ns + op->gap_ns;
    protocol->ideal_ns += op->gap_ns + COHERENCE_HIT_NS;
    run->done++;
    protocol_settle(protocol, number);
    if (trace->sharing[op->line] == COHERENCE_ALONE) {
        uint8_t *seen = &run->alone_seen[op->line + (size_t)cpu->round * trace->line_count];
        if (!*seen) {
            protocol->misses[COHERENCE_COLD]++;
            protocol->ideal_ns += protocol->latency_ns;
            start_ns += protocol->latency_ns;
            *seen = 1;
        }
        cpu->clock_ns = start_ns + COHERENCE_HIT_NS;
        return;
    }
    size_t place = op->line;
    if (trace->sharing[op->line] == COHERENCE_SPLIT)
        place += (size_t)cpu->round * trace->line_count;
    cpu->clock_ns =
        protocol_access(protocol, number, op, &protocol->lines[place], start_ns) + COHERENCE_HIT_NS;
}

/* Moves the CPU at the top of the heap to where its clock belongs. Ties: the lower number. */
static void sink(struct run *run)
{
    uint32_t *heap = run->heap, moved = heap[0], at = 0;
    const struct cpu *cpus = run->cpus;
    for (;;) {
        uint32_t child = 2 * at + 1;
        if (child >= run->heap_count)
            break;
        if (child + 1 < run->heap_count) {
            uint64_t left = cpus[heap[child]].clock_ns, right = cpus[heap[child + 1]].clock_ns;
            if (right < left || (right == left && heap[child + 1] < heap[child]))
                child++;
        }
        uint64_t clock_ns = cpus[heap[child]].clock_ns;
        if (cpus[moved].clock_ns < clock_ns ||
            (cpus[moved].clock_ns == clock_ns && moved < heap[child]))
            break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = moved;
}

static bool is_over(const struct run *run)
{
    return run->protocol.no_memory ||
           (run->options->ops_max != 0 && run->done >= run->options->ops_max);
}

static void run_by_clock(struct run *run)
{
    for (uint32_t c = 0; c < run->options->cpus; c++)
        if (run->cpus[c].next != run->cpus[c].end)
            run->heap[run->heap_count++] = c; /* all clocks are 0: this is a heap */
    while (run->heap_count > 0 && !is_over(run)) {
        uint32_t number = run->heap[0];
        struct cpu *cpu = &run->cpus[number];
        for (uint32_t i = 0; i < run->options->quantum && cpu->next != cpu->end; i++)
            step(run, number, cpu->next++);
        if (cpu->next == cpu->end)
            run->heap[0] = run->heap[--run->heap_count];
        sink(run);
    }
}

/* Nothing starts before what was recorded before it started. */
static void run_as_recorded(struct run *run)
{
    const struct coherence_trace *trace = run->protocol.trace;
    uint64_t now_ns = 0;
    for (size_t i = 0; i < trace->op_count && !is_over(run); i++) {
        const struct coherence_op *op = &trace->ops[i];
        for (uint32_t c = op->thread % run->slots; c < run->options->cpus; c += run->slots) {
            struct cpu *cpu = &run->cpus[c];
            wait_for_start(run, cpu, op);
            if (now_ns > op->gap_ns)
                wait_until(run, cpu, now_ns - op->gap_ns);
            now_ns = cpu->clock_ns + op->gap_ns;
            step(run, c, op);
        }
    }
}

static int lay_out(struct run *run)
{
    const struct coherence_trace *trace = run->protocol.trace;
    run->ops = malloc(trace->op_count * sizeof(*run->ops) + 1);
    run->starts = calloc((size_t)run->slots + 2, sizeof(*run->starts));
    if (run->ops == NULL || run->starts == NULL)
        return MGLRU_ENOMEM;
    /* Counted two places further up, summed, then used as cursors that end as starts. */
    for (size_t i = 0; i < trace->op_count; i++)
        run->starts[trace->ops[i].thread % run->slots + 2]++;
    for (uint32_t s = 2; s < run->slots + 2; s++)
        run->starts[s] += run->starts[s - 1];
    for (size_t i = 0; i < trace->op_count; i++)
        run->ops[run->starts[trace->ops[i].thread % run->slots + 1]++] = trace->ops[i];
    for (uint32_t c = 0; c < run->options->cpus; c++)
        run->cpus[c] = (struct cpu){
            .next = run->ops + run->starts[c % run->slots],
            .end = run->ops + run->starts[c % run->slots + 1],
            .round = c / run->slots,
        };
    return MGLRU_OK;
}

static int compare_parts(struct coherence_part a, struct coherence_part b)
{
    if (a.first != b.first)
        return a.first < b.first ? -1 : 1;
    if (a.last != b.last)
        return a.last < b.last ? -1 : 1;
    return (a.kind > b.kind) - (a.kind < b.kind);
}

static int compare_rows(const void *left, const void *right)
{
    const struct coherence_miss *a = left, *b = right;
    if (a->line != b->line)
        return a->line < b->line ? -1 : 1;
    int order = compare_parts(a->victim, b->victim);
    return order != 0 ? order : compare_parts(a->cause, b->cause);
}

static void fill_result(struct run *run, struct coherence_result *result)
{
    struct protocol *protocol = &run->protocol;
    result->ops = run->done;
    for (uint32_t c = 0; c < run->options->cpus; c++)
        result->clocks_ns += run->cpus[c].clock_ns;
    /* Threads that are repeated repeat their operations. */
    const struct coherence_trace *trace = protocol->trace;
    result->operations =
        trace->operations == 0 || trace->op_count == 0
            ? result->ops
            : (uint64_t)((double)trace->operations * (double)result->ops / (double)trace->op_count);
    result->ideal_ns = protocol->ideal_ns;
    memcpy(result->misses, protocol->misses, sizeof(result->misses));
    result->rows = protocol->rows.rows;
    result->row_count = protocol->rows.count;
    protocol->rows.rows = NULL;
    if (result->row_count > 0)
        qsort(result->rows, result->row_count, sizeof(*result->rows), compare_rows);
}

static int run_all(struct run *run, struct coherence_result *result)
{
    const struct coherence_trace *trace = run->protocol.trace;
    uint32_t rounds = (run->options->cpus + run->slots - 1) / run->slots;
    size_t places = trace->line_count * rounds;
    run->protocol.lines = calloc(places + 1, sizeof(*run->protocol.lines));
    run->alone_seen = calloc(places + 1, 1);
    if (run->protocol.lines == NULL || run->alone_seen == NULL || lay_out(run) != MGLRU_OK)
        return MGLRU_ENOMEM;
    if (run->options->quantum == 0)
        run_as_recorded(run);
    else
        run_by_clock(run);
    for (uint32_t c = 0; c < run->options->cpus; c++)
        protocol_settle(&run->protocol, c);
    if (run->protocol.no_memory)
        return MGLRU_ENOMEM;
    fill_result(run, result);
    return MGLRU_OK;
}

static void free_run(struct run *run)
{
    const struct coherence_trace *trace = run->protocol.trace;
    uint32_t rounds = (run->options->cpus + run->slots - 1) / run->slots;
    for (size_t i = 0; run->protocol.lines != NULL && i < trace->line_count * rounds; i++)
        free(run->protocol.lines[i]);
    free(run->protocol.lines);
    free(run->protocol.rows.rows);
    free(run->protocol.rows.slots);
    free(run->alone_seen);
    free(run->ops);
    free(run->starts);
    free(run);
}

int coherence_run(const struct coherence_trace *trace, const struct coherence_options *options,
                  struct coherence_result *result)
{
    *result = (struct coherence_result){0};
    if (options->cpus == 0 || options->cpus > COHERENCE_CPUS_MAX ||
        options->latency_ns > COHERENCE_LATENCY_MAX_NS)
        return MGLRU_EINVAL;
    struct run *run = calloc(1, sizeof(*run));
    if (run == NULL)
        return MGLRU_ENOMEM;
    run->options = options;
    run->slots = options->cpus < trace->thread_count ? options->cpus : trace->thread_count;
    if (run->slots == 0)
        run->slots = 1;
    run->protocol.trace = trace;
    run->protocol.cpus = options->cpus;
    run->protocol.latency_ns = options->latency_ns;
    int code = run_all(run, result);
    free_run(run);
    return code;
}

void coherence_result_free(struct coherence_result *result)
{
    free(result->rows);
    *result = (struct coherence_result){0};
}

uint64_t coherence_result_caused(const struct coherence_result *result)
{
    return result->misses[COHERENCE_FALSE] + result->misses[COHERENCE_TRUE] +
           result->misses[COHERENCE_LOCKED];
}
