/* SPDX-License-Identifier: MIT */
/* A plan for programs, and as curves for a picture; see plan.h. */
#include <stdlib.h>

#include <mglru/error.h>

#include "report/json_stream.h"
#include "report/plan.h"
#include "report/report.h"

static void write_point(struct report_json_stream *json, const struct plan_point *point)
{
    report_json_object(json, NULL);
    report_json_count(json, "memory_bytes", point->memory_bytes);
    report_json_count(json, "misses", point->misses);
    report_json_count(json, "pages_read", point->pages_read);
    report_json_number(json, "miss_ratio", point->miss_ratio);
    report_json_count(json, "refaults", point->refaults);
    report_json_count(json, "stall_ns", point->stall_ns);
    if (point->oom)
        report_json_bool(json, "oom", true);
    report_json_end(json);
}

static void write_reasons(struct report_json_stream *json, const struct plan *plan,
                          const struct plan_memcg *memcg, size_t model)
{
    struct report_reasons *reasons = malloc(sizeof(*reasons));
    report_json_array(json, "reasons");
    if (reasons != NULL) {
        report_plan_reasons(plan, memcg, model, reasons);
        for (size_t i = 0; i < reasons->count; i++)
            report_json_text(json, NULL, reasons->text[i]);
    }
    report_json_end(json);
    free(reasons);
}

static void write_memcg(struct report_json_stream *json, const struct plan *plan,
                        const struct plan_memcg *memcg, size_t model)
{
    const struct plan_curve *curve = &memcg->curves[model];
    const struct plan_advice *advice = &curve->advice;
    report_json_object(json, NULL);
    report_json_text(json, "path", memcg->path);
    report_json_count(json, "accesses", memcg->accesses);
    report_json_count(json, "distinct_pages", memcg->distinct_pages);
    report_json_count(json, "duration_ns", memcg->duration_ns);
    report_json_count(json, "cold_misses", curve->cold_misses);
    report_json_array(json, "curve");
    for (size_t i = 0; i < curve->count; i++)
        write_point(json, &curve->points[i]);
    report_json_end(json);
    if (advice->knee_bytes > 0)
        report_json_count(json, "knee_bytes", advice->knee_bytes);
    else
        report_json_text(json, "knee_bytes", NULL);
    report_json_object(json, "recommend");
    report_json_count(json, "memory_max", advice->memory_max);
    report_json_count(json, "memory_high", advice->memory_high);
    report_json_count(json, "memory_low", advice->memory_low);
    report_json_end(json);
    if (plan->target.kind != PLAN_NO_TARGET)
        report_json_bool(json, "target_met", advice->target_met);
    write_reasons(json, plan, memcg, model);
    report_json_end(json);
}

/* The keys of one model into the object that is open. One rate stands for all memcgs: the least,
 * with the largest error. */
static void write_model(struct report_json_stream *json, const struct plan *plan, size_t model)
{
    double rate = 1;
    double error = 0;
    for (size_t i = 0; i < plan->memcg_count; i++) {
        rate = plan->memcgs[i].rate < rate ? plan->memcgs[i].rate : rate;
        error = plan->memcgs[i].error > error ? plan->memcgs[i].error : error;
    }
    report_json_text(json, "model", plan->memcgs[0].curves[model].model);
    report_json_object(json, "sampling");
    report_json_number(json, "rate", rate);
    report_json_number(json, "error", error);
    report_json_end(json);
    report_json_array(json, "memcgs");
    for (size_t i = 0; i < plan->memcg_count; i++)
        write_memcg(json, plan, &plan->memcgs[i], model);
    report_json_end(json);
}

void report_plan_json(struct report_out *out, const struct plan *plan)
{
    struct report_json_stream json;
    report_json_begin(&json, out);
    report_json_object(&json, NULL);
    report_json_text(&json, "tool", "mglru");
    report_json_text(&json, "version", MGLRU_VERSION);
    report_json_object(&json, "trace");
    report_json_text(&json, "path", plan->trace);
    report_json_text(&json, "format", plan->format);
    report_json_count(&json, "page_bytes", plan->page_bytes);
    if (plan->recorded.kernel[0] != '\0')
        report_json_text(&json, "kernel", plan->recorded.kernel);
    if (plan->recorded.known_lru)
        report_json_text(&json, "lru", plan->recorded.classic ? "classic" : "mglru");
    if (plan->recorded.events_lost > 0)
        report_json_count(&json, "events_lost", plan->recorded.events_lost);
    report_json_end(&json);
    report_json_text(&json, "policy", plan->classic ? "classic" : "mglru");
    report_json_count(&json, "device_latency_ns", plan->device_latency_ns);
    write_model(&json, plan, 0);
    report_json_array(&json, "upgrades");
    for (size_t i = 1; i < plan->memcgs[0].curve_count; i++) {
        report_json_object(&json, NULL);
        write_model(&json, plan, i);
        report_json_end(&json);
    }
    report_json_end(&json);
    report_json_end(&json);
}

int report_plan_result(const struct plan *plan, const struct plan_memcg *memcg,
                       struct replay_result *result)
{
    const struct plan_memcg *first = memcg != NULL ? memcg : plan->memcgs;
    const size_t count = memcg != NULL ? 1 : plan->memcg_count;
    *result = (struct replay_result){.trace = {.path = plan->trace}};
    size_t runs = 0;
    for (size_t i = 0; i < count; i++)
        runs += first[i].curve_count * first[i].curves[0].count;
    result->runs = calloc(runs, sizeof(*result->runs));
    if (result->runs == NULL)
        return MGLRU_ENOMEM;
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < first[i].curve_count; j++)
            for (size_t k = 0; k < first[i].curves[j].count; k++) {
                const struct plan_point *point = &first[i].curves[j].points[k];
                result->runs[result->run_count++] = (struct replay_run){
                    .policy = count > 1       ? first[i].path
                              : plan->classic ? "classic"
                                              : "mglru",
                    .model = first[i].curves[j].model,
                    .memory_bytes = point->memory_bytes,
                    .oom = point->oom,
                    .figures = {.accesses = first[i].accesses, .misses = point->misses},
                };
            }
    return MGLRU_OK;
}

int report_plan_plot(const char *path, const struct plan *plan, struct report_error *error)
{
    struct replay_result result;
    error->text[0] = '\0';
    int code = report_plan_result(plan, NULL, &result);
    if (code == MGLRU_OK)
        code = report_plot(path, &result, error);
    free(result.runs);
    return code;
}
