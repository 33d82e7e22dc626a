/* SPDX-License-Identifier: MIT */
/* What code that is compiled with MGLRU_RACE_POINTS does at an atomic access. */
#ifndef TESTS_STRESS_RACE_POINT_H
#define TESTS_STRESS_RACE_POINT_H

#include "os/os.h"

/* Lets others run at one in 2^@rare points; Knuth's MMIX generator. */
static inline void race_point(uint64_t *state, unsigned rare)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    if (*state >> (64 - rare) == 0)
        os_thread_yield();
}

#endif
