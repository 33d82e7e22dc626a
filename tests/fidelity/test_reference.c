/* SPDX-License-Identifier: MIT */
/*
 * Goal: the reference (../model/ref_kernel.h) that unit tests hold the engine against does what
 * kernels did.
 * Method: it replays fixtures of recordings and must match the recorded miss vectors within the
 * bounds of the engine.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bounds.h"
#include "model/ref_kernel.h"
#include "recording.h"
#include "schedule.h"

struct replay {
    struct ref *ref;
    const struct recording *recording;
    const struct schedule *schedule; /* of the flushes of statistics */
    uint64_t next_flush_ns;
    uint64_t done[RECORDING_PARTS], misses[RECORDING_PARTS], differing[RECORDING_PARTS];
};

static int ignore_mkdir(void *context, const char *path)
{
    return 0;
}

static int ignore_set(void *context, const char *path, const char *name, const char *value)
{
    return 0;
}

static int ignore_lru_gen(void *context, const char *name, const char *value)
{
    return 0;
}

static void flush_by_time(struct replay *replay, uint64_t now_ns)
{
    now_ns += replay->schedule->offset_ns;
    if (now_ns < replay->next_flush_ns)
        return;
    uint64_t period = replay->schedule->period;
    replay->next_flush_ns = now_ns / period * period + period;
    ref_flush(replay->ref);
}

static int on_sample(void *context, size_t number, uint64_t now_ns)
{
    struct replay *replay = context;
    flush_by_time(replay, now_ns);
    ref_flush(replay->ref);
    return 0;
}

static int on_access(void *context, const struct script_access *list, size_t count, uint64_t now_ns)
{
    static const enum ref_access kinds[] = {
        [MGLRU_READ] = REF_READ, [MGLRU_MAP_READ] = REF_MAP, [MGLRU_TOUCH] = REF_TOUCH};
    struct replay *replay = context;
    flush_by_time(replay, now_ns);
    for (size_t i = 0; i < count; i++) {
        const struct recording_part *part = &replay->recording->part[list[i].part];
        uint64_t at = replay->done[list[i].part]++;
        enum ref_result result = ref_access(replay->ref, kinds[list[i].kind], (int)list[i].page);
        assert_int_not_equal(result, REF_OOM);
        assert_non_null(part->bits);
        bool missed = part->bits[at / 8] >> (at % 8) & 1;
        replay->misses[list[i].part] += result == REF_MISS;
        replay->differing[list[i].part] += missed != (result == REF_MISS);
    }
    return 0;
}

static struct ref_options options_of(const struct recording *recording, const struct script *script)
{
    const struct scenario *scenario = &recording->scenario;
    struct ref_options options = {
        .model = strcmp(recording->kernel, "6.12") == 0 ? REF_612 : REF_73,
        .classic = strcmp(recording->mode, "classic") == 0,
        .no_walk = strcmp(recording->mode, "mglru_nowalk") == 0,
        .limit = (long)scenario->max_kb / 4,
        .swap_size = scenario->swap ? (long)(scenario->swap_mb << 8) : 0,
        .swappiness = (int)scenario->swappiness,
        .kernel_charge = true,
        .start_batch = 23,
        .start_tables = scenario->family != FAMILY_MMAP,
        .flush_accesses = LONG_MAX,
    };
    for (unsigned i = 0; i < script_objects(script); i++) {
        int pages = (int)script_object_pages(script, i);
        if (script_object_kind(script, i) == MGLRU_ANON)
            options.anon_size = pages;
        else
            options.file_size = pages;
    }
    return options;
}

/* A figure of the recording: a part, or past them the sum. Counts the bounds in *bounds. */
static void judge_figure(const struct replay *replay, size_t figure, unsigned *bounds)
{
    const struct recording *recording = replay->recording;
    const struct recording_part *part = &recording->part[figure];
    struct bound bound =
        bound_find(recording->kernel, recording->name, recording->mode, part->what);
    bool sum = figure == recording->parts;
    uint64_t misses = sum ? replay->misses[0] + replay->misses[1] : replay->misses[figure];
    print_message("%s %s %s %s: kernel %llu, reference %llu, differing %llu\n", recording->kernel,
                  recording->name, recording->mode, part->what, (unsigned long long)part->misses,
                  (unsigned long long)misses, (unsigned long long)replay->differing[figure]);
    if (!sum)
        assert_int_equal(replay->done[figure], part->bit_count);
    if (bound.kind == BOUND_NONE)
        return;
    assert_int_equal(bound.kind, BOUND_PERCENT);
    assert_true(bound_holds(&bound, part->misses, misses, 0, 0));
    if (bound.differing_percent > 0)
        assert_true(100.0 * (double)replay->differing[figure] <=
                    bound.differing_percent * (double)part->bit_count);
    ++*bounds;
}

static void replay_recording(const struct recording *recording)
{
    struct script script;
    struct replay replay = {.recording = recording};
    assert_int_equal(script_init(&script, &recording->scenario, &recording->clock,
                                 recording_mode_enabled(recording->mode)),
                     0);
    struct ref_options options = options_of(recording, &script);
    replay.schedule = schedule_stated(recording->kernel);
    replay.next_flush_ns = replay.schedule->period;
    replay.ref = ref_create(&options);
    assert_non_null(replay.ref);
    struct script_sink sink = {.context = &replay,
                               .mkdir = ignore_mkdir,
                               .set = ignore_set,
                               .lru_gen = ignore_lru_gen,
                               .access = on_access,
                               .sample = on_sample};
    assert_int_equal(script_run(&script, &sink), 0);
    unsigned bounds = 0;
    for (size_t figure = 0; figure < recording->figures; figure++)
        judge_figure(&replay, figure, &bounds);
    assert_int_not_equal(bounds, 0);
    ref_destroy(replay.ref);
    script_free(&script);
}

/* The run of one mode, whose misses must have been recorded one by one. */
static void replay_mode(const char *name, const char *mode)
{
    char path[4096], error[ORACLE_ERROR_BYTES];
    struct oracle_file file;
    snprintf(path, sizeof(path), "%s/%s.json", getenv("MGLRU_FIXTURES"), name);
    assert_int_equal(oracle_load(path, &file, error), 0);
    unsigned found = 0;
    for (size_t i = 0; i < file.mode_count; i++) {
        if (strcmp(file.modes[i].mode, mode) != 0)
            continue;
        replay_recording(&file.modes[i]);
        found++;
    }
    assert_int_equal(found, 1);
    oracle_free(&file);
}

static void test_reads_of_612(void **state)
{
    replay_mode("6.12/pread_zipf10", "mglru");
}

static void test_reads_of_73(void **state)
{
    replay_mode("7.3/pread_shift", "mglru");
}

static void test_reads_of_classic_612(void **state)
{
    replay_mode("6.12/pread_shift", "classic");
}

static void test_reads_of_classic_73(void **state)
{
    replay_mode("7.3/pread_zipf10", "classic");
}

static void test_mapped_file_of_612(void **state)
{
    replay_mode("6.12/mmap_zipf10", "mglru");
}

static void test_mapped_file_without_walks(void **state)
{
    replay_mode("6.12/mmap_zipf10", "mglru_nowalk");
}

static void test_mapped_file_of_73(void **state)
{
    replay_mode("7.3/mmap_zipf10", "mglru");
}

static void test_anonymous_memory_of_73(void **state)
{
    replay_mode("7.3/anon_hotscan_sw60", "mglru");
}

static void test_types_compete_in_612(void **state)
{
    replay_mode("6.12/mixed_sw60", "mglru");
}

static void test_types_compete_in_classic_73(void **state)
{
    replay_mode("7.3/mixed_sw60", "classic");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reads_of_612),
        cmocka_unit_test(test_reads_of_73),
        cmocka_unit_test(test_reads_of_classic_612),
        cmocka_unit_test(test_reads_of_classic_73),
        cmocka_unit_test(test_mapped_file_of_612),
        cmocka_unit_test(test_mapped_file_without_walks),
        cmocka_unit_test(test_mapped_file_of_73),
        cmocka_unit_test(test_anonymous_memory_of_73),
        cmocka_unit_test(test_types_compete_in_612),
        cmocka_unit_test(test_types_compete_in_classic_73),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
