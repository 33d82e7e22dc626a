/* SPDX-License-Identifier: MIT */
/*
 * A plan as one page to send to a colleague: recommendation first, then the picture, the reasons,
 * the table, and how it was made. Style and picture are in the page; no scripts, nothing is loaded.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/html.h"
#include "report/number.h"
#include "report/plan.h"

static const char style[] =
    "<style>\n"
    ":root{--bg:#fff;--fg:#1c1c1c;--dim:#666;--grid:#e2e2e2;--box:#f4f6f8;--c0:#0072b2;\n"
    "--c1:#d55e00;--c2:#009e73;--c3:#cc79a7}\n"
    "@media(prefers-color-scheme:dark){:root{--bg:#181818;--fg:#e6e6e6;--dim:#a0a0a0;\n"
    "--grid:#333;--box:#222;--c0:#56b4e9;--c1:#e69f00;--c2:#2fd0a0;--c3:#e5a6c8}}\n"
    "body{background:var(--bg);color:var(--fg);font:15px/1.5 system-ui,sans-serif;\n"
    "margin:1.5rem auto;max-width:900px;padding:0 1rem}\n"
    "h1{font-size:1.5rem}h2{margin:2rem 0 .3rem}.dim{color:var(--dim)}\n"
    ".limits{display:flex;gap:1rem;flex-wrap:wrap}\n"
    ".limits div{background:var(--box);border-radius:6px;padding:.5rem 1rem}\n"
    ".limits b{display:block;font-size:1.4rem}\n"
    "svg{width:100%;height:auto;margin:1rem 0}svg text{font-size:12px;fill:var(--fg)}\n"
    ".end{text-anchor:end}.mid{text-anchor:middle}.grid{stroke:var(--grid)}\n"
    ".limit{stroke:var(--fg);stroke-dasharray:4 3}\n"
    ".curve{fill:none;stroke-width:2}.label{font-weight:bold}\n"
    ".curve.c0{stroke:var(--c0)}.curve.c1{stroke:var(--c1)}.curve.c2{stroke:var(--c2)}\n"
    ".curve.c3{stroke:var(--c3)}svg .c0{fill:var(--c0)}svg .c1{fill:var(--c1)}\n"
    "svg .c2{fill:var(--c2)}svg .c3{fill:var(--c3)}svg .curve{fill:none}\n"
    "table{border-collapse:collapse;font-variant-numeric:tabular-nums}\n"
    "td,th{padding:1px 14px 1px 0;text-align:right}td:last-child{text-align:left}\n"
    ".here{font-weight:bold}\n"
    "</style>\n";

static void write_limit(struct report_out *out, const char *name, uint64_t bytes)
{
    char size[REPORT_NUMBER_BYTES];
    report_number_size(bytes, size, sizeof(size));
    report_printf(out, "<div>%s<b>%s</b></div>", name, bytes > 0 ? size : "0");
}

static void write_row(struct report_out *out, const struct plan_curve *curve, size_t i)
{
    const struct plan_point *point = &curve->points[i];
    char text[REPORT_NUMBER_BYTES];
    report_number_size(point->memory_bytes, text, sizeof(text));
    report_printf(out, "<tr%s><td>%s", i == curve->advice.chosen ? " class=\"here\"" : "", text);
    report_number_count(point->misses, text, sizeof(text));
    report_printf(out, "<td>%s", text);
    report_number_count(point->pages_read, text, sizeof(text));
    report_printf(out, "<td>%s<td>%.2f%%", text, 100 * point->miss_ratio);
    report_number_count(point->refaults, text, sizeof(text));
    report_printf(out, "<td>%s", text);
    report_plan_time(point->stall_ns, text);
    report_printf(out, "<td>%s<td>%s%s%s\n", text, i == curve->advice.chosen ? "memory.high" : "",
                  point->memory_bytes == curve->advice.knee_bytes ? " knee" : "",
                  point->oom ? " a process was killed" : "");
}

static void write_table(struct report_out *out, const struct plan_curve *curve)
{
    report_printf(out, "<details><summary>all sizes</summary>\n<table>\n<tr><th>memory<th>misses"
                       "<th>pages read<th>miss ratio<th>refaults<th>stall<th>\n");
    for (size_t i = 0; i < curve->count; i++)
        write_row(out, curve, i);
    report_printf(out, "</table></details>\n");
}

static void write_model(struct report_out *out, const struct plan *plan,
                        const struct plan_memcg *memcg, size_t model)
{
    const struct plan_curve *curve = &memcg->curves[model];
    struct report_reasons *reasons = malloc(sizeof(*reasons));
    report_printf(out, "<h3>%s %s</h3>\n<div class=\"limits\">",
                  plan->classic ? "classic LRU of" : "MGLRU of", curve->model);
    write_limit(out, "memory.high", curve->advice.memory_high);
    write_limit(out, "memory.max", curve->advice.memory_max);
    write_limit(out, "memory.low", curve->advice.memory_low);
    report_printf(out, "</div>\n<ul>\n");
    if (reasons != NULL)
        report_plan_reasons(plan, memcg, model, reasons);
    for (size_t i = 0; reasons != NULL && i < reasons->count; i++) {
        report_printf(out, "<li>");
        report_html_text(out, reasons->text[i]);
        report_printf(out, "\n");
    }
    report_printf(out, "</ul>\n");
    write_table(out, curve);
    free(reasons);
}

static void write_memcg(struct report_out *out, const struct plan *plan,
                        const struct plan_memcg *memcg)
{
    char accesses[REPORT_NUMBER_BYTES];
    char size[REPORT_NUMBER_BYTES];
    report_number_count(memcg->accesses, accesses, sizeof(accesses));
    report_number_size(memcg->working_set_bytes, size, sizeof(size));
    report_printf(out, "<h2>");
    report_html_text(out, memcg->path);
    report_printf(out, "</h2>\n<p>%s page accesses to %s of distinct pages", accesses, size);
    if (memcg->duration_ns > 0) {
        report_plan_time(memcg->duration_ns, size);
        report_printf(out, " in %s", size);
    }
    report_printf(out, ".\n");
    report_plan_svg(out, plan, memcg);
    for (size_t i = 0; i < memcg->curve_count; i++)
        write_model(out, plan, memcg, i);
}

void report_plan_html(struct report_out *out, const struct plan *plan)
{
    const char *slash = strrchr(plan->trace, '/');
    const char *name = slash != NULL ? slash + 1 : plan->trace;
    char latency[REPORT_NUMBER_BYTES];
    report_plan_time(plan->device_latency_ns, latency);
    report_printf(out, "<!DOCTYPE html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n"
                       "<meta name=\"viewport\" content=\"width=device-width\">\n<title>");
    report_html_text(out, name);
    report_printf(out, ": how much memory?</title>\n%s<h1>How much memory does ", style);
    report_html_text(out, name);
    report_printf(out, " need?</h1>\n");
    for (size_t i = 0; i < plan->memcg_count; i++)
        write_memcg(out, plan, &plan->memcgs[i]);
    report_printf(out,
                  "<p class=\"dim\">Replayed with the page reclaim of the kernels named, by mglru "
                  "%s. Misses are accesses that wait for the device, %s each; refaults are misses "
                  "of pages that reclaim took before. Each memcg was replayed alone; limits that "
                  "the recording had were left out.\n</html>\n",
                  MGLRU_VERSION, latency);
}
