/* SPDX-License-Identifier: MIT */
/*
 * Atomic access, the memory order in the name of every call; the only user of <stdatomic.h>.
 *
 * Fields are declared _Atomic (uint64_t, uint32_t, long, a pointer, ...). The calls are macros
 * because they serve every such type. Two rules go with them:
 *   - every release, acquire and seq_cst call says in a comment which function it pairs with;
 *   - the *_owner calls are a relaxed load and a relaxed store: no locked instruction, correct
 *     only where one thread at a time writes the field (readers may be anywhere).
 */
#ifndef SYNC_ATOMIC_H
#define SYNC_ATOMIC_H

#include <stdatomic.h>
#include <stdbool.h>

/*
 * Stress tests compile the code under test with MGLRU_RACE_POINTS: then each access is a point at
 * which their function may let another thread run (on os/sim: the one that the seed chooses).
 */
#ifdef MGLRU_RACE_POINTS
void atomic_race_point(void);
#define ATOMIC_POINT() atomic_race_point()
#else
#define ATOMIC_POINT() ((void)0)
#endif

#define atomic_load_relaxed(p) (ATOMIC_POINT(), atomic_load_explicit((p), memory_order_relaxed))
#define atomic_load_acquire(p) (ATOMIC_POINT(), atomic_load_explicit((p), memory_order_acquire))
#define atomic_load_seq_cst(p) (ATOMIC_POINT(), atomic_load_explicit((p), memory_order_seq_cst))

#define atomic_store_relaxed(p, v)                                                                 \
    (ATOMIC_POINT(), atomic_store_explicit((p), (v), memory_order_relaxed))
#define atomic_store_release(p, v)                                                                 \
    (ATOMIC_POINT(), atomic_store_explicit((p), (v), memory_order_release))
#define atomic_store_seq_cst(p, v)                                                                 \
    (ATOMIC_POINT(), atomic_store_explicit((p), (v), memory_order_seq_cst))

/* All read-modify-write calls give the value from before. */
#define atomic_add_relaxed(p, v)                                                                   \
    (ATOMIC_POINT(), atomic_fetch_add_explicit((p), (v), memory_order_relaxed))
#define atomic_add_release(p, v)                                                                   \
    (ATOMIC_POINT(), atomic_fetch_add_explicit((p), (v), memory_order_release))
#define atomic_add_acq_rel(p, v)                                                                   \
    (ATOMIC_POINT(), atomic_fetch_add_explicit((p), (v), memory_order_acq_rel))
#define atomic_add_seq_cst(p, v)                                                                   \
    (ATOMIC_POINT(), atomic_fetch_add_explicit((p), (v), memory_order_seq_cst))
#define atomic_sub_relaxed(p, v)                                                                   \
    (ATOMIC_POINT(), atomic_fetch_sub_explicit((p), (v), memory_order_relaxed))
#define atomic_sub_acq_rel(p, v)                                                                   \
    (ATOMIC_POINT(), atomic_fetch_sub_explicit((p), (v), memory_order_acq_rel))
#define atomic_sub_seq_cst(p, v)                                                                   \
    (ATOMIC_POINT(), atomic_fetch_sub_explicit((p), (v), memory_order_seq_cst))
#define atomic_or_relaxed(p, v)                                                                    \
    (ATOMIC_POINT(), atomic_fetch_or_explicit((p), (v), memory_order_relaxed))
#define atomic_or_acq_rel(p, v)                                                                    \
    (ATOMIC_POINT(), atomic_fetch_or_explicit((p), (v), memory_order_acq_rel))
#define atomic_and_relaxed(p, v)                                                                   \
    (ATOMIC_POINT(), atomic_fetch_and_explicit((p), (v), memory_order_relaxed))
#define atomic_and_acq_rel(p, v)                                                                   \
    (ATOMIC_POINT(), atomic_fetch_and_explicit((p), (v), memory_order_acq_rel))
#define atomic_exchange_relaxed(p, v)                                                              \
    (ATOMIC_POINT(), atomic_exchange_explicit((p), (v), memory_order_relaxed))
#define atomic_exchange_acquire(p, v)                                                              \
    (ATOMIC_POINT(), atomic_exchange_explicit((p), (v), memory_order_acquire))
#define atomic_exchange_release(p, v)                                                              \
    (ATOMIC_POINT(), atomic_exchange_explicit((p), (v), memory_order_release))
#define atomic_exchange_acq_rel(p, v)                                                              \
    (ATOMIC_POINT(), atomic_exchange_explicit((p), (v), memory_order_acq_rel))
#define atomic_exchange_seq_cst(p, v)                                                              \
    (ATOMIC_POINT(), atomic_exchange_explicit((p), (v), memory_order_seq_cst))

/* True when *p was *expected and is @v now; otherwise *expected becomes what was seen. */
#define atomic_cas_relaxed(p, expected, v)                                                         \
    (ATOMIC_POINT(), atomic_compare_exchange_strong_explicit(                                      \
                         (p), (expected), (v), memory_order_relaxed, memory_order_relaxed))
#define atomic_cas_acquire(p, expected, v)                                                         \
    (ATOMIC_POINT(), atomic_compare_exchange_strong_explicit(                                      \
                         (p), (expected), (v), memory_order_acquire, memory_order_relaxed))
#define atomic_cas_release(p, expected, v)                                                         \
    (ATOMIC_POINT(), atomic_compare_exchange_strong_explicit(                                      \
                         (p), (expected), (v), memory_order_release, memory_order_relaxed))
#define atomic_cas_acq_rel(p, expected, v)                                                         \
    (ATOMIC_POINT(), atomic_compare_exchange_strong_explicit(                                      \
                         (p), (expected), (v), memory_order_acq_rel, memory_order_acquire))

/* For fields that one thread at a time writes. The value of atomic_add_owner is the new one. */
#define atomic_add_owner(p, v)                                                                     \
    __extension__({                                                                                \
        __typeof__(p) add_owner_p = (p);                                                           \
        __typeof__(atomic_load_relaxed(add_owner_p)) add_owner_new =                               \
            atomic_load_relaxed(add_owner_p) + (v);                                                \
        atomic_store_relaxed(add_owner_p, add_owner_new);                                          \
        add_owner_new;                                                                             \
    })

/*
 * Fences. gcc's TSan warns that it does not model them; every access that they order here is
 * atomic itself, so it has no race to miss.
 */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wtsan"
#endif
static inline void atomic_fence_acquire(void)
{
    atomic_thread_fence(memory_order_acquire);
}

static inline void atomic_fence_release(void)
{
    atomic_thread_fence(memory_order_release);
}

static inline void atomic_fence_seq_cst(void)
{
    atomic_thread_fence(memory_order_seq_cst);
}
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif

/* Tells the processor that this is a spin-wait loop. */
static inline void atomic_spin_hint(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

#endif
