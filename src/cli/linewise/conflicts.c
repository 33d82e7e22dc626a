/* SPDX-License-Identifier: MIT */
/* `linewise conflicts`: which fields fight over a line, and which only seem to. */
#include <stdio.h>

#include <mglru/error.h>

#include "cli/linewise/command.h"
#include "cli/linewise/session.h"
#include "report/linewise.h"

static const struct linewise_syntax syntax = {
    .command = "conflicts",
    .takes = TAKES_CLASSES | TAKES_LINE | TAKES_BASE | TAKES_UNICODE | TAKES_JSON,
    .files = 1,
    .help =
        "usage: linewise conflicts FILE [TYPE...] --classes FILE [--line N] [--base N|any]\n"
        "                          [--unicode] [--json FILE]\n"
        "\n"
        "Tells each fight over a cache line as a story of two CPUs, and what is none and why.\n"
        "Without TYPE it looks at the types that the class file names.\n"
        "\n"
        "  --classes FILE  who reads and writes each field; `linewise classes` drafts it\n"
        "  --line N        bytes of a line (64); 128 for pairs that are fetched together\n"
        "  --base N|any    where on a line the object starts (0); any: at all multiples of 8\n"
        "  --unicode       arrows instead of ->\n"
        "  --json FILE     the findings for programs; - is standard output\n"
        "\n"
        "exit status: 0 no fight; 1 errors or warnings; 2 usage or bad input; 3 the environment\n"
        "refused\n",
};

/* Looks at one type; the worst status so far is in *@status. */
static int look_at(struct linewise_session *session, const char *name, struct report_out *text,
                   struct report_json_stream *json, int *status)
{
    struct layout_map map;
    struct layout_findings findings = {0};
    int failure = linewise_session_map(session, 0, name, &map);
    if (failure != LINEWISE_CLEAN)
        return failure;
    struct layout_conflict_options options = linewise_session_conflicts(session, map.type);
    if (layout_conflicts_find(&map, &options, &findings) != MGLRU_OK)
        failure = linewise_fail(syntax.command, LINEWISE_ENVIRONMENT, "out of memory");
    for (size_t i = 0; i < findings.count; i++)
        if (findings.items[i].severity != LAYOUT_NOTE)
            *status = LINEWISE_FOUND;
    if (failure == LINEWISE_CLEAN && json != NULL)
        report_fights_json(json, &map, &findings);
    else if (failure == LINEWISE_CLEAN)
        report_fights(text, &map, &findings, session->options->unicode);
    layout_findings_free(&findings);
    layout_map_free(&map);
    return failure;
}

static int run(struct linewise_session *session)
{
    const struct linewise_options *options = session->options;
    struct report_out out;
    struct report_json_stream json;
    int status = LINEWISE_CLEAN;
    if (session->type_count == 0)
        return linewise_fail(syntax.command, LINEWISE_USAGE, "no type was given, and %s names none",
                             session->classes.name);
    int failure = linewise_output_open(options, &out, options->json != NULL ? options->json : "-");
    if (failure != LINEWISE_CLEAN)
        return failure;
    report_json_begin(&json, &out);
    if (options->json != NULL) {
        report_json_object(&json, NULL);
        report_json_array(&json, "findings");
    }
    for (size_t i = 0; failure == LINEWISE_CLEAN && i < session->type_count; i++) {
        if (i > 0 && options->json == NULL)
            report_printf(&out, "\n");
        failure = look_at(session, session->types[i], &out, options->json != NULL ? &json : NULL,
                          &status);
    }
    if (failure != LINEWISE_CLEAN) {
        report_out_abandon(&out);
        return failure;
    }
    if (options->json != NULL) {
        report_json_end(&json);
        report_json_end(&json);
    }
    failure = linewise_output_close(options, &out);
    return failure != LINEWISE_CLEAN ? failure : status;
}

int linewise_conflicts(int argc, char **argv)
{
    struct linewise_options options;
    struct linewise_session session;
    int status = linewise_options_parse(argc, argv, &syntax, &options);
    if (status != LINEWISE_CLEAN || options.help)
        return status;
    if (options.classes == NULL)
        return linewise_fail(syntax.command, LINEWISE_USAGE,
                             "--classes is needed: layout alone says nothing about who writes; "
                             "`linewise classes %s TYPE` drafts the file",
                             options.files[0]);
    status = linewise_session_open(&session, &options);
    if (status == LINEWISE_CLEAN)
        status = run(&session);
    linewise_session_close(&session);
    return status;
}
