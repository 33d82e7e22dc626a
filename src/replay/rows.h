/* SPDX-License-Identifier: MIT */
/* The memcg section of a result: figures of each memcg alone become figures with its subtree. */
#ifndef REPLAY_ROWS_H
#define REPLAY_ROWS_H

#include <stddef.h>
#include <stdint.h>

#include "replay/result.h"

/* One memcg that the trace names, without its subtree. */
struct replay_own {
    const char *path;
    uint32_t id;
    struct replay_figures figures; /* without statistics; aged is added up as well */
    uint64_t oom_events;
    uint64_t skipped;
    struct replay_memcg *row; /* set by replay_rows_fill; NULL: has none */
};

/*
 * Sorts @own by path and makes @out->memcgs: a row for each memcg that, with its subtree, accessed
 * or skipped a page or was out of memory; "/" has one only if it accessed pages itself, since the
 * run's own figures tell the rest. MGLRU_ENOMEM.
 */
int replay_rows_fill(struct replay_own *own, size_t count, struct replay_run *out);

#endif
