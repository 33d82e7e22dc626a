/* SPDX-License-Identifier: MIT */
/*
 * Threads of a cache with frames: flushers, which write what is old or urgent, and one that
 * reclaims where a memcg is above memory.high or the arena runs short, so that callers need not.
 * A cache without threads does the same inside of its callers. The latter thread also brings the
 * counters up to date every 2 s; without it memory.stat lags by at most what makes a flush due.
 */
#include "data/data.h"

#include "memcg/charge.h"

/* A flusher looks at least this often (the kernel's dirty_writeback_centisecs is ten times it). */
#define FLUSH_LOOK_NS UINT64_C(500000000)
/* Frames that background reclaim keeps free: one of this many (chosen: as kswapd's watermarks). */
#define FREE_SHARE 64u
/* Turns of background reclaim for one memcg (chosen: then others get theirs). */
#define RECLAIM_TURNS 64u
/* Who finds nothing to reclaim waits for a write of others this long at a time, and no more often
 * than MAX_RECLAIM_RETRIES (chosen: a slow disk's answer). */
#define RELIEF_WAIT_NS UINT64_C(10000000)

void bell_ring(struct bell *bell)
{
    /* Release: pairs with bell_wait; who sleeps sees the new number or is woken. */
    atomic_add_acq_rel(&bell->rings, 1);
    if (atomic_load_seq_cst(&bell->sleepers)) /* pairs with bell_wait */
        os_wake(&bell->rings, true);
}

void bell_wait(struct bell *bell, uint32_t seen, uint64_t timeout_ns)
{
    atomic_add_seq_cst(&bell->sleepers, 1); /* pairs with bell_ring */
    if (atomic_load_acquire(&bell->rings) == seen)
        os_wait_for(&bell->rings, seen, timeout_ns);
    atomic_sub_seq_cst(&bell->sleepers, 1);
}

static void flusher(void *argument)
{
    struct data *data = argument;
    while (!atomic_load_acquire(&data->stop)) { /* pairs with background_stop */
        uint32_t seen = atomic_load_acquire(&data->flush_bell.rings);
        uint64_t now = os_clock_now_ns();
        bool urgent = atomic_exchange_relaxed(&data->urgent, false);
        uint64_t old = now > data->flush_after_ns ? now - data->flush_after_ns : 0;
        bool many =
            data_dirty_pages(data) > (uint64_t)data->frames * data->background_percent / 100;
        uint64_t written = flush_some(data, FLUSH_PAGES * 4, urgent || many ? UINT64_MAX : old);
        if (written)
            bell_ring(&data->clean_bell);
        else
            bell_wait(&data->flush_bell, seen, FLUSH_LOOK_NS);
    }
}

/* Brings the memcgs that are above memory.high down to it. */
static void reclaim_high(struct data *data)
{
    struct memcg *root = data->cache->tree->root, *memcg = NULL;
    while ((memcg = memcg_iter_next(root, memcg, NULL))) {
        struct reclaim_request request = {.target = memcg, .pages = SWAP_CLUSTER_MAX};
        for (unsigned i = 0; i < RECLAIM_TURNS && !memcg_is_root(memcg); i++) {
            long over =
                page_counter_read(&memcg->memory) - atomic_load_relaxed(&memcg->memory.high);
            if (over <= 0 || !reclaim_run(&data->cache->reclaim, &request))
                break;
        }
    }
}

static void reclaim_frames(struct data *data)
{
    struct arena_counts counts;
    arena_counts(data->arena, &counts);
    uint32_t keep = data->frames / FREE_SHARE;
    uint32_t free_frames = counts.limit > counts.used ? counts.limit - counts.used : 0;
    if (free_frames < keep)
        reclaim_background(&data->cache->reclaim, keep - free_frames);
}

static void reclaimer(void *argument)
{
    struct data *data = argument;
    uint64_t next_stat_flush_ns = CACHE_STAT_FLUSH_NS;
    while (!atomic_load_acquire(&data->stop)) { /* pairs with background_stop */
        uint32_t seen = atomic_load_acquire(&data->reclaim_bell.rings);
        uint64_t now = os_clock_now_ns() - data->start_ns;
        atomic_store_relaxed(&data->cache->reclaim.now_ns, now);
        if (now >= next_stat_flush_ns) {
            next_stat_flush_ns = now + CACHE_STAT_FLUSH_NS;
            cache_flush_stats(data->cache);
        }
        cpu_claim(data->cache->claims);
        reclaim_high(data);
        reclaim_frames(data);
        cpu_release(data->cache->claims);
        bell_wait(&data->reclaim_bell, seen, FLUSH_LOOK_NS);
    }
}

int background_start(struct data *data)
{
    if (data->no_threads)
        return MGLRU_OK;
    for (unsigned i = 0; i < data->flusher_count; i++)
        if (os_thread_start(flusher, data, &data->flushers[i]))
            return MGLRU_EAGAIN;
    return os_thread_start(reclaimer, data, &data->reclaimer) ? MGLRU_EAGAIN : MGLRU_OK;
}

void background_stop(struct data *data)
{
    /* Release: pairs with the loads of the threads. */
    atomic_store_release(&data->stop, true);
    bell_ring(&data->flush_bell);
    bell_ring(&data->reclaim_bell);
    for (unsigned i = 0; i < data->flusher_count; i++) {
        if (data->flushers[i])
            os_thread_join(data->flushers[i]);
        data->flushers[i] = NULL;
    }
    if (data->reclaimer)
        os_thread_join(data->reclaimer);
    data->reclaimer = NULL;
}

void background_over_high(void *argument, struct memcg *memcg)
{
    struct data *data = argument;
    bell_ring(&data->reclaim_bell);
}

bool background_drain(struct data *data)
{
    struct cpu_claims *claims = data->cache->claims;
    bool found = false;
    for (unsigned cpu = 0; cpu < cpu_claims_count(claims); cpu++) {
        found |= cpu_claim_number(claims, cpu);
        found |= reclaim_batch(&data->cache->reclaim)->adds > 0;
        lru_batch_drain(&data->cache->reclaim);
        cpu_release(claims);
    }
    return found;
}

/* Waits for the end of a write to a store that others have under way, if there is one. */
static bool wait_for_write(struct data *data)
{
    uint32_t seen = atomic_load_acquire(&data->write_bell.rings);
    if (!atomic_load_acquire(&data->writes)) /* pairs with end_run */
        return false;
    bell_wait(&data->write_bell, seen, RELIEF_WAIT_NS);
    return true;
}

/* When nobody has anything under way that may free a page, there is no relief. */
bool background_relieve(void *argument, struct memcg *memcg)
{
    struct data *data = argument;
    struct cpu_claims *claims = data->cache->claims;
    cpu_release(claims);
    bool helped =
        flush_some(data, FLUSH_PAGES, UINT64_MAX) || wait_for_write(data) || background_drain(data);
    cpu_claim(claims);
    return helped;
}
