/* SPDX-License-Identifier: MIT */
/* This library's cache as a subject: a memory store, a memcg with a limit, mglru_read. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mglru/control.h>
#include <mglru/data.h>
#include <mglru/stores.h>

#include "measure/subjects.h"

/* Pages that the store is filled by at once. */
#define FILL_PAGES 64u
/* Frames beyond the limit: pages that threads and batches hold on their way. */
#define SPARE_SHARE 64u

struct ours {
    struct measure_setup setup;
    struct mglru_store *store;
    struct mglru_cache *cache;
    struct mglru_memcg *memcg;
    struct mglru_mapping *mapping;
    struct mglru_file *file;
};

static void ours_destroy(void *state)
{
    struct ours *ours = state;
    mglru_cache_destroy(ours->cache);
    mglru_store_close(ours->store);
    free(ours);
}

static int fill_store(struct mglru_store *store, const struct measure_setup *setup)
{
    uint64_t bytes = (uint64_t)setup->pages * setup->page_bytes;
    uint64_t most = (uint64_t)FILL_PAGES * setup->page_bytes;
    int error = 0;
    for (uint64_t at = 0; at < bytes && !error; at += most) {
        struct mglru_store_vec vec = {(char *)(uintptr_t)setup->source + at,
                                      bytes - at < most ? bytes - at : most};
        error = mglru_store_write(store, at, &vec, 1);
    }
    return error;
}

static int open_all(struct ours *ours, bool huge)
{
    const struct measure_setup *setup = &ours->setup;
    struct mglru_data_options options = {.size = sizeof(options),
                                         .frame_bytes = setup->page_bytes,
                                         .huge_pages = huge,
                                         .readahead_bytes = UINT64_MAX};
    options.memory_bytes = setup->memory_bytes + setup->memory_bytes / SPARE_SHARE +
                           (uint64_t)FILL_PAGES * setup->page_bytes;
    char text[32];
    int length = snprintf(text, sizeof(text), "%llu", (unsigned long long)setup->memory_bytes);
    struct mglru_store_memory_options store = {
        .size = sizeof(store), .size_max = (uint64_t)setup->pages * setup->page_bytes};
    int error = mglru_store_memory_open(&store, &ours->store);
    if (!error)
        error = fill_store(ours->store, setup);
    if (!error)
        error = mglru_data_create(&options, &ours->cache);
    if (!error)
        error = mglru_memcg_create(ours->cache, "/bench", &ours->memcg);
    if (!error)
        error = mglru_memcg_write(ours->memcg, "memory.max", text, (size_t)length);
    if (!error)
        error =
            mglru_data_mapping_create(ours->cache, "data", ours->store,
                                      (uint64_t)setup->pages * setup->page_bytes, &ours->mapping);
    if (!error)
        error = mglru_file_open(ours->mapping, ours->memcg, &ours->file);
    return error;
}

static int create(const struct measure_setup *setup, bool huge, void **state)
{
    *state = NULL;
    struct ours *ours = calloc(1, sizeof(*ours));
    if (!ours)
        return MGLRU_ENOMEM;
    ours->setup = *setup;
    int error = open_all(ours, huge);
    if (error)
        ours_destroy(ours);
    else
        *state = ours;
    return error;
}

static int ours_create(const struct measure_setup *setup, void **state)
{
    return create(setup, false, state);
}

static int ours_create_huge(const struct measure_setup *setup, void **state)
{
    return create(setup, true, state);
}

static int ours_read(void *state, struct measure_reads *reads)
{
    struct ours *ours = state;
    uint32_t page_bytes = ours->setup.page_bytes;
    for (uint32_t i = 0; i < reads->count; i++) {
        uint32_t page = reads->pages[i];
        size_t done;
        uint64_t offset =
            (uint64_t)page * page_bytes + measure_offset(page, page_bytes, reads->bytes);
        int error = mglru_read(ours->file, offset, reads->buffer, reads->bytes, &done);
        if (error)
            return error;
    }
    return 0;
}

static uint64_t ours_misses(void *state)
{
    const struct ours *ours = state;
    struct mglru_counts counts;
    mglru_memcg_counts(ours->memcg, false, &counts);
    return counts.misses;
}

const struct measure_subject measure_ours = {"ours",       ours_create, ours_read,
                                             ours_destroy, ours_misses, 0};
const struct measure_subject measure_ours_huge = {"ours-huge-pages", ours_create_huge, ours_read,
                                                  ours_destroy,      ours_misses,      0};
