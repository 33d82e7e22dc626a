/* SPDX-License-Identifier: MIT */
/*
 * Lines cut into cells; see lines.h.
 *
 * Fields are sorted by place and swept once. A line's cells are those of the fields that reach into
 * it; what no field covers is a hole, and behind the last field of the type padding.
 */
#include "layout/lines.h"

#include <stdlib.h>
#include <string.h>

#include <mglru/error.h>

#include "layout/read/arena.h"

/* Neighbours up to this size may share a cell. */
#define SMALL_BITS 64u

struct cutter {
    const struct layout_map *map;
    struct layout_lines *lines;
    const struct layout_field **sorted; /* fields with bits, by place */
    size_t sorted_count;
    struct arena *arena;
    uint64_t line_bits;
    uint64_t base_bits;
    uint64_t size_bits;
    uint64_t end_bits; /* of the last field */
    size_t capacity;
    size_t next; /* first of sorted that may reach into the present line */
};

static int by_place(const void *left, const void *right)
{
    const struct layout_field *a = *(const struct layout_field *const *)left;
    const struct layout_field *b = *(const struct layout_field *const *)right;
    if (a->bit_offset != b->bit_offset)
        return a->bit_offset < b->bit_offset ? -1 : 1;
    return (a > b) - (a < b);
}

static int sort_fields(struct cutter *cutter)
{
    const struct layout_map *map = cutter->map;
    cutter->sorted = calloc(map->field_count + 1, sizeof(const struct layout_field *));
    if (cutter->sorted == NULL)
        return MGLRU_ENOMEM;
    for (size_t i = 0; i < map->field_count; i++) {
        const struct layout_field *field = &map->fields[i];
        if (field->bit_size == 0)
            continue;
        cutter->sorted[cutter->sorted_count++] = field;
        if (field->bit_offset + field->bit_size > cutter->end_bits)
            cutter->end_bits = field->bit_offset + field->bit_size;
    }
    qsort(cutter->sorted, cutter->sorted_count, sizeof(*cutter->sorted), by_place);
    return MGLRU_OK;
}

/* A cell under construction, with room for the fields that may still join. */
struct builder {
    struct layout_cell *cells;
    size_t count;
    size_t capacity;
    const struct layout_field **fields;
    size_t field_count;
    size_t field_capacity;
};

static struct layout_cell *push_cell(struct builder *builder)
{
    if (builder->count == builder->capacity) {
        size_t capacity = builder->capacity != 0 ? builder->capacity * 2 : 16;
        struct layout_cell *more = realloc(builder->cells, capacity * sizeof(*more));
        if (more == NULL)
            return NULL;
        builder->cells = more;
        builder->capacity = capacity;
    }
    struct layout_cell *cell = &builder->cells[builder->count++];
    *cell = (struct layout_cell){0};
    return cell;
}

static bool push_field(struct builder *builder, const struct layout_field *field)
{
    if (builder->field_count == builder->field_capacity) {
        size_t capacity = builder->field_capacity != 0 ? builder->field_capacity * 2 : 16;
        const struct layout_field **more =
            realloc(builder->fields, capacity * sizeof(const struct layout_field *));
        if (more == NULL)
            return false;
        builder->fields = more;
        builder->field_capacity = capacity;
    }
    builder->fields[builder->field_count++] = field;
    return true;
}

/* Length of the path without its last part. */
static size_t parent_length(const char *path)
{
    const char *dot = strrchr(path, '.');
    return dot != NULL ? (size_t)(dot - path) : 0;
}

static bool same_parent(const struct layout_field *a, const struct layout_field *b)
{
    size_t length = parent_length(a->path);
    return length == parent_length(b->path) && strncmp(a->path, b->path, length) == 0;
}

/* True when @field continues the last cell: a small neighbour of the same class, or another member
 * of the same union. */
static bool joins(const struct builder *builder, const struct layout_field *field, uint64_t first)
{
    if (builder->count == 0)
        return false;
    const struct layout_cell *cell = &builder->cells[builder->count - 1];
    if (cell->field_count == 0)
        return false;
    const struct layout_field *last = builder->fields[builder->field_count - 1];
    if (field->union_id != 0 && field->union_id == last->union_id)
        return true;
    /* Members that overlap in a struct are drawn together as well. */
    if (first <= cell->last_bit)
        return true;
    return cell->kind == LAYOUT_CELL_FIELD && last->union_id == 0 && field->union_id == 0 &&
           first == cell->last_bit + 1 && last->bit_size <= SMALL_BITS / 2 &&
           field->bit_size <= SMALL_BITS / 2 && last->use == field->use &&
           last->element_bits == 0 && field->element_bits == 0 && same_parent(last, field);
}

static bool add_gap(struct cutter *cutter, struct builder *builder, uint64_t first, uint64_t last)
{
    struct layout_cell *cell = push_cell(builder);
    if (cell == NULL)
        return false;
    cell->kind = first >= cutter->end_bits ? LAYOUT_CELL_PADDING : LAYOUT_CELL_HOLE;
    cell->first_bit = first;
    cell->last_bit = last;
    return true;
}

static bool add_field(struct builder *builder, const struct layout_field *field, uint64_t first,
                      uint64_t last)
{
    bool join = joins(builder, field, first);
    struct layout_cell *cell = join ? &builder->cells[builder->count - 1] : push_cell(builder);
    if (cell == NULL || !push_field(builder, field))
        return false;
    if (!join)
        *cell = (struct layout_cell){.first_bit = first, .last_bit = last};
    if (join && (first <= cell->last_bit || field->union_id != 0))
        cell->kind = LAYOUT_CELL_UNION;
    cell->field_count++;
    if (last > cell->last_bit)
        cell->last_bit = last;
    return true;
}

static bool add_outside(struct builder *builder, uint64_t bits)
{
    struct layout_cell *cell = bits > 0 ? push_cell(builder) : NULL;
    if (cell != NULL)
        *cell = (struct layout_cell){.kind = LAYOUT_CELL_OUTSIDE, .last_bit = bits - 1};
    return bits == 0 || cell != NULL;
}

/* Cells of the object's bits [@first, @last], which lie on one line. */
static bool build_cells(struct cutter *cutter, struct builder *builder, uint64_t first,
                        uint64_t last)
{
    uint64_t at = first;
    while (cutter->next < cutter->sorted_count &&
           cutter->sorted[cutter->next]->bit_offset + cutter->sorted[cutter->next]->bit_size <=
               first)
        cutter->next++;
    for (size_t i = cutter->next; i < cutter->sorted_count; i++) {
        const struct layout_field *field = cutter->sorted[i];
        uint64_t end = field->bit_offset + field->bit_size - 1;
        if (field->bit_offset > last)
            break;
        if (end < first)
            continue;
        uint64_t from = field->bit_offset > first ? field->bit_offset : first;
        uint64_t to = end < last ? end : last;
        if (from > at && !add_gap(cutter, builder, at, from - 1))
            return false;
        if (!add_field(builder, field, from, to))
            return false;
        at = to + 1 > at ? to + 1 : at;
    }
    return at > last || add_gap(cutter, builder, at, last);
}

/* Moves what was built into the arena. */
static bool keep_cells(struct cutter *cutter, const struct builder *builder,
                       struct layout_line *line)
{
    const struct layout_field **fields = arena_alloc(
        cutter->arena, (builder->field_count + 1) * sizeof(const struct layout_field *));
    line->cells = arena_alloc(cutter->arena, (builder->count + 1) * sizeof(*line->cells));
    if (fields == NULL || line->cells == NULL)
        return false;
    if (builder->field_count > 0)
        memcpy(fields, builder->fields, builder->field_count * sizeof(const struct layout_field *));
    line->cell_count = builder->count;
    for (size_t i = 0; i < builder->count; i++) {
        line->cells[i] = builder->cells[i];
        line->cells[i].fields = fields;
        fields += builder->cells[i].field_count;
    }
    return true;
}

/* How many lines from @number on the field at @first fills whole; 0: none. */
static uint64_t filled_lines(const struct cutter *cutter, uint64_t first)
{
    size_t i = cutter->next;
    while (i < cutter->sorted_count &&
           cutter->sorted[i]->bit_offset + cutter->sorted[i]->bit_size <= first)
        i++;
    if (i == cutter->sorted_count || cutter->sorted[i]->bit_offset > first)
        return 0;
    const struct layout_field *field = cutter->sorted[i];
    uint64_t end = field->bit_offset + field->bit_size;
    /* Nothing may lie over it. */
    if (field->union_id != 0 ||
        (i + 1 < cutter->sorted_count && cutter->sorted[i + 1]->bit_offset < end))
        return 0;
    return (end - first) / cutter->line_bits;
}

static struct layout_line *push_line(struct cutter *cutter)
{
    struct layout_lines *lines = cutter->lines;
    if (lines->line_count == cutter->capacity) {
        size_t capacity = cutter->capacity != 0 ? cutter->capacity * 2 : 64;
        struct layout_line *more = realloc(lines->lines, capacity * sizeof(*more));
        if (more == NULL)
            return NULL;
        lines->lines = more;
        cutter->capacity = capacity;
    }
    struct layout_line *line = &lines->lines[lines->line_count++];
    *line = (struct layout_line){.severity = -1};
    return line;
}

/* Cuts line @number; *@next: the line behind the entry. */
static int cut_line(struct cutter *cutter, uint64_t number, uint64_t *next)
{
    uint64_t start = number * cutter->line_bits, line_end = start + cutter->line_bits;
    uint64_t first = start > cutter->base_bits ? start - cutter->base_bits : 0;
    uint64_t last = line_end - cutter->base_bits - 1;
    uint64_t run = start >= cutter->base_bits ? filled_lines(cutter, first) : 0;
    struct builder builder = {0};
    if (cutter->lines->line_count >= LAYOUT_LINES_MAX)
        return MGLRU_EOVERFLOW;
    struct layout_line *line = push_line(cutter);
    if (line == NULL)
        return MGLRU_ENOMEM;
    line->number = number;
    line->last_number = run > 1 ? number + run - 1 : number;
    last += (line->last_number - number) * cutter->line_bits;
    uint64_t behind = last >= cutter->size_bits ? last - cutter->size_bits + 1 : 0;
    last -= behind;
    line->first_byte = first / 8;
    line->last_byte = last / 8;
    bool ok = add_outside(&builder, start < cutter->base_bits ? cutter->base_bits - start : 0) &&
              build_cells(cutter, &builder, first, last) && add_outside(&builder, behind) &&
              keep_cells(cutter, &builder, line);
    free(builder.cells);
    free(builder.fields);
    *next = line->last_number + 1;
    return ok ? MGLRU_OK : MGLRU_ENOMEM;
}

/* Writes the worst finding of each line into it. */
static void mark(struct layout_lines *lines, const struct layout_findings *findings)
{
    for (size_t i = 0; findings != NULL && i < findings->count; i++) {
        const struct layout_finding *finding = &findings->items[i];
        /* With any base a finding belongs to no line of the map. */
        for (size_t j = 0; !findings->options.any_base && j < lines->line_count; j++) {
            struct layout_line *line = &lines->lines[j];
            if (line->number <= finding->last_line && line->last_number >= finding->line &&
                (int)finding->severity > line->severity)
                line->severity = (int)finding->severity;
        }
    }
}

int layout_lines_cut(const struct layout_map *map, const struct layout_findings *findings,
                     const struct layout_conflict_options *options, struct layout_lines *lines)
{
    *lines = (struct layout_lines){.options = *options};
    lines->memory = calloc(1, sizeof(struct arena));
    struct cutter cutter = {.map = map,
                            .lines = lines,
                            .arena = lines->memory,
                            .line_bits = options->line_bytes * 8,
                            .base_bits = options->any_base ? 0 : options->base_bytes * 8,
                            .size_bits = map->type->size_bytes * 8};
    int code = cutter.arena != NULL ? sort_fields(&cutter) : MGLRU_ENOMEM;
    uint64_t count =
        (cutter.base_bits + cutter.size_bits + cutter.line_bits - 1) / cutter.line_bits;
    for (uint64_t number = 0; code == MGLRU_OK && cutter.size_bits > 0 && number < count;)
        code = cut_line(&cutter, number, &number);
    free(cutter.sorted);
    if (code != MGLRU_OK) {
        layout_lines_free(lines);
        return code;
    }
    mark(lines, findings);
    return MGLRU_OK;
}

void layout_lines_free(struct layout_lines *lines)
{
    free(lines->lines);
    if (lines->memory != NULL)
        arena_free(lines->memory);
    free(lines->memory);
    *lines = (struct layout_lines){0};
}
