/* SPDX-License-Identifier: MIT */
/*
 * Clock (second chance): FIFO whose oldest page is spared once if it was accessed meanwhile.
 * F. J. Corbato, "A paging experiment with the Multics system", MIT Project MAC report
 * MAC-M-384, 1968.
 *
 * One queue and one bit a page. A hit sets the bit. To evict, the hand looks at the tail: with the
 * bit set, the bit is cleared and the page goes to the head; else the page leaves. Moving the tail
 * to the head is the same as advancing a hand over a ring. A new page starts with the bit clear, so
 * that a page needs a second access to be spared (libCacheSim's default; kernels that fault a page
 * in set the bit by that very access).
 */
#include <stdlib.h>

#include <mglru/error.h>

#include "policy/baselines.h"
#include "policy/pageq.h"

enum { CLOCK_LIST = 1 };

struct clock_cache {
    struct pageq queue;
    uint64_t capacity_pages;
};

/* Ends after at most one turn more than there are pages: each step clears a bit. */
static void clock_evict(struct pageq *queue)
{
    uint32_t page = pageq_tail(queue, CLOCK_LIST);
    while (pageq_mark(queue, page)) {
        pageq_set_mark(queue, page, 0);
        pageq_refresh(queue, CLOCK_LIST, page);
        page = pageq_tail(queue, CLOCK_LIST);
    }
    pageq_remove(queue, page);
}

static int clock_access(void *state, const struct policy_request *request)
{
    struct clock_cache *cache = state;
    struct pageq *queue = &cache->queue;
    if (pageq_list(queue, request->page)) {
        pageq_set_mark(queue, request->page, 1);
        return 1;
    }
    int error = pageq_reserve(queue, request->page);
    if (error)
        return error;
    if (queue->count[CLOCK_LIST] >= cache->capacity_pages)
        clock_evict(queue);
    pageq_push(queue, CLOCK_LIST, request->page);
    return 0;
}

static void clock_forget(void *state, uint32_t page)
{
    struct clock_cache *cache = state;
    if (pageq_list(&cache->queue, page))
        pageq_remove(&cache->queue, page);
}

static uint64_t clock_resident(const void *state)
{
    const struct clock_cache *cache = state;
    return cache->queue.count[CLOCK_LIST];
}

static void clock_destroy(void *state)
{
    struct clock_cache *cache = state;
    if (!cache)
        return;
    pageq_free(&cache->queue);
    free(cache);
}

static int clock_create(uint64_t capacity_pages, void **state)
{
    MGLRU_CHECK(capacity_pages >= 1);
    *state = NULL;
    struct clock_cache *cache = calloc(1, sizeof(*cache));
    if (!cache)
        return MGLRU_ENOMEM;
    cache->capacity_pages = capacity_pages;
    int error = pageq_init(&cache->queue);
    if (error) {
        clock_destroy(cache);
        return error;
    }
    *state = cache;
    return 0;
}

const struct policy_ops policy_clock = {
    .name = "clock",
    .about = "second chance, one bit (Corbato 1968)",
    .create = clock_create,
    .destroy = clock_destroy,
    .access = clock_access,
    .forget = clock_forget,
    .resident = clock_resident,
};
