/* SPDX-License-Identifier: MIT */
/*
 * The reclaim driver: priorities, the walk over a subtree at a limit, protection, retries.
 * Facts: mglru-facts 2.1, 2.9, 3.1, 6.3, 12.3, 13.3. Linux mm/vmscan.c (do_try_to_free_pages).
 *
 * Bounds: at most 13 priorities, four rounds of them (normal, full walk, forced deactivation,
 * ignoring memory.low); each lruvec's share is bounded by its size >> priority.
 */
#include "reclaim/reclaim.h"

#include <limits.h>

#include <mglru/error.h>

#include "base/bits.h"
#include "base/check.h"

/* Nodes that the shadow-node shrinker frees at once (the kernel's SHRINK_BATCH). */
#define SHRINK_BATCH 128

int reclaim_init(struct reclaim *reclaim)
{
    for (unsigned node = 0; node < reclaim->nodes; node++)
        memcg_lru_init(&reclaim->memcg_lru[node]);
    return lruvec_attach(reclaim, reclaim->tree->root);
}

int reclaim_swappiness(struct lruvec *lruvec, struct scan_control *sc)
{
    struct reclaim *reclaim = lruvec->reclaim;
    if (sc->proactive && sc->swappiness == SWAPPINESS_ANON_ONLY)
        return SWAPPINESS_ANON_ONLY;
    if (!sc->may_swap)
        return 0;
    if (reclaim->host->swap_left(reclaim->host_context, lruvec->memcg) < MIN_LRU_BATCH)
        return 0;
    if (sc->proactive && sc->swappiness >= 0)
        return sc->swappiness;
    return (int)atomic_load_relaxed(&lruvec->memcg->swappiness);
}

bool reclaim_enough(const struct scan_control *sc)
{
    return sc->nr_reclaimed >= sc->nr_to_reclaim;
}

void reclaim_count_scan(struct lruvec *lruvec, struct scan_control *sc, enum lru_type type,
                        unsigned long pages)
{
    sc->nr_scanned += pages;
    sc->outcome.scanned += pages;
    sc->looked += pages;
    reclaim_count(lruvec->reclaim, &lruvec->reclaim->work, pages);
    if (!pages)
        return;
    if (!sc->target)
        reclaim_count(sc->reclaim, &sc->reclaim->global_scanned, pages);
    lruvec_stat(lruvec,
                sc->background  ? MEMCG_PGSCAN_KSWAPD
                : sc->proactive ? MEMCG_PGSCAN_PROACTIVE
                                : MEMCG_PGSCAN_DIRECT,
                (long)pages);
    lruvec_stat(lruvec, type == LRU_TYPE_ANON ? MEMCG_PGSCAN_ANON : MEMCG_PGSCAN_FILE, (long)pages);
}

void reclaim_count_steal(struct lruvec *lruvec, struct scan_control *sc, enum lru_type type,
                         unsigned long pages)
{
    sc->nr_reclaimed += pages;
    if (!pages)
        return;
    if (!sc->target)
        reclaim_count(sc->reclaim, &sc->reclaim->global_stolen, pages);
    lruvec_stat(lruvec,
                sc->background  ? MEMCG_PGSTEAL_KSWAPD
                : sc->proactive ? MEMCG_PGSTEAL_PROACTIVE
                                : MEMCG_PGSTEAL_DIRECT,
                (long)pages);
    lruvec_stat(lruvec, type == LRU_TYPE_ANON ? MEMCG_PGSTEAL_ANON : MEMCG_PGSTEAL_FILE,
                (long)pages);
}

unsigned long reclaim_protected_scan(const struct lruvec *lruvec, struct scan_control *sc,
                                     unsigned long scan)
{
    const struct memcg *memcg = lruvec->memcg;
    if (memcg == sc->target || memcg_is_root(memcg))
        return scan;
    unsigned long min = (unsigned long)atomic_load_relaxed(&memcg->memory.emin);
    unsigned long low = (unsigned long)atomic_load_relaxed(&memcg->memory.elow);
    unsigned long usage = (unsigned long)page_counter_read(&memcg->memory);
    if (!min && !low)
        return scan;
    unsigned long protection = min;
    if (!sc->low_reclaim && low > min) {
        protection = low;
        sc->low_skipped = true;
    }
    usage = usage > protection ? usage : protection;
    scan -= (unsigned long)((uint128)scan * protection / ((uint128)usage + 1));
    return scan > SWAP_CLUSTER_MAX ? scan : SWAP_CLUSTER_MAX;
}

/* --- one memcg ------------------------------------------------------------------------------ */

static void shrink_generations(struct lruvec *lruvec, struct scan_control *sc)
{
    lru_batch_drain(lruvec->reclaim);
    sc->walk.lruvec = NULL;
    if (lruvec->reclaim->model->shrink(lruvec, sc))
        memcg_lru_rotate(lruvec, MEMCG_LRU_YOUNG);
    if (sc->walk.lruvec)
        mm_walk_flush(&sc->walk);
    sc->walk.lruvec = NULL;
}

void reclaim_shrink_lruvec(struct lruvec *lruvec, struct scan_control *sc)
{
    const struct reclaim *reclaim = lruvec->reclaim;
    /* Row 14: while folios are half moved each algorithm sees a part of them. */
    bool both = reclaim->switching && reclaim->model->switch_runs_both;
    if (reclaim_enabled(reclaim) || both)
        shrink_generations(lruvec, sc);
    if (!reclaim_enabled(reclaim) || both)
        classic_shrink(lruvec, sc);
}

/* A counter of the lruvec alone as reclaim sees it. */
static long seen_local(const struct lruvec *lruvec, enum memcg_stat_item item)
{
    return lruvec->reclaim->stat_always
               ? memcg_stat_local_node_exact(lruvec->memcg, lruvec->node, item)
               : memcg_stat_local_flushed(lruvec->memcg, lruvec->node, item);
}

static unsigned long seen_pages(const struct lruvec *lruvec)
{
    static const enum memcg_stat_item items[] = {MEMCG_INACTIVE_ANON, MEMCG_ACTIVE_ANON,
                                                 MEMCG_INACTIVE_FILE, MEMCG_ACTIVE_FILE,
                                                 MEMCG_UNEVICTABLE};
    unsigned long pages = 0;
    for (size_t i = 0; i < MGLRU_ARRAY_LEN(items); i++)
        pages += (unsigned long)seen_local(lruvec, items[i]);
    long slab =
        seen_local(lruvec, MEMCG_SLAB_RECLAIMABLE) + seen_local(lruvec, MEMCG_SLAB_UNRECLAIMABLE);
    return pages + (unsigned long)slab / lruvec->reclaim->page_bytes;
}

/* The shadow-node shrinker (13.3): half of what exceeds an eighth of the pages, by priority. */
void reclaim_shrink_slab(struct lruvec *lruvec, struct scan_control *sc)
{
    struct reclaim *reclaim = lruvec->reclaim;
    struct memcg *memcg = lruvec->memcg;
    unsigned long nodes = reclaim->host->shadow_nodes(reclaim->host_context, memcg, lruvec->node);
    if (!nodes)
        return;
    unsigned long allowed = seen_pages(lruvec) >> 3;
    if (nodes <= allowed)
        return;
    sc->hopeful = true; /* smaller priorities take more */
    unsigned long surplus = nodes - allowed;
    unsigned long deferred = lruvec->deferred_shadow_nodes;
    unsigned long delta = surplus / 2;
    unsigned long total = (deferred >> sc->priority) + delta;
    if (total > 2 * surplus)
        total = 2 * surplus;
    unsigned long scanned = 0;
    while (total >= SHRINK_BATCH || total >= surplus) {
        unsigned long batch = total < SHRINK_BATCH ? total : SHRINK_BATCH;
        unsigned long freed =
            reclaim->host->shrink_shadow_nodes(reclaim->host_context, memcg, lruvec->node, batch);
        if (!freed)
            break;
        lruvec_stat(lruvec, MEMCG_WORKINGSET_NODERECLAIM, (long)freed);
        scanned += batch;
        total -= batch;
    }
    unsigned long rest = deferred + delta > scanned ? deferred + delta - scanned : 0;
    lruvec->deferred_shadow_nodes = rest < 2 * surplus ? rest : 2 * surplus;
}

/* --- a subtree at its limit ----------------------------------------------------------------- */

/* True: this memcg is protected in this pass. */
static bool skip_protected(struct scan_control *sc, struct memcg *root, struct memcg *memcg)
{
    memcg_protection_update(root, memcg);
    unsigned long usage = (unsigned long)page_counter_read(&memcg->memory);
    if (memcg_below_min(sc->target, memcg)) {
        sc->outcome.protected += usage;
        return true;
    }
    if (!memcg_below_low(sc->target, memcg))
        return false;
    if (!sc->low_reclaim) {
        sc->outcome.protected += usage;
        sc->low_skipped = true;
        return true;
    }
    memcg_raise(memcg, MEMCG_EVENT_LOW);
    sc->hopeful = true; /* each priority raises it */
    return false;
}

/* Whether any priority may find pages here. Pages that wait in batches were drained by the shrinker
 * that ran before. */
static bool may_yield(const struct lruvec *lruvec)
{
    const struct reclaim *reclaim = lruvec->reclaim;
    long anon = 0, file = 0;
    for (unsigned zone = 0; zone < MAX_NR_ZONES; zone++) {
        anon += lruvec_size(lruvec, zone, LRU_INACTIVE_ANON) +
                lruvec_size(lruvec, zone, LRU_ACTIVE_ANON);
        file += lruvec_size(lruvec, zone, LRU_INACTIVE_FILE) +
                lruvec_size(lruvec, zone, LRU_ACTIVE_FILE);
    }
    return file || (anon && reclaim->host->swap_left(reclaim->host_context, lruvec->memcg) > 0);
}

static void shrink_subtree(struct scan_control *sc, unsigned node)
{
    struct memcg *root = sc->target ? sc->target : sc->reclaim->tree->root;
    struct memcg_iter_cookie cookie = {.node = node};
    bool partial = !sc->background && !sc->full_walk;
    struct memcg *memcg = memcg_iter_next(root, NULL, partial ? &cookie : NULL);
    while (memcg) {
        if (!skip_protected(sc, root, memcg)) {
            struct lruvec *lruvec = memcg_lruvec(memcg, node);
            reclaim_shrink_lruvec(lruvec, sc);
            reclaim_shrink_slab(lruvec, sc);
            sc->hopeful = sc->hopeful || may_yield(lruvec);
        }
        if (partial && reclaim_enough(sc)) {
            memcg_iter_break(memcg);
            return;
        }
        memcg = memcg_iter_next(root, memcg, partial ? &cookie : NULL);
    }
}

/* Global reclaim of many pages begins where one turn of the memcg LRU can yield them (2.9). */
static void raise_priority(struct scan_control *sc, unsigned node)
{
    struct memcg *root = sc->reclaim->tree->root;
    if (sc->priority != DEF_PRIORITY || sc->nr_to_reclaim < MIN_LRU_BATCH)
        return;
    long pages = memcg_stat_exact(root, node, MEMCG_INACTIVE_FILE);
    if (reclaim_swappiness(memcg_lruvec(root, node), sc))
        pages += memcg_stat_exact(root, node, MEMCG_INACTIVE_ANON);
    int priority = (int)bits_fls((uint64_t)pages) - 1 - (int)bits_fls(sc->nr_to_reclaim - 1);
    sc->priority = priority < DEF_PRIORITY / 2 ? DEF_PRIORITY / 2
                   : priority > DEF_PRIORITY   ? DEF_PRIORITY
                                               : priority;
}

static void shrink_node(struct scan_control *sc, unsigned node)
{
    const struct reclaim *reclaim = sc->reclaim;
    bool classic =
        !reclaim_enabled(reclaim) || (reclaim->switching && reclaim->model->switch_runs_both);
    sc->counts = (struct scan_counts){0};
    if (reclaim_is_global(sc) && reclaim_enabled(reclaim)) {
        sc->hopeful = true; /* the memcg LRU turns with each priority */
        lru_batch_drain(sc->reclaim);
        raise_priority(sc, node);
        memcg_lru_shrink(sc, node);
        if (!classic)
            return;
    }
    if (classic)
        classic_prepare(sc, node);
    shrink_subtree(sc, node);
}

/* True: the next walk visits every memcg. A shared walk goes on where the last one stopped. */
static bool walks_all(const struct scan_control *sc)
{
    const struct memcg *root = sc->target ? sc->target : sc->reclaim->tree->root;
    bool all = true;
    for (unsigned node = 0; node < sc->reclaim->nodes && !sc->full_walk; node++)
        all = all && !atomic_load_relaxed(&root->iters[node].position);
    return all;
}

/*
 * Ends at the first priority whose successors would do nothing: it visited every memcg, looked at
 * no page and left none that they could look at. This keeps out of memory cheap where thousands of
 * memcgs hold nothing to take. False: it ended so, and another walk would as well.
 */
static bool run_priorities(struct scan_control *sc)
{
    bool hopeful = true;
    for (sc->priority = DEF_PRIORITY; sc->priority >= 0 && hopeful; sc->priority--) {
        uint64_t work = atomic_load_relaxed(&sc->reclaim->work);
        bool all = walks_all(sc);
        struct reclaim_outcome before = sc->outcome;
        sc->nr_scanned = 0;
        sc->outcome = (struct reclaim_outcome){0};
        sc->hopeful = sc->proactive; /* may take anonymous pages against swappiness */
        for (unsigned node = 0; node < sc->reclaim->nodes; node++)
            shrink_node(sc, node);
        if (!sc->outcome.scanned && !sc->outcome.protected)
            sc->outcome = before; /* a pass that looked at nothing says nothing */
        if (reclaim_enough(sc))
            break;
        sc->reclaim->host->progress(sc->reclaim->host_context);
        hopeful = !all || sc->hopeful || work != atomic_load_relaxed(&sc->reclaim->work);
    }
    for (unsigned node = 0; node < sc->reclaim->nodes && !sc->reclaim->shared; node++)
        classic_snapshot(sc, node);
    return hopeful;
}

static void init_control(struct scan_control *sc, struct reclaim *reclaim,
                         const struct reclaim_request *request)
{
    unsigned long pages = request->pages;
    *sc = (struct scan_control){
        .reclaim = reclaim,
        .target = request->target,
        .nr_to_reclaim = pages > SWAP_CLUSTER_MAX ? pages : SWAP_CLUSTER_MAX,
        .priority = DEF_PRIORITY,
        .reclaim_zone = MAX_NR_ZONES - 1,
        .swappiness = request->proactive ? request->swappiness : -1,
        .may_swap = request->may_swap,
        .may_unmap = true,
        .may_io = true,
        .may_writepage = true,
        .proactive = request->proactive,
    };
}

/* The rounds after a first one that found nothing. */
static void try_harder(struct scan_control *sc, bool hopeful)
{
    sc->full_walk = true;
    if (hopeful)
        run_priorities(sc);
    if (!sc->nr_reclaimed && sc->skipped_deactivate) {
        sc->force_deactivate = true;
        sc->skipped_deactivate = false;
        run_priorities(sc);
    }
    if (!sc->nr_reclaimed && sc->low_skipped) {
        sc->force_deactivate = false;
        sc->skipped_deactivate = false;
        sc->low_reclaim = true;
        sc->low_skipped = false;
        run_priorities(sc);
    }
}

unsigned long reclaim_run(struct reclaim *reclaim, const struct reclaim_request *request)
{
    struct scan_control sc;
    init_control(&sc, reclaim, request);
    bool hopeful = run_priorities(&sc);
    if (!sc.nr_reclaimed)
        try_harder(&sc, hopeful);
    sc.outcome.looked = sc.looked;
    if (request->outcome)
        *request->outcome = sc.outcome;
    return sc.nr_reclaimed;
}

/* --- background reclaim --------------------------------------------------------------------- */

static bool lruvec_old_enough(const struct lruvec *lruvec, struct scan_control *sc)
{
    const struct reclaim *reclaim = lruvec->reclaim;
    int swappiness = reclaim_swappiness((struct lruvec *)lruvec, sc);
    if (memcg_below_min(NULL, lruvec->memcg))
        return false;
    unsigned long size = 0;
    uint64_t oldest = UINT64_MAX;
    for (unsigned t = 0; t < LRU_TYPES; t++) {
        if (!type_evictable((enum lru_type)t, swappiness))
            continue;
        if (lruvec_min_seq(lruvec, t) < oldest)
            oldest = lruvec_min_seq(lruvec, t);
        for (unsigned gen = 0; gen < MAX_NR_GENS; gen++)
            for (unsigned zone = 0; zone < MAX_NR_ZONES; zone++)
                if (lruvec_nr_pages(lruvec, gen, t, zone) > 0)
                    size += (unsigned long)lruvec_nr_pages(lruvec, gen, t, zone);
    }
    if (!reclaim->model->protects_on_direct)
        oldest = lruvec_min_seq(lruvec, LRU_TYPE_FILE);
    if (!(memcg_online(lruvec->memcg) ? size >> sc->priority : size))
        return false;
    return atomic_load_relaxed(&lruvec->timestamps[gen_of(oldest)]) +
               (uint64_t)atomic_load_relaxed(&reclaim->min_ttl_ms) * 1000000 <
           atomic_load_relaxed(&reclaim->now_ns);
}

bool reclaim_ttl_allows(struct scan_control *sc)
{
    struct reclaim *reclaim = sc->reclaim;
    struct memcg *root = reclaim->tree->root;
    bool allowed = !atomic_load_relaxed(&reclaim->min_ttl_ms);
    struct memcg *memcg = NULL;
    while ((memcg = memcg_iter_next(root, memcg, NULL))) {
        memcg_protection_update(root, memcg);
        for (unsigned node = 0; node < reclaim->nodes && !allowed; node++)
            allowed = lruvec_old_enough(memcg_lruvec(memcg, node), sc);
    }
    return allowed;
}

unsigned long reclaim_background(struct reclaim *reclaim, unsigned long pages)
{
    struct scan_control sc;
    struct reclaim_request request = {.pages = pages, .may_swap = true};
    init_control(&sc, reclaim, &request);
    sc.background = true;
    if (reclaim_enabled(reclaim)) {
        for (unsigned node = 0; node < reclaim->nodes; node++)
            raise_priority(&sc, node);
        if (!reclaim_ttl_allows(&sc))
            return 0;
    }
    for (sc.priority = DEF_PRIORITY; sc.priority >= 1 && !reclaim_enough(&sc); sc.priority--)
        for (unsigned node = 0; node < reclaim->nodes; node++)
            shrink_node(&sc, node);
    for (unsigned node = 0; node < reclaim->nodes && !reclaim->shared; node++)
        classic_snapshot(&sc, node);
    return sc.nr_reclaimed;
}

/* --- by command (9.2) ----------------------------------------------------------------------- */

int reclaim_age_seq(struct reclaim *reclaim, struct lruvec *lruvec, uint64_t seq, int swappiness,
                    bool force_scan)
{
    struct scan_control sc;
    struct reclaim_request request = {.target = lruvec->memcg, .may_swap = true};
    uint64_t max_seq = lruvec_max_seq(lruvec);
    init_control(&sc, reclaim, &request);
    lru_batch_drain(reclaim);
    if (seq > max_seq)
        return MGLRU_EINVAL;
    if (!reclaim->model->anon_only) {
        if (seq < max_seq)
            return 0;
        uint64_t oldest = lruvec_min_seq(lruvec, swappiness ? LRU_TYPE_ANON : LRU_TYPE_FILE);
        if (!force_scan && oldest + MAX_NR_GENS - 1 <= max_seq)
            return MGLRU_ERANGE;
        aging_inc_max_seq(lruvec, &sc, max_seq, swappiness, force_scan);
        return 0;
    }
    return aging_inc_max_seq(lruvec, &sc, max_seq, swappiness, force_scan) ? 0 : MGLRU_EEXIST;
}

/* Oldest generation that an eviction command looks at. */
static uint64_t command_oldest(const struct lruvec *lruvec, int swappiness)
{
    uint64_t oldest = UINT64_MAX;
    if (!lruvec->reclaim->model->anon_only)
        return lruvec_min_seq(lruvec, swappiness ? LRU_TYPE_ANON : LRU_TYPE_FILE);
    for (unsigned t = 0; t < LRU_TYPES; t++)
        if (type_evictable((enum lru_type)t, swappiness) && lruvec_min_seq(lruvec, t) < oldest)
            oldest = lruvec_min_seq(lruvec, t);
    return oldest;
}

static unsigned long all_pages(const struct lruvec *lruvec)
{
    unsigned long pages = 0;
    for (unsigned l = 0; l < LRU_UNEVICTABLE; l++)
        for (unsigned zone = 0; zone < MAX_NR_ZONES; zone++)
            pages += (unsigned long)lruvec_size(lruvec, zone, l);
    return pages;
}

int reclaim_evict_seq(struct reclaim *reclaim, struct lruvec *lruvec, uint64_t seq, int swappiness,
                      unsigned long nr)
{
    struct scan_control sc;
    /* Row 13: the command once counted as global reclaim. */
    struct memcg *target = reclaim->model->global_proactive ? NULL : lruvec->memcg;
    struct reclaim_request request = {.target = target,
                                      .may_swap = true,
                                      .proactive = reclaim->model->anon_only,
                                      .swappiness = swappiness};
    init_control(&sc, reclaim, &request);
    lru_batch_drain(reclaim);
    if (seq + MIN_NR_GENS > lruvec_max_seq(lruvec))
        return MGLRU_EINVAL;
    sc.nr_reclaimed = 0;
    /* Pages that are pinned for good are met again and again: without any progress the command
     * ends when every page has been looked at once. */
    unsigned long fruitless = 0;
    while (fruitless <= all_pages(lruvec)) {
        uint64_t oldest = command_oldest(lruvec, swappiness);
        if (seq < oldest || sc.nr_reclaimed >= nr)
            return 0;
        unsigned long before = sc.nr_reclaimed;
        unsigned long left = nr - before;
        unsigned long batch = left < MAX_LRU_BATCH ? left : MAX_LRU_BATCH;
        unsigned long scanned = eviction_run(lruvec, &sc, swappiness, batch);
        if (!scanned)
            return 0;
        bool progress = sc.nr_reclaimed > before || command_oldest(lruvec, swappiness) != oldest;
        fruitless = progress ? 0 : fruitless + scanned;
    }
    return 0;
}
