/* SPDX-License-Identifier: MIT */
/*
 * Document 000's work: 24 files, three times as large as the limit of the one memcg that reads
 * them, 4 KiB at a time, each block once a pass, in another random order each pass: most reads
 * refault. The files are in memory and empty, so that a read from them is a fill with zeros.
 */
#include "variant/variant.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mglru/control.h>
#include <mglru/data.h>
#include <mglru/stores.h>

#include "cache/cache.h"
#include "measure/permute.h"

#define FILES 24u
#define BLOCK_BYTES 4096u
#define OVERSIZE 3u
/* Frames beyond the limit, so that the limit alone makes reclaim. */
#define SPARE_BYTES (UINT64_C(8) << 20)

struct reader {
    _Alignas(64) struct measure_pass pass;
    char buffer[BLOCK_BYTES];
};

struct refault {
    struct mglru_store *stores[FILES];
    struct mglru_file *files[FILES];
    struct mglru_cache *cache;
    struct mglru_memcg *memcg;
    uint64_t blocks; /* of a thread */
    unsigned jobs;
    struct reader readers[VARIANT_JOBS_MAX];
};

static int refault_run(void *state, unsigned thread, unsigned count, uint64_t *done)
{
    struct refault *refault = state;
    struct reader *reader = &refault->readers[thread];
    int error = 0;
    for (unsigned i = 0; i < count && !error; i++) {
        uint64_t own = measure_next_block(&reader->pass, refault->blocks, thread, VARIANT_JOBS_MAX);
        uint64_t block = own * refault->jobs + thread;
        size_t length;
        error = mglru_read(refault->files[block % FILES], block / FILES * BLOCK_BYTES,
                           reader->buffer, BLOCK_BYTES, &length);
        *done += 1;
    }
    return error;
}

static int open_file(struct refault *refault, unsigned i, uint64_t bytes)
{
    struct mglru_store_memory_options options = {.size = sizeof(options), .size_max = bytes};
    struct mglru_mapping *mapping;
    char name[16];
    snprintf(name, sizeof(name), "file%u", i);
    int error = mglru_store_memory_open(&options, &refault->stores[i]);
    if (!error)
        error =
            mglru_data_mapping_create(refault->cache, name, refault->stores[i], bytes, &mapping);
    return error ? error : mglru_file_open(mapping, refault->memcg, &refault->files[i]);
}

static int open_cache(struct refault *refault, const struct work_setup *setup)
{
    uint64_t limit = setup->size_bytes / OVERSIZE;
    struct mglru_data_options options = {.size = sizeof(options),
                                         .memory_bytes = limit + SPARE_BYTES,
                                         .cpus = setup->jobs,
                                         .no_threads = true,
                                         .readahead_bytes = UINT64_MAX};
    char text[32];
    int length = snprintf(text, sizeof(text), "%llu", (unsigned long long)limit);
    int error = mglru_data_create(&options, &refault->cache);
    if (!error)
        error = mglru_memcg_create(refault->cache, "/bench", &refault->memcg);
    if (!error)
        error = mglru_memcg_write(refault->memcg, "memory.max", text, (size_t)length);
    for (unsigned i = 0; i < FILES && !error; i++)
        error = open_file(refault, i, setup->size_bytes / FILES);
    return error;
}

/* A pass and a half: every page of the second half of a pass has a shadow then. */
static int warm(struct refault *refault)
{
    int error = 0;
    for (uint64_t i = 0; i < refault->blocks * 3 / 2 && !error; i++)
        for (unsigned thread = 0; thread < refault->jobs && !error; thread++) {
            uint64_t done = 0;
            error = refault_run(refault, thread, 1, &done);
        }
    return error;
}

static void refault_destroy(void *state)
{
    struct refault *refault = state;
    mglru_cache_destroy(refault->cache);
    for (unsigned i = 0; i < FILES; i++)
        mglru_store_close(refault->stores[i]);
    free(refault);
}

static int refault_create(const struct work_setup *setup, void **state)
{
    struct refault *refault = aligned_alloc(64, sizeof(*refault));
    *state = NULL;
    if (!refault)
        return MGLRU_ENOMEM;
    memset(refault, 0, sizeof(*refault));
    refault->jobs = setup->jobs;
    refault->blocks = setup->size_bytes / BLOCK_BYTES / FILES * FILES / setup->jobs;
    int error = open_cache(refault, setup);
    if (!error)
        error = warm(refault);
    if (error) {
        refault_destroy(refault);
        return error;
    }
    *state = refault;
    return 0;
}

static size_t refault_objects(void *state, struct coherence_subject *items)
{
    const struct refault *refault = state;
    const struct reclaim *reclaim = &refault->cache->reclaim;
    struct variant_objects objects = {.items = items};
    variant_add_reclaim(&objects, reclaim);
    variant_add_tree(&objects, reclaim->tree);
    variant_add_memcg(&objects, refault->memcg->memcg);
    variant_add_memcg(&objects, reclaim->tree->root);
    return objects.count;
}

const struct work refault_work = {
    .bench = "refault",
    .test = "random",
    .unit = "reads",
    .create = refault_create,
    .run = refault_run,
    .destroy = refault_destroy,
    .objects = refault_objects,
};
