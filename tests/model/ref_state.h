/* SPDX-License-Identifier: MIT */
/*
 * The state that the parts of the reference (ref_kernel.h) share.
 *
 * A row is a list of pages: page[0] is its tail, which reclaim takes, the last one its head.
 */
#ifndef MODEL_REF_STATE_H
#define MODEL_REF_STATE_H

#include "model/ref_kernel.h"

#define REF_GENS 4
#define REF_TIERS 4
#define REF_TABLE 512 /* pages of one page table */
#define REF_BATCH 31  /* entries of a per-CPU batch */
#define REF_PRIORITY 12

enum { ANON, FILE_TYPE }; /* types */

/* Rows of the classic lists. */
enum { INACTIVE_ANON, ACTIVE_ANON, INACTIVE_FILE, ACTIVE_FILE, CLASSIC_ROWS };

struct ref_page {
    bool resident, listed;
    bool active, referenced, workingset; /* PG_active, R, W */
    int refs;                            /* the refs field */
    int gen;                             /* generation mod 4; -1: on no list of MGLRU */
    bool mapped, young;                  /* page table entry */
    bool swapcache;
    int queued;   /* entries in the activate batch */
    bool touched; /* anonymous: was there before */
    bool has_shadow, shadow_workingset;
    uint64_t shadow_seq; /* min_seq, or the age of nonresident pages */
    int shadow_refs;
};

struct ref_row {
    int *page;
    int count;
};

/* Counters that the classic LRU and the node shrinker see as of the last flush (12.1). */
struct ref_seen {
    long list[CLASSIC_ROWS];
    long activate[2], restore[2], rotate[2];
    long swap_writes;
    long slab; /* bytes */
};

struct ref {
    struct ref_options options;
    struct ref_counts counts;
    struct ref_page *pages;
    int size; /* of pages */

    /* MGLRU (1.1, 3.4) */
    uint64_t max_seq, min_seq[2];
    struct ref_row gens[REF_GENS][2];
    long nr[REF_GENS][2]; /* by the field of the pages, not by the row */
    long refaulted[2][REF_TIERS], evicted[2][REF_TIERS], protected_pages[2][REF_TIERS];
    long avg_refaulted[2][REF_TIERS], avg_total[2][REF_TIERS];

    /* walks (2.2, 2.3) */
    bool *table, *table_young;
    bool *filter[2];
    bool have_filter[2];
    int tables;
    bool has_mm, mm_ran, walked_before;
    bool exec;    /* the file is mapped executable */
    bool walking; /* this reclaim call has walked: looking around goes on as a walk */
    int skipped_walks;

    /* classic (12) */
    struct ref_row rows[CLASSIC_ROWS];
    struct ref_seen exact, seen;
    uint64_t nonresident_age;
    uint64_t cost[2];
    long cost_io[2], cost_rotated[2];
    long snapshot[2];
    bool may_deactivate[2], cache_trim, force_deactivate, skipped_deactivate;
    uint64_t cost_now[2];

    /* batches (1.6, 12.2) */
    int add[REF_BATCH], adds, foreign;
    int activate[REF_BATCH], activates;

    /* charges (6.3, 13) */
    long usage, stock, swapped;
    bool region_paid;
    long kernel_bytes, kernel_pages, slab_lag;
    int height;       /* of the file's tree */
    int *leaf_pages;  /* resident pages of each leaf */
    bool *leaf;       /* exists */
    int *shadow_leaf; /* leaves that hold shadows only, oldest first */
    int shadow_leaves, leaves;
    int held; /* leaf that a page goes into; -1: none */
    long deferred;

    /* one reclaim call */
    int priority;
    long reclaimed, wanted;

    int last_read;
    uint64_t accesses, next_flush;
};

/* --- pages and rows (ref_memcg.c) ----------------------------------------------------------- */

int ref_anon_first(const struct ref *ref);
int ref_type(const struct ref *ref, int page);
void ref_push_head(struct ref_row *row, int page);
void ref_push_tail(struct ref_row *row, int page);
void ref_remove(struct ref_row *row, int page);
int ref_log2up(int n);
bool ref_is_612(const struct ref *ref);

/* Pages of swap left; swappiness after 2.1. */
long ref_swap_left(const struct ref *ref);
int ref_swappiness(const struct ref *ref);

/* What reclaim sees of the statistics. */
const struct ref_seen *ref_seen(const struct ref *ref);

/* Adds the batches to the lists (12.2). */
void ref_drain(struct ref *ref);
void ref_queue_activation(struct ref *ref, int page);

/* The page leaves memory; the shadow is filled in already. */
void ref_free(struct ref *ref, int page);

/* Verdict on an isolated page whose accessed bits were judged (3.6). */
enum ref_verdict { REF_RECLAIM, REF_KEEP, REF_ACTIVATE };

/* --- MGLRU (ref_gens.c) --------------------------------------------------------------------- */

void ref_gens_mark(struct ref *ref, int page);
void ref_gens_mark_fault(struct ref *ref, int page);
void ref_gens_add(struct ref *ref, int page);
void ref_gens_del(struct ref *ref, int page);
void ref_gens_refault(struct ref *ref, int page, bool in_fault);
int ref_gens_refs(const struct ref *ref, int page);
int ref_gens_tier(const struct ref *ref, int page);
bool ref_gens_full(const struct ref *ref, int page);
uint64_t ref_gens_add_seq(const struct ref *ref, int page);
void ref_gens_leave(struct ref *ref, struct ref_row *row, int page);
int ref_gens_bump(struct ref *ref, int page, int old);

struct ref_position {
    long refaulted, total, gain;
};

struct ref_position ref_position(const struct ref *ref, int type, int first, int last, long gain);
bool ref_refaults_less(struct ref_position sp, struct ref_position pv);
int ref_tier_limit(const struct ref *ref, int type, struct ref_position sp, long gain);
int ref_own_tier_limit(const struct ref *ref, int type);

void ref_gens_age(struct ref *ref, int swappiness, bool force);
bool ref_gens_advance(struct ref *ref);
long ref_gens_size(const struct ref *ref, uint64_t only);
bool ref_gens_old_612(const struct ref *ref, long *total);
bool ref_gens_old_73(const struct ref *ref);

/* --- eviction (ref_evict.c) ----------------------------------------------------------------- */

void ref_gens_shrink(struct ref *ref);

/* --- accessed bits (ref_maps.c) ------------------------------------------------------------- */

void ref_maps_walk(struct ref *ref, int swappiness, bool force);
bool ref_maps_take_young(struct ref *ref, int page);
bool ref_maps_set_refs(struct ref *ref, int page);

/* --- classic (ref_classic.c) ---------------------------------------------------------------- */

void ref_classic_mark(struct ref *ref, int page);
void ref_classic_add(struct ref *ref, int page);
void ref_classic_del(struct ref *ref, int page);
void ref_classic_activate(struct ref *ref, int page);
void ref_classic_refault(struct ref *ref, int page);
void ref_classic_prepare(struct ref *ref);
void ref_classic_shrink(struct ref *ref);
void ref_classic_snapshot(struct ref *ref);

#endif
