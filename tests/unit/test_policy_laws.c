/* SPDX-License-Identifier: MIT */
/* What holds for every policy, whatever the stream: long random streams, no model needed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include <mglru/error.h>

#include "base/check.h"
#include "policy/future.h"
#include "policy/policy.h"
#include "policy_streams.h"

#define EVENTS 60000
#define UNIVERSE 3000

static struct naive_event events[EVENTS];
static struct future future;
static uint8_t hits[2][EVENTS];

static void make_stream(unsigned forget_percent, uint64_t seed)
{
    struct stream_shape shape = {.universe_pages = UNIVERSE, .forget_percent = forget_percent};
    stream_fill(events, EVENTS, shape, seed);
    future_free(&future);
    for (size_t i = 0; i < EVENTS; i++)
        if (events[i].is_forget)
            future_forget(&future, events[i].page);
        else
            assert_int_equal(future_access(&future, events[i].page), 0);
}

static int free_future(void **state)
{
    future_free(&future);
    return 0;
}

/* Misses; @found, unless NULL, gets the outcome of every event. */
static uint64_t run(const struct policy_ops *ops, uint64_t capacity_pages, uint8_t *found)
{
    void *cache;
    uint64_t misses = 0, accesses = 0;
    assert_int_equal(ops->create(capacity_pages, &cache), 0);
    for (size_t i = 0; i < EVENTS; i++) {
        int hit = 2;
        if (events[i].is_forget) {
            ops->forget(cache, events[i].page);
        } else {
            struct policy_request request = {events[i].page, future_next(&future, accesses++)};
            hit = ops->access(cache, &request);
            assert_in_range(hit, 0, 1);
            misses += hit == 0;
        }
        assert_true(ops->resident(cache) <= capacity_pages);
        if (found)
            found[i] = (uint8_t)hit;
    }
    ops->destroy(cache);
    return misses;
}

static void registry_finds_what_it_lists(void **state)
{
    const char *names[] = {"lru",  "fifo",   "clock", "2q",        "arc",
                           "lirs", "s3fifo", "sieve", "w-tinylfu", "belady"};
    for (size_t i = 0; i < MGLRU_ARRAY_LEN(names); i++) {
        assert_ptr_equal(policy_at(i), policy_find(names[i]));
        assert_string_equal(policy_at(i)->name, names[i]);
        assert_int_equal(policy_at(i)->needs_future, strcmp(names[i], "belady") == 0);
    }
    assert_null(policy_at(MGLRU_ARRAY_LEN(names)));
    assert_null(policy_find("LRU"));
    assert_null(policy_find(""));
}

static void same_input_gives_the_same_output(void **state)
{
    make_stream(2, 11);
    for (size_t p = 0; policy_at(p); p++) {
        run(policy_at(p), 200, hits[0]);
        run(policy_at(p), 200, hits[1]);
        assert_memory_equal(hits[0], hits[1], EVENTS);
    }
}

/* A page is resident right after its access, so a repetition hits, in a cache of one page too. */
static void a_repeated_access_hits(void **state)
{
    make_stream(0, 12);
    for (size_t p = 0; policy_at(p); p++) {
        for (uint64_t size = 1; size <= 12; size++) {
            run(policy_at(p), size, hits[0]);
            for (size_t i = 1; i < EVENTS; i++)
                if (events[i].page == events[i - 1].page)
                    assert_int_equal(hits[0][i], 1);
        }
    }
}

static void a_cache_for_all_pages_misses_each_once(void **state)
{
    make_stream(0, 13);
    bool seen[UNIVERSE] = {false};
    uint64_t distinct = 0;
    for (size_t i = 0; i < EVENTS; i++) {
        distinct += !seen[events[i].page];
        seen[events[i].page] = true;
    }
    for (size_t p = 0; policy_at(p); p++) {
        assert_int_equal(run(policy_at(p), UNIVERSE, NULL), distinct);
        assert_int_equal(run(policy_at(p), UINT64_C(1) << 52, NULL), distinct);
    }
}

static void a_freed_page_misses_once(void **state)
{
    for (size_t p = 0; policy_at(p); p++) {
        const struct policy_ops *ops = policy_at(p);
        void *cache;
        assert_int_equal(ops->create(8, &cache), 0);
        struct policy_request request = {.page = 3, .next_use = POLICY_NEVER};
        ops->forget(cache, 3);
        ops->forget(cache, UINT32_MAX);
        assert_int_equal(ops->access(cache, &request), 0);
        assert_int_equal(ops->access(cache, &request), 1);
        ops->forget(cache, 3);
        assert_int_equal(ops->resident(cache), 0);
        ops->forget(cache, 3);
        assert_int_equal(ops->access(cache, &request), 0);
        assert_int_equal(ops->resident(cache), 1);
        ops->destroy(cache);
    }
}

static void belady_misses_least(void **state)
{
    for (unsigned freed = 0; freed <= 10; freed += 10) {
        make_stream(freed, 14 + freed);
        for (uint64_t size = 1; size <= 2048; size *= 4) {
            uint64_t least = run(policy_find("belady"), size, NULL);
            for (size_t p = 0; policy_at(p); p++)
                assert_true(run(policy_at(p), size, NULL) >= least);
        }
    }
}

/* LRU and MIN are stack algorithms: more memory never means more misses. */
static void more_memory_never_hurts_lru_and_belady(void **state)
{
    make_stream(0, 15);
    const char *names[] = {"lru", "belady"};
    for (size_t p = 0; p < MGLRU_ARRAY_LEN(names); p++) {
        uint64_t last = EVENTS;
        for (uint64_t size = 1; size < UNIVERSE; size += 1 + size / 4) {
            uint64_t misses = run(policy_find(names[p]), size, NULL);
            assert_true(misses <= last);
            last = misses;
        }
    }
}

/* The example of Belady, Nelson and Shedler: 9 misses with three pages, 10 with four. */
static void fifo_shows_beladys_anomaly(void **state)
{
    const uint32_t pages[] = {1, 2, 3, 4, 1, 2, 5, 1, 2, 3, 4, 5};
    const int expected[] = {9, 10};
    for (uint64_t size = 3; size <= 4; size++) {
        void *cache;
        int misses = 0;
        assert_int_equal(policy_find("fifo")->create(size, &cache), 0);
        for (size_t i = 0; i < MGLRU_ARRAY_LEN(pages); i++) {
            struct policy_request request = {.page = pages[i]};
            misses += policy_find("fifo")->access(cache, &request) == 0;
        }
        assert_int_equal(misses, expected[size - 3]);
        policy_find("fifo")->destroy(cache);
    }
}

static void the_last_id_is_refused(void **state)
{
    for (size_t p = 0; policy_at(p); p++) {
        const struct policy_ops *ops = policy_at(p);
        void *cache;
        assert_int_equal(ops->create(2, &cache), 0);
        struct policy_request request = {.page = UINT32_MAX, .next_use = POLICY_NEVER};
        assert_int_equal(ops->access(cache, &request), MGLRU_EOVERFLOW);
        assert_int_equal(ops->resident(cache), 0);
        request.page = 0;
        assert_int_equal(ops->access(cache, &request), 0);
        ops->destroy(cache);
        ops->destroy(NULL);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(registry_finds_what_it_lists),
        cmocka_unit_test(same_input_gives_the_same_output),
        cmocka_unit_test(a_repeated_access_hits),
        cmocka_unit_test(a_cache_for_all_pages_misses_each_once),
        cmocka_unit_test(a_freed_page_misses_once),
        cmocka_unit_test(belady_misses_least),
        cmocka_unit_test(more_memory_never_hurts_lru_and_belady),
        cmocka_unit_test(fifo_shows_beladys_anomaly),
        cmocka_unit_test(the_last_id_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, free_future);
}
