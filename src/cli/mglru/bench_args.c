/* SPDX-License-Identifier: MIT */
/* Reads the command line of `mglru bench`; each benchmark has its own default of --size. */
#include "cli/mglru/bench_args.h"
#include "cli/mglru/values.h"

#include <string.h>

#include "base/check.h"
#include "measure/slices.h"

#define RUNS_DEFAULT 7
#define SLICES_DEFAULT 25
#define SLICES_MAX 10000
#define SLICE_NS_DEFAULT UINT64_C(10000000)
#define SLICE_NS_MIN UINT64_C(100000)
#define SLICE_NS_MAX UINT64_C(1000000000)
#define SIZE_MIN (UINT64_C(1) << 20)

enum option_id {
    OPTION_HELP,
    OPTION_JOBS,
    OPTION_RUNS,
    OPTION_SLICES,
    OPTION_SLICE,
    OPTION_SIZE,
    OPTION_RIVAL,
    OPTION_JSON,
    OPTION_QUIET,
    OPTION_NO_PROGRESS
};

static const struct args_option options[] = {
    {"--help", false, OPTION_HELP},
    {"-h", false, OPTION_HELP},
    {"--jobs", true, OPTION_JOBS},
    {"--runs", true, OPTION_RUNS},
    {"--slices", true, OPTION_SLICES},
    {"--slice", true, OPTION_SLICE},
    {"--size", true, OPTION_SIZE},
    {"--rival", true, OPTION_RIVAL},
    {"--json", true, OPTION_JSON},
    {"--quiet", false, OPTION_QUIET},
    {"--no-progress", false, OPTION_NO_PROGRESS},
    {NULL, false, 0},
};

/* The benchmarks; size_max: so that page numbers have 32 bits, or that nothing overflows. */
static const struct bench {
    const char *name;
    int (*measure)(const struct measure_options *options, struct measure_result *result);
    uint64_t size_default;
    uint64_t size_max;
} benches[] = {
    {"hit", measure_hit, UINT64_C(256) << 20, UINT64_C(1) << 40},
    {"refault", measure_refault, UINT64_C(3) << 30, UINT64_C(1) << 40},
    {"replay", measure_replay, UINT64_C(4096000), UINT64_C(1) << 50},
};

static bool parse_count(unsigned *out, const char *option, const char *text, unsigned most,
                        struct args_error *error)
{
    uint64_t value;
    if (!args_number(text, &value) || value < 1 || value > most)
        return args_fail(error, "%s %s: expected a number from 1 to %u", option, text, most);
    *out = (unsigned)value;
    return true;
}

static bool parse_jobs(struct measure_options *out, const char *text, struct args_error *error)
{
    struct args_list list;
    if (!args_list_split(&list, text))
        return args_fail(error, "--jobs: out of memory");
    bool ok = list.count <= MEASURE_JOBS_MAX ||
              args_fail(error, "--jobs %s: at most %d numbers", text, MEASURE_JOBS_MAX);
    out->job_count = 0;
    for (size_t i = 0; ok && i < list.count; i++)
        ok = parse_count(&out->jobs[out->job_count++], "--jobs", list.items[i], SLICES_JOBS_MAX,
                         error);
    args_list_free(&list);
    return ok;
}

static bool parse_option(struct bench_args *args, int id, const char *value,
                         struct args_error *error)
{
    struct measure_options *out = &args->options;
    switch (id) {
    case OPTION_JOBS:
        return parse_jobs(out, value, error);
    case OPTION_RUNS:
        return parse_count(&out->runs, "--runs", value, SLICES_RUNS_MAX, error);
    case OPTION_SLICES:
        return parse_count(&out->slices, "--slices", value, SLICES_MAX, error);
    case OPTION_SLICE:
        return (args_duration(value, &out->slice_ns) && out->slice_ns >= SLICE_NS_MIN &&
                out->slice_ns <= SLICE_NS_MAX) ||
               args_fail(error, "--slice %s: expected a time from 100us to 1s", value);
    case OPTION_SIZE:
        return (args_size(value, &out->size_bytes) && out->size_bytes >= SIZE_MIN) ||
               args_fail(error, "--size %s: expected a size of at least 1M", value);
    case OPTION_RIVAL:
        out->rival = value;
        return true;
    case OPTION_JSON:
        args->json = value;
        return true;
    case OPTION_QUIET:
        args->quiet = true;
        return true;
    default:
        args->no_progress = true;
        return true;
    }
}

static bool parse_all(struct bench_args *args, int argc, char **argv, struct args_error *error)
{
    struct args line = {.argc = argc, .argv = argv, .next = 1};
    for (;;) {
        const char *value;
        int id = args_next(&line, options, &value);
        switch (id) {
        case ARGS_END:
            return true;
        case ARGS_PLAIN:
            if (args->options.trace)
                return args_fail(error, "unexpected argument %s", value);
            if (args->name)
                args->options.trace = value;
            else
                args->name = value;
            break;
        case OPTION_HELP:
            args->help = true;
            return true;
        default:
            if (args_refused(id, value, "mglru bench", error) ||
                !parse_option(args, id, value, error))
                return false;
        }
    }
}

/* The benchmark's own values and needs. */
static bool settle(struct bench_args *args, struct args_error *error)
{
    const struct bench *bench = NULL;
    if (!args->name)
        return args_fail(error, "no benchmark was named: hit, refault or replay");
    for (size_t i = 0; i < MGLRU_ARRAY_LEN(benches); i++)
        if (strcmp(args->name, benches[i].name) == 0)
            bench = &benches[i];
    if (!bench)
        return args_fail(error, "no benchmark is named '%s': hit, refault or replay", args->name);
    bool replay = bench->measure == measure_replay;
    if (replay && !args->options.trace)
        return args_fail(error, "replay needs a trace");
    if (!replay && args->options.trace)
        return args_fail(error, "unexpected argument %s", args->options.trace);
    if (args->options.rival && bench->measure != measure_hit)
        return args_fail(error, "--rival: only hit has rivals");
    if (!args->options.size_bytes)
        args->options.size_bytes = bench->size_default;
    if (args->options.size_bytes > bench->size_max)
        return args_fail(error, "--size: larger than %s can measure", bench->name);
    args->measure = bench->measure;
    return true;
}

bool bench_args_parse(struct bench_args *args, int argc, char **argv, struct args_error *error)
{
    *args = (struct bench_args){.options = {.jobs = {1, 2},
                                            .job_count = 2,
                                            .runs = RUNS_DEFAULT,
                                            .slices = SLICES_DEFAULT,
                                            .slice_ns = SLICE_NS_DEFAULT}};
    return parse_all(args, argc, argv, error) && (args->help || settle(args, error));
}
