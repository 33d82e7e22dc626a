/* SPDX-License-Identifier: MIT */
/*
 * Folios of a cache: birth, place in the mapping, death, and what the owner does for reclaim.
 * Facts: mglru-facts 4, 13. Linux mm/filemap.c, mm/vmscan.c (__remove_mapping).
 */
#include "cache/cache.h"

#include <limits.h>

#include "base/check.h"

/* All pages are of one zone: replay knows no physical addresses. */
#define FOLIO_ZONE UINT64_C(2)

static struct folio *folio_alloc(struct mglru_cache *cache, struct mglru_file *file, uint64_t index,
                                 unsigned order)
{
    struct folio *folio = slab_alloc(&cache->folios);
    if (!folio)
        return NULL;
    bool anon = file->mapping->kind == MGLRU_ANON;
    unsigned node = 0;
    *folio = (struct folio){
        .flags = FOLIO_ZONE << FOLIO_ZONE_SHIFT | (uint64_t)order << FOLIO_ORDER_SHIFT |
                 (anon ? FOLIO_ANON | FOLIO_SWAPBACKED : 0),
        .lruvec = memcg_lruvec(file->memcg->memcg, node),
        .mapping = &file->mapping->base,
        .index = index,
    };
    return folio;
}

static void count_folio(struct folio *folio, long sign)
{
    lruvec_stat(folio->lruvec, folio_test(folio, FOLIO_ANON) ? MEMCG_NR_ANON : MEMCG_NR_FILE,
                sign * folio_pages(folio));
}

void cache_folio_free(struct mglru_cache *cache, struct folio *folio)
{
    struct memcg *memcg = folio->lruvec->memcg;
    unsigned pages = (unsigned)folio_pages(folio);
    slab_free(&cache->folios, folio);
    memcg_uncharge(memcg, pages);
}

/* --- leaves --------------------------------------------------------------------------------- */

static void leave_shadow_list(struct index_leaf *leaf)
{
    if (list_empty(&leaf->shadow_link))
        return;
    list_del_init(&leaf->shadow_link);
    memcg_user(leaf->charged)->shadow_leaf_count--;
}

void cache_leaf_free(struct mglru_cache *cache, struct index_leaf *leaf)
{
    struct memcg *charged = leaf->charged;
    struct page_index *index = leaf->owner;
    uint64_t chunk = leaf->chunk;
    leave_shadow_list(leaf);
    index_leaf_free(leaf);
    if (!charged)
        return;
    unsigned nodes = index_shrink(index, chunk);
    cache_charge_kernel(cache, memcg_user(charged), -(long)nodes * KERNEL_NODE_BYTES);
}

void cache_leaf_settle(struct mglru_cache *cache, struct index_leaf *leaf)
{
    if (!leaf->occupied) {
        cache_leaf_free(cache, leaf);
        return;
    }
    if (leaf->folio_pages || !leaf->charged) {
        leave_shadow_list(leaf);
        return;
    }
    if (list_empty(&leaf->shadow_link)) {
        struct mglru_memcg *user = memcg_user(leaf->charged);
        list_add_tail(&user->shadow_leaves, &leaf->shadow_link);
        user->shadow_leaf_count++;
    }
}

/* The leaf of @page, paid for. May reclaim. */
static int leaf_prepare(struct mglru_cache *cache, struct mglru_file *file, uint64_t page,
                        struct index_leaf **out)
{
    struct page_index *index = &file->mapping->index;
    bool created;
    unsigned nodes = 0;
    int error = index_leaf_create(index, page, out, &created);
    if (error)
        return error;
    if (file->mapping->kind == MGLRU_ANON || cache->kernel_charge != MGLRU_KERNEL_CHARGE_AUTO)
        return 0;
    if (!created && page <= index->max_page)
        return 0;
    error = index_grow(index, page, created, &nodes);
    if (!error && nodes)
        error = cache_charge_kernel(cache, file->memcg, (long)nodes * KERNEL_NODE_BYTES);
    if (error) {
        if (created)
            index_leaf_free(*out);
        return error;
    }
    if (nodes && !(*out)->charged)
        (*out)->charged = file->memcg->memcg;
    return 0;
}

static int folio_insert(struct mglru_cache *cache, struct mglru_file *file, struct folio *folio,
                        uint64_t *shadow)
{
    uint64_t first = folio->index;
    uint64_t pages = (uint64_t)folio_pages(folio);
    *shadow = 0;
    for (uint64_t i = 0; i < pages; i++) {
        struct index_leaf *leaf;
        int error = leaf_prepare(cache, file, first + i, &leaf);
        uint64_t *slot = error ? NULL : leaf_slot(leaf, first + i);
        if (slot && slot_is_shadow(*slot) && !*shadow)
            *shadow = *slot >> 1;
        if (!error)
            error = leaf_store(leaf, first + i, (uintptr_t)folio);
        if (error) {
            for (uint64_t done = 0; done < i; done++) {
                struct index_leaf *undo = index_leaf(&file->mapping->index, first + done);
                leaf_erase(undo, first + done);
                cache_leaf_settle(cache, undo);
            }
            return error;
        }
        leave_shadow_list(leaf);
    }
    count_folio(folio, 1);
    return 0;
}

int cache_folio_enter(struct mglru_file *file, uint64_t index, unsigned order, struct folio **out,
                      uint64_t *shadow)
{
    struct mglru_cache *cache = file->mapping->cache;
    struct folio *folio = folio_alloc(cache, file, index, order);
    if (!folio) {
        memcg_uncharge(file->memcg->memcg, 1u << order);
        return MGLRU_ENOMEM;
    }
    int error = folio_insert(cache, file, folio, shadow);
    if (error) {
        cache_folio_free(cache, folio);
        return error;
    }
    *out = folio;
    return 0;
}

void cache_folio_drop(struct mglru_cache *cache, struct folio *folio)
{
    struct page_index *index = &folio_mapping(folio)->index;
    if (folio->map_count)
        mm_unmap_folio(folio);
    writeback_forget(cache, folio);
    /* On a list, or waiting to be added; in either case perhaps waiting to be activated. */
    if (!folio_test(folio, FOLIO_LRU) || folio_test(folio, FOLIO_QUEUED))
        lru_batch_forget(&cache->reclaim, folio);
    if (folio_test(folio, FOLIO_LRU))
        lruvec_del(folio, false);
    for (uint64_t i = 0; i < (uint64_t)folio_pages(folio); i++) {
        struct index_leaf *leaf = index_leaf(index, folio->index + i);
        leaf_erase(leaf, folio->index + i);
        cache_leaf_settle(cache, leaf);
    }
    if (folio_test(folio, FOLIO_SWAPCACHE)) {
        lruvec_stat(folio->lruvec, MEMCG_SWAPCACHE, -folio_pages(folio));
        cache_swap_free(cache, memcg_user(folio->lruvec->memcg), (uint64_t)folio_pages(folio));
    }
    count_folio(folio, -1);
    cache_folio_free(cache, folio);
}

/* --- swap ----------------------------------------------------------------------------------- */

void cache_swap_free(struct mglru_cache *cache, struct mglru_memcg *user, uint64_t pages)
{
    MGLRU_ASSERT(cache->swap_used >= pages);
    cache->swap_used -= pages;
    memcg_uncharge_swap(user->memcg, (unsigned)pages);
}

static bool host_swap_alloc(void *context, struct folio *folio)
{
    struct mglru_cache *cache = context;
    uint64_t pages = (uint64_t)folio_pages(folio);
    struct memcg *memcg = folio->lruvec->memcg;
    if (cache->swap_used + pages > cache->reclaim.swap_pages)
        return false;
    if (memcg_try_charge_swap(memcg, (unsigned)pages, NULL))
        return false;
    cache->swap_used += pages;
    lruvec_stat(folio->lruvec, MEMCG_SWAPCACHE, (long)pages);
    return true;
}

static bool host_swap_write(void *context, struct folio *folio)
{
    lruvec_stat(folio->lruvec, MEMCG_PSWPOUT, folio_pages(folio));
    return true; /* swap is a RAM disk or as fast: written before the call returns */
}

static long host_swap_left(void *context, struct memcg *memcg)
{
    const struct mglru_cache *cache = context;
    long left = (long)(cache->reclaim.swap_pages - cache->swap_used);
    if (!left)
        return 0;
    long margin = memcg_swap_margin(memcg);
    return margin < left ? margin : left;
}

/* --- eviction ------------------------------------------------------------------------------- */

static void evict_event(struct mglru_cache *cache, const struct folio *folio)
{
    const struct lruvec *lruvec = folio->lruvec;
    enum lru_type type = folio_type(folio);
    uint64_t note = folio->evict_note;
    struct mglru_event event = {
        .kind = MGLRU_EVENT_EVICT,
        .rule = !cache->reclaim.enabled         ? MGLRU_EVICT_CLASSIC
                : note & FOLIO_NOTE_SECOND_PASS ? MGLRU_EVICT_SECOND_PASS
                                                : MGLRU_EVICT_OLDEST,
        .memcg = memcg_user(lruvec->memcg),
        .mapping = folio_mapping(folio),
        .index = folio->index,
        .pages = (uint32_t)folio_pages(folio),
        .type = (uint8_t)type,
        .tier = cache->model->tier[folio->flags & FOLIO_STATE_MASK],
        .folio_seq = note & ~FOLIO_NOTE_SECOND_PASS,
        .min_seq = lruvec->min_seq[type],
        .max_seq = lruvec->max_seq,
    };
    cache->on_event(cache->on_event_context, &event);
}

void cache_refault(struct mglru_cache *cache, struct folio *folio, uint64_t shadow, bool in_fault)
{
    bool recent = workingset_refault(&cache->reclaim, folio, shadow, in_fault);
    if (!cache->on_event)
        return;
    const struct lruvec *lruvec = folio->lruvec;
    enum lru_type type = folio_type(folio);
    struct shadow unpacked = workingset_unpack(shadow);
    struct mglru_event event = {
        .kind = MGLRU_EVENT_REFAULT,
        .memcg = memcg_user(lruvec->memcg),
        .mapping = folio_mapping(folio),
        .index = folio->index,
        .pages = (uint32_t)folio_pages(folio),
        .type = (uint8_t)type,
        .tier = cache->model->tier[folio->flags & FOLIO_STATE_MASK],
        .recent = recent,
        .folio_seq = cache->reclaim.enabled ? unpacked.token >> 2 : 0,
        .min_seq = lruvec->min_seq[type],
        .max_seq = lruvec->max_seq,
    };
    cache->on_event(cache->on_event_context, &event);
}

static void host_release(void *context, struct folio *folio, uint64_t shadow)
{
    struct mglru_cache *cache = context;
    struct page_index *index = &folio_mapping(folio)->index;
    if (cache->on_event)
        evict_event(cache, folio);
    for (uint64_t i = 0; i < (uint64_t)folio_pages(folio); i++) {
        struct index_leaf *leaf = index_leaf(index, folio->index + i);
        int error = leaf_store(leaf, folio->index + i, slot_of_shadow(shadow));
        MGLRU_CHECK(error == 0); /* the slot exists: nothing to allocate */
        if (!leaf->folio_pages)
            cache_leaf_settle(cache, leaf);
    }
    if (folio_test(folio, FOLIO_SWAPCACHE))
        lruvec_stat(folio->lruvec, MEMCG_SWAPCACHE, -folio_pages(folio));
    count_folio(folio, -1);
    cache_folio_free(cache, folio);
}

static unsigned long host_shadow_nodes(void *context, struct memcg *memcg, unsigned node)
{
    return node == 0 ? memcg_user(memcg)->shadow_leaf_count : 0;
}

static unsigned long host_shrink_shadow_nodes(void *context, struct memcg *memcg, unsigned node,
                                              unsigned long count)
{
    struct mglru_cache *cache = context;
    struct mglru_memcg *user = memcg_user(memcg);
    unsigned long freed = 0;
    while (freed < count && !list_empty(&user->shadow_leaves)) {
        struct index_leaf *leaf =
            container_of(user->shadow_leaves.next, struct index_leaf, shadow_link);
        MGLRU_ASSERT(leaf->folio_pages == 0); /* its shadows go with the node */
        cache_leaf_free(cache, leaf);
        freed++;
    }
    return freed;
}

static void host_wake_flushers(void *context, struct memcg *memcg)
{
    writeback_start(context, memcg, UINT64_MAX);
}

static void host_progress(void *context)
{
    writeback_finish(context);
}

static void host_on_age(void *context, struct lruvec *lruvec)
{
    struct mglru_cache *cache = context;
    struct mglru_memcg *user = memcg_user(lruvec->memcg);
    user->aged++;
    if (!cache->on_event)
        return;
    struct mglru_event event = {
        .kind = MGLRU_EVENT_AGE,
        .memcg = user,
        .min_seq = lruvec->min_seq[LRU_TYPE_FILE],
        .max_seq = lruvec->max_seq,
    };
    cache->on_event(cache->on_event_context, &event);
}

const struct reclaim_host *cache_reclaim_host(void)
{
    static const struct reclaim_host host = {
        .release = host_release,
        .swap_alloc = host_swap_alloc,
        .swap_write = host_swap_write,
        .swap_left = host_swap_left,
        .wake_flushers = host_wake_flushers,
        .shadow_nodes = host_shadow_nodes,
        .shrink_shadow_nodes = host_shrink_shadow_nodes,
        .progress = host_progress,
        .on_age = host_on_age,
    };
    return &host;
}
