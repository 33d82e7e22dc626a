/* SPDX-License-Identifier: MIT */
/* `linewise show`: the map of a type, line by line. */
#include <stdio.h>
#include <string.h>

#include <mglru/error.h>

#include "cli/linewise/command.h"
#include "cli/linewise/session.h"
#include "report/map.h"

static const struct linewise_syntax syntax = {
    .command = "show",
    .takes = TAKES_CLASSES | TAKES_LINE | TAKES_BASE | TAKES_UNICODE | TAKES_JSON | TAKES_HTML |
             TAKES_LINES,
    .files = 1,
    .help = "usage: linewise show FILE [TYPE...] [--lines A[-B]] [--classes FILE] [--line N]\n"
            "                     [--base N|any] [--unicode] [--html FILE] [--json FILE]\n"
            "\n"
            "Draws what lies on each cache line of TYPE, nested structs at their absolute places.\n"
            "TYPE is a struct, union, class or typedef; NAME@FILE:LINE or NAME@SIZE picks one of\n"
            "several of a name. Without TYPE it draws the types that the class file names.\n"
            "\n"
            "  --lines A[-B]   only these lines of the object, from 0\n"
            "  --classes FILE  who reads and writes each field: adds R read, L lock, A atomic,\n"
            "                  O owner, C cold, and the verdict on each line\n"
            "  --line N        bytes of a line (64); 128 for pairs that are fetched together\n"
            "  --base N|any    where on a line the object starts (0)\n"
            "  --unicode       boxes of lines instead of +-|\n"
            "  --html FILE     a page with the map instead; - is standard output\n"
            "  --json FILE     one type for programs; - is standard output\n"
            "\n"
            "examples\n"
            "  linewise show ./server 'struct connection'\n"
            "  linewise show /sys/kernel/btf/vmlinux lruvec --lines 0-2\n"
            "  linewise show vmlinux mem_cgroup_per_node --classes memcg.classes --html map.html\n"
            "\n"
            "exit status: 0 done; 2 usage or bad input; 3 the environment refused\n",
};

/* Everything that is drawn of one type. */
struct drawing {
    struct layout_map map;
    struct layout_findings findings;
    struct layout_flat flat;
    struct layout_lines lines;
    struct report_map view;
};

static int no_memory(void)
{
    return linewise_fail(syntax.command, LINEWISE_ENVIRONMENT, "out of memory");
}

static int check_lines(const struct linewise_options *options, const struct drawing *drawing)
{
    const struct layout_lines *lines = &drawing->lines;
    if (!options->some_lines)
        return LINEWISE_CLEAN;
    uint64_t last = lines->line_count > 0 ? lines->lines[lines->line_count - 1].last_number : 0;
    if (options->lines[0] <= last)
        return LINEWISE_CLEAN;
    return linewise_fail(syntax.command, LINEWISE_USAGE,
                         "--lines: %s has lines 0-%llu, there is no line %llu",
                         drawing->map.type->display, (unsigned long long)last,
                         (unsigned long long)options->lines[0]);
}

static int prepare(struct linewise_session *session, const char *name, struct drawing *drawing)
{
    const struct linewise_options *options = session->options;
    struct layout_error error = {.text = ""};
    *drawing = (struct drawing){0};
    int status = linewise_session_map(session, 0, name, &drawing->map);
    if (status != LINEWISE_CLEAN)
        return status;
    struct layout_conflict_options how = linewise_session_conflicts(session, drawing->map.type);
    int code = layout_flatten(drawing->map.type, NULL, &drawing->flat, &error);
    if (code != MGLRU_OK)
        return linewise_fail(syntax.command, cli_status_of(code), "%s", error.text);
    if (layout_conflicts_find(&drawing->map, &how, &drawing->findings) != MGLRU_OK)
        return no_memory();
    code = layout_lines_cut(&drawing->map, &drawing->findings, &how, &drawing->lines);
    if (code == MGLRU_EOVERFLOW)
        return linewise_fail(syntax.command, LINEWISE_USAGE, "%s has too many lines to draw",
                             drawing->map.type->display);
    if (code != MGLRU_OK)
        return no_memory();
    drawing->view = (struct report_map){
        .info = layout_set_info(session->sets[0]),
        .map = &drawing->map,
        .flat = &drawing->flat,
        .lines = &drawing->lines,
        .findings = options->classes != NULL ? &drawing->findings : NULL,
        .first_line = options->some_lines ? options->lines[0] : 0,
        .last_line = options->some_lines ? options->lines[1] : UINT64_MAX,
        .unicode = options->unicode,
    };
    return check_lines(options, drawing);
}

static void release(struct drawing *drawing)
{
    layout_lines_free(&drawing->lines);
    layout_flat_free(&drawing->flat);
    layout_findings_free(&drawing->findings);
    layout_map_free(&drawing->map);
}

static int draw(struct linewise_session *session, const char *name, struct report_out *out)
{
    const struct linewise_options *options = session->options;
    struct drawing drawing;
    int status = prepare(session, name, &drawing);
    if (status == LINEWISE_CLEAN && options->json != NULL)
        report_map_json(out, &drawing.view);
    else if (status == LINEWISE_CLEAN && options->html != NULL)
        report_map_html(out, &drawing.view);
    else if (status == LINEWISE_CLEAN)
        report_map_text(out, &drawing.view);
    release(&drawing);
    return status;
}

static int draw_all(struct linewise_session *session, struct report_out *out)
{
    const struct linewise_options *options = session->options;
    bool page = options->html != NULL && options->json == NULL;
    if (page)
        report_map_html_begin(out, options->files[0]);
    for (size_t i = 0; i < session->type_count; i++) {
        if (i > 0 && !page)
            report_printf(out, "\n");
        int status = draw(session, session->types[i], out);
        if (status != LINEWISE_CLEAN)
            return status;
    }
    if (page)
        report_map_html_end(out);
    return LINEWISE_CLEAN;
}

static int run(struct linewise_session *session)
{
    const struct linewise_options *options = session->options;
    struct report_out out;
    if (session->type_count == 0)
        return linewise_fail(syntax.command, LINEWISE_USAGE,
                             "no type was given; `linewise list %s` shows them", options->files[0]);
    if (options->json != NULL && (session->type_count > 1 || options->html != NULL))
        return linewise_fail(syntax.command, LINEWISE_USAGE,
                             options->html != NULL ? "--json and --html exclude each other"
                                                   : "--json writes one type, %zu were given",
                             session->type_count);
    const char *path = options->json != NULL   ? options->json
                       : options->html != NULL ? options->html
                                               : "-";
    int status = linewise_output_open(options, &out, path);
    if (status != LINEWISE_CLEAN)
        return status;
    status = draw_all(session, &out);
    if (status != LINEWISE_CLEAN) {
        report_out_abandon(&out);
        return status;
    }
    return linewise_output_close(options, &out);
}

int linewise_show(int argc, char **argv)
{
    return linewise_session_run(argc, argv, &syntax, run);
}
