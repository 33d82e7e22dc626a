/* SPDX-License-Identifier: MIT */
/*
 * Readahead: how much is brought besides the page that was asked for.
 * Linux mm/readahead.c (page_cache_sync_ra, page_cache_async_ra, page_cache_ra_order) and
 * mm/filemap.c (do_sync_mmap_readahead, do_async_mmap_readahead); 6.12 brings single pages, 7.3
 * large folios.
 *
 * A window of `size` pages starts at `start`; its page size - async_size from the start is marked,
 * and reading that page brings the next window, up to twice or four times as large.
 */
#include "cache/cache.h"

#include "base/bits.h"
#include "base/check.h"

/* Faults in a row that found nothing, after which a mapping is read page by page (the kernel's
 * MMAP_LOTSAMISS). */
#define MMAP_MISSES_MAX 100
/* Orders that a new window adds to the last one's, up to the page cache's largest folio. */
#define ORDER_STEP 2

static uint32_t max_pages(const struct mglru_cache *cache)
{
    return cache->readahead_pages;
}

static uint32_t first_size(uint32_t request, uint32_t max)
{
    uint32_t size = 1u << bits_log2up(request);
    if (size <= max / 32)
        return size * 4;
    if (size <= max / 4)
        return size * 2;
    return max;
}

static uint32_t next_size(uint32_t size, uint32_t max)
{
    if (size < max / 16)
        return size * 4;
    return size <= max / 2 ? size * 2 : max;
}

/* One past the last page that may be read: the end of the file, where it is known. */
static uint64_t clip(const struct mglru_file *file, uint64_t end)
{
    uint64_t size = file->mapping->size_pages;
    if (size && end > size)
        end = size;
    return end > MGLRU_INDEX_MAX + 1 ? MGLRU_INDEX_MAX + 1 : end;
}

static bool present(struct mglru_file *file, uint64_t page)
{
    return slot_is_folio(index_get(&file->mapping->index, page));
}

/* Brings one folio of the window. 0, or a negative code: readahead ends here. */
static int bring(struct mglru_cache *cache, struct mglru_file *file, uint64_t page, unsigned order,
                 bool mark)
{
    unsigned pages = 1u << order;
    int error = cache_charge_once(cache, file->memcg, pages);
    if (error)
        return error;
    struct folio *folio;
    uint64_t shadow;
    error = cache_folio_enter(file, page, order, &folio, &shadow);
    if (error)
        return error;
    if (mark)
        folio_set(folio, FOLIO_READAHEAD);
    if (shadow)
        cache_refault(cache, folio, shadow, false);
    lru_batch_add(&cache->reclaim, folio, false);
    file->memcg->counts.pages_read += pages;
    return 0;
}

/* Single pages; those present are skipped. */
static int read_pages(struct mglru_cache *cache, struct mglru_file *file, uint64_t start,
                      uint32_t size, uint32_t async_size)
{
    uint64_t end = clip(file, start + size);
    uint64_t mark = start + size - async_size;
    for (uint64_t page = start; page < end; page++) {
        if (present(file, page))
            continue;
        int error = bring(cache, file, page, 0, async_size && page == mark);
        if (error)
            return error;
    }
    return 0;
}

static bool range_absent(struct mglru_file *file, uint64_t page, unsigned order)
{
    for (uint64_t i = 0; i < UINT64_C(1) << order; i++)
        if (present(file, page + i))
            return false;
    return true;
}

/* The window in folios of up to ra->order. */
static int read_window(struct mglru_cache *cache, struct mglru_file *file)
{
    struct readahead *ra = &file->readahead;
    if (!cache->model->large_readahead)
        return read_pages(cache, file, ra->start, ra->size, ra->async_size);
    unsigned most = bits_fls(ra->size) - 1;
    ra->order = ra->order < most ? ra->order : most;
    ra->order = ra->order < FOLIO_ORDER_MAX ? ra->order : FOLIO_ORDER_MAX;
    uint64_t end = clip(file, ra->start + ra->size);
    uint64_t mark = ra->start + ra->size - ra->async_size;
    for (uint64_t page = ra->start; page < end;) {
        unsigned order = ra->order;
        if (page & ((UINT64_C(1) << order) - 1))
            order = (unsigned)__builtin_ctzll(page);
        while (order > 0 && page + (UINT64_C(1) << order) > end)
            order--;
        uint64_t rounded = (mark + (UINT64_C(1) << order) - 1) >> order << order;
        /* A page that is there already, or memory that is short, ends the large folios. */
        if (!range_absent(file, page, order) ||
            bring(cache, file, page, order, ra->async_size && page == rounded))
            return read_pages(cache, file, page, (uint32_t)(ra->start + ra->size - page),
                              mark >= page ? ra->async_size : 0);
        page += UINT64_C(1) << order;
    }
    return 0;
}

/* Pages in a row before @page that are present, at most @max. */
static uint64_t present_before(struct mglru_file *file, uint64_t page, uint32_t max)
{
    uint64_t count = 0;
    while (count < max && count < page && present(file, page - count - 1))
        count++;
    return count;
}

int readahead_sync(struct mglru_cache *cache, struct mglru_file *file, uint64_t page, uint32_t left)
{
    struct readahead *ra = &file->readahead;
    uint32_t max = max_pages(cache);
    bool follows = ra->has_prev && page - (ra->prev_page + 1) <= 1;
    ra->order = 0;
    if (page == 0 || left > max || follows) {
        ra->start = page;
        ra->size = first_size(left < max ? left : max, max);
        ra->async_size = ra->size > left ? ra->size - left : ra->size >> 1;
    } else {
        uint64_t before = present_before(file, page, max);
        if (before <= left) {
            int error = read_pages(cache, file, page, left, 0);
            return error == MGLRU_EAGAIN ? 0 : error;
        }
        if (before == page)
            before *= 2; /* cached from the beginning: a whole-file read */
        uint64_t size = before + left;
        ra->start = page;
        ra->size = size < max ? (uint32_t)size : max;
        ra->async_size = 1;
    }
    int error = read_window(cache, file);
    return error == MGLRU_EAGAIN ? 0 : error;
}

void readahead_async(struct mglru_cache *cache, struct mglru_file *file, struct folio *folio,
                     uint32_t left)
{
    struct readahead *ra = &file->readahead;
    uint32_t max = max_pages(cache);
    unsigned order = folio_order(folio);
    uint64_t page = folio->index;
    if (folio_test(folio, FOLIO_WRITEBACK))
        return;
    folio_clear(folio, FOLIO_READAHEAD);
    uint64_t expected = (ra->start + ra->size - ra->async_size) >> order << order;
    if (page == expected) {
        ra->start += ra->size;
        uint32_t size = next_size(ra->size, max);
        ra->size = size > ra->size ? size : ra->size;
    } else {
        uint64_t start = page + 1;
        while (start - page <= max && present(file, start))
            start++;
        if (start - page > max)
            return;
        ra->start = start;
        ra->size = next_size((uint32_t)(start - page) + left, max);
    }
    ra->async_size = ra->size;
    ra->order = order + ORDER_STEP;
    read_window(cache, file);
}

void readahead_mapped(struct mglru_cache *cache, struct mglru_file *file, struct folio *folio)
{
    struct readahead *ra = &file->readahead;
    if (ra->mmap_misses)
        ra->mmap_misses--;
    if (!folio_test(folio, FOLIO_READAHEAD))
        return;
    bool pinned = folio_test(folio, FOLIO_PINNED);
    folio_set(folio, FOLIO_PINNED); /* the fault holds it: what is brought must not displace it */
    readahead_async(cache, file, folio, max_pages(cache));
    if (!pinned)
        folio_clear(folio, FOLIO_PINNED);
}

int readahead_around(struct mglru_cache *cache, struct mglru_file *file, uint64_t page)
{
    struct readahead *ra = &file->readahead;
    uint32_t max = max_pages(cache);
    if (ra->mmap_misses <= MMAP_MISSES_MAX) {
        ra->mmap_misses++;
        ra->start = page > max / 2 ? page - max / 2 : 0;
        ra->size = max;
        ra->async_size = max / 4;
        ra->order = 0;
        int error = read_window(cache, file);
        if (error && error != MGLRU_EAGAIN)
            return error;
    }
    if (present(file, page))
        return 0;
    struct folio *folio;
    return cache_bring_page(cache, file, page, true, &folio);
}
