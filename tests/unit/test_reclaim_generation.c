/* SPDX-License-Identifier: MIT */
/*
 * Where folios go and what marks them: the tables of mglru-facts 1.4 to 1.7 and the sizes of 1.2,
 * for src/reclaim/access.c, batch.c, generation.c, lruvec.c and the models' tables.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "memcg/charge.h"
#include "reclaim_fixture.h"

static void each_model(void (*body)(struct fixture *fixture, bool old))
{
    for (unsigned m = 0; m < FIXTURE_MODELS; m++) {
        struct fixture *fixture = fixture_new(fixture_models[m]);
        body(fixture, m == FIXTURE_612);
        fixture_free(fixture);
    }
}

static unsigned state_of(const struct folio *folio)
{
    return (unsigned)(folio->flags & FOLIO_STATE_MASK);
}

/* --- 1.4: accesses through descriptors ------------------------------------------------------ */

struct access_row {
    unsigned state;
    unsigned refs;
    unsigned tier;
};

static void accesses(struct fixture *f, bool old)
{
    static const struct access_row rows[2][7] = {
        {{FIXTURE_STATE(0, 0, 0), 0, 0},
         {FIXTURE_STATE(1, 0, 0), 1, 0},
         {FIXTURE_STATE(1, 0, 1), 2, 1},
         {FIXTURE_STATE(1, 0, 2), 3, 2},
         {FIXTURE_STATE(1, 0, 3), 4, 2},
         {FIXTURE_STATE(1, 1, 3), 4, 3},
         {FIXTURE_STATE(1, 1, 3), 4, 3}},
        {{FIXTURE_STATE(0, 0, 0), 0, 0},
         {FIXTURE_STATE(1, 0, 0), 0, 0},
         {FIXTURE_STATE(1, 1, 0), 1, 1},
         {FIXTURE_STATE(1, 1, 1), 2, 2},
         {FIXTURE_STATE(1, 1, 2), 3, 2},
         {FIXTURE_STATE(1, 1, 3), 4, 3},
         {FIXTURE_STATE(1, 1, 3), 4, 3}},
    };
    const struct reclaim_model *model = f->reclaim.model;
    struct folio *folio = fixture_listed(f, &f->file, 0, 0);
    for (unsigned n = 0; n < 7; n++) {
        unsigned state = state_of(folio);
        assert_int_equal(state, rows[old][n].state);
        assert_int_equal(model->refs[state], rows[old][n].refs);
        assert_int_equal(model->tier[state], rows[old][n].tier);
        assert_int_equal(model->fully >> state & 1, n >= 5);
        folio_mark_accessed(&f->reclaim, folio);
    }
    assert_int_equal(generation_seq(f->lruvec, folio), 0); /* no list move */
    struct folio *locked = fixture_folio(f, &f->file);
    folio_set(locked, FOLIO_UNEVICTABLE);
    folio_mark_accessed(&f->reclaim, locked);
    assert_int_equal(state_of(locked), 0);
}

static void accesses_count_by_table_1_4(void **state)
{
    each_model(accesses);
}

/* In our model a folio that lies below min_seq catches up before it counts. */
static void mark_after_a_splice_starts_anew(void **state)
{
    struct fixture *f = fixture_new(&model_ours);
    struct folio *folio = fixture_listed(f, &f->file, 0, FIXTURE_STATE(1, 0, 2));
    assert_true(aging_move_oldest(f->lruvec, LRU_TYPE_FILE, AGING_SPLICE));
    f->lruvec->min_seq[LRU_TYPE_FILE]++;
    assert_int_equal(generation_state(f->lruvec, folio), 0);
    folio_mark_accessed(&f->reclaim, folio);
    assert_int_equal(state_of(folio), FIXTURE_STATE(1, 0, 0));
    assert_int_equal(folio_stored_seq(folio), 1);
    fixture_verify(f);
    fixture_free(f);
}

/* --- 1.5: accesses through page tables ------------------------------------------------------ */

static void walk_table(struct fixture *f, bool old)
{
    const struct reclaim_model *model = f->reclaim.model;
    for (unsigned state = 0; state < 16; state++)
        for (unsigned exec = 0; exec < 2; exec++) {
            uint64_t flags = model->walk_flags(folio_seq_bits(1) | state, 3, exec);
            bool first = !old && !(state & 3) && !exec;
            unsigned after = old ? 0 : first ? FIXTURE_STATE(1, 0, 0) : FIXTURE_STATE(0, 1, 0);
            assert_int_equal((flags >> FOLIO_SEQ_SHIFT) - 1, first ? 1 : 3);
            assert_int_equal(flags & FOLIO_STATE_MASK, after);
        }
}

static void rmap_table(struct fixture *f, bool old)
{
    const struct reclaim_model *model = f->reclaim.model;
    for (unsigned state = 0; state < 16; state++)
        for (unsigned exec = 0; exec < 2; exec++) {
            struct folio *folio = fixture_folio(f, &f->file);
            folio_set(folio, state);
            bool promote = model->rmap_refs(folio, exec);
            if (old) { /* isolated: R, for the one who took it */
                assert_false(promote);
                assert_int_equal(state_of(folio), state | FOLIO_REFERENCED);
                continue;
            }
            bool first = !(state & 3);
            unsigned after = model->refs[state] > 1 ? FIXTURE_STATE(0, 1, 0) : model->marked[state];
            if (first)
                after = exec ? FIXTURE_STATE(0, 1, 0) : FIXTURE_STATE(1, 0, 0);
            if (model->refs[state] > 1)
                after = FIXTURE_STATE(0, 1, 0);
            assert_int_equal(promote, !first || exec);
            assert_int_equal(state_of(folio), after);
        }
    struct folio *listed = fixture_listed(f, &f->file, 0, 0);
    assert_int_equal(model->rmap_refs(listed, false), old);
}

static void sightings_promote_by_table_1_5(void **state)
{
    each_model(walk_table);
    each_model(rmap_table);
}

/* --- 1.6: additions ------------------------------------------------------------------------- */

struct add_row {
    bool anon;
    uint64_t flags;
    bool tail;
    int distance[2]; /* from max_seq, newer kernels and 6.12; MIN: the oldest, MIN1: the next */
};

enum { MIN = 100, MIN1 };

static const struct add_row adds[] = {
    {false, FOLIO_ACTIVE | FOLIO_WORKINGSET, false, {0, 0}},
    {false, FOLIO_ACTIVE, false, {1, 0}},
    {true, FOLIO_ACTIVE, true, {1, 0}},
    {false, FOLIO_REFERENCED, true, {MIN, MIN}},
    {true, FOLIO_SWAPCACHE, true, {MIN, MIN}},
    {true, 0, false, {1, 1}},
    {true, FOLIO_SWAPCACHE, false, {3, MIN1}},
    {false, FOLIO_RECLAIM | FOLIO_DIRTY, false, {1, 1}},
    {false, FOLIO_RECLAIM | FOLIO_WRITEBACK, false, {1, 1}},
    {false, FOLIO_RECLAIM, false, {3, MIN1}},
    {false, FOLIO_DIRTY, false, {3, MIN1}},
    {false, FOLIO_WORKINGSET, false, {2, MIN1}},
    {false, FOLIO_REFERENCED, false, {2, MIN1}},
    {false, 0, false, {3, MIN1}},
};

static void check_add(struct fixture *f, bool old, const struct add_row *row, uint64_t gens)
{
    uint64_t max_seq = 20, min_seq = max_seq + 1 - gens;
    fixture_seqs(f, max_seq, min_seq, min_seq);
    struct folio *folio = fixture_folio(f, row->anon ? &f->anon : &f->file);
    folio_set(folio, row->flags);
    lruvec_add(folio, row->tail);
    int distance = row->distance[old];
    uint64_t seq = distance == MIN    ? min_seq
                   : distance == MIN1 ? (gens == 4 ? min_seq + 1 : min_seq)
                                      : max_seq - (uint64_t)distance;
    seq = seq < min_seq ? min_seq : seq;
    assert_int_equal(generation_seq(f->lruvec, folio), seq);
    assert_false(folio_test(folio, FOLIO_ACTIVE));
    struct list_node *list =
        &f->lruvec->folios[gen_of(seq)][row->anon ? LRU_TYPE_ANON : LRU_TYPE_FILE][FIXTURE_ZONE];
    assert_ptr_equal(row->tail ? list->prev : list->next, &folio->lru);
    fixture_verify(f);
    fixture_drop(f, folio);
}

static void additions(struct fixture *f, bool old)
{
    for (size_t i = 0; i < MGLRU_ARRAY_LEN(adds); i++)
        for (uint64_t gens = 2; gens <= 4; gens++)
            check_add(f, old, &adds[i], gens);
}

static void additions_go_by_table_1_6(void **state)
{
    each_model(additions);
}

static void faults(struct fixture *f, bool old)
{
    for (unsigned first = 0; first < 16; first++) {
        struct folio *folio = fixture_folio(f, &f->file);
        folio_set(folio, first);
        f->reclaim.model->mark_fault(folio);
        bool workingset = first & FOLIO_WORKINGSET;
        assert_int_equal(folio_test(folio, FOLIO_ACTIVE), old || workingset);
        unsigned after = old || workingset || (first & FOLIO_REFERENCED)
                             ? first
                             : f->reclaim.model->marked[first];
        assert_int_equal(state_of(folio), after);
    }
}

static void faults_mark_before_the_batch(void **state)
{
    each_model(faults);
}

/* --- 1.7: taking off, advice ---------------------------------------------------------------- */

static void deletions(struct fixture *f, bool old)
{
    for (uint64_t seq = 0; seq < 4; seq++)
        for (unsigned reclaiming = 0; reclaiming < 2; reclaiming++) {
            struct folio *folio = fixture_listed(f, &f->file, seq, FIXTURE_STATE(1, 1, 2));
            lruvec_del(folio, reclaiming);
            assert_false(folio_has_seq(folio));
            assert_int_equal(folio_test(folio, FOLIO_ACTIVE), !reclaiming && seq >= 2);
            assert_int_equal(state_of(folio), FIXTURE_STATE(1, 1, 2));
            fixture_verify(f);
        }
}

static void advice_on_anon(struct fixture *f, bool old)
{
    /* Quirk (a): deactivated anonymous memory lands in max_seq - 1. */
    struct folio *folio = fixture_listed(f, &f->anon, 3, FIXTURE_STATE(1, 1, 2));
    folio_deactivate(folio);
    assert_int_equal(generation_seq(f->lruvec, folio), 2);
    assert_int_equal(fixture_stat(f, MEMCG_PGDEACTIVATE), 1);
    /* Quirk (b): lazyfree keeps references, except in ours. */
    struct folio *lazy = fixture_listed(f, &f->anon, 3, FIXTURE_STATE(1, 0, 1));
    folio_make_lazyfree(lazy);
    bool ours = f->reclaim.model == &model_ours;
    assert_int_equal(folio_type(lazy), LRU_TYPE_FILE);
    assert_int_equal(state_of(lazy), ours ? 0 : FIXTURE_STATE(1, 0, 1));
    assert_int_equal(generation_seq(f->lruvec, lazy), old ? 1 : ours ? 0 : 1);
    assert_int_equal(fixture_stat(f, MEMCG_PGLAZYFREE), 1);
    folio_make_lazyfree(lazy); /* not twice */
    assert_int_equal(fixture_stat(f, MEMCG_PGLAZYFREE), 1);
    fixture_verify(f);
}

static void advice_on_files(struct fixture *f, bool old)
{
    struct folio *dirty = fixture_listed(f, &f->file, 3, 0);
    folio_set(dirty, FOLIO_DIRTY);
    folio_deactivate_file(dirty);
    assert_true(folio_test(dirty, FOLIO_RECLAIM));
    assert_int_equal(fixture_stat(f, MEMCG_PGROTATED), 0);
    struct folio *mapped = fixture_listed(f, &f->file, 3, 0);
    fixture_map(fixture_vma(f, &f->file, false), mapped);
    folio_deactivate_file(mapped);
    assert_int_equal(generation_seq(f->lruvec, mapped), 3);
    struct folio *isolated = fixture_folio(f, &f->file);
    folio_set(isolated, FIXTURE_STATE(1, 0, 1)); /* quirk (c): left alone */
    folio_deactivate(isolated);
    folio_rotate_reclaimable(isolated);
    assert_int_equal(state_of(isolated), FIXTURE_STATE(1, 0, 1));
    struct folio *busy = fixture_listed(f, &f->file, 3, 0);
    folio_set(busy, FOLIO_DIRTY);
    folio_rotate_reclaimable(busy);
    assert_int_equal(generation_seq(f->lruvec, busy), 3);
    fixture_verify(f);
}

static void advice_moves_by_table_1_7(void **state)
{
    each_model(deletions);
    each_model(advice_on_anon);
    each_model(advice_on_files);
}

/* --- batches -------------------------------------------------------------------------------- */

static void batches(struct fixture *f, bool old)
{
    lru_batch_add_others(&f->reclaim, 20);
    struct folio *folios[12];
    for (unsigned i = 0; i < 11; i++) {
        folios[i] = fixture_folio(f, &f->file);
        lru_batch_add(&f->reclaim, folios[i], false);
        assert_int_equal(folio_test(folios[0], FOLIO_LRU), i == 10);
    }
    lru_batch_add_others(&f->reclaim, 31); /* a whole batch of others drains itself */
    assert_int_equal(f->reclaim.batch.others, 0);
    folios[11] = fixture_folio_in(f->lruvec, f, &f->file, FIXTURE_ZONE, 2);
    lru_batch_add(&f->reclaim, folios[11], false); /* a large folio does not wait */
    assert_true(folio_test(folios[11], FOLIO_LRU));

    for (unsigned i = 0; i < 3; i++)
        lru_batch_activate(&f->reclaim, folios[i]);
    assert_true(folio_test(folios[0], FOLIO_QUEUED));
    fixture_drop(f, folios[1]); /* a queued folio may go: nothing refers to it */
    lru_batch_drain(&f->reclaim);
    assert_false(folio_test(folios[0], FOLIO_QUEUED));
    assert_true(generation_seq(f->lruvec, folios[0]) >= 2);
    assert_int_equal(fixture_stat(f, MEMCG_PGACTIVATE), 2);
    lru_batch_activate(&f->reclaim, folios[11]);
    assert_int_equal(fixture_stat(f, MEMCG_PGACTIVATE), 6);
    fixture_verify(f);
}

static void batches_drain_at_31_entries(void **state)
{
    each_model(batches);
}

/* --- 1.2: active and inactive --------------------------------------------------------------- */

static void sizes(struct fixture *f, bool old)
{
    for (uint64_t seq = 0; seq < 4; seq++)
        fixture_fill(f, &f->file, seq, 1 + (unsigned)seq);
    assert_int_equal(fixture_stat(f, MEMCG_INACTIVE_FILE), 1 + 2);
    assert_int_equal(fixture_stat(f, MEMCG_ACTIVE_FILE), 3 + 4);
    uint64_t before = f->lruvec->max_seq;
    f->reclaim.now_ns = 5000;
    aging_bump(f->lruvec, 60);
    assert_int_equal(f->lruvec->max_seq, before + 1);
    assert_int_equal(f->lruvec->timestamps[gen_of(before + 1)], 5000);
    /* The oldest two are one now, and the second youngest has become inactive. */
    assert_int_equal(fixture_stat(f, MEMCG_INACTIVE_FILE), 1 + 2 + 3);
    assert_int_equal(fixture_stat(f, MEMCG_ACTIVE_FILE), 4);
    assert_int_equal(f->lruvec->min_seq[LRU_TYPE_FILE], 1);
    fixture_verify(f);
}

/* A type that may not be evicted is not moved: its oldest become the youngest, not in ours. */
static void skipped_type(struct fixture *f, bool old)
{
    struct folio *folio = fixture_listed(f, &f->anon, 0, 0);
    aging_bump(f->lruvec, 0);
    bool ours = f->reclaim.model == &model_ours;
    assert_int_equal(generation_seq(f->lruvec, folio), ours ? 1 : 4);
    fixture_verify(f);
}

static void sizes_follow_generations(void **state)
{
    each_model(sizes);
    each_model(skipped_type);
}

static void models_are_found_by_name(void **state)
{
    for (unsigned m = 0; m < FIXTURE_MODELS; m++)
        assert_ptr_equal(model_find(fixture_models[m]->name), fixture_models[m]);
    assert_null(model_find("5.4"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(accesses_count_by_table_1_4),
        cmocka_unit_test(mark_after_a_splice_starts_anew),
        cmocka_unit_test(sightings_promote_by_table_1_5),
        cmocka_unit_test(additions_go_by_table_1_6),
        cmocka_unit_test(faults_mark_before_the_batch),
        cmocka_unit_test(advice_moves_by_table_1_7),
        cmocka_unit_test(batches_drain_at_31_entries),
        cmocka_unit_test(sizes_follow_generations),
        cmocka_unit_test(models_are_found_by_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
