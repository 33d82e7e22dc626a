/* SPDX-License-Identifier: MIT */
/* `linewise lock`: writes down what `linewise check` is to keep. */
#include <stdlib.h>
#include <string.h>

#include <mglru/error.h>

#include "cli/linewise/command.h"
#include "cli/linewise/run.h"
#include "report/linewise.h"

static const struct linewise_syntax syntax = {
    .command = "lock",
    .takes = TAKES_CLASSES | TAKES_LINE | TAKES_BASE | TAKES_OUTPUT | TAKES_JSON,
    .files = 1,
    .needs_classes = true,
    .help = "usage: linewise lock FILE [TYPE...] --classes FILE [--line N] [--base N|any]\n"
            "                     [-o FILE] [--json FILE]\n"
            "\n"
            "Writes down the facts of a layout: size, places of hot fields and groups, pairs that\n"
            "fight and are accepted. Keep the file in version control; `linewise check` fails on\n"
            "what is worse than it says.\n"
            "\n"
            "  --classes FILE  who reads and writes each field, and which types to lock\n"
            "  --line N        bytes of a line (64)\n"
            "  --base N|any    where on a line the object starts (0); any: at all multiples of 8\n"
            "  -o FILE         where to (standard output)\n"
            "  --json FILE     the facts for programs, instead; - is standard output\n"
            "\n"
            "exit status: 0 done; 2 usage or bad input; 3 the environment refused\n",
};

static struct layout_lock facts; /* of the types looked at so far */

static int look(struct linewise_run *run, const char *type)
{
    struct layout_map map;
    int failure = linewise_session_map(run->session, 0, type, &map);
    if (failure != LINEWISE_CLEAN)
        return failure;
    struct layout_conflict_options options = linewise_session_conflicts(run->session, map.type);
    facts.line_bytes = options.line_bytes;
    if (layout_lock_add(&facts, &map, &run->session->classes, &options) != MGLRU_OK)
        failure = linewise_fail(syntax.command, LINEWISE_ENVIRONMENT, "out of memory");
    layout_map_free(&map);
    return failure;
}

static int finish(struct linewise_run *run)
{
    if (run->as_json) {
        report_lock_json(&run->json, &facts);
        return LINEWISE_CLEAN;
    }
    char *text = layout_lock_text(&facts);
    if (text == NULL)
        return linewise_fail(syntax.command, LINEWISE_ENVIRONMENT, "out of memory");
    report_write(&run->out, text, strlen(text));
    free(text);
    return LINEWISE_CLEAN;
}

int linewise_lock(int argc, char **argv)
{
    static const struct linewise_action action = {.look = look, .finish = finish, .no_gaps = true};
    int status = linewise_run(argc, argv, &syntax, &action);
    layout_lock_free(&facts);
    return status;
}
