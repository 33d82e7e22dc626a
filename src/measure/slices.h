/* SPDX-License-Identifier: MIT */
/*
 * Measuring by short slices in turn. Work of several kinds (lanes) is timed for a few milliseconds
 * each, round and round, so that drift of the machine meets all alike. A slice counts only if every
 * thread of it had its processor for nearly the whole slice, by its own CPU clock, and all
 * threads ran at the same time: on a busy machine the clock alone would show two threads that took
 * turns as two that ran together. What comes before a slice, to warm the caches, is not timed.
 *
 * A lane's value for a run is the sum over the run's slices that count.
 */
#ifndef MEASURE_SLICES_H
#define MEASURE_SLICES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "measure/latency.h"

#define SLICES_RUNS_MAX 101
#define SLICES_JOBS_MAX 64
#define SLICES_LANES_MAX 64

/* What one thread did in a slice; work functions add to it. */
struct slice_count {
    uint64_t operations;
    uint64_t misses;
    struct latency *latency; /* NULL: nobody asks */
    int error;               /* negative: ends the measurement */
};

/* Sums of one run, over the slices that count. */
struct slice_sum {
    uint64_t slices;
    uint64_t operations;
    uint64_t misses;
    double cpu_ns;           /* of all threads */
    double wall_ns;          /* of the slices */
    uint64_t events;         /* how often lane.events rose, in warm-ups too */
    uint64_t all_operations; /* as operations, in warm-ups too */
};

struct slice_lane {
    bool sleeps;   /* threads may wait for each other: only interruptions spoil a slice */
    unsigned jobs; /* threads, 1..SLICES_JOBS_MAX */
    /* A batch of work by thread @thread (0 .. jobs - 1); takes a few microseconds. */
    void (*work)(void *state, unsigned thread, struct slice_count *count);
    /* A counter that is read around each slice, while nobody works. May be NULL. */
    uint64_t (*events)(void *state);
    void *state;
    struct latency *latency; /* [runs], of the slices that count; NULL: not wanted */

    struct slice_sum sums[SLICES_RUNS_MAX]; /* results */
};

struct slices_options {
    unsigned runs;
    unsigned slices; /* that count, for each lane in each run */
    uint64_t slice_ns;
    uint64_t warm_ns;
    void (*progress)(void *context, unsigned done, unsigned total);
    void *context;
};

/*
 * Measures the lanes. Threads are bound to processors of their own where there are enough.
 * 0; MGLRU_EAGAIN: a thread could not be started, MGLRU_EBUSY: the machine was too busy, some
 * lane has no slice that counts; MGLRU_ENOMEM; the first error of a work function.
 */
int slices_measure(const struct slices_options *options, struct slice_lane *lanes, size_t count);

/* What a clock of the machine shows. */
uint64_t slices_clock_ns(clockid_t clock);

/* Processors that this process may use. */
unsigned slices_cpus(void);

#endif
