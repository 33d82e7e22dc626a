/* SPDX-License-Identifier: MIT */
/*
 * The index of a mapping with frames: leaves of 64 slots in an open-addressing table, read without
 * a lock under RCU.
 *
 * Invariants, under the mapping's lock
 *   1. a leaf is in the table exactly if !gone; then folios + shadows > 0, or it is being filled
 *   2. a leaf is on data->shadow_leaves exactly if folios == 0 and shadows > 0
 * Readers: a leaf or table they found stays readable until rcu_leave; a slot's folio is one that
 * stood there at some moment since.
 */
#include "data/data.h"

#include <stdlib.h>
#include <string.h>

#define TABLE_MIN 8u
/* Leaves of shadows: as the kernel's shrinker of shadow nodes, an eighth of the pages, and never
 * fewer than a handful. */
#define SHADOW_FRAMES 8u
#define SHADOW_LEAVES_MIN 64u

static void free_table(struct rcu_later *later)
{
    free(container_of(later, struct data_table, later));
}

static void free_leaf(struct rcu_later *later)
{
    free(container_of(later, struct data_leaf, later));
}

static void put(struct data_table *table, struct data_leaf *leaf)
{
    uint64_t i = table_home(table, leaf->chunk);
    while (atomic_load_relaxed(&table->leaves[i]))
        i = (i + 1) & (table->size - 1);
    /* Release: pairs with the acquire in map_find. */
    atomic_store_release(&table->leaves[i], leaf);
}

static struct data_table *new_table(uint64_t size)
{
    struct data_table *table = calloc(1, sizeof(*table) + size * sizeof(table->leaves[0]));
    if (table)
        table->size = size;
    return table;
}

static bool is_full(const struct data_map *map)
{
    const struct data_table *table = atomic_load_relaxed(&map->table);
    return !table || (map->leaf_count + 1) * 2 > table->size;
}

/* Moves everything into @bigger, if it still is bigger. Returns what is no longer needed. */
static struct data_table *replace_table(struct data_map *map, struct data_table *bigger)
    MGLRU_REQUIRES(map->lock)
{
    struct data_table *old = atomic_load_relaxed(&map->table);
    if (old && old->size >= bigger->size)
        return bigger;
    for (uint64_t i = 0; old && i < old->size; i++) {
        struct data_leaf *leaf = atomic_load_relaxed(&old->leaves[i]);
        if (leaf)
            put(bigger, leaf);
    }
    rcu_store(&map->table, bigger); /* pairs with map_find */
    return old;
}

/* Room for one more leaf. Called without the lock, since it allocates. 0 or MGLRU_ENOMEM. */
static int reserve(struct data_map *map)
{
    map_lock(map);
    bool full = is_full(map);
    const struct data_table *table = atomic_load_relaxed(&map->table);
    uint64_t size = table ? table->size * 2 : TABLE_MIN;
    map_unlock(map);
    if (!full)
        return 0;
    struct data_table *bigger = new_table(size);
    if (!bigger)
        return MGLRU_ENOMEM;
    map_lock(map);
    struct data_table *unused = replace_table(map, bigger);
    map_unlock(map);
    if (unused)
        rcu_free_later(&unused->later, free_table);
    return 0;
}

static struct data_leaf *new_leaf(struct data_map *map, uint64_t page)
{
    struct data_leaf *leaf = calloc(1, sizeof(*leaf));
    if (!leaf)
        return NULL;
    leaf->chunk = page >> LEAF_SHIFT;
    leaf->map = map;
    list_init(&leaf->dirty_link);
    list_init(&leaf->sync_link);
    list_init(&leaf->shadow_link);
    list_init(&leaf->unsynced_link);
    return leaf;
}

static void leave_shadows(struct data *data, struct data_leaf *leaf)
{
    lock_spin_acquire(&data->shadow_lock);
    if (!list_empty(&leaf->shadow_link)) {
        list_del_init(&leaf->shadow_link);
        atomic_add_owner(&data->shadow_count, UINT64_C(-1));
    }
    lock_spin_release(&data->shadow_lock);
}

static void join_shadows(struct data *data, struct data_leaf *leaf)
{
    lock_spin_acquire(&data->shadow_lock);
    if (list_empty(&leaf->shadow_link)) {
        list_add_tail(&data->shadow_leaves, &leaf->shadow_link);
        atomic_add_owner(&data->shadow_count, 1);
    }
    lock_spin_release(&data->shadow_lock);
}

/* Whether a page lies where it has to. A truncation changes the size under the lock and cuts
 * afterwards: nothing comes in that it does not see. */
static bool lies_right(const struct data_map *map, uint64_t page, unsigned how)
    MGLRU_REQUIRES(map->lock)
{
    bool inside = page << map->data->frame_shift < atomic_load_relaxed(&map->bytes);
    return !(how & (inside ? PAGE_BEYOND : PAGE_INSIDE));
}

/* Under the lock, the leaf is there: puts @folio into its slot. */
static int fill_slot(struct data_map *map, struct data_leaf *leaf, struct folio *folio,
                     uint64_t *shadow) MGLRU_REQUIRES(map->lock)
{
    _Atomic uint64_t *slot = &leaf->slots[folio->index % LEAF_PAGES];
    uint64_t old = atomic_load_relaxed(slot);
    if (slot_has_folio(old))
        return MGLRU_EEXIST;
    if (old) {
        *shadow = old >> 1;
        leaf->shadows--;
    }
    if (leaf->folios++ == 0)
        leave_shadows(map->data, leaf);
    /* Release: pairs with map_slot; what the folio is was written before. */
    atomic_store_release(slot, (uintptr_t)folio);
    return 0;
}

int map_insert(struct data_map *map, struct folio *folio, unsigned how, uint64_t *shadow)
{
    struct data_leaf *spare = NULL;
    uint64_t page = folio->index;
    *shadow = 0;
    for (;;) {
        map_lock(map);
        int error = lies_right(map, page, how) ? 0 : MGLRU_ERANGE;
        if (page >= map->hole_first && page <= map->hole_last)
            error = MGLRU_EBUSY;
        struct data_leaf *leaf = error ? NULL : map_find(map, page);
        if (!error && !leaf && spare && !is_full(map)) {
            leaf = spare;
            spare = NULL;
            put(atomic_load_relaxed(&map->table), leaf);
            map->leaf_count++;
        }
        if (leaf)
            error = fill_slot(map, leaf, folio, shadow);
        map_unlock(map);
        if (leaf || error) {
            free(spare); /* somebody else was faster */
            return error;
        }
        if (!spare)
            spare = new_leaf(map, page);
        if (!spare || reserve(map)) {
            free(spare);
            return MGLRU_ENOMEM;
        }
    }
}

/* The cluster behind a removed leaf moves up. A reader on its way may miss a leaf that moves. */
static void table_remove(struct data_map *map, const struct data_leaf *leaf)
    MGLRU_REQUIRES(map->lock)
{
    struct data_table *table = atomic_load_relaxed(&map->table);
    uint64_t mask = table->size - 1;
    uint64_t hole = table_home(table, leaf->chunk);
    while (atomic_load_relaxed(&table->leaves[hole]) != leaf)
        hole = (hole + 1) & mask;
    struct data_leaf *next;
    for (uint64_t i = (hole + 1) & mask; (next = atomic_load_relaxed(&table->leaves[i]));
         i = (i + 1) & mask) {
        if (((i - table_home(table, next->chunk)) & mask) < ((i - hole) & mask))
            continue;
        /* Release: pairs with map_find. */
        atomic_store_release(&table->leaves[hole], next);
        hole = i;
    }
    atomic_store_release(&table->leaves[hole], NULL);
}

static void drop_leaf(struct data_map *map, struct data_leaf *leaf) MGLRU_REQUIRES(map->lock)
{
    MGLRU_ASSERT(!leaf->gone && !leaf->folios && list_empty(&leaf->dirty_link));
    leave_shadows(map->data, leaf);
    list_del_init(&leaf->unsynced_link);
    list_del_init(&leaf->sync_link);
    table_remove(map, leaf);
    map->leaf_count--;
    leaf->gone = true;
    if (!leaf->flushers)
        rcu_free_later(&leaf->later, free_leaf);
}

void map_leaf_put(struct data_map *map, struct data_leaf *leaf)
{
    MGLRU_ASSERT(leaf->flushers);
    if (--leaf->flushers == 0 && leaf->gone)
        rcu_free_later(&leaf->later, free_leaf);
}

void map_remove(struct data_map *map, struct data_leaf *leaf, uint64_t page, uint64_t value)
{
    _Atomic uint64_t *slot = &leaf->slots[page % LEAF_PAGES];
    uint64_t old = atomic_load_relaxed(slot), bit = UINT64_C(1) << (page % LEAF_PAGES);
    if (slot_has_folio(old)) {
        /* A sync that failed made it dirty after reclaim had frozen it: it is too late. */
        if (value && folio_test(slot_get_folio(old), FOLIO_DIRTY))
            map->failed = true;
        dirty_clear(map, leaf, slot_get_folio(old));
        if ((leaf->unsynced | leaf->syncing) & bit && value)
            map->lost = true; /* it cannot be written again if the sync fails */
        leaf->folios--;
    } else if (old) {
        leaf->shadows--;
    }
    leaf->unsynced &= ~bit;
    leaf->syncing &= ~bit;
    /* Release: pairs with map_slot. */
    atomic_store_release(slot, value);
    leaf->shadows = (uint8_t)(leaf->shadows + (value != 0));
    if (leaf->folios)
        return;
    if (leaf->shadows)
        join_shadows(map->data, leaf);
    else
        drop_leaf(map, leaf);
}

/* Whether there are too many leaves of shadows. A hint without the lock. */
static bool has_surplus(const struct data *data)
{
    uint64_t allowed = data->frames / SHADOW_FRAMES / LEAF_PAGES + SHADOW_LEAVES_MIN;
    return atomic_load_relaxed(&data->shadow_count) > allowed;
}

/* Takes the oldest leaf of shadows off the list if there are too many; NULL: there are not. Under
 * RCU, which keeps it readable. */
static struct data_leaf *take_surplus(struct data *data)
{
    struct data_leaf *leaf = NULL;
    lock_spin_acquire(&data->shadow_lock);
    if (has_surplus(data)) {
        leaf = container_of(data->shadow_leaves.next, struct data_leaf, shadow_link);
        list_del_init(&leaf->shadow_link);
        atomic_add_owner(&data->shadow_count, UINT64_C(-1));
    }
    lock_spin_release(&data->shadow_lock);
    return leaf;
}

void map_trim(struct data *data)
{
    if (MGLRU_LIKELY(!has_surplus(data)))
        return;
    rcu_enter();
    struct data_leaf *leaf = take_surplus(data);
    if (leaf) {
        struct data_map *map = leaf->map;
        map_lock(map);
        if (!leaf->gone && !leaf->folios)
            drop_leaf(map, leaf);
        map_unlock(map);
    }
    rcu_leave();
}

void map_fini(struct data_map *map)
{
    map_lock(map);
    struct data_table *table = atomic_load_relaxed(&map->table);
    for (uint64_t i = 0; table && i < table->size;) {
        struct data_leaf *leaf = atomic_load_relaxed(&table->leaves[i]);
        if (leaf)
            drop_leaf(map, leaf); /* another leaf may have moved here */
        else
            i++;
    }
    atomic_store_relaxed(&map->table, NULL);
    map_unlock(map);
    if (table)
        rcu_free_later(&table->later, free_table);
}
