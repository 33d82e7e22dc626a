/* SPDX-License-Identifier: MIT */
/*
 * From the cache to the store. A flush takes runs of neighbouring dirty pages of one leaf, joins
 * their readers (so their content stays as it is), calls them clean and under writeback, writes
 * them, and calls those dirty again that the store refused.
 *
 * A flush goes once over the leaves that were dirty when it began; so it ends, and whatever was
 * dirty at that moment has been offered to the store.
 */
#include "data/data.h"

#include <string.h>

/* One run of pages on its way. */
struct run {
    struct data_map *map;
    uint64_t first;
    unsigned count;
    struct folio *folios[FLUSH_PAGES];
    /* Dirty pages of the leaf that somebody changes now: passed over; one of them. */
    uint64_t busy_bits;
    struct folio *busy;
    uint64_t busy_seen;
};

static uint64_t mask_of(const struct data_leaf *leaf, const struct flush_range *range)
{
    uint64_t base = leaf->chunk * LEAF_PAGES, mask = ~UINT64_C(0);
    if (base + LEAF_PAGES - 1 < range->first || base > range->last)
        return 0;
    if (range->first > base)
        mask &= ~UINT64_C(0) << (range->first - base);
    if (range->last < base + LEAF_PAGES - 1)
        mask &= ~UINT64_C(0) >> (base + LEAF_PAGES - 1 - range->last);
    return mask;
}

static void begin_write(struct data_map *map, struct data_leaf *leaf, struct folio *folio)
    MGLRU_REQUIRES(map->lock)
{
    dirty_clear(map, leaf, folio);
    folio_set(folio, FOLIO_WRITEBACK);
    lruvec_stat(folio_lruvec(folio), MEMCG_FILE_WRITEBACK, 1);
}

/* The page is in the store, but not yet for good: a sync that begins from now on is for it. */
static void mark_unsynced(struct data_map *map, struct folio *folio) MGLRU_REQUIRES(map->lock)
{
    struct data_leaf *leaf = map_find(map, folio->index);
    if (map_slot(leaf, folio->index) != (uintptr_t)folio)
        return;
    leaf->unsynced |= UINT64_C(1) << (folio->index % LEAF_PAGES);
    if (list_empty(&leaf->unsynced_link))
        list_add_tail(&map->unsynced_leaves, &leaf->unsynced_link);
}

/* Takes the first run among *@todo, whose bits it clears. */
static void take_run(struct data_map *map, struct data_leaf *leaf, uint64_t *todo, struct run *run)
    MGLRU_REQUIRES(map->lock)
{
    run->count = 0;
    while (*todo && run->count < FLUSH_PAGES) {
        unsigned offset = (unsigned)__builtin_ctzll(*todo);
        uint64_t page = leaf->chunk * LEAF_PAGES + offset;
        if (run->count && page != run->first + run->count)
            return;
        *todo &= *todo - 1;
        struct folio *folio = slot_get_folio(map_slot(leaf, page));
        uint64_t seen;
        enum hold_result result = hold_read(map->data, folio, &leaf->slots[offset], &seen);
        if (result != HOLD_TAKEN) {
            if (result == HOLD_BUSY) {
                run->busy_bits |= UINT64_C(1) << offset;
                run->busy = folio;
                run->busy_seen = seen;
            }
            if (run->count)
                return;
            continue;
        }
        if (!run->count)
            run->first = page;
        run->folios[run->count++] = folio;
        begin_write(map, leaf, folio);
    }
}

/* Writes a run. The last page of the mapping is written as far as the mapping goes. */
static int write_run(const struct run *run)
{
    struct data_map *map = run->map;
    struct data *data = map->data;
    struct mglru_store_vec vec[FLUSH_PAGES];
    uint64_t bytes = atomic_load_relaxed(&map->bytes);
    uint64_t align = mglru_store_caps(map->store)->align_bytes;
    unsigned count = 0;
    for (; count < run->count; count++) {
        uint64_t start = (run->first + count) << data->frame_shift;
        size_t length = (size_t)1 << data->frame_shift;
        if (start >= bytes)
            break; /* truncated meanwhile */
        if (bytes - start < length)
            length = (size_t)((bytes - start + align - 1) / align * align);
        vec[count] = (struct mglru_store_vec){folio_data(data, run->folios[count]), length};
    }
    return count ? mglru_store_write(map->store, run->first << data->frame_shift, vec, count) : 0;
}

/* The store refused the page: it is to be written again, if it still is where it was. */
static void dirty_again(struct data_map *map, struct folio *folio) MGLRU_REQUIRES(map->lock)
{
    struct data_leaf *leaf = map_find(map, folio->index);
    if (map_slot(leaf, folio->index) != (uintptr_t)folio)
        return;
    uint64_t bit = UINT64_C(1) << (folio->index % LEAF_PAGES);
    leaf->unsynced &= ~bit;
    leaf->syncing &= ~bit;
    dirty_restore(map, leaf, folio);
}

static void end_run(struct run *run, int error)
{
    struct data_map *map = run->map;
    struct data *data = map->data;
    cpu_claim(data->cache->claims);
    map_lock(map);
    for (unsigned i = 0; i < run->count; i++) {
        struct folio *folio = run->folios[i];
        folio_clear(folio, FOLIO_WRITEBACK);
        lruvec_stat(folio_lruvec(folio), MEMCG_FILE_WRITEBACK, -1);
        if (error)
            dirty_again(map, folio);
        else
            mark_unsynced(map, folio);
    }
    map_unlock(map);
    cpu_release(data->cache->claims);
    for (unsigned i = 0; i < run->count; i++)
        hold_end_read(data, run->folios[i]);
    if (error)
        atomic_add_relaxed(&map->errors, 1);
    /* Release: pairs with flush_wait. */
    if (atomic_sub_acq_rel(&map->flights, 1) == 1)
        os_wake(&map->flights, true);
}

/* Under claim and lock: the leaf that comes next, or NULL. Those that are passed over, and those
 * that stay dirty, go to the end of the list. */
static struct data_leaf *next_leaf(struct data_map *map, const struct flush_range *range,
                                   uint64_t *leaves, uint64_t *todo) MGLRU_REQUIRES(map->lock)
{
    while (*leaves > 0 && !list_empty(&map->dirty_leaves)) {
        struct data_leaf *leaf = container_of(map->dirty_leaves.next, struct data_leaf, dirty_link);
        --*leaves;
        list_move_tail(&map->dirty_leaves, &leaf->dirty_link);
        *todo = leaf->dirty & mask_of(leaf, range);
        if (*todo && leaf->dirty_since_ns <= range->older_than_ns)
            return leaf;
    }
    return NULL;
}

/* Writes the pages *@todo of a leaf; @run->busy: one that somebody changes. */
static uint64_t flush_leaf(struct run *run, struct data_leaf *leaf, uint64_t todo, int *error)
{
    struct data_map *map = run->map;
    struct data *data = map->data;
    uint64_t written = 0;
    while (todo && !*error) {
        cpu_claim(data->cache->claims);
        map_lock(map);
        todo &= leaf->gone ? 0 : leaf->dirty;
        take_run(map, leaf, &todo, run);
        if (run->count)
            atomic_add_relaxed(&map->flights, 1);
        map_unlock(map);
        cpu_release(data->cache->claims);
        if (!run->count)
            continue;
        *error = write_run(run);
        end_run(run, *error);
        written += *error ? 0 : run->count;
    }
    return written;
}

/* A leaf again and again until none of the pages *@todo is both dirty and being changed. */
static uint64_t flush_leaf_waiting(struct run *run, struct data_leaf *leaf, uint64_t todo,
                                   bool waits, int *error)
{
    uint64_t written = 0;
    for (;;) {
        run->busy_bits = 0;
        written += flush_leaf(run, leaf, todo, error);
        if (!waits || !run->busy_bits || *error)
            return written;
        todo = run->busy_bits;
        hold_wait(run->busy, run->busy_seen);
    }
}

uint64_t flush_map(struct data_map *map, const struct flush_range *range, int *error)
{
    struct run run = {.map = map};
    uint64_t written = 0;
    *error = 0;
    map_lock(map);
    uint64_t leaves = map->dirty_leaf_count;
    map_unlock(map);
    while (written < range->most && !*error) {
        uint64_t todo;
        map_lock(map);
        struct data_leaf *leaf = next_leaf(map, range, &leaves, &todo);
        if (leaf)
            leaf->flushers++; /* keeps it readable while the lock is not held */
        map_unlock(map);
        if (!leaf)
            break;
        written += flush_leaf_waiting(&run, leaf, todo, range->waits, error);
        map_lock(map);
        map_leaf_put(map, leaf);
        map_unlock(map);
    }
    return written;
}

void flush_wait(struct data_map *map)
{
    uint32_t flights;
    /* Acquire: pairs with end_run. */
    while ((flights = atomic_load_acquire(&map->flights)))
        os_wait(&map->flights, flights);
}

/* The first mapping of the list of dirty ones, which goes to its end. Keeps it by a flight. */
static struct data_map *take_map(struct data *data)
{
    struct data_map *map = NULL;
    lock_spin_acquire(&data->dirty_lock);
    if (!list_empty(&data->dirty_maps)) {
        map = container_of(data->dirty_maps.next, struct data_map, dirty_map_link);
        list_move_tail(&data->dirty_maps, &map->dirty_map_link);
        atomic_add_relaxed(&map->flights, 1);
    }
    lock_spin_release(&data->dirty_lock);
    return map;
}

uint64_t flush_some(struct data *data, uint64_t most, uint64_t older_than_ns)
{
    struct flush_range range = {.last = UINT64_MAX, .most = most, .older_than_ns = older_than_ns};
    uint64_t written = 0;
    struct data_map *first = NULL, *map;
    while (written < most && (map = take_map(data))) {
        int error;
        bool round = map == first;
        if (!first)
            first = map;
        range.most = most - written;
        if (!round)
            written += flush_map(map, &range, &error);
        if (atomic_sub_acq_rel(&map->flights, 1) == 1) /* pairs with flush_wait */
            os_wake(&map->flights, true);
        if (round)
            break;
    }
    return written;
}

/* Pages that a memcg may have: its tightest limit, or the whole cache. */
static uint64_t limit_of(const struct data *data, const struct memcg *memcg)
{
    uint64_t least = data->frames;
    for (; memcg && !memcg_is_root(memcg); memcg = memcg->parent) {
        uint64_t max = (uint64_t)atomic_load_relaxed(&memcg->memory.max);
        uint64_t high = (uint64_t)atomic_load_relaxed(&memcg->memory.high);
        least = max < least ? max : least;
        least = high < least ? high : least;
    }
    return least;
}

void flush_throttle(struct data *data, struct mglru_memcg *user)
{
    uint64_t limit = limit_of(data, user->memcg);
    uint64_t own = atomic_load_relaxed(&user->shared_dirty);
    uint64_t all = atomic_load_relaxed(&data->dirty_pages);
    if (own <= limit * data->background_percent / 100 &&
        all <= (uint64_t)data->frames * data->background_percent / 100)
        return;
    bell_ring(&data->flush_bell);
    if (own > limit * data->dirty_percent / 100 ||
        all > (uint64_t)data->frames * data->dirty_percent / 100)
        flush_some(data, FLUSH_PAGES, UINT64_MAX);
}
