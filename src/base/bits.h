/* SPDX-License-Identifier: MIT */
/* Bit arithmetic and mixing functions that every level uses. Pure functions, no state. */
#ifndef BASE_BITS_H
#define BASE_BITS_H

#include <stdbool.h>
#include <stdint.h>

/* Products of two or three 64-bit counters. */
__extension__ typedef unsigned __int128 uint128;

/* Number of set bits. Without the instruction the compiler would call a table look-up of its
 * library; the classic parallel sum is faster (Warren, Hacker's Delight, 5-1). */
static inline unsigned bits_count(uint64_t n)
{
#ifdef __POPCNT__
    return (unsigned)__builtin_popcountll(n);
#else
    n -= n >> 1 & UINT64_C(0x5555555555555555);
    n = (n & UINT64_C(0x3333333333333333)) + (n >> 2 & UINT64_C(0x3333333333333333));
    n = (n + (n >> 4)) & UINT64_C(0x0F0F0F0F0F0F0F0F);
    return (unsigned)(n * UINT64_C(0x0101010101010101) >> 56);
#endif
}

/* ceil(log2(n)), with log2up(0) = log2up(1) = 0. */
static inline unsigned bits_log2up(uint64_t n)
{
    return n < 2 ? 0 : 64 - (unsigned)__builtin_clzll(n - 1);
}

/* Position of the highest set bit, counted from 1; 0 for 0. */
static inline unsigned bits_fls(uint64_t n)
{
    return n ? 64 - (unsigned)__builtin_clzll(n) : 0;
}

/* Finaliser of splitmix64 (Steele, Lea, Flood, OOPSLA 2014): a bijection that mixes all bits. */
static inline uint64_t bits_mix64(uint64_t z)
{
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
    return z ^ (z >> 31);
}

#endif
