/* SPDX-License-Identifier: MIT */
/*
 * SIEVE: a FIFO queue with a hand that removes pages from its middle.
 * Y. Zhang, J. Yang, Y. Yue, Y. Vigfusson, K. V. Rashmi, "SIEVE is simpler than LRU: an efficient
 * turn-key eviction algorithm for web caches", NSDI 2024.
 *
 * One queue, one bit a page, one hand. A hit sets the bit. To evict, the hand walks from where it
 * stopped towards the head, clearing set bits in passing; the first page with a clear bit leaves
 * and the hand rests on the next newer page. Behind the head it starts again at the tail. Unlike
 * Clock a spared page keeps its place, so that new pages are sifted away from old popular ones.
 *
 * Invariant: the hand is PAGEQ_NONE (start at the tail) or a page of the queue.
 */
#include <stdlib.h>

#include <mglru/error.h>

#include "policy/baselines.h"
#include "policy/pageq.h"

enum { SIEVE_LIST = 1 };

struct sieve {
    struct pageq queue;
    uint64_t capacity_pages;
    uint32_t hand;
};

/* Takes @page out; a hand that rests on it moves on first. */
static void sieve_remove(struct sieve *sieve, uint32_t page)
{
    if (sieve->hand == page)
        sieve->hand = pageq_newer(&sieve->queue, page);
    pageq_remove(&sieve->queue, page);
}

/* Ends within two turns: the first clears every bit that it meets. */
static void sieve_evict(struct sieve *sieve)
{
    struct pageq *queue = &sieve->queue;
    uint32_t page = sieve->hand;
    if (page == PAGEQ_NONE)
        page = pageq_tail(queue, SIEVE_LIST);
    while (pageq_mark(queue, page)) {
        pageq_set_mark(queue, page, 0);
        page = pageq_newer(queue, page);
        if (page == PAGEQ_NONE)
            page = pageq_tail(queue, SIEVE_LIST);
    }
    sieve->hand = page;
    sieve_remove(sieve, page);
}

static int sieve_access(void *state, const struct policy_request *request)
{
    struct sieve *sieve = state;
    struct pageq *queue = &sieve->queue;
    if (pageq_list(queue, request->page)) {
        pageq_set_mark(queue, request->page, 1);
        return 1;
    }
    int error = pageq_reserve(queue, request->page);
    if (error)
        return error;
    if (queue->count[SIEVE_LIST] >= sieve->capacity_pages)
        sieve_evict(sieve);
    pageq_push(queue, SIEVE_LIST, request->page);
    return 0;
}

static void sieve_forget(void *state, uint32_t page)
{
    struct sieve *sieve = state;
    if (pageq_list(&sieve->queue, page))
        sieve_remove(sieve, page);
}

static uint64_t sieve_resident(const void *state)
{
    const struct sieve *sieve = state;
    return sieve->queue.count[SIEVE_LIST];
}

static void sieve_destroy(void *state)
{
    struct sieve *sieve = state;
    if (!sieve)
        return;
    pageq_free(&sieve->queue);
    free(sieve);
}

static int sieve_create(uint64_t capacity_pages, void **state)
{
    MGLRU_CHECK(capacity_pages >= 1);
    *state = NULL;
    struct sieve *sieve = calloc(1, sizeof(*sieve));
    if (!sieve)
        return MGLRU_ENOMEM;
    sieve->capacity_pages = capacity_pages;
    sieve->hand = PAGEQ_NONE;
    int error = pageq_init(&sieve->queue);
    if (error) {
        sieve_destroy(sieve);
        return error;
    }
    *state = sieve;
    return 0;
}

const struct policy_ops policy_sieve = {
    .name = "sieve",
    .about = "FIFO queue with a sifting hand (Zhang et al., NSDI 2024)",
    .create = sieve_create,
    .destroy = sieve_destroy,
    .access = sieve_access,
    .forget = sieve_forget,
    .resident = sieve_resident,
};
