/* SPDX-License-Identifier: MIT */
/*
 * Why a type has another size: the chain from the innermost struct that changed to the outer type.
 *
 * Each step is an account that adds up: members that grew, came or went, holes that opened or
 * closed, and the padding at the end. So what one struct gains can be followed through the next
 * one's alignment and spare room to whole lines.
 */
#ifndef LAYOUT_GROWTH_H
#define LAYOUT_GROWTH_H

#include <stddef.h>
#include <stdint.h>

#include "layout/set.h"
#include "layout/type.h"

struct layout_growth_step {
    const struct layout_type *before;
    const struct layout_type *after;
    int64_t delta_bytes;
    char *reason; /* "+48 hole before evicted, which starts a line of 64 now" */
};

struct layout_growth {
    struct layout_growth_step *steps; /* innermost first; the last one is the outer type */
    size_t count;
    int64_t total_bytes;
};

/*
 * Explains why @after has another size than @before; also when both are the same. @line_bytes: for
 * counting lines. @growth: filled in; empty after an error. 0; MGLRU_ENOMEM.
 */
int layout_growth_explain(const struct layout_type *before, const struct layout_type *after,
                          uint64_t line_bytes, struct layout_growth *growth);
void layout_growth_free(struct layout_growth *growth);

#endif
