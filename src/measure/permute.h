/* SPDX-License-Identifier: MIT */
/* Orders in which each of many blocks is read once a pass. */
#ifndef MEASURE_PERMUTE_H
#define MEASURE_PERMUTE_H

#include <stdint.h>

#include "base/bits.h"

/* The @i-th of 2^@bits numbers in the order that @key stands for: four rounds of Feistel. */
static inline uint64_t measure_permute(uint64_t i, unsigned bits, uint64_t key)
{
    unsigned low = bits / 2, high = bits - low;
    uint64_t a = i >> low, b = i & ((UINT64_C(1) << low) - 1);
    for (unsigned round = 0; round < 4; round += 2) {
        a = (a ^ bits_mix64(b + key * 5 + round)) & ((UINT64_C(1) << high) - 1);
        b = (b ^ bits_mix64(a + key * 7 + round + 1)) & ((UINT64_C(1) << low) - 1);
    }
    return a << low | b;
}

/* Where a thread stands among its blocks. */
struct measure_pass {
    uint64_t number; /* of passes that ended */
    uint64_t at;     /* in the present one */
};

/* Which of @blocks a thread reads next; each pass is another order, and each @thread below
 * @threads_max has orders of its own. */
static inline uint64_t measure_next_block(struct measure_pass *pass, uint64_t blocks,
                                          unsigned thread, unsigned threads_max)
{
    unsigned bits = bits_log2up(blocks);
    uint64_t block;
    do {
        if (pass->at >> bits) {
            pass->at = 0;
            pass->number++;
        }
        block = measure_permute(pass->at++, bits, pass->number * threads_max + thread);
    } while (block >= blocks);
    return block;
}

#endif
