/* SPDX-License-Identifier: MIT */
/*
 * S3-FIFO: three FIFO queues; a small one drops most pages that are used once before they reach the
 * main one.
 * J. Yang, Y. Zhang, Z. Qiu, Y. Yue, K. V. Rashmi, "FIFO queues are all you need for cache
 * eviction", SOSP 2023.
 *
 * S: new pages, a tenth of the cache. M: the rest. G: ids that left S, nine tenths as many as the
 * cache has pages. A page counts its hits up to 3.
 * A hit only counts. A miss with the id on G enters M, other misses enter S, both with count 0.
 * To make room: if M is over its share or S is empty, the tail of M goes back to the head with its
 * count lowered by one, until one with count 0 leaves. Else the tail of S moves to M when it was
 * hit at least twice, until one that was not leaves and its id enters G.
 *
 * Sizes and the threshold of two are those of the paper and of libCacheSim. S has at least one
 * page: with a tenth rounded down to none, caches below ten pages could not hold anything.
 */
#include <stdlib.h>

#include <mglru/error.h>

#include "policy/baselines.h"
#include "policy/pageq.h"

enum { S3_SMALL = 1, S3_MAIN, S3_GHOST };
enum {
    S3_HITS_MAX = 3,    /* two bits in the paper */
    S3_HITS_PROMOTE = 2 /* "accessed more than once" while in S, beyond the access that filled it */
};

struct s3fifo {
    struct pageq queue;
    uint64_t capacity_pages;
    uint64_t main_pages;
    uint64_t ghost_pages;
};

static uint64_t s3fifo_resident(const void *state)
{
    const struct s3fifo *cache = state;
    return cache->queue.count[S3_SMALL] + cache->queue.count[S3_MAIN];
}

/* Ends: each page has its count lowered at most S3_HITS_MAX times. */
static void s3fifo_evict_main(struct pageq *queue)
{
    uint32_t page = pageq_tail(queue, S3_MAIN);
    unsigned hits = pageq_mark(queue, page);
    while (hits > 0) {
        pageq_set_mark(queue, page, hits - 1);
        pageq_refresh(queue, S3_MAIN, page);
        page = pageq_tail(queue, S3_MAIN);
        hits = pageq_mark(queue, page);
    }
    pageq_remove(queue, page);
}

static void s3fifo_remember(struct s3fifo *cache, uint32_t page)
{
    struct pageq *queue = &cache->queue;
    if (cache->ghost_pages == 0)
        return;
    if (queue->count[S3_GHOST] >= cache->ghost_pages)
        pageq_remove(queue, pageq_tail(queue, S3_GHOST));
    pageq_push(queue, S3_GHOST, page);
}

/* May only move pages to M and evict nothing; the caller tries again. */
static void s3fifo_evict_small(struct s3fifo *cache)
{
    struct pageq *queue = &cache->queue;
    while (queue->count[S3_SMALL] > 0) {
        uint32_t page = pageq_tail(queue, S3_SMALL);
        unsigned hits = pageq_mark(queue, page);
        pageq_remove(queue, page);
        if (hits < S3_HITS_PROMOTE) {
            s3fifo_remember(cache, page);
            return;
        }
        pageq_push(queue, S3_MAIN, page);
    }
}

static void s3fifo_make_room(struct s3fifo *cache)
{
    struct pageq *queue = &cache->queue;
    while (s3fifo_resident(cache) >= cache->capacity_pages) {
        if (queue->count[S3_MAIN] > cache->main_pages || queue->count[S3_SMALL] == 0)
            s3fifo_evict_main(queue);
        else
            s3fifo_evict_small(cache);
    }
}

static int s3fifo_access(void *state, const struct policy_request *request)
{
    struct s3fifo *cache = state;
    struct pageq *queue = &cache->queue;
    uint32_t page = request->page;
    unsigned list = pageq_list(queue, page);
    if (list == S3_SMALL || list == S3_MAIN) {
        unsigned hits = pageq_mark(queue, page);
        if (hits < S3_HITS_MAX)
            pageq_set_mark(queue, page, hits + 1);
        return 1;
    }
    int error = pageq_reserve(queue, page);
    if (error)
        return error;
    if (list == S3_GHOST)
        pageq_remove(queue, page);
    s3fifo_make_room(cache);
    pageq_push(queue, list == S3_GHOST ? S3_MAIN : S3_SMALL, page);
    return 0;
}

static void s3fifo_forget(void *state, uint32_t page)
{
    struct s3fifo *cache = state;
    if (pageq_list(&cache->queue, page))
        pageq_remove(&cache->queue, page);
}

static void s3fifo_destroy(void *state)
{
    struct s3fifo *cache = state;
    if (!cache)
        return;
    pageq_free(&cache->queue);
    free(cache);
}

/* A tenth without overflow and without rounding surprises of floating point. */
static uint64_t s3fifo_small_share(uint64_t capacity_pages)
{
    uint64_t small = capacity_pages / 10;
    return small ? small : 1;
}

static int s3fifo_create(uint64_t capacity_pages, void **state)
{
    MGLRU_CHECK(capacity_pages >= 1);
    *state = NULL;
    struct s3fifo *cache = calloc(1, sizeof(*cache));
    if (!cache)
        return MGLRU_ENOMEM;
    cache->capacity_pages = capacity_pages;
    cache->main_pages = capacity_pages - s3fifo_small_share(capacity_pages);
    cache->ghost_pages = capacity_pages - capacity_pages / 10 - (capacity_pages % 10 != 0);
    int error = pageq_init(&cache->queue);
    if (error) {
        s3fifo_destroy(cache);
        return error;
    }
    *state = cache;
    return 0;
}

const struct policy_ops policy_s3fifo = {
    .name = "s3fifo",
    .about = "small, main and ghost FIFO queues (Yang et al., SOSP 2023)",
    .create = s3fifo_create,
    .destroy = s3fifo_destroy,
    .access = s3fifo_access,
    .forget = s3fifo_forget,
    .resident = s3fifo_resident,
};
