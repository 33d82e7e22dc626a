/* SPDX-License-Identifier: MIT */
/*
 * Random calls of the public API beside a slow model of what must always hold
 * (tests/model/cache_laws.h): all models, both algorithms, with and without swap, readahead and
 * kernel charge. Goal: no sequence of calls breaks a law.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "model/cache_script.h"
#include "seeded.h"

#define SCRIPT_BYTES 4000
#define SCRIPTS 60

static uint64_t accesses, misses, evictions;

static void one_script(struct seeded *s)
{
    uint8_t data[SCRIPT_BYTES];
    for (size_t i = 0; i < sizeof(data); i++)
        data[i] = (uint8_t)(seeded_next(s) >> 32);
    struct script_result result = cache_script_run(data, sizeof(data));
    s->step = result.calls;
    accesses += result.accesses;
    misses += result.misses;
    evictions += result.evictions;
    if (!result.broken)
        return;
    print_error("after \"%s\": %s\n", result.last, result.broken);
    SEEDED_CHECK(s, !result.broken);
}

static void random_calls_keep_the_laws(void **state)
{
    seeded_cases(SCRIPTS, one_script);
    /* The scripts must have done something. */
    assert_true(accesses > 1000);
    assert_true(misses > 100);
    assert_true(evictions > 100);
    print_message("%llu accesses, %llu misses, %llu evictions\n", (unsigned long long)accesses,
                  (unsigned long long)misses, (unsigned long long)evictions);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(random_calls_keep_the_laws)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
