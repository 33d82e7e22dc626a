/* SPDX-License-Identifier: MIT */
/* Memory freed all at once; see arena.h. */
#include "layout/read/arena.h"

#include <stdalign.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/bits.h"

/* Chosen: blocks grow, so that a small file takes little and a kernel few calls. */
#define BLOCK_FIRST ((size_t)16 << 10)
#define BLOCK_LAST ((size_t)1 << 20)

struct arena_block {
    struct arena_block *next;
    size_t bytes;
    alignas(16) uint8_t data[];
};

static struct arena_block *add_block(struct arena *arena, size_t bytes)
{
    size_t want = arena->next_bytes != 0 ? arena->next_bytes : BLOCK_FIRST;
    size_t size = bytes > want ? bytes : want;
    if (size > SIZE_MAX - sizeof(struct arena_block))
        return NULL;
    struct arena_block *block = calloc(1, sizeof(*block) + size);
    if (block == NULL)
        return NULL;
    block->bytes = size;
    block->next = arena->blocks;
    arena->blocks = block;
    arena->used_bytes = 0;
    arena->next_bytes = want < BLOCK_LAST ? want * 2 : BLOCK_LAST;
    return block;
}

static void *carve(struct arena *arena, size_t bytes, size_t align)
{
    struct arena_block *block = arena->blocks;
    size_t start = (arena->used_bytes + align - 1) & ~(align - 1);
    if (block == NULL || start > block->bytes || bytes > block->bytes - start) {
        block = add_block(arena, bytes);
        start = 0;
    }
    if (block == NULL)
        return NULL;
    arena->used_bytes = start + bytes;
    return block->data + start;
}

void *arena_alloc(struct arena *arena, size_t bytes)
{
    return carve(arena, bytes, 8);
}

char *arena_text(struct arena *arena, size_t length)
{
    return carve(arena, length + 1, 1);
}

/* As in the table: control characters count as '?'. */
static uint64_t hash_text(const char *text, size_t length)
{
    return bits_mix64(arena_hash(ARENA_HASH_START, text, length));
}

static bool grow_strings(struct arena *arena)
{
    size_t slots = arena->string_slots != 0 ? arena->string_slots * 2 : 256;
    const char **table = calloc(slots, sizeof(*table));
    if (table == NULL)
        return false;
    for (size_t i = 0; i < arena->string_slots; i++) {
        const char *text = arena->strings[i];
        if (text == NULL)
            continue;
        size_t slot = hash_text(text, strlen(text)) & (slots - 1);
        while (table[slot] != NULL)
            slot = (slot + 1) & (slots - 1);
        table[slot] = text;
    }
    free(arena->strings);
    arena->strings = table;
    arena->string_slots = slots;
    return true;
}

/* A copy without control characters when @text has any, else @text. */
static const char *clean_text(const char *text, size_t length, char **copy)
{
    for (size_t i = 0; i < length; i++) {
        if (!text_is_control(text[i]))
            continue;
        *copy = malloc(length + 1);
        for (size_t j = 0; *copy != NULL && j < length; j++)
            (*copy)[j] = text_is_control(text[j]) ? '?' : text[j];
        return *copy;
    }
    return text;
}

static const char *intern(struct arena *arena, const char *text, size_t length)
{
    if (arena->string_count * 2 >= arena->string_slots && !grow_strings(arena))
        return NULL;
    size_t slot = hash_text(text, length) & (arena->string_slots - 1);
    for (const char *known; (known = arena->strings[slot]) != NULL;) {
        if (strncmp(known, text, length) == 0 && known[length] == '\0')
            return known;
        slot = (slot + 1) & (arena->string_slots - 1);
    }
    char *kept = carve(arena, length + 1, 1);
    if (kept == NULL)
        return NULL;
    memcpy(kept, text, length);
    kept[length] = '\0';
    arena->strings[slot] = kept;
    arena->string_count++;
    return kept;
}

const char *arena_string(struct arena *arena, const char *text, size_t length)
{
    char *copy = NULL;
    const char *clean = clean_text(text, length, &copy);
    const char *kept = clean != NULL ? intern(arena, clean, length) : NULL;
    free(copy);
    return kept;
}

void arena_free(struct arena *arena)
{
    while (arena->blocks != NULL) {
        struct arena_block *block = arena->blocks;
        arena->blocks = block->next;
        free(block);
    }
    free(arena->strings);
    *arena = (struct arena){0};
}
