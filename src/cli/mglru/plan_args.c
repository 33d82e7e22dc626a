/* SPDX-License-Identifier: MIT */
/* The options of `mglru plan`, one by one, then what they mean together. */
#include "cli/mglru/plan_args.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"

#define LATENCY_DEFAULT_NS 100000 /* a read of 4 KiB from a flash disk; chosen */
#define LATENCY_MAX_NS UINT64_C(1000000000)
#define READAHEAD_MIN UINT64_C(4096)
#define READAHEAD_MAX (UINT64_C(1) << 30) /* chosen: far above any device's window */

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

static const char size_expected[] = "expected bytes, or a number with K, M, G or T";

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

static bool parse_readahead(struct plan_args *args, const char *text, struct args_error *error)
{
    args->has_readahead = true;
    if (strcmp(text, "auto") == 0) {
        args->readahead_bytes = REPLAY_READAHEAD_AUTO;
        return true;
    }
    if (!args_size(text, &args->readahead_bytes))
        return args_fail(error, "--readahead: '%s' is none of 0, auto and a size: %s", text,
                         size_expected);
    if (args->readahead_bytes > READAHEAD_MAX)
        return args_fail(error, "--readahead %s is above the most, 1G", text);
    if (args->readahead_bytes > 0 && args->readahead_bytes < READAHEAD_MIN)
        return args_fail(error, "--readahead %s is below the least, a page of 4K; 0 is none", text);
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

static bool parse_models(struct plan_args *args, const char *text, struct args_error *error)
{
    static const char *const known[] = {"6.12", "7.3", "next", "ours"};
    if (args->models.items != NULL)
        return args_fail(error, "--model was given twice: give a list");
    if (!args_list_split(&args->models, text))
        return args_fail(error, "out of memory");
    for (size_t i = 0; i < args->models.count; i++) {
        const char *name = args->models.items[i];
        bool found = false;
        for (size_t j = 0; j < MGLRU_ARRAY_LEN(known); j++)
            found = found || strcmp(name, known[j]) == 0;
        if (!found)
            return args_fail(error, "--model: '%s' is none of 6.12, 7.3, next, ours", name);
        for (size_t j = 0; j < i; j++)
            if (strcmp(name, args->models.items[j]) == 0)
                return args_fail(error, "--model %s: '%s' was given twice", text, name);
    }
    return true;
}

static bool parse_output(const char **path, const char *option, const char *text,
                         struct args_error *error)
{
    if (*path != NULL)
        return args_fail(error, "%s was given twice", option);
    if (text[0] == '\0')
        return args_fail(error, "%s needs the name of a file", option);
    *path = text;
    return true;
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
        return parse_output(&args->json, "--json", value, error);
    case OPTION_HTML:
        return parse_output(&args->html, "--html", value, error);
    default:
        return parse_output(&args->plot, "--plot", value, error);
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
        return parse_models(args, value, error);
    case OPTION_POLICY:
        return parse_policy(args, value, error);
    case OPTION_SAMPLE:
        return parse_sample(args, value, error);
    case OPTION_READAHEAD:
        return parse_readahead(args, value, error);
    case OPTION_SWAP:
        return args_size(value, &args->swap_bytes) ||
               args_fail(error, "--swap: '%s' is no size: %s", value, size_expected);
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
        case ARGS_UNKNOWN:
            return args_fail(error, "unknown option %s; `mglru plan --help` lists them", value);
        case ARGS_MISSING:
            return args_fail(error, "%s needs a value", value);
        case ARGS_SURPLUS:
            return args_fail(error, "%s takes no value", value);
        default:
            break;
        }
        if (!parse_option(args, id, value, error))
            return false;
        if (args->help)
            return true;
    }
}

static bool ends_with(const char *text, const char *end)
{
    size_t length = strlen(text);
    return length >= strlen(end) && strcmp(text + length - strlen(end), end) == 0;
}

/* What options cannot mean together. */
static bool check(const struct plan_args *args, struct args_error *error)
{
    const char *const paths[] = {args->json, args->html, args->plot};
    static const char *const names[] = {"--json", "--html", "--plot"};
    if (args->trace == NULL)
        return args_fail(error, "no trace was given");
    for (size_t i = 0; i < MGLRU_ARRAY_LEN(paths); i++)
        for (size_t j = i + 1; j < MGLRU_ARRAY_LEN(paths); j++)
            if (paths[i] != NULL && paths[j] != NULL && strcmp(paths[i], paths[j]) == 0)
                return args_fail(error, "%s and %s both want %s", names[i], names[j],
                                 strcmp(paths[i], "-") == 0 ? "standard output" : paths[i]);
    if (args->plot != NULL && !ends_with(args->plot, ".svg") && !ends_with(args->plot, ".png"))
        return args_fail(error, "--plot: the name '%s' ends neither in .svg nor in .png",
                         args->plot);
    if (args->has_readahead && args->readahead_bytes > 0 &&
        args->readahead_bytes != REPLAY_READAHEAD_AUTO && args->sample > 0 && args->sample < 1)
        return args_fail(error, "--readahead cannot be modelled on a sample of the pages, whose "
                                "neighbours are missing: leave out --sample");
    return true;
}

bool plan_args_parse(struct plan_args *args, int argc, char **argv, struct args_error *error)
{
    *args = (struct plan_args){.device_latency_ns = LATENCY_DEFAULT_NS,
                               .policy = "mglru",
                               .readahead_bytes = REPLAY_READAHEAD_AUTO};
    struct args line = {.argc = argc, .argv = argv, .next = 1};
    if (!parse_all(args, &line, error))
        return false;
    if (args->help)
        return true;
    if (args->models.items == NULL && !args_list_split(&args->models, "7.3"))
        return args_fail(error, "out of memory");
    return check(args, error);
}

void plan_args_free(struct plan_args *args)
{
    args_list_free(&args->models);
    *args = (struct plan_args){0};
}
