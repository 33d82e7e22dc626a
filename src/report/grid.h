/* SPDX-License-Identifier: MIT */
/*
 * An aligned table of text. Cells are added row by row, left to right; printing finds the widths
 * and leaves out columns in which no cell says anything ("" and "-" say nothing).
 *
 * Invariant: cells holds rows x column_count strings once every row is complete.
 * When memory runs out the grid remembers it and printing puts the error into the output.
 */
#ifndef REPORT_GRID_H
#define REPORT_GRID_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/out.h"

struct report_column {
    const char *title;
    bool left; /* aligned left, as words are; numbers stand right */
};

struct report_grid {
    const struct report_column *columns; /* the caller's; live until the grid is printed */
    size_t column_count;
    char **cells;
    size_t cell_count;
    size_t cell_capacity;
    bool failed; /* out of memory */
};

void report_grid_begin(struct report_grid *grid, const struct report_column *columns,
                       size_t column_count);

/* Adds a cell with a copy of @text; NULL is "-". */
void report_grid_cell(struct report_grid *grid, const char *text);

/* Adds a cell with @count in groups of thousands. */
void report_grid_count(struct report_grid *grid, uint64_t count);

/* An empty line between two rows; call it between complete rows. */
void report_grid_gap(struct report_grid *grid);

/* Prints title line and rows into @out, nothing without rows, and frees the cells. */
void report_grid_print(struct report_grid *grid, struct report_out *out);

#endif
