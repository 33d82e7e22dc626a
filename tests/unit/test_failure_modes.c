/* SPDX-License-Identifier: MIT */
/*
 * What goes wrong in other caches and must not here, one test a failure mode, by its number in the
 * design (T: library). Method: the public API alone, each model, MGLRU and the classic LRU.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mglru/cache.h>
#include <mglru/control.h>

#define PAGE 4096u

struct bench {
    struct mglru_cache *cache;
    struct mglru_memcg *memcg;
    struct mglru_file *file;
};

static struct mglru_file *open_file(struct mglru_cache *cache, struct mglru_memcg *memcg)
{
    struct mglru_mapping *mapping;
    struct mglru_file *file;
    assert_int_equal(mglru_mapping_create(cache, "data", MGLRU_FILE, 0, &mapping), 0);
    assert_int_equal(mglru_file_open(mapping, memcg, &file), 0);
    return file;
}

static int set(struct mglru_memcg *memcg, const char *name, uint64_t pages)
{
    char text[32];
    snprintf(text, sizeof(text), "%llu", (unsigned long long)pages * PAGE);
    return mglru_memcg_write(memcg, name, text, strlen(text));
}

static uint64_t get(struct mglru_memcg *memcg, const char *name)
{
    char text[64];
    size_t length;
    assert_int_equal(mglru_memcg_read(memcg, name, text, sizeof(text), &length), 0);
    return strtoull(text, NULL, 10) / PAGE;
}

static int read_pages(const struct bench *bench, uint64_t first, uint32_t count)
{
    struct mglru_access access = {
        .file = bench->file, .index = first, .count = count, .kind = MGLRU_READ};
    size_t done;
    return mglru_cache_access(bench->cache, &access, 1, NULL, &done);
}

static uint64_t misses(const struct bench *bench)
{
    struct mglru_counts counts;
    mglru_memcg_counts(bench->memcg, false, &counts);
    return counts.misses;
}

/* Runs @body for each model and algorithm, on a memcg /a with an open file. */
static void each(void (*body)(struct bench *))
{
    static const char *const models[] = {"6.12", "7.3", "next", "ours"};
    for (unsigned i = 0; i < 8; i++) {
        struct mglru_cache_options options = {.size = sizeof(options),
                                              .model = models[i / 2],
                                              .classic = i % 2,
                                              .kernel_charge = MGLRU_KERNEL_CHARGE_NONE};
        struct bench bench;
        assert_int_equal(mglru_cache_create(&options, &bench.cache), 0);
        assert_int_equal(mglru_memcg_create(bench.cache, "/a", &bench.memcg), 0);
        bench.file = open_file(bench.cache, bench.memcg);
        body(&bench);
        mglru_cache_destroy(bench.cache);
    }
}

static void reclaim_everything(struct bench *bench)
{
    assert_int_equal(read_pages(bench, 0, 500), 0);
    assert_int_equal(set(bench->memcg, "memory.reclaim", 1u << 20), MGLRU_EAGAIN);
    assert_true(get(bench->memcg, "memory.current") <= 64); /* the stock at most */
}

static void t10_reclaim_of_more_than_there_is_ends(void **state)
{
    each(reclaim_everything);
}

static void around_the_limit(struct bench *bench)
{
    assert_int_equal(set(bench->memcg, "memory.max", 200), 0);
    for (uint32_t pages = 199; pages <= 201; pages++) {
        assert_int_equal(read_pages(bench, 0, pages), 0);
        assert_true(get(bench->memcg, "memory.current") <= 200);
        uint64_t before = misses(bench);
        assert_int_equal(read_pages(bench, 0, pages), 0);
        if (pages <= 200)
            assert_int_equal(misses(bench), before); /* it fits, to the last page */
        else
            assert_true(misses(bench) > before);
    }
    assert_int_equal(read_pages(bench, 0, 3000), 0);
    assert_true(get(bench->memcg, "memory.current") <= 200);
}

static void t19_exact_at_limit_less_one_limit_and_one_more(void **state)
{
    each(around_the_limit);
}

static void refuse_below_one_page(struct bench *bench)
{
    assert_int_equal(set(bench->memcg, "memory.max", 0), 0);
    assert_int_equal(read_pages(bench, 0, UINT32_MAX), MGLRU_EOOM);
    assert_int_equal(get(bench->memcg, "memory.current"), 0);
    assert_int_equal(misses(bench), 0);
}

static void t17_a_memcg_without_room_says_so(void **state)
{
    each(refuse_below_one_page);
}

static void protect_sibling(struct bench *bench)
{
    struct bench other = *bench;
    struct mglru_memcg *parent;
    assert_int_equal(mglru_memcg_create(bench->cache, "/p/kept", &bench->memcg), 0);
    assert_int_equal(mglru_memcg_create(bench->cache, "/p/stream", &other.memcg), 0);
    assert_int_equal(mglru_memcg_find(bench->cache, "/p", &parent), 0);
    bench->file = open_file(bench->cache, bench->memcg);
    other.file = open_file(bench->cache, other.memcg);
    assert_int_equal(set(parent, "memory.max", 1000), 0);
    assert_int_equal(set(parent, "memory.min", 400), 0);
    assert_int_equal(set(bench->memcg, "memory.min", 400), 0);
    assert_int_equal(read_pages(bench, 0, 300), 0);
    assert_int_equal(read_pages(&other, 0, 20000), 0);
    uint64_t before = misses(bench);
    assert_int_equal(read_pages(bench, 0, 300), 0);
    assert_int_equal(misses(bench), before);
}

static void t16_t22_memory_min_keeps_what_it_covers(void **state)
{
    each(protect_sibling);
}

static void switch_under_pressure(struct bench *bench)
{
    assert_int_equal(set(bench->memcg, "memory.max", 300), 0);
    for (unsigned i = 0; i < 40; i++) {
        assert_int_equal(read_pages(bench, i * 100, 400), 0);
        assert_int_equal(mglru_cache_write(bench->cache, "enabled", i % 2 ? "0" : "7", 1), 0);
        assert_true(get(bench->memcg, "memory.current") <= 300);
    }
}

static void t23_switching_under_pressure_kills_nobody(void **state)
{
    each(switch_under_pressure);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(t10_reclaim_of_more_than_there_is_ends),
        cmocka_unit_test(t16_t22_memory_min_keeps_what_it_covers),
        cmocka_unit_test(t17_a_memcg_without_room_says_so),
        cmocka_unit_test(t19_exact_at_limit_less_one_limit_and_one_more),
        cmocka_unit_test(t23_switching_under_pressure_kills_nobody),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
