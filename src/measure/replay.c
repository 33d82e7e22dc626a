/* SPDX-License-Identifier: MIT */
/*
 * `mglru bench replay`: a trace through the engine and through LRU, in turn: what a simulated
 * access costs. One thread, CPU time of the engine alone, without the reading of the trace.
 */
#include <stdio.h>

#include <mglru/error.h>

#include "base/check.h"
#include "measure/rows.h"
#include "replay/replay.h"

struct variant {
    const char *name;
    const char *policy;
    const char *model;
};

static const struct variant variants[] = {
    {"mglru-7.3", "mglru", "7.3"},
    {"mglru-ours", "mglru", "ours"},
    {"classic-7.3", "classic", "7.3"},
    {"lru", "lru", NULL},
};

struct times {
    double cpu_ns[SLICES_RUNS_MAX]; /* an access */
    double rate[SLICES_RUNS_MAX];
};

static int run_one(const struct measure_options *options, const struct variant *variant,
                   struct measure_result *result, struct times *times, unsigned run)
{
    struct replay_spec spec = {
        .policy = variant->policy, .model = variant->model, .memory_bytes = options->size_bytes};
    if (!variant->model)
        spec.baseline = policy_find(variant->policy);
    spec.classic = variant->model && variant->policy[0] == 'c';
    struct replay_options replay = {.traces = &options->trace,
                                    .trace_count = 1,
                                    .specs = &spec,
                                    .spec_count = 1,
                                    .swappiness = -1,
                                    .workers = 1};
    struct replay_result out;
    struct replay_error error;
    int code = replay_run(&replay, &out, &error);
    if (code) {
        snprintf(result->error, sizeof(result->error), "%.500s", error.text);
        return code;
    }
    double accesses = (double)out.runs[0].figures.accesses, seconds = out.runs[0].seconds;
    replay_result_free(&out);
    if (accesses == 0 || seconds <= 0) {
        snprintf(result->error, sizeof(result->error), "%s: too short to measure", options->trace);
        return MGLRU_EINVAL;
    }
    times->cpu_ns[run] = seconds * 1e9 / accesses;
    times->rate[run] = accesses / seconds;
    return 0;
}

static bool add_rows(struct measure_result *result, const struct variant *variant,
                     struct times *times, unsigned runs)
{
    struct row_name name = {.test = "trace", .variant = variant->name, .jobs = 1};
    name.metric = "cpu_per_access";
    name.unit = "ns";
    if (!rows_add(result, &name, times->cpu_ns, runs))
        return false;
    name.metric = "rate";
    name.unit = "accesses/s";
    return rows_add(result, &name, times->rate, runs);
}

int measure_replay(const struct measure_options *options, struct measure_result *result)
{
    static struct times times[MGLRU_ARRAY_LEN(variants)];
    rows_begin(result, "replay");
    for (unsigned run = 0; run < options->runs; run++) {
        for (size_t i = 0; i < MGLRU_ARRAY_LEN(variants); i++) {
            int error = run_one(options, &variants[i], result, &times[i], run);
            if (error)
                return error;
        }
        if (options->progress)
            options->progress(options->context, run + 1, options->runs);
    }
    for (size_t i = 0; i < MGLRU_ARRAY_LEN(variants); i++)
        if (!add_rows(result, &variants[i], &times[i], options->runs))
            return MGLRU_ENOMEM;
    return 0;
}
