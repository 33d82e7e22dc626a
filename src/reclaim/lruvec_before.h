/* SPDX-License-Identifier: MIT */
/*
 * struct lruvec in the order that documents 000 and 001 start from, for comparison: the kernel's
 * lruvec with its lru_gen_folio, then what its mem_cgroup_per_node has behind it. What the fields
 * are is told in lruvec_ours.h.
 */
#ifndef RECLAIM_LRUVEC_BEFORE_H
#define RECLAIM_LRUVEC_BEFORE_H

#include "reclaim/lruvec_parts.h"

struct lruvec {
    /* The kernel's lruvec begins here. */
    _Alignas(64) struct list_node lists[NR_LRU_LISTS];
    struct lock_spin lock;
    uint64_t cost[LRU_TYPES];
    long cost_last_rotated[LRU_TYPES];
    long cost_last_io[LRU_TYPES];
    unsigned long deferred_shadow_nodes;
    _Atomic uint64_t nonresident_age;
    long refaults[LRU_TYPES];

    /* Its lru_gen_folio; 16: a word of flags stands before it there. */
    _Alignas(16) _Atomic uint64_t max_seq;
    _Atomic uint64_t min_seq[LRU_TYPES];
    _Atomic uint64_t timestamps[MAX_NR_GENS];
    struct list_node folios[MAX_NR_GENS][LRU_TYPES][MAX_NR_ZONES];
    _Atomic long nr_pages[MAX_NR_GENS][LRU_TYPES][MAX_NR_ZONES];
    unsigned long avg_refaulted[LRU_TYPES][MAX_NR_TIERS];
    unsigned long avg_total[LRU_TYPES][MAX_NR_TIERS];
    unsigned long protected_pages[LRU_TYPES][MAX_NR_TIERS];
    /* Document 000: counters that everybody writes, and behind them what everybody reads. */
    _Atomic unsigned long evicted[LRU_TYPES][MAX_NR_TIERS];
    _Atomic unsigned long refaulted[LRU_TYPES][MAX_NR_TIERS];
    _Atomic bool enabled;
    uint8_t memcg_gen;
    _Atomic uint8_t memcg_seg;
    bool memcg_linked;
    struct list_node memcg_list;

    struct mm_state mm_state;

    /* Its mem_cgroup_per_node behind the lruvec. Document 001: what every update of a counter
     * reads, and behind it the sizes, which every addition and deletion writes. */
    struct reclaim *reclaim;
    unsigned node;
    struct memcg *memcg;
    _Atomic long lru_size[MAX_NR_ZONES][NR_LRU_LISTS];
};

_Static_assert(offsetof(struct lruvec, max_seq) == 176, "lru_gen_folio lies as in document 002");
_Static_assert(offsetof(struct lruvec, refaulted) == 176 + 1272,
               "lru_gen_folio is as long as in document 002");

#endif
