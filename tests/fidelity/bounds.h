/* SPDX-License-Identifier: MIT */
/* How far from the kernel a result may be: the bounds that were agreed on with the recordings. */
#ifndef FIDELITY_BOUNDS_H
#define FIDELITY_BOUNDS_H

#include <stdbool.h>
#include <stdint.h>

enum bound_kind {
    BOUND_NONE = 0, /* for study */
    BOUND_PERCENT,  /* |ours - kernel| <= percent of the kernel's, or BOUND_MISSES if more */
    BOUND_RANGE     /* the kernel's value lies in our range over schedules, widened by percent */
};

/* Deviations up to so many misses are inside every percentage. */
#define BOUND_MISSES 64

struct bound {
    enum bound_kind kind;
    double percent;
    double differing_percent; /* accesses judged differently; 0: no bound */
};

/* @what names the figure of the recording ("misses", "hot", "swap-ins + file", ...). */
struct bound bound_find(const char *kernel, const char *name, const char *mode, const char *what);

/* Is @ours inside? [@low, @high] is the range over schedules, for BOUND_RANGE. */
bool bound_holds(const struct bound *bound, uint64_t kernel, uint64_t ours, uint64_t low,
                 uint64_t high);

#endif
