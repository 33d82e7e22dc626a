/* SPDX-License-Identifier: MIT */
/*
 * Creation of lruvecs, and the one door through which folios come onto lists and leave them.
 * The door chooses between MGLRU lists and classic lists by lruvec_enabled(lruvec).
 */
#include "reclaim/reclaim.h"

#include <stdlib.h>
#include <string.h>

#include <mglru/error.h>

#include "base/check.h"
#include "reclaim/hold.h"

static void lruvec_init(struct lruvec *lruvec)
{
    lruvec_set_max_seq(lruvec, MIN_NR_GENS + 1);
    for (unsigned gen = 0; gen < MAX_NR_GENS; gen++) {
        atomic_store_relaxed(&lruvec->timestamps[gen],
                             atomic_load_relaxed(&lruvec->reclaim->now_ns));
        for (unsigned type = 0; type < LRU_TYPES; type++)
            for (unsigned zone = 0; zone < MAX_NR_ZONES; zone++)
                list_init(&lruvec->folios[gen][type][zone]);
    }
    for (unsigned list = 0; list < NR_LRU_LISTS; list++)
        list_init(&lruvec->lists[list]);
    list_init(&lruvec->memcg_list);
    atomic_store_relaxed(&lruvec->enabled, reclaim_enabled(lruvec->reclaim));
    lruvec->mm_state.seq = MIN_NR_GENS;
}

int lruvec_attach(struct reclaim *reclaim, struct memcg *memcg)
{
    struct memcg_reclaim *own = calloc(1, sizeof(*own));
    if (!own)
        return MGLRU_ENOMEM;
    list_init(&own->mm_list);
    memcg->reclaim = own;
    for (unsigned node = 0; node < reclaim->nodes; node++) {
        struct lruvec *lruvec = aligned_alloc(64, (sizeof(*lruvec) + 63) & ~(size_t)63);
        if (!lruvec) {
            lruvec_detach(memcg);
            return MGLRU_ENOMEM;
        }
        memset(lruvec, 0, sizeof(*lruvec));
        lruvec->reclaim = reclaim;
        lruvec->memcg = memcg;
        lruvec->node = node;
        lock_spin_init(&lruvec->lock, RANK_LRU);
        lruvec_init(lruvec);
        own->lruvecs[node] = lruvec;
        memcg_lru_online(lruvec);
    }
    return 0;
}

static void free_own(struct rcu_later *later)
{
    struct memcg_reclaim *own = container_of(later, struct memcg_reclaim, later);
    for (unsigned node = 0; node < RECLAIM_MAX_NODES; node++)
        free(own->lruvecs[node]);
    free(own);
}

void lruvec_detach(struct memcg *memcg)
{
    struct memcg_reclaim *own = memcg->reclaim;
    bool shared = false;
    if (!own)
        return;
    for (unsigned node = 0; node < RECLAIM_MAX_NODES; node++) {
        if (!own->lruvecs[node])
            continue;
        shared = own->lruvecs[node]->reclaim->shared;
        memcg_lru_release(own->lruvecs[node]);
        mm_state_free(&own->lruvecs[node]->mm_state);
    }
    struct list_node *pos, *tmp;
    list_for_each_safe (pos, tmp, &own->mm_list)
        mm_destroy(container_of(pos, struct mm, mm_link));
    if (shared) {
        rcu_free_later(&own->later, free_own); /* memcg->reclaim stays readable as long */
        return;
    }
    memcg->reclaim = NULL;
    free_own(&own->later);
}

void lruvec_account(struct lruvec *lruvec, enum lru_list list, unsigned zone, long pages)
{
    static const enum memcg_stat_item items[NR_LRU_LISTS] = {
        [LRU_INACTIVE_ANON] = MEMCG_INACTIVE_ANON, [LRU_ACTIVE_ANON] = MEMCG_ACTIVE_ANON,
        [LRU_INACTIVE_FILE] = MEMCG_INACTIVE_FILE, [LRU_ACTIVE_FILE] = MEMCG_ACTIVE_FILE,
        [LRU_UNEVICTABLE] = MEMCG_UNEVICTABLE,
    };
    atomic_add_owner(&lruvec->lru_size[zone][list], pages);
    lruvec_stat(lruvec, items[list], pages);
}

static enum lru_list classic_list(const struct folio *folio)
{
    if (!folio_evictable(folio))
        return LRU_UNEVICTABLE;
    return lru_list_of(folio_type(folio), folio_test(folio, FOLIO_ACTIVE));
}

void lruvec_add(struct folio *folio, bool tail)
{
    MGLRU_ASSERT(!folio_test(folio, FOLIO_LRU));
    folio_set(folio, FOLIO_LRU);
    lruvec_place(folio, tail);
}

bool lruvec_add_held(struct folio *folio)
{
    MGLRU_ASSERT(!folio_test(folio, FOLIO_LRU));
    /* The flag comes first: who drops the last reference after us sees it, and waits for the lock
     * to take the folio off the list again. */
    folio_set(folio, FOLIO_LRU);
    if (hold_put(folio)) {
        folio_clear(folio, FOLIO_LRU);
        return false;
    }
    lruvec_place(folio, false);
    return true;
}

void lruvec_place(struct folio *folio, bool tail)
{
    struct lruvec *lruvec = folio_lruvec(folio);
    MGLRU_ASSERT(folio_test(folio, FOLIO_LRU));
    if (lruvec_enabled(lruvec) && folio_evictable(folio)) {
        uint64_t seq = generation_place(lruvec, folio, tail);
        generation_account(lruvec, folio, GENERATION_NONE, seq);
        return;
    }
    enum lru_list list = classic_list(folio);
    if (list == LRU_UNEVICTABLE)
        folio_clear(folio, FOLIO_ACTIVE);
    lruvec_account(lruvec, list, folio_zone(folio), folio_pages(folio));
    if (tail)
        list_add_tail(&lruvec->lists[list], &folio->lru);
    else
        list_add_head(&lruvec->lists[list], &folio->lru);
}

void lruvec_del(struct folio *folio, bool reclaiming)
{
    struct lruvec *lruvec = folio_lruvec(folio);
    MGLRU_ASSERT(folio_test(folio, FOLIO_LRU));
    folio_clear(folio, FOLIO_LRU);
    if (folio_has_seq(folio)) {
        generation_del(lruvec, folio, reclaiming);
        return;
    }
    lruvec_account(lruvec, classic_list(folio), folio_zone(folio), -folio_pages(folio));
    list_del_init(&folio->lru);
}
