/* SPDX-License-Identifier: MIT */
/*
 * The classic LRU: an active and an inactive list a type, refault distance, proportional scanning.
 * Facts: mglru-facts 12. Linux mm/vmscan.c, mm/swap.c, mm/workingset.c.
 *
 * Two views of the sizes decide (12.1): the exact ones of the lists, and those of the last rstat
 * flush, hierarchical. Which is used where is part of the algorithm.
 */
#include "reclaim/reclaim.h"

#include "base/check.h"

#define PAGES_PER_GIB(page_bytes) ((UINT64_C(1) << 30) / (page_bytes))

/* A counter of the lruvec and below as reclaim sees it. */
static unsigned long seen(const struct lruvec *lruvec, enum memcg_stat_item item)
{
    long value = lruvec->reclaim->stat_always
                     ? memcg_stat_exact(lruvec->memcg, lruvec->node, item)
                     : memcg_stat_flushed(lruvec->memcg, lruvec->node, item);
    return (unsigned long)value;
}

static unsigned long seen_size(const struct lruvec *lruvec, enum lru_type type, bool active)
{
    static const enum memcg_stat_item items[LRU_TYPES][2] = {
        {MEMCG_INACTIVE_ANON, MEMCG_ACTIVE_ANON},
        {MEMCG_INACTIVE_FILE, MEMCG_ACTIVE_FILE},
    };
    return seen(lruvec, items[type][active]);
}

static unsigned long isqrt(unsigned long n)
{
    unsigned long root = 0;
    while ((root + 1) * (root + 1) <= n)
        root++;
    return root;
}

static bool inactive_is_low(const struct lruvec *lruvec, enum lru_type type)
{
    unsigned long inactive = seen_size(lruvec, type, false);
    unsigned long active = seen_size(lruvec, type, true);
    unsigned long gib = (inactive + active) / PAGES_PER_GIB(lruvec->reclaim->page_bytes);
    unsigned long ratio = gib ? isqrt(10 * gib) : 1;
    return inactive * ratio < active;
}

static enum memcg_stat_item activate_item(enum lru_type type)
{
    return type == LRU_TYPE_ANON ? MEMCG_WORKINGSET_ACTIVATE_ANON : MEMCG_WORKINGSET_ACTIVATE_FILE;
}

/* --- cost (12.6) ---------------------------------------------------------------------------- */

static bool cost_too_high(const struct lruvec *lruvec)
{
    uint64_t sizes = 0;
    for (unsigned t = 0; t < LRU_TYPES; t++)
        sizes +=
            seen_size(lruvec, (enum lru_type)t, false) + seen_size(lruvec, (enum lru_type)t, true);
    return lruvec->cost[0] + lruvec->cost[1] > sizes / 4;
}

void classic_note_cost(struct lruvec *lruvec, enum lru_type type, long io, long rotated)
{
    uint64_t cost = (uint64_t)io * SWAP_CLUSTER_MAX + (uint64_t)rotated;
    if (!cost)
        return;
    for (struct memcg *memcg = lruvec->memcg; memcg; memcg = memcg->parent) {
        struct lruvec *level = memcg_lruvec(memcg, lruvec->node);
        level->cost[type] += cost;
        if (cost_too_high(level)) {
            level->cost[0] /= 2;
            level->cost[1] /= 2;
        }
    }
}

/* Newer kernels read the cost off flushed counters, at the target only. */
static void update_cost(struct lruvec *lruvec)
{
    static const enum memcg_stat_item rotates[] = {MEMCG_PGROTATE_ANON, MEMCG_PGROTATE_FILE};
    static const enum memcg_stat_item restores[] = {MEMCG_WORKINGSET_RESTORE_ANON,
                                                    MEMCG_WORKINGSET_RESTORE_FILE};
    for (unsigned t = 0; t < LRU_TYPES; t++) {
        long rotated = (long)seen(lruvec, rotates[t]);
        long io = (long)seen(lruvec, restores[t]);
        if (t == LRU_TYPE_ANON)
            io += (long)seen(lruvec, MEMCG_NR_VMSCAN_WRITE);
        lruvec->cost[t] += (uint64_t)(io - lruvec->cost_last_io[t]) * SWAP_CLUSTER_MAX +
                           (uint64_t)(rotated - lruvec->cost_last_rotated[t]);
        lruvec->cost_last_io[t] = io;
        lruvec->cost_last_rotated[t] = rotated;
    }
    while (lruvec->cost[0] + lruvec->cost[1] && cost_too_high(lruvec)) {
        lruvec->cost[0] /= 2;
        lruvec->cost[1] /= 2;
    }
}

static void note_rotated(struct lruvec *lruvec, enum lru_type type, long io, long rotated)
{
    if (lruvec->reclaim->model->cost_in_ancestors)
        classic_note_cost(lruvec, type, io, rotated);
    else if (rotated)
        lruvec_stat(lruvec, type == LRU_TYPE_ANON ? MEMCG_PGROTATE_ANON : MEMCG_PGROTATE_FILE,
                    rotated);
}

/* --- before and after a round (12.3) -------------------------------------------------------- */

void classic_prepare(struct scan_control *sc, unsigned node)
{
    struct memcg *target = sc->target ? sc->target : sc->reclaim->tree->root;
    struct lruvec *lruvec = memcg_lruvec(target, node);
    if (!sc->reclaim->model->cost_in_ancestors)
        update_cost(lruvec);
    for (unsigned t = 0; t < LRU_TYPES; t++) {
        enum lru_type type = (enum lru_type)t;
        sc->may_deactivate[t] = sc->force_deactivate ||
                                (long)seen(lruvec, activate_item(type)) != lruvec->refaults[t] ||
                                inactive_is_low(lruvec, type);
        sc->cost[t] = lruvec->cost[t];
    }
    sc->cache_trim = seen_size(lruvec, LRU_TYPE_FILE, false) >> sc->priority &&
                     !sc->may_deactivate[LRU_TYPE_FILE];
}

void classic_snapshot(struct scan_control *sc, unsigned node)
{
    struct memcg *target = sc->target ? sc->target : sc->reclaim->tree->root;
    struct lruvec *lruvec = memcg_lruvec(target, node);
    for (unsigned t = 0; t < LRU_TYPES; t++)
        lruvec->refaults[t] = (long)seen(lruvec, activate_item((enum lru_type)t));
}

/* --- how much of each list (12.4) ----------------------------------------------------------- */

enum balance { BALANCE_EQUAL, BALANCE_FRACT, BALANCE_ANON, BALANCE_FILE, BALANCE_NONE };

static enum balance choose_balance(const struct lruvec *lruvec, const struct scan_control *sc,
                                   int swappiness)
{
    const struct reclaim *reclaim = lruvec->reclaim;
    bool anon = sc->may_swap && reclaim->host->swap_left(reclaim->host_context, lruvec->memcg) > 0;
    if (swappiness == SWAPPINESS_ANON_ONLY)
        return anon ? BALANCE_ANON : BALANCE_NONE;
    if (!anon || (sc->target && swappiness == 0))
        return BALANCE_FILE;
    if (sc->priority == 0 && swappiness != 0)
        return BALANCE_EQUAL;
    if (sc->file_is_tiny)
        return BALANCE_ANON;
    return sc->cache_trim ? BALANCE_FILE : BALANCE_FRACT;
}

static unsigned long list_size(const struct lruvec *lruvec, const struct scan_control *sc,
                               enum lru_list list)
{
    long size = 0;
    for (unsigned zone = 0; zone <= sc->reclaim_zone && zone < MAX_NR_ZONES; zone++)
        size += lruvec_size(lruvec, zone, list);
    return size > 0 ? (unsigned long)size : 0;
}

static void scan_counts(struct lruvec *lruvec, struct scan_control *sc,
                        unsigned long counts[LRU_UNEVICTABLE])
{
    int swappiness =
        sc->swappiness >= 0 ? sc->swappiness : (int)atomic_load_relaxed(&lruvec->memcg->swappiness);
    enum balance balance = choose_balance(lruvec, sc, swappiness);
    uint64_t total = sc->cost[0] + sc->cost[1];
    uint64_t anon_cost = total + sc->cost[LRU_TYPE_ANON];
    uint64_t file_cost = total + sc->cost[LRU_TYPE_FILE];
    total = anon_cost + file_cost;
    bool online = memcg_online(lruvec->memcg);
    uint64_t share[LRU_TYPES] = {(uint64_t)swappiness * (total + 1) / (anon_cost + 1), 0};
    if (swappiness <= MAX_SWAPPINESS)
        share[LRU_TYPE_FILE] =
            (uint64_t)(MAX_SWAPPINESS - swappiness) * (total + 1) / (file_cost + 1);

    for (unsigned l = 0; l < LRU_UNEVICTABLE; l++) {
        enum lru_type type = (enum lru_type)(l / 2);
        unsigned long size = list_size(lruvec, sc, (enum lru_list)l);
        unsigned long scan = reclaim_protected_scan(lruvec, sc, size) >> sc->priority;
        if (!scan && !online)
            scan = size < SWAP_CLUSTER_MAX ? size : SWAP_CLUSTER_MAX;
        uint64_t whole = share[0] + share[1];
        if (balance == BALANCE_FRACT)
            scan = whole ? (unsigned long)((scan * share[type] + (online ? 0 : whole - 1)) / whole)
                         : 0;
        else if (balance == BALANCE_NONE || (balance == BALANCE_FILE && type != LRU_TYPE_FILE) ||
                 (balance == BALANCE_ANON && type != LRU_TYPE_ANON))
            scan = 0;
        counts[l] = scan;
    }
}

/* --- shrinking (12.5) ----------------------------------------------------------------------- */

/* Takes up to @nr pages from the tail of a list; returns pages looked at. */
static unsigned long isolate(struct lruvec *lruvec, struct scan_control *sc, enum lru_list from,
                             unsigned long nr, struct isolation *out)
{
    struct list_node *list = &lruvec->lists[from];
    struct list_node skipped;
    unsigned long scanned = 0;
    list_init(&skipped);
    list_init(&out->folios);
    out->pages = 0;
    out->type = (enum lru_type)(from / 2);
    /* Busy folios go to the head: no folio is met twice. */
    long looks = 0;
    for (unsigned zone = 0; zone < MAX_NR_ZONES; zone++)
        looks += lruvec_size(lruvec, zone, from);
    while (scanned < nr && !list_empty(list) && looks > 0) {
        struct folio *folio = folio_of(list->prev);
        looks -= folio_pages(folio);
        if (folio_zone(folio) > sc->reclaim_zone) {
            list_move_head(&skipped, &folio->lru);
            continue;
        }
        scanned += (unsigned long)folio_pages(folio);
        if (folio_test(folio, FOLIO_PINNED) || (!sc->may_unmap && folio->map_count)) {
            list_move_head(list, &folio->lru);
            continue;
        }
        lruvec_del(folio, true);
        list_add_head(&out->folios, &folio->lru);
        out->pages += (unsigned long)folio_pages(folio);
    }
    list_splice_head(list, &skipped);
    return scanned;
}

/* Puts folios back; those that end up active make the nonresident ones older (12.5). */
static void put_back(struct lruvec *lruvec, struct list_node *folios)
{
    struct list_node *pos;
    list_for_each (pos, folios)
        if (folio_test(folio_of(pos), FOLIO_ACTIVE))
            workingset_age_nonresident(lruvec, folio_pages(folio_of(pos)));
    eviction_put_back(lruvec, folios);
}

static void shrink_active(struct lruvec *lruvec, struct scan_control *sc, enum lru_list list,
                          unsigned long nr)
{
    struct isolation taken;
    struct list_node rotated, *pos, *tmp;
    long rotated_pages = 0, deactivated = 0;
    lru_batch_drain(lruvec->reclaim);
    unsigned long scanned = isolate(lruvec, sc, list, nr, &taken);
    reclaim_count(lruvec->reclaim, &lruvec->reclaim->work,
                  scanned); /* the next try may free what becomes inactive here */
    list_init(&rotated);
    list_for_each_reverse_safe (pos, tmp, &taken.folios) {
        struct folio *folio = folio_of(pos);
        bool exec = false;
        int young = folio->map_count ? mm_referenced(sc, folio, &exec) : 0;
        if (young && exec && taken.type == LRU_TYPE_FILE) {
            rotated_pages += folio_pages(folio);
            list_move_head(&rotated, pos);
            continue;
        }
        folio_clear(folio, FOLIO_ACTIVE);
        folio_set(folio, FOLIO_WORKINGSET);
        deactivated += folio_pages(folio);
    }
    put_back(lruvec, &rotated);
    put_back(lruvec, &taken.folios);
    lruvec_stat(lruvec, MEMCG_PGREFILL, (long)scanned);
    lruvec_stat(lruvec, MEMCG_PGDEACTIVATE, deactivated);
    if (rotated_pages)
        note_rotated(lruvec, taken.type, 0, rotated_pages);
}

static unsigned long shrink_inactive(struct lruvec *lruvec, struct scan_control *sc,
                                     enum lru_list list, unsigned long nr)
{
    struct reclaim *reclaim = lruvec->reclaim;
    struct isolation taken;
    unsigned long activated[LRU_TYPES] = {0};
    lru_batch_drain(reclaim);
    unsigned long scanned = isolate(lruvec, sc, list, nr, &taken);
    reclaim_count_scan(lruvec, sc, taken.type, scanned);
    if (!taken.pages)
        return 0;
    sc->counts = (struct scan_counts){.taken = taken.pages};
    unsigned long reclaimed = shrink_folios(sc, &taken.folios, activated);
    put_back(lruvec, &taken.folios);
    reclaim_count_steal(lruvec, sc, taken.type, reclaimed);
    for (unsigned t = 0; t < LRU_TYPES; t++)
        if (activated[t])
            lruvec_stat(lruvec, MEMCG_PGACTIVATE, (long)activated[t]);
    note_rotated(lruvec, taken.type, (long)sc->counts.pageout, (long)(scanned - reclaimed));
    if (sc->counts.unqueued_dirty == taken.pages)
        reclaim->host->wake_flushers(reclaim->host_context, lruvec->memcg);
    return reclaimed;
}

/* The smaller type is finished; the other's rest shrinks by the same share (12.4). */
static void adjust_rests(unsigned long rest[LRU_UNEVICTABLE],
                         const unsigned long target[LRU_UNEVICTABLE])
{
    unsigned long anon = rest[LRU_INACTIVE_ANON] + rest[LRU_ACTIVE_ANON];
    unsigned long file = rest[LRU_INACTIVE_FILE] + rest[LRU_ACTIVE_FILE];
    unsigned small = file > anon ? LRU_INACTIVE_ANON : LRU_INACTIVE_FILE;
    unsigned large = file > anon ? LRU_INACTIVE_FILE : LRU_INACTIVE_ANON;
    unsigned long least = file > anon ? anon : file;
    unsigned long percent = least * 100 / (target[small] + target[small + 1] + 1);
    rest[small] = rest[small + 1] = 0;
    for (unsigned l = large; l <= large + 1; l++) {
        unsigned long scanned = target[l] - rest[l];
        unsigned long wanted = target[l] * (100 - percent) / 100;
        rest[l] = wanted > scanned ? wanted - scanned : 0;
    }
}

static unsigned long shrink_list(struct lruvec *lruvec, struct scan_control *sc, enum lru_list list,
                                 unsigned long nr)
{
    if (list == LRU_ACTIVE_ANON || list == LRU_ACTIVE_FILE) {
        if (sc->may_deactivate[list / 2])
            shrink_active(lruvec, sc, list, nr);
        else
            sc->skipped_deactivate = true;
        return 0;
    }
    return shrink_inactive(lruvec, sc, list, nr);
}

void classic_shrink(struct lruvec *lruvec, struct scan_control *sc)
{
    unsigned long rest[LRU_UNEVICTABLE], target[LRU_UNEVICTABLE];
    unsigned long reclaimed = 0;
    bool whole = !sc->target && !sc->background && sc->priority == DEF_PRIORITY;
    scan_counts(lruvec, sc, rest);
    for (unsigned l = 0; l < LRU_UNEVICTABLE; l++)
        target[l] = rest[l];

    while (rest[LRU_INACTIVE_ANON] || rest[LRU_ACTIVE_FILE] || rest[LRU_INACTIVE_FILE]) {
        for (unsigned l = 0; l < LRU_UNEVICTABLE; l++) {
            unsigned long nr = rest[l] < SWAP_CLUSTER_MAX ? rest[l] : SWAP_CLUSTER_MAX;
            if (!nr)
                continue;
            rest[l] -= nr;
            reclaimed += shrink_list(lruvec, sc, (enum lru_list)l, nr);
        }
        if (reclaimed < sc->nr_to_reclaim || whole)
            continue;
        if (!(rest[LRU_INACTIVE_ANON] + rest[LRU_ACTIVE_ANON]) ||
            !(rest[LRU_INACTIVE_FILE] + rest[LRU_ACTIVE_FILE]))
            break;
        adjust_rests(rest, target);
    }
    if (lruvec->reclaim->swap_pages && inactive_is_low(lruvec, LRU_TYPE_ANON))
        shrink_active(lruvec, sc, LRU_ACTIVE_ANON, SWAP_CLUSTER_MAX);
}

/* --- accesses and refaults (12.2, 12.7) ----------------------------------------------------- */

/* A folio that waits to be added becomes active there; elsewhere nothing can be done. */
static void activate_in_batch(struct reclaim *reclaim, struct folio *folio)
{
    struct lru_batch *batch = reclaim_batch(reclaim);
    for (unsigned i = 0; i < batch->adds; i++)
        if (batch->add[i] == folio)
            folio_set(folio, FOLIO_ACTIVE);
}

void classic_mark_accessed(struct reclaim *reclaim, struct folio *folio)
{
    if (!folio_test(folio, FOLIO_REFERENCED)) {
        folio_set(folio, FOLIO_REFERENCED);
        return;
    }
    if (folio_test(folio, FOLIO_UNEVICTABLE | FOLIO_ACTIVE))
        return;
    if (folio_test(folio, FOLIO_LRU))
        lru_batch_activate(reclaim, folio);
    else
        activate_in_batch(reclaim, folio);
    folio_clear(folio, FOLIO_REFERENCED);
    workingset_age_nonresident(folio_lruvec(folio), folio_pages(folio));
}

bool classic_refault(struct lruvec *lruvec, const struct folio *folio, const struct shadow *shadow)
{
    const struct reclaim *reclaim = lruvec->reclaim;
    uint64_t mask = (UINT64_C(1) << shadow->token_bits) - 1;
    uint64_t distance = (atomic_load_relaxed(&lruvec->nonresident_age) - shadow->token) & mask;
    bool file = folio_type(folio) == LRU_TYPE_FILE;
    uint64_t size = seen_size(lruvec, LRU_TYPE_FILE, true);
    if (!file)
        size += seen_size(lruvec, LRU_TYPE_FILE, false);
    if (reclaim->host->swap_left(reclaim->host_context, lruvec->memcg) > 0) {
        size += seen_size(lruvec, LRU_TYPE_ANON, true);
        if (file)
            size += seen_size(lruvec, LRU_TYPE_ANON, false);
    }
    return distance <= size;
}
