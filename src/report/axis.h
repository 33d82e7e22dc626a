/* SPDX-License-Identifier: MIT */
/* Marks of an axis at round values: 16M, 32M, 64M or 100,000, 200,000. */
#ifndef REPORT_AXIS_H
#define REPORT_AXIS_H

#include <stddef.h>

#include "report/curves.h"

#define REPORT_TICKS_MAX 16

struct report_tick {
    double value;
    char text[32];
};

/* Ticks of the x axis of @curves within its corners, ascending, at most @wanted (2..16). */
size_t report_axis_x(const struct report_curves *curves, size_t wanted, struct report_tick *ticks);

/* Ticks from 0 to at least @most percent (0 < @most <= 100), at most @wanted (2..16). */
size_t report_axis_percent(double most, size_t wanted, struct report_tick *ticks);

#endif
