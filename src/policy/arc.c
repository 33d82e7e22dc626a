/* SPDX-License-Identifier: MIT */
/*
 * ARC: an LRU of pages seen once and one of pages seen again, whose shares follow the hits on the
 * ids of what each of them evicted last.
 * N. Megiddo, D. S. Modha, "ARC: a self-tuning, low overhead replacement cache", FAST 2003.
 *
 * T1, T2: resident pages seen once / more often. B1, B2: ids evicted from T1 / T2. p: target of T1.
 * Hit: the page goes to the head of T2. Miss with the id on B1: p grows by max(1, B2/B1), on B2: p
 * shrinks by max(1, B1/B2); the page enters T2. Other miss: it enters T1, after B1 (or T1 itself,
 * when B1 is empty) has lost its tail if T1 + B1 = c, or B2 its own if all four make 2c. Room is
 * made (REPLACE) by evicting the tail of T1 to B1 when T1 is over p, else the tail of T2 to B2.
 *
 * p is a real number, as in libCacheSim; the paper leaves open whether it is rounded.
 *
 * Invariants: 1. T1 + T2 <= c. 2. T1 + B1 <= c. 3. T1 + T2 + B1 + B2 <= 2c. 4. 0 <= p <= c.
 */
#include <stdlib.h>

#include <mglru/error.h>

#include "policy/baselines.h"
#include "policy/pageq.h"

enum { ARC_T1 = 1, ARC_T2, ARC_B1, ARC_B2 };

struct arc {
    struct pageq queue;
    uint64_t capacity_pages;
    double p; /* target length of T1 in pages */
};

static uint64_t arc_resident(const void *state)
{
    const struct arc *arc = state;
    return arc->queue.count[ARC_T1] + arc->queue.count[ARC_T2];
}

/* REPLACE of the paper, skipped while there is room. @wanted_on_b2: the missing page's id was. */
static void arc_make_room(struct arc *arc, bool wanted_on_b2)
{
    struct pageq *queue = &arc->queue;
    if (arc_resident(arc) < arc->capacity_pages)
        return;
    double t1 = (double)queue->count[ARC_T1];
    bool from_t1 = t1 > 0 && (t1 > arc->p || (wanted_on_b2 && t1 >= arc->p));
    if (from_t1 || queue->count[ARC_T2] == 0)
        pageq_move(queue, ARC_B1, pageq_tail(queue, ARC_T1));
    else
        pageq_move(queue, ARC_B2, pageq_tail(queue, ARC_T2));
}

/* Cases II and III: the id of @page is still known. */
static void arc_readmit(struct arc *arc, uint32_t page, unsigned list)
{
    struct pageq *queue = &arc->queue;
    double b1 = (double)queue->count[ARC_B1];
    double b2 = (double)queue->count[ARC_B2];
    double capacity = (double)arc->capacity_pages;
    if (list == ARC_B1) {
        arc->p += b2 > b1 ? b2 / b1 : 1;
        if (arc->p > capacity)
            arc->p = capacity;
    } else {
        arc->p -= b1 > b2 ? b1 / b2 : 1;
        if (arc->p < 0)
            arc->p = 0;
    }
    pageq_remove(queue, page);
    arc_make_room(arc, list == ARC_B2);
    pageq_push(queue, ARC_T2, page);
}

/* Case IV: nothing is known of @page. */
static void arc_admit(struct arc *arc, uint32_t page)
{
    struct pageq *queue = &arc->queue;
    uint64_t l1 = queue->count[ARC_T1] + queue->count[ARC_B1];
    uint64_t l2 = queue->count[ARC_T2] + queue->count[ARC_B2];
    if (l1 >= arc->capacity_pages) {
        unsigned list = queue->count[ARC_B1] ? ARC_B1 : ARC_T1;
        pageq_remove(queue, pageq_tail(queue, list));
    } else if (l1 + l2 >= 2 * arc->capacity_pages && queue->count[ARC_B2]) {
        pageq_remove(queue, pageq_tail(queue, ARC_B2));
    }
    arc_make_room(arc, false);
    pageq_push(queue, ARC_T1, page);
}

static int arc_access(void *state, const struct policy_request *request)
{
    struct arc *arc = state;
    struct pageq *queue = &arc->queue;
    uint32_t page = request->page;
    unsigned list = pageq_list(queue, page);
    if (list == ARC_T2) {
        pageq_refresh(queue, ARC_T2, page);
        return 1;
    }
    if (list == ARC_T1) {
        pageq_move(queue, ARC_T2, page);
        return 1;
    }
    int error = pageq_reserve(queue, page);
    if (error)
        return error;
    if (list)
        arc_readmit(arc, page, list);
    else
        arc_admit(arc, page);
    return 0;
}

static void arc_forget(void *state, uint32_t page)
{
    struct arc *arc = state;
    if (pageq_list(&arc->queue, page))
        pageq_remove(&arc->queue, page);
}

static void arc_destroy(void *state)
{
    struct arc *arc = state;
    if (!arc)
        return;
    pageq_free(&arc->queue);
    free(arc);
}

static int arc_create(uint64_t capacity_pages, void **state)
{
    MGLRU_CHECK(capacity_pages >= 1);
    *state = NULL;
    struct arc *arc = calloc(1, sizeof(*arc));
    if (!arc)
        return MGLRU_ENOMEM;
    arc->capacity_pages = capacity_pages;
    int error = pageq_init(&arc->queue);
    if (error) {
        arc_destroy(arc);
        return error;
    }
    *state = arc;
    return 0;
}

const struct policy_ops policy_arc = {
    .name = "arc",
    .about = "adaptive replacement cache (Megiddo, Modha, FAST 2003)",
    .create = arc_create,
    .destroy = arc_destroy,
    .access = arc_access,
    .forget = arc_forget,
    .resident = arc_resident,
};
