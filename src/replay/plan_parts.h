/* SPDX-License-Identifier: MIT */
/* The parts of a plan, for plan.c and their tests: sizes, rate, and advice. Pure functions. */
#ifndef REPLAY_PLAN_PARTS_H
#define REPLAY_PLAN_PARTS_H

#include "replay/plan.h"

#define PLAN_SIZES_MAX 26

/* Least memory of a sampled run, in pages of the sample: below it the batches of the kernel, which
 * do not shrink with the rate, are no small part of it. Measured, see
 * docs/memory-for-containers.md. */
#define PLAN_SAMPLED_PAGES_MIN 256

/*
 * Pages that a memcg at its limit has free on average: the kernel charges 64 at once and uses them
 * up one by one before it reclaims as many. They do not shrink with the rate, so a sampled run gets
 * them back.
 */
#define PLAN_SLACK_PAGES 32

/* What sizes and rate follow from. */
struct plan_extent {
    uint64_t accesses;
    uint64_t distinct_pages;
    uint32_t page_bytes;
};

/* The rate that @wanted (0: none) means for this extent: 1 for short traces. */
double plan_rate(const struct plan_extent *extent, double wanted);

/* Error of the miss ratio to be expected at @rate; 0 at 1. */
double plan_rate_error(const struct plan_extent *extent, double rate);

/* The memory of a run at @rate that stands for @bytes of all pages. */
uint64_t plan_sampled_bytes(uint64_t bytes, double rate, uint32_t page_bytes);

/* Fills @sizes, rising, from a small part of the working set to all of it; at least one. Returns
 * how many. */
size_t plan_sizes(const struct plan_extent *extent, double rate, uint64_t sizes[PLAN_SIZES_MAX]);

/* Distance of the knee's threshold: a bend less deep than this part of the whole drop is none.
 * Chosen. */
#define PLAN_KNEE_DEPTH 0.1

/*
 * The point that lies farthest below the straight line from point @first to the last one, memory
 * and misses both scaled to 0..1; SIZE_MAX: none lies PLAN_KNEE_DEPTH below it.
 */
size_t plan_knee(const struct plan_curve *curve, size_t first);

/* What the curve advises: fills curve->advice. @memcg gives accesses and duration. */
void plan_advise(const struct plan_memcg *memcg, const struct plan_target *target,
                 struct plan_curve *curve);

/* What the target limits, at this point. */
double plan_measure(const struct plan_memcg *memcg, enum plan_target_kind kind,
                    const struct plan_point *point);

/* Rounds up to what people write: 1 MiB above 16 MiB, 512 KiB above 4 MiB, else 64 KiB. */
uint64_t plan_round_up(uint64_t bytes);

#endif
