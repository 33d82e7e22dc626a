/* SPDX-License-Identifier: MIT */
/* The control of `mglru bench hit`: as much arithmetic as a read takes time, and no memory. */
#include <stddef.h>

#include "base/bits.h"
#include "measure/subjects.h"

/* Rounds of mixing for one read (chosen: some 60 ns). */
#define ROUNDS 12

static int control_create(const struct measure_setup *setup, void **state)
{
    *state = NULL;
    return 0;
}

static int control_read(void *state, struct measure_reads *reads)
{
    uint64_t value = reads->count;
    for (uint32_t i = 0; i < reads->count; i++)
        for (unsigned round = 0; round < ROUNDS; round++)
            value = bits_mix64(value + round);
    __asm__ volatile("" : : "r"(value)); /* the compiler may not leave it out */
    return 0;
}

static void control_destroy(void *state)
{
}

const struct measure_subject measure_control = {"compute",       control_create, control_read,
                                                control_destroy, NULL,           0};
