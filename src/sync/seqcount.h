/* SPDX-License-Identifier: MIT */
/*
 * Sequence counter: one writer at a time publishes several words; readers never block it and
 * retry when they met a write.
 *
 * The data between begin and end are _Atomic fields accessed with relaxed order. Guarantees:
 * (A) a read section that seqcount_read_retry accepts saw the words of one write only;
 * (B) writers never wait for readers. Progress: writers wait-free; readers lock-free.
 * Writers exclude each other by a lock of the owner.
 */
#ifndef SYNC_SEQCOUNT_H
#define SYNC_SEQCOUNT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/check.h"
#include "sync/atomic.h"

struct seqcount {
    _Atomic uint32_t sequence; /* odd while a write is going on */
};

/* Begins a write. The caller excludes other writers. */
static inline void seqcount_write_begin(struct seqcount *count)
{
    uint32_t sequence = atomic_load_relaxed(&count->sequence);
    MGLRU_ASSERT(sequence % 2 == 0);
    atomic_store_relaxed(&count->sequence, sequence + 1);
    /* Pairs with the acquire fence of seqcount_read_retry: who sees new data sees the odd count. */
    atomic_fence_release();
}

/* Ends a write. */
static inline void seqcount_write_end(struct seqcount *count)
{
    uint32_t sequence = atomic_load_relaxed(&count->sequence);
    MGLRU_ASSERT(sequence % 2 == 1);
    /* Pairs with the acquire load of seqcount_read_begin. */
    atomic_store_release(&count->sequence, sequence + 1);
}

/* Begins a read section; waits out a write. Returns the ticket for seqcount_read_retry. */
static inline uint32_t seqcount_read_begin(const struct seqcount *count)
{
    for (;;) {
        /* Pairs with the release store of seqcount_write_end. */
        uint32_t sequence = atomic_load_acquire(&count->sequence);
        if (MGLRU_LIKELY(sequence % 2 == 0))
            return sequence;
        atomic_spin_hint();
    }
}

/* Whether what was read since @ticket must be thrown away and read again. */
static inline bool seqcount_read_retry(const struct seqcount *count, uint32_t ticket)
{
    /* Pairs with the release fence of seqcount_write_begin. */
    atomic_fence_acquire();
    return atomic_load_relaxed(&count->sequence) != ticket;
}

#endif
