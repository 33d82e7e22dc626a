/* SPDX-License-Identifier: MIT */
/*
 * One memcg under reclaim, once more: what the engine does, written from the facts a second time
 * for clarity alone, access by access, for pages of order 0 on one node and one CPU. Nothing is
 * shared with src/: lists are plain arrays of page numbers, searches are linear.
 *
 *   ref_memcg.c    charges, kernel metadata, add batch, reclaim driver, accesses
 *   ref_gens.c     generations, tiers, controller, aging, refaults of MGLRU
 *   ref_evict.c    sorting, isolation, verdicts, budgets of MGLRU
 *   ref_maps.c     accessed bits: walks of page tables, filters, look-around
 *   ref_classic.c  the active and inactive lists, refault distance
 *
 * Numbers in the comments ("3.3") are sections of the facts that the engine is built from, the
 * same as at the heads of src/reclaim.
 */
#ifndef MODEL_REF_KERNEL_H
#define MODEL_REF_KERNEL_H

#include <stdbool.h>
#include <stdint.h>

enum ref_model { REF_612, REF_73, REF_NEXT, REF_OURS };

struct ref_options {
    enum ref_model model;
    bool classic;
    bool no_walk;  /* lru_gen/enabled without the walk of page tables */
    long limit;    /* memory.max in pages */
    int file_size; /* pages 0 .. file_size - 1 are of the file */
    int anon_size; /* pages of the anonymous region follow from ref_anon_first() on */
    long swap_size;
    int swappiness;
    bool kernel_charge; /* page-cache nodes, the open file, page tables */
    int start_batch;    /* foreign pages in the add batch */
    int start_tables;
    long flush_accesses; /* flush of statistics; 0: before every use */
};

/* What happened so far, in pages or times. */
struct ref_counts {
    uint64_t evictions;
    uint64_t evict_hash; /* over the pages in their order */
    uint64_t refaults[2];
    uint64_t recent; /* refaults that counted */
    uint64_t agings;
    uint64_t scanned, stolen, refilled, activated, restored, deactivated, node_reclaims;
};

enum ref_access { REF_READ, REF_MAP, REF_MAP_EXEC, REF_TOUCH };
enum ref_result { REF_HIT, REF_MISS, REF_FIRST_TOUCH, REF_OOM };

struct ref;

/* A new memcg with one process, which has opened the file; NULL: it does not fit the limit. */
struct ref *ref_create(const struct ref_options *options);
void ref_destroy(struct ref *ref);

/* One access to @page of the file, or of the region for REF_TOUCH. */
enum ref_result ref_access(struct ref *ref, enum ref_access kind, int page);

/* A new generation by command: "+ memcg node seq swappiness force" with the youngest seq (9.2). */
void ref_age(struct ref *ref, int swappiness, bool force);
uint64_t ref_max_seq(const struct ref *ref);

void ref_set_swappiness(struct ref *ref, int swappiness);

/* A write of memory.max (6.4). */
void ref_set_limit(struct ref *ref, long pages);

/* Takes a page of the file, or of the region, out of memory with its shadow or swap slot. Only
 * without kernel_charge. */
void ref_drop(struct ref *ref, bool anon, int page);

/* Somebody read memory.stat: statistics are flushed. */
void ref_flush(struct ref *ref);

const struct ref_counts *ref_counts(const struct ref *ref);

/* Adds an evicted page (0 ..; @anon: of the region) to a hash as evict_hash does. */
uint64_t ref_hash(uint64_t hash, bool anon, uint64_t page);

#endif
