/* SPDX-License-Identifier: MIT */
/*
 * Readahead by what a caller sees: which pages are there after which reads, how many were brought,
 * what missed. Windows as in Linux mm/readahead.c for a maximum of 32 pages; the sizes in these
 * tests were worked out by hand from its rules (double or quadruple up to the maximum, the next
 * window when the reader reaches the mark).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include <mglru/cache.h>
#include <mglru/control.h>

#include "cache/cache.h"

#define PAGE 4096u
#define MAX 32u

struct bench {
    struct mglru_cache *cache;
    struct mglru_memcg *memcg;
    struct mglru_mapping *mapping;
    struct mglru_file *file;
};

static void create_sized(struct bench *bench, const char *model, uint64_t size_pages)
{
    struct mglru_cache_options options = {.size = sizeof(options),
                                          .model = model,
                                          .readahead_bytes = MAX * PAGE,
                                          .kernel_charge = MGLRU_KERNEL_CHARGE_NONE};
    assert_int_equal(mglru_cache_create(&options, &bench->cache), 0);
    assert_int_equal(mglru_memcg_create(bench->cache, "/a", &bench->memcg), 0);
    assert_int_equal(
        mglru_mapping_create(bench->cache, "m", MGLRU_FILE, size_pages, &bench->mapping), 0);
    assert_int_equal(mglru_file_open(bench->mapping, bench->memcg, &bench->file), 0);
}

static void create(struct bench *bench, const char *model)
{
    create_sized(bench, model, 0);
}

static void end(struct bench *bench)
{
    const char *broken = cache_verify(bench->cache);
    if (broken)
        fail_msg("%s", broken);
    mglru_cache_destroy(bench->cache);
}

static struct mglru_counts counts_of(const struct bench *bench)
{
    struct mglru_counts counts;
    mglru_memcg_counts(bench->memcg, false, &counts);
    return counts;
}

static int run(const struct bench *bench, enum mglru_access_kind kind, uint64_t index,
               uint32_t count)
{
    struct mglru_access access = {
        .file = bench->file, .index = index, .count = count, .kind = kind};
    size_t done;
    return mglru_cache_access(bench->cache, &access, 1, NULL, &done);
}

/* Reads and gives the pages that were brought for it. */
static uint64_t brought(const struct bench *bench, uint64_t index, uint32_t count)
{
    uint64_t before = counts_of(bench).pages_read;
    assert_int_equal(run(bench, MGLRU_READ, index, count), 0);
    return counts_of(bench).pages_read - before;
}

static bool present(const struct bench *bench, uint64_t page)
{
    return slot_is_folio(index_get(&bench->mapping->index, page));
}

/* Pages first .. end - 1 are there and their neighbours are not. */
static void expect_range(const struct bench *bench, uint64_t first, uint64_t end)
{
    assert_true(first == 0 || !present(bench, first - 1));
    for (uint64_t page = first; page < end; page++)
        assert_true(present(bench, page));
    assert_false(present(bench, end));
}

static const char *const models[] = {"6.12", "7.3", "ours"};

/* A read of one page and what it brings. */
struct step {
    uint64_t page;
    uint64_t brought;
    unsigned order; /* of the last folio brought */
};

/* A file is read page by page; pages between the steps bring nothing. */
static void expect_steps(const char *model, const struct step *steps, size_t count)
{
    struct bench bench;
    create(&bench, model);
    uint64_t page = 0, present_end = 0;
    for (size_t i = 0; i < count; i++) {
        for (; page < steps[i].page; page++)
            assert_int_equal(brought(&bench, page, 1), 0);
        assert_int_equal(brought(&bench, page++, 1), steps[i].brought);
        present_end += steps[i].brought;
        expect_range(&bench, 0, present_end);
        uint64_t slot = index_get(&bench.mapping->index, present_end - 1);
        assert_int_equal(folio_order(slot_folio(slot)), steps[i].order);
    }
    assert_int_equal(counts_of(&bench).misses, 1);
    end(&bench);
}

/* The first window of 4 is marked after the page that was asked for, later ones at their first. */
static void windows_double_as_a_file_is_read(void **state)
{
    static const struct step steps[] = {{0, 4, 0},   {1, 8, 0},   {4, 16, 0},
                                        {12, 32, 0}, {28, 32, 0}, {60, 32, 0}};
    expect_steps("6.12", steps, MGLRU_ARRAY_LEN(steps));
}

/*
 * Later kernels add two to the order of each window and cut its end down to a multiple of that, as
 * long as something is left: 12..27 becomes 12..15, since the order is 4 and 16 the last multiple.
 */
static void windows_end_where_their_largest_folio_can(void **state)
{
    static const struct step steps[] = {{0, 4, 0},   {1, 8, 2},   {4, 4, 2},   {12, 8, 3},
                                        {16, 8, 3},  {24, 16, 4}, {32, 16, 4}, {48, 32, 5},
                                        {64, 32, 5}, {96, 32, 5}};
    expect_steps("7.3", steps, MGLRU_ARRAY_LEN(steps));
    expect_steps("ours", steps, MGLRU_ARRAY_LEN(steps));
}

/*
 * A request above the window is read at once, up to 320 pages, the device's largest read. One above
 * that counts as a stream: it is read in windows of 320, each marked to read on.
 */
static void a_large_request_is_read_at_once(void **state)
{
    for (size_t m = 0; m < MGLRU_ARRAY_LEN(models); m++) {
        struct bench bench;
        create(&bench, models[m]);
        assert_int_equal(brought(&bench, 5000, 300), 300);
        assert_int_equal(counts_of(&bench).misses, 1);
        assert_int_equal(brought(&bench, 9000, 500), 3 * 320);
        assert_int_equal(counts_of(&bench).misses, 2);
        end(&bench);
    }
}

/* A call that ends a page before the next begins, or in the page before that, is followed. */
static void a_read_follows_the_end_of_the_last_call(void **state)
{
    for (uint64_t gap = 0; gap <= 2; gap++) {
        struct bench bench;
        create(&bench, "6.12");
        assert_int_equal(brought(&bench, 1000, 3), 3);
        assert_int_equal(brought(&bench, 1003 + gap, 1), gap <= 1 ? 4 : 1);
        end(&bench);
    }
}

/*
 * Folio 16..23 is there and marked, the window that it belongs to forgotten. The kernel's search
 * for what is absent begins at page 17, looks at page 16 for it, and so takes 24 for present. Ours
 * does not.
 */
static void the_search_slips_within_a_large_folio(void **state)
{
    static const char *const names[] = {"7.3", "ours"};
    for (size_t m = 0; m < MGLRU_ARRAY_LEN(names); m++) {
        struct bench bench;
        create(&bench, names[m]);
        for (uint64_t page = 0; page < 16; page++)
            assert_int_equal(run(&bench, MGLRU_READ, page, 1), 0);
        assert_true(present(&bench, 23));
        assert_false(present(&bench, 24)); /* 16..23 is one folio, marked */
        assert_int_equal(brought(&bench, 5000, 1), 1);
        assert_true(brought(&bench, 5001, 1) > 1); /* another window: the file's is forgotten */
        uint64_t pages = brought(&bench, 16, 1);
        assert_true(pages > 0);
        assert_int_equal(present(&bench, 24), strcmp(names[m], "ours") == 0);
        assert_true(present(&bench, 25));
        end(&bench);
    }
}

static void a_stream_misses_once_and_reads_little_ahead(void **state)
{
    for (size_t m = 0; m < MGLRU_ARRAY_LEN(models); m++)
        for (uint32_t step = 1; step <= 64; step *= 4) {
            struct bench bench;
            create(&bench, models[m]);
            for (uint64_t page = 0; page < 4096; page += step)
                assert_int_equal(run(&bench, MGLRU_READ, page, step), 0);
            struct mglru_counts counts = counts_of(&bench);
            assert_int_equal(counts.accesses, 4096);
            /* Steps beyond the maximum have to ask for the rest themselves. */
            assert_true(step > MAX ? counts.misses <= 4096 / MAX + 1 : counts.misses == 1);
            assert_in_range(counts.pages_read, 4096, 4096 + 2 * MAX);
            end(&bench);
        }
}

static void scattered_reads_bring_what_was_asked(void **state)
{
    for (size_t m = 0; m < MGLRU_ARRAY_LEN(models); m++) {
        struct bench bench;
        create(&bench, models[m]);
        for (uint64_t i = 1; i < 200; i++) {
            uint32_t count = (uint32_t)(1 + i % 5);
            assert_int_equal(brought(&bench, i * 1000, count), count);
            expect_range(&bench, i * 1000, i * 1000 + count);
        }
        end(&bench);
    }
}

static void a_read_next_to_cached_pages_goes_on_from_them(void **state)
{
    for (size_t m = 0; m < MGLRU_ARRAY_LEN(models); m++) {
        struct bench bench;
        create(&bench, models[m]);
        for (uint64_t page = 1000; page < 1006; page++)
            assert_int_equal(run(&bench, MGLRU_WRITE, page, 1), 0); /* there without a read */
        assert_int_equal(brought(&bench, 1006, 2), 6 + 2); /* as many as were there, and two */
        expect_range(&bench, 1000, 1014);
        end(&bench);
    }
}

static void the_end_of_the_file_is_the_end(void **state)
{
    for (size_t m = 0; m < MGLRU_ARRAY_LEN(models); m++) {
        struct bench bench;
        create_sized(&bench, models[m], 50);
        for (uint64_t page = 0; page < 50; page++)
            assert_int_equal(run(&bench, MGLRU_READ, page, 1), 0);
        expect_range(&bench, 0, 50);
        assert_int_equal(counts_of(&bench).pages_read, 50);
        end(&bench);
        create_sized(&bench, models[m], 3);
        assert_int_equal(brought(&bench, 0, 1), 3);
        end(&bench);
        create(&bench, models[m]); /* the last page that there can be */
        assert_int_equal(brought(&bench, MGLRU_INDEX_MAX - 1, 2), 2);
        assert_int_equal(brought(&bench, MGLRU_INDEX_MAX - 40, 1), 1);
        assert_int_equal(brought(&bench, MGLRU_INDEX_MAX - 39, 39 - 1), 38);
        end(&bench);
    }
}

static void a_reopened_file_has_forgotten(void **state)
{
    struct bench bench;
    create(&bench, "7.3");
    assert_int_equal(brought(&bench, 1000, 1), 1);
    assert_true(brought(&bench, 1001, 1) > 1); /* follows */
    end(&bench);
    create(&bench, "7.3");
    assert_int_equal(brought(&bench, 1000, 1), 1);
    mglru_mapping_drop(bench.mapping, 1000, 1);
    mglru_file_reopen(bench.file);
    assert_int_equal(brought(&bench, 1001, 1), 1);
    end(&bench);
}

/* 6.12 brings single pages, later kernels larger and larger folios, since they let a window end
 * where the next one's largest folio can begin. */
static void later_kernels_bring_large_folios(void **state)
{
    for (size_t m = 0; m < MGLRU_ARRAY_LEN(models); m++) {
        struct bench bench;
        create(&bench, models[m]);
        unsigned largest = 0;
        for (uint64_t page = 0; page < 2000; page++) {
            assert_int_equal(run(&bench, MGLRU_READ, page, 1), 0);
            const struct folio *folio = slot_folio(index_get(&bench.mapping->index, page));
            unsigned order = folio_order(folio);
            assert_true(folio->index % (1u << order) == 0);
            assert_true(page - folio->index < 1u << order);
            largest = order > largest ? order : largest;
        }
        assert_int_equal(largest, strcmp(models[m], "6.12") == 0 ? 0 : 5);
        end(&bench);
    }
}

/* --- mapped files --------------------------------------------------------------------------- */

static void faults_read_around(void **state)
{
    for (size_t m = 0; m < MGLRU_ARRAY_LEN(models); m++) {
        struct bench bench;
        create(&bench, models[m]);
        assert_int_equal(run(&bench, MGLRU_MAP_READ, 1000, 1), 0);
        expect_range(&bench, 984, 1016);
        assert_int_equal(run(&bench, MGLRU_MAP_READ, 5, 1), 0);
        expect_range(&bench, 0, 32);
        assert_int_equal(counts_of(&bench).misses, 2);
        assert_int_equal(counts_of(&bench).pages_read, 64);
        end(&bench);
    }
}

static uint64_t stat_of(const struct bench *bench, const char *name)
{
    uint64_t value = 0;
    assert_int_equal(mglru_memcg_stat(bench->memcg, name, &value), 0);
    return value;
}

/* A load maps the 16 pages of its alignment, a store only its own. */
static void a_fault_maps_what_lies_around(void **state)
{
    for (size_t m = 0; m < MGLRU_ARRAY_LEN(models); m++) {
        struct bench bench;
        create(&bench, models[m]);
        assert_int_equal(run(&bench, MGLRU_MAP_READ, 1000, 1), 0);
        assert_int_equal(stat_of(&bench, "file_mapped"), 16 * PAGE);
        for (uint64_t page = 992; page < 1008; page++)
            assert_int_equal(run(&bench, MGLRU_MAP_READ, page, 1), 0);
        assert_int_equal(stat_of(&bench, "pgfault"), 1);
        assert_int_equal(run(&bench, MGLRU_MAP_WRITE, 990, 1), 0);
        assert_int_equal(stat_of(&bench, "file_mapped"), 17 * PAGE);
        /* 1008 is marked: the fault reads on from 1016, whose folio is the next mark and stays out,
         * one page of 6.12, four later. */
        unsigned mark = strcmp(models[m], "6.12") == 0 ? 1 : 4;
        assert_int_equal(run(&bench, MGLRU_MAP_READ, 1008, 1), 0);
        assert_int_equal(stat_of(&bench, "pgfault"), 3);
        assert_int_equal(stat_of(&bench, "file_mapped"), (17 + 16 - mark) * PAGE);
        assert_int_equal(stat_of(&bench, "pgmajfault"), 1);
        end(&bench);
    }
}

/* Later kernels do not read around a fault on code, but on from it, and mark nothing. */
static void code_is_read_from_the_fault_on(void **state)
{
    for (size_t m = 0; m < MGLRU_ARRAY_LEN(models); m++) {
        struct bench bench;
        create(&bench, models[m]);
        bool around = strcmp(models[m], "6.12") == 0;
        assert_int_equal(run(&bench, MGLRU_MAP_EXEC, 1000, 1), 0);
        expect_range(&bench, around ? 984 : 1000, around ? 1016 : 1032);
        for (uint64_t page = 1000; page < 1032; page++)
            assert_false(!around && folio_test(slot_folio(index_get(&bench.mapping->index, page)),
                                               FOLIO_READAHEAD));
        end(&bench);
    }
}

/* What readahead brings counts as such until somebody asks for it, and as wasted if it leaves. */
static void pages_that_nobody_asked_for_are_counted(void **state)
{
    for (size_t m = 0; m < MGLRU_ARRAY_LEN(models); m++) {
        struct bench bench;
        create(&bench, models[m]);
        assert_int_equal(run(&bench, MGLRU_READ, 0, 2), 0); /* 4 or 2 windows, 2 pages asked for */
        uint64_t read = counts_of(&bench).pages_read;
        assert_int_equal(counts_of(&bench).readahead_pages, read - 2);
        assert_int_equal(run(&bench, MGLRU_READ, 2, 1), 0);
        uint64_t unasked = counts_of(&bench).pages_read - 3;
        mglru_mapping_drop(bench.mapping, 0, 4096);
        assert_int_equal(counts_of(&bench).readahead_wasted, unasked);
        assert_int_equal(run(&bench, MGLRU_MAP_READ, 1000, 1), 0);
        mglru_mapping_drop(bench.mapping, 0, 4096);
        assert_int_equal(counts_of(&bench).readahead_wasted, unasked + 31);
        assert_int_equal(counts_of(&bench).readahead_pages, counts_of(&bench).pages_read - 3);
        end(&bench);
    }
}

/* A program that goes through its mapping misses once: faults on marked pages bring the next. */
static void a_mapping_is_read_ahead_as_it_is_walked(void **state)
{
    for (size_t m = 0; m < MGLRU_ARRAY_LEN(models); m++) {
        struct bench bench;
        create(&bench, models[m]);
        for (uint64_t page = 0; page < 3000; page++)
            assert_int_equal(run(&bench, MGLRU_MAP_READ, page, 1), 0);
        struct mglru_counts counts = counts_of(&bench);
        assert_int_equal(counts.misses, 1);
        assert_in_range(counts.pages_read, 3000, 3000 + 2 * MAX);
        end(&bench);
    }
}

/* Faults that find their page make up for those that did not. */
static void faults_that_find_their_page_keep_reading_around(void **state)
{
    struct bench bench;
    create(&bench, "7.3");
    for (uint64_t i = 1; i <= 300; i++) {
        assert_int_equal(run(&bench, MGLRU_MAP_READ, i * 1000, 1), 0);
        /* There, but not among the 16 that the first fault has mapped. */
        assert_int_equal(run(&bench, MGLRU_MAP_READ, i * 1000 - (i * 1000) % 16 - 1, 1), 0);
    }
    struct mglru_counts counts = counts_of(&bench);
    assert_int_equal(counts.misses, 300);
    assert_int_equal(counts.pages_read, 300 * 32);
    end(&bench);
}

/* In a memcg of a few pages the page that the fault is for must outlive what is read ahead. */
static void a_page_is_not_taken_while_its_fault_reads_ahead(void **state)
{
    for (size_t m = 0; m < MGLRU_ARRAY_LEN(models); m++) {
        struct bench bench;
        create(&bench, models[m]);
        assert_int_equal(mglru_memcg_write(bench.memcg, "memory.max", "64K", 3), 0);
        for (uint64_t page = 0; page < 500; page++)
            assert_int_equal(run(&bench, MGLRU_MAP_READ, page, 1), 0);
        assert_int_equal(counts_of(&bench).accesses, 500);
        end(&bench);
    }
}

/* A mapping whose faults find nothing for long is read page by page. In 6.12 pages count as found
 * that were brought for the fault, so it goes on until they come back from eviction. */
static void scattered_faults_stop_reading_around(void **state)
{
    for (size_t m = 0; m < MGLRU_ARRAY_LEN(models); m++) {
        struct bench bench;
        create(&bench, models[m]);
        for (uint64_t i = 1; i <= 300; i++)
            assert_int_equal(run(&bench, MGLRU_MAP_READ, i * 1000, 1), 0);
        struct mglru_counts counts = counts_of(&bench);
        assert_int_equal(counts.misses, 300);
        bool stops = strcmp(models[m], "6.12") != 0;
        assert_int_equal(counts.pages_read, stops ? 100 * 32 + 200 : 300 * 32);
        end(&bench);
    }
}

/* --- without memory ------------------------------------------------------------------------- */

/* Readahead does without; the page itself is what may run out of memory. */
static void readahead_raises_no_oom(void **state)
{
    for (size_t m = 0; m < MGLRU_ARRAY_LEN(models); m++) {
        struct bench bench;
        create(&bench, models[m]);
        assert_int_equal(mglru_memcg_write(bench.memcg, "memory.max", "40K", 3), 0);
        assert_int_equal(run(&bench, MGLRU_READ, 0, 1), 0);
        lru_batch_drain(&bench.cache->reclaim);
        for (uint64_t page = 0; page < 4; page++)
            folio_set(slot_folio(index_get(&bench.mapping->index, page)), FOLIO_PINNED);
        assert_int_equal(run(&bench, MGLRU_READ, 1000, 32), 0); /* six pages are left */
        assert_int_equal(run(&bench, MGLRU_READ, 2000, 100), 0);
        assert_int_equal(memcg_events(bench.memcg->memcg, MEMCG_EVENT_OOM), 0);
        assert_true(page_counter_read(&bench.memcg->memcg->memory) <= 10);
        for (uint64_t page = 0; page < 4; page++)
            folio_clear(slot_folio(index_get(&bench.mapping->index, page)), FOLIO_PINNED);
        end(&bench);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(windows_double_as_a_file_is_read),
        cmocka_unit_test(windows_end_where_their_largest_folio_can),
        cmocka_unit_test(a_large_request_is_read_at_once),
        cmocka_unit_test(a_read_follows_the_end_of_the_last_call),
        cmocka_unit_test(the_search_slips_within_a_large_folio),
        cmocka_unit_test(a_stream_misses_once_and_reads_little_ahead),
        cmocka_unit_test(scattered_reads_bring_what_was_asked),
        cmocka_unit_test(a_read_next_to_cached_pages_goes_on_from_them),
        cmocka_unit_test(the_end_of_the_file_is_the_end),
        cmocka_unit_test(a_reopened_file_has_forgotten),
        cmocka_unit_test(later_kernels_bring_large_folios),
        cmocka_unit_test(faults_read_around),
        cmocka_unit_test(a_fault_maps_what_lies_around),
        cmocka_unit_test(code_is_read_from_the_fault_on),
        cmocka_unit_test(pages_that_nobody_asked_for_are_counted),
        cmocka_unit_test(a_mapping_is_read_ahead_as_it_is_walked),
        cmocka_unit_test(faults_that_find_their_page_keep_reading_around),
        cmocka_unit_test(a_page_is_not_taken_while_its_fault_reads_ahead),
        cmocka_unit_test(scattered_faults_stop_reading_around),
        cmocka_unit_test(readahead_raises_no_oom),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
