/* SPDX-License-Identifier: MIT */
/*
 * The folio: one descriptor of exactly one cache line for a run of 2^order pages of a mapping.
 *
 * Everything reclaim decides by stands in one word, `flags`, so that a walker can promote a folio
 * with one compare-and-swap while somebody else marks it accessed:
 *
 *   bits  0..3   reference state: R (seen once), W (workingset), two bits of further accesses.
 *                What the 16 states mean is a table of the model (reclaim/model.h)
 *   bits  4..15  the PG_* flags below
 *   bits 16..18  zone
 *   bits 19..22  order
 *   bit  23      FOLIO_QUEUED
 *   bit  24      FOLIO_SHARED
 *   bit  25      FOLIO_UNASKED
 *   bits 26..63  generation: absolute sequence number + 1, or 0 while off the MGLRU lists
 *
 * The sequence number is absolute (ARCHITECTURE.md, decision 1). The kernel's models look at its
 * low two bits only, as the kernel does; our own model takes max(number, min_seq).
 */
#ifndef RECLAIM_FOLIO_H
#define RECLAIM_FOLIO_H

#include <stdbool.h>
#include <stdint.h>

#include "base/check.h"
#include "base/list.h"
#include "sync/atomic.h"

struct lruvec;
struct page_mapping;

enum folio_flag {
    FOLIO_REFERENCED = 1u << 0,
    FOLIO_WORKINGSET = 1u << 1,
    FOLIO_REFS_ONE = 1u << 2, /* the counter's unit */
    FOLIO_REFS_MASK = 3u << 2,
    FOLIO_STATE_MASK = 15u,
    FOLIO_ACTIVE = 1u << 4, /* classic: on the active list; MGLRU: isolated, put back young */
    FOLIO_LRU = 1u << 5,    /* on a list of its lruvec (not isolated, not in a batch) */
    FOLIO_UNEVICTABLE = 1u << 6,
    FOLIO_DIRTY = 1u << 7,
    FOLIO_WRITEBACK = 1u << 8,
    FOLIO_SWAPBACKED = 1u << 9, /* type anonymous; clear means type file */
    FOLIO_SWAPCACHE = 1u << 10, /* has a swap slot with the same content */
    FOLIO_RECLAIM = 1u << 11,   /* rotate to the tail when writeback ends */
    FOLIO_ANON = 1u << 12,      /* belongs to an anonymous region (lazyfree too) */
    FOLIO_READAHEAD = 1u << 13, /* marker: reading this starts the next readahead window */
    FOLIO_PINNED = 1u << 14,    /* somebody holds a reference: cannot be taken */
    FOLIO_LOCKED = 1u << 15     /* under I/O or truncation: cannot be taken */
};

#define FOLIO_ZONE_SHIFT 16
#define FOLIO_ZONE_MASK (UINT64_C(7) << FOLIO_ZONE_SHIFT)
#define FOLIO_ORDER_SHIFT 19
#define FOLIO_ORDER_MASK (UINT64_C(15) << FOLIO_ORDER_SHIFT)
/* Waits in the activate batch, which holds a reference: cannot be freed meanwhile. */
#define FOLIO_QUEUED (UINT64_C(1) << 23)
/* Fixed at birth: the folio belongs to a cache of many threads, its flags change by compare and
 * swap. Without it plain loads and stores do, which is what makes a replay fast. */
#define FOLIO_SHARED (UINT64_C(1) << 24)
/* Brought by readahead, and no access has asked for a page of it yet. */
#define FOLIO_UNASKED (UINT64_C(1) << 25)
#define FOLIO_SEQ_SHIFT 26
#define FOLIO_SEQ_MASK (~UINT64_C(0) << FOLIO_SEQ_SHIFT)
#define FOLIO_ORDER_MAX 9 /* 2 MiB of 4 KiB pages, as the kernel's page cache */

/* In evict_note, beside the sequence number: taken in the retry of a batch. */
#define FOLIO_NOTE_SECOND_PASS (UINT64_C(1) << 63)

enum lru_type { LRU_TYPE_ANON = 0, LRU_TYPE_FILE = 1, LRU_TYPES = 2 };

struct folio {
    struct list_node lru;            /* list of the lruvec, or of the one who isolated it */
    _Atomic uint64_t flags;          /* see above */
    _Atomic(struct lruvec *) lruvec; /* whose memcg is charged */
    struct page_mapping *mapping;    /* never NULL while the folio lives */
    uint64_t index;                  /* first page in the mapping, a multiple of 1 << order */
    uint32_t map_count;              /* page table entries that map pages of it */
    union {
        uint64_t evict_note;   /* generation when isolated; for the host's events */
        _Atomic uint64_t hold; /* FOLIO_SHARED: who keeps the folio where it is (hold.h) */
    };
};
_Static_assert(sizeof(struct folio) == 64, "a folio is one cache line, so that a walk touches one");

/*
 * What reclaim needs to know of a file or an anonymous region: who maps it. The host embeds it as
 * the first member of its own mapping.
 */
struct page_mapping {
    struct list_node vmas; /* struct vma, by mapping_link */
    bool anon;
    bool unevictable; /* mlocked or ramfs-like: its folios never leave */
};

static inline uint64_t folio_flags(const struct folio *folio)
{
    return atomic_load_relaxed(&folio->flags);
}

static inline struct lruvec *folio_lruvec(const struct folio *folio)
{
    return atomic_load_relaxed(&folio->lruvec);
}

/* Puts @next in place of *@seen, which folio_flags gave. False: they changed meanwhile, *@seen is
 * what they are now. Relaxed: what flags say of the content is ordered by the hold (cache/). */
static inline bool folio_flags_replace(struct folio *folio, uint64_t *seen, uint64_t next)
{
    if (MGLRU_UNLIKELY(*seen & FOLIO_SHARED))
        return atomic_cas_relaxed(&folio->flags, seen, next);
    atomic_store_relaxed(&folio->flags, next);
    return true;
}

static inline void folio_change(struct folio *folio, uint64_t clear, uint64_t set)
{
    uint64_t seen = folio_flags(folio);
    while (!folio_flags_replace(folio, &seen, (seen & ~clear) | set)) {}
}

static inline unsigned folio_order(const struct folio *folio)
{
    return (unsigned)((folio_flags(folio) & FOLIO_ORDER_MASK) >> FOLIO_ORDER_SHIFT);
}

static inline long folio_pages(const struct folio *folio)
{
    return 1L << folio_order(folio);
}

static inline unsigned folio_zone(const struct folio *folio)
{
    return (unsigned)((folio_flags(folio) & FOLIO_ZONE_MASK) >> FOLIO_ZONE_SHIFT);
}

static inline enum lru_type folio_type(const struct folio *folio)
{
    return folio_flags(folio) & FOLIO_SWAPBACKED ? LRU_TYPE_ANON : LRU_TYPE_FILE;
}

/* On an MGLRU list (the seq field is not 0). */
static inline bool folio_has_seq(const struct folio *folio)
{
    return (folio_flags(folio) & FOLIO_SEQ_MASK) != 0;
}

/* The stored sequence number; only while folio_has_seq(). */
static inline uint64_t folio_stored_seq(const struct folio *folio)
{
    return (folio_flags(folio) >> FOLIO_SEQ_SHIFT) - 1;
}

static inline uint64_t folio_seq_bits(uint64_t seq)
{
    return (seq + 1) << FOLIO_SEQ_SHIFT;
}

static inline bool folio_test(const struct folio *folio, uint64_t flag)
{
    return (folio_flags(folio) & flag) != 0;
}

static inline void folio_set(struct folio *folio, uint64_t flags)
{
    folio_change(folio, 0, flags);
}

static inline void folio_clear(struct folio *folio, uint64_t flags)
{
    folio_change(folio, flags, 0);
}

/* Remembers for the host's events why the folio is taken. A folio of a shared cache has no note. */
static inline void folio_note(struct folio *folio, uint64_t note)
{
    if (MGLRU_LIKELY(!folio_test(folio, FOLIO_SHARED)))
        folio->evict_note = note;
}

static inline void folio_note_second_pass(struct folio *folio)
{
    if (MGLRU_LIKELY(!folio_test(folio, FOLIO_SHARED)))
        folio->evict_note |= FOLIO_NOTE_SECOND_PASS;
}

static inline bool folio_evictable(const struct folio *folio)
{
    return !folio_test(folio, FOLIO_UNEVICTABLE) && !folio->mapping->unevictable;
}

static inline struct folio *folio_of(struct list_node *node)
{
    return container_of(node, struct folio, lru);
}

#endif
