/* SPDX-License-Identifier: MIT */
/*
 * Accesses through a file descriptor: one page of a read or write call.
 * Facts: mglru-facts 1.4, 4.2. Linux mm/filemap.c (filemap_read, generic_perform_write).
 */
#include "cache/cache.h"

#include "base/check.h"

int cache_bring_page(struct mglru_cache *cache, struct mglru_file *file, uint64_t page,
                     bool in_fault, struct folio **out)
{
    int error = cache_charge(cache, file->memcg, 1);
    if (error)
        return error;
    struct folio *folio;
    uint64_t shadow;
    error = cache_folio_enter(file, page, 0, &folio, &shadow);
    if (error)
        return error;
    if (shadow)
        cache_refault(cache, folio, shadow, in_fault);
    lru_batch_add(&cache->reclaim, folio, in_fault);
    file->memcg->counts.pages_read++;
    *out = folio;
    return 0;
}

/* Marks the folio of @page accessed, unless the previous read of the file ended in it. */
static void mark_read(struct mglru_cache *cache, struct mglru_file *file, struct folio *folio,
                      uint64_t page)
{
    struct readahead *ra = &file->readahead;
    bool same = ra->has_prev && ra->prev_page - folio->index < (uint64_t)folio_pages(folio);
    if (!same)
        folio_mark_accessed(&cache->reclaim, folio);
    ra->prev_page = page;
    ra->has_prev = true;
}

/* Brings an absent page, with readahead if that is on. 0 or a negative code. */
static int read_absent(struct mglru_cache *cache, struct mglru_file *file, uint64_t page,
                       uint32_t left, struct folio **folio)
{
    if (!cache->readahead_pages)
        return cache_bring_page(cache, file, page, false, folio);
    int error = readahead_sync(cache, file, page, left);
    if (error)
        return error;
    uint64_t slot = index_get(&file->mapping->index, page);
    /* What readahead brought may have been evicted again in a tiny memcg. */
    if (!slot_is_folio(slot))
        return cache_bring_page(cache, file, page, false, folio);
    *folio = slot_folio(slot);
    return 0;
}

int cache_read_page(struct mglru_cache *cache, struct mglru_file *file, uint64_t page,
                    uint32_t left)
{
    uint64_t slot = index_get(&file->mapping->index, page);
    struct folio *folio = slot_folio(slot);
    int missed = 0;
    if (!slot_is_folio(slot)) {
        int error = read_absent(cache, file, page, left, &folio);
        if (error)
            return error;
        missed = 1;
    }
    if (MGLRU_UNLIKELY(folio_test(folio, FOLIO_READAHEAD))) {
        readahead_async(cache, file, folio, left);
        slot = index_get(&file->mapping->index, page);
        if (!slot_is_folio(slot))
            return missed;
        folio = slot_folio(slot);
    }
    mark_read(cache, file, folio, page);
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
        uint64_t shadow; /* a page that is written whole is no refault (4.2) */
        error = cache_folio_enter(file, page, 0, &folio, &shadow);
        if (error)
            return error;
        lru_batch_add(&cache->reclaim, folio, false);
        file->memcg->counts.pages_read++; /* brought in, if not from the file */
        created = 1;
    }
    folio_mark_accessed(&cache->reclaim, folio);
    writeback_dirty(cache, folio, page);
    return created;
}
