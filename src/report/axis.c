/* SPDX-License-Identifier: MIT */
/* See axis.h. Memory is marked at (multiples of) powers of two, all else at 1, 2, 5 x 10^n. */
#include "report/axis.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>

#include "report/number.h"

/* The smallest 1, 2 or 5 times a power of ten that is at least @step. */
static double round_decimal(double step)
{
    double power = pow(10, floor(log10(step)));
    double digit = step / power;
    if (digit > 5)
        return 10 * power;
    if (digit > 2)
        return 5 * power;
    return digit > 1 ? 2 * power : power;
}

/* The smallest power of two that is at least @step. */
static double round_binary(double step)
{
    return exp2(ceil(log2(step)));
}

/* 750, 50k, 1.5M: page accesses on an axis. */
static void short_count(double count, char *text, size_t bytes)
{
    if (count >= 1e9)
        snprintf(text, bytes, "%gG", count / 1e9);
    else if (count >= 1e6)
        snprintf(text, bytes, "%gM", count / 1e6);
    else if (count >= 1e3)
        snprintf(text, bytes, "%gk", count / 1e3);
    else
        snprintf(text, bytes, "%g", count);
}

static size_t add_tick(const struct report_curves *curves, double value, size_t count,
                       struct report_tick *ticks)
{
    ticks[count].value = value;
    if (curves->series)
        short_count(value, ticks[count].text, sizeof(ticks[count].text));
    else
        report_number_size((uint64_t)value, ticks[count].text, sizeof(ticks[count].text));
    return count + 1;
}

static size_t linear_ticks(const struct report_curves *curves, size_t wanted,
                           struct report_tick *ticks)
{
    double span = curves->most.x - curves->least.x;
    double step = span / (double)(wanted - 1);
    step = curves->series ? round_decimal(step) : round_binary(step);
    size_t count = 0;
    for (double value = ceil(curves->least.x / step) * step;
         value <= curves->most.x && count < wanted; value += step)
        count = add_tick(curves, value, count, ticks);
    return count;
}

static size_t log_ticks(const struct report_curves *curves, size_t wanted,
                        struct report_tick *ticks)
{
    double first = ceil(log2(curves->least.x));
    double last = floor(log2(curves->most.x));
    double step = ceil((last - first + 1) / (double)wanted);
    size_t count = 0;
    for (double power = first; power <= last && count < wanted; power += step)
        count = add_tick(curves, exp2(power), count, ticks);
    return count;
}

size_t report_axis_x(const struct report_curves *curves, size_t wanted, struct report_tick *ticks)
{
    if (curves->most.x <= curves->least.x)
        return add_tick(curves, curves->least.x, 0, ticks);
    return curves->log_x ? log_ticks(curves, wanted, ticks) : linear_ticks(curves, wanted, ticks);
}

size_t report_axis_percent(double most, size_t wanted, struct report_tick *ticks)
{
    double step = round_decimal(most / (double)(wanted - 1));
    size_t count = 0;
    for (double value = 0; count < wanted; value += step) {
        ticks[count].value = value;
        snprintf(ticks[count].text, sizeof(ticks[count].text), "%g%%", value);
        count++;
        if (value >= most)
            break;
    }
    return count;
}
