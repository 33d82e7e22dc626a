/* SPDX-License-Identifier: MIT */
/*
 * The public cache: creation, the access loop, the clock. Memcgs and mappings are in handles.c.
 * Locks: none; one thread at a time (<mglru/cache.h>).
 */
#include "cache/cache.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"

/* Default flush of the counters that the classic LRU decides by (facts 12.9). */
#define STAT_FLUSH_ACCESSES UINT64_C(20000)
/* Largest fixed kernel charge (chosen: more than any machine has, and charged in no time). */
#define KERNEL_CHARGE_MAX (UINT64_C(1) << 44)

#define PAGE_BYTES_MAX ((uint32_t)64 << 10)
#define FRAME_BYTES_MAX ((uint32_t)2 << 20) /* of shared caches: one huge page */
/* Memory of a machine: four times its least watermarks, and what no machine has. Chosen. */
#define MACHINE_BYTES_MIN (UINT64_C(1) << 20)
#define MACHINE_BYTES_MAX (UINT64_C(1) << 52)

static const struct memcg_params *params_for(const struct reclaim_model *model)
{
    if (model == &model_612)
        return &memcg_params_612;
    return model == &model_ours ? &memcg_params_ours : &memcg_params_73;
}

static int parse_aging(const struct mglru_cache_options *options, const struct reclaim_model *model,
                       unsigned *aging)
{
    static const char *const names[] = {"per-folio", "batched", "splice"};
    *aging = model->aging;
    if (!options->aging)
        return 0;
    for (unsigned i = 0; i < MGLRU_ARRAY_LEN(names); i++) {
        if (strcmp(options->aging, names[i]) != 0)
            continue;
        *aging = i;
        return i == AGING_SPLICE && !model->absolute_seq ? MGLRU_ENOTSUP : 0;
    }
    return MGLRU_EINVAL;
}

/* Copies what the caller's struct has; a caller built against a shorter one gets defaults. */
static int read_options(const struct mglru_cache_options *given, uint32_t largest_page,
                        struct mglru_cache_options *out)
{
    *out = (struct mglru_cache_options){.size = sizeof(*out)};
    if (given && given->size < offsetof(struct mglru_cache_options, classic))
        return MGLRU_EINVAL;
    if (given)
        memcpy(out, given, given->size < sizeof(*out) ? given->size : sizeof(*out));
    if (!out->page_bytes)
        out->page_bytes = 4096;
    if (!out->nodes)
        out->nodes = 1;
    bool page_ok = out->page_bytes >= 4096 && out->page_bytes <= largest_page &&
                   !(out->page_bytes & (out->page_bytes - 1));
    bool enums_ok = out->kernel_charge <= MGLRU_KERNEL_CHARGE_FIXED &&
                    out->stat_flush <= MGLRU_STAT_FLUSH_ALWAYS;
    bool numbers_ok = out->nodes <= RECLAIM_MAX_NODES && out->readahead_bytes <= UINT32_MAX &&
                      out->kernel_charge_bytes <= KERNEL_CHARGE_MAX && out->start_batch >= -1 &&
                      out->start_batch < LRU_ADD_BATCH && out->start_tables >= -1;
    bool memory_ok = !out->memory_bytes || (out->memory_bytes >= MACHINE_BYTES_MIN &&
                                            out->memory_bytes <= MACHINE_BYTES_MAX);
    return page_ok && enums_ok && numbers_ok && memory_ok ? 0 : MGLRU_EINVAL;
}

static void free_user(struct mglru_memcg *user)
{
    if (user)
        free(user->use_slots);
    free(user);
}

static void release_memcg(struct memcg *memcg, void *context)
{
    lruvec_detach(memcg);
    free_user(memcg->user);
    memcg->user = NULL;
}

/* A memcg of a shared cache is whole before other threads see it. */
static int attach_shared(struct memcg *memcg, void *context)
{
    struct mglru_cache *cache = context;
    int error = lruvec_attach(&cache->reclaim, memcg);
    if (error)
        return error;
    error = cache_memcg_attach(cache, memcg);
    if (error)
        lruvec_detach(memcg);
    return error;
}

int cache_memcg_attach(struct mglru_cache *cache, struct memcg *memcg)
{
    struct mglru_memcg *user = aligned_alloc(64, sizeof(*user));
    if (!user)
        return MGLRU_ENOMEM;
    memset(user, 0, sizeof(*user));
    if (cache_is_shared(cache)) {
        size_t bytes = USE_SLOTS * sizeof(*user->use_slots);
        user->use_slots = aligned_alloc(64, bytes);
        if (!user->use_slots) {
            free(user);
            return MGLRU_ENOMEM;
        }
        memset(user->use_slots, 0, bytes);
    }
    user->cache = cache;
    user->memcg = memcg;
    list_init(&user->shadow_leaves);
    list_init(&user->files);
    memcg->user = user;
    return 0;
}

static void init_cache(struct mglru_cache *cache, const struct mglru_cache_options *options)
{
    cache->page_bytes = options->page_bytes;
    cache->kernel_charge = options->kernel_charge;
    cache->kernel_charge_bytes = options->kernel_charge_bytes;
    cache->stat_flush = options->stat_flush;
    cache->stat_flush_period = options->stat_flush_period;
    cache->readahead_pages = (uint32_t)(options->readahead_bytes / options->page_bytes);
    cache->start_batch = options->start_batch < 0   ? 0
                         : options->start_batch > 0 ? (unsigned)options->start_batch
                                                    : PROCESS_START_BATCH;
    cache->start_tables = options->start_tables < 0   ? 0
                          : options->start_tables > 0 ? (unsigned)options->start_tables
                                                      : PROCESS_START_TABLES;
    cache->on_event = options->on_event;
    cache->on_event_context = options->on_event_context;
    if (options->memory_bytes)
        machine_init(&cache->machine, options->memory_bytes, options->page_bytes);
    index_pool_init(&cache->index_pool);
    slab_init(&cache->folios, sizeof(struct folio));
    list_init(&cache->mappings);
    list_init(&cache->files);
    list_init(&cache->dirty_leaves);
    list_init(&cache->writeback_leaves);
    cache->next_dirty_look_ns = DIRTY_INTERVAL_NS;
    bool by_time = cache->stat_flush == MGLRU_STAT_FLUSH_TIME;
    if (!cache->stat_flush_period)
        cache->stat_flush_period = by_time ? CACHE_STAT_FLUSH_NS : STAT_FLUSH_ACCESSES;
    cache->next_flush = cache->stat_flush_period;

    cache->reclaim.host = cache_reclaim_host();
    cache->reclaim.host_context = cache;
    cache->reclaim.nodes = options->nodes;
    cache->reclaim.page_bytes = options->page_bytes;
    cache->reclaim.swap_pages = options->swap_bytes / options->page_bytes;
    cache->reclaim.stat_always = options->stat_flush == MGLRU_STAT_FLUSH_ALWAYS;
    atomic_store_relaxed(&cache->reclaim.enabled, !options->classic);
    cache->reclaim.mm_walk = !options->classic;
    cache->reclaim.nonleaf = !options->classic;
}

/* What a shared cache has besides. */
static int init_shared(struct mglru_cache *cache, const struct cache_shared *shared)
{
    cache->shared = *shared;
    int error = cpu_claims_create(shared->cpus, &cache->claims);
    if (error)
        return error;
    lock_mutex_init(&cache->control, RANK_CONTROL);
    cache->reclaim.host = shared->host;
    cache->reclaim.host_context = shared->data;
    cache->reclaim.shared = true;
    cache->params.reparents = false; /* see reclaim_offline */
    size_t bytes = shared->cpus * sizeof(struct lru_batch);
    cache->reclaim.batches = aligned_alloc(64, bytes);
    if (!cache->reclaim.batches)
        return MGLRU_ENOMEM;
    memset(cache->reclaim.batches, 0, bytes);
    return 0;
}

/* A shared cache: its control lock and a CPU number, for what control calls count and charge. */
void cache_enter(struct mglru_cache *cache) MGLRU_NO_LOCK_ANALYSIS
{
    if (!cache_is_shared(cache))
        return;
    lock_mutex_acquire(&cache->control);
    cpu_claim(cache->claims);
}

void cache_leave(struct mglru_cache *cache) MGLRU_NO_LOCK_ANALYSIS
{
    if (!cache_is_shared(cache))
        return;
    cpu_release(cache->claims);
    lock_mutex_release(&cache->control);
}

int mglru_cache_create(const struct mglru_cache_options *options, struct mglru_cache **out)
{
    return cache_create(options, NULL, out);
}

int cache_create(const struct mglru_cache_options *given, const struct cache_shared *shared,
                 struct mglru_cache **out)
{
    struct mglru_cache_options options;
    *out = NULL;
    int error = read_options(given, shared ? FRAME_BYTES_MAX : PAGE_BYTES_MAX, &options);
    if (error)
        return error;
    const struct reclaim_model *model = model_find(options.model ? options.model : "ours");
    unsigned aging;
    if (!model)
        return MGLRU_EINVAL;
    error = parse_aging(&options, model, &aging);
    if (error)
        return error;
    struct mglru_cache *cache = calloc(1, sizeof(*cache));
    if (!cache)
        return MGLRU_ENOMEM;
    if (options.container && !(cache->container = strdup(options.container))) {
        free(cache);
        return MGLRU_ENOMEM;
    }
    cache->model = model;
    cache->reclaim.model = model;
    cache->reclaim.aging = aging;
    init_cache(cache, &options);
    cache->params = *params_for(model);
    error = shared ? init_shared(cache, shared) : 0;
    struct memcg_tree_options tree_options = {.cpus = shared ? shared->cpus : 1,
                                              .nodes = options.nodes,
                                              .params = &cache->params,
                                              .attach = shared ? attach_shared : NULL,
                                              .release = release_memcg,
                                              .release_context = cache};
    if (!error)
        error = memcg_tree_create(&tree_options, &cache->tree);
    if (!error) {
        cache->reclaim.tree = cache->tree;
        error = reclaim_init(&cache->reclaim);
    }
    if (!error)
        error = cache_memcg_attach(cache, cache->tree->root);
    if (error) {
        cache->shared.fini = NULL; /* data/ frees what it has made */
        cache->shared.stop = NULL;
        mglru_cache_destroy(cache);
        return error;
    }
    *out = cache;
    return 0;
}

void mglru_cache_destroy(struct mglru_cache *cache)
{
    if (!cache)
        return;
    struct list_node *pos, *tmp;
    MGLRU_CHECK(!atomic_load_relaxed(&cache->controls)); /* mglru_control_close first */
    if (cache->shared.stop)
        cache->shared.stop(cache->shared.data);
    /* Folios and leaves go with their pools; page tables point into them and go first. */
    list_for_each_safe (pos, tmp, &cache->files) {
        struct mglru_file *file = container_of(pos, struct mglru_file, cache_link);
        free(file);
    }
    if (cache->tree) {
        struct memcg *root = cache->tree->root;
        for (struct memcg *memcg = root; memcg; memcg = memcg_next(root, memcg))
            if (memcg->reclaim)
                mm_discard_all(memcg);
        memcg_tree_destroy(cache->tree);
    }
    list_for_each_safe (pos, tmp, &cache->mappings) {
        struct mglru_mapping *mapping = container_of(pos, struct mglru_mapping, link);
        index_fini(&mapping->index);
        free(mapping->name);
        free(mapping);
    }
    index_pool_fini(&cache->index_pool);
    slab_fini(&cache->folios);
    if (cache->shared.fini)
        cache->shared.fini(cache->shared.data);
    cpu_claims_destroy(cache->claims);
    free(cache->reclaim.batches);
    free(cache->container);
    free(cache);
}

/* --- clock and statistics flush ------------------------------------------------------------- */

void cache_flush_stats(struct mglru_cache *cache)
{
    memcg_stat_flush(cache->tree->root);
}

/* The sum, or what stands for never. */
static uint64_t add_time(uint64_t a, uint64_t b)
{
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

void mglru_cache_set_time(struct mglru_cache *cache, uint64_t now_ns)
{
    /* A shared cache has the machine's clock. */
    if (cache_is_shared(cache) || now_ns <= atomic_load_relaxed(&cache->reclaim.now_ns))
        return;
    writeback_finish(cache);
    atomic_store_relaxed(&cache->reclaim.now_ns, now_ns);
    if (now_ns >= cache->next_dirty_look_ns) {
        cache->next_dirty_look_ns = add_time(now_ns, DIRTY_INTERVAL_NS);
        if (now_ns >= DIRTY_EXPIRE_NS)
            writeback_start(cache, cache->tree->root, now_ns - DIRTY_EXPIRE_NS);
    }
    if (cache->stat_flush == MGLRU_STAT_FLUSH_AUTO && !cache->clock_moved) {
        cache->clock_moved = true;
        cache->stat_flush_period = CACHE_STAT_FLUSH_NS;
        cache->next_flush = CACHE_STAT_FLUSH_NS;
    }
    if ((cache->stat_flush == MGLRU_STAT_FLUSH_TIME || cache->clock_moved) &&
        now_ns >= cache->next_flush) {
        uint64_t period = cache->stat_flush_period;
        cache->next_flush = add_time(now_ns / period * period, period);
        cache_flush_stats(cache);
    }
}

static void count_for_flush(struct mglru_cache *cache, uint64_t pages)
{
    cache->accesses += pages;
    if (cache->stat_flush == MGLRU_STAT_FLUSH_TIME ||
        cache->stat_flush == MGLRU_STAT_FLUSH_ALWAYS || cache->clock_moved)
        return;
    if (cache->accesses >= cache->next_flush) {
        cache->next_flush = add_time(cache->accesses, cache->stat_flush_period);
        cache_flush_stats(cache);
    }
}

void mglru_cache_stop(struct mglru_cache *cache, bool stop)
{
    atomic_store_relaxed(&cache->stopped, stop);
}

/* --- accesses ------------------------------------------------------------------------------- */

static bool kind_fits(const struct mglru_access *access)
{
    bool anon = access->file->mapping->kind == MGLRU_ANON;
    return anon ? access->kind == MGLRU_TOUCH
                : access->kind >= MGLRU_READ && access->kind <= MGLRU_MAP_EXEC;
}

static int access_page(struct mglru_cache *cache, const struct mglru_access *access, uint32_t i)
{
    uint64_t page = access->index + i;
    switch (access->kind) {
    case MGLRU_READ:
        return cache_read_page(cache, access, i);
    case MGLRU_WRITE:
        return cache_write_page(cache, access->file, page);
    case MGLRU_MAP_READ:
    case MGLRU_MAP_WRITE:
    case MGLRU_MAP_EXEC:
        return cache_map_page(cache, access->file, page, access->kind);
    case MGLRU_TOUCH:
        return cache_touch_page(cache, access->file, page);
    }
    return MGLRU_EINVAL;
}

/* Pages of one access between two looks at the stop wish: a millisecond of hits. Chosen. */
#define STOP_LOOK_PAGES 4096

static void log_miss(struct mglru_miss_log *log, bool missed)
{
    uint64_t at = log->next++;
    uint8_t bit = (uint8_t)(1u << (at % 8));
    if (missed)
        log->bits[at / 8] |= bit;
    else
        log->bits[at / 8] &= (uint8_t)~bit;
}

static int access_one(struct mglru_cache *cache, const struct mglru_access *access,
                      struct mglru_miss_log *log)
{
    struct mglru_memcg *user = access->file->memcg;
    struct mglru_counts *counts = &user->counts;
    if (user->mm)
        user->mm->ran = true;
    for (uint32_t i = 0; i < access->count; i++) {
        if (i % STOP_LOOK_PAGES == 0 && cache_stopped(cache))
            return MGLRU_EINTR;
        count_for_flush(cache, 1);
        uint64_t touches = counts->first_touches;
        int result = access_page(cache, access, i);
        if (MGLRU_UNLIKELY(result < 0))
            return result;
        counts->accesses++;
        bool missed = result > 0;
        if (missed)
            counts->misses++;
        else if (counts->first_touches == touches)
            counts->hits++;
        if (log)
            log_miss(log, missed);
    }
    return 0;
}

/* Distances of the steps of index_prefetch; chosen by bench_engine, flat around these. */
#define PREFETCH_ENTRY 24
#define PREFETCH_LEAF 18
#define PREFETCH_SLOT 12
#define PREFETCH_FOLIO 6

/* Below this much metadata the caches of the processor have it anyway. */
#define PREFETCH_BYTES (UINT64_C(16) << 20)

static void prefetch_ahead(const struct mglru_access *accesses, size_t i, size_t count)
{
    static const unsigned distances[] = {PREFETCH_ENTRY, PREFETCH_LEAF, PREFETCH_SLOT,
                                         PREFETCH_FOLIO};
    for (unsigned step = 0; step < MGLRU_ARRAY_LEN(distances); step++) {
        size_t at = i + distances[step];
        if (at < count)
            index_prefetch(&accesses[at].file->mapping->index, accesses[at].index, step);
    }
}

int mglru_cache_access(struct mglru_cache *cache, const struct mglru_access *accesses, size_t count,
                       struct mglru_miss_log *log, size_t *done)
{
    *done = 0;
    if (cache_is_shared(cache))
        return MGLRU_EINVAL; /* that is what mglru_read and its like are for */
    bool large = cache->folios.bytes + index_pool_bytes(&cache->index_pool) > PREFETCH_BYTES;
    for (size_t i = 0; i < count; i++) {
        const struct mglru_access *access = &accesses[i];
        if (large)
            prefetch_ahead(accesses, i, count);
        if (!access->count || access->index > MGLRU_INDEX_MAX ||
            access->count - 1 > MGLRU_INDEX_MAX - access->index || !kind_fits(access))
            return MGLRU_EINVAL;
        if (MGLRU_UNLIKELY(!list_empty(&cache->writeback_leaves)))
            writeback_finish(cache);
        int error = 0;
        if (MGLRU_UNLIKELY(!access->file->memcg->ran))
            error = cache_memcg_runs(cache, access->file->memcg, access->kind);
        if (!error)
            error = access_one(cache, access, log);
        if (error)
            return error;
        *done = i + 1;
    }
    return 0;
}

/* --- reports -------------------------------------------------------------------------------- */

/* Counts of a memcg of a shared cache, as of some moment during the call. */
static void sum_slots(const struct mglru_memcg *user, struct mglru_counts *out)
{
    *out = (struct mglru_counts){0};
    for (unsigned i = 0; i < USE_SLOTS; i++) {
        out->hits += atomic_load_relaxed(&user->use_slots[i].hits);
        out->misses += atomic_load_relaxed(&user->use_slots[i].misses);
        out->pages_read += atomic_load_relaxed(&user->use_slots[i].pages_read);
    }
    out->accesses = out->hits + out->misses;
}

static void own_counts(const struct mglru_memcg *user, struct mglru_counts *out)
{
    if (user->use_slots)
        sum_slots(user, out);
    else
        *out = user->counts;
}

static void add_counts(struct mglru_counts *sum, const struct mglru_counts *counts)
{
    sum->accesses += counts->accesses;
    sum->hits += counts->hits;
    sum->misses += counts->misses;
    sum->first_touches += counts->first_touches;
    sum->pages_read += counts->pages_read;
    sum->readahead_pages += counts->readahead_pages;
    sum->readahead_wasted += counts->readahead_wasted;
    sum->pages_written += counts->pages_written;
    sum->write_misses += counts->write_misses;
}

void cache_memcg_counts(const struct mglru_memcg *user, struct mglru_counts *out)
{
    struct memcg *root = user->memcg, *memcg = NULL;
    own_counts(user, out);
    /* With references: a dying memcg goes with its last page, whoever takes that. */
    while ((memcg = memcg_iter_next(root, memcg, NULL))) {
        struct mglru_counts counts;
        if (memcg == root)
            continue;
        own_counts(memcg_user(memcg), &counts);
        add_counts(out, &counts);
    }
}

void mglru_memcg_counts(const struct mglru_memcg *user, bool recursive, struct mglru_counts *out)
{
    if (!recursive) {
        own_counts(user, out);
        return;
    }
    cache_enter(user->cache);
    cache_memcg_counts(user, out);
    cache_leave(user->cache);
}

uint64_t mglru_cache_metadata_bytes(const struct mglru_cache *cache)
{
    struct mglru_cache *entered = (struct mglru_cache *)(uintptr_t)cache; /* to look at it only */
    cache_enter(entered);
    uint64_t bytes = sizeof(*cache) + cache->folios.bytes + index_pool_bytes(&cache->index_pool) +
                     cache->mapping_bytes + mm_bytes(&cache->reclaim);
    cache_leave(entered);
    return bytes;
}
