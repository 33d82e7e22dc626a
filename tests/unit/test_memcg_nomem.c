/* SPDX-License-Identifier: MIT */
/*
 * memcg/ when memory runs out: every allocation of a creation is refused in turn; the call says so,
 * nothing stays behind, and what was there before is whole (failure mode T5).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "memcg_helper.h"
#include "sync/rcu.h"

/* Allocations until one is refused; negative: none is. */
static long allowed = -1;
static _Atomic long living; /* freed by the thread of liburcu as well */

static bool refuse(void)
{
    return allowed >= 0 && allowed-- == 0;
}

void *__real_malloc(size_t bytes);
void *__real_calloc(size_t count, size_t bytes);
void *__real_aligned_alloc(size_t alignment, size_t bytes);
void __real_free(void *memory);
void *__wrap_malloc(size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes);
void *__wrap_aligned_alloc(size_t alignment, size_t bytes);
char *__wrap_strdup(const char *text);
void __wrap_free(void *memory);

static void *count_living(void *memory)
{
    atomic_add_relaxed(&living, memory != NULL);
    return memory;
}

void *__wrap_malloc(size_t bytes)
{
    return refuse() ? NULL : count_living(__real_malloc(bytes));
}

void *__wrap_calloc(size_t count, size_t bytes)
{
    return refuse() ? NULL : count_living(__real_calloc(count, bytes));
}

void *__wrap_aligned_alloc(size_t alignment, size_t bytes)
{
    return refuse() ? NULL : count_living(__real_aligned_alloc(alignment, bytes));
}

char *__wrap_strdup(const char *text)
{
    char *copy = __wrap_malloc(strlen(text) + 1);
    return copy ? strcpy(copy, text) : NULL;
}

void __wrap_free(void *memory)
{
    atomic_sub_relaxed(&living, memory != NULL);
    __real_free(memory);
}

/* Allocations that are left when all that was to be freed later is freed. */
static long living_now(void)
{
    rcu_drain();
    return atomic_load_relaxed(&living);
}

static int allow_all(void **state)
{
    allowed = -1;
    return 0;
}

/* More allocations than any creation makes; a loop that gets here does not end by itself. */
enum { ALLOCATIONS_MAX = 50 };

static void refused_tree_leaves_nothing(void **state)
{
    struct memcg_tree_options options = {.cpus = 2, .nodes = 2};
    struct memcg_tree *tree = NULL;
    int error = MGLRU_ENOMEM;
    int refusals = 0;
    for (; error && refusals < ALLOCATIONS_MAX; refusals++) {
        long before = living_now();
        allowed = refusals;
        error = memcg_tree_create(&options, &tree);
        allowed = -1;
        if (!error)
            break;
        assert_int_equal(error, MGLRU_ENOMEM);
        assert_null(tree);
        assert_int_equal(living_now(), before);
    }
    assert_int_equal(error, MGLRU_OK);
    assert_in_range(refusals, 5, ALLOCATIONS_MAX - 1);
    memcg_tree_destroy(tree);
}

static void refused_memcg_leaves_the_tree_whole(void **state)
{
    struct memcg_tree *tree = helper_tree(&memcg_params_73, 2);
    struct memcg *a = helper_memcg(tree, "/a");
    struct memcg *made = NULL;
    int error = MGLRU_ENOMEM;
    int refusals = 0;
    for (; error && refusals < ALLOCATIONS_MAX; refusals++) {
        long before = living_now();
        allowed = refusals;
        error = memcg_create(a, "b", &made);
        allowed = -1;
        if (!error)
            break;
        assert_int_equal(error, MGLRU_ENOMEM);
        assert_null(made);
        assert_int_equal(living_now(), before);
        assert_int_equal(tree->count, 2);
        assert_int_equal(a->refs, 1);
        memcg_tree_verify(tree);
    }
    assert_int_equal(error, MGLRU_OK);
    assert_in_range(refusals, 3, ALLOCATIONS_MAX - 1);
    assert_int_equal(made->id, 3); /* no id was lost on the way */
    memcg_tree_verify(tree);
    memcg_tree_destroy(tree);
}

/* The path makes /x, then fails at /x/y: what was made stays and works. */
static void refused_path_keeps_what_was_made(void **state)
{
    struct memcg_tree *tree = helper_tree(&memcg_params_73, 1);
    struct memcg *made;
    long one = 0;
    long before = living_now();
    helper_memcg(tree, "/w");
    one = living_now() - before;
    allowed = one; /* the first memcg passes, the second does not */
    assert_int_equal(memcg_create_path(tree, "/x/y", &made), MGLRU_ENOMEM);
    allowed = -1;
    assert_null(made);
    assert_int_equal(memcg_find(tree, "/x", &made), MGLRU_OK);
    assert_int_equal(memcg_find(tree, "/x/y", &made), MGLRU_ENOENT);
    memcg_tree_verify(tree);
    memcg_tree_destroy(tree);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(refused_tree_leaves_nothing, allow_all),
        cmocka_unit_test_teardown(refused_memcg_leaves_the_tree_whole, allow_all),
        cmocka_unit_test_teardown(refused_path_keeps_what_was_made, allow_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
