/* SPDX-License-Identifier: MIT */
/*
 * The summary under the table: one row a policy and model, one column a memory size, miss ratios
 * in the cells. It answers "which one, at which size" at one look.
 */
#include "report/report.h"

#include <string.h>

#include "report/curves.h"
#include "report/grid.h"
#include "report/number.h"

/* Columns that still fit a terminal of usual width beside the longest label. */
#define SIZES_MAX 12

struct sizes {
    double x[SIZES_MAX];
    size_t count;
    bool too_many;
};

static void add_size(struct sizes *sizes, double x)
{
    size_t i = 0;
    while (i < sizes->count && sizes->x[i] < x)
        i++;
    if (i < sizes->count && sizes->x[i] == x)
        return;
    if (sizes->count == SIZES_MAX) {
        sizes->too_many = true;
        return;
    }
    memmove(&sizes->x[i + 1], &sizes->x[i], (sizes->count - i) * sizeof(sizes->x[0]));
    sizes->x[i] = x;
    sizes->count++;
}

static void add_row(struct report_grid *grid, const struct report_curve *curve,
                    const struct sizes *sizes)
{
    report_grid_cell(grid, curve->label);
    for (size_t i = 0; i < sizes->count; i++) {
        char text[REPORT_NUMBER_BYTES] = "-";
        for (size_t j = 0; j < curve->count; j++)
            if (curve->points[j].x == sizes->x[i])
                snprintf(text, sizeof(text), "%s%.2f%%", curve->points[j].oom ? "OOM " : "",
                         curve->points[j].y);
        report_grid_cell(grid, text);
    }
}

static void print_matrix(struct report_out *out, const struct report_curves *curves,
                         const struct sizes *sizes)
{
    struct report_grid grid;
    struct report_column columns[SIZES_MAX + 1] = {{"miss ratio", true}};
    char titles[SIZES_MAX][REPORT_NUMBER_BYTES];
    for (size_t i = 0; i < sizes->count; i++) {
        report_number_size((uint64_t)sizes->x[i], titles[i], sizeof(titles[i]));
        columns[i + 1].title = titles[i];
    }
    report_grid_begin(&grid, columns, sizes->count + 1);
    for (size_t i = 0; i < curves->count; i++)
        add_row(&grid, &curves->curves[i], sizes);
    report_printf(out, "\n");
    report_grid_print(&grid, out);
}

void report_matrix(struct report_out *out, const struct replay_result *result)
{
    struct report_curves curves;
    struct sizes sizes = {.count = 0};
    if (report_curves_find(result, &curves) != 0)
        return;
    for (size_t i = 0; i < curves.count; i++)
        for (size_t j = 0; j < curves.curves[i].count; j++)
            add_size(&sizes, curves.curves[i].points[j].x);
    if (!curves.series && curves.count > 1 && !sizes.too_many)
        print_matrix(out, &curves, &sizes);
    report_curves_free(&curves);
}
