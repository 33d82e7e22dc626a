/* SPDX-License-Identifier: MIT */
/*
 * Every baseline policy against its reference model, access by access, at every size from one page
 * to a few dozen and beyond the number of pages (failure S2: simulators that break at small sizes).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "base/check.h"
#include "model/naive_policy.h"
#include "policy/policy.h"
#include "policy_streams.h"

#define EVENTS 2000
#define SIZE_MAX_PAGES 40

static struct naive_event events[EVENTS];
static uint64_t next_use[EVENTS];

/* Of pages that are never used again, MIN may drop any: what it holds is not determined. */
static bool same_size(const struct policy_ops *ops, const void *state, const struct naive *naive)
{
    return ops->needs_future || ops->resident(state) == naive_resident(naive);
}

static void compare_run(const struct policy_ops *ops, uint64_t capacity_pages)
{
    void *state;
    assert_int_equal(ops->create(capacity_pages, &state), 0);
    struct naive *naive = naive_create(ops->name, capacity_pages);
    for (size_t i = 0; i < EVENTS; i++) {
        struct policy_request request = {.page = events[i].page, .next_use = next_use[i]};
        bool expected = naive_step(naive, events, EVENTS, i);
        int found = 0;
        if (events[i].is_forget)
            ops->forget(state, events[i].page);
        else
            found = ops->access(state, &request);
        if (found != expected || !same_size(ops, state, naive))
            fail_msg("%s, %d pages, event %zu (%s page %u): hit %d, expected %d; %d pages, "
                     "expected %d",
                     ops->name, (int)capacity_pages, i, events[i].is_forget ? "free" : "access",
                     events[i].page, found, expected, (int)ops->resident(state),
                     (int)naive_resident(naive));
    }
    ops->destroy(state);
    naive_destroy(naive);
}

static void compare_stream(struct stream_shape shape, uint64_t seed)
{
    stream_fill(events, EVENTS, shape, seed);
    for (size_t i = 0; i < EVENTS; i++)
        next_use[i] = naive_next_use(events, EVENTS, i);
    for (size_t p = 0; policy_at(p); p++) {
        for (uint64_t size = 1; size <= SIZE_MAX_PAGES; size++)
            compare_run(policy_at(p), size);
        for (uint64_t size = 100; size <= 300; size += 100)
            compare_run(policy_at(p), size);
    }
}

static void compare_all(struct stream_shape shape, uint64_t seed)
{
    for (uint64_t i = 0; i < 3; i++)
        compare_stream(shape, seed * 100 + i);
}

static void few_pages(void **state)
{
    compare_all((struct stream_shape){.universe_pages = 13}, 1);
}

static void some_pages(void **state)
{
    compare_all((struct stream_shape){.universe_pages = 60}, 2);
}

/* More pages than any of the caches holds, at 100 pages and more the shares of 1 % count. */
static void many_pages(void **state)
{
    compare_all((struct stream_shape){.universe_pages = 350}, 3);
}

static void pages_are_freed_now_and_then(void **state)
{
    compare_all((struct stream_shape){.universe_pages = 60, .forget_percent = 3}, 4);
}

static void pages_are_freed_all_the_time(void **state)
{
    compare_all((struct stream_shape){.universe_pages = 40, .forget_percent = 30}, 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(few_pages),
        cmocka_unit_test(some_pages),
        cmocka_unit_test(many_pages),
        cmocka_unit_test(pages_are_freed_now_and_then),
        cmocka_unit_test(pages_are_freed_all_the_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
