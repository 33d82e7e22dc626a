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
#include "policy/baselines.h"
#include "policy/marked.h"

/* Ends within two turns: the first clears every bit that it meets. */
static void sieve_evict(struct marked *marked)
{
    struct pageq *queue = &marked->queue;
    uint32_t page = marked->hand;
    if (page == PAGEQ_NONE)
        page = pageq_tail(queue, MARKED_LIST);
    while (pageq_mark(queue, page)) {
        pageq_set_mark(queue, page, 0);
        page = pageq_newer(queue, page);
        if (page == PAGEQ_NONE)
            page = pageq_tail(queue, MARKED_LIST);
    }
    marked->hand = page;
    marked_remove(marked, page);
}

static int sieve_create(uint64_t capacity_pages, void **state)
{
    return marked_create(capacity_pages, sieve_evict, state);
}

const struct policy_ops policy_sieve = {
    .name = "sieve",
    .about = "FIFO queue with a sifting hand (Zhang et al., NSDI 2024)",
    .create = sieve_create,
    .destroy = marked_destroy,
    .access = marked_access,
    .forget = marked_forget,
    .resident = marked_resident,
};
