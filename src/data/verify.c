/* SPDX-License-Identifier: MIT */
/*
 * Walks a whole cache with frames while nothing runs, for tests: the laws of data.h and those of
 * index.c, and reclaim's below them. Pins may be held.
 *
 *  1. frames: a folio is alive exactly if its frame is used, and the spare frame is used by none;
 *     what stands in no slot is an orphan, which somebody holds
 *  2. charge: usage of a memcg = folios alive and stock in its subtree
 *  3. index: counts of a leaf, its place in the table and on the list of shadows
 *  4. hold: a folio has one reference of its slot and one of the batch in which it waits
 *  5. dirty: bits of a leaf = flags of its folios = counters of memcg, cache and statistics
 *  6. lists: folios with FOLIO_LRU = sizes of the lists
 */
#include "data/data.h"

#include <stdio.h>
#include <stdlib.h>

#include "memcg/stock.h"

struct walk {
    struct data *data;
    uint8_t *used;    /* one byte a frame: its folio is alive */
    uint8_t *slotted; /* it stands in a slot */
    uint8_t *batched; /* batches in which it waits */
    uint64_t dirty;   /* pages */
};

static _Thread_local char failure[160];

static const char *fail(const char *what, const char *where, uint64_t found, uint64_t expected)
{
    snprintf(failure, sizeof(failure), "%s: %s (found %llu, expected %llu)", where, what,
             (unsigned long long)found, (unsigned long long)expected);
    return failure;
}

static bool is_alive(const struct folio *folio)
{
    uint64_t hold = hold_load(folio);
    return !(hold & HOLD_FROZEN) && hold & (HOLD_REFS_MASK | HOLD_READERS_MASK | HOLD_WRITER);
}

static const char *walk_batches(struct walk *walk)
{
    struct data *data = walk->data;
    const struct reclaim *reclaim = &data->cache->reclaim;
    for (unsigned cpu = 0; cpu < cpu_claims_count(data->cache->claims); cpu++) {
        const struct lru_batch *batch = &reclaim->batches[cpu];
        for (unsigned i = 0; i < batch->adds; i++)
            walk->batched[folio_frame(data, batch->add[i])]++;
        if (batch->activates)
            return fail("the batch of the classic LRU is used", "batch", batch->activates, 0);
    }
    return NULL;
}

/* Law 4, and the folio's own words. */
static const char *check_folio(struct walk *walk, const struct data_map *map, uint64_t page,
                               const struct folio *folio)
{
    const char *name = map->mapping->name;
    uint32_t frame = folio_frame(walk->data, folio);
    if (folio->mapping != &map->mapping->base || folio->index != page)
        return fail("a slot holds the folio of another page", name, folio->index, page);
    if (!is_alive(folio))
        return fail("a slot holds a free folio", name, hold_load(folio), 0);
    if (walk->slotted[frame]++)
        return fail("a folio stands in two slots", name, frame, 0);
    uint64_t refs = hold_load(folio) & HOLD_REFS_MASK;
    if (refs != 1u + walk->batched[frame])
        return fail("references of a folio", name, refs, 1u + walk->batched[frame]);
    if (folio_test(folio, FOLIO_LRU) == (walk->batched[frame] > 0))
        return fail("a folio is neither on a list nor in a batch, or both", name,
                    walk->batched[frame], 1);
    if (folio_test(folio, FOLIO_WRITEBACK | FOLIO_LOCKED))
        return fail("a folio is being written", name, folio_flags(folio), 0);
    return NULL;
}

static const char *check_leaf_lists(const struct data_map *map, const struct data_leaf *leaf)
{
    const char *name = map->mapping->name;
    if (leaf->gone || leaf->flushers || leaf->syncing)
        return fail("a leaf that somebody works on", name, leaf->flushers, 0);
    if (!leaf->folios && !leaf->shadows)
        return fail("an empty leaf", name, leaf->chunk, 0);
    if ((!leaf->folios && leaf->shadows) == list_empty(&leaf->shadow_link))
        return fail("a leaf's place on the list of shadows", name, leaf->folios, leaf->shadows);
    if (!leaf->dirty != list_empty(&leaf->dirty_link))
        return fail("a leaf's place on the list of dirty ones", name, leaf->dirty, 0);
    if (leaf->unsynced && list_empty(&leaf->unsynced_link))
        return fail("an unsynced leaf that no sync will see", name, leaf->unsynced, 0);
    return NULL;
}

/* Laws 3 and 5 of one leaf. */
static const char *walk_leaf(struct walk *walk, struct data_map *map, const struct data_leaf *leaf)
{
    const char *name = map->mapping->name;
    unsigned folios = 0, shadows = 0;
    uint64_t dirty = 0, there = 0;
    for (unsigned i = 0; i < LEAF_PAGES; i++) {
        uint64_t slot = atomic_load_relaxed(&leaf->slots[i]);
        shadows += slot & 1;
        if (!slot_has_folio(slot))
            continue;
        const struct folio *folio = slot_get_folio(slot);
        const char *broken = check_folio(walk, map, leaf->chunk * LEAF_PAGES + i, folio);
        if (broken)
            return broken;
        folios++;
        there |= UINT64_C(1) << i;
        if (folio_test(folio, FOLIO_DIRTY))
            dirty |= UINT64_C(1) << i;
    }
    if (folios != leaf->folios || shadows != leaf->shadows)
        return fail("counts of a leaf", name, folios * 256 + shadows,
                    leaf->folios * 256u + leaf->shadows);
    if (dirty != leaf->dirty)
        return fail("dirty bits of a leaf", name, leaf->dirty, dirty);
    if (leaf->unsynced & ~there)
        return fail("an unsynced page that is not there", name, leaf->unsynced, there);
    walk->dirty += (unsigned)__builtin_popcountll(dirty);
    return check_leaf_lists(map, leaf);
}

static uint64_t list_length(const struct list_node *list)
{
    uint64_t length = 0;
    const struct list_node *pos;
    for (pos = list->next; pos != list; pos = pos->next)
        length++;
    return length;
}

static const char *walk_map(struct walk *walk, struct data_map *map)
{
    const char *name = map->mapping->name;
    const struct data_table *table = atomic_load_relaxed(&map->table);
    uint64_t leaves = 0, dirty_leaves = 0;
    for (uint64_t i = 0; table && i < table->size; i++) {
        const struct data_leaf *leaf = atomic_load_relaxed(&table->leaves[i]);
        if (!leaf)
            continue;
        if (leaf->map != map || map_find(map, leaf->chunk << LEAF_SHIFT) != leaf)
            return fail("a leaf that a look-up does not find", name, leaf->chunk, i);
        const char *broken = walk_leaf(walk, map, leaf);
        if (broken)
            return broken;
        leaves++;
        dirty_leaves += leaf->dirty != 0;
    }
    if (leaves != map->leaf_count)
        return fail("count of leaves", name, map->leaf_count, leaves);
    if (dirty_leaves != map->dirty_leaf_count || dirty_leaves != list_length(&map->dirty_leaves))
        return fail("count of dirty leaves", name, map->dirty_leaf_count, dirty_leaves);
    if (!dirty_leaves != list_empty(&map->dirty_map_link))
        return fail("place on the list of dirty mappings", name, dirty_leaves, 0);
    if (atomic_load_relaxed(&map->flights[0]) | atomic_load_relaxed(&map->flights[1]))
        return fail("writes in flight", name, 1, 0);
    if (!list_empty(&map->sync_leaves) || atomic_load_relaxed(&map->users))
        return fail("somebody flushes", name, 1, 0);
    return NULL;
}

static const char *walk_maps(struct walk *walk)
{
    struct data *data = walk->data;
    struct list_node *pos;
    uint64_t dirty_maps = 0;
    list_for_each (pos, &data->cache->mappings) {
        struct data_map *map = mapping_map(container_of(pos, struct mglru_mapping, link));
        const char *broken = map ? walk_map(walk, map) : NULL;
        if (broken)
            return broken;
        dirty_maps += map && map->dirty_leaf_count;
    }
    if (dirty_maps != list_length(&data->dirty_maps) || dirty_maps != data->dirty_map_count)
        return fail("count of dirty mappings", "/", data->dirty_map_count, dirty_maps);
    if (list_length(&data->shadow_leaves) != atomic_load_relaxed(&data->shadow_count))
        return fail("count of leaves of shadows", "/", atomic_load_relaxed(&data->shadow_count),
                    list_length(&data->shadow_leaves));
    if (walk->dirty != data_dirty_pages(data))
        return fail("dirty pages of the cache", "/", data_dirty_pages(data), walk->dirty);
    return NULL;
}

/* Law 1. */
static const char *check_frames(struct walk *walk)
{
    struct data *data = walk->data;
    uint64_t alive = 0;
    for (uint32_t frame = 0; frame <= data->frames; frame++) {
        const struct folio *folio = &data->folios[frame];
        walk->used[frame] = is_alive(folio);
        alive += walk->used[frame];
        bool held = hold_load(folio) & (HOLD_READERS_MASK | HOLD_WRITER);
        if (walk->used[frame] && !walk->slotted[frame] && !walk->batched[frame] && !held)
            return fail("an orphan that nobody holds", "frames", frame, hold_load(folio));
        if (!walk->used[frame] && walk->batched[frame])
            return fail("a free folio waits in a batch", "frames", frame, 0);
    }
    struct arena_counts counts;
    arena_counts(data->arena, &counts);
    if (walk->used[data->spare])
        return fail("the spare frame is in use", "frames", data->spare, 0);
    if (counts.used != alive + 1)
        return fail("frames used", "frames", counts.used, alive + 1);
    walk->used[data->spare] = 1;
    arena_verify(data->arena, walk->used);
    walk->used[data->spare] = 0;
    return NULL;
}

/* What stands in memory for one memcg: itself alone, or with its subtree. */
struct standing {
    long pages;
    long dirty;
    long listed;
};

static struct standing standing_of(const struct walk *walk, const struct memcg *memcg, bool subtree)
{
    struct standing sum = {0};
    for (uint32_t frame = 0; frame <= walk->data->frames; frame++) {
        const struct folio *folio = &walk->data->folios[frame];
        const struct memcg *own = walk->used[frame] ? folio_lruvec(folio)->memcg : NULL;
        if (!own || (subtree ? !memcg_is_descendant(own, memcg) : own != memcg))
            continue;
        sum.pages++;
        sum.listed += folio_test(folio, FOLIO_LRU);
        sum.dirty += walk->slotted[frame] && folio_test(folio, FOLIO_DIRTY);
    }
    return sum;
}

/* Laws 5 and 6 of one memcg alone. */
static const char *check_own(const struct walk *walk, struct memcg *memcg)
{
    struct standing own = standing_of(walk, memcg, false);
    const struct lruvec *lruvec = memcg_lruvec(memcg, 0);
    long listed = 0;
    for (unsigned zone = 0; zone < MAX_NR_ZONES; zone++)
        for (unsigned list = 0; list < NR_LRU_LISTS; list++)
            listed += lruvec_size(lruvec, zone, list);
    if (listed != own.listed)
        return fail("pages on the lists", memcg->path, (uint64_t)listed, (uint64_t)own.listed);
    if (atomic_load_relaxed(&memcg->memory.underflows))
        return fail("more was taken back than charged", memcg->path,
                    atomic_load_relaxed(&memcg->memory.underflows), 0);
    return NULL;
}

/* Law 2, and the statistics. */
static const char *check_subtree(const struct walk *walk, struct memcg *memcg)
{
    struct standing sum = standing_of(walk, memcg, true);
    long stock = 0, usage = page_counter_read(&memcg->memory);
    for (struct memcg *below = memcg; below; below = memcg_next(memcg, below))
        stock += memcg_stock_pages(below);
    long files = memcg_stat_exact(memcg, MEMCG_ALL_NODES, MEMCG_NR_FILE);
    long dirty = memcg_stat_exact(memcg, MEMCG_ALL_NODES, MEMCG_FILE_DIRTY);
    long written = memcg_stat_exact(memcg, MEMCG_ALL_NODES, MEMCG_FILE_WRITEBACK);
    if (!memcg_is_root(memcg) && usage != sum.pages + stock)
        return fail("charge differs from what is resident and in stock", memcg->path,
                    (uint64_t)usage, (uint64_t)(sum.pages + stock));
    if (files != sum.pages)
        return fail("statistic file", memcg->path, (uint64_t)files, (uint64_t)sum.pages);
    uint64_t counted = atomic_load_relaxed(&memcg_user(memcg)->shared_dirty);
    if (counted != (uint64_t)sum.dirty)
        return fail("dirty pages of a subtree", memcg->path, counted, (uint64_t)sum.dirty);
    if (dirty != sum.dirty)
        return fail("statistic file_dirty", memcg->path, (uint64_t)dirty, (uint64_t)sum.dirty);
    if (written)
        return fail("statistic file_writeback", memcg->path, (uint64_t)written, 0);
    return NULL;
}

static const char *walk_all(struct walk *walk)
{
    struct mglru_cache *cache = walk->data->cache;
    struct memcg *root = cache->tree->root;
    const char *broken = walk_batches(walk);
    if (!broken)
        broken = walk_maps(walk);
    if (!broken)
        broken = check_frames(walk);
    for (struct memcg *memcg = root; memcg && !broken; memcg = memcg_next(root, memcg)) {
        broken = check_own(walk, memcg);
        if (!broken)
            broken = check_subtree(walk, memcg);
    }
    if (broken)
        return broken;
    memcg_tree_verify(cache->tree);
    return verify_reclaim(&cache->reclaim);
}

const char *data_verify(struct mglru_cache *cache)
{
    struct data *data = cache_data(cache);
    struct walk walk = {.data = data,
                        .used = calloc(data->frames + 1, 1),
                        .slotted = calloc(data->frames + 1, 1),
                        .batched = calloc(data->frames + 1, 1)};
    const char *broken =
        walk.used && walk.slotted && walk.batched ? walk_all(&walk) : "no memory for the walk";
    free(walk.used);
    free(walk.slotted);
    free(walk.batched);
    return broken;
}
