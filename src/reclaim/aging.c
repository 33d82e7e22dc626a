/* SPDX-License-Identifier: MIT */
/*
 * Aging: creating a youngest generation, and moving the oldest one into the next.
 *
 * Three algorithms move the oldest generation (facts 2.6, 2.7; ARCHITECTURE.md, decision 1):
 *   per-folio  from the tail to the tail, one by one: the order is reversed
 *   batched    head to tail, runs of folios that stay together are spliced: order kept
 *   splice     one splice and one addition a zone; flags are caught up with lazily
 * After each: P1 the order of folios that were not promoted is kept (batched, splice), P2 promoted
 * folios are at the hot end of their generation (batched) or stay to be sorted (splice), P5 the
 * sum of nr_pages is unchanged.
 */
#include "reclaim/reclaim.h"

#include "base/check.h"

/* Folios moved before the lock would be given up (chosen by the kernel: MAX_LRU_BATCH). */
#define AGING_CHUNK MAX_LRU_BATCH

static void count_protected(struct lruvec *lruvec, const struct folio *folio, unsigned state)
{
    const struct reclaim_model *model = lruvec->reclaim->model;
    if (model->protect_skips_full && (model->fully >> state & 1))
        return;
    lruvec->protected_pages[folio_type(folio)][model->tier[state]] +=
        (unsigned long)folio_pages(folio);
}

/* One zone of the per-folio algorithm; false: the budget is used up. */
static bool move_zone_per_folio(struct lruvec *lruvec, enum lru_type type, unsigned zone,
                                unsigned *budget)
{
    struct list_node *old = &lruvec->folios[gen_of(lruvec_min_seq(lruvec, type))][type][zone];
    while (!list_empty(old)) {
        struct folio *folio = folio_of(old->prev);
        unsigned state = generation_state(lruvec, folio);
        uint64_t seq = generation_bump(lruvec, folio, true);
        list_move_tail(&lruvec->folios[gen_of(seq)][type][zone], &folio->lru);
        if (lruvec->reclaim->model->bump_counts)
            count_protected(lruvec, folio, state);
        if (--*budget == 0)
            return false;
    }
    return true;
}

/* Ends a run of the batched algorithm: [first of @src .. @last] goes to the tail of @dst. */
static void flush_run(struct list_node *dst, struct list_node *src, struct list_node **last)
{
    if (*last)
        list_cut_to_tail(dst, src, *last);
    *last = NULL;
}

/* What the batched algorithm knows of the zone that it moves, so that a folio costs one look at its
 * flags and one change of them. */
struct zone_move {
    const struct reclaim_model *model;
    uint64_t oldest;
    uint64_t clear; /* bits of the flags that the move clears */
    uint64_t to;    /* and those that it sets */
    long pages;     /* moved */
    unsigned long protected_pages[MAX_NR_TIERS];
};

/* Moves the seq field of a folio to the next generation. False: a walk promoted it earlier, and
 * nothing changed. */
static inline bool bump_oldest(struct zone_move *move, struct folio *folio)
{
    uint64_t seen = folio_flags(folio);
    do {
        if (!generation_is_oldest(move->model, move->oldest, seen))
            return false;
    } while (!folio_flags_replace(folio, &seen, (seen & ~move->clear) | move->to));
    long pages = 1L << ((seen & FOLIO_ORDER_MASK) >> FOLIO_ORDER_SHIFT);
    unsigned state = (unsigned)(seen & FOLIO_STATE_MASK);
    move->pages += pages;
    if (!move->model->protect_skips_full || !(move->model->fully >> state & 1))
        move->protected_pages[move->model->tier[state]] += (unsigned long)pages;
    return true;
}

static void account_move(struct lruvec *lruvec, enum lru_type type, unsigned zone,
                         const struct zone_move *move)
{
    atomic_add_owner(&lruvec->nr_pages[gen_of(move->oldest)][type][zone], -move->pages);
    atomic_add_owner(&lruvec->nr_pages[gen_of(move->oldest + 1)][type][zone], move->pages);
    for (unsigned tier = 0; tier < MAX_NR_TIERS && move->model->bump_counts; tier++)
        lruvec->protected_pages[type][tier] += move->protected_pages[tier];
}

static bool move_zone_batched(struct lruvec *lruvec, enum lru_type type, unsigned zone,
                              unsigned *budget)
{
    uint64_t oldest = lruvec_min_seq(lruvec, type);
    const struct reclaim_model *model = lruvec->reclaim->model;
    struct zone_move move = {.model = model,
                             .oldest = oldest,
                             .clear = FOLIO_SEQ_MASK | model->bump_clears,
                             .to = folio_seq_bits(oldest + 1)};
    struct list_node *src = &lruvec->folios[gen_of(oldest)][type][zone];
    struct list_node *dst = &lruvec->folios[gen_of(oldest + 1)][type][zone];
    struct list_node *run_end = NULL;
    struct list_node *pos, *next;
    list_for_each_safe (pos, next, src) {
        struct folio *folio = folio_of(pos);
        /* The next one was fetched a step ago: what it points to can be on its way two ahead. */
        __builtin_prefetch(next->next, 1);
        if (MGLRU_LIKELY(bump_oldest(&move, folio))) {
            run_end = pos;
        } else {
            flush_run(dst, src, &run_end);
            uint64_t seq = generation_seq(lruvec, folio);
            list_move_head(&lruvec->folios[gen_of(seq)][type][zone], pos);
        }
        if (--*budget == 0)
            break;
    }
    flush_run(dst, src, &run_end);
    account_move(lruvec, type, zone, &move);
    return *budget > 0;
}

static bool move_zone_splice(struct lruvec *lruvec, enum lru_type type, unsigned zone)
{
    unsigned old = gen_of(lruvec_min_seq(lruvec, type));
    unsigned next = gen_of(lruvec_min_seq(lruvec, type) + 1);
    list_splice_tail(&lruvec->folios[next][type][zone], &lruvec->folios[old][type][zone]);
    atomic_add_owner(&lruvec->nr_pages[next][type][zone], lruvec_nr_pages(lruvec, old, type, zone));
    atomic_store_relaxed(&lruvec->nr_pages[old][type][zone], 0);
    return true;
}

bool aging_move_oldest(struct lruvec *lruvec, enum lru_type type, enum aging_algorithm algorithm)
{
    MGLRU_ASSERT(lruvec_gens(lruvec, type) == MAX_NR_GENS);
    unsigned budget = AGING_CHUNK;
    for (unsigned zone = 0; zone < MAX_NR_ZONES; zone++) {
        bool done = algorithm == AGING_PER_FOLIO ? move_zone_per_folio(lruvec, type, zone, &budget)
                    : algorithm == AGING_BATCHED ? move_zone_batched(lruvec, type, zone, &budget)
                                                 : move_zone_splice(lruvec, type, zone);
        if (!done)
            return false;
    }
    return true;
}

/* Makes room for a new generation of one type; false: continue with another chunk. */
static bool inc_min_seq(struct lruvec *lruvec, enum lru_type type, int swappiness)
{
    /* A type that may not be evicted is not moved: its oldest folios alias the youngest (2.6).
     * Absolute numbers have no alias, and a splice costs nothing. */
    if ((type_evictable(type, swappiness) || lruvec->reclaim->model->absolute_seq) &&
        !aging_move_oldest(lruvec, type, lruvec->reclaim->aging))
        return false;
    tier_reset(lruvec, type, true);
    lruvec_set_min_seq(lruvec, type, lruvec_min_seq(lruvec, type) + 1);
    return true;
}

static void begin_generation(struct lruvec *lruvec)
{
    unsigned prev = gen_of(lruvec_max_seq(lruvec) - 1);
    unsigned next = gen_of(lruvec_max_seq(lruvec) + 1);
    for (unsigned t = 0; t < LRU_TYPES; t++) {
        enum lru_type type = (enum lru_type)t;
        for (unsigned zone = 0; zone < MAX_NR_ZONES; zone++) {
            long delta = lruvec_nr_pages(lruvec, prev, type, zone) -
                         lruvec_nr_pages(lruvec, next, type, zone);
            if (!delta)
                continue;
            lruvec_account(lruvec, lru_list_of(type, false), zone, delta);
            lruvec_account(lruvec, lru_list_of(type, true), zone, -delta);
        }
        tier_reset(lruvec, type, false);
    }
    atomic_store_relaxed(&lruvec->timestamps[next], atomic_load_relaxed(&lruvec->reclaim->now_ns));
    lruvec_set_max_seq(lruvec, lruvec_max_seq(lruvec) + 1);
    reclaim_count(lruvec->reclaim, &lruvec->reclaim->work, 1);
}

static bool inc_max_seq(struct lruvec *lruvec, uint64_t seq, int swappiness)
{
    for (unsigned type = 0; type < LRU_TYPES && seq == lruvec_max_seq(lruvec); type++)
        while (lruvec_gens(lruvec, (enum lru_type)type) == MAX_NR_GENS &&
               !inc_min_seq(lruvec, (enum lru_type)type, swappiness) &&
               seq == lruvec_max_seq(lruvec)) {
            /* Between two chunks others get their turn; somebody may have aged meanwhile. */
            lruvec_unlock(lruvec);
            lruvec_lock(lruvec);
        }
    if (seq != lruvec_max_seq(lruvec))
        return false;
    begin_generation(lruvec);
    return true;
}

static void tell_host(struct lruvec *lruvec)
{
    if (lruvec->reclaim->host->on_age)
        lruvec->reclaim->host->on_age(lruvec->reclaim->host_context, lruvec);
}

/* The walk before a new generation. True: it is complete and the generation may begin. */
static bool walk(struct lruvec *lruvec, struct scan_control *sc, uint64_t seq, int swappiness,
                 bool force_scan)
{
    if (!lruvec->reclaim->mm_walk)
        return mm_walk_none(lruvec, seq);
    sc->walk.lruvec = lruvec;
    sc->walk.seq = seq;
    sc->walk.swappiness = swappiness;
    sc->walk.force_scan = force_scan;
    return mm_walk_all(lruvec, &sc->walk);
}

bool aging_inc_max_seq(struct lruvec *lruvec, struct scan_control *sc, uint64_t seq, int swappiness,
                       bool force_scan)
{
    lruvec_lock(lruvec);
    MGLRU_ASSERT(seq <= lruvec_max_seq(lruvec));
    /* A shared cache has no page tables, so that its walk is over at once, under the lock. */
    bool begun = seq > lruvec->mm_state.seq && walk(lruvec, sc, seq, swappiness, force_scan) &&
                 inc_max_seq(lruvec, seq, swappiness);
    lruvec_unlock(lruvec);
    if (begun)
        tell_host(lruvec);
    return begun;
}

void aging_bump(struct lruvec *lruvec, int swappiness)
{
    uint64_t seq = lruvec_max_seq(lruvec);
    mm_walk_none(lruvec, seq);
    if (inc_max_seq(lruvec, seq, swappiness))
        tell_host(lruvec);
}

static bool generation_empty(const struct lruvec *lruvec, uint64_t seq, enum lru_type type)
{
    for (unsigned zone = 0; zone < MAX_NR_ZONES; zone++)
        if (!list_empty(&lruvec->folios[gen_of(seq)][type][zone]))
            return false;
    return true;
}

bool aging_inc_min_seq(struct lruvec *lruvec, int swappiness)
{
    uint64_t min_seq[LRU_TYPES] = {lruvec_min_seq(lruvec, 0), lruvec_min_seq(lruvec, 1)};
    for (unsigned type = 0; type < LRU_TYPES; type++) {
        if (!type_evictable((enum lru_type)type, swappiness))
            continue;
        while (min_seq[type] + MIN_NR_GENS <= lruvec_max_seq(lruvec) &&
               generation_empty(lruvec, min_seq[type], (enum lru_type)type))
            min_seq[type]++;
    }
    lruvec->reclaim->model->sync_min_seq(lruvec, min_seq, swappiness);

    bool advanced = false;
    for (unsigned type = 0; type < LRU_TYPES; type++) {
        if (!type_evictable((enum lru_type)type, swappiness) ||
            min_seq[type] <= lruvec_min_seq(lruvec, type))
            continue;
        tier_reset(lruvec, (enum lru_type)type, true);
        lruvec_set_min_seq(lruvec, (enum lru_type)type, min_seq[type]);
        advanced = true;
    }
    return advanced;
}
