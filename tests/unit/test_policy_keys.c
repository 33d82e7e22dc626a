/* SPDX-License-Identifier: MIT */
/* policy/keys.h: dense ids in order of first use, exact over the whole range of names. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "base/check.h"
#include "policy/keys.h"
#include "policy_streams.h"

static uint32_t intern(struct keys *keys, uint32_t object, uint64_t page)
{
    uint32_t id;
    assert_int_equal(keys_intern(keys, object, page, &id), 0);
    return id;
}

static void ids_are_dense_and_stable(void **state)
{
    struct keys keys;
    assert_int_equal(keys_init(&keys), 0);
    for (uint32_t object = 0; object < 50; object++)
        for (uint64_t page = 0; page < 1000; page++)
            assert_int_equal(intern(&keys, object, page), object * 1000 + page);
    for (uint32_t object = 0; object < 50; object++)
        for (uint64_t page = 0; page < 1000; page++)
            assert_int_equal(intern(&keys, object, page), object * 1000 + page);
    assert_int_equal(keys.count, 50000);
    keys_free(&keys);
}

/* Regular names must not crowd one part of the table: every stride, over pages and over objects. */
static void strides_spread_over_the_table(void **state)
{
    for (unsigned shift = 0; shift < 32; shift++) {
        struct keys by_page, by_object;
        assert_int_equal(keys_init(&by_page), 0);
        assert_int_equal(keys_init(&by_object), 0);
        for (uint32_t i = 0; i < 3000; i++) {
            assert_int_equal(intern(&by_page, 1, (uint64_t)i << shift), i);
            if ((uint64_t)i << shift <= UINT32_MAX)
                assert_int_equal(intern(&by_object, i << shift, 1), i);
        }
        keys_free(&by_page);
        keys_free(&by_object);
    }
}

/* Every bit of object and page number tells names apart. */
static void single_bits_make_different_names(void **state)
{
    struct keys keys;
    assert_int_equal(keys_init(&keys), 0);
    uint32_t expected = 0;
    assert_int_equal(intern(&keys, 0, 0), expected++);
    for (unsigned bit = 0; bit < 32; bit++)
        assert_int_equal(intern(&keys, UINT32_C(1) << bit, 0), expected++);
    for (unsigned bit = 0; bit < 52; bit++)
        assert_int_equal(intern(&keys, 0, UINT64_C(1) << bit), expected++);
    assert_int_equal(intern(&keys, UINT32_MAX, KEYS_PAGE_MAX), expected++);
    assert_int_equal(intern(&keys, UINT32_MAX, 0), expected++);
    assert_int_equal(intern(&keys, 0, KEYS_PAGE_MAX), expected++);
    assert_int_equal(keys_find(&keys, UINT32_MAX, KEYS_PAGE_MAX), expected - 3);
    assert_int_equal(keys.count, expected);
    keys_free(&keys);
}

static void finding_does_not_add(void **state)
{
    struct keys keys;
    assert_int_equal(keys_init(&keys), 0);
    assert_int_equal(keys_find(&keys, 1, 2), KEYS_NONE);
    assert_int_equal(intern(&keys, 1, 2), 0);
    assert_int_equal(keys_find(&keys, 1, 2), 0);
    assert_int_equal(keys_find(&keys, 2, 1), KEYS_NONE);
    keys_prefetch(&keys, 2, 1);
    assert_int_equal(keys.count, 1);
    keys_free(&keys);
}

struct name {
    uint32_t object;
    uint64_t page;
};

/* Random names from small sets of objects and pages far apart, against a list of all seen. */
static void ids_agree_with_a_list(void **state)
{
    enum { STEPS = 20000 };
    struct name *seen = calloc(STEPS, sizeof(*seen));
    uint32_t count = 0;
    uint64_t seed = 21;
    struct keys keys;
    assert_non_null(seen);
    assert_int_equal(keys_init(&keys), 0);
    for (unsigned step = 0; step < STEPS; step++) {
        uint64_t random = stream_random(&seed);
        struct name name = {.object = (uint32_t)(random % 5) * UINT32_C(0x3FFFFFFF),
                            .page = (random >> 8) % 500 * UINT64_C(0x7FFFFFFFFF) & KEYS_PAGE_MAX};
        uint32_t expected = 0;
        while (expected < count &&
               (seen[expected].object != name.object || seen[expected].page != name.page))
            expected++;
        assert_int_equal(keys_find(&keys, name.object, name.page),
                         expected < count ? expected : KEYS_NONE);
        if (expected == count)
            seen[count++] = name;
        assert_int_equal(intern(&keys, name.object, name.page), expected);
    }
    assert_int_equal(keys.count, count);
    keys_free(&keys);
    free(seen);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ids_are_dense_and_stable),
        cmocka_unit_test(strides_spread_over_the_table),
        cmocka_unit_test(single_bits_make_different_names),
        cmocka_unit_test(finding_does_not_add),
        cmocka_unit_test(ids_agree_with_a_list),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
