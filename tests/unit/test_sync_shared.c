/* SPDX-License-Identifier: MIT */
/*
 * sync/slot, sync/seqcount, sync/rcu and sync/atomic with several threads: unique numbers that are
 * used again, snapshots of one write only, memory that lives as long as its readers.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>

#include "base/list.h"
#include "os/os.h"
#include "sync/rcu.h"
#include "sync/seqcount.h"
#include "sync/slot.h"

enum { THREADS = 4 };

static void run_threads(void (*body)(void *), void *arguments[THREADS])
{
    struct os_thread *threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(os_thread_start(body, arguments[i], &threads[i]), MGLRU_OK);
    for (int i = 0; i < THREADS; i++)
        os_thread_join(threads[i]);
}

static _Atomic uint32_t arrived;

static void take_slot(void *argument)
{
    unsigned slot = slot_current();
    *(unsigned *)argument = slot;
    atomic_add_acq_rel(&arrived, 1);
    while (atomic_load_acquire(&arrived) < THREADS) /* all live at once */
        os_thread_yield();
    if (slot != slot_current())
        *(unsigned *)argument = SLOT_NONE;
}

/* Guarantees A and C of sync/slot.h; and numbers are used again. */
static void living_threads_have_different_numbers(void **state)
{
    unsigned slots[2][THREADS];
    for (int round = 0; round < 2; round++) {
        void *arguments[THREADS];
        atomic_store_relaxed(&arrived, 0);
        for (int i = 0; i < THREADS; i++)
            arguments[i] = &slots[round][i];
        run_threads(take_slot, arguments);
        for (int i = 0; i < THREADS; i++) {
            assert_in_range(slots[round][i], 0, THREADS); /* dense; one may be this thread's */
            for (int k = 0; k < i; k++)
                assert_int_not_equal(slots[round][i], slots[round][k]);
        }
    }
    unsigned mine = slot_current();
    assert_int_equal(slot_current(), mine);
    assert_int_equal(slot_count(), 1);
}

static struct seqcount sequence;
static _Atomic uint64_t pair[2];
static _Atomic uint32_t stop;
static _Atomic uint32_t torn;
static _Atomic uint64_t reads;

static void read_pairs(void *argument)
{
    do {
        uint64_t a, b;
        uint32_t ticket;
        do {
            ticket = seqcount_read_begin(&sequence);
            a = atomic_load_relaxed(&pair[0]);
            b = atomic_load_relaxed(&pair[1]);
        } while (seqcount_read_retry(&sequence, ticket));
        if (b != a * 3)
            atomic_add_relaxed(&torn, 1);
        atomic_add_relaxed(&reads, 1);
    } while (!atomic_load_acquire(&stop));
}

static void write_pairs(void *argument)
{
    for (uint64_t i = 1; i <= 50000; i++) {
        seqcount_write_begin(&sequence);
        atomic_store_relaxed(&pair[0], i);
        atomic_store_relaxed(&pair[1], i * 3);
        seqcount_write_end(&sequence);
    }
    atomic_store_release(&stop, 1);
}

static void write_or_read_pairs(void *argument)
{
    if (argument)
        write_pairs(NULL);
    else
        read_pairs(NULL);
}

/* Guarantee A of sync/seqcount.h. */
static void snapshots_are_of_one_write(void **state)
{
    void *arguments[THREADS] = {&sequence, NULL, NULL, NULL};
    run_threads(write_or_read_pairs, arguments);
    assert_int_equal(atomic_load_relaxed(&torn), 0);
    assert_true(atomic_load_relaxed(&reads) >= THREADS - 1);
    assert_int_equal(atomic_load_relaxed(&pair[0]), 50000);
}

struct record {
    _Atomic uint64_t alive;
    struct rcu_later later;
};

static _Atomic(struct record *) published;
static _Atomic uint32_t dead_seen;
static _Atomic uint32_t freed;

static struct record *record_make(void)
{
    struct record *record = calloc(1, sizeof(*record));
    assert_non_null(record);
    atomic_store_relaxed(&record->alive, 1);
    return record;
}

static void record_free(struct rcu_later *later)
{
    struct record *record = container_of(later, struct record, later);
    atomic_store_relaxed(&record->alive, 0);
    free(record);
    atomic_add_relaxed(&freed, 1);
}

static void read_records(void *argument)
{
    while (!atomic_load_acquire(&stop)) {
        rcu_enter();
        rcu_enter(); /* sections nest */
        const struct record *record = rcu_load(&published);
        rcu_leave();
        os_thread_yield();
        if (!atomic_load_relaxed(&record->alive))
            atomic_add_relaxed(&dead_seen, 1);
        assert_true(rcu_inside());
        rcu_leave();
    }
}

static void replace_records(void *argument)
{
    for (int i = 0; i < 300; i++) {
        struct record *next = record_make();
        struct record *last = atomic_load_relaxed(&published);
        rcu_store(&published, next);
        if (i % 50) {
            rcu_free_later(&last->later, record_free);
        } else {
            rcu_wait_readers();
            record_free(&last->later);
        }
    }
    rcu_drain();
    atomic_store_release(&stop, 1);
}

static void read_or_replace_records(void *argument)
{
    if (argument)
        replace_records(NULL);
    else
        read_records(NULL);
}

static void readers_keep_what_they_found(void **state)
{
    void *arguments[THREADS] = {&published, NULL, NULL, NULL};
    atomic_store_relaxed(&stop, 0);
    assert_false(rcu_inside());
    atomic_store_relaxed(&published, record_make());
    run_threads(read_or_replace_records, arguments);
    assert_int_equal(atomic_load_relaxed(&dead_seen), 0);
    assert_int_equal(atomic_load_relaxed(&freed), 300);
    free(atomic_load_relaxed(&published));
}

static void owner_add_gives_the_new_value(void **state)
{
    _Atomic long value = 40;
    assert_int_equal(atomic_add_owner(&value, 2), 42);
    assert_int_equal(atomic_load_relaxed(&value), 42);
    assert_int_equal(atomic_add_relaxed(&value, 2), 42);
    long expected = 40;
    assert_false(atomic_cas_acq_rel(&value, &expected, 1));
    assert_int_equal(expected, 44);
    assert_true(atomic_cas_acq_rel(&value, &expected, 1));
    assert_int_equal(atomic_exchange_acq_rel(&value, 9), 1);
    atomic_spin_hint();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(living_threads_have_different_numbers),
        cmocka_unit_test(snapshots_are_of_one_write),
        cmocka_unit_test(readers_keep_what_they_found),
        cmocka_unit_test(owner_add_gives_the_new_value),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
