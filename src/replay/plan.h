/* SPDX-License-Identifier: MIT */
/*
 * How much memory does a workload need? A plan replays a trace under many limits at once and says
 * what each would cost, where the curve bends, and which memory.high, memory.max and memory.low
 * follow from it.
 *
 * One reading of the trace finds its memcgs and their working sets; then each memcg's accesses are
 * replayed alone, with its limit at sizes from a small part of the working set to all of it, for
 * every model in the same pass. Limits that the trace sets, and reclaim that it asks for, are left
 * out: they belong to the memory that the recording had.
 *
 * Long traces are sampled (filter.h). Of a run on the share R of the pages with R x the memory,
 * misses are divided by R, and the miss ratio is that of all accesses of the trace, so that an
 * access too many or too few in the sample counts as a hit (SHARDS-adj). A sampled run has neither
 * readahead, since neighbours are missing, nor kernel structures, which do not shrink with R.
 */
#ifndef REPLAY_PLAN_H
#define REPLAY_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "replay/replay.h"

enum plan_target_kind {
    PLAN_NO_TARGET,
    PLAN_MISS_RATIO, /* misses of an access, 0..1 */
    PLAN_MISSES_PER_SECOND,
    PLAN_STALL /* share of time spent waiting for the device, 0..1 */
};

/* At most this much. */
struct plan_target {
    enum plan_target_kind kind;
    double value;
};

struct plan_options {
    const char *trace; /* a file: it is read several times */
    struct trace_open_options open;
    /* Without models, and with neither of these two, the kernel and the LRU are those that the
     * trace was recorded with, MGLRU of 7.3 where it does not say. */
    bool classic; /* the classic LRU instead of MGLRU */
    bool mglru;   /* MGLRU, whatever the recording had; implied by models alone */
    const char *const *models;
    size_t model_count; /* 0: that of the recording */
    double sample;      /* share of pages; 0: chosen by the length of the trace */
    uint64_t swap_bytes;
    uint64_t readahead_bytes; /* as in replay_options */
    uint64_t device_latency_ns;
    uint64_t warmup_accesses; /* of each memcg */
    uint64_t warmup_ns;
    struct plan_target target;
    /* As in replay_options. */
    int (*on_progress)(void *context, const struct trace_progress *progress, uint64_t accesses);
    void *context;
};

/* One limit, after the warm-up. */
struct plan_point {
    uint64_t memory_bytes;
    uint64_t misses;
    uint64_t pages_read;
    uint64_t refaults;
    uint64_t stall_ns; /* misses x device latency */
    double miss_ratio;
    bool oom; /* a process was killed, so the counts are of a part of the work */
};

/* Why memory.high is what it is. */
enum plan_basis {
    PLAN_BY_TARGET, /* the least memory from which on the target is met */
    PLAN_BY_KNEE,   /* where the curve bends */
    PLAN_BY_MOST,   /* no bend: the least memory that saves nine tenths of what memory can save */
    PLAN_BY_LEAST   /* memory saves next to nothing */
};

struct plan_advice {
    enum plan_basis basis;
    size_t least;        /* first point at which no process is killed, nor at any larger */
    size_t chosen;       /* point of memory.high */
    uint64_t knee_bytes; /* 0: the curve has no knee */
    uint64_t memory_high;
    uint64_t memory_max;
    uint64_t memory_low; /* 0: no protection needed */
    bool target_met;     /* at memory.high; false without a target */
    /* Much of what memory can save is saved only when all of the working set fits: pages come back
     * when nearly all others went by. */
    bool scans;
    uint64_t scan_misses; /* what that saves */
    uint64_t scan_bytes;  /* the least size that has saved nearly all of it */
};

struct plan_curve {
    const char *model; /* as in the options */
    struct plan_point *points;
    size_t count;
    uint64_t cold_misses; /* misses with memory for everything */
    struct plan_advice advice;
};

struct plan_memcg {
    char *path;
    uint64_t accesses; /* after the warm-up */
    uint64_t distinct_pages;
    uint64_t working_set_bytes; /* of these pages */
    uint64_t duration_ns;       /* of the trace after the warm-up; 0: it has no times */
    bool anonymous;             /* anonymous memory was touched */
    double rate;                /* share of pages that was replayed; 1: all */
    double error; /* of the miss ratio, absolute, to be expected from sampling; 0: none */
    struct plan_curve *curves; /* one a model, in their order */
    size_t curve_count;
};

struct plan {
    char *trace;
    const char *format;
    uint32_t page_bytes;
    bool classic;
    struct replay_recorded recorded;
    bool model_recorded; /* the model is that of the recording */
    bool lru_recorded;   /* likewise */
    uint64_t device_latency_ns;
    uint64_t warmup_accesses;
    uint64_t warmup_ns;
    struct plan_target target;
    struct plan_memcg *memcgs; /* by path */
    size_t memcg_count;
    size_t left_out; /* memcgs whose accesses end within the warm-up */
};

/*
 * Makes the plan. Blocks; uses threads while it runs. @plan: empty after an error, else to be freed
 * with plan_free(). Codes and @error as replay_run(); MGLRU_EINVAL also: the trace cannot be read
 * twice, is shorter than the warm-up, has no times though the target needs them, or is too small
 * for the rate of sampling.
 */
int plan_make(const struct plan_options *options, struct plan *plan, struct replay_error *error);
void plan_free(struct plan *plan);

#endif
