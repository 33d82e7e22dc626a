/* SPDX-License-Identifier: MIT */
/*
 * The parts of a plan: knee, choice of limits, sizes and rate, on curves made by hand; and a whole
 * plan of a trace whose answer is known.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <mglru/error.h>

#include "replay/plan_parts.h"

#define MIB (UINT64_C(1) << 20)
#define POINTS 8

/* A curve of 8 points at 10, 20, ... 80 MiB. */
struct made {
    struct plan_point points[POINTS];
    struct plan_curve curve;
    struct plan_memcg memcg;
};

static void make(struct made *made, const uint64_t misses[POINTS], uint64_t cold)
{
    *made = (struct made){.memcg = {.accesses = 1000000,
                                    .working_set_bytes = 80 * MIB,
                                    .duration_ns = UINT64_C(10000000000)}};
    for (size_t i = 0; i < POINTS; i++)
        made->points[i] = (struct plan_point){.memory_bytes = (i + 1) * 10 * MIB,
                                              .misses = misses[i],
                                              .miss_ratio = (double)misses[i] / 1000000,
                                              .stall_ns = misses[i] * 100000};
    made->curve = (struct plan_curve){
        .model = "7.3", .points = made->points, .count = POINTS, .cold_misses = cold};
}

static const struct plan_target no_target = {PLAN_NO_TARGET, 0};

static void knee_lies_farthest_below_the_chord(void **state)
{
    struct made made;
    make(&made, (uint64_t[]){80000, 50000, 20000, 10000, 9000, 8000, 7000, 6000}, 5000);
    /* Below the chord at 20: .41, 30: .52, 40: .52 - a little, 50: .39. */
    assert_int_equal(plan_knee(&made.curve, 0), 2);
    assert_int_equal(plan_knee(&made.curve, 3), SIZE_MAX); /* what follows is straight */
    plan_advise(&made.memcg, &no_target, &made.curve);
    const struct plan_advice *advice = &made.curve.advice;
    assert_int_equal(advice->basis, PLAN_BY_KNEE);
    assert_int_equal(advice->memory_high, 30 * MIB);
    assert_int_equal(advice->knee_bytes, 30 * MIB);
    assert_int_equal(advice->memory_max, 34 * MIB); /* 33.75, rounded up */
    assert_int_equal(advice->memory_low, 20 * MIB); /* saves 30,000 of 60,000 */
    assert_false(advice->scans);
}

/* Straight, falling at the end only, and rising curves bend nowhere. */
static void a_curve_without_a_bend_has_no_knee(void **state)
{
    struct made made;
    make(&made, (uint64_t[]){80000, 70000, 60000, 50000, 40000, 30000, 20000, 10000}, 10000);
    assert_int_equal(plan_knee(&made.curve, 0), SIZE_MAX);
    plan_advise(&made.memcg, &no_target, &made.curve);
    assert_int_equal(made.curve.advice.basis, PLAN_BY_MOST);
    assert_int_equal(made.curve.advice.memory_high, 80 * MIB); /* 63,000 of 70,000 saved */
    assert_int_equal(made.curve.advice.knee_bytes, 0);
    make(&made, (uint64_t[]){10, 20, 30, 40, 50, 60, 70, 80}, 10);
    assert_int_equal(plan_knee(&made.curve, 0), SIZE_MAX);
}

static void a_scan_is_named(void **state)
{
    struct made made;
    make(&made, (uint64_t[]){90000, 90000, 89900, 89800, 89700, 89600, 89500, 5000}, 5000);
    plan_advise(&made.memcg, &no_target, &made.curve);
    assert_true(made.curve.advice.scans);
    assert_int_equal(made.curve.advice.scan_misses, 84500);
    assert_int_equal(made.curve.advice.memory_high, 80 * MIB);
}

static void cold_misses_are_no_reason_for_memory(void **state)
{
    struct made made;
    make(&made, (uint64_t[]){90000, 89500, 89500, 89500, 89500, 89500, 89500, 89500}, 89500);
    plan_advise(&made.memcg, &no_target, &made.curve);
    assert_int_equal(made.curve.advice.basis, PLAN_BY_LEAST);
    assert_int_equal(made.curve.advice.memory_high, 10 * MIB);
    assert_int_equal(made.curve.advice.memory_low, 0);
    assert_false(made.curve.advice.scans);
    /* Much of few misses is little of the accesses. */
    make(&made, (uint64_t[]){900, 500, 400, 300, 200, 100, 50, 0}, 0);
    plan_advise(&made.memcg, &no_target, &made.curve);
    assert_int_equal(made.curve.advice.basis, PLAN_BY_LEAST);
}

static void a_target_holds_from_its_size_on(void **state)
{
    /* 30 MiB would do, were 40 MiB not worse. */
    static const uint64_t misses[] = {80000, 60000, 19000, 21000, 15000, 12000, 9000, 8000};
    struct plan_target target = {PLAN_MISS_RATIO, 0.02};
    struct made made;
    make(&made, misses, 5000);
    plan_advise(&made.memcg, &target, &made.curve);
    assert_true(made.curve.advice.target_met);
    assert_int_equal(made.curve.advice.basis, PLAN_BY_TARGET);
    assert_int_equal(made.curve.advice.memory_high, 50 * MIB);
    /* 1,200 misses a second for ten seconds. */
    target = (struct plan_target){PLAN_MISSES_PER_SECOND, 1200};
    plan_advise(&made.memcg, &target, &made.curve);
    assert_int_equal(made.curve.advice.memory_high, 60 * MIB);
    /* 2 s of waiting beside 10 s are a sixth; 20,000 misses are the most. */
    target = (struct plan_target){PLAN_STALL, 1.0 / 6};
    plan_advise(&made.memcg, &target, &made.curve);
    assert_int_equal(made.curve.advice.memory_high, 50 * MIB);
    target = (struct plan_target){PLAN_MISS_RATIO, 0.0079};
    plan_advise(&made.memcg, &target, &made.curve);
    assert_false(made.curve.advice.target_met);
    assert_int_equal(made.curve.advice.basis, PLAN_BY_KNEE);
    target.value = 1;
    plan_advise(&made.memcg, &target, &made.curve);
    assert_int_equal(made.curve.advice.memory_high, 10 * MIB);
}

static void no_limit_that_kills_is_advised(void **state)
{
    struct made made;
    make(&made, (uint64_t[]){100, 100, 60000, 30000, 9000, 8000, 7000, 6000}, 5000);
    made.points[0].oom = made.points[1].oom = true;
    plan_advise(&made.memcg, &no_target, &made.curve);
    assert_int_equal(made.curve.advice.least, 2);
    assert_true(made.curve.advice.memory_high >= 30 * MIB);
    assert_true(made.curve.advice.memory_low >= 30 * MIB);
    const struct plan_target target = {PLAN_MISS_RATIO, 1};
    plan_advise(&made.memcg, &target, &made.curve);
    assert_int_equal(made.curve.advice.memory_high, 30 * MIB);
}

static void sizes_rise_to_the_whole_working_set(void **state)
{
    static const uint64_t pages[] = {1, 63, 64, 1000, 100000, UINT64_C(1) << 40};
    uint64_t sizes[PLAN_SIZES_MAX];
    for (size_t i = 0; i < sizeof(pages) / sizeof(pages[0]); i++) {
        const struct plan_extent extent = {
            .accesses = pages[i] * 2, .distinct_pages = pages[i], .page_bytes = 4096};
        size_t count = plan_sizes(&extent, 1, sizes);
        assert_in_range(count, 1, PLAN_SIZES_MAX);
        assert_true(sizes[0] >= 64 * 4096);
        assert_true(sizes[count - 1] >= pages[i] * 4096);
        assert_true(sizes[count - 1] <= pages[i] * 4096 * 11 / 10 + 2 * MIB);
        for (size_t j = 1; j < count; j++)
            assert_true(sizes[j] > sizes[j - 1]);
    }
    const struct plan_extent extent = {1000000, 1000000, 4096};
    size_t count = plan_sizes(&extent, 0.01, sizes);
    assert_true(count > 1);
    assert_true(sizes[0] >= PLAN_SAMPLED_PAGES_MIN * UINT64_C(100) * 4096);
}

/* The batches of the kernel do not shrink with the sample: its memory gets their slack back. */
static void samples_have_the_slack_of_a_whole(void **state)
{
    assert_int_equal(plan_sampled_bytes(1000 * MIB, 1, 4096), 1000 * MIB);
    assert_int_equal(plan_sampled_bytes(1000 * MIB, 0.5, 4096), 500 * MIB + 16 * 4096);
    assert_int_equal(plan_sampled_bytes(0, 0.25, 16384), 24 * 16384);
}

static void long_traces_alone_are_sampled(void **state)
{
    const struct plan_extent small = {1000000, 50000, 4096};
    const struct plan_extent large = {UINT64_C(800000000), 10000000, 4096};
    const struct plan_extent narrow = {UINT64_C(800000000), 50000, 4096};
    assert_true(plan_rate(&small, 0) >= 1);
    assert_true(plan_rate(&small, 0.01) < 0.011);
    assert_true(fabs(plan_rate(&large, 0) - 0.01) < 1e-9);
    assert_true(fabs(plan_rate(&narrow, 0) - 16384.0 / 50000) < 1e-9);
    assert_true(plan_rate_error(&large, 1) == 0);
    assert_true(plan_rate_error(&large, 0.01) < plan_rate_error(&large, 0.001));
}

/* A loop over 512 pages: at each size below it LRU-like reclaim misses nearly always, above it only
 * the first time. */
static void a_loop_needs_all_of_itself(void **state)
{
    char path[] = "/tmp/mglru-plan-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    FILE *file = fdopen(fd, "w");
    fputs("#mglru-trace 1 page_size=4096\n!mkdir /a\n!set /a memory.max 256K\n", file);
    for (int i = 0; i < 40; i++)
        fprintf(file, "@%d r /a data 0 512\nr /b other 0 100\n", i * 1000000);
    assert_int_equal(fclose(file), 0);
    static const char *const models[] = {"6.12", "7.3"};
    const struct plan_options options = {.trace = path,
                                         .models = models,
                                         .model_count = 2,
                                         .device_latency_ns = 1000,
                                         .warmup_accesses = 512};
    struct plan plan;
    struct replay_error error;
    assert_int_equal(plan_make(&options, &plan, &error), MGLRU_OK);
    assert_int_equal(plan.memcg_count, 2);
    assert_string_equal(plan.memcgs[0].path, "/a");
    const struct plan_memcg *memcg = &plan.memcgs[0];
    assert_int_equal(memcg->accesses, 39 * 512);
    assert_int_equal(memcg->duration_ns, 38000000);
    assert_int_equal(memcg->curve_count, 2);
    for (size_t i = 0; i < 2; i++) {
        const struct plan_curve *curve = &memcg->curves[i];
        assert_int_equal(curve->cold_misses, 0);
        assert_int_equal(curve->points[curve->count - 1].misses, 0);
        assert_true(curve->points[0].misses > 39 * 512 * 8 / 10);
        assert_int_equal(curve->points[0].stall_ns, curve->points[0].misses * 1000);
        assert_true(curve->points[0].refaults <= curve->points[0].pages_read);
        assert_true(curve->advice.memory_high >= 512 * 4096);
    }
    plan_free(&plan);
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(knee_lies_farthest_below_the_chord),
        cmocka_unit_test(a_curve_without_a_bend_has_no_knee),
        cmocka_unit_test(a_scan_is_named),
        cmocka_unit_test(cold_misses_are_no_reason_for_memory),
        cmocka_unit_test(a_target_holds_from_its_size_on),
        cmocka_unit_test(no_limit_that_kills_is_advised),
        cmocka_unit_test(sizes_rise_to_the_whole_working_set),
        cmocka_unit_test(samples_have_the_slack_of_a_whole),
        cmocka_unit_test(long_traces_alone_are_sampled),
        cmocka_unit_test(a_loop_needs_all_of_itself),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
