/* SPDX-License-Identifier: MIT */
/* Which sizes a plan replays, and how large a part of a long trace; see plan_parts.h. */
#include <math.h>

#include "replay/plan_parts.h"

/* Chosen: replayed whole within some ten seconds on two processors, in less than a gigabyte. */
#define WHOLE_ACCESSES 8000000.0
#define WHOLE_PAGES 1000000.0
/* SHARDS' own measurements find errors below 0.01 from 8,000 sampled pages on; twice that. */
#define SAMPLED_PAGES 16384.0
#define STEPS_AN_OCTAVE 3 /* chosen: a quarter more memory from point to point */

double plan_rate(const struct plan_extent *extent, double wanted)
{
    if (wanted > 0)
        return wanted;
    double rate = fmin(1, WHOLE_ACCESSES / (double)extent->accesses);
    rate = fmin(rate, WHOLE_PAGES / (double)extent->distinct_pages);
    if (rate >= 1)
        return 1;
    return fmin(1, fmax(rate, SAMPLED_PAGES / (double)extent->distinct_pages));
}

/* Measured: over the curves of tests/traces/check_sampling.c and twelve hashes the mean error is at
 * most 1.32 / sqrt(sampled pages), that of the worst size 4.3 / sqrt(sampled pages). */
#define ERROR_OF_ONE_PAGE 1.5

double plan_rate_error(const struct plan_extent *extent, double rate)
{
    if (rate >= 1)
        return 0;
    const double sampled = (double)extent->distinct_pages * rate;
    return sampled > 1 ? fmin(1, ERROR_OF_ONE_PAGE / sqrt(sampled)) : 1;
}

uint64_t plan_sampled_bytes(uint64_t bytes, double rate, uint32_t page_bytes)
{
    if (rate >= 1)
        return bytes;
    return (uint64_t)((double)bytes * rate + PLAN_SLACK_PAGES * (1 - rate) * page_bytes);
}

/* A size that people can write and the engine can run. */
static uint64_t tidy(double bytes, const struct plan_extent *extent, double rate)
{
    const double pages = rate < 1 ? PLAN_SAMPLED_PAGES_MIN / rate : (double)REPLAY_KERNEL_PAGES_MIN;
    return plan_round_up((uint64_t)ceil(fmax(bytes, pages * extent->page_bytes)));
}

size_t plan_sizes(const struct plan_extent *extent, double rate, uint64_t sizes[PLAN_SIZES_MAX])
{
    /* A thirty-second more holds what the kernel keeps about the pages, and a batch of charges. */
    const double whole =
        ((double)extent->distinct_pages * (1 + 1.0 / 32) + 2 * REPLAY_KERNEL_PAGES_MIN) *
        extent->page_bytes;
    size_t count = 0;
    for (int i = PLAN_SIZES_MAX - 1; i >= 0; i--) {
        const uint64_t size = tidy(whole / exp2((double)i / STEPS_AN_OCTAVE), extent, rate);
        if (count == 0 || size > sizes[count - 1])
            sizes[count++] = size;
    }
    return count;
}
