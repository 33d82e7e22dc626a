/* SPDX-License-Identifier: MIT */
/*
 * `mglru bench hit`: reads of 64 bytes of 4 KiB pages, Zipf 0.99. Two cases: "resident", where the
 * cache has room for all pages, and "read-through", where it has room for 84 % of them and each
 * miss evicts a page, charges one and brings 4 KiB. Each subject has a cache of its own a case,
 * warmed by reads of the same law; all of them are measured in the same rounds.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mglru/error.h>

#include "base/check.h"
#include "measure/rivals.h"
#include "measure/rows.h"
#include "measure/subjects.h"
#include "measure/zipf.h"

#define PAGE_BYTES 4096u
#define READ_BYTES 64u
#define THETA 0.99
#define THROUGH_PERCENT 84u
/* Reads between two looks at the clock: some microseconds. */
#define BATCH 64u
/* Page numbers that a thread goes through again and again; longer than any cache's memory. */
#define SEQUENCE (1u << 22)
/* Reads before the measurement, as a multiple of the pages. */
#define WARM_FACTOR 8u
#define SUBJECTS_MAX 16u

enum test { RESIDENT, READ_THROUGH, TESTS };
static const char *const test_names[TESTS] = {"resident", "read-through"};

struct player {
    _Alignas(64) uint32_t *sequence;
    uint32_t at;
    char buffer[READ_BYTES];
};

/* One cache that is read. */
struct stage {
    const struct measure_subject *subject;
    enum test test;
    void *state;
    struct player *players; /* of all stages */
};

struct hit {
    const struct measure_options *options;
    struct measure_result *result;
    uint32_t pages;
    char *source;
    const struct measure_subject *subjects[SUBJECTS_MAX];
    unsigned subject_count;
    unsigned jobs_max;
    struct player *players;
    struct stage stages[SUBJECTS_MAX * TESTS];
    unsigned stage_count;
    struct slice_lane *lanes; /* stages x jobs */
    size_t lane_count;
};

/* A batch of reads by one thread. */
static void play(void *state, unsigned thread, struct slice_count *count)
{
    const struct stage *stage = state;
    struct player *player = &stage->players[thread];
    struct measure_reads reads = {.pages = player->sequence + player->at,
                                  .count = BATCH,
                                  .bytes = READ_BYTES,
                                  .buffer = player->buffer};
    count->error = stage->subject->read(stage->state, &reads);
    player->at = (player->at + BATCH) % SEQUENCE;
    count->operations += BATCH;
    count->misses += reads.misses;
}

static uint64_t stage_misses(void *state)
{
    const struct stage *stage = state;
    return stage->subject->misses(stage->state);
}

/* --- setting up ----------------------------------------------------------------------------- */

static int list_subjects(struct hit *hit)
{
    static const struct measure_subject *const own[] = {&measure_ours, &measure_ours_huge,
                                                        &measure_mutex, &measure_control};
    for (size_t i = 0; i < MGLRU_ARRAY_LEN(own); i++)
        hit->subjects[hit->subject_count++] = own[i];
    if (!hit->options->rival)
        return 0;
    const struct measure_subject *rival;
    int error = rivals_load(hit->result, hit->options->rival, &rival);
    for (; !error && rival->variant && hit->subject_count < SUBJECTS_MAX; rival++)
        hit->subjects[hit->subject_count++] = rival;
    return error;
}

static int make_players(struct hit *hit)
{
    struct zipf *zipf = zipf_create(hit->pages, THETA);
    size_t bytes = hit->jobs_max * sizeof(struct player);
    hit->players = aligned_alloc(64, bytes);
    if (!hit->players || !zipf) {
        zipf_destroy(zipf);
        return MGLRU_ENOMEM;
    }
    memset(hit->players, 0, bytes);
    int error = 0;
    for (unsigned i = 0; i < hit->jobs_max && !error; i++) {
        hit->players[i].sequence = malloc(SEQUENCE * sizeof(uint32_t));
        if (hit->players[i].sequence)
            zipf_draw(zipf, (uint64_t)i << 32, hit->players[i].sequence, SEQUENCE);
        else
            error = MGLRU_ENOMEM;
    }
    zipf_destroy(zipf);
    return error;
}

static int make_source(struct hit *hit)
{
    hit->source = malloc((size_t)hit->pages * PAGE_BYTES);
    if (!hit->source)
        return MGLRU_ENOMEM;
    memset(hit->source, 0x5a, (size_t)hit->pages * PAGE_BYTES);
    return 0;
}

/* Reads before anything is measured: every page once where all fit, then as in the measurement. */
static int warm(struct hit *hit, struct stage *stage)
{
    struct slice_count count = {0};
    uint32_t pages[BATCH];
    char buffer[READ_BYTES];
    for (uint32_t at = 0; at < hit->pages && !count.error; at += BATCH) {
        struct measure_reads reads = {.pages = pages, .bytes = READ_BYTES, .buffer = buffer};
        for (; reads.count < BATCH && at + reads.count < hit->pages; reads.count++)
            pages[reads.count] = at + reads.count;
        count.error = stage->subject->read(stage->state, &reads);
    }
    for (uint64_t i = 0; i < (uint64_t)hit->pages * WARM_FACTOR && !count.error; i += BATCH)
        play(stage, 0, &count);
    return count.error;
}

static int make_stage(struct hit *hit, const struct measure_subject *subject, enum test test)
{
    struct stage *stage = &hit->stages[hit->stage_count];
    *stage = (struct stage){.subject = subject, .test = test, .players = hit->players};
    struct measure_setup setup = {
        .page_bytes = PAGE_BYTES, .pages = hit->pages, .source = hit->source};
    setup.memory_bytes = (uint64_t)hit->pages * PAGE_BYTES;
    if (test == READ_THROUGH)
        setup.memory_bytes = setup.memory_bytes / 100 * THROUGH_PERCENT;
    int error = subject->create(&setup, &stage->state);
    if (error)
        return rows_fail(hit->result, error, subject->variant);
    hit->stage_count++;
    error = warm(hit, stage);
    return error ? rows_fail(hit->result, error, subject->variant) : 0;
}

static int make_stages(struct hit *hit)
{
    for (unsigned i = 0; i < hit->subject_count; i++)
        for (unsigned test = 0; test < TESTS; test++) {
            if (hit->subjects[i] == &measure_control && test != RESIDENT)
                continue;
            int error = make_stage(hit, hit->subjects[i], (enum test)test);
            if (error)
                return error;
        }
    return 0;
}

static int make_lanes(struct hit *hit)
{
    const struct measure_options *options = hit->options;
    hit->lane_count = hit->stage_count * options->job_count;
    hit->lanes = calloc(hit->lane_count, sizeof(*hit->lanes));
    if (!hit->lanes)
        return MGLRU_ENOMEM;
    for (size_t i = 0; i < hit->lane_count; i++) {
        /* Neighbours are different caches: none finds its pages in the processor's caches. */
        struct stage *stage = &hit->stages[i % hit->stage_count];
        hit->lanes[i] = (struct slice_lane){.sleeps = stage->subject->sleeps,
                                            .jobs = options->jobs[i / hit->stage_count],
                                            .work = play,
                                            .events = stage->subject->misses ? stage_misses : NULL,
                                            .state = stage};
    }
    return 0;
}

/* --- what came out -------------------------------------------------------------------------- */

/* How much faster than the lane of the first count of threads, run by run. */
static bool add_gain(struct hit *hit, struct row_name name, const struct slice_lane *first,
                     const struct slice_lane *lane)
{
    double values[SLICES_RUNS_MAX];
    for (unsigned i = 0; i < hit->options->runs; i++)
        values[i] = rows_rate(&lane->sums[i]) / rows_rate(&first->sums[i]);
    name.metric = "gain";
    name.unit = "times";
    return rows_add(hit->result, &name, values, hit->options->runs);
}

static bool add_lane(struct hit *hit, size_t i)
{
    unsigned runs = hit->options->runs;
    const struct slice_lane *lane = &hit->lanes[i], *first = &hit->lanes[i % hit->stage_count];
    const struct stage *stage = lane->state;
    struct row_name name = {.test = test_names[stage->test],
                            .variant = stage->subject->variant,
                            .jobs = lane->jobs,
                            .metric = "cpu_per_read",
                            .unit = "ns"};
    bool ok = rows_add_sums(hit->result, &name, lane, runs, rows_cpu_ns);
    name.metric = "rate";
    name.unit = "reads/s";
    ok = ok && rows_add_sums(hit->result, &name, lane, runs, rows_rate);
    if (stage->test == READ_THROUGH) {
        name.metric = "hit_ratio";
        name.unit = "share";
        ok = ok && rows_add_sums(hit->result, &name, lane, runs, rows_hit_ratio);
    }
    return ok && (lane == first || add_gain(hit, name, first, lane));
}

static int measure(struct hit *hit)
{
    const struct measure_options *options = hit->options;
    struct slices_options slices = {.runs = options->runs,
                                    .slices = options->slices,
                                    .slice_ns = options->slice_ns,
                                    .warm_ns = options->slice_ns,
                                    .progress = options->progress,
                                    .context = options->context};
    int error = slices_measure(&slices, hit->lanes, hit->lane_count);
    if (error)
        return rows_fail(hit->result, error, "hit");
    for (size_t i = 0; i < hit->lane_count; i++) {
        struct slice_lane *lane = &hit->lanes[i];
        for (unsigned run = 0; lane->events && run < options->runs; run++)
            rows_take_events(&lane->sums[run]);
        if (!add_lane(hit, i))
            return MGLRU_ENOMEM;
    }
    return 0;
}

static void tear_down(struct hit *hit)
{
    while (hit->stage_count-- > 0)
        hit->stages[hit->stage_count].subject->destroy(hit->stages[hit->stage_count].state);
    for (unsigned i = 0; hit->players && i < hit->jobs_max; i++)
        free(hit->players[i].sequence);
    free(hit->players);
    free(hit->source);
    free(hit->lanes);
}

int measure_hit(const struct measure_options *options, struct measure_result *result)
{
    struct hit hit = {.options = options, .result = result};
    rows_begin(result, "hit");
    hit.pages = (uint32_t)(options->size_bytes / PAGE_BYTES);
    for (size_t i = 0; i < options->job_count; i++)
        hit.jobs_max = options->jobs[i] > hit.jobs_max ? options->jobs[i] : hit.jobs_max;
    int error = list_subjects(&hit);
    if (!error)
        error = make_players(&hit);
    if (!error)
        error = make_source(&hit);
    if (!error)
        error = make_stages(&hit);
    if (!error)
        error = make_lanes(&hit);
    if (!error)
        error = measure(&hit);
    if (error && !result->error[0])
        rows_fail(result, error, "hit");
    tear_down(&hit);
    return error;
}

void measure_free(struct measure_result *result)
{
    free(result->rows);
    for (size_t i = 0; i < result->text_count; i++)
        free(result->texts[i]);
    free(result->texts);
    rivals_unload(result->rival);
    *result = (struct measure_result){0};
}
