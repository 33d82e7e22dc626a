/* SPDX-License-Identifier: MIT */
/*
 * The picture of a page: miss ratio over memory, a line a model, upright lines where the
 * recommended limits stand. Drawn here, so that a page needs no gnuplot and no other file; colours
 * come from the page's style, so that they follow its light and dark form.
 */
#include <math.h>
#include <stdlib.h>

#include "report/axis.h"
#include "report/curves.h"
#include "report/html.h"
#include "report/number.h"
#include "report/plan.h"

#define WIDTH 860.0
#define HEIGHT 380.0
#define LEFT 60.0
#define RIGHT 20.0
#define TOP 40.0
#define BOTTOM 45.0

/* From values to places. */
struct frame {
    double x_least, x_most; /* logarithms when log_x */
    double y_most;
    bool log_x;
};

static double place_x(const struct frame *frame, double x)
{
    const double value = frame->log_x ? log2(x) : x;
    const double span = frame->x_most - frame->x_least;
    const double part = span > 0 ? (value - frame->x_least) / span : 0.5;
    return LEFT + part * (WIDTH - LEFT - RIGHT);
}

static double place_y(const struct frame *frame, double y)
{
    return HEIGHT - BOTTOM - y / frame->y_most * (HEIGHT - TOP - BOTTOM);
}

static struct frame make_frame(const struct report_curves *curves)
{
    struct report_tick ticks[REPORT_TICKS_MAX];
    const double most = curves->most.y > 0 ? curves->most.y : 1;
    const size_t count = report_axis_percent(most, 6, ticks);
    struct frame frame = {.x_least = curves->least.x,
                          .x_most = curves->most.x,
                          .y_most = ticks[count - 1].value,
                          .log_x = curves->log_x};
    if (frame.log_x) {
        frame.x_least = log2(frame.x_least);
        frame.x_most = log2(frame.x_most);
    }
    return frame;
}

static void draw_axes(struct report_out *out, const struct frame *frame,
                      const struct report_curves *curves)
{
    struct report_tick ticks[REPORT_TICKS_MAX];
    size_t count = report_axis_percent(curves->most.y > 0 ? curves->most.y : 1, 6, ticks);
    for (size_t i = 0; i < count; i++) {
        const double y = place_y(frame, ticks[i].value);
        report_printf(out,
                      "<line class=\"grid\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>"
                      "<text class=\"end\" x=\"%.1f\" y=\"%.1f\">%s</text>\n",
                      LEFT, y, WIDTH - RIGHT, y, LEFT - 8, y + 4, ticks[i].text);
    }
    report_printf(out, "<text x=\"%.1f\" y=\"%.1f\">miss ratio</text>\n", 8.0, TOP - 12);
    count = report_axis_x(curves, 10, ticks);
    for (size_t i = 0; i < count; i++) {
        const double x = place_x(frame, ticks[i].value);
        report_printf(out,
                      "<line class=\"grid\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>"
                      "<text class=\"mid\" x=\"%.1f\" y=\"%.1f\">%s</text>\n",
                      x, TOP, x, HEIGHT - BOTTOM, x, HEIGHT - BOTTOM + 18, ticks[i].text);
    }
    report_printf(out, "<text class=\"mid\" x=\"%.1f\" y=\"%.1f\">memory%s</text>\n", WIDTH / 2,
                  HEIGHT - 8, curves->log_x ? " (log scale)" : "");
}

static void draw_curve(struct report_out *out, const struct frame *frame,
                       const struct report_curve *curve, size_t index)
{
    report_printf(out, "<polyline class=\"curve c%zu\" points=\"", index % 4);
    for (size_t i = 0; i < curve->count; i++)
        report_printf(out, "%s%.1f,%.1f", i > 0 ? " " : "", place_x(frame, curve->points[i].x),
                      place_y(frame, curve->points[i].y));
    report_printf(out, "\"/>\n");
    for (size_t i = 0; i < curve->count; i++) {
        char size[REPORT_NUMBER_BYTES];
        report_number_size((uint64_t)curve->points[i].x, size, sizeof(size));
        report_printf(
            out, "<circle class=\"c%zu\" cx=\"%.1f\" cy=\"%.1f\" r=\"3\"><title>%s: ", index % 4,
            place_x(frame, curve->points[i].x), place_y(frame, curve->points[i].y), size);
        report_printf(out, "%.2f%% misses%s</title></circle>\n", curve->points[i].y,
                      curve->points[i].oom ? ", a process was killed" : "");
    }
    report_printf(out, "<text class=\"label c%zu\" x=\"%.1f\" y=\"%.1f\">", index % 4,
                  LEFT + 10 + 130 * (double)index, 16.0);
    report_html_text(out, curve->label);
    report_printf(out, "</text>\n");
}

/* An upright line at a limit, unless it lies outside of the picture. */
static void draw_limit(struct report_out *out, const struct frame *frame, const char *name,
                       uint64_t bytes)
{
    if (bytes == 0)
        return;
    const double x = place_x(frame, (double)bytes);
    if (x < LEFT - 1 || x > WIDTH - RIGHT + 1)
        return;
    report_printf(out,
                  "<line class=\"limit\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>"
                  "<text class=\"end\" x=\"%.1f\" y=\"%.1f\">%s</text>\n",
                  x, TOP - 12, x, HEIGHT - BOTTOM, x - 4, TOP - 4, name);
}

void report_plan_svg(struct report_out *out, const struct plan *plan,
                     const struct plan_memcg *memcg)
{
    struct replay_result result;
    struct report_curves curves;
    if (report_plan_result(plan, memcg, &result) != 0)
        return;
    /* A single size is no curve; the table says it all. */
    if (report_curves_find(&result, &curves) == 0) {
        const struct frame frame = make_frame(&curves);
        const struct plan_advice *advice = &memcg->curves[0].advice;
        report_printf(out,
                      "<svg viewBox=\"0 0 %.0f %.0f\" role=\"img\" aria-label=\"miss ratio "
                      "over memory\">\n",
                      WIDTH, HEIGHT);
        draw_axes(out, &frame, &curves);
        draw_limit(out, &frame, "low", advice->memory_low);
        draw_limit(out, &frame, "high", advice->memory_high);
        for (size_t i = 0; i < curves.count; i++)
            draw_curve(out, &frame, &curves.curves[i], i);
        report_printf(out, "</svg>\n");
        report_curves_free(&curves);
    }
    free(result.runs);
}
