/* SPDX-License-Identifier: MIT */
/*
 * Entry points of reclaim, and the state of one reclaim run.
 *
 * Facts: mglru-facts 2 to 6, 9.1, 12. Linux mm/vmscan.c (try_to_free_mem_cgroup_pages, shrink_node,
 * lru_gen_shrink_lruvec).
 */
#ifndef RECLAIM_RECLAIM_H
#define RECLAIM_RECLAIM_H

#include "reclaim/lruvec.h"
#include "reclaim/mm.h"
#include "reclaim/model.h"

/* Retries of a charge and of a limit write before giving up (facts 6.3). */
#define MAX_RECLAIM_RETRIES 16

/* What one batch came to, in pages. The kernel counts more, to throttle who reclaims; here a write
 * takes no time (host->progress ends it between two priorities), so nothing waits. */
struct scan_counts {
    unsigned long unqueued_dirty; /* of files, and nobody writes them: all of them wakes flushers */
    unsigned long taken;
    unsigned long pageout;
};

/* Why a reclaim may have found too little, in pages. */
struct reclaim_outcome {
    unsigned long busy;      /* in use at that moment (shared caches) */
    unsigned long dirty;     /* of files, to be written first */
    unsigned long protected; /* of memcgs below their memory.min or memory.low */
    unsigned long scanned;   /* looked at in the last pass that did */
    unsigned long looked;    /* looked at in all passes of a run */
};

/* One reclaim run. Owned by the thread that reclaims, on its stack. */
struct scan_control {
    struct reclaim *reclaim;
    struct memcg *target;        /* whose limit is hit; NULL: global */
    unsigned long nr_to_reclaim; /* pages */
    unsigned long nr_reclaimed;
    unsigned long nr_scanned;
    int priority;          /* DEF_PRIORITY .. 0 */
    unsigned reclaim_zone; /* highest zone that helps the caller */
    int swappiness;        /* of a proactive request; -1: the memcg's own */
    bool may_swap;
    bool may_unmap;
    bool may_io;
    bool may_writepage;
    bool proactive;
    bool background; /* kswapd */
    bool full_walk;
    bool low_reclaim; /* memory.low is ignored in this pass */
    bool low_skipped;
    bool hopeful; /* this priority met what a smaller one may take */
    bool force_deactivate;
    bool skipped_deactivate;
    bool may_deactivate[LRU_TYPES];
    bool cache_trim;
    bool file_is_tiny;
    uint64_t cost[LRU_TYPES];
    unsigned long looked; /* pages, in all priorities */
    struct scan_counts counts;
    struct reclaim_outcome outcome;
    struct mm_walk walk; /* live while walk.lruvec is set */
};

/* Output of one isolation. */
struct isolation {
    struct list_node folios; /* newest at the head; reclaim goes from the tail */
    unsigned long pages;
    unsigned long nr; /* folios that may be looked at */
    enum lru_type type;
    unsigned tier; /* highest tier that may go */
};

struct reclaim_request {
    struct memcg *target; /* NULL: global */
    unsigned long pages;
    bool may_swap;
    bool proactive;
    int swappiness;                  /* proactive only; -1: the memcg's own */
    struct reclaim_outcome *outcome; /* what was met, added up; NULL: nobody asks */
};

/* Creates the per-cache state. The tree's root memcg must exist; its lruvecs are made here. */
int reclaim_init(struct reclaim *reclaim);

/*
 * Frees pages charged below request->target; returns pages freed (may exceed the request by a
 * batch). Never allocates, never fails; 0 means that nothing could be taken in all priorities.
 */
unsigned long reclaim_run(struct reclaim *reclaim, const struct reclaim_request *request);

/* Evicts generations up to and including @seq, or @nr pages (lru_gen '-'). 0 or MGLRU_EINVAL. */
int reclaim_evict_seq(struct reclaim *reclaim, struct lruvec *lruvec, uint64_t seq, int swappiness,
                      unsigned long nr);

/* Creates a youngest generation (lru_gen '+'). 0 or MGLRU_EINVAL, _ERANGE, _EEXIST. */
int reclaim_age_seq(struct reclaim *reclaim, struct lruvec *lruvec, uint64_t seq, int swappiness,
                    bool force_scan);

/* Effective swappiness of this run for this memcg: 0 when swap cannot be used (2.1). */
int reclaim_swappiness(struct lruvec *lruvec, struct scan_control *sc);

/* Evictable types: bit 0 anon, bit 1 file (2.1). */
static inline bool type_evictable(enum lru_type type, int swappiness)
{
    if (type == LRU_TYPE_ANON)
        return swappiness > 0;
    return swappiness != SWAPPINESS_ANON_ONLY;
}

/* min_ttl_ms check of background reclaim (2.9). True: some lruvec may be reclaimed. */
bool reclaim_ttl_allows(struct scan_control *sc);

/* Background reclaim of a whole node down by @pages (kswapd); returns pages freed. */
unsigned long reclaim_background(struct reclaim *reclaim, unsigned long pages);

/* --- batch.c ------------------------------------------------------------------------------- */

/* A new folio waits for its place on the lists. */
void lru_batch_add(struct reclaim *reclaim, struct folio *folio, bool in_fault);
/* @count folios that no lruvec of this cache will see pass through the batch. */
void lru_batch_add_others(struct reclaim *reclaim, unsigned count);
void lru_batch_activate(struct reclaim *reclaim, struct folio *folio);
void lru_batch_drain(struct reclaim *reclaim);
/* @folio is about to leave: forget it if it waits. */
void lru_batch_forget(struct reclaim *reclaim, struct folio *folio);

/* --- access.c ------------------------------------------------------------------------------ */

/* One access through a file descriptor (1.4, 12.2). */
void folio_mark_accessed(struct reclaim *reclaim, struct folio *folio);

/* The same for a page of a shared cache, which is of a file and mostly marked as far as it goes:
 * looks first, in line, and writes nothing then. */
static inline void folio_mark_again(struct reclaim *reclaim, struct folio *folio)
{
    const struct reclaim_model *model = reclaim->model;
    uint64_t flags = folio_flags(folio), state = flags & FOLIO_STATE_MASK;
    uint64_t oldest = lruvec_min_seq(folio_lruvec(folio), LRU_TYPE_FILE);
    /* Off the lists the number is 0 and the difference huge. */
    bool current = (flags >> FOLIO_SEQ_SHIFT) - 1 >= oldest || !model->absolute_seq;
    if (MGLRU_UNLIKELY(model->marked[state] != state || !current))
        folio_mark_accessed(reclaim, folio);
}
/* MADV_COLD, failed invalidation, MADV_FREE, end of writeback (1.7). */
void folio_deactivate(struct folio *folio);
void folio_deactivate_file(struct folio *folio);
void folio_make_lazyfree(struct folio *folio);
void folio_rotate_reclaimable(struct folio *folio);

/* --- aging.c ------------------------------------------------------------------------------- */

/* True: a youngest generation was created by this call (2.2, 2.5). */
bool aging_inc_max_seq(struct lruvec *lruvec, struct scan_control *sc, uint64_t seq, int swappiness,
                       bool force_scan);
/* Raises the parent for a reparenting: max_seq + 1 without a walk. */
void aging_bump(struct lruvec *lruvec, int swappiness);
/* True: min_seq of a type moved past empty generations (2.8). */
bool aging_inc_min_seq(struct lruvec *lruvec, int swappiness);
/* The algorithms themselves, for tests and benches: one step, false: budget used up. */
bool aging_move_oldest(struct lruvec *lruvec, enum lru_type type, enum aging_algorithm algorithm);

/* Effective sequence number of a listed folio. */
uint64_t generation_seq(const struct lruvec *lruvec, const struct folio *folio);
/* Whether a folio of @flags, on a list, is in the generation @oldest, which is min_seq. */
static inline bool generation_is_oldest(const struct reclaim_model *model, uint64_t oldest,
                                        uint64_t flags)
{
    uint64_t stored = (flags >> FOLIO_SEQ_SHIFT) - 1;
    return model->absolute_seq ? stored <= oldest : ((stored - oldest) & (MAX_NR_GENS - 1)) == 0;
}
/* Reference state with what the splice clears lazily. */
unsigned generation_state(const struct lruvec *lruvec, const struct folio *folio);
unsigned generation_state_of(const struct lruvec *lruvec, uint64_t flags);
/* Writes into a listed folio what splices left to be caught up with. */
void generation_catch_up(const struct lruvec *lruvec, struct folio *folio);
/* Moves the seq field to the next generation; returns the new effective seq. */
uint64_t generation_bump(struct lruvec *lruvec, struct folio *folio, bool account);
/* nr_pages and list sizes for a folio that changes generation; MAX as "none". */
#define GENERATION_NONE UINT64_MAX
void generation_account(struct lruvec *lruvec, const struct folio *folio, uint64_t from,
                        uint64_t to);
/* Puts an off-list folio into the generation that the model chooses, which is returned; its pages
 * have to be accounted by the caller, for many folios at once if they went to the same place. */
uint64_t generation_place(struct lruvec *lruvec, struct folio *folio, bool tail);
struct generation_run {
    uint64_t seq;
    enum lru_type type;
    unsigned zone;
    long pages;
};
void generation_account_added(struct lruvec *lruvec, const struct generation_run *run);
void generation_del(struct lruvec *lruvec, struct folio *folio, bool reclaiming);

/* --- tier.c -------------------------------------------------------------------------------- */

void tier_reset(struct lruvec *lruvec, enum lru_type type, bool carry_over);
struct tier_position {
    unsigned long refaulted;
    unsigned long total;
    int gain;
};
/* One tier of a type, or all of them for @tier = MAX_NR_TIERS. */
struct tier_position tier_read(const struct lruvec *lruvec, enum lru_type type, unsigned tier,
                               int gain);
/* "pv refaults less than sp" (3.4). */
bool tier_ok(const struct tier_position *sp, const struct tier_position *pv);

/* --- eviction.c ---------------------------------------------------------------------------- */

unsigned long eviction_scan(struct lruvec *lruvec, struct scan_control *sc,
                            struct isolation *isolation);
unsigned long eviction_run(struct lruvec *lruvec, struct scan_control *sc, int swappiness,
                           unsigned long nr);
void eviction_put_back(struct lruvec *lruvec, struct list_node *folios);
/* Rows 9 and 19: the flushers start when all that was taken since sc->counts was cleared is dirty
 * and nobody writes it. */
void eviction_wake_flushers(struct lruvec *lruvec, struct scan_control *sc);

/* --- shrink.c ------------------------------------------------------------------------------ */

/* Judges isolated folios, frees what may go; the rest stays on @folios. Pages freed (3.6). */
unsigned long shrink_folios(struct scan_control *sc, struct list_node *folios,
                            unsigned long activated[LRU_TYPES]);

/* --- workingset.c -------------------------------------------------------------------------- */

uint64_t workingset_evict(struct reclaim *reclaim, struct folio *folio, struct memcg *target);
struct shadow workingset_unpack(uint64_t packed);
/* Before the folio is added to the lists. @shadow as stored by workingset_evict.
 * Returns true when the model counts the refault as recent. */
bool workingset_refault(struct reclaim *reclaim, struct folio *folio, uint64_t shadow,
                        bool in_fault);
void workingset_age_nonresident(struct lruvec *lruvec, long pages);
/* Generation that an MGLRU shadow remembers. */
uint64_t workingset_shadow_seq(uint64_t packed);

/* --- classic.c ----------------------------------------------------------------------------- */

void classic_shrink(struct lruvec *lruvec, struct scan_control *sc);
void classic_prepare(struct scan_control *sc, unsigned node);
void classic_snapshot(struct scan_control *sc, unsigned node);
void classic_mark_accessed(struct reclaim *reclaim, struct folio *folio);
bool classic_refault(struct lruvec *eviction_lruvec, const struct folio *folio,
                     const struct shadow *shadow);
void classic_note_cost(struct lruvec *lruvec, enum lru_type type, long io, long rotated);

/* --- memcg_lru.c --------------------------------------------------------------------------- */

enum memcg_lru_op { MEMCG_LRU_NOP, MEMCG_LRU_HEAD, MEMCG_LRU_TAIL, MEMCG_LRU_OLD, MEMCG_LRU_YOUNG };
void memcg_lru_init(struct memcg_lru *lru);
void memcg_lru_online(struct lruvec *lruvec);
void memcg_lru_offline(struct lruvec *lruvec);
void memcg_lru_release(struct lruvec *lruvec);
void memcg_lru_rotate(struct lruvec *lruvec, enum memcg_lru_op op);
void memcg_lru_shrink(struct scan_control *sc, unsigned node);

/* --- switch.c ------------------------------------------------------------------------------ */

/* Turns MGLRU on or off for the whole cache; between chunks @pause may run reclaim. */
void reclaim_switch(struct reclaim *reclaim, bool enabled, void (*pause)(void *), void *context);
/* A memcg goes: its folios move to the parent where the model does so. */
void reclaim_offline(struct reclaim *reclaim, struct memcg *memcg);

/* --- reclaim.c ----------------------------------------------------------------------------- */

/* Node-level loops used by both algorithms. */
void reclaim_count_scan(struct lruvec *lruvec, struct scan_control *sc, enum lru_type type,
                        unsigned long pages);
void reclaim_count_steal(struct lruvec *lruvec, struct scan_control *sc, enum lru_type type,
                         unsigned long pages);
unsigned long reclaim_protected_scan(const struct lruvec *lruvec, struct scan_control *sc,
                                     unsigned long scan);
void reclaim_shrink_lruvec(struct lruvec *lruvec, struct scan_control *sc);
void reclaim_shrink_slab(struct lruvec *lruvec, struct scan_control *sc);
bool reclaim_enough(const struct scan_control *sc);
/* True: the whole machine is reclaimed from, also by memory.reclaim of the root. Then the memcg LRU
 * says whose turn it is. */
static inline bool reclaim_is_global(const struct scan_control *sc)
{
    return !sc->target || memcg_is_root(sc->target);
}

/* --- verify.c ------------------------------------------------------------------------------ */

/* Walks everything; returns NULL or the text of the first broken invariant. */
const char *verify_reclaim(struct reclaim *reclaim);

#endif
