/* SPDX-License-Identifier: MIT */
/*
 * Pairs of numbers and the dense number that each got: open addressing, linear probing, never
 * fuller than a half. All fields zero is the empty table. One thread.
 */
#ifndef RECORD_TABLE_H
#define RECORD_TABLE_H

#include <stdbool.h>
#include <stdint.h>

struct table_slot {
    uint64_t first, second;
    uint32_t value; /* number + 1; 0: free */
};

struct table {
    struct table_slot *slots;
    uint32_t mask; /* slots - 1 */
    uint32_t count;
};

#define TABLE_NONE UINT32_MAX

/* The number of the pair; TABLE_NONE: not there. */
uint32_t table_find(const struct table *table, uint64_t first, uint64_t second);

/* The same, adding the pair with the number @value (< 2^31) when it is new; *@added tells. False:
 * no memory, or 2^30 pairs are there. */
bool table_add(struct table *table, uint64_t first, uint64_t second, uint32_t value, bool *added);

void table_free(struct table *table);

#endif
