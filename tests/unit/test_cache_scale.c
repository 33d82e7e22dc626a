/* SPDX-License-Identifier: MIT */
/*
 * Many of everything: thousands of memcgs, 64 levels of them, memcgs that come and go and leave
 * pages behind, and two caches in two threads at once (which TSan watches in make check-san).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mglru/cache.h>
#include <mglru/control.h>

#include "cache/cache.h"

#define PAGE 4096u

static const char *const models[] = {"6.12", "7.3", "next", "ours"};

static struct mglru_cache *create(const char *model, bool classic)
{
    struct mglru_cache_options options = {
        .size = sizeof(options), .model = model, .classic = classic, .swap_bytes = 2000 * PAGE};
    struct mglru_cache *cache;
    assert_int_equal(mglru_cache_create(&options, &cache), 0);
    return cache;
}

static void verify(struct mglru_cache *cache)
{
    const char *broken = cache_verify(cache);
    if (broken)
        fail_msg("%s", broken);
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

static int run(struct mglru_file *file, enum mglru_access_kind kind, uint64_t index, uint32_t count)
{
    struct mglru_access access = {.file = file, .index = index, .count = count, .kind = kind};
    size_t done;
    return mglru_cache_access(file->mapping->cache, &access, 1, NULL, &done);
}

static int set(struct mglru_memcg *memcg, const char *name, uint64_t pages)
{
    char text[32];
    snprintf(text, sizeof(text), "%llu", (unsigned long long)pages * PAGE);
    return mglru_memcg_write(memcg, name, text, strlen(text));
}

static struct mglru_memcg *make(struct mglru_cache *cache, const char *path)
{
    struct mglru_memcg *memcg;
    assert_int_equal(mglru_memcg_create(cache, path, &memcg), 0);
    return memcg;
}

/* --- thousands ------------------------------------------------------------------------------ */

#define MANY 2000u

/* Each has files and a little anonymous memory below one limit; all are reclaimed from. */
static void thousands_share_a_limit(void **state)
{
    for (unsigned m = 0; m < 2 * MGLRU_ARRAY_LEN(models); m += 3) {
        struct mglru_cache *cache = create(models[m / 2], m % 2);
        struct mglru_memcg *top = make(cache, "/t");
        struct mglru_file **files = calloc(MANY, sizeof(*files));
        assert_non_null(files);
        for (unsigned i = 0; i < MANY; i++) {
            char path[32];
            snprintf(path, sizeof(path), "/t/%u", i);
            files[i] = open_new(cache, make(cache, path), i % 8 ? MGLRU_FILE : MGLRU_ANON);
        }
        long structures = page_counter_read(&top->memcg->memory);
        assert_int_equal(set(top, "memory.max", (uint64_t)structures + 5 * MANY), 0);
        for (unsigned i = 0; i < MANY; i++) {
            enum mglru_access_kind kind = i % 8 ? MGLRU_READ : MGLRU_TOUCH;
            assert_int_equal(run(files[i], kind, 0, 6), 0);
            assert_true(page_counter_read(&top->memcg->memory) <= structures + 5 * (long)MANY);
        }
        uint64_t stolen;
        assert_int_equal(mglru_memcg_stat(top, "pgsteal", &stolen), 0);
        assert_true(stolen > MANY);
        const char *broken = verify_reclaim(&cache->reclaim);
        if (broken)
            fail_msg("%s", broken);
        struct mglru_counts counts;
        mglru_memcg_counts(top, true, &counts);
        assert_int_equal(counts.accesses, 6 * MANY);
        free(files);
        mglru_cache_destroy(cache);
    }
}

/* --- depth ---------------------------------------------------------------------------------- */

#define DEPTH 64

static void sixty_four_levels_are_charged_and_reclaimed(void **state)
{
    for (unsigned m = 0; m < 2 * MGLRU_ARRAY_LEN(models); m++) {
        struct mglru_cache *cache = create(models[m / 2], m % 2);
        struct mglru_memcg *levels[DEPTH];
        struct mglru_file *files[DEPTH];
        char path[DEPTH * 3 + 1] = "";
        for (unsigned i = 0; i < DEPTH; i++) {
            snprintf(path + strlen(path), 4, "/%u", i % 10);
            levels[i] = make(cache, path);
            files[i] = open_new(cache, levels[i], MGLRU_FILE);
        }
        for (unsigned i = 0; i < DEPTH; i++)
            assert_int_equal(run(files[i], MGLRU_READ, 0, 20), 0);
        verify(cache);
        assert_int_equal(set(levels[DEPTH - 1], "memory.low", 64), 0);
        assert_int_equal(set(levels[DEPTH / 2], "memory.max", 400), 0);
        assert_true(page_counter_read(&levels[DEPTH / 2]->memcg->memory) <= 400);
        assert_int_equal(set(levels[0], "memory.max", 900), 0);
        for (unsigned i = 0; i < DEPTH; i++)
            assert_int_equal(run(files[DEPTH - 1 - i], MGLRU_READ, 0, 40), 0);
        assert_true(page_counter_read(&levels[0]->memcg->memory) <= 900);
        verify(cache);
        assert_int_equal(mglru_memcg_remove(levels[0]), MGLRU_EBUSY);
        for (unsigned i = DEPTH; i-- > 1;) {
            assert_int_equal(mglru_memcg_remove(levels[i]), 0);
            if (i % 16 == 0)
                verify(cache);
        }
        assert_true(page_counter_read(&levels[0]->memcg->memory) <= 900);
        verify(cache);
        mglru_cache_destroy(cache);
    }
}

static void a_path_of_4095_bytes_is_the_longest(void **state)
{
    struct mglru_cache *cache = create("7.3", false);
    struct mglru_memcg *memcg;
    char path[4097];
    for (unsigned i = 0; i < 4096; i += 2)
        memcpy(path + i, "/a", 2);
    path[4096] = '\0';
    assert_int_equal(mglru_memcg_create(cache, path, &memcg), MGLRU_EINVAL);
    path[4094] = '\0'; /* 2047 levels */
    assert_int_equal(mglru_memcg_create(cache, path, &memcg), 0);
    assert_int_equal(strlen(mglru_memcg_path(memcg)), 4094);
    struct mglru_file *file = open_new(cache, memcg, MGLRU_FILE);
    assert_int_equal(run(file, MGLRU_READ, 0, 100), 0);
    struct mglru_memcg *first;
    assert_int_equal(mglru_memcg_find(cache, "/a", &first), 0);
    assert_true(page_counter_read(&first->memcg->memory) >= 100);
    assert_int_equal(set(first, "memory.max", 0), 0);
    assert_null(verify_reclaim(&cache->reclaim));
    mglru_cache_destroy(cache);
}

/* --- coming and going ----------------------------------------------------------------------- */

#define LIVES 1500u

/* Files outlive the memcgs that read them; their pages stay, as the parent's or the dead one's. */
static void memcgs_that_come_and_go_leave_pages(void **state)
{
    for (unsigned m = 0; m < 2 * MGLRU_ARRAY_LEN(models); m++) {
        struct mglru_cache *cache = create(models[m / 2], m % 2);
        struct mglru_memcg *top = make(cache, "/t");
        struct mglru_mapping *data;
        uint64_t early = 0;
        assert_int_equal(set(top, "memory.max", 2000), 0);
        assert_int_equal(mglru_mapping_create(cache, "data", MGLRU_FILE, 0, &data), 0);
        for (unsigned i = 0; i < LIVES; i++) {
            char path[32];
            struct mglru_file *file;
            snprintf(path, sizeof(path), "/t/%u", i % 7);
            struct mglru_memcg *memcg = make(cache, path);
            assert_int_equal(mglru_file_open(data, memcg, &file), 0);
            assert_int_equal(run(file, i % 3 ? MGLRU_READ : MGLRU_WRITE, i * 5 % 4000, 20), 0);
            assert_int_equal(run(file, MGLRU_MAP_READ, i * 5 % 4000, 3), 0);
            assert_int_equal(mglru_memcg_remove(memcg), 0);
            assert_true(page_counter_read(&top->memcg->memory) <= 2000);
            if (i % 500 == 0)
                verify(cache);
            if (i == LIVES / 2)
                early = mglru_cache_metadata_bytes(cache);
        }
        verify(cache);
        /* What is gone costs nothing: the second half needed no more than the first. */
        assert_true(mglru_cache_metadata_bytes(cache) <= early + early / 8);
        uint64_t file_bytes;
        assert_int_equal(mglru_memcg_stat(top, "file", &file_bytes), 0);
        assert_true(file_bytes > 1000 * PAGE);
        assert_int_equal(set(top, "memory.max", 100), 0); /* and all of it can be taken */
        assert_int_equal(mglru_memcg_stat(top, "file", &file_bytes), 0);
        assert_true(file_bytes <= 100 * PAGE);
        verify(cache);
        mglru_cache_destroy(cache);
    }
}

/* --- two at once ---------------------------------------------------------------------------- */

struct side {
    const char *model;
    uint64_t misses, refaults;
};

static void *live(void *argument)
{
    struct side *side = argument;
    struct mglru_cache_options options = {
        .size = sizeof(options), .model = side->model, .swap_bytes = 500 * PAGE};
    struct mglru_cache *cache;
    struct mglru_memcg *memcg;
    struct mglru_mapping *data, *heap;
    struct mglru_file *files[2];
    char text[16384];
    size_t length;
    if (mglru_cache_create(&options, &cache) || mglru_memcg_create(cache, "/a/b", &memcg) ||
        mglru_mapping_create(cache, "m", MGLRU_FILE, 0, &data) ||
        mglru_mapping_create(cache, "h", MGLRU_ANON, 0, &heap) ||
        mglru_file_open(data, memcg, &files[0]) || mglru_file_open(heap, memcg, &files[1]) ||
        set(memcg, "memory.max", 700))
        return NULL;
    uint64_t random = 1;
    for (unsigned i = 0; i < 4000; i++) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        uint64_t page = (random >> 33) % 1500;
        enum mglru_access_kind kind = (enum mglru_access_kind)(1 + (random >> 50) % 6);
        if (run(files[kind == MGLRU_TOUCH], kind, page, 1 + (uint32_t)(i % 3)))
            return NULL;
        mglru_cache_set_time(cache, i * UINT64_C(10000000));
        if (i % 500 == 0 && mglru_memcg_read(memcg, "memory.stat", text, sizeof(text), &length))
            return NULL;
    }
    struct mglru_counts counts;
    mglru_memcg_counts(memcg, true, &counts);
    mglru_memcg_stat(memcg, "workingset_refault_file", &side->refaults);
    side->misses = counts.misses;
    mglru_cache_destroy(cache);
    return side;
}

static void two_caches_in_two_threads_know_nothing_of_each_other(void **state)
{
    struct side alone[2] = {{.model = "6.12"}, {.model = "ours"}};
    for (unsigned i = 0; i < 2; i++)
        assert_non_null(live(&alone[i]));
    assert_true(alone[0].misses > 500 && alone[0].refaults > 100);
    for (unsigned round = 0; round < 5; round++) {
        struct side sides[2] = {{.model = "6.12"}, {.model = "ours"}};
        pthread_t threads[2];
        void *result;
        for (unsigned i = 0; i < 2; i++)
            assert_int_equal(pthread_create(&threads[i], NULL, live, &sides[i]), 0);
        for (unsigned i = 0; i < 2; i++) {
            pthread_join(threads[i], &result);
            assert_non_null(result);
            assert_int_equal(sides[i].misses, alone[i].misses);
            assert_int_equal(sides[i].refaults, alone[i].refaults);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(thousands_share_a_limit),
        cmocka_unit_test(sixty_four_levels_are_charged_and_reclaimed),
        cmocka_unit_test(a_path_of_4095_bytes_is_the_longest),
        cmocka_unit_test(memcgs_that_come_and_go_leave_pages),
        cmocka_unit_test(two_caches_in_two_threads_know_nothing_of_each_other),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
