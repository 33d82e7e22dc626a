/* SPDX-License-Identifier: MIT */
/*
 * struct lruvec in our own order: grouped by who writes, each group from a line of its own on. The
 * other orders are in lruvec_before.h and lruvec_after.h; fields are added to all three.
 */
#ifndef RECLAIM_LRUVEC_OURS_H
#define RECLAIM_LRUVEC_OURS_H

#include "reclaim/lruvec_parts.h"

struct lruvec {
    /* Line 0, fixed at creation but for the switch: read by every update and lock of the lruvec. */
    _Alignas(64) struct reclaim *reclaim;
    struct memcg *memcg;
    unsigned node;
    _Atomic bool enabled; /* written by the switch */

    /* Line 1, read-mostly: written by aging and by eviction (min_seq). Who reads the line above
     * does not miss when a generation begins. */
    _Alignas(64) _Atomic uint64_t max_seq;
    _Atomic uint64_t min_seq[LRU_TYPES];
    _Atomic uint64_t timestamps[MAX_NR_GENS]; /* birth of each generation, ns */

    /* Line 2, memcg LRU of the node (memcg_lru.c). */
    _Alignas(64) uint8_t memcg_gen;
    _Atomic uint8_t memcg_seg; /* written under the memcg LRU's lock, reclaim reads it without */
    bool memcg_linked;
    struct list_node memcg_list;

    /* Written at each add and delete: away from what reclaim of other memcgs reads (row 35). */
    _Alignas(64) struct list_node folios[MAX_NR_GENS][LRU_TYPES][MAX_NR_ZONES];
    /* RANK_LRU; taken in shared caches alone, see lruvec_lock. Waiters write it, so it lies with
     * what it guards. */
    struct lock_spin lock;
    _Atomic long nr_pages[MAX_NR_GENS][LRU_TYPES][MAX_NR_ZONES];
    struct list_node lists[NR_LRU_LISTS]; /* classic; [LRU_UNEVICTABLE] for both */
    _Atomic long lru_size[MAX_NR_ZONES][NR_LRU_LISTS];

    /* The refault-rate controller (tier.c). */
    unsigned long avg_refaulted[LRU_TYPES][MAX_NR_TIERS];
    unsigned long avg_total[LRU_TYPES][MAX_NR_TIERS];
    unsigned long protected_pages[LRU_TYPES][MAX_NR_TIERS];

    /* Lockless counters in the kernel: on lines of their own (document 000). */
    _Alignas(64) _Atomic unsigned long evicted[LRU_TYPES][MAX_NR_TIERS];
    _Alignas(64) _Atomic unsigned long refaulted[LRU_TYPES][MAX_NR_TIERS];

    /* Classic LRU (classic.c). */
    _Alignas(64) _Atomic uint64_t nonresident_age;
    long refaults[LRU_TYPES]; /* flushed WORKINGSET_ACTIVATE at the end of the last reclaim */
    uint64_t cost[LRU_TYPES];
    long cost_last_io[LRU_TYPES];
    long cost_last_rotated[LRU_TYPES];

    struct mm_state mm_state;
    unsigned long deferred_shadow_nodes; /* of the shadow-node shrinker (13.3) */
};

#endif
