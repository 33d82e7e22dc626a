/* SPDX-License-Identifier: MIT */
/*
 * memcg/stock: usage = what users hold + what stocks hold, through random consumes, refills and
 * drains of both variants; what each variant does when it runs over; row 33 of mglru-facts 10.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "memcg_helper.h"
#include "seeded.h"

enum { MEMCGS = 11, CPUS = 3 };

static const struct memcg_params *random_params;
static unsigned random_cpus;

struct stock_model {
    struct memcg_tree *tree;
    struct memcg *memcgs[MEMCGS];
    long held[MEMCGS]; /* pages that users hold */
};

static void stock_model_compare(const struct stock_model *m, struct seeded *s)
{
    memcg_tree_verify(m->tree);
    for (int i = 0; i < MEMCGS; i++) {
        long expected = 0;
        for (int k = 0; k < MEMCGS; k++)
            if (memcg_is_descendant(m->memcgs[k], m->memcgs[i]))
                expected += m->held[k] + memcg_stock_pages(m->memcgs[k]);
        SEEDED_CHECK(s, page_counter_read(&m->memcgs[i]->memory) == expected);
    }
}

static void stock_model_step(struct stock_model *m, struct seeded *s)
{
    int i = (int)seeded_below(s, MEMCGS);
    unsigned cpu = (unsigned)seeded_below(s, random_cpus);
    unsigned pages = 1 + (unsigned)seeded_below(s, seeded_below(s, 8) ? 6 : 100);
    struct memcg_verdict verdict;
    switch (seeded_below(s, 12)) {
    case 0:
        memcg_stock_drain_cpu(m->tree, cpu);
        for (int k = 0; k < MEMCGS; k++)
            SEEDED_CHECK(s, random_cpus > 1 || !memcg_stock_pages(m->memcgs[k]));
        break;
    case 1:
        SEEDED_CHECK(s, memcg_stock_drain_all(m->memcgs[i], cpu));
        SEEDED_CHECK(s, !memcg_stock_pages(m->memcgs[i]));
        break;
    case 2:
        if (m->held[i] >= (long)pages) {
            memcg_stock_refill(m->memcgs[i], cpu, pages);
            m->held[i] -= (long)pages;
        }
        break;
    case 3:
    case 4:
    case 5:
        if (m->held[i] >= (long)pages) {
            memcg_uncharge(m->memcgs[i], pages);
            m->held[i] -= (long)pages;
        }
        break;
    default:
        SEEDED_CHECK(s, !memcg_try_charge(m->memcgs[i], cpu, pages, &verdict));
        m->held[i] += (long)pages;
    }
}

static void random_stock(struct seeded *s)
{
    struct stock_model m = {.tree = helper_tree(random_params, random_cpus)};
    for (int i = 0; i < MEMCGS; i++) {
        char name[8];
        snprintf(name, sizeof(name), "m%d", i);
        struct memcg *parent = i < 4 ? m.tree->root : m.memcgs[seeded_below(s, (unsigned long)i)];
        assert_int_equal(memcg_create(parent, name, &m.memcgs[i]), MGLRU_OK);
    }
    for (s->step = 0; s->step < 3000; s->step++) {
        stock_model_step(&m, s);
        if (s->step % 8 == 0)
            stock_model_compare(&m, s);
    }
    stock_model_compare(&m, s);
    memcg_tree_destroy(m.tree);
}

static void usage_is_what_users_and_stocks_hold(void **state)
{
    static const struct memcg_params *const all[] = {&memcg_params_612, &memcg_params_73,
                                                     &memcg_params_ours};
    for (size_t i = 0; i < 3; i++) {
        random_params = all[i];
        random_cpus = 1;
        seeded_cases(4, random_stock);
        random_cpus = CPUS;
        seeded_cases(4, random_stock);
    }
}

static void charge_takes_a_batch_and_the_next_ones_come_from_stock(void **state)
{
    struct memcg_tree *tree = helper_tree(&memcg_params_73, 1);
    struct memcg *a = helper_memcg(tree, "/a");
    struct memcg_verdict verdict;
    assert_int_equal(memcg_try_charge(a, 0, 1, &verdict), MGLRU_OK);
    assert_int_equal(verdict.batch, 64);
    assert_int_equal(page_counter_read(&a->memory), 64);
    for (int i = 0; i < 63; i++) {
        assert_int_equal(memcg_try_charge(a, 0, 1, &verdict), MGLRU_OK);
        assert_int_equal(verdict.batch, 0);
    }
    assert_int_equal(memcg_stock_pages(a), 0);
    assert_int_equal(memcg_try_charge(a, 0, 1, &verdict), MGLRU_OK);
    assert_int_equal(verdict.batch, 64);
    assert_int_equal(page_counter_read(&a->memory), 128);
    assert_int_equal(memcg_try_charge(a, 0, 65, &verdict), MGLRU_OK);
    assert_int_equal(verdict.batch, 65);
    assert_int_equal(memcg_stock_pages(a), 63);
    memcg_tree_destroy(tree);
}

static void one_slot_holds_one_memcg_and_seven_hold_seven(void **state)
{
    static const struct memcg_params *const all[] = {&memcg_params_612, &memcg_params_73};
    for (size_t variant = 0; variant < 2; variant++) {
        struct memcg_tree *tree = helper_tree(all[variant], 1);
        struct memcg *memcgs[8];
        for (int i = 0; i < 8; i++) {
            char path[8];
            snprintf(path, sizeof(path), "/m%d", i);
            memcgs[i] = helper_memcg(tree, path);
            helper_charge(memcgs[i], 0, 1);
        }
        int stocked = 0;
        for (int i = 0; i < 8; i++)
            stocked += memcg_stock_pages(memcgs[i]) != 0;
        assert_int_equal(stocked, all[variant]->stock_slots);
        /* Evicted round-robin: the first one in was the first one out. */
        assert_int_equal(memcg_stock_pages(memcgs[0]), 0);
        assert_int_equal(page_counter_read(&memcgs[0]->memory), 1);
        assert_int_equal(memcg_stock_pages(memcgs[7]), 63);
        memcg_tree_destroy(tree);
    }
}

/* 60 in stock and 10 come in: the kernels empty the slot, ours keeps a full one. */
static void overfull_slot_is_emptied_or_trimmed(void **state)
{
    static const struct {
        const struct memcg_params *params;
        long kept;
    } cases[] = {{&memcg_params_612, 0}, {&memcg_params_73, 0}, {&memcg_params_ours, 64}};
    for (size_t i = 0; i < 3; i++) {
        struct memcg_tree *tree = helper_tree(cases[i].params, 1);
        struct memcg *a = helper_memcg(tree, "/a");
        memcg_charge_force(a, 70);
        memcg_stock_refill(a, 0, 60);
        assert_int_equal(memcg_stock_pages(a), 60);
        memcg_stock_refill(a, 0, 10);
        assert_int_equal(memcg_stock_pages(a), cases[i].kept);
        assert_int_equal(page_counter_read(&a->memory), cases[i].kept);
        memcg_tree_destroy(tree);
    }
}

static void refill_above_a_batch_bypasses_the_stock(void **state)
{
    struct memcg_tree *tree = helper_tree(&memcg_params_73, 1);
    struct memcg *a = helper_memcg(tree, "/a");
    memcg_charge_force(a, 100);
    memcg_stock_refill(a, 0, 65);
    assert_int_equal(memcg_stock_pages(a), 0);
    assert_int_equal(page_counter_read(&a->memory), 35);
    memcg_stock_refill(a, 0, 0);
    assert_false(memcg_stock_consume(a, 0, 65));
    memcg_tree_destroy(tree);
}

static void busy_stock_is_passed_by(void **state)
{
    struct memcg_tree *tree = helper_tree(&memcg_params_73, 2);
    struct memcg *a = helper_memcg(tree, "/a");
    helper_charge(a, 0, 1);
    assert_int_equal(memcg_stock_pages(a), 63);
    lock_spin_acquire(&tree->stock->cpu[0].lock);
    assert_false(memcg_stock_consume(a, 0, 1));
    memcg_stock_refill(a, 0, 1); /* uncharged directly */
    lock_spin_release(&tree->stock->cpu[0].lock);
    assert_int_equal(page_counter_read(&a->memory), 63);
    assert_true(memcg_stock_consume(a, 0, 1));
    memcg_tree_destroy(tree);
}

static void second_drainer_gives_up(void **state)
{
    struct memcg_tree *tree = helper_tree(&memcg_params_73, 2);
    struct memcg *a = helper_memcg(tree, "/a");
    helper_charge(a, 0, 1);
    lock_mutex_acquire(&tree->stock->drain);
    assert_false(memcg_stock_drain_all(a, 1));
    lock_mutex_release(&tree->stock->drain);
    assert_int_equal(memcg_stock_pages(a), 63);
    assert_true(memcg_stock_drain_all(a, 1));
    assert_int_equal(memcg_stock_pages(a), 0);
    memcg_tree_destroy(tree);
}

static void drain_leaves_cpus_without_the_subtree_alone(void **state)
{
    struct memcg_tree *tree = helper_tree(&memcg_params_73, 2);
    struct memcg *a = helper_memcg(tree, "/a");
    struct memcg *below = helper_memcg(tree, "/a/b");
    struct memcg *other = helper_memcg(tree, "/c");
    helper_charge(below, 0, 1);
    helper_charge(other, 1, 1);
    assert_true(memcg_stock_drain_all(a, 0));
    assert_int_equal(memcg_stock_pages(below), 0);
    assert_int_equal(memcg_stock_pages(other), 63);
    memcg_tree_destroy(tree);
}

/* A drain meets an isolated CPU; later that CPU takes part again. 6.12's mark stays and keeps
 * every later drain away. */
static void row_33_isolated_cpu_is_drained_later(void **state)
{
    static const struct {
        const struct memcg_params *params;
        long left;
    } cases[] = {{&memcg_params_612, 63}, {&memcg_params_73, 0}, {&memcg_params_ours, 0}};
    for (size_t i = 0; i < 3; i++) {
        struct memcg_tree *tree = helper_tree(cases[i].params, 2);
        struct memcg *a = helper_memcg(tree, "/a");
        helper_charge(a, 1, 1);
        memcg_stock_isolate(tree, 1, true);
        assert_true(memcg_stock_drain_all(a, 0));
        assert_int_equal(memcg_stock_pages(a), 63);
        memcg_stock_isolate(tree, 1, false);
        assert_true(memcg_stock_drain_all(a, 0));
        assert_int_equal(memcg_stock_pages(a), cases[i].left);
        memcg_tree_destroy(tree);
    }
}

static void isolated_cpu_drains_itself(void **state)
{
    struct memcg_tree *tree = helper_tree(&memcg_params_73, 2);
    struct memcg *a = helper_memcg(tree, "/a");
    helper_charge(a, 1, 1);
    memcg_stock_isolate(tree, 1, true);
    assert_true(memcg_stock_drain_all(a, 1));
    assert_int_equal(memcg_stock_pages(a), 0);
    memcg_tree_destroy(tree);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(usage_is_what_users_and_stocks_hold),
        cmocka_unit_test(charge_takes_a_batch_and_the_next_ones_come_from_stock),
        cmocka_unit_test(one_slot_holds_one_memcg_and_seven_hold_seven),
        cmocka_unit_test(overfull_slot_is_emptied_or_trimmed),
        cmocka_unit_test(refill_above_a_batch_bypasses_the_stock),
        cmocka_unit_test(busy_stock_is_passed_by),
        cmocka_unit_test(second_drainer_gives_up),
        cmocka_unit_test(drain_leaves_cpus_without_the_subtree_alone),
        cmocka_unit_test(row_33_isolated_cpu_is_drained_later),
        cmocka_unit_test(isolated_cpu_drains_itself),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
