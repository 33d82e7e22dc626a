/* SPDX-License-Identifier: MIT */
/*
 * Durability. A sync writes what is dirty, waits for the writes of others, and has the store make
 * all of it durable. Pages that were written stay marked until such a sync has succeeded: when it
 * fails they are dirty again, since nobody knows which of them reached the medium, and a store does
 * not try twice (<mglru/store.h>). Pages that left the cache before, punches and truncations cannot
 * be done again: then the mapping has failed.
 */
#include "data/data.h"

/* Marks what was written so far as covered by the sync that begins. Returns whether it has to cover
 * what cannot be done again. */
static bool begin_sync(struct data_map *map)
{
    struct list_node *pos;
    map_lock(map);
    list_for_each (pos, &map->unsynced_leaves) {
        struct data_leaf *leaf = container_of(pos, struct data_leaf, unsynced_link);
        leaf->syncing |= leaf->unsynced;
        leaf->unsynced = 0;
    }
    /* A discard that is going on may end before the store's sync begins, or after it. */
    bool lost = map->lost || map->discards;
    map->lost = map->discards;
    map_unlock(map);
    return lost;
}

/* Pages that the failed sync was for are dirty again. */
static void dirty_leaf_again(struct data_map *map, struct data_leaf *leaf) MGLRU_REQUIRES(map->lock)
{
    for (uint64_t bits = leaf->syncing; bits; bits &= bits - 1) {
        uint64_t slot = map_slot(leaf, leaf->chunk * LEAF_PAGES + (uint64_t)__builtin_ctzll(bits));
        if (slot_has_folio(slot))
            dirty_restore(map, leaf, slot_get_folio(slot));
    }
}

static void end_sync(struct data_map *map, bool lost, int error)
{
    struct list_node *pos, *tmp;
    cpu_claim(map->data->cache->claims);
    map_lock(map);
    list_for_each_safe (pos, tmp, &map->unsynced_leaves) {
        struct data_leaf *leaf = container_of(pos, struct data_leaf, unsynced_link);
        if (error)
            dirty_leaf_again(map, leaf);
        leaf->syncing = 0;
        if (!leaf->unsynced)
            list_del_init(&leaf->unsynced_link);
    }
    if (error && (lost || map->lost))
        map->failed = true;
    map_unlock(map);
    cpu_release(map->data->cache->claims);
    if (error)
        atomic_add_relaxed(&map->mapping->errors, 1);
}

int sync_map(struct data_map *map, uint64_t first, uint64_t last)
{
    struct flush_range range = {.first = first,
                                .last = last,
                                .most = UINT64_MAX,
                                .older_than_ns = UINT64_MAX,
                                .waits = true};
    int error;
    lock_mutex_acquire(&map->sync);
    uint32_t errors = atomic_load_relaxed(&map->mapping->errors);
    flush_map(map, &range, &error);
    flush_wait(map);
    /* Another flusher had pages of the range on their way, and they are dirty again. The flight's
     * end orders this load after its count (end_run). */
    if (!error && errors != atomic_load_relaxed(&map->mapping->errors))
        error = MGLRU_EIO;
    if (!error)
        error = cut_again(map);
    if (!error) {
        bool lost = begin_sync(map);
        error = mglru_store_sync(map->store);
        end_sync(map, lost, error);
    }
    lock_mutex_release(&map->sync);
    return error;
}

static bool has_failed(struct data_map *map)
{
    map_lock(map);
    bool failed = map->failed;
    map_unlock(map);
    return failed;
}

int mglru_sync(struct mglru_file *file, uint64_t offset, uint64_t bytes)
{
    struct data_map *map = mapping_map(file->mapping);
    if (!map)
        return MGLRU_EINVAL;
    if (!map->store)
        return MGLRU_OK;
    unsigned shift = map->data->frame_shift;
    uint64_t end = bytes && offset + bytes > offset ? offset + bytes - 1 : UINT64_MAX;
    int error = sync_map(map, offset >> shift, end >> shift);
    /* Each error is told to each file once: the count of those it was told. */
    uint32_t errors = atomic_load_relaxed(&map->mapping->errors);
    uint32_t told = atomic_exchange_relaxed(&file->errors_told, errors);
    if (has_failed(map))
        return MGLRU_EIO;
    return error ? error : told != errors ? MGLRU_EIO : MGLRU_OK;
}

int mglru_sync_all(struct mglru_cache *cache)
{
    int first_error = MGLRU_OK;
    struct list_node *pos;
    if (!cache_is_shared(cache))
        return MGLRU_EINVAL;
    lock_mutex_acquire(&cache->control);
    list_for_each (pos, &cache->mappings) {
        struct data_map *map = mapping_map(container_of(pos, struct mglru_mapping, link));
        int error = map && map->store ? sync_map(map, 0, UINT64_MAX) : MGLRU_OK;
        if (!error && map && has_failed(map))
            error = MGLRU_EIO;
        first_error = first_error ? first_error : error;
    }
    lock_mutex_release(&cache->control);
    return first_error;
}
