/* SPDX-License-Identifier: MIT */
/*
 * struct lruvec in the order in which documents 000 and 001 leave the kernel's, for comparison; see
 * lruvec_before.h.
 */
#ifndef RECLAIM_LRUVEC_AFTER_H
#define RECLAIM_LRUVEC_AFTER_H

#include "reclaim/lruvec_parts.h"

struct lruvec {
    /* Document 001: the pointers first, away from what is written. */
    _Alignas(64) struct reclaim *reclaim;
    struct memcg *memcg;
    unsigned node;

    /* The kernel's lruvec. */
    _Alignas(64) struct list_node lists[NR_LRU_LISTS];
    struct lock_spin lock;
    uint64_t cost[LRU_TYPES];
    long cost_last_rotated[LRU_TYPES];
    long cost_last_io[LRU_TYPES];
    unsigned long deferred_shadow_nodes;
    _Atomic uint64_t nonresident_age;
    long refaults[LRU_TYPES];

    /* Its lru_gen_folio, which document 000 made start a line. What is mostly read comes first. */
    _Alignas(64) _Atomic uint64_t max_seq;
    _Atomic uint64_t min_seq[LRU_TYPES];
    _Atomic uint64_t timestamps[MAX_NR_GENS];
    _Atomic bool enabled;
    uint8_t memcg_gen;
    _Atomic uint8_t memcg_seg;
    bool memcg_linked;
    struct list_node memcg_list;
    struct list_node folios[MAX_NR_GENS][LRU_TYPES][MAX_NR_ZONES];
    _Atomic long nr_pages[MAX_NR_GENS][LRU_TYPES][MAX_NR_ZONES];
    unsigned long avg_refaulted[LRU_TYPES][MAX_NR_TIERS];
    unsigned long avg_total[LRU_TYPES][MAX_NR_TIERS];
    unsigned long protected_pages[LRU_TYPES][MAX_NR_TIERS];
    /* The counters in a group of their own at the end. */
    _Alignas(64) _Atomic unsigned long evicted[LRU_TYPES][MAX_NR_TIERS];
    _Atomic unsigned long refaulted[LRU_TYPES][MAX_NR_TIERS];

    _Alignas(64) struct mm_state mm_state;

    /* Written often: at the end. */
    _Alignas(64) _Atomic long lru_size[MAX_NR_ZONES][NR_LRU_LISTS];
};

_Static_assert(offsetof(struct lruvec, memcg_list) == 64 + 192 + 64,
               "lru_gen_folio lies as in document 002, two lines of it");
_Static_assert(offsetof(struct lruvec, evicted) == 64 + 192 + 1280,
               "lru_gen_folio is as long as in document 002");

#endif
