/* SPDX-License-Identifier: MIT */
/*
 * The parts of a replay, each alone: names, pairs of memcg and object, rows of memcgs, the pool of
 * threads. Random operations are compared with plain arrays.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mglru/error.h>

#include "base/bits.h"
#include "replay/names.h"
#include "replay/pool.h"
#include "replay/rows.h"
#include "replay/slots.h"

static uint64_t next_random(uint64_t *state)
{
    *state += 0x9E3779B97F4A7C15ull;
    return bits_mix64(*state);
}

static void names_have_dense_ids_in_order_of_first_use(void **state)
{
    struct replay_names *names = replay_names_create();
    char text[32];
    uint32_t id;
    assert_non_null(names);
    for (int round = 0; round < 2; round++)
        for (uint32_t i = 0; i < 5000; i++) {
            snprintf(text, sizeof(text), "file%u", i * 7 % 5000);
            assert_int_equal(replay_names_intern(names, REPLAY_OBJECT, text, &id), MGLRU_OK);
            assert_int_equal(id, i);
            assert_string_equal(replay_names_at(names, REPLAY_OBJECT, id), text);
        }
    assert_int_equal(replay_names_count(names, REPLAY_OBJECT), 5000);
    assert_int_equal(replay_names_count(names, REPLAY_MEMCG), 0);
    assert_int_equal(replay_names_intern(names, REPLAY_MEMCG, "file3", &id), MGLRU_OK);
    assert_int_equal(id, 0);
    replay_names_destroy(names);
}

#define MEMCGS 9
#define OBJECTS 200

/* Adds, drops and finds pairs; @model holds what must be found. */
static void slots_agree_with_an_array(void **state)
{
    static void *model[MEMCGS][OBJECTS];
    static char values[MEMCGS][OBJECTS];
    struct replay_slots slots = {0};
    uint64_t random = 1;
    for (int step = 0; step < 200000; step++) {
        uint32_t memcg = (uint32_t)(next_random(&random) % MEMCGS);
        uint32_t object = (uint32_t)(next_random(&random) % OBJECTS);
        assert_ptr_equal(replay_slots_find(&slots, memcg, object), model[memcg][object]);
        if (model[memcg][object] == NULL) {
            model[memcg][object] = &values[memcg][object];
            assert_int_equal(replay_slots_add(&slots, memcg, object, model[memcg][object]),
                             MGLRU_OK);
        } else if (next_random(&random) % 300 == 0) {
            replay_slots_drop_memcg(&slots, memcg);
            memset(model[memcg], 0, sizeof(model[memcg]));
        }
    }
    assert_true(slots.others_size < 16 * MEMCGS * OBJECTS);
    replay_slots_free(&slots);
}

static void mark(void *value)
{
    ++*(char *)value;
}

static void slots_visit_each_value_of_a_memcg_once(void **state)
{
    char values[3][100] = {{0}};
    struct replay_slots slots = {0};
    for (uint32_t memcg = 0; memcg < 3; memcg++)
        for (uint32_t object = 0; object < 100; object++)
            assert_int_equal(replay_slots_add(&slots, memcg, object, &values[memcg][object]),
                             MGLRU_OK);
    replay_slots_visit(&slots, 2, mark);
    replay_slots_visit(&slots, 0, mark);
    for (uint32_t object = 0; object < 100; object++) {
        assert_int_equal(values[0][object], 1);
        assert_int_equal(values[1][object], 0);
        assert_int_equal(values[2][object], 1);
    }
    replay_slots_free(&slots);
}

static struct replay_own own_of(const char *path, uint64_t accesses, uint64_t skipped)
{
    return (struct replay_own){.path = path,
                               .figures = {.accesses = accesses, .misses = accesses / 2},
                               .skipped = skipped};
}

static void rows_hold_subtrees_of_what_did_something(void **state)
{
    struct replay_own own[] = {
        own_of("/b", 8, 0),    own_of("/a/x/y", 4, 0), own_of("/", 0, 0),  own_of("/a", 2, 0),
        own_of("/idle", 0, 0), own_of("/ab", 32, 0),   own_of("/c", 0, 5),
    };
    static const struct {
        const char *path;
        uint64_t accesses;
        uint64_t skipped;
    } expected[] = {{"/a", 6, 0}, {"/a/x/y", 4, 0}, {"/ab", 32, 0}, {"/b", 8, 0}, {"/c", 0, 5}};
    struct replay_run run = {0};
    assert_int_equal(replay_rows_fill(own, 7, &run), MGLRU_OK);
    assert_int_equal(run.memcg_count, 5);
    for (size_t i = 0; i < 5; i++) {
        assert_string_equal(run.memcgs[i].path, expected[i].path);
        assert_int_equal(run.memcgs[i].figures.accesses, expected[i].accesses);
        assert_int_equal(run.memcgs[i].figures.misses, expected[i].accesses / 2);
        assert_int_equal(run.memcgs[i].skipped, expected[i].skipped);
        free(run.memcgs[i].path);
    }
    free(run.memcgs);
}

struct counters {
    unsigned done[16];
};

static void count_task(void *context, size_t task)
{
    struct counters *counters = context;
    counters->done[task]++;
}

static void pool_does_each_task_once_a_round(void **state)
{
    for (unsigned threads = 1; threads <= 5; threads++) {
        struct counters counters = {{0}};
        struct replay_pool_tasks tasks = {count_task, &counters, 16};
        struct replay_pool *pool;
        assert_int_equal(replay_pool_create(&tasks, threads, &pool), MGLRU_OK);
        replay_pool_wait(pool);
        for (unsigned round = 1; round <= 500; round++) {
            replay_pool_start(pool);
            replay_pool_wait(pool);
            for (size_t task = 0; task < 16; task++)
                assert_int_equal(counters.done[task], round);
        }
        replay_pool_start(pool);
        replay_pool_destroy(pool);
        for (size_t task = 0; task < 16; task++)
            assert_int_equal(counters.done[task], 501);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_have_dense_ids_in_order_of_first_use),
        cmocka_unit_test(slots_agree_with_an_array),
        cmocka_unit_test(slots_visit_each_value_of_a_memcg_once),
        cmocka_unit_test(rows_hold_subtrees_of_what_did_something),
        cmocka_unit_test(pool_does_each_task_once_a_round),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
