/* SPDX-License-Identifier: MIT */
/*
 * Charging with reclaim: the loop around memcg_try_charge, memory.high, out of memory, and the
 * kernel's own metadata. Facts: mglru-facts 6.3, 6.4, 13. Linux mm/memcontrol.c (try_charge_memcg).
 *
 * Bounds: 16 fruitless reclaims and then out of memory; memory.high gives up after 16.
 */
#include "cache/cache.h"

#include "base/check.h"
#include "memcg/stock.h"

/* A charge of at most this many pages goes on for as long as reclaim finds anything. */
#define COSTLY_PAGES 8
/* Pages that the reclaims of one charge of a shared cache may look at in vain, beyond those of the
 * memcg (chosen: the 16 retries of a memcg of 64 pages, whose pages others may be using). */
#define VAIN_LOOKS 4096
/* A fixed kernel charge is taken in steps of this many pages (chosen: few calls, no huge one). */
#define FIXED_STEP_PAGES 1024

void cache_raise_oom(struct mglru_cache *cache, struct memcg *memcg)
{
    memcg_raise(memcg, MEMCG_EVENT_OOM);
    if (!cache_is_shared(cache)) /* in a cache with frames a call fails, or is served outside */
        memcg_raise(memcg, MEMCG_EVENT_OOM_KILL);
    if (cache->on_event) {
        struct mglru_event event = {.kind = MGLRU_EVENT_OOM, .memcg = memcg_user(memcg)};
        cache->on_event(cache->on_event_context, &event);
    }
}

uint64_t cache_pins(const struct mglru_memcg *user)
{
    uint64_t pins = 0;
    for (unsigned i = 0; i < USE_SLOTS && user->use_slots; i++)
        pins += atomic_load_relaxed(&user->use_slots[i].pins);
    /* One thread's unpin may be seen without another's pin. */
    return pins <= INT64_MAX ? pins : 0;
}

/* The id of the memcg in the subtree whose pages have most pins; 0: none has. */
static uint64_t find_pinner(struct memcg *root)
{
    struct memcg *memcg = NULL;
    uint64_t most = 0, id = 0;
    while ((memcg = memcg_iter_next(root, memcg, NULL))) {
        uint64_t pins = cache_pins(memcg_user(memcg));
        if (pins > most) {
            most = pins;
            id = atomic_load_relaxed(&memcg->id);
        }
    }
    return id;
}

void cache_note_verdict(struct mglru_memcg *user, struct memcg *over,
                        const struct reclaim_outcome *outcome)
{
    atomic_store_relaxed(&user->verdict[0], outcome->busy);
    atomic_store_relaxed(&user->verdict[1], outcome->dirty);
    atomic_store_relaxed(&user->verdict[2], outcome->protected);
    atomic_store_relaxed(&user->verdict[3], outcome->scanned);
    atomic_store_relaxed(&user->verdict[4], outcome->busy ? find_pinner(over) : 0);
}

/* @outcome may be NULL. */
static unsigned long reclaim_pages(struct mglru_cache *cache, struct memcg *memcg, long pages,
                                   struct reclaim_outcome *outcome)
{
    struct reclaim_request request = {.target = memcg,
                                      .pages = (unsigned long)(pages > 0 ? pages : 0),
                                      .may_swap = true,
                                      .outcome = outcome};
    return reclaim_run(&cache->reclaim, &request);
}

/* Over memory.high: reclaims what was charged, again while the excess would be throttled. */
static void handle_high(struct mglru_cache *cache, struct memcg *memcg, unsigned pages)
{
    unsigned retries = MAX_RECLAIM_RETRIES;
    unsigned long ask = pages;
    for (;;) {
        unsigned long reclaimed = 0;
        bool throttled = false;
        for (struct memcg *level = memcg; level && !memcg_is_root(level); level = level->parent) {
            long usage = page_counter_read(&level->memory);
            long high = atomic_load_relaxed(&level->memory.high);
            if (usage <= high)
                continue;
            memcg_raise(level, MEMCG_EVENT_HIGH);
            reclaimed += reclaim_pages(cache, level, (long)ask, NULL);
            usage = page_counter_read(&level->memory);
            /* The penalty of facts 6.3 exceeds 10 ms once 1.3 % is over. */
            throttled |= usage > high + high / 77;
        }
        if (!throttled || cache_stopped(cache))
            return;
        memcg_stat_add(memcg, cpu_current, 0, MEMCG_THROTTLED, 1);
        if (!reclaimed && retries-- == 0)
            return;
        ask = SWAP_CLUSTER_MAX;
    }
}

/* Nothing could be reclaimed: a shared cache may have dirty pages that can be written now. */
static bool relieve(struct mglru_cache *cache, struct memcg *memcg, unsigned *reliefs)
{
    return cache->shared.relieve && *reliefs < MAX_RECLAIM_RETRIES && ++*reliefs &&
           cache->shared.relieve(cache->shared.data, memcg);
}

/* handle_high where others charge at the same time: who is throttled works for itself, and no more
 * than SHARED_HIGH_ROUNDS times (chosen: 32 pages each, so four pages for one at the least). */
#define SHARED_HIGH_ROUNDS 4

static void handle_high_shared(struct mglru_cache *cache, struct memcg *memcg)
{
    struct reclaim_outcome outcome;
    unsigned reliefs = MAX_RECLAIM_RETRIES - 1; /* one is left */
    for (unsigned round = 0; round < SHARED_HIGH_ROUNDS; round++) {
        long over = page_counter_read(&memcg->memory) - atomic_load_relaxed(&memcg->memory.high);
        if (over <= 0 || cache_stopped(cache))
            return;
        memcg_raise(memcg, MEMCG_EVENT_HIGH);
        if (!reclaim_pages(cache, memcg, SWAP_CLUSTER_MAX, &outcome) &&
            !(outcome.dirty && relieve(cache, memcg, &reliefs)))
            return;
    }
}

/* Whether a shared cache has looked in vain at what a memcg has: it is in use or dirty, and more
 * tries would meet it again, at a cost that grows with the memcg. */
static bool looked_in_vain(const struct mglru_cache *cache, const struct memcg *memcg,
                           unsigned long looked)
{
    return cache_is_shared(cache) &&
           looked >= (unsigned long)page_counter_read(&memcg->memory) + VAIN_LOOKS;
}

/* Above memory.high. A shared cache leaves it to background reclaim while that keeps up. */
static bool left_to_background(struct mglru_cache *cache, struct memcg *memcg)
{
    if (!cache->shared.over_high)
        return false;
    cache->shared.over_high(cache->shared.data, memcg);
    long high = atomic_load_relaxed(&memcg->memory.high);
    return page_counter_read(&memcg->memory) <= high + high / 8;
}

/* @once: a reader-ahead gives up after one reclaim and a drain (the kernel's __GFP_NORETRY). */
static int charge(struct mglru_cache *cache, struct mglru_memcg *user, unsigned pages, bool once)
{
    struct memcg *memcg = user->memcg;
    struct memcg_verdict verdict;
    struct reclaim_outcome outcome;
    bool drained = false, raised = false;
    unsigned retries = MAX_RECLAIM_RETRIES, reliefs = 0;
    unsigned long looked = 0;
    int error = cache->machine.pages ? machine_make_room(cache, pages, once) : 0;
    if (error)
        return error;
    if (MGLRU_LIKELY(memcg_try_charge(memcg, cpu_current, pages, &verdict) == 0))
        goto charged;
    for (;;) {
        struct memcg *over = verdict.over;
        if (cache_stopped(cache))
            return MGLRU_EINTR;
        raised = memcg_charge_refused(&verdict, raised, true);
        uint64_t work = atomic_load_relaxed(&cache->reclaim.work);
        unsigned long reclaimed = reclaim_pages(cache, over, pages, &outcome);
        if (!reclaimed && !once && outcome.dirty && relieve(cache, over, &reliefs))
            continue; /* sixteen retries would meet the same dirty pages */
        looked = reclaimed ? 0 : looked + outcome.looked;
        /* Nothing was looked at, or all: further tries would find the same (T3, T10). */
        bool hopeless = !reclaimed && (work == atomic_load_relaxed(&cache->reclaim.work) ||
                                       looked_in_vain(cache, over, looked));
        if (memcg_margin(over) < (long)pages) {
            bool first = !drained;
            if (first)
                memcg_stock_drain_all(over, cpu_current);
            drained = true;
            bool over_still = memcg_margin(over) < (long)pages;
            bool exhausted = !first && !(reclaimed && pages <= COSTLY_PAGES) && retries-- == 0;
            if (over_still && (hopeless || exhausted || (once && !first))) {
                if (once)
                    return MGLRU_EAGAIN;
                if (relieve(cache, over, &reliefs)) {
                    retries = MAX_RECLAIM_RETRIES;
                    looked = 0;
                    continue;
                }
                cache_note_verdict(user, over, &outcome);
                cache_raise_oom(cache, over);
                return MGLRU_EOOM;
            }
        }
        if (memcg_try_charge(memcg, cpu_current, pages, &verdict) == 0)
            break;
    }
charged:
    if (MGLRU_LIKELY(!verdict.high) || left_to_background(cache, verdict.high))
        return 0;
    if (cache_is_shared(cache)) {
        if (!once)
            handle_high_shared(cache, verdict.high);
    } else {
        handle_high(cache, memcg, verdict.batch ? verdict.batch : pages);
    }
    return 0;
}

int cache_charge(struct mglru_cache *cache, struct mglru_memcg *user, unsigned pages)
{
    return charge(cache, user, pages, false);
}

int cache_charge_once(struct mglru_cache *cache, struct mglru_memcg *user, unsigned pages)
{
    return charge(cache, user, pages, true);
}

/* --- kernel metadata ------------------------------------------------------------------------ */

int cache_charge_kernel(struct mglru_cache *cache, struct mglru_memcg *user, long bytes)
{
    if (cache->kernel_charge != MGLRU_KERNEL_CHARGE_AUTO)
        return 0;
    int64_t total = user->kernel_bytes + bytes;
    long pages = (long)((total + cache->page_bytes - 1) / cache->page_bytes);
    while (user->kernel_pages < pages) {
        int error = cache_charge(cache, user, 1);
        if (error)
            return error;
        user->kernel_pages++;
        memcg_stat_add(user->memcg, cpu_current, 0, MEMCG_KERNEL, 1);
    }
    user->kernel_bytes += bytes;
    /* A rest below a page stays in the byte stock until it is a page. Reclaim may have freed some
     * objects meanwhile. */
    pages = (long)((user->kernel_bytes + cache->page_bytes - 1) / cache->page_bytes);
    while (user->kernel_pages > pages + 1) {
        memcg_uncharge(user->memcg, 1);
        user->kernel_pages--;
        memcg_stat_add(user->memcg, cpu_current, 0, MEMCG_KERNEL, -1);
    }
    user->slab_lag += bytes;
    if (user->slab_lag > KERNEL_SLAB_LAG_BYTES || user->slab_lag < -KERNEL_SLAB_LAG_BYTES) {
        memcg_stat_add(user->memcg, cpu_current, 0, MEMCG_SLAB_RECLAIMABLE, user->slab_lag);
        user->slab_lag = 0;
    }
    return 0;
}

int cache_charge_tables(struct mglru_cache *cache, struct mglru_memcg *user, unsigned pages)
{
    if (cache->kernel_charge != MGLRU_KERNEL_CHARGE_AUTO)
        return 0;
    int error = cache_charge(cache, user, pages);
    if (error)
        return error;
    user->table_pages += pages;
    memcg_stat_add(user->memcg, cpu_current, 0, MEMCG_KERNEL, (long)pages);
    memcg_stat_add(user->memcg, cpu_current, 0, MEMCG_PAGETABLES, (long)pages);
    return 0;
}

void cache_uncharge_tables(struct mglru_cache *cache, struct mglru_memcg *user, unsigned pages)
{
    if (cache->kernel_charge != MGLRU_KERNEL_CHARGE_AUTO)
        return;
    user->table_pages -= pages;
    memcg_stat_add(user->memcg, cpu_current, 0, MEMCG_KERNEL, -(long)pages);
    memcg_stat_add(user->memcg, cpu_current, 0, MEMCG_PAGETABLES, -(long)pages);
    memcg_uncharge(user->memcg, pages);
}

int cache_memcg_runs(struct mglru_cache *cache, struct mglru_memcg *user,
                     enum mglru_access_kind first)
{
    lru_batch_add_others(&cache->reclaim, cache->start_batch);
    if (cache->kernel_charge == MGLRU_KERNEL_CHARGE_FIXED) {
        long pages = (long)(cache->kernel_charge_bytes / cache->page_bytes +
                            (cache->kernel_charge_bytes % cache->page_bytes != 0));
        while (user->fixed_pages < pages && !memcg_is_root(user->memcg)) {
            long left = pages - user->fixed_pages;
            unsigned step = left < FIXED_STEP_PAGES ? (unsigned)left : FIXED_STEP_PAGES;
            int error = cache_charge(cache, user, step);
            if (error)
                return error;
            user->fixed_pages += step;
            memcg_stat_add(user->memcg, cpu_current, 0, MEMCG_KERNEL, step);
        }
    }
    bool maps = first == MGLRU_MAP_READ || first == MGLRU_MAP_WRITE || first == MGLRU_MAP_EXEC;
    int error =
        cache->start_tables && !maps ? cache_charge_tables(cache, user, cache->start_tables) : 0;
    user->ran = !error; /* a process that could not start tries again */
    return error;
}

/* --- limits that were written (6.4) --------------------------------------------------------- */

/* Reclaims until the usage of @memcg is down to @limit, which a reclaim may see change, or until
 * somebody wants it to stop. False: 16 tries more found nothing. */
static bool reclaim_down_to(struct mglru_cache *cache, struct memcg *memcg,
                            const _Atomic long *limit)
{
    struct reclaim_outcome outcome;
    unsigned retries = MAX_RECLAIM_RETRIES, reliefs = 0;
    bool drained = false;
    for (;;) {
        long over = page_counter_read(&memcg->memory) - atomic_load_relaxed(limit);
        if (over <= 0 || cache_stopped(cache))
            return true;
        if (!drained) {
            memcg_stock_drain_all(memcg, cpu_current);
            drained = true;
            continue;
        }
        if (reclaim_pages(cache, memcg, over, &outcome) || retries-- > 0)
            continue;
        if (!relieve(cache, memcg, &reliefs)) {
            cache_note_verdict(memcg_user(memcg), memcg, &outcome);
            return false;
        }
        retries = MAX_RECLAIM_RETRIES;
    }
}

void cache_enforce_max(struct mglru_cache *cache, struct memcg *memcg)
{
    if (!reclaim_down_to(cache, memcg, &memcg->memory.max))
        cache_raise_oom(cache, memcg);
}

void cache_enforce_high(struct mglru_cache *cache, struct memcg *memcg)
{
    reclaim_down_to(cache, memcg, &memcg->memory.high);
}
