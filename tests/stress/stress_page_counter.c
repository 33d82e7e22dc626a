/* SPDX-License-Identifier: MIT */
/*
 * memcg/page_counter on several threads: guarantees A to D of its header. Limits are small, so
 * that tries fail and take back all the time, and one thread moves them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "memcg/page_counter.h"
#include "stress_helper.h"

enum { LEAVES = 3, LIMIT = 200 };

static struct page_counter root, middle, leaves[LEAVES];
static _Atomic long held_all; /* what the threads believe to hold, after their last step */
static _Atomic uint32_t broken;

static int init_counters(void **state)
{
    unsigned flags = PAGE_COUNTER_SHARED | PAGE_COUNTER_PROTECTED;
    page_counter_init(&root, NULL, flags);
    page_counter_init(&middle, &root, flags);
    for (int i = 0; i < LEAVES; i++)
        page_counter_init(&leaves[i], &middle, flags);
    page_counter_store_max(&middle, LIMIT);
    page_counter_set_low(&middle, LIMIT / 2);
    atomic_store_relaxed(&held_all, 0);
    atomic_store_relaxed(&broken, 0);
    return 0;
}

static void charge_and_uncharge(struct stress_thread *self)
{
    long held[LEAVES] = {0};
    for (unsigned long i = 0; i < self->rounds; i++) {
        unsigned leaf = (unsigned)seeded_below(&self->random, LEAVES);
        long pages = 1 + (long)seeded_below(&self->random, 64);
        struct page_counter *over;
        if (held[leaf] >= pages && seeded_below(&self->random, 2)) {
            page_counter_uncharge(&leaves[leaf], pages);
            held[leaf] -= pages;
        } else if (page_counter_try_charge(&leaves[leaf], pages, &over)) {
            held[leaf] += pages;
        } else if (over != &middle && over != &leaves[leaf]) {
            atomic_add_relaxed(&broken, 1);
        }
    }
    for (int leaf = 0; leaf < LEAVES; leaf++)
        atomic_add_relaxed(&held_all, held[leaf]);
}

static void move_limits(struct stress_thread *self)
{
    for (unsigned long i = 0; i < self->rounds / 4; i++) {
        unsigned leaf = (unsigned)seeded_below(&self->random, LEAVES);
        long pages = (long)seeded_below(&self->random, LIMIT);
        page_counter_set_min(&leaves[leaf], pages);
        page_counter_set_low(&leaves[leaf], pages / 2);
        page_counter_set_max(&leaves[leaf], LIMIT / 2 + pages);
        page_counter_protect(&root, &middle,
                             (struct page_counter_rules){.recursive = true, .clamp = true});
        page_counter_protect(&root, &leaves[leaf],
                             (struct page_counter_rules){.recursive = true, .clamp = true});
        /* Shares never pass the whole by more than the racing sums allow: here, not negative. */
        if (atomic_load_relaxed(&leaves[leaf].elow) < 0)
            atomic_add_relaxed(&broken, 1);
    }
}

static void sums_and_limits_hold_under_contention(void **state)
{
    void (*const bodies[])(struct stress_thread *) = {charge_and_uncharge, charge_and_uncharge,
                                                      charge_and_uncharge, move_limits};
    stress_run(bodies, 4);
    long held = atomic_load_relaxed(&held_all);
    long below = 0;
    for (int i = 0; i < LEAVES; i++)
        below += page_counter_read(&leaves[i]);
    assert_int_equal(atomic_load_relaxed(&broken), 0);
    assert_int_equal(below, held);
    assert_int_equal(page_counter_read(&middle), held);
    assert_int_equal(page_counter_read(&root), held);
    assert_in_range(held, 0, LIMIT);
    assert_int_equal(root.underflows + middle.underflows, 0);
    assert_true(middle.watermark >= middle.local_watermark);
    /* Protection sums settle: one quiet pass brings each child's part up to its usage. */
    long low_sum = 0;
    for (int i = 0; i < LEAVES; i++) {
        page_counter_set_low(&leaves[i], atomic_load_relaxed(&leaves[i].low));
        low_sum += atomic_load_relaxed(&leaves[i].low_usage);
        long usage = page_counter_read(&leaves[i]), low = leaves[i].low;
        assert_int_equal(leaves[i].low_usage, usage < low ? usage : low);
    }
    assert_int_equal(middle.children_low_usage, low_sum);
}

/*
 * Guarantee C: no charge slips in under the old max for good. held_all never counts more than what
 * was granted and not given back, so it may not pass a max that was set with success.
 */
static void lower_max(struct stress_thread *self)
{
    for (unsigned long i = 0; i < self->rounds; i++) {
        long max = (long)seeded_below(&self->random, LIMIT);
        if (page_counter_set_max(&middle, max) != MGLRU_OK) {
            os_thread_yield();
            continue;
        }
        for (int look = 0; look < 3; look++) {
            if (atomic_load_relaxed(&held_all) > max)
                atomic_add_relaxed(&broken, 1);
            os_thread_yield();
        }
        page_counter_store_max(&middle, LIMIT);
    }
}

static void come_and_go(struct stress_thread *self)
{
    for (unsigned long i = 0; i < self->rounds; i++) {
        long pages = 1 + (long)seeded_below(&self->random, 64);
        struct page_counter *over;
        if (!page_counter_try_charge(&leaves[0], pages, &over))
            continue;
        atomic_add_relaxed(&held_all, pages);
        os_thread_yield();
        atomic_sub_relaxed(&held_all, pages);
        page_counter_uncharge(&leaves[0], pages);
    }
}

static void max_can_be_lowered_under_contention(void **state)
{
    void (*const bodies[])(struct stress_thread *) = {lower_max, come_and_go, come_and_go,
                                                      come_and_go};
    stress_run(bodies, 4);
    assert_int_equal(atomic_load_relaxed(&broken), 0);
    assert_int_equal(page_counter_read(&root), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(sums_and_limits_hold_under_contention, init_counters),
        cmocka_unit_test_setup(max_can_be_lowered_under_contention, init_counters),
    };
    return stress_groups(tests, sizeof(tests) / sizeof(tests[0]));
}
