/* SPDX-License-Identifier: MIT */
/*
 * The memory of the modelled machine (options.memory_bytes): what does not fit is made room for by
 * global reclaim, whichever memcg it belongs to. As in the kernel, kswapd begins below the low
 * watermark and ends 64 pages above the high one, and whoever needs a page below the least one
 * reclaims itself. Here kswapd does its work at once, in the call that woke it.
 * Facts: mglru-facts 2.9, 3.1, 5. Linux mm/page_alloc.c (__setup_per_zone_wmarks).
 *
 * Bound: 16 fruitless reclaims of one charge, then out of memory.
 */
#include "cache/cache.h"

#include "base/check.h"

/* The kernel's least watermark, in KiB: the root of 16 times the memory. */
#define WATERMARK_FACTOR 16
#define WATERMARK_MIN_KIB 128
#define WATERMARK_MAX_KIB (UINT64_C(256) << 10)

static uint64_t root_of(uint64_t n)
{
    uint64_t root = 0;
    for (uint64_t bit = UINT64_C(1) << 31; bit; bit >>= 1)
        if ((root + bit) * (root + bit) <= n)
            root += bit;
    return root;
}

void machine_init(struct machine *machine, uint64_t bytes, uint32_t page_bytes)
{
    uint64_t kib = root_of((bytes >> 10) * WATERMARK_FACTOR);
    if (kib < WATERMARK_MIN_KIB)
        kib = WATERMARK_MIN_KIB;
    if (kib > WATERMARK_MAX_KIB)
        kib = WATERMARK_MAX_KIB;
    machine->pages = (long)(bytes / page_bytes);
    machine->free_min = (long)((kib << 10) / page_bytes);
    machine->free_low = machine->free_min + machine->free_min / 4;
    machine->free_high = machine->free_min + machine->free_min / 2;
}

static long free_pages(const struct mglru_cache *cache)
{
    return cache->machine.pages - cache->machine.used;
}

/* Direct reclaim of a whole node: 0, MGLRU_EOOM, MGLRU_EINTR. */
static int reclaim_directly(struct mglru_cache *cache, long pages)
{
    unsigned retries = MAX_RECLAIM_RETRIES;
    while (free_pages(cache) - pages < cache->machine.free_min) {
        if (cache_stopped(cache))
            return MGLRU_EINTR;
        struct reclaim_request request = {.pages = (unsigned long)pages, .may_swap = true};
        if (reclaim_run(&cache->reclaim, &request))
            continue;
        /* The reserve below the least watermark is for those who have tried. */
        if (free_pages(cache) >= pages)
            return 0;
        if (retries-- == 0)
            return MGLRU_EOOM;
    }
    return 0;
}

int machine_make_room(struct mglru_cache *cache, unsigned pages, bool once)
{
    long left = free_pages(cache) - (long)pages;
    if (MGLRU_LIKELY(left >= cache->machine.free_low))
        return 0;
    reclaim_background(&cache->reclaim,
                       (unsigned long)(cache->machine.free_high + MIN_LRU_BATCH - left));
    int error = reclaim_directly(cache, (long)pages);
    if (error != MGLRU_EOOM)
        return error;
    if (once)
        return MGLRU_EAGAIN;
    cache_raise_oom(cache, cache->tree->root);
    return error;
}
