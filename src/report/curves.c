/* SPDX-License-Identifier: MIT */
/* Groups runs into curves; see curves.h. */
#include "report/curves.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mglru/error.h>

#include "report/number.h"
#include "report/report.h"

/* Sizes whose largest is at least this many times the smallest are drawn on a log axis. */
#define LOG_SPREAD 4.0

static bool same_text(const char *a, const char *b)
{
    return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

static bool same_curve(const struct replay_run *a, const struct replay_run *b)
{
    return same_text(a->policy, b->policy) && same_text(a->model, b->model) &&
           same_text(a->aging, b->aging);
}

/* True when two runs of one curve differ in size. */
static bool has_sizes(const struct replay_result *result)
{
    for (size_t i = 0; i < result->run_count; i++)
        for (size_t j = 0; j < i; j++)
            if (same_curve(&result->runs[i], &result->runs[j]) &&
                result->runs[i].memory_bytes != result->runs[j].memory_bytes)
                return true;
    return false;
}

static bool has_series(const struct replay_result *result)
{
    for (size_t i = 0; i < result->run_count; i++)
        if (result->runs[i].series_count > 0)
            return true;
    return false;
}

bool report_can_plot(const struct replay_result *result)
{
    return has_sizes(result) || has_series(result);
}

/* True when another run has the same policy and model but was aged otherwise. */
static bool aging_tells_apart(const struct replay_result *result, const struct replay_run *run)
{
    for (size_t i = 0; i < result->run_count; i++)
        if (same_text(result->runs[i].policy, run->policy) &&
            same_text(result->runs[i].model, run->model) &&
            !same_text(result->runs[i].aging, run->aging))
            return true;
    return false;
}

static void set_label(struct report_curve *curve, const struct replay_result *result,
                      const struct replay_run *run)
{
    bool aging = run->aging != NULL && aging_tells_apart(result, run);
    snprintf(curve->label, sizeof(curve->label), "%s%s%s%s%s", run->policy,
             run->model != NULL ? " " : "", run->model != NULL ? run->model : "", aging ? " " : "",
             aging ? run->aging : "");
}

static int compare_points(const void *a, const void *b)
{
    const struct report_point *p = a;
    const struct report_point *q = b;
    return (p->x > q->x) - (p->x < q->x);
}

static double percent(uint64_t part, uint64_t whole)
{
    return whole > 0 ? 100.0 * (double)part / (double)whole : 0.0;
}

/* One point a run; run @first stands for the curve. Runs without a size are left out. */
static int fill_from_sizes(struct report_curve *curve, const struct replay_result *result,
                           size_t first)
{
    curve->points = calloc(result->run_count, sizeof(*curve->points));
    if (curve->points == NULL)
        return MGLRU_ENOMEM;
    for (size_t i = first; i < result->run_count; i++) {
        const struct replay_run *run = &result->runs[i];
        if (run->memory_bytes == 0 || !same_curve(run, &result->runs[first]))
            continue;
        curve->points[curve->count++] =
            (struct report_point){.x = (double)run->memory_bytes,
                                  .y = percent(run->figures.misses, run->figures.accesses),
                                  .oom = run->oom};
    }
    qsort(curve->points, curve->count, sizeof(*curve->points), compare_points);
    set_label(curve, result, &result->runs[first]);
    return MGLRU_OK;
}

/* One point a sample, at the end of its interval. */
static int fill_from_series(struct report_curve *curve, const struct replay_result *result,
                            size_t index)
{
    const struct replay_run *run = &result->runs[index];
    curve->points = calloc(run->series_count, sizeof(*curve->points));
    if (curve->points == NULL)
        return MGLRU_ENOMEM;
    struct replay_sample before = {0};
    for (size_t i = 0; i < run->series_count; i++) {
        const struct replay_sample *sample = &run->series[i];
        if (sample->accesses > before.accesses)
            curve->points[curve->count++] = (struct report_point){
                .x = (double)sample->accesses,
                .y = percent(sample->misses - before.misses, sample->accesses - before.accesses)};
        before = *sample;
    }
    set_label(curve, result, run);
    if (run->memory_bytes > 0) {
        char size[REPORT_NUMBER_BYTES];
        report_number_size(run->memory_bytes, size, sizeof(size));
        size_t used = strlen(curve->label);
        snprintf(curve->label + used, sizeof(curve->label) - used, " %s", size);
    }
    return MGLRU_OK;
}

static bool is_first_of_curve(const struct replay_result *result, size_t index)
{
    for (size_t i = 0; i < index; i++)
        if (same_curve(&result->runs[i], &result->runs[index]))
            return false;
    return true;
}

static void find_corners(struct report_curves *curves)
{
    curves->least = curves->most = curves->curves[0].points[0];
    for (size_t i = 0; i < curves->count; i++) {
        for (size_t j = 0; j < curves->curves[i].count; j++) {
            struct report_point point = curves->curves[i].points[j];
            if (point.x < curves->least.x)
                curves->least.x = point.x;
            if (point.x > curves->most.x)
                curves->most.x = point.x;
            if (point.y < curves->least.y)
                curves->least.y = point.y;
            if (point.y > curves->most.y)
                curves->most.y = point.y;
        }
    }
    curves->log_x = !curves->series && curves->most.x >= LOG_SPREAD * curves->least.x;
}

int report_curves_find(const struct replay_result *result, struct report_curves *curves)
{
    *curves = (struct report_curves){.series = !has_sizes(result)};
    if (!report_can_plot(result))
        return MGLRU_ENOENT;
    curves->curves = calloc(result->run_count, sizeof(*curves->curves));
    int code = curves->curves != NULL ? MGLRU_OK : MGLRU_ENOMEM;
    for (size_t i = 0; i < result->run_count && code == MGLRU_OK; i++) {
        struct report_curve *curve = &curves->curves[curves->count];
        if (curves->series)
            code = result->runs[i].series_count > 0 ? fill_from_series(curve, result, i) : MGLRU_OK;
        else if (is_first_of_curve(result, i))
            code = fill_from_sizes(curve, result, i);
        if (curve->count > 0) {
            curves->count++;
        } else {
            free(curve->points);
            curve->points = NULL;
        }
    }
    if (code == MGLRU_OK && curves->count == 0)
        code = MGLRU_ENOENT;
    if (code == MGLRU_OK)
        find_corners(curves);
    else
        report_curves_free(curves);
    return code;
}

void report_curves_free(struct report_curves *curves)
{
    for (size_t i = 0; i < curves->count; i++)
        free(curves->curves[i].points);
    free(curves->curves);
    *curves = (struct report_curves){0};
}
