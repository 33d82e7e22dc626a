/* SPDX-License-Identifier: MIT */
/* `mglru replay`: command line -> replay -> reports. */
#include <string.h>

#include <mglru/error.h>

#include "cli/mglru/command.h"
#include "cli/mglru/reading.h"
#include "cli/mglru/replay_args.h"
#include "cli/mglru/replay_outputs.h"
#include "cli/mglru/stop.h"
#include "replay/replay.h"

static const char name[] = "replay";

/* What the callbacks of a replay work with. */
struct session {
    struct reading reading; /* the first */
    struct replay_args args;
    struct replay_outputs outputs;
};

static void on_miss_bits(void *context, const struct replay_spec *spec, const void *bits,
                         size_t bytes)
{
    struct session *session = context;
    report_write(&session->outputs.miss_bits[spec - session->args.specs], bits, bytes);
}

static int on_records(void *context, const struct replay_records *records,
                      struct replay_error *error)
{
    struct session *session = context;
    return replay_outputs_native(&session->outputs, &session->args, records, error);
}

static void fill_options(const struct replay_args *args, struct session *session,
                         struct replay_options *options)
{
    *options = (struct replay_options){
        .traces = args->traces,
        .trace_count = args->trace_count,
        .open = {.format = args->format, .columns = args->columns, .stop_fd = stop_fd()},
        .specs = args->specs,
        .spec_count = args->spec_count,
        .count_distinct = args->whole_baseline,
        .swap_bytes = args->swap_bytes,
        .swappiness = args->swappiness,
        .kernel_charge = args->kernel_charge,
        .kernel_charge_bytes = args->kernel_charge_bytes,
        .readahead_bytes = args->readahead_bytes,
        .stat_flush = args->stat_flush,
        .stat_flush_period = args->stat_flush_period,
        .stat_flush_text = args->has_stat_flush ? args->stat_flush_text : NULL,
        .every = args->every,
        .explain = args->explain,
        .on_progress = reading_progress,
        .on_records = args->write_native != NULL ? on_records : NULL,
        .on_miss_bits = args->miss_bits != NULL ? on_miss_bits : NULL,
        .context = session,
    };
}

static int replay(struct session *session)
{
    struct report_error refused;
    int code = replay_outputs_open(&session->outputs, &session->args, &refused);
    if (code != MGLRU_OK)
        return command_fail(name, cli_status_of(code), "%s", refused.text);
    struct replay_options options;
    struct replay_result result;
    struct replay_error error;
    fill_options(&session->args, session, &options);
    session->reading.silent = session->args.quiet || session->args.no_progress;
    report_progress_begin(&session->reading.progress, name);
    code = replay_run(&options, &result, &error);
    report_progress_end(&session->reading.progress);
    if (code == MGLRU_EINTR)
        return COMMAND_ENVIRONMENT;
    if (code != MGLRU_OK)
        return command_fail(name, cli_status_of(code), "%s", error.text);
    code = replay_outputs_finish(&session->outputs, &session->args, &result, &refused);
    replay_result_free(&result);
    if (code != MGLRU_OK)
        return command_fail(name, cli_status_of(code), "%s", refused.text);
    return COMMAND_DONE;
}

int command_replay(int argc, char **argv)
{
    struct session session = {.reading = {.command = name}};
    struct args_error error;
    int status = COMMAND_DONE;
    if (!replay_args_parse(&session.args, argc, argv, &error))
        status = command_fail(name, COMMAND_USAGE, "%s", error.text);
    else if (session.args.help)
        replay_help();
    else
        status = reading_begin(&session.reading) ? replay(&session) : COMMAND_ENVIRONMENT;
    replay_outputs_abandon(&session.outputs);
    replay_args_free(&session.args);
    return reading_end(&session.reading, status);
}
