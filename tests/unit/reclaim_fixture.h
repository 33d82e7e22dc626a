/* SPDX-License-Identifier: MIT */
/*
 * A reclaim engine without a cache, for the tests of src/reclaim: one memcg "/t" whose folios are
 * made by hand, in any zone, generation and reference state. The host frees what reclaim releases
 * and remembers it in order. Include after <cmocka.h>.
 */
#ifndef TESTS_RECLAIM_FIXTURE_H
#define TESTS_RECLAIM_FIXTURE_H

#include "memcg/stat.h"
#include "reclaim/reclaim.h"

#define FIXTURE_ZONE 2u

/* A file as <mglru/cache.h>'s mappings are for reclaim: only who maps it. */
struct fixture {
    struct memcg_tree *tree;
    struct reclaim reclaim;
    struct memcg *memcg;   /* "/t" */
    struct lruvec *lruvec; /* its lruvec on node 0 */
    struct page_mapping file;
    struct page_mapping anon;
    struct folio **folios; /* living ones, in no order */
    unsigned long count;
    unsigned long room;
    uint64_t next_index;

    /* What the host answers. */
    long swap_left;
    bool swap_refuses;
    bool swap_write_is_slow;
    unsigned long shadow_nodes;

    /* What the host was told. */
    uint64_t *released; /* indexes, in order */
    unsigned long releases;
    unsigned long released_room;
    uint64_t last_shadow;
    unsigned long wakes;
    unsigned long wakes_at_release; /* releases so far when the flushers were last woken */
    unsigned long ages;
    unsigned long rounds;
    unsigned long shadow_calls;
    unsigned long swap_writes;
    void (*on_release)(struct fixture *fixture);
};

/* The four models, in the order of the columns of mglru-facts 10 and ours. */
extern const struct reclaim_model *const fixture_models[4];
enum { FIXTURE_612, FIXTURE_73, FIXTURE_NEXT, FIXTURE_OURS };
#define FIXTURE_MODELS 4

/* Two nodes, MGLRU on with all switches, swap with room. Never fails; free with fixture_free. */
struct fixture *fixture_new(const struct reclaim_model *model);
/* The same with the classic LRU. */
struct fixture *fixture_new_classic(const struct reclaim_model *model);
void fixture_free(struct fixture *fixture);

/* A memcg with lruvecs. */
struct memcg *fixture_memcg(struct fixture *fixture, const char *path);

/* A folio on no list: type by @mapping (fixture->file or ->anon), order 0, FIXTURE_ZONE. */
struct folio *fixture_folio(struct fixture *fixture, struct page_mapping *mapping);
struct folio *fixture_folio_in(struct lruvec *lruvec, struct fixture *fixture,
                               struct page_mapping *mapping, unsigned zone, unsigned order);
/* The same at the head of generation @seq with reference state @state (low four bits). */
struct folio *fixture_listed(struct fixture *fixture, struct page_mapping *mapping, uint64_t seq,
                             unsigned state);
/* Puts a folio that is on no list there. */
void fixture_place(struct folio *folio, uint64_t seq, unsigned state);
/* @count listed ones. */
void fixture_fill(struct fixture *fixture, struct page_mapping *mapping, uint64_t seq,
                  unsigned count);
/* Takes a folio away as truncation would. */
void fixture_drop(struct fixture *fixture, struct folio *folio);
/* Whether the folio with @index was released by reclaim. */
bool fixture_was_released(const struct fixture *fixture, uint64_t index);

/* A mapping of @mapping in the address space of fixture->memcg, made at the first call. */
struct vma *fixture_vma(struct fixture *fixture, struct page_mapping *mapping, bool exec);
/* Maps all pages of @folio in @vma at their own index; entries are young. */
void fixture_map(struct vma *vma, struct folio *folio);
/* The accessed bit of the entry of page @index. */
bool fixture_young(const struct vma *vma, uint64_t index);
/* Clears the accessed bits of all pages of @folio. */
void fixture_age_entries(const struct vma *vma, const struct folio *folio);
/* One walk over the address spaces for the youngest generation; true: completed the iteration. */
bool fixture_walk(struct fixture *fixture, bool force_scan, struct mm_walk *walk);

/* Sets the sequence numbers of an empty lruvec. */
void fixture_seqs(struct fixture *fixture, uint64_t max_seq, uint64_t min_anon, uint64_t min_file);

/* Reclaim of the memcg's own limit at @priority, 32 pages wanted. */
struct scan_control fixture_control(struct fixture *fixture, int priority);

/* A reference state in the encoding of 7.3 and 6.12: R, W, counter. */
#define FIXTURE_STATE(r, w, n) ((unsigned)((r) | (w) << 1 | (n) << 2))

/* Exact value of a counter of the memcg, on all nodes. */
long fixture_stat(const struct fixture *fixture, enum memcg_stat_item item);

/* Fails the test when an invariant is broken. */
void fixture_verify(struct fixture *fixture);

#endif
