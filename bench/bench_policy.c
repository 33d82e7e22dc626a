/* SPDX-License-Identifier: MIT */
/*
 * How many accesses a second each baseline policy takes on a generated Zipf stream, held in memory
 * as dense ids; and how many page names a second keys_intern() turns into such ids. Policies take
 * turns, so that a slow moment of the machine does not fall on one of them; the median counts.
 * CPU time is measured.
 *
 * usage: bench_policy [ACCESSES [PAGES [CAPACITY [RUNS]]]]     default: 5000000 200000 20000 7
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/check.h"
#include "policy/future.h"
#include "policy/keys.h"
#include "policy/policy.h"
#include "trace/gen.h"

#define RUNS_MAX 99
#define CASES_MAX 16
#define ZIPF_EXPONENT_MILLI 1000
#define SEED 1

struct setup {
    uint64_t accesses;
    uint64_t pages;
    uint64_t capacity_pages;
    unsigned runs;
    uint32_t *stream;
    struct future future;
};

/* CPU time: one thread that never waits, so other work on the machine should not count. */
static double now_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Accesses a second; 0 after a failure. @miss_ratio is set. */
static double run_policy(const struct setup *setup, const struct policy_ops *ops,
                         double *miss_ratio)
{
    void *cache;
    uint64_t misses = 0;
    int found = ops->create(setup->capacity_pages, &cache);
    double start = now_seconds();
    for (uint64_t i = 0; i < setup->accesses && found >= 0; i++) {
        struct policy_request request = {.page = setup->stream[i]};
        if (ops->needs_future)
            request.next_use = future_next(&setup->future, i);
        found = ops->access(cache, &request);
        misses += found == 0;
    }
    double seconds = now_seconds() - start;
    ops->destroy(cache);
    *miss_ratio = (double)misses / (double)setup->accesses;
    return found < 0 ? 0 : (double)setup->accesses / seconds;
}

static double run_keys(const struct setup *setup)
{
    struct keys keys;
    uint32_t id;
    if (keys_init(&keys))
        return 0;
    int error = 0;
    double start = now_seconds();
    for (uint64_t i = 0; i < setup->accesses && !error; i++)
        error = keys_intern(&keys, 0, setup->stream[i], &id);
    double seconds = now_seconds() - start;
    keys_free(&keys);
    return error ? 0 : (double)setup->accesses / seconds;
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void print_case(const char *name, double *rates, unsigned runs)
{
    qsort(rates, runs, sizeof(*rates), compare_doubles);
    printf("%-10s %8.1f %8.1f %8.1f", name, rates[runs / 2] * 1e-6, rates[0] * 1e-6,
           rates[runs - 1] * 1e-6);
}

static void measure(const struct setup *setup)
{
    static double rates[CASES_MAX][RUNS_MAX];
    static double miss_ratio[CASES_MAX];
    static double key_rates[RUNS_MAX];
    for (unsigned run = 0; run < setup->runs; run++) {
        for (size_t p = 0; policy_at(p) && p < CASES_MAX; p++)
            rates[p][run] = run_policy(setup, policy_at(p), &miss_ratio[p]);
        key_rates[run] = run_keys(setup);
    }
    printf("%lu accesses of %lu pages, Zipf(1), cache of %lu pages, %u runs; M accesses/s\n",
           (unsigned long)setup->accesses, (unsigned long)setup->pages,
           (unsigned long)setup->capacity_pages, setup->runs);
    printf("%-10s %8s %8s %8s %8s\n", "policy", "median", "min", "max", "misses");
    for (size_t p = 0; policy_at(p) && p < CASES_MAX; p++) {
        print_case(policy_at(p)->name, rates[p], setup->runs);
        printf(" %8.4f\n", miss_ratio[p]);
    }
    print_case("(page ids)", key_rates, setup->runs);
    printf("\n");
}

static bool prepare(struct setup *setup)
{
    struct gen_options options = {.pattern = GEN_ZIPF,
                                  .pages = setup->pages,
                                  .seed = SEED,
                                  .exponent_milli = ZIPF_EXPONENT_MILLI};
    future_init(&setup->future);
    setup->stream = malloc(setup->accesses * sizeof(*setup->stream));
    if (!setup->stream || gen_stream(&options, setup->stream, setup->accesses))
        return false;
    for (uint64_t i = 0; i < setup->accesses; i++)
        if (future_access(&setup->future, setup->stream[i]))
            return false;
    return true;
}

int main(int argc, char **argv)
{
    uint64_t numbers[] = {5000000, 200000, 20000, 7};
    for (int i = 1; i < argc; i++) {
        char *end = argv[i];
        if (i <= (int)MGLRU_ARRAY_LEN(numbers))
            numbers[i - 1] = strtoull(argv[i], &end, 10);
        if (*end || end == argv[i] || numbers[i - 1] == 0 || numbers[3] > RUNS_MAX) {
            fprintf(stderr, "usage: bench_policy [ACCESSES [PAGES [CAPACITY [RUNS]]]]\n");
            return 2;
        }
    }
    struct setup setup = {.accesses = numbers[0],
                          .pages = numbers[1],
                          .capacity_pages = numbers[2],
                          .runs = (unsigned)numbers[3]};
    bool ok = prepare(&setup);
    if (ok)
        measure(&setup);
    else
        fprintf(stderr, "bench_policy: out of memory, or more pages than 2^32\n");
    free(setup.stream);
    future_free(&setup.future);
    return ok ? 0 : 3;
}
