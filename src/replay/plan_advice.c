/* SPDX-License-Identifier: MIT */
/*
 * From a curve to limits.
 *
 *   memory.high  the point that the target asks for; else the knee; else the least memory that
 *                saves nine tenths of the misses that memory can save at all
 *   memory.max   an eighth more: reclaim begins at memory.high, and what is in use between two
 *                rounds of it must not end a process
 *   memory.low   the least memory that saves half of what memory.high saves: what neighbours may
 *                not take
 *
 * Misses that memory can save = misses at the least memory - cold misses (first accesses).
 */
#include "replay/plan_parts.h"

#include <math.h>

/* Chosen: below a fiftieth of the misses, and below one access in a thousand, memory hardly
 * matters. */
#define MATTERS_OF_MISSES 0.02
#define MATTERS_OF_ACCESSES 0.001
#define MOST 0.9        /* chosen: what "most" means where the curve has no knee */
#define NEARLY_ALL 0.95 /* chosen: of the working set */
#define SCANNED 0.4     /* chosen: this part of what memory can save, and it is named */
#define HEADROOM 8      /* chosen: memory.max is 1 + 1/8 times memory.high */

uint64_t plan_round_up(uint64_t bytes)
{
    const uint64_t unit = bytes > (UINT64_C(16) << 20)  ? UINT64_C(1) << 20
                          : bytes > (UINT64_C(4) << 20) ? UINT64_C(512) << 10
                                                        : UINT64_C(64) << 10;
    return (bytes + unit - 1) / unit * unit;
}

double plan_measure(const struct plan_memcg *memcg, enum plan_target_kind kind,
                    const struct plan_point *point)
{
    const double seconds = (double)memcg->duration_ns / 1e9;
    const double stall = (double)point->stall_ns / 1e9;
    switch (kind) {
    case PLAN_MISS_RATIO:
        return point->miss_ratio;
    case PLAN_MISSES_PER_SECOND:
        return seconds > 0 ? (double)point->misses / seconds : INFINITY;
    case PLAN_STALL:
        return seconds + stall > 0 ? stall / (seconds + stall) : 0;
    default:
        return 0;
    }
}

size_t plan_knee(const struct plan_curve *curve, size_t first)
{
    const struct plan_point *points = curve->points;
    const size_t last = curve->count - 1;
    size_t knee = SIZE_MAX;
    if (last <= first + 1 || points[last].misses >= points[first].misses)
        return knee;
    const double width = (double)(points[last].memory_bytes - points[first].memory_bytes);
    const double height = (double)(points[first].misses - points[last].misses);
    double deepest = PLAN_KNEE_DEPTH;
    for (size_t i = first + 1; i < last; i++) {
        double x = (double)(points[i].memory_bytes - points[first].memory_bytes) / width;
        double y = ((double)points[i].misses - (double)points[last].misses) / height;
        if (1 - x - y > deepest) {
            deepest = 1 - x - y;
            knee = i;
        }
    }
    return knee;
}

/* Misses that point @i saves of those at the least memory. */
static double saved(const struct plan_curve *curve, size_t i)
{
    return (double)curve->points[curve->advice.least].misses - (double)curve->points[i].misses;
}

/* The least point from which on all points save @wanted misses; the last one when none does. */
static size_t least_saving(const struct plan_curve *curve, double wanted)
{
    size_t i = curve->count - 1;
    while (i > curve->advice.least && saved(curve, i - 1) >= wanted)
        i--;
    return i;
}

static void find_least(struct plan_curve *curve)
{
    size_t least = 0;
    for (size_t i = 0; i < curve->count; i++)
        if (curve->points[i].oom)
            least = i + 1;
    curve->advice.least = least < curve->count ? least : curve->count - 1;
}

/* The least point from which on the target is met; false: not even the last one does. */
static bool meet_target(const struct plan_memcg *memcg, const struct plan_target *target,
                        struct plan_curve *curve)
{
    size_t i = curve->count;
    while (i > curve->advice.least &&
           plan_measure(memcg, target->kind, &curve->points[i - 1]) <= target->value)
        i--;
    if (i == curve->count)
        return false;
    curve->advice.chosen = i;
    curve->advice.basis = PLAN_BY_TARGET;
    return true;
}

/* The choice without a target that can be met. */
static void choose(const struct plan_memcg *memcg, struct plan_curve *curve, double savable)
{
    struct plan_advice *advice = &curve->advice;
    const double misses = (double)curve->points[advice->least].misses;
    const size_t knee = plan_knee(curve, advice->least);
    if (savable <= MATTERS_OF_MISSES * misses ||
        savable <= MATTERS_OF_ACCESSES * (double)memcg->accesses) {
        advice->basis = PLAN_BY_LEAST;
        advice->chosen = advice->least;
    } else if (knee != SIZE_MAX) {
        advice->basis = PLAN_BY_KNEE;
        advice->chosen = knee;
    } else {
        advice->basis = PLAN_BY_MOST;
        advice->chosen = least_saving(curve, MOST * savable);
    }
}

/* Looks how many misses go only with the last part of the working set. */
static void find_scans(const struct plan_memcg *memcg, struct plan_curve *curve, double savable)
{
    struct plan_advice *advice = &curve->advice;
    size_t i = advice->least;
    const double near = NEARLY_ALL * (double)memcg->working_set_bytes;
    if ((double)curve->points[i].memory_bytes >= near)
        return;
    while (i + 1 < curve->count && (double)curve->points[i + 1].memory_bytes < near)
        i++;
    const double late = saved(curve, curve->count - 1) - saved(curve, i);
    const double misses = (double)curve->points[advice->least].misses;
    advice->scans = late >= SCANNED * savable && late > MATTERS_OF_MISSES * misses;
    if (!advice->scans)
        return;
    advice->scan_misses = (uint64_t)late;
    const double all = saved(curve, curve->count - 1) - (1 - NEARLY_ALL) * late;
    advice->scan_bytes = curve->points[least_saving(curve, all)].memory_bytes;
}

void plan_advise(const struct plan_memcg *memcg, const struct plan_target *target,
                 struct plan_curve *curve)
{
    struct plan_advice *advice = &curve->advice;
    *advice = (struct plan_advice){0};
    find_least(curve);
    const struct plan_point *least = &curve->points[advice->least];
    const double savable =
        least->misses > curve->cold_misses ? (double)(least->misses - curve->cold_misses) : 0;
    const size_t knee = plan_knee(curve, advice->least);
    advice->knee_bytes = knee != SIZE_MAX ? curve->points[knee].memory_bytes : 0;
    advice->target_met = target->kind != PLAN_NO_TARGET && meet_target(memcg, target, curve);
    if (!advice->target_met)
        choose(memcg, curve, savable);
    find_scans(memcg, curve, savable);
    advice->memory_high = curve->points[advice->chosen].memory_bytes;
    advice->memory_max = plan_round_up(advice->memory_high + advice->memory_high / HEADROOM);
    const double gain = saved(curve, advice->chosen);
    if (advice->basis != PLAN_BY_LEAST && gain > 0)
        advice->memory_low = curve->points[least_saving(curve, gain / 2)].memory_bytes;
}
