/* SPDX-License-Identifier: MIT */
/*
 * Accesses through a file descriptor: one page of a read or write call.
 * Facts: mglru-facts 1.4, 4.2. Linux mm/filemap.c (filemap_read, generic_perform_write).
 */
#include "cache/cache.h"

#include "base/check.h"

/* A page of a file whose size is known lies in it. */
static void include_page(struct mglru_mapping *mapping, uint64_t page)
{
    if (mapping->size_pages && page >= mapping->size_pages)
        mapping->size_pages = page + 1;
}

/* cache_bring_page, compiled into its caller: most misses of a replay come this way. */
static inline __attribute__((always_inline)) int bring(struct mglru_cache *cache,
                                                       struct mglru_file *file, uint64_t page,
                                                       bool in_fault, struct folio **out)
{
    include_page(file->mapping, page);
    int error = cache_charge(cache, file->memcg, 1);
    if (error)
        return error;
    struct folio *folio;
    uint64_t shadow;
    error = cache_folio_enter(file, page, 0, &folio, &shadow);
    if (error)
        return error;
    cache_read_event(cache, folio);
    if (shadow)
        cache_refault(cache, folio, shadow, in_fault);
    lru_batch_add(&cache->reclaim, folio, in_fault);
    file->memcg->counts.pages_read++;
    *out = folio;
    return 0;
}

int cache_bring_page(struct mglru_cache *cache, struct mglru_file *file, uint64_t page,
                     bool in_fault, struct folio **out)
{
    return bring(cache, file, page, in_fault, out);
}

/* Brings an absent page by readahead. *@folio is NULL if it was evicted again, in a tiny memcg. 0
 * or a negative code. */
static int read_ahead_absent(struct mglru_cache *cache, struct mglru_file *file, uint64_t page,
                             uint32_t left, struct folio **folio)
{
    *folio = NULL;
    include_page(file->mapping, page + left - 1);
    int error = readahead_sync(cache, file, page, left);
    if (error)
        return error;
    uint64_t slot = index_get(&file->mapping->index, page);
    if (slot_is_folio(slot))
        *folio = slot_folio(slot);
    return 0;
}

/* Brings an absent page, with readahead if that is on. 0 or a negative code. */
static inline int read_absent(struct mglru_cache *cache, struct mglru_file *file, uint64_t page,
                              uint32_t left, struct folio **folio)
{
    if (cache->readahead_pages) {
        int error = read_ahead_absent(cache, file, page, left, folio);
        if (error || *folio)
            return error;
    }
    return bring(cache, file, page, false, folio);
}

/* Pages that the kernel takes in hand at once: as many folios as a batch holds, up to the first
 * that is marked, which is the one to read on from. */
struct read_batch {
    struct folio *folios[LRU_ADD_BATCH];
    unsigned count;
    uint64_t end; /* one past the last page */
    bool marked;
};

static void batch_collect(struct mglru_file *file, uint64_t page, uint64_t end,
                          struct read_batch *batch)
{
    batch->count = 0;
    batch->marked = false;
    while (page < end && batch->count < LRU_ADD_BATCH && !batch->marked) {
        uint64_t slot = index_get(&file->mapping->index, page);
        if (!slot_is_folio(slot))
            break;
        struct folio *folio = slot_folio(slot);
        batch->folios[batch->count++] = folio;
        batch->marked = folio_test(folio, FOLIO_READAHEAD);
        page = folio->index + (uint64_t)folio_pages(folio);
    }
    batch->end = page;
}

/* Reads on where the next pages of a request, @page .. @end - 1, end with a marked one. They are
 * marked accessed only then, and stay meanwhile. */
static void read_batch(struct mglru_cache *cache, struct mglru_file *file, uint64_t page,
                       uint64_t end)
{
    struct read_batch batch;
    batch_collect(file, page, end, &batch);
    file->readahead.batch_end = batch.end;
    if (!batch.marked)
        return;
    bool pinned[LRU_ADD_BATCH];
    for (unsigned i = 0; i < batch.count; i++) {
        pinned[i] = folio_test(batch.folios[i], FOLIO_PINNED);
        folio_set(batch.folios[i], FOLIO_PINNED);
    }
    struct folio *last = batch.folios[batch.count - 1];
    readahead_async(cache, file, last, last->index, (uint32_t)(end - last->index));
    for (unsigned i = 0; i < batch.count; i++)
        if (!pinned[i])
            folio_clear(batch.folios[i], FOLIO_PINNED);
}

/* A folio is marked accessed once a call, and not at all where the last call ended in it. */
static bool marks(const struct readahead *ra, const struct folio *folio, uint64_t page,
                  bool first_of_call)
{
    if (!first_of_call)
        return page == folio->index;
    return !ra->has_prev || ra->prev_page - folio->index >= (uint64_t)folio_pages(folio);
}

int cache_read_page(struct mglru_cache *cache, const struct mglru_access *access, uint32_t i)
{
    struct mglru_file *file = access->file;
    struct readahead *ra = &file->readahead;
    uint64_t page = access->index + i;
    uint64_t slot = index_get(&file->mapping->index, page);
    struct folio *folio = slot_folio(slot);
    int missed = 0;
    if (cache->readahead_pages && i == 0) {
        ra->asked_first = page;
        ra->asked_end = page + access->count;
    }
    if (!slot_is_folio(slot)) {
        int error = read_absent(cache, file, page, access->count - i, &folio);
        if (error)
            return error;
        missed = 1;
    }
    if (cache->readahead_pages && (i == 0 || missed || page >= ra->batch_end))
        read_batch(cache, file, page, access->index + access->count);
    folio_ask(folio);
    if (marks(ra, folio, page, i == 0))
        folio_mark_accessed(&cache->reclaim, folio);
    if (i == access->count - 1) {
        ra->prev_page = page;
        ra->has_prev = true;
    }
    return missed;
}

int cache_write_page(struct mglru_cache *cache, struct mglru_file *file, uint64_t page)
{
    struct page_index *index = &file->mapping->index;
    uint64_t slot = index_get(index, page);
    struct folio *folio;
    int created = 0;
    if (slot_is_folio(slot)) {
        folio = slot_folio(slot);
    } else {
        int error = cache_charge(cache, file->memcg, 1);
        if (error)
            return error;
        include_page(file->mapping, page);
        uint64_t shadow; /* a page that is written whole is no refault (4.2) */
        error = cache_folio_enter(file, page, 0, &folio, &shadow);
        if (error)
            return error;
        lru_batch_add(&cache->reclaim, folio, false);
        file->memcg->counts.pages_read++; /* brought in, if not from the file */
        file->memcg->counts.write_misses++;
        created = 1;
    }
    folio_ask(folio);
    folio_mark_accessed(&cache->reclaim, folio);
    writeback_dirty(cache, folio, page);
    return created;
}
