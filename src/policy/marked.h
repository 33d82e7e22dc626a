/* SPDX-License-Identifier: MIT */
/*
 * What Clock and SIEVE share: one queue, one bit a page, which a hit sets, and a hand. They differ
 * in what their hand does to make room. One thread at a time for one queue.
 */
#ifndef POLICY_MARKED_H
#define POLICY_MARKED_H

#include "policy/pageq.h"
#include "policy/policy.h"

enum { MARKED_LIST = 1 };

struct marked {
    struct pageq queue;
    uint64_t capacity_pages;
    uint32_t hand; /* PAGEQ_NONE, or a page of the queue */
    void (*evict)(struct marked *marked);
};

/* A queue that makes room through @evict, which takes one page out by marked_remove. MGLRU_ENOMEM.
 * *@state is the caller's, and goes to the functions below, which are those of policy_ops. */
int marked_create(uint64_t capacity_pages, void (*evict)(struct marked *marked), void **state);
void marked_destroy(void *state);
int marked_access(void *state, const struct policy_request *request);
void marked_forget(void *state, uint32_t page);
uint64_t marked_resident(const void *state);

/* Takes @page out; a hand that rests on it moves on to the next newer page first. */
void marked_remove(struct marked *marked, uint32_t page);

#endif
