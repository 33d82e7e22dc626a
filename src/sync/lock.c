/* SPDX-License-Identifier: MIT */
/*
 * Spin locks (test, then test-and-set), mutexes (three states over os_wait), and the check of
 * ranks in debug builds: each thread keeps the locks that it holds in a small stack.
 *
 * Mutex states: 0 free, 1 held, 2 held with possible waiters. A waiter always sets 2, so a release
 * from 1 need not wake anybody (Drepper, "Futexes Are Tricky", 2011).
 */
#include "sync/lock.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/check.h"
#include "os/os.h"

/* Chosen: longer than any critical section here; then another thread gets the processor. */
#define SPINS_BEFORE_YIELD 256

#define RANK_NAME(name, text, guards, nesting) [RANK_##name] = text,
static const char *const rank_names[RANK_COUNT] = {RANK_TABLE(RANK_NAME)};
#undef RANK_NAME

const char *lock_rank_name(enum lock_rank rank)
{
    return rank > RANK_NONE && rank < RANK_COUNT ? rank_names[rank] : "none";
}

#ifdef MGLRU_DEBUG

/* More locks than any path holds: the longest chain of rank.h. */
#define HELD_MAX RANK_COUNT

struct held_lock {
    const void *lock;
    uint8_t rank;
};

static _Thread_local struct held_lock held[HELD_MAX];
static _Thread_local unsigned held_count;

static _Noreturn void rank_failed(const char *what, uint8_t rank, uint8_t other)
{
    fprintf(stderr, "lock order: %s \"%s\" (rank %u) while holding \"%s\" (rank %u)\n", what,
            lock_rank_name(rank), rank, lock_rank_name(other), other);
    abort();
}

/* @equal_ok: a lock of the same rank may be held; @any: order does not matter (try). */
static void check_order(const void *lock, uint8_t rank, bool equal_ok)
{
    for (unsigned i = 0; i < held_count; i++) {
        if (held[i].lock == lock)
            rank_failed("taking twice", rank, held[i].rank);
        if (held[i].rank > rank || (held[i].rank == rank && !equal_ok))
            rank_failed("taking", rank, held[i].rank);
    }
}

static void note_acquired(const void *lock, uint8_t rank)
{
    MGLRU_CHECK(rank > RANK_NONE && rank < RANK_COUNT);
    MGLRU_CHECK(held_count < HELD_MAX);
    held[held_count++] = (struct held_lock){lock, rank};
}

static void note_released(const void *lock, uint8_t rank)
{
    for (unsigned i = held_count; i-- > 0;) {
        if (held[i].lock != lock)
            continue;
        held_count--;
        for (; i < held_count; i++)
            held[i] = held[i + 1];
        return;
    }
    rank_failed("releasing what another thread holds,", rank,
                held_count ? held[held_count - 1].rank : 0);
}

static bool is_held(const void *lock)
{
    for (unsigned i = 0; i < held_count; i++)
        if (held[i].lock == lock)
            return true;
    return false;
}

#else

static inline void check_order(const void *lock, uint8_t rank, bool equal_ok)
{
}

#ifdef MGLRU_RECORD_LOCKS

/* Builds whose accesses are recorded (variant/) define it. */
void lock_recorded(const void *lock, bool taken);

static inline void note_acquired(const void *lock, uint8_t rank)
{
    lock_recorded(lock, true);
}

static inline void note_released(const void *lock, uint8_t rank)
{
    lock_recorded(lock, false);
}

#else

static inline void note_acquired(const void *lock, uint8_t rank)
{
}

static inline void note_released(const void *lock, uint8_t rank)
{
}

#endif

#endif

void lock_spin_init(struct lock_spin *lock, enum lock_rank rank)
{
    MGLRU_ASSERT(rank > RANK_NONE && rank < RANK_COUNT);
    atomic_store_relaxed(&lock->word, (uint8_t)rank);
}

static bool spin_is_taken(const struct lock_spin *lock)
{
    return atomic_load_relaxed(&lock->word) & LOCK_SPIN_HELD;
}

/* Takes a free lock; false: it was taken. */
static bool spin_grab(struct lock_spin *lock, uint8_t rank)
{
    /* Pairs with the store in lock_spin_release. */
    return !(atomic_exchange_acquire(&lock->word, LOCK_SPIN_HELD | rank) & LOCK_SPIN_HELD);
}

static void spin_wait(const struct lock_spin *lock)
{
    for (unsigned spins = 0; spin_is_taken(lock); spins++) {
        if (spins % SPINS_BEFORE_YIELD == SPINS_BEFORE_YIELD - 1)
            os_thread_yield();
        else
            atomic_spin_hint();
    }
}

static void spin_take(struct lock_spin *lock, bool equal_ok)
{
    uint8_t rank = (uint8_t)lock_spin_rank(lock);
    check_order(lock, rank, equal_ok);
    while (!spin_grab(lock, rank))
        spin_wait(lock);
    note_acquired(lock, rank);
}

void lock_spin_acquire(struct lock_spin *lock) MGLRU_NO_LOCK_ANALYSIS
{
    spin_take(lock, false);
}

void lock_spin_acquire_nested(struct lock_spin *lock) MGLRU_NO_LOCK_ANALYSIS
{
    spin_take(lock, true);
}

bool lock_spin_try(struct lock_spin *lock) MGLRU_NO_LOCK_ANALYSIS
{
    uint8_t rank = (uint8_t)lock_spin_rank(lock);
    if (spin_is_taken(lock) || !spin_grab(lock, rank))
        return false;
    note_acquired(lock, rank);
    return true;
}

void lock_spin_release(struct lock_spin *lock) MGLRU_NO_LOCK_ANALYSIS
{
    uint8_t rank = (uint8_t)lock_spin_rank(lock);
    note_released(lock, rank);
    MGLRU_ASSERT(spin_is_taken(lock));
    /* Pairs with the exchange in spin_grab. */
    atomic_store_release(&lock->word, rank);
}

void lock_mutex_init(struct lock_mutex *lock, enum lock_rank rank)
{
    MGLRU_ASSERT(rank > RANK_NONE && rank < RANK_COUNT);
    atomic_store_relaxed(&lock->state, 0);
    lock->rank = (uint8_t)rank;
}

void lock_mutex_acquire(struct lock_mutex *lock) MGLRU_NO_LOCK_ANALYSIS
{
    check_order(lock, lock->rank, false);
    uint32_t state = 0;
    /* Both pair with the exchange in lock_mutex_release. */
    if (!atomic_cas_acquire(&lock->state, &state, 1))
        while (atomic_exchange_acquire(&lock->state, 2))
            os_wait(&lock->state, 2);
    note_acquired(lock, lock->rank);
}

bool lock_mutex_try(struct lock_mutex *lock) MGLRU_NO_LOCK_ANALYSIS
{
    uint32_t state = 0;
    /* Pairs with the exchange in lock_mutex_release. */
    if (!atomic_cas_acquire(&lock->state, &state, 1))
        return false;
    note_acquired(lock, lock->rank);
    return true;
}

void lock_mutex_release(struct lock_mutex *lock) MGLRU_NO_LOCK_ANALYSIS
{
    note_released(lock, lock->rank);
    /* Pairs with the acquires of lock_mutex_acquire and lock_mutex_try. */
    uint32_t state = atomic_exchange_release(&lock->state, 0);
    MGLRU_ASSERT(state);
    if (state == 2)
        os_wake(&lock->state, false);
}

bool lock_spin_held(const struct lock_spin *lock)
{
#ifdef MGLRU_DEBUG
    return is_held(lock);
#else
    return spin_is_taken(lock);
#endif
}

bool lock_mutex_held(const struct lock_mutex *lock)
{
#ifdef MGLRU_DEBUG
    return is_held(lock);
#else
    return atomic_load_relaxed(&lock->state);
#endif
}
