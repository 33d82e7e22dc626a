/* SPDX-License-Identifier: MIT */
/*
 * A histogram of times: 32 steps each doubling, so a value is known to within 3 %. One thread; two
 * histograms are added when their threads are done.
 */
#ifndef MEASURE_LATENCY_H
#define MEASURE_LATENCY_H

#include <stdint.h>

#define LATENCY_STEPS 32u
#define LATENCY_CELLS (40u * LATENCY_STEPS)

struct latency {
    uint64_t cells[LATENCY_CELLS];
    uint64_t most_ns;
};

void latency_note(struct latency *latency, uint64_t ns);
void latency_add(struct latency *to, const struct latency *from);
/* The @rank-th largest value (0: the largest), rounded up to its step. 0 where there are fewer. */
uint64_t latency_largest(const struct latency *latency, uint64_t rank);

#endif
