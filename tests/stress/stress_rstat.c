/* SPDX-License-Identifier: MIT */
/*
 * memcg/rstat on several threads: each owns one CPU and updates all nodes, while flushes of
 * random subtrees run. Guarantees A to D of its header; the sum must come out exactly.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "base/list.h"
#include "memcg/rstat.h"
#include "stress_helper.h"

enum { NODES = 15, CPUS = STRESS_THREADS };

struct counter_cpu {
    struct rstat_cpu rstat;
    _Atomic long value; /* the CPU's thread writes it */
    long prev;          /* tree lock */
};

struct counter {
    struct rstat_node node;
    struct counter_cpu cpu[CPUS];
    _Atomic long total; /* written under the tree lock */
    long pending;       /* tree lock */
};

static struct counter counters[NODES];
static struct rstat_tree tree;

static struct counter *counter_of(struct rstat_node *node)
{
    return container_of(node, struct counter, node);
}

static void fold(struct rstat_node *node, unsigned cpu)
{
    struct counter *c = counter_of(node);
    long value = atomic_load_relaxed(&c->cpu[cpu].value);
    long all = value - c->cpu[cpu].prev + c->pending;
    c->cpu[cpu].prev = value;
    c->pending = 0;
    atomic_add_owner(&c->total, all);
    if (node->parent)
        counter_of(node->parent)->pending += all;
}

static int init_tree(void **state)
{
    memset(counters, 0, sizeof(counters));
    if (rstat_tree_init(&tree, CPUS, fold) != MGLRU_OK)
        return -1;
    for (int i = 0; i < NODES; i++)
        rstat_node_init(&tree, &counters[i].node, i ? &counters[(i - 1) / 2].node : NULL,
                        counters[i].cpu, sizeof(counters[i].cpu[0]));
    return 0;
}

static int exit_tree(void **state)
{
    for (int i = NODES; i-- > 0;)
        rstat_node_exit(&counters[i].node);
    rstat_tree_exit(&tree);
    return 0;
}

static void update_one(struct stress_thread *self, bool ordered)
{
    struct counter *c = &counters[seeded_below(&self->random, NODES)];
    atomic_add_owner(&c->cpu[self->number].value, 1);
    if (ordered)
        rstat_updated_ordered(&c->node, self->number);
    else
        rstat_updated(&c->node, self->number);
}

static void update_ordered(struct stress_thread *self)
{
    for (unsigned long i = 0; i < self->rounds; i++)
        update_one(self, true);
}

static void update_plain_and_flush(struct stress_thread *self)
{
    for (unsigned long i = 0; i < self->rounds; i++) {
        update_one(self, false);
        if (i % 64 == 0)
            rstat_flush(&counters[seeded_below(&self->random, NODES)].node);
    }
    /* What a racing flush may have missed is carried by the next update (guarantee D). */
    for (int i = 0; i < NODES; i++)
        rstat_updated_ordered(&counters[i].node, self->number);
}

static void update_ordered_and_flush(struct stress_thread *self)
{
    for (unsigned long i = 0; i < self->rounds; i++) {
        update_one(self, true);
        if (i % 64 == 0)
            rstat_flush(&counters[seeded_below(&self->random, NODES)].node);
    }
}

static long sum_below(int i)
{
    if (i >= NODES)
        return 0;
    long sum = 0;
    for (int cpu = 0; cpu < CPUS; cpu++)
        sum += atomic_load_relaxed(&counters[i].cpu[cpu].value);
    return sum + sum_below(2 * i + 1) + sum_below(2 * i + 2);
}

static void expect_exact_totals(void)
{
    for (int i = 0; i < NODES; i++)
        rstat_verify(&counters[i].node);
    rstat_flush(&counters[0].node);
    for (int i = 0; i < NODES; i++) {
        assert_int_equal(atomic_load_relaxed(&counters[i].total), sum_below(i));
        for (unsigned cpu = 0; cpu < CPUS; cpu++)
            assert_false(rstat_linked(&counters[i].node, cpu));
    }
}

static void guarantee_d_no_ordered_update_is_lost(void **state)
{
    void (*const bodies[])(struct stress_thread *) = {update_ordered_and_flush, update_ordered};
    stress_run(bodies, 2);
    expect_exact_totals();
}

static void plain_updates_are_carried_by_the_next(void **state)
{
    void (*const bodies[])(struct stress_thread *) = {update_plain_and_flush};
    stress_run(bodies, 1);
    expect_exact_totals();
}

/* Several threads that share a CPU number: the queue stays whole, one of them pushes. */
static void queue_one_block(struct stress_thread *self)
{
    for (unsigned long i = 0; i < self->rounds; i++) {
        rstat_updated(&counters[i % NODES].node, 0);
        if (i % 16 == self->number)
            rstat_flush(&counters[0].node);
    }
}

static void claims_make_one_pusher_of_many(void **state)
{
    void (*const bodies[])(struct stress_thread *) = {queue_one_block};
    stress_run(bodies, 1);
    expect_exact_totals();
}

/*
 * Guarantee D at its narrowest: in each round thread 0 updates a block that is queued while thread
 * 1 flushes it; when both are done, a flush must find whatever the first one did not see.
 */
static _Atomic unsigned long round_begun, round_done;
static _Atomic uint32_t lost;

static void wait_until(_Atomic unsigned long *at, unsigned long round)
{
    for (unsigned spins = 0; atomic_load_acquire(at) < round; spins++)
        if (spins % 1024 == 1023)
            os_thread_yield();
}

static int init_race(void **state)
{
    atomic_store_relaxed(&round_begun, 0);
    atomic_store_relaxed(&round_done, 0);
    return init_tree(state);
}

static void race_update(struct stress_thread *self)
{
    struct counter *c = &counters[3];
    for (unsigned long round = 1; round <= self->rounds; round++) {
        wait_until(&round_begun, round);
        atomic_add_owner(&c->cpu[0].value, 1);
        rstat_updated_ordered(&c->node, 0);
        atomic_store_release(&round_done, round);
    }
}

static void race_flush(struct stress_thread *self)
{
    struct counter *c = &counters[3];
    for (unsigned long round = 1; round <= self->rounds; round++) {
        rstat_updated_ordered(&c->node, 0);
        atomic_store_release(&round_begun, round);
        for (unsigned long i = seeded_below(&self->random, 40); i > 0; i--)
            atomic_spin_hint();
        rstat_flush(&c->node);
        wait_until(&round_done, round);
        rstat_flush(&c->node);
        if (atomic_load_relaxed(&c->total) != (long)round)
            atomic_add_relaxed(&lost, 1);
    }
}

static void stay_idle(struct stress_thread *self)
{
}

static void guarantee_d_holds_when_update_and_flush_meet(void **state)
{
    void (*const bodies[])(struct stress_thread *) = {race_update, race_flush, stay_idle,
                                                      stay_idle};
    stress_run(bodies, 4);
    assert_int_equal(atomic_load_relaxed(&lost), 0);
    expect_exact_totals();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(guarantee_d_no_ordered_update_is_lost, init_tree,
                                        exit_tree),
        cmocka_unit_test_setup_teardown(plain_updates_are_carried_by_the_next, init_tree,
                                        exit_tree),
        cmocka_unit_test_setup_teardown(guarantee_d_holds_when_update_and_flush_meet, init_race,
                                        exit_tree),
        cmocka_unit_test_setup_teardown(claims_make_one_pusher_of_many, init_tree, exit_tree),
    };
    return stress_groups(tests, sizeof(tests) / sizeof(tests[0]));
}
