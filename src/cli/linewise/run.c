/* SPDX-License-Identifier: MIT */
/* Runs a command over its types; see run.h. */
#include "cli/linewise/run.h"

#include <stdlib.h>

#include <mglru/error.h>

#include "cli/linewise/command.h"
#include "report/map.h"

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
    int failure = action->finish != NULL ? action->finish(run) : LINEWISE_CLEAN;
    if (failure == LINEWISE_CLEAN && run->as_json)
        report_json_end(&run->json);
    return failure;
}

/* What the types look like goes to @run's output, which is closed in any case. */
static int look_and_close(struct linewise_run *run, const struct linewise_action *action)
{
    int failure = look_at_all(run, action);
    if (failure == LINEWISE_CLEAN)
        return linewise_output_close(run->session->options, &run->out);
    report_out_abandon(&run->out);
    return failure;
}

/* The text of the command as a page of its own. */
static int make_page(struct linewise_run *run, const struct linewise_action *action)
{
    const struct linewise_options *options = run->session->options;
    char *text = NULL;
    size_t bytes = 0;
    FILE *stream = open_memstream(&text, &bytes);
    if (stream == NULL || report_out_stream(&run->out, stream, "memory") != MGLRU_OK) {
        if (stream != NULL)
            fclose(stream);
        free(text);
        return linewise_fail(options->syntax->command, LINEWISE_ENVIRONMENT, "out of memory");
    }
    int failure = look_and_close(run, action);
    if (fclose(stream) != 0 && failure == LINEWISE_CLEAN)
        failure = linewise_fail(options->syntax->command, LINEWISE_ENVIRONMENT, "out of memory");
    if (failure == LINEWISE_CLEAN)
        failure = linewise_output_open(options, &run->out, options->html);
    if (failure == LINEWISE_CLEAN) {
        char title[512];
        snprintf(title, sizeof(title), "linewise %s %s", options->syntax->command,
                 options->files[0]);
        report_map_html_begin(&run->out, title);
        report_map_html_text(&run->out, bytes == 0 && action->none != NULL ? action->none : text);
        report_map_html_end(&run->out);
        failure = linewise_output_close(options, &run->out);
    }
    free(text);
    return failure;
}

static int run_session(struct linewise_session *session, const struct linewise_action *action)
{
    const struct linewise_options *options = session->options;
    const char *command = options->syntax->command;
    struct linewise_run run = {.session = session, .as_json = options->json != NULL};
    if (session->type_count == 0)
        return linewise_fail(command, LINEWISE_USAGE, "no type was given, and %s names none",
                             session->classes.name);
    if ((options->json != NULL) + (options->html != NULL) + (options->output != NULL) +
            options->patch >
        1)
        return linewise_fail(command, LINEWISE_USAGE,
                             "--json, --html, --patch and -o exclude each other");
    int failure;
    if (options->html != NULL) {
        failure = make_page(&run, action);
    } else {
        const char *path = options->json != NULL     ? options->json
                           : options->output != NULL ? options->output
                                                     : "-";
        failure = linewise_output_open(options, &run.out, path);
        if (failure == LINEWISE_CLEAN)
            failure = look_and_close(&run, action);
    }
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
