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

/* Faults that found nothing, beyond those that did, after which a mapping is read page by page (the
 * kernel's MMAP_LOTSAMISS). It goes on to count up to ten times as many. */
#define MMAP_MISSES_MAX 100u
/* Orders that a new window adds to the last one's, up to the page cache's largest folio. */
#define ORDER_STEP 2

/* The device's largest read, to which the kernel takes a request that is larger than the window at
 * once: the default of its block layer (max_sectors_kb). */
#define DEVICE_READ_BYTES (UINT32_C(1280) << 10)

/* Largest window for a request of @request pages. */
static uint32_t max_pages(const struct mglru_cache *cache, uint32_t request)
{
    uint32_t max = cache->readahead_pages;
    uint32_t device = DEVICE_READ_BYTES / cache->page_bytes;
    if (request > max && device > max)
        max = request < device ? request : device;
    return max;
}

static uint32_t first_size(uint32_t request, uint32_t max)
{
    uint32_t size = request < max ? 1u << bits_log2up(request) : max;
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

/* Counts a folio that is brought, by what of it the access under way asked for. */
static void count_brought(struct mglru_file *file, struct folio *folio)
{
    const struct readahead *ra = &file->readahead;
    uint64_t end = folio->index + (uint64_t)folio_pages(folio);
    uint64_t first = folio->index > ra->asked_first ? folio->index : ra->asked_first;
    uint64_t last = end < ra->asked_end ? end : ra->asked_end;
    uint64_t asked = first < last ? last - first : 0;
    if (!asked)
        folio_set(folio, FOLIO_UNASKED);
    file->memcg->counts.pages_read += (uint64_t)folio_pages(folio);
    file->memcg->counts.readahead_pages += (uint64_t)folio_pages(folio) - asked;
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
    folio_set(folio, FOLIO_LOCKED | (mark ? FOLIO_READAHEAD : 0u));
    count_brought(file, folio);
    cache_read_event(cache, folio);
    if (shadow)
        cache_refault(cache, folio, shadow, file->readahead.in_fault);
    lru_batch_add(&cache->reclaim, folio, file->readahead.in_fault);
    return 0;
}

/* What was brought is read and may be taken again. Until then it is locked, as in the kernel, so
 * that a window never displaces itself: all of @first .. @end - 1 is there. */
static void submit(struct mglru_file *file, uint64_t first, uint64_t end)
{
    while (first < end) {
        struct folio *folio = slot_folio(index_get(&file->mapping->index, first));
        folio_clear(folio, FOLIO_LOCKED);
        first = folio->index + (uint64_t)folio_pages(folio);
    }
}

/* Single pages; those present are skipped. The mark is kept from the end that the file sets. */
static int read_pages(struct mglru_cache *cache, struct mglru_file *file, uint64_t start,
                      uint32_t size, uint32_t async_size)
{
    uint64_t end = clip(file, start + size);
    uint64_t first = start; /* of those not submitted */
    int error = 0;
    for (uint64_t page = start; page < end && !error; page++) {
        if (present(file, page)) {
            submit(file, first, page);
            first = page + 1;
            continue;
        }
        error = bring(cache, file, page, 0, async_size && page == end - async_size);
        if (error)
            end = page;
    }
    submit(file, first, end);
    return error;
}

static bool range_absent(struct mglru_file *file, uint64_t page, unsigned order)
{
    for (uint64_t i = 0; i < UINT64_C(1) << order; i++)
        if (present(file, page + i))
            return false;
    return true;
}

/* Order of the folio at @page in a window of folios of @order that ends at @end. */
static unsigned order_at(uint64_t page, unsigned order, uint64_t end)
{
    if (page & ((UINT64_C(1) << order) - 1))
        order = (unsigned)__builtin_ctzll(page);
    while (order > 0 && page + (UINT64_C(1) << order) > end)
        order--;
    return order;
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
        unsigned order = order_at(page, ra->order, end);
        bool marked = ra->async_size && page == mark >> order << order;
        /* A page that is there already, or memory that is short, ends the large folios. */
        if (!range_absent(file, page, order) || bring(cache, file, page, order, marked)) {
            submit(file, ra->start, page);
            return read_pages(cache, file, page, (uint32_t)(ra->start + ra->size - page),
                              ra->async_size);
        }
        page += UINT64_C(1) << order;
    }
    submit(file, ra->start, end);
    return 0;
}

/*
 * Where a search for an absent page looks for @page first. The kernel's cursor starts at the slot
 * of the folio that the page lies in, its first, but counts from the page: until it enters the next
 * node of the tree it looks at pages before those that it answers for. Folios of a node and more
 * stand one level up, in slots of their own.
 */
static uint64_t search_slot(const struct mglru_cache *cache, struct mglru_file *file, uint64_t page)
{
    uint64_t slot = index_get(&file->mapping->index, page);
    if (!cache->model->search_slips || !slot_is_folio(slot) ||
        folio_pages(slot_folio(slot)) >= INDEX_LEAF_PAGES)
        return page;
    return slot_folio(slot)->index;
}

/* Pages in a row before @page that are present, at most @max; @page: they begin the file. */
static uint64_t present_before(const struct mglru_cache *cache, struct mglru_file *file,
                               uint64_t page, uint32_t max)
{
    uint64_t slot = search_slot(cache, file, page - 1);
    uint64_t count = 0;
    while (count < max && present(file, slot)) {
        count++;
        if (count == page || slot == 0)
            break;
        slot--;
        if (slot % INDEX_LEAF_PAGES == INDEX_LEAF_PAGES - 1)
            slot = slot - slot % INDEX_LEAF_PAGES + (page - 1 - count) % INDEX_LEAF_PAGES;
    }
    return count;
}

/* The first absent page after @page, or the one after @max present ones. */
static uint64_t absent_after(const struct mglru_cache *cache, struct mglru_file *file,
                             uint64_t page, uint32_t max)
{
    uint64_t at = page + 1;
    uint64_t slot = search_slot(cache, file, at);
    while (at - page <= max && present(file, slot)) {
        at++;
        slot++;
        if (slot % INDEX_LEAF_PAGES == 0)
            slot = at;
    }
    return at;
}

int readahead_sync(struct mglru_cache *cache, struct mglru_file *file, uint64_t page, uint32_t left)
{
    struct readahead *ra = &file->readahead;
    uint32_t max = max_pages(cache, left);
    bool follows = ra->has_prev && page - (ra->prev_page + 1) <= 1;
    if (page == 0 || left > max || follows) {
        ra->start = page;
        ra->size = first_size(left, max);
        ra->async_size = ra->size > left ? ra->size - left : ra->size >> 1;
    } else {
        uint64_t before = present_before(cache, file, page, max);
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
    ra->order = 0;
    int error = read_window(cache, file);
    return error == MGLRU_EAGAIN ? 0 : error;
}

/* Moves the end of the next window down to a multiple of its largest folio. */
static void align_window(struct readahead *ra, uint32_t max)
{
    unsigned largest = (unsigned)__builtin_ctz(max);
    unsigned order = ra->order < largest ? ra->order : largest;
    uint64_t end = ra->start + ra->size;
    uint64_t aligned = end >> order << order;
    if (aligned > ra->start)
        ra->size -= (uint32_t)(end - aligned);
}

void readahead_async(struct mglru_cache *cache, struct mglru_file *file, struct folio *folio,
                     uint64_t page, uint32_t left)
{
    struct readahead *ra = &file->readahead;
    uint32_t max = max_pages(cache, left);
    unsigned order = folio_order(folio);
    if (folio_test(folio, FOLIO_WRITEBACK))
        return;
    folio_clear(folio, FOLIO_READAHEAD);
    if (page == (ra->start + ra->size - ra->async_size) >> order << order) {
        ra->start += ra->size;
        uint32_t size = next_size(ra->size, max);
        ra->size = size > ra->size ? size : ra->size;
    } else {
        uint64_t start = absent_after(cache, file, page, max);
        if (start - page > max)
            return;
        ra->start = start;
        ra->size = next_size((uint32_t)(start - page) + left, max);
    }
    ra->order += ORDER_STEP;
    if (cache->model->large_readahead)
        align_window(ra, max);
    ra->async_size = ra->size;
    read_window(cache, file);
}

/*
 * Faults that found nothing make readahead of a mapping end, those that found pages keep it. 6.12
 * counts each page that lies around a fault, be it mapped or not, even those just brought for it;
 * later kernels only the page of a fault that had to bring nothing, and code not at all. A page
 * that came back from eviction is no success.
 */
void readahead_found(const struct mglru_cache *cache, struct mglru_file *file,
                     const struct folio *folio, const struct found_pages *found)
{
    struct readahead *ra = &file->readahead;
    uint32_t hits = found->pages;
    if (cache->model->counts_faults)
        hits = found->faulting && !found->again && !file->vma->exec;
    if (folio_test(folio, FOLIO_WORKINGSET))
        hits = 0;
    ra->mmap_misses -= hits < ra->mmap_misses ? hits : ra->mmap_misses;
}

bool readahead_mapped(struct mglru_cache *cache, struct mglru_file *file, struct folio *folio,
                      uint64_t page)
{
    struct readahead *ra = &file->readahead;
    if (ra->mmap_misses && !(cache->model->counts_faults && file->vma->exec))
        ra->mmap_misses--;
    if (!folio_test(folio, FOLIO_READAHEAD))
        return false;
    bool pinned = folio_test(folio, FOLIO_PINNED);
    folio_set(folio, FOLIO_PINNED); /* the fault holds it: what is brought must not displace it */
    ra->in_fault = true;
    readahead_async(cache, file, folio, page, cache->readahead_pages);
    ra->in_fault = false;
    if (!pinned)
        folio_clear(folio, FOLIO_PINNED);
    return true;
}

/* The window of a fault that found nothing: around it; of code, in later kernels, from it on and
 * without a mark. False: too many found nothing, it is not worth it. */
static bool window_around(const struct mglru_cache *cache, struct mglru_file *file, uint64_t page)
{
    struct readahead *ra = &file->readahead;
    uint32_t max = cache->readahead_pages;
    ra->order = 0;
    if (cache->model->counts_faults && file->vma->exec) {
        ra->start = page;
        ra->size = max;
        ra->async_size = 0;
        return true;
    }
    if (ra->mmap_misses < MMAP_MISSES_MAX * 10)
        ra->mmap_misses++;
    if (ra->mmap_misses > MMAP_MISSES_MAX)
        return false;
    ra->start = page > max / 2 ? page - max / 2 : 0;
    ra->size = max;
    ra->async_size = max / 4;
    return true;
}

int readahead_around(struct mglru_cache *cache, struct mglru_file *file, uint64_t page,
                     bool *window)
{
    struct readahead *ra = &file->readahead;
    *window = window_around(cache, file, page);
    if (*window) {
        ra->in_fault = true;
        int error = read_window(cache, file);
        ra->in_fault = false;
        if (error && error != MGLRU_EAGAIN)
            return error;
    }
    if (present(file, page))
        return 0;
    struct folio *folio;
    return cache_bring_page(cache, file, page, true, &folio);
}
