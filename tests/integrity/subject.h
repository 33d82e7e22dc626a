/* SPDX-License-Identifier: MIT */
/*
 * A cache under test, as the verifying workload sees it: mappings of pages that can be read,
 * written, synced and truncated, and a machine whose power can be cut.
 */
#ifndef TESTS_INTEGRITY_SUBJECT_H
#define TESTS_INTEGRITY_SUBJECT_H

#include <stdbool.h>
#include <stdint.h>

/* Pages [first, first + count) of one mapping, for the thread that asks. */
struct subject_range {
    uint64_t mapping;
    uint64_t first;
    uint32_t count;
    uint32_t thread; /* from 0 on */
};

/* What no call may return: the cache did not do what it promises, whatever its store does. */
#define SUBJECT_BROKEN 1

struct subject_ops {
    const char *name;
    bool whole;         /* a change that failed happened to each page as a whole or not at all */
    uint32_t discarded; /* pages that one discard is about, the first a multiple of it */
    /* Calls may come from several threads; of one page there is one writer at a time, readers
     * beside it. They return 0 or an MGLRU_E code; a change that failed may have happened. */
    int (*read)(void *subject, struct subject_range range, void *pages);
    int (*write)(void *subject, struct subject_range range, const void *pages);
    /* What was written to the range before is durable afterwards. */
    int (*sync)(void *subject, struct subject_range range);
    /* Pages from the first of the range on read as zeros. */
    int (*truncate)(void *subject, struct subject_range range);
    /* NULL, or: everything written before is durable afterwards. */
    int (*sync_all)(void *subject, uint32_t thread);
    /* NULL, or: the range reads as zeros. When it failed, as zeros or as some time since the last
     * sync of it. */
    int (*punch)(void *subject, struct subject_range range);
    /* NULL, or: the range reads as some time since the last sync of it. */
    int (*discard)(void *subject, struct subject_range range);
    /* NULL, or: anything that does not change what pages read as. */
    int (*stir)(void *subject, struct subject_range range);
    /*
     * The power fails and comes back: what was not durable may be gone, the cache is empty, and
     * calls work again. Nothing else runs. NULL: no power cuts.
     */
    int (*power_cut)(void *subject);
    /* NULL, or: whether the power has failed by itself, so that the rest of the round is of no use.
     * Any thread. */
    bool (*is_cut)(void *subject);
};

#endif
