/* SPDX-License-Identifier: MIT */
/* memcg/charge: verdicts at the edges of limits, high, swap, and row 32 of mglru-facts 10. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "memcg_helper.h"

static void refusal_names_the_ancestor_that_is_full(void **state)
{
    struct memcg_tree *tree = helper_tree(&memcg_params_73, 1);
    struct memcg *a = helper_memcg(tree, "/a");
    struct memcg *b = helper_memcg(tree, "/a/b");
    struct memcg_verdict verdict;
    memcg_write_max(a, 100);
    memcg_write_max(b, 1000);
    for (int i = 0; i < 100; i++)
        assert_int_equal(memcg_try_charge(b, 0, 1, &verdict), MGLRU_OK);
    assert_null(verdict.over);
    assert_int_equal(memcg_try_charge(b, 0, 1, &verdict), MGLRU_EAGAIN);
    assert_ptr_equal(verdict.over, a);
    assert_int_equal(verdict.pages, 1);
    assert_int_equal(page_counter_read(&a->memory), 100);
    assert_int_equal(page_counter_read(&b->memory), 100);
    memcg_write_max(b, 100);
    assert_int_equal(memcg_try_charge(b, 0, 3, &verdict), MGLRU_EAGAIN);
    assert_ptr_equal(verdict.over, b);
    assert_int_equal(verdict.pages, 3);
    memcg_tree_destroy(tree);
}

/* 100 of 127: the batch of 64 fits once; then charges go page by page up to the limit. */
static void batch_is_tried_first_then_what_was_asked_for(void **state)
{
    struct memcg_tree *tree = helper_tree(&memcg_params_612, 1);
    struct memcg *a = helper_memcg(tree, "/a");
    struct memcg_verdict verdict;
    memcg_write_max(a, 127);
    assert_int_equal(memcg_try_charge(a, 0, 1, &verdict), MGLRU_OK);
    assert_int_equal(verdict.batch, 64);
    for (int i = 1; i < 64; i++)
        helper_charge(a, 0, 1);
    for (int i = 64; i < 127; i++) {
        assert_int_equal(memcg_try_charge(a, 0, 1, &verdict), MGLRU_OK);
        assert_int_equal(verdict.batch, 1);
        assert_int_equal(page_counter_read(&a->memory), i + 1);
    }
    assert_int_equal(memcg_margin(a), 0);
    assert_int_equal(memcg_try_charge(a, 0, 1, &verdict), MGLRU_EAGAIN);
    memcg_tree_destroy(tree);
}

static void root_is_free(void **state)
{
    struct memcg_tree *tree = helper_tree(&memcg_params_73, 1);
    struct memcg_verdict verdict;
    assert_int_equal(memcg_try_charge(tree->root, 0, 1000, &verdict), MGLRU_OK);
    assert_int_equal(verdict.batch, 0);
    memcg_charge_force(tree->root, 5);
    memcg_uncharge(tree->root, 5);
    assert_int_equal(memcg_try_charge_swap(tree->root, 9, NULL), MGLRU_OK);
    memcg_uncharge_swap(tree->root, 9);
    assert_int_equal(page_counter_read(&tree->root->memory), 0);
    assert_int_equal(page_counter_read(&tree->root->swap), 0);
    assert_int_equal(tree->root->memory.underflows, 0);
    memcg_tree_destroy(tree);
}

static void force_passes_the_limit(void **state)
{
    struct memcg_tree *tree = helper_tree(&memcg_params_73, 1);
    struct memcg *a = helper_memcg(tree, "/a");
    memcg_write_max(a, 10);
    memcg_charge_force(a, 12);
    assert_int_equal(page_counter_read(&a->memory), 12);
    assert_int_equal(memcg_margin(a), 0);
    memcg_uncharge(a, 5);
    assert_int_equal(memcg_margin(a), 3);
    memcg_tree_destroy(tree);
}

static void verdict_names_the_nearest_above_high(void **state)
{
    struct memcg_tree *tree = helper_tree(&memcg_params_73, 1);
    struct memcg *a = helper_memcg(tree, "/a");
    struct memcg *b = helper_memcg(tree, "/a/b");
    struct memcg_verdict verdict;
    page_counter_set_high(&a->memory, 64);
    assert_int_equal(memcg_try_charge(b, 0, 1, &verdict), MGLRU_OK);
    assert_null(verdict.high);
    assert_int_equal(memcg_try_charge(b, 0, 64, &verdict), MGLRU_OK);
    assert_ptr_equal(verdict.high, a);
    assert_int_equal(verdict.batch, 64);
    page_counter_set_high(&b->swap, 1);
    assert_int_equal(memcg_try_charge_swap(b, 2, NULL), MGLRU_OK);
    assert_int_equal(memcg_try_charge(b, 0, 64, &verdict), MGLRU_OK);
    assert_ptr_equal(verdict.high, b);
    memcg_tree_destroy(tree);
}

static void swap_refusal_raises_max_and_fail_where_it_is_full(void **state)
{
    struct memcg_tree *tree = helper_tree(&memcg_params_73, 1);
    struct memcg *a = helper_memcg(tree, "/a");
    struct memcg *b = helper_memcg(tree, "/a/b");
    struct memcg *over;
    page_counter_store_max(&a->swap, 4);
    assert_int_equal(memcg_swap_margin(b), 4);
    assert_int_equal(memcg_swap_margin(tree->root), PAGE_COUNTER_MAX);
    assert_int_equal(memcg_try_charge_swap(b, 3, &over), MGLRU_OK);
    assert_null(over);
    assert_int_equal(memcg_swap_margin(b), 1);
    assert_int_equal(memcg_try_charge_swap(b, 2, &over), MGLRU_ENOSPC);
    assert_ptr_equal(over, a);
    assert_int_equal(memcg_try_charge_swap(b, 2, NULL), MGLRU_ENOSPC);
    assert_int_equal(page_counter_read(&b->swap), 3);
    assert_int_equal(memcg_events(a, MEMCG_EVENT_SWAP_MAX), 2);
    assert_int_equal(memcg_events_local(a, MEMCG_EVENT_SWAP_FAIL), 2);
    assert_int_equal(memcg_events(b, MEMCG_EVENT_SWAP_MAX), 0);
    page_counter_store_max(&a->swap, 1);
    assert_int_equal(memcg_swap_margin(b), 0);
    memcg_tree_destroy(tree);
}

static void events_are_counted_up_to_below_the_root(void **state)
{
    struct memcg_tree *tree = helper_tree(&memcg_params_73, 1);
    struct memcg *a = helper_memcg(tree, "/a");
    struct memcg *b = helper_memcg(tree, "/a/b");
    memcg_raise(b, MEMCG_EVENT_OOM);
    memcg_raise(a, MEMCG_EVENT_OOM);
    assert_int_equal(memcg_events(a, MEMCG_EVENT_OOM), 2);
    assert_int_equal(memcg_events_local(a, MEMCG_EVENT_OOM), 1);
    assert_int_equal(memcg_events(b, MEMCG_EVENT_OOM), 1);
    assert_int_equal(memcg_events(tree->root, MEMCG_EVENT_OOM), 0);
    memcg_tree_destroy(tree);
}

/* A charge that is refused before any reclaim: 6.12 forgets the event. One that was refused after
 * reclaim raises it in every model, once a sequence. */
static void row_32_refusal_without_reclaim_raises_max(void **state)
{
    static const struct {
        const struct memcg_params *params;
        uint64_t events;
    } cases[] = {{&memcg_params_612, 0}, {&memcg_params_73, 1}, {&memcg_params_ours, 1}};
    for (size_t i = 0; i < 3; i++) {
        struct memcg_tree *tree = helper_tree(cases[i].params, 1);
        struct memcg *a = helper_memcg(tree, "/a");
        struct memcg_verdict verdict;
        memcg_write_max(a, 0);
        assert_int_equal(memcg_try_charge(a, 0, 1, &verdict), MGLRU_EAGAIN);
        bool raised = memcg_charge_refused(&verdict, false, false);
        assert_int_equal(raised, cases[i].events);
        assert_int_equal(memcg_events(a, MEMCG_EVENT_MAX), cases[i].events);
        raised = memcg_charge_refused(&verdict, raised, true);
        assert_true(raised);
        assert_true(memcg_charge_refused(&verdict, raised, true));
        assert_int_equal(memcg_events(a, MEMCG_EVENT_MAX), 1);
        memcg_tree_destroy(tree);
    }
}

static void row_32_write_of_max_is_superseded_by_a_newer_one(void **state)
{
    struct memcg_tree *tree = helper_tree(&memcg_params_612, 1);
    struct memcg *a = helper_memcg(tree, "/a");
    uint32_t first = memcg_write_max(a, 10);
    assert_false(memcg_max_superseded(a, first));
    uint32_t second = memcg_write_max(a, 20);
    assert_true(memcg_max_superseded(a, first));
    assert_false(memcg_max_superseded(a, second));
    assert_int_equal(a->memory.max, 20);
    memcg_tree_destroy(tree);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(refusal_names_the_ancestor_that_is_full),
        cmocka_unit_test(batch_is_tried_first_then_what_was_asked_for),
        cmocka_unit_test(root_is_free),
        cmocka_unit_test(force_passes_the_limit),
        cmocka_unit_test(verdict_names_the_nearest_above_high),
        cmocka_unit_test(swap_refusal_raises_max_and_fail_where_it_is_full),
        cmocka_unit_test(events_are_counted_up_to_below_the_root),
        cmocka_unit_test(row_32_refusal_without_reclaim_raises_max),
        cmocka_unit_test(row_32_write_of_max_is_superseded_by_a_newer_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
