/* SPDX-License-Identifier: MIT */
/*
 * Lets part of a trace through: the records of one memcg, a sample of the pages, no limits that the
 * trace sets; and finds the end of the warm-up. Works on records with global ids, one thread.
 *
 * Sampling is that of SHARDS (Waldspurger et al., FAST 2015): a page passes when the hash of its
 * file and index lies below the rate, so either all of its accesses are seen or none, and a cache
 * of rate x the memory behaves on them as the whole one does on all.
 */
#ifndef REPLAY_FILTER_H
#define REPLAY_FILTER_H

#include <stdbool.h>
#include <stdint.h>

#include "replay/names.h"
#include "trace/record.h"

/* sample of replay_filter_options that lets every page through. */
#define REPLAY_SAMPLE_WHOLE (1u << 24)

/* What passes. All zero: everything. */
struct replay_filter_options {
    const char *memcg;   /* only the accesses of this memcg and those below it; NULL: all */
    uint32_t sample;     /* pages that pass, of REPLAY_SAMPLE_WHOLE; 0: all */
    bool without_limits; /* not what an administrator did for the memory that the recording had:
                          * memory.* of !set (memory.swap.max passes), !age and !evict */
    /* The warm-up ends after that many page accesses (of the memcg, before sampling), or with the
     * first record of that time. 0: none. */
    uint64_t warmup_accesses;
    uint64_t warmup_ns;
};

struct replay_filter;

/* True when @options change anything, so that a filter is needed. */
bool replay_filter_wanted(const struct replay_filter_options *options);

/* @options and @names outlive the filter. NULL: out of memory. */
struct replay_filter *replay_filter_create(const struct replay_filter_options *options,
                                           const struct replay_names *names);
void replay_filter_destroy(struct replay_filter *filter);

/* To be called when names were added, before records use them. MGLRU_ENOMEM. */
int replay_filter_learn(struct replay_filter *filter);

/*
 * The next piece of @record that passes; to be called with the same record until it returns false:
 * then nothing of it is left. @warm: the warm-up ended just before this piece.
 */
bool replay_filter_next(struct replay_filter *filter, const struct trace_record *record,
                        struct trace_record *piece, bool *warm);

/* True when the page belongs to a sample of @sample of REPLAY_SAMPLE_WHOLE. Pure. */
bool replay_filter_samples(uint32_t object, uint64_t page, uint32_t sample);

#endif
