/* SPDX-License-Identifier: MIT */
/* See table.h. */
#include "record/table.h"

#include <stdlib.h>

#include "base/bits.h"

#define SLOTS_FIRST 256u
#define SLOTS_MAX (UINT32_C(1) << 31)

/* The slot of the pair, or the free one where it belongs. The table has a free slot. */
static struct table_slot *slot_of(const struct table *table, uint64_t first, uint64_t second)
{
    uint32_t at = (uint32_t)bits_mix64(first ^ bits_mix64(second)) & table->mask;
    while (table->slots[at].value != 0 &&
           (table->slots[at].first != first || table->slots[at].second != second))
        at = (at + 1) & table->mask;
    return &table->slots[at];
}

uint32_t table_find(const struct table *table, uint64_t first, uint64_t second)
{
    if (table->slots == NULL)
        return TABLE_NONE;
    return slot_of(table, first, second)->value - 1;
}

static bool grow(struct table *table)
{
    uint32_t slots = table->slots != NULL ? (table->mask + 1) * 2 : SLOTS_FIRST;
    if (slots > SLOTS_MAX || slots == 0)
        return false;
    struct table larger = {.slots = calloc(slots, sizeof(*larger.slots)), .mask = slots - 1};
    if (larger.slots == NULL)
        return false;
    for (uint32_t i = 0; table->slots != NULL && i <= table->mask; i++)
        if (table->slots[i].value != 0)
            *slot_of(&larger, table->slots[i].first, table->slots[i].second) = table->slots[i];
    larger.count = table->count;
    free(table->slots);
    *table = larger;
    return true;
}

bool table_add(struct table *table, uint64_t first, uint64_t second, uint32_t value, bool *added)
{
    *added = false;
    if ((table->slots == NULL || table->count >= table->mask / 2) && !grow(table))
        return false;
    struct table_slot *slot = slot_of(table, first, second);
    if (slot->value == 0) {
        *slot = (struct table_slot){first, second, value + 1};
        table->count++;
        *added = true;
    }
    return true;
}

void table_free(struct table *table)
{
    free(table->slots);
    *table = (struct table){0};
}
