/* SPDX-License-Identifier: MIT */
/* The table of types; see types.h. */
#include "report/types.h"

#include <inttypes.h>
#include <stdio.h>

#include "report/json_stream.h"
#include "report/number.h"

static uint64_t line_count(const struct report_types *types, const struct layout_type *type)
{
    return (type->size_bytes + types->line_bytes - 1) / types->line_bytes;
}

/* "12", or "12+3b" with unused bits. */
static void amount(uint64_t bytes, uint64_t bits, char *text, size_t size)
{
    if (bits > 0)
        snprintf(text, size, "%" PRIu64 "+%" PRIu64 "b", bytes, bits);
    else
        snprintf(text, size, "%" PRIu64, bytes);
}

void report_types_text(struct report_out *out, const struct report_types *types)
{
    char shown[REPORT_NUMBER_BYTES], total[REPORT_NUMBER_BYTES];
    report_number_count(types->count, shown, sizeof(shown));
    report_number_count(types->total, total, sizeof(total));
    report_printf(out, "%s: %s; %s of %s types\n", types->info->source, types->info->text, shown,
                  total);
    report_printf(out, "%9s %7s %6s %6s %9s %8s  %s\n", "size", "lines", "align", "holes", "unused",
                  "padding", "type");
    for (size_t i = 0; i < types->count; i++) {
        const struct layout_type *type = types->types[i];
        struct layout_summary summary;
        char unused[48], padding[48];
        layout_summarise(type, &summary);
        amount(summary.hole_bytes, summary.bit_hole_bits, unused, sizeof(unused));
        amount(summary.padding_bytes, summary.bit_padding, padding, sizeof(padding));
        report_printf(out, "%9" PRIu64 " %7" PRIu64 " %6u %6u %9s %8s  %s\n", type->size_bytes,
                      line_count(types, type), type->align_bytes, summary.holes + summary.bit_holes,
                      unused, padding, type->display);
    }
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
