/* SPDX-License-Identifier: MIT */
/*
 * The lruvec: the LRU lists of one memcg on one node, for both algorithms, and struct reclaim,
 * what all lruvecs of a cache share.
 *
 * Conservation laws (verify_lruvec checks them):
 *   sum over generations and zones of nr_pages[.][t][.] = pages on the lists of type t
 *       (plus what a live walk still has batched)
 *   lru_size[zone][list] = pages that the statistics call active/inactive of that type
 *   every list of the algorithm that is not enabled is empty, except while switching
 *
 * All fields are written by the thread that runs the call into the cache; see <mglru/cache.h>.
 */
#ifndef RECLAIM_LRUVEC_H
#define RECLAIM_LRUVEC_H

#include <stdbool.h>
#include <stdint.h>

#include "base/layout.h"
#include "base/list.h"
#include "memcg/memcg.h"
#include "memcg/stat.h"
#include "reclaim/folio.h"
#include "reclaim/lruvec_parts.h"
#include "sync/cpu.h"
#include "sync/lock.h"
#include "sync/rcu.h"

/* struct lruvec itself, in the order that this build was given. */
#if MGLRU_LAYOUT == MGLRU_LAYOUT_BEFORE
#include "reclaim/lruvec_before.h"
#elif MGLRU_LAYOUT == MGLRU_LAYOUT_AFTER
#include "reclaim/lruvec_after.h"
#else
#include "reclaim/lruvec_ours.h"
#endif

/* Per memcg: its lruvecs and the address spaces of its processes. */
struct memcg_reclaim {
    struct list_node mm_list; /* struct mm, by mm_link, in order of creation */
    struct lruvec *lruvecs[RECLAIM_MAX_NODES];
    struct rcu_later later; /* shared caches: its end */
};

/* Additions and moves that wait, as in the kernel's per-CPU batches. */
struct lru_batch {
    _Alignas(64) struct folio *add[LRU_ADD_BATCH];
    unsigned adds;
    unsigned others; /* entries that are no folios of this cache: a process's own first pages */
    struct folio *activate[LRU_ADD_BATCH];
    unsigned activates;
};

struct reclaim_model;

/* One generation in which memcgs wait for global reclaim. */
#define MEMCG_NR_GENS 3
#define MEMCG_NR_BINS 8
struct memcg_lru {
    struct lock_spin lock; /* RANK_MEMCG_LRU; shared caches alone */
    uint64_t seq;
    long nr_memcgs[MEMCG_NR_GENS];
    struct list_node fifo[MEMCG_NR_GENS][MEMCG_NR_BINS];
};

/*
 * What the owner of the folios does for reclaim. None may allocate on behalf of reclaim or call
 * back into it.
 */
#define RECLAIM_PREFETCH_DEPTH 2u

struct reclaim_host {
    /* The folio is clean and unmapped: leave the mapping, put @shadow in its place, free it.
     * Its pages stay charged: reclaim gives that back, for a batch at once. */
    void (*release)(void *context, struct folio *folio, uint64_t shadow);
    /* Asks the processor for the memory that a release of the folio will touch and that lies
     * @depth pointers from its mapping, 0 .. RECLAIM_PREFETCH_DEPTH - 1. NULL: not worth it. */
    void (*prefetch)(void *context, const struct folio *folio, unsigned depth);
    /* Shared caches: the last reference went, the folio is in no mapping, list or batch. Frees it
     * with its charge. Not called under a lock. */
    void (*dispose)(void *context, struct folio *folio);
    /* Gives the anonymous folio a swap slot of its memcg; false: swap is full or over its limit. */
    bool (*swap_alloc)(void *context, struct folio *folio);
    /* Writes the dirty anonymous folio to swap. True: done at once; false: writeback runs. */
    bool (*swap_write)(void *context, struct folio *folio);
    /* Swap pages that @memcg may still take, LONG_MAX when unlimited. */
    long (*swap_left)(void *context, struct memcg *memcg);
    /* Dirty folios met on the way: the flusher threads should start. */
    void (*wake_flushers)(void *context, struct memcg *memcg);
    /* Shadow nodes of @memcg and node: @free_nodes oldest go. Returns those freed. */
    unsigned long (*shadow_nodes)(void *context, struct memcg *memcg, unsigned node);
    unsigned long (*shrink_shadow_nodes)(void *context, struct memcg *memcg, unsigned node,
                                         unsigned long count);
    /* Between two priorities: writes in flight may end (the kernel throttles here). */
    void (*progress)(void *context);
    void (*on_age)(void *context, struct lruvec *lruvec);
};

struct reclaim {
    /* Fixed at creation. */
    const struct reclaim_model *model;
    unsigned aging; /* enum aging_algorithm: the model's own unless the user chose another */
    const struct reclaim_host *host;
    void *host_context;
    struct memcg_tree *tree;
    unsigned nodes;
    uint32_t page_bytes;
    uint64_t swap_pages;       /* capacity of swap; 0: none */
    bool shared;               /* calls come from many threads at once */
    bool stat_always;          /* decide by exact counters instead of the last flush */
    struct lru_batch *batches; /* by cpu_current in a shared cache, else NULL */

    /* Switches (facts 9.1); plain state of the cache. */
    _Atomic bool enabled; /* bit 0: MGLRU */
    bool mm_walk;         /* bit 1: page-table walks */
    bool nonleaf;         /* bit 2: accessed bit of non-leaf entries */
    bool switching;       /* folios are half moved between the algorithms */
    _Atomic uint32_t min_ttl_ms;
    _Atomic uint64_t now_ns;

    struct lru_batch batch; /* of a cache of one thread */
    _Alignas(64) struct memcg_lru memcg_lru[RECLAIM_MAX_NODES];
    /* Written by whoever reclaims, away from what all read. First the pages of reclaim that is no
     * memcg's own (the kernel's global pgscan and pgsteal). */
    _Alignas(64) _Atomic uint64_t global_scanned;
    _Atomic uint64_t global_stolen;
    _Atomic uint64_t work; /* pages looked at and generations made, ever: tells a fruitless retry */
    _Atomic uint64_t random; /* state of splitmix64 for the bins of the memcg LRU */
    uint64_t next_table_id;
};

static inline unsigned gen_of(uint64_t seq)
{
    return (unsigned)(seq % MAX_NR_GENS);
}

/* Both are read without the lock by refaults and by who decides whether to age: a value that is
 * old by one generation only shifts that decision. Written under the lock. */
static inline uint64_t lruvec_max_seq(const struct lruvec *lruvec)
{
    return atomic_load_relaxed(&lruvec->max_seq);
}

static inline uint64_t lruvec_min_seq(const struct lruvec *lruvec, unsigned type)
{
    return atomic_load_relaxed(&lruvec->min_seq[type]);
}

static inline void lruvec_set_max_seq(struct lruvec *lruvec, uint64_t seq)
{
    atomic_store_relaxed(&lruvec->max_seq, seq);
}

static inline void lruvec_set_min_seq(struct lruvec *lruvec, unsigned type, uint64_t seq)
{
    atomic_store_relaxed(&lruvec->min_seq[type], seq);
}

static inline bool lruvec_enabled(const struct lruvec *lruvec)
{
    return atomic_load_relaxed(&lruvec->enabled);
}

static inline bool reclaim_enabled(const struct reclaim *reclaim)
{
    return atomic_load_relaxed(&reclaim->enabled);
}

/* Sizes, exact under the lock; elsewhere as of some moment. */
static inline long lruvec_nr_pages(const struct lruvec *lruvec, unsigned gen, unsigned type,
                                   unsigned zone)
{
    return atomic_load_relaxed(&lruvec->nr_pages[gen][type][zone]);
}

static inline long lruvec_size(const struct lruvec *lruvec, unsigned zone, unsigned list)
{
    return atomic_load_relaxed(&lruvec->lru_size[zone][list]);
}

static inline struct memcg_reclaim *memcg_reclaim(const struct memcg *memcg)
{
    return memcg->reclaim;
}

static inline struct lruvec *memcg_lruvec(const struct memcg *memcg, unsigned node)
{
    return memcg_reclaim(memcg)->lruvecs[node];
}

static inline unsigned lruvec_gens(const struct lruvec *lruvec, enum lru_type type)
{
    return (unsigned)(lruvec_max_seq(lruvec) - lruvec_min_seq(lruvec, type) + 1);
}

/* Adds to a counter of the whole cache, as lruvec_count. */
#define reclaim_count(reclaim, counter, amount)                                                    \
    ((reclaim)->shared ? (void)atomic_add_relaxed((counter), (amount))                             \
                       : (void)atomic_add_owner((counter), (amount)))

/* Adds to a counter that any thread may count in at any time (@counter: of @lruvec). */
#define lruvec_count(lruvec, counter, amount) reclaim_count((lruvec)->reclaim, counter, amount)

static inline void lruvec_stat(struct lruvec *lruvec, enum memcg_stat_item item, long delta)
{
    memcg_stat_add(lruvec->memcg, cpu_current, lruvec->node, item, delta);
}

/*
 * The lock of the lists, generations and sizes. A cache of one thread needs none; its taking is
 * conditional, beyond clang's analysis.
 */
static inline void lruvec_lock(struct lruvec *lruvec) MGLRU_NO_LOCK_ANALYSIS
{
    if (lruvec->reclaim->shared)
        lock_spin_acquire(&lruvec->lock);
}

static inline void lruvec_unlock(struct lruvec *lruvec) MGLRU_NO_LOCK_ANALYSIS
{
    if (lruvec->reclaim->shared)
        lock_spin_release(&lruvec->lock);
}

/* Locks the lruvec that @folio belongs to, which a reparenting may change until then. */
static inline struct lruvec *folio_lock_lruvec(const struct folio *folio)
{
    for (;;) {
        struct lruvec *lruvec = folio_lruvec(folio);
        lruvec_lock(lruvec);
        if (MGLRU_LIKELY(folio_lruvec(folio) == lruvec))
            return lruvec;
        lruvec_unlock(lruvec);
    }
}

/* The batches of the caller's CPU. */
static inline struct lru_batch *reclaim_batch(struct reclaim *reclaim)
{
    return reclaim->shared ? &reclaim->batches[cpu_current] : &reclaim->batch;
}

/* Creates the lruvecs of a new memcg. 0 or MGLRU_ENOMEM. */
int lruvec_attach(struct reclaim *reclaim, struct memcg *memcg);

/* Frees them; every list must be empty. In a shared cache they stay readable until all RCU sections
 * that are going on have ended: a hit marks a folio that it does not hold. */
void lruvec_detach(struct memcg *memcg);

/* Adds @pages to a list's exact size and to the statistics. */
void lruvec_account(struct lruvec *lruvec, enum lru_list list, unsigned zone, long pages);

/*
 * Puts an off-list folio on the lists of its lruvec by the rules of the enabled algorithm.
 * @tail: it is to be reclaimed next.
 */
void lruvec_add(struct folio *folio, bool tail);

/*
 * What lruvec_add does, when the folio has FOLIO_LRU already. In a shared cache: under the lock of
 * its lruvec.
 */
void lruvec_place(struct folio *folio, bool tail);

/*
 * Shared caches, under the lruvec's lock: the reference of a batch or an isolation ends and the
 * folio goes onto its list. False: that reference was the last one, and the caller disposes of it.
 */
bool lruvec_add_held(struct folio *folio);

/* Takes a folio off its list. @reclaiming: to evict it, so that no young mark is left. */
void lruvec_del(struct folio *folio, bool reclaiming);

#endif
