/* SPDX-License-Identifier: MIT */
/*
 * Two threads, a reader and a writer, whose fields share a line or do not: measured, and as the
 * coherence model predicts it. 12 points: work between accesses x share of rounds that write.
 *
 * Method: slices of 0.3 ms alternate between both layouts, so that a slow machine is slow for both.
 * A slice counts when both threads had a CPU for 95 % of it (their CPU time says so) and ran at
 * the same time for 90 % of it (their clocks say so; a hypervisor may run one CPU after the other):
 * else nobody fought. Medians over the slices. The model gets the work as measured with the fields
 * apart.
 *
 * usage: sweep_sharing [SECONDS]     at most so long for each point (3)
 * exit:  0 the signs agree on all points; 1 they do not; 3 too few slices counted
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <mglru/error.h>

#include "base/check.h"
#include "coherence/model.h"

#define SLICE_NS 300000u
#define SLICES_MAX 400u
#define SLICES_WANTED 40u
/* Fewer say nothing. */
#define SLICES_NEEDED 8u
/* A difference below is none; chosen: medians of one layout repeat within 0.01. */
#define NOISE 0.02
#define MODEL_ROUNDS 20000u

/* The reader's word, and the writer's beside it and on a line of its own. */
static struct {
    _Alignas(128) atomic_ulong read;
    atomic_ulong beside;
    _Alignas(128) atomic_ulong apart;
} words;

struct point {
    unsigned work;  /* steps of a chain of multiplications, about 1 ns each */
    unsigned every; /* the writer writes in one of so many rounds */
};

struct side {
    const struct point *point;
    bool writes;
    double ns[2][SLICES_MAX]; /* a round: apart, together */
    double last_ns;           /* of the slice under way */
    uint64_t begin, end;
    bool ran;
};

static struct side sides[2];
static atomic_uint arrived, slice;
static atomic_bool over;
static atomic_ulong sink;

static uint64_t now_ns(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static unsigned long work(unsigned long value, unsigned steps)
{
    for (unsigned i = 0; i < steps; i++)
        value = value * 6364136223846793005ul + 1442695040888963407ul;
    return value;
}

/* One slice; the clock is looked at every 64 rounds. */
static void run_slice(struct side *side, bool together)
{
    atomic_ulong *written = together ? &words.beside : &words.apart;
    unsigned long value = 1, rounds = 0;
    uint64_t begin = now_ns(CLOCK_MONOTONIC), cpu = now_ns(CLOCK_THREAD_CPUTIME_ID), end = begin;
    for (; end - begin < SLICE_NS; end = now_ns(CLOCK_MONOTONIC))
        for (unsigned i = 0; i < 64; i++, rounds++) {
            value = work(value, side->point->work);
            if (!side->writes)
                value += atomic_load_explicit(&words.read, memory_order_relaxed);
            else if (rounds % side->point->every == 0)
                atomic_store_explicit(written, value, memory_order_relaxed);
        }
    cpu = now_ns(CLOCK_THREAD_CPUTIME_ID) - cpu;
    atomic_store_explicit(&sink, value, memory_order_relaxed);
    side->last_ns = (double)(end - begin) / (double)rounds;
    side->begin = begin;
    side->end = end;
    side->ran = (double)cpu >= 0.95 * (double)(end - begin) && end - begin < SLICE_NS * 5 / 4;
}

/* Both threads meet; the last one to come opens the next slice. */
static bool meet(void)
{
    unsigned before = atomic_load(&slice);
    if (atomic_fetch_add(&arrived, 1) == 1) {
        atomic_store(&arrived, 0);
        atomic_fetch_add(&slice, 1);
    }
    while (atomic_load(&slice) == before)
        if (atomic_load(&over))
            return false;
        else
            sched_yield();
    return true;
}

/* Left alone, a busy scheduler may put both threads on one CPU for seconds. */
static void stay_on(int cpu)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    if (pthread_setaffinity_np(pthread_self(), sizeof(set), &set) != 0)
        fprintf(stderr, "sweep_sharing: cannot stay on CPU %d\n", cpu);
}

static void *run_writer(void *unused)
{
    stay_on(1);
    for (unsigned i = 0; meet(); i++) {
        run_slice(&sides[1], i % 2 == 1);
        if (!meet())
            break;
    }
    return NULL;
}

static int compare(const void *left, const void *right)
{
    const double *a = left, *b = right;
    return (*a > *b) - (*a < *b);
}

static double median(double *values, unsigned count)
{
    qsort(values, count, sizeof(*values), compare);
    return values[count / 2];
}

/* Both ran all the time, and at the same time. */
static bool slice_counts(void)
{
    uint64_t begin = sides[0].begin > sides[1].begin ? sides[0].begin : sides[1].begin;
    uint64_t end = sides[0].end < sides[1].end ? sides[0].end : sides[1].end;
    return sides[0].ran && sides[1].ran && end > begin && end - begin > SLICE_NS * 9 / 10;
}

/* Counted slices of each layout. */
static void measure(const struct point *point, double seconds, unsigned counted[2])
{
    pthread_t thread;
    uint64_t end = now_ns(CLOCK_MONOTONIC) + (uint64_t)(seconds * 1e9);
    for (int i = 0; i < 2; i++)
        sides[i] = (struct side){.point = point, .writes = i == 1};
    counted[0] = counted[1] = 0;
    atomic_store(&over, false);
    atomic_store(&arrived, 0);
    MGLRU_CHECK(pthread_create(&thread, NULL, run_writer, NULL) == 0);
    for (unsigned i = 0; now_ns(CLOCK_MONOTONIC) < end &&
                         (counted[0] < SLICES_WANTED || counted[1] < SLICES_WANTED);
         i++) {
        bool together = i % 2 == 1;
        unsigned *at = &counted[together];
        meet();
        run_slice(&sides[0], together);
        meet(); /* the writer's figures are there */
        if (!slice_counts() || *at == SLICES_MAX)
            continue;
        for (int side = 0; side < 2; side++)
            sides[side].ns[together][*at] = sides[side].last_ns;
        ++*at;
    }
    atomic_store(&over, true);
    pthread_join(thread, NULL);
}

static void add(struct coherence_trace *trace, struct coherence_access access)
{
    MGLRU_CHECK(coherence_trace_add(trace, &access) == MGLRU_OK);
}

/* How many times as long both take together as apart, by the model. */
static double predict(const struct point *point, const double apart_ns[2], uint32_t latency_ns)
{
    struct coherence_trace trace;
    struct coherence_result result;
    MGLRU_CHECK(coherence_trace_begin(&trace, 64) == MGLRU_OK);
    coherence_trace_start(&trace, 1, 0);
    double gap_ns = apart_ns[0] > COHERENCE_HIT_NS ? apart_ns[0] - COHERENCE_HIT_NS : 0;
    double write_gap_ns = apart_ns[1] * point->every - COHERENCE_HIT_NS;
    double left_ns = 0, write_left_ns = 0;
    for (unsigned i = 0; i < MODEL_ROUNDS; i++) {
        /* Whole nanoseconds; what is left over goes to the next round. */
        left_ns += gap_ns;
        add(&trace, (struct coherence_access){0, 8, 0, (uint32_t)left_ns, 0, COHERENCE_READ});
        left_ns -= (uint32_t)left_ns;
        if (i % point->every != 0)
            continue;
        write_left_ns += write_gap_ns > 0 ? write_gap_ns : 0;
        add(&trace,
            (struct coherence_access){8, 8, 1, (uint32_t)write_left_ns, 0, COHERENCE_WRITE});
        write_left_ns -= (uint32_t)write_left_ns;
    }
    MGLRU_CHECK(coherence_trace_finish(&trace) == MGLRU_OK);
    struct coherence_options options = {.cpus = 2, .latency_ns = latency_ns, .quantum = 1};
    MGLRU_CHECK(coherence_run(&trace, &options, &result) == MGLRU_OK);
    double times = (double)result.clocks_ns / (double)result.ideal_ns;
    coherence_result_free(&result);
    coherence_trace_free(&trace);
    return times;
}

enum verdict { AGREES, DIFFERS, UNKNOWN };

static enum verdict look_at(const struct point *point, double seconds)
{
    unsigned counted[2];
    measure(point, seconds, counted);
    if (counted[0] < SLICES_NEEDED || counted[1] < SLICES_NEEDED) {
        printf("%6u %8u   too few slices: %u and %u\n", point->work, point->every, counted[0],
               counted[1]);
        return UNKNOWN;
    }
    double apart_ns[2], ratio = 0;
    for (int side = 0; side < 2; side++) {
        apart_ns[side] = median(sides[side].ns[0], counted[0]);
        ratio += median(sides[side].ns[1], counted[1]) / apart_ns[side] / 2;
    }
    double low = predict(point, apart_ns, 60), high = predict(point, apart_ns, 100);
    bool slower = ratio > 1 + NOISE, predicted_low = low > 1 + NOISE, predicted = high > 1 + NOISE;
    bool agrees = slower == predicted || slower == predicted_low;
    printf("%6u %8u %10.1f %10.2f %10.2f %8.2f %7u   %s\n", point->work, point->every, apart_ns[0],
           ratio, low, high, counted[0] + counted[1], agrees ? "yes" : "no");
    fflush(stdout);
    return agrees ? AGREES : DIFFERS;
}

int main(int argc, char **argv)
{
    static const unsigned steps[] = {4, 30, 120, 500}, every[] = {1, 10, 100};
    double seconds = argc > 1 ? strtod(argv[1], NULL) : 3;
    unsigned found[3] = {0};
    stay_on(0);
    puts("  work  1 write   ns apart   measured   at 60 ns   at 100  slices   same sign\n"
         " steps  of          a round      times      times    times");
    for (size_t w = 0; w < MGLRU_ARRAY_LEN(steps); w++)
        for (size_t e = 0; e < MGLRU_ARRAY_LEN(every); e++)
            found[look_at(&(struct point){steps[w], every[e]}, seconds)]++;
    printf("%u of 12 points agree\n", found[AGREES]);
    return found[DIFFERS] > 0 ? 1 : found[UNKNOWN] > 0 ? 3 : 0;
}
