/* SPDX-License-Identifier: MIT */
/* `linewise suggest`: orders of members that leave fewer fights, cheapest first. */
#include <stdlib.h>

#include <mglru/error.h>

#include "cli/linewise/command.h"
#include "cli/linewise/run.h"
#include "layout/patch.h"
#include "report/linewise.h"

static const struct linewise_syntax syntax = {
    .command = "suggest",
    .takes = TAKES_CLASSES | TAKES_LINE | TAKES_BASE | TAKES_JSON | TAKES_HTML | TAKES_PATCH,
    .files = 1,
    .needs_classes = true,
    .help =
        "usage: linewise suggest FILE [TYPE...] --classes FILE [--line N] [--base N|any]\n"
        "                        [--patch] [--html FILE] [--json FILE]\n"
        "\n"
        "Proposes which members to move so that fewer fields fight over lines. What is weighed: "
        "the\n"
        "residual conflict (read x atomic 100, pairs of other writers 20, read x lock 3, times "
        "the\n"
        "weights of the class file), the growth in bytes, the fields moved. Proposals that "
        "another\n"
        "beats in all three are left out. No proposal brings a new fight. Padding comes last, "
        "with\n"
        "its price.\n"
        "\n"
        "  --classes FILE  who reads and writes each field; `linewise classes` drafts it\n"
        "  --line N        bytes of a line (64)\n"
        "  --base N|any    where on a line the object starts (0); any: at all multiples of 8\n"
        "  --patch         the first proposal as a unified diff, where DWARF tells the lines\n"
        "  --html FILE     the same as a page, complete in itself; - is standard output\n"
        "  --json FILE     the proposals for programs; - is standard output\n"
        "\n"
        "exit status: 0 nothing to propose; 1 proposals; 2 usage or bad input; 3 the environment\n"
        "refused\n",
};

static int print_patch(struct linewise_run *run, const struct layout_suggestions *suggestions)
{
    struct layout_error error = {.text = ""};
    char *patch = NULL;
    if (suggestions->count == 0)
        return LINEWISE_CLEAN;
    int code = layout_patch_make(&suggestions->items[0], &patch, &error);
    /* Text that does not allow the move is input, not environment. */
    int status = code == MGLRU_ENOTSUP ? LINEWISE_USAGE : cli_status_of(code);
    if (code != MGLRU_OK)
        return linewise_fail(syntax.command, status, "--patch: %s",
                             error.text[0] != '\0' ? error.text : mglru_error_text(code));
    report_printf(&run->out, "%s", patch);
    free(patch);
    return LINEWISE_CLEAN;
}

static int look(struct linewise_run *run, const char *type)
{
    struct layout_map map;
    struct layout_suggestions suggestions = {.count = 0};
    int failure = linewise_session_map(run->session, 0, type, &map);
    if (failure != LINEWISE_CLEAN)
        return failure;
    struct layout_conflict_options options = linewise_session_conflicts(run->session, map.type);
    if (layout_suggest(&map, &options, &suggestions) != MGLRU_OK)
        failure = linewise_fail(syntax.command, LINEWISE_ENVIRONMENT, "out of memory");
    run->found = run->found || suggestions.count > 0;
    if (failure == LINEWISE_CLEAN && run->as_json)
        report_suggestions_json(&run->json, &map, &suggestions);
    else if (failure == LINEWISE_CLEAN && run->session->options->patch)
        failure = print_patch(run, &suggestions);
    else if (failure == LINEWISE_CLEAN)
        report_suggestions(&run->out, &map, &suggestions);
    layout_suggestions_free(&suggestions);
    layout_map_free(&map);
    return failure;
}

int linewise_suggest(int argc, char **argv)
{
    static const struct linewise_action action = {.array = "suggestions", .look = look};
    return linewise_run(argc, argv, &syntax, &action);
}
