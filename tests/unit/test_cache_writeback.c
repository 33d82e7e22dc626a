/* SPDX-License-Identifier: MIT */
/*
 * Dirty pages and the flusher: who is dirty for how long, when writing starts (age, a tenth of the
 * limit, a reclaim that meets nothing else), when it ends, and what is forgotten with a page.
 * cache_verify holds after each step: each dirty folio has a leaf that will clean it.
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
#define SECOND UINT64_C(1000000000)

struct bench {
    struct mglru_cache *cache;
    struct mglru_memcg *memcg;
    struct mglru_mapping *mapping;
    struct mglru_file *file;
};

static void create(struct bench *bench, const char *model, uint64_t readahead_pages)
{
    struct mglru_cache_options options = {.size = sizeof(options),
                                          .model = model,
                                          .readahead_bytes = readahead_pages * PAGE,
                                          .kernel_charge = MGLRU_KERNEL_CHARGE_NONE};
    assert_int_equal(mglru_cache_create(&options, &bench->cache), 0);
    assert_int_equal(mglru_memcg_create(bench->cache, "/a", &bench->memcg), 0);
    assert_int_equal(mglru_mapping_create(bench->cache, "m", MGLRU_FILE, 0, &bench->mapping), 0);
    assert_int_equal(mglru_file_open(bench->mapping, bench->memcg, &bench->file), 0);
}

static void verify(const struct bench *bench)
{
    const char *broken = cache_verify(bench->cache);
    if (broken)
        fail_msg("%s", broken);
}

static void run(const struct bench *bench, enum mglru_access_kind kind, uint64_t index,
                uint32_t count)
{
    struct mglru_access access = {
        .file = bench->file, .index = index, .count = count, .kind = kind};
    size_t done;
    assert_int_equal(mglru_cache_access(bench->cache, &access, 1, NULL, &done), 0);
    verify(bench);
}

static void set_limit(const struct bench *bench, const char *name, unsigned pages)
{
    char text[32];
    snprintf(text, sizeof(text), "%u", pages * PAGE);
    assert_int_equal(mglru_memcg_write(bench->memcg, name, text, strlen(text)), 0);
}

static uint64_t pages_of(const struct bench *bench, const char *name)
{
    uint64_t value;
    assert_int_equal(mglru_memcg_stat(bench->memcg, name, &value), 0);
    return value / PAGE;
}

static void expect(const struct bench *bench, uint64_t dirty, uint64_t writeback)
{
    assert_int_equal(pages_of(bench, "file_dirty"), dirty);
    assert_int_equal(pages_of(bench, "file_writeback"), writeback);
    assert_int_equal(bench->memcg->dirty_pages, dirty);
}

static void writes_make_dirty_and_reads_do_not(void **state)
{
    struct bench bench;
    create(&bench, "7.3", 0);
    run(&bench, MGLRU_READ, 0, 100);
    expect(&bench, 0, 0);
    run(&bench, MGLRU_WRITE, 50, 100);
    expect(&bench, 100, 0);
    run(&bench, MGLRU_WRITE, 50, 100); /* dirty already */
    run(&bench, MGLRU_READ, 0, 200);
    expect(&bench, 100, 0);
    run(&bench, MGLRU_MAP_READ, 0, 10);
    run(&bench, MGLRU_MAP_EXEC, 0, 10);
    expect(&bench, 100, 0);
    run(&bench, MGLRU_MAP_WRITE, 0, 10);
    expect(&bench, 110, 0);
    mglru_cache_destroy(bench.cache);
}

static void the_flusher_writes_what_is_30_seconds_old(void **state)
{
    struct bench bench;
    create(&bench, "7.3", 0);
    mglru_cache_set_time(bench.cache, 2 * SECOND);
    run(&bench, MGLRU_WRITE, 0, 64);
    mglru_cache_set_time(bench.cache, 20 * SECOND);
    run(&bench, MGLRU_WRITE, 640, 10); /* another leaf, younger */
    expect(&bench, 74, 0);
    mglru_cache_set_time(bench.cache, 31 * SECOND);
    expect(&bench, 74, 0);
    mglru_cache_set_time(bench.cache, 37 * SECOND);
    expect(&bench, 10, 64);
    verify(&bench);
    run(&bench, MGLRU_READ, 5000, 1); /* the write has ended by the next access */
    expect(&bench, 10, 0);
    mglru_cache_set_time(bench.cache, 60 * SECOND);
    mglru_cache_set_time(bench.cache, 61 * SECOND);
    expect(&bench, 0, 0);
    mglru_cache_destroy(bench.cache);
}

/* Of a memcg with @limit pages: a tenth may be dirty, then it is written; @limit by which file. */
static void background(const char *name, unsigned limit, unsigned most)
{
    struct bench bench;
    create(&bench, "7.3", 0);
    set_limit(&bench, name, limit);
    for (unsigned i = 0; i < most; i++) {
        run(&bench, MGLRU_WRITE, i * 64, 1);
        expect(&bench, i + 1, 0);
    }
    run(&bench, MGLRU_WRITE, most * 64, 1);
    expect(&bench, 0, most + 1);
    run(&bench, MGLRU_READ, 1, 1);
    expect(&bench, 0, 0);
    mglru_cache_destroy(bench.cache);
}

static void a_tenth_of_the_limit_starts_the_flusher(void **state)
{
    background("memory.max", 1000, 100);
    background("memory.high", 1000, 100);
    background("memory.max", 1019, 101);
    background("memory.max", 99, 9); /* small limits have their tenth as well */
    background("memory.max", 50, 5);
    background("memory.max", 20, 2);
}

/* One access over many pages: the writer waits for the flusher at a fifth. */
static void a_fifth_of_the_limit_makes_the_writer_wait(void **state)
{
    struct bench bench;
    create(&bench, "7.3", 0);
    set_limit(&bench, "memory.max", 1000);
    for (unsigned i = 0; i < 50; i++) {
        run(&bench, MGLRU_WRITE, i * 300, 300);
        assert_true(pages_of(&bench, "file_dirty") <= 200);
    }
    assert_int_equal(memcg_events(bench.memcg->memcg, MEMCG_EVENT_OOM), 0);
    mglru_cache_destroy(bench.cache);
}

static void no_limit_means_age_alone(void **state)
{
    struct bench bench;
    create(&bench, "7.3", 0);
    run(&bench, MGLRU_WRITE, 0, 50000);
    expect(&bench, 50000, 0);
    mglru_cache_destroy(bench.cache);
}

/* Reclaim that meets only dirty pages wakes the flusher, and then finds clean ones (rows 9, 19). */
static void reclaim_of_dirty_pages_gets_through(void **state)
{
    static const char *const models[] = {"6.12", "7.3", "next", "ours"};
    for (unsigned i = 0; i < 8; i++) {
        struct bench bench;
        create(&bench, models[i / 2], 0);
        assert_int_equal(mglru_cache_write(bench.cache, "enabled", i % 2 ? "0" : "7", 1), 0);
        run(&bench, MGLRU_WRITE, 0, 1000);
        assert_int_equal(mglru_memcg_write(bench.memcg, "memory.reclaim", "1M", 2), 0);
        verify(&bench);
        assert_in_range(pages_of(&bench, "file"), 600, 744);
        assert_int_equal(memcg_events(bench.memcg->memcg, MEMCG_EVENT_OOM), 0);
        mglru_cache_destroy(bench.cache);
    }
}

static uint64_t written_by(const struct bench *bench)
{
    struct mglru_counts counts;
    mglru_memcg_counts(bench->memcg, false, &counts);
    return counts.pages_written;
}

/* Written by age: a page counts each time that it goes to the device, not each time it is stored
 * to. Pages of a large folio count by themselves. */
static void what_goes_to_the_device_is_counted(void **state)
{
    struct bench bench;
    create(&bench, "7.3", 32);
    run(&bench, MGLRU_WRITE, 0, 10);
    run(&bench, MGLRU_WRITE, 0, 10);
    mglru_cache_set_time(bench.cache, UINT64_C(29000000000));
    assert_int_equal(written_by(&bench), 0); /* not old enough */
    mglru_cache_set_time(bench.cache, UINT64_C(40000000000));
    assert_int_equal(written_by(&bench), 10);
    run(&bench, MGLRU_WRITE, 3, 1);
    mglru_cache_set_time(bench.cache, UINT64_C(80000000000));
    assert_int_equal(written_by(&bench), 11);
    for (uint64_t page = 1000; page < 1100; page++)
        run(&bench, MGLRU_READ, page, 1);
    assert_true(folio_order(slot_folio(index_get(&bench.mapping->index, 1090))) > 0);
    run(&bench, MGLRU_WRITE, 1090, 2);
    mglru_cache_set_time(bench.cache, UINT64_C(120000000000));
    assert_int_equal(written_by(&bench), 13);
    mglru_cache_destroy(bench.cache);
}

static void pages_written_again_while_written_are_written_twice(void **state)
{
    struct bench bench;
    create(&bench, "7.3", 0);
    run(&bench, MGLRU_WRITE, 0, 10);
    writeback_start(bench.cache, bench.cache->tree->root, UINT64_MAX);
    expect(&bench, 0, 10);
    /* As a store would, in the middle of the write. */
    writeback_dirty(bench.cache, slot_folio(index_get(&bench.mapping->index, 3)), 3);
    expect(&bench, 1, 10);
    verify(&bench);
    writeback_start(bench.cache, bench.cache->tree->root, UINT64_MAX); /* still under way */
    expect(&bench, 1, 10);
    writeback_finish(bench.cache);
    expect(&bench, 1, 0);
    verify(&bench);
    writeback_start(bench.cache, bench.cache->tree->root, UINT64_MAX);
    expect(&bench, 0, 1);
    writeback_finish(bench.cache);
    expect(&bench, 0, 0);
    verify(&bench);
    mglru_cache_destroy(bench.cache);
}

static void dropped_pages_are_not_written(void **state)
{
    struct bench bench;
    create(&bench, "7.3", 0);
    run(&bench, MGLRU_WRITE, 0, 100);
    mglru_mapping_drop(bench.mapping, 0, 30);
    verify(&bench);
    expect(&bench, 70, 0);
    writeback_start(bench.cache, bench.cache->tree->root, UINT64_MAX);
    mglru_mapping_drop(bench.mapping, 30, 30);
    verify(&bench);
    expect(&bench, 0, 40);
    writeback_finish(bench.cache);
    mglru_mapping_drop(bench.mapping, 0, 100);
    expect(&bench, 0, 0);
    verify(&bench);
    mglru_cache_destroy(bench.cache);
}

/* A memcg's limit starts the writing of its subtree's pages alone. */
static void flushing_is_of_a_subtree(void **state)
{
    struct bench bench;
    struct mglru_memcg *child;
    create(&bench, "7.3", 0);
    assert_int_equal(mglru_memcg_create(bench.cache, "/a/b", &child), 0);
    struct bench below = bench, beside = bench;
    assert_int_equal(mglru_memcg_create(bench.cache, "/c", &beside.memcg), 0);
    below.memcg = child;
    assert_int_equal(mglru_file_open(bench.mapping, child, &below.file), 0);
    assert_int_equal(mglru_file_open(bench.mapping, beside.memcg, &beside.file), 0);
    run(&bench, MGLRU_WRITE, 0, 10);
    run(&below, MGLRU_WRITE, 20, 10);
    run(&beside, MGLRU_WRITE, 40, 10); /* one leaf, three memcgs */
    writeback_start(bench.cache, child->memcg, UINT64_MAX);
    assert_int_equal(child->dirty_pages, 0);
    assert_int_equal(bench.memcg->dirty_pages, 10);
    assert_int_equal(beside.memcg->dirty_pages, 10);
    writeback_start(bench.cache, bench.memcg->memcg, UINT64_MAX);
    assert_int_equal(bench.memcg->dirty_pages, 0);
    assert_int_equal(beside.memcg->dirty_pages, 10);
    verify(&bench);
    writeback_finish(bench.cache);
    verify(&bench);
    mglru_cache_destroy(bench.cache);
}

/* A folio of several pages is dirty until the last of them is being written. */
static void large_folios_are_dirty_as_a_whole(void **state)
{
    struct bench bench;
    create(&bench, "7.3", 128);
    for (uint64_t page = 0; page < 1000; page++)
        run(&bench, MGLRU_READ, page, 1);
    const struct folio *folio = slot_folio(index_get(&bench.mapping->index, 300));
    assert_true(folio_pages(folio) > 1);
    run(&bench, MGLRU_WRITE, 300, 1);
    expect(&bench, (uint64_t)folio_pages(folio), 0);
    writeback_start(bench.cache, bench.cache->tree->root, UINT64_MAX);
    expect(&bench, 0, (uint64_t)folio_pages(folio));
    verify(&bench);
    writeback_finish(bench.cache);
    expect(&bench, 0, 0);
    /* Split: only the part that was written to stays dirty. */
    run(&bench, MGLRU_WRITE, 300, 1);
    mglru_mapping_drop(bench.mapping, 301, 1);
    verify(&bench);
    expect(&bench, 1, 0);
    mglru_cache_destroy(bench.cache);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(writes_make_dirty_and_reads_do_not),
        cmocka_unit_test(the_flusher_writes_what_is_30_seconds_old),
        cmocka_unit_test(a_tenth_of_the_limit_starts_the_flusher),
        cmocka_unit_test(a_fifth_of_the_limit_makes_the_writer_wait),
        cmocka_unit_test(no_limit_means_age_alone),
        cmocka_unit_test(reclaim_of_dirty_pages_gets_through),
        cmocka_unit_test(what_goes_to_the_device_is_counted),
        cmocka_unit_test(pages_written_again_while_written_are_written_twice),
        cmocka_unit_test(dropped_pages_are_not_written),
        cmocka_unit_test(flushing_is_of_a_subtree),
        cmocka_unit_test(large_folios_are_dirty_as_a_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
