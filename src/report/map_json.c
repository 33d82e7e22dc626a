/* SPDX-License-Identifier: MIT */
/* The map for programs: the stable keys of `linewise show --json`; see map.h. */
#include "report/map.h"

#define PATH_BYTES 1024

static uint64_t line_of(const struct report_map *view, uint64_t bit)
{
    const struct layout_conflict_options *options = &view->lines->options;
    uint64_t base = options->any_base ? 0 : options->base_bytes;
    return (bit / 8 + base) / options->line_bytes;
}

/* Places within a byte, for what does not begin and end on bytes. */
static void put_bits(struct report_json_stream *json, uint64_t offset, uint64_t size)
{
    report_json_count(json, "bit_offset", offset % 8);
    report_json_count(json, "bit_size", size);
}

static void put_field(struct report_json_stream *json, const struct report_map *view,
                      const struct layout_field *field)
{
    char text[PATH_BYTES];
    uint64_t bits[2] = {0, UINT64_MAX - 1};
    uint64_t end = field->bit_offset + field->bit_size;
    layout_field_text(field, bits, text, sizeof(text));
    report_json_object(json, NULL);
    report_json_text(json, "path", text);
    report_json_count(json, "offset", field->bit_offset / 8);
    report_json_count(json, "size", (end + 7) / 8 - field->bit_offset / 8);
    report_json_count(json, "line", line_of(view, field->bit_offset));
    report_json_count(json, "last_line",
                      line_of(view, field->bit_size > 0 ? end - 1 : field->bit_offset));
    if (field->use != NULL)
        layout_use_text(field->use, text, sizeof(text));
    report_json_text(json, "class", field->use != NULL ? text : NULL);
    report_json_text(json, "type", field->member->type_name);
    if ((field->member->flags & LAYOUT_BITFIELD) != 0)
        put_bits(json, field->bit_offset, field->bit_size);
    report_json_end(json);
}

static void put_gap(struct report_json_stream *json, const struct layout_gap *gap)
{
    report_json_object(json, NULL);
    report_json_count(json, "offset", gap->bit_offset / 8);
    report_json_count(json, "size", gap->bit_size / 8);
    if (gap->bit_offset % 8 != 0 || gap->bit_size % 8 != 0)
        put_bits(json, gap->bit_offset, gap->bit_size);
    report_json_text(json, "kind",
                     gap->kind == LAYOUT_PADDING && gap->nest == 0 ? "padding" : "hole");
    report_json_end(json);
}

static void put_nest(struct report_json_stream *json, const struct layout_nest *nest)
{
    report_json_object(json, NULL);
    report_json_text(json, "path", nest->path);
    report_json_text(json, "type", nest->member->type_name);
    report_json_count(json, "offset", nest->bit_offset / 8);
    report_json_count(json, "size", nest->type->size_bytes);
    report_json_end(json);
}

void report_map_json(struct report_out *out, const struct report_map *view)
{
    const struct layout_type *type = view->map->type;
    const struct layout_flat *flat = view->flat;
    uint64_t line_bytes = view->lines->options.line_bytes;
    struct report_json_stream json;
    report_json_begin(&json, out);
    report_json_object(&json, NULL);
    report_json_text(&json, "type", type->display);
    report_json_count(&json, "size", type->size_bytes);
    report_json_count(&json, "align", type->align_bytes);
    report_json_count(&json, "lines", (type->size_bytes + line_bytes - 1) / line_bytes);
    report_json_text(&json, "source", view->info->text);
    report_json_array(&json, "fields");
    for (size_t i = 0; i < view->map->field_count; i++) {
        const struct layout_field *field = &view->map->fields[i];
        uint64_t line = line_of(view, field->bit_offset);
        uint64_t last = line_of(view, field->bit_offset + field->bit_size);
        if (last >= view->first_line && line <= view->last_line)
            put_field(&json, view, field);
    }
    report_json_end(&json);
    report_json_array(&json, "holes");
    for (size_t i = 0; i < flat->gap_count; i++)
        if (flat->gaps[i].repeat.dim_count == 0)
            put_gap(&json, &flat->gaps[i]);
    report_json_end(&json);
    report_json_array(&json, "nested");
    for (size_t i = 1; i < flat->nest_count; i++)
        if (report_map_nest_shown(flat, &flat->nests[i]))
            put_nest(&json, &flat->nests[i]);
    report_json_end(&json);
    report_json_end(&json);
}
