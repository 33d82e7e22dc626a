/* SPDX-License-Identifier: MIT */
/*
 * A cache whose machine has an end of memory (options.memory_bytes): memcgs without limits share
 * it, background reclaim keeps the watermarks, the memcg LRU spreads the work, protection holds,
 * and what cannot be reclaimed is out of memory. Facts: mglru-facts 2.9, 5.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include <mglru/cache.h>
#include <mglru/control.h>

#include "cache/cache.h"

#define PAGE 4096u
#define MEMORY 4096u /* pages of the machine: 16 MiB */
/* Watermarks of 16 MiB, in pages: root(16384 KiB * 16) = 512 KiB = 128 pages; 5/4, 3/2 of it. */
#define FREE_MIN 128u
#define FREE_HIGH 192u
#define GROUPS 4u

struct bench {
    struct mglru_cache *cache;
    struct mglru_memcg *memcgs[GROUPS];
    struct mglru_file *files[GROUPS], *heaps[GROUPS];
    struct mglru_memcg *dead; /* who was out of memory last */
};

static void note_oom(void *context, const struct mglru_event *event)
{
    struct bench *bench = context;
    if (event->kind == MGLRU_EVENT_OOM)
        bench->dead = event->memcg;
}

static struct mglru_file *open_new(struct mglru_cache *cache, struct mglru_memcg *memcg,
                                   enum mglru_mapping_kind kind)
{
    struct mglru_mapping *mapping;
    struct mglru_file *file;
    assert_int_equal(mglru_mapping_create(cache, "m", kind, 0, &mapping), 0);
    assert_int_equal(mglru_file_open(mapping, memcg, &file), 0);
    return file;
}

static void create(struct bench *bench, const char *model, bool classic, uint64_t swap_pages)
{
    *bench = (struct bench){0};
    struct mglru_cache_options options = {.size = sizeof(options),
                                          .model = model,
                                          .classic = classic,
                                          .swap_bytes = swap_pages * PAGE,
                                          .memory_bytes = MEMORY * PAGE,
                                          .on_event = note_oom,
                                          .on_event_context = bench};
    assert_int_equal(mglru_cache_create(&options, &bench->cache), 0);
    for (unsigned i = 0; i < GROUPS; i++) {
        char path[8];
        snprintf(path, sizeof(path), i ? "/m%u" : "/", i); /* the root has pages as well */
        assert_int_equal(mglru_memcg_create(bench->cache, path, &bench->memcgs[i]), 0);
        bench->files[i] = open_new(bench->cache, bench->memcgs[i], MGLRU_FILE);
        bench->heaps[i] = open_new(bench->cache, bench->memcgs[i], MGLRU_ANON);
    }
}

static void end(struct bench *bench)
{
    const char *broken = cache_verify(bench->cache);
    if (broken)
        fail_msg("%s", broken);
    mglru_cache_destroy(bench->cache);
}

static int run(struct mglru_file *file, uint64_t index, uint32_t count)
{
    struct mglru_access access = {.file = file,
                                  .index = index,
                                  .count = count,
                                  .kind =
                                      file->mapping->kind == MGLRU_ANON ? MGLRU_TOUCH : MGLRU_READ};
    size_t done;
    return mglru_cache_access(file->mapping->cache, &access, 1, NULL, &done);
}

static uint64_t stat_of(struct mglru_memcg *memcg, const char *name)
{
    uint64_t value;
    assert_int_equal(mglru_memcg_stat(memcg, name, &value), 0);
    return value;
}

static uint64_t resident(const struct bench *bench)
{
    return (stat_of(bench->memcgs[0], "file") + stat_of(bench->memcgs[0], "anon")) / PAGE;
}

static void each(uint64_t swap_pages, void (*body)(struct bench *, bool mglru, bool is_612))
{
    static const char *const models[] = {"6.12", "7.3", "next", "ours"};
    for (unsigned i = 0; i < 8; i++) {
        struct bench bench;
        create(&bench, models[i / 2], i % 2, swap_pages);
        body(&bench, i % 2 == 0, i / 2 == 0);
        end(&bench);
    }
}

static void share_the_machine(struct bench *bench, bool mglru, bool is_612)
{
    uint64_t taken[GROUPS];
    for (unsigned round = 0; round < 4000; round++) {
        assert_int_equal(run(bench->files[round % GROUPS], round / GROUPS * 10, 10), 0);
        assert_true(resident(bench) <= MEMORY - FREE_MIN);
    }
    /* Background reclaim did it, up to a batch above the high watermark; nobody had to wait. */
    assert_true(resident(bench) >= MEMORY - FREE_HIGH - 64 - 64);
    uint64_t background = stat_of(bench->memcgs[0], "pgsteal_kswapd");
    assert_true(background > 30000);
    assert_true(stat_of(bench->memcgs[0], "pgsteal_direct") < background / 20);
    assert_null(bench->dead);
    for (unsigned i = 1; i < GROUPS; i++) {
        taken[i] = stat_of(bench->memcgs[i], "pgsteal");
        /* Who does the same loses about the same. */
        assert_true(i == 1 || (taken[i] < taken[1] * 3 / 2 && taken[1] < taken[i] * 3 / 2));
    }
}

static void memcgs_without_limits_share_the_machine(void **state)
{
    each(0, share_the_machine);
}

static void protect_one(struct bench *bench, bool mglru, bool is_612)
{
    assert_int_equal(run(bench->files[1], 0, 1000), 0);
    assert_int_equal(mglru_memcg_write(bench->memcgs[1], "memory.min", "8M", 2), 0);
    for (unsigned i = 0; i < 2000; i++)
        assert_int_equal(run(bench->files[2], i * 10, 10), 0);
    struct mglru_counts before, after;
    mglru_memcg_counts(bench->memcgs[1], false, &before);
    assert_int_equal(run(bench->files[1], 0, 1000), 0);
    mglru_memcg_counts(bench->memcgs[1], false, &after);
    assert_int_equal(after.misses, before.misses);
}

static void memory_min_holds_against_the_machine(void **state)
{
    each(0, protect_one);
}

/* What one memcg of the machine needs comes from the others' idle pages. */
static void grow_one(struct bench *bench, bool mglru, bool is_612)
{
    for (unsigned i = 1; i < GROUPS; i++)
        assert_int_equal(run(bench->files[i], 0, 1200), 0);
    for (unsigned i = 0; i < 20; i++)
        assert_int_equal(run(bench->heaps[1], 0, 3000), 0);
    assert_int_equal(stat_of(bench->memcgs[1], "anon") / PAGE, 3000);
    assert_true(stat_of(bench->memcgs[2], "file") + stat_of(bench->memcgs[3], "file") <
                1200 * PAGE);
    assert_null(bench->dead);
}

static void one_that_grows_displaces_idle_pages(void **state)
{
    each(0, grow_one);
}

static void swap_some(struct bench *bench, bool mglru, bool is_612)
{
    for (unsigned i = 0; i < 3; i++)
        assert_int_equal(run(bench->heaps[i], 0, 2000), 0);
    assert_true(resident(bench) <= MEMORY - FREE_MIN);
    assert_true(bench->cache->swap_used >= 6000 - MEMORY);
    assert_int_equal(run(bench->heaps[0], 0, 2000), 0);
    assert_null(bench->dead);
}

static void anonymous_memory_goes_to_swap(void **state)
{
    each(10000, swap_some);
}

static void run_out(struct bench *bench, bool mglru, bool is_612)
{
    assert_int_equal(run(bench->files[2], 0, 500), 0);
    assert_int_equal(run(bench->heaps[1], 0, 2 * MEMORY), MGLRU_EOOM);
    assert_ptr_equal(bench->dead, bench->memcgs[0]); /* the machine, not a memcg */
    assert_int_equal(memcg_events(bench->memcgs[1]->memcg, MEMCG_EVENT_OOM), 0);
    /* All but what two batches may hold. */
    assert_in_range(resident(bench), MEMORY - 64, MEMORY);
    mglru_mapping_drop(bench->heaps[1]->mapping, 0, UINT64_MAX); /* its process dies */
    assert_int_equal(run(bench->heaps[2], 0, 1000), 0);
}

static void a_machine_that_is_full_of_what_stays_is_out_of_memory(void **state)
{
    each(0, run_out);
}

/* min_ttl_ms keeps background reclaim from memcgs whose pages are all young (2.9). */
static void young_pages_keep_background_reclaim_away(void **state)
{
    struct bench bench;
    create(&bench, "7.3", false, 0);
    assert_int_equal(mglru_cache_write(bench.cache, "min_ttl_ms", "1000", 4), 0);
    assert_int_equal(run(bench.files[1], 0, 6000), 0);
    assert_int_equal(stat_of(bench.memcgs[0], "pgsteal_kswapd"), 0);
    assert_true(stat_of(bench.memcgs[0], "pgsteal_direct") > 1000);
    mglru_cache_set_time(bench.cache, UINT64_C(2000000000));
    assert_int_equal(run(bench.files[1], 6000, 300), 0);
    assert_true(stat_of(bench.memcgs[0], "pgsteal_kswapd") > 0);
    end(&bench);
}

static void memory_below_the_least_is_refused(void **state)
{
    static const uint64_t bad[] = {1, 4096, (1 << 20) - 1, (UINT64_C(1) << 52) + 1, UINT64_MAX};
    struct mglru_cache *cache;
    struct mglru_cache_options options = {.size = sizeof(options)};
    for (size_t i = 0; i < MGLRU_ARRAY_LEN(bad); i++) {
        options.memory_bytes = bad[i];
        assert_int_equal(mglru_cache_create(&options, &cache), MGLRU_EINVAL);
        assert_null(cache);
    }
    options.memory_bytes = 1 << 20;
    assert_int_equal(mglru_cache_create(&options, &cache), 0);
    struct mglru_memcg *memcg;
    assert_int_equal(mglru_memcg_create(cache, "/a", &memcg), 0);
    assert_int_equal(run(open_new(cache, memcg, MGLRU_FILE), 0, 5000), 0);
    assert_null(cache_verify(cache));
    mglru_cache_destroy(cache);
    /* A caller that was built before the option was there. */
    options.memory_bytes = 1;
    options.size = offsetof(struct mglru_cache_options, memory_bytes);
    assert_int_equal(mglru_cache_create(&options, &cache), 0);
    mglru_cache_destroy(cache);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memcgs_without_limits_share_the_machine),
        cmocka_unit_test(memory_min_holds_against_the_machine),
        cmocka_unit_test(one_that_grows_displaces_idle_pages),
        cmocka_unit_test(anonymous_memory_goes_to_swap),
        cmocka_unit_test(a_machine_that_is_full_of_what_stays_is_out_of_memory),
        cmocka_unit_test(young_pages_keep_background_reclaim_away),
        cmocka_unit_test(memory_below_the_least_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
