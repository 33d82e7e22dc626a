/* SPDX-License-Identifier: MIT */
/*
 * The classic LRU (src/reclaim/classic.c): marks and batches of mglru-facts 12.2, flags of 12.3,
 * the arithmetic of 12.4, shrinking 12.5, cost 12.6, refault distance 12.7.
 */
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "memcg/charge.h"
#include "reclaim_fixture.h"

static void each_kernel(void (*body)(struct fixture *fixture, bool old))
{
    for (unsigned m = FIXTURE_612; m <= FIXTURE_73; m++) {
        struct fixture *fixture = fixture_new_classic(fixture_models[m]);
        body(fixture, m == FIXTURE_612);
        fixture_free(fixture);
    }
}

/* @count folios at the head of a list. */
static struct folio *fill(struct fixture *f, struct page_mapping *mapping, bool active,
                          unsigned count)
{
    struct folio *folio = NULL;
    while (count-- > 0) {
        folio = fixture_folio(f, mapping);
        if (active)
            folio_set(folio, FOLIO_ACTIVE);
        lruvec_add(folio, false);
    }
    return folio;
}

static void pin_all(struct fixture *f)
{
    for (unsigned long i = 0; i < f->count; i++)
        folio_set(f->folios[i], FOLIO_PINNED);
}

/* --- 12.2 ----------------------------------------------------------------------------------- */

static void second_mark_activates(void **state)
{
    struct fixture *f = fixture_new_classic(&model_73);
    struct folio *listed = fill(f, &f->file, false, 1);
    struct folio *waiting = fixture_folio(f, &f->file);
    struct folio *nowhere = fixture_folio(f, &f->file);
    lru_batch_add(&f->reclaim, waiting, false);
    struct folio *folios[] = {listed, waiting, nowhere};
    for (unsigned i = 0; i < 3; i++) {
        folio_mark_accessed(&f->reclaim, folios[i]);
        assert_true(folio_test(folios[i], FOLIO_REFERENCED));
        folio_mark_accessed(&f->reclaim, folios[i]);
        assert_false(folio_test(folios[i], FOLIO_REFERENCED));
        assert_int_equal(f->lruvec->nonresident_age, i + 1);
    }
    assert_false(folio_test(listed, FOLIO_ACTIVE)); /* until the batch is drained */
    assert_true(folio_test(waiting, FOLIO_ACTIVE));
    assert_false(folio_test(nowhere, FOLIO_ACTIVE));
    folio_mark_accessed(&f->reclaim, listed);
    folio_mark_accessed(&f->reclaim, listed); /* queued and aged once more */
    assert_int_equal(f->lruvec->nonresident_age, 4);
    lru_batch_drain(&f->reclaim);
    assert_true(folio_test(listed, FOLIO_ACTIVE));
    assert_int_equal(fixture_stat(f, MEMCG_ACTIVE_FILE), 2);
    assert_int_equal(fixture_stat(f, MEMCG_PGACTIVATE), 1);
    folio_mark_accessed(&f->reclaim, listed);
    folio_mark_accessed(&f->reclaim, listed); /* active: R stays */
    assert_true(folio_test(listed, FOLIO_REFERENCED));
    assert_int_equal(memcg_lruvec(f->tree->root, 0)->nonresident_age, 4);
    folio_deactivate(listed);
    assert_int_equal(fixture_stat(f, MEMCG_INACTIVE_FILE), 1);
    folio_deactivate(listed); /* inactive: nothing to do */
    assert_int_equal(fixture_stat(f, MEMCG_PGDEACTIVATE), 1);
    fixture_verify(f);
    fixture_free(f);
}

/* --- 12.3 ----------------------------------------------------------------------------------- */

static void deactivation_needs_a_reason(void **state)
{
    struct fixture *f = fixture_new_classic(&model_73);
    struct scan_control sc = fixture_control(f, 4);
    fill(f, &f->file, false, 100);
    fill(f, &f->file, true, 100);
    classic_prepare(&sc, 0);
    assert_false(sc.may_deactivate[LRU_TYPE_FILE]); /* inactive is not low */
    assert_true(sc.cache_trim);
    sc.priority = 7;
    classic_prepare(&sc, 0);
    assert_false(sc.cache_trim); /* 100 >> 7 */
    fill(f, &f->file, true, 1);
    classic_prepare(&sc, 0);
    assert_true(sc.may_deactivate[LRU_TYPE_FILE]);
    fill(f, &f->file, false, 1);
    lruvec_stat(f->lruvec, MEMCG_WORKINGSET_ACTIVATE_FILE, 1); /* refaults since the last look */
    classic_prepare(&sc, 0);
    assert_true(sc.may_deactivate[LRU_TYPE_FILE]);
    classic_snapshot(&sc, 0);
    classic_prepare(&sc, 0);
    assert_false(sc.may_deactivate[LRU_TYPE_FILE]);
    sc.force_deactivate = true;
    classic_prepare(&sc, 0);
    assert_true(sc.may_deactivate[LRU_TYPE_FILE]);

    /* From 1 GiB on the inactive list may be smaller: by 3 of 10. */
    sc.force_deactivate = false;
    lruvec_stat(f->lruvec, MEMCG_ACTIVE_FILE, 300000 - 101);
    lruvec_stat(f->lruvec, MEMCG_INACTIVE_FILE, 100000 - 101);
    classic_prepare(&sc, 0);
    assert_false(sc.may_deactivate[LRU_TYPE_FILE]);
    lruvec_stat(f->lruvec, MEMCG_ACTIVE_FILE, 1);
    classic_prepare(&sc, 0);
    assert_true(sc.may_deactivate[LRU_TYPE_FILE]);
    fixture_free(f);
}

/* Without fresh counters the decisions are those of the last flush. */
static void decisions_use_flushed_sizes(void **state)
{
    struct fixture *f = fixture_new_classic(&model_73);
    struct scan_control sc = fixture_control(f, 0);
    f->reclaim.stat_always = false;
    fill(f, &f->file, true, 100);
    classic_prepare(&sc, 0);
    assert_false(sc.may_deactivate[LRU_TYPE_FILE]);
    memcg_stat_flush(f->tree->root);
    classic_prepare(&sc, 0);
    assert_true(sc.may_deactivate[LRU_TYPE_FILE]);
    fixture_free(f);
}

/* --- 12.4 ----------------------------------------------------------------------------------- */

struct balance_row {
    int priority;
    int swappiness; /* of the request; -1: 60 */
    uint64_t cost[LRU_TYPES];
    bool no_swap, trim, tiny;
    long anon, file; /* pages scanned of 1000 each */
};

static void scan_counts_go_by_12_4(void **state)
{
    static const struct balance_row rows[] = {
        {1, -1, {0, 0}, false, false, false, 150, 350},     /* 500 * 60 / 200 */
        {1, -1, {300, 100}, false, false, false, 116, 383}, /* 500 * {102, 335} / 437 */
        {1, 200, {0, 0}, false, false, false, 500, 0},
        {1, 0, {0, 0}, false, false, false, 0, 500},
        {1, SWAPPINESS_ANON_ONLY, {0, 0}, false, false, false, 500, 0},
        {1, SWAPPINESS_ANON_ONLY, {0, 0}, true, false, false, 0, 0},
        {1, -1, {0, 0}, true, false, false, 0, 500},
        {0, -1, {300, 100}, false, false, false, 1000, 1000}, /* the last priority takes all */
        {1, -1, {0, 0}, false, true, false, 0, 500},
        {1, -1, {0, 0}, false, true, true, 500, 0},
        {11, -1, {0, 0}, false, false, false, 0, 0},
    };
    for (size_t i = 0; i < MGLRU_ARRAY_LEN(rows); i++) {
        const struct balance_row *row = &rows[i];
        struct fixture *f = fixture_new_classic(&model_73);
        struct scan_control sc = fixture_control(f, row->priority);
        fill(f, &f->anon, false, 1000);
        fill(f, &f->file, false, 1000);
        pin_all(f);
        sc.swappiness = row->swappiness;
        memcpy(sc.cost, row->cost, sizeof(sc.cost));
        sc.cache_trim = row->trim;
        sc.file_is_tiny = row->tiny;
        if (row->no_swap)
            f->swap_left = 0;
        classic_shrink(f->lruvec, &sc);
        assert_int_equal(fixture_stat(f, MEMCG_PGSCAN_ANON), row->anon);
        assert_int_equal(fixture_stat(f, MEMCG_PGSCAN_FILE), row->file);
        fixture_verify(f);
        fixture_free(f);
    }
}

/* Enough: the smaller type ends, the other has one more round at most. */
static void rests_end_when_there_is_enough(void **state)
{
    struct fixture *f = fixture_new_classic(&model_73);
    struct scan_control sc = fixture_control(f, 0);
    fill(f, &f->anon, false, 100);
    fill(f, &f->file, false, 1000);
    classic_shrink(f->lruvec, &sc);
    assert_int_equal(fixture_stat(f, MEMCG_PGSTEAL_ANON), 32);
    assert_int_equal(fixture_stat(f, MEMCG_PGSTEAL_FILE), 64);
    fixture_free(f);
    /* 8 of 40 anon rest: 19 %. The file list ends at 81 % of 50, less 32 scanned. */
    f = fixture_new_classic(&model_73);
    sc = fixture_control(f, 0);
    fill(f, &f->anon, false, 40);
    fill(f, &f->file, false, 50);
    classic_shrink(f->lruvec, &sc);
    assert_int_equal(fixture_stat(f, MEMCG_PGSTEAL_ANON), 32);
    assert_int_equal(fixture_stat(f, MEMCG_PGSTEAL_FILE), 40);
    fixture_free(f);
    /* Direct global reclaim at the first priority goes through with it. */
    f = fixture_new_classic(&model_73);
    sc = fixture_control(f, DEF_PRIORITY);
    sc.target = NULL;
    sc.nr_to_reclaim = 1;
    f->swap_left = 0;
    fill(f, &f->file, false, 40 << DEF_PRIORITY >> 2);
    classic_shrink(f->lruvec, &sc);
    assert_int_equal(f->releases, 10);
    fixture_free(f);
}

/* --- 12.5 ----------------------------------------------------------------------------------- */

static void active_list_keeps_mapped_executables(void **state)
{
    for (unsigned m = FIXTURE_612; m <= FIXTURE_73; m++) {
        struct fixture *f = fixture_new_classic(fixture_models[m]);
        struct scan_control sc = fixture_control(f, 0);
        struct page_mapping program = {0};
        list_init(&program.vmas);
        struct vma *exec = fixture_vma(f, &program, true);
        struct vma *data = fixture_vma(f, &f->file, false);
        struct folio *code = fill(f, &program, true, 1);
        struct folio *table = fill(f, &f->file, true, 1);
        struct folio *read = fill(f, &f->file, true, 1);
        fixture_map(exec, code);
        fixture_map(data, table);
        folio_set(read, FOLIO_REFERENCED);
        sc.may_deactivate[LRU_TYPE_FILE] = true;
        sc.nr_to_reclaim = 0;
        f->swap_left = 0;
        pin_all(f);
        folio_clear(code, FOLIO_PINNED);
        folio_clear(table, FOLIO_PINNED);
        folio_clear(read, FOLIO_PINNED);
        classic_shrink(f->lruvec, &sc);
        assert_true(folio_test(code, FOLIO_ACTIVE));
        assert_false(folio_test(table, FOLIO_ACTIVE) || folio_test(read, FOLIO_ACTIVE));
        assert_true(folio_test(table, FOLIO_WORKINGSET) && folio_test(read, FOLIO_WORKINGSET));
        assert_true(folio_test(read, FOLIO_REFERENCED)); /* kept: one access brings it back */
        assert_false(fixture_young(data, table->index));
        struct list_node *inactive = &f->lruvec->lists[LRU_INACTIVE_FILE];
        assert_ptr_equal(inactive->next, &read->lru); /* order kept: the older one at the tail */
        assert_ptr_equal(inactive->prev, &table->lru);
        assert_int_equal(fixture_stat(f, MEMCG_PGREFILL), 3);
        assert_int_equal(fixture_stat(f, MEMCG_PGDEACTIVATE), 2);
        assert_int_equal(fixture_stat(f, MEMCG_PGROTATE_FILE), m == FIXTURE_612 ? 0 : 1);
        fixture_verify(f);
        fixture_drop(f, code);
        fixture_free(f);
    }
}

static void references(struct fixture *f, bool old)
{
    const struct reclaim_model *model = f->reclaim.model;
    for (unsigned young = 0; young < 3; young++)
        for (unsigned was = 0; was < 2; was++)
            for (unsigned exec = 0; exec < 2; exec++)
                for (unsigned anon = 0; anon < 2; anon++) {
                    struct folio *folio = fixture_folio(f, anon ? &f->anon : &f->file);
                    if (was)
                        folio_set(folio, FOLIO_REFERENCED);
                    enum reference_verdict expected =
                        !young ? (old && was && !anon ? REFERENCE_RECLAIM_CLEAN : REFERENCE_RECLAIM)
                        : was || young > 1 || (exec && !anon) ? REFERENCE_ACTIVATE
                                                              : REFERENCE_KEEP;
                    assert_int_equal(model->references(&f->reclaim, folio, (int)young, exec),
                                     expected);
                    assert_int_equal(folio_test(folio, FOLIO_REFERENCED), young > 0);
                }
}

static void references_are_judged_by_12_5(void **state)
{
    each_kernel(references);
}

/* Folios of other zones are set aside, busy ones rotate; kept ones go to the inactive head. */
static void isolation_passes_over_some(void **state)
{
    struct fixture *f = fixture_new_classic(&model_73);
    struct scan_control sc = fixture_control(f, 0);
    struct folio *high = fixture_folio_in(f->lruvec, f, &f->file, 4, 0);
    lruvec_add(high, false);
    struct folio *pinned = fill(f, &f->file, false, 1);
    folio_set(pinned, FOLIO_PINNED);
    struct folio *dirty = fill(f, &f->file, false, 1);
    folio_set(dirty, FOLIO_DIRTY);
    fill(f, &f->file, false, 3);
    sc.reclaim_zone = 3;
    f->swap_left = 0;
    classic_shrink(f->lruvec, &sc);
    assert_int_equal(f->releases, 3);
    assert_true(folio_test(dirty, FOLIO_ACTIVE) && folio_test(dirty, FOLIO_RECLAIM));
    assert_int_equal(f->lruvec->nonresident_age, 3 + 1); /* evictions and the activation */
    assert_int_equal(fixture_stat(f, MEMCG_INACTIVE_FILE), 2);
    assert_int_equal(f->wakes, 0); /* not all were dirty */
    fixture_verify(f);
    struct folio *next = fill(f, &f->file, false, 1);
    folio_set(next, FOLIO_DIRTY);
    classic_shrink(f->lruvec, &sc);
    assert_int_equal(f->wakes, 1);
    fixture_free(f);
}

/* Nothing may be deactivated, nothing is inactive: the round with force finds pages. */
static void forced_round_finds_active_pages(void **state)
{
    struct fixture *f = fixture_new_classic(&model_73);
    f->reclaim.stat_always = false; /* sizes seen: none */
    f->swap_left = 0;
    fill(f, &f->file, true, 1000);
    struct reclaim_request request = {.target = f->memcg, .pages = 32, .swappiness = -1};
    assert_true(reclaim_run(&f->reclaim, &request) >= 32);
    assert_true(fixture_stat(f, MEMCG_PGDEACTIVATE) > 0);
    fixture_verify(f);
    fixture_free(f);
}

/* Anonymous memory is deactivated beside, when swap exists and its inactive list is low. */
static void anon_is_balanced_beside(void **state)
{
    struct fixture *f = fixture_new_classic(&model_73);
    struct scan_control sc = fixture_control(f, 12);
    fill(f, &f->anon, true, 100);
    classic_shrink(f->lruvec, &sc);
    assert_int_equal(fixture_stat(f, MEMCG_INACTIVE_ANON), 32);
    fixture_verify(f);
    fixture_free(f);
}

/* --- 12.6 ----------------------------------------------------------------------------------- */

static void cost_of_events_in_612(void **state)
{
    struct fixture *f = fixture_new_classic(&model_612);
    struct lruvec *root = memcg_lruvec(f->tree->root, 0);
    lruvec_stat(f->lruvec, MEMCG_INACTIVE_FILE, 4000);
    classic_note_cost(f->lruvec, LRU_TYPE_FILE, 10, 50);
    assert_int_equal(f->lruvec->cost[LRU_TYPE_FILE], 370);
    assert_int_equal(root->cost[LRU_TYPE_FILE], 370);
    classic_note_cost(f->lruvec, LRU_TYPE_FILE, 0, 0);
    classic_note_cost(f->lruvec, LRU_TYPE_ANON, 100, 0); /* above a quarter: halved once */
    assert_int_equal(f->lruvec->cost[LRU_TYPE_ANON], 1600);
    assert_int_equal(f->lruvec->cost[LRU_TYPE_FILE], 185);
    fixture_free(f);
}

static void cost_of_counters_in_73(void **state)
{
    struct fixture *f = fixture_new_classic(&model_73);
    struct scan_control sc = fixture_control(f, 0);
    lruvec_stat(f->lruvec, MEMCG_INACTIVE_FILE, 4000);
    lruvec_stat(f->lruvec, MEMCG_PGROTATE_FILE, 50);
    lruvec_stat(f->lruvec, MEMCG_WORKINGSET_RESTORE_FILE, 10);
    lruvec_stat(f->lruvec, MEMCG_NR_VMSCAN_WRITE, 2);
    for (unsigned i = 0; i < 2; i++) { /* the second look sees nothing new */
        classic_prepare(&sc, 0);
        assert_int_equal(sc.cost[LRU_TYPE_FILE], 370);
        assert_int_equal(sc.cost[LRU_TYPE_ANON], 64);
    }
    assert_int_equal(memcg_lruvec(f->tree->root, 0)->cost[LRU_TYPE_FILE], 0);
    lruvec_stat(f->lruvec, MEMCG_WORKINGSET_RESTORE_ANON, 100);
    classic_prepare(&sc, 0); /* 3634, then halved until at most 1000 */
    assert_int_equal(sc.cost[LRU_TYPE_ANON], (64 + 3200) / 4);
    assert_int_equal(sc.cost[LRU_TYPE_FILE], 370 / 2 / 2);
    fixture_free(f);
}

/* --- 12.7 ----------------------------------------------------------------------------------- */

static void distances(struct fixture *f, bool old)
{
    f->swap_left = 0;
    fill(f, &f->file, true, 10);
    fill(f, &f->file, false, 7);
    fill(f, &f->anon, true, 5);
    struct folio *gone = fixture_folio(f, &f->file);
    folio_set(gone, FOLIO_WORKINGSET);
    uint64_t shadow = workingset_evict(&f->reclaim, gone, f->memcg);
    assert_int_equal(f->lruvec->nonresident_age, 1);
    workingset_age_nonresident(f->lruvec, 9); /* distance 10: as many as are active */
    struct folio *near = fixture_folio(f, &f->file);
    assert_true(workingset_refault(&f->reclaim, near, shadow, false));
    assert_true(folio_test(near, FOLIO_ACTIVE) && folio_test(near, FOLIO_WORKINGSET));
    assert_int_equal(fixture_stat(f, MEMCG_WORKINGSET_ACTIVATE_FILE), 1);
    assert_int_equal(fixture_stat(f, MEMCG_WORKINGSET_RESTORE_FILE), 1);
    assert_int_equal(f->lruvec->cost[LRU_TYPE_FILE], old ? 16 : 0);
    struct folio *far = fixture_folio(f, &f->file); /* that refault aged: distance 11 */
    assert_false(workingset_refault(&f->reclaim, far, shadow, false));
    assert_false(folio_test(far, FOLIO_ACTIVE));
    assert_int_equal(fixture_stat(f, MEMCG_WORKINGSET_REFAULT_FILE), 2);
    f->swap_left = 100; /* with swap anonymous pages count: 10 + 5 */
    assert_true(workingset_refault(&f->reclaim, far, shadow, false));
    /* An anonymous folio competes with both file lists and the active anonymous one: 22. */
    struct shadow unpacked = workingset_unpack(shadow);
    struct folio *anon = fixture_folio(f, &f->anon);
    workingset_age_nonresident(f->lruvec, 10);
    assert_true(classic_refault(f->lruvec, anon, &unpacked));
    assert_false(classic_refault(f->lruvec, near, &unpacked));
    workingset_age_nonresident(f->lruvec, 1);
    assert_false(classic_refault(f->lruvec, anon, &unpacked));
}

static void refault_distance_by_12_7(void **state)
{
    each_kernel(distances);
}

static void shadow_of_a_removed_memcg_is_not_recent(void **state)
{
    struct fixture *f = fixture_new_classic(&model_73);
    struct memcg *child = fixture_memcg(f, "/t/c");
    struct folio *gone = fixture_folio_in(memcg_lruvec(child, 0), f, &f->file, FIXTURE_ZONE, 0);
    uint64_t shadow = workingset_evict(&f->reclaim, gone, child);
    fixture_drop(f, gone);
    reclaim_offline(&f->reclaim, child);
    assert_int_equal(memcg_offline(child, 0), 0);
    fill(f, &f->file, true, 10);
    struct folio *folio = fixture_folio(f, &f->file);
    assert_false(workingset_refault(&f->reclaim, folio, shadow, false));
    assert_int_equal(fixture_stat(f, MEMCG_WORKINGSET_REFAULT_FILE), 1);
    fixture_free(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(second_mark_activates),
        cmocka_unit_test(deactivation_needs_a_reason),
        cmocka_unit_test(decisions_use_flushed_sizes),
        cmocka_unit_test(scan_counts_go_by_12_4),
        cmocka_unit_test(rests_end_when_there_is_enough),
        cmocka_unit_test(active_list_keeps_mapped_executables),
        cmocka_unit_test(references_are_judged_by_12_5),
        cmocka_unit_test(isolation_passes_over_some),
        cmocka_unit_test(forced_round_finds_active_pages),
        cmocka_unit_test(anon_is_balanced_beside),
        cmocka_unit_test(cost_of_events_in_612),
        cmocka_unit_test(cost_of_counters_in_73),
        cmocka_unit_test(refault_distance_by_12_7),
        cmocka_unit_test(shadow_of_a_removed_memcg_is_not_recent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
