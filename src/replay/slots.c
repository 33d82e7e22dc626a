/* SPDX-License-Identifier: MIT */
/* Pairs of memcg and object; see slots.h. Freed hash entries keep their key, so probing goes on. */
#include "replay/slots.h"

#include <stdlib.h>

#include <mglru/error.h>

#include "base/bits.h"
#include "base/check.h"

static struct replay_slot *find_entry(const struct replay_slots *slots, uint32_t memcg,
                                      uint32_t object)
{
    uint64_t hash = bits_mix64(((uint64_t)memcg << 32) | object);
    for (size_t i = hash;; i++) {
        struct replay_slot *slot = &slots->others[i & (slots->others_size - 1)];
        if (slot->memcg == REPLAY_NO_MEMCG || (slot->memcg == memcg && slot->object == object))
            return slot;
    }
}

void *replay_slots_find_other(const struct replay_slots *slots, uint32_t memcg, uint32_t object)
{
    if (slots->others_size == 0)
        return NULL;
    const struct replay_slot *slot = find_entry(slots, memcg, object);
    return slot->memcg == memcg ? slot->value : NULL;
}

static int grow_first(struct replay_slots *slots, uint32_t object)
{
    uint32_t count = slots->first_count < 32 ? 64 : slots->first_count * 2;
    while (count <= object)
        count *= 2;
    struct replay_slot *grown = realloc(slots->first, count * sizeof(*grown));
    if (grown == NULL)
        return MGLRU_ENOMEM;
    for (uint32_t i = slots->first_count; i < count; i++)
        grown[i] = (struct replay_slot){.memcg = REPLAY_NO_MEMCG, .object = i};
    slots->first = grown;
    slots->first_count = count;
    return MGLRU_OK;
}

static int grow_others(struct replay_slots *slots)
{
    struct replay_slots grown = *slots;
    grown.others_size = slots->others_size == 0 ? 64 : slots->others_size * 2;
    grown.others_used = 0;
    grown.others = malloc(grown.others_size * sizeof(*grown.others));
    if (grown.others == NULL)
        return MGLRU_ENOMEM;
    for (size_t i = 0; i < grown.others_size; i++)
        grown.others[i] = (struct replay_slot){.memcg = REPLAY_NO_MEMCG};
    for (size_t i = 0; i < slots->others_size; i++) {
        const struct replay_slot *slot = &slots->others[i];
        if (slot->value == NULL)
            continue;
        *find_entry(&grown, slot->memcg, slot->object) = *slot;
        grown.others_used++;
    }
    free(slots->others);
    *slots = grown;
    return MGLRU_OK;
}

int replay_slots_add(struct replay_slots *slots, uint32_t memcg, uint32_t object, void *value)
{
    MGLRU_ASSERT(value != NULL);
    if (object >= slots->first_count && grow_first(slots, object) != MGLRU_OK)
        return MGLRU_ENOMEM;
    struct replay_slot *slot = &slots->first[object];
    if (slot->memcg != REPLAY_NO_MEMCG) {
        if (slots->others_used >= slots->others_size / 2 && grow_others(slots) != MGLRU_OK)
            return MGLRU_ENOMEM;
        slot = find_entry(slots, memcg, object);
        slots->others_used += slot->memcg == REPLAY_NO_MEMCG;
    }
    *slot = (struct replay_slot){.value = value, .memcg = memcg, .object = object};
    return MGLRU_OK;
}

void replay_slots_drop_memcg(struct replay_slots *slots, uint32_t memcg)
{
    for (uint32_t i = 0; i < slots->first_count; i++)
        if (slots->first[i].memcg == memcg)
            slots->first[i] = (struct replay_slot){.memcg = REPLAY_NO_MEMCG, .object = i};
    for (size_t i = 0; i < slots->others_size; i++)
        if (slots->others[i].memcg == memcg)
            slots->others[i].value = NULL;
}

void replay_slots_visit(const struct replay_slots *slots, uint32_t memcg, void (*visit)(void *))
{
    for (uint32_t i = 0; i < slots->first_count; i++)
        if (slots->first[i].memcg == memcg)
            visit(slots->first[i].value);
    for (size_t i = 0; i < slots->others_size; i++)
        if (slots->others[i].memcg == memcg && slots->others[i].value != NULL)
            visit(slots->others[i].value);
}

void replay_slots_free(struct replay_slots *slots)
{
    free(slots->first);
    free(slots->others);
    *slots = (struct replay_slots){0};
}
