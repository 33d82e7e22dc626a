/* SPDX-License-Identifier: MIT */
/*
 * Whole replays of random native traces: baselines against a naive LRU that knows files, regions
 * and frees; and what must hold for every policy whatever it decides.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <mglru/error.h>

#include "base/bits.h"
#include "policy/policy.h"
#include "replay/replay.h"

#define CAPACITY 70 /* pages; above the least memory of the kernel's algorithms */
#define SPACE 64    /* pages of a file or region */
#define SPACES 9    /* three files, and two regions of each of three memcgs */

/* A naive cache: every page has the time of its last access, 0 when absent. */
struct naive {
    uint64_t used[SPACES][SPACE];
    bool touched[SPACES][SPACE];
    uint64_t now;
    uint64_t accesses, hits, first_touches;
};

struct random_trace {
    char path[32];
    struct naive lru;
};

static uint64_t next_random(uint64_t *state)
{
    *state += 0x9E3779B97F4A7C15ull;
    return bits_mix64(*state);
}

static void naive_access(struct naive *naive, unsigned space, uint64_t page)
{
    uint64_t *least = NULL;
    unsigned resident = 0;
    for (unsigned i = 0; i < SPACES; i++)
        for (unsigned j = 0; j < SPACE; j++) {
            uint64_t *used = &naive->used[i][j];
            resident += *used > 0;
            if (*used > 0 && (least == NULL || *used < *least))
                least = used;
        }
    naive->accesses++;
    if (naive->used[space][page] > 0)
        naive->hits++;
    else if (resident == CAPACITY)
        *least = 0;
    if (space >= 3 && !naive->touched[space][page])
        naive->first_touches++;
    naive->touched[space][page] = true;
    naive->used[space][page] = ++naive->now;
}

static void naive_free(struct naive *naive, unsigned space, uint64_t page)
{
    naive->used[space][page] = 0;
    naive->touched[space][page] = false;
}

/* One random line: an access of 1 to 8 pages, or a free. Memcg m owns spaces 3 + 2m and 4 + 2m. */
static void write_line(FILE *out, struct naive *naive, uint64_t *random)
{
    static const char ops[] = "rrrwmMx";
    unsigned memcg = (unsigned)(next_random(random) % 3);
    bool anon = next_random(random) % 3 == 0;
    bool release = next_random(random) % 12 == 0;
    unsigned which = (unsigned)(next_random(random) % (anon ? 2 : 3));
    unsigned space = anon ? 3 + 2 * memcg + which : which;
    uint64_t page = next_random(random) % SPACE;
    uint64_t count = 1 + next_random(random) % 8;
    if (page + count > SPACE)
        count = SPACE - page;
    char op = release ? 'f' : anon ? 'a' : ops[next_random(random) % 7];
    fprintf(out, "%c /m%u %s%u %" PRIu64 " %" PRIu64 "\n", op, memcg, anon ? "region" : "file",
            which, page, count);
    for (uint64_t i = 0; i < count; i++)
        release ? naive_free(naive, space, page + i) : naive_access(naive, space, page + i);
}

static void write_trace(struct random_trace *trace, uint64_t seed, unsigned lines)
{
    memset(trace, 0, sizeof(*trace));
    strcpy(trace->path, "/tmp/mglru-test-XXXXXX");
    int fd = mkstemp(trace->path);
    assert_true(fd >= 0);
    FILE *out = fdopen(fd, "w");
    assert_non_null(out);
    fputs("#mglru-trace 1 page_size=4096\n", out);
    for (unsigned i = 0; i < lines; i++)
        write_line(out, &trace->lru, &seed);
    assert_int_equal(fclose(out), 0);
}

/* Miss bits of each run, as the callback got them. */
struct bits {
    const struct replay_spec *specs;
    uint64_t ones[32];
    uint64_t bytes[32];
};

static void count_bits(void *context, const struct replay_spec *spec, const void *bits,
                       size_t bytes)
{
    struct bits *count = context;
    const uint8_t *byte = bits;
    for (size_t i = 0; i < bytes; i++)
        count->ones[spec - count->specs] += (uint64_t)__builtin_popcount(byte[i]);
    count->bytes[spec - count->specs] += bytes;
}

/* All baselines, then mglru and classic, with the memory of CAPACITY pages. */
static size_t list_specs(struct replay_spec *specs)
{
    size_t count = 0;
    for (; policy_at(count) != NULL; count++)
        specs[count] = (struct replay_spec){.baseline = policy_at(count),
                                            .policy = policy_at(count)->name,
                                            .memory_bytes = CAPACITY * 4096};
    for (int classic = 0; classic < 2; classic++)
        specs[count++] = (struct replay_spec){.classic = classic != 0,
                                              .policy = classic != 0 ? "classic" : "mglru",
                                              .model = "7.3",
                                              .memory_bytes = CAPACITY * 4096};
    return count;
}

static void options_for(struct replay_options *options, const char *const *path,
                        const struct replay_spec *specs, size_t count)
{
    *options = (struct replay_options){
        .traces = path,
        .trace_count = 1,
        .specs = specs,
        .spec_count = count,
        .swap_bytes = 1 << 22, /* room for all regions: nobody is killed */
        .swappiness = -1,
        .kernel_charge = MGLRU_KERNEL_CHARGE_NONE,
        .workers = 2,
    };
}

static void lru_agrees_with_a_naive_one(void **state)
{
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct random_trace trace;
        struct replay_spec specs[32];
        struct replay_options options;
        struct replay_result result;
        struct replay_error error;
        write_trace(&trace, seed, 3000);
        list_specs(specs);
        const char *path = trace.path;
        options_for(&options, &path, specs, 1);
        assert_string_equal(specs[0].policy, "lru");
        assert_int_equal(replay_run(&options, &result, &error), MGLRU_OK);
        const struct replay_figures *figures = &result.runs[0].figures;
        assert_int_equal(figures->accesses, trace.lru.accesses);
        assert_int_equal(figures->hits, trace.lru.hits);
        assert_int_equal(figures->first_touches, trace.lru.first_touches);
        replay_result_free(&result);
        unlink(trace.path);
    }
}

/* hits + misses + first touches = accesses, in the run and as the sum of the memcgs without
 * children; as many 1 bits as misses; series end with the totals. */
static void check_laws(const struct replay_run *run, const struct random_trace *trace,
                       uint64_t ones, uint64_t bytes)
{
    const struct replay_figures *all = &run->figures;
    assert_int_equal(all->accesses + run->skipped, trace->lru.accesses);
    assert_int_equal(all->hits + all->misses + all->first_touches, all->accesses);
    assert_true(all->pages_read >= all->misses);
    uint64_t accesses = 0;
    uint64_t misses = 0;
    for (size_t i = 0; i < run->memcg_count; i++) {
        accesses += run->memcgs[i].figures.accesses;
        misses += run->memcgs[i].figures.misses;
    }
    assert_int_equal(accesses, all->accesses);
    assert_int_equal(misses, all->misses);
    assert_int_equal(ones, all->misses);
    assert_int_equal(bytes, (trace->lru.accesses + 7) / 8);
    assert_int_equal(run->series[run->series_count - 1].misses, all->misses);
    for (size_t i = 0; i + 1 < run->series_count; i++)
        assert_int_equal(run->series[i].accesses, (i + 1) * 100);
}

static void every_policy_keeps_the_books(void **state)
{
    for (uint64_t seed = 100; seed < 110; seed++) {
        struct random_trace trace;
        struct replay_spec specs[32];
        struct replay_options options;
        struct replay_result result;
        struct replay_error error;
        write_trace(&trace, seed, 4000);
        size_t count = list_specs(specs);
        struct bits bits = {.specs = specs};
        const char *path = trace.path;
        options_for(&options, &path, specs, count);
        options.every = 100;
        options.on_miss_bits = count_bits;
        options.context = &bits;
        assert_int_equal(replay_run(&options, &result, &error), MGLRU_OK);
        assert_int_equal(result.trace.accesses, trace.lru.accesses);
        assert_int_equal(result.run_count, count);
        for (size_t i = 0; i < count; i++)
            check_laws(&result.runs[i], &trace, bits.ones[i], bits.bytes[i]);
        replay_result_free(&result);
        unlink(trace.path);
    }
}

static void the_number_of_threads_changes_nothing(void **state)
{
    struct random_trace trace;
    struct replay_spec specs[32];
    struct replay_options options;
    struct replay_result first, second;
    struct replay_error error;
    write_trace(&trace, 7, 20000);
    size_t count = list_specs(specs);
    const char *path = trace.path;
    options_for(&options, &path, specs, count);
    options.explain = true;
    assert_int_equal(replay_run(&options, &first, &error), MGLRU_OK);
    options.workers = 5;
    assert_int_equal(replay_run(&options, &second, &error), MGLRU_OK);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(first.runs[i].figures.misses, second.runs[i].figures.misses);
        assert_int_equal(first.runs[i].figures.hits, second.runs[i].figures.hits);
        if (specs[i].baseline == NULL)
            assert_string_equal(first.runs[i].explain_text, second.runs[i].explain_text);
    }
    replay_result_free(&first);
    replay_result_free(&second);
    unlink(trace.path);
}

/* Belady misses least; a policy that knows less cannot beat it on files alone. */
static void nobody_beats_belady(void **state)
{
    char path[] = "/tmp/mglru-test-XXXXXX";
    FILE *out = fdopen(mkstemp(path), "w");
    uint64_t random = 3;
    assert_non_null(out);
    fputs("#mglru-trace 1 page_size=4096\n", out);
    for (int i = 0; i < 20000; i++)
        fprintf(out, "r /m file %" PRIu64 "\n", next_random(&random) % 150);
    assert_int_equal(fclose(out), 0);
    struct replay_spec specs[32];
    struct replay_options options;
    struct replay_result result;
    struct replay_error error;
    size_t count = list_specs(specs);
    uint64_t least = UINT64_MAX;
    const char *name = path;
    options_for(&options, &name, specs, count);
    assert_int_equal(replay_run(&options, &result, &error), MGLRU_OK);
    for (size_t i = 0; i < count; i++)
        if (strcmp(specs[i].policy, "belady") == 0)
            least = result.runs[i].figures.misses;
    for (size_t i = 0; i < count; i++)
        assert_true(result.runs[i].figures.misses >= least);
    replay_result_free(&result);
    unlink(path);
}

static int stop_at_once(void *context, const struct trace_progress *progress, uint64_t accesses)
{
    return 1;
}

static void a_wish_to_stop_ends_the_replay(void **state)
{
    struct random_trace trace;
    struct replay_spec specs[32];
    struct replay_options options;
    struct replay_result result;
    struct replay_error error;
    write_trace(&trace, 9, 100);
    size_t count = list_specs(specs);
    const char *path = trace.path;
    options_for(&options, &path, specs, count);
    options.on_progress = stop_at_once;
    assert_int_equal(replay_run(&options, &result, &error), MGLRU_EINTR);
    assert_int_equal(result.run_count, 0);
    assert_string_equal(error.text, "interrupted");
    unlink(trace.path);
}

static int stop_at_the_third(void *context, const struct trace_progress *progress,
                             uint64_t accesses)
{
    unsigned *calls = context;
    return ++*calls >= 3;
}

/* Thousands of memcgs that run out of memory one after the other: seconds of work in one view,
 * which is asked for its progress every 50 ms. */
static void a_wish_to_stop_ends_a_long_view(void **state)
{
    char path[] = "/tmp/mglru-test-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    FILE *file = fdopen(fd, "w");
    fprintf(file, "#mglru-trace 1 page_size=4096\n");
    for (unsigned i = 0; i < 10000; i++)
        fprintf(file, "a /m%u heap 0\n", i);
    assert_int_equal(fclose(file), 0);
    static const struct replay_spec spec = {
        .policy = "mglru", .model = "7.3", .memory_bytes = 2 << 20};
    const char *name = path;
    struct replay_options options;
    struct replay_result result;
    struct replay_error error;
    unsigned calls = 0;
    options_for(&options, &name, &spec, 1);
    options.on_progress = stop_at_the_third;
    options.context = &calls;
    options.on_miss_bits = NULL;
    assert_int_equal(replay_run(&options, &result, &error), MGLRU_EINTR);
    assert_string_equal(error.text, "interrupted");
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lru_agrees_with_a_naive_one),
        cmocka_unit_test(every_policy_keeps_the_books),
        cmocka_unit_test(the_number_of_threads_changes_nothing),
        cmocka_unit_test(nobody_beats_belady),
        cmocka_unit_test(a_wish_to_stop_ends_the_replay),
        cmocka_unit_test(a_wish_to_stop_ends_a_long_view),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
