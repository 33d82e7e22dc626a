/* SPDX-License-Identifier: MIT */
/*
 * Accesses through page tables: mapped files and anonymous memory, with the faults they take.
 * Facts: mglru-facts 1.5, 1.6, 13.1. Linux mm/memory.c (do_read_fault, do_anonymous_page,
 * do_swap_page), mm/filemap.c (filemap_fault).
 */
#include "cache/cache.h"

#include "base/check.h"

/* The mapping of @file in its memcg's address space, made at the first access. */
static struct vma *file_vma(struct mglru_file *file, bool exec)
{
    struct mglru_memcg *user = file->memcg;
    if (MGLRU_UNLIKELY(!file->vma)) {
        if (!user->mm)
            user->mm = mm_create(user->memcg);
        if (user->mm)
            file->vma = vma_create(user->mm, &file->mapping->base, exec);
        if (file->vma)
            file->vma->end = file->mapping->size_pages; /* the whole of it is mapped */
    }
    if (file->vma && exec)
        file->vma->exec = true;
    return file->vma;
}

/* Pages that a fault maps at most (fault_around_bytes: 64 KiB). */
#define FAULT_AROUND_PAGES 16

/* One past the last page that can be mapped. */
static uint64_t mapped_end(const struct mglru_file *file)
{
    uint64_t size = file->mapping->size_pages;
    return size ? size : MGLRU_INDEX_MAX + 1;
}

/* The table for @page, paid for; paying may reclaim. A table stays where the fault fails later. */
static int reserve_table(struct mglru_cache *cache, struct mglru_file *file, uint64_t page)
{
    struct page_table *table;
    vma_entry(file->vma, page, &table);
    if (table)
        return 0;
    int error = cache_charge_tables(cache, file->memcg, 1);
    if (error)
        return error;
    error = vma_reserve(file->vma, page);
    if (error)
        cache_uncharge_tables(cache, file->memcg, 1);
    return error;
}

/* A store to a mapped file page. Writeback makes an entry read-only again, so the first store after
 * it faults and tells the flusher: the page is dirty from here on, not from its unmapping on. */
static void dirty_mapped(struct mglru_cache *cache, struct mglru_file *file, uint64_t page)
{
    writeback_dirty(cache, slot_folio(index_get(&file->mapping->index, page)), page);
}

/* The folio of @page; NULL: absent. */
static struct folio *folio_at(const struct mglru_file *file, uint64_t page)
{
    uint64_t slot = index_get(&file->mapping->index, page);
    return slot_is_folio(slot) ? slot_folio(slot) : NULL;
}

/*
 * Maps the pages of @folio from @first to @end - 1, which share a table, where nothing is mapped
 * yet. A kernel with large folios maps all of one.
 */
static void map_folio(struct mglru_cache *cache, struct mglru_file *file, struct folio *folio,
                      uint64_t first, uint64_t end)
{
    uint64_t last = folio->index + (uint64_t)folio_pages(folio);
    bool whole = cache->model->large_readahead && last - 1 < mapped_end(file) &&
                 folio->index / PTRS_PER_TABLE == (last - 1) / PTRS_PER_TABLE;
    if (whole || end > last)
        end = last;
    if (whole)
        first = folio->index;
    for (uint64_t page = first; page < end; page++)
        if (!*vma_entry(file->vma, page, NULL))
            vma_map(file->vma, page, folio, false);
}

/*
 * Maps what is there around @page, in the 16 pages of its alignment, but nothing that is marked:
 * that has to fault, to read on. True: @page is mapped now. @again: the fault brought pages first.
 */
static bool map_around(struct mglru_cache *cache, struct mglru_file *file, uint64_t page,
                       bool again)
{
    uint64_t at = page & ~(uint64_t)(FAULT_AROUND_PAGES - 1);
    uint64_t end = at + FAULT_AROUND_PAGES;
    if (end > mapped_end(file))
        end = mapped_end(file);
    while (at < end) {
        struct folio *folio = folio_at(file, at);
        uint64_t next = folio ? folio->index + (uint64_t)folio_pages(folio) : at + 1;
        next = next < end ? next : end;
        if (folio && !folio_test(folio, FOLIO_READAHEAD)) {
            map_folio(cache, file, folio, at, next);
            readahead_found(cache, file, folio,
                            &(struct found_pages){.pages = (uint32_t)(next - at),
                                                  .faulting = at <= page && page < next,
                                                  .again = again});
        }
        at = next;
    }
    return *vma_entry(file->vma, page, NULL) != 0;
}

/* Brings @page for a fault, or reads on from it. 1 missed, 0 found, or a negative code. *@retry:
 * the kernel starts the fault anew, since a window was read meanwhile. */
static int fault_in(struct mglru_cache *cache, struct mglru_file *file, uint64_t page, bool *retry)
{
    struct folio *folio = folio_at(file, page);
    *retry = false;
    if (folio) {
        if (cache->readahead_pages)
            *retry = readahead_mapped(cache, file, folio, page);
        return 0;
    }
    int error = cache->readahead_pages ? readahead_around(cache, file, page, retry)
                                       : cache_bring_page(cache, file, page, true, &folio);
    if (error)
        return error;
    memcg_stat_add(file->memcg->memcg, 0, 0, MEMCG_PGMAJFAULT, 1);
    return 1;
}

/* A fault on @page, whose table is there. A load maps what lies around too, and again when it is
 * retried; a store its page alone. Without readahead everything goes page by page. */
static int fault(struct mglru_cache *cache, struct mglru_file *file, uint64_t page, bool write)
{
    bool around = cache->readahead_pages && !write, retry;
    if (around && map_around(cache, file, page, false))
        return 0;
    int missed = fault_in(cache, file, page, &retry);
    if (missed < 0 || (retry && around && map_around(cache, file, page, true)))
        return missed;
    if (retry)
        fault_in(cache, file, page, &retry); /* finds the page */
    vma_map(file->vma, page, folio_at(file, page), false);
    return missed;
}

int cache_map_page(struct mglru_cache *cache, struct mglru_file *file, uint64_t page,
                   enum mglru_access_kind kind)
{
    bool write = kind == MGLRU_MAP_WRITE;
    struct vma *vma = file_vma(file, kind == MGLRU_MAP_EXEC);
    if (!vma)
        return MGLRU_ENOMEM;
    vma->mm->ran = true;
    int missed = 0;
    if (!vma_touch(vma, page, false)) {
        memcg_stat_add(file->memcg->memcg, 0, 0, MEMCG_PGFAULT, 1);
        /* The table comes first, as in the kernel: paying for it may reclaim the page. */
        int error = reserve_table(cache, file, page);
        if (error)
            return error;
        file->readahead.asked_first = page;
        file->readahead.asked_end = page + 1;
        missed = fault(cache, file, page, write);
        if (missed < 0)
            return missed;
    }
    if (cache->readahead_pages)
        folio_ask(folio_at(file, page));
    if (write)
        dirty_mapped(cache, file, page);
    return missed;
}

/* A new anonymous folio for @page, in its mapping, not yet on the lists. */
static int anon_folio(struct mglru_cache *cache, struct mglru_file *file, uint64_t page,
                      struct folio **out, uint64_t *shadow)
{
    int error = cache_charge(cache, file->memcg, 1);
    return error ? error : cache_folio_enter(file, page, 0, out, shadow);
}

static void swap_in(struct mglru_cache *cache, struct mglru_file *file, struct folio *folio,
                    uint64_t shadow)
{
    struct memcg *memcg = file->memcg->memcg;
    cache_refault(cache, folio, shadow, true);
    memcg_stat_add(memcg, 0, 0, MEMCG_PGMAJFAULT, 1);
    memcg_stat_add(memcg, 0, 0, MEMCG_PSWPIN, 1);
    /* The page that fills the batch is placed while it is still in the swap cache; the others
     * leave it first, since a write fault gives the slot back at once. */
    if (cache->model->swapin_uses_cache)
        folio_set(folio, FOLIO_SWAPCACHE);
    lru_batch_add(&cache->reclaim, folio, true);
    folio_clear(folio, FOLIO_SWAPCACHE);
    cache_swap_forget(cache, shadow);
    file->memcg->counts.pages_read++;
}

/* The page is there, but not in this page table: it waits in the swap cache, or another memcg
 * brought it. The store takes it out of the swap cache. */
static void map_present(struct mglru_cache *cache, struct mglru_file *file, struct folio *folio,
                        uint64_t page)
{
    vma_map(file->vma, page, folio, true);
    if (!folio_test(folio, FOLIO_SWAPCACHE))
        return;
    folio_clear(folio, FOLIO_SWAPCACHE);
    lruvec_stat(folio_lruvec(folio), MEMCG_SWAPCACHE, -folio_pages(folio));
    cache_swap_free(cache, memcg_user(folio_lruvec(folio)->memcg), (uint64_t)folio_pages(folio));
}

/* Small objects of the process, once an open file. */
static int charge_region(struct mglru_cache *cache, struct mglru_file *file)
{
    if (file->kernel_bytes)
        return 0;
    int error = cache_charge_kernel(cache, file->memcg, KERNEL_ANON_BYTES);
    if (!error)
        file->kernel_bytes = KERNEL_ANON_BYTES;
    return error;
}

int cache_touch_page(struct mglru_cache *cache, struct mglru_file *file, uint64_t page)
{
    struct vma *vma = file_vma(file, false);
    if (!vma)
        return MGLRU_ENOMEM;
    vma->mm->ran = true;
    if (vma_touch(vma, page, true))
        return 0;
    int error = charge_region(cache, file);
    if (error)
        return error;
    memcg_stat_add(file->memcg->memcg, 0, 0, MEMCG_PGFAULT, 1);
    /* The table comes first: nothing can fail once the folio is there. */
    error = reserve_table(cache, file, page);
    if (error)
        return error;
    uint64_t slot = index_get(&file->mapping->index, page);
    if (slot_is_folio(slot)) {
        map_present(cache, file, slot_folio(slot), page);
        return 0;
    }
    struct folio *folio;
    uint64_t shadow;
    error = anon_folio(cache, file, page, &folio, &shadow);
    if (error)
        return error;
    vma_map(vma, page, folio, true);
    if (shadow) {
        swap_in(cache, file, folio, shadow);
        return 1;
    }
    lru_batch_add(&cache->reclaim, folio, true);
    file->memcg->counts.first_touches++;
    return 0;
}
