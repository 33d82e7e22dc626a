/* SPDX-License-Identifier: MIT */
/*
 * LIRS: ranks pages by the distance between their last two accesses instead of by the last one.
 * S. Jiang, X. Zhang, "LIRS: an efficient low inter-reference recency set replacement policy to
 * improve buffer cache performance", SIGMETRICS 2002.
 *
 * LIR pages have a low inter-reference recency and fill 99 % of the cache; resident HIR pages fill
 * the last 1 % (at least one page). Stack S holds the LIR pages and every HIR page, resident or
 * not, that was accessed after the oldest LIR page. Queue Q holds the resident HIR pages; its tail
 * is the next victim. Q's victim stays on S as a non-resident page if it is there.
 * Hit on LIR: to the head of S. Hit on HIR on S: it becomes LIR and leaves Q. Hit on HIR only in Q:
 * to the heads of S and Q. Miss on a page on S: it enters as LIR. Other miss: it enters as LIR
 * while the LIR set is not full, else as HIR. When the LIR set is over its share, its oldest page,
 * the tail of S, becomes HIR. Pruning then takes HIR pages off the tail of S.
 *
 * The paper does not bound the non-resident pages on S. As in libCacheSim, S holds at most 2c
 * pages; the one that lost its residence first goes first.
 *
 * Invariants: 1. the tail of S is a LIR page or S is empty. 2. LIR pages are on S and neither in Q
 * nor on the list of the gone. 3. The gone are on S. 4. LIR + Q <= c.
 */
#include <stdlib.h>

#include <mglru/error.h>

#include "policy/baselines.h"
#include "policy/pageq.h"

enum { LIRS_STACK = 1 };               /* the only list of @stack */
enum { LIRS_RESIDENT = 1, LIRS_GONE }; /* lists of @hir: Q, and non-resident pages by age */
enum { LIRS_HIR_DIVISOR = 100 };       /* one percent, from the paper */

struct lirs {
    struct pageq stack;
    struct pageq hir;
    uint64_t capacity_pages;
    uint64_t lir_limit_pages;
    uint64_t hir_limit_pages;
    uint64_t lir_pages;
};

static bool lirs_is_lir(const struct lirs *lirs, uint32_t page)
{
    return pageq_list(&lirs->stack, page) && !pageq_list(&lirs->hir, page);
}

static void lirs_prune(struct lirs *lirs)
{
    uint32_t page = pageq_tail(&lirs->stack, LIRS_STACK);
    while (page != PAGEQ_NONE && !lirs_is_lir(lirs, page)) {
        pageq_remove(&lirs->stack, page);
        if (pageq_list(&lirs->hir, page) == LIRS_GONE)
            pageq_remove(&lirs->hir, page);
        page = pageq_tail(&lirs->stack, LIRS_STACK);
    }
}

/* Makes room for one page in Q. */
static void lirs_evict(struct lirs *lirs)
{
    if (lirs->hir.count[LIRS_RESIDENT] < lirs->hir_limit_pages)
        return;
    uint32_t page = pageq_tail(&lirs->hir, LIRS_RESIDENT);
    if (pageq_list(&lirs->stack, page))
        pageq_move(&lirs->hir, LIRS_GONE, page);
    else
        pageq_remove(&lirs->hir, page);
}

/* Brings the LIR set back to its share: its oldest page becomes the newest of Q. */
static void lirs_demote(struct lirs *lirs)
{
    if (lirs->lir_pages <= lirs->lir_limit_pages)
        return;
    uint32_t page = pageq_tail(&lirs->stack, LIRS_STACK);
    pageq_remove(&lirs->stack, page);
    lirs->lir_pages--;
    lirs_evict(lirs);
    pageq_push(&lirs->hir, LIRS_RESIDENT, page);
    lirs_prune(lirs);
}

/* @page, on S and in one of the HIR lists, becomes LIR. */
static void lirs_promote(struct lirs *lirs, uint32_t page)
{
    pageq_remove(&lirs->hir, page);
    pageq_refresh(&lirs->stack, LIRS_STACK, page);
    lirs->lir_pages++;
    lirs_demote(lirs);
}

static void lirs_hit(struct lirs *lirs, uint32_t page, bool is_lir)
{
    if (is_lir) {
        pageq_refresh(&lirs->stack, LIRS_STACK, page);
        lirs_prune(lirs);
        return;
    }
    if (pageq_list(&lirs->stack, page)) {
        lirs_promote(lirs, page);
        return;
    }
    pageq_refresh(&lirs->hir, LIRS_RESIDENT, page);
    if (lirs->lir_limit_pages)
        pageq_push(&lirs->stack, LIRS_STACK, page);
}

static void lirs_admit(struct lirs *lirs, uint32_t page)
{
    if (lirs->lir_pages < lirs->lir_limit_pages) {
        pageq_push(&lirs->stack, LIRS_STACK, page);
        lirs->lir_pages++;
        return;
    }
    lirs_evict(lirs);
    pageq_push(&lirs->hir, LIRS_RESIDENT, page);
    /* A cache of one page has no LIR set, so S would have no tail to prune to. */
    if (lirs->lir_limit_pages)
        pageq_push(&lirs->stack, LIRS_STACK, page);
}

static void lirs_limit_stack(struct lirs *lirs)
{
    while (lirs->stack.count[LIRS_STACK] > 2 * lirs->capacity_pages) {
        uint32_t page = pageq_tail(&lirs->hir, LIRS_GONE);
        if (MGLRU_NEVER(page == PAGEQ_NONE))
            return;
        pageq_remove(&lirs->hir, page);
        pageq_remove(&lirs->stack, page);
    }
}

static int lirs_access(void *state, const struct policy_request *request)
{
    struct lirs *lirs = state;
    uint32_t page = request->page;
    unsigned hir = pageq_list(&lirs->hir, page);
    bool on_stack = pageq_list(&lirs->stack, page);
    bool is_lir = on_stack && !hir;
    if (is_lir || hir == LIRS_RESIDENT) {
        lirs_hit(lirs, page, is_lir);
        lirs_limit_stack(lirs);
        return 1;
    }
    int error = pageq_reserve(&lirs->stack, page);
    if (!error)
        error = pageq_reserve(&lirs->hir, page);
    if (error)
        return error;
    if (hir == LIRS_GONE)
        lirs_promote(lirs, page);
    else
        lirs_admit(lirs, page);
    lirs_limit_stack(lirs);
    return 0;
}

static void lirs_forget(void *state, uint32_t page)
{
    struct lirs *lirs = state;
    if (lirs_is_lir(lirs, page))
        lirs->lir_pages--;
    if (pageq_list(&lirs->hir, page))
        pageq_remove(&lirs->hir, page);
    if (pageq_list(&lirs->stack, page))
        pageq_remove(&lirs->stack, page);
    lirs_prune(lirs);
}

static uint64_t lirs_resident(const void *state)
{
    const struct lirs *lirs = state;
    return lirs->lir_pages + lirs->hir.count[LIRS_RESIDENT];
}

static void lirs_destroy(void *state)
{
    struct lirs *lirs = state;
    if (!lirs)
        return;
    pageq_free(&lirs->stack);
    pageq_free(&lirs->hir);
    free(lirs);
}

static int lirs_create(uint64_t capacity_pages, void **state)
{
    MGLRU_CHECK(capacity_pages >= 1);
    *state = NULL;
    struct lirs *lirs = calloc(1, sizeof(*lirs));
    if (!lirs)
        return MGLRU_ENOMEM;
    lirs->capacity_pages = capacity_pages;
    uint64_t hir = capacity_pages / LIRS_HIR_DIVISOR;
    lirs->hir_limit_pages = hir ? hir : 1;
    lirs->lir_limit_pages = capacity_pages - lirs->hir_limit_pages;
    int error = pageq_init(&lirs->stack);
    if (!error)
        error = pageq_init(&lirs->hir);
    if (error) {
        lirs_destroy(lirs);
        return error;
    }
    *state = lirs;
    return 0;
}

const struct policy_ops policy_lirs = {
    .name = "lirs",
    .about = "low inter-reference recency set (Jiang, Zhang, SIGMETRICS 2002)",
    .create = lirs_create,
    .destroy = lirs_destroy,
    .access = lirs_access,
    .forget = lirs_forget,
    .resident = lirs_resident,
};
