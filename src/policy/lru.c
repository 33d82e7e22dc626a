/* SPDX-License-Identifier: MIT */
/*
 * LRU: evicts the page that was accessed least recently.
 * R. L. Mattson, J. Gecsei, D. R. Slutz, I. L. Traiger, "Evaluation techniques for storage
 * hierarchies", IBM Systems Journal 9(2), 1970.
 *
 * One queue. A hit moves the page to the head; a miss puts the page there after the tail has left.
 * A stack algorithm: a larger cache holds all that a smaller one does.
 */
#include <stdlib.h>

#include <mglru/error.h>

#include "policy/baselines.h"
#include "policy/pageq.h"

enum { LRU_LIST = 1 };

struct lru {
    struct pageq queue;
    uint64_t capacity_pages;
};

static int lru_access(void *state, const struct policy_request *request)
{
    struct lru *lru = state;
    struct pageq *queue = &lru->queue;
    uint32_t page = request->page;
    if (pageq_list(queue, page)) {
        pageq_refresh(queue, LRU_LIST, page);
        return 1;
    }
    int error = pageq_reserve(queue, page);
    if (error)
        return error;
    if (queue->count[LRU_LIST] >= lru->capacity_pages)
        pageq_remove(queue, pageq_tail(queue, LRU_LIST));
    pageq_push(queue, LRU_LIST, page);
    return 0;
}

static void lru_forget(void *state, uint32_t page)
{
    struct lru *lru = state;
    if (pageq_list(&lru->queue, page))
        pageq_remove(&lru->queue, page);
}

static uint64_t lru_resident(const void *state)
{
    const struct lru *lru = state;
    return lru->queue.count[LRU_LIST];
}

static void lru_destroy(void *state)
{
    struct lru *lru = state;
    if (!lru)
        return;
    pageq_free(&lru->queue);
    free(lru);
}

static int lru_create(uint64_t capacity_pages, void **state)
{
    MGLRU_CHECK(capacity_pages >= 1);
    *state = NULL;
    struct lru *lru = calloc(1, sizeof(*lru));
    if (!lru)
        return MGLRU_ENOMEM;
    lru->capacity_pages = capacity_pages;
    int error = pageq_init(&lru->queue);
    if (error) {
        lru_destroy(lru);
        return error;
    }
    *state = lru;
    return 0;
}

const struct policy_ops policy_lru = {
    .name = "lru",
    .about = "least recently used (Mattson et al. 1970)",
    .create = lru_create,
    .destroy = lru_destroy,
    .access = lru_access,
    .forget = lru_forget,
    .resident = lru_resident,
};
