/* SPDX-License-Identifier: MIT */
/*
 * The map as one page: every line a bar of 64 bytes, cells coloured by class, words on hover and in
 * the table below.
 */
#include "report/map.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "report/html.h"

#define TEXT_BYTES 4096

void report_map_html_begin(struct report_out *out, const char *title)
{
    report_html_begin(out, title);
    report_printf(out, "<p class=\"key\"><span class=\"R\">R read</span>"
                       "<span class=\"L\">L under a lock</span><span class=\"A\">A atomic</span>"
                       "<span class=\"O\">O one owner</span><span class=\"C\">C cold</span>"
                       "<span class=\"cell\">no class</span><span class=\"gap\">unused</span>\n");
}

void report_map_html_text(struct report_out *out, const char *text)
{
    report_printf(out, "<pre>");
    report_html_text(out, text);
    report_printf(out, "</pre>\n");
}

void report_map_html_end(struct report_out *out)
{
    report_html_end(out);
}

static void put_cell(struct report_out *out, const struct layout_cell *cell, size_t prefix,
                     uint64_t divisor)
{
    char label[TEXT_BYTES], range[64], class[256];
    report_map_label(cell, prefix, label, sizeof(label));
    report_map_class(cell, class, sizeof(class));
    report_map_range(cell->first_bit, cell->last_bit, range, sizeof(range));
    bool gap = cell->field_count == 0;
    char letter[2] = {class[0], '\0'};
    uint64_t grow = (cell->last_bit - cell->first_bit + 1) / divisor;
    report_printf(out, "<div class=\"cell %s\" style=\"flex-grow:%" PRIu64 "\" title=\"",
                  gap                ? "gap"
                  : letter[0] == '?' ? ""
                                     : letter,
                  grow > 0 ? grow : 1);
    report_html_text(out, label);
    report_printf(out, "&#10;%s%s", cell->kind == LAYOUT_CELL_OUTSIDE ? "" : "bytes ",
                  cell->kind == LAYOUT_CELL_OUTSIDE ? "" : range);
    report_printf(out, "%s", class[0] != '\0' ? "&#10;" : "");
    report_html_text(out, class);
    report_printf(out, "\">");
    report_html_text(out, label);
    report_printf(out, "<small>%s</small></div>\n", cell->kind == LAYOUT_CELL_OUTSIDE ? "" : range);
}

static void put_line(struct report_out *out, const struct report_map *view,
                     const struct layout_line *line)
{
    char verdicts[TEXT_BYTES];
    size_t prefix = report_map_prefix(line);
    const char *severity = line->severity == LAYOUT_ERROR     ? "error"
                           : line->severity == LAYOUT_WARNING ? "warning"
                                                              : "";
    if (line->number == line->last_number)
        report_printf(out, "<div class=\"line\"><div class=\"no\">line %" PRIu64, line->number);
    else
        report_printf(out, "<div class=\"line\"><div class=\"no\">lines %" PRIu64 "-%" PRIu64,
                      line->number, line->last_number);
    report_printf(
        out, "<br><span class=\"dim\">%" PRIu64 "-%" PRIu64 "</span></div><div class=\"bar %s\">\n",
        line->first_byte, line->last_byte, severity);
    for (size_t i = 0; i < line->cell_count; i++)
        put_cell(out, &line->cells[i], prefix, line->last_number - line->number + 1);
    report_printf(out, "</div></div>\n");
    report_map_verdicts(view, line, verdicts, sizeof(verdicts));
    if (verdicts[0] == '\0')
        return;
    report_printf(out, "<p class=\"says %s\">", severity);
    report_html_text(out, verdicts);
    report_printf(out, "</p>\n");
}

static void put_nests(struct report_out *out, const struct report_map *view)
{
    char chain[256];
    report_printf(out, "<table>\n");
    for (size_t i = 1; i < view->flat->nest_count; i++) {
        const struct layout_nest *nest = &view->flat->nests[i];
        if (!report_map_nest_shown(view->flat, nest))
            continue;
        report_map_chain(view->flat, nest, chain, sizeof(chain));
        report_printf(out, "<tr><td>");
        report_html_text(out, nest->path);
        report_printf(out, "<td>");
        report_html_text(out, nest->member->type_name);
        report_printf(out, "<td>%" PRIu64 " bytes at %s\n", nest->type->size_bytes, chain);
    }
    report_printf(out, "</table>\n");
}

static void put_findings(struct report_out *out, const struct report_map *view)
{
    if (view->findings == NULL || view->findings->count == 0)
        return;
    report_printf(out, "<h3>Findings</h3>\n<ul>\n");
    for (size_t i = 0; i < view->findings->count; i++) {
        const struct layout_finding *finding = &view->findings->items[i];
        report_printf(out, "<li>line %" PRIu64 ": %s: %s: ", finding->line,
                      layout_severity_name(finding->severity),
                      layout_verdict_name(finding->verdict));
        report_html_text(out, finding->why);
        report_printf(out, "\n");
    }
    report_printf(out, "</ul>\n");
}

void report_map_html(struct report_out *out, const struct report_map *view)
{
    const struct layout_type *type = view->map->type;
    uint64_t line_bytes = view->lines->options.line_bytes;
    report_printf(out, "<h2>");
    report_html_text(out, type->display);
    report_printf(out,
                  "</h2>\n<p class=\"dim\">%" PRIu64 " bytes, %" PRIu64 " lines of %" PRIu64
                  ", aligned to %u%s",
                  type->size_bytes, (type->size_bytes + line_bytes - 1) / line_bytes, line_bytes,
                  type->align_bytes,
                  type->align_source == LAYOUT_ALIGN_STATED ? "" : " (inferred)");
    if (type->decl_file != NULL) {
        report_printf(out, ", declared at ");
        report_html_text(out, type->decl_file);
        report_printf(out, ":%u", type->decl_line);
    }
    report_printf(out, "</p>\n");
    put_nests(out, view);
    for (size_t i = 0; i < view->lines->line_count; i++) {
        const struct layout_line *line = &view->lines->lines[i];
        if (line->last_number >= view->first_line && line->number <= view->last_line)
            put_line(out, view, line);
    }
    put_findings(out, view);
}
