/* SPDX-License-Identifier: MIT */
/*
 * Thread numbers from a bitmap. The lowest free one is given out, so that numbers stay dense. A
 * thread-exit hook of os/ takes the number back.
 */
#include "sync/slot.h"

#include "os/os.h"
#include "sync/lock.h"

#define WORDS (SLOT_MAX / 64)

_Thread_local unsigned slot_plus_one;

static struct lock_spin slots_lock = LOCK_SPIN_INIT(RANK_SLOT);
static uint64_t slots_used[WORDS]; /* guarded by slots_lock */

/* Taking the lock orders the last writes of the old owner before the new owner's first. */
static void slot_return(void *unused)
{
    unsigned slot = slot_plus_one - 1;
    slot_plus_one = 0;
    if (slot >= SLOT_MAX)
        return;
    lock_spin_acquire(&slots_lock);
    slots_used[slot / 64] &= ~(UINT64_C(1) << (slot % 64));
    lock_spin_release(&slots_lock);
}

unsigned slot_assign(void)
{
    unsigned slot = SLOT_NONE;
    lock_spin_acquire(&slots_lock);
    for (unsigned word = 0; word < WORDS && slot == SLOT_NONE; word++) {
        if (slots_used[word] == UINT64_MAX)
            continue;
        unsigned bit = (unsigned)__builtin_ctzll(~slots_used[word]);
        slots_used[word] |= UINT64_C(1) << bit;
        slot = word * 64 + bit;
    }
    lock_spin_release(&slots_lock);
    slot_plus_one = slot + 1;
    if (os_thread_at_exit(slot_return, NULL) != MGLRU_OK) {
        slot_return(NULL);
        slot = SLOT_NONE;
        slot_plus_one = slot + 1;
    }
    return slot;
}

unsigned slot_count(void)
{
    unsigned count = 0;
    lock_spin_acquire(&slots_lock);
    for (unsigned word = 0; word < WORDS; word++)
        count += (unsigned)__builtin_popcountll(slots_used[word]);
    lock_spin_release(&slots_lock);
    return count;
}
