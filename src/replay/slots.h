/* SPDX-License-Identifier: MIT */
/*
 * Finds what a (memcg, object) pair stands for: an open file or an anonymous region. Nearly every
 * object is used by one memcg, so the first memcg of an object has its value in a plain array and
 * only the others go through a hash. One thread.
 */
#ifndef REPLAY_SLOTS_H
#define REPLAY_SLOTS_H

#include <stddef.h>
#include <stdint.h>

#define REPLAY_NO_MEMCG UINT32_MAX

struct replay_slot {
    void *value;    /* NULL: free */
    uint32_t memcg; /* REPLAY_NO_MEMCG: free */
    uint32_t object;
};

struct replay_slots {
    struct replay_slot *first; /* by object */
    uint32_t first_count;
    struct replay_slot *others; /* open addressing; a power of two, at most half full */
    size_t others_size;
    size_t others_used; /* freed entries included: they keep their key */
};

/* The value of a pair that is not in the array; NULL: none. */
void *replay_slots_find_other(const struct replay_slots *slots, uint32_t memcg, uint32_t object);

static inline void *replay_slots_find(const struct replay_slots *slots, uint32_t memcg,
                                      uint32_t object)
{
    if (object < slots->first_count && slots->first[object].memcg == memcg)
        return slots->first[object].value;
    return replay_slots_find_other(slots, memcg, object);
}

/* Sets the value of a pair that has none. MGLRU_ENOMEM. */
int replay_slots_add(struct replay_slots *slots, uint32_t memcg, uint32_t object, void *value);

/* Takes out all pairs of @memcg. */
void replay_slots_drop_memcg(struct replay_slots *slots, uint32_t memcg);

/* Calls @visit with every value of @memcg, in order of object where the array holds it. */
void replay_slots_visit(const struct replay_slots *slots, uint32_t memcg, void (*visit)(void *));

void replay_slots_free(struct replay_slots *slots);

#endif
