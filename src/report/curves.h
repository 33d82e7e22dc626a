/* SPDX-License-Identifier: MIT */
/*
 * A result as curves, for the plot on the screen and for gnuplot's: one curve a policy, model and
 * aging. With several sizes: miss ratio over memory. With one size and a series: the miss ratio of
 * each interval over accesses.
 *
 * Invariants: points of a curve ascend in x; y lies in 0..100; a curve has at least one point.
 */
#ifndef REPORT_CURVES_H
#define REPORT_CURVES_H

#include <stdbool.h>
#include <stddef.h>

#include "replay/result.h"

struct report_point {
    double x; /* bytes of memory, or page accesses */
    double y; /* misses in percent of accesses */
    bool oom; /* the run lost a process by OOM, so its misses are not comparable */
};

struct report_curve {
    char label[96];
    struct report_point *points;
    size_t count;
};

struct report_curves {
    struct report_curve *curves;
    size_t count;
    bool series;                     /* x counts accesses, not bytes */
    bool log_x;                      /* x values are spread evenly on a logarithmic axis */
    struct report_point least, most; /* corners of all points */
};

/*
 * Finds the curves of @result. 0; MGLRU_ENOENT: nothing to draw (one size and no series);
 * MGLRU_ENOMEM. @curves is empty after an error; else free it with report_curves_free().
 */
int report_curves_find(const struct replay_result *result, struct report_curves *curves);
void report_curves_free(struct report_curves *curves);

#endif
