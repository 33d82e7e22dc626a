/* SPDX-License-Identifier: MIT */
/*
 * W-TinyLFU: a small LRU window before a segmented LRU; what leaves the window is kept only if it
 * was accessed more often of late than the page it would replace.
 * G. Einziger, R. Friedman, B. Manes, "TinyLFU: a highly efficient cache admission policy", ACM
 * Transactions on Storage 13(4), 2017.
 *
 * Window: LRU, 1 % of the cache, at least one page. Main: segmented LRU of the rest, of which 80 %
 * may be protected (shares from the paper). Every access is counted in a fading sketch (sketch.h).
 * Hit in the window or the protected segment: to its head. Hit on probation: to the head of the
 * protected segment, whose tail goes back to probation when it is over its share. A missing page
 * enters the window. The tail of an overfull window moves to probation if the main part has room;
 * else it and the tail of probation (of the protected segment, if probation is empty) compare
 * their estimates: the strictly larger one stays, at the head of probation if it is the newcomer.
 *
 * The paper's doorkeeper (a Bloom filter before the sketch, to save memory) is left out. The paper
 * leaves equal estimates open; here the resident page stays.
 */
#include <stdlib.h>

#include <mglru/error.h>

#include "policy/baselines.h"
#include "policy/pageq.h"
#include "policy/sketch.h"

enum { WTLFU_WINDOW = 1, WTLFU_PROBATION, WTLFU_PROTECTED };
enum { WTLFU_WINDOW_DIVISOR = 100 };

struct wtinylfu {
    struct pageq queue;
    struct sketch sketch;
    uint64_t capacity_pages;
    uint64_t window_pages;
    uint64_t protected_pages;
};

static uint64_t wtinylfu_resident(const void *state)
{
    const struct wtinylfu *cache = state;
    const uint64_t *count = cache->queue.count;
    return count[WTLFU_WINDOW] + count[WTLFU_PROBATION] + count[WTLFU_PROTECTED];
}

static void wtinylfu_hit(struct wtinylfu *cache, uint32_t page, unsigned list)
{
    struct pageq *queue = &cache->queue;
    if (list != WTLFU_PROBATION) {
        pageq_refresh(queue, list, page);
        return;
    }
    pageq_move(queue, WTLFU_PROTECTED, page);
    if (queue->count[WTLFU_PROTECTED] > cache->protected_pages)
        pageq_move(queue, WTLFU_PROBATION, pageq_tail(queue, WTLFU_PROTECTED));
}

/* The page that the main part would lose next, PAGEQ_NONE if it is empty. */
static uint32_t wtinylfu_main_victim(const struct pageq *queue)
{
    uint32_t page = pageq_tail(queue, WTLFU_PROBATION);
    return page != PAGEQ_NONE ? page : pageq_tail(queue, WTLFU_PROTECTED);
}

/* An overfull window gives its tail to the main part; the loser of the duel leaves. */
static void wtinylfu_settle(struct wtinylfu *cache)
{
    struct pageq *queue = &cache->queue;
    if (queue->count[WTLFU_WINDOW] <= cache->window_pages)
        return;
    uint32_t candidate = pageq_tail(queue, WTLFU_WINDOW);
    if (wtinylfu_resident(cache) > cache->capacity_pages) {
        uint32_t victim = wtinylfu_main_victim(queue);
        if (victim == PAGEQ_NONE ||
            sketch_estimate(&cache->sketch, candidate) <= sketch_estimate(&cache->sketch, victim)) {
            pageq_remove(queue, candidate);
            return;
        }
        pageq_remove(queue, victim);
    }
    pageq_move(queue, WTLFU_PROBATION, candidate);
}

static int wtinylfu_access(void *state, const struct policy_request *request)
{
    struct wtinylfu *cache = state;
    struct pageq *queue = &cache->queue;
    uint32_t page = request->page;
    unsigned list = pageq_list(queue, page);
    if (list) {
        sketch_count(&cache->sketch, page);
        wtinylfu_hit(cache, page, list);
        return 1;
    }
    int error = pageq_reserve(queue, page);
    if (error)
        return error;
    sketch_count(&cache->sketch, page);
    pageq_push(queue, WTLFU_WINDOW, page);
    wtinylfu_settle(cache);
    return 0;
}

static void wtinylfu_forget(void *state, uint32_t page)
{
    struct wtinylfu *cache = state;
    if (pageq_list(&cache->queue, page))
        pageq_remove(&cache->queue, page);
}

static void wtinylfu_destroy(void *state)
{
    struct wtinylfu *cache = state;
    if (!cache)
        return;
    pageq_free(&cache->queue);
    sketch_free(&cache->sketch);
    free(cache);
}

static int wtinylfu_create(uint64_t capacity_pages, void **state)
{
    MGLRU_CHECK(capacity_pages >= 1);
    *state = NULL;
    struct wtinylfu *cache = calloc(1, sizeof(*cache));
    if (!cache)
        return MGLRU_ENOMEM;
    cache->capacity_pages = capacity_pages;
    uint64_t window = capacity_pages / WTLFU_WINDOW_DIVISOR;
    cache->window_pages = window ? window : 1;
    uint64_t main_pages = capacity_pages - cache->window_pages;
    cache->protected_pages = main_pages / 5 * 4 + main_pages % 5 * 4 / 5;
    int error = pageq_init(&cache->queue);
    if (!error)
        error = sketch_init(&cache->sketch, capacity_pages);
    if (error) {
        wtinylfu_destroy(cache);
        return error;
    }
    *state = cache;
    return 0;
}

const struct policy_ops policy_wtinylfu = {
    .name = "w-tinylfu",
    .about = "admission by frequency sketch (Einziger, Friedman, Manes, TOS 2017)",
    .create = wtinylfu_create,
    .destroy = wtinylfu_destroy,
    .access = wtinylfu_access,
    .forget = wtinylfu_forget,
    .resident = wtinylfu_resident,
};
