/* SPDX-License-Identifier: MIT */
/*
 * Eviction: taking the tail of the oldest generation, sorting out what must not go.
 * Facts: mglru-facts 3.2, 3.3, 3.5.
 *
 * A call isolates at most one batch of 64 pages; isolated folios belong to the caller's list until
 * they are freed or put back.
 */
#include "reclaim/reclaim.h"

#include "base/check.h"
#include "reclaim/hold.h"
#include "sync/rcu.h"

static void move_to(struct lruvec *lruvec, struct folio *folio, uint64_t seq, bool head)
{
    struct list_node *list = &lruvec->folios[gen_of(seq)][folio_type(folio)][folio_zone(folio)];
    if (head)
        list_move_head(list, &folio->lru);
    else
        list_move_tail(list, &folio->lru);
}

static void count_protected(struct lruvec *lruvec, struct folio *folio, unsigned state)
{
    const struct reclaim_model *model = lruvec->reclaim->model;
    if (model->protect_skips_full && (model->fully >> state & 1))
        return;
    lruvec->protected_pages[folio_type(folio)][model->tier[state]] +=
        (unsigned long)folio_pages(folio);
}

/* True: the folio was moved to where it belongs, it is not for eviction now (3.3). */
static bool sort_folio(struct lruvec *lruvec, struct scan_control *sc, struct folio *folio,
                       unsigned tier_limit)
{
    const struct reclaim_model *model = lruvec->reclaim->model;
    uint64_t oldest = lruvec_min_seq(lruvec, folio_type(folio));
    uint64_t seq = generation_seq(lruvec, folio);
    unsigned state = generation_state(lruvec, folio);

    if (!folio_evictable(folio))
        return false; /* the generic path culls it */
    if (seq != oldest) {
        move_to(lruvec, folio, seq, true);
        return true;
    }
    if (model->tier[state] > tier_limit || (model->fully >> state & 1)) {
        seq = generation_bump(lruvec, folio, true);
        move_to(lruvec, folio, seq, model->protect_to_head);
        count_protected(lruvec, folio, state);
        return true;
    }
    if (folio_zone(folio) > sc->reclaim_zone) {
        seq = generation_bump(lruvec, folio, true);
        move_to(lruvec, folio, seq, false);
        return true;
    }
    return false;
}

/* Takes the folio off its list; the caller subtracts the pages of the oldest generation. */
static bool isolate_folio(struct lruvec *lruvec, struct scan_control *sc, struct folio *folio)
{
    const struct reclaim_model *model = lruvec->reclaim->model;
    /* Row 20: too early a check, kept by 6.12 alone. */
    if (!model->exact_batches && !sc->may_io &&
        ((folio_test(folio, FOLIO_DIRTY) && folio_type(folio) == LRU_TYPE_ANON) ||
         (folio_test(folio, FOLIO_ANON) && !folio_test(folio, FOLIO_SWAPCACHE))))
        return false;
    if (lruvec->reclaim->shared && !hold_get(folio))
        return false; /* its last user is about to take it off the list */
    uint64_t seq = generation_seq(lruvec, folio);
    uint64_t seen = folio_flags(folio), flags;
    do {
        flags = seen & ~(uint64_t)FOLIO_STATE_MASK;
        flags = model->isolated_flags(flags | generation_state_of(lruvec, seen));
    } while (!folio_flags_replace(folio, &seen, flags & ~(FOLIO_SEQ_MASK | FOLIO_LRU)));
    folio_note(folio, seq);
    list_del(&folio->lru);
    uint64_t oldest = lruvec_min_seq(lruvec, folio_type(folio));
    if (MGLRU_UNLIKELY(seq != oldest)) { /* unevictable, to be culled */
        generation_account(lruvec, folio, seq, GENERATION_NONE);
        generation_account(lruvec, folio, GENERATION_NONE, oldest);
    }
    return true;
}

/* Scans one zone's list; false: the batch is full or the budget used up. */
static bool scan_zone(struct lruvec *lruvec, struct scan_control *sc, struct isolation *isolation,
                      unsigned zone, unsigned long *scanned)
{
    unsigned gen = gen_of(lruvec_min_seq(lruvec, isolation->type));
    struct list_node *list = &lruvec->folios[gen][isolation->type][zone];
    struct list_node skipped;
    unsigned long skipped_pages = 0, sorted = 0, before = isolation->pages;
    list_init(&skipped);

    while (!list_empty(list)) {
        struct folio *folio = folio_of(list->prev);
        unsigned long pages = (unsigned long)folio_pages(folio);
        *scanned += pages;
        if (sort_folio(lruvec, sc, folio, isolation->tier)) {
            sorted += pages;
        } else if (isolate_folio(lruvec, sc, folio)) {
            list_add_head(&isolation->folios, &folio->lru);
            isolation->pages += pages;
        } else {
            list_move_head(&skipped, &folio->lru);
            skipped_pages += pages;
        }
        unsigned long most = isolation->pages > skipped_pages ? isolation->pages : skipped_pages;
        if (--isolation->nr == 0 || most >= MIN_LRU_BATCH)
            break;
    }
    list_splice_head(list, &skipped);
    long taken = (long)(isolation->pages - before);
    if (taken) {
        atomic_add_owner(&lruvec->nr_pages[gen][isolation->type][zone], -taken);
        lruvec_account(lruvec, lru_list_of(isolation->type, false), zone, -taken);
    }
    if (sorted)
        lruvec_stat(lruvec, MEMCG_PGREFILL, (long)sorted);
    return isolation->nr > 0 && isolation->pages < MIN_LRU_BATCH;
}

unsigned long eviction_scan(struct lruvec *lruvec, struct scan_control *sc,
                            struct isolation *isolation)
{
    unsigned long scanned = 0;
    if (lruvec_gens(lruvec, isolation->type) == MIN_NR_GENS)
        return 0; /* the two youngest are never evicted */
    for (unsigned i = MAX_NR_ZONES; i > 0; i--) {
        unsigned zone = (sc->reclaim_zone + i) % MAX_NR_ZONES;
        if (!scan_zone(lruvec, sc, isolation, zone, &scanned))
            break;
    }
    reclaim_count(lruvec->reclaim, &lruvec->reclaim->work, scanned); /* sorting is work too */
    reclaim_count_scan(lruvec, sc, isolation->type, isolation->pages);
    return scanned;
}

/* The shared form: what nobody refers to any more is freed. */
static void put_back_held(struct lruvec *lruvec, struct list_node *folios)
{
    struct reclaim *reclaim = lruvec->reclaim;
    struct list_node dead;
    list_init(&dead);
    lruvec_lock(lruvec);
    while (!list_empty(folios)) {
        struct folio *folio = folio_of(folios->prev);
        list_del(&folio->lru);
        if (!lruvec_add_held(folio))
            list_add_tail(&dead, &folio->lru);
    }
    lruvec_unlock(lruvec);
    while (!list_empty(&dead)) {
        struct folio *folio = folio_of(dead.next);
        list_del(&folio->lru);
        reclaim->host->dispose(reclaim->host_context, folio);
    }
}

void eviction_put_back(struct lruvec *lruvec, struct list_node *folios)
{
    if (lruvec->reclaim->shared) {
        put_back_held(lruvec, folios);
        return;
    }
    /* From the oldest: each lands at the head of its list, so the order is kept. */
    while (!list_empty(folios)) {
        struct folio *folio = folio_of(folios->prev);
        list_del(&folio->lru);
        lruvec_add(folio, false);
    }
}

/* Splits what could not be freed into folios to retry and folios to put back (3.5). */
static void judge_leftovers(struct lruvec *lruvec, struct list_node *folios,
                            struct list_node *retry, bool second_pass)
{
    const struct reclaim_model *model = lruvec->reclaim->model;
    struct list_node *pos, *tmp;
    list_for_each_reverse_safe (pos, tmp, folios) {
        struct folio *folio = folio_of(pos);
        if (!folio_evictable(folio))
            continue;
        if (model->leftover(lruvec, folio, second_pass)) {
            folio_note_second_pass(folio);
            list_move_head(retry, pos);
        }
    }
}

void eviction_wake_flushers(struct lruvec *lruvec, struct scan_control *sc)
{
    const struct reclaim_host *host = lruvec->reclaim->host;
    if (sc->counts.unqueued_dirty && sc->counts.unqueued_dirty == sc->counts.taken)
        host->wake_flushers(lruvec->reclaim->host_context, lruvec->memcg);
}

static unsigned long run(struct lruvec *lruvec, struct scan_control *sc, int swappiness,
                         unsigned long nr)
{
    const struct reclaim_model *model = lruvec->reclaim->model;
    struct isolation isolation = {.nr = nr};
    list_init(&isolation.folios);

    lruvec_lock(lruvec);
    bool advanced = model->exact_batches && aging_inc_min_seq(lruvec, swappiness);
    unsigned long scanned = model->isolate(lruvec, sc, swappiness, &isolation);
    if (scanned || !model->exact_batches)
        advanced = aging_inc_min_seq(lruvec, swappiness);
    lruvec_unlock(lruvec);
    /* A batch takes long enough for the process to have been switched out and in. */
    if (scanned && !sc->proactive)
        mm_note_run(lruvec->memcg);
    scanned = model->evict_result(lruvec, swappiness, scanned, advanced);
    if (list_empty(&isolation.folios))
        return scanned;

    if (model->wakes_per_batch)
        sc->counts = (struct scan_counts){0};
    if (model->wakes_per_batch || isolation.type == LRU_TYPE_FILE)
        sc->counts.taken += isolation.pages;
    for (unsigned pass = 0; pass < 2 && !list_empty(&isolation.folios); pass++) {
        struct list_node retry;
        unsigned long activated[LRU_TYPES] = {0};
        list_init(&retry);
        struct reclaim_outcome outcome = sc->outcome;
        unsigned long reclaimed = shrink_folios(sc, &isolation.folios, activated);
        if (pass > 0)
            sc->outcome = outcome; /* these were counted in the first pass */
        reclaim_count_steal(lruvec, sc, isolation.type, reclaimed);
        if (pass == 0 && model->wakes_per_batch)
            eviction_wake_flushers(lruvec, sc);
        judge_leftovers(lruvec, &isolation.folios, &retry, pass > 0);
        eviction_put_back(lruvec, &isolation.folios);
        if (sc->walk.lruvec) {
            /* The walk may have been begun for another memcg of a global reclaim; what it holds
             * now comes from looking around folios of this one. */
            sc->walk.lruvec = lruvec;
            mm_walk_flush(&sc->walk);
        }
        for (unsigned type = 0; type < LRU_TYPES; type++)
            if (activated[type])
                lruvec_stat(lruvec, MEMCG_PGACTIVATE, (long)activated[type]);
        list_splice_tail(&isolation.folios, &retry);
    }
    MGLRU_ASSERT(list_empty(&isolation.folios));
    return scanned;
}

unsigned long eviction_run(struct lruvec *lruvec, struct scan_control *sc, int swappiness,
                           unsigned long nr)
{
    if (!lruvec->reclaim->shared)
        return run(lruvec, sc, swappiness, nr);
    /* The mappings of isolated folios may be destroyed meanwhile: the section keeps them readable
     * from the isolation to the put-back. */
    rcu_enter();
    unsigned long scanned = run(lruvec, sc, swappiness, nr);
    rcu_leave();
    return scanned;
}
