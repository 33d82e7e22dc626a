/* SPDX-License-Identifier: MIT */
/* Histograms of latency.h: values below LATENCY_STEPS are exact, each doubling above has as many
 * cells. */
#include "measure/latency.h"

#define STEP_BITS 5

_Static_assert(LATENCY_STEPS == 1u << STEP_BITS, "a cell's number is its value's upper bits");

static unsigned cell_of(uint64_t ns)
{
    if (ns < LATENCY_STEPS)
        return (unsigned)ns;
    unsigned shift = 63 - (unsigned)__builtin_clzll(ns) - STEP_BITS;
    unsigned cell = (shift + 1) * LATENCY_STEPS + (unsigned)(ns >> shift) - LATENCY_STEPS;
    return cell < LATENCY_CELLS ? cell : LATENCY_CELLS - 1;
}

/* The largest value of a cell. */
static uint64_t top_of(unsigned cell)
{
    if (cell < LATENCY_STEPS)
        return cell;
    unsigned shift = cell / LATENCY_STEPS - 1;
    return (((uint64_t)(cell % LATENCY_STEPS) + LATENCY_STEPS + 1) << shift) - 1;
}

void latency_note(struct latency *latency, uint64_t ns)
{
    latency->cells[cell_of(ns)]++;
    if (ns > latency->most_ns)
        latency->most_ns = ns;
}

void latency_add(struct latency *to, const struct latency *from)
{
    for (unsigned i = 0; i < LATENCY_CELLS; i++)
        to->cells[i] += from->cells[i];
    if (from->most_ns > to->most_ns)
        to->most_ns = from->most_ns;
}

uint64_t latency_largest(const struct latency *latency, uint64_t rank)
{
    uint64_t seen = 0;
    for (unsigned i = LATENCY_CELLS; i-- > 0;) {
        seen += latency->cells[i];
        if (seen > rank)
            return top_of(i) < latency->most_ns ? top_of(i) : latency->most_ns;
    }
    return 0;
}
