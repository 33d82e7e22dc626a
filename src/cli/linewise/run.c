/* SPDX-License-Identifier: MIT */
/* Runs a command over its types; see run.h. */
#include "cli/linewise/run.h"

#include "cli/linewise/command.h"

static int look_at_all(struct linewise_run *run, const struct linewise_action *action)
{
    struct linewise_session *session = run->session;
    report_json_begin(&run->json, &run->out);
    if (run->as_json)
        report_json_object(&run->json, NULL);
    if (run->as_json && action->array != NULL)
        report_json_array(&run->json, action->array);
    for (size_t i = 0; i < session->type_count; i++) {
        if (i > 0 && !run->as_json && !action->no_gaps)
            report_printf(&run->out, "\n");
        int failure = action->look(run, session->types[i]);
        if (failure != LINEWISE_CLEAN)
            return failure;
    }
    if (run->as_json && action->array != NULL)
        report_json_end(&run->json);
    if (action->finish != NULL)
        action->finish(run);
    if (run->as_json)
        report_json_end(&run->json);
    return LINEWISE_CLEAN;
}

static int run_session(struct linewise_session *session, const struct linewise_action *action)
{
    const struct linewise_options *options = session->options;
    struct linewise_run run = {.session = session, .as_json = options->json != NULL};
    if (session->type_count == 0)
        return linewise_fail(options->syntax->command, LINEWISE_USAGE,
                             "no type was given, and %s names none", session->classes.name);
    const char *path = options->json != NULL     ? options->json
                       : options->output != NULL ? options->output
                                                 : "-";
    int failure = linewise_output_open(options, &run.out, path);
    if (failure != LINEWISE_CLEAN)
        return failure;
    failure = look_at_all(&run, action);
    if (failure != LINEWISE_CLEAN) {
        report_out_abandon(&run.out);
        return failure;
    }
    failure = linewise_output_close(options, &run.out);
    if (failure != LINEWISE_CLEAN)
        return failure;
    return run.found ? LINEWISE_FOUND : LINEWISE_CLEAN;
}

int linewise_run(int argc, char **argv, const struct linewise_syntax *syntax,
                 const struct linewise_action *action)
{
    struct linewise_options options;
    struct linewise_session session;
    int status = linewise_options_parse(argc, argv, syntax, &options);
    if (status != LINEWISE_CLEAN || options.help)
        return status;
    if (syntax->needs_classes && options.classes == NULL)
        return linewise_fail(syntax->command, LINEWISE_USAGE,
                             "--classes is needed: layout alone does not say who writes; "
                             "`linewise classes %s TYPE` drafts the file",
                             options.files[0]);
    status = linewise_session_open(&session, &options);
    if (status == LINEWISE_CLEAN)
        status = run_session(&session, action);
    linewise_session_close(&session);
    return status;
}
