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

#endif
