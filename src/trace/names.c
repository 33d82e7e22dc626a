/* SPDX-License-Identifier: MIT */
/*
 * Interned names: open addressing over numbers, texts in blocks of their own.
 *
 * Invariants: slots is NULL or has slot_mask + 1 (a power of two) entries of which at most half
 * are used; entry i lies in chunk log2(i / NAMES_FIRST_CHUNK + 1).
 */
#include "trace/names.h"

#include <stdlib.h>
#include <string.h>

#include <mglru/error.h>

#include "base/bits.h"
#include "base/check.h"

#define FIRST_SLOTS 128u

static uint32_t name_hash(const char *text, size_t bytes)
{
    uint64_t hash = bytes;
    uint64_t word;
    for (; bytes >= sizeof(word); text += sizeof(word), bytes -= sizeof(word)) {
        memcpy(&word, text, sizeof(word));
        hash = (hash ^ word) * 0x9E3779B97F4A7C15ull;
        hash ^= hash >> 32;
    }
    word = 0;
    memcpy(&word, text, bytes);
    return (uint32_t)bits_mix64(hash ^ word);
}

static struct names_entry *entry_at(const struct names *names, uint32_t id)
{
    uint64_t n = (uint64_t)id / NAMES_FIRST_CHUNK + 1;
    unsigned chunk = bits_fls(n) - 1;
    uint64_t first = ((UINT64_C(1) << chunk) - 1) * NAMES_FIRST_CHUNK;
    return &names->chunks[chunk][id - first];
}

void names_init(struct names *names)
{
    memset(names, 0, sizeof(*names));
}

void names_destroy(struct names *names)
{
    for (uint32_t id = 0; id < names->count; id++)
        free(entry_at(names, id)->text);
    for (unsigned i = 0; i < NAMES_CHUNKS; i++)
        free(names->chunks[i]);
    free(names->slots);
    names_init(names);
}

static int slots_grow(struct names *names)
{
    uint32_t count = names->slots ? (names->slot_mask + 1) * 2 : FIRST_SLOTS;
    if (count == 0)
        return MGLRU_EOVERFLOW;
    uint32_t *slots = calloc(count, sizeof(*slots));
    if (!slots)
        return MGLRU_ENOMEM;
    for (uint32_t id = 0; id < names->count; id++) {
        uint32_t i = entry_at(names, id)->hash & (count - 1);
        while (slots[i])
            i = (i + 1) & (count - 1);
        slots[i] = id + 1;
    }
    free(names->slots);
    names->slots = slots;
    names->slot_mask = count - 1;
    return 0;
}

/* Makes room for the entry of the next number and copies the text there. */
static int entry_add(struct names *names, const char *text, size_t bytes, uint32_t hash)
{
    uint32_t id = names->count;
    unsigned chunk = bits_fls((uint64_t)id / NAMES_FIRST_CHUNK + 1) - 1;
    if (id >= UINT32_MAX - 1 || chunk >= NAMES_CHUNKS || bytes >= UINT32_MAX)
        return MGLRU_EOVERFLOW;
    if (!names->chunks[chunk]) {
        size_t entries = (size_t)NAMES_FIRST_CHUNK << chunk;
        names->chunks[chunk] = calloc(entries, sizeof(struct names_entry));
        if (!names->chunks[chunk])
            return MGLRU_ENOMEM;
    }
    char *copy = malloc(bytes + 1);
    if (!copy)
        return MGLRU_ENOMEM;
    memcpy(copy, text, bytes);
    copy[bytes] = '\0';
    *entry_at(names, id) = (struct names_entry){copy, (uint32_t)bytes, hash};
    names->count++;
    return 0;
}

int names_intern(struct names *names, const char *text, size_t bytes, uint32_t *id)
{
    *id = 0;
    uint32_t hash = name_hash(text, bytes);
    if (names->count >= (names->slots ? (names->slot_mask + 1) / 2 : 0)) {
        int rc = slots_grow(names);
        if (rc)
            return rc;
    }
    uint32_t i = hash & names->slot_mask;
    for (; names->slots[i]; i = (i + 1) & names->slot_mask) {
        const struct names_entry *entry = entry_at(names, names->slots[i] - 1);
        if (entry->hash == hash && entry->bytes == bytes && memcmp(entry->text, text, bytes) == 0) {
            *id = names->slots[i] - 1;
            return 0;
        }
    }
    int rc = entry_add(names, text, bytes, hash);
    if (rc)
        return rc;
    *id = names->count - 1;
    names->slots[i] = names->count;
    MGLRU_ASSERT(names->count <= names->slot_mask);
    return 0;
}

const char *names_text(const struct names *names, uint32_t id)
{
    unsigned chunk = bits_fls((uint64_t)id / NAMES_FIRST_CHUNK + 1) - 1;
    /* No look at count: another thread may be raising it. Entries not given out are zero. */
    if (chunk >= NAMES_CHUNKS || !names->chunks[chunk])
        return NULL;
    return entry_at(names, id)->text;
}
