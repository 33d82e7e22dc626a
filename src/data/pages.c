/* SPDX-License-Identifier: MIT */
/*
 * Birth and end of pages: charge, frame, slot, list; and what reclaim asks of a cache with frames.
 *
 * A page has one reference for its slot and one for the batch in which it waits for the lists. It
 * is disposed of by whoever drops its last reference, reader or writer; or freed by reclaim, which
 * froze it.
 */
#include "data/data.h"

#include "memcg/charge.h"
#include "memcg/stock.h"

/* Tries to free frames for one that is needed (chosen: the kernel's retries of a charge). */
#define FRAME_RETRIES MAX_RECLAIM_RETRIES

/* A frame; reclaims from all memcgs when there is none. Under a claim. ARENA_NONE: none is left. */
static uint32_t take_frame(struct data *data, struct mglru_memcg *user, unsigned how)
{
    bool once = how & PAGE_ONCE;
    struct reclaim_outcome outcome = {0};
    if (how & PAGE_SPARE)
        return data->spare;
    if (how & PAGE_OUTSIDE)
        return arena_alloc(data->arena);
    uint32_t frame = arena_alloc(data->arena);
    for (unsigned i = 0; MGLRU_UNLIKELY(frame == ARENA_NONE) && i < FRAME_RETRIES; i++) {
        struct reclaim_request request = {.pages = SWAP_CLUSTER_MAX, .outcome = &outcome};
        unsigned long freed = reclaim_run(&data->cache->reclaim, &request);
        bell_ring(&data->reclaim_bell);
        frame = arena_alloc(data->arena);
        if (frame == ARENA_NONE && !freed && (once || !background_relieve(data, NULL)))
            break;
    }
    if (frame == ARENA_NONE && !once)
        cache_note_verdict(user, data->cache->tree->root, &outcome);
    return frame;
}

static struct folio *init_folio(struct data *data, struct mglru_file *file, uint64_t page,
                                uint32_t frame)
{
    struct folio *folio = &data->folios[frame];
    folio->mapping = &file->mapping->base;
    folio->index = page;
    folio->map_count = 0;
    atomic_store_relaxed(&folio->lruvec, memcg_lruvec(file->memcg->memcg, 0));
    atomic_store_relaxed(&folio->flags, FOLIO_SHARED | DATA_ZONE << FOLIO_ZONE_SHIFT);
    uint64_t version = atomic_load_relaxed(&folio->hold) & HOLD_VERSION_MASK;
    /* Release: pairs with the acquires of who finds the folio by an old pointer. */
    atomic_store_release(&folio->hold, version | HOLD_WRITER | 2 * HOLD_REF);
    return folio;
}

static void free_frame(struct data *data, const struct folio *folio)
{
    uint32_t frame = folio_frame(data, folio);
    if (MGLRU_LIKELY(frame != data->spare))
        arena_free(data->arena, frame);
}

/* Undoes init_folio: the folio was nowhere. */
static void forget_folio(struct data *data, struct mglru_file *file, struct folio *folio)
{
    uint64_t version = atomic_load_relaxed(&folio->hold) & HOLD_VERSION_MASK;
    atomic_store_release(&folio->hold, (version + HOLD_VERSION) | HOLD_FROZEN);
    free_frame(data, folio);
    memcg_uncharge(file->memcg->memcg, 1);
}

static int charge(struct mglru_file *file, unsigned how)
{
    struct mglru_cache *cache = file->mapping->cache;
    if (how & PAGE_OUTSIDE) {
        memcg_charge_force(file->memcg->memcg, 1);
        return 0;
    }
    return how & PAGE_ONCE ? cache_charge_once(cache, file->memcg, 1)
                           : cache_charge(cache, file->memcg, 1);
}

/* page_make under a claim. */
static int make(struct mglru_file *file, uint64_t page, unsigned how, struct folio **out)
{
    struct data_map *map = mapping_map(file->mapping);
    struct data *data = map->data;
    int error = charge(file, how);
    if (error)
        return error;
    uint32_t frame = take_frame(data, file->memcg, how);
    if (frame == ARENA_NONE) {
        memcg_uncharge(file->memcg->memcg, 1);
        return how & PAGE_ONCE ? MGLRU_EAGAIN : MGLRU_EOOM;
    }
    struct folio *folio = init_folio(data, file, page, frame);
    uint64_t shadow;
    error = map_insert(map, folio, how, &shadow);
    if (error) {
        forget_folio(data, file, folio);
        return error == MGLRU_EEXIST ? 0 : error;
    }
    lruvec_stat(folio_lruvec(folio), MEMCG_NR_FILE, 1);
    if (shadow) {
        rcu_enter(); /* the memcg that the shadow names may go */
        workingset_refault(&data->cache->reclaim, folio, shadow, false);
        rcu_leave();
    }
    if (how & PAGE_OUTSIDE)
        hold_put(folio); /* the batch's: it waits for no list */
    else
        lru_batch_add(&data->cache->reclaim, folio, false);
    *out = folio;
    return 0;
}

int page_make(struct mglru_file *file, uint64_t page, unsigned how, struct folio **out)
{
    struct mglru_cache *cache = file->mapping->cache;
    *out = NULL;
    for (;;) {
        cpu_claim(cache->claims);
        int error = make(file, page, how, out);
        cpu_release(cache->claims);
        if (error != MGLRU_EBUSY)
            return error;
        if (how & PAGE_ONCE)
            return MGLRU_EAGAIN;
        hole_wait(mapping_map(file->mapping), page);
    }
}

void page_dispose(struct data *data, struct folio *folio)
{
    struct lruvec *lruvec = folio_lock_lruvec(folio);
    if (folio_test(folio, FOLIO_LRU))
        lruvec_del(folio, false);
    lruvec_unlock(lruvec);
    lruvec_stat(lruvec, MEMCG_NR_FILE, -1);
    free_frame(data, folio);
    memcg_uncharge(lruvec->memcg, 1);
}

void page_dispose_claiming(struct data *data, struct folio *folio)
{
    cpu_claim(data->cache->claims);
    page_dispose(data, folio);
    cpu_release(data->cache->claims);
}

/* --- out of the mapping -------------------------------------------------------------------- */

void page_discard(struct data *data, struct folio *folio)
{
    struct data_map *map = folio_map(folio);
    uint64_t page = folio->index;
    cpu_claim(data->cache->claims);
    map_lock(map);
    struct data_leaf *leaf = map_find(map, page);
    bool there = map_slot(leaf, page) == (uintptr_t)folio;
    if (there)
        map_remove(map, leaf, page, 0);
    map_unlock(map);
    /* The caller is its writer, so this reference is not the last use. */
    if (there && hold_put(folio))
        page_dispose(data, folio);
    cpu_release(data->cache->claims);
}

/* What is cut out of a mapping. */
struct cut {
    uint64_t first;
    uint64_t last;
    bool only_idle;
    uint64_t total; /* pages that are gone */
    uint64_t at;    /* position in the table */
    /* Of one step: folios whose last reference went. */
    struct folio *dead[LEAF_PAGES];
    unsigned deaths;
};

/* Cuts the pages of @bits out of a leaf. */
static void cut_leaf(struct data_map *map, struct data_leaf *leaf, uint64_t bits, struct cut *cut)
    MGLRU_REQUIRES(map->lock)
{
    for (; bits && !leaf->gone; bits &= bits - 1) {
        uint64_t page = leaf->chunk * LEAF_PAGES + (uint64_t)__builtin_ctzll(bits);
        uint64_t slot = map_slot(leaf, page);
        struct folio *folio = slot_has_folio(slot) ? slot_get_folio(slot) : NULL;
        if (!slot || (cut->only_idle && (!folio || !hold_freeze(folio, HOLD_LISTED_REFS))))
            continue;
        /* Dropped, not cut: it cannot be written again if the sync that it waits for fails. */
        if (cut->only_idle && (leaf->unsynced | leaf->syncing) & (bits & -bits))
            map->lost = true;
        map_remove(map, leaf, page, 0);
        cut->total += folio != NULL;
        if (folio && (cut->only_idle || hold_put(folio)))
            cut->dead[cut->deaths++] = folio;
    }
}

/* Bits of the pages first .. last in the leaf of @chunk. */
static uint64_t bits_between(uint64_t chunk, const struct cut *cut)
{
    uint64_t bits = ~UINT64_C(0);
    if (chunk == cut->first >> LEAF_SHIFT)
        bits &= ~UINT64_C(0) << (cut->first % LEAF_PAGES);
    if (chunk == cut->last >> LEAF_SHIFT)
        bits &= ~UINT64_C(0) >> (LEAF_PAGES - 1 - cut->last % LEAF_PAGES);
    return bits;
}

/* The next leaf of the range in the order of the table; NULL: no more. */
static struct data_leaf *next_leaf(struct data_map *map, struct cut *cut) MGLRU_REQUIRES(map->lock)
{
    const struct data_table *table = atomic_load_relaxed(&map->table);
    for (; table && cut->at < table->size; cut->at++) {
        struct data_leaf *leaf = atomic_load_relaxed(&table->leaves[cut->at]);
        if (leaf && leaf->chunk >= cut->first >> LEAF_SHIFT &&
            leaf->chunk <= cut->last >> LEAF_SHIFT)
            return leaf;
    }
    return NULL;
}

/* One leaf of a cut; false: there is no more. Removal moves leaves: a position is looked at again
 * after its leaf went. */
static bool cut_step(struct data_map *map, struct cut *cut)
{
    struct data *data = map->data;
    cpu_claim(data->cache->claims);
    rcu_enter(); /* a leaf that loses its last page is looked at once more */
    map_lock(map);
    struct data_leaf *leaf = next_leaf(map, cut);
    if (leaf) {
        cut_leaf(map, leaf, bits_between(leaf->chunk, cut), cut);
        if (!leaf->gone)
            cut->at++;
    }
    map_unlock(map);
    rcu_leave();
    while (cut->deaths > 0)
        page_dispose(data, cut->dead[--cut->deaths]);
    cpu_release(data->cache->claims);
    return leaf != NULL;
}

/* Whether a page of the range is left. Others may have moved a leaf past the cut; this one look at
 * the whole table under the lock cannot miss it. */
static bool is_left(struct data_map *map, struct cut *cut)
{
    bool left = false;
    map_lock(map);
    cut->at = 0;
    for (struct data_leaf *leaf; !left && (leaf = next_leaf(map, cut)); cut->at++) {
        uint64_t bits = bits_between(leaf->chunk, cut);
        for (; bits && !left; bits &= bits - 1)
            left = atomic_load_relaxed(&leaf->slots[__builtin_ctzll(bits)]) != 0;
    }
    cut->at = 0;
    map_unlock(map);
    return left;
}

uint64_t page_cut(struct data_map *map, uint64_t first, uint64_t last, bool only_idle)
{
    struct cut cut = {.first = first, .last = last, .only_idle = only_idle};
    do {
        while (cut_step(map, &cut)) {}
    } while (!only_idle && is_left(map, &cut));
    return cut.total;
}

/* --- for reclaim ---------------------------------------------------------------------------- */

static void host_release(void *context, struct folio *folio, uint64_t shadow)
{
    struct data *data = context;
    struct data_map *map = folio_map(folio);
    map_lock(map);
    struct data_leaf *leaf = map_find(map, folio->index);
    /* A cut may have been faster. */
    if (map_slot(leaf, folio->index) == (uintptr_t)folio)
        map_remove(map, leaf, folio->index, shadow << 1 | 1);
    map_unlock(map);
    lruvec_stat(folio_lruvec(folio), MEMCG_NR_FILE, -1);
    free_frame(data, folio);
    map_trim(data);
}

/* Under RCU. A leaf at another place than its home is not worth the search. */
static void host_prefetch(void *context, const struct folio *folio, unsigned depth)
{
    const struct data_table *table = rcu_load(&folio_map(folio)->table); /* pairs with table_grow */
    uint64_t page = folio->index;
    if (!table)
        return;
    const _Atomic(struct data_leaf *) *place =
        &table->leaves[table_home(table, page >> LEAF_SHIFT)];
    if (depth == 0) {
        __builtin_prefetch((const void *)place);
        return;
    }
    const struct data_leaf *leaf = rcu_load(place); /* pairs with put */
    if (leaf) {
        __builtin_prefetch(&leaf->chunk);
        __builtin_prefetch((const void *)&leaf->slots[page % LEAF_PAGES], 1);
        __builtin_prefetch(&leaf->folios, 1);
    }
}

static void host_dispose(void *context, struct folio *folio)
{
    page_dispose(context, folio);
}

static bool host_swap_none(void *context, struct folio *folio)
{
    return false;
}

static long host_swap_left(void *context, struct memcg *memcg)
{
    return 0;
}

static void host_wake_flushers(void *context, struct memcg *memcg)
{
    struct data *data = context;
    atomic_store_relaxed(&data->urgent, true);
    bell_ring(&data->flush_bell);
}

static unsigned long host_no_nodes(void *context, struct memcg *memcg, unsigned node)
{
    return 0;
}

static unsigned long host_shrink_none(void *context, struct memcg *memcg, unsigned node,
                                      unsigned long count)
{
    return 0;
}

static void host_progress(void *context)
{
}

static void host_on_age(void *context, struct lruvec *lruvec)
{
    reclaim_count(lruvec->reclaim, &memcg_user(lruvec->memcg)->shared_aged, 1);
}

const struct reclaim_host *page_host(void)
{
    static const struct reclaim_host host = {
        .release = host_release,
        .prefetch = host_prefetch,
        .dispose = host_dispose,
        .swap_alloc = host_swap_none,
        .swap_write = host_swap_none,
        .swap_left = host_swap_left,
        .wake_flushers = host_wake_flushers,
        .shadow_nodes = host_no_nodes,
        .shrink_shadow_nodes = host_shrink_none,
        .progress = host_progress,
        .on_age = host_on_age,
    };
    return &host;
}
