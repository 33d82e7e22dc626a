/* SPDX-License-Identifier: MIT */
/*
 * A progress line on standard error: only on a terminal, at most ten times a second, gone when the
 * work is done. Where standard error is no terminal every call is a no-op.
 *
 * One thread. The line is rewritten in place and never wider than the terminal.
 */
#ifndef REPORT_PROGRESS_H
#define REPORT_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct report_progress {
    const char *label; /* what is being done; the caller's string, live until _end */
    uint64_t start_ns; /* monotonic */
    uint64_t shown_ns; /* when the line was last drawn; 0: never */
    unsigned columns;
    bool active; /* standard error is a terminal */
};

/* Values of one drawing of the line. */
struct report_progress_point {
    uint64_t done;  /* in any unit, e.g. bytes of the trace file */
    uint64_t total; /* in the same unit; 0: unknown, then only the rate is shown */
    uint64_t items; /* what the rate counts, e.g. accesses */
};

/* Starts the clock. @label: a few words, e.g. "replay mglru 6.12 32M". */
void report_progress_begin(struct report_progress *progress, const char *label);

/* Draws the line when a tenth of a second has passed. Cheap enough for every batch of records. */
void report_progress_update(struct report_progress *progress,
                            const struct report_progress_point *point);

/* Removes the line. */
void report_progress_end(struct report_progress *progress);

/*
 * The text of the line, without control characters: label, bar, percent, rate, time left.
 * @elapsed_ns since the start, @columns the width. Writes at most @bytes - 1 characters and a NUL.
 * Pure function, for tests.
 */
void report_progress_text(const struct report_progress *progress,
                          const struct report_progress_point *point, uint64_t elapsed_ns,
                          char *text, size_t bytes);

#endif
