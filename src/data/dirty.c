/* SPDX-License-Identifier: MIT */
/*
 * Which pages are dirty. A page becomes dirty under its writer's hold and the mapping's lock, and
 * clean under a reader's hold and that lock (flush.c), or as it leaves the mapping.
 *
 *   clean --dirty_set--> dirty --flush--> writeback --good write--> clean, unsynced
 *                          ^------------------------bad write-------/
 *   unsynced --sync begins--> syncing --good sync--> clean ; --bad sync--> dirty
 *
 * A page that is gone when a sync fails cannot become dirty again: the mapping says so (lost).
 */
#include "data/data.h"

static uint64_t bit_of(uint64_t page)
{
    return UINT64_C(1) << (page % LEAF_PAGES);
}

/* Dirty limits hold for subtrees: a page counts at each level above it, the root is the cache. */
static void count_dirty(const struct folio *folio, long pages)
{
    struct memcg *memcg = folio_lruvec(folio)->memcg;
    for (; memcg; memcg = memcg->parent)
        atomic_add_relaxed(&memcg_user(memcg)->shared_dirty, (uint64_t)pages);
    lruvec_stat(folio_lruvec(folio), MEMCG_FILE_DIRTY, pages);
}

static void list_map(struct data_map *map) MGLRU_REQUIRES(map->lock)
{
    struct data *data = map->data;
    lock_spin_acquire(&data->dirty_lock);
    MGLRU_ASSERT(list_empty(&map->dirty_map_link));
    list_add_tail(&data->dirty_maps, &map->dirty_map_link);
    data->dirty_map_count++;
    lock_spin_release(&data->dirty_lock);
}

static void unlist_map(struct data_map *map) MGLRU_REQUIRES(map->lock)
{
    struct data *data = map->data;
    lock_spin_acquire(&data->dirty_lock);
    list_del_init(&map->dirty_map_link);
    data->dirty_map_count--;
    lock_spin_release(&data->dirty_lock);
}

/* Enters the page into the lists of what has to be written. */
static void mark_leaf(struct data_map *map, struct data_leaf *leaf, uint64_t page)
    MGLRU_REQUIRES(map->lock)
{
    leaf->dirty |= bit_of(page);
    if (!list_empty(&leaf->dirty_link))
        return;
    leaf->dirty_since_ns = os_clock_now_ns();
    list_add_tail(&map->dirty_leaves, &leaf->dirty_link);
    if (map->dirty_leaf_count++ == 0)
        list_map(map);
}

void dirty_restore(struct data_map *map, struct data_leaf *leaf, struct folio *folio)
{
    if (folio_test(folio, FOLIO_DIRTY))
        return;
    mark_leaf(map, leaf, folio->index);
    folio_set(folio, FOLIO_DIRTY);
    count_dirty(folio, 1);
}

void dirty_set(struct data *data, struct folio *folio, uint64_t bytes)
{
    struct data_map *map = folio_map(folio);
    if ((!map->store || folio_test(folio, FOLIO_DIRTY)) &&
        bytes <= atomic_load_relaxed(&map->bytes))
        return;
    cpu_claim(data->cache->claims);
    map_lock(map);
    struct data_leaf *leaf = map_find(map, folio->index);
    /* What was cut while it was written is nobody's business any more. */
    if (map_slot(leaf, folio->index) == (uintptr_t)folio) {
        if (bytes > atomic_load_relaxed(&map->bytes))
            atomic_store_release(&map->bytes, bytes); /* pairs with readable */
        if (map->store)
            dirty_restore(map, leaf, folio);
    }
    map_unlock(map);
    cpu_release(data->cache->claims);
}

void dirty_clear(struct data_map *map, struct data_leaf *leaf, struct folio *folio)
{
    if (!folio_test(folio, FOLIO_DIRTY))
        return;
    folio_clear(folio, FOLIO_DIRTY);
    leaf->dirty &= ~bit_of(folio->index);
    if (!leaf->dirty) {
        list_del_init(&leaf->dirty_link);
        if (--map->dirty_leaf_count == 0)
            unlist_map(map);
    }
    count_dirty(folio, -1);
}
