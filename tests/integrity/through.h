/* SPDX-License-Identifier: MIT */
/*
 * The simplest cache there is: it keeps nothing and hands every call to one store a mapping. It
 * proves the workload: right over every store, and found out with each of its breakages.
 */
#ifndef TESTS_INTEGRITY_THROUGH_H
#define TESTS_INTEGRITY_THROUGH_H

#include <mglru/stores.h>

#include "subject.h"
#include "sync/lock.h"

#define THROUGH_MAPPINGS_MAX 8u

/* What the cache does wrong, every few hundred calls. */
enum through_breakage {
    THROUGH_RIGHT = 0,
    THROUGH_LOSES_WRITES,
    THROUGH_READS_STALE,
    THROUGH_TEARS_PAGES,
    THROUGH_MIXES_UP_PAGES,
    THROUGH_KEEPS_TRUNCATED,
    THROUGH_LIES_ABOUT_SYNCS, /* always; noticed at power cuts only */
    THROUGH_HIDES_SYNC_ERRORS
};

struct through {
    /* Set by the caller. */
    uint32_t page_bytes;
    uint32_t mappings;
    enum through_breakage breakage;
    struct mglru_store *base[THROUGH_MAPPINGS_MAX];
    struct mglru_store_faulty_options faults; /* size 0: the bases are used as they are */
    uint64_t linger_ns; /* how long a write that failed takes to say so, with nothing locked */
    /* The cache's own. */
    struct mglru_store *store[THROUGH_MAPPINGS_MAX];
    /* One transfer a mapping at a time, since stores leave it to their callers not to overlap. */
    struct lock_mutex lock[THROUGH_MAPPINGS_MAX];
    uint64_t calls;
    uint64_t restarts;
    char *old; /* THROUGH_READS_STALE: a copy of a page, of which is remembered beside it */
    struct subject_range old_of;
    struct mglru_store_faulty_counts counts; /* of all restarts together */
};

/* Makes the locks; once, before through_open. */
void through_init(struct through *through);

/* Opens the faulty stores, if any. 0, or an MGLRU_E code. */
int through_open(struct through *through);

/* Closes them; the bases stay open. */
void through_close(struct through *through);

/* With power cuts, for bases below faults; and without. */
extern const struct subject_ops through_ops;
extern const struct subject_ops through_ops_uncut;

#endif
