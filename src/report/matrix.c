/* SPDX-License-Identifier: MIT */
/*
 * The summary under the table: one row a policy and model, one column a memory size (or turned
 * about when there are many sizes), miss ratios in the cells. It answers "which one, at which size"
 * at one look.
 */
#include "report/report.h"

#include <string.h>

#include "report/curves.h"
#include "report/grid.h"
#include "report/number.h"

/* More are a curve, which the plot shows better. */
#define SIZES_MAX 12
#define SIZES_BESIDE_MAX 8 /* of eight characters, beside a label: 80 columns */

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

/* The miss ratio of @curve at size @x; "-" when it has none. */
static void add_ratio(struct report_grid *grid, const struct report_curve *curve, double x)
{
    char text[REPORT_NUMBER_BYTES] = "-";
    for (size_t i = 0; i < curve->count; i++)
        if (curve->points[i].x == x)
            snprintf(text, sizeof(text), "%s%.2f%%", curve->points[i].oom ? "OOM " : "",
                     curve->points[i].y);
    report_grid_cell(grid, text);
}

static void fill_by_curve(struct report_grid *grid, const struct report_curves *curves,
                          const struct sizes *sizes)
{
    for (size_t i = 0; i < curves->count; i++) {
        report_grid_cell(grid, curves->curves[i].label);
        for (size_t j = 0; j < sizes->count; j++)
            add_ratio(grid, &curves->curves[i], sizes->x[j]);
    }
}

static void fill_by_size(struct report_grid *grid, const struct report_curves *curves,
                         const struct sizes *sizes, char titles[][REPORT_NUMBER_BYTES])
{
    for (size_t i = 0; i < sizes->count; i++) {
        report_grid_cell(grid, titles[i]);
        for (size_t j = 0; j < curves->count; j++)
            add_ratio(grid, &curves->curves[j], sizes->x[i]);
    }
}

static void print_matrix(struct report_out *out, const struct report_curves *curves,
                         const struct sizes *sizes)
{
    struct report_grid grid;
    struct report_column columns[SIZES_MAX + 1] = {{"miss ratio", true}};
    char titles[SIZES_MAX][REPORT_NUMBER_BYTES];
    /* Many sizes stand below each other, so that the lines fit into 80 columns. */
    bool by_size = sizes->count > SIZES_BESIDE_MAX && curves->count < sizes->count;
    for (size_t i = 0; i < sizes->count; i++)
        report_number_size((uint64_t)sizes->x[i], titles[i], sizeof(titles[i]));
    size_t count = by_size ? curves->count : sizes->count;
    for (size_t i = 0; i < count; i++)
        columns[i + 1].title = by_size ? curves->curves[i].label : titles[i];
    report_grid_begin(&grid, columns, count + 1);
    if (by_size)
        fill_by_size(&grid, curves, sizes, titles);
    else
        fill_by_curve(&grid, curves, sizes);
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
