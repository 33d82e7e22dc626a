/* SPDX-License-Identifier: MIT */
/* Walks a whole cache: the conservation laws of cache/cache.h, and reclaim's below it. */
#include "cache/cache.h"

#include "memcg/stock.h"

/* Pages charged to @memcg itself, by what lives in the cache. */
static long charged_pages(struct mglru_cache *cache, const struct memcg *memcg)
{
    struct mglru_memcg *user = memcg_user(memcg);
    long pages = user->kernel_pages + user->table_pages + user->fixed_pages;
    struct list_node *pos;
    list_for_each (pos, &cache->mappings) {
        struct page_index *index = &container_of(pos, struct mglru_mapping, link)->index;
        for (uint64_t i = 0; i < index->table_size; i++) {
            const struct index_leaf *leaf = index->table[i];
            for (uint64_t rest = leaf ? leaf->occupied : 0; rest; rest &= rest - 1) {
                uint64_t slot = *leaf_slot(leaf, (uint64_t)__builtin_ctzll(rest));
                if (slot_is_folio(slot) && slot_folio(slot)->lruvec->memcg == memcg)
                    pages++;
            }
        }
    }
    return pages;
}

static const char *verify_charges(struct mglru_cache *cache)
{
    struct memcg *root = cache->tree->root;
    for (struct memcg *memcg = memcg_next(root, root); memcg; memcg = memcg_next(root, memcg)) {
        long expected = 0;
        for (struct memcg *below = memcg; below; below = memcg_next(memcg, below))
            expected += charged_pages(cache, below) + memcg_stock_pages(below);
        if (page_counter_read(&memcg->memory) != expected)
            return "charge: usage differs from what is resident";
    }
    return NULL;
}

static const char *verify_leaf(const struct index_leaf *leaf)
{
    unsigned folios = 0;
    for (uint64_t rest = leaf->occupied; rest; rest &= rest - 1) {
        unsigned offset = (unsigned)__builtin_ctzll(rest);
        uint64_t slot = *leaf_slot(leaf, offset);
        if (!slot)
            return "index: an occupied slot is empty";
        if (!slot_is_folio(slot))
            continue;
        const struct folio *folio = slot_folio(slot);
        uint64_t page = leaf->chunk * INDEX_LEAF_PAGES + offset;
        if (page - folio->index >= (uint64_t)folio_pages(folio))
            return "index: a slot holds a folio of other pages";
        folios++;
    }
    return folios == leaf->folio_pages ? NULL : "index: count of folio slots of a leaf";
}

static const char *verify_indexes(struct mglru_cache *cache)
{
    struct list_node *pos;
    list_for_each (pos, &cache->mappings) {
        struct page_index *index = &container_of(pos, struct mglru_mapping, link)->index;
        for (uint64_t i = 0; i < index->table_size; i++) {
            const char *broken = index->table[i] ? verify_leaf(index->table[i]) : NULL;
            if (broken)
                return broken;
        }
    }
    return NULL;
}

const char *cache_verify(struct mglru_cache *cache)
{
    const char *broken = verify_indexes(cache);
    if (!broken)
        broken = verify_charges(cache);
    return broken ? broken : verify_reclaim(&cache->reclaim);
}
