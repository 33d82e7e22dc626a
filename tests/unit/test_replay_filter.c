/* SPDX-License-Identifier: MIT */
/*
 * What a filter lets through: the records of one memcg, whole pages of a sample, no limits; and
 * that the warm-up ends at the very access. Looked at through replay_run(), as programs use it.
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

#include "policy/policy.h"
#include "replay/replay.h"

#define PAGES 20000

static char path[] = "/tmp/mglru-filter-XXXXXX";

static void write_trace(const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs("#mglru-trace 1 page_size=4096\n", file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

/* What on_records saw. */
struct seen {
    uint64_t records;
    uint64_t pages;
    uint64_t others; /* records that are no access */
    uint32_t uses[PAGES];
};

static int on_records(void *context, const struct replay_records *records,
                      struct replay_error *error)
{
    struct seen *seen = context;
    for (size_t i = 0; i < records->count; i++) {
        const struct trace_record *record = &records->records[i];
        seen->records++;
        seen->others += !trace_op_is_access(record->op);
        for (uint32_t j = 0; j < record->count && record->op != TRACE_FREE; j++, seen->pages++)
            seen->uses[(record->page + j) % PAGES]++;
    }
    return MGLRU_OK;
}

static void look(const struct replay_filter_options *filter, struct seen *seen)
{
    const char *const traces[] = {path};
    struct replay_options options = {.traces = traces,
                                     .trace_count = 1,
                                     .filter = *filter,
                                     .swappiness = -1,
                                     .on_records = on_records,
                                     .context = seen};
    struct replay_result result;
    struct replay_error error;
    memset(seen, 0, sizeof(*seen));
    assert_int_equal(replay_run(&options, &result, &error), MGLRU_OK);
    assert_int_equal(result.trace.accesses, seen->pages);
    replay_result_free(&result);
}

static struct replay_run run_lru(const struct replay_filter_options *filter, bool kernel,
                                 struct replay_result *result)
{
    const char *const traces[] = {path};
    const struct replay_spec spec = {.baseline = kernel ? NULL : policy_find("lru"),
                                     .policy = kernel ? "mglru" : "lru",
                                     .model = kernel ? "7.3" : NULL,
                                     .memory_bytes = UINT64_C(64) << 20};
    struct replay_options options = {.traces = traces,
                                     .trace_count = 1,
                                     .specs = &spec,
                                     .spec_count = 1,
                                     .filter = *filter,
                                     .swappiness = -1};
    struct replay_error error;
    assert_int_equal(replay_run(&options, result, &error), MGLRU_OK);
    return result->runs[0];
}

static struct seen seen, other;

static void memcg_passes_with_what_lies_below(void **state)
{
    write_trace("!mkdir /a\n!mkdir /ab\nr /a f 1\nr /a/b f 2 3\nr /ab f 9\nf /ab f 9\no /a f\n"
                "!set /ab memory.max 1M\n!set /a memory.max 1M\n!set / swappiness 10\n");
    look(&(struct replay_filter_options){.memcg = "/a"}, &seen);
    assert_int_equal(seen.pages, 4);
    assert_int_equal(seen.uses[1] + seen.uses[2] + seen.uses[3] + seen.uses[4], 4);
    /* !mkdir /a, o, !set /a, !set / */
    assert_int_equal(seen.others, 4);
    look(&(struct replay_filter_options){.memcg = "/a/b"}, &seen);
    assert_int_equal(seen.pages, 3);
    assert_int_equal(seen.others, 3); /* of its parents: !mkdir and !set twice */
    look(&(struct replay_filter_options){.memcg = "/"}, &seen);
    assert_int_equal(seen.pages, 5);
}

static void limits_of_the_recording_are_left_out(void **state)
{
    write_trace("!mkdir /a\n!set /a memory.max 256K\n!set /a memory.swap.max 1M\n"
                "!set / swappiness 60\n!age /a 0 200\nr /a f 1\n!evict /a 0 1 60\n");
    look(&(struct replay_filter_options){.without_limits = true}, &seen);
    assert_int_equal(seen.others, 3);
}

/* Either all uses of a page pass or none, requests or single pages; and about as many as asked. */
static void sample_takes_whole_pages(void **state)
{
    char *text = malloc(PAGES * 32u);
    size_t used = 0;
    for (unsigned i = 0; i < PAGES / 100; i++)
        used += (size_t)sprintf(text + used, "r /a f %u 100\n", i * 100);
    for (unsigned i = 0; i < PAGES; i += 2)
        used += (size_t)sprintf(text + used, "r /b f %u\n", i);
    write_trace(text);
    free(text);
    look(&(struct replay_filter_options){.sample = REPLAY_SAMPLE_WHOLE / 10}, &seen);
    unsigned pages = 0;
    for (unsigned i = 0; i < PAGES; i++) {
        if (seen.uses[i] > 0)
            assert_int_equal(seen.uses[i], i % 2 == 0 ? 2 : 1);
        pages += seen.uses[i] > 0;
    }
    /* 2,000 of 20,000 are meant; four times the standard deviation of 42. */
    assert_in_range(pages, 2000 - 170, 2000 + 170);
    look(&(struct replay_filter_options){.sample = REPLAY_SAMPLE_WHOLE}, &other);
    assert_int_equal(other.pages, PAGES + PAGES / 2);
    look(&(struct replay_filter_options){.sample = REPLAY_SAMPLE_WHOLE / 20}, &other);
    for (unsigned i = 0; i < PAGES; i++) /* a smaller sample is part of a larger one */
        if (other.uses[i] > 0)
            assert_true(seen.uses[i] > 0);
}

/* Pages 0..99 twice; the warm-up ends inside the first request, at its end, or in the second. */
static void warmup_ends_at_the_very_access(void **state)
{
    write_trace("@5 r /a f 0 100\n@1000 r /a f 0 100\n@2000 r /a f 0 10\n");
    for (int kernel = 0; kernel < 2; kernel++) {
        static const uint64_t ends[] = {1, 40, 99, 100, 101, 150, 199};
        for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
            struct replay_result result;
            const struct replay_filter_options filter = {.warmup_accesses = ends[i]};
            const struct replay_run run = run_lru(&filter, kernel, &result);
            assert_int_equal(run.figures.accesses, 210);
            assert_int_equal(run.figures.misses, 100);
            assert_int_equal(run.warm.accesses, ends[i]);
            assert_int_equal(run.warm.misses, ends[i] < 100 ? ends[i] : 100);
            replay_result_free(&result);
        }
        struct replay_result result;
        const struct replay_filter_options filter = {.warmup_ns = 1500};
        const struct replay_run run = run_lru(&filter, kernel, &result);
        assert_int_equal(run.warm.accesses, 200);
        replay_result_free(&result);
    }
}

/* Before sampling: the same accesses are left whatever the rate. */
static void warmup_counts_accesses_before_sampling(void **state)
{
    write_trace("r /a f 0 10000\nr /b f 0 5000\nr /a f 0 10000\n");
    const struct replay_filter_options all = {.memcg = "/a", .sample = REPLAY_SAMPLE_WHOLE / 4};
    look(&all, &seen);
    struct replay_filter_options filter = all;
    filter.warmup_accesses = 10000;
    struct replay_result result;
    const struct replay_run run = run_lru(&filter, true, &result);
    assert_int_equal(run.figures.accesses, seen.pages);
    assert_int_equal(run.warm.accesses, seen.pages / 2);
    assert_int_equal(run.warm.misses, run.figures.misses);
    replay_result_free(&result);
}

/* A warm-up longer than the trace never ends: nothing is marked. */
static void warmup_may_never_end(void **state)
{
    write_trace("r /a f 0 10\n");
    struct replay_result result;
    const struct replay_filter_options filter = {.warmup_accesses = 10};
    const struct replay_run run = run_lru(&filter, false, &result);
    assert_int_equal(run.warm.accesses, 0);
    replay_result_free(&result);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memcg_passes_with_what_lies_below),
        cmocka_unit_test(limits_of_the_recording_are_left_out),
        cmocka_unit_test(sample_takes_whole_pages),
        cmocka_unit_test(warmup_ends_at_the_very_access),
        cmocka_unit_test(warmup_counts_accesses_before_sampling),
        cmocka_unit_test(warmup_may_never_end),
    };
    int file = mkstemp(path);
    if (file < 0)
        return 1;
    close(file);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    unlink(path);
    return failed;
}
