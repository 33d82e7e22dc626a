/* SPDX-License-Identifier: MIT */
/* `mglru plan`: command line -> plan -> reports. */
#include <stdio.h>
#include <string.h>

#include <mglru/error.h>

#include "base/check.h"
#include "cli/mglru/command.h"
#include "cli/mglru/plan_args.h"
#include "cli/mglru/reading.h"
#include "cli/mglru/stop.h"
#include "replay/plan.h"
#include "report/plan.h"

static const char name[] = "plan";

struct session {
    struct reading reading; /* the first */
    struct plan_args args;
    struct report_out json;
    struct report_out html;
};

/* Opens what is written by us, before the work, so that a bad name is noticed at once. */
static int open_outputs(struct session *session, struct report_error *error)
{
    const struct plan_args *args = &session->args;
    const char *const outputs[] = {args->plot, args->json, args->html};
    int code = MGLRU_OK;
    for (size_t i = 0; i < MGLRU_ARRAY_LEN(outputs) && code == MGLRU_OK; i++)
        code = reading_check_output(outputs[i], &args->trace, 1, error);
    if (code == MGLRU_OK && args->json != NULL)
        code = report_out_open(&session->json, args->json, error);
    if (code == MGLRU_OK && args->html != NULL)
        code = report_out_open(&session->html, args->html, error);
    return code;
}

static bool is_stdout(const char *path)
{
    return path != NULL && strcmp(path, "-") == 0;
}

static int print(const struct plan_args *args, const struct plan *plan, struct report_error *error)
{
    struct report_out out;
    int code = report_out_stream(&out, stdout, "standard output");
    if (code != MGLRU_OK)
        return code;
    if (args->format == PLAN_K8S)
        report_plan_k8s(&out, plan);
    else if (args->format == PLAN_SYSTEMD)
        report_plan_systemd(&out, plan);
    else
        report_plan_text(&out, plan);
    return report_out_close(&out, error);
}

/* The first error of those that follow each other. */
static int keep_first(int first, int code, const struct report_error *said,
                      struct report_error *error)
{
    if (first != MGLRU_OK || code == MGLRU_OK)
        return first;
    *error = *said;
    if (error->text[0] == '\0')
        snprintf(error->text, sizeof(error->text), "%s", mglru_error_text(code));
    return code;
}

/* Writes everything; a failed output does not keep the others from being completed. */
static int finish_outputs(struct session *session, const struct plan *plan,
                          struct report_error *error)
{
    const struct plan_args *args = &session->args;
    struct report_error said = {.text = ""};
    int first = MGLRU_OK;
    if (!args->quiet && !is_stdout(args->json) && !is_stdout(args->html))
        first = keep_first(first, print(args, plan, &said), &said, error);
    if (args->json != NULL) {
        report_plan_json(&session->json, plan);
        first = keep_first(first, report_out_close(&session->json, &said), &said, error);
    }
    if (args->html != NULL) {
        report_plan_html(&session->html, plan);
        first = keep_first(first, report_out_close(&session->html, &said), &said, error);
    }
    if (args->plot != NULL)
        first = keep_first(first, report_plan_plot(args->plot, plan, &said), &said, error);
    return first;
}

/* 1 when a target cannot be met by today's kernel. */
static int status_of(const struct plan *plan)
{
    for (size_t i = 0; i < plan->memcg_count; i++)
        if (plan->target.kind != PLAN_NO_TARGET && !plan->memcgs[i].curves[0].advice.target_met)
            return COMMAND_FOUND;
    return COMMAND_DONE;
}

static int make_plan(struct session *session)
{
    const struct plan_args *args = &session->args;
    struct report_error refused = {.text = ""};
    int code = open_outputs(session, &refused);
    if (code != MGLRU_OK)
        return command_fail(name, cli_status_of(code), "%s",
                            refused.text[0] != '\0' ? refused.text : mglru_error_text(code));
    const struct plan_options options = {
        .trace = args->trace,
        .open = {.format = args->trace_format, .columns = args->columns, .stop_fd = stop_fd()},
        .classic = args->policy != NULL && strcmp(args->policy, "classic") == 0,
        .mglru = args->policy != NULL && strcmp(args->policy, "mglru") == 0,
        .models = (const char *const *)args->models.items,
        .model_count = args->models.count,
        .sample = args->sample,
        .swap_bytes = args->swap_bytes,
        .readahead_bytes = args->readahead_bytes,
        .device_latency_ns = args->device_latency_ns,
        .warmup_accesses = args->warmup_accesses,
        .warmup_ns = args->warmup_ns,
        .target = args->target,
        .on_progress = reading_progress,
        .context = session,
    };
    struct plan plan;
    struct replay_error error;
    session->reading.silent = args->quiet || args->no_progress;
    report_progress_begin(&session->reading.progress, name);
    code = plan_make(&options, &plan, &error);
    report_progress_end(&session->reading.progress);
    if (code == MGLRU_EINTR)
        return COMMAND_ENVIRONMENT;
    if (code != MGLRU_OK)
        return command_fail(name, cli_status_of(code), "%s", error.text);
    code = finish_outputs(session, &plan, &refused);
    int status = code == MGLRU_OK ? status_of(&plan)
                                  : command_fail(name, cli_status_of(code), "%s", refused.text);
    plan_free(&plan);
    return status;
}

int command_plan(int argc, char **argv)
{
    struct session session = {.reading = {.command = name}};
    struct args_error error;
    int status = COMMAND_DONE;
    if (!plan_args_parse(&session.args, argc, argv, &error))
        status = command_fail(name, COMMAND_USAGE, "%s", error.text);
    else if (session.args.help)
        plan_help();
    else
        status = reading_begin(&session.reading) ? make_plan(&session) : COMMAND_ENVIRONMENT;
    report_out_abandon(&session.json);
    report_out_abandon(&session.html);
    plan_args_free(&session.args);
    return reading_end(&session.reading, status);
}
