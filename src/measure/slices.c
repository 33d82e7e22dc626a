/* SPDX-License-Identifier: MIT */
/*
 * The threads and clocks of slices.h. The caller's thread says what comes next and judges; as many
 * workers as the widest lane has jobs sleep between slices. A slice's workers meet at a counter
 * after warming up, so that they begin together.
 */
#include "measure/slices.h"

#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include <mglru/error.h>

/* A slice counts if each thread had its processor for this share of it, and if the threads ran
 * together for this share of the time from the first start to the last end (chosen: an interruption
 * of a twentieth cannot hide a difference of a tenth). */
#define RAN_SHARE 0.97
#define TOGETHER_SHARE 0.9
/* Rounds a run may take: some, and a multiple of the slices it wants (chosen: a machine on which
 * less than one slice in this many counts is too busy to measure on). */
#define ROUNDS_LEAST 400u
#define ROUNDS_FACTOR 40u

struct worker {
    _Alignas(64) struct bench *bench;
    pthread_t thread;
    sem_t go;
    unsigned number;
    struct slice_count count;
    struct latency latency;
    uint64_t warm_operations;
    long interruptions; /* how often another took the processor away */
    double cpu_ns;
    uint64_t start_ns;
    uint64_t end_ns;
};

struct bench {
    const struct slices_options *options;
    struct slice_lane *lane; /* of this slice; NULL: end */
    sem_t done;
    unsigned count; /* workers that run */
    struct worker *workers;
    _Alignas(64) atomic_uint arrived; /* workers that have warmed up */
};

uint64_t slices_clock_ns(clockid_t clock)
{
    struct timespec time;
    clock_gettime(clock, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static uint64_t now_ns(void)
{
    return slices_clock_ns(CLOCK_MONOTONIC);
}

/* Of the calling thread so far. */
static long interruptions(void)
{
    struct rusage usage;
    return getrusage(RUSAGE_THREAD, &usage) ? 0 : usage.ru_nivcsw;
}

/* Works until @end_ns, or an error. Returns when it ended. */
static uint64_t work_until(struct worker *worker, const struct slice_lane *lane, uint64_t end_ns)
{
    uint64_t now;
    do {
        lane->work(lane->state, worker->number, &worker->count);
        now = now_ns();
    } while (now < end_ns && !worker->count.error);
    return now;
}

/* Waits for the others, but not for ever: one that does not get its processor spoils the slice. */
static void meet(struct bench *bench, unsigned jobs, uint64_t patience_ns)
{
    uint64_t end_ns = now_ns() + patience_ns;
    atomic_fetch_add_explicit(&bench->arrived, 1, memory_order_relaxed);
    while (atomic_load_explicit(&bench->arrived, memory_order_relaxed) < jobs && now_ns() < end_ns)
        ;
}

static void run_slice(struct worker *worker)
{
    struct bench *bench = worker->bench;
    const struct slice_lane *lane = bench->lane;
    worker->count = (struct slice_count){0};
    work_until(worker, lane, now_ns() + bench->options->warm_ns);
    int error = worker->count.error;
    worker->warm_operations = worker->count.operations;
    worker->count = (struct slice_count){.error = error};
    if (lane->latency) {
        memset(&worker->latency, 0, sizeof(worker->latency));
        worker->count.latency = &worker->latency;
    }
    meet(bench, lane->jobs, bench->options->slice_ns / 2);
    worker->interruptions = -interruptions();
    worker->start_ns = now_ns();
    uint64_t cpu_ns = slices_clock_ns(CLOCK_THREAD_CPUTIME_ID);
    worker->end_ns = work_until(worker, lane, worker->start_ns + bench->options->slice_ns);
    worker->cpu_ns = (double)(slices_clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu_ns);
    worker->interruptions += interruptions();
}

static void wait_for(sem_t *semaphore)
{
    while (sem_wait(semaphore)) {} /* a signal came */
}

static void *worker_main(void *argument)
{
    struct worker *worker = argument;
    struct bench *bench = worker->bench;
    for (;;) {
        wait_for(&worker->go);
        if (!bench->lane)
            return NULL;
        run_slice(worker);
        sem_post(&bench->done);
    }
}

/* Whether the slice that has ended counts; *@wall_ns: how long it was. */
static bool slice_counts(const struct bench *bench, double *wall_ns)
{
    const struct slice_lane *lane = bench->lane;
    uint64_t first = UINT64_MAX, last = 0, begun = 0, ended = UINT64_MAX;
    for (unsigned i = 0; i < lane->jobs; i++) {
        const struct worker *worker = &bench->workers[i];
        double took = (double)(worker->end_ns - worker->start_ns);
        if (lane->sleeps ? worker->interruptions > 0 : worker->cpu_ns < took * RAN_SHARE)
            return false;
        first = worker->start_ns < first ? worker->start_ns : first;
        begun = worker->start_ns > begun ? worker->start_ns : begun;
        ended = worker->end_ns < ended ? worker->end_ns : ended;
        last = worker->end_ns > last ? worker->end_ns : last;
    }
    *wall_ns = (double)(last - first);
    return ended > begun && (double)(ended - begun) >= *wall_ns * TOGETHER_SHARE;
}

static int add_slice(const struct bench *bench, struct slice_sum *sum, uint64_t events)
{
    double wall_ns = 0;
    for (unsigned i = 0; i < bench->lane->jobs; i++)
        if (bench->workers[i].count.error)
            return bench->workers[i].count.error;
    if (!slice_counts(bench, &wall_ns))
        return 0;
    for (unsigned i = 0; i < bench->lane->jobs; i++) {
        const struct worker *worker = &bench->workers[i];
        sum->operations += worker->count.operations;
        sum->all_operations += worker->count.operations + worker->warm_operations;
        sum->misses += worker->count.misses;
        sum->cpu_ns += worker->cpu_ns;
        if (bench->lane->latency)
            latency_add(&bench->lane->latency[sum - bench->lane->sums], &worker->latency);
    }
    sum->slices++;
    sum->wall_ns += wall_ns;
    sum->events += events;
    return 0;
}

static int do_slice(struct bench *bench, struct slice_lane *lane, struct slice_sum *sum)
{
    uint64_t before = lane->events ? lane->events(lane->state) : 0;
    bench->lane = lane;
    atomic_store_explicit(&bench->arrived, 0, memory_order_relaxed);
    for (unsigned i = 0; i < lane->jobs; i++)
        sem_post(&bench->workers[i].go);
    for (unsigned i = 0; i < lane->jobs; i++)
        wait_for(&bench->done);
    return add_slice(bench, sum, lane->events ? lane->events(lane->state) - before : 0);
}

/* One run: rounds over the lanes until each has its slices, or there were too many rounds. */
static int do_run(struct bench *bench, struct slice_lane *lanes, size_t count, unsigned run)
{
    unsigned wanted = bench->options->slices;
    bool lacking = true;
    for (unsigned round = 0; lacking && round < ROUNDS_LEAST + wanted * ROUNDS_FACTOR; round++) {
        lacking = false;
        for (size_t i = 0; i < count; i++) {
            struct slice_sum *sum = &lanes[i].sums[run];
            if (sum->slices >= wanted)
                continue;
            int error = do_slice(bench, &lanes[i], sum);
            if (error)
                return error;
            lacking |= sum->slices < wanted;
        }
    }
    for (size_t i = 0; i < count; i++)
        if (!lanes[i].sums[run].slices)
            return MGLRU_EBUSY;
    return 0;
}

unsigned slices_cpus(void)
{
    cpu_set_t set;
    return sched_getaffinity(0, sizeof(set), &set) ? 1 : (unsigned)CPU_COUNT(&set);
}

/* Binds worker @number to the processor of that number among those allowed. */
static void bind_worker(const struct worker *worker)
{
    cpu_set_t allowed, one;
    if (sched_getaffinity(0, sizeof(allowed), &allowed) ||
        worker->number >= (unsigned)CPU_COUNT(&allowed))
        return;
    unsigned seen = 0;
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, &allowed) && seen++ == worker->number) {
            CPU_ZERO(&one);
            CPU_SET(cpu, &one);
            /* Refused: the slices may be fewer, what counts is right all the same. */
            pthread_setaffinity_np(worker->thread, sizeof(one), &one);
            return;
        }
}

static unsigned widest(const struct slice_lane *lanes, size_t count)
{
    unsigned jobs = 0;
    for (size_t i = 0; i < count; i++)
        jobs = lanes[i].jobs > jobs ? lanes[i].jobs : jobs;
    return jobs;
}

/* As many workers as can be had up to @jobs. */
static void start_workers(struct bench *bench, unsigned jobs)
{
    for (; bench->count < jobs; bench->count++) {
        struct worker *worker = &bench->workers[bench->count];
        worker->bench = bench;
        worker->number = bench->count;
        sem_init(&worker->go, 0, 0);
        if (pthread_create(&worker->thread, NULL, worker_main, worker))
            return;
        bind_worker(worker);
    }
}

static void stop_workers(struct bench *bench)
{
    bench->lane = NULL;
    for (unsigned i = 0; i < bench->count; i++) {
        sem_post(&bench->workers[i].go);
        pthread_join(bench->workers[i].thread, NULL);
    }
}

int slices_measure(const struct slices_options *options, struct slice_lane *lanes, size_t count)
{
    struct bench bench = {.options = options};
    unsigned jobs = widest(lanes, count);
    size_t bytes = jobs * sizeof(struct worker);
    bench.workers = aligned_alloc(_Alignof(struct worker), bytes);
    if (!bench.workers)
        return MGLRU_ENOMEM;
    memset(bench.workers, 0, bytes);
    sem_init(&bench.done, 0, 0);
    start_workers(&bench, jobs);
    int error = bench.count < jobs ? MGLRU_EAGAIN : 0;
    for (unsigned run = 0; !error && run < options->runs; run++) {
        error = do_run(&bench, lanes, count, run);
        if (options->progress)
            options->progress(options->context, run + 1, options->runs);
    }
    stop_workers(&bench);
    free(bench.workers);
    return error;
}
