/* SPDX-License-Identifier: MIT */
/*
 * The tables that a replay prints: figures of each run, figures of each memcg, and the explanation
 * of what was evicted too early.
 */
#include "report/report.h"

#include <inttypes.h>
#include <string.h>

#include "base/check.h"
#include "report/grid.h"
#include "report/number.h"

/* Sum of the counters whose names start with @prefix; *found tells whether there is any. */
static uint64_t stat_sum(const struct replay_figures *figures, const char *prefix, bool *found)
{
    uint64_t sum = 0;
    *found = false;
    for (size_t i = 0; i < figures->stats; i++) {
        if (strncmp(figures->stat[i].name, prefix, strlen(prefix)) != 0)
            continue;
        sum += figures->stat[i].value;
        *found = true;
    }
    return sum;
}

/* The counter @name; 0 when there is none. */
static uint64_t stat_value(const struct replay_figures *figures, const char *name, bool *found)
{
    *found = false;
    for (size_t i = 0; i < figures->stats; i++) {
        if (strcmp(figures->stat[i].name, name) == 0) {
            *found = true;
            return figures->stat[i].value;
        }
    }
    return 0;
}

static void cell_or_dash(struct report_grid *grid, bool known, uint64_t count)
{
    if (known)
        report_grid_count(grid, count);
    else
        report_grid_cell(grid, NULL);
}

static const struct report_column figure_columns[] = {
    {"memcg", true},          {"policy", true},    {"model", true},      {"aging", true},
    {"memory", false},        {"accesses", false}, {"misses", false},    {"miss ratio", false},
    {"pages read", false},    {"ahead", false},    {"wasted", false},    {"written", false},
    {"first touches", false}, {"refaults", false}, {"reclaimed", false}, {"aged", false},
    {"remarks", true},
};

/* What the columns of this result show; decided once, the same for all sections. */
struct table_shape {
    bool aging;      /* how runs were aged tells something */
    bool pages_read; /* some run read more or fewer pages than it missed */
    bool ahead;      /* some run read ahead */
    bool written;    /* some run wrote */
};

/* The columns from accesses to aged. */
static void add_figures(struct report_grid *grid, const struct replay_run *run,
                        const struct replay_figures *figures, const struct table_shape *shape)
{
    char text[REPORT_NUMBER_BYTES];
    bool known;
    report_grid_count(grid, figures->accesses);
    report_grid_count(grid, figures->misses);
    report_number_percent(figures->misses, figures->accesses, text, sizeof(text));
    report_grid_cell(grid, text);
    cell_or_dash(grid, shape->pages_read, figures->pages_read);
    cell_or_dash(grid, shape->ahead, figures->readahead_pages);
    cell_or_dash(grid, shape->ahead, figures->readahead_wasted);
    cell_or_dash(grid, shape->written, figures->pages_written);
    cell_or_dash(grid, figures->first_touches > 0, figures->first_touches);
    uint64_t refaults = stat_sum(figures, "workingset_refault_", &known);
    cell_or_dash(grid, known, refaults);
    uint64_t reclaimed = stat_value(figures, "pgsteal", &known);
    cell_or_dash(grid, known, reclaimed);
    cell_or_dash(grid, run->aging != NULL, figures->aged);
}

/* What the figures alone do not tell: OOM, what was not replayed after it, and the flush schedule
 * that classic's depend on. */
static void add_remarks(struct report_grid *grid, const struct replay_run *run, bool oom,
                        uint64_t skipped)
{
    char lost[32 + REPORT_NUMBER_BYTES] = "";
    char count[REPORT_NUMBER_BYTES];
    char text[sizeof(lost) + 96];
    const char *flush = run->stat_flush;
    report_number_count(skipped, count, sizeof(count));
    if (oom && skipped > 0)
        snprintf(lost, sizeof(lost), "OOM, %s skipped", count);
    else if (oom)
        snprintf(lost, sizeof(lost), "OOM");
    snprintf(text, sizeof(text), "%s%s%s%s", lost, oom && flush != NULL ? ", " : "",
             flush != NULL ? "stat flush " : "", flush != NULL ? flush : "");
    report_grid_cell(grid, text);
}

/* True when @run was aged otherwise than its model does by itself, as far as the result tells. */
static bool aging_matters(const struct replay_result *result, const struct replay_run *run)
{
    if (run->aging == NULL || run->model == NULL)
        return false;
    if (strcmp(run->aging, "splice") == 0) /* counts no protected pages: to be said */
        return true;
    for (size_t i = 0; i < result->run_count; i++) {
        const struct replay_run *other = &result->runs[i];
        if (other->aging != NULL && other->model != NULL &&
            strcmp(other->policy, run->policy) == 0 && strcmp(other->model, run->model) == 0 &&
            strcmp(other->aging, run->aging) != 0)
            return true;
    }
    return false;
}

static struct table_shape shape_of(const struct replay_result *result)
{
    struct table_shape shape = {.aging = false};
    for (size_t i = 0; i < result->run_count; i++) {
        const struct replay_figures *figures = &result->runs[i].figures;
        shape.aging = shape.aging || aging_matters(result, &result->runs[i]);
        shape.pages_read = shape.pages_read || figures->pages_read != figures->misses;
        shape.ahead = shape.ahead || figures->readahead_pages > 0;
        shape.written = shape.written || figures->pages_written > 0;
    }
    return shape;
}

/* The columns from memcg to memory. */
static void add_identity(struct report_grid *grid, const struct replay_run *run, const char *memcg,
                         const struct table_shape *shape)
{
    char text[REPORT_NUMBER_BYTES];
    report_grid_cell(grid, memcg);
    report_grid_cell(grid, run->policy);
    report_grid_cell(grid, run->model);
    report_grid_cell(grid, shape->aging ? run->aging : NULL);
    report_number_size(run->memory_bytes, text, sizeof(text));
    report_grid_cell(grid, run->memory_bytes > 0 ? text : "trace's");
}

static void add_line_about_trace(struct report_out *out, const struct replay_trace_info *trace)
{
    char count[REPORT_NUMBER_BYTES];
    report_number_count(trace->accesses, count, sizeof(count));
    report_printf(out, "%s: %s page accesses", trace->path != NULL ? trace->path : "trace", count);
    if (trace->requests != trace->accesses) {
        report_number_count(trace->requests, count, sizeof(count));
        report_printf(out, " in %s requests", count);
    }
    report_number_size(trace->page_bytes, count, sizeof(count));
    if (trace->distinct_pages > 0) {
        char pages[REPORT_NUMBER_BYTES];
        report_number_count(trace->distinct_pages, pages, sizeof(pages));
        report_printf(out, ", %s pages of %s", pages, count);
    } else {
        report_printf(out, ", pages of %s", count);
    }
    report_printf(out, ", %s\n", trace->format != NULL ? trace->format : "unknown format");
    if (trace->recorded.events_lost > 0) {
        report_number_count(trace->recorded.events_lost, count, sizeof(count));
        report_printf(out, "%s events were lost while it was recorded: accesses are missing\n",
                      count);
    }
    report_printf(out, "\n");
}

static const struct replay_memcg *find_memcg(const struct replay_run *run, const char *path)
{
    for (size_t i = 0; i < run->memcg_count; i++)
        if (strcmp(run->memcgs[i].path, path) == 0)
            return &run->memcgs[i];
    return NULL;
}

/* True when an earlier run than @run has @path, which has been shown with it then. */
static bool shown_before(const struct replay_result *result, size_t run, const char *path)
{
    for (size_t i = 0; i < run; i++)
        if (find_memcg(&result->runs[i], path) != NULL)
            return true;
    return false;
}

/* Rows of one memcg, over all runs from @first on, so that they can be compared. */
static void add_memcg(struct report_grid *grid, const struct replay_result *result, size_t first,
                      const char *path)
{
    const struct table_shape shape = shape_of(result);
    const char *name = path;
    for (size_t i = first; i < result->run_count; i++) {
        const struct replay_run *run = &result->runs[i];
        const struct replay_memcg *memcg = find_memcg(run, path);
        if (memcg == NULL)
            continue;
        add_identity(grid, run, name, &shape);
        add_figures(grid, run, &memcg->figures, &shape);
        add_remarks(grid, run, memcg->oom_events > 0, memcg->skipped);
        name = "";
    }
}

static void print_memcgs(struct report_out *out, const struct replay_result *result)
{
    struct report_grid grid;
    report_grid_begin(&grid, figure_columns, MGLRU_ARRAY_LEN(figure_columns));
    bool first = true;
    for (size_t i = 0; i < result->run_count; i++) {
        for (size_t j = 0; j < result->runs[i].memcg_count; j++) {
            const char *path = result->runs[i].memcgs[j].path;
            if (shown_before(result, i, path))
                continue;
            if (!first)
                report_grid_gap(&grid);
            first = false;
            add_memcg(&grid, result, i, path);
        }
    }
    report_printf(out, "\n");
    report_grid_print(&grid, out);
}

void report_table(struct report_out *out, const struct replay_result *result)
{
    struct report_grid grid;
    size_t memcgs = 0;
    const struct table_shape shape = shape_of(result);
    add_line_about_trace(out, &result->trace);
    report_grid_begin(&grid, figure_columns, MGLRU_ARRAY_LEN(figure_columns));
    for (size_t i = 0; i < result->run_count; i++) {
        const struct replay_run *run = &result->runs[i];
        add_identity(&grid, run, NULL, &shape);
        add_figures(&grid, run, &run->figures, &shape);
        add_remarks(&grid, run, run->oom, run->skipped);
        if (run->memcg_count > memcgs)
            memcgs = run->memcg_count;
    }
    report_grid_print(&grid, out);
    if (memcgs > 1)
        print_memcgs(out, result);
    report_matrix(out, result);
}

static const struct report_column explain_columns[] = {
    {"rule", true},     {"type", true},     {"age", false},
    {"tier", false},    {"evicted", false}, {"refaulted", false},
    {"of them", false}, {"recent", false},  {"median distance", false},
};

static void print_explain_rows(struct report_out *out, const struct replay_run *run)
{
    struct report_grid grid;
    report_grid_begin(&grid, explain_columns, MGLRU_ARRAY_LEN(explain_columns));
    for (size_t i = 0; i < run->explain_count; i++) {
        const struct replay_explain_row *row = &run->explain[i];
        char text[REPORT_NUMBER_BYTES];
        report_grid_cell(&grid, row->rule);
        report_grid_cell(&grid, row->type == 0 ? "anon" : "file");
        report_grid_count(&grid, row->age);
        report_grid_count(&grid, row->tier);
        report_grid_count(&grid, row->evictions);
        report_grid_count(&grid, row->refaults);
        report_number_percent(row->refaults, row->evictions, text, sizeof(text));
        report_grid_cell(&grid, text);
        report_grid_count(&grid, row->recent);
        report_grid_count(&grid, row->distance_pages);
    }
    report_grid_print(&grid, out);
}

void report_explain(struct report_out *out, const struct replay_result *result)
{
    for (size_t i = 0; i < result->run_count; i++) {
        const struct replay_run *run = &result->runs[i];
        if (run->explain_count == 0 && run->explain_text == NULL)
            continue;
        char size[REPORT_NUMBER_BYTES];
        report_number_size(run->memory_bytes, size, sizeof(size));
        report_printf(out, "\n%s%s%s at %s\n", run->policy, run->model != NULL ? " " : "",
                      run->model != NULL ? run->model : "",
                      run->memory_bytes > 0 ? size : "the trace's own limits");
        if (run->explain_text != NULL)
            report_printf(out, "%s%s", run->explain_text,
                          run->explain_text[0] != '\0' &&
                                  run->explain_text[strlen(run->explain_text) - 1] == '\n'
                              ? ""
                              : "\n");
        if (run->explain_count > 0) {
            report_printf(out, "\n");
            print_explain_rows(out, run);
        }
    }
}
