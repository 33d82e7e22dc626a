/* SPDX-License-Identifier: MIT */
/* Repeatable streams of events for the policy tests: the patterns that policies differ on. */
#ifndef UNIT_POLICY_STREAMS_H
#define UNIT_POLICY_STREAMS_H

#include <stddef.h>
#include <stdint.h>

#include "base/bits.h"
#include "model/naive_policy.h"

/* The next number of the sequence that begins at *@seed. */
static inline uint64_t stream_random(uint64_t *seed)
{
    *seed += UINT64_C(0x9E3779B97F4A7C15);
    return bits_mix64(*seed);
}

/* How a stream is made. @forget_percent of the events free a page. */
struct stream_shape {
    uint32_t universe_pages;
    unsigned forget_percent;
};

/*
 * Fills @events: phases of a few dozen events, each a scan, a loop, a skewed or an even choice, or
 * immediate repetitions. The pages are 0 .. universe_pages - 1.
 */
static inline void stream_fill(struct naive_event *events, size_t count, struct stream_shape shape,
                               uint64_t seed)
{
    uint64_t at = 0, loop = 1, kind = 0, left = 0;
    for (size_t i = 0; i < count; i++) {
        if (left-- == 0) {
            left = 8 + stream_random(&seed) % 64;
            kind = stream_random(&seed) % 5;
            loop = 1 + stream_random(&seed) % shape.universe_pages;
            at = stream_random(&seed);
        }
        uint64_t random = stream_random(&seed);
        uint64_t skew = stream_random(&seed) % shape.universe_pages + 1;
        uint64_t pages[] = {
            at + i,            /* scan */
            at % 7 + i % loop, /* loop */
            random % skew,     /* skewed to low numbers */
            random,            /* even */
            at + i / 3,        /* repetitions */
        };
        events[i].page = (uint32_t)(pages[kind] % shape.universe_pages);
        events[i].is_forget = (random >> 32) % 100 < shape.forget_percent;
    }
}

#endif
