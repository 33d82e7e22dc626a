/* SPDX-License-Identifier: MIT */
/*
 * A tree of memcgs on several CPUs: charges through stocks, counters, drains, flushes, walks,
 * creations and removals at once. At the end nothing is charged, and every counter is exact.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>

#include "memcg_helper.h"
#include "stress_helper.h"

enum { SHARED = 4 };

static struct memcg_tree *tree;
static struct memcg *shared[SHARED];
static _Atomic long added_all;

static void init_tree(const struct memcg_params *params)
{
    static const char *const paths[SHARED] = {"/a", "/a/b", "/a/c", "/d"};
    tree = helper_tree(params, STRESS_THREADS);
    for (int i = 0; i < SHARED; i++)
        shared[i] = helper_memcg(tree, paths[i]);
    memcg_write_max(shared[0], 400); /* often reached: drains of other CPUs' stocks */
    atomic_store_relaxed(&added_all, 0);
}

static void charge_one(struct stress_thread *self, struct memcg *memcg, long *held)
{
    unsigned pages = 1 + (unsigned)seeded_below(&self->random, 9);
    struct memcg_verdict verdict;
    if (*held >= (long)pages && seeded_below(&self->random, 2)) {
        memcg_uncharge(memcg, pages);
        *held -= (long)pages;
        memcg_stat_add(memcg, self->number, 0, MEMCG_NR_FILE, -(long)pages);
    } else if (memcg_try_charge(memcg, self->number, pages, &verdict) == MGLRU_OK) {
        *held += (long)pages;
        memcg_stat_add(memcg, self->number, 0, MEMCG_NR_FILE, (long)pages);
        memcg_stat_add(memcg, self->number, 1, MEMCG_PGFAULT, 1);
        atomic_add_relaxed(&added_all, 1);
    } else {
        memcg_stock_drain_all(verdict.over, self->number);
    }
}

/* A memcg of this thread's own: made, charged, removed, and its last pages taken away. */
static void live_and_die(struct stress_thread *self, unsigned long round)
{
    char name[32];
    struct memcg *mine;
    long held = 0;
    snprintf(name, sizeof(name), "t%u-%lu", self->number, round);
    assert_int_equal(memcg_create(shared[1], name, &mine), MGLRU_OK);
    memcg_get(mine);
    for (int i = 0; i < 20; i++)
        charge_one(self, mine, &held);
    if (seeded_below(&self->random, 2)) {
        memcg_uncharge(mine, (unsigned)held);
        memcg_stat_add(mine, self->number, 0, MEMCG_NR_FILE, -held);
        held = 0;
    }
    assert_int_equal(memcg_offline(mine, self->number), MGLRU_OK);
    struct memcg *owner = tree->params->reparents ? shared[1] : mine;
    if (held) {
        memcg_stat_add(mine, self->number, 0, MEMCG_NR_FILE, -held);
        memcg_uncharge(owner, (unsigned)held);
    }
    memcg_put(mine);
}

static void work(struct stress_thread *self)
{
    long held[SHARED] = {0};
    for (unsigned long i = 0; i < self->rounds; i++) {
        unsigned which = (unsigned)seeded_below(&self->random, SHARED);
        charge_one(self, shared[which], &held[which]);
        if (i % 64 == 0)
            live_and_die(self, i);
        if (i % 32 == self->number)
            memcg_stat_flush(shared[which]);
        if (i % 64 == 16 * self->number) {
            struct memcg_iter_cookie cookie = {0};
            struct memcg *pos = NULL;
            while ((pos = memcg_iter_next(tree->root, pos, i % 128 < 64 ? &cookie : NULL)))
                memcg_protection_update(tree->root, pos);
        }
    }
    for (int i = 0; i < SHARED; i++) {
        memcg_uncharge(shared[i], (unsigned)held[i]);
        memcg_stat_add(shared[i], self->number, 0, MEMCG_NR_FILE, -held[i]);
    }
    memcg_stock_drain_cpu(tree, self->number);
}

static void run(const struct memcg_params *params)
{
    void (*const bodies[])(struct stress_thread *) = {work};
    init_tree(params);
    stress_run(bodies, 1);
    for (unsigned cpu = 0; cpu < STRESS_THREADS; cpu++)
        memcg_stock_drain_cpu(tree, cpu);
    memcg_tree_verify(tree);
    assert_int_equal(tree->count, SHARED + 1);
    for (struct memcg *pos = tree->root; pos; pos = memcg_next(tree->root, pos)) {
        assert_int_equal(page_counter_read(&pos->memory), 0);
        assert_int_equal(pos->memory.underflows, 0);
    }
    assert_int_equal(memcg_stat_exact(tree->root, MEMCG_ALL_NODES, MEMCG_NR_FILE), 0);
    long added = atomic_load_relaxed(&added_all);
    assert_int_equal(memcg_stat_exact(tree->root, MEMCG_ALL_NODES, MEMCG_PGFAULT), added);
    /* One quiet update a CPU and memcg carries what a racing flush may have missed. */
    for (struct memcg *pos = tree->root; pos; pos = memcg_next(tree->root, pos))
        for (unsigned cpu = 0; cpu < STRESS_THREADS; cpu++)
            memcg_stat_add(pos, cpu, 0, MEMCG_NR_FILE, 0);
    memcg_stat_flush(tree->root);
    assert_int_equal(memcg_stat_flushed(tree->root, MEMCG_ALL_NODES, MEMCG_PGFAULT), added);
    assert_int_equal(memcg_stat_flushed(tree->root, MEMCG_ALL_NODES, MEMCG_NR_FILE), 0);
    memcg_tree_destroy(tree);
}

/*
 * One thread removes a memcg while another takes its last pages away: exactly one of them has to
 * find it unused. Mailboxes hand the memcgs over.
 */
static _Atomic(struct memcg *) mailbox[2];

static void charge_and_remove(struct stress_thread *self)
{
    unsigned pair = self->number / 2;
    for (unsigned long i = 0; i < self->rounds / 4; i++) {
        char name[32];
        struct memcg *mine;
        struct memcg_verdict verdict;
        snprintf(name, sizeof(name), "p%u-%lu", pair, i);
        assert_int_equal(memcg_create(tree->root, name, &mine), MGLRU_OK);
        assert_int_equal(memcg_try_charge(mine, self->number, 2, &verdict), MGLRU_OK);
        memcg_stock_drain_cpu(tree, self->number);
        atomic_store_release(&mailbox[pair], mine);
        assert_int_equal(memcg_offline(mine, self->number), MGLRU_OK);
        while (atomic_load_acquire(&mailbox[pair]))
            os_thread_yield();
    }
}

static void take_last_pages(struct stress_thread *self)
{
    unsigned pair = self->number / 2;
    for (unsigned long i = 0; i < self->rounds / 4; i++) {
        struct memcg *theirs;
        while (!(theirs = atomic_load_acquire(&mailbox[pair])))
            os_thread_yield();
        memcg_uncharge(theirs, 1);
        memcg_uncharge(theirs, 1);
        atomic_store_release(&mailbox[pair], NULL);
    }
}

static void last_page_and_removal_may_meet(void **state)
{
    void (*const bodies[])(struct stress_thread *) = {charge_and_remove, take_last_pages};
    init_tree(&memcg_params_612);
    stress_run(bodies, 2);
    memcg_tree_verify(tree);
    assert_int_equal(tree->count, SHARED + 1);
    assert_int_equal(page_counter_read(&tree->root->memory), 0);
    memcg_tree_destroy(tree);
}

static void nothing_is_lost_with_one_slot_stocks(void **state)
{
    run(&memcg_params_612);
}

static void nothing_is_lost_with_reparenting(void **state)
{
    run(&memcg_params_73);
}

static void nothing_is_lost_with_trimmed_stocks(void **state)
{
    run(&memcg_params_ours);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(last_page_and_removal_may_meet),
        cmocka_unit_test(nothing_is_lost_with_one_slot_stocks),
        cmocka_unit_test(nothing_is_lost_with_reparenting),
        cmocka_unit_test(nothing_is_lost_with_trimmed_stocks),
    };
    return stress_groups(tests, sizeof(tests) / sizeof(tests[0]));
}
