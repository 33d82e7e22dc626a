/* SPDX-License-Identifier: MIT */
/*
 * Tables, JSON and OpenMetrics of memcgs. One table of figures serves all three, so that a figure
 * has the same meaning everywhere.
 *
 * OpenMetrics (1.0, text): all samples of a family stand together below its TYPE, UNIT and HELP;
 * the name of a counter's sample ends in _total, a family with a unit ends in it; label values
 * escape \, " and line breaks and are UTF-8; the text ends with "# EOF".
 */
#include "report/tenants.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/text.h"
#include "base/utf8.h"
#include "report/grid.h"
#include "report/json_stream.h"
#include "report/number.h"

enum kind { NUMBER, BYTES, LIMIT, COUNTER };

static const struct {
    const char *column; /* in `list` */
    const char *name;   /* in JSON, and behind mglru_ in metrics */
    enum kind kind;
    const char *help;
} figures[TENANT_VALUES] = {
    [TENANT_ID] = {"id", "memcg_id", NUMBER, "Number that lru_gen commands know the memcg by."},
    [TENANT_CURRENT] = {"memory.current", "memory_current", BYTES, "Memory charged."},
    [TENANT_MIN] = {"memory.min", "memory_min", LIMIT, "Memory that is never reclaimed."},
    [TENANT_LOW] = {"memory.low", "memory_low", LIMIT, "Memory reclaimed only in need."},
    [TENANT_HIGH] = {"memory.high", "memory_high", LIMIT, "Limit that reclaim works towards."},
    [TENANT_MAX] = {"memory.max", "memory_max", LIMIT, "Limit that is not exceeded."},
    [TENANT_HITS] = {"hits", "hits", COUNTER, "Page accesses that found the page."},
    [TENANT_MISSES] = {"misses", "misses", COUNTER, "Page accesses that waited for the store."},
    [TENANT_FIRST_TOUCHES] = {"first_touches", "first_touches", COUNTER,
                              "Accesses to anonymous pages that were made of zeros."},
    [TENANT_PAGES_READ] = {"pages_read", "pages_read", COUNTER,
                           "Pages brought in, readahead included."},
    [TENANT_AGED] = {"aged", "aged", COUNTER, "Generations created."},
    [TENANT_FILE] = {"file", "file", BYTES, "Memory in pages of files."},
    [TENANT_DIRTY] = {"file_dirty", "file_dirty", BYTES, "Memory in pages not yet written."},
    [TENANT_WRITEBACK] = {"file_writeback", "file_writeback", BYTES,
                          "Memory in pages that are being written."},
    [TENANT_REFAULTS] = {"workingset_refault_file", "refaults", COUNTER,
                         "Evicted pages that came back."},
    [TENANT_SCANNED] = {"pgscan", "scanned", COUNTER, "Pages that reclaim looked at."},
    [TENANT_RECLAIMED] = {"pgsteal", "reclaimed", COUNTER, "Pages that reclaim took."},
    [TENANT_EVENTS_HIGH] = {"events.high", "events_high", COUNTER,
                            "Times that memory.high was exceeded."},
    [TENANT_EVENTS_MAX] = {"events.max", "events_max", COUNTER, "Times that memory.max was hit."},
    [TENANT_EVENTS_OOM] = {"events.oom", "events_oom", COUNTER,
                           "Times that nothing was left to reclaim."},
};

const char *report_tenant_column(enum report_tenant_value value)
{
    return figures[value].column;
}

/* --- the table ------------------------------------------------------------------------------ */

static const struct report_column columns[] = {
    {"memcg", true},     {"memory", false},    {"low", false},        {"max", false},
    {"hits", false},     {"misses", false},    {"miss ratio", false}, {"read", false},
    {"refaults", false}, {"reclaimed", false}, {"aged", false},       {"dirty", false},
    {"oom", false},
};

static void size_cell(struct report_grid *grid, uint64_t bytes)
{
    char text[REPORT_NUMBER_BYTES];
    report_number_size(bytes, text, sizeof(text));
    report_grid_cell(grid, bytes == REPORT_TENANT_NO_LIMIT ? "max" : text);
}

/* 0 says nothing: a column of nothing but zeros is left out. */
static void cell_unless_zero(struct report_grid *grid, uint64_t value,
                             void (*cell)(struct report_grid *grid, uint64_t value))
{
    if (value)
        cell(grid, value);
    else
        report_grid_cell(grid, NULL);
}

/* Paths hold any bytes but white space, and terminals obey some of them. */
static void path_cell(struct report_grid *grid, const char *path)
{
    char *shown = strdup(path);
    if (shown)
        text_mask_controls(shown);
    report_grid_cell(grid, shown);
    free(shown);
}

static const struct report_tenant *find_tenant(const struct report_tenants *tenants, uint64_t id)
{
    for (size_t i = 0; tenants && i < tenants->count; i++)
        if (tenants->items[i].values[TENANT_ID] == id)
            return &tenants->items[i];
    return NULL;
}

/* What a counter gained since @before, a second. An id that was given anew may have less. */
static uint64_t gained(const struct report_tenant *now, const struct report_tenant *before,
                       enum report_tenant_value value, double seconds)
{
    uint64_t from = before ? before->values[value] : 0;
    uint64_t to = now->values[value];
    return to < from ? 0 : (uint64_t)((double)(to - from) / seconds + 0.5);
}

static void table_row(struct report_grid *grid, const struct report_tenant *now,
                      const struct report_tenant *before, double seconds)
{
    char text[REPORT_NUMBER_BYTES];
    uint64_t rates[TENANT_VALUES];
    for (unsigned i = 0; i < TENANT_VALUES; i++)
        rates[i] = gained(now, before, (enum report_tenant_value)i, seconds);
    path_cell(grid, now->path);
    size_cell(grid, now->values[TENANT_CURRENT]);
    cell_unless_zero(grid, now->values[TENANT_LOW], size_cell);
    size_cell(grid, now->values[TENANT_MAX]);
    report_grid_count(grid, rates[TENANT_HITS]);
    report_grid_count(grid, rates[TENANT_MISSES]);
    report_number_percent(rates[TENANT_MISSES], rates[TENANT_HITS] + rates[TENANT_MISSES], text,
                          sizeof(text));
    report_grid_cell(grid, text);
    report_grid_count(grid, rates[TENANT_PAGES_READ]);
    report_grid_count(grid, rates[TENANT_REFAULTS]);
    report_grid_count(grid, rates[TENANT_RECLAIMED]);
    report_grid_count(grid, rates[TENANT_AGED]);
    cell_unless_zero(grid, now->values[TENANT_DIRTY], size_cell);
    cell_unless_zero(grid, now->values[TENANT_EVENTS_OOM], report_grid_count);
}

void report_tenants_table(struct report_out *out, const struct report_tenants *tenants,
                          const struct report_tenants *before, double seconds)
{
    struct report_grid grid;
    report_grid_begin(&grid, columns, MGLRU_ARRAY_LEN(columns));
    for (size_t i = 0; i < tenants->count; i++) {
        const struct report_tenant *now = &tenants->items[i];
        table_row(&grid, now, find_tenant(before, now->values[TENANT_ID]), before ? seconds : 1);
    }
    report_grid_print(&grid, out);
}

/* --- JSON ----------------------------------------------------------------------------------- */

void report_tenants_json(struct report_out *out, const struct report_tenants *tenants)
{
    struct report_json_stream json;
    report_json_begin(&json, out);
    report_json_object(&json, NULL);
    report_json_text(&json, "tool", "mglru");
    report_json_text(&json, "version", MGLRU_VERSION);
    report_json_array(&json, "memcgs");
    for (size_t i = 0; i < tenants->count; i++) {
        const struct report_tenant *tenant = &tenants->items[i];
        report_json_object(&json, NULL);
        report_json_text(&json, "path", tenant->path);
        for (unsigned j = 0; j < TENANT_VALUES; j++) {
            if (tenant->values[j] == REPORT_TENANT_NO_LIMIT)
                report_json_text(&json, figures[j].name, NULL);
            else
                report_json_count(&json, figures[j].name, tenant->values[j]);
        }
        report_json_end(&json);
    }
    report_json_end(&json);
    report_json_end(&json);
}

/* --- OpenMetrics ---------------------------------------------------------------------------- */

/* A family's lines before its samples. */
static void family(struct report_out *out, const char *name, enum kind kind, const char *help)
{
    const char *unit = kind == BYTES || kind == LIMIT ? "_bytes" : "";
    report_printf(out, "# TYPE mglru_%s%s %s\n", name, unit, kind == COUNTER ? "counter" : "gauge");
    if (unit[0])
        report_printf(out, "# UNIT mglru_%s%s bytes\n", name, unit);
    report_printf(out, "# HELP mglru_%s%s %s\n", name, unit, help);
}

static void label_value(struct report_out *out, const char *text)
{
    const unsigned char *at = (const unsigned char *)text;
    while (*at) {
        size_t length = utf8_length(at);
        if (*at == '\\' || *at == '"')
            report_printf(out, "\\%c", *at);
        else if (*at == '\n')
            report_printf(out, "\\n");
        else if (length == 0)
            report_printf(out, "\xef\xbf\xbd");
        else
            report_write(out, at, length);
        at += length ? length : 1;
    }
}

static void sample(struct report_out *out, const char *name, enum kind kind,
                   const struct report_tenant *tenant, uint64_t value)
{
    static const char *const endings[] = {
        [NUMBER] = "", [BYTES] = "_bytes", [LIMIT] = "_bytes", [COUNTER] = "_total"};
    report_printf(out, "mglru_%s%s{memcg=\"", name, endings[kind]);
    label_value(out, tenant->path);
    if (value == REPORT_TENANT_NO_LIMIT)
        report_printf(out, "\"} +Inf\n");
    else
        report_printf(out, "\"} %" PRIu64 "\n", value);
}

/* Lines of memory.stat are amounts in bytes, counters of events, or a number of nodes. */
static enum kind kind_of_stat(const char *name)
{
    static const char *const counters[] = {"pg", "pswp", "workingset_", "thp_"};
    if (strcmp(name, "workingset_nodes") == 0)
        return NUMBER;
    for (size_t i = 0; i < MGLRU_ARRAY_LEN(counters); i++)
        if (strncmp(name, counters[i], strlen(counters[i])) == 0)
            return COUNTER;
    return BYTES;
}

static void stat_family(struct report_out *out, const struct report_tenants *tenants, size_t stat)
{
    char name[128], help[160];
    const char *line = tenants->items[0].stats[stat].name;
    snprintf(name, sizeof(name), "memory_stat_%s", line);
    snprintf(help, sizeof(help), "%s of memory.stat.", line);
    family(out, name, kind_of_stat(line), help);
    for (size_t i = 0; i < tenants->count; i++)
        sample(out, name, kind_of_stat(line), &tenants->items[i],
               tenants->items[i].stats[stat].value);
}

void report_tenants_metrics(struct report_out *out, const struct report_tenants *tenants)
{
    for (unsigned i = 0; i < TENANT_VALUES; i++) {
        family(out, figures[i].name, figures[i].kind, figures[i].help);
        for (size_t j = 0; j < tenants->count; j++)
            sample(out, figures[i].name, figures[i].kind, &tenants->items[j],
                   tenants->items[j].values[i]);
    }
    for (size_t i = 0; tenants->count && i < tenants->items[0].stat_count; i++)
        stat_family(out, tenants, i);
    report_printf(out, "# EOF\n");
}
