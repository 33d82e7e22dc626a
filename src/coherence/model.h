/* SPDX-License-Identifier: MIT */
/*
 * How often CPUs take a line from each other: N private caches that never evict, one state a line.
 *
 * Idea: every CPU has a clock. An access to a line that the CPU has costs COHERENCE_HIT_NS; any
 * other waits for a transfer of latency_ns. Whoever had the line keeps it until that transfer ends,
 * and goes on hitting meanwhile; without that the model predicts up to 44 times what is measured.
 * Transfers of one line that give it to a writer, or take it from one, go one after the other;
 * readers of a line that nobody writes are served together.
 *
 * Order of accesses: with quantum 0 the recorded one, else the CPU whose clock is least does the
 * next quantum of its own. Coarse quanta hide misses (99 % of them, where a thread ran for a whole
 * time slice), so callers run several orders and report the maximum.
 *
 * More CPUs than recorded threads repeat the threads, see trace.h; with fewer, CPU c runs the
 * threads t with t mod N = c in their recorded order.
 *
 * What a miss is
 *   cold          the CPU never had the line
 *   lock-coupled  the CPU and the one that took the line held a common lock
 *   true          the CPU touches, while it keeps the line now, a byte that another wrote since
 *                 it lost it; for a writer that only shared the line: a reader touched its bytes
 *   false         none of these: the line moved for nothing
 *
 * Several runs may use one trace at a time.
 */
#ifndef COHERENCE_MODEL_H
#define COHERENCE_MODEL_H

#include <stdint.h>

#include "coherence/trace.h"

#define COHERENCE_CPUS_MAX 256u
/* Between sockets, under load, less; bounds the clocks. */
#define COHERENCE_LATENCY_MAX_NS 100000u

enum coherence_class {
    COHERENCE_COLD,
    COHERENCE_FALSE,
    COHERENCE_TRUE,
    COHERENCE_LOCKED,
    COHERENCE_CLASSES
};

struct coherence_options {
    uint32_t cpus;       /* 1..COHERENCE_CPUS_MAX */
    uint32_t latency_ns; /* 0..COHERENCE_LATENCY_MAX_NS */
    uint32_t quantum;    /* accesses; 0: recorded order */
    uint64_t ops_max;    /* ends after so many accesses of all CPUs together; 0: no bound */
};

/* The bytes of an access within its line, both ends included. */
struct coherence_part {
    uint8_t first;
    uint8_t last;
    uint8_t kind; /* enum coherence_kind */
};

/* Misses of one sort: a CPU did @victim after another did @cause to the line. */
struct coherence_miss {
    uint32_t line; /* of the trace */
    struct coherence_part victim;
    struct coherence_part cause;
    uint64_t count[COHERENCE_CLASSES]; /* never cold ones */
};

struct coherence_result {
    uint64_t ops;                       /* accesses to lines, of all CPUs */
    uint64_t operations;                /* what misses are counted by: the caller's, or ops */
    uint64_t misses[COHERENCE_CLASSES]; /* sums */
    uint64_t clocks_ns;                 /* sum of all CPUs' clocks at their end */
    uint64_t ideal_ns;                  /* the same if only cold misses cost anything */
    struct coherence_miss *rows;        /* in order of line, victim, cause */
    size_t row_count;
};

/* @trace is finished. @result: empty after an error; the caller frees.
 * 0; MGLRU_EINVAL: options out of range; MGLRU_ENOMEM. */
int coherence_run(const struct coherence_trace *trace, const struct coherence_options *options,
                  struct coherence_result *result);
void coherence_result_free(struct coherence_result *result);

/* Misses that another CPU caused: all but the cold ones. */
uint64_t coherence_result_caused(const struct coherence_result *result);

#endif
