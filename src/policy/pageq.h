/* SPDX-License-Identifier: MIT */
/*
 * Queues of pages: a few doubly linked lists over dense page ids, and one mark byte a page. Every
 * baseline policy is made of these.
 *
 * The idea: links are 32-bit indexes into one array, so that a page costs 9 bytes and no access
 * allocates. The mark byte says on which list the page is (0: none) and leaves five bits to the
 * policy. It lies in an array of its own, because policies that only mark a page on a hit (Clock,
 * SIEVE, S3-FIFO) then touch one byte and 64 pages share a cache line.
 *
 * Invariants:
 * 1. A page is on at most one list of a pageq; pageq_list() names it.
 * 2. count[l] is the length of list l.
 * 3. Index 0 is null, 1 .. PAGEQ_LISTS are the sentinels, page p has index p + PAGEQ_FIRST.
 *
 * Head = newest, tail = oldest. Not thread-safe: a policy belongs to one thread.
 */
#ifndef POLICY_PAGEQ_H
#define POLICY_PAGEQ_H

#include <stdint.h>

#include "base/check.h"

enum {
    PAGEQ_LISTS = 4,               /* ARC has the most: T1, T2, B1, B2 */
    PAGEQ_FIRST = PAGEQ_LISTS + 1, /* index of page 0 */
    PAGEQ_LIST_MASK = 7,           /* bits of the mark byte that hold the list */
    PAGEQ_MARK_SHIFT = 3           /* the policy's bits lie above */
};

#define PAGEQ_NONE UINT32_MAX /* no page */

struct pageq_link {
    uint32_t newer; /* towards the head */
    uint32_t older; /* towards the tail */
};

struct pageq {
    struct pageq_link *links;
    uint8_t *marks;
    uint32_t pages; /* ids below it have room in both arrays */
    uint64_t count[PAGEQ_LISTS + 1];
};

/* Empties @queue without freeing. 0 or MGLRU_ENOMEM; pageq_free may be called after either. */
int pageq_init(struct pageq *queue);

/* Frees the arrays; @queue may be all zero bytes. */
void pageq_free(struct pageq *queue);

/*
 * Makes room for ids up to @page, at least doubling, so that growth costs amortised O(1).
 * MGLRU_ENOMEM, or MGLRU_EOVERFLOW when the id leaves no room for sentinels in 32 bits; the queues
 * are unchanged then.
 */
int pageq_grow(struct pageq *queue, uint32_t page);

static inline int pageq_reserve(struct pageq *queue, uint32_t page)
{
    return MGLRU_LIKELY(page < queue->pages) ? 0 : pageq_grow(queue, page);
}

/* The list of @page, 0 when on none. Any @page. */
static inline unsigned pageq_list(const struct pageq *queue, uint32_t page)
{
    return MGLRU_LIKELY(page < queue->pages) ? queue->marks[page] & PAGEQ_LIST_MASK : 0;
}

/* The policy's bits of @page, which must have room. */
static inline unsigned pageq_mark(const struct pageq *queue, uint32_t page)
{
    return queue->marks[page] >> PAGEQ_MARK_SHIFT;
}

static inline void pageq_set_mark(struct pageq *queue, uint32_t page, unsigned mark)
{
    queue->marks[page] =
        (uint8_t)((queue->marks[page] & PAGEQ_LIST_MASK) | (mark << PAGEQ_MARK_SHIFT));
}

static inline void pageq_link_at_head(struct pageq *queue, unsigned list, uint32_t index)
{
    struct pageq_link *links = queue->links;
    uint32_t head = links[list].older;
    links[index].newer = list;
    links[index].older = head;
    links[head].newer = index;
    links[list].older = index;
}

static inline void pageq_unlink(struct pageq *queue, uint32_t index)
{
    struct pageq_link *links = queue->links;
    struct pageq_link at = links[index];
    links[at.newer].older = at.older;
    links[at.older].newer = at.newer;
}

/* Puts @page, which has room and is on no list, at the head of @list with mark 0. */
static inline void pageq_push(struct pageq *queue, unsigned list, uint32_t page)
{
    MGLRU_ASSERT(pageq_list(queue, page) == 0);
    pageq_link_at_head(queue, list, page + PAGEQ_FIRST);
    queue->marks[page] = (uint8_t)list;
    queue->count[list]++;
}

/* Takes @page off its list and clears its mark. */
static inline void pageq_remove(struct pageq *queue, uint32_t page)
{
    MGLRU_ASSERT(pageq_list(queue, page) != 0);
    pageq_unlink(queue, page + PAGEQ_FIRST);
    queue->count[queue->marks[page] & PAGEQ_LIST_MASK]--;
    queue->marks[page] = 0;
}

/* Moves @page from the list it is on to the head of @list; its mark is cleared. */
static inline void pageq_move(struct pageq *queue, unsigned list, uint32_t page)
{
    pageq_remove(queue, page);
    pageq_push(queue, list, page);
}

/* Moves @page to the head of its own list; its mark stays. */
static inline void pageq_refresh(struct pageq *queue, unsigned list, uint32_t page)
{
    MGLRU_ASSERT(pageq_list(queue, page) == list);
    uint32_t index = page + PAGEQ_FIRST;
    if (queue->links[list].older == index)
        return;
    pageq_unlink(queue, index);
    pageq_link_at_head(queue, list, index);
}

/* The oldest page of @list, PAGEQ_NONE when it is empty. */
static inline uint32_t pageq_tail(const struct pageq *queue, unsigned list)
{
    uint32_t index = queue->links[list].newer;
    return index < PAGEQ_FIRST ? PAGEQ_NONE : index - PAGEQ_FIRST;
}

/* The next newer page on the list of @page, PAGEQ_NONE when @page is the newest. */
static inline uint32_t pageq_newer(const struct pageq *queue, uint32_t page)
{
    uint32_t index = queue->links[page + PAGEQ_FIRST].newer;
    return index < PAGEQ_FIRST ? PAGEQ_NONE : index - PAGEQ_FIRST;
}

#endif
