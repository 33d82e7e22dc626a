/* SPDX-License-Identifier: MIT */
/*
 * The index of cache/index.h: leaves in an open-addressing table by chunk, and the count of inner
 * nodes that the kernel's tree would have. Linux lib/xarray.c (shape of the tree).
 */
#include "cache/index.h"

#include <stdlib.h>
#include <string.h>

#include <mglru/error.h>

#include "base/bits.h"
#include "base/check.h"

void index_pool_init(struct index_pool *pool)
{
    slab_init(&pool->leaves, sizeof(struct index_leaf));
    for (unsigned class = 0; class < INDEX_CLASSES; class ++)
        slab_init(&pool->slots[class], sizeof(uint64_t) << (class + 1));
    pool->table_bytes = 0;
}

void index_pool_fini(struct index_pool *pool)
{
    slab_fini(&pool->leaves);
    for (unsigned class = 0; class < INDEX_CLASSES; class ++)
        slab_fini(&pool->slots[class]);
}

uint64_t index_pool_bytes(const struct index_pool *pool)
{
    uint64_t bytes = pool->leaves.bytes + pool->table_bytes;
    for (unsigned class = 0; class < INDEX_CLASSES; class ++)
        bytes += pool->slots[class].bytes;
    return bytes;
}

void index_init(struct page_index *index, struct index_pool *pool)
{
    *index = (struct page_index){.pool = pool};
}

void index_fini(struct page_index *index)
{
    index->pool->table_bytes -= index->table_size * sizeof(*index->table);
    index->pool->table_bytes -= index->inner_size * sizeof(*index->inner);
    free(index->table);
    free(index->inner);
    index_init(index, index->pool);
}

/* --- the table of leaves -------------------------------------------------------------------- */

/* Neighbouring chunks keep their distance, so that scans touch the table in order. */
static uint64_t home(const struct page_index *index, uint64_t chunk)
{
    return (chunk + bits_mix64(chunk >> 16)) & (index->table_size - 1);
}

struct index_leaf *index_leaf_slow(struct page_index *index, uint64_t chunk)
{
    if (!index->table_size)
        return NULL;
    for (uint64_t i = home(index, chunk);; i = (i + 1) & (index->table_size - 1)) {
        struct index_leaf *leaf = index->table[i];
        if (!leaf)
            return NULL;
        if (leaf->chunk == chunk) {
            index->last = leaf;
            return leaf;
        }
    }
}

void index_prefetch(const struct page_index *index, uint64_t page, unsigned step)
{
    if (!index->table_size)
        return;
    struct index_leaf **entry = &index->table[home(index, page >> INDEX_LEAF_SHIFT)];
    if (step == 0) {
        __builtin_prefetch(entry);
        return;
    }
    const struct index_leaf *leaf = *entry;
    if (!leaf)
        return;
    if (step == 1) {
        __builtin_prefetch(leaf);
        return;
    }
    /* A leaf of another chunk stands here after a collision: then nothing is gained or lost. */
    unsigned offset = leaf->class == INDEX_CLASSES - 1 ? (unsigned)(page % INDEX_LEAF_PAGES) : 0;
    if (step == 2)
        __builtin_prefetch(&leaf->slots[offset]);
    else if (leaf->occupied && slot_is_folio(leaf->slots[offset]))
        __builtin_prefetch(slot_folio(leaf->slots[offset]), 1);
}

static void table_insert(struct page_index *index, struct index_leaf *leaf)
{
    uint64_t i = home(index, leaf->chunk);
    while (index->table[i])
        i = (i + 1) & (index->table_size - 1);
    index->table[i] = leaf;
}

static int table_reserve(struct page_index *index)
{
    if ((index->leaves + 1) * 2 <= index->table_size)
        return 0;
    uint64_t old_size = index->table_size;
    struct index_leaf **old = index->table;
    uint64_t size = old_size ? old_size * 2 : 4;
    struct index_leaf **table = calloc(size, sizeof(*table));
    if (!table)
        return MGLRU_ENOMEM;
    index->table = table;
    index->table_size = size;
    for (uint64_t i = 0; i < old_size; i++)
        if (old[i])
            table_insert(index, old[i]);
    free(old);
    index->pool->table_bytes += (size - old_size) * sizeof(*table);
    return 0;
}

/* Linear probing without tombstones: the cluster behind the hole moves up (Knuth 6.4, R). */
static void table_remove(struct page_index *index, const struct index_leaf *leaf)
{
    uint64_t mask = index->table_size - 1;
    uint64_t hole = home(index, leaf->chunk);
    while (index->table[hole] != leaf)
        hole = (hole + 1) & mask;
    for (uint64_t i = (hole + 1) & mask; index->table[i]; i = (i + 1) & mask) {
        uint64_t wanted = home(index, index->table[i]->chunk);
        if (((i - wanted) & mask) < ((i - hole) & mask))
            continue;
        index->table[hole] = index->table[i];
        hole = i;
    }
    index->table[hole] = NULL;
}

/* --- leaves --------------------------------------------------------------------------------- */

int index_leaf_create(struct page_index *index, uint64_t page, struct index_leaf **out,
                      bool *created)
{
    *created = false;
    *out = index_leaf(index, page);
    if (*out)
        return 0;
    if (table_reserve(index))
        return MGLRU_ENOMEM;
    struct index_leaf *leaf = slab_alloc(&index->pool->leaves);
    if (!leaf)
        return MGLRU_ENOMEM;
    *leaf = (struct index_leaf){.chunk = page >> INDEX_LEAF_SHIFT, .owner = index};
    leaf->slots = slab_alloc(&index->pool->slots[0]);
    if (!leaf->slots) {
        slab_free(&index->pool->leaves, leaf);
        return MGLRU_ENOMEM;
    }
    list_init(&leaf->shadow_link);
    list_init(&leaf->dirty_link);
    list_init(&leaf->writeback_link);
    table_insert(index, leaf);
    index->leaves++;
    index->last = leaf;
    *out = leaf;
    *created = true;
    return 0;
}

static unsigned leaf_capacity(const struct index_leaf *leaf)
{
    return 2u << leaf->class;
}

/* Moves the slots into the next larger array; the largest is indexed by page, not by rank. */
static int leaf_widen(struct index_leaf *leaf)
{
    struct index_pool *pool = leaf->owner->pool;
    unsigned class = leaf->class + 1u;
    uint64_t *slots = slab_alloc(&pool->slots[class]);
    if (!slots)
        return MGLRU_ENOMEM;
    if (class == INDEX_CLASSES - 1) {
        unsigned rank = 0;
        memset(slots, 0, INDEX_LEAF_PAGES * sizeof(*slots));
        for (uint64_t rest = leaf->occupied; rest; rest &= rest - 1)
            slots[__builtin_ctzll(rest)] = leaf->slots[rank++];
    } else {
        memcpy(slots, leaf->slots, leaf_capacity(leaf) * sizeof(*slots));
    }
    slab_free(&pool->slots[leaf->class], leaf->slots);
    leaf->slots = slots;
    leaf->class = (uint8_t) class;
    return 0;
}

int leaf_reserve(struct index_leaf *leaf, uint64_t bits)
{
    unsigned count = (unsigned)__builtin_popcountll(leaf->occupied | bits);
    while (leaf->class < INDEX_CLASSES - 1 && count > leaf_capacity(leaf))
        if (leaf_widen(leaf))
            return MGLRU_ENOMEM;
    return 0;
}

static int leaf_insert(struct index_leaf *leaf, uint64_t page, uint64_t value)
{
    uint64_t bit = UINT64_C(1) << (page % INDEX_LEAF_PAGES);
    unsigned count = bits_count(leaf->occupied);
    if (leaf_reserve(leaf, bit))
        return MGLRU_ENOMEM;
    if (leaf->class == INDEX_CLASSES - 1) {
        leaf->slots[page % INDEX_LEAF_PAGES] = value;
    } else {
        unsigned rank = bits_count(leaf->occupied & (bit - 1));
        memmove(&leaf->slots[rank + 1], &leaf->slots[rank], (count - rank) * sizeof(*leaf->slots));
        leaf->slots[rank] = value;
    }
    leaf->occupied |= bit;
    return 0;
}

int leaf_store(struct index_leaf *leaf, uint64_t page, uint64_t value)
{
    MGLRU_ASSERT(value != 0);
    uint64_t *slot = leaf_slot(leaf, page);
    if (!slot) {
        if (leaf_insert(leaf, page, value))
            return MGLRU_ENOMEM;
    } else {
        if (slot_is_folio(*slot))
            leaf->folio_pages--;
        *slot = value;
    }
    if (slot_is_folio(value))
        leaf->folio_pages++;
    return 0;
}

void leaf_erase(struct index_leaf *leaf, uint64_t page)
{
    uint64_t *slot = leaf_slot(leaf, page);
    if (!slot)
        return;
    if (slot_is_folio(*slot))
        leaf->folio_pages--;
    uint64_t bit = UINT64_C(1) << (page % INDEX_LEAF_PAGES);
    if (leaf->class == INDEX_CLASSES - 1) {
        *slot = 0;
    } else {
        unsigned count = bits_count(leaf->occupied);
        unsigned rank = (unsigned)(slot - leaf->slots);
        memmove(slot, slot + 1, (count - rank - 1) * sizeof(*slot));
    }
    leaf->occupied &= ~bit;
}

void index_leaf_free(struct index_leaf *leaf)
{
    struct page_index *index = leaf->owner;
    MGLRU_ASSERT(list_empty(&leaf->shadow_link) && list_empty(&leaf->dirty_link));
    table_remove(index, leaf);
    index->leaves--;
    if (index->last == leaf)
        index->last = NULL;
    slab_free(&index->pool->slots[leaf->class], leaf->slots);
    slab_free(&index->pool->leaves, leaf);
}

/* --- inner nodes ---------------------------------------------------------------------------- */

static uint64_t inner_key(unsigned level, uint64_t prefix)
{
    return (uint64_t)level << 58 | prefix;
}

static struct index_inner *inner_find(const struct page_index *index, uint64_t key)
{
    uint64_t mask = index->inner_size - 1;
    uint64_t i = bits_mix64(key) & mask;
    while (index->inner[i].key && index->inner[i].key != key)
        i = (i + 1) & mask;
    return &index->inner[i];
}

/* Room for @more entries, at most half full. */
static int inner_reserve(struct page_index *index, unsigned more)
{
    struct page_index old = *index;
    uint64_t size = old.inner_size ? old.inner_size : 4;
    while ((index->inner_count + more) * 2 > size)
        size *= 2;
    if (!more || size == old.inner_size)
        return 0;
    struct index_inner *inner = calloc(size, sizeof(*inner));
    if (!inner)
        return MGLRU_ENOMEM;
    index->inner = inner;
    index->inner_size = size;
    for (uint64_t i = 0; i < old.inner_size; i++)
        if (old.inner[i].key)
            *inner_find(index, old.inner[i].key) = old.inner[i];
    free(old.inner);
    index->pool->table_bytes += (size - old.inner_size) * sizeof(*inner);
    return 0;
}

/* Adds a child to an inner node, for which there is room. True: the node is new. */
static bool inner_add(struct page_index *index, unsigned level, uint64_t prefix,
                      struct memcg *payer)
{
    struct index_inner *inner = inner_find(index, inner_key(level, prefix));
    if (inner->key) {
        inner->children++;
        return false;
    }
    *inner = (struct index_inner){.key = inner_key(level, prefix), .children = 1, .charged = payer};
    index->inner_count++;
    return true;
}

/* The cluster behind a removed entry moves up, as in table_remove. */
static void inner_remove(struct page_index *index, struct index_inner *inner)
{
    uint64_t mask = index->inner_size - 1;
    uint64_t hole = (uint64_t)(inner - index->inner);
    for (uint64_t i = (hole + 1) & mask; index->inner[i].key; i = (i + 1) & mask) {
        uint64_t wanted = bits_mix64(index->inner[i].key) & mask;
        if (((i - wanted) & mask) < ((i - hole) & mask))
            continue;
        index->inner[hole] = index->inner[i];
        hole = i;
    }
    index->inner[hole] = (struct index_inner){0};
    index->inner_count--;
}

/* Levels that a tree needs to hold @page: least h with page < 64^h. */
static unsigned height_for(uint64_t page)
{
    unsigned height = 0;
    for (; page; page >>= INDEX_LEAF_SHIFT)
        height++;
    return height;
}

/* What was the top becomes the first child of each new level. */
static unsigned grow_top(struct page_index *index, unsigned height, struct memcg *payer)
{
    unsigned nodes = 0;
    for (unsigned level = index->height > 1 ? index->height + 1 : 2; level <= height; level++)
        nodes += inner_add(index, level, 0, payer);
    return nodes;
}

int index_grow(struct page_index *index, uint64_t page, bool new_leaf, struct memcg *payer,
               unsigned *nodes)
{
    unsigned height = height_for(page);
    bool had_leaves = index->leaves > (new_leaf ? 1 : 0);
    *nodes = 0;
    if (height < index->height)
        height = index->height;
    /* Nodes on the way to the leaf, and those that new levels need for what was there. */
    unsigned most = (new_leaf && height > 1 ? height - 1 : 0) + height - index->height;
    if (inner_reserve(index, most))
        return MGLRU_ENOMEM;
    if (page > index->max_page)
        index->max_page = page;
    if (height > index->height && had_leaves) {
        *nodes += index->height == 0; /* a lone page 0 gets its leaf node now */
        *nodes += grow_top(index, height, payer);
    }
    index->height = height;
    if (!new_leaf || height == 0)
        return 0;
    *nodes += 1; /* the leaf itself */
    for (unsigned level = 2; level <= height; level++) {
        if (!inner_add(index, level, page >> (INDEX_LEAF_SHIFT * level), payer))
            break; /* the levels above have counted this node already */
        *nodes += 1;
    }
    return 0;
}

unsigned index_shrink(struct page_index *index, uint64_t chunk, struct memcg *payers[INDEX_LEVELS])
{
    unsigned gone = 0;
    for (unsigned level = 2; level <= index->height && index->inner_count; level++) {
        uint64_t prefix = chunk >> (INDEX_LEAF_SHIFT * (level - 1));
        struct index_inner *inner = inner_find(index, inner_key(level, prefix));
        if (!inner->key || --inner->children)
            break;
        payers[gone++] = inner->charged;
        inner_remove(index, inner);
    }
    if (index->leaves == 0) {
        index->height = 0;
        index->max_page = 0;
    }
    return gone;
}

unsigned index_lower(struct page_index *index, unsigned height, uint64_t max_page)
{
    unsigned gone = 0;
    if (index->height <= height)
        return 0;
    for (unsigned level = height > 1 ? height + 1 : 2; level <= index->height; level++) {
        struct index_inner *inner = inner_find(index, inner_key(level, 0));
        MGLRU_ASSERT(inner->key && inner->children == 1);
        inner_remove(index, inner);
        gone++;
    }
    index->height = height;
    index->max_page = max_page;
    return gone;
}
