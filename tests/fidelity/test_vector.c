/* SPDX-License-Identifier: MIT */
/*
 * Goal: what is packed into a fixture comes out bit for bit, and a damaged fixture is refused or
 * yields bits, never a crash. Method: vectors with and without structure through both directions.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/bits.h"
#include "vector.h"

#define COUNT 20011 /* no multiple of 8 */
#define PAGES 512

struct sample {
    uint32_t pages[COUNT];
    uint8_t bits[COUNT / 8 + 1];
};

/* Pages in a mixed loop; a bit is set where @chance of 256 says so. */
static struct sample *sample_make(unsigned chance)
{
    struct sample *sample = calloc(1, sizeof(*sample));
    assert_non_null(sample);
    for (uint64_t i = 0; i < COUNT; i++) {
        uint64_t random = bits_mix64(i + 1);
        sample->pages[i] = (uint32_t)(random % 4 ? i % PAGES : random >> 40) % PAGES;
        if ((random >> 20 & 255) < chance)
            sample->bits[i / 8] |= (uint8_t)(1u << (i % 8));
    }
    return sample;
}

static void assert_round_trip(unsigned chance, size_t at_most)
{
    struct sample *sample = sample_make(chance);
    char *text = vector_pack(sample->bits, sample->pages, COUNT, PAGES);
    assert_non_null(text);
    assert_true(strlen(text) <= at_most);
    uint8_t *bits = vector_unpack(text, sample->pages, COUNT, PAGES);
    assert_non_null(bits);
    assert_memory_equal(bits, sample->bits, COUNT / 8 + 1);
    free(bits);
    free(text);
    free(sample);
}

static void test_random_bits_survive(void **state)
{
    (void)state;
    /* No structure: hardly longer than the base64 of the bits themselves. */
    assert_round_trip(128, COUNT / 6 + COUNT / 60);
}

static void test_all_misses_are_tiny(void **state)
{
    (void)state;
    assert_round_trip(256, 400);
}

static void test_no_miss_is_tiny(void **state)
{
    (void)state;
    assert_round_trip(0, 400);
}

static void test_rare_misses_survive(void **state)
{
    (void)state;
    assert_round_trip(2, COUNT / 24);
}

static void test_first_accesses_cost_nothing(void **state)
{
    (void)state;
    /* A miss at each page's first access only: the reuse context tells it. */
    struct sample *sample = sample_make(0);
    uint8_t seen[PAGES] = {0};
    for (uint64_t i = 0; i < COUNT; i++) {
        if (!seen[sample->pages[i]])
            sample->bits[i / 8] |= (uint8_t)(1u << (i % 8));
        seen[sample->pages[i]] = 1;
    }
    char *text = vector_pack(sample->bits, sample->pages, COUNT, PAGES);
    assert_non_null(text);
    assert_true(strlen(text) < 500);
    free(text);
    free(sample);
}

static void test_damaged_text_is_no_crash(void **state)
{
    (void)state;
    struct sample *sample = sample_make(40);
    assert_null(vector_unpack("", sample->pages, COUNT, PAGES));
    assert_null(vector_unpack("AAA", sample->pages, COUNT, PAGES));
    assert_null(vector_unpack("AA*AAAAA", sample->pages, COUNT, PAGES));
    char *text = vector_pack(sample->bits, sample->pages, COUNT, PAGES);
    assert_non_null(text);
    text[strlen(text) / 2 & ~(size_t)3] = '\0';
    uint8_t *bits = vector_unpack(text, sample->pages, COUNT, PAGES);
    assert_non_null(bits);
    assert_memory_not_equal(bits, sample->bits, COUNT / 8 + 1);
    free(bits);
    free(text);
    free(sample);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_bits_survive),
        cmocka_unit_test(test_all_misses_are_tiny),
        cmocka_unit_test(test_no_miss_is_tiny),
        cmocka_unit_test(test_rare_misses_survive),
        cmocka_unit_test(test_first_accesses_cost_nothing),
        cmocka_unit_test(test_damaged_text_is_no_crash),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
