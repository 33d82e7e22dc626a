/* SPDX-License-Identifier: MIT */
/* The comparison as a table. */
#include "table.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>

#define CELL_BYTES 48

bool table_add(struct table *table, const struct row *row)
{
    if (table->count == table->capacity) {
        size_t capacity = table->capacity ? 2 * table->capacity : 64;
        struct row *rows = realloc(table->rows, capacity * sizeof(*rows));
        if (!rows)
            return false;
        table->rows = rows;
        table->capacity = capacity;
    }
    table->rows[table->count++] = *row;
    return true;
}

void table_free(struct table *table)
{
    free(table->rows);
    *table = (struct table){0};
}

size_t table_outside(const struct table *table)
{
    size_t outside = 0;
    for (size_t i = 0; i < table->count; i++)
        outside += table->rows[i].verdict == VERDICT_OUTSIDE;
    return outside;
}

static double deviation(const struct row *row)
{
    double theirs = (double)row->theirs;
    if (row->theirs == 0)
        return row->ours == 0 ? 0 : 100;
    return 100.0 * ((double)row->ours - theirs) / theirs;
}

static double differing_percent(const struct row *row)
{
    return row->accesses ? 100.0 * (double)row->differing / (double)row->accesses : 0;
}

static const char *verdict_text(enum verdict verdict)
{
    switch (verdict) {
    case VERDICT_INSIDE:
        return "ok";
    case VERDICT_OUTSIDE:
        return "OUT";
    case VERDICT_STUDY:
        break;
    }
    return "-";
}

static void cell_bound(const struct row *row, char cell[CELL_BYTES])
{
    if (row->exact)
        snprintf(cell, CELL_BYTES, "exact");
    else if (row->bound.kind == BOUND_NONE)
        snprintf(cell, CELL_BYTES, "-");
    else
        snprintf(cell, CELL_BYTES, "%s%.4g", row->bound.kind == BOUND_RANGE ? "range+" : "",
                 row->bound.percent);
}

static void cell_differing(const struct row *row, char cell[CELL_BYTES])
{
    if (row->accesses == 0 || row->exact)
        snprintf(cell, CELL_BYTES, "-");
    else if (row->bound.differing_percent > 0)
        snprintf(cell, CELL_BYTES, "%" PRIu64 " (%.3f%% of %.3g%%)", row->differing,
                 differing_percent(row), row->bound.differing_percent);
    else
        snprintf(cell, CELL_BYTES, "%" PRIu64 " (%.3f%%)", row->differing, differing_percent(row));
}

static void cell_range(const struct row *row, char cell[CELL_BYTES])
{
    if (row->low == row->high)
        snprintf(cell, CELL_BYTES, "-");
    else
        snprintf(cell, CELL_BYTES, "%" PRIu64 "..%" PRIu64, row->low, row->high);
}

void table_print_head(FILE *out)
{
    fprintf(out, "%-5s %-21s %-12s %-15s %9s %9s %8s %8s %-4s %-22s %-17s %s\n", "model",
            "scenario", "mode", "figure", "kernel", "ours", "dev %", "bound %", "",
            "accesses differing", "over schedules", "note");
}

void table_print_row(FILE *out, const struct row *row)
{
    char bound[CELL_BYTES];
    char differing[CELL_BYTES];
    char range[CELL_BYTES];
    cell_bound(row, bound);
    cell_differing(row, differing);
    cell_range(row, range);
    fprintf(out,
            "%-5s %-21s %-12s %-15s %9" PRIu64 " %9" PRIu64 " %+8.3f %8s %-4s %-22s %-17s %s\n",
            row->kernel, row->name, row->mode, row->what, row->theirs, row->ours, deviation(row),
            bound, verdict_text(row->verdict), differing, range, row->note);
}

void table_print_summary(FILE *out, const struct table *table)
{
    size_t bound = 0;
    for (size_t i = 0; i < table->count; i++)
        bound += table->rows[i].verdict != VERDICT_STUDY;
    size_t outside = table_outside(table);
    fprintf(out, "%zu figures, %zu with a bound, %zu inside, %zu outside\n", table->count, bound,
            bound - outside, outside);
    for (size_t i = 0; i < table->count && outside; i++)
        if (table->rows[i].verdict == VERDICT_OUTSIDE)
            table_print_row(out, &table->rows[i]);
}

void table_print_markdown(FILE *out, const struct table *table)
{
    fputs(
        "| kernel | scenario | mode | figure | kernel's | ours | deviation % | bound % | inside | "
        "accesses judged differently | ours over flush schedules | note |\n"
        "|---|---|---|---|---:|---:|---:|---:|---|---|---|---|\n",
        out);
    for (size_t i = 0; i < table->count; i++) {
        const struct row *row = &table->rows[i];
        char bound[CELL_BYTES];
        char differing[CELL_BYTES];
        char range[CELL_BYTES];
        cell_bound(row, bound);
        cell_differing(row, differing);
        cell_range(row, range);
        fprintf(out,
                "| %s | %s | %s | %s | %" PRIu64 " | %" PRIu64
                " | %+.3f | %s | %s | %s | %s | %s |\n",
                row->kernel, row->name, row->mode, row->what, row->theirs, row->ours,
                deviation(row), bound, verdict_text(row->verdict), differing, range, row->note);
    }
}

static json_object *row_json(const struct row *row)
{
    json_object *object = json_object_new_object();
    if (!object)
        return NULL;
    json_object_object_add(object, "kernel", json_object_new_string(row->kernel));
    json_object_object_add(object, "scenario", json_object_new_string(row->name));
    json_object_object_add(object, "mode", json_object_new_string(row->mode));
    json_object_object_add(object, "figure", json_object_new_string(row->what));
    json_object_object_add(object, "note", json_object_new_string(row->note));
    json_object_object_add(object, "theirs", json_object_new_uint64(row->theirs));
    json_object_object_add(object, "theirs_least", json_object_new_uint64(row->least));
    json_object_object_add(object, "theirs_most", json_object_new_uint64(row->most));
    json_object_object_add(object, "ours", json_object_new_uint64(row->ours));
    json_object_object_add(object, "ours_low", json_object_new_uint64(row->low));
    json_object_object_add(object, "ours_high", json_object_new_uint64(row->high));
    json_object_object_add(object, "deviation_percent", json_object_new_double(deviation(row)));
    json_object_object_add(object, "accesses", json_object_new_uint64(row->accesses));
    json_object_object_add(object, "differing", json_object_new_uint64(row->differing));
    json_object_object_add(object, "bound_percent", json_object_new_double(row->bound.percent));
    json_object_object_add(object, "verdict", json_object_new_string(verdict_text(row->verdict)));
    return object;
}

bool table_print_json(FILE *out, const struct table *table)
{
    json_object *root = json_object_new_object();
    json_object *rows = json_object_new_array();
    if (!root || !rows)
        return false;
    for (size_t i = 0; i < table->count; i++)
        json_object_array_add(rows, row_json(&table->rows[i]));
    json_object_object_add(root, "rows", rows);
    json_object_object_add(root, "outside", json_object_new_uint64(table_outside(table)));
    fputs(json_object_to_json_string_ext(root, JSON_C_TO_STRING_PLAIN), out);
    fputc('\n', out);
    json_object_put(root);
    return !ferror(out);
}
