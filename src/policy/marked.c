/* SPDX-License-Identifier: MIT */
/* The queue with marks of policy/marked.h. */
#include "policy/marked.h"

#include <stdlib.h>

#include <mglru/error.h>

#include "base/check.h"

int marked_create(uint64_t capacity_pages, void (*evict)(struct marked *marked), void **state)
{
    MGLRU_CHECK(capacity_pages >= 1);
    *state = NULL;
    struct marked *marked = calloc(1, sizeof(*marked));
    if (!marked)
        return MGLRU_ENOMEM;
    marked->capacity_pages = capacity_pages;
    marked->hand = PAGEQ_NONE;
    marked->evict = evict;
    int error = pageq_init(&marked->queue);
    if (error) {
        marked_destroy(marked);
        return error;
    }
    *state = marked;
    return 0;
}

void marked_destroy(void *state)
{
    struct marked *marked = state;
    if (!marked)
        return;
    pageq_free(&marked->queue);
    free(marked);
}

int marked_access(void *state, const struct policy_request *request)
{
    struct marked *marked = state;
    struct pageq *queue = &marked->queue;
    if (pageq_list(queue, request->page)) {
        pageq_set_mark(queue, request->page, 1);
        return 1;
    }
    int error = pageq_reserve(queue, request->page);
    if (error)
        return error;
    if (queue->count[MARKED_LIST] >= marked->capacity_pages)
        marked->evict(marked);
    pageq_push(queue, MARKED_LIST, request->page);
    return 0;
}

void marked_forget(void *state, uint32_t page)
{
    struct marked *marked = state;
    if (pageq_list(&marked->queue, page))
        marked_remove(marked, page);
}

uint64_t marked_resident(const void *state)
{
    const struct marked *marked = state;
    return marked->queue.count[MARKED_LIST];
}

void marked_remove(struct marked *marked, uint32_t page)
{
    if (marked->hand == page)
        marked->hand = pageq_newer(&marked->queue, page);
    pageq_remove(&marked->queue, page);
}
