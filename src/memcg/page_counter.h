/* SPDX-License-Identifier: MIT */
/*
 * Hierarchical page counters: usage with limit, protection and watermarks (mglru-facts 6.1).
 *
 * All amounts are pages. A counter's usage includes that of its descendants. Charging adds on the
 * way up; a try that meets a full counter takes back what it added and names that counter.
 *
 * Threads: charge, try_charge, cancel, uncharge, set_* and reads may run together on shared
 * counters. A counter made without PAGE_COUNTER_SHARED belongs to one thread at a time, and so do
 * all counters of its tree: then no locked instruction is used.
 * Guarantees: (A) usage = charges - uncharges, exactly, when nobody is inside a call; (B) a try
 * that succeeds left every counter at or below its max as of its own add; (C) after set_max
 * returned 0, usage was at or below the new max at some moment after it was published;
 * (D) watermark >= local_watermark, both at most what usage ever was. Adds are speculative: a big
 * try that fails can make a small one on another thread fail. Progress: lock-free.
 */
#ifndef MEMCG_PAGE_COUNTER_H
#define MEMCG_PAGE_COUNTER_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <mglru/error.h>

#include "base/check.h"
#include "sync/atomic.h"

/* "No limit": what fits into a signed byte count, in 4096-byte pages. */
#define PAGE_COUNTER_MAX (LONG_MAX / 4096)

enum page_counter_flags {
    PAGE_COUNTER_SHARED = 1,   /* several threads at once: use locked instructions */
    PAGE_COUNTER_PROTECTED = 2 /* min and low matter: keep the sums that protection needs */
};

struct page_counter {
    /* Line 0: written by every charge and uncharge. */
    _Alignas(64) _Atomic long usage;
    _Atomic unsigned long underflows; /* uncharges of more than was charged (clamped to 0) */

    /* Line 1: written when usage moves below min or low, by reclaim, and by new peaks. */
    _Alignas(64) _Atomic long emin; /* effective protection, see page_counter_protect */
    _Atomic long min_usage;         /* min(usage, min), as last added to the parent's sum */
    _Atomic long children_min_usage;
    _Atomic long elow;
    _Atomic long low_usage;
    _Atomic long children_low_usage;
    _Atomic long watermark;       /* highest usage ever */
    _Atomic long local_watermark; /* highest usage since page_counter_reset_watermark */

    /* Line 2: read by every charge, written when a limit is set. */
    _Alignas(64) _Atomic long min;
    _Atomic long low;
    _Atomic long high;
    _Atomic long max;
    struct page_counter *parent; /* fixed at creation; NULL at the root */
    bool shared;                 /* fixed at creation */
    bool protection;             /* fixed at creation */
    _Atomic bool guarded;        /* min or low was ever set: charges have to keep the sums */
};

_Static_assert(sizeof(struct page_counter) == 192, "three lines: usage | protection | limits");
_Static_assert(offsetof(struct page_counter, emin) == 64, "usage has a line of its own");
_Static_assert(offsetof(struct page_counter, min) == 128, "limits stay off the written lines");
_Static_assert(offsetof(struct page_counter, guarded) < 192, "the read-mostly group is one line");

/* Prepares @counter below @parent (NULL: a root), without limits. @flags: page_counter_flags. */
void page_counter_init(struct page_counter *counter, struct page_counter *parent, unsigned flags);

/* Pages charged now; never negative. */
static inline long page_counter_read(const struct page_counter *counter)
{
    long usage = atomic_load_relaxed(&counter->usage);
    return usage < 0 ? 0 : usage;
}

/* Adds @pages to the counter and all above, ignoring limits. */
void page_counter_charge(struct page_counter *counter, long pages);

/*
 * Adds @pages to the counter and all above. At the first that would pass its max nothing stays
 * added, *over is that counter, and the call returns false. *over is NULL on success.
 */
bool page_counter_try_charge(struct page_counter *counter, long pages, struct page_counter **over);

/* Takes @pages from this counter alone; below zero is clamped to 0 and counted in underflows. */
void page_counter_cancel(struct page_counter *counter, long pages);

/* Takes @pages from the counter and all above. */
void page_counter_uncharge(struct page_counter *counter, long pages);

/*
 * Sets max, unless usage is above it. @pages: 0..PAGE_COUNTER_MAX. MGLRU_EBUSY: usage is higher;
 * nothing changed. memory.max of cgroup v2 is written with page_counter_store_max instead, and
 * reclaim follows.
 */
int page_counter_set_max(struct page_counter *counter, long pages);

/* Publishes max whatever usage is. Pairs with the add of page_counter_try_charge. */
void page_counter_store_max(struct page_counter *counter, long pages);

/* Sets a protection and brings the sums of all counters above up to date. */
void page_counter_set_min(struct page_counter *counter, long pages);
void page_counter_set_low(struct page_counter *counter, long pages);

/* Sets high; nothing else happens here. */
static inline void page_counter_set_high(struct page_counter *counter, long pages)
{
    atomic_store_relaxed(&counter->high, pages);
}

/* Starts a new local peak at the usage of now. */
void page_counter_reset_watermark(struct page_counter *counter);

/* How page_counter_protect divides. */
struct page_counter_rules {
    bool recursive; /* hand protection that nobody claimed to all (memory_recursiveprot) */
    bool clamp;     /* shares never pass the whole although usages are read at different moments
                       (row 31); false keeps 6.12's unclamped ratio */
};

/*
 * Computes emin and elow of @counter for a reclaim that began at @root, an ancestor (or itself:
 * then nothing changes). Right only when its ancestors below @root were computed before:
 * parents first. A counter with usage 0 keeps its old values. Racy reads are harmless: they only
 * shift a share between siblings.
 */
void page_counter_protect(const struct page_counter *root, struct page_counter *counter,
                          struct page_counter_rules rules);

/*
 * Parses a limit: "max", or bytes with an optional K, M, G, T, P or E (powers of 1024, any case),
 * white space around allowed. *pages is the number of whole pages, at most PAGE_COUNTER_MAX.
 * @page_bytes: a power of two. MGLRU_EINVAL: anything else; *pages is 0 then.
 */
int page_counter_parse(const char *text, size_t length, size_t page_bytes, long *pages);

#endif
