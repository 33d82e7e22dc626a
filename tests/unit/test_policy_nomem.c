/* SPDX-License-Identifier: MIT */
/*
 * Every allocation of policy/ is refused once. The call must answer MGLRU_ENOMEM, leave the object
 * as it was and succeed when it is repeated. The linker turns the allocator's entry points into the
 * __wrap_ functions below.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include <mglru/error.h>

#include "base/check.h"
#include "policy/future.h"
#include "policy/keys.h"
#include "policy/policy.h"
#include "policy_streams.h"

/* Allocations until one fails; negative: none fails. */
static int until_failure = -1;

static bool refused(void)
{
    return until_failure >= 0 && until_failure-- == 0;
}

void *__real_malloc(size_t bytes);
void *__real_calloc(size_t count, size_t bytes);
void *__real_realloc(void *old, size_t bytes);
void *__real_aligned_alloc(size_t alignment, size_t bytes);
void *__wrap_malloc(size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes);
void *__wrap_realloc(void *old, size_t bytes);
void *__wrap_aligned_alloc(size_t alignment, size_t bytes);

void *__wrap_malloc(size_t bytes)
{
    return refused() ? NULL : __real_malloc(bytes);
}

void *__wrap_calloc(size_t count, size_t bytes)
{
    return refused() ? NULL : __real_calloc(count, bytes);
}

void *__wrap_realloc(void *old, size_t bytes)
{
    return refused() ? NULL : __real_realloc(old, bytes);
}

void *__wrap_aligned_alloc(size_t alignment, size_t bytes)
{
    return refused() ? NULL : __real_aligned_alloc(alignment, bytes);
}

#define ALLOCATIONS_MAX 100

/* Accesses with ids that make the arrays grow several times. */
static uint32_t page_at(uint32_t i)
{
    return i * 37 % 500 * (1 + i / 40);
}

/* True: the refusal was met. */
static bool refuse_one_of_policy(const struct policy_ops *ops, int allocation)
{
    void *tested, *calm;
    bool met = false;
    assert_int_equal(ops->create(50, &calm), 0);
    until_failure = allocation;
    int error = ops->create(50, &tested);
    if (error) {
        assert_int_equal(error, MGLRU_ENOMEM);
        assert_null(tested);
        assert_int_equal(ops->create(50, &tested), 0);
        met = true;
    }
    for (uint32_t i = 0; i < 2000; i++) {
        struct policy_request request = {.page = page_at(i), .next_use = i + 100 - i % 13};
        int found = ops->access(tested, &request);
        if (found < 0) {
            assert_int_equal(found, MGLRU_ENOMEM);
            assert_int_equal(ops->resident(tested), ops->resident(calm));
            found = ops->access(tested, &request);
            met = true;
        }
        int left = until_failure;
        until_failure = -1;
        assert_int_equal(found, ops->access(calm, &request));
        until_failure = left;
    }
    until_failure = -1;
    ops->destroy(tested);
    ops->destroy(calm);
    return met;
}

static void policies_survive_refused_memory(void **state)
{
    for (size_t p = 0; policy_at(p); p++) {
        int allocation = 0;
        while (refuse_one_of_policy(policy_at(p), allocation))
            assert_true(++allocation < ALLOCATIONS_MAX);
        assert_true(allocation >= 5);
    }
}

static bool refuse_one_of_keys(int allocation)
{
    struct keys keys;
    bool met = false;
    until_failure = allocation;
    if (keys_init(&keys)) {
        keys_free(&keys);
        assert_int_equal(keys_init(&keys), 0);
        met = true;
    }
    for (uint32_t i = 0; i < 10000; i++) {
        uint32_t id;
        int error = keys_intern(&keys, i % 7, i, &id);
        if (error) {
            assert_int_equal(error, MGLRU_ENOMEM);
            assert_int_equal(id, KEYS_NONE);
            assert_int_equal(keys_find(&keys, i % 7, i), KEYS_NONE);
            assert_int_equal(keys_intern(&keys, i % 7, i, &id), 0);
            met = true;
        }
        assert_int_equal(id, i);
    }
    until_failure = -1;
    keys_free(&keys);
    return met;
}

static void keys_survive_refused_memory(void **state)
{
    int allocation = 0;
    while (refuse_one_of_keys(allocation))
        assert_true(++allocation < ALLOCATIONS_MAX);
    assert_true(allocation >= 4);
}

static bool refuse_one_of_future(int allocation)
{
    const uint32_t period = 100000;
    const uint64_t accesses = 6000000;
    struct future future;
    bool met = false;
    future_init(&future);
    until_failure = allocation;
    for (uint64_t i = 0; i < accesses; i++) {
        int error = future_access(&future, (uint32_t)(i % period));
        if (error) {
            assert_int_equal(error, MGLRU_ENOMEM);
            assert_int_equal(future.accesses, i);
            assert_int_equal(future_access(&future, (uint32_t)(i % period)), 0);
            met = true;
        }
    }
    until_failure = -1;
    for (uint64_t i = 0; i < accesses; i += 4999)
        assert_int_equal(future_next(&future, i),
                         i + period < accesses ? i + period : POLICY_NEVER);
    future_free(&future);
    return met;
}

static void future_survives_refused_memory(void **state)
{
    int allocation = 0;
    while (refuse_one_of_future(allocation))
        assert_true(++allocation < ALLOCATIONS_MAX);
    assert_true(allocation >= 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(policies_survive_refused_memory),
        cmocka_unit_test(keys_survive_refused_memory),
        cmocka_unit_test(future_survives_refused_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
