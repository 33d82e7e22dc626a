/* SPDX-License-Identifier: MIT */
/*
 * When a kernel brought its statistics up to date, as far as it is known.
 *
 * A timer does it about every 2 s (504 jiffies of 4 ms in steady state, more when the work runs
 * late), from a start that depends on the boot; readers of memory.stat do it as well, which the
 * scripts repeat. The recordings do not hold the timer's moments. The stated schedule of a kernel
 * is the period and start under which the single accesses of its classic recordings agree best;
 * the others span what else is plausible.
 */
#ifndef FIDELITY_SCHEDULE_H
#define FIDELITY_SCHEDULE_H

#include <stddef.h>
#include <stdint.h>

#include <mglru/cache.h>

struct schedule {
    const char *name;
    enum mglru_stat_flush kind;
    uint64_t period;    /* ns or page accesses */
    uint64_t offset_ns; /* added to the guest's clock: moves the flushes against it */
};

/* The stated schedule of "6.12" or "7.3". */
const struct schedule *schedule_stated(const char *kernel);

/* The i-th schedule of the range; NULL past the last. */
const struct schedule *schedule_at(size_t i);

/* By name, or "PERIODms@START": at START milliseconds plus multiples of PERIOD. NULL: none. */
const struct schedule *schedule_find(const char *name);

#endif
