/* SPDX-License-Identifier: MIT */
/*
 * Dense ids for pages: the first page seen gets 0, the next new one 1, and so on, so that policies
 * index arrays. A page is named by the object (file or region) and its number in it.
 *
 * The idea: open addressing with linear probing in a table of 16-byte entries. 32 bits of object,
 * 52 bits of page number and 32 bits of id fit into 128 bits, so an entry holds the whole key and a
 * lookup compares it exactly: no tags, no second array, one cache line for most lookups. The hash
 * keeps four neighbouring pages in one aligned group of four entries, which is one line, so that
 * scans stay cheap. The table doubles when it is 5/8 full: 25 to 51 bytes a page.
 *
 * Not thread-safe. Ids depend only on the order of first use.
 */
#ifndef POLICY_KEYS_H
#define POLICY_KEYS_H

#include <stdint.h>

#include "base/bits.h"

#define KEYS_PAGE_MAX ((UINT64_C(1) << 52) - 1)
#define KEYS_NONE UINT32_MAX /* no id; also the greatest number of ids */

struct keys_entry {
    uint64_t low;  /* page number << 12 | low 12 bits of the object */
    uint64_t high; /* high 20 bits of the object << 32 | id; id KEYS_NONE: the entry is empty */
};
_Static_assert(sizeof(struct keys_entry) == 16, "four entries share a cache line");

struct keys {
    struct keys_entry *entries; /* mask + 1, a power of two; aligned to a cache line */
    uint64_t mask;
    uint32_t count; /* ids given out */
};

/* An empty table. 0 or MGLRU_ENOMEM; keys_free may be called after either. */
int keys_init(struct keys *keys);

/* Frees the table; @keys may be all zero bytes. */
void keys_free(struct keys *keys);

/*
 * The id of page @page (<= KEYS_PAGE_MAX) of @object, a new one on first use, in @id.
 * MGLRU_ENOMEM; MGLRU_EOVERFLOW: 2^32 - 1 pages have ids already. @id is KEYS_NONE then.
 */
int keys_intern(struct keys *keys, uint32_t object, uint64_t page, uint32_t *id);

/* The id that the page has, KEYS_NONE if it has none. */
uint32_t keys_find(const struct keys *keys, uint32_t object, uint64_t page);

/* Index of the entry at which the search for a page begins. */
static inline uint64_t keys_home(const struct keys *keys, uint32_t object, uint64_t page)
{
    uint64_t group = bits_mix64((page >> 2) ^ ((uint64_t)object << 32 | object >> 20));
    return (group << 2 | (page & 3)) & keys->mask;
}

/* Starts loading the entry of a page that keys_intern or keys_find will be asked for soon. */
static inline void keys_prefetch(const struct keys *keys, uint32_t object, uint64_t page)
{
    __builtin_prefetch(&keys->entries[keys_home(keys, object, page)]);
}

#endif
