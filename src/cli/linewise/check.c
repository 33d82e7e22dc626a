/* SPDX-License-Identifier: MIT */
/* `linewise check`: fails when a layout got worse than its lock, or breaks a rule. */
#include <mglru/error.h>

#include "cli/linewise/command.h"
#include "cli/linewise/run.h"
#include "report/linewise.h"

static const struct linewise_syntax syntax = {
    .command = "check",
    .takes = TAKES_CLASSES | TAKES_LINE | TAKES_BASE | TAKES_LOCK | TAKES_JSON | TAKES_HTML,
    .files = 1,
    .needs_classes = true,
    .help =
        "usage: linewise check FILE [TYPE...] --classes FILE [--lock FILE] [--line N]\n"
        "                      [--base N|any] [--html FILE] [--json FILE]\n"
        "\n"
        "For continuous integration: finds pairs of fields that fight and are not in the lock\n"
        "file, groups that moved, growth, and broken rules of the class file (\"rule TYPE: group\n"
        "NAME starts a line\", \"rule TYPE: no atomic beside read\"). Without --lock every error\n"
        "and warning counts. Silent when all is well.\n"
        "\n"
        "  --classes FILE  who reads and writes each field, and the rules\n"
        "  --lock FILE     what `linewise lock` wrote\n"
        "  --line N        bytes of a line (64, or the lock's)\n"
        "  --base N|any    where on a line the object starts (0); any: at all multiples of 8\n"
        "  --html FILE     the same as a page, complete in itself; - is standard output\n"
        "  --json FILE     the findings for programs; - is standard output\n"
        "\n"
        "exit status: 0 as locked; 1 worse; 2 usage or bad input; 3 the environment refused\n",
};

static struct layout_lock facts;
static bool facts_read;

static int read_facts(const struct linewise_options *options)
{
    struct layout_error error = {.text = ""};
    if (options->lock == NULL || facts_read)
        return LINEWISE_CLEAN;
    int code = layout_lock_read(options->lock, &facts, &error);
    facts_read = code == MGLRU_OK;
    /* A version that is not known is bad input here: the environment can do nothing about it. */
    int status = code == MGLRU_ENOTSUP ? LINEWISE_USAGE : cli_status_of(code);
    if (!facts_read)
        return linewise_fail(syntax.command, status, "%s", error.text);
    if (options->line_given && options->line_bytes != facts.line_bytes)
        return linewise_fail(syntax.command, LINEWISE_USAGE,
                             "--line: %llu, but %s was written for lines of %llu bytes",
                             (unsigned long long)options->line_bytes, options->lock,
                             (unsigned long long)facts.line_bytes);
    return LINEWISE_CLEAN;
}

static int check_map(struct linewise_run *run, const struct layout_map *map)
{
    struct layout_breaches breaches = {0};
    const char *name = map->type->name != NULL ? map->type->name : map->name;
    struct layout_conflict_options options = linewise_session_conflicts(run->session, map->type);
    const struct layout_lock_type *locked = NULL;
    if (facts_read) {
        options.line_bytes = facts.line_bytes;
        locked = layout_lock_find(&facts, name);
        if (locked == NULL)
            return linewise_fail(syntax.command, LINEWISE_USAGE,
                                 "%s: knows no type %s; `linewise lock` adds it",
                                 run->session->options->lock, name);
    }
    if (layout_check(map, &run->session->classes, &options, locked, &breaches) != MGLRU_OK) {
        layout_breaches_free(&breaches);
        return linewise_fail(syntax.command, LINEWISE_ENVIRONMENT, "out of memory");
    }
    run->found = run->found || breaches.count > 0;
    if (run->as_json)
        report_breaches_json(&run->json, map->type->display, &breaches);
    else
        report_breaches(&run->out, map->type->display, &breaches);
    layout_breaches_free(&breaches);
    return LINEWISE_CLEAN;
}

static int look(struct linewise_run *run, const char *type)
{
    struct layout_map map;
    int failure = read_facts(run->session->options);
    if (failure == LINEWISE_CLEAN)
        failure = linewise_session_map(run->session, 0, type, &map);
    if (failure != LINEWISE_CLEAN)
        return failure;
    failure = check_map(run, &map);
    layout_map_free(&map);
    return failure;
}

int linewise_check(int argc, char **argv)
{
    static const struct linewise_action action = {
        .array = "findings", .look = look, .no_gaps = true, .none = "nothing was found\n"};
    int status = linewise_run(argc, argv, &syntax, &action);
    layout_lock_free(&facts);
    facts_read = false;
    return status;
}
