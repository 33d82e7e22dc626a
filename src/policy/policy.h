/* SPDX-License-Identifier: MIT */
/*
 * Baseline replacement policies behind one ops table. A policy sees pages as dense ids from 0
 * (policy/keys.h gives them out), so that its tables are plain arrays indexed by id. They grow with
 * the ids seen, not with the capacity (but for W-TinyLFU's sketch), so an access allocates only
 * when its id is greater than all before.
 *
 * All are demand policies: a missing page is always loaded, after one page has left if the cache
 * was full. The same calls give the same answers, on any machine: nothing is random.
 *
 * Threads: one instance belongs to one thread; different instances are independent.
 */
#ifndef POLICY_POLICY_H
#define POLICY_POLICY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define POLICY_NEVER UINT64_MAX

struct policy_request {
    uint32_t page;     /* dense id */
    uint64_t next_use; /* Belady: index of the next access to this page, POLICY_NEVER: none */
};

struct policy_ops {
    const char *name;  /* as on the command line: "lru", "2q", ... */
    const char *about; /* one line with the paper */
    bool needs_future; /* next_use must be set */
    /* A cache of 1 <= @capacity_pages <= 2^52 in @state. 0; MGLRU_ENOMEM with @state NULL. */
    int (*create)(uint64_t capacity_pages, void **state);
    void (*destroy)(void *state); /* @state may be NULL */
    /*
     * One access. 1: hit; 0: miss, the page is now cached. MGLRU_ENOMEM; MGLRU_EOVERFLOW: the id is
     * one of the last few below 2^32. The cache is unchanged after an error.
     */
    int (*access)(void *state, const struct policy_request *request);
    /*
     * The page left by truncate or free: what is known of it is dropped, past residence included.
     * Only W-TinyLFU's counts stay. Ids never seen are ignored.
     */
    void (*forget)(void *state, uint32_t page);
    uint64_t (*resident)(const void *state); /* pages held now, <= capacity */
};

/* By command-line name; NULL: none. And the i-th of all; NULL past the last. */
const struct policy_ops *policy_find(const char *name);
const struct policy_ops *policy_at(size_t i);

#endif
