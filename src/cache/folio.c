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

static inline void count_folio(struct mglru_cache *cache, struct folio *folio, long sign)
{
    if (cache->machine.pages)
        cache->machine.used += sign * folio_pages(folio);
    lruvec_stat(folio_lruvec(folio), folio_test(folio, FOLIO_ANON) ? MEMCG_NR_ANON : MEMCG_NR_FILE,
                sign * folio_pages(folio));
}

/* A folio leaves the cache. */
static inline void count_leaving(struct mglru_cache *cache, struct folio *folio)
{
    if (folio_test(folio, FOLIO_UNASKED))
        memcg_user(folio_lruvec(folio)->memcg)->counts.readahead_wasted +=
            (uint64_t)folio_pages(folio);
    count_folio(cache, folio, -1);
}

void cache_folio_free(struct mglru_cache *cache, struct folio *folio)
{
    struct memcg *memcg = folio_lruvec(folio)->memcg;
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

/* Bytes given back by a node that @memcg pays for. */
static void free_node(struct mglru_cache *cache, struct memcg *memcg)
{
    cache_charge_kernel(cache, memcg_user(memcg), -KERNEL_NODE_BYTES);
}

void cache_leaf_free(struct mglru_cache *cache, struct index_leaf *leaf)
{
    struct memcg *charged = leaf->charged;
    struct page_index *index = leaf->owner;
    struct memcg *payers[INDEX_LEVELS];
    uint64_t chunk = leaf->chunk;
    leave_shadow_list(leaf);
    index_leaf_free(leaf);
    if (!charged)
        return;
    unsigned inner = index_shrink(index, chunk, payers);
    free_node(cache, charged);
    for (unsigned i = 0; i < inner; i++)
        free_node(cache, payers[i]);
}

void cache_leaf_settle(struct mglru_cache *cache, struct index_leaf *leaf)
{
    if (!leaf->occupied) {
        cache_leaf_free(cache, leaf);
        return;
    }
    if (leaf->folio_pages || leaf->held || !leaf->charged) {
        leave_shadow_list(leaf);
        return;
    }
    if (list_empty(&leaf->shadow_link)) {
        struct mglru_memcg *user = memcg_user(leaf->charged);
        list_add_tail(&user->shadow_leaves, &leaf->shadow_link);
        user->shadow_leaf_count++;
    }
}

/* Enters who pays for the nodes of @leaf that came into being. */
static void leaf_paid(struct mglru_cache *cache, struct index_leaf *leaf, unsigned old_height,
                      struct memcg *memcg)
{
    struct index_leaf *first = old_height ? NULL : index_leaf(leaf->owner, 0);
    if (!leaf->charged && leaf->owner->height)
        leaf->charged = memcg;
    if (!first || first->charged || first == leaf || !leaf->owner->height)
        return;
    /* A lone page 0 had no node before the tree grew. */
    first->charged = memcg;
    cache_leaf_settle(cache, first);
}

/* Pays for the nodes that @page brings. On failure @leaf is gone if @created. May reclaim. */
static int leaf_pay(struct mglru_cache *cache, struct mglru_file *file, uint64_t page,
                    struct index_leaf *leaf, bool created)
{
    struct page_index *index = &file->mapping->index;
    struct mglru_memcg *user = file->memcg;
    uint64_t old_max = index->max_page;
    unsigned old_height = index->height;
    unsigned nodes = 0;
    int error = index_grow(index, page, created, user->memcg, &nodes);
    if (!error && nodes)
        error = cache_charge_kernel(cache, user, (long)nodes * KERNEL_NODE_BYTES);
    if (!error) {
        leaf_paid(cache, leaf, old_height, user->memcg);
        return 0;
    }
    /* As if paid for, since reclaim may have given some of the nodes back meanwhile; what is left
     * of them is given back here. */
    user->kernel_bytes += (long)nodes * KERNEL_NODE_BYTES;
    if (created) {
        leaf->charged = nodes ? user->memcg : NULL;
        cache_leaf_free(cache, leaf);
    }
    unsigned gone = index_lower(index, old_height, old_max);
    for (unsigned i = 0; i < gone; i++)
        free_node(cache, user->memcg);
    /* The node of the page 0 that stays without one. */
    if (nodes && !old_height && (!created || index->leaves))
        free_node(cache, user->memcg);
    return error;
}

/* The nodes of the mapping's tree are charged to those who need them. */
static bool pays_nodes(const struct mglru_mapping *mapping)
{
    return mapping->kind == MGLRU_FILE && mapping->cache->kernel_charge == MGLRU_KERNEL_CHARGE_AUTO;
}

/* The leaf of @page, paid for and held, with room for the pages of @bits. May reclaim. */
static int leaf_prepare(struct mglru_cache *cache, struct mglru_file *file, uint64_t page,
                        uint64_t bits)
{
    struct page_index *index = &file->mapping->index;
    struct index_leaf *leaf;
    bool created;
    int error = index_leaf_create(index, page, &leaf, &created);
    if (error)
        return error;
    leaf->held = true;
    leave_shadow_list(leaf);
    uint64_t last = (page | (INDEX_LEAF_PAGES - 1)) - (uint64_t)__builtin_clzll(bits);
    if (pays_nodes(file->mapping) && (created || last > index->max_page))
        error = leaf_pay(cache, file, last, leaf, created);
    if (!error)
        error = leaf_reserve(leaf, bits);
    if (error && (leaf = index_leaf(index, page))) {
        leaf->held = false;
        cache_leaf_settle(cache, leaf);
    }
    return error;
}

/* Lets go of the leaves of @folio from its first page to @end. */
static void release_leaves(struct mglru_cache *cache, const struct folio *folio, uint64_t end)
{
    struct page_index *index = &folio_mapping(folio)->index;
    for (uint64_t page = folio->index; page < end; page += INDEX_LEAF_PAGES) {
        struct index_leaf *leaf = index_leaf(index, page);
        leaf->held = false;
        cache_leaf_settle(cache, leaf);
    }
}

/*
 * The common case of folio_insert: one page whose leaf is there and paid for. False: the general
 * case. Nothing reclaims on the way, so the leaf needs not be held.
 */
static bool insert_page(struct mglru_mapping *mapping, struct folio *folio, uint64_t *shadow)
{
    struct page_index *index = &mapping->index;
    uint64_t page = folio->index;
    bool paid = page <= index->max_page || !pays_nodes(mapping);
    struct index_leaf *leaf = paid ? index_leaf(index, page) : NULL;
    if (!leaf)
        return false;
    uint64_t *slot = leaf_slot(leaf, page);
    if (slot) {
        MGLRU_ASSERT(slot_is_shadow(*slot));
        *shadow = *slot >> 1;
        *slot = (uintptr_t)folio;
        leaf->folio_pages++;
    } else if (leaf_store(leaf, page, (uintptr_t)folio)) {
        return false;
    }
    leave_shadow_list(leaf);
    return true;
}

static int folio_insert(struct mglru_cache *cache, struct mglru_file *file, struct folio *folio,
                        uint64_t *shadow)
{
    struct page_index *index = &file->mapping->index;
    uint64_t first = folio->index;
    uint64_t end = first + (uint64_t)folio_pages(folio);
    *shadow = 0;
    if (end - first == 1 && insert_page(file->mapping, folio, shadow)) {
        count_folio(cache, folio, 1);
        return 0;
    }
    /* All that can fail comes first: then nothing has to be put back. A folio is aligned to its
     * size, so it starts its leaves, or shares one. */
    for (uint64_t page = first; page < end; page += INDEX_LEAF_PAGES) {
        int error = leaf_prepare(cache, file, page, folio_leaf_bits(folio, page));
        if (error) {
            release_leaves(cache, folio, page);
            return error;
        }
    }
    for (uint64_t page = first; page < end; page++) {
        struct index_leaf *leaf = index_leaf(index, page);
        uint64_t *slot = leaf_slot(leaf, page);
        if (slot && slot_is_shadow(*slot))
            *shadow = *slot >> 1;
        int error = leaf_store(leaf, page, (uintptr_t)folio);
        MGLRU_CHECK(error == 0); /* there is room */
    }
    release_leaves(cache, folio, end);
    count_folio(cache, folio, 1);
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
        lruvec_stat(folio_lruvec(folio), MEMCG_SWAPCACHE, -folio_pages(folio));
        cache_swap_free(cache, memcg_user(folio_lruvec(folio)->memcg),
                        (uint64_t)folio_pages(folio));
    }
    count_leaving(cache, folio);
    cache_folio_free(cache, folio);
}

/* Takes over from @folio what one of its pages has: place, dirty state, reference state. */
static void split_one(struct folio *folio, struct folio *part, uint64_t page)
{
    struct index_leaf *leaf = index_leaf(&folio_mapping(folio)->index, page);
    uint64_t bit = UINT64_C(1) << (page % INDEX_LEAF_PAGES);
    if (part != folio)
        *part = *folio;
    part->index = page;
    part->map_count = 0;
    uint64_t state =
        (leaf->dirty & bit ? FOLIO_DIRTY : 0u) | (leaf->writeback & bit ? FOLIO_WRITEBACK : 0u);
    folio_change(part, FOLIO_ORDER_MASK | FOLIO_DIRTY | FOLIO_WRITEBACK | FOLIO_READAHEAD, state);
    if (part != folio)
        list_add_tail(&folio->lru, &part->lru);
    int error = leaf_store(leaf, page, (uintptr_t)part);
    MGLRU_CHECK(error == 0); /* the slot exists */
}

bool cache_folio_split(struct mglru_cache *cache, struct folio *folio)
{
    struct folio *parts[1 << FOLIO_ORDER_MAX] = {folio};
    long pages = folio_pages(folio);
    struct mglru_memcg *user = memcg_user(folio_lruvec(folio)->memcg);
    bool dirty = folio_test(folio, FOLIO_DIRTY), writeback = folio_test(folio, FOLIO_WRITEBACK);
    /* Large folios do not wait in batches. */
    MGLRU_CHECK(folio_test(folio, FOLIO_LRU) && !folio_test(folio, FOLIO_ANON));
    for (long i = 1; i < pages; i++) {
        parts[i] = slab_alloc(&cache->folios);
        if (parts[i])
            continue;
        while (--i > 0)
            slab_free(&cache->folios, parts[i]);
        return false;
    }
    uint64_t first = folio->index;
    long still_dirty = 0, still_written = 0;
    bool mapped = folio->map_count != 0;
    /* The first part is the folio itself: it stays whole until the others have taken from it. */
    for (long i = pages - 1; i >= 0; i--) {
        split_one(folio, parts[i], first + (uint64_t)i);
        still_dirty += folio_test(parts[i], FOLIO_DIRTY);
        still_written += folio_test(parts[i], FOLIO_WRITEBACK);
    }
    if (mapped)
        mm_split_folio(parts, pages);
    if (dirty) {
        user->dirty_pages -= (unsigned long)(pages - still_dirty);
        lruvec_stat(folio_lruvec(folio), MEMCG_FILE_DIRTY, still_dirty - pages);
    }
    if (writeback)
        lruvec_stat(folio_lruvec(folio), MEMCG_FILE_WRITEBACK, still_written - pages);
    return true;
}

/* --- swap ----------------------------------------------------------------------------------- */

void cache_swap_free(struct mglru_cache *cache, struct mglru_memcg *user, uint64_t pages)
{
    MGLRU_ASSERT(cache->swap_used >= pages);
    cache->swap_used -= pages;
    memcg_uncharge_swap(user->memcg, (unsigned)pages);
}

void cache_swap_forget(struct mglru_cache *cache, uint64_t shadow)
{
    struct memcg *memcg = memcg_by_id(cache->tree, workingset_unpack(shadow).owner_id);
    MGLRU_ASSERT(memcg); /* charged swap keeps the id */
    if (memcg)
        cache_swap_free(cache, memcg_user(memcg), 1);
}

static bool host_swap_alloc(void *context, struct folio *folio)
{
    struct mglru_cache *cache = context;
    uint64_t pages = (uint64_t)folio_pages(folio);
    struct memcg *memcg = folio_lruvec(folio)->memcg;
    if (cache->swap_used + pages > cache->reclaim.swap_pages)
        return false;
    if (memcg_try_charge_swap(memcg, (unsigned)pages, NULL))
        return false;
    cache->swap_used += pages;
    lruvec_stat(folio_lruvec(folio), MEMCG_SWAPCACHE, (long)pages);
    return true;
}

static bool host_swap_write(void *context, struct folio *folio)
{
    lruvec_stat(folio_lruvec(folio), MEMCG_PSWPOUT, folio_pages(folio));
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
    const struct lruvec *lruvec = folio_lruvec(folio);
    enum lru_type type = folio_type(folio);
    uint64_t note = folio->evict_note;
    struct mglru_event event = {
        .kind = MGLRU_EVENT_EVICT,
        .rule = !reclaim_enabled(&cache->reclaim) ? MGLRU_EVICT_CLASSIC
                : note & FOLIO_NOTE_SECOND_PASS   ? MGLRU_EVICT_SECOND_PASS
                                                  : MGLRU_EVICT_OLDEST,
        .memcg = memcg_user(lruvec->memcg),
        .mapping = folio_mapping(folio),
        .index = folio->index,
        .pages = (uint32_t)folio_pages(folio),
        .type = (uint8_t)type,
        .tier = cache->model->tier[folio_flags(folio) & FOLIO_STATE_MASK],
        .folio_seq = note & ~FOLIO_NOTE_SECOND_PASS,
        .min_seq = lruvec_min_seq(lruvec, type),
        .max_seq = lruvec_max_seq(lruvec),
    };
    cache->on_event(cache->on_event_context, &event);
}

void cache_send_read_event(struct mglru_cache *cache, const struct folio *folio)
{
    struct mglru_event event = {
        .kind = MGLRU_EVENT_READ,
        .memcg = memcg_user(folio_lruvec(folio)->memcg),
        .mapping = folio_mapping(folio),
        .index = folio->index,
        .pages = (uint32_t)folio_pages(folio),
        .type = (uint8_t)folio_type(folio),
    };
    cache->on_event(cache->on_event_context, &event);
}

void cache_refault(struct mglru_cache *cache, struct folio *folio, uint64_t shadow, bool in_fault)
{
    bool recent = workingset_refault(&cache->reclaim, folio, shadow, in_fault);
    if (!cache->on_event)
        return;
    const struct lruvec *lruvec = folio_lruvec(folio);
    enum lru_type type = folio_type(folio);
    struct shadow unpacked = workingset_unpack(shadow);
    struct mglru_event event = {
        .kind = MGLRU_EVENT_REFAULT,
        .memcg = memcg_user(lruvec->memcg),
        .mapping = folio_mapping(folio),
        .index = folio->index,
        .pages = (uint32_t)folio_pages(folio),
        .type = (uint8_t)type,
        .tier = cache->model->tier[folio_flags(folio) & FOLIO_STATE_MASK],
        .recent = recent,
        .folio_seq = reclaim_enabled(&cache->reclaim) ? unpacked.token >> 2 : 0,
        .min_seq = lruvec_min_seq(lruvec, type),
        .max_seq = lruvec_max_seq(lruvec),
    };
    cache->on_event(cache->on_event_context, &event);
}

static void host_release(void *context, struct folio *folio, uint64_t shadow)
{
    struct mglru_cache *cache = context;
    struct page_index *index = &folio_mapping(folio)->index;
    uint64_t end = folio->index + (uint64_t)folio_pages(folio);
    if (MGLRU_UNLIKELY(cache->on_event != NULL))
        evict_event(cache, folio);
    for (uint64_t page = folio->index; page < end; page++) {
        struct index_leaf *leaf = index_leaf(index, page);
        *leaf_slot(leaf, page) = slot_of_shadow(shadow);
        if (--leaf->folio_pages == 0)
            cache_leaf_settle(cache, leaf);
    }
    if (folio_test(folio, FOLIO_SWAPCACHE))
        lruvec_stat(folio_lruvec(folio), MEMCG_SWAPCACHE, -folio_pages(folio));
    count_leaving(cache, folio);
    slab_free(&cache->folios, folio);
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
        .min_seq = lruvec_min_seq(lruvec, LRU_TYPE_FILE),
        .max_seq = lruvec_max_seq(lruvec),
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
