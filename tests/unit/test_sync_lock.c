/* SPDX-License-Identifier: MIT */
/*
 * sync/lock: exclusion, and the order of ranks as debug builds check it. The file under test is
 * compiled into this program with MGLRU_DEBUG, so that the checks run in every build. Each broken
 * rule is tried in a child process, which has to abort and to name both locks.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/os.h"
#include "sync/lock.h"

static struct lock_spin lru, other_lru, stock;
static struct lock_mutex oom, drain;

static int init_locks(void **state)
{
    lock_spin_init(&lru, RANK_LRU);
    lock_spin_init(&other_lru, RANK_LRU);
    lock_spin_init(&stock, RANK_STOCK);
    lock_mutex_init(&oom, RANK_OOM);
    lock_mutex_init(&drain, RANK_STOCK_DRAIN);
    return 0;
}

/* Runs @body in a child; gives whether it aborted, and what it said on stderr. */
static bool aborts(void (*body)(void), char *said, size_t capacity)
{
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    fflush(NULL);
    pid_t child = fork();
    if (!child) {
        signal(SIGABRT, SIG_DFL);
        dup2(ends[1], STDERR_FILENO);
        body();
        _exit(0);
    }
    close(ends[1]);
    size_t length = 0;
    ssize_t got;
    while ((got = read(ends[0], said + length, capacity - 1 - length)) > 0)
        length += (size_t)got;
    said[length] = '\0';
    close(ends[0]);
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
}

static void take_in_wrong_order(void) MGLRU_NO_LOCK_ANALYSIS
{
    lock_spin_acquire(&stock);
    lock_spin_acquire(&lru);
}

static void take_mutex_under_spin_lock(void) MGLRU_NO_LOCK_ANALYSIS
{
    lock_spin_acquire(&lru);
    lock_mutex_acquire(&oom);
}

static void take_twice(void) MGLRU_NO_LOCK_ANALYSIS
{
    lock_spin_acquire(&lru);
    lock_spin_acquire(&lru);
}

static void take_equal_ranks(void) MGLRU_NO_LOCK_ANALYSIS
{
    lock_spin_acquire(&lru);
    lock_spin_acquire(&other_lru);
}

static void release_what_is_not_held(void) MGLRU_NO_LOCK_ANALYSIS
{
    lock_spin_acquire(&lru);
    lock_spin_release(&stock);
}

static void inversions_abort_and_name_both_locks(void **state)
{
    static const struct {
        void (*body)(void);
        const char *first;
        const char *second;
    } cases[] = {
        {take_in_wrong_order, "\"lru\"", "\"stock\""},
        {take_mutex_under_spin_lock, "\"memcg oom\"", "\"lru\""},
        {take_twice, "taking twice \"lru\"", "\"lru\""},
        {take_equal_ranks, "taking \"lru\"", "holding \"lru\""},
        {release_what_is_not_held, "\"stock\"", "\"lru\""},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char said[512];
        if (!aborts(cases[i].body, said, sizeof(said)))
            fail_msg("case %zu went through: %s", i, said);
        if (!strstr(said, cases[i].first) || !strstr(said, cases[i].second))
            fail_msg("case %zu said: %s", i, said);
    }
}

static void right_order_and_documented_nesting_pass(void **state)
{
    lock_mutex_acquire(&oom);
    lock_spin_acquire(&lru);
    lock_spin_acquire_nested(&other_lru);
    lock_spin_acquire(&stock);
    assert_true(lock_spin_held(&stock));
    assert_true(lock_mutex_held(&oom));
    /* Not in reverse order: the check keeps a set, not a stack. */
    lock_spin_release(&lru);
    assert_false(lock_spin_held(&lru));
    assert_true(lock_spin_held(&other_lru));
    lock_spin_release(&stock);
    lock_spin_release(&other_lru);
    lock_mutex_release(&oom);
    assert_false(lock_mutex_held(&oom));
}

static void try_may_go_against_the_order(void **state) MGLRU_NO_LOCK_ANALYSIS
{
    lock_spin_acquire(&stock);
    assert_true(lock_spin_try(&lru));
    lock_spin_release(&lru);
    lock_spin_release(&stock);
}

static void taken_locks_refuse_a_try(void **state) MGLRU_NO_LOCK_ANALYSIS
{
    lock_spin_acquire(&lru);
    assert_false(lock_spin_try(&lru));
    lock_spin_release(&lru);
    assert_true(lock_spin_try(&lru));
    lock_spin_release(&lru);
    lock_mutex_acquire(&drain);
    assert_false(lock_mutex_try(&drain));
    lock_mutex_release(&drain);
    assert_true(lock_mutex_try(&drain));
    lock_mutex_release(&drain);
}

enum { THREADS = 4, ROUNDS = 20000 };

static long counted_by_spin, counted_by_mutex;

static void count(void *argument)
{
    for (int i = 0; i < ROUNDS; i++) {
        lock_spin_acquire(&lru);
        counted_by_spin++;
        lock_spin_release(&lru);
        lock_mutex_acquire(&oom);
        counted_by_mutex++;
        lock_mutex_release(&oom);
    }
}

static void locks_exclude_threads(void **state)
{
    struct os_thread *threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(os_thread_start(count, NULL, &threads[i]), MGLRU_OK);
    for (int i = 0; i < THREADS; i++)
        os_thread_join(threads[i]);
    assert_int_equal(counted_by_spin, (long)THREADS * ROUNDS);
    assert_int_equal(counted_by_mutex, (long)THREADS * ROUNDS);
}

static void ranks_have_names(void **state)
{
    assert_string_equal(lock_rank_name(RANK_LRU), "lru");
    assert_string_equal(lock_rank_name(RANK_NONE), "none");
    assert_string_equal(lock_rank_name(RANK_COUNT), "none");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(inversions_abort_and_name_both_locks, init_locks),
        cmocka_unit_test_setup(right_order_and_documented_nesting_pass, init_locks),
        cmocka_unit_test_setup(try_may_go_against_the_order, init_locks),
        cmocka_unit_test_setup(taken_locks_refuse_a_try, init_locks),
        cmocka_unit_test_setup(locks_exclude_threads, init_locks),
        cmocka_unit_test(ranks_have_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
