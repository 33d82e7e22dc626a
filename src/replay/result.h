/* SPDX-License-Identifier: MIT */
/*
 * What a replay found, as plain records; report/ turns them into tables, JSON, CSV and plots.
 * All strings and arrays belong to the struct replay_result and are freed by replay_result_free.
 */
#ifndef REPLAY_RESULT_H
#define REPLAY_RESULT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "replay/recorded.h"

struct replay_stat {
    const char *name; /* memory.stat name; static string */
    uint64_t value;
};

/* Figures of the whole run or of one memcg with its subtree. */
struct replay_figures {
    uint64_t accesses;
    uint64_t hits;
    uint64_t misses;
    uint64_t pages_read;
    uint64_t first_touches;
    uint64_t readahead_pages;  /* of pages_read: not asked for; these three: baselines 0 */
    uint64_t readahead_wasted; /* of those: left memory before anybody asked for them */
    uint64_t pages_written;    /* dirty pages of files given to the device */
    uint64_t write_misses;     /* of misses: pages that a write made; baselines 0 */
    uint64_t aged;             /* generations created by aging; classic: 0 */
    struct replay_stat *stat;
    size_t stats;
};

/* The counts of a run when the warm-up of options.filter ended; zero without one. Refaults are
 * those of the run's memcg; baselines have none. */
struct replay_mark {
    uint64_t accesses;
    uint64_t hits;
    uint64_t misses;
    uint64_t pages_read;
    uint64_t first_touches;
    uint64_t write_misses;
    uint64_t refaults;
};

struct replay_memcg {
    char *path;
    struct replay_figures figures;
    uint64_t oom_events;
    uint64_t skipped; /* page accesses passed over after its process was killed */
};

struct replay_sample { /* --every N: one point of the series */
    uint64_t accesses;
    uint64_t hits;
    uint64_t misses;
    uint64_t pages_read;
    uint64_t resident_pages;
};

/* --explain: evictions that refaulted later, grouped. */
struct replay_explain_row {
    const char *rule; /* static text */
    uint8_t type;     /* 0 anon, 1 file */
    uint8_t age;      /* generations between the folio's and the youngest at eviction */
    uint8_t tier;
    uint64_t evictions;
    uint64_t refaults;
    uint64_t recent;         /* refaults that the model counted as recent */
    uint64_t distance_pages; /* median of pages evicted between eviction and refault */
};

struct replay_run {
    const char *policy;
    const char *model;     /* NULL for policies without one */
    const char *aging;     /* NULL likewise */
    uint64_t memory_bytes; /* 0: the trace's own limits */
    struct replay_figures figures;
    struct replay_mark warm;
    struct replay_memcg *memcgs;
    size_t memcg_count;
    struct replay_sample *series;
    size_t series_count;
    struct replay_explain_row *explain;
    size_t explain_count;
    char *explain_text;     /* the story in sentences; NULL without --explain */
    bool oom;               /* lost a process by OOM */
    uint64_t skipped;       /* page accesses passed over because their process had been killed */
    uint32_t index;         /* number of the run in the whole replay, shards included */
    const char *stat_flush; /* schedule stated beside classic results; NULL elsewhere */
    double seconds;         /* CPU time of the engine for this run */
};

struct replay_trace_info {
    char *path;
    const char *format;
    uint64_t accesses;       /* page accesses */
    uint64_t requests;       /* access records */
    uint64_t distinct_pages; /* 0 when not counted */
    uint32_t page_bytes;
    uint32_t memcgs;
    uint32_t objects;
    struct replay_recorded recorded;
};

struct replay_result {
    struct replay_trace_info trace;
    struct replay_run *runs;
    size_t run_count;
};

void replay_result_free(struct replay_result *result);

#endif
