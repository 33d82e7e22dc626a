/* SPDX-License-Identifier: MIT */
/*
 * A cache under test, as the verifying workload sees it: mappings of pages that can be read,
 * written, synced and truncated, and a machine whose power can be cut.
 */
#ifndef TESTS_INTEGRITY_SUBJECT_H
#define TESTS_INTEGRITY_SUBJECT_H

#include <stdint.h>

/* Pages [first, first + count) of one mapping. */
struct subject_range {
    uint64_t mapping;
    uint64_t first;
    uint32_t count;
};

struct subject_ops {
    const char *name;
    /* Calls may come from several threads; of one page there is one writer at a time, readers
     * beside it. They return 0 or an MGLRU_E code; a change that failed may have happened. */
    int (*read)(void *subject, struct subject_range range, void *pages);
    int (*write)(void *subject, struct subject_range range, const void *pages);
    /* Everything written to the mapping before is durable afterwards. */
    int (*sync)(void *subject, uint64_t mapping);
    /* Pages from @first on read as zeros. */
    int (*truncate)(void *subject, uint64_t mapping, uint64_t first);
    /*
     * The power fails and comes back: what was not durable may be gone, the cache is empty, and
     * calls work again. Nothing else runs. NULL: no power cuts.
     */
    int (*power_cut)(void *subject);
};

#endif
