/* SPDX-License-Identifier: MIT */
/*
 * Software page tables: address spaces (mm) of memcgs, their mappings (vma) and the accessed bits
 * that aging reads. One mm a memcg stands for its processes.
 *
 * A page table holds 512 entries, as on x86_64; one entry is the folio's address with the accessed
 * and dirty bits in its low bits (a folio is 64-byte aligned). Above it only the accessed bit of
 * the table's own entry (the PMD) exists.
 */
#ifndef RECLAIM_MM_H
#define RECLAIM_MM_H

#include <stdbool.h>
#include <stdint.h>

#include "base/list.h"
#include "reclaim/folio.h"
#include "reclaim/lruvec.h"

#define PTRS_PER_TABLE 512
#define PTE_YOUNG 1u
#define PTE_DIRTY 2u
#define PTE_FLAGS 63u

struct scan_control;

struct mm {
    struct list_node mm_link; /* memcg_reclaim.mm_list */
    struct list_node vmas;    /* struct vma, by mm_link, in order of creation */
    struct memcg *memcg;
    bool ran;       /* was on a CPU since the last walk (the kernel's per-node bitmap) */
    unsigned skips; /* walks that found it had not run */
};

struct page_table {
    struct list_node link; /* vma.tables */
    uint64_t first;        /* page index of entry 0; a multiple of 512 */
    uint64_t id;           /* stands for the address of its entry; key of the Bloom filter */
    bool young;            /* accessed bit of the entry that points to this table */
    uintptr_t entries[PTRS_PER_TABLE];
};

struct vma {
    struct list_node mm_link;
    struct list_node mapping_link; /* page_mapping.vmas */
    struct mm *mm;
    struct page_mapping *mapping;
    struct list_node tables;
    struct page_table **index; /* by first / 512, NULL where absent */
    uint64_t index_size;
    uint64_t tables_count;
    uint64_t end; /* one past its last page; while the size is unknown, past the highest mapped */
    bool exec;
    bool no_recency; /* sequential or random advice: walks skip it */
    bool locked;
};

/* Deltas of one walk, flushed in one go (facts 2.3). */
struct mm_walk {
    struct lruvec *lruvec; /* NULL: no walk object exists */
    uint64_t seq;
    long nr_pages[MAX_NR_GENS][LRU_TYPES][MAX_NR_ZONES];
    unsigned batched;
    int swappiness;
    bool force_scan;
    uint64_t stats[4]; /* leaf total, leaf young, non-leaf found, non-leaf added */
};

struct mm *mm_create(struct memcg *memcg);
void mm_destroy(struct mm *mm);
/* The processes of @memcg were on a CPU. */
void mm_note_run(struct memcg *memcg);
struct vma *vma_create(struct mm *mm, struct page_mapping *mapping, bool exec);
void vma_destroy(struct vma *vma);

/* Makes the page table for @index where there is none. 0 or MGLRU_ENOMEM. */
int vma_reserve(struct vma *vma, uint64_t index);

/* Maps page @index, whose table exists, to @folio, young. */
void vma_map(struct vma *vma, uint64_t index, struct folio *folio, bool write);

/* The entry of @index, or NULL when no table covers it. */
uintptr_t *vma_entry(const struct vma *vma, uint64_t index, struct page_table **table);

/* One access by the CPU to a mapped page: sets the accessed (and dirty) bit. False: not mapped. */
bool vma_touch(struct vma *vma, uint64_t index, bool write);

/* Removes all entries of a folio; dirty bits go into the folio. */
void mm_unmap_folio(struct folio *folio);

/* A mapped folio was split into @count single pages, @parts[0] being itself: entries follow. Their
 * map counts are 0 before. */
void mm_split_folio(struct folio *const parts[], long count);

/*
 * The rmap walk of eviction: counts young entries of @folio, clears them, looks around each
 * (facts 2.4). *@exec: one of its mappings is executable.
 */
int mm_referenced(struct scan_control *sc, struct folio *folio, bool *exec);

/* Walks the address spaces of the lruvec's memcg for @walk->seq. True: the caller bumps max_seq. */
bool mm_walk_all(struct lruvec *lruvec, struct mm_walk *walk);
/* The same without page tables. */
bool mm_walk_none(struct lruvec *lruvec, uint64_t seq);
void mm_walk_flush(struct mm_walk *walk);

/* Forgets all address spaces of a memcg, page tables included, without a look at the folios:
 * for the end of a cache. */
void mm_discard_all(struct memcg *memcg);

/* Bytes of page tables of all memcgs. */
uint64_t mm_bytes(const struct reclaim *reclaim);

/* Frees the Bloom filters. */
void mm_state_free(struct mm_state *state);

#endif
