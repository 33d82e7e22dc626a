/* SPDX-License-Identifier: MIT */
/*
 * FIFO: evicts the page that came in first, whatever was accessed since.
 * L. A. Belady, "A study of replacement algorithms for a virtual-storage computer", IBM Systems
 * Journal 5(2), 1966.
 *
 * One queue; a hit changes nothing. Not a stack algorithm: a larger cache can miss more often
 * (L. A. Belady, R. A. Nelson, G. S. Shedler, Communications of the ACM 12(6), 1969).
 */
#include <stdlib.h>

#include <mglru/error.h>

#include "policy/baselines.h"
#include "policy/pageq.h"

enum { FIFO_LIST = 1 };

struct fifo {
    struct pageq queue;
    uint64_t capacity_pages;
};

static int fifo_access(void *state, const struct policy_request *request)
{
    struct fifo *fifo = state;
    struct pageq *queue = &fifo->queue;
    if (pageq_list(queue, request->page))
        return 1;
    int error = pageq_reserve(queue, request->page);
    if (error)
        return error;
    if (queue->count[FIFO_LIST] >= fifo->capacity_pages)
        pageq_remove(queue, pageq_tail(queue, FIFO_LIST));
    pageq_push(queue, FIFO_LIST, request->page);
    return 0;
}

static void fifo_forget(void *state, uint32_t page)
{
    struct fifo *fifo = state;
    if (pageq_list(&fifo->queue, page))
        pageq_remove(&fifo->queue, page);
}

static uint64_t fifo_resident(const void *state)
{
    const struct fifo *fifo = state;
    return fifo->queue.count[FIFO_LIST];
}

static void fifo_destroy(void *state)
{
    struct fifo *fifo = state;
    if (!fifo)
        return;
    pageq_free(&fifo->queue);
    free(fifo);
}

static int fifo_create(uint64_t capacity_pages, void **state)
{
    MGLRU_CHECK(capacity_pages >= 1);
    *state = NULL;
    struct fifo *fifo = calloc(1, sizeof(*fifo));
    if (!fifo)
        return MGLRU_ENOMEM;
    fifo->capacity_pages = capacity_pages;
    int error = pageq_init(&fifo->queue);
    if (error) {
        fifo_destroy(fifo);
        return error;
    }
    *state = fifo;
    return 0;
}

const struct policy_ops policy_fifo = {
    .name = "fifo",
    .about = "first in, first out (Belady 1966)",
    .create = fifo_create,
    .destroy = fifo_destroy,
    .access = fifo_access,
    .forget = fifo_forget,
    .resident = fifo_resident,
};
