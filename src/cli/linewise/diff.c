/* SPDX-License-Identifier: MIT */
/* `linewise diff`: what moved, what grew, which fights are new and which are gone. */
#include <mglru/error.h>

#include "cli/linewise/command.h"
#include "cli/linewise/run.h"
#include "report/linewise.h"

static const struct linewise_syntax syntax = {
    .command = "diff",
    .takes = TAKES_CLASSES | TAKES_LINE | TAKES_BASE | TAKES_JSON | TAKES_HTML,
    .files = 2,
    .help = "usage: linewise diff OLD NEW [TYPE...] [--classes FILE] [--line N] [--base N|any]\n"
            "                     [--html FILE] [--json FILE]\n"
            "\n"
            "Compares a type in two files: fields that moved, growth, and with a class file the\n"
            "pairs of fields that share a line now and did not, and those that no longer do.\n"
            "\n"
            "  --classes FILE  who reads and writes each field, in both files\n"
            "  --line N        bytes of a line (64)\n"
            "  --base N|any    where on a line the object starts (0); any: at all multiples of 8\n"
            "  --html FILE     the same as a page, complete in itself; - is standard output\n"
            "  --json FILE     the difference for programs; - is standard output\n"
            "\n"
            "exit status: 0 no new fight; 1 new ones; 2 usage or bad input; 3 the environment\n"
            "refused\n",
};

/* The JSON arrays hold the parts of all types, so each part is a pass over them. */
enum part { PART_MOVED, PART_GROWTH, PART_NEW, PART_GONE, PART_TEXT };

static int64_t growth_bytes; /* of all types looked at */

static void write_part(struct linewise_run *run, const struct layout_map maps[2],
                       const struct layout_diff *diff, enum part part)
{
    switch (part) {
    case PART_MOVED:
        report_moved_json(&run->json, &maps[1], diff);
        break;
    case PART_GROWTH:
        growth_bytes += diff->growth_bytes;
        break;
    case PART_NEW:
        report_fights_json(&run->json, &maps[1], &diff->fresh);
        break;
    case PART_GONE:
        report_fights_json(&run->json, &maps[0], &diff->gone);
        break;
    default:
        report_diff(&run->out, &maps[1], diff);
    }
}

static int look_for(struct linewise_run *run, const char *type, enum part part)
{
    struct layout_map maps[2] = {{0}};
    struct layout_diff diff = {0};
    int failure = linewise_session_map(run->session, 0, type, &maps[0]);
    if (failure == LINEWISE_CLEAN)
        failure = linewise_session_map(run->session, 1, type, &maps[1]);
    if (failure == LINEWISE_CLEAN) {
        struct layout_conflict_options options =
            linewise_session_conflicts(run->session, maps[1].type);
        if (layout_diff(&maps[0], &maps[1], &options, &diff) != MGLRU_OK)
            failure = linewise_fail(syntax.command, LINEWISE_ENVIRONMENT, "out of memory");
    }
    if (failure == LINEWISE_CLEAN) {
        run->found = run->found || diff.fresh.count > 0;
        write_part(run, maps, &diff, part);
    }
    layout_diff_free(&diff);
    layout_map_free(&maps[0]);
    layout_map_free(&maps[1]);
    return failure;
}

static int look_all(struct linewise_run *run, enum part part)
{
    int failure = LINEWISE_CLEAN;
    for (size_t i = 0; failure == LINEWISE_CLEAN && i < run->session->type_count; i++)
        failure = look_for(run, run->session->types[i], part);
    return failure;
}

static int look(struct linewise_run *run, const char *type)
{
    if (!run->as_json)
        return look_for(run, type, PART_TEXT);
    /* All types at the first one. */
    if (type != run->session->types[0])
        return LINEWISE_CLEAN;
    growth_bytes = 0;
    static const struct {
        const char *key;
        enum part part;
    } arrays[] = {
        {"moved", PART_MOVED}, {NULL, PART_GROWTH}, {"new", PART_NEW}, {"gone", PART_GONE}};
    for (size_t i = 0; i < sizeof(arrays) / sizeof(arrays[0]); i++) {
        if (arrays[i].key != NULL)
            report_json_array(&run->json, arrays[i].key);
        int failure = look_all(run, arrays[i].part);
        if (failure != LINEWISE_CLEAN)
            return failure;
        if (arrays[i].key != NULL)
            report_json_end(&run->json);
        else
            report_json_signed(&run->json, "growth", growth_bytes);
    }
    return LINEWISE_CLEAN;
}

int linewise_diff(int argc, char **argv)
{
    static const struct linewise_action action = {.look = look};
    return linewise_run(argc, argv, &syntax, &action);
}
