/* SPDX-License-Identifier: MIT */
/*
 * The index of a mapping: page index -> folio or shadow entry. Pages are grouped in leaves of 64,
 * as in the kernel's page-cache tree, so that the metadata which the kernel charges for its nodes
 * (facts 13) falls out of the same structure.
 *
 * A leaf with few pages keeps its slots packed; from 33 on it has all 64. So a dense file costs
 * about 10 bytes a page, a sparse one about 130.
 *
 * A slot is 0 (absent), a folio pointer (low bit clear), or a shadow << 1 | 1. A folio of several
 * pages stands in each of its slots; so does its shadow.
 */
#ifndef CACHE_INDEX_H
#define CACHE_INDEX_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bits.h"
#include "base/list.h"
#include "cache/slab.h"
#include "reclaim/folio.h"

#define INDEX_LEAF_SHIFT 6
#define INDEX_LEAF_PAGES 64
/* Slot arrays come in sizes 2, 4, .. 64. */
#define INDEX_CLASSES 6

struct memcg;
struct page_index;

struct index_leaf {
    uint64_t chunk;    /* page index >> 6 */
    uint64_t occupied; /* bit per page: its slot is not 0 */
    uint64_t *slots;
    struct page_index *owner;
    struct list_node shadow_link; /* on a list of leaves that hold shadows alone; else empty */
    struct memcg *charged;        /* who pays for the node; NULL: nobody */
    uint8_t class;                /* log2(capacity) - 1 */
    uint8_t folio_pages;          /* slots that hold folios */
    bool held;                    /* being filled: stays off the list of shadows */
    uint64_t dirty;               /* bit per page: dirty, waits for the flusher */
    uint64_t writeback;           /* bit per page: being written */
    struct list_node dirty_link;  /* on the cache's list of leaves with dirty pages */
    struct list_node writeback_link;
    uint64_t dirty_since_ns;
};

/* Memory of all indexes of a cache. */
struct index_pool {
    struct slab leaves;
    struct slab slots[INDEX_CLASSES];
    uint64_t table_bytes;
};

/* Inner nodes of the kernel's tree: how many children each has, and who pays (facts 13.1). */
struct index_inner {
    uint64_t key; /* level << 58 | index >> (6 * level); 0: free entry */
    uint32_t children;
    struct memcg *charged;
};

/* Levels of a tree that holds any page: least h with 2^52 <= 64^h. */
#define INDEX_LEVELS 9

struct page_index {
    struct index_pool *pool;
    struct index_leaf *last;   /* of the last look-up; NULL: none */
    struct index_leaf **table; /* open addressing by chunk; NULL while empty */
    uint64_t table_size;       /* a power of two, or 0 */
    uint64_t leaves;
    struct index_inner *inner;
    uint64_t inner_size;
    uint64_t inner_count;
    uint64_t max_page; /* highest page ever present */
    unsigned height;   /* levels of nodes of the kernel's tree */
};

void index_pool_init(struct index_pool *pool);
void index_pool_fini(struct index_pool *pool);
uint64_t index_pool_bytes(const struct index_pool *pool);

void index_init(struct page_index *index, struct index_pool *pool);
/* Frees tables; all leaves must be gone or go with the pool. */
void index_fini(struct page_index *index);

struct index_leaf *index_leaf_slow(struct page_index *index, uint64_t chunk);

/* The leaf of a page, or NULL. */
static inline struct index_leaf *index_leaf(struct page_index *index, uint64_t page)
{
    struct index_leaf *last = index->last;
    uint64_t chunk = page >> INDEX_LEAF_SHIFT;
    if (last && last->chunk == chunk)
        return last;
    return index_leaf_slow(index, chunk);
}

/* The slot of a page in its leaf, or NULL when it is absent. */
static inline uint64_t *leaf_slot(const struct index_leaf *leaf, uint64_t page)
{
    uint64_t bit = UINT64_C(1) << (page % INDEX_LEAF_PAGES);
    if (!(leaf->occupied & bit))
        return NULL;
    if (leaf->class == INDEX_CLASSES - 1)
        return &leaf->slots[page % INDEX_LEAF_PAGES];
    return &leaf->slots[bits_count(leaf->occupied & (bit - 1))];
}

/*
 * Brings closer what a look-up of @page will touch, one step a call, so that the steps of several
 * look-ups overlap: 0 the table entry, 1 the leaf, 2 its slot, 3 the folio. Never waits for memory
 * that an earlier step has not asked for.
 */
void index_prefetch(const struct page_index *index, uint64_t page, unsigned step);

/* Value of a page's slot, 0 when absent. */
static inline uint64_t index_get(struct page_index *index, uint64_t page)
{
    struct index_leaf *leaf = index_leaf(index, page);
    uint64_t *slot = leaf ? leaf_slot(leaf, page) : NULL;
    return slot ? *slot : 0;
}

static inline bool slot_is_folio(uint64_t slot)
{
    return slot && !(slot & 1);
}

static inline bool slot_is_shadow(uint64_t slot)
{
    return slot & 1;
}

static inline struct folio *slot_folio(uint64_t slot)
{
    return (struct folio *)(uintptr_t)slot;
}

static inline uint64_t slot_of_shadow(uint64_t shadow)
{
    return shadow << 1 | 1;
}

/* The leaf of a page, made when absent. 0 or MGLRU_ENOMEM; *@created: it is new. */
int index_leaf_create(struct page_index *index, uint64_t page, struct index_leaf **out,
                      bool *created);

/* Puts a value that is not 0 into a page's slot, over any old one. 0 or MGLRU_ENOMEM. */
int leaf_store(struct index_leaf *leaf, uint64_t page, uint64_t value);

/* Empties a page's slot. The leaf stays, even without any entry. */
void leaf_erase(struct index_leaf *leaf, uint64_t page);

/* Frees a leaf with all that its slots hold. It must be on no list. */
void index_leaf_free(struct index_leaf *leaf);

/* Makes room for the pages of @bits (one each), so that leaf_store cannot fail for them. 0 or
 * MGLRU_ENOMEM. */
int leaf_reserve(struct index_leaf *leaf, uint64_t bits);

/*
 * Adds the nodes that a new leaf, or a new highest page, brings to the kernel's tree; @payer pays
 * for the inner ones. *@nodes: how many came into being, leaves included; also that of a lone page
 * 0, which had none. 0, or MGLRU_ENOMEM and nothing changed.
 */
int index_grow(struct page_index *index, uint64_t page, bool new_leaf, struct memcg *payer,
               unsigned *nodes);

/* The leaf of @chunk is gone: takes out the inner nodes that go with it. Returns how many, and who
 * paid for each. */
unsigned index_shrink(struct page_index *index, uint64_t chunk, struct memcg *payers[INDEX_LEVELS]);

/* Takes back the levels that index_grow put on top of @height for a page that did not come. Returns
 * how many nodes went; all were paid for by the same. */
unsigned index_lower(struct page_index *index, unsigned height, uint64_t max_page);

#endif
