/* SPDX-License-Identifier: MIT */
/*
 * Curves drawn with characters: one mark a curve, dots between its points, a list of the marks
 * below. Where two marks meet, the one of the curve that is named first stays: it is listed first.
 */
#include "report/report.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <mglru/error.h>

#include "base/check.h"
#include "report/axis.h"
#include "report/curves.h"

#define ROWS 16
#define MARGIN 7         /* "100% |" and a blank */
#define COLUMNS_MOST 100 /* chosen: a wider plot is no clearer */

#define CELL_EMPTY 0
#define CELL_DOT 1
#define CELL_MARK 2 /* and above: the mark of curve value - CELL_MARK */

static const char *const unicode_marks[] = {"●", "○", "▲", "△", "■", "□", "◆", "◇", "★", "☆"};
static const char *const ascii_marks[] = {"*", "o", "x", "+", "#", "@", "%", "=", "a", "b"};

struct canvas {
    unsigned char *cells; /* ROWS x width, top row first */
    size_t width;
    double top; /* percent at the top row */
    const struct report_curves *curves;
};

static double share_x(const struct report_curves *curves, double x)
{
    double least = curves->least.x;
    double most = curves->most.x;
    if (most <= least)
        return 0;
    return curves->log_x ? log(x / least) / log(most / least) : (x - least) / (most - least);
}

static size_t column_at(const struct canvas *canvas, double x)
{
    return (size_t)lround(share_x(canvas->curves, x) * (double)(canvas->width - 1));
}

static size_t row_at(const struct canvas *canvas, double y)
{
    return (size_t)lround((1 - y / canvas->top) * (ROWS - 1));
}

static unsigned char *cell(struct canvas *canvas, size_t row, size_t column)
{
    MGLRU_CHECK(row < ROWS && column < canvas->width);
    return &canvas->cells[row * canvas->width + column];
}

/* Dots on the straight line between two points, where nothing stands yet. */
static void draw_segment(struct canvas *canvas, const struct report_point *from,
                         const struct report_point *to)
{
    size_t first = column_at(canvas, from->x);
    size_t last = column_at(canvas, to->x);
    for (size_t column = first + 1; column < last; column++) {
        double part = (double)(column - first) / (double)(last - first);
        unsigned char *at =
            cell(canvas, row_at(canvas, from->y + part * (to->y - from->y)), column);
        if (*at == CELL_EMPTY)
            *at = CELL_DOT;
    }
}

static void draw_curves(struct canvas *canvas)
{
    const struct report_curves *curves = canvas->curves;
    for (size_t i = 0; i < curves->count; i++)
        for (size_t j = 1; j < curves->curves[i].count; j++)
            draw_segment(canvas, &curves->curves[i].points[j - 1], &curves->curves[i].points[j]);
    for (size_t i = curves->count; i-- > 0;) {
        for (size_t j = 0; j < curves->curves[i].count; j++) {
            const struct report_point *point = &curves->curves[i].points[j];
            size_t mark = i % MGLRU_ARRAY_LEN(ascii_marks);
            *cell(canvas, row_at(canvas, point->y), column_at(canvas, point->x)) =
                (unsigned char)(CELL_MARK + mark);
        }
    }
}

static const char *mark_text(size_t curve, const struct report_style *style)
{
    size_t mark = curve % MGLRU_ARRAY_LEN(ascii_marks);
    return style->unicode ? unicode_marks[mark] : ascii_marks[mark];
}

/* The label of @row: the tick that falls on it, or blanks. */
static void print_row_label(struct report_out *out, const struct canvas *canvas, size_t row)
{
    struct report_tick ticks[REPORT_TICKS_MAX];
    size_t count = report_axis_percent(canvas->top, 6, ticks);
    for (size_t i = 0; i < count; i++) {
        if (row_at(canvas, ticks[i].value) == row) {
            report_printf(out, "%5s ", ticks[i].text);
            return;
        }
    }
    report_printf(out, "%6s", "");
}

static void print_rows(struct report_out *out, struct canvas *canvas,
                       const struct report_style *style)
{
    for (size_t row = 0; row < ROWS; row++) {
        print_row_label(out, canvas, row);
        report_printf(out, style->unicode ? "│" : "|");
        size_t width = canvas->width;
        while (width > 0 && *cell(canvas, row, width - 1) == CELL_EMPTY)
            width--;
        for (size_t column = 0; column < width; column++) {
            unsigned char what = *cell(canvas, row, column);
            if (what >= CELL_MARK)
                report_printf(out, "%s", mark_text(what - CELL_MARK, style));
            else
                report_printf(out, "%s", what == CELL_EMPTY ? " " : style->unicode ? "·" : ".");
        }
        report_printf(out, "\n");
    }
}

static void print_x_axis(struct report_out *out, const struct canvas *canvas,
                         const struct report_style *style)
{
    struct report_tick ticks[REPORT_TICKS_MAX];
    size_t wanted = canvas->width / 10;
    size_t count = report_axis_x(canvas->curves,
                                 wanted < 2                  ? 2
                                 : wanted > REPORT_TICKS_MAX ? REPORT_TICKS_MAX
                                                             : wanted,
                                 ticks);
    report_printf(out, "%6s%s", "", style->unicode ? "└" : "+");
    for (size_t i = 0; i < canvas->width; i++)
        report_printf(out, style->unicode ? "─" : "-");
    report_printf(out, "\n%*s", MARGIN, "");
    size_t used = 0;
    for (size_t i = 0; i < count; i++) {
        size_t length = strlen(ticks[i].text);
        size_t column = column_at(canvas, ticks[i].value);
        size_t start = column > length / 2 ? column - length / 2 : 0;
        if (start < used + (used > 0))
            continue;
        report_printf(out, "%*s%s", (int)(start - used), "", ticks[i].text);
        used = start + length;
    }
    report_printf(out, "\n");
}

static void print_plot(struct report_out *out, struct canvas *canvas,
                       const struct report_style *style)
{
    const struct report_curves *curves = canvas->curves;
    draw_curves(canvas);
    report_printf(out, "\nmiss ratio over %s\n",
                  curves->series  ? "page accesses"
                  : curves->log_x ? "memory (log scale)"
                                  : "memory");
    print_rows(out, canvas, style);
    print_x_axis(out, canvas, style);
    for (size_t i = 0; i < curves->count; i++)
        report_printf(out, "%*s%s %s\n", MARGIN, "", mark_text(i, style), curves->curves[i].label);
}

void report_terminal_plot(struct report_out *out, const struct replay_result *result,
                          const struct report_style *style)
{
    struct report_curves curves;
    struct report_tick ticks[REPORT_TICKS_MAX];
    if (report_curves_find(result, &curves) != MGLRU_OK)
        return;
    unsigned columns = style->columns < COLUMNS_MOST ? style->columns : COLUMNS_MOST;
    struct canvas canvas = {.curves = &curves, .width = columns - MARGIN - 3};
    size_t count = report_axis_percent(curves.most.y > 0 ? curves.most.y : 1, 6, ticks);
    canvas.top = ticks[count - 1].value;
    canvas.cells = calloc(ROWS, canvas.width);
    if (canvas.cells != NULL)
        print_plot(out, &canvas, style);
    else if (out->error_errno == 0)
        out->error_errno = ENOMEM;
    free(canvas.cells);
    report_curves_free(&curves);
}
