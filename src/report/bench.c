/* SPDX-License-Identifier: MIT */
/* Rows of benchmarks for people and for programs. */
#include "report/bench.h"

#include <math.h>
#include <stdio.h>

#include "base/check.h"
#include "report/grid.h"
#include "report/json_stream.h"

static const struct report_column columns[] = {
    {"case", true},    {"variant", true}, {"jobs", false}, {"metric", true},
    {"median", false}, {"least", false},  {"most", false}, {"unit", true},
};

/* Four digits that say something, or all before the point. */
static void value_cell(struct report_grid *grid, double value)
{
    char text[32];
    if (fabs(value) >= 1000) {
        report_grid_count(grid, (uint64_t)(value + 0.5));
        return;
    }
    snprintf(text, sizeof(text), "%.*f", fabs(value) < 10 ? 3 : 1, value);
    report_grid_cell(grid, text);
}

void report_bench(struct report_out *out, const struct measure_result *result)
{
    report_printf(out, "%s: %s\n\n", result->bench, result->machine);
    struct report_grid grid;
    report_grid_begin(&grid, columns, MGLRU_ARRAY_LEN(columns));
    for (size_t i = 0; i < result->count; i++) {
        const struct measure_row *row = &result->rows[i];
        report_grid_cell(&grid, row->test);
        report_grid_cell(&grid, row->variant);
        report_grid_count(&grid, row->jobs);
        report_grid_cell(&grid, row->metric);
        value_cell(&grid, row->median);
        value_cell(&grid, row->min);
        value_cell(&grid, row->max);
        report_grid_cell(&grid, row->unit);
    }
    report_grid_print(&grid, out);
}

static void row_json(struct report_json_stream *json, const struct measure_row *row)
{
    report_json_object(json, NULL);
    report_json_text(json, "case", row->test);
    report_json_text(json, "variant", row->variant);
    report_json_count(json, "jobs", row->jobs);
    report_json_count(json, "cpus", row->cpus);
    report_json_text(json, "metric", row->metric);
    report_json_text(json, "unit", row->unit);
    report_json_number(json, "median", row->median);
    report_json_number(json, "min", row->min);
    report_json_number(json, "max", row->max);
    report_json_count(json, "runs", row->runs);
    report_json_bool(json, "predicted", row->predicted);
    report_json_end(json);
}

void report_bench_json(struct report_out *out, const struct measure_result *result)
{
    struct report_json_stream json;
    report_json_begin(&json, out);
    report_json_object(&json, NULL);
    report_json_text(&json, "bench", result->bench);
    report_json_text(&json, "version", MGLRU_VERSION);
    report_json_text(&json, "machine", result->machine);
    report_json_array(&json, "rows");
    for (size_t i = 0; i < result->count; i++)
        row_json(&json, &result->rows[i]);
    report_json_end(&json);
    report_json_end(&json);
}
