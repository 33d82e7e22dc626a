/* SPDX-License-Identifier: MIT */
/* What an lruvec is made of in whatever order of fields: bounds, lists, the state of walks. */
#ifndef RECLAIM_LRUVEC_PARTS_H
#define RECLAIM_LRUVEC_PARTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/list.h"
#include "reclaim/folio.h"
#include "sync/lock.h"

struct memcg;
struct reclaim;

#define MIN_NR_GENS 2
#define MAX_NR_GENS 4
#define MAX_NR_TIERS 4
#define MAX_NR_ZONES 5
#define MIN_LRU_BATCH 64   /* pages; the kernel's bits per long */
#define MAX_LRU_BATCH 4096 /* folios; MIN_LRU_BATCH * bits per long */
#define DEF_PRIORITY 12
#define SWAP_CLUSTER_MAX 32
#define LRU_ADD_BATCH 31 /* entries of a per-CPU batch; its 31st entry drains it */
#define MAX_SWAPPINESS 200
#define SWAPPINESS_ANON_ONLY 201
#define BLOOM_BITS 32768 /* bits of one filter; two hash functions (facts 2.3) */
#define RECLAIM_MAX_NODES 8

enum lru_list {
    LRU_INACTIVE_ANON,
    LRU_ACTIVE_ANON,
    LRU_INACTIVE_FILE,
    LRU_ACTIVE_FILE,
    LRU_UNEVICTABLE,
    NR_LRU_LISTS
};

static inline enum lru_list lru_list_of(enum lru_type type, bool active)
{
    return (enum lru_list)(2 * (unsigned)type + (active ? 1u : 0u));
}

/* Iteration state over the address spaces of a memcg, and the two Bloom filters (facts 2.2). */
struct mm_state {
    uint64_t seq;           /* the walk that was finished last */
    struct list_node *head; /* where the current iteration stands; NULL: not begun */
    struct list_node *tail; /* where the previous iteration ended; NULL: never ran */
    uint64_t *filters[2];   /* by seq mod 2; NULL while no process maps anything */
    bool filter_used[2];    /* false: the test says yes and updates do nothing (2.3) */
    uint64_t stats[4];      /* leaf total, leaf young, non-leaf found, non-leaf added */
};

#endif
