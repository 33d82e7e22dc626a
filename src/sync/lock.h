/* SPDX-License-Identifier: MIT */
/*
 * Ranked spin locks and mutexes.
 *
 * A spin lock is for a few dozen instructions: nothing that allocates, waits or calls out runs
 * under it. A mutex may be held for longer; its waiters sleep in os_wait. Both are
 * small, need no destruction, and carry their rank so that debug
 * builds (MGLRU_DEBUG) can check the order of rank.h: an inversion, a double lock, an unlock by a
 * stranger name both locks on stderr and abort.
 *
 * Guarantees: (A) mutual exclusion; (B) everything before a release is seen after the acquire that
 * follows it; (C) no fairness. Progress: blocking.
 */
#ifndef SYNC_LOCK_H
#define SYNC_LOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "sync/annotate.h"
#include "sync/atomic.h"
#include "sync/rank.h"

/* One byte, so that it fits beside what it guards. */
struct MGLRU_CAPABILITY("spin lock") lock_spin {
    _Atomic uint8_t word; /* LOCK_SPIN_HELD or not, and the rank */
};

#define LOCK_SPIN_HELD 0x80u
/* For static locks: a free one of @rank. */
#define LOCK_SPIN_INIT(rank)                                                                       \
    {                                                                                              \
        (uint8_t)(rank)                                                                            \
    }

_Static_assert(RANK_COUNT <= LOCK_SPIN_HELD, "a rank has seven bits");

static inline enum lock_rank lock_spin_rank(const struct lock_spin *lock)
{
    return (enum lock_rank)(atomic_load_relaxed(&lock->word) & ~LOCK_SPIN_HELD);
}

struct MGLRU_CAPABILITY("mutex") lock_mutex {
    _Atomic uint32_t state; /* 0 free, 1 held, 2 held and somebody waits */
    uint8_t rank;           /* enum lock_rank */
};

/* Makes a free lock of @rank. Before any other call on it. */
void lock_spin_init(struct lock_spin *lock, enum lock_rank rank);

/* Takes the lock, spinning. The caller holds only locks of lower rank. Any thread. */
void lock_spin_acquire(struct lock_spin *lock) MGLRU_ACQUIRES(*lock);

/*
 * As lock_spin_acquire, but a lock of the same rank may be held: for the pairs whose order rank.h
 * gives in words (child lruvec, then parent).
 */
void lock_spin_acquire_nested(struct lock_spin *lock) MGLRU_ACQUIRES(*lock);

/* Takes the lock if it is free. Never waits, so the order of ranks does not matter. */
bool lock_spin_try(struct lock_spin *lock) MGLRU_TRY_ACQUIRES(true, *lock);

/* Gives the lock back. By the thread that took it. */
void lock_spin_release(struct lock_spin *lock) MGLRU_RELEASES(*lock);

/* The mutex counterparts; waiters sleep. */
void lock_mutex_init(struct lock_mutex *lock, enum lock_rank rank);
void lock_mutex_acquire(struct lock_mutex *lock) MGLRU_ACQUIRES(*lock);
bool lock_mutex_try(struct lock_mutex *lock) MGLRU_TRY_ACQUIRES(true, *lock);
void lock_mutex_release(struct lock_mutex *lock) MGLRU_RELEASES(*lock);

/* Name of a rank, "lru" for RANK_LRU; "none" for unknown ones. */
const char *lock_rank_name(enum lock_rank rank);

/*
 * Whether this thread holds @lock: exact in debug builds; otherwise true whenever anybody holds
 * it, so that the asserts of the two builds read the same.
 */
bool lock_spin_held(const struct lock_spin *lock);
bool lock_mutex_held(const struct lock_mutex *lock);

#endif
