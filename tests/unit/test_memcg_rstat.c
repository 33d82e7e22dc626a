/* SPDX-License-Identifier: MIT */
/*
 * memcg/rstat: the invariants of mglru-facts 7.3 after random updates and flushes, against sums
 * kept beside; order of callbacks; rows 39 and 40.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "base/list.h"
#include "memcg/rstat.h"
#include "seeded.h"

enum { NODES = 14, CPUS = 3 };

/* One counter on an rstat tree, folded as a controller would. */
struct counter_cpu {
    struct rstat_cpu rstat;
    long value;
    long prev;
};

struct counter {
    struct rstat_node node;
    struct counter_cpu cpu[CPUS];
    long total;
    long pending;
    long added; /* the model: everything that was added to this node alone */
    int parent;
    bool visited; /* in this flush and on this CPU */
};

static struct counter counters[NODES];
static struct rstat_tree tree;
static bool order_broken;
static unsigned callbacks;
static unsigned last_cpu;

static struct counter *counter_of(struct rstat_node *node)
{
    return container_of(node, struct counter, node);
}

static void fold(struct rstat_node *node, unsigned cpu)
{
    struct counter *c = counter_of(node);
    long own = c->cpu[cpu].value - c->cpu[cpu].prev;
    c->cpu[cpu].prev = c->cpu[cpu].value;
    long all = own + c->pending;
    c->pending = 0;
    c->total += all;
    if (node->parent)
        counter_of(node->parent)->pending += all;
    if (cpu != last_cpu)
        for (int i = 0; i < NODES; i++)
            counters[i].visited = false;
    last_cpu = cpu;
    /* Children come before parents: nobody above may have been here on this CPU. */
    for (struct rstat_node *up = node; up; up = up->parent)
        order_broken |= counter_of(up)->visited;
    c->visited = true;
    callbacks++;
}

static void tree_begin(struct seeded *s)
{
    memset(counters, 0, sizeof(counters));
    assert_int_equal(rstat_tree_init(&tree, CPUS, fold), MGLRU_OK);
    for (int i = 0; i < NODES; i++) {
        counters[i].parent = i ? (int)seeded_below(s, (unsigned long)i) : -1;
        rstat_node_init(&tree, &counters[i].node, i ? &counters[counters[i].parent].node : NULL,
                        counters[i].cpu, sizeof(counters[i].cpu[0]));
    }
    order_broken = false;
}

static void tree_end(void)
{
    for (int i = NODES; i-- > 0;)
        rstat_node_exit(&counters[i].node);
    rstat_tree_exit(&tree);
}

static bool below(int i, int ancestor)
{
    while (i >= 0 && i != ancestor)
        i = counters[i].parent;
    return i == ancestor;
}

static long added_below(int ancestor)
{
    long sum = 0;
    for (int i = 0; i < NODES; i++)
        if (below(i, ancestor))
            sum += counters[i].added;
    return sum;
}

static void flush(int i)
{
    for (int k = 0; k < NODES; k++)
        counters[k].visited = false;
    last_cpu = CPUS;
    rstat_flush(&counters[i].node);
}

static void update(int i, unsigned cpu, long amount)
{
    counters[i].cpu[cpu].value += amount;
    counters[i].added += amount;
    assert_int_equal(rstat_updated(&counters[i].node, cpu), MGLRU_OK);
}

static void random_flushes(struct seeded *s)
{
    tree_begin(s);
    for (s->step = 0; s->step < 3000; s->step++) {
        int i = (int)seeded_below(s, NODES);
        if (seeded_below(s, 8)) {
            update(i, (unsigned)seeded_below(s, CPUS), (long)seeded_below(s, 100) - 30);
            continue;
        }
        flush(i);
        for (int k = 0; k < NODES; k++) {
            rstat_verify(&counters[k].node);
            if (!below(k, i))
                continue;
            SEEDED_CHECK(s, counters[k].total == added_below(k));
            for (unsigned cpu = 0; cpu < CPUS; cpu++)
                SEEDED_CHECK(s, !rstat_linked(&counters[k].node, cpu));
        }
        SEEDED_CHECK(s, !order_broken);
    }
    tree_end();
    for (int k = 0; k < NODES; k++)
        SEEDED_CHECK(s, counters[k].total == added_below(k));
}

static void flushed_totals_are_sums_of_updates(void **state)
{
    seeded_cases(20, random_flushes);
}

static void flush_of_a_child_leaves_the_parent_linked(void **state)
{
    struct seeded s = {.seed = 1, .state = 1};
    tree_begin(&s);
    update(NODES - 1, 1, 5);
    flush(NODES - 1);
    int parent = counters[NODES - 1].parent;
    assert_false(rstat_linked(&counters[NODES - 1].node, 1));
    assert_true(rstat_linked(&counters[parent].node, 1));
    assert_int_equal(counters[parent].pending, 5);
    flush(0);
    assert_int_equal(counters[0].total, 5);
    tree_end();
}

static void flush_visits_only_what_was_updated(void **state)
{
    struct seeded s = {.seed = 2, .state = 2};
    tree_begin(&s);
    callbacks = 0;
    flush(0);
    assert_int_equal(callbacks, 0);
    update(0, 2, 1);
    update(0, 2, 1);
    flush(0);
    assert_int_equal(callbacks, 1);
    tree_end();
}

/* The lock is dropped between CPUs, and trees do not share it: a flush of one can run inside the
 * callback of another, as it must when two controllers flush at once. */
static struct rstat_tree other_tree;
static struct counter other_counter;

static void fold_and_flush_other(struct rstat_node *node, unsigned cpu)
{
    assert_false(lock_spin_held(&other_tree.lock));
    assert_true(lock_spin_held(&tree.lock));
    fold(node, cpu);
}

static void row_39_lock_is_per_tree_and_per_cpu_step(void **state)
{
    struct seeded s = {.seed = 3, .state = 3};
    tree_begin(&s);
    tree.flush = fold_and_flush_other;
    assert_int_equal(rstat_tree_init(&other_tree, CPUS, fold), MGLRU_OK);
    memset(&other_counter, 0, sizeof(other_counter));
    rstat_node_init(&other_tree, &other_counter.node, NULL, other_counter.cpu,
                    sizeof(other_counter.cpu[0]));
    for (unsigned cpu = 0; cpu < CPUS; cpu++)
        update(NODES - 1, cpu, 1);
    uint64_t holds = tree.holds;
    callbacks = 0;
    flush(0);
    assert_int_equal(tree.holds - holds, CPUS);
    assert_true(callbacks >= 2 * CPUS);
    assert_false(lock_spin_held(&tree.lock));
    rstat_node_exit(&other_counter.node);
    rstat_tree_exit(&other_tree);
    tree_end();
}

static uint64_t clock_now, clock_step;

static uint64_t clock_read(void)
{
    return clock_now += clock_step;
}

static void holds_are_counted_in_the_bucket_of_their_length(void **state)
{
    struct seeded s = {.seed = 4, .state = 4};
    tree_begin(&s);
    flush(0);
    assert_int_equal(tree.holds_by[0], 0); /* nobody asked */
    tree.clock_ns = clock_read;
    for (unsigned bucket = 0; bucket < RSTAT_HOLD_BUCKETS; bucket++) {
        clock_step = rstat_hold_least_ns[bucket];
        flush(0);
        assert_int_equal(tree.holds_by[bucket], CPUS);
        if (bucket > 0) {
            clock_step--;
            flush(0);
            assert_int_equal(tree.holds_by[bucket], CPUS);
            assert_int_equal(tree.holds_by[bucket - 1], 2 * CPUS);
            tree.holds_by[bucket - 1] = 0;
        }
    }
    tree_end();
}

static void row_40_cpu_out_of_range_is_refused(void **state)
{
    struct seeded s = {.seed = 4, .state = 4};
    tree_begin(&s);
    assert_int_equal(rstat_updated(&counters[0].node, CPUS), MGLRU_ERANGE);
    assert_int_equal(rstat_updated(&counters[0].node, ~0u), MGLRU_ERANGE);
    assert_int_equal(rstat_updated_ordered(&counters[0].node, CPUS), MGLRU_ERANGE);
    callbacks = 0;
    flush(0);
    assert_int_equal(callbacks, 0);
    tree_end();
    assert_int_equal(rstat_tree_init(&tree, 0, fold), MGLRU_ERANGE);
    assert_int_equal(rstat_tree_init(&tree, RSTAT_CPUS_MAX + 1, fold), MGLRU_ERANGE);
    rstat_tree_exit(&tree);
}

static void ordered_update_is_queued_like_a_plain_one(void **state)
{
    struct seeded s = {.seed = 5, .state = 5};
    tree_begin(&s);
    counters[3].cpu[0].value += 7;
    counters[3].added += 7;
    assert_int_equal(rstat_updated_ordered(&counters[3].node, 0), MGLRU_OK);
    assert_true(rstat_cpu_queued(&counters[3].cpu[0].rstat));
    flush(0);
    assert_false(rstat_cpu_queued(&counters[3].cpu[0].rstat));
    assert_int_equal(counters[0].total, 7);
    tree_end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(flushed_totals_are_sums_of_updates),
        cmocka_unit_test(flush_of_a_child_leaves_the_parent_linked),
        cmocka_unit_test(flush_visits_only_what_was_updated),
        cmocka_unit_test(row_39_lock_is_per_tree_and_per_cpu_step),
        cmocka_unit_test(holds_are_counted_in_the_bucket_of_their_length),
        cmocka_unit_test(row_40_cpu_out_of_range_is_refused),
        cmocka_unit_test(ordered_update_is_queued_like_a_plain_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
