/* SPDX-License-Identifier: MIT */
/*
 * Goal: the generated streams are those that the kernel recordings were made with. Method: the
 * hashes that the recording harness printed, for one scenario of each pattern.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>

#include <mglru/error.h>

#include "trace/gen.h"

static void assert_stream(const struct gen_options *options, size_t count, uint64_t fnv)
{
    uint32_t *pages = calloc(count, sizeof(*pages));
    assert_non_null(pages);
    assert_int_equal(gen_stream(options, pages, count), 0);
    assert_int_equal(gen_fnv(pages, count), fnv);
    free(pages);
}

static void test_uniform(void **state)
{
    (void)state;
    const struct gen_options options = {.pattern = GEN_UNIFORM, .pages = 32768, .seed = 11};
    assert_stream(&options, 400000, 0x2e8602496e05ace6);
}

static void test_zipf(void **state)
{
    (void)state;
    const struct gen_options options = {
        .pattern = GEN_ZIPF, .pages = 32768, .seed = 13, .exponent_milli = 1000};
    assert_stream(&options, 400000, 0xc1998cfa26a65636);
}

static void test_loop(void **state)
{
    (void)state;
    const struct gen_options options = {.pattern = GEN_LOOP, .pages = 9216, .loop = 9216};
    assert_stream(&options, 400000, 0x8bca7eda0dedb025);
}

static void test_hotscan(void **state)
{
    (void)state;
    const struct gen_options options = {
        .pattern = GEN_HOTSCAN, .pages = 32768, .seed = 17, .hot = 4096, .hot_per_1024 = 512};
    assert_stream(&options, 400000, 0x688cd6f474e08025);
}

static void test_phase(void **state)
{
    (void)state;
    const struct gen_options options = {
        .pattern = GEN_PHASE, .pages = 32768, .seed = 18, .hot = 4096, .lead = 60000};
    assert_stream(&options, 200000, 0x56c303b2d4cf8120);
}

static void test_shift(void **state)
{
    (void)state;
    const struct gen_options options = {.pattern = GEN_SHIFT,
                                        .pages = 32768,
                                        .seed = 19,
                                        .hot = 6000,
                                        .segment = 40000,
                                        .step = 3000};
    assert_stream(&options, 400000, 0x68a7deaf018eed40);
}

static void test_bad_options_are_refused(void **state)
{
    (void)state;
    uint32_t page = 0;
    const struct gen_options bad[] = {
        {.pattern = 0, .pages = 1},
        {.pattern = GEN_UNIFORM, .pages = 0},
        {.pattern = GEN_UNIFORM, .pages = (UINT64_C(1) << 32) + 1},
        {.pattern = GEN_LOOP, .pages = 4, .loop = 5},
        {.pattern = GEN_LOOP, .pages = 4},
        {.pattern = GEN_HOTSCAN, .pages = 4, .hot = 4, .hot_per_1024 = 1},
        {.pattern = GEN_HOTSCAN, .pages = 4, .hot = 1, .hot_per_1024 = 1025},
        {.pattern = GEN_PHASE, .pages = 4, .hot = 0},
        {.pattern = GEN_SHIFT, .pages = 4, .hot = 2, .segment = 0},
    };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        assert_int_equal(gen_stream(&bad[i], &page, 1), MGLRU_EINVAL);
    assert_int_equal(gen_pattern_find("zipf"), GEN_ZIPF);
    assert_int_equal(gen_pattern_find("zip"), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_uniform),
        cmocka_unit_test(test_zipf),
        cmocka_unit_test(test_loop),
        cmocka_unit_test(test_hotscan),
        cmocka_unit_test(test_phase),
        cmocka_unit_test(test_shift),
        cmocka_unit_test(test_bad_options_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
