/* SPDX-License-Identifier: MIT */
/*
 * 2Q (full version): a page must be accessed again after it left a short FIFO queue before it is
 * kept among the hot pages.
 * T. Johnson, D. Shasha, "2Q: a low overhead high performance buffer management replacement
 * algorithm", VLDB 1994.
 *
 * A1in: FIFO of new pages, a quarter of the cache. A1out: ids of pages that left A1in, half as many
 * as the cache has pages (both fractions from the paper). Am: LRU of the rest.
 * Hit in A1in: nothing. Hit in Am: to its head. Miss with the id on A1out: the page enters Am.
 * Other miss: it enters A1in. To make room: while A1in is over its share its tail leaves and its id
 * goes to A1out; else the tail of Am leaves and is forgotten.
 *
 * An id leaves A1out before room is made for its page, so that it does not push another id out.
 * The paper is silent on that; libCacheSim does the same.
 */
#include <stdlib.h>

#include <mglru/error.h>

#include "policy/baselines.h"
#include "policy/pageq.h"

enum { TWOQ_IN = 1, TWOQ_MAIN, TWOQ_OUT };

struct twoq {
    struct pageq queue;
    uint64_t capacity_pages;
    uint64_t in_pages;  /* share of A1in */
    uint64_t out_pages; /* ids on A1out */
};

static uint64_t twoq_resident(const void *state)
{
    const struct twoq *twoq = state;
    return twoq->queue.count[TWOQ_IN] + twoq->queue.count[TWOQ_MAIN];
}

static void twoq_evict(struct twoq *twoq)
{
    struct pageq *queue = &twoq->queue;
    if (queue->count[TWOQ_IN] <= twoq->in_pages) {
        pageq_remove(queue, pageq_tail(queue, TWOQ_MAIN));
        return;
    }
    uint32_t page = pageq_tail(queue, TWOQ_IN);
    pageq_remove(queue, page);
    if (twoq->out_pages == 0)
        return;
    if (queue->count[TWOQ_OUT] >= twoq->out_pages)
        pageq_remove(queue, pageq_tail(queue, TWOQ_OUT));
    pageq_push(queue, TWOQ_OUT, page);
}

static int twoq_access(void *state, const struct policy_request *request)
{
    struct twoq *twoq = state;
    struct pageq *queue = &twoq->queue;
    uint32_t page = request->page;
    unsigned list = pageq_list(queue, page);
    if (list == TWOQ_IN)
        return 1;
    if (list == TWOQ_MAIN) {
        pageq_refresh(queue, TWOQ_MAIN, page);
        return 1;
    }
    int error = pageq_reserve(queue, page);
    if (error)
        return error;
    if (list == TWOQ_OUT)
        pageq_remove(queue, page);
    if (twoq_resident(twoq) >= twoq->capacity_pages)
        twoq_evict(twoq);
    pageq_push(queue, list == TWOQ_OUT ? TWOQ_MAIN : TWOQ_IN, page);
    return 0;
}

static void twoq_forget(void *state, uint32_t page)
{
    struct twoq *twoq = state;
    if (pageq_list(&twoq->queue, page))
        pageq_remove(&twoq->queue, page);
}

static void twoq_destroy(void *state)
{
    struct twoq *twoq = state;
    if (!twoq)
        return;
    pageq_free(&twoq->queue);
    free(twoq);
}

static int twoq_create(uint64_t capacity_pages, void **state)
{
    MGLRU_CHECK(capacity_pages >= 1);
    *state = NULL;
    struct twoq *twoq = calloc(1, sizeof(*twoq));
    if (!twoq)
        return MGLRU_ENOMEM;
    twoq->capacity_pages = capacity_pages;
    twoq->in_pages = capacity_pages / 4;
    twoq->out_pages = capacity_pages / 2;
    int error = pageq_init(&twoq->queue);
    if (error) {
        twoq_destroy(twoq);
        return error;
    }
    *state = twoq;
    return 0;
}

const struct policy_ops policy_twoq = {
    .name = "2q",
    .about = "short FIFO, remembered ids, hot LRU (Johnson, Shasha, VLDB 1994)",
    .create = twoq_create,
    .destroy = twoq_destroy,
    .access = twoq_access,
    .forget = twoq_forget,
    .resident = twoq_resident,
};
