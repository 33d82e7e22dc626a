/* SPDX-License-Identifier: MIT */
/*
 * The models of Linux 7.3 (7.3.4), of the next kernel, and our own, which share most of their
 * functions (mglru-facts 10, columns 7.3.4 and next).
 *
 * Reference states: R = first access, the counter = further ones, W = the fifth and later, or
 * promoted through page tables.
 */
#include "reclaim/reclaim.h"

#include <string.h>

#include "base/bits.h"
#include "base/check.h"

static uint64_t add_seq(const struct lruvec *lruvec, const struct folio *folio, bool tail)
{
    enum lru_type type = folio_type(folio);
    unsigned distance; /* generations from the youngest, counted from 1 */
    bool waits =
        folio_test(folio, FOLIO_RECLAIM) && folio_test(folio, FOLIO_DIRTY | FOLIO_WRITEBACK);
    if (folio_test(folio, FOLIO_ACTIVE))
        distance = folio_test(folio, FOLIO_WORKINGSET) ? 1 : 2;
    else if (tail)
        distance = MAX_NR_GENS;
    else if ((type == LRU_TYPE_ANON && !folio_test(folio, FOLIO_SWAPCACHE)) || waits)
        distance = 2;
    else if (folio_test(folio, FOLIO_WORKINGSET | FOLIO_REFERENCED))
        distance = 3;
    else
        distance = MAX_NR_GENS;
    uint64_t oldest = lruvec_min_seq(lruvec, type);
    uint64_t seq = lruvec_max_seq(lruvec) + 1 - distance;
    return lruvec_max_seq(lruvec) + 1 < distance || seq < oldest ? oldest : seq;
}

/* Flags after one more access through a descriptor, unlisted rules included (1.4). */
static void count_access(struct folio *folio)
{
    folio_change(folio, FOLIO_STATE_MASK, model_73.marked[folio_flags(folio) & FOLIO_STATE_MASK]);
}

static void mark_fault(struct folio *folio)
{
    if (folio_test(folio, FOLIO_WORKINGSET))
        folio_set(folio, FOLIO_ACTIVE);
    else if (!folio_test(folio, FOLIO_REFERENCED))
        count_access(folio);
}

static uint64_t walk_flags(uint64_t flags, uint64_t seq, bool exec_file)
{
    if (!(flags & (FOLIO_REFERENCED | FOLIO_WORKINGSET)) && !exec_file)
        return (flags & ~(uint64_t)FOLIO_REFS_MASK) | FOLIO_REFERENCED; /* first sighting */
    uint64_t clear = FOLIO_SEQ_MASK | FOLIO_REFS_MASK | FOLIO_REFERENCED;
    return (flags & ~clear) | folio_seq_bits(seq) | FOLIO_WORKINGSET;
}

static bool rmap_refs(struct folio *folio, bool exec_file)
{
    if (!folio_test(folio, FOLIO_REFERENCED | FOLIO_WORKINGSET)) {
        folio_clear(folio, FOLIO_REFS_MASK | FOLIO_REFERENCED);
        folio_set(folio, exec_file ? FOLIO_WORKINGSET : FOLIO_REFERENCED);
        return exec_file;
    }
    if (model_73.refs[folio_flags(folio) & FOLIO_STATE_MASK] > 1) {
        folio_clear(folio, FOLIO_REFS_MASK | FOLIO_REFERENCED);
        folio_set(folio, FOLIO_WORKINGSET);
    } else {
        count_access(folio);
    }
    return true;
}

static enum reference_verdict references(struct reclaim *reclaim, struct folio *folio, int young,
                                         bool exec)
{
    bool file = folio_type(folio) == LRU_TYPE_FILE;
    if (reclaim_enabled(reclaim) && !reclaim->switching) {
        if (!young)
            return REFERENCE_RECLAIM;
        return rmap_refs(folio, exec && file) ? REFERENCE_ACTIVATE : REFERENCE_KEEP;
    }
    bool referenced = folio_test(folio, FOLIO_REFERENCED);
    folio_clear(folio, FOLIO_REFERENCED);
    if (!young)
        return REFERENCE_RECLAIM;
    folio_set(folio, FOLIO_REFERENCED);
    if (referenced || young > 1 || (exec && file))
        return REFERENCE_ACTIVATE;
    return REFERENCE_KEEP;
}

static uint64_t isolated_flags(uint64_t flags)
{
    return flags & FOLIO_REFERENCED ? flags : flags & ~(uint64_t)FOLIO_REFS_MASK;
}

static bool leftover(const struct lruvec *lruvec, struct folio *folio, bool second_pass)
{
    if (!second_pass && !folio->map_count &&
        !folio_test(folio, FOLIO_ACTIVE | FOLIO_DIRTY | FOLIO_WRITEBACK))
        return true;
    /* Never back into the oldest generation. */
    if (add_seq(lruvec, folio, false) == lruvec_min_seq(lruvec, folio_type(folio))) {
        folio_clear(folio, FOLIO_REFS_MASK | FOLIO_REFERENCED);
        folio_set(folio, FOLIO_ACTIVE);
    }
    return false;
}

static void sync_min_seq(const struct lruvec *lruvec, uint64_t min_seq[2], int swappiness)
{
    if (min_seq[0] == lruvec_min_seq(lruvec, 0) && min_seq[1] == lruvec_min_seq(lruvec, 1))
        return;
    if (swappiness < 1 || swappiness > MAX_SWAPPINESS)
        return;
    uint64_t second = lruvec_max_seq(lruvec) - MIN_NR_GENS;
    if (lruvec_max_seq(lruvec) < MIN_NR_GENS)
        return;
    if (min_seq[LRU_TYPE_ANON] > second && min_seq[LRU_TYPE_FILE] < second)
        min_seq[LRU_TYPE_ANON] = second;
    else if (min_seq[LRU_TYPE_FILE] > second && min_seq[LRU_TYPE_ANON] < second)
        min_seq[LRU_TYPE_FILE] = second;
}

static bool should_age(const struct lruvec *lruvec, const struct scan_control *sc, int swappiness,
                       unsigned long *total)
{
    uint64_t oldest = UINT64_MAX;
    for (unsigned t = 0; t < LRU_TYPES; t++)
        if (type_evictable((enum lru_type)t, swappiness) && lruvec_min_seq(lruvec, t) < oldest)
            oldest = lruvec_min_seq(lruvec, t);
    if (oldest + MIN_NR_GENS > lruvec_max_seq(lruvec))
        return true;
    if (sc->priority == DEF_PRIORITY)
        return false;
    return oldest + MIN_NR_GENS == lruvec_max_seq(lruvec);
}

static unsigned tier_limit(const struct lruvec *lruvec, enum lru_type type)
{
    struct tier_position sp = tier_read(lruvec, type, 0, 2);
    unsigned tier = 1;
    for (; tier < MAX_NR_TIERS; tier++) {
        struct tier_position pv = tier_read(lruvec, type, tier, 3);
        if (!tier_ok(&sp, &pv))
            break;
    }
    return tier - 1;
}

static enum lru_type choose_type(const struct lruvec *lruvec, int swappiness)
{
    if (swappiness <= 1)
        return LRU_TYPE_FILE;
    if (swappiness >= MAX_SWAPPINESS)
        return LRU_TYPE_ANON;
    struct tier_position sp = tier_read(lruvec, LRU_TYPE_ANON, MAX_NR_TIERS, swappiness);
    struct tier_position pv =
        tier_read(lruvec, LRU_TYPE_FILE, MAX_NR_TIERS, MAX_SWAPPINESS - swappiness);
    return tier_ok(&sp, &pv) ? LRU_TYPE_FILE : LRU_TYPE_ANON;
}

static unsigned long isolate(struct lruvec *lruvec, struct scan_control *sc, int swappiness,
                             struct isolation *isolation)
{
    enum lru_type type = choose_type(lruvec, swappiness);
    unsigned long nr = isolation->nr;
    unsigned long total = 0;
    for (unsigned t = 0; t < LRU_TYPES; t++) {
        if (!type_evictable((enum lru_type)t, swappiness))
            continue;
        isolation->type = type;
        isolation->tier = tier_limit(lruvec, type);
        isolation->nr = nr;
        unsigned long scanned = eviction_scan(lruvec, sc, isolation);
        total += scanned;
        if (isolation->pages)
            break;
        /* A batch that only sorted is no reason to switch (row 16). */
        if (!scanned)
            type = type == LRU_TYPE_FILE ? LRU_TYPE_ANON : LRU_TYPE_FILE;
    }
    return total;
}

static unsigned long evict_result(const struct lruvec *lruvec, int swappiness,
                                  unsigned long scanned, bool advanced)
{
    return scanned;
}

/* Pages that this lruvec owes at this priority (3.1). */
static unsigned long scan_budget(struct lruvec *lruvec, struct scan_control *sc, int swappiness)
{
    unsigned long total = 0;
    if (swappiness == SWAPPINESS_ANON_ONLY &&
        lruvec->reclaim->host->swap_left(lruvec->reclaim->host_context, lruvec->memcg) <= 0)
        return 0;
    for (unsigned t = 0; t < LRU_TYPES; t++) {
        if (!type_evictable((enum lru_type)t, swappiness))
            continue;
        for (uint64_t seq = lruvec_min_seq(lruvec, t); seq <= lruvec_max_seq(lruvec); seq++)
            for (unsigned zone = 0; zone < MAX_NR_ZONES; zone++) {
                long pages = lruvec_nr_pages(lruvec, gen_of(seq), t, zone);
                total += pages > 0 ? (unsigned long)pages : 0;
            }
    }
    if (!memcg_online(lruvec->memcg))
        return total;
    return reclaim_protected_scan(lruvec, sc, total) >> sc->priority;
}

static bool shrink(struct lruvec *lruvec, struct scan_control *sc)
{
    int swappiness = reclaim_swappiness(lruvec, sc);
    long left = (long)scan_budget(lruvec, sc, swappiness);
    bool rotate = false;
    while (left > 0) {
        bool aged = false;
        unsigned long unused;
        if (memcg_below_min(sc->target, lruvec->memcg))
            return true;
        if (should_age(lruvec, sc, swappiness, &unused)) {
            if (aging_inc_max_seq(lruvec, sc, lruvec_max_seq(lruvec), swappiness, false))
                rotate = true;
            aged = true;
        }
        unsigned long batch = left < MIN_LRU_BATCH ? (unsigned long)left : MIN_LRU_BATCH;
        unsigned long delta = eviction_run(lruvec, sc, swappiness, batch);
        if (!delta || reclaim_enough(sc))
            break;
        if (reclaim_is_global(sc) && aged)
            break; /* fairness between memcgs comes from the rotation */
        left -= (long)delta;
    }
    return rotate;
}

static struct refault_result refault(const struct lruvec *lruvec, struct folio *folio,
                                     const struct shadow *shadow, bool in_fault)
{
    struct refault_result result = {0};
    uint64_t mask = (UINT64_C(1) << (shadow->token_bits - 2)) - 1;
    uint64_t now = lruvec_max_seq(lruvec) & mask;
    uint64_t then = shadow->token >> 2;
    result.recent = (now > then ? now - then : then - now) < MAX_NR_GENS;
    unsigned refs = (unsigned)(shadow->token & 3) + 1;
    result.tier = shadow->workingset ? MAX_NR_TIERS - 1 : bits_log2up(refs);
    if (!result.recent)
        return result;
    if (shadow->workingset) {
        result.activate = in_fault;
        result.restored = true;
        folio_set(folio, FOLIO_WORKINGSET);
    } else {
        folio_clear(folio, FOLIO_REFS_MASK);
        folio_set(folio, (uint64_t)(refs - 1) * FOLIO_REFS_ONE);
    }
    return result;
}

#define STATE(r, w, n) ((r) | (w) << 1 | (n) << 2)

/* Index: R + 2 W + 4 counter. The counter means something only while R is set. */
#define REFERENCE_TABLES                                                                           \
    .marked = {STATE(1, 0, 0), STATE(1, 0, 1), STATE(1, 1, 0), STATE(1, 1, 1),                     \
               STATE(1, 0, 0), STATE(1, 0, 2), STATE(1, 1, 0), STATE(1, 1, 2),                     \
               STATE(1, 0, 0), STATE(1, 0, 3), STATE(1, 1, 0), STATE(1, 1, 3),                     \
               STATE(1, 0, 0), STATE(1, 1, 3), STATE(1, 1, 0), STATE(1, 1, 3)},                    \
    .refs = {0, 1, 0, 1, 0, 2, 0, 2, 0, 3, 0, 3, 0, 4, 0, 4},                                      \
    .tier = {0, 0, 3, 3, 0, 1, 3, 3, 0, 2, 3, 3, 0, 2, 3, 3}, .fully = 1u << STATE(1, 1, 3),       \
    .bump_clears = FOLIO_REFS_MASK | FOLIO_REFERENCED

#define COMMON_FLAGS                                                                               \
    .protect_to_head = true, .protect_skips_full = true, .deactivate_checks_gen = true,            \
    .protects_on_direct = true, .skips_isolated = true, .takes_entry_runs = true,                  \
    .switch_runs_both = true, .wakes_per_batch = true, .reparents_folios = true,                   \
    .exact_batches = true, .swapin_uses_cache = true, .stock_slots = true, .anon_only = true,      \
    .large_readahead = true, .counts_faults = true, .lookup_bytes = 200 + 1056,                    \
    .memcg_bytes = 10352 /* recorded: percpu 12480 + slab 8224 for two */

#define COMMON_FUNCTIONS                                                                           \
    .add_seq = add_seq, .mark_fault = mark_fault, .walk_flags = walk_flags,                        \
    .rmap_refs = rmap_refs, .references = references, .isolated_flags = isolated_flags,            \
    .leftover = leftover, .sync_min_seq = sync_min_seq, .should_age = should_age,                  \
    .isolate = isolate, .evict_result = evict_result, .shrink = shrink, .refault = refault

const struct reclaim_model model_73 = {
    .name = "7.3",
    .aging = AGING_PER_FOLIO,
    .bump_counts = true,
    .search_slips = true,
    REFERENCE_TABLES,
    COMMON_FLAGS,
    COMMON_FUNCTIONS,
};

const struct reclaim_model model_next = {
    .name = "next",
    .aging = AGING_BATCHED,
    .bump_counts = true,
    .fill_keeps_order = true,
    .search_slips = true,
    REFERENCE_TABLES,
    COMMON_FLAGS,
    COMMON_FUNCTIONS,
};

const struct reclaim_model model_ours = {
    .name = "ours",
    .aging = AGING_SPLICE,
    .fill_keeps_order = true,
    .absolute_seq = true,
    REFERENCE_TABLES,
    COMMON_FLAGS,
    COMMON_FUNCTIONS,
};

const struct reclaim_model *model_find(const char *name)
{
    static const struct reclaim_model *const models[] = {&model_612, &model_73, &model_next,
                                                         &model_ours};
    for (size_t i = 0; i < MGLRU_ARRAY_LEN(models); i++)
        if (strcmp(models[i]->name, name) == 0)
            return models[i];
    return NULL;
}
