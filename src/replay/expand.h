/* SPDX-License-Identifier: MIT */
/*
 * Views as baselines take them: page accesses one by one, pages as dense ids. Done once a view for
 * all baselines, by the thread that reads the traces.
 *
 * Pages of files are shared by all memcgs; an anonymous region belongs to one memcg and its pages
 * have ids of their own. Memory grows with distinct pages, not with accesses.
 */
#ifndef REPLAY_EXPAND_H
#define REPLAY_EXPAND_H

#include <stddef.h>
#include <stdint.h>

#include "policy/future.h"
#include "replay/source.h"

enum replay_segment_kind {
    SEGMENT_ACCESS, /* pages that have been there before, or come from a file */
    SEGMENT_FRESH,  /* anonymous pages touched for the first time, or since they were freed */
    SEGMENT_FORGET  /* pages freed; no accesses */
};

/* Neighbouring ids of one kind and memcg. */
struct replay_segment {
    enum replay_segment_kind kind;
    uint32_t memcg;
    size_t count;
};

struct replay_expansion {
    uint32_t *ids; /* of all segments, one after the other */
    size_t id_count;
    size_t id_capacity;
    struct replay_segment *segments;
    size_t segment_count;
    size_t segment_capacity;
};

struct replay_expander;

/* NULL: out of memory. */
struct replay_expander *replay_expander_create(void);
void replay_expander_destroy(struct replay_expander *expander);

/* Replaces what @out holds by the view. MGLRU_ENOMEM; MGLRU_EOVERFLOW: 2^32 distinct pages. */
int replay_expand(struct replay_expander *expander, const struct replay_view *view,
                  struct replay_expansion *out);
void replay_expansion_free(struct replay_expansion *expansion);

/* Distinct pages so far. */
uint64_t replay_expander_distinct(const struct replay_expander *expander);

/* Adds the accesses of an expansion to what Belady's policy must know. Codes as future_access. */
int replay_expansion_foresee(const struct replay_expansion *expansion, struct future *future);

#endif
