/* SPDX-License-Identifier: MIT */
/* coherence/model.h: cases computed by hand, and random logs beside the naive model. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <cmocka.h>

#include <mglru/error.h>

#include "base/bits.h"
#include "base/check.h"
#include "coherence/model.h"
#include "model/naive_coherence.h"

#define R COHERENCE_READ
#define W COHERENCE_WRITE
#define A COHERENCE_ATOMIC

static void build(struct coherence_trace *trace, const struct coherence_access *accesses,
                  size_t count)
{
    for (size_t i = 0; i < count; i++)
        assert_int_equal(coherence_trace_add(trace, &accesses[i]), MGLRU_OK);
    assert_int_equal(coherence_trace_finish(trace), MGLRU_OK);
}

static struct coherence_result run(const struct coherence_access *accesses, size_t count,
                                   struct coherence_options options)
{
    struct coherence_trace trace;
    struct coherence_result result;
    assert_int_equal(coherence_trace_begin(&trace, 64), MGLRU_OK);
    build(&trace, accesses, count);
    assert_int_equal(coherence_run(&trace, &options, &result), MGLRU_OK);
    coherence_trace_free(&trace);
    return result;
}

static void expect(const struct coherence_result *result, uint64_t cold, uint64_t not_true,
                   uint64_t is_true)
{
    assert_int_equal(result->misses[COHERENCE_COLD], cold);
    assert_int_equal(result->misses[COHERENCE_FALSE], not_true);
    assert_int_equal(result->misses[COHERENCE_TRUE], is_true);
    assert_int_equal(result->misses[COHERENCE_LOCKED], 0);
}

/* Writer of bytes 0-3, reader of bytes 8-11. */
static void neighbours_fight_falsely(void **state)
{
    const struct coherence_access log[] = {
        {64, 4, 0, 1000, 0, W}, {72, 4, 1, 1000, 0, R}, {64, 4, 0, 1000, 0, W},
        {72, 4, 1, 1000, 0, R}, {72, 8, 0, 1000, 0, R},
    };
    struct coherence_result result = run(log, 5, (struct coherence_options){2, 100, 0, 0});
    /* Cold twice; the second write asks for what the read took; the second read lost the line;
     * the last read is a hit. */
    expect(&result, 2, 2, 0);
    assert_int_equal(result.row_count, 2);
    assert_int_equal(result.rows[0].victim.first, 0);
    assert_int_equal(result.rows[0].victim.kind, W);
    assert_int_equal(result.rows[0].cause.first, 8);
    assert_int_equal(result.rows[1].victim.first, 8);
    assert_int_equal(result.rows[1].cause.first, 0);
    assert_int_equal(result.rows[1].cause.last, 3);
    coherence_result_free(&result);
}

static void a_byte_that_another_wrote_is_shared_truly(void **state)
{
    const struct coherence_access log[] = {{64, 4, 0, 1000, 0, W},
                                           {64, 4, 1, 1000, 0, R},
                                           {64, 4, 0, 1000, 0, A},
                                           {66, 1, 1, 1000, 0, R}};
    struct coherence_result result = run(log, 4, (struct coherence_options){2, 100, 0, 0});
    expect(&result, 2, 0, 2);
    coherence_result_free(&result);
}

/* The reader misses on its own field but goes on to the one that was written. */
static void what_is_touched_later_counts(void **state)
{
    const struct coherence_access log[] = {
        {72, 4, 1, 1000, 0, R}, {64, 4, 0, 1000, 0, W}, {72, 4, 1, 1000, 0, R},
        {76, 4, 1, 1000, 0, R}, {64, 4, 1, 200, 0, R},
    };
    struct coherence_result result = run(log, 4, (struct coherence_options){2, 100, 0, 0});
    expect(&result, 2, 1, 0);
    coherence_result_free(&result);
    result = run(log, 5, (struct coherence_options){2, 100, 0, 0});
    expect(&result, 2, 0, 1);
    assert_int_equal(result.rows[0].count[COHERENCE_FALSE], 0);
    assert_int_equal(result.rows[0].count[COHERENCE_TRUE], 1);
    coherence_result_free(&result);
}

static void a_common_lock_couples(void **state)
{
    struct coherence_trace trace;
    struct coherence_result result;
    uint32_t one, both;
    assert_int_equal(coherence_trace_begin(&trace, 64), MGLRU_OK);
    coherence_trace_lockset(&trace, (uint64_t[]){7}, 1, &one);
    coherence_trace_lockset(&trace, (uint64_t[]){9, 7}, 2, &both);
    const struct coherence_access log[] = {{64, 4, 0, 1000, one, W},
                                           {72, 4, 1, 1000, both, W},
                                           {64, 4, 0, 1000, one, W},
                                           {72, 4, 1, 1000, 0, W}};
    build(&trace, log, 4);
    assert_int_equal(coherence_run(&trace, &(struct coherence_options){2, 100, 0, 0}, &result),
                     MGLRU_OK);
    assert_int_equal(result.misses[COHERENCE_LOCKED], 1);
    assert_int_equal(result.misses[COHERENCE_FALSE], 1);
    coherence_result_free(&result);
    coherence_trace_free(&trace);
}

/* The first CPU has the line from 100 to 200, when the transfer to the second ends: accesses 2 to
 * 100 fall into that time and hit, number 101 begins at 200 and misses. */
static void the_owner_keeps_the_line_until_the_transfer_ends(void **state)
{
    struct coherence_access log[102];
    for (int i = 0; i < 102; i++)
        log[i] = (struct coherence_access){64, 4, 0, 0, 0, W};
    log[1] = (struct coherence_access){72, 4, 1, 10, 0, W};
    struct coherence_result result = run(log, 101, (struct coherence_options){2, 100, 1, 0});
    expect(&result, 2, 0, 0);
    assert_int_equal(result.clocks_ns, 200 + 201);
    coherence_result_free(&result);
    result = run(log, 102, (struct coherence_options){2, 100, 1, 0});
    expect(&result, 2, 1, 0);
    assert_int_equal(result.clocks_ns, 301 + 201);
    assert_int_equal(result.ideal_ns, 301 + 201 - 100 - 89 - 1);
    coherence_result_free(&result);
}

/* A writer has the line until 100; three readers at 150 wait for one transfer, not for three: the
 * first takes it from the owner (250), the others begin when the line is free (350). */
static void readers_are_served_together(void **state)
{
    const struct coherence_access log[] = {
        {64, 4, 0, 0, 0, W}, {64, 4, 1, 150, 0, R}, {64, 4, 2, 0, 0, R}, {64, 4, 3, 0, 0, R}};
    struct coherence_result result = run(log, 4, (struct coherence_options){4, 100, 1, 0});
    expect(&result, 4, 0, 0);
    assert_int_equal(result.clocks_ns, 101 + 251 + 351 + 351);
    coherence_result_free(&result);
}

/* Two threads have words of their own on one line; more CPUs do not make them meet. */
static void repeated_threads_bring_their_own_elements(void **state)
{
    struct coherence_access log[40];
    for (int i = 0; i < 40; i++)
        log[i] = (struct coherence_access){i % 2 ? 72 : 64, 8, i % 2, 50, 0, W};
    struct coherence_result two = run(log, 40, (struct coherence_options){2, 60, 1, 0});
    struct coherence_result eight = run(log, 40, (struct coherence_options){8, 60, 1, 0});
    assert_true(two.misses[COHERENCE_FALSE] > 5);
    assert_int_equal(eight.misses[COHERENCE_FALSE], 4 * two.misses[COHERENCE_FALSE]);
    coherence_result_free(&two);
    coherence_result_free(&eight);
    /* One word of both: all meet. */
    log[1].address = 64;
    eight = run(log, 40, (struct coherence_options){8, 60, 1, 0});
    assert_int_equal(eight.misses[COHERENCE_COLD], 8);
    coherence_result_free(&eight);
}

/* The second thread begins when the first one's third access does, at 2020. */
static void threads_begin_when_they_were_seen(void **state)
{
    const struct coherence_access log[] = {
        {64, 4, 0, 0, 0, W}, {64, 4, 0, 1000, 0, W}, {64, 4, 0, 1018, 0, W}, {256, 4, 1, 7, 0, R}};
    struct coherence_result result = run(log, 4, (struct coherence_options){2, 100, 1, 0});
    assert_int_equal(result.clocks_ns, (2021 + 100) + (2020 + 7 + 100 + 1));
    assert_int_equal(result.ideal_ns, result.clocks_ns);
    coherence_result_free(&result);
    struct coherence_options bounded = {2, 100, 1, 3};
    result = run(log, 4, bounded);
    assert_int_equal(result.ops, 3);
    coherence_result_free(&result);
}

/* The third access of the maker lies behind the start, so the new thread runs beside it. */
static void threads_begin_when_they_were_made(void **state)
{
    const struct coherence_access log[] = {
        {64, 4, 0, 1000, 0, W}, {64, 4, 0, 1018, 0, W}, {256, 4, 1, 7, 0, R}};
    struct coherence_trace trace;
    struct coherence_result result;
    assert_int_equal(coherence_trace_begin(&trace, 64), MGLRU_OK);
    coherence_trace_add(&trace, &log[0]);
    coherence_trace_start(&trace, 1, 0);
    coherence_trace_start(&trace, COHERENCE_THREADS_MAX, 0);
    coherence_trace_add(&trace, &log[1]);
    coherence_trace_start(&trace, 0, 0); /* has begun: nothing changes */
    coherence_trace_add(&trace, &log[2]);
    assert_int_equal(coherence_trace_finish(&trace), MGLRU_OK);
    assert_int_equal(coherence_run(&trace, &(struct coherence_options){2, 100, 1, 0}, &result),
                     MGLRU_OK);
    assert_int_equal(result.clocks_ns, (1001 + 1019 + 100) + (1001 + 7 + 100 + 1));
    coherence_result_free(&result);
    coherence_trace_free(&trace);
}

static void one_cpu_never_loses_a_line(void **state)
{
    const struct coherence_access log[] = {
        {64, 4, 0, 0, 0, W}, {72, 4, 1, 0, 0, R}, {64, 4, 0, 0, 0, W}, {126, 4, 1, 0, 0, R}};
    struct coherence_result result = run(log, 4, (struct coherence_options){1, 100, 1, 0});
    expect(&result, 2, 0, 0);
    assert_int_equal(result.ops, 5); /* the last access lies on two lines */
    coherence_result_free(&result);
}

static void bad_accesses_are_refused(void **state)
{
    struct coherence_trace trace;
    struct coherence_result result;
    assert_int_equal(coherence_trace_begin(&trace, 48), MGLRU_EINVAL);
    coherence_trace_free(&trace);
    assert_int_equal(coherence_trace_begin(&trace, 64), MGLRU_OK);
    const struct coherence_access bad[] = {
        {64, 0, 0, 0, 0, R}, {UINT64_MAX - 3, 8, 0, 0, 0, R}, {64, 4, 1024, 0, 0, R},
        {64, 4, 0, 0, 1, R}, {0, (1u << 30) + 1, 0, 0, 0, R},
    };
    for (size_t i = 0; i < MGLRU_ARRAY_LEN(bad); i++)
        assert_int_equal(coherence_trace_add(&trace, &bad[i]), MGLRU_EINVAL);
    assert_int_equal(coherence_trace_finish(&trace), MGLRU_OK);
    assert_int_equal(coherence_run(&trace, &(struct coherence_options){0, 1, 1, 0}, &result),
                     MGLRU_EINVAL);
    assert_int_equal(coherence_run(&trace, &(struct coherence_options){257, 1, 1, 0}, &result),
                     MGLRU_EINVAL);
    assert_int_equal(coherence_run(&trace, &(struct coherence_options){256, 1, 1, 0}, &result),
                     MGLRU_OK);
    assert_int_equal(result.ops, 0);
    coherence_trace_free(&trace);
}

static uint64_t seed;

static uint32_t below(uint32_t n)
{
    seed += UINT64_C(0x9E3779B97F4A7C15);
    return (uint32_t)(bits_mix64(seed) >> 33) % n;
}

static void make_random(struct coherence_trace *trace, struct coherence_access *log, size_t count)
{
    uint32_t sets[4] = {0}, threads = 1 + below(6), lines = 1 + below(4), gaps = 1 + below(150);
    uint32_t reads = below(4);
    for (uint32_t i = 1; i < 4; i++)
        coherence_trace_lockset(trace, (uint64_t[]){i, 40 + i % 2}, 1 + below(2), &sets[i]);
    for (size_t i = 0; i < count; i++) {
        uint32_t bytes = 1u << below(4);
        log[i] = (struct coherence_access){
            .address = 4096 + below(lines) * 64 + below(64 / bytes) * bytes,
            .bytes = bytes,
            .thread = below(threads),
            .gap_ns = below(gaps),
            .lockset = sets[below(8) < 5 ? 0 : below(4)],
            .kind = below(4) < reads ? R
                    : below(2)       ? W
                                     : A,
        };
    }
}

static void compare(const struct coherence_trace *trace, const struct coherence_access *log,
                    size_t count, struct coherence_options options)
{
    struct coherence_result result;
    static struct naive_result naive;
    static uint64_t lines[NAIVE_LINES_MAX][COHERENCE_CLASSES];
    memset(lines, 0, sizeof(lines));
    assert_int_equal(coherence_run(trace, &options, &result), MGLRU_OK);
    naive_coherence(trace, log, count, &options, &naive);
    uint64_t overlaps = 0;
    for (size_t i = 0; i < result.row_count; i++) {
        const struct coherence_miss *row = &result.rows[i];
        bool meets = row->victim.first <= row->cause.last && row->cause.first <= row->victim.last;
        for (int c = 0; c < COHERENCE_CLASSES; c++) {
            lines[row->line][c] += row->count[c];
            overlaps += meets ? row->count[c] : 0;
        }
    }
    for (int c = 0; c < COHERENCE_CLASSES; c++) {
        assert_int_equal(result.misses[c], naive.misses[c]);
        for (size_t i = 0; c != COHERENCE_COLD && i < trace->line_count; i++)
            assert_int_equal(lines[i][c], naive.line_misses[i][c]);
    }
    assert_int_equal(overlaps, naive.overlaps);
    assert_int_equal(result.clocks_ns, naive.clocks_ns);
    assert_true(result.ideal_ns <= result.clocks_ns);
    coherence_result_free(&result);
}

static void random_logs_agree_with_the_naive_model(void **state)
{
    static const uint32_t cpus[] = {1, 2, 3, 5, 8, 13, 70};
    static const uint32_t quanta[] = {0, 1, 2, 7, 1000};
    struct coherence_access log[160];
    for (unsigned round = 0; round < 150; round++) {
        struct coherence_trace trace;
        seed = round + 1;
        size_t count = 1 + below(round % 10 == 0 ? 160 : 60);
        assert_int_equal(coherence_trace_begin(&trace, 64), MGLRU_OK);
        make_random(&trace, log, count);
        build(&trace, log, count);
        for (size_t q = 0; q < MGLRU_ARRAY_LEN(quanta); q++)
            compare(&trace, log, count,
                    (struct coherence_options){cpus[(round + q) % 7], below(200), quanta[q], 0});
        coherence_trace_free(&trace);
    }
}

/* The figure: 3 million accesses a second at 24 CPUs. A busy machine may be slower, so the
 * test only prints; the figure of docs/linewise.md is measured with it. */
static void speed_is_printed(void **state)
{
    struct coherence_trace trace;
    struct coherence_result result;
    struct timespec begin, end;
    enum { COUNT = 200000 };
    seed = 42;
    assert_int_equal(coherence_trace_begin(&trace, 64), MGLRU_OK);
    for (int i = 0; i < COUNT; i++) {
        uint32_t thread = below(24), own = below(10) < 7;
        struct coherence_access access = {
            .address = 4096 + 64 * (own ? 64 + thread * 8 + below(8) : below(64)) + below(8) * 8,
            .bytes = 8,
            .thread = thread,
            .gap_ns = below(50),
            .kind = below(10) < 8 ? R : W,
        };
        assert_int_equal(coherence_trace_add(&trace, &access), MGLRU_OK);
    }
    assert_int_equal(coherence_trace_finish(&trace), MGLRU_OK);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &begin);
    assert_int_equal(coherence_run(&trace, &(struct coherence_options){24, 60, 1, 0}, &result),
                     MGLRU_OK);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &end);
    double s = (double)(end.tv_sec - begin.tv_sec) + (double)(end.tv_nsec - begin.tv_nsec) / 1e9;
    assert_int_equal(result.ops, COUNT);
    assert_true(coherence_result_caused(&result) > COUNT / 20);
    print_message("%.2f million accesses a second of CPU time at 24 CPUs, %.3f misses each\n",
                  COUNT / s / 1e6, (double)coherence_result_caused(&result) / COUNT);
    coherence_result_free(&result);
    coherence_trace_free(&trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(neighbours_fight_falsely),
        cmocka_unit_test(a_byte_that_another_wrote_is_shared_truly),
        cmocka_unit_test(what_is_touched_later_counts),
        cmocka_unit_test(a_common_lock_couples),
        cmocka_unit_test(the_owner_keeps_the_line_until_the_transfer_ends),
        cmocka_unit_test(readers_are_served_together),
        cmocka_unit_test(repeated_threads_bring_their_own_elements),
        cmocka_unit_test(threads_begin_when_they_were_seen),
        cmocka_unit_test(threads_begin_when_they_were_made),
        cmocka_unit_test(one_cpu_never_loses_a_line),
        cmocka_unit_test(bad_accesses_are_refused),
        cmocka_unit_test(random_logs_agree_with_the_naive_model),
        cmocka_unit_test(speed_is_printed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
