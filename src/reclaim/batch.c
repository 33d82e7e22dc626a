/* SPDX-License-Identifier: MIT */
/*
 * The batches in which new folios wait for the lists, and used ones for activation, as the
 * kernel's per-CPU folio batches (facts 1.6, 12.2). A batch is drained by its 31st entry, by a
 * large folio, and before every reclaim.
 */
#include "reclaim/reclaim.h"

#include "base/check.h"

static bool same_place(const struct generation_run *a, const struct generation_run *b)
{
    return a->seq == b->seq && a->type == b->type && a->zone == b->zone;
}

/* Adds the first of @folios, as many as belong to one lruvec, and accounts for those together that
 * go to the same generation. Returns how many they were. */
static unsigned add_run(struct folio **folios, unsigned count)
{
    struct lruvec *lruvec = folios[0]->lruvec;
    struct generation_run run = {.seq = GENERATION_NONE};
    unsigned i = 0;
    for (; i < count && folios[i]->lruvec == lruvec; i++) {
        struct folio *folio = folios[i];
        if (!lruvec_enabled(lruvec) || !folio_evictable(folio)) {
            lruvec_add(folio, false);
            continue;
        }
        folio_set(folio, FOLIO_LRU);
        struct generation_run next = {.type = folio_type(folio), .zone = folio_zone(folio)};
        next.seq = generation_place(lruvec, folio, false);
        if (!same_place(&run, &next)) {
            if (run.pages)
                generation_account_added(lruvec, &run);
            run = next;
        }
        run.pages += folio_pages(folio);
    }
    if (run.pages)
        generation_account_added(lruvec, &run);
    return i;
}

/* The same for a shared cache: under the lruvec's lock, and what nobody refers to any more, since
 * its mapping was cut meanwhile, is freed afterwards. */
static unsigned add_held(struct reclaim *reclaim, struct folio **folios, unsigned count)
{
    struct lruvec *lruvec = folio_lock_lruvec(folios[0]);
    struct folio *dead[LRU_ADD_BATCH];
    unsigned i = 0, deaths = 0;
    for (; i < count && folio_lruvec(folios[i]) == lruvec; i++)
        if (!lruvec_add_held(folios[i]))
            dead[deaths++] = folios[i];
    lruvec_unlock(lruvec);
    while (deaths > 0)
        reclaim->host->dispose(reclaim->host_context, dead[--deaths]);
    return i;
}

static void drain_adds(struct reclaim *reclaim)
{
    struct lru_batch *batch = reclaim_batch(reclaim);
    for (unsigned i = 0; i < batch->adds;)
        i += reclaim->shared ? add_held(reclaim, &batch->add[i], batch->adds - i)
                             : add_run(&batch->add[i], batch->adds - i);
    batch->adds = 0;
    batch->others = 0;
}

static void activate_now(struct folio *folio)
{
    if (!folio_test(folio, FOLIO_LRU) || folio_test(folio, FOLIO_ACTIVE) || !folio_evictable(folio))
        return;
    lruvec_del(folio, false);
    folio_set(folio, FOLIO_ACTIVE);
    lruvec_add(folio, false);
    lruvec_stat(folio_lruvec(folio), MEMCG_PGACTIVATE, folio_pages(folio));
}

static void drain_activates(struct reclaim *reclaim)
{
    struct lru_batch *batch = reclaim_batch(reclaim);
    unsigned count = batch->activates;
    batch->activates = 0;
    for (unsigned i = 0; i < count; i++) {
        folio_clear(batch->activate[i], FOLIO_QUEUED);
        activate_now(batch->activate[i]);
    }
}

void lru_batch_add(struct reclaim *reclaim, struct folio *folio, bool in_fault)
{
    struct lru_batch *batch = reclaim_batch(reclaim);
    MGLRU_ASSERT(!folio_test(folio, FOLIO_LRU));
    if (reclaim_enabled(reclaim) && in_fault && folio_evictable(folio))
        reclaim->model->mark_fault(folio);
    batch->add[batch->adds++] = folio;
    if (batch->adds + batch->others == LRU_ADD_BATCH || folio_order(folio) > 0)
        drain_adds(reclaim);
}

void lru_batch_add_others(struct reclaim *reclaim, unsigned count)
{
    while (count-- > 0)
        if (reclaim_batch(reclaim)->adds + ++reclaim_batch(reclaim)->others == LRU_ADD_BATCH)
            drain_adds(reclaim);
}

void lru_batch_activate(struct reclaim *reclaim, struct folio *folio)
{
    struct lru_batch *batch = reclaim_batch(reclaim);
    if (folio_test(folio, FOLIO_ACTIVE) || !folio_evictable(folio))
        return;
    folio_set(folio, FOLIO_QUEUED);
    batch->activate[batch->activates++] = folio;
    if (batch->activates == LRU_ADD_BATCH || folio_order(folio) > 0)
        drain_activates(reclaim);
}

void lru_batch_drain(struct reclaim *reclaim)
{
    drain_adds(reclaim);
    drain_activates(reclaim);
}

static unsigned forget_in(struct folio **entries, unsigned count, const struct folio *folio)
{
    unsigned kept = 0;
    for (unsigned i = 0; i < count; i++)
        if (entries[i] != folio)
            entries[kept++] = entries[i];
    return kept;
}

void lru_batch_forget(struct reclaim *reclaim, struct folio *folio)
{
    struct lru_batch *batch = reclaim_batch(reclaim);
    batch->adds = forget_in(batch->add, batch->adds, folio);
    batch->activates = forget_in(batch->activate, batch->activates, folio);
}
