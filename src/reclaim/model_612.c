/* SPDX-License-Identifier: MIT */
/*
 * The model of Linux 6.12 (6.12.117): what its MGLRU does where kernels differ, bugs included
 * (mglru-facts 10, column 6.12.117).
 *
 * Reference states: R = first access, W = second, the counter = accesses beyond both.
 */
#include "reclaim/reclaim.h"

#include "base/bits.h"

static uint64_t add_seq(const struct lruvec *lruvec, const struct folio *folio, bool tail)
{
    enum lru_type type = folio_type(folio);
    uint64_t oldest = lruvec_min_seq(lruvec, type);
    if (folio_test(folio, FOLIO_ACTIVE))
        return lruvec_max_seq(lruvec);
    bool waits =
        folio_test(folio, FOLIO_RECLAIM) && folio_test(folio, FOLIO_DIRTY | FOLIO_WRITEBACK);
    if ((type == LRU_TYPE_ANON && !folio_test(folio, FOLIO_SWAPCACHE)) || waits)
        return lruvec_max_seq(lruvec) - 1;
    if (tail || oldest + MIN_NR_GENS >= lruvec_max_seq(lruvec))
        return oldest;
    return oldest + 1;
}

static void mark_fault(struct folio *folio)
{
    folio_set(folio, FOLIO_ACTIVE);
}

static uint64_t walk_flags(uint64_t flags, uint64_t seq, bool exec_file)
{
    uint64_t clear = FOLIO_SEQ_MASK | FOLIO_REFS_MASK | FOLIO_REFERENCED | FOLIO_WORKINGSET;
    return (flags & ~clear) | folio_seq_bits(seq);
}

static bool rmap_refs(struct folio *folio, bool exec_file)
{
    if (folio_has_seq(folio))
        return true;
    folio_set(folio, FOLIO_REFERENCED);
    return false;
}

static enum reference_verdict references(struct reclaim *reclaim, struct folio *folio, int young,
                                         bool exec)
{
    bool referenced = folio_test(folio, FOLIO_REFERENCED);
    folio_clear(folio, FOLIO_REFERENCED);
    bool file = folio_type(folio) == LRU_TYPE_FILE;
    if (young) {
        folio_set(folio, FOLIO_REFERENCED);
        if (referenced || young > 1 || (exec && file))
            return REFERENCE_ACTIVATE;
        return REFERENCE_KEEP;
    }
    return referenced && file ? REFERENCE_RECLAIM_CLEAN : REFERENCE_RECLAIM;
}

static uint64_t isolated_flags(uint64_t flags)
{
    if (!(flags & FOLIO_REFERENCED))
        flags &= ~(uint64_t)(FOLIO_REFS_MASK | FOLIO_WORKINGSET);
    return flags & ~(uint64_t)FOLIO_REFERENCED;
}

static bool leftover(const struct lruvec *lruvec, struct folio *folio, bool second_pass)
{
    bool busy = folio_test(folio, FOLIO_DIRTY | FOLIO_WRITEBACK);
    if (folio_test(folio, FOLIO_RECLAIM) && busy) {
        /* Isolation cleared R; W says that it had been set. */
        if (folio_test(folio, FOLIO_WORKINGSET))
            folio_set(folio, FOLIO_REFERENCED);
        return false;
    }
    if (second_pass || busy || folio->map_count ||
        folio_test(folio, FOLIO_ACTIVE | FOLIO_REFERENCED | FOLIO_LOCKED)) {
        folio_clear(folio, FOLIO_STATE_MASK);
        folio_set(folio, FOLIO_ACTIVE);
        return false;
    }
    return true;
}

static void sync_min_seq(const struct lruvec *lruvec, uint64_t min_seq[2], int swappiness)
{
    if (!swappiness)
        return;
    if (min_seq[LRU_TYPE_FILE] < min_seq[LRU_TYPE_ANON])
        min_seq[LRU_TYPE_ANON] = min_seq[LRU_TYPE_FILE];
    uint64_t file = lruvec_min_seq(lruvec, LRU_TYPE_FILE);
    min_seq[LRU_TYPE_FILE] = min_seq[LRU_TYPE_ANON] > file ? min_seq[LRU_TYPE_ANON] : file;
}

static bool should_age(const struct lruvec *lruvec, const struct scan_control *sc, int swappiness,
                       unsigned long *total)
{
    uint64_t min_seq = lruvec_min_seq(lruvec, swappiness ? LRU_TYPE_ANON : LRU_TYPE_FILE);
    uint64_t max_seq = lruvec_max_seq(lruvec);
    unsigned long young = 0, old = 0;

    *total = 0;
    if (min_seq + MIN_NR_GENS > max_seq)
        return true;
    for (unsigned t = 0; t < LRU_TYPES; t++) {
        if (!type_evictable((enum lru_type)t, swappiness))
            continue;
        for (uint64_t seq = lruvec_min_seq(lruvec, t); seq <= max_seq; seq++) {
            long size = 0;
            for (unsigned zone = 0; zone < MAX_NR_ZONES; zone++) {
                long pages = lruvec_nr_pages(lruvec, gen_of(seq), t, zone);
                size += pages > 0 ? pages : 0;
            }
            *total += (unsigned long)size;
            if (seq == max_seq)
                young += (unsigned long)size;
            else if (seq + MIN_NR_GENS == max_seq)
                old += (unsigned long)size;
        }
    }
    if (min_seq + MIN_NR_GENS < max_seq)
        return false;
    /* Exactly one generation to evict: age when the young are many or the cold are few. */
    if (young * MIN_NR_GENS > *total)
        return true;
    return old * (MIN_NR_GENS + 2) < *total;
}

static unsigned tier_limit(const struct lruvec *lruvec, enum lru_type type)
{
    struct tier_position sp = tier_read(lruvec, type, 0, 1);
    unsigned tier = 1;
    for (; tier < MAX_NR_TIERS; tier++) {
        struct tier_position pv = tier_read(lruvec, type, tier, 2);
        if (!tier_ok(&sp, &pv))
            break;
    }
    return tier - 1;
}

static enum lru_type choose_type(const struct lruvec *lruvec, int swappiness, unsigned *limit)
{
    int gain[LRU_TYPES] = {swappiness, MAX_SWAPPINESS - swappiness};
    struct tier_position sp = tier_read(lruvec, LRU_TYPE_ANON, 0, gain[LRU_TYPE_ANON]);
    struct tier_position pv = tier_read(lruvec, LRU_TYPE_FILE, 0, gain[LRU_TYPE_FILE]);
    enum lru_type type = tier_ok(&sp, &pv) ? LRU_TYPE_FILE : LRU_TYPE_ANON;
    enum lru_type other = type == LRU_TYPE_FILE ? LRU_TYPE_ANON : LRU_TYPE_FILE;
    sp = tier_read(lruvec, other, 0, gain[other]);
    unsigned tier = 1;
    for (; tier < MAX_NR_TIERS; tier++) {
        pv = tier_read(lruvec, type, tier, gain[type]);
        if (!tier_ok(&sp, &pv))
            break;
    }
    *limit = tier - 1;
    return type;
}

static unsigned long isolate(struct lruvec *lruvec, struct scan_control *sc, int swappiness,
                             struct isolation *isolation)
{
    enum lru_type type;
    unsigned limit = MAX_NR_TIERS; /* unset */
    if (!swappiness)
        type = LRU_TYPE_FILE;
    else if (lruvec_min_seq(lruvec, LRU_TYPE_ANON) < lruvec_min_seq(lruvec, LRU_TYPE_FILE))
        type = LRU_TYPE_ANON;
    else if (swappiness == 1)
        type = LRU_TYPE_FILE;
    else if (swappiness == MAX_SWAPPINESS)
        type = LRU_TYPE_ANON;
    else if (!sc->may_io)
        type = LRU_TYPE_FILE;
    else
        type = choose_type(lruvec, swappiness, &limit);

    unsigned long scanned = 0;
    for (unsigned round = swappiness ? 0 : 1; round < LRU_TYPES; round++) {
        if (limit == MAX_NR_TIERS)
            limit = tier_limit(lruvec, type);
        isolation->type = type;
        isolation->tier = limit;
        isolation->nr = MAX_LRU_BATCH;
        scanned = eviction_scan(lruvec, sc, isolation);
        /* Sorting alone does not count unless the whole budget went (row 16, 17). */
        if (!isolation->pages && isolation->nr)
            scanned = 0;
        if (scanned)
            break;
        type = type == LRU_TYPE_FILE ? LRU_TYPE_ANON : LRU_TYPE_FILE;
        limit = MAX_NR_TIERS;
    }
    return scanned;
}

static unsigned long evict_result(const struct lruvec *lruvec, int swappiness,
                                  unsigned long scanned, bool advanced)
{
    if (lruvec_gens(lruvec, swappiness ? LRU_TYPE_ANON : LRU_TYPE_FILE) == MIN_NR_GENS)
        return 0;
    return scanned + (advanced ? 1 : 0); /* row 17: a bool added to a count */
}

/* Pages to scan; 0: stop; -1: stop and rotate the memcg. */
static long scan_target(struct lruvec *lruvec, struct scan_control *sc, int swappiness)
{
    uint64_t seq = lruvec_max_seq(lruvec);
    unsigned long total;
    if (memcg_below_min(sc->target, lruvec->memcg))
        return -1;
    bool age = should_age(lruvec, sc, swappiness, &total);
    if (total && !memcg_online(lruvec->memcg))
        return (long)total;
    if (!age || sc->priority == DEF_PRIORITY)
        return (long)(total >> sc->priority);
    return aging_inc_max_seq(lruvec, sc, seq, swappiness, false) ? -1 : 0;
}

static bool shrink_loop(struct lruvec *lruvec, struct scan_control *sc)
{
    unsigned long scanned = 0;
    int swappiness = reclaim_swappiness(lruvec, sc);
    for (;;) {
        long target = scan_target(lruvec, sc, swappiness);
        if (target <= 0)
            return target < 0;
        unsigned long delta = eviction_run(lruvec, sc, swappiness, MAX_LRU_BATCH);
        if (!delta)
            return false;
        scanned += delta;
        if (scanned >= (unsigned long)target)
            return false;
        /* Reclaim of a memcg's limit is never cut short here. */
        if (reclaim_is_global(sc) && reclaim_enough(sc))
            return false;
    }
}

static bool shrink(struct lruvec *lruvec, struct scan_control *sc)
{
    bool rotate = shrink_loop(lruvec, sc);
    eviction_wake_flushers(lruvec, sc); /* row 19: not before the end */
    return rotate;
}

static struct refault_result refault(const struct lruvec *lruvec, struct folio *folio,
                                     const struct shadow *shadow, bool in_fault)
{
    struct refault_result result = {0};
    uint64_t mask = (UINT64_C(1) << (shadow->token_bits - 2)) - 1;
    result.recent = shadow->token >> 2 == (lruvec_min_seq(lruvec, folio_type(folio)) & mask);
    unsigned refs = (unsigned)(shadow->token & 3) + (shadow->workingset ? 1 : 0);
    result.tier = bits_log2up(refs + 1);
    if (!result.recent)
        return result;
    result.activate = true;
    if (in_fault || refs >= 3) {
        folio_set(folio, FOLIO_WORKINGSET | FOLIO_REFS_MASK);
        result.restored = true;
    }
    return result;
}

#define STATE(r, w, n) ((r) | (w) << 1 | (n) << 2)

const struct reclaim_model model_612 = {
    .name = "6.12",
    .aging = AGING_PER_FOLIO,
    .marked = {
        /* counter 0 */ STATE(1, 0, 0),
        STATE(1, 1, 0),
        STATE(1, 1, 0),
        STATE(1, 1, 1),
        /* counter 1 */ STATE(1, 0, 1),
        STATE(1, 1, 1),
        STATE(1, 1, 1),
        STATE(1, 1, 2),
        /* counter 2 */ STATE(1, 0, 2),
        STATE(1, 1, 2),
        STATE(1, 1, 2),
        STATE(1, 1, 3),
        /* counter 3 */ STATE(1, 0, 3),
        STATE(1, 1, 3),
        STATE(1, 1, 3),
        STATE(1, 1, 3),
    },
    .refs = {0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4},
    .tier = {0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2, 3, 3},
    .fully = 1u << STATE(0, 1, 3) | 1u << STATE(1, 1, 3),
    .bump_clears = FOLIO_STATE_MASK,
    .active_add_clears = FOLIO_REFS_MASK | FOLIO_REFERENCED,
    .isolated_promotes = true,
    .shadow_has_refs = true,
    .global_proactive = true,
    .cost_in_ancestors = true,
    .lookup_bytes = 200 + 1168,
    .memcg_bytes = 6112, /* recorded: percpu 6048 + slab 6176 for two */
    .add_seq = add_seq,
    .mark_fault = mark_fault,
    .walk_flags = walk_flags,
    .rmap_refs = rmap_refs,
    .references = references,
    .isolated_flags = isolated_flags,
    .leftover = leftover,
    .sync_min_seq = sync_min_seq,
    .should_age = should_age,
    .isolate = isolate,
    .evict_result = evict_result,
    .shrink = shrink,
    .refault = refault,
};
