/* SPDX-License-Identifier: MIT */
/*
 * The progress line; see progress.h. The rate and the time left are means since the start: work
 * here is even enough, and a mean does not flicker.
 */
#include "report/progress.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "report/report.h"

#define SECOND_NS UINT64_C(1000000000)
#define REDRAW_NS (SECOND_NS / 10) /* chosen: smooth, and free compared with the work */
#define BAR_COLUMNS 20

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * SECOND_NS + (uint64_t)now.tv_nsec;
}

void report_progress_begin(struct report_progress *progress, const char *label)
{
    struct report_style style;
    report_style_detect(stderr, &style);
    *progress = (struct report_progress){
        .label = label, .start_ns = now_ns(), .columns = style.columns, .active = style.terminal};
}

void report_progress_update(struct report_progress *progress,
                            const struct report_progress_point *point)
{
    if (!progress->active)
        return;
    uint64_t now = now_ns();
    if (now - (progress->shown_ns > 0 ? progress->shown_ns : progress->start_ns) < REDRAW_NS)
        return;
    char text[256];
    report_progress_text(progress, point, now - progress->start_ns, text, sizeof(text));
    progress->shown_ns = now;
    fprintf(stderr, "\r%s\033[K", text);
    fflush(stderr);
}

void report_progress_end(struct report_progress *progress)
{
    if (progress->active && progress->shown_ns > 0) {
        fprintf(stderr, "\r\033[K");
        fflush(stderr);
    }
    progress->active = false;
}

/* Items a second with a unit that keeps it short: 850, 12.3k, 4.5M. */
static void rate_text(uint64_t items, uint64_t elapsed_ns, char *text, size_t bytes)
{
    double rate = (double)items * (double)SECOND_NS / (double)elapsed_ns;
    if (rate >= 1e6)
        snprintf(text, bytes, "%.1fM/s", rate / 1e6);
    else if (rate >= 1e3)
        snprintf(text, bytes, "%.1fk/s", rate / 1e3);
    else
        snprintf(text, bytes, "%.0f/s", rate);
}

/* 7s, 2m05s, 3h12m. */
static void time_text(uint64_t seconds, char *text, size_t bytes)
{
    if (seconds < 60)
        snprintf(text, bytes, "%" PRIu64 "s", seconds);
    else if (seconds < 3600)
        snprintf(text, bytes, "%" PRIu64 "m%02" PRIu64 "s", seconds / 60, seconds % 60);
    else
        snprintf(text, bytes, "%" PRIu64 "h%02" PRIu64 "m", seconds / 3600, seconds / 60 % 60);
}

static void bar_text(double share, char *text)
{
    int full = (int)(share * BAR_COLUMNS);
    for (int i = 0; i < BAR_COLUMNS; i++)
        text[i] = i < full ? '=' : i == full ? '>' : ' ';
    text[BAR_COLUMNS] = '\0';
}

void report_progress_text(const struct report_progress *progress,
                          const struct report_progress_point *point, uint64_t elapsed_ns,
                          char *text, size_t bytes)
{
    char rate[32];
    char left[48];
    char bar[BAR_COLUMNS + 1];
    rate_text(point->items, elapsed_ns > 0 ? elapsed_ns : 1, rate, sizeof(rate));
    if (point->total == 0) {
        time_text(elapsed_ns / SECOND_NS, left, sizeof(left));
        snprintf(text, bytes, "%s  %s  %s", progress->label, rate, left);
    } else {
        uint64_t done = point->done < point->total ? point->done : point->total;
        double share = (double)done / (double)point->total;
        bar_text(share, bar);
        if (done == 0)
            snprintf(left, sizeof(left), "-");
        else
            time_text(
                (uint64_t)((double)elapsed_ns * (1 - share) / share / (double)SECOND_NS + 0.5),
                left, sizeof(left));
        snprintf(text, bytes, "%s [%s] %3d%%  %s  %s left", progress->label, bar,
                 (int)(share * 100), rate, left);
    }
    /* One column stays free: some terminals wrap as soon as the last one is written. */
    size_t width = progress->columns > 1 ? progress->columns - 1 : 0;
    if (width < bytes && strlen(text) > width)
        text[width] = '\0';
}
