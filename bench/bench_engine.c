/* SPDX-License-Identifier: MIT */
/*
 * bench_engine: what one access costs and what one page of metadata weighs, over cache sizes.
 *
 * For each size: a memcg of that many pages is filled by a sequential read of one file, then read
 * at random pages that are all resident (hit), then at random pages of a file twice as large
 * (half of them miss, evict, refault). CPU time of the thread, median of the runs; the sizes
 * alternate within a run, so that drift of the machine meets all alike.
 *
 *   bench_engine [--model M] [--runs N] [--max PAGES]
 */
#include <mglru/cache.h>
#include <mglru/control.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/bits.h"
#include "base/check.h"

#define BATCH 1024
#define ACCESSES (1u << 20)
#define RUNS_MAX 31
#define SIZES_MAX 8

struct subject {
    uint64_t pages;
    double hit_ns[RUNS_MAX];
    double miss_ns[RUNS_MAX];
    double page_bytes;
    double shadow_bytes;
};

static double now_ns(void)
{
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values, unsigned count)
{
    qsort(values, count, sizeof(*values), by_value);
    return values[count / 2];
}

/* Random reads below @range; ns per access. */
static double read_random(struct mglru_cache *cache, struct mglru_file *file, uint64_t range,
                          uint64_t seed)
{
    static struct mglru_access batch[BATCH];
    double spent = 0;
    for (unsigned i = 0; i < ACCESSES; i += BATCH) {
        for (unsigned k = 0; k < BATCH; k++) {
            seed += UINT64_C(0x9E3779B97F4A7C15);
            batch[k] = (struct mglru_access){
                .file = file, .index = bits_mix64(seed) % range, .count = 1, .kind = MGLRU_READ};
        }
        size_t done;
        double start = now_ns();
        MGLRU_CHECK(mglru_cache_access(cache, batch, BATCH, NULL, &done) == 0);
        spent += now_ns() - start;
    }
    return spent / ACCESSES;
}

static void read_all(struct mglru_cache *cache, struct mglru_file *file, uint64_t from,
                     uint64_t pages)
{
    struct mglru_access access = {.file = file, .kind = MGLRU_READ};
    while (pages > 0) {
        size_t done;
        access.index = from;
        access.count = pages < BATCH ? (uint32_t)pages : BATCH;
        MGLRU_CHECK(mglru_cache_access(cache, &access, 1, NULL, &done) == 0);
        from += access.count;
        pages -= access.count;
    }
}

static void measure(struct subject *subject, const char *model, unsigned run)
{
    struct mglru_cache_options options = {.size = sizeof(options), .model = model};
    struct mglru_cache *cache;
    struct mglru_memcg *memcg;
    struct mglru_mapping *mapping;
    struct mglru_file *file;
    MGLRU_CHECK(mglru_cache_create(&options, &cache) == 0);
    MGLRU_CHECK(mglru_memcg_create(cache, "/bench", &memcg) == 0);
    MGLRU_CHECK(mglru_mapping_create(cache, "file", MGLRU_FILE, 0, &mapping) == 0);
    MGLRU_CHECK(mglru_file_open(mapping, memcg, &file) == 0);
    uint64_t empty = mglru_cache_metadata_bytes(cache);
    read_all(cache, file, 0, subject->pages);
    uint64_t full = mglru_cache_metadata_bytes(cache);
    subject->page_bytes = (double)(full - empty) / (double)subject->pages;
    subject->hit_ns[run] = read_random(cache, file, subject->pages, run);

    /* The limit is what is used now: each new page takes the place of another one. */
    char text[32];
    size_t length;
    MGLRU_CHECK(mglru_memcg_read(memcg, "memory.current", text, sizeof(text), &length) == 0);
    MGLRU_CHECK(mglru_memcg_write(memcg, "memory.max", text, length) == 0);
    read_all(cache, file, subject->pages, subject->pages);
    uint64_t shadowed = mglru_cache_metadata_bytes(cache);
    subject->shadow_bytes = (double)(shadowed - full) / (double)subject->pages;
    subject->miss_ns[run] = read_random(cache, file, subject->pages * 2, run + 1);
    mglru_cache_destroy(cache);
}

int main(int argc, char **argv)
{
    const char *model = "ours";
    unsigned runs = 7;
    uint64_t most = 10000000;
    for (int i = 1; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--model") == 0)
            model = argv[i + 1];
        else if (strcmp(argv[i], "--runs") == 0)
            runs = (unsigned)strtoul(argv[i + 1], NULL, 10);
        else if (strcmp(argv[i], "--max") == 0)
            most = strtoull(argv[i + 1], NULL, 10);
    }
    if (runs < 1 || runs > RUNS_MAX) {
        fprintf(stderr, "bench_engine: --runs must be 1..%d\n", RUNS_MAX);
        return 2;
    }
    static struct subject subjects[SIZES_MAX];
    unsigned count = 0;
    for (uint64_t pages = 10000; pages <= most && count < SIZES_MAX; pages *= 10)
        subjects[count++].pages = pages;
    for (unsigned run = 0; run < runs; run++)
        for (unsigned s = 0; s < count; s++)
            measure(&subjects[s], model, run);

    printf("%10s  %8s  %12s  %11s  %12s\n", "pages", "hit ns", "half miss ns", "bytes/page",
           "bytes/shadow");
    for (unsigned s = 0; s < count; s++)
        printf("%10llu  %8.1f  %12.1f  %11.1f  %12.1f\n", (unsigned long long)subjects[s].pages,
               median(subjects[s].hit_ns, runs), median(subjects[s].miss_ns, runs),
               subjects[s].page_bytes, subjects[s].shadow_bytes);
    return 0;
}
