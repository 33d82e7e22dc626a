/* SPDX-License-Identifier: MIT */
/* The options of `mglru record`, one by one, then what they mean together. */
#include "cli/mglru/record_args.h"

#include <limits.h>
#include <stddef.h>

#include "cli/mglru/values.h"
#include "trace/codec.h"

enum option_id {
    OPTION_HELP,
    OPTION_OUTPUT,
    OPTION_CGROUP,
    OPTION_PID,
    OPTION_DURATION,
    OPTION_MAX_SIZE,
    OPTION_BUFFER
};

static const struct args_option options[] = {
    {"--help", false, OPTION_HELP},
    {"-h", false, OPTION_HELP},
    {"-o", true, OPTION_OUTPUT},
    {"--cgroup", true, OPTION_CGROUP},
    {"--pid", true, OPTION_PID},
    {"--duration", true, OPTION_DURATION},
    {"--max-size", true, OPTION_MAX_SIZE},
    {"--buffer", true, OPTION_BUFFER},
    {NULL, false, 0},
};

static bool parse_pid(struct record_options *out, const char *text, struct args_error *error)
{
    uint64_t pid;
    if (!args_number(text, &pid) || pid == 0 || pid > INT_MAX)
        return args_fail(error, "--pid: '%s' is no number of a process", text);
    out->target = RECORD_PID;
    out->pid = (pid_t)pid;
    return true;
}

/* A size of at least @least bytes. */
static bool parse_size(uint64_t *bytes, const char *option, const char *text, uint64_t least,
                       struct args_error *error)
{
    if (!args_size(text, bytes))
        return args_fail(error, "%s: '%s' is no size: %s", option, text, values_size_expected);
    return *bytes >= least || args_fail(error, "%s %s is below the least, %lluK", option, text,
                                        (unsigned long long)least >> 10);
}

static bool parse_option(struct record_args *args, int id, const char *value,
                         struct args_error *error)
{
    struct record_options *out = &args->options;
    switch (id) {
    case OPTION_HELP:
        args->help = true;
        return true;
    case OPTION_OUTPUT:
        return values_output(&out->output, "-o", value, error);
    case OPTION_CGROUP:
        out->target = RECORD_CGROUP;
        out->cgroup = value;
        return value[0] != '\0' || args_fail(error, "--cgroup needs the path of a cgroup");
    case OPTION_PID:
        return parse_pid(out, value, error);
    case OPTION_DURATION:
        return (args_duration(value, &out->duration_ns) && out->duration_ns > 0) ||
               args_fail(error, "--duration: '%s' is no time such as 500ms, 60s, 10m or 1h", value);
    case OPTION_MAX_SIZE:
        return parse_size(&out->max_bytes, "--max-size", value, RECORD_MAX_BYTES_MIN, error);
    default:
        return parse_size(&out->buffer_bytes, "--buffer", value, RECORD_BUFFER_BYTES_MIN, error);
    }
}

/* One target, no more and no less. */
static bool check(struct record_args *args, struct args_error *error)
{
    struct record_options *out = &args->options;
    const int targets = (out->command != NULL) + (out->cgroup != NULL) + (out->pid != 0);
    if (targets == 0)
        return args_fail(error, "whom to record? -- COMMAND, --cgroup PATH or --pid N");
    if (targets > 1)
        return args_fail(error, "a command, --cgroup and --pid exclude each other");
    if (out->output == NULL)
        out->output = codec_zstd.encoder_create != NULL ? "mglru.trace.zst" : "mglru.trace";
    return true;
}

bool record_args_parse(struct record_args *args, int argc, char **argv, struct args_error *error)
{
    *args = (struct record_args){.options = {.target = RECORD_COMMAND, .stop_fd = -1}};
    struct args line = {.argc = argc, .argv = argv, .next = 1};
    while (args->options.command == NULL) {
        const char *value;
        int id = args_next(&line, options, &value);
        if (id == ARGS_END)
            break;
        if (id == ARGS_PLAIN) {
            args->options.command = &argv[line.next - 1]; /* the rest is the command's */
            continue;
        }
        if (args_refused(id, value, "mglru record", error) || !parse_option(args, id, value, error))
            return false;
        if (args->help)
            return true;
    }
    return check(args, error);
}
