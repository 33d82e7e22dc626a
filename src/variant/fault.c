/* SPDX-License-Identifier: MIT */
/*
 * The tests of will-it-scale that document 001 ran in a memcg three levels below the root, as far
 * as they concern memcgs and LRU lists: charge, count, add, delete, uncharge. There are no page
 * tables and no contents of pages.
 *
 *   page_fault1   anonymous memory is touched page by page, then unmapped
 *   page_fault2   the same of a private mapping of a file, whose pages stay
 *   page_fault3   a shared mapping of a file: its pages are mapped and unmapped, none is added
 *   fallocate1    a file in memory grows by 8 KiB at a time to 1 MiB and is truncated
 *   fallocate2    the same of another file; with /tmp in memory, as there, no difference
 *
 * Each thread has memory or a file of its own. The pages lie in zone 0, the first of the sizes by
 * zone, which in the order `before` follow the pointers directly.
 */
#include "variant/variant.h"

#include <stdlib.h>
#include <string.h>

#include "memcg/charge.h"
#include "memcg/stock.h"
#include "reclaim/hold.h"

#define PAGE_BYTES 4096u
#define FALLOCATE_PAGES 2u
#define FALLOCATE_FILE_PAGES 256u
/* Folios that are freed under one taking of the lock, as the kernel's batches. */
#define FREE_BATCH LRU_ADD_BATCH
#define DEPTH "/a/b/c"

enum fault_kind { FAULT_ANON, FAULT_PRIVATE, FAULT_SHARED, FAULT_FALLOCATE };

struct fault_thread {
    _Alignas(64) struct folio *folios; /* its memory; of FAULT_SHARED those of the file */
    struct folio *file;                /* FAULT_PRIVATE */
    struct lruvec *lruvec;
    uint32_t pages;
    uint32_t at; /* pages that are there, or mapped */
};

struct fault {
    struct variant_machine *machine;
    struct memcg *memcg;
    struct page_mapping anon;
    struct page_mapping shared;
    enum fault_kind kind;
    unsigned jobs;
    struct fault_thread threads[VARIANT_JOBS_MAX];
};

static int charge_folio(struct fault *fault, struct fault_thread *thread, struct folio *folio,
                        uint64_t flags)
{
    struct memcg_verdict verdict;
    int error = memcg_try_charge(fault->memcg, cpu_current, 1, &verdict);
    if (error)
        return error;
    bool backed = flags & FOLIO_SWAPBACKED;
    folio->mapping = backed ? &fault->anon : &fault->shared;
    atomic_store_relaxed(&folio->lruvec, thread->lruvec);
    atomic_store_relaxed(&folio->flags, FOLIO_SHARED | flags);
    atomic_store_relaxed(&folio->hold, 2 * HOLD_REF); /* its owner's, the batch's */
    return 0;
}

/* A page of memory, or of a file in memory. */
static int add_page(struct fault *fault, struct fault_thread *thread)
{
    struct folio *folio = &thread->folios[thread->at];
    bool anon = fault->kind != FAULT_FALLOCATE;
    int error = charge_folio(fault, thread, folio, FOLIO_SWAPBACKED | (anon ? FOLIO_ANON : 0));
    if (error)
        return error;
    lruvec_stat(thread->lruvec, anon ? MEMCG_NR_ANON : MEMCG_NR_FILE, 1);
    if (!anon)
        lruvec_stat(thread->lruvec, MEMCG_SHMEM, 1);
    lru_batch_add(&fault->machine->reclaim, folio, anon);
    thread->at++;
    return 0;
}

/* The lists lose the folios of one batch. */
static void free_batch(struct fault_thread *thread, struct folio *folios, unsigned count)
{
    lruvec_lock(thread->lruvec);
    for (unsigned i = 0; i < count; i++)
        if (hold_put(&folios[i]))
            lruvec_del(&folios[i], false);
    lruvec_unlock(thread->lruvec);
}

static void free_all(struct fault *fault, struct fault_thread *thread)
{
    bool anon = fault->kind != FAULT_FALLOCATE;
    lru_batch_drain(&fault->machine->reclaim);
    for (uint32_t at = 0; at < thread->at; at += FREE_BATCH) {
        unsigned count = thread->at - at < FREE_BATCH ? thread->at - at : FREE_BATCH;
        for (unsigned i = 0; i < count; i++) {
            lruvec_stat(thread->lruvec, anon ? MEMCG_NR_ANON : MEMCG_NR_FILE, -1);
            if (!anon)
                lruvec_stat(thread->lruvec, MEMCG_SHMEM, -1);
        }
        free_batch(thread, &thread->folios[at], count);
        memcg_uncharge(fault->memcg, count);
    }
    thread->at = 0;
}

static void map_page(struct fault_thread *thread)
{
    struct folio *folio = &thread->folios[thread->at++];
    hold_get(folio);
    folio->map_count++;
    lruvec_stat(thread->lruvec, MEMCG_FILE_MAPPED, 1);
}

/* The accessed bits are met on the way. */
static void unmap_all(struct fault *fault, struct fault_thread *thread)
{
    for (uint32_t i = 0; i < thread->at; i++) {
        struct folio *folio = &thread->folios[i];
        folio->map_count--;
        lruvec_stat(thread->lruvec, MEMCG_FILE_MAPPED, -1);
        folio_mark_again(&fault->machine->reclaim, folio);
        hold_put(folio);
    }
    thread->at = 0;
}

static int touch_page(struct fault *fault, struct fault_thread *thread)
{
    lruvec_stat(thread->lruvec, MEMCG_PGFAULT, 1);
    if (fault->kind == FAULT_SHARED) {
        map_page(thread);
        return 0;
    }
    if (fault->kind == FAULT_PRIVATE) {
        /* The page that is copied is found and held meanwhile. */
        struct folio *source = &thread->file[thread->at];
        hold_get(source);
        hold_put(source);
    }
    return add_page(fault, thread);
}

static int fault_run(void *state, unsigned number, unsigned count, uint64_t *done)
{
    struct fault *fault = state;
    struct fault_thread *thread = &fault->threads[number];
    int error = 0;
    cpu_current = number;
    for (unsigned i = 0; i < count && !error; i++) {
        if (thread->at >= thread->pages) {
            if (fault->kind == FAULT_SHARED)
                unmap_all(fault, thread);
            else
                free_all(fault, thread);
        }
        if (fault->kind == FAULT_FALLOCATE) {
            for (unsigned page = 0; page < FALLOCATE_PAGES && !error; page++)
                error = add_page(fault, thread);
        } else {
            error = touch_page(fault, thread);
        }
        *done += 1;
    }
    cpu_current = 0;
    return error;
}

/* --- setting up ----------------------------------------------------------------------------- */

static struct folio *make_folios(uint32_t pages)
{
    struct folio *folios = aligned_alloc(64, pages * sizeof(*folios));
    if (folios)
        memset(folios, 0, pages * sizeof(*folios));
    return folios;
}

/* A file whose pages are there. */
static struct folio *make_file(struct fault *fault, struct fault_thread *thread)
{
    struct folio *folios = make_folios(thread->pages);
    for (uint32_t i = 0; folios && i < thread->pages; i++) {
        if (charge_folio(fault, thread, &folios[i], 0)) {
            free(folios);
            return NULL;
        }
        lruvec_stat(thread->lruvec, MEMCG_NR_FILE, 1);
        lru_batch_add(&fault->machine->reclaim, &folios[i], false);
    }
    lru_batch_drain(&fault->machine->reclaim);
    return folios;
}

static int make_thread(struct fault *fault, const struct work_setup *setup, unsigned number)
{
    struct fault_thread *thread = &fault->threads[number];
    thread->lruvec = memcg_lruvec(fault->memcg, number % setup->nodes);
    thread->pages = fault->kind == FAULT_FALLOCATE ? FALLOCATE_FILE_PAGES
                                                   : (uint32_t)(setup->size_bytes / PAGE_BYTES);
    cpu_current = number;
    if (fault->kind == FAULT_SHARED)
        thread->folios = make_file(fault, thread);
    else
        thread->folios = make_folios(thread->pages);
    if (fault->kind == FAULT_PRIVATE)
        thread->file = make_file(fault, thread);
    cpu_current = 0;
    return thread->folios && (fault->kind != FAULT_PRIVATE || thread->file) ? 0 : MGLRU_ENOMEM;
}

static void fault_destroy(void *state)
{
    struct fault *fault = state;
    for (unsigned i = 0; i < fault->jobs; i++) {
        free(fault->threads[i].folios);
        free(fault->threads[i].file);
    }
    variant_machine_destroy(fault->machine);
    free(fault);
}

static enum fault_kind kind_of(const char *test)
{
    if (strncmp(test, "fallocate", 9) == 0)
        return FAULT_FALLOCATE;
    return (enum fault_kind)(test[strlen(test) - 1] - '1');
}

static int fault_create(const struct work_setup *setup, void **state)
{
    struct fault *fault = aligned_alloc(64, sizeof(*fault));
    *state = NULL;
    if (!fault)
        return MGLRU_ENOMEM;
    memset(fault, 0, sizeof(*fault));
    fault->kind = kind_of(setup->test);
    fault->jobs = setup->jobs;
    list_init(&fault->anon.vmas);
    list_init(&fault->shared.vmas);
    int error = variant_machine_create(setup->jobs, setup->nodes, &fault->machine);
    if (!error)
        error = memcg_create_path(fault->machine->tree, DEPTH, &fault->memcg);
    for (unsigned i = 0; i < setup->jobs && !error; i++)
        error = make_thread(fault, setup, i);
    if (error) {
        fault_destroy(fault);
        return error;
    }
    *state = fault;
    return 0;
}

static size_t fault_objects(void *state, struct coherence_subject *items)
{
    struct fault *fault = state;
    struct variant_objects objects = {.items = items};
    variant_add_reclaim(&objects, &fault->machine->reclaim);
    variant_add_tree(&objects, fault->machine->tree);
    for (const struct memcg *memcg = fault->memcg; memcg; memcg = memcg->parent)
        variant_add_memcg(&objects, memcg);
    return objects.count;
}

#define FAULT_WORK(name, title)                                                                    \
    const struct work name##_work = {                                                              \
        .bench = (title),                                                                          \
        .test = #name,                                                                             \
        .unit = "ops",                                                                             \
        .create = fault_create,                                                                    \
        .run = fault_run,                                                                          \
        .destroy = fault_destroy,                                                                  \
        .objects = fault_objects,                                                                  \
    }

FAULT_WORK(page_fault1, "fault");
FAULT_WORK(page_fault2, "fault");
FAULT_WORK(page_fault3, "fault");
FAULT_WORK(fallocate1, "fallocate");
FAULT_WORK(fallocate2, "fallocate");
