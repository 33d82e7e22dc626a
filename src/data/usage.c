/* SPDX-License-Identifier: MIT */
/* What the pages of a memcg are used for, and why none could be taken. Nothing here looks at a
 * page: counters of the memcgs alone are added. */
#include "data/data.h"

static uint64_t sum_of(struct memcg *memcg, enum memcg_stat_item item)
{
    long pages = memcg_stat_exact(memcg, MEMCG_ALL_NODES, item);
    return pages > 0 ? (uint64_t)pages : 0; /* one CPU's share may be seen before another's */
}

void mglru_memcg_usage(const struct mglru_memcg *user, struct mglru_usage *usage)
{
    struct memcg *root = user->memcg, *memcg = NULL;
    *usage = (struct mglru_usage){0};
    if (!cache_is_shared(user->cache))
        return;
    cache_enter(user->cache);
    usage->resident = sum_of(root, MEMCG_NR_FILE);
    usage->dirty = sum_of(root, MEMCG_FILE_DIRTY) + sum_of(root, MEMCG_FILE_WRITEBACK);
    usage->working_set = sum_of(root, MEMCG_ACTIVE_FILE);
    while ((memcg = memcg_iter_next(root, memcg, NULL))) {
        usage->pinned += cache_pins(memcg_user(memcg));
        usage->outside += atomic_load_relaxed(&memcg_user(memcg)->outside);
    }
    cache_leave(user->cache);
    uint64_t kept = usage->dirty + usage->pinned;
    usage->reclaimable = usage->resident > kept ? usage->resident - kept : 0;
}

void mglru_memcg_verdict(const struct mglru_memcg *user, struct mglru_verdict *verdict)
{
    verdict->pinned = atomic_load_relaxed(&user->verdict[0]);
    verdict->dirty = atomic_load_relaxed(&user->verdict[1]);
    verdict->protected_ = atomic_load_relaxed(&user->verdict[2]);
    verdict->scanned = atomic_load_relaxed(&user->verdict[3]);
    verdict->pinner = atomic_load_relaxed(&user->verdict[4]);
}
