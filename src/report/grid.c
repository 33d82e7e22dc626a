/* SPDX-License-Identifier: MIT */
/* Aligned tables; see grid.h. A gap is a row whose first cell is GAP. */
#include "report/grid.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report/number.h"

static const char GAP[] = "\n";

void report_grid_begin(struct report_grid *grid, const struct report_column *columns,
                       size_t column_count)
{
    *grid = (struct report_grid){.columns = columns, .column_count = column_count};
}

/* Room for one more cell. */
static bool grow(struct report_grid *grid)
{
    if (grid->failed)
        return false;
    if (grid->cell_count < grid->cell_capacity)
        return true;
    size_t capacity = grid->cell_capacity == 0 ? 128 : grid->cell_capacity * 2;
    char **cells = realloc(grid->cells, capacity * sizeof(*cells));
    if (cells == NULL) {
        grid->failed = true;
        return false;
    }
    grid->cells = cells;
    grid->cell_capacity = capacity;
    return true;
}

void report_grid_cell(struct report_grid *grid, const char *text)
{
    if (!grow(grid))
        return;
    char *copy = strdup(text != NULL ? text : "-");
    if (copy == NULL) {
        grid->failed = true;
        return;
    }
    grid->cells[grid->cell_count++] = copy;
}

void report_grid_count(struct report_grid *grid, uint64_t count)
{
    char text[REPORT_NUMBER_BYTES];
    report_number_count(count, text, sizeof(text));
    report_grid_cell(grid, text);
}

void report_grid_gap(struct report_grid *grid)
{
    report_grid_cell(grid, GAP);
    for (size_t i = 1; i < grid->column_count; i++)
        report_grid_cell(grid, "");
}

/* Characters of a UTF-8 text: bytes that do not continue a character. */
static size_t width_of(const char *text)
{
    size_t width = 0;
    for (; *text != '\0'; text++)
        width += ((unsigned char)*text & 0xc0) != 0x80;
    return width;
}

static bool says_nothing(const char *text)
{
    return text[0] == '\0' || strcmp(text, "-") == 0 || strcmp(text, GAP) == 0;
}

/* Width of column @column; 0 when no cell says anything. */
static size_t column_width(const struct report_grid *grid, size_t column)
{
    size_t width = 0;
    for (size_t i = column; i < grid->cell_count; i += grid->column_count) {
        size_t cell = width_of(grid->cells[i]);
        if (!says_nothing(grid->cells[i]) && cell > width)
            width = cell;
    }
    size_t title = width_of(grid->columns[column].title);
    return width > 0 && title > width ? title : width;
}

static void print_blanks(struct report_out *out, size_t count)
{
    report_printf(out, "%*s", (int)count, "");
}

/* Prints one line of @texts; blanks are put off until something follows them. */
static void print_line(const struct report_grid *grid, const size_t *widths, char *const *texts,
                       struct report_out *out)
{
    size_t blanks = 0;
    for (size_t i = 0; i < grid->column_count; i++) {
        if (widths[i] == 0)
            continue;
        const char *text = texts != NULL ? texts[i] : grid->columns[i].title;
        size_t pad = widths[i] - width_of(text);
        if (!grid->columns[i].left)
            blanks += pad;
        if (text[0] != '\0') {
            print_blanks(out, blanks);
            report_printf(out, "%s", text);
            blanks = 0;
        }
        if (grid->columns[i].left)
            blanks += pad;
        blanks += 2;
    }
    report_printf(out, "\n");
}

static void print_rows(const struct report_grid *grid, const size_t *widths, struct report_out *out)
{
    print_line(grid, widths, NULL, out);
    for (size_t i = 0; i + grid->column_count <= grid->cell_count; i += grid->column_count) {
        if (strcmp(grid->cells[i], GAP) == 0)
            report_printf(out, "\n");
        else
            print_line(grid, widths, grid->cells + i, out);
    }
}

void report_grid_print(struct report_grid *grid, struct report_out *out)
{
    size_t *widths = calloc(grid->column_count, sizeof(*widths));
    if (widths == NULL || grid->failed) {
        if (out->error_errno == 0)
            out->error_errno = ENOMEM;
    } else if (grid->cell_count > 0) {
        for (size_t i = 0; i < grid->column_count; i++)
            widths[i] = column_width(grid, i);
        print_rows(grid, widths, out);
    }
    free(widths);
    for (size_t i = 0; i < grid->cell_count; i++)
        free(grid->cells[i]);
    free(grid->cells);
    *grid = (struct report_grid){0};
}
