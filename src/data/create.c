/* SPDX-License-Identifier: MIT */
/* Creation and end of caches with frames and of their mappings. */
#include "data/data.h"

#include <stdlib.h>
#include <string.h>

#define FRAMES_MIN 64u
#define CPUS_MIN 8u
#define READAHEAD_BYTES ((uint64_t)128 << 10)
#define DIRTY_PERCENT_DEFAULT 20u
#define BACKGROUND_PERCENT_DEFAULT 10u
#define FLUSH_AFTER_MS_DEFAULT 5000u

static uint32_t or_default(uint32_t value, uint32_t otherwise)
{
    return value ? value : otherwise;
}

static int read_options(const struct mglru_data_options *given, struct mglru_data_options *out)
{
    *out = (struct mglru_data_options){.size = sizeof(*out)};
    if (!given || given->size < offsetof(struct mglru_data_options, model))
        return MGLRU_EINVAL;
    memcpy(out, given, given->size < sizeof(*out) ? given->size : sizeof(*out));
    out->frame_bytes = or_default(out->frame_bytes, 4096);
    out->flushers = or_default(out->flushers, 1);
    out->dirty_percent = or_default(out->dirty_percent, DIRTY_PERCENT_DEFAULT);
    out->dirty_background_percent =
        or_default(out->dirty_background_percent, BACKGROUND_PERCENT_DEFAULT);
    out->flush_after_ms = or_default(out->flush_after_ms, FLUSH_AFTER_MS_DEFAULT);
    out->cpus =
        or_default(out->cpus, os_cpu_count() * 2 > CPUS_MIN ? os_cpu_count() * 2 : CPUS_MIN);
    if (out->cpus > CPU_CLAIMS_MAX)
        out->cpus = CPU_CLAIMS_MAX;
    if (!out->readahead_bytes)
        out->readahead_bytes = READAHEAD_BYTES;
    bool frame_ok = out->frame_bytes >= ARENA_FRAME_MIN && out->frame_bytes <= ARENA_FRAME_MAX &&
                    !(out->frame_bytes & (out->frame_bytes - 1));
    if (!frame_ok)
        return MGLRU_EINVAL;
    uint64_t frames = out->memory_bytes / out->frame_bytes;
    return frames >= FRAMES_MIN && frames < UINT32_MAX - 1 && out->flushers <= FLUSHERS_MAX &&
                   out->dirty_percent <= 100 && out->dirty_background_percent <= 100
               ? MGLRU_OK
               : MGLRU_EINVAL;
}

static void data_fini(void *argument)
{
    struct data *data = argument;
    rcu_drain();
    arena_destroy(data->arena);
    os_pages_unmap(data->folios, data->folio_bytes);
    free(data);
}

static void init_data(struct data *data, const struct mglru_data_options *options)
{
    data->frames = (uint32_t)(options->memory_bytes / options->frame_bytes);
    data->frame_shift = (unsigned)__builtin_ctz(options->frame_bytes);
    data->no_threads = options->no_threads;
    data->strict_limits = options->strict_limits;
    data->readahead_pages = options->readahead_bytes == UINT64_MAX
                                ? 0
                                : (uint32_t)(options->readahead_bytes >> data->frame_shift);
    data->dirty_percent = options->dirty_percent;
    data->background_percent = options->dirty_background_percent;
    data->start_ns = os_clock_now_ns();
    data->flush_after_ns = (uint64_t)options->flush_after_ms * 1000000;
    data->flusher_count = options->no_threads ? 0 : options->flushers;
    lock_mutex_init(&data->spare_lock, RANK_SPARE);
    lock_spin_init(&data->shadow_lock, RANK_SHADOWS);
    lock_spin_init(&data->dirty_lock, RANK_DIRTY);
    list_init(&data->shadow_leaves);
    list_init(&data->dirty_maps);
}

/* Frames and their descriptors; one more than there is room for, which is the spare one. */
static int map_memory(struct data *data, const struct mglru_data_options *options)
{
    struct arena_options arena = {.frame_bytes = options->frame_bytes,
                                  .frames = data->frames + 1,
                                  .pages =
                                      options->huge_pages ? ARENA_PAGES_HUGE : ARENA_PAGES_SMALL};
    data->folio_bytes = ((size_t)data->frames + 1) * sizeof(struct folio);
    void *start;
    int error = os_range_map(data->folio_bytes, OS_RANGE_HUGE_HINT, &start);
    if (error)
        return error;
    data->folios = start;
    error = arena_create(&arena, &data->arena);
    if (!error)
        data->spare = arena_alloc(data->arena);
    return error;
}

/* Ends the threads and the mappings: afterwards no page is left and nobody works on the cache. */
static void data_stop(void *argument)
{
    struct data *data = argument;
    struct list_node *pos, *tmp;
    background_stop(data);
    list_for_each_safe (pos, tmp, &data->cache->mappings)
        mglru_data_mapping_destroy(container_of(pos, struct mglru_mapping, link));
    background_drain(data);
}

static int create_cache(struct data *data, const struct mglru_data_options *options)
{
    struct mglru_cache_options cache_options = {.size = sizeof(cache_options),
                                                .model = options->model,
                                                .aging = options->aging,
                                                .page_bytes = options->frame_bytes,
                                                .kernel_charge = MGLRU_KERNEL_CHARGE_NONE,
                                                .start_batch = -1,
                                                .start_tables = -1};
    struct cache_shared shared = {.host = page_host(),
                                  .data = data,
                                  .cpus = options->cpus,
                                  .stop = data_stop,
                                  .fini = data_fini,
                                  .over_high = data->no_threads ? NULL : background_over_high,
                                  .relieve = background_relieve};
    int error = cache_create(&cache_options, &shared, &data->cache);
    return error;
}

int mglru_data_create(const struct mglru_data_options *given, struct mglru_cache **out)
{
    struct mglru_data_options options;
    *out = NULL;
    int error = read_options(given, &options);
    if (error)
        return error;
    struct data *data = aligned_alloc(64, (sizeof(*data) + 63) & ~(size_t)63);
    if (!data)
        return MGLRU_ENOMEM;
    memset(data, 0, sizeof(*data));
    init_data(data, &options);
    error = map_memory(data, &options);
    if (!error)
        error = create_cache(data, &options);
    if (error) {
        data_fini(data);
        return error;
    }
    error = background_start(data);
    if (error) {
        mglru_cache_destroy(data->cache);
        return error;
    }
    *out = data->cache;
    return MGLRU_OK;
}

/* --- mappings ------------------------------------------------------------------------------- */

int mglru_data_mapping_create(struct mglru_cache *cache, const char *name,
                              struct mglru_store *store, uint64_t size_bytes,
                              struct mglru_mapping **out)
{
    *out = NULL;
    if (!cache || !cache_is_shared(cache) || !name || size_bytes > MGLRU_STORE_BYTES_MAX)
        return MGLRU_EINVAL;
    struct data *data = cache_data(cache);
    if (store && ((size_t)1 << data->frame_shift) % mglru_store_caps(store)->align_bytes)
        return MGLRU_EINVAL;
    struct data_map *map = aligned_alloc(64, (sizeof(*map) + 63) & ~(size_t)63);
    if (!map)
        return MGLRU_ENOMEM;
    memset(map, 0, sizeof(*map));
    map->data = data;
    map->store = store;
    atomic_store_relaxed(&map->bytes, size_bytes);
    lock_spin_init(&map->lock, RANK_MAPPING);
    map->hole_first = 1; /* none: hole_last is 0 */
    lock_mutex_init(&map->sync, RANK_SYNC);
    list_init(&map->dirty_leaves);
    list_init(&map->sync_leaves);
    list_init(&map->unsynced_leaves);
    list_init(&map->dirty_map_link);
    struct cache_mapping_wish wish = {.name = name, .kind = MGLRU_FILE, .data = map};
    int error = cache_mapping_create(cache, &wish, &map->mapping);
    if (error) {
        free(map);
        return error;
    }
    *out = map->mapping;
    return MGLRU_OK;
}

static void free_map(struct rcu_later *later)
{
    struct data_map *map = container_of(later, struct data_map, later);
    free(map->mapping->name);
    free(map->mapping);
    free(map);
}

/* Takes all pages out. In the end only shadows are left. */
static void empty_map(struct data_map *map)
{
    page_cut(map, 0, UINT64_MAX >> map->data->frame_shift, false);
    flush_wait_users(map);
    flush_wait(map);
    background_drain(map->data); /* pages of it that waited there are free now */
    map_fini(map);
}

void mglru_data_mapping_destroy(struct mglru_mapping *mapping)
{
    if (!mapping || !mapping->data)
        return;
    struct data_map *map = mapping->data;
    struct mglru_cache *cache = mapping->cache;
    empty_map(map);
    cache_enter(cache);
    list_del(&mapping->link);
    cache->mapping_bytes -= sizeof(*mapping) + strlen(mapping->name) + 1;
    cache_leave(cache);
    rcu_free_later(&map->later, free_map);
}

uint64_t mglru_data_mapping_bytes(const struct mglru_mapping *mapping)
{
    const struct data_map *map = mapping_map(mapping);
    return map ? atomic_load_acquire(&map->bytes) : 0; /* pairs with dirty_set */
}
