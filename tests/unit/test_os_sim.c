/* SPDX-License-Identifier: MIT */
/*
 * os/sim: a simulated run is a function of its seed: schedule, clock, random bytes and files. The
 * library's own locks run on it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "os/os.h"
#include "os_contract.h"
#include "sync/lock.h"
#include "sync/slot.h"

static int use_linux(void **state)
{
    os_use(NULL);
    return 0;
}

enum { THREADS = 3, ROUNDS = 20 };

static char journal[256];

static void write_name(void *argument)
{
    for (int i = 0; i < ROUNDS; i++) {
        strcat(journal, argument);
        if (i % 7 == 3)
            os_clock_sleep_ns(1000);
        else
            os_thread_yield();
    }
}

static void run_writers(uint64_t seed, char *out, size_t capacity)
{
    static char names[THREADS][2] = {"a", "b", "c"};
    struct os_thread *threads[THREADS];
    os_use(os_sim(seed));
    journal[0] = '\0';
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(os_thread_start(write_name, names[i], &threads[i]), MGLRU_OK);
    for (int i = 0; i < THREADS; i++)
        os_thread_join(threads[i]);
    snprintf(out, capacity, "%s %llu %llu", journal, (unsigned long long)os_clock_now_ns(),
             (unsigned long long)os_sim_switches());
}

static void schedule_is_a_function_of_the_seed(void **state)
{
    char first[300], again[300], other[300];
    run_writers(1, first, sizeof(first));
    run_writers(1, again, sizeof(again));
    run_writers(2, other, sizeof(other));
    assert_string_equal(first, again);
    assert_string_not_equal(first, other);
    assert_int_equal(strcspn(first, " "), THREADS * ROUNDS);
}

static void clock_moves_only_by_sleeps_and_decisions(void **state)
{
    os_use(os_sim(7));
    assert_int_equal(os_clock_now_ns(), 0);
    assert_int_equal(os_clock_now_ns(), 0);
    os_clock_sleep_ns(5000000000u);
    assert_int_equal(os_clock_now_ns(), 5000000000u);
    os_thread_yield();
    assert_in_range(os_clock_now_ns(), 5000000001u, 5000001000u);
    assert_int_equal(os_cpu_count(), 4);
}

static void random_bytes_come_from_the_seed(void **state)
{
    unsigned char a[13], b[13], c[13];
    os_use(os_sim(5));
    os_random_fill(a, sizeof(a));
    os_use(os_sim(5));
    os_random_fill(b, sizeof(b));
    os_random_fill(c, sizeof(c));
    assert_memory_equal(a, b, sizeof(a));
    assert_memory_not_equal(b, c, sizeof(b));
}

static void files_live_in_memory(void **state)
{
    struct os_file *file, *second;
    char buffer[8];
    size_t done;
    uint64_t bytes;
    os_use(os_sim(1));
    assert_int_equal(os_file_open("f", OS_OPEN_READ, &file), MGLRU_ENOENT);
    assert_int_equal(os_file_open("f", OS_OPEN_WRITE, &file), MGLRU_OK);
    assert_int_equal(os_file_write(file, "abc", 3, 10000), MGLRU_OK);
    assert_int_equal(os_file_sync(file), MGLRU_OK);
    assert_int_equal(os_file_open("f", OS_OPEN_READ, &second), MGLRU_OK);
    assert_int_equal(os_file_remove("f"), MGLRU_OK);
    assert_int_equal(os_file_remove("f"), MGLRU_ENOENT);
    assert_int_equal(os_file_read(second, buffer, 8, 9999, &done), MGLRU_OK);
    assert_int_equal(done, 4);
    assert_memory_equal(buffer, "\0abc", 4);
    assert_int_equal(os_file_read(second, buffer, 8, 10003, &done), MGLRU_OK);
    assert_int_equal(done, 0);
    assert_int_equal(os_file_write(second, "x", 1, 0), MGLRU_EIO);
    assert_int_equal(os_file_write(file, "x", 1, UINT64_C(1) << 40), MGLRU_ENOSPC);
    assert_int_equal(os_file_size(file, &bytes), MGLRU_OK);
    assert_int_equal(bytes, 10003);
    os_file_close(file);
    os_file_close(second);
    assert_int_equal(os_file_open("f", OS_OPEN_CREATE, &file), MGLRU_OK);
    assert_int_equal(os_file_size(file, &bytes), MGLRU_OK);
    assert_int_equal(bytes, 0);
    os_file_close(file);
    os_use(os_sim(1)); /* forgets it */
    assert_int_equal(os_file_open("f", OS_OPEN_READ, &file), MGLRU_ENOENT);
}

static void files_keep_the_contract(void **state)
{
    os_use(os_sim(1));
    contract_transfers_are_scattered("f");
    contract_sizes_and_holes("f");
    contract_direct_handles_see_the_same_file("f");
    contract_ranges_come_and_go();
    struct os_file *file;
    struct os_span spans[2] = {{"ab", 2}, {"cd", 2}};
    size_t done;
    assert_int_equal(os_file_open("f", OS_OPEN_WRITE, &file), MGLRU_OK);
    assert_int_equal(os_file_resize(file, UINT64_C(1) << 40), MGLRU_ENOSPC);
    assert_int_equal(os_file_writev(file, spans, 2, UINT64_C(1) << 30, &done), MGLRU_ENOSPC);
    os_file_close(file);
}

static void pages_are_as_on_the_machine(void **state)
{
    void *start;
    os_use(os_sim(1));
    assert_int_equal(os_pages_map(4096, true, &start), MGLRU_OK);
    memset(start, 1, 4096);
    os_pages_unmap(start, 4096);
}

static struct lock_mutex mutex;
static struct lock_spin spin;
static unsigned inside;
static unsigned entered;
static unsigned slots_seen;

static void use_locks(void *argument)
{
    for (int i = 0; i < ROUNDS; i++) {
        lock_mutex_acquire(&mutex);
        assert_int_equal(inside++, 0);
        os_thread_yield();
        inside--;
        lock_mutex_release(&mutex);
        lock_spin_acquire(&spin);
        assert_int_equal(inside++, 0);
        os_thread_yield();
        inside--;
        entered++;
        lock_spin_release(&spin);
    }
    slots_seen |= 1u << slot_current();
}

/* One lock at a time, so that "inside" means both: a mutex holder is never in the spin part. */
static void use_mutex_only(void *argument)
{
    for (int i = 0; i < ROUNDS; i++) {
        lock_mutex_acquire(&mutex);
        assert_int_equal(inside++, 0);
        os_thread_yield();
        inside--;
        entered++;
        lock_mutex_release(&mutex);
        os_thread_yield();
    }
    slots_seen |= 1u << slot_current();
}

static void run_lockers(void (*body)(void *), uint64_t seed)
{
    struct os_thread *threads[THREADS];
    os_use(os_sim(seed));
    lock_mutex_init(&mutex, RANK_OOM);
    lock_spin_init(&spin, RANK_STOCK);
    inside = entered = slots_seen = 0;
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(os_thread_start(body, NULL, &threads[i]), MGLRU_OK);
    for (int i = 0; i < THREADS; i++)
        os_thread_join(threads[i]);
    assert_int_equal(entered, THREADS * ROUNDS);
    assert_int_equal(inside, 0);
}

static void mutexes_exclude_under_every_schedule(void **state)
{
    for (uint64_t seed = 1; seed <= 30; seed++)
        run_lockers(use_mutex_only, seed);
}

static void one_thread_keeps_its_locks_in_order(void **state)
{
    struct os_thread *thread;
    os_use(os_sim(3));
    lock_mutex_init(&mutex, RANK_OOM);
    lock_spin_init(&spin, RANK_STOCK);
    inside = entered = 0;
    assert_int_equal(os_thread_start(use_locks, NULL, &thread), MGLRU_OK);
    os_thread_join(thread);
    assert_int_equal(entered, ROUNDS);
}

static void thread_numbers_come_back_when_threads_end(void **state)
{
    unsigned before = slot_count();
    run_lockers(use_mutex_only, 9);
    unsigned seen = slots_seen;
    run_lockers(use_mutex_only, 9);
    assert_int_equal(slots_seen, seen);
    assert_int_equal(slot_count(), before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(schedule_is_a_function_of_the_seed, use_linux),
        cmocka_unit_test_teardown(clock_moves_only_by_sleeps_and_decisions, use_linux),
        cmocka_unit_test_teardown(random_bytes_come_from_the_seed, use_linux),
        cmocka_unit_test_teardown(files_live_in_memory, use_linux),
        cmocka_unit_test_teardown(files_keep_the_contract, use_linux),
        cmocka_unit_test_teardown(pages_are_as_on_the_machine, use_linux),
        cmocka_unit_test_teardown(mutexes_exclude_under_every_schedule, use_linux),
        cmocka_unit_test_teardown(one_thread_keeps_its_locks_in_order, use_linux),
        cmocka_unit_test_teardown(thread_numbers_come_back_when_threads_end, use_linux),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
