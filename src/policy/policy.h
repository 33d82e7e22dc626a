/* SPDX-License-Identifier: MIT */
/*
 * Baseline replacement policies behind one ops table. A policy sees pages as dense ids from 0
 * (policy/keys.h gives them out), so that its tables are plain arrays indexed by id.
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
    /* @capacity_pages >= 1. 0 or a MGLRU_E code. */
    int (*create)(uint64_t capacity_pages, void **state);
    void (*destroy)(void *state);
    /* One access. 1: hit; 0: miss, the page is now cached; negative: a MGLRU_E code. */
    int (*access)(void *state, const struct policy_request *request);
    /* The page left by truncate or free; absent pages are ignored. */
    void (*forget)(void *state, uint32_t page);
    uint64_t (*resident)(const void *state); /* pages held now, <= capacity */
};

/* By command-line name; NULL: none. And the i-th of all; NULL past the last. */
const struct policy_ops *policy_find(const char *name);
const struct policy_ops *policy_at(size_t i);

#endif
