/* SPDX-License-Identifier: MIT */
/* A plan as tables with a recommendation each, and as lines for what sets limits; see plan.h. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mglru/error.h>

#include "report/grid.h"
#include "report/number.h"
#include "report/plan.h"
#include "report/report.h"

#define LINE_COLUMNS 96 /* chosen: fits a terminal of 100 */

static const struct report_column columns[] = {
    {"memory", false},   {"misses", false}, {"pages read", false}, {"miss ratio", false},
    {"refaults", false}, {"stall", false},  {"remarks", true},
};

static void add_remark(char *text, size_t bytes, const char *remark)
{
    const size_t used = strlen(text);
    snprintf(text + used, bytes - used, "%s%s", used > 0 ? ", " : "", remark);
}

static void print_curve(struct report_out *out, const struct plan_curve *curve)
{
    const struct plan_advice *advice = &curve->advice;
    struct report_grid grid;
    report_grid_begin(&grid, columns, sizeof(columns) / sizeof(columns[0]));
    for (size_t i = 0; i < curve->count; i++) {
        const struct plan_point *point = &curve->points[i];
        char text[REPORT_NUMBER_BYTES];
        char remarks[96] = "";
        report_number_size(point->memory_bytes, text, sizeof(text));
        report_grid_cell(&grid, text);
        report_grid_count(&grid, point->misses);
        report_grid_count(&grid, point->pages_read);
        snprintf(text, sizeof(text), "%.2f%%", 100 * point->miss_ratio);
        report_grid_cell(&grid, text);
        report_grid_count(&grid, point->refaults);
        report_plan_time(point->stall_ns, text);
        report_grid_cell(&grid, text);
        if (point->memory_bytes == advice->memory_low)
            add_remark(remarks, sizeof(remarks), "memory.low");
        if (i == advice->chosen)
            add_remark(remarks, sizeof(remarks), "memory.high");
        if (point->memory_bytes == advice->knee_bytes)
            add_remark(remarks, sizeof(remarks), "knee");
        if (point->oom)
            add_remark(remarks, sizeof(remarks), "a process was killed");
        report_grid_cell(&grid, remarks);
    }
    report_grid_print(&grid, out);
}

static void print_limit(struct report_out *out, const char *name, uint64_t bytes)
{
    char text[REPORT_NUMBER_BYTES];
    report_number_size(bytes, text, sizeof(text));
    report_printf(out, "  %-11s  %s\n", name, bytes > 0 ? text : "0");
}

/* "  - " and the sentence, broken between words. */
static void print_reason(struct report_out *out, const char *text)
{
    size_t column = 2;
    report_printf(out, "  -");
    while (*text != '\0') {
        const size_t length = strcspn(text, " ");
        if (column > 4 && column + 1 + length > LINE_COLUMNS) {
            report_printf(out, "\n   ");
            column = 3;
        }
        report_printf(out, " %.*s", (int)length, text);
        column += 1 + length;
        text += length + (text[length] == ' ');
    }
    report_printf(out, "\n");
}

static void print_advice(struct report_out *out, const struct plan *plan,
                         const struct plan_memcg *memcg, size_t index)
{
    const struct plan_advice *advice = &memcg->curves[index].advice;
    struct report_reasons *reasons = malloc(sizeof(*reasons));
    if (reasons == NULL) {
        report_printf(out, "%s\n", mglru_error_text(MGLRU_ENOMEM));
        return;
    }
    report_printf(out, "\nrecommended\n");
    print_limit(out, "memory.high", advice->memory_high);
    print_limit(out, "memory.max", advice->memory_max);
    print_limit(out, "memory.low", advice->memory_low);
    report_printf(out, "why\n");
    report_plan_reasons(plan, memcg, index, reasons);
    for (size_t i = 0; i < reasons->count; i++)
        print_reason(out, reasons->text[i]);
    free(reasons);
}

static void print_memcg(struct report_out *out, const struct plan *plan,
                        const struct plan_memcg *memcg)
{
    char accesses[REPORT_NUMBER_BYTES];
    char pages[REPORT_NUMBER_BYTES];
    char size[REPORT_NUMBER_BYTES];
    report_number_count(memcg->accesses, accesses, sizeof(accesses));
    report_number_count(memcg->distinct_pages, pages, sizeof(pages));
    report_number_size(memcg->working_set_bytes, size, sizeof(size));
    for (size_t i = 0; i < memcg->curve_count; i++) {
        report_printf(out, "\n%s, %s %s: %s accesses of %s pages (%s)", memcg->path,
                      plan->classic ? "classic LRU of" : "MGLRU of", memcg->curves[i].model,
                      accesses, pages, size);
        if (memcg->duration_ns > 0) {
            report_plan_time(memcg->duration_ns, size);
            report_printf(out, " in %s", size);
        }
        report_number_size(memcg->working_set_bytes, size, sizeof(size));
        if (memcg->rate < 1)
            report_printf(out, ", %.3g%% of the pages sampled", 100 * memcg->rate);
        report_printf(out, "\n");
        print_curve(out, &memcg->curves[i]);
        print_advice(out, plan, memcg, i);
    }
}

void report_plan_text(struct report_out *out, const struct plan *plan)
{
    char latency[REPORT_NUMBER_BYTES];
    report_plan_time(plan->device_latency_ns, latency);
    report_printf(out, "%s: %s, a miss waits %s", plan->trace, plan->format, latency);
    if (plan->warmup_accesses > 0)
        report_printf(out, ", after %" PRIu64 " accesses of warm-up", plan->warmup_accesses);
    if (plan->warmup_ns > 0) {
        report_plan_time(plan->warmup_ns, latency);
        report_printf(out, ", after %s of warm-up", latency);
    }
    report_printf(out, "\n");
    for (size_t i = 0; i < plan->memcg_count; i++)
        print_memcg(out, plan, &plan->memcgs[i]);
    if (plan->left_out > 0)
        report_printf(out, "\n%zu memcg%s left out: no access after the warm-up\n", plan->left_out,
                      plan->left_out == 1 ? "" : "s");
}

/* What a reader of the lines must know, as comments. */
static void print_origin(struct report_out *out, const struct plan *plan,
                         const struct plan_memcg *memcg)
{
    const struct plan_curve *curve = &memcg->curves[0];
    const struct plan_point *point = &curve->points[curve->advice.chosen];
    report_printf(out, "# %s, %s %s: miss ratio %.2f%% at memory.high; from `mglru plan`\n",
                  memcg->path, plan->classic ? "classic LRU of" : "MGLRU of", curve->model,
                  100 * point->miss_ratio);
    if (plan->target.kind != PLAN_NO_TARGET && !curve->advice.target_met)
        report_printf(out, "# no limit meets the target\n");
    if (plan->recorded.events_lost > 0)
        report_printf(out, "# the recording lost %" PRIu64 " events: accesses are missing\n",
                      plan->recorded.events_lost);
    if (!memcg->anonymous)
        report_printf(out, "# page cache only: add the service's anonymous memory\n");
}

/* The largest unit that holds @bytes exactly. */
static void print_k8s_size(struct report_out *out, const char *name, uint64_t bytes)
{
    if (bytes % (1u << 20) == 0)
        report_printf(out, "    %s: %" PRIu64 "Mi\n", name, bytes >> 20);
    else
        report_printf(out, "    %s: %" PRIu64 "Ki\n", name, (bytes + 1023) >> 10);
}

void report_plan_k8s(struct report_out *out, const struct plan *plan)
{
    for (size_t i = 0; i < plan->memcg_count; i++) {
        const struct plan_memcg *memcg = &plan->memcgs[i];
        print_origin(out, plan, memcg);
        report_printf(out, "resources:\n  requests:\n");
        print_k8s_size(out, "memory", memcg->curves[0].advice.memory_high);
        report_printf(out, "  limits:\n");
        print_k8s_size(out, "memory", memcg->curves[0].advice.memory_max);
    }
}

static void print_unit_line(struct report_out *out, const char *name, uint64_t bytes)
{
    if (bytes % (1u << 20) == 0)
        report_printf(out, "%s=%" PRIu64 "M\n", name, bytes >> 20);
    else
        report_printf(out, "%s=%" PRIu64 "K\n", name, bytes >> 10);
}

void report_plan_systemd(struct report_out *out, const struct plan *plan)
{
    for (size_t i = 0; i < plan->memcg_count; i++) {
        const struct plan_advice *advice = &plan->memcgs[i].curves[0].advice;
        print_origin(out, plan, &plan->memcgs[i]);
        report_printf(out, "[Service]\n");
        print_unit_line(out, "MemoryHigh", advice->memory_high);
        print_unit_line(out, "MemoryMax", advice->memory_max);
        if (advice->memory_low > 0)
            print_unit_line(out, "MemoryLow", advice->memory_low);
    }
}
