/* SPDX-License-Identifier: MIT */
/* The words of a map, shared by its text, JSON and HTML forms; see map.h. */
#include "report/map.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* A union's members beyond these are counted. */
#define UNION_NAMES 3
#define NAME_BYTES 1024

/* printf behind what is in @text already. */
static void append(char *text, size_t bytes, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void append(char *text, size_t bytes, const char *format, ...)
{
    size_t used = strlen(text);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text + used, bytes - used, format, arguments);
    va_end(arguments);
}

void report_map_range(uint64_t first_bit, uint64_t last_bit, char *text, size_t bytes)
{
    uint64_t first = first_bit / 8, last = last_bit / 8;
    if (first_bit % 8 != 0 || last_bit % 8 != 7)
        snprintf(text, bytes, "%" PRIu64 ".%u-%" PRIu64 ".%u", first, (unsigned)(first_bit % 8),
                 last, (unsigned)(last_bit % 8));
    else if (first == last)
        snprintf(text, bytes, "%" PRIu64, first);
    else
        snprintf(text, bytes, "%" PRIu64 "-%" PRIu64, first, last);
}

void report_map_amount(uint64_t bits, char *text, size_t bytes)
{
    uint64_t amount = bits % 8 == 0 ? bits / 8 : bits;
    snprintf(text, bytes, "%" PRIu64 " %s%s", amount, bits % 8 == 0 ? "byte" : "bit",
             amount == 1 ? "" : "s");
}

static void label_field(const struct layout_cell *cell, const struct layout_field *field,
                        size_t skip, char *text, size_t bytes)
{
    char name[NAME_BYTES];
    uint64_t bits[2] = {cell->first_bit, cell->last_bit};
    layout_field_text(field, bits, name, sizeof(name));
    /* Several runs of elements each bring their path. */
    size_t length = skip;
    for (const char *part = name; part != NULL && strlen(part) >= length;) {
        const char *next = strstr(part, ", ");
        append(text, bytes, "%s%.*s", part == name ? "" : ", ",
               next != NULL ? (int)(next - part - (ptrdiff_t)length) : -1, part + length);
        part = next != NULL ? next + 2 : NULL;
    }
}

void report_map_label(const struct layout_cell *cell, size_t skip, char *text, size_t bytes)
{
    char amount[32];
    text[0] = '\0';
    report_map_amount(cell->last_bit - cell->first_bit + 1, amount, sizeof(amount));
    switch (cell->kind) {
    case LAYOUT_CELL_HOLE:
        snprintf(text, bytes, "(hole: %s)", amount);
        return;
    case LAYOUT_CELL_PADDING:
        snprintf(text, bytes, "(padding: %s)", amount);
        return;
    case LAYOUT_CELL_OUTSIDE:
        snprintf(text, bytes, "(outside: %s)", amount);
        return;
    default:
        break;
    }
    bool is_union = cell->kind == LAYOUT_CELL_UNION;
    for (size_t i = 0; i < cell->field_count; i++) {
        if (is_union && i == UNION_NAMES) {
            append(text, bytes, " | +%zu", cell->field_count - i);
            break;
        }
        append(text, bytes, "%s", i == 0 ? "" : is_union ? " | " : ", ");
        label_field(cell, cell->fields[i], skip, text, bytes);
    }
}

static char class_letter(enum layout_class class)
{
    static const char letters[LAYOUT_CLASSES] = {
        [LAYOUT_CLASS_NONE] = '?',   [LAYOUT_CLASS_READ] = 'R',  [LAYOUT_CLASS_LOCK] = 'L',
        [LAYOUT_CLASS_ATOMIC] = 'A', [LAYOUT_CLASS_OWNER] = 'O', [LAYOUT_CLASS_COLD] = 'C'};
    return letters[class];
}

void report_map_class(const struct layout_cell *cell, char *text, size_t bytes)
{
    const struct layout_use *last = NULL;
    text[0] = '\0';
    for (size_t i = 0; i < cell->field_count; i++) {
        const struct layout_use *use = cell->fields[i]->use;
        char name[128];
        if (use == NULL || use == last)
            continue;
        layout_use_text(use, name, sizeof(name));
        append(text, bytes, "%s%c %s", text[0] != '\0' ? ", " : "", class_letter(use->class), name);
        last = use;
    }
}

size_t report_map_prefix(const struct layout_line *line)
{
    const char *path = NULL;
    size_t length = 0;
    for (size_t i = 0; i < line->cell_count; i++) {
        for (size_t j = 0; j < line->cells[i].field_count; j++) {
            const char *other = line->cells[i].fields[j]->path;
            if (path == NULL) {
                path = other;
                const char *dot = strrchr(path, '.');
                length = dot != NULL ? (size_t)(dot - path) + 1 : 0;
            }
            while (length > 0 && strncmp(path, other, length) != 0) {
                length--;
                while (length > 0 && path[length - 1] != '.')
                    length--;
            }
        }
    }
    return length;
}

void report_map_verdicts(const struct report_map *view, const struct layout_line *line, char *text,
                         size_t bytes)
{
    text[0] = '\0';
    if (view->findings == NULL || view->findings->options.any_base)
        return;
    bool seen[LAYOUT_VERDICTS] = {false};
    for (size_t i = 0; i < view->findings->count; i++) {
        const struct layout_finding *finding = &view->findings->items[i];
        if (finding->line > line->last_number || finding->last_line < line->number ||
            seen[finding->verdict])
            continue;
        seen[finding->verdict] = true;
        append(text, bytes, "%s%s: %s (%s)", text[0] != '\0' ? "; " : "",
               layout_severity_name(finding->severity), layout_verdict_name(finding->verdict),
               layout_verdict_pair(finding->verdict));
    }
}

bool report_map_nest_shown(const struct layout_flat *flat, const struct layout_nest *nest)
{
    /* Anonymous parts share their parent's path. */
    return nest->path[0] != '\0' && nest->member != NULL && nest->member->name != NULL &&
           strcmp(nest->path, flat->nests[nest->parent].path) != 0;
}

/* The nest around @nest that is shown, or the outer type. */
static const struct layout_nest *shown_parent(const struct layout_flat *flat,
                                              const struct layout_nest *nest)
{
    const struct layout_nest *parent = &flat->nests[nest->parent];
    while (parent->depth > 0 && !report_map_nest_shown(flat, parent))
        parent = &flat->nests[parent->parent];
    return parent;
}

void report_map_chain(const struct layout_flat *flat, const struct layout_nest *nest, char *text,
                      size_t bytes)
{
    uint64_t parts[LAYOUT_DEPTH_MAX + 1];
    size_t count = 0;
    text[0] = '\0';
    for (const struct layout_nest *at = nest; at->depth > 0 && count <= LAYOUT_DEPTH_MAX;) {
        const struct layout_nest *parent = shown_parent(flat, at);
        parts[count++] = (at->bit_offset - parent->bit_offset) / 8;
        at = parent;
    }
    for (size_t i = count; i-- > 0;)
        append(text, bytes, "%s%" PRIu64, i + 1 < count ? " + " : "", parts[i]);
    if (count > 1)
        append(text, bytes, " = %" PRIu64, nest->bit_offset / 8);
}
