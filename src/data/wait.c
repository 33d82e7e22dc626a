/* SPDX-License-Identifier: MIT */
/*
 * Readers and writers of one page (reclaim/hold.h). Who has to wait sleeps on the low half of the
 * hold, after setting WAITERS in it; who lets go of what others may wait for clears that bit and
 * wakes them all.
 */
#include "data/data.h"

#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define LOW_HALF 1
#else
#define LOW_HALF 0
#endif

static const void *wait_word(const struct folio *folio)
{
    return (const char *)&folio->hold + LOW_HALF * sizeof(uint32_t);
}

static bool stands_in(const struct folio *folio, const _Atomic uint64_t *slot)
{
    /* Acquire: after the hold was taken; pairs with map_remove. */
    return atomic_load_acquire(slot) == (uintptr_t)folio;
}

enum hold_result hold_read(struct data *data, struct folio *folio, const _Atomic uint64_t *slot,
                           uint64_t *seen)
{
    *seen = atomic_load_relaxed(&folio->hold);
    do {
        if (*seen & HOLD_FROZEN)
            return HOLD_GONE;
        if (*seen & HOLD_WRITER)
            return stands_in(folio, slot) ? HOLD_BUSY : HOLD_GONE;
        if ((*seen & HOLD_READERS_MASK) == HOLD_READERS_MASK)
            return HOLD_FULL;
    } while (!atomic_cas_acq_rel(&folio->hold, seen, *seen + HOLD_READER));
    if (MGLRU_LIKELY(stands_in(folio, slot)))
        return HOLD_TAKEN;
    hold_end_read(data, folio);
    return HOLD_GONE;
}

enum hold_result hold_write(struct data *data, struct folio *folio, const _Atomic uint64_t *slot,
                            uint64_t *seen)
{
    *seen = atomic_load_relaxed(&folio->hold);
    do {
        if (*seen & HOLD_FROZEN)
            return HOLD_GONE;
        if (*seen & (HOLD_WRITER | HOLD_READERS_MASK))
            return stands_in(folio, slot) ? HOLD_BUSY : HOLD_GONE;
    } while (!atomic_cas_acq_rel(&folio->hold, seen, *seen | HOLD_WRITER));
    if (MGLRU_LIKELY(stands_in(folio, slot)))
        return HOLD_TAKEN;
    hold_end_write(data, folio);
    return HOLD_GONE;
}

enum hold_result page_hold(struct data_map *map, uint64_t page, bool writes, struct folio **folio,
                           uint64_t *seen)
{
    enum hold_result result = HOLD_GONE;
    rcu_enter();
    const struct data_leaf *leaf = map_find(map, page);
    uint64_t slot = map_slot(leaf, page);
    *folio = slot_has_folio(slot) ? slot_get_folio(slot) : NULL;
    if (*folio) {
        const _Atomic uint64_t *place = &leaf->slots[page % LEAF_PAGES];
        result = writes ? hold_write(map->data, *folio, place, seen)
                        : hold_read(map->data, *folio, place, seen);
    }
    rcu_leave();
    return result;
}

void page_hold_again(struct folio *folio, enum hold_result result, uint64_t seen)
{
    if (result == HOLD_BUSY)
        hold_wait(folio, seen);
    else
        os_thread_yield(); /* it is on its way out of the slot */
}

void hold_wait(struct folio *folio, uint64_t seen)
{
    MGLRU_ASSERT(!rcu_inside());
    if (!(seen & HOLD_WAITERS)) {
        if (!atomic_cas_relaxed(&folio->hold, &seen, seen | HOLD_WAITERS))
            return;
        seen |= HOLD_WAITERS;
    }
    os_wait(wait_word(folio), (uint32_t)seen);
}

static void wake(const struct folio *folio, uint64_t seen)
{
    if (MGLRU_UNLIKELY(seen & HOLD_WAITERS))
        os_wake(wait_word(folio), true);
}

/* What remains of a hold that loses its last use. */
static uint64_t frozen(uint64_t next)
{
    return ((next & HOLD_VERSION_MASK) + HOLD_VERSION) | HOLD_FROZEN;
}

void hold_end_read(struct data *data, struct folio *folio)
{
    uint64_t seen = atomic_load_relaxed(&folio->hold), next;
    bool last;
    do {
        MGLRU_CHECK(seen & HOLD_READERS_MASK);
        next = seen - HOLD_READER;
        if (!(next & HOLD_READERS_MASK))
            next &= ~HOLD_WAITERS;
        last = hold_is_last(seen, next);
        if (last)
            next = frozen(next);
    } while (!atomic_cas_acq_rel(&folio->hold, &seen, next));
    if (!(next & HOLD_WAITERS))
        wake(folio, seen);
    if (MGLRU_UNLIKELY(last))
        page_dispose_claiming(data, folio);
}

void hold_end_write(struct data *data, struct folio *folio)
{
    uint64_t seen = atomic_load_relaxed(&folio->hold), next;
    bool last;
    do {
        MGLRU_CHECK(seen & HOLD_WRITER);
        next = (seen & ~(HOLD_WRITER | HOLD_WAITERS)) + HOLD_VERSION;
        last = hold_is_last(seen, next);
        if (last)
            next = frozen(next);
    } while (!atomic_cas_acq_rel(&folio->hold, &seen, next));
    wake(folio, seen);
    if (MGLRU_UNLIKELY(last))
        page_dispose_claiming(data, folio);
}

void hold_downgrade(struct folio *folio)
{
    uint64_t seen = atomic_load_relaxed(&folio->hold), next;
    do {
        MGLRU_CHECK(seen & HOLD_WRITER);
        next = (seen & ~(HOLD_WRITER | HOLD_WAITERS)) + HOLD_VERSION + HOLD_READER;
    } while (!atomic_cas_acq_rel(&folio->hold, &seen, next));
    wake(folio, seen);
}
