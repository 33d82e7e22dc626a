/* SPDX-License-Identifier: MIT */
/*
 * Software page tables, walks and look-arounds (src/reclaim/mm.c, walk.c): the iteration over
 * address spaces and the Bloom filters of mglru-facts 2.2, the walk of 2.3, the window of 2.4.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "memcg/charge.h"
#include "reclaim_fixture.h"

/* --- page tables ---------------------------------------------------------------------------- */

static void entries_come_and_go(void **state)
{
    struct fixture *f = fixture_new(&model_73);
    struct vma *vma = fixture_vma(f, &f->file, false);
    struct folio *folio = fixture_listed(f, &f->file, 0, 0);
    assert_false(vma_touch(vma, folio->index, false));
    assert_int_equal(vma_reserve(vma, folio->index), 0); /* a new table */
    vma_map(vma, folio->index, folio, true);
    assert_int_equal(fixture_stat(f, MEMCG_FILE_MAPPED), 1);
    struct folio *second = fixture_listed(f, &f->file, 0, 0);
    assert_int_equal(vma_reserve(vma, second->index), 0); /* the same one */
    vma_map(vma, second->index, second, false);
    assert_int_equal(vma->tables_count, 1);
    fixture_age_entries(vma, second);
    assert_true(vma_touch(vma, second->index, false));
    assert_true(fixture_young(vma, second->index));
    mm_unmap_folio(folio);
    assert_true(folio_test(folio, FOLIO_DIRTY)); /* the entry's dirty bit */
    mm_unmap_folio(second);
    assert_false(folio_test(second, FOLIO_DIRTY));
    assert_int_equal(fixture_stat(f, MEMCG_FILE_MAPPED), 0);
    assert_false(vma_touch(vma, second->index, false));

    /* Many tables: the hash of tables grows. */
    for (unsigned i = 0; i < 100; i++) {
        f->next_index = (i + 1) * 10 * PTRS_PER_TABLE;
        fixture_map(vma, fixture_listed(f, &f->file, 0, 0));
    }
    for (unsigned i = 0; i < 100; i++)
        assert_true(fixture_young(vma, (i + 1) * 10 * PTRS_PER_TABLE));
    assert_null(vma_entry(vma, 5 * PTRS_PER_TABLE, NULL));
    assert_int_equal(vma->tables_count, 101);
    assert_true(mm_bytes(&f->reclaim) > 101 * PTRS_PER_TABLE * sizeof(uintptr_t));
    mm_destroy(vma->mm);
    assert_int_equal(fixture_stat(f, MEMCG_FILE_MAPPED), 0);
    fixture_free(f);
}

/* --- 2.2: iteration ------------------------------------------------------------------------- */

static void one_iteration_a_generation(void **state)
{
    struct fixture *f = fixture_new(&model_73);
    struct mm_walk walk;
    struct mm_state *mm_state = &f->lruvec->mm_state;
    assert_int_equal(mm_state->seq, 2);
    assert_true(fixture_walk(f, false, &walk)); /* no process: complete at once */
    assert_int_equal(mm_state->seq, 3);
    assert_false(fixture_walk(f, false, &walk)); /* this generation has been */
    mm_state->seq = 2;
    assert_true(mm_walk_none(f->lruvec, 3));
    assert_false(mm_walk_none(f->lruvec, 3));
    assert_null(mm_state->head);
    fixture_free(f);
}

/* A process that came after the last iteration is scanned in full; later ones by their bits. */
static void new_processes_are_scanned_in_full(void **state)
{
    struct fixture *f = fixture_new(&model_73);
    struct mm_walk walk;
    struct vma *vma = fixture_vma(f, &f->file, false);
    struct page_table *table;
    struct folio *folio = fixture_listed(f, &f->file, 0, 0);
    fixture_map(vma, folio);
    vma_entry(vma, folio->index, &table);
    table->young = false;
    assert_true(fixture_walk(f, false, &walk));
    assert_true(walk.force_scan);
    assert_false(fixture_young(vma, folio->index));

    f->lruvec->mm_state.seq--;
    vma_touch(vma, folio->index, false);
    vma->mm->ran = true;
    assert_true(fixture_walk(f, false, &walk));
    assert_false(walk.force_scan);
    assert_false(fixture_young(vma, folio->index));
    assert_false(table->young);
    fixture_free(f);
}

/* Nobody ran since the last walk: it is skipped, three times of four. */
static void idle_processes_are_skipped(void **state)
{
    struct fixture *f = fixture_new(&model_612);
    struct mm_walk walk;
    struct vma *vma = fixture_vma(f, &f->file, false);
    struct folio *folio = fixture_listed(f, &f->file, 0, 0);
    fixture_map(vma, folio);
    assert_true(fixture_walk(f, false, &walk));
    for (unsigned i = 1; i <= 4; i++) {
        f->lruvec->mm_state.seq--;
        vma_touch(vma, folio->index, false);
        assert_true(fixture_walk(f, false, &walk));
        assert_int_equal(fixture_young(vma, folio->index), i < 4);
    }
    mm_note_run(f->memcg);
    assert_true(vma->mm->ran);
    fixture_free(f);
}

static void cursors_leave_processes_that_end(void **state)
{
    struct fixture *f = fixture_new(&model_73);
    struct mm_walk walk;
    struct mm *first = mm_create(f->memcg);
    struct mm *second = mm_create(f->memcg);
    assert_non_null(first);
    assert_non_null(second);
    struct mm_state *mm_state = &f->lruvec->mm_state;
    assert_true(fixture_walk(f, false, &walk));
    mm_state->head = &first->mm_link;
    mm_state->tail = &first->mm_link;
    mm_destroy(first);
    assert_ptr_equal(mm_state->tail, &second->mm_link);
    assert_ptr_equal(mm_state->head, &memcg_reclaim(f->memcg)->mm_list);
    f->lruvec->mm_state.seq--;
    assert_true(fixture_walk(f, false, &walk));
    fixture_free(f);
}

/* --- 2.2, 2.3: filters ---------------------------------------------------------------------- */

/* Maps 512 files into one table; @young of them stay young. */
static struct page_table *fill_table(struct fixture *f, struct vma *vma, unsigned young)
{
    struct page_table *table = NULL;
    f->next_index = (f->next_index + PTRS_PER_TABLE - 1) / PTRS_PER_TABLE * PTRS_PER_TABLE;
    for (unsigned i = 0; i < PTRS_PER_TABLE; i++) {
        struct folio *folio = fixture_listed(f, &f->file, 0, 0);
        fixture_map(vma, folio);
        vma_entry(vma, folio->index, &table);
        if (i >= young)
            fixture_age_entries(vma, folio);
    }
    return table;
}

static void walk_again(struct fixture *f, struct vma *vma, struct mm_walk *walk)
{
    f->lruvec->max_seq++;
    for (unsigned type = 0; type < LRU_TYPES; type++)
        f->lruvec->min_seq[type]++;
    vma->mm->ran = true;
    assert_true(fixture_walk(f, false, walk));
}

/* Dense is 64 of 512: such a table is looked at in the next walk, others are not. */
static void dense_tables_are_remembered(void **state)
{
    for (unsigned m = 0; m < FIXTURE_MODELS; m++) {
        struct fixture *f = fixture_new(fixture_models[m]);
        struct mm_walk walk;
        struct vma *vma = fixture_vma(f, &f->file, false);
        struct page_table *dense = fill_table(f, vma, 64);
        struct page_table *sparse = fill_table(f, vma, 63);
        assert_true(fixture_walk(f, false, &walk));
        assert_int_equal(walk.stats[0], 2 * PTRS_PER_TABLE);
        assert_int_equal(walk.stats[1], 127);
        assert_int_equal(walk.stats[2], 2);
        assert_int_equal(walk.stats[3], 1);
        assert_int_equal(f->lruvec->mm_state.stats[3], 1);
        for (unsigned i = 0; i < 64; i++) {
            vma_touch(vma, dense->first + i, false);
            vma_touch(vma, sparse->first + i, false);
        }
        walk_again(f, vma, &walk);
        assert_int_equal(walk.stats[2], 1);
        assert_false(fixture_young(vma, dense->first));
        assert_true(fixture_young(vma, sparse->first));
        fixture_free(f);
    }
}

static void non_leaf_bits_can_be_ignored(void **state)
{
    struct fixture *f = fixture_new(&model_73);
    struct mm_walk walk;
    struct vma *vma = fixture_vma(f, &f->file, false);
    struct page_table *table = fill_table(f, vma, 64);
    assert_true(fixture_walk(f, false, &walk));
    walk_again(f, vma, &walk);
    vma_touch(vma, table->first, false);
    walk_again(f, vma, &walk); /* not dense any more, and not in the filter */
    assert_int_equal(walk.stats[2], 0);
    f->lruvec->mm_state.filter_used[f->lruvec->max_seq % 2 ^ 1] = false;
    table->young = false;
    walk_again(f, vma, &walk); /* no filter says yes, the bit says no */
    assert_int_equal(walk.stats[2], 0);
    f->reclaim.nonleaf = false;
    f->lruvec->mm_state.filter_used[f->lruvec->max_seq % 2 ^ 1] = false;
    walk_again(f, vma, &walk);
    assert_int_equal(walk.stats[2], 1);
    fixture_free(f);
}

/* --- 2.3: which mappings, which pages ------------------------------------------------------- */

static void some_mappings_are_skipped(void **state)
{
    struct fixture *f = fixture_new(&model_73);
    struct mm_walk walk;
    struct vma *vma = fixture_vma(f, &f->anon, false);
    struct folio *folio = fixture_listed(f, &f->anon, 0, 0);
    fixture_map(vma, folio);
    for (unsigned i = 0; i < 4; i++) {
        vma->no_recency = i == 0;
        vma->locked = i == 1;
        f->anon.unevictable = i == 2;
        assert_true(fixture_walk(f, true, &walk));
        assert_int_equal(walk.stats[2], i == 3);
        f->lruvec->mm_state.seq--;
    }
    vma_touch(vma, folio->index, false);
    walk = (struct mm_walk){.lruvec = f->lruvec, .seq = f->lruvec->max_seq, .force_scan = true};
    assert_true(mm_walk_all(f->lruvec, &walk)); /* swappiness 0: no anonymous memory */
    assert_int_equal(walk.stats[2], 0);
    fixture_free(f);
}

/* A store through an entry makes the folio dirty once a walk sees it, but private memory. */
static void walk_collects_dirty_bits(void **state)
{
    struct fixture *f = fixture_new(&model_73);
    struct mm_walk walk;
    struct vma *files = fixture_vma(f, &f->file, false);
    struct vma *heap = fixture_vma(f, &f->anon, false);
    struct folio *file = fixture_listed(f, &f->file, 0, FIXTURE_STATE(1, 0, 0));
    struct folio *anon = fixture_listed(f, &f->anon, 0, 0);
    fixture_map(files, file);
    fixture_map(heap, anon);
    vma_touch(files, file->index, true);
    vma_touch(heap, anon->index, true);
    assert_true(fixture_walk(f, true, &walk));
    assert_true(folio_test(file, FOLIO_DIRTY));
    assert_false(folio_test(anon, FOLIO_DIRTY));
    assert_int_equal(generation_seq(f->lruvec, file), 3); /* second sighting */
    assert_int_equal(generation_seq(f->lruvec, anon), 0); /* first */
    fixture_verify(f);
    /* What the walk moved stands on the old list until somebody sorts it. */
    assert_ptr_equal(f->lruvec->folios[0][LRU_TYPE_FILE][FIXTURE_ZONE].next, &file->lru);
    fixture_free(f);
}

/* --- 2.4: look-around ----------------------------------------------------------------------- */

/* The window is 64 entries of one table, centred on the target, inside the mapping. */
static void window_is_64_entries(void **state)
{
    static const struct {
        unsigned target, first, last;
    } rows[] = {{0, 0, 63},      {31, 0, 63},     {32, 0, 63},     {33, 1, 64},
                {200, 168, 231}, {479, 447, 510}, {480, 448, 511}, {511, 448, 511}};
    for (size_t i = 0; i < MGLRU_ARRAY_LEN(rows); i++) {
        struct fixture *f = fixture_new(&model_73);
        struct scan_control sc = fixture_control(f, 0);
        bool exec;
        struct vma *vma = fixture_vma(f, &f->file, true);
        struct page_table *table = fill_table(f, vma, PTRS_PER_TABLE);
        struct folio *target =
            (struct folio *)(table->entries[rows[i].target] & ~(uintptr_t)PTE_FLAGS);
        lruvec_del(target, true);
        assert_int_equal(mm_referenced(&sc, target, &exec), 1);
        assert_true(exec);
        for (unsigned j = 0; j < PTRS_PER_TABLE; j++)
            assert_int_equal(fixture_young(vma, table->first + j),
                             j < rows[i].first || j > rows[i].last);
        assert_int_equal(mm_referenced(&sc, target, &exec), 0);
        fixture_verify(f);
        fixture_free(f);
    }
}

/* With a walk object promotions are batched, without they queue for activation. */
static void look_around_promotes_neighbours(void **state)
{
    for (unsigned with_walk = 0; with_walk < 2; with_walk++) {
        struct fixture *f = fixture_new(&model_73);
        struct scan_control sc = fixture_control(f, 0);
        bool exec;
        struct vma *vma = fixture_vma(f, &f->file, false);
        struct folio *target = fixture_folio(f, &f->file);
        struct folio *near = fixture_listed(f, &f->file, 0, FIXTURE_STATE(1, 0, 1));
        fixture_map(vma, target);
        fixture_map(vma, near);
        if (with_walk)
            sc.walk = (struct mm_walk){.lruvec = f->lruvec, .seq = 3};
        assert_int_equal(mm_referenced(&sc, target, &exec), 1);
        if (with_walk) {
            assert_int_equal(sc.walk.batched, 1);
            mm_walk_flush(&sc.walk);
            mm_walk_flush(&sc.walk); /* nothing left */
            assert_int_equal(generation_seq(f->lruvec, near), 3);
        } else {
            assert_true(folio_test(near, FOLIO_QUEUED));
            lru_batch_drain(&f->reclaim);
            assert_int_equal(generation_seq(f->lruvec, near), 3); /* W: the youngest */
        }
        fixture_verify(f);
        fixture_free(f);
    }
}

/* Only the processes of the memcg at its limit count; a mapping without recency does not. */
static void references_from_elsewhere_do_not_count(void **state)
{
    struct fixture *f = fixture_new(&model_73);
    struct scan_control sc = fixture_control(f, 0);
    bool exec;
    struct mm *other = mm_create(fixture_memcg(f, "/other"));
    assert_non_null(other);
    struct vma *foreign = vma_create(other, &f->file, false);
    struct folio *folio = fixture_folio(f, &f->file);
    fixture_map(foreign, folio);
    assert_int_equal(mm_referenced(&sc, folio, &exec), 0);
    sc.target = NULL;
    foreign->no_recency = true;
    assert_int_equal(mm_referenced(&sc, folio, &exec), 0);
    foreign->no_recency = false;
    f->reclaim.enabled = false; /* classic: bits are cleared, nothing around is looked at */
    assert_int_equal(mm_referenced(&sc, folio, &exec), 1);
    assert_false(fixture_young(foreign, folio->index));
    fixture_free(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(entries_come_and_go),
        cmocka_unit_test(one_iteration_a_generation),
        cmocka_unit_test(new_processes_are_scanned_in_full),
        cmocka_unit_test(idle_processes_are_skipped),
        cmocka_unit_test(cursors_leave_processes_that_end),
        cmocka_unit_test(dense_tables_are_remembered),
        cmocka_unit_test(non_leaf_bits_can_be_ignored),
        cmocka_unit_test(some_mappings_are_skipped),
        cmocka_unit_test(walk_collects_dirty_bits),
        cmocka_unit_test(window_is_64_entries),
        cmocka_unit_test(look_around_promotes_neighbours),
        cmocka_unit_test(references_from_elsewhere_do_not_count),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
