/* SPDX-License-Identifier: MIT */
/*
 * A kernel model: everything that differs between kernels, as one const table of constants and
 * small functions. The engine holds no version checks (ARCHITECTURE.md, decision 2).
 *
 * Facts and section numbers: Linux mm/vmscan.c, mm/workingset.c, mm/swap.c of 6.12.117 and 7.3.4.
 */
#ifndef RECLAIM_MODEL_H
#define RECLAIM_MODEL_H

#include "reclaim/lruvec.h"

struct scan_control;
struct isolation;

/* How the oldest generation is moved into the next one (facts 2.6, 2.7; decision 1). */
enum aging_algorithm {
    AGING_PER_FOLIO, /* tail to tail, one flag update and list move a folio */
    AGING_BATCHED,   /* head to tail, runs spliced, order kept */
    AGING_SPLICE     /* one splice and one addition a zone; needs absolute sequence numbers */
};

enum reference_verdict {
    REFERENCE_RECLAIM,
    REFERENCE_RECLAIM_CLEAN,
    REFERENCE_KEEP,
    REFERENCE_ACTIVATE
};

/* What the shadow entry of a refaulting page says. */
struct shadow {
    uint64_t token;
    unsigned token_bits; /* of it that were kept */
    uint32_t memcg_id;
    uint32_t owner_id; /* whose swap it is; 0: a file's page */
    uint8_t node;
    uint8_t id_turn; /* of a file's page: the memcg's, as far as it was kept */
    bool workingset;
};

struct refault_result {
    bool recent;
    bool restored; /* counts as WORKINGSET_RESTORE */
    bool activate; /* counts as WORKINGSET_ACTIVATE */
    unsigned tier;
};

/* Bits of the token of a file's shadow entry (4.1). */
#define WORKINGSET_TOKEN_BITS 36

struct reclaim_model {
    const char *name;
    enum aging_algorithm aging;

    /* Reference state (low four bits of folio->flags) tables. */
    uint8_t marked[16]; /* state after one more access through a file descriptor */
    uint8_t refs[16];   /* accesses that the state remembers */
    uint8_t tier[16];
    uint16_t fully;            /* bit s: state s is always protected at eviction */
    uint8_t bump_clears;       /* state bits that a move to the next generation clears */
    uint8_t active_add_clears; /* state bits that adding an active folio clears */

    bool absolute_seq;          /* effective generation = max(stored, min_seq) */
    bool protect_to_head;       /* sort rule 3 moves to the head, else to the tail */
    bool protect_skips_full;    /* fully referenced folios are not counted as protected */
    bool bump_counts;           /* inc_min_seq counts protected folios */
    bool fill_keeps_order;      /* switching on puts inactive folios into the oldest generation */
    bool deactivate_checks_gen; /* row 4: folios of the oldest generation are left alone */
    bool protects_on_direct;    /* row 23: direct global reclaim computes protection itself */
    bool skips_isolated;        /* row 28: promotion never touches a folio off the lists */
    bool isolated_promotes;     /* R on an isolated mapped folio means "promote it" */
    bool takes_entry_runs;      /* row 30: the entries of a large folio are one target */
    bool switch_runs_both;      /* row 14 */
    bool wakes_per_batch;       /* row 19: flushers start after a batch, else after all of them */
    bool reparents_folios;      /* rows 25..27: a removed memcg's folios move to the parent */
    bool exact_batches;         /* reclaim takes what it asked for, else whole batches of 64 */
    bool swapin_uses_cache;     /* swap-in passes the swap cache */
    bool stock_slots;           /* seven stock slots a CPU, else one */
    bool anon_only;             /* swappiness "max" exists (row 11) */
    bool global_proactive;      /* row 13: lru_gen '-' counts as global reclaim */
    bool shadow_has_refs;       /* the shadow's W bit says that refs > 0, else that W was set */
    bool cost_in_ancestors;     /* classic cost is charged to ancestors too (facts 12.6) */
    bool large_readahead;       /* readahead brings folios of several pages */
    bool counts_faults;    /* what mappings gain by readahead is counted by faults, not pages */
    bool search_slips;     /* its search for absent pages slips in a large folio */
    unsigned lookup_bytes; /* dentry and inode of a file that a process looks up first (13.1) */
    unsigned memcg_bytes;  /* what a new memcg's structures charge to its parent (13.1) */

    /* Sequence number that an added folio gets (1.6). */
    uint64_t (*add_seq)(const struct lruvec *lruvec, const struct folio *folio, bool tail);
    /* Flags of a folio that a page fault adds (1.6, before the batch). */
    void (*mark_fault)(struct folio *folio);
    /* New flags of a folio found young by a page-table walk (1.5). */
    uint64_t (*walk_flags)(uint64_t flags, uint64_t seq, bool exec_file);
    /* Found young by the rmap walk without a walk object; true: promote (1.5). */
    bool (*rmap_refs)(struct folio *folio, bool exec_file);
    enum reference_verdict (*references)(struct reclaim *reclaim, struct folio *folio, int young,
                                         bool exec);
    /* Reference flags of a folio just isolated (3.3). */
    uint64_t (*isolated_flags)(uint64_t flags);
    /* Flags of a folio that could not be evicted, before it is put back (3.5). True: retry it. */
    bool (*leftover)(const struct lruvec *lruvec, struct folio *folio, bool second_pass);
    /* min_seq of both types after the walk over empty generations (2.8). */
    void (*sync_min_seq)(const struct lruvec *lruvec, uint64_t min_seq[2], int swappiness);
    bool (*should_age)(const struct lruvec *lruvec, const struct scan_control *sc, int swappiness,
                       unsigned long *total);
    /* Chooses type and tier, isolates; returns pages scanned (3.2, 3.4). */
    unsigned long (*isolate)(struct lruvec *lruvec, struct scan_control *sc, int swappiness,
                             struct isolation *isolation);
    unsigned long (*evict_result)(const struct lruvec *lruvec, int swappiness,
                                  unsigned long scanned, bool advanced);
    /* One lruvec's share of reclaim (3.1). True: rotate its memcg. */
    bool (*shrink)(struct lruvec *lruvec, struct scan_control *sc);
    /* A page comes back: sets flags of @folio, says how it counts (4.2). */
    struct refault_result (*refault)(const struct lruvec *lruvec, struct folio *folio,
                                     const struct shadow *shadow, bool in_fault);
};

extern const struct reclaim_model model_612;
extern const struct reclaim_model model_73;
extern const struct reclaim_model model_next;
extern const struct reclaim_model model_ours;

/* By the name users give; NULL: none. */
const struct reclaim_model *model_find(const char *name);

#endif
