/* SPDX-License-Identifier: MIT */
/* The options of `mglru plan`, one by one, then what they mean together. */
#include "cli/mglru/plan_args.h"
#include "cli/mglru/values.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"

#define LATENCY_DEFAULT_NS 100000 /* a read of 4 KiB from a flash disk; chosen */
#define LATENCY_MAX_NS UINT64_C(1000000000)

enum option_id {
    OPTION_HELP,
    OPTION_TARGET,
    OPTION_LATENCY,
    OPTION_WARMUP,
    OPTION_MODEL,
    OPTION_POLICY,
    OPTION_SAMPLE,
    OPTION_READAHEAD,
    OPTION_SWAP,
    OPTION_FORMAT,
    OPTION_TRACE_FORMAT,
    OPTION_COLUMNS,
    OPTION_JSON,
    OPTION_HTML,
    OPTION_PLOT,
    OPTION_QUIET,
    OPTION_NO_PROGRESS
};

static const struct args_option options[] = {
    {"--help", false, OPTION_HELP},
    {"-h", false, OPTION_HELP},
    {"--target", true, OPTION_TARGET},
    {"--device-latency", true, OPTION_LATENCY},
    {"--warmup", true, OPTION_WARMUP},
    {"--model", true, OPTION_MODEL},
    {"--policy", true, OPTION_POLICY},
    {"--sample", true, OPTION_SAMPLE},
    {"--readahead", true, OPTION_READAHEAD},
    {"--swap", true, OPTION_SWAP},
    {"--format", true, OPTION_FORMAT},
    {"--trace-format", true, OPTION_TRACE_FORMAT},
    {"--columns", true, OPTION_COLUMNS},
    {"--json", true, OPTION_JSON},
    {"--html", true, OPTION_HTML},
    {"--plot", true, OPTION_PLOT},
    {"--quiet", false, OPTION_QUIET},
    {"--no-progress", false, OPTION_NO_PROGRESS},
    {NULL, false, 0},
};

/* A decimal number, with a percent sign as a hundredth when @percent. */
static bool parse_real(const char *text, bool percent, double *value)
{
    char *end;
    *value = 0;
    if (!isdigit((unsigned char)text[0]) && text[0] != '.')
        return false;
    *value = strtod(text, &end);
    /* strtod takes hexadecimal numbers as well, which nobody means. */
    if (end == text || strpbrk(text, "xX") != NULL || !isfinite(*value))
        return false;
    if (percent && *end == '%') {
        *value /= 100;
        end++;
    }
    return *end == '\0';
}

static bool parse_target(struct plan_args *args, const char *text, struct args_error *error)
{
    static const struct {
        const char *name;
        enum plan_target_kind kind;
    } kinds[] = {{"miss-ratio=", PLAN_MISS_RATIO},
                 {"misses/s=", PLAN_MISSES_PER_SECOND},
                 {"stall=", PLAN_STALL}};
    if (args->target.kind != PLAN_NO_TARGET)
        return args_fail(error, "--target was given twice");
    for (size_t i = 0; i < MGLRU_ARRAY_LEN(kinds); i++) {
        const size_t length = strlen(kinds[i].name);
        if (strncmp(text, kinds[i].name, length) != 0)
            continue;
        args->target.kind = kinds[i].kind;
        const bool share = kinds[i].kind != PLAN_MISSES_PER_SECOND;
        if (!parse_real(text + length, share, &args->target.value))
            return args_fail(error, "--target %s: '%s' is no number%s", text, text + length,
                             share ? ", expected a share as 0.05 or 5%" : "");
        if (share && args->target.value > 1)
            return args_fail(error,
                             "--target %s: a share above 100%% cannot be missed: expected "
                             "0.05 or 5%%",
                             text);
        return true;
    }
    return args_fail(error, "--target: '%s' is none of miss-ratio=X, misses/s=X and stall=X%%",
                     text);
}

static bool parse_latency(struct plan_args *args, const char *text, struct args_error *error)
{
    if (!args_duration(text, &args->device_latency_ns) || args->device_latency_ns == 0)
        return args_fail(error, "--device-latency: '%s' is no time such as 100us or 8ms", text);
    if (args->device_latency_ns > LATENCY_MAX_NS)
        return args_fail(error, "--device-latency %s is above the most, 1s", text);
    return true;
}

static bool parse_warmup(struct plan_args *args, const char *text, struct args_error *error)
{
    args->warmup_accesses = 0;
    args->warmup_ns = 0;
    if (args_number(text, &args->warmup_accesses) || args_duration(text, &args->warmup_ns))
        return true;
    return args_fail(error, "--warmup: '%s' is neither a number of accesses nor a time such as 30s",
                     text);
}

static bool parse_sample(struct plan_args *args, const char *text, struct args_error *error)
{
    if (!parse_real(text, true, &args->sample) || args->sample < 1e-6 || args->sample > 1)
        return args_fail(error,
                         "--sample: '%s' is no share of the pages from 0.000001 to 1, as 0.01 or "
                         "1%%",
                         text);
    return true;
}

static bool parse_format(struct plan_args *args, const char *text, struct args_error *error)
{
    static const char *const names[] = {"text", "k8s", "systemd"};
    for (size_t i = 0; i < MGLRU_ARRAY_LEN(names); i++) {
        args->format = (enum plan_format)i;
        if (strcmp(text, names[i]) == 0)
            return true;
    }
    return args_fail(error,
                     "--format: '%s' is none of text, k8s, systemd (the format of the trace "
                     "is --trace-format)",
                     text);
}

static bool parse_policy(struct plan_args *args, const char *text, struct args_error *error)
{
    args->policy = text;
    return strcmp(text, "mglru") == 0 || strcmp(text, "classic") == 0 ||
           args_fail(error, "--policy: '%s' is none of mglru, classic", text);
}

/* Options that say where results go, and those without a value. */
static bool parse_plain(struct plan_args *args, int id, const char *value, struct args_error *error)
{
    switch (id) {
    case OPTION_HELP:
        args->help = true;
        return true;
    case OPTION_QUIET:
        args->quiet = true;
        return true;
    case OPTION_NO_PROGRESS:
        args->no_progress = true;
        return true;
    case OPTION_TRACE_FORMAT:
        args->trace_format = value;
        return true;
    case OPTION_COLUMNS:
        args->columns = value;
        return true;
    case OPTION_JSON:
        return values_output(&args->json, "--json", value, error);
    case OPTION_HTML:
        return values_output(&args->html, "--html", value, error);
    default:
        return values_output(&args->plot, "--plot", value, error);
    }
}

static bool parse_option(struct plan_args *args, int id, const char *value,
                         struct args_error *error)
{
    switch (id) {
    case OPTION_TARGET:
        return parse_target(args, value, error);
    case OPTION_LATENCY:
        return parse_latency(args, value, error);
    case OPTION_WARMUP:
        return parse_warmup(args, value, error);
    case OPTION_MODEL:
        return values_names(&args->models, "--model", value, error) &&
               values_check_models(&args->models, error);
    case OPTION_POLICY:
        return parse_policy(args, value, error);
    case OPTION_SAMPLE:
        return parse_sample(args, value, error);
    case OPTION_READAHEAD:
        args->has_readahead = true;
        return values_readahead(value, &args->readahead_bytes, error);
    case OPTION_SWAP:
        return values_swap(value, &args->swap_bytes, error);
    case OPTION_FORMAT:
        return parse_format(args, value, error);
    default:
        return parse_plain(args, id, value, error);
    }
}

static bool parse_all(struct plan_args *args, struct args *line, struct args_error *error)
{
    for (;;) {
        const char *value;
        int id = args_next(line, options, &value);
        switch (id) {
        case ARGS_END:
            return true;
        case ARGS_PLAIN:
            if (args->trace != NULL)
                return args_fail(error, "one trace at a time, but both %s and %s were given",
                                 args->trace, value);
            args->trace = value;
            continue;
        default:
            break;
        }
        if (args_refused(id, value, "mglru plan", error))
            return false;
        if (!parse_option(args, id, value, error))
            return false;
        if (args->help)
            return true;
    }
}

/* What options cannot mean together. */
static bool check(const struct plan_args *args, struct args_error *error)
{
    const struct values_output outputs[] = {
        {args->json, "--json"}, {args->html, "--html"}, {args->plot, "--plot"}};
    if (args->trace == NULL)
        return args_fail(error, "no trace was given");
    if (!values_outputs_differ(outputs, MGLRU_ARRAY_LEN(outputs), error) ||
        !values_check_plot(args->plot, error))
        return false;
    if (args->has_readahead && args->readahead_bytes > 0 &&
        args->readahead_bytes != REPLAY_READAHEAD_AUTO && args->sample > 0 && args->sample < 1)
        return args_fail(error, "--readahead cannot be modelled on a sample of the pages, whose "
                                "neighbours are missing: leave out --sample");
    return true;
}

bool plan_args_parse(struct plan_args *args, int argc, char **argv, struct args_error *error)
{
    *args = (struct plan_args){.device_latency_ns = LATENCY_DEFAULT_NS,
                               .readahead_bytes = REPLAY_READAHEAD_AUTO};
    struct args line = {.argc = argc, .argv = argv, .next = 1};
    if (!parse_all(args, &line, error))
        return false;
    if (args->help)
        return true;
    return check(args, error);
}

void plan_args_free(struct plan_args *args)
{
    args_list_free(&args->models);
    *args = (struct plan_args){0};
}
