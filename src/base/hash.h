/* SPDX-License-Identifier: MIT */
/* A fast hash of memory, for checksums and tables; not against adversaries. Pure functions. */
#ifndef BASE_HASH_H
#define BASE_HASH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/bits.h"

/*
 * 64 bits over @bytes at @data, which need no alignment. Each word is folded in by a bijection of
 * the state, so two inputs of one length that differ in one word never collide.
 */
static inline uint64_t hash_bytes(const void *data, size_t bytes, uint64_t seed)
{
    const unsigned char *at = data;
    uint64_t hash = seed ^ bytes * 0x9E3779B97F4A7C15ull, word;
    for (; bytes >= sizeof(word); bytes -= sizeof(word), at += sizeof(word)) {
        memcpy(&word, at, sizeof(word));
        hash = (hash ^ word) * 0xBF58476D1CE4E5B9ull;
        hash ^= hash >> 32;
    }
    if (bytes) {
        word = 0;
        memcpy(&word, at, bytes);
        hash = (hash ^ word) * 0xBF58476D1CE4E5B9ull;
    }
    return bits_mix64(hash);
}

#endif
