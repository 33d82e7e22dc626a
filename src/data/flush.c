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

/* Longest wait of one call of a writer with too many dirty pages (the kernel's MAX_PAUSE). */
#define THROTTLE_NS UINT64_C(200000000)

/* One run of pages on its way. */
struct run {
    struct data_map *map;
    uint64_t first;
    unsigned count;
    struct folio *folios[FLUSH_PAGES];
    unsigned phase; /* in which it was counted as a flight */
    /* Dirty pages of the leaf that were passed over, and one of them that somebody changes now. */
    uint64_t passed;
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

/* A dirty page that cannot be taken now: changed by somebody, full of readers, or for a moment in
 * the hands of a reclaim that is about to see that it is dirty. */
static void pass_over(struct run *run, uint64_t bit, struct folio *folio, uint64_t seen)
{
    run->passed |= bit;
    if (run->busy || seen & HOLD_FROZEN)
        return;
    run->busy = folio;
    run->busy_seen = seen;
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
        if (hold_read(map->data, folio, &leaf->slots[offset], &seen) != HOLD_TAKEN) {
            pass_over(run, UINT64_C(1) << offset, folio, seen);
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

/*
 * The store has taken the page, or refused it: then it is to be written again. Only now it counts
 * as unsynced, since a sync that began during the write does not cover it.
 */
static void settle(struct data_map *map, struct folio *folio, bool taken) MGLRU_REQUIRES(map->lock)
{
    struct data_leaf *leaf = map_find(map, folio->index);
    if (map_slot(leaf, folio->index) != (uintptr_t)folio)
        return; /* it was cut meanwhile */
    uint64_t bit = UINT64_C(1) << (folio->index % LEAF_PAGES);
    if (!taken) {
        leaf->unsynced &= ~bit;
        leaf->syncing &= ~bit;
        dirty_restore(map, leaf, folio);
        return;
    }
    leaf->unsynced |= bit;
    if (list_empty(&leaf->unsynced_link))
        list_add_tail(&map->unsynced_leaves, &leaf->unsynced_link);
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
        settle(map, folio, !error);
    }
    map_unlock(map);
    cpu_release(data->cache->claims);
    for (unsigned i = 0; i < run->count; i++)
        hold_end_read(data, run->folios[i]);
    if (error)
        atomic_add_relaxed(&map->mapping->errors, 1);
    atomic_sub_acq_rel(&data->writes, 1); /* pairs with wait_for_write */
    bell_ring(&data->write_bell);
    /* Release: pairs with flush_wait. */
    if (atomic_sub_acq_rel(&map->flights[run->phase], 1) == 1)
        os_wake(&map->flights[run->phase], true);
}

/* Under claim and lock: the leaf that comes next, or NULL. Those that are passed over, and those
 * that stay dirty, go to the end of the list. */
static struct data_leaf *next_leaf(struct data_map *map, const struct flush_range *range,
                                   uint64_t *leaves, uint64_t *todo) MGLRU_REQUIRES(map->lock)
{
    while (!range->waits && *leaves > 0 && !list_empty(&map->dirty_leaves)) {
        struct data_leaf *leaf = container_of(map->dirty_leaves.next, struct data_leaf, dirty_link);
        --*leaves;
        list_move_tail(&map->dirty_leaves, &leaf->dirty_link);
        *todo = leaf->dirty & mask_of(leaf, range);
        if (*todo && leaf->dirty_since_ns <= range->older_than_ns)
            return leaf;
    }
    while (range->waits && !list_empty(&map->sync_leaves)) {
        struct data_leaf *leaf = container_of(map->sync_leaves.next, struct data_leaf, sync_link);
        list_del_init(&leaf->sync_link);
        *todo = leaf->dirty & mask_of(leaf, range);
        if (*todo)
            return leaf;
    }
    return NULL;
}

/* Others turn the list of dirty leaves at the same time, so a sync makes one of its own of what is
 * dirty now; there is one sync at a time. */
static void queue_leaves(struct data_map *map, const struct flush_range *range)
    MGLRU_REQUIRES(map->lock)
{
    struct list_node *pos;
    list_for_each (pos, &map->dirty_leaves) {
        struct data_leaf *leaf = container_of(pos, struct data_leaf, dirty_link);
        if (leaf->dirty & mask_of(leaf, range))
            list_add_tail(&map->sync_leaves, &leaf->sync_link);
    }
}

static void unqueue_leaves(struct data_map *map) MGLRU_REQUIRES(map->lock)
{
    while (!list_empty(&map->sync_leaves))
        list_del_init(map->sync_leaves.next);
}

/* Writes the pages *@todo of a leaf, but for those that are passed over. */
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
        if (run->count) {
            run->phase = map->flips & 1;
            atomic_add_relaxed(&map->flights[run->phase], 1);
            atomic_add_relaxed(&data->writes, 1);
        }
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

/* A leaf again and again until none of the pages *@todo that were dirty was passed over. */
static uint64_t flush_leaf_waiting(struct run *run, struct data_leaf *leaf, uint64_t todo,
                                   bool waits, int *error)
{
    uint64_t written = 0;
    for (;;) {
        run->passed = 0;
        run->busy = NULL;
        written += flush_leaf(run, leaf, todo, error);
        if (!waits || !run->passed || *error)
            return written;
        todo = run->passed;
        if (run->busy)
            hold_wait(run->busy, run->busy_seen);
        else
            os_thread_yield(); /* who froze it for a moment needs no more than that */
    }
}

uint64_t flush_map(struct data_map *map, const struct flush_range *range, int *error)
{
    struct run run = {.map = map};
    uint64_t written = 0;
    *error = 0;
    map_lock(map);
    uint64_t leaves = map->dirty_leaf_count;
    if (range->waits)
        queue_leaves(map, range);
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
    if (range->waits) {
        map_lock(map);
        unqueue_leaves(map); /* an error ended it early */
        map_unlock(map);
    }
    return written;
}

/*
 * New flights are counted in one of two phases, and the phases change only when the other one is
 * empty: after two changes all that began before the first have ended. So a wait ends although
 * others begin new flights all the time.
 */
void flush_wait(struct data_map *map)
{
    map_lock(map);
    uint32_t wanted = map->flips + 2;
    while ((int32_t)(wanted - map->flips) > 0) {
        _Atomic uint32_t *others = &map->flights[(map->flips + 1) & 1];
        uint32_t flights = atomic_load_acquire(others); /* pairs with end_run */
        if (!flights) {
            map->flips++;
            continue;
        }
        map_unlock(map);
        os_wait(others, flights);
        map_lock(map);
    }
    map_unlock(map);
}

void flush_wait_users(struct data_map *map)
{
    uint32_t users;
    /* Acquire: pairs with put_map. */
    while ((users = atomic_load_acquire(&map->users)))
        os_wait(&map->users, users);
}

static void put_map(struct data_map *map)
{
    if (atomic_sub_acq_rel(&map->users, 1) == 1) /* pairs with flush_wait_users */
        os_wake(&map->users, true);
}

/* The first mapping of the list of dirty ones, which goes to its end. Keeps it by a user. */
static struct data_map *take_map(struct data *data)
{
    struct data_map *map = NULL;
    lock_spin_acquire(&data->dirty_lock);
    if (!list_empty(&data->dirty_maps)) {
        map = container_of(data->dirty_maps.next, struct data_map, dirty_map_link);
        list_move_tail(&data->dirty_maps, &map->dirty_map_link);
        atomic_add_relaxed(&map->users, 1);
    }
    lock_spin_release(&data->dirty_lock);
    return map;
}

static uint64_t count_maps(struct data *data)
{
    lock_spin_acquire(&data->dirty_lock);
    uint64_t count = data->dirty_map_count;
    lock_spin_release(&data->dirty_lock);
    return count;
}

uint64_t flush_some(struct data *data, uint64_t most, uint64_t older_than_ns)
{
    struct flush_range range = {.last = UINT64_MAX, .most = most, .older_than_ns = older_than_ns};
    uint64_t written = 0;
    for (uint64_t maps = count_maps(data); maps > 0 && written < most; maps--) {
        struct data_map *map = take_map(data);
        int error;
        if (!map)
            break;
        range.most = most - written;
        written += flush_map(map, &range, &error);
        put_map(map);
    }
    return written;
}

/* Whether @memcg and those below it have more dirty pages than @percent of what they may have. */
static bool level_exceeds(const struct data *data, const struct memcg *memcg, uint32_t percent)
{
    uint64_t max = (uint64_t)atomic_load_relaxed(&memcg->memory.max);
    uint64_t high = (uint64_t)atomic_load_relaxed(&memcg->memory.high);
    uint64_t limit = max < high ? max : high;
    if (limit > data->frames)
        limit = data->frames;
    return atomic_load_relaxed(&memcg_user(memcg)->shared_dirty) > limit * percent / 100;
}

/* Whether the memcg, one above it, or the whole cache (the root) has too many dirty pages. */
static bool exceeds(const struct data *data, const struct mglru_memcg *user, uint32_t percent)
{
    const struct memcg *memcg = user->memcg;
    while (memcg && !level_exceeds(data, memcg, percent))
        memcg = memcg->parent;
    return memcg != NULL;
}

struct mglru_memcg *flush_throttles(struct data *data, const struct folio *folio)
{
    struct mglru_memcg *user = memcg_user(folio_lruvec(folio)->memcg);
    if (MGLRU_LIKELY(!exceeds(data, user, data->background_percent)))
        return NULL;
    atomic_store_relaxed(&data->urgent, true);
    bell_ring(&data->flush_bell);
    if (!exceeds(data, user, data->dirty_percent))
        return NULL;
    memcg_get(user->memcg); /* the folio that pays for it may go before the wait ends */
    return user;
}

static void wait_for_flushers(struct data *data, const struct mglru_memcg *user)
{
    uint64_t now, end = os_clock_now_ns() + THROTTLE_NS;
    for (;;) {
        /* Acquire: pairs with bell_ring; a page that is clean by then is seen below. */
        uint32_t seen = atomic_load_acquire(&data->clean_bell.rings);
        if (!exceeds(data, user, data->dirty_percent) || (now = os_clock_now_ns()) >= end)
            return;
        atomic_store_relaxed(&data->urgent, true);
        bell_ring(&data->flush_bell);
        bell_wait(&data->clean_bell, seen, end - now);
    }
}

void flush_throttle(struct data *data, struct mglru_memcg *user)
{
    if (data->flusher_count)
        wait_for_flushers(data, user);
    else
        flush_some(data, FLUSH_PAGES, UINT64_MAX);
    cpu_claim(data->cache->claims);
    memcg_put(user->memcg);
    cpu_release(data->cache->claims);
}
