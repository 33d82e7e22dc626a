/* SPDX-License-Identifier: MIT */
/* Reads the command line of `mglru bench`; each benchmark has its own default of --size. */
#include "cli/mglru/bench_args.h"
#include "cli/mglru/values.h"

#include <string.h>

#include "base/check.h"
#include "coherence/model.h"
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
    OPTION_LAYOUT,
    OPTION_CPUS,
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
    {"--layout", true, OPTION_LAYOUT},
    {"--cpus", true, OPTION_CPUS},
    {"--json", true, OPTION_JSON},
    {"--quiet", false, OPTION_QUIET},
    {"--no-progress", false, OPTION_NO_PROGRESS},
    {NULL, false, 0},
};

/* Whether a benchmark compares layouts of the hot structs. */
enum layouts { LAYOUTS_NEVER, LAYOUTS_IF_ASKED, LAYOUTS_ALWAYS };

/* The benchmarks; size_max: so that page numbers have 32 bits, or that nothing overflows. */
static const struct bench {
    const char *name;
    int (*measure)(const struct measure_options *options, struct measure_result *result);
    uint64_t size_default;
    uint64_t size_max;
    enum layouts layouts;
} benches[] = {
    {"hit", measure_hit, UINT64_C(256) << 20, UINT64_C(1) << 40, LAYOUTS_NEVER},
    {"refault", measure_refault, UINT64_C(3) << 30, UINT64_C(1) << 40, LAYOUTS_IF_ASKED},
    {"fault", measure_fault, UINT64_C(128) << 20, UINT64_C(1) << 34, LAYOUTS_ALWAYS},
    {"fallocate", measure_fallocate, UINT64_C(1) << 20, UINT64_C(1) << 34, LAYOUTS_ALWAYS},
    {"rstat", measure_rstat, UINT64_C(1) << 20, UINT64_C(1) << 34, LAYOUTS_ALWAYS},
    {"aging", measure_aging, UINT64_C(512) << 20, UINT64_C(1) << 34, LAYOUTS_NEVER},
    {"replay", measure_replay, UINT64_C(4096000), UINT64_C(1) << 50, LAYOUTS_NEVER},
};

#define BENCH_NAMES "hit, refault, fault, fallocate, rstat, aging or replay"

static const char *const layout_names[] = {"before", "after", "ours"};

/* A list of numbers from 1 to @most. */
struct numbers {
    const char *option;
    size_t room;
    unsigned most;
};
static const struct numbers numbers_jobs = {"--jobs", MEASURE_JOBS_MAX, SLICES_JOBS_MAX};
static const struct numbers numbers_cpus = {"--cpus", MEASURE_CPUS_MAX, COHERENCE_CPUS_MAX};

static bool parse_count(unsigned *out, const char *option, const char *text, unsigned most,
                        struct args_error *error)
{
    uint64_t value;
    if (!args_number(text, &value) || value < 1 || value > most)
        return args_fail(error, "%s %s: expected a number from 1 to %u", option, text, most);
    *out = (unsigned)value;
    return true;
}

/* "1,2": at most @room numbers. */
static bool parse_counts(unsigned *out, size_t *count, struct numbers wanted, const char *text,
                         struct args_error *error)
{
    struct args_list list;
    if (!args_list_split(&list, text))
        return args_fail(error, "%s: out of memory", wanted.option);
    bool ok = list.count <= wanted.room ||
              args_fail(error, "%s %s: at most %zu numbers", wanted.option, text, wanted.room);
    *count = 0;
    for (size_t i = 0; ok && i < list.count; i++)
        ok = parse_count(&out[(*count)++], wanted.option, list.items[i], wanted.most, error);
    args_list_free(&list);
    return ok;
}

static bool parse_layouts(struct measure_options *out, const char *text, struct args_error *error)
{
    struct args_list list;
    if (!args_list_split(&list, text))
        return args_fail(error, "--layout: out of memory");
    bool ok = list.count <= MEASURE_LAYOUTS_MAX ||
              args_fail(error, "--layout %s: at most %d of them", text, MEASURE_LAYOUTS_MAX);
    out->layout_count = 0;
    for (size_t i = 0; ok && i < list.count; i++) {
        const char *found = NULL;
        for (size_t k = 0; k < MGLRU_ARRAY_LEN(layout_names); k++)
            if (strcmp(list.items[i], layout_names[k]) == 0)
                found = layout_names[k];
        ok =
            found || args_fail(error, "--layout %s: expected before, after or ours", list.items[i]);
        out->layouts[out->layout_count++] = found;
    }
    args_list_free(&list);
    return ok;
}

static bool parse_option(struct bench_args *args, int id, const char *value,
                         struct args_error *error)
{
    struct measure_options *out = &args->options;
    switch (id) {
    case OPTION_JOBS:
        return parse_counts(out->jobs, &out->job_count, numbers_jobs, value, error);
    case OPTION_CPUS:
        return parse_counts(out->cpus, &out->cpu_count, numbers_cpus, value, error);
    case OPTION_LAYOUT:
        return parse_layouts(out, value, error);
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

/* All layouts, and the numbers of CPUs of documents 000 and 001, unless others were named. */
static bool settle_layouts(struct bench_args *args, enum layouts layouts, struct args_error *error)
{
    static const unsigned cpus[] = {1, 8, 16, 24, 52, 80};
    struct measure_options *out = &args->options;
    bool asked = out->layout_count || out->cpu_count;
    if (layouts == LAYOUTS_NEVER || (layouts == LAYOUTS_IF_ASKED && !asked))
        return !asked || args_fail(error, "--layout, --cpus: %s compares no layouts", args->name);
    for (size_t i = 0; !out->layout_count && i < MGLRU_ARRAY_LEN(layout_names); i++)
        out->layouts[i] = layout_names[i];
    if (!out->layout_count)
        out->layout_count = MGLRU_ARRAY_LEN(layout_names);
    if (!out->cpu_count) {
        memcpy(out->cpus, cpus, sizeof(cpus));
        out->cpu_count = MGLRU_ARRAY_LEN(cpus);
    }
    return true;
}

/* The benchmark's own values and needs. */
static bool settle(struct bench_args *args, struct args_error *error)
{
    const struct bench *bench = NULL;
    if (!args->name)
        return args_fail(error, "no benchmark was named: " BENCH_NAMES);
    for (size_t i = 0; i < MGLRU_ARRAY_LEN(benches); i++)
        if (strcmp(args->name, benches[i].name) == 0)
            bench = &benches[i];
    if (!bench)
        return args_fail(error, "no benchmark is named '%s': " BENCH_NAMES, args->name);
    bool replay = bench->measure == measure_replay;
    if (replay && !args->options.trace)
        return args_fail(error, "replay needs a trace");
    if (!replay && args->options.trace)
        return args_fail(error, "unexpected argument %s", args->options.trace);
    if (args->options.rival && bench->measure != measure_hit)
        return args_fail(error, "--rival: only hit has rivals");
    if (!settle_layouts(args, bench->layouts, error))
        return false;
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
