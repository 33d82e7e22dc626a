/* SPDX-License-Identifier: MIT */
/*
 * The lines of an outer type, each cut into cells from its first byte to its last: what a map
 * draws.
 *
 * A cell is the part of a field on one line, a run of small neighbours of one class, the members of
 * a union together, a hole, padding, or what lies outside of the object. Lines that one and the
 * same field fills are one entry.
 *
 * Cells and lines belong to the lines and point into the map, which must outlive them. One thread.
 */
#ifndef LAYOUT_LINES_H
#define LAYOUT_LINES_H

#include "layout/classify.h"
#include "layout/conflicts.h"

enum layout_cell_kind {
    LAYOUT_CELL_FIELD,
    LAYOUT_CELL_UNION, /* fields that lie over each other */
    LAYOUT_CELL_HOLE,
    LAYOUT_CELL_PADDING,
    LAYOUT_CELL_OUTSIDE /* before the object's first byte or behind its last */
};

struct layout_cell {
    const struct layout_field **fields; /* of FIELD and UNION; into the lines' own list */
    size_t field_count;
    uint64_t first_bit; /* of the object; both ends included; of OUTSIDE counted from the line */
    uint64_t last_bit;
    enum layout_cell_kind kind;
};

struct layout_line {
    struct layout_cell *cells;
    size_t cell_count;
    uint64_t number;      /* of the line */
    uint64_t last_number; /* of a run that one field fills */
    uint64_t first_byte;  /* of the object, on the first of the lines */
    uint64_t last_byte;   /* on the last of them */
    int severity;         /* enum layout_severity of the worst finding on it; -1: none */
};

struct layout_lines {
    struct layout_line *lines;
    size_t line_count;
    struct layout_conflict_options options;
    void *memory;
};

/*
 * Cuts the type of @map. @findings may be NULL. With any_base in @options the object starts on a
 * line's first byte. @lines: filled in; empty after an error; freed with layout_lines_free().
 * 0; MGLRU_ENOMEM; MGLRU_EOVERFLOW: more than LAYOUT_LINES_MAX entries.
 */
int layout_lines_cut(const struct layout_map *map, const struct layout_findings *findings,
                     const struct layout_conflict_options *options, struct layout_lines *lines);
void layout_lines_free(struct layout_lines *lines);

/* Chosen: 64 MB in lines of 64 bytes, when no array fills them. */
#define LAYOUT_LINES_MAX 1000000u

#endif
