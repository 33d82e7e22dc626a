/* SPDX-License-Identifier: MIT */
/* The clock by which the recorder counts its own time. */
#ifndef RECORD_CLOCK_H
#define RECORD_CLOCK_H

#include <stdint.h>
#include <time.h>

/* CLOCK_MONOTONIC. */
static inline uint64_t record_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

#endif
