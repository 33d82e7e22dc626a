/* SPDX-License-Identifier: MIT */
/*
 * Layouts beside each other. The clock sees as many CPUs as the machine has; for more, accesses of
 * an instrumented build are counted by the coherence model. Rows of the two are never mixed:
 * `predicted` tells them apart.
 */
#include "measure/layouts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mglru/error.h>

#include "base/check.h"
#include "measure/record.h"
#include "measure/rows.h"

#define BATCH 16u
/* Threads that are recorded, a node; more CPUs repeat them. */
#define RECORDED_JOBS 2u
#define RECORDED_OPERATIONS 1024u
/* Chosen: a transfer between cores of a chip, and between sockets under load. */
#define LATENCY_LEAST_NS 40u
#define LATENCY_MOST_NS 200u
#define OPS_MAX 8000000u
/* Pairs of fields that get rows of their own, the worst first. */
#define PAIRS_SHOWN 4u

/* A pair of fields that a document moved apart. */
struct document_pair {
    const char *document;
    const char *subject;
    const char *const *readers; /* each list ends with NULL */
    const char *const *writers;
};

static const char *const lru_gen_readers[] = {"enabled",      "memcg_gen",  "memcg_seg",
                                              "memcg_linked", "memcg_list", NULL};
static const char *const lru_gen_writers[] = {"evicted[]", "refaulted[]", NULL};
static const char *const node_readers[] = {"reclaim", "memcg", "node", NULL};
static const char *const node_writers[] = {"lru_size[]", NULL};
static const char *const rstat_readers[] = {"stat.rstat.tree",
                                            "stat.rstat.parent",
                                            "stat.rstat.cpu_base",
                                            "stat.rstat.cpu_stride",
                                            "stat.target",
                                            "stat.stride",
                                            NULL};
static const char *const rstat_writers[] = {"stat.rstat.flush_next", NULL};

static const struct document_pair document_pairs[] = {
    {"000", "lruvec", lru_gen_readers, lru_gen_writers},
    {"001", "lruvec", node_readers, node_writers},
    {"004", "memcg", rstat_readers, rstat_writers},
};

/* Fields that are read by all and seldom written. */
static const struct {
    const char *subject;
    const char *fields[24];
} read_mostly[] = {
    {"lruvec",
     {"reclaim", "memcg", "node", "enabled", "max_seq", "min_seq[]", "timestamps[]", "memcg_gen",
      "memcg_seg", "memcg_linked", "memcg_list"}},
    {"memcg",
     {"tree",
      "parent",
      "reclaim",
      "user",
      "serial",
      "depth",
      "id",
      "online",
      "swappiness",
      "oom_group",
      "memory.min",
      "memory.low",
      "memory.high",
      "memory.max",
      "memory.parent",
      "memory.shared",
      "memory.guarded",
      "memory.protection",
      "stat.rstat.tree",
      "stat.rstat.parent",
      "stat.rstat.cpu_base",
      "stat.rstat.cpu_stride",
      "stat.target",
      "stat.stride"}},
    {"reclaim",
     {"model", "aging", "host", "host_context", "tree", "nodes", "page_bytes", "swap_pages",
      "shared", "stat_always", "enabled", "mm_walk", "batches"}},
    {"memcg_tree",
     {"root", "params", "cpus", "nodes", "shared", "stock", "rstat.flush", "rstat.cpus",
      "rstat.lists"}},
};

/* A build at work, for the clock. */
struct lane_state {
    const struct work *work;
    void *state;
};

struct comparison {
    const struct measure_options *options;
    const struct layout_case *what;
    struct measure_result *result;
};

const struct work *work_find(const struct work_build *build, const char *bench, const char *test)
{
    for (const struct work *const *work = build->works; *work; work++)
        if (strcmp((*work)->bench, bench) == 0 && strcmp((*work)->test, test) == 0)
            return *work;
    return NULL;
}

static const struct work_layout *layout_find(const char *name)
{
    for (size_t i = 0; i < work_layout_count; i++)
        if (strcmp(work_layouts[i].name, name) == 0)
            return &work_layouts[i];
    return NULL;
}

/* --- by the clock --------------------------------------------------------------------------- */

static void work_batch(void *state, unsigned thread, struct slice_count *count)
{
    const struct lane_state *lane = state;
    count->error = lane->work->run(lane->state, thread, BATCH, &count->operations);
}

static int make_lane(const struct comparison *comparison, struct slice_lane *lane,
                     struct lane_state *state, const char *layout, unsigned jobs)
{
    const struct layout_case *what = comparison->what;
    const struct work_layout *found = layout_find(layout);
    struct work_setup setup = {what->test, jobs, what->nodes, what->size_bytes};
    if (!found)
        return MGLRU_ENOTSUP;
    state->work = work_find(found->timed, what->bench, what->test);
    MGLRU_ASSERT(state->work);
    *lane = (struct slice_lane){.jobs = jobs, .work = work_batch, .state = state};
    return state->work->create(&setup, &state->state);
}

static bool add_facts(const struct comparison *comparison, const struct slice_lane *lane,
                      const char *layout)
{
    const struct lane_state *state = lane->state;
    struct work_fact facts[WORK_FACTS_MAX];
    size_t count = state->work->facts ? state->work->facts(state->state, facts) : 0;
    struct row_name name = {.test = comparison->what->label, .variant = layout, .jobs = lane->jobs};
    bool ok = true;
    for (size_t i = 0; ok && i < count; i++) {
        name.metric = facts[i].metric;
        name.unit = facts[i].unit;
        ok = rows_add(comparison->result, &name, &facts[i].value, 1);
    }
    return ok;
}

static bool add_rates(const struct comparison *comparison, const struct slice_lane *lanes)
{
    const struct measure_options *options = comparison->options;
    bool ok = true;
    for (size_t i = 0; ok && i < options->layout_count * options->job_count; i++) {
        const struct lane_state *state = lanes[i].state;
        struct row_name name = {.test = comparison->what->label,
                                .variant = options->layouts[i % options->layout_count],
                                .jobs = lanes[i].jobs,
                                .metric = "rate",
                                .unit = state->work->unit};
        ok = rows_add_sums(comparison->result, &name, &lanes[i], options->runs, rows_rate);
        name.metric = "cpu_per_op";
        name.unit = "ns";
        ok = ok &&
             rows_add_sums(comparison->result, &name, &lanes[i], options->runs, rows_cpu_ns) &&
             add_facts(comparison, &lanes[i], name.variant);
    }
    return ok;
}

static int measure_lanes(const struct comparison *comparison, struct slice_lane *lanes,
                         struct lane_state *states)
{
    const struct measure_options *options = comparison->options;
    size_t count = options->layout_count * options->job_count;
    int error = 0;
    for (size_t i = 0; i < count && !error; i++)
        error = make_lane(comparison, &lanes[i], &states[i],
                          options->layouts[i % options->layout_count],
                          options->jobs[i / options->layout_count]);
    struct slices_options slices = {.runs = options->runs,
                                    .slices = options->slices,
                                    .slice_ns = options->slice_ns,
                                    .warm_ns = options->slice_ns / 2,
                                    .progress = options->progress,
                                    .context = options->context};
    if (!error)
        error = slices_measure(&slices, lanes, count);
    return error || add_rates(comparison, lanes) ? error : MGLRU_ENOMEM;
}

static int measure_case(const struct comparison *comparison)
{
    size_t count = comparison->options->layout_count * comparison->options->job_count;
    struct slice_lane *lanes = calloc(count, sizeof(*lanes));
    struct lane_state *states = calloc(count, sizeof(*states));
    int error = lanes && states ? measure_lanes(comparison, lanes, states) : MGLRU_ENOMEM;
    for (size_t i = 0; states && i < count; i++)
        if (states[i].state)
            states[i].work->destroy(states[i].state);
    free(lanes);
    free(states);
    return error;
}

/* --- by the model --------------------------------------------------------------------------- */

static bool in_list(const char *const *list, size_t most, const char *name)
{
    for (size_t i = 0; i < most && list[i]; i++)
        if (strcmp(list[i], name) == 0)
            return true;
    return false;
}

static double count_pairs(const struct coherence_prediction *prediction,
                          const struct document_pair *document)
{
    double count = 0;
    for (size_t i = 0; i < prediction->blame.count; i++) {
        const struct coherence_pair *pair = &prediction->blame.pairs[i];
        bool in_vain =
            pair->verdict == COHERENCE_PAIR_FALSE || pair->verdict == COHERENCE_PAIR_ARRAY;
        if (in_vain && strcmp(pair->subject, document->subject) == 0 &&
            in_list(document->readers, SIZE_MAX, pair->reader) &&
            in_list(document->writers, SIZE_MAX, pair->writer))
            count += (double)pair->count;
    }
    return count;
}

double layouts_count_document(const struct coherence_prediction *prediction, const char *document)
{
    for (size_t i = 0; i < MGLRU_ARRAY_LEN(document_pairs); i++)
        if (strcmp(document_pairs[i].document, document) == 0)
            return count_pairs(prediction, &document_pairs[i]);
    return 0;
}

static bool is_read_mostly(const char *subject, const char *field)
{
    for (size_t s = 0; s < MGLRU_ARRAY_LEN(read_mostly); s++)
        if (strcmp(subject, read_mostly[s].subject) == 0 &&
            in_list(read_mostly[s].fields, MGLRU_ARRAY_LEN(read_mostly[s].fields), field))
            return true;
    return false;
}

double layouts_count_read_mostly(const struct coherence_prediction *prediction)
{
    double count = 0;
    for (size_t i = 0; i < prediction->blame.count; i++) {
        const struct coherence_pair *pair = &prediction->blame.pairs[i];
        if (pair->verdict != COHERENCE_PAIR_TRUE && is_read_mostly(pair->subject, pair->reader) &&
            !is_read_mostly(pair->subject, pair->writer))
            count += (double)pair->count;
    }
    return count;
}

static bool add_pairs(const struct comparison *comparison, struct row_name *name,
                      const struct coherence_prediction *prediction, double operations)
{
    bool ok = true;
    for (size_t i = 0; ok && i < prediction->blame.count && i < PAIRS_SHOWN; i++) {
        const struct coherence_pair *pair = &prediction->blame.pairs[i];
        name->metric = rows_text(comparison->result, "%s: %s x %s (%s)", pair->subject,
                                 pair->reader, pair->writer, coherence_verdict_name(pair->verdict));
        ok = name->metric && rows_add_predicted(comparison->result, name, prediction->cpus,
                                                (double)pair->count / operations);
    }
    return ok;
}

static bool add_prediction(const struct comparison *comparison, const char *layout,
                           const struct coherence_prediction *prediction)
{
    struct measure_result *result = comparison->result;
    unsigned cpus = prediction->cpus;
    double operations = prediction->operations ? (double)prediction->operations : 1;
    struct row_name name = {.test = comparison->what->label,
                            .variant = layout,
                            .jobs = cpus,
                            .metric = "misses",
                            .unit = "misses/op"};
    bool ok = rows_add_predicted(result, &name, cpus, prediction->misses_per_op);
    name.metric = "the document's pairs";
    ok = ok && rows_add_predicted(result, &name, cpus,
                                  layouts_count_document(prediction, comparison->what->document) /
                                      operations);
    name.metric = "read-mostly fields, by other writes";
    ok = ok &&
         rows_add_predicted(result, &name, cpus,
                            layouts_count_read_mostly(prediction) / operations) &&
         add_pairs(comparison, &name, prediction, operations);
    name.unit = "times";
    name.metric = "slowdown at 40 ns";
    ok = ok && rows_add_predicted(result, &name, cpus, prediction->slowdown[0]);
    name.metric = "slowdown at 200 ns";
    return ok && rows_add_predicted(result, &name, cpus, prediction->slowdown[1]);
}

static int predict_recording(const struct comparison *comparison, const char *layout,
                             const struct recording *recording)
{
    const struct measure_options *options = comparison->options;
    struct coherence_subjects subjects = {recording->objects, recording->object_count};
    int error = 0;
    for (size_t i = 0; i < options->cpu_count && !error; i++) {
        struct coherence_wish wish = {
            options->cpus[i], {LATENCY_LEAST_NS, LATENCY_MOST_NS}, OPS_MAX, true};
        struct coherence_prediction prediction;
        error = coherence_predict(&recording->trace, &subjects, &wish, &prediction);
        if (!error && !add_prediction(comparison, layout, &prediction))
            error = MGLRU_ENOMEM;
        coherence_prediction_free(&prediction);
    }
    return error;
}

static int predict_layout(const struct comparison *comparison, const char *name)
{
    const struct layout_case *what = comparison->what;
    const struct work_layout *layout = layout_find(name);
    struct record_wish wish = {
        .setup = {what->test, RECORDED_JOBS * what->nodes, what->nodes, what->record_size_bytes},
        .operations = RECORDED_OPERATIONS,
        .warm = what->record_warm,
    };
    struct recording *recording = malloc(sizeof(*recording));
    if (!layout)
        return MGLRU_ENOTSUP;
    if (!recording)
        return MGLRU_ENOMEM;
    int error = record_work(layout->recorded, work_find(layout->recorded, what->bench, what->test),
                            &wish, recording);
    if (!error)
        error = predict_recording(comparison, name, recording);
    recording_free(recording);
    free(recording);
    return error;
}

int layouts_measure(const struct measure_options *options, const struct layout_case *what,
                    struct measure_result *result)
{
    struct comparison comparison = {options, what, result};
    int error = 0;
    if (work_layout_count == 0) {
        snprintf(result->error, sizeof(result->error),
                 "%s: this build has no layouts to compare (meson option \"layouts\")",
                 what->bench);
        return MGLRU_ENOTSUP;
    }
    if (options->runs > 0)
        error = measure_case(&comparison);
    for (size_t i = 0; i < options->layout_count && !error; i++)
        error = predict_layout(&comparison, options->layouts[i]);
    if (error && !result->error[0])
        rows_fail(result, error, what->label);
    return error;
}
