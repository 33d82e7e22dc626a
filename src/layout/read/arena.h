/* SPDX-License-Identifier: MIT */
/*
 * Memory that is freed all at once, and strings in it that are kept once each.
 *
 * Idea: types, members and names of an opened file live until it is closed, so they are carved from
 * blocks and never freed singly. Not thread-safe: one owner.
 */
#ifndef LAYOUT_READ_ARENA_H
#define LAYOUT_READ_ARENA_H

#include <stddef.h>
#include <stdint.h>

struct arena_block;

struct arena {
    struct arena_block *blocks; /* newest first */
    size_t used_bytes;          /* of the newest */
    size_t next_bytes;          /* size of the next block */
    const char **strings;       /* open addressing; NULL: free slot */
    size_t string_slots;        /* a power of 2, or 0 */
    size_t string_count;
};

/* Zeroed memory, aligned for any type here; NULL: out of memory. A zeroed arena is an empty one. */
void *arena_alloc(struct arena *arena, size_t bytes);

/* Room for @length characters and a NUL, all zero. NULL: out of memory. */
char *arena_text(struct arena *arena, size_t length);

/* @length bytes of @text as a string with control characters shown as '?', the same pointer for the
 * same text. NULL: out of memory. */
const char *arena_string(struct arena *arena, const char *text, size_t length);

void arena_free(struct arena *arena);

/* FNV-1a, for tables of texts and keys. */
static inline uint64_t arena_hash(uint64_t hash, const void *data, size_t bytes)
{
    const uint8_t *at = data;
    for (size_t i = 0; i < bytes; i++)
        hash = (hash ^ at[i]) * UINT64_C(0x100000001b3);
    return hash;
}

#define ARENA_HASH_START UINT64_C(0xcbf29ce484222325)

#endif
