/* SPDX-License-Identifier: MIT */
/* policy/future.h: the next use of each access is what a search through the trace finds. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <mglru/error.h>

#include "base/check.h"
#include "policy/future.h"
#include "policy/policy.h"
#include "policy_streams.h"

static void next_uses_agree_with_a_search(void **state)
{
    enum { EVENTS = 5000 };
    static struct naive_event events[EVENTS];
    static uint64_t access_index[EVENTS];
    stream_fill(events, EVENTS, (struct stream_shape){.universe_pages = 200, .forget_percent = 5},
                31);
    struct future future;
    future_init(&future);
    uint64_t accesses = 0;
    for (size_t i = 0; i < EVENTS; i++) {
        access_index[i] = accesses;
        if (events[i].is_forget) {
            future_forget(&future, events[i].page);
        } else {
            assert_int_equal(future_access(&future, events[i].page), 0);
            accesses++;
        }
    }
    future_seal(&future);
    assert_int_equal(future.accesses, accesses);
    for (size_t i = 0; i < EVENTS; i++) {
        if (events[i].is_forget)
            continue;
        uint64_t event = naive_next_use(events, EVENTS, i);
        uint64_t expected = event == UINT64_MAX ? POLICY_NEVER : access_index[event];
        assert_int_equal(future_next(&future, access_index[i]), expected);
    }
    future_free(&future);
}

/* Longer than a chunk, so that uses link from one chunk to another. */
static void long_traces_link_across_chunks(void **state)
{
    const uint64_t accesses = 1000000;
    const uint32_t period = 300007;
    struct future future;
    future_init(&future);
    for (uint64_t i = 0; i < accesses; i++)
        assert_int_equal(future_access(&future, (uint32_t)(i % period)), 0);
    for (uint64_t i = 0; i < accesses; i++)
        assert_int_equal(future_next(&future, i),
                         i + period < accesses ? i + period : POLICY_NEVER);
    future_free(&future);
}

static void unseen_ids_may_be_forgotten(void **state)
{
    struct future future;
    future_init(&future);
    future_forget(&future, 7);
    future_forget(&future, UINT32_MAX);
    assert_int_equal(future_access(&future, UINT32_MAX), MGLRU_EOVERFLOW);
    assert_int_equal(future_access(&future, 7), 0);
    assert_int_equal(future.accesses, 1);
    assert_int_equal(future_next(&future, 0), POLICY_NEVER);
    future_free(&future);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(next_uses_agree_with_a_search),
        cmocka_unit_test(long_traces_link_across_chunks),
        cmocka_unit_test(unseen_ids_may_be_forgotten),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
