/* SPDX-License-Identifier: MIT */
/*
 * Calls that would take long: they end when somebody wants them to (mglru_cache_stop), and a
 * reclaim that can find nothing ends by itself, after one look at each memcg.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <mglru/cache.h>
#include <mglru/control.h>

#include "cache/cache.h"

#define PAGE 4096u

struct bench {
    struct mglru_cache *cache;
    struct mglru_memcg *memcg;
    struct mglru_file *file;
};

static void create(struct bench *bench, const char *model, uint64_t swap_pages)
{
    struct mglru_cache_options options = {
        .size = sizeof(options), .model = model, .swap_bytes = swap_pages * PAGE};
    struct mglru_mapping *mapping;
    assert_int_equal(mglru_cache_create(&options, &bench->cache), 0);
    assert_int_equal(mglru_memcg_create(bench->cache, "/a", &bench->memcg), 0);
    assert_int_equal(mglru_mapping_create(bench->cache, "data", MGLRU_FILE, 0, &mapping), 0);
    assert_int_equal(mglru_file_open(mapping, bench->memcg, &bench->file), 0);
}

static int read_pages(const struct bench *bench, uint64_t first, uint32_t count)
{
    struct mglru_access access = {
        .file = bench->file, .index = first, .count = count, .kind = MGLRU_READ};
    size_t done;
    int error = mglru_cache_access(bench->cache, &access, 1, NULL, &done);
    assert_int_equal(done, error ? 0 : 1);
    return error;
}

static int set(const struct bench *bench, const char *name, const char *text)
{
    return mglru_memcg_write(bench->memcg, name, text, strlen(text));
}

static void verify(const struct bench *bench)
{
    const char *broken = cache_verify(bench->cache);
    if (broken)
        fail_msg("%s", broken);
}

static void a_stopped_cache_says_so_until_it_goes_on(void **state)
{
    struct bench bench;
    struct mglru_counts counts;
    create(&bench, "7.3", 0);
    assert_int_equal(set(&bench, "memory.max", "1M"), 0);
    assert_int_equal(read_pages(&bench, 0, 1000), 0);
    mglru_cache_stop(bench.cache, true);
    assert_int_equal(read_pages(&bench, 0, 1000), MGLRU_EINTR);
    assert_int_equal(read_pages(&bench, 999, 1), MGLRU_EINTR);
    assert_int_equal(set(&bench, "memory.reclaim", "100K"), MGLRU_EINTR);
    assert_int_equal(set(&bench, "memory.max", "200K"), 0); /* the limit counts, the rest waits */
    assert_int_equal(set(&bench, "memory.high", "100K"), 0);
    mglru_memcg_counts(bench.memcg, false, &counts);
    assert_int_equal(counts.accesses, 1000);
    verify(&bench);
    mglru_cache_stop(bench.cache, false);
    assert_int_equal(set(&bench, "memory.high", "max"), 0);
    assert_int_equal(set(&bench, "memory.max", "200K"), 0);
    assert_int_equal(read_pages(&bench, 0, 1000), 0);
    verify(&bench);
    mglru_cache_destroy(bench.cache);
}

static void *stop_soon(void *cache)
{
    const struct timespec moment = {.tv_nsec = 5000000};
    nanosleep(&moment, NULL);
    mglru_cache_stop(cache, true);
    return NULL;
}

/* Without the stop this access would take minutes, and the test its time limit. */
static void another_thread_ends_a_long_access(void **state)
{
    static const char *const models[] = {"6.12", "ours"};
    for (size_t i = 0; i < MGLRU_ARRAY_LEN(models); i++) {
        struct bench bench;
        pthread_t thread;
        create(&bench, models[i], 0);
        assert_int_equal(set(&bench, "memory.max", "1M"), 0);
        assert_int_equal(pthread_create(&thread, NULL, stop_soon, bench.cache), 0);
        assert_int_equal(read_pages(&bench, 0, UINT32_MAX), MGLRU_EINTR);
        pthread_join(thread, NULL);
        verify(&bench);
        mglru_cache_stop(bench.cache, false);
        assert_int_equal(read_pages(&bench, 0, 10), 0);
        mglru_cache_destroy(bench.cache);
    }
}

/* --- reclaim without a chance --------------------------------------------------------------- */

#define GROUPS 50

static struct reclaim_host counting_host;
static unsigned priorities; /* that found too little */

static void count_priority(void *context)
{
    priorities++;
    cache_reclaim_host()->progress(context);
}

static void touch_in_groups(const struct bench *bench, uint32_t pages)
{
    for (unsigned i = 0; i < GROUPS; i++) {
        char path[32];
        struct mglru_memcg *memcg;
        struct mglru_mapping *heap;
        struct mglru_access access = {.count = pages, .kind = MGLRU_TOUCH};
        size_t done;
        snprintf(path, sizeof(path), "/a/%u", i);
        assert_int_equal(mglru_memcg_create(bench->cache, path, &memcg), 0);
        assert_int_equal(mglru_mapping_create(bench->cache, "heap", MGLRU_ANON, 0, &heap), 0);
        assert_int_equal(mglru_file_open(heap, memcg, &access.file), 0);
        assert_int_equal(mglru_cache_access(bench->cache, &access, 1, NULL, &done), 0);
    }
    counting_host = *cache_reclaim_host();
    counting_host.progress = count_priority;
    bench->cache->reclaim.host = &counting_host;
}

/* Priorities of one reclaim below "/a". */
static unsigned count_priorities(const struct bench *bench, unsigned long *reclaimed)
{
    struct reclaim_request request = {
        .target = bench->memcg->memcg, .pages = SWAP_CLUSTER_MAX, .may_swap = true};
    priorities = 0;
    *reclaimed = reclaim_run(&bench->cache->reclaim, &request);
    return priorities;
}

static void each_algorithm(void (*body)(struct bench *, const char *))
{
    static const char *const models[] = {"6.12", "7.3", "next", "ours"};
    for (unsigned i = 0; i < 8; i++) {
        struct bench bench;
        create(&bench, models[i / 2], 0);
        assert_int_equal(mglru_cache_write(bench.cache, "enabled", i % 2 ? "0" : "7", 1), 0);
        body(&bench, models[i / 2]);
        verify(&bench);
        mglru_cache_destroy(bench.cache);
    }
}

static void take_from_anonymous(struct bench *bench, const char *model)
{
    unsigned long reclaimed;
    touch_in_groups(bench, 20);
    /* A first one may drain the batch and make a generation; then nothing changes any more. */
    count_priorities(bench, &reclaimed);
    assert_int_equal(reclaimed, 0);
    assert_int_equal(count_priorities(bench, &reclaimed), 1);
    assert_int_equal(reclaimed, 0);
}

static void memcgs_without_anything_to_take_are_visited_once(void **state)
{
    each_algorithm(take_from_anonymous);
}

static void take_one_file_page(struct bench *bench, const char *model)
{
    unsigned long reclaimed;
    touch_in_groups(bench, 20);
    count_priorities(bench, &reclaimed);
    assert_int_equal(read_pages(bench, 0, 1), 0); /* the last priority takes it */
    lru_batch_drain(&bench->cache->reclaim);      /* which the classic LRU does only as it scans */
    assert_true(count_priorities(bench, &reclaimed) > 1);
    assert_int_equal(reclaimed, 1);
    assert_int_equal(read_pages(bench, 0, 100), 0);
    count_priorities(bench, &reclaimed);
    assert_true(reclaimed >= SWAP_CLUSTER_MAX);
}

static void one_page_to_take_is_found(void **state)
{
    each_algorithm(take_one_file_page);
}

static void pages_that_may_be_swapped_are_found(void **state)
{
    static const char *const models[] = {"6.12", "7.3", "next", "ours"};
    for (unsigned i = 0; i < MGLRU_ARRAY_LEN(models); i++) {
        struct bench bench;
        unsigned long reclaimed;
        create(&bench, models[i], 1000);
        touch_in_groups(&bench, 20);
        count_priorities(&bench, &reclaimed);
        count_priorities(&bench, &reclaimed);
        assert_true(reclaimed >= SWAP_CLUSTER_MAX);
        verify(&bench);
        mglru_cache_destroy(bench.cache);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_stopped_cache_says_so_until_it_goes_on),
        cmocka_unit_test(another_thread_ends_a_long_access),
        cmocka_unit_test(memcgs_without_anything_to_take_are_visited_once),
        cmocka_unit_test(one_page_to_take_is_found),
        cmocka_unit_test(pages_that_may_be_swapped_are_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
