/* SPDX-License-Identifier: MIT */
/* `linewise why-size`: the chain of causes behind a size. */
#include <mglru/error.h>

#include "cli/linewise/command.h"
#include "cli/linewise/run.h"
#include "report/linewise.h"

static const struct linewise_syntax syntax = {
    .command = "why-size",
    .takes = TAKES_LINE | TAKES_JSON | TAKES_HTML,
    .files = 2,
    .needs_type = true,
    .help =
        "usage: linewise why-size OLD NEW TYPE... [--line N] [--html FILE] [--json FILE]\n"
        "\n"
        "Explains why a type has another size in NEW than in OLD: from the innermost struct that\n"
        "changed, through holes, alignment and padding, to the lines of the outer one. Each step\n"
        "adds up.\n"
        "\n"
        "  --line N        bytes of a line (64)\n"
        "  --html FILE     the same as a page, complete in itself; - is standard output\n"
        "  --json FILE     the steps for programs; - is standard output\n"
        "\n"
        "exit status: 0 done; 2 usage or bad input; 3 the environment refused\n",
};

static int64_t total_bytes; /* of all types looked at */

static int look(struct linewise_run *run, const char *name)
{
    const struct layout_type *types[2];
    struct layout_growth growth;
    for (unsigned i = 0; i < 2; i++) {
        int failure = linewise_session_type(run->session, i, name, &types[i]);
        if (failure != LINEWISE_CLEAN)
            return failure;
    }
    if (layout_growth_explain(types[0], types[1], run->session->options->line_bytes, &growth) !=
        MGLRU_OK)
        return linewise_fail(syntax.command, LINEWISE_ENVIRONMENT, "out of memory");
    total_bytes += growth.total_bytes;
    if (run->as_json)
        report_growth_json(&run->json, &growth);
    else
        report_growth(&run->out, &growth);
    layout_growth_free(&growth);
    return LINEWISE_CLEAN;
}

static int finish(struct linewise_run *run)
{
    if (run->as_json)
        report_json_signed(&run->json, "total", total_bytes);
    return LINEWISE_CLEAN;
}

int linewise_why_size(int argc, char **argv)
{
    static const struct linewise_action action = {.array = "steps", .look = look, .finish = finish};
    total_bytes = 0;
    return linewise_run(argc, argv, &syntax, &action);
}
