/* SPDX-License-Identifier: MIT */
/*
 * The rules of coherence/model.h a second time, for small logs: every question is answered by
 * looking at everything. Counts by class, clocks, and misses by line.
 */
#ifndef MODEL_NAIVE_COHERENCE_H
#define MODEL_NAIVE_COHERENCE_H

#include "coherence/model.h"

#define NAIVE_LINES_MAX 64

struct naive_result {
    uint64_t misses[COHERENCE_CLASSES];
    uint64_t clocks_ns;
    uint64_t line_misses[NAIVE_LINES_MAX][COHERENCE_CLASSES]; /* by number in the trace */
    uint64_t overlaps; /* misses whose two accesses have a byte in common */
};

/* @accesses: of whole lines of 64 bytes at most, as they were added to @trace, which is asked for
 * lock sets and numbers of lines alone. */
void naive_coherence(const struct coherence_trace *trace, const struct coherence_access *accesses,
                     size_t count, const struct coherence_options *options,
                     struct naive_result *result);

#endif
