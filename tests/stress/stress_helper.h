/* SPDX-License-Identifier: MIT */
/*
 * Threads for stress tests. The code under test is compiled with MGLRU_RACE_POINTS: at every atomic
 * access a thread may be made to wait while another runs. Each group of tests runs on the real
 * machine (races as they fall, and TSan) and on os/sim for several seeds, where the interleaving
 * is chosen by the seed and a failure repeats: MGLRU_TEST_SEED=N runs that one alone.
 * MGLRU_STRESS=N multiplies the rounds, MGLRU_SEEDS=N is the number of seeds, MGLRU_SECONDS=N how
 * long all of it goes on with other seeds. Include after
 * <cmocka.h>, in one file of a program.
 */
#ifndef TESTS_STRESS_HELPER_H
#define TESTS_STRESS_HELPER_H

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "os/os.h"
#include "race_point.h"
#include "seeded.h"
#include "sync/atomic.h"

/* Chosen: a group takes about a second, everything included. A program may choose otherwise before
 * it includes this. */
#ifndef STRESS_THREADS
#define STRESS_THREADS 4u
#define STRESS_ROUNDS_REAL 6000ul
#define STRESS_ROUNDS_SIM 150ul
#define STRESS_SEEDS 8u
#define STRESS_POINTS_REAL 4
#endif

struct stress_thread {
    unsigned number;
    unsigned long rounds;
    struct seeded random;
    struct os_thread *thread;
    void (*body)(struct stress_thread *);
};

static uint64_t stress_seed; /* 0: the real machine */
static uint64_t stress_pass; /* over all seeds */
static _Thread_local uint64_t stress_points;

/* One in sixteen points lets others run; on the real machine, where they run anyway, one in
 * 2^STRESS_POINTS_REAL. */
void atomic_race_point(void)
{
    race_point(&stress_points, stress_seed ? 4 : STRESS_POINTS_REAL);
}

static void stress_main(void *argument)
{
    struct stress_thread *self = argument;
    stress_points = self->random.seed;
    self->body(self);
}

/* Runs bodies[number % count] on STRESS_THREADS threads and waits for them. */
static void stress_run(void (*const *bodies)(struct stress_thread *), unsigned count)
{
    static struct stress_thread threads[STRESS_THREADS];
    const char *more = getenv("MGLRU_STRESS");
    unsigned long factor = more ? strtoul(more, NULL, 0) : 1;
    stress_points = 0;
    for (unsigned i = 0; i < STRESS_THREADS; i++) {
        uint64_t seed =
            (stress_seed + 1 + (stress_seed ? 0 : stress_pass << 32)) * STRESS_THREADS + i;
        threads[i] = (struct stress_thread){
            .number = i,
            .rounds = factor * (stress_seed ? STRESS_ROUNDS_SIM : STRESS_ROUNDS_REAL),
            .random = {.seed = seed, .state = seed},
            .body = bodies[i % count],
        };
        assert_int_equal(os_thread_start(stress_main, &threads[i], &threads[i].thread), 0);
    }
    for (unsigned i = 0; i < STRESS_THREADS; i++)
        os_thread_join(threads[i].thread);
}

static char stress_repeat[64]; /* says how to repeat the group that runs */

/* A broken law may end the program at once. */
static void stress_aborted(int number)
{
    ssize_t unused = write(STDERR_FILENO, stress_repeat, strlen(stress_repeat));
    (void)unused;
}

struct stress_tests {
    const struct CMUnitTest *tests;
    size_t count;
    int failed;
};

static void stress_group_main(void *argument)
{
    struct stress_tests *group = argument;
    stress_points = 0;
    os_use(stress_seed ? os_sim(stress_seed) : NULL);
    group->failed = _cmocka_run_group_tests("stress", group->tests, group->count, NULL, NULL);
    os_use(NULL);
}

/*
 * Runs the group on the machine that stress_seed names; gives the number of failed tests. In a
 * thread of its own: what a thread remembers must not tell a group that follows others from one
 * that runs alone, or a failure would not repeat.
 */
static int stress_group(const struct CMUnitTest *tests, size_t count)
{
    struct stress_tests group = {tests, count, 1};
    struct os_thread *thread;
    snprintf(stress_repeat, sizeof(stress_repeat), "repeat with MGLRU_TEST_SEED=%llu%s\n",
             (unsigned long long)stress_seed, stress_seed ? "" : " (the real machine)");
    signal(SIGABRT, stress_aborted);
    os_use(NULL);
    if (!os_linux()->thread_start(stress_group_main, &group, &thread))
        os_linux()->thread_join(thread);
    if (group.failed)
        print_error("%s", stress_repeat);
    return group.failed;
}

/* The whole program: the real machine, then simulations; again with other seeds until
 * MGLRU_SECONDS have passed, or the time is over. */
static int stress_groups(const struct CMUnitTest *tests, size_t count)
{
    const char *only = getenv("MGLRU_TEST_SEED"), *seeds = getenv("MGLRU_SEEDS");
    const char *seconds = getenv("MGLRU_SECONDS");
    uint64_t per_pass = seeds ? strtoull(seeds, NULL, 0) : STRESS_SEEDS;
    uint64_t end = seconds ? os_clock_now_ns() + strtoull(seconds, NULL, 0) * 1000000000 : 0;
    if (only) {
        stress_seed = strtoull(only, NULL, 0);
        return stress_group(tests, count);
    }
    for (stress_pass = 0;; stress_pass++)
        for (uint64_t i = 0; i <= per_pass; i++) {
            stress_seed = i ? stress_pass * per_pass + i : 0;
            int failed = stress_group(tests, count);
            if (failed || (end && os_clock_now_ns() >= end))
                return failed;
            if (!end && i == per_pass)
                return 0;
        }
}

#endif
