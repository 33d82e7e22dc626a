/* SPDX-License-Identifier: MIT */
/* The table of types; see types.h. */
#include "report/types.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "report/html.h"
#include "report/json_stream.h"
#include "report/number.h"

static uint64_t line_count(const struct report_types *types, const struct layout_type *type)
{
    return (type->size_bytes + types->line_bytes - 1) / types->line_bytes;
}

#define ROW_BYTES 256
/* The path of a file, and some words. */
#define SOURCE_BYTES 4608

/* A row under construction: a kernel has 10,000, and printf would cost as much as finding them. */
struct row {
    char text[ROW_BYTES];
    size_t used;
};

static size_t write_number(char *end, uint64_t number)
{
    size_t length = 0;
    do {
        *--end = (char)('0' + number % 10);
        number /= 10;
        length++;
    } while (number != 0);
    return length;
}

/* "12", or "12+3b" with unused @bits, at the right end of @width columns and a blank. */
static void put_amount(struct row *row, unsigned width, uint64_t bytes, uint64_t bits)
{
    char text[64];
    size_t length = 0;
    if (bits > 0) {
        text[sizeof(text) - 1] = 'b';
        length = 1 + write_number(text + sizeof(text) - 1, bits);
        length++;
        text[sizeof(text) - length] = '+';
    }
    length += write_number(text + sizeof(text) - length, bytes);
    for (size_t i = length; i < width; i++)
        row->text[row->used++] = ' ';
    memcpy(row->text + row->used, text + sizeof(text) - length, length);
    row->used += length;
    row->text[row->used++] = ' ';
}

static void put_row(struct report_out *out, const struct report_types *types,
                    const struct layout_type *type)
{
    struct layout_summary summary;
    struct row row;
    row.used = 0;
    layout_summarise(type, &summary);
    put_amount(&row, 9, type->size_bytes, 0);
    put_amount(&row, 7, line_count(types, type), 0);
    put_amount(&row, 6, type->align_bytes, 0);
    put_amount(&row, 6, summary.holes + summary.bit_holes, 0);
    put_amount(&row, 9, summary.hole_bytes, summary.bit_hole_bits);
    put_amount(&row, 8, summary.padding_bytes, summary.bit_padding);
    row.text[row.used++] = ' ';
    report_write(out, row.text, row.used);
    report_write(out, type->display, strlen(type->display));
    report_write(out, "\n", 1);
}

/* What the file has for debug information, and how many of its types are shown. */
static void source_text(const struct report_types *types, char text[SOURCE_BYTES])
{
    char shown[REPORT_NUMBER_BYTES], total[REPORT_NUMBER_BYTES];
    report_number_count(types->count, shown, sizeof(shown));
    report_number_count(types->total, total, sizeof(total));
    snprintf(text, SOURCE_BYTES, "%s: %s; %s of %s types", types->info->source, types->info->text,
             shown, total);
}

void report_types_text(struct report_out *out, const struct report_types *types)
{
    char source[SOURCE_BYTES];
    source_text(types, source);
    report_printf(out, "%s\n%9s %7s %6s %6s %9s %8s  %s\n", source, "size", "lines", "align",
                  "holes", "unused", "padding", "type");
    for (size_t i = 0; i < types->count; i++)
        put_row(out, types, types->types[i]);
}

static void put_html_amount(struct report_out *out, uint64_t bytes, uint64_t bits)
{
    report_printf(out, "<td class=\"n\">%" PRIu64, bytes);
    if (bits > 0)
        report_printf(out, "+%" PRIu64 "b", bits);
    report_printf(out, "</td>");
}

static void put_html_row(struct report_out *out, const struct report_types *types,
                         const struct layout_type *type)
{
    struct layout_summary summary;
    layout_summarise(type, &summary);
    report_printf(out, "<tr><td>");
    report_html_text(out, type->display);
    report_printf(out, "</td>");
    put_html_amount(out, type->size_bytes, 0);
    put_html_amount(out, line_count(types, type), 0);
    put_html_amount(out, type->align_bytes, 0);
    put_html_amount(out, summary.holes + summary.bit_holes, 0);
    put_html_amount(out, summary.hole_bytes, summary.bit_hole_bits);
    put_html_amount(out, summary.padding_bytes, summary.bit_padding);
    report_printf(out, "</tr>\n");
}

void report_types_html(struct report_out *out, const struct report_types *types)
{
    static const char *const titles[] = {"size", "lines", "align", "holes", "unused", "padding"};
    char source[SOURCE_BYTES];
    source_text(types, source);
    report_html_begin(out, types->info->source);
    report_printf(out, "<p>");
    report_html_text(out, source);
    report_printf(out, "\n<table><tr><th>type</th>");
    for (size_t i = 0; i < sizeof(titles) / sizeof(titles[0]); i++)
        report_printf(out, "<th class=\"n\">%s</th>", titles[i]);
    report_printf(out, "</tr>\n");
    for (size_t i = 0; i < types->count; i++)
        put_html_row(out, types, types->types[i]);
    report_printf(out, "</table>\n");
    report_html_end(out);
}

void report_types_json(struct report_out *out, const struct report_types *types)
{
    struct report_json_stream json;
    report_json_begin(&json, out);
    report_json_object(&json, NULL);
    report_json_array(&json, "types");
    for (size_t i = 0; i < types->count; i++) {
        const struct layout_type *type = types->types[i];
        struct layout_summary summary;
        layout_summarise(type, &summary);
        report_json_object(&json, NULL);
        report_json_text(&json, "name", type->name);
        report_json_text(&json, "kind", layout_kind_name(type->kind));
        report_json_count(&json, "size", type->size_bytes);
        report_json_count(&json, "align", type->align_bytes);
        report_json_count(&json, "lines", line_count(types, type));
        report_json_count(&json, "holes", summary.holes + summary.bit_holes);
        report_json_count(&json, "hole_bytes", summary.hole_bytes);
        report_json_count(&json, "hole_bits", summary.bit_hole_bits);
        report_json_count(&json, "padding", summary.padding_bytes);
        report_json_text(&json, "file", type->decl_file);
        report_json_count(&json, "file_line", type->decl_line);
        report_json_end(&json);
    }
    report_json_end(&json);
    report_json_end(&json);
}
