/* SPDX-License-Identifier: MIT */
/* `linewise classes`: a class file to start from. */
#include <mglru/error.h>

#include "cli/linewise/command.h"
#include "cli/linewise/run.h"
#include "report/linewise.h"

static const struct linewise_syntax syntax = {
    .command = "classes",
    .takes = TAKES_OUTPUT | TAKES_JSON | TAKES_HTML,
    .files = 1,
    .needs_type = true,
    .help = "usage: linewise classes FILE TYPE... [-o FILE] [--html FILE] [--json FILE]\n"
            "\n"
            "Drafts a class file: each field with a guess who touches it and the reason, from the\n"
            "names of types alone (atomic_t, refcount_t, _Atomic, spinlock_t, pthread_mutex_t,\n"
            "per-CPU pointers). Correct it: names of types know atomics, not who reads.\n"
            "\n"
            "  -o FILE         where to (standard output)\n"
            "  --html FILE     the same as a page, complete in itself; - is standard output\n"
            "  --json FILE     the guesses for programs; - is standard output\n"
            "\n"
            "exit status: 0 done; 2 usage or bad input; 3 the environment refused\n",
};

static int look(struct linewise_run *run, const char *type)
{
    struct layout_map map;
    struct layout_draft draft;
    int failure = linewise_session_map(run->session, 0, type, &map);
    if (failure != LINEWISE_CLEAN)
        return failure;
    if (layout_draft_make(&map, &draft) != MGLRU_OK)
        failure = linewise_fail(syntax.command, LINEWISE_ENVIRONMENT, "out of memory");
    if (failure == LINEWISE_CLEAN && run->as_json)
        report_draft_json(&run->json, &map, &draft);
    else if (failure == LINEWISE_CLEAN)
        report_draft(&run->out, &map, &draft);
    layout_draft_free(&draft);
    layout_map_free(&map);
    return failure;
}

int linewise_classes(int argc, char **argv)
{
    static const struct linewise_action action = {.array = "classes", .look = look};
    return linewise_run(argc, argv, &syntax, &action);
}
