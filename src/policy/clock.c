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
#include "policy/baselines.h"
#include "policy/marked.h"

/* Ends after at most one turn more than there are pages: each step clears a bit. */
static void clock_evict(struct marked *marked)
{
    struct pageq *queue = &marked->queue;
    uint32_t page = pageq_tail(queue, MARKED_LIST);
    while (pageq_mark(queue, page)) {
        pageq_set_mark(queue, page, 0);
        pageq_refresh(queue, MARKED_LIST, page);
        page = pageq_tail(queue, MARKED_LIST);
    }
    marked_remove(marked, page);
}

static int clock_create(uint64_t capacity_pages, void **state)
{
    return marked_create(capacity_pages, clock_evict, state);
}

const struct policy_ops policy_clock = {
    .name = "clock",
    .about = "second chance, one bit (Corbato 1968)",
    .create = clock_create,
    .destroy = marked_destroy,
    .access = marked_access,
    .forget = marked_forget,
    .resident = marked_resident,
};
