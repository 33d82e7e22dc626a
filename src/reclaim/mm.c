/* SPDX-License-Identifier: MIT */
/*
 * Software page tables and the rmap over them. Walks by aging are in walk.c.
 * Facts: mglru-facts 2.3, 2.4. Linux mm/rmap.c (folio_referenced), mm/memory.c.
 */
#include "reclaim/reclaim.h"

#include <stdlib.h>
#include <string.h>

#include <mglru/error.h>

#include "base/check.h"

static int filters_create(struct memcg *memcg)
{
    for (unsigned node = 0; node < RECLAIM_MAX_NODES; node++) {
        struct lruvec *lruvec = memcg_lruvec(memcg, node);
        if (!lruvec)
            continue;
        for (unsigned i = 0; i < 2; i++) {
            if (!lruvec->mm_state.filters[i])
                lruvec->mm_state.filters[i] = calloc(BLOOM_BITS / 64, sizeof(uint64_t));
            if (!lruvec->mm_state.filters[i])
                return MGLRU_ENOMEM;
        }
    }
    return 0;
}

void mm_state_free(struct mm_state *state)
{
    free(state->filters[0]);
    free(state->filters[1]);
    state->filters[0] = state->filters[1] = NULL;
}

struct mm *mm_create(struct memcg *memcg)
{
    /* Filters are made here, since reclaim itself never allocates. */
    if (filters_create(memcg))
        return NULL;
    struct mm *mm = calloc(1, sizeof(*mm));
    if (!mm)
        return NULL;
    mm->memcg = memcg;
    mm->ran = true;
    list_init(&mm->vmas);
    list_add_tail(&memcg_reclaim(memcg)->mm_list, &mm->mm_link);
    return mm;
}

/* Cursors of iterations that stand on an mm that goes move on (facts 2.2). */
static void cursors_leave(struct mm *mm)
{
    struct memcg_reclaim *own = memcg_reclaim(mm->memcg);
    for (unsigned node = 0; node < RECLAIM_MAX_NODES; node++) {
        if (!own->lruvecs[node])
            continue;
        struct mm_state *state = &own->lruvecs[node]->mm_state;
        if (state->head == &mm->mm_link)
            state->head = mm->mm_link.prev;
        if (state->tail == &mm->mm_link)
            state->tail = mm->mm_link.next;
    }
}

void mm_destroy(struct mm *mm)
{
    cursors_leave(mm);
    struct list_node *pos, *tmp;
    list_for_each_safe (pos, tmp, &mm->vmas)
        vma_destroy(container_of(pos, struct vma, mm_link));
    list_del(&mm->mm_link);
    free(mm);
}

void mm_note_run(struct memcg *memcg)
{
    struct list_node *pos;
    list_for_each (pos, &memcg_reclaim(memcg)->mm_list) {
        container_of(pos, struct mm, mm_link)->ran = true;
    }
}

struct vma *vma_create(struct mm *mm, struct page_mapping *mapping, bool exec)
{
    struct vma *vma = calloc(1, sizeof(*vma));
    if (!vma)
        return NULL;
    vma->mm = mm;
    vma->mapping = mapping;
    vma->exec = exec;
    list_init(&vma->tables);
    list_add_tail(&mm->vmas, &vma->mm_link);
    list_add_tail(&mapping->vmas, &vma->mapping_link);
    return vma;
}

void vma_destroy(struct vma *vma)
{
    struct list_node *pos, *tmp;
    list_for_each_safe (pos, tmp, &vma->tables) {
        struct page_table *table = container_of(pos, struct page_table, link);
        for (unsigned i = 0; i < PTRS_PER_TABLE; i++) {
            struct folio *folio = (struct folio *)(table->entries[i] & ~(uintptr_t)PTE_FLAGS);
            if (folio && --folio->map_count == 0 && folio_type(folio) == LRU_TYPE_FILE)
                lruvec_stat(folio_lruvec(folio), MEMCG_FILE_MAPPED, -folio_pages(folio));
        }
        free(table);
    }
    free(vma->index);
    list_del(&vma->mm_link);
    list_del(&vma->mapping_link);
    free(vma);
}

static uint64_t index_slot(const struct vma *vma, uint64_t number)
{
    return (number * UINT64_C(0x9E3779B97F4A7C15) >> 20) & (vma->index_size - 1);
}

static struct page_table *table_find(const struct vma *vma, uint64_t page)
{
    if (!vma->index_size)
        return NULL;
    uint64_t number = page / PTRS_PER_TABLE;
    for (uint64_t slot = index_slot(vma, number);; slot = (slot + 1) & (vma->index_size - 1)) {
        struct page_table *table = vma->index[slot];
        if (!table || table->first == number * PTRS_PER_TABLE)
            return table;
    }
}

static void index_insert(struct vma *vma, struct page_table *table)
{
    uint64_t slot = index_slot(vma, table->first / PTRS_PER_TABLE);
    while (vma->index[slot])
        slot = (slot + 1) & (vma->index_size - 1);
    vma->index[slot] = table;
}

/* Keeps the hash of tables at most half full. */
static int index_reserve(struct vma *vma, uint64_t tables)
{
    if (tables * 2 <= vma->index_size)
        return 0;
    uint64_t size = vma->index_size ? vma->index_size * 2 : 8;
    struct page_table **index = calloc(size, sizeof(*index));
    if (!index)
        return MGLRU_ENOMEM;
    free(vma->index);
    vma->index = index;
    vma->index_size = size;
    struct list_node *pos;
    list_for_each (pos, &vma->tables)
        index_insert(vma, container_of(pos, struct page_table, link));
    return 0;
}

int vma_reserve(struct vma *vma, uint64_t page)
{
    if (table_find(vma, page))
        return 0;
    if (index_reserve(vma, vma->tables_count + 1))
        return MGLRU_ENOMEM;
    struct page_table *table = calloc(1, sizeof(*table));
    if (!table)
        return MGLRU_ENOMEM;
    table->first = page / PTRS_PER_TABLE * PTRS_PER_TABLE;
    struct lruvec *lruvec = memcg_lruvec(vma->mm->memcg, 0);
    table->id = ++lruvec->reclaim->next_table_id;
    list_add_tail(&vma->tables, &table->link);
    index_insert(vma, table);
    vma->tables_count++;
    return 0;
}

uintptr_t *vma_entry(const struct vma *vma, uint64_t index, struct page_table **table)
{
    struct page_table *found = table_find(vma, index);
    if (table)
        *table = found;
    return found ? &found->entries[index - found->first] : NULL;
}

void vma_map(struct vma *vma, uint64_t index, struct folio *folio, bool write)
{
    struct page_table *table;
    uintptr_t *entry = vma_entry(vma, index, &table);
    MGLRU_ASSERT(entry && !*entry);
    *entry = (uintptr_t)folio | PTE_YOUNG | (write ? PTE_DIRTY : 0);
    table->young = true;
    if (folio->map_count++ == 0 && folio_type(folio) == LRU_TYPE_FILE)
        lruvec_stat(folio_lruvec(folio), MEMCG_FILE_MAPPED, folio_pages(folio));
    if (index >= vma->end)
        vma->end = index + 1;
}

bool vma_touch(struct vma *vma, uint64_t index, bool write)
{
    struct page_table *table;
    uintptr_t *entry = vma_entry(vma, index, &table);
    if (!entry || !*entry)
        return false;
    uintptr_t want = PTE_YOUNG | (write ? PTE_DIRTY : 0);
    if ((*entry & want) != want)
        *entry |= want;
    if (!table->young)
        table->young = true;
    return true;
}

void mm_unmap_folio(struct folio *folio)
{
    struct list_node *pos;
    list_for_each (pos, &folio->mapping->vmas) {
        struct vma *vma = container_of(pos, struct vma, mapping_link);
        for (long i = 0; i < folio_pages(folio) && folio->map_count; i++) {
            uintptr_t *entry = vma_entry(vma, folio->index + (uint64_t)i, NULL);
            if (!entry || (*entry & ~(uintptr_t)PTE_FLAGS) != (uintptr_t)folio)
                continue;
            if (*entry & PTE_DIRTY)
                folio_set(folio, FOLIO_DIRTY);
            *entry = 0;
            folio->map_count--;
        }
    }
    MGLRU_ASSERT(folio->map_count == 0);
    if (folio_type(folio) == LRU_TYPE_FILE)
        lruvec_stat(folio_lruvec(folio), MEMCG_FILE_MAPPED, -folio_pages(folio));
}

void mm_split_folio(struct folio *const parts[], long count)
{
    struct folio *folio = parts[0];
    long mapped = 0;
    struct list_node *pos;
    list_for_each (pos, &folio->mapping->vmas) {
        struct vma *vma = container_of(pos, struct vma, mapping_link);
        for (long i = 0; i < count; i++) {
            uintptr_t *entry = vma_entry(vma, folio->index + (uint64_t)i, NULL);
            if (!entry || (*entry & ~(uintptr_t)PTE_FLAGS) != (uintptr_t)folio)
                continue;
            *entry = (uintptr_t)parts[i] | (*entry & PTE_FLAGS);
            mapped += parts[i]->map_count++ == 0;
        }
    }
    if (folio_type(folio) == LRU_TYPE_FILE)
        lruvec_stat(folio_lruvec(folio), MEMCG_FILE_MAPPED, mapped - count);
}

void mm_discard_all(struct memcg *memcg)
{
    struct list_node *mm_pos, *mm_tmp, *pos, *tmp, *table_pos, *table_tmp;
    list_for_each_safe (mm_pos, mm_tmp, &memcg_reclaim(memcg)->mm_list) {
        struct mm *mm = container_of(mm_pos, struct mm, mm_link);
        list_for_each_safe (pos, tmp, &mm->vmas) {
            struct vma *vma = container_of(pos, struct vma, mm_link);
            list_for_each_safe (table_pos, table_tmp, &vma->tables)
                free(container_of(table_pos, struct page_table, link));
            free(vma->index);
            free(vma);
        }
        free(mm);
    }
    list_init(&memcg_reclaim(memcg)->mm_list);
}

uint64_t mm_bytes(const struct reclaim *reclaim)
{
    uint64_t bytes = 0;
    struct memcg *root = reclaim->tree->root;
    struct list_node *mm_pos, *pos;
    struct memcg *memcg = NULL;
    while ((memcg = memcg_iter_next(root, memcg, NULL)))
        list_for_each (mm_pos, &memcg_reclaim(memcg)->mm_list)
            list_for_each (pos, &container_of(mm_pos, struct mm, mm_link)->vmas) {
                const struct vma *vma = container_of(pos, struct vma, mm_link);
                bytes += vma->tables_count * sizeof(struct page_table) +
                         vma->index_size * sizeof(*vma->index) + sizeof(*vma);
            }
    return bytes;
}
