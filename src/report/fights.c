/* SPDX-License-Identifier: MIT */
/*
 * Findings as text and JSON. A fight is told in two columns, as two CPUs would see it: what one
 * writes on the left, what the other wants on the right, and where it misses.
 */
#include "report/linewise.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define CELL_BYTES 1024
/* Longer names of parts are cut down to the field. Chosen: a line of text holds it. */
#define NAME_MAX_SHOWN 64
/* The left column ends here at the latest; longer names push the right one. */
#define COLUMN_MAX 52

void report_type_head(struct report_out *out, const struct layout_type *type, uint64_t line_bytes)
{
    uint64_t lines = (type->size_bytes + line_bytes - 1) / line_bytes;
    report_printf(out,
                  "%s: %" PRIu64 " byte%s, %" PRIu64 " line%s of %" PRIu64 ", aligned to %u%s\n",
                  type->display, type->size_bytes, type->size_bytes == 1 ? "" : "s", lines,
                  lines == 1 ? "" : "s", line_bytes, type->align_bytes,
                  type->align_source == LAYOUT_ALIGN_STATED ? "" : " (inferred)");
}

/* Bytes of @field on the finding's lines: "1608-1639" or "1640". */
static void byte_range(const struct layout_findings *findings, const struct layout_finding *finding,
                       const struct layout_field *field, char *text, size_t bytes)
{
    uint64_t bits[2];
    uint64_t last[2];
    layout_line_bits(&findings->options, finding->line, bits);
    layout_line_bits(&findings->options, finding->last_line, last);
    uint64_t from = field->bit_offset;
    uint64_t to = field->bit_offset + field->bit_size - 1;
    if (finding->bases == 0) {
        from = from > bits[0] ? from : bits[0];
        to = to < last[1] ? to : last[1];
    }
    if (from / 8 == to / 8)
        snprintf(text, bytes, "%" PRIu64, from / 8);
    else
        snprintf(text, bytes, "%" PRIu64 "-%" PRIu64, from / 8, to / 8);
}

/* Name of the part of @field that lies on the finding's lines. */
static void part_name(const struct layout_findings *findings, const struct layout_finding *finding,
                      const struct layout_field *field, char *text, size_t bytes)
{
    uint64_t bits[2] = {0, UINT64_MAX - 1};
    if (finding->bases == 0) {
        uint64_t last[2];
        layout_line_bits(&findings->options, finding->line, bits);
        layout_line_bits(&findings->options, finding->last_line, last);
        bits[1] = last[1];
    }
    layout_field_text(field, bits, text, bytes);
    /* Several ragged pieces of an array are no name any more. */
    if (strlen(text) > NAME_MAX_SHOWN)
        snprintf(text, bytes, "%s[...]", field->path);
}

static void print_fields(struct report_out *out, const struct layout_findings *findings,
                         const struct layout_finding *finding, const char *title, bool readers)
{
    const struct layout_field **fields = readers ? finding->readers : finding->writers;
    size_t count = readers ? finding->reader_count : finding->writer_count;
    for (size_t i = 0; i < count; i++) {
        char name[CELL_BYTES];
        char range[64];
        char use[128];
        part_name(findings, finding, fields[i], name, sizeof(name));
        byte_range(findings, finding, fields[i], range, sizeof(range));
        layout_use_text(fields[i]->use, use, sizeof(use));
        report_printf(out, "  %-8s %s, bytes %s, %s%s\n", i == 0 ? title : "", name, range, use,
                      fields[i]->each ? ", a CPU each" : "");
    }
}

static const struct layout_field *first_of_class(const struct layout_finding *finding,
                                                 enum layout_class class)
{
    for (size_t i = 0; i < finding->writer_count; i++)
        if (layout_field_class(finding->writers[i]) == class)
            return finding->writers[i];
    return NULL;
}

/* Writer and other side of the finding; false: it has no two sides. */
static bool choose_sides(const struct layout_finding *finding, const struct layout_field *sides[2])
{
    sides[0] = finding->writer_count > 0 ? finding->writers[0] : NULL;
    sides[1] = finding->reader_count > 0 ? finding->readers[0] : NULL;
    switch (finding->verdict) {
    case LAYOUT_READ_ATOMIC:
    case LAYOUT_READ_LOCK:
    case LAYOUT_READ_OWNER:
        return true;
    case LAYOUT_ATOMIC_LOCK:
    case LAYOUT_LOCK_WORD:
        sides[0] = first_of_class(finding, LAYOUT_CLASS_ATOMIC);
        sides[1] = first_of_class(finding, LAYOUT_CLASS_LOCK);
        return sides[0] != NULL && sides[1] != NULL;
    case LAYOUT_OWNER_WRITTEN:
        sides[1] = first_of_class(finding, LAYOUT_CLASS_OWNER);
        for (size_t i = 0; i < finding->writer_count; i++)
            if (finding->writers[i] != sides[1])
                sides[0] = finding->writers[i];
        return sides[1] != NULL;
    case LAYOUT_LOCK_LOCK:
        for (size_t i = 1; i < finding->writer_count; i++)
            if (!layout_use_excludes(sides[0]->use, finding->writers[i]->use))
                sides[1] = finding->writers[i];
        return sides[1] != NULL;
    case LAYOUT_TRUE_SHARING:
        sides[1] = sides[0];
        return true;
    default:
        return false;
    }
}

/* Who the CPU is: its class says no more than what it holds. */
static void describe(const struct layout_field *field, const char *cpu, char *text, size_t bytes)
{
    const struct layout_use *use = field->use;
    const char *name = use->name_count > 0 ? use->names[0] : NULL;
    if (use->class == LAYOUT_CLASS_LOCK)
        snprintf(text, bytes, "%s (holds %s)", cpu, name);
    else if (use->class == LAYOUT_CLASS_OWNER)
        snprintf(text, bytes, "%s (%s)", cpu, name != NULL ? name : "the owner");
    else
        snprintf(text, bytes, "%s (%s)", cpu,
                 use->class == LAYOUT_CLASS_READ ? "reader" : "no lock");
}

static void print_story(struct report_out *out, const struct layout_findings *findings,
                        const struct layout_finding *finding, const char *arrow)
{
    const struct layout_field *sides[2];
    if (!choose_sides(finding, sides))
        return;
    char names[2][CELL_BYTES];
    char left[CELL_BYTES];
    char right[CELL_BYTES];
    for (unsigned i = 0; i < 2; i++)
        part_name(findings, finding, sides[i], names[i], sizeof(names[i]));
    describe(sides[0], "CPU A", left, sizeof(left));
    describe(sides[1], "CPU B", right, sizeof(right));
    int column = (int)strlen(names[0]) + 10;
    column = column < 32 ? 32 : column > COLUMN_MAX ? COLUMN_MAX : column;
    bool truly = finding->verdict == LAYOUT_TRUE_SHARING;
    report_printf(out, "\n    %-*s%s\n", column, left, right);
    const char *verb = layout_field_class(sides[1]) == LAYOUT_CLASS_READ ? "read" : "write";
    for (unsigned i = 0; i < 2; i++) {
        char cell[CELL_BYTES + 8];
        snprintf(cell, sizeof(cell), "write %s", names[0]);
        report_printf(out, "    %-*s", column, cell);
        if (truly)
            report_printf(out, "%s\n",
                          i == 0 ? "(waits for the lock)" : "takes the lock, wants what A wrote");
        else
            report_printf(out, "%s %s  %s miss\n", verb, names[1], arrow);
    }
}

/* Text broken at blanks before column 96. */
static void print_wrapped(struct report_out *out, const char *text)
{
    const size_t width = 92;
    while (*text != '\0') {
        size_t length = strlen(text);
        if (length > width) {
            length = width;
            while (length > 0 && text[length] != ' ')
                length--;
            if (length == 0)
                length = strcspn(text, " ");
        }
        report_printf(out, "    %.*s\n", (int)length, text);
        text += length;
        text += strspn(text, " ");
    }
}

static void print_finding(struct report_out *out, const struct layout_findings *findings,
                          const struct layout_finding *finding, bool unicode)
{
    if (finding->verdict == LAYOUT_ALIGNMENT)
        report_printf(out, "\n%s: %s\n", layout_severity_name(finding->severity),
                      layout_verdict_name(finding->verdict));
    else if (finding->line == finding->last_line)
        report_printf(out, "\nline %" PRIu64 ": %s: %s (%s)\n", finding->line,
                      layout_severity_name(finding->severity),
                      layout_verdict_name(finding->verdict), layout_verdict_pair(finding->verdict));
    else
        report_printf(out, "\nlines %" PRIu64 "-%" PRIu64 ": %s: %s (%s)\n", finding->line,
                      finding->last_line, layout_severity_name(finding->severity),
                      layout_verdict_name(finding->verdict), layout_verdict_pair(finding->verdict));
    print_fields(out, findings, finding, "written", false);
    print_fields(out, findings, finding, "read", true);
    print_story(out, findings, finding, unicode ? "\xe2\x86\x92" : "->");
    report_printf(out, "\n");
    print_wrapped(out, finding->why);
}

void report_fights(struct report_out *out, const struct layout_map *map,
                   const struct layout_findings *findings, bool unicode)
{
    size_t counts[3] = {0};
    report_type_head(out, map->type, findings->options.line_bytes);
    for (size_t i = 0; i < findings->count; i++)
        counts[findings->items[i].severity]++;
    for (size_t i = 0; i < findings->count; i++)
        if (findings->items[i].severity != LAYOUT_NOTE)
            print_finding(out, findings, &findings->items[i], unicode);
    if (counts[LAYOUT_NOTE] > 0 && counts[LAYOUT_NOTE] < findings->count)
        report_printf(out, "\nNo fight:\n");
    for (size_t i = 0; i < findings->count; i++)
        if (findings->items[i].severity == LAYOUT_NOTE)
            print_finding(out, findings, &findings->items[i], unicode);
    report_printf(out, "\n%zu error%s, %zu warning%s, %zu note%s\n", counts[LAYOUT_ERROR],
                  counts[LAYOUT_ERROR] == 1 ? "" : "s", counts[LAYOUT_WARNING],
                  counts[LAYOUT_WARNING] == 1 ? "" : "s", counts[LAYOUT_NOTE],
                  counts[LAYOUT_NOTE] == 1 ? "" : "s");
}

static void fields_json(struct report_json_stream *json, const char *key,
                        const struct layout_field *const *fields, size_t count)
{
    report_json_array(json, key);
    for (size_t i = 0; i < count; i++) {
        char path[CELL_BYTES];
        snprintf(path, sizeof(path), "%s%s", fields[i]->path, fields[i]->elements);
        report_json_text(json, NULL, path);
    }
    report_json_end(json);
}

void report_finding_json(struct report_json_stream *json, const struct layout_map *map,
                         const struct layout_finding *finding)
{
    report_json_object(json, NULL);
    report_json_text(json, "type", map->type->display);
    report_json_count(json, "line", finding->line);
    report_json_count(json, "last_line", finding->last_line);
    report_json_text(json, "verdict", layout_verdict_name(finding->verdict));
    report_json_text(json, "pair", layout_verdict_pair(finding->verdict));
    report_json_text(json, "severity", layout_severity_name(finding->severity));
    fields_json(json, "readers", finding->readers, finding->reader_count);
    fields_json(json, "writers", finding->writers, finding->writer_count);
    report_json_text(json, "why", finding->why);
    report_json_end(json);
}

void report_fights_json(struct report_json_stream *json, const struct layout_map *map,
                        const struct layout_findings *findings)
{
    for (size_t i = 0; i < findings->count; i++)
        report_finding_json(json, map, &findings->items[i]);
}
