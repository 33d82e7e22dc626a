/* SPDX-License-Identifier: MIT */
/* The table that gives dense ids to pages; idea and layout are in the header. */
#include "policy/keys.h"

#include <stdlib.h>
#include <string.h>

#include <mglru/error.h>

#include "base/check.h"

#define KEYS_ENTRIES_MIN 1024u
#define KEYS_ALIGN 64u

/* An entry as it is stored for a page with a given id. */
static struct keys_entry keys_entry_make(uint32_t object, uint64_t page, uint32_t id)
{
    return (struct keys_entry){
        .low = page << 12 | (object & 0xFFF),
        .high = (uint64_t)(object >> 12) << 32 | id,
    };
}

static uint32_t keys_entry_id(const struct keys_entry *entry)
{
    return (uint32_t)entry->high;
}

/* The entry of a page, or the empty one in which it belongs. The table is never full. */
static struct keys_entry *keys_search(const struct keys *keys, uint32_t object, uint64_t page)
{
    struct keys_entry wanted = keys_entry_make(object, page, 0);
    uint64_t index = keys_home(keys, object, page);
    for (;;) {
        struct keys_entry *entry = &keys->entries[index];
        if (keys_entry_id(entry) == KEYS_NONE)
            return entry;
        if (entry->low == wanted.low && (entry->high ^ wanted.high) >> 32 == 0)
            return entry;
        index = (index + 1) & keys->mask;
    }
}

static struct keys_entry *keys_allocate(uint64_t entries)
{
    if (entries > SIZE_MAX / sizeof(struct keys_entry))
        return NULL;
    struct keys_entry *table = aligned_alloc(KEYS_ALIGN, entries * sizeof(*table));
    if (table)
        memset(table, 0xFF, entries * sizeof(*table));
    return table;
}

int keys_init(struct keys *keys)
{
    *keys = (struct keys){.mask = KEYS_ENTRIES_MIN - 1};
    keys->entries = keys_allocate(KEYS_ENTRIES_MIN);
    return keys->entries ? 0 : MGLRU_ENOMEM;
}

void keys_free(struct keys *keys)
{
    free(keys->entries);
    memset(keys, 0, sizeof(*keys));
}

static int keys_double(struct keys *keys)
{
    struct keys old = *keys;
    struct keys_entry *entries = keys_allocate((old.mask + 1) * 2);
    if (!entries)
        return MGLRU_ENOMEM;
    keys->entries = entries;
    keys->mask = old.mask * 2 + 1;
    for (uint64_t i = 0; i <= old.mask; i++) {
        struct keys_entry entry = old.entries[i];
        if (keys_entry_id(&entry) == KEYS_NONE)
            continue;
        uint32_t object = (uint32_t)(entry.high >> 32 << 12 | (entry.low & 0xFFF));
        *keys_search(keys, object, entry.low >> 12) = entry;
    }
    free(old.entries);
    return 0;
}

int keys_intern(struct keys *keys, uint32_t object, uint64_t page, uint32_t *id)
{
    MGLRU_ASSERT(page <= KEYS_PAGE_MAX);
    struct keys_entry *entry = keys_search(keys, object, page);
    *id = keys_entry_id(entry);
    if (MGLRU_LIKELY(*id != KEYS_NONE))
        return 0;
    if (keys->count == KEYS_NONE)
        return MGLRU_EOVERFLOW;
    if (keys->count >= (keys->mask + 1) / 8 * 5) {
        int error = keys_double(keys);
        if (error)
            return error;
        entry = keys_search(keys, object, page);
    }
    *id = keys->count++;
    *entry = keys_entry_make(object, page, *id);
    return 0;
}

uint32_t keys_find(const struct keys *keys, uint32_t object, uint64_t page)
{
    MGLRU_ASSERT(page <= KEYS_PAGE_MAX);
    return keys_entry_id(keys_search(keys, object, page));
}
