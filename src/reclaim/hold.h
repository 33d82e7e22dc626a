/* SPDX-License-Identifier: MIT */
/*
 * Who keeps a folio of a shared cache where it is: one 64-bit word, so that every question about
 * it is one load and every change one compare and swap.
 *
 *   bits  0..9   references: the index, the batch of additions, the one who isolated it, ...
 *   bits 10..23  readers: pins for reading, flushers. Content stays as it is meanwhile
 *   bit  24      WRITER: one thread changes the content (a fill from the store is a write)
 *   bit  25      WAITERS: somebody sleeps on the word
 *   bit  26      FROZEN: on its way out of the mapping, or free; no new reference
 *   bits 28..63  version: counts every time that content or page may have become another
 *
 *   free (FROZEN) -> born (hold_init: index's reference, WRITER) -> shared or written in turn
 *        -> detached (index's reference dropped) -> free with the last reference
 *        -> frozen by reclaim (only the index's and the isolator's references) -> free
 *
 * Who copies content without a reference takes the version before and compares it afterwards: the
 * same version and no WRITER in between means that the copy is what some writer left.
 *
 * Memory orders: acquiring (a reference, a reader, the writer, a freeze) is an acquire, letting go
 * is a release; they pair with each other through this word. So what a writer stored, flags
 * included, is seen by every later reader and by who freezes.
 */
#ifndef RECLAIM_HOLD_H
#define RECLAIM_HOLD_H

#include "reclaim/folio.h"

#define HOLD_REF UINT64_C(1)
#define HOLD_REFS_MASK UINT64_C(0x3ff)
#define HOLD_READER (UINT64_C(1) << 10)
#define HOLD_READERS_MASK (UINT64_C(0x3fff) << 10)
#define HOLD_WRITER (UINT64_C(1) << 24)
#define HOLD_WAITERS (UINT64_C(1) << 25)
#define HOLD_FROZEN (UINT64_C(1) << 26)
#define HOLD_VERSION (UINT64_C(1) << 28)
#define HOLD_VERSION_MASK (~UINT64_C(0) << 28)

/* References of an isolated folio that nobody uses: the index's, and that of who isolated it. */
#define HOLD_ISOLATED_REFS 2
/* Of one that is on a list. */
#define HOLD_LISTED_REFS 1

static inline uint64_t hold_load(const struct folio *folio)
{
    /* Acquire: pairs with the releases below. */
    return atomic_load_acquire(&folio->hold);
}

/* Adds a reference to a folio that somebody else's lock keeps from becoming another. False: it is
 * on its way out, or has too many. */
static inline bool hold_get(struct folio *folio)
{
    uint64_t seen = atomic_load_relaxed(&folio->hold);
    do {
        uint64_t refs = seen & HOLD_REFS_MASK;
        if (seen & HOLD_FROZEN || refs == 0 || refs == HOLD_REFS_MASK)
            return false;
    } while (!atomic_cas_acq_rel(&folio->hold, &seen, seen + HOLD_REF));
    return true;
}

/* Whether a change from @seen to @next lets go of a folio for good. Who froze it has it already. */
static inline bool hold_is_last(uint64_t seen, uint64_t next)
{
    return !(seen & HOLD_FROZEN) && !(next & (HOLD_REFS_MASK | HOLD_READERS_MASK | HOLD_WRITER));
}

/* Drops a reference. True: it was the last, no reader or writer is left, and the caller disposes of
 * the folio, which is frozen now. */
static inline bool hold_put(struct folio *folio)
{
    uint64_t seen = atomic_load_relaxed(&folio->hold), next;
    bool last;
    do {
        MGLRU_CHECK(seen & HOLD_REFS_MASK);
        next = seen - HOLD_REF;
        last = hold_is_last(seen, next);
        if (last)
            next = ((next & HOLD_VERSION_MASK) + HOLD_VERSION) | HOLD_FROZEN;
    } while (!atomic_cas_acq_rel(&folio->hold, &seen, next));
    return last;
}

/* Whether reclaim would fail to freeze it: somebody uses it at this moment. Only a hint. */
static inline bool hold_busy(const struct folio *folio)
{
    uint64_t seen = atomic_load_relaxed(&folio->hold);
    return (seen & HOLD_REFS_MASK) != HOLD_ISOLATED_REFS ||
           seen & (HOLD_READERS_MASK | HOLD_WRITER | HOLD_FROZEN);
}

/* Takes a folio with @refs references from the hands of everybody: its content is the caller's.
 * False: somebody uses it, or it became dirty, and nothing changed. */
static inline bool hold_freeze(struct folio *folio, uint64_t refs)
{
    uint64_t seen = atomic_load_relaxed(&folio->hold), next;
    do {
        if ((seen & HOLD_REFS_MASK) != refs ||
            seen & (HOLD_READERS_MASK | HOLD_WRITER | HOLD_FROZEN))
            return false;
        next = ((seen & HOLD_VERSION_MASK) + HOLD_VERSION) | HOLD_FROZEN | refs;
    } while (!atomic_cas_acq_rel(&folio->hold, &seen, next));
    if (MGLRU_LIKELY(!folio_test(folio, FOLIO_DIRTY | FOLIO_WRITEBACK)))
        return true;
    /* A cut may have dropped the index's reference meanwhile. */
    atomic_and_acq_rel(&folio->hold, ~HOLD_FROZEN);
    return false;
}

#endif
