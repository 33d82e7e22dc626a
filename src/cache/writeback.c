/* SPDX-License-Identifier: MIT */
/*
 * Dirty file pages and the flusher: pages become dirty, wait in the leaves of their index, are
 * written, and are clean again. Caches without frames write nothing; what is kept is when.
 * Facts: mglru-facts 3.6, 12.5. Linux mm/page-writeback.c, fs/fs-writeback.c.
 *
 * States of a page: clean -> dirty (writeback_dirty) -> under writeback (writeback_start) -> clean
 * (writeback_finish); dirty again while under writeback is possible and writes it twice.
 * A write in flight ends between two priorities of a reclaim, or at the next access.
 */
#include "cache/cache.h"

#include <limits.h>

#include "base/check.h"

static unsigned long limit_pages(const struct memcg *memcg)
{
    long least = LONG_MAX;
    for (; memcg && !memcg_is_root(memcg); memcg = memcg->parent) {
        long max = atomic_load_relaxed(&memcg->memory.max);
        long high = atomic_load_relaxed(&memcg->memory.high);
        least = max < least ? max : least;
        least = high < least ? high : least;
    }
    return (unsigned long)least;
}

/* Rounded down, for any number of pages. */
static unsigned long percent_of(unsigned long pages, unsigned percent)
{
    return pages / 100 * percent + pages % 100 * percent / 100;
}

static struct mglru_memcg *folio_user(const struct folio *folio)
{
    return memcg_user(folio_lruvec(folio)->memcg);
}

void writeback_dirty(struct mglru_cache *cache, struct folio *folio, uint64_t page)
{
    struct mglru_memcg *user = folio_user(folio);
    struct index_leaf *leaf = index_leaf(&folio_mapping(folio)->index, page);
    leaf->dirty |= UINT64_C(1) << (page % INDEX_LEAF_PAGES);
    if (list_empty(&leaf->dirty_link)) {
        leaf->dirty_since_ns = atomic_load_relaxed(&cache->reclaim.now_ns);
        list_add_tail(&cache->dirty_leaves, &leaf->dirty_link);
    }
    if (folio_test(folio, FOLIO_DIRTY))
        return;
    folio_set(folio, FOLIO_DIRTY);
    user->dirty_pages += (unsigned long)folio_pages(folio);
    lruvec_stat(folio_lruvec(folio), MEMCG_FILE_DIRTY, folio_pages(folio));
    unsigned long limit = limit_pages(user->memcg);
    if (user->dirty_pages > percent_of(limit, DIRTY_BACKGROUND_PERCENT))
        writeback_start(cache, user->memcg, UINT64_MAX);
    if (user->dirty_pages > percent_of(limit, DIRTY_PERCENT))
        writeback_finish(cache); /* the writer waits */
}

static void clear_dirty(struct folio *folio)
{
    if (!folio_test(folio, FOLIO_DIRTY))
        return;
    folio_clear(folio, FOLIO_DIRTY);
    folio_user(folio)->dirty_pages -= (unsigned long)folio_pages(folio);
    lruvec_stat(folio_lruvec(folio), MEMCG_FILE_DIRTY, -folio_pages(folio));
}

static struct folio *leaf_folio(const struct index_leaf *leaf, unsigned offset)
{
    uint64_t *slot = leaf_slot(leaf, offset);
    return slot && slot_is_folio(*slot) ? slot_folio(*slot) : NULL;
}

/* Whether any page of @folio still waits for the flusher. */
static bool any_dirty(const struct folio *folio)
{
    struct page_index *index = &folio_mapping(folio)->index;
    uint64_t end = folio->index + (uint64_t)folio_pages(folio);
    for (uint64_t page = folio->index; page < end; page += INDEX_LEAF_PAGES)
        if (index_leaf(index, page)->dirty & folio_leaf_bits(folio, page))
            return true;
    return false;
}

/* Starts writing the dirty pages of one leaf that belong to @memcg's subtree. A folio that lies in
 * several leaves stays dirty until the last of them was started. */
static void start_leaf(struct mglru_cache *cache, struct index_leaf *leaf,
                       const struct memcg *memcg)
{
    uint64_t rest = leaf->dirty;
    while (rest) {
        unsigned offset = (unsigned)__builtin_ctzll(rest);
        uint64_t page = leaf->chunk * INDEX_LEAF_PAGES + offset;
        struct folio *folio = leaf_folio(leaf, offset);
        uint64_t bits = folio ? folio_leaf_bits(folio, page) : UINT64_C(1) << offset;
        rest &= ~bits;
        MGLRU_ASSERT(folio && folio_test(folio, FOLIO_DIRTY));
        if (!folio || !memcg_is_descendant(folio_lruvec(folio)->memcg, memcg) ||
            folio_test(folio, FOLIO_WRITEBACK))
            continue;
        folio_user(folio)->counts.pages_written +=
            (uint64_t)__builtin_popcountll(leaf->dirty & bits);
        leaf->writeback |= leaf->dirty & bits;
        leaf->dirty &= ~bits;
        if (!any_dirty(folio))
            clear_dirty(folio);
        folio_set(folio, FOLIO_WRITEBACK);
        lruvec_stat(folio_lruvec(folio), MEMCG_FILE_WRITEBACK, folio_pages(folio));
    }
    if (leaf->writeback && list_empty(&leaf->writeback_link))
        list_add_tail(&cache->writeback_leaves, &leaf->writeback_link);
    if (!leaf->dirty)
        list_del_init(&leaf->dirty_link);
}

void writeback_start(struct mglru_cache *cache, struct memcg *memcg, uint64_t older_than_ns)
{
    struct list_node *pos, *tmp;
    list_for_each_safe (pos, tmp, &cache->dirty_leaves) {
        struct index_leaf *leaf = container_of(pos, struct index_leaf, dirty_link);
        if (leaf->dirty_since_ns > older_than_ns)
            return; /* the list is in order of time */
        start_leaf(cache, leaf, memcg);
    }
}

static void finish_folio(struct folio *folio)
{
    folio_clear(folio, FOLIO_WRITEBACK);
    lruvec_stat(folio_lruvec(folio), MEMCG_FILE_WRITEBACK, -folio_pages(folio));
    if (!folio_test(folio, FOLIO_RECLAIM))
        return;
    folio_clear(folio, FOLIO_RECLAIM);
    folio_rotate_reclaimable(folio);
}

void writeback_finish(struct mglru_cache *cache)
{
    while (!list_empty(&cache->writeback_leaves)) {
        struct index_leaf *leaf =
            container_of(cache->writeback_leaves.next, struct index_leaf, writeback_link);
        list_del_init(&leaf->writeback_link);
        uint64_t pages = leaf->writeback;
        leaf->writeback = 0;
        for (; pages; pages &= pages - 1) {
            struct folio *folio = leaf_folio(leaf, (unsigned)__builtin_ctzll(pages));
            if (folio && folio_test(folio, FOLIO_WRITEBACK))
                finish_folio(folio);
        }
    }
}

void writeback_forget(struct mglru_cache *cache, struct folio *folio)
{
    if (folio_test(folio, FOLIO_ANON))
        return;
    clear_dirty(folio);
    if (folio_test(folio, FOLIO_WRITEBACK)) {
        folio_clear(folio, FOLIO_WRITEBACK);
        lruvec_stat(folio_lruvec(folio), MEMCG_FILE_WRITEBACK, -folio_pages(folio));
    }
    for (uint64_t i = 0; i < (uint64_t)folio_pages(folio); i++) {
        struct index_leaf *leaf = index_leaf(&folio_mapping(folio)->index, folio->index + i);
        uint64_t bit = UINT64_C(1) << ((folio->index + i) % INDEX_LEAF_PAGES);
        leaf->dirty &= ~bit;
        leaf->writeback &= ~bit;
        if (!leaf->dirty && !list_empty(&leaf->dirty_link))
            list_del_init(&leaf->dirty_link);
        if (!leaf->writeback && !list_empty(&leaf->writeback_link))
            list_del_init(&leaf->writeback_link);
    }
}
