/* SPDX-License-Identifier: MIT */
/* `linewise conflicts`: which fields fight over a line, and which only seem to. */
#include <mglru/error.h>

#include "cli/linewise/command.h"
#include "cli/linewise/run.h"
#include "report/linewise.h"

static const struct linewise_syntax syntax = {
    .command = "conflicts",
    .takes = TAKES_CLASSES | TAKES_LINE | TAKES_BASE | TAKES_UNICODE | TAKES_JSON | TAKES_HTML,
    .files = 1,
    .needs_classes = true,
    .help =
        "usage: linewise conflicts FILE [TYPE...] --classes FILE [--line N] [--base N|any]\n"
        "                          [--unicode] [--html FILE] [--json FILE]\n"
        "\n"
        "Tells each fight over a cache line as a story of two CPUs, and what is none and why.\n"
        "Without TYPE it looks at the types that the class file names.\n"
        "\n"
        "  --classes FILE  who reads and writes each field; `linewise classes` drafts it\n"
        "  --line N        bytes of a line (64); 128 for pairs that are fetched together\n"
        "  --base N|any    where on a line the object starts (0); any: at all multiples of 8\n"
        "  --unicode       arrows instead of ->\n"
        "  --html FILE     the same as a page, complete in itself; - is standard output\n"
        "  --json FILE     the findings for programs; - is standard output\n"
        "\n"
        "exit status: 0 no fight; 1 errors or warnings; 2 usage or bad input; 3 the environment\n"
        "refused\n",
};

static int look(struct linewise_run *run, const char *type)
{
    struct layout_map map;
    struct layout_findings findings = {0};
    int failure = linewise_session_map(run->session, 0, type, &map);
    if (failure != LINEWISE_CLEAN)
        return failure;
    struct layout_conflict_options options = linewise_session_conflicts(run->session, map.type);
    if (layout_conflicts_find(&map, &options, &findings) != MGLRU_OK)
        failure = linewise_fail(syntax.command, LINEWISE_ENVIRONMENT, "out of memory");
    for (size_t i = 0; i < findings.count; i++)
        if (findings.items[i].severity != LAYOUT_NOTE)
            run->found = true;
    if (failure == LINEWISE_CLEAN && run->as_json)
        report_fights_json(&run->json, &map, &findings);
    else if (failure == LINEWISE_CLEAN)
        report_fights(&run->out, &map, &findings, run->session->options->unicode);
    layout_findings_free(&findings);
    layout_map_free(&map);
    return failure;
}

int linewise_conflicts(int argc, char **argv)
{
    static const struct linewise_action action = {.array = "findings", .look = look};
    return linewise_run(argc, argv, &syntax, &action);
}
