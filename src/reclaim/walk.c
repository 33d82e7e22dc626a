/* SPDX-License-Identifier: MIT */
/*
 * Reading accessed bits: the walk over address spaces that precedes a new generation, its Bloom
 * filters, and the look-around of the rmap walk at eviction.
 * Facts: mglru-facts 2.2, 2.3, 2.4. Linux mm/vmscan.c, mm/rmap.c.
 *
 * A Bloom filter remembers, for one generation, the page tables with enough young entries to be
 * worth a visit: walks add for the next generation, look-arounds for the current one.
 */
#include "reclaim/reclaim.h"

#include <string.h>

#include "base/check.h"

/* A table is dense when at least one entry of each 64-byte line of 8-byte entries is young. */
#define DENSE_FACTOR 8
/* One of this many back-to-back walks is interrupted by a context switch. Measured: the recordings
 * of 6.12 show the first at the 4th (mapped files) and the 5th or 6th (anonymous memory). */
#define WALK_INTERRUPTED 4

static void bloom_bits(uint64_t id, unsigned *a, unsigned *b)
{
    uint64_t hash = id * UINT64_C(0x61C8864680B583EB) >> 34; /* 30 bits */
    *a = (unsigned)(hash & (BLOOM_BITS - 1));
    *b = (unsigned)(hash >> 15);
}

static bool bloom_test(const struct mm_state *state, uint64_t seq, uint64_t id)
{
    const uint64_t *filter = state->filters[seq % 2];
    if (!filter || !state->filter_used[seq % 2])
        return true;
    unsigned a, b;
    bloom_bits(id, &a, &b);
    return (filter[a / 64] >> (a % 64) & 1) && (filter[b / 64] >> (b % 64) & 1);
}

static void bloom_update(struct mm_state *state, uint64_t seq, uint64_t id)
{
    uint64_t *filter = state->filters[seq % 2];
    if (!filter || !state->filter_used[seq % 2])
        return;
    unsigned a, b;
    bloom_bits(id, &a, &b);
    filter[a / 64] |= UINT64_C(1) << (a % 64);
    filter[b / 64] |= UINT64_C(1) << (b % 64);
}

static void bloom_reset(struct mm_state *state, uint64_t seq)
{
    if (!state->filters[seq % 2])
        return;
    memset(state->filters[seq % 2], 0, BLOOM_BITS / 8);
    state->filter_used[seq % 2] = true;
}

static bool dense(unsigned long total, unsigned long young)
{
    return young * DENSE_FACTOR >= total;
}

void mm_walk_flush(struct mm_walk *walk)
{
    struct lruvec *lruvec = walk->lruvec;
    if (!walk->batched)
        return;
    walk->batched = 0;
    for (unsigned gen = 0; gen < MAX_NR_GENS; gen++) {
        bool active =
            gen == gen_of(lruvec_max_seq(lruvec)) || gen == gen_of(lruvec_max_seq(lruvec) - 1);
        for (unsigned type = 0; type < LRU_TYPES; type++) {
            for (unsigned zone = 0; zone < MAX_NR_ZONES; zone++) {
                long delta = walk->nr_pages[gen][type][zone];
                if (!delta)
                    continue;
                walk->nr_pages[gen][type][zone] = 0;
                atomic_add_owner(&lruvec->nr_pages[gen][type][zone], delta);
                lruvec_account(lruvec, lru_list_of((enum lru_type)type, active), zone, delta);
            }
        }
    }
}

/* Promotes a folio found young by a walk; sizes go into the walk's batch. */
static void walk_promote(struct mm_walk *walk, struct folio *folio, uint64_t seq, bool exec)
{
    struct lruvec *lruvec = folio_lruvec(folio);
    const struct reclaim_model *model = lruvec->reclaim->model;
    if (!folio_has_seq(folio)) {
        if (!model->skips_isolated)
            folio_set(folio, FOLIO_REFERENCED);
        return;
    }
    uint64_t old = generation_seq(lruvec, folio);
    /* What a splice left uncleared must not count as an earlier sighting. */
    uint64_t seen = folio_flags(folio), flags;
    bool moved;
    do {
        flags = (seen & ~(uint64_t)FOLIO_STATE_MASK) | generation_state_of(lruvec, seen);
        flags = model->walk_flags(flags, seq, exec && folio_type(folio) == LRU_TYPE_FILE);
        moved = (flags & FOLIO_SEQ_MASK) != (seen & FOLIO_SEQ_MASK);
        if (!moved)
            flags = (flags & ~FOLIO_SEQ_MASK) | folio_seq_bits(old);
    } while (!folio_flags_replace(folio, &seen, flags));
    uint64_t now = moved ? seq : old;
    if (now == old)
        return;
    long pages = folio_pages(folio);
    unsigned zone = folio_zone(folio);
    walk->nr_pages[gen_of(old)][folio_type(folio)][zone] -= pages;
    walk->nr_pages[gen_of(now)][folio_type(folio)][zone] += pages;
    walk->batched++;
}

/* The folio of an entry if this lruvec's reclaim may look at it, else NULL. */
static struct folio *entry_folio(const struct lruvec *lruvec, uintptr_t entry, bool can_swap)
{
    struct folio *folio = (struct folio *)(entry & ~(uintptr_t)PTE_FLAGS);
    if (!folio || folio_lruvec(folio) != lruvec)
        return NULL;
    if (folio_type(folio) == LRU_TYPE_ANON && !can_swap)
        return NULL;
    if (lruvec->reclaim->model->skips_isolated && !folio_has_seq(folio))
        return NULL;
    return folio;
}

static void entry_dirty(struct folio *folio, uintptr_t entry)
{
    bool private_anon = folio_test(folio, FOLIO_ANON) && folio_test(folio, FOLIO_SWAPBACKED) &&
                        !folio_test(folio, FOLIO_SWAPCACHE);
    if ((entry & PTE_DIRTY) && !private_anon)
        folio_set(folio, FOLIO_DIRTY);
}

/* Scans one page table; true: it is dense. */
static bool walk_table(struct mm_walk *walk, struct vma *vma, struct page_table *table)
{
    struct lruvec *lruvec = walk->lruvec;
    uint64_t limit = vma->end - table->first;
    unsigned total = limit < PTRS_PER_TABLE ? (unsigned)limit : PTRS_PER_TABLE;
    unsigned young = 0;
    const struct folio *last = NULL; /* a run of entries of one folio counts as one sighting */
    for (unsigned i = 0; i < total; i++) {
        uintptr_t entry = table->entries[i];
        if (!(entry & PTE_YOUNG))
            continue;
        struct folio *folio = entry_folio(lruvec, entry, walk->swappiness > 0);
        if (!folio)
            continue;
        table->entries[i] &= ~(uintptr_t)PTE_YOUNG;
        young++;
        entry_dirty(folio, entry);
        if (folio != last)
            walk_promote(walk, folio, walk->seq, vma->exec);
        last = folio;
    }
    walk->stats[0] += total;
    walk->stats[1] += young;
    return dense(total, young);
}

static bool skip_vma(const struct vma *vma, int swappiness)
{
    if (vma->no_recency || vma->locked || vma->mapping->unevictable)
        return true;
    return !type_evictable(vma->mapping->anon ? LRU_TYPE_ANON : LRU_TYPE_FILE, swappiness);
}

static void walk_vma(struct mm_walk *walk, struct vma *vma)
{
    struct reclaim *reclaim = walk->lruvec->reclaim;
    struct mm_state *state = &walk->lruvec->mm_state;
    struct list_node *pos;
    list_for_each (pos, &vma->tables) {
        struct page_table *table = container_of(pos, struct page_table, link);
        if (reclaim->nonleaf && !walk->force_scan) {
            if (!table->young)
                continue;
            table->young = false;
        }
        if (!walk->force_scan && !bloom_test(state, walk->seq, table->id))
            continue;
        walk->stats[2]++;
        if (!walk_table(walk, vma, table))
            continue;
        walk->stats[3]++;
        bloom_update(state, walk->seq + 1, table->id);
    }
}

static void walk_mm(struct mm_walk *walk, struct mm *mm)
{
    struct list_node *pos;
    list_for_each (pos, &mm->vmas) {
        struct vma *vma = container_of(pos, struct vma, mm_link);
        if (!skip_vma(vma, walk->swappiness))
            walk_vma(walk, vma);
    }
    mm_walk_flush(walk);
}

/* Of two walks in a row, with nothing in between, the second finds that the process has not run,
 * unless a timer or another task came in while the first one took its time. */
static bool mm_ran(struct mm *mm)
{
    if (mm->ran)
        return true;
    if (++mm->skips < WALK_INTERRUPTED)
        return false;
    mm->skips = 0;
    return true;
}

/* Advances the shared iteration; NULL with *@last set: the iteration is complete. */
static struct mm *next_mm(struct mm_walk *walk, bool *last)
{
    struct mm_state *state = &walk->lruvec->mm_state;
    struct list_node *fifo = &memcg_reclaim(walk->lruvec->memcg)->mm_list;
    bool first = false;
    struct mm *mm = NULL;

    *last = false;
    if (walk->seq <= state->seq)
        return NULL;
    if (!state->head)
        state->head = fifo;
    if (state->head == fifo)
        first = true;
    while (!mm) {
        state->head = state->head->next;
        if (state->head == fifo) {
            state->seq++;
            *last = true;
            return NULL;
        }
        /* Address spaces that came after the last iteration are scanned in full. */
        if (!state->tail || state->tail == state->head) {
            state->tail = state->head->next;
            walk->force_scan = true;
        }
        struct mm *candidate = container_of(state->head, struct mm, mm_link);
        if (walk->force_scan || mm_ran(candidate)) {
            candidate->ran = false;
            mm = candidate;
        }
    }
    if (first)
        bloom_reset(state, walk->seq + 1);
    return mm;
}

bool mm_walk_all(struct lruvec *lruvec, struct mm_walk *walk)
{
    bool last;
    struct mm *mm;
    while ((mm = next_mm(walk, &last)))
        walk_mm(walk, mm);
    memcpy(lruvec->mm_state.stats, walk->stats, sizeof(walk->stats));
    return last;
}

bool mm_walk_none(struct lruvec *lruvec, uint64_t seq)
{
    struct mm_state *state = &lruvec->mm_state;
    if (seq <= state->seq)
        return false;
    state->head = NULL;
    state->tail = NULL;
    state->seq++;
    return true;
}

/* The window of at most 64 entries of one table around @index, inside the mapping (2.4). */
static void window(const struct vma *vma, const struct page_table *table, uint64_t index,
                   unsigned *start, unsigned *end)
{
    uint64_t limit = vma->end - table->first;
    unsigned first = 0;
    unsigned last = limit < PTRS_PER_TABLE ? (unsigned)limit : PTRS_PER_TABLE;
    unsigned at = (unsigned)(index - table->first);
    if (last - first > MIN_LRU_BATCH) {
        if (at - first < MIN_LRU_BATCH / 2) {
            last = first + MIN_LRU_BATCH;
        } else if (last - at < MIN_LRU_BATCH / 2) {
            first = last - MIN_LRU_BATCH;
        } else {
            first = at - MIN_LRU_BATCH / 2;
            last = at + MIN_LRU_BATCH / 2;
        }
    }
    *start = first;
    *end = last;
}

static void look_at(struct scan_control *sc, struct folio *folio, bool exec)
{
    struct lruvec *lruvec = folio_lruvec(folio);
    if (sc->walk.lruvec) {
        walk_promote(&sc->walk, folio, lruvec_max_seq(lruvec), exec);
        return;
    }
    bool file_exec = exec && folio_type(folio) == LRU_TYPE_FILE;
    /* What a splice left uncleared must not count as an earlier sighting. */
    if (lruvec->reclaim->model->absolute_seq && folio_has_seq(folio))
        generation_catch_up(lruvec, folio);
    if (!lruvec->reclaim->model->rmap_refs(folio, file_exec))
        return;
    if (folio_has_seq(folio) && generation_seq(lruvec, folio) != lruvec_max_seq(lruvec))
        lru_batch_activate(lruvec->reclaim, folio);
}

/* Entries of @folio in one table from its page @at on, one at most for models that do not handle
 * runs; 0: that page is not mapped. Their accessed bits are cleared, *@seen: some were set. */
static unsigned take_target(const struct vma *vma, const struct folio *folio, long at, bool *seen)
{
    uint64_t index = folio->index + (uint64_t)at;
    uintptr_t *entry = vma_entry(vma, index, NULL);
    unsigned limit = PTRS_PER_TABLE - (unsigned)(index % PTRS_PER_TABLE), count = 0;
    if (limit > folio_pages(folio) - at)
        limit = (unsigned)(folio_pages(folio) - at);
    if (!folio_lruvec(folio)->reclaim->model->takes_entry_runs)
        limit = 1;
    *seen = false;
    while (entry && count < limit && (entry[count] & ~(uintptr_t)PTE_FLAGS) == (uintptr_t)folio) {
        *seen |= (entry[count] & PTE_YOUNG) != 0;
        entry[count++] &= ~(uintptr_t)PTE_YOUNG;
    }
    return count;
}

/* Looks around the @young entries of @folio from page @index on, which the caller has judged. */
static void look_around(struct scan_control *sc, struct folio *folio, struct vma *vma,
                        uint64_t index, unsigned young)
{
    struct lruvec *lruvec = folio_lruvec(folio);
    struct page_table *table;
    unsigned start, end;
    vma_entry(vma, index, &table);
    window(vma, table, index, &start, &end);
    if (end - start == 1)
        return;
    bool can_swap = folio_type(folio) == LRU_TYPE_ANON;
    const struct folio *last = NULL;
    for (unsigned i = start; i < end; i++) {
        uintptr_t value = table->entries[i];
        if (!(value & PTE_YOUNG))
            continue;
        struct folio *near = entry_folio(lruvec, value, can_swap);
        if (!near)
            continue;
        table->entries[i] &= ~(uintptr_t)PTE_YOUNG;
        young++;
        entry_dirty(near, value);
        if (near != last)
            look_at(sc, near, vma->exec);
        last = near;
    }
    if (dense(end - start, young))
        bloom_update(&lruvec->mm_state, lruvec_max_seq(lruvec), table->id);
}

int mm_referenced(struct scan_control *sc, struct folio *folio, bool *exec)
{
    struct reclaim *reclaim = sc->reclaim;
    bool around =
        reclaim_enabled(reclaim) && !(reclaim->switching && reclaim->model->switch_runs_both);
    int referenced = 0;
    struct list_node *pos;

    *exec = false;
    list_for_each (pos, &folio->mapping->vmas) {
        struct vma *vma = container_of(pos, struct vma, mapping_link);
        if (vma->no_recency || (sc->target && !memcg_is_descendant(vma->mm->memcg, sc->target)))
            continue;
        bool seen = false;
        for (long i = 0; i < folio_pages(folio);) {
            bool young;
            unsigned entries = take_target(vma, folio, i, &young);
            if (young && around)
                look_around(sc, folio, vma, folio->index + (uint64_t)i, entries);
            seen |= young;
            i += entries ? entries : 1;
        }
        if (seen) {
            referenced++;
            *exec |= vma->exec;
        }
    }
    return referenced;
}
