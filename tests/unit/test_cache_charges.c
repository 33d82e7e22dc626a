/* SPDX-License-Identifier: MIT */
/*
 * What a memcg pays besides its pages: mglru-facts 13.1 (tree nodes, open files, page tables, small
 * objects of a process) and 13.2 (bytes are paid in whole pages, the slab counter lags). The
 * expected numbers are the formulas, and those recorded from real kernels in 13.4.
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

struct bench {
    struct mglru_cache *cache;
    struct mglru_memcg *memcg;
    struct mglru_file *file, *heap;
};

static struct mglru_file *open_one(const struct bench *bench, enum mglru_mapping_kind kind)
{
    struct mglru_mapping *mapping;
    struct mglru_file *file;
    assert_int_equal(mglru_mapping_create(bench->cache, "m", kind, 0, &mapping), 0);
    assert_int_equal(mglru_file_open(mapping, bench->memcg, &file), 0);
    return file;
}

static void create(struct bench *bench, const struct mglru_cache_options *given)
{
    struct mglru_cache_options options = *given;
    options.size = sizeof(options);
    assert_int_equal(mglru_cache_create(&options, &bench->cache), 0);
    assert_int_equal(mglru_memcg_create(bench->cache, "/a", &bench->memcg), 0);
    bench->file = open_one(bench, MGLRU_FILE);
    bench->heap = open_one(bench, MGLRU_ANON);
}

static void run(const struct bench *bench, enum mglru_access_kind kind, uint64_t index,
                uint32_t count)
{
    struct mglru_access access = {.file = kind == MGLRU_TOUCH ? bench->heap : bench->file,
                                  .index = index,
                                  .count = count,
                                  .kind = kind};
    size_t done;
    assert_int_equal(mglru_cache_access(bench->cache, &access, 1, NULL, &done), 0);
}

static uint64_t stat_of(const struct bench *bench, const char *name)
{
    uint64_t value;
    assert_int_equal(mglru_memcg_stat(bench->memcg, name, &value), 0);
    return value;
}

static unsigned long kernel_pages(const struct bench *bench)
{
    return (unsigned long)(stat_of(bench, "kernel") / PAGE);
}

static void verify_end(struct bench *bench)
{
    const char *broken = cache_verify(bench->cache);
    if (broken)
        fail_msg("%s", broken);
    mglru_cache_destroy(bench->cache);
}

/* kernel_pages of 13.1 for @nodes nodes and @files open files, without page tables. */
static unsigned long formula(unsigned long nodes, unsigned long files)
{
    return (592 * nodes + 200 * files + PAGE - 1) / PAGE;
}

/* Rows of 13.4: pages of a file read from 0, nodes, pages of the kernel but one page table. */
static void recorded_files_cost_what_was_recorded(void **state)
{
    static const struct {
        uint32_t pages;
        unsigned long nodes, kernel;
    } rows[] = {{4096, 65, 10}, {16384, 261, 38}, {32768, 521, 76}, {24128, 384, 56}};
    static const char *const models[] = {"6.12", "7.3"};
    for (size_t m = 0; m < MGLRU_ARRAY_LEN(models); m++)
        for (size_t i = 0; i < MGLRU_ARRAY_LEN(rows); i++) {
            struct bench bench;
            create(&bench, &(struct mglru_cache_options){.model = models[m], .start_tables = -1});
            run(&bench, MGLRU_READ, 0, rows[i].pages);
            assert_int_equal(bench.memcg->kernel_bytes, 592 * rows[i].nodes + 200);
            assert_int_equal(kernel_pages(&bench), rows[i].kernel);
            assert_int_equal(kernel_pages(&bench), formula(rows[i].nodes, 1));
            verify_end(&bench);
        }
}

/* Page by page: never less than the bytes, never more than a page beyond them (13.2). */
static void bytes_are_paid_in_whole_pages(void **state)
{
    struct bench bench;
    create(&bench, &(struct mglru_cache_options){.model = "7.3", .start_tables = -1});
    for (uint64_t i = 0; i < 300; i++) {
        run(&bench, MGLRU_READ, i * 64, 1);
        uint64_t bytes = (uint64_t)bench.memcg->kernel_bytes;
        assert_in_range(stat_of(&bench, "kernel"), bytes, bytes + PAGE - 1);
        /* The slab counter lags by a page at most, in steps of seven nodes (4144 bytes). */
        assert_true(stat_of(&bench, "slab_reclaimable") <= bytes);
        assert_in_range(stat_of(&bench, "slab_reclaimable") + PAGE, bytes, bytes + PAGE);
    }
    /* 300 leaves, 5 nodes above them, 1 on top, 1 file. */
    assert_int_equal(bench.memcg->kernel_bytes, 592 * (300 + 5 + 1) + 200);
    mglru_mapping_drop(bench.file->mapping, 0, UINT64_MAX);
    assert_int_equal(bench.memcg->kernel_bytes, 200);
    assert_in_range(kernel_pages(&bench), 1, 2); /* a rest below a page stays in the stock */
    verify_end(&bench);
}

/* Shadows keep their node; one page that stays keeps the nodes above it. */
static void eviction_frees_no_node(void **state)
{
    struct bench bench;
    create(&bench, &(struct mglru_cache_options){.model = "7.3", .start_tables = -1});
    run(&bench, MGLRU_READ, 0, 4096);
    int64_t before = bench.memcg->kernel_bytes;
    assert_int_equal(mglru_memcg_write(bench.memcg, "memory.reclaim", "8M", 2), 0);
    assert_true(stat_of(&bench, "pgsteal") >= 2048);
    int64_t freed = (int64_t)stat_of(&bench, "workingset_nodereclaim") * 592;
    assert_int_equal(bench.memcg->kernel_bytes, before - freed);
    mglru_mapping_drop(bench.file->mapping, 1, UINT64_MAX);
    run(&bench, MGLRU_READ, 0, 1);
    assert_int_equal(bench.memcg->kernel_bytes, 200 + 2 * 592);
    mglru_mapping_drop(bench.file->mapping, 0, 1);
    assert_int_equal(bench.memcg->kernel_bytes, 200);
    verify_end(&bench);
}

static void a_lone_first_page_has_no_node_until_a_second_comes(void **state)
{
    struct bench bench;
    create(&bench, &(struct mglru_cache_options){.model = "7.3", .start_tables = -1});
    run(&bench, MGLRU_READ, 0, 1);
    assert_int_equal(bench.memcg->kernel_bytes, 200);
    run(&bench, MGLRU_READ, 64, 1); /* two leaves and what is above both */
    assert_int_equal(bench.memcg->kernel_bytes, 200 + 3 * 592);
    run(&bench, MGLRU_READ, UINT64_C(1) << 40, 1); /* levels 3 to 7 on top, 1 to 6 below */
    assert_int_equal(bench.memcg->kernel_bytes, 200 + (3 + 5 + 6) * 592);
    verify_end(&bench);
}

/* --- files, tables, processes --------------------------------------------------------------- */

static void open_files_cost_200_bytes_up_to_64(void **state)
{
    struct bench bench;
    struct mglru_file *files[80];
    create(&bench, &(struct mglru_cache_options){.model = "7.3", .start_tables = -1});
    for (unsigned i = 0; i < 80; i++) {
        files[i] = open_one(&bench, MGLRU_FILE);
        unsigned open = i + 2 < 64 ? i + 2 : 64;
        assert_int_equal(bench.memcg->kernel_bytes, 200 * open);
    }
    for (unsigned i = 0; i < 80; i++)
        mglru_file_close(files[i]);
    assert_int_equal(bench.memcg->kernel_bytes, 200);
    verify_end(&bench);
}

static void page_tables_cost_a_page_for_512_entries(void **state)
{
    struct bench bench;
    create(&bench, &(struct mglru_cache_options){.model = "7.3", .start_tables = -1});
    run(&bench, MGLRU_MAP_READ, 0, 1);
    assert_int_equal(stat_of(&bench, "pagetables"), PAGE);
    run(&bench, MGLRU_MAP_READ, 1, 511);
    assert_int_equal(stat_of(&bench, "pagetables"), PAGE);
    run(&bench, MGLRU_MAP_READ, 512, 32768 - 512);
    assert_int_equal(stat_of(&bench, "pagetables"), 64 * PAGE); /* recorded: 64 or 65 */
    assert_int_equal(kernel_pages(&bench), 64 + formula(521, 1));
    verify_end(&bench);
}

/* 13.1: an anonymous process of 16384 pages had 33 page tables, one of them its own, and a page of
 * small objects. */
static void anonymous_memory_costs_tables_and_a_page(void **state)
{
    struct bench bench;
    create(&bench, &(struct mglru_cache_options){.model = "6.12"});
    run(&bench, MGLRU_TOUCH, 0, 16384);
    assert_int_equal(stat_of(&bench, "pagetables"), 33 * PAGE);
    assert_int_equal(kernel_pages(&bench), 33 + 1);
    verify_end(&bench);
}

static void readers_start_with_the_tables_of_the_options(void **state)
{
    static const struct {
        int32_t option;
        uint64_t tables;
    } rows[] = {{0, 1}, {-1, 0}, {1, 1}, {5, 5}};
    for (size_t i = 0; i < MGLRU_ARRAY_LEN(rows); i++) {
        struct bench bench;
        create(&bench,
               &(struct mglru_cache_options){.model = "7.3", .start_tables = rows[i].option});
        run(&bench, MGLRU_READ, 0, 1);
        assert_int_equal(stat_of(&bench, "pagetables"), rows[i].tables * PAGE);
        run(&bench, MGLRU_READ, 0, 1); /* a process starts once */
        assert_int_equal(stat_of(&bench, "pagetables"), rows[i].tables * PAGE);
        verify_end(&bench);
    }
}

/* --- other ways to charge ------------------------------------------------------------------- */

static void no_charge_and_fixed_charges(void **state)
{
    struct bench bench;
    create(&bench, &(struct mglru_cache_options){.model = "7.3",
                                                 .kernel_charge = MGLRU_KERNEL_CHARGE_NONE});
    run(&bench, MGLRU_READ, 0, 5000);
    run(&bench, MGLRU_TOUCH, 0, 600);
    assert_int_equal(kernel_pages(&bench), 0);
    verify_end(&bench);
    create(&bench, &(struct mglru_cache_options){.model = "7.3",
                                                 .kernel_charge = MGLRU_KERNEL_CHARGE_FIXED,
                                                 .kernel_charge_bytes = 10 * PAGE + 1});
    assert_int_equal(kernel_pages(&bench), 0); /* before its process runs */
    run(&bench, MGLRU_READ, 0, 5000);
    run(&bench, MGLRU_TOUCH, 0, 600);
    assert_int_equal(kernel_pages(&bench), 11);
    verify_end(&bench);
}

/* Near the limit each new node takes a page from the pages (13.2). */
static void nodes_displace_pages_at_the_limit(void **state)
{
    struct bench bench;
    create(&bench, &(struct mglru_cache_options){.model = "6.12", .start_tables = -1});
    assert_int_equal(mglru_memcg_write(bench.memcg, "memory.max", "4M", 2), 0);
    for (uint64_t i = 0; i < 3000; i++) {
        run(&bench, MGLRU_READ, i * 64, 1);
        assert_true(page_counter_read(&bench.memcg->memcg->memory) <= 1024);
        assert_true(stat_of(&bench, "kernel") + stat_of(&bench, "file") <= 1024 * PAGE);
    }
    assert_true(kernel_pages(&bench) > 100);
    verify_end(&bench);
}

/* A memcg that goes leaves its nodes to its parent. */
static void the_parent_pays_after_the_end(void **state)
{
    struct bench bench;
    struct mglru_memcg *child, *parent;
    create(&bench, &(struct mglru_cache_options){.model = "7.3", .start_tables = -1});
    parent = bench.memcg;
    assert_int_equal(mglru_memcg_create(bench.cache, "/a/b", &child), 0);
    int64_t structures = bench.cache->model->memcg_bytes;
    int64_t own = parent->kernel_bytes;
    assert_true(structures > 0 && own == 200 + structures);
    bench.memcg = child;
    bench.file = open_one(&bench, MGLRU_FILE);
    run(&bench, MGLRU_READ, 0, 4096);
    assert_int_equal(child->kernel_bytes, 65 * 592 + 200);
    assert_int_equal(parent->kernel_bytes, own);
    assert_int_equal(mglru_memcg_remove(child), 0);
    assert_int_equal(parent->kernel_bytes, 200 + 65 * 592); /* its file was closed */
    bench.memcg = parent;
    assert_in_range(kernel_pages(&bench), formula(65, 1), formula(65, 1) + 1);
    verify_end(&bench);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(recorded_files_cost_what_was_recorded),
        cmocka_unit_test(bytes_are_paid_in_whole_pages),
        cmocka_unit_test(eviction_frees_no_node),
        cmocka_unit_test(a_lone_first_page_has_no_node_until_a_second_comes),
        cmocka_unit_test(open_files_cost_200_bytes_up_to_64),
        cmocka_unit_test(page_tables_cost_a_page_for_512_entries),
        cmocka_unit_test(anonymous_memory_costs_tables_and_a_page),
        cmocka_unit_test(readers_start_with_the_tables_of_the_options),
        cmocka_unit_test(no_charge_and_fixed_charges),
        cmocka_unit_test(nodes_displace_pages_at_the_limit),
        cmocka_unit_test(the_parent_pays_after_the_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
