/* SPDX-License-Identifier: MIT */
/* The options of `mglru replay`, one by one; replay_runs.c checks what they mean together. */
#include "cli/mglru/replay_args.h"
#include "cli/mglru/values.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CURVE_SIZES 12 /* of A..B */
#define SIZE_STEP 4096

enum option_id {
    OPTION_HELP,
    OPTION_FORMAT,
    OPTION_COLUMNS,
    OPTION_MEMORY,
    OPTION_POLICY,
    OPTION_MODEL,
    OPTION_AGING,
    OPTION_SWAP,
    OPTION_SWAPPINESS,
    OPTION_KERNEL_CHARGE,
    OPTION_READAHEAD,
    OPTION_STAT_FLUSH,
    OPTION_EVERY,
    OPTION_EXPLAIN,
    OPTION_MISS_BITS,
    OPTION_WRITE_NATIVE,
    OPTION_JSON,
    OPTION_CSV,
    OPTION_PLOT,
    OPTION_SHARD,
    OPTION_QUIET,
    OPTION_NO_PROGRESS
};

static const struct args_option options[] = {
    {"--help", false, OPTION_HELP},
    {"-h", false, OPTION_HELP},
    {"--format", true, OPTION_FORMAT},
    {"--columns", true, OPTION_COLUMNS},
    {"--memory", true, OPTION_MEMORY},
    {"--policy", true, OPTION_POLICY},
    {"--model", true, OPTION_MODEL},
    {"--aging", true, OPTION_AGING},
    {"--swap", true, OPTION_SWAP},
    {"--swappiness", true, OPTION_SWAPPINESS},
    {"--kernel-charge", true, OPTION_KERNEL_CHARGE},
    {"--readahead", true, OPTION_READAHEAD},
    {"--stat-flush", true, OPTION_STAT_FLUSH},
    {"--every", true, OPTION_EVERY},
    {"--explain", false, OPTION_EXPLAIN},
    {"--miss-bits", true, OPTION_MISS_BITS},
    {"--write-native", true, OPTION_WRITE_NATIVE},
    {"--json", true, OPTION_JSON},
    {"--csv", true, OPTION_CSV},
    {"--plot", true, OPTION_PLOT},
    {"--shard", true, OPTION_SHARD},
    {"--quiet", false, OPTION_QUIET},
    {"--no-progress", false, OPTION_NO_PROGRESS},
    {NULL, false, 0},
};

static bool parse_one_size(const char *text, uint64_t *bytes, struct args_error *error)
{
    if (!args_size(text, bytes))
        return args_fail(error, "--memory: '%s' is no size: %s", text, values_size_expected);
    if (*bytes == 0)
        return args_fail(error, "--memory: the size must not be 0");
    return true;
}

static int compare_sizes(const void *a, const void *b)
{
    uint64_t left = *(const uint64_t *)a;
    uint64_t right = *(const uint64_t *)b;
    return (left > right) - (left < right);
}

/* A..B: geometric steps, rounded to pages; both ends exact. */
static bool parse_range(struct replay_args *args, const char *text, struct args_error *error)
{
    const char *dots = strstr(text, "..");
    char from_text[32];
    snprintf(from_text, sizeof(from_text), "%.*s", (int)(dots - text), text);
    uint64_t from;
    uint64_t until;
    if (!parse_one_size(from_text, &from, error) || !parse_one_size(dots + 2, &until, error))
        return false;
    if (from > until)
        return args_fail(
            error, "--memory %s: the range runs backwards: the smaller size comes first", text);
    args->sizes = calloc(CURVE_SIZES, sizeof(*args->sizes));
    if (args->sizes == NULL)
        return args_fail(error, "out of memory");
    for (int i = 0; i < CURVE_SIZES; i++) {
        double exact = (double)from * pow((double)until / (double)from, i / (CURVE_SIZES - 1.0));
        uint64_t size = i == 0                 ? from
                        : i == CURVE_SIZES - 1 ? until
                                               : (uint64_t)(exact / SIZE_STEP + 0.5) * SIZE_STEP;
        if (args->size_count == 0 || size > args->sizes[args->size_count - 1])
            args->sizes[args->size_count++] = size;
    }
    return true;
}

static bool parse_memory(struct replay_args *args, const char *text, struct args_error *error)
{
    if (args->sizes != NULL)
        return args_fail(error, "--memory was given twice: give a list, as in 256M,512M");
    if (strstr(text, "..") != NULL && strchr(text, ',') == NULL)
        return parse_range(args, text, error);
    struct args_list list;
    if (!args_list_split(&list, text))
        return args_fail(error, "out of memory");
    bool good = true;
    args->sizes = calloc(list.count, sizeof(*args->sizes));
    if (args->sizes == NULL)
        good = args_fail(error, "out of memory");
    if (list.count > REPLAY_SIZES_MAX)
        good = args_fail(error, "--memory: more than %d sizes", REPLAY_SIZES_MAX);
    for (size_t i = 0; i < list.count && good; i++)
        good = parse_one_size(list.items[i], &args->sizes[args->size_count++], error);
    args_list_free(&list);
    if (!good)
        return false;
    qsort(args->sizes, args->size_count, sizeof(*args->sizes), compare_sizes);
    for (size_t i = 1; i < args->size_count; i++)
        if (args->sizes[i] == args->sizes[i - 1])
            return args_fail(error, "--memory %s: a size was given twice", text);
    return true;
}

static bool parse_swappiness(struct replay_args *args, const char *text, struct args_error *error)
{
    uint64_t value;
    if (!args_number(text, &value) || value > 200)
        return args_fail(error, "--swappiness: '%s' is not in 0..200", text);
    args->swappiness = (int)value;
    return true;
}

static bool parse_kernel_charge(struct replay_args *args, const char *text,
                                struct args_error *error)
{
    if (strcmp(text, "auto") == 0) {
        args->kernel_charge = MGLRU_KERNEL_CHARGE_AUTO;
        return true;
    }
    if (!args_size(text, &args->kernel_charge_bytes))
        return args_fail(error, "--kernel-charge: '%s' is none of auto, 0 and a size: %s", text,
                         values_size_expected);
    args->kernel_charge =
        args->kernel_charge_bytes == 0 ? MGLRU_KERNEL_CHARGE_NONE : MGLRU_KERNEL_CHARGE_FIXED;
    return true;
}

static bool parse_stat_flush(struct replay_args *args, const char *text, struct args_error *error)
{
    args->has_stat_flush = true;
    snprintf(args->stat_flush_text, sizeof(args->stat_flush_text), "%.40s", text);
    if (strcmp(text, "always") == 0) {
        args->stat_flush = MGLRU_STAT_FLUSH_ALWAYS;
        return true;
    }
    if (args_number(text, &args->stat_flush_period) && args->stat_flush_period > 0) {
        args->stat_flush = MGLRU_STAT_FLUSH_ACCESSES;
        snprintf(args->stat_flush_text, sizeof(args->stat_flush_text), "%" PRIu64 " accesses",
                 args->stat_flush_period);
        return true;
    }
    if (args_duration(text, &args->stat_flush_period) && args->stat_flush_period > 0) {
        args->stat_flush = MGLRU_STAT_FLUSH_TIME;
        return true;
    }
    return args_fail(error,
                     "--stat-flush: '%s' is none of always, a time such as 2s or 500ms, and a "
                     "number of accesses",
                     text);
}

static bool parse_shard(struct replay_args *args, const char *text, struct args_error *error)
{
    const char *slash = strchr(text, '/');
    char first[24];
    snprintf(first, sizeof(first), "%.*s", slash != NULL ? (int)(slash - text) : 0, text);
    if (slash == NULL || !args_number(first, &args->shard) ||
        !args_number(slash + 1, &args->shards) || args->shard >= args->shards)
        return args_fail(error, "--shard: '%s' is no I/N with I in 0..N-1", text);
    return true;
}

/* Options whose value is a file, or that have none. */
static bool parse_plain(struct replay_args *args, int id, const char *value,
                        struct args_error *error)
{
    switch (id) {
    case OPTION_HELP:
        args->help = true;
        return true;
    case OPTION_EXPLAIN:
        args->explain = true;
        return true;
    case OPTION_QUIET:
        args->quiet = true;
        return true;
    case OPTION_NO_PROGRESS:
        args->no_progress = true;
        return true;
    case OPTION_MISS_BITS:
        return values_output(&args->miss_bits, "--miss-bits", value, error);
    case OPTION_WRITE_NATIVE:
        return values_output(&args->write_native, "--write-native", value, error);
    case OPTION_JSON:
        return values_output(&args->json, "--json", value, error);
    case OPTION_CSV:
        return values_output(&args->csv, "--csv", value, error);
    case OPTION_PLOT:
        return values_output(&args->plot, "--plot", value, error);
    case OPTION_FORMAT:
        args->format = value;
        return true;
    default:
        args->columns = value;
        return true;
    }
}

static bool parse_option(struct replay_args *args, int id, const char *value,
                         struct args_error *error)
{
    switch (id) {
    case OPTION_MEMORY:
        return parse_memory(args, value, error);
    case OPTION_POLICY:
        return values_names(&args->policies, "--policy", value, error);
    case OPTION_MODEL:
        return values_names(&args->models, "--model", value, error);
    case OPTION_AGING:
        args->aging = value;
        return true;
    case OPTION_SWAP:
        args->has_swap = true;
        return values_swap(value, &args->swap_bytes, error);
    case OPTION_SWAPPINESS:
        return parse_swappiness(args, value, error);
    case OPTION_KERNEL_CHARGE:
        return parse_kernel_charge(args, value, error);
    case OPTION_READAHEAD:
        args->has_readahead = true;
        return values_readahead(value, &args->readahead_bytes, error);
    case OPTION_STAT_FLUSH:
        return parse_stat_flush(args, value, error);
    case OPTION_EVERY:
        return (args_number(value, &args->every) && args->every > 0) ||
               args_fail(error, "--every: '%s' is no number of accesses from 1 on", value);
    case OPTION_SHARD:
        return parse_shard(args, value, error);
    default:
        return parse_plain(args, id, value, error);
    }
}

/* Options that mean nothing without a replay; --write-native alone only converts. */
static bool asks_for_result(int id)
{
    return id != OPTION_HELP && id != OPTION_FORMAT && id != OPTION_COLUMNS &&
           id != OPTION_WRITE_NATIVE && id != OPTION_QUIET && id != OPTION_NO_PROGRESS;
}

static bool parse_all(struct replay_args *args, struct args *line, struct args_error *error)
{
    for (;;) {
        const char *value;
        int id = args_next(line, options, &value);
        switch (id) {
        case ARGS_END:
            return true;
        case ARGS_PLAIN:
            args->traces[args->trace_count++] = value;
            continue;
        default:
            break;
        }
        if (args_refused(id, value, "mglru replay", error))
            return false;
        args->asks_result = args->asks_result || asks_for_result(id);
        if (!parse_option(args, id, value, error))
            return false;
        if (args->help)
            return true;
    }
}

bool replay_args_parse(struct replay_args *args, int argc, char **argv, struct args_error *error)
{
    *args = (struct replay_args){.swappiness = -1};
    args->traces = calloc((size_t)argc + 1, sizeof(*args->traces));
    if (args->traces == NULL)
        return args_fail(error, "out of memory");
    struct args line = {.argc = argc, .argv = argv, .next = 1};
    if (!parse_all(args, &line, error))
        return false;
    if (args->help)
        return true;
    if (args->trace_count == 0)
        return args_fail(error, "no trace was given; - is standard input");
    if (args->policies.items == NULL && !args_list_split(&args->policies, "mglru"))
        return args_fail(error, "out of memory");
    if (args->models.items == NULL && !args_list_split(&args->models, "7.3"))
        return args_fail(error, "out of memory");
    return replay_args_list_runs(args, error);
}

void replay_args_free(struct replay_args *args)
{
    free(args->traces);
    free(args->sizes);
    args_list_free(&args->policies);
    args_list_free(&args->models);
    free(args->specs);
    *args = (struct replay_args){0};
}
