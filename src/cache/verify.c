/* SPDX-License-Identifier: MIT */
/*
 * Walks a whole cache: the conservation laws of cache/cache.h, and reclaim's below it.
 *
 *  1. charge: usage of a memcg = pages of folios, kernel pages and stock in its subtree
 *  2. swap: slots in use = swapped pages + pages of the swap cache; so for each memcg's counter
 *  3. index: every folio stands in the slots of its pages, on one list or once in the add batch
 *  4. mapping: map_count of a folio = page table entries that point to it
 *  5. dirty: a leaf waits for the flusher while it has dirty pages; each dirty folio has one
 *  6. nodes: bytes charged for tree nodes = leaves and inner nodes that somebody pays for
 */
#include "cache/cache.h"

#include "memcg/stock.h"

/* What lives in the cache and belongs to one memcg alone. */
struct holdings {
    long folios; /* pages */
    long files;
    long anons;
    long dirty; /* pages of dirty file folios */
    long swapped;
    long nodes; /* of trees */
    long shadow_leaves;
    long mapped; /* sum of map_count of folios */
};

static void hold_folio(const struct folio *folio, const struct memcg *memcg, struct holdings *held)
{
    if (folio_lruvec(folio)->memcg != memcg)
        return;
    bool anon = folio_test(folio, FOLIO_ANON);
    held->folios += folio_pages(folio);
    *(anon ? &held->anons : &held->files) += folio_pages(folio);
    if (!anon && folio_test(folio, FOLIO_DIRTY))
        held->dirty += folio_pages(folio);
    if (folio_test(folio, FOLIO_SWAPCACHE))
        held->swapped += folio_pages(folio);
    held->mapped += folio->map_count;
}

static void hold_leaf(const struct mglru_mapping *mapping, const struct index_leaf *leaf,
                      const struct memcg *memcg, struct holdings *held)
{
    held->nodes += leaf->charged == memcg;
    held->shadow_leaves += leaf->charged == memcg && !list_empty(&leaf->shadow_link);
    for (uint64_t rest = leaf->occupied; rest; rest &= rest - 1) {
        unsigned offset = (unsigned)__builtin_ctzll(rest);
        uint64_t slot = *leaf_slot(leaf, offset);
        if (slot_is_shadow(slot)) {
            struct shadow shadow = workingset_unpack(slot >> 1);
            held->swapped +=
                mapping->kind == MGLRU_ANON && shadow.owner_id == atomic_load_relaxed(&memcg->id);
        } else if (slot_folio(slot)->index == leaf->chunk * INDEX_LEAF_PAGES + offset) {
            hold_folio(slot_folio(slot), memcg, held);
        }
    }
}

static struct holdings holdings_of(const struct mglru_cache *cache, const struct memcg *memcg)
{
    struct holdings held = {0};
    struct list_node *pos;
    list_for_each (pos, &cache->mappings) {
        const struct mglru_mapping *mapping = container_of(pos, struct mglru_mapping, link);
        const struct page_index *index = &mapping->index;
        for (uint64_t i = 0; i < index->table_size; i++)
            if (index->table[i])
                hold_leaf(mapping, index->table[i], memcg, &held);
        for (uint64_t i = 0; i < index->inner_size; i++)
            held.nodes += index->inner[i].key && index->inner[i].charged == memcg;
    }
    return held;
}

/* Bytes of kernel objects that @user should be paying for. */
static int64_t kernel_bytes(const struct mglru_memcg *user, const struct holdings *held)
{
    int64_t bytes = held->nodes * KERNEL_NODE_BYTES + user->lookup_bytes;
    const struct memcg *memcg = user->memcg;
    struct list_node *pos;
    list_for_each (pos, &user->files) {
        const struct mglru_file *file = container_of(pos, struct mglru_file, memcg_link);
        bytes += file->kernel_bytes;
    }
    if (!cache_pays_for_children(user->cache, memcg))
        return bytes;
    list_for_each (pos, &memcg->children)
        if (memcg_online(container_of(pos, struct memcg, sibling)))
            bytes += user->cache->model->memcg_bytes;
    return bytes;
}

static const char *verify_memcg(struct mglru_cache *cache, struct memcg *memcg,
                                const struct holdings *held)
{
    const struct mglru_memcg *user = memcg_user(memcg);
    if (held->dirty != (long)user->dirty_pages)
        return "dirty: count of a memcg's dirty pages";
    if (held->shadow_leaves != (long)user->shadow_leaf_count)
        return "nodes: count of a memcg's leaves with shadows alone";
    if (cache->kernel_charge == MGLRU_KERNEL_CHARGE_AUTO &&
        kernel_bytes(user, held) != user->kernel_bytes)
        return "nodes: bytes of kernel objects charged";
    if (user->kernel_bytes > (int64_t)user->kernel_pages * cache->page_bytes)
        return "charge: kernel objects exceed the pages charged for them";
    if (atomic_load_relaxed(&memcg->memory.underflows) ||
        atomic_load_relaxed(&memcg->swap.underflows))
        return "charge: more was taken back than charged";
    return NULL;
}

/* Laws 1, 2 and 6 of one memcg with its subtree. */
static const char *verify_subtree(struct mglru_cache *cache, struct memcg *memcg)
{
    long memory = 0, swap = 0;
    struct holdings sum = {0};
    for (struct memcg *below = memcg; below; below = memcg_next(memcg, below)) {
        const struct mglru_memcg *user = memcg_user(below);
        struct holdings held = holdings_of(cache, below);
        if (below == memcg) {
            const char *broken = verify_memcg(cache, memcg, &held);
            if (broken)
                return broken;
        }
        memory += held.folios + user->kernel_pages + user->table_pages + user->fixed_pages +
                  memcg_stock_pages(below);
        swap += held.swapped;
        sum.files += held.files;
        sum.anons += held.anons;
        sum.dirty += held.dirty;
    }
    bool root = memcg_is_root(memcg);
    if (!root && page_counter_read(&memcg->memory) != memory)
        return "charge: usage differs from what is resident";
    if (!root && page_counter_read(&memcg->swap) != swap)
        return "swap: usage differs from what is swapped";
    if (root && cache->machine.pages && cache->machine.used != sum.files + sum.anons)
        return "charge: pages of the machine differ from what is resident";
    if (root && (long)cache->swap_used != swap)
        return "swap: slots in use";
    if (memcg_stat_exact(memcg, MEMCG_ALL_NODES, MEMCG_NR_FILE) != sum.files ||
        memcg_stat_exact(memcg, MEMCG_ALL_NODES, MEMCG_NR_ANON) != sum.anons ||
        memcg_stat_exact(memcg, MEMCG_ALL_NODES, MEMCG_FILE_DIRTY) != sum.dirty)
        return "statistics: anon, file or file_dirty differs from what is there";
    return NULL;
}

/* --- leaves --------------------------------------------------------------------------------- */

static bool in_batch_once(const struct lru_batch *batch, const struct folio *folio)
{
    unsigned times = 0;
    for (unsigned i = 0; i < batch->adds; i++)
        times += batch->add[i] == folio;
    return times == 1;
}

/* Laws 3 and 5 for one slot with a folio. */
static const char *verify_slot(struct mglru_cache *cache, const struct index_leaf *leaf,
                               unsigned offset, const struct folio *folio)
{
    uint64_t page = leaf->chunk * INDEX_LEAF_PAGES + offset;
    uint64_t bit = UINT64_C(1) << offset;
    if (page - folio->index >= (uint64_t)folio_pages(folio))
        return "index: a slot holds a folio of other pages";
    if (folio->mapping != &container_of(leaf->owner, struct mglru_mapping, index)->base)
        return "index: a slot holds a folio of another mapping";
    if (folio_test(folio, FOLIO_LRU) == in_batch_once(&cache->reclaim.batch, folio))
        return "index: a folio is neither on a list nor once in the batch";
    if ((leaf->dirty & bit) && !folio_test(folio, FOLIO_DIRTY))
        return "dirty: a dirty page of a clean folio";
    if ((leaf->writeback & bit) && !folio_test(folio, FOLIO_WRITEBACK))
        return "dirty: a page is written, its folio is not";
    if (folio_test(folio, FOLIO_ANON) || folio->index != page)
        return NULL;
    uint64_t dirty = 0, writeback = 0;
    for (uint64_t i = 0; i < (uint64_t)folio_pages(folio); i++) {
        const struct index_leaf *other = index_leaf(leaf->owner, page + i);
        dirty |= other ? other->dirty >> ((page + i) % INDEX_LEAF_PAGES) & 1 : 0;
        writeback |= other ? other->writeback >> ((page + i) % INDEX_LEAF_PAGES) & 1 : 0;
    }
    if (folio_test(folio, FOLIO_DIRTY) != dirty || folio_test(folio, FOLIO_WRITEBACK) != writeback)
        return "dirty: a folio that no leaf will clean";
    return NULL;
}

static const char *verify_leaf(struct mglru_cache *cache, const struct index_leaf *leaf)
{
    unsigned folios = 0;
    uint64_t folio_bits = 0;
    for (uint64_t rest = leaf->occupied; rest; rest &= rest - 1) {
        unsigned offset = (unsigned)__builtin_ctzll(rest);
        uint64_t slot = *leaf_slot(leaf, offset);
        if (!slot)
            return "index: an occupied slot is empty";
        if (!slot_is_folio(slot))
            continue;
        const char *broken = verify_slot(cache, leaf, offset, slot_folio(slot));
        if (broken)
            return broken;
        folios++;
        folio_bits |= UINT64_C(1) << offset;
    }
    if (!leaf->occupied)
        return "index: an empty leaf";
    if ((leaf->dirty | leaf->writeback) & ~folio_bits)
        return "dirty: a page that is not there";
    if (!leaf->dirty != list_empty(&leaf->dirty_link) ||
        !leaf->writeback != list_empty(&leaf->writeback_link))
        return "dirty: a leaf's place on the flusher's lists";
    if ((!folios && leaf->charged) == list_empty(&leaf->shadow_link))
        return "index: a leaf's place on the list of shadows";
    return folios == leaf->folio_pages ? NULL : "index: count of folio slots of a leaf";
}

static const char *verify_indexes(struct mglru_cache *cache)
{
    struct list_node *pos;
    list_for_each (pos, &cache->mappings) {
        struct page_index *index = &container_of(pos, struct mglru_mapping, link)->index;
        uint64_t leaves = 0;
        for (uint64_t i = 0; i < index->table_size; i++) {
            const char *broken = index->table[i] ? verify_leaf(cache, index->table[i]) : NULL;
            if (broken)
                return broken;
            leaves += index->table[i] != NULL;
        }
        if (leaves != index->leaves)
            return "index: count of leaves";
    }
    return NULL;
}

/* --- page tables ---------------------------------------------------------------------------- */

/* Entries of one table that are not 0; UINT64_MAX: one of them points to a folio that is not the
 * page's. */
static uint64_t table_entries(const struct vma *vma, const struct page_table *table)
{
    struct mglru_mapping *mapping = container_of(vma->mapping, struct mglru_mapping, base);
    uint64_t entries = 0;
    for (unsigned i = 0; i < PTRS_PER_TABLE; i++) {
        uintptr_t folio = table->entries[i] & ~(uintptr_t)PTE_FLAGS;
        if (folio && index_get(&mapping->index, table->first + i) != folio)
            return UINT64_MAX;
        entries += folio != 0;
    }
    return entries;
}

/* Law 4. */
static const char *verify_tables(struct mglru_cache *cache)
{
    struct memcg *root = cache->tree->root;
    struct list_node *mm_pos, *vma_pos, *pos;
    uint64_t entries = 0, mapped = 0;
    for (struct memcg *memcg = root; memcg; memcg = memcg_next(root, memcg)) {
        mapped += (uint64_t)holdings_of(cache, memcg).mapped;
        list_for_each (mm_pos, &memcg_reclaim(memcg)->mm_list)
            list_for_each (vma_pos, &container_of(mm_pos, struct mm, mm_link)->vmas) {
                const struct vma *vma = container_of(vma_pos, struct vma, mm_link);
                list_for_each (pos, &vma->tables) {
                    uint64_t here = table_entries(vma, container_of(pos, struct page_table, link));
                    if (here == UINT64_MAX)
                        return "mapping: an entry points to a folio that is not the page's";
                    entries += here;
                }
            }
    }
    return entries == mapped ? NULL : "mapping: entries differ from what folios count";
}

const char *cache_verify(struct mglru_cache *cache)
{
    struct memcg *root = cache->tree->root;
    const char *broken = verify_indexes(cache);
    if (!broken)
        broken = verify_tables(cache);
    for (struct memcg *memcg = root; memcg && !broken; memcg = memcg_next(root, memcg))
        broken = verify_subtree(cache, memcg);
    return broken ? broken : verify_reclaim(&cache->reclaim);
}
