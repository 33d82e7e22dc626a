/* SPDX-License-Identifier: MIT */
/* A hash table from 64-bit keys to pointers: open addressing, entries are never removed. */
#ifndef LAYOUT_READ_TABLE_H
#define LAYOUT_READ_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/bits.h"

struct table_entry {
    uint64_t key;
    const void *value; /* NULL: free slot */
};

struct table {
    struct table_entry *entries;
    size_t slots; /* a power of 2, or 0 */
    size_t count;
};

/* The slot of @key, or the free one where it belongs. The table must not be full. */
static inline struct table_entry *table_slot(const struct table *table, uint64_t key)
{
    size_t slot = bits_mix64(key) & (table->slots - 1);
    while (table->entries[slot].value != NULL && table->entries[slot].key != key)
        slot = (slot + 1) & (table->slots - 1);
    return &table->entries[slot];
}

/* NULL: not there. */
static inline const void *table_get(const struct table *table, uint64_t key)
{
    return table->slots != 0 ? table_slot(table, key)->value : NULL;
}

/* Adds or replaces; @value is not NULL. False: out of memory. */
static inline bool table_put(struct table *table, uint64_t key, const void *value)
{
    if (table->count * 2 >= table->slots) {
        struct table bigger = {.slots = table->slots != 0 ? table->slots * 2 : 64};
        bigger.entries = calloc(bigger.slots, sizeof(*bigger.entries));
        if (bigger.entries == NULL)
            return false;
        for (size_t i = 0; i < table->slots; i++)
            if (table->entries[i].value != NULL)
                *table_slot(&bigger, table->entries[i].key) = table->entries[i];
        bigger.count = table->count;
        free(table->entries);
        *table = bigger;
    }
    struct table_entry *entry = table_slot(table, key);
    table->count += entry->value == NULL;
    *entry = (struct table_entry){.key = key, .value = value};
    return true;
}

static inline void table_free(struct table *table)
{
    free(table->entries);
    *table = (struct table){0};
}

#endif
