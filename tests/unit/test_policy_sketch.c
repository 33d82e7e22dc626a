/* SPDX-License-Identifier: MIT */
/* policy/sketch.h: estimates bound the real counts from above, fade and stay close. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/check.h"
#include "policy/sketch.h"
#include "policy_streams.h"

static void counts_saturate(void **state)
{
    struct sketch sketch;
    assert_int_equal(sketch_init(&sketch, 100), 0);
    for (unsigned count = 0; count < 40; count++) {
        assert_int_equal(sketch_estimate(&sketch, 5),
                         count < SKETCH_COUNT_MAX ? count : SKETCH_COUNT_MAX);
        sketch_count(&sketch, 5);
    }
    assert_int_equal(sketch_estimate(&sketch, 6), 0);
    sketch_free(&sketch);
}

static void estimates_are_never_too_low_and_seldom_too_high(void **state)
{
    enum { CAPACITY = 500, PAGES = 2000 };
    static unsigned counts[PAGES];
    struct sketch sketch;
    uint64_t seed = 41;
    assert_int_equal(sketch_init(&sketch, CAPACITY), 0);
    for (unsigned i = 0; i < CAPACITY * 10 - 1; i++) {
        uint64_t random = stream_random(&seed);
        uint32_t page = (uint32_t)(random % (1 + (random >> 32) % PAGES));
        counts[page]++;
        sketch_count(&sketch, page);
    }
    unsigned too_high = 0;
    for (uint32_t page = 0; page < PAGES; page++) {
        unsigned real = counts[page] < SKETCH_COUNT_MAX ? counts[page] : SKETCH_COUNT_MAX;
        assert_true(sketch_estimate(&sketch, page) >= real);
        too_high += sketch_estimate(&sketch, page) > real;
    }
    assert_in_range(too_high, 0, PAGES / 10);
    sketch_free(&sketch);
}

static void counts_are_halved_after_ten_accesses_a_page_of_capacity(void **state)
{
    struct sketch sketch;
    assert_int_equal(sketch_init(&sketch, 1), 0);
    for (unsigned i = 0; i < 9; i++)
        sketch_count(&sketch, 1);
    assert_int_equal(sketch_estimate(&sketch, 1), 9);
    sketch_count(&sketch, 1);
    assert_int_equal(sketch_estimate(&sketch, 1), 5);
    for (unsigned i = 0; i < 5; i++)
        sketch_count(&sketch, 1);
    assert_int_equal(sketch_estimate(&sketch, 1), 5);
    sketch_free(&sketch);
}

/* A cache of any size gets a sketch of bounded size. */
static void large_caches_get_a_bounded_sketch(void **state)
{
    struct sketch sketch;
    assert_int_equal(sketch_init(&sketch, UINT64_C(1) << 52), 0);
    assert_true(sketch.row_words <= UINT64_C(1) << 22);
    sketch_count(&sketch, 123);
    assert_int_equal(sketch_estimate(&sketch, 123), 1);
    sketch_free(&sketch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_saturate),
        cmocka_unit_test(estimates_are_never_too_low_and_seldom_too_high),
        cmocka_unit_test(counts_are_halved_after_ten_accesses_a_page_of_capacity),
        cmocka_unit_test(large_caches_get_a_bounded_sketch),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
