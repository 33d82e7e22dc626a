/* SPDX-License-Identifier: MIT */
/*
 * Rows 14 and 20 to 38 of mglru-facts 10, as test_reclaim_rows_a.c does for the others: switching,
 * removal of memcgs, page-table walks, and what newer series change.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "memcg/charge.h"
#include "reclaim_fixture.h"

/* Runs the test of a row for each model; @bug: the column says so. */
static void each_model(void (*body)(struct fixture *fixture, bool bug), bool bug_612, bool bug_73)
{
    for (unsigned m = 0; m < FIXTURE_MODELS; m++) {
        struct fixture *fixture = fixture_new(fixture_models[m]);
        body(fixture, m == FIXTURE_612 ? bug_612 : m == FIXTURE_73 ? bug_73 : false);
        fixture_free(fixture);
    }
}

/* --- 14: reclaim while the algorithms are switched ------------------------------------------ */

struct switching {
    struct fixture *fixture;
    struct memcg *waiting; /* its folios have not been moved when reclaim runs */
    unsigned long reclaimed;
};

static void reclaim_meanwhile(void *context)
{
    struct switching *switching = context;
    struct reclaim_request request = {
        .target = switching->waiting, .pages = 32, .may_swap = true, .swappiness = -1};
    switching->reclaimed += reclaim_run(&switching->fixture->reclaim, &request);
}

/* "/t" has enough folios for a pause, "/u" waits for its turn. */
static void switch_under_pressure(struct fixture *f, bool bug)
{
    bool to = !f->reclaim.enabled;
    struct switching switching = {.fixture = f, .waiting = fixture_memcg(f, "/u")};
    struct lruvec *waiting = memcg_lruvec(switching.waiting, 0);
    for (unsigned i = 0; i < MAX_LRU_BATCH + 10 + 2000; i++) {
        struct folio *folio = fixture_folio(f, &f->file);
        if (i >= MAX_LRU_BATCH + 10) {
            memcg_charge_force(switching.waiting, 1);
            memcg_uncharge(f->memcg, 1);
            folio->lruvec = waiting;
        }
        lruvec_add(folio, false);
    }
    reclaim_switch(&f->reclaim, to, reclaim_meanwhile, &switching);
    if (bug)
        assert_int_equal(switching.reclaimed, 0); /* out of memory with 2000 clean pages */
    else
        assert_true(switching.reclaimed >= 32);
    fixture_verify(f);
    /* Afterwards all models find them. */
    reclaim_meanwhile(&switching);
    assert_true(switching.reclaimed >= 32);
    fixture_verify(f);
}

static void row_14_switching_hides_no_page(void **state)
{
    each_model(switch_under_pressure, true, false);
    for (unsigned m = 0; m < FIXTURE_MODELS; m++) {
        struct fixture *fixture = fixture_new_classic(fixture_models[m]);
        switch_under_pressure(fixture, m == FIXTURE_612);
        fixture_free(fixture);
    }
}

/* --- 20: lazily freed memory without I/O ---------------------------------------------------- */

static void lazyfree_without_io(struct fixture *f, bool bug)
{
    struct scan_control sc = fixture_control(f, 0);
    struct folio *folio = fixture_listed(f, &f->anon, 2, 0);
    fixture_listed(f, &f->anon, 0, 0); /* plain anonymous memory stays in any case */
    folio_make_lazyfree(folio);
    assert_int_equal(folio_type(folio), LRU_TYPE_FILE);
    aging_bump(f->lruvec, 60);
    aging_bump(f->lruvec, 60);
    uint64_t index = folio->index;
    sc.may_io = false;
    for (unsigned i = 0; i < 4; i++)
        eviction_run(f->lruvec, &sc, 1, 64);
    assert_int_equal(fixture_was_released(f, index), !bug);
    assert_int_equal(f->releases, bug ? 0 : 1);
    fixture_verify(f);
}

static void row_20_lazyfree_needs_no_io(void **state)
{
    each_model(lazyfree_without_io, true, false);
}

/* --- 21: unevictable folios ----------------------------------------------------------------- */

static void becomes_unevictable(struct fixture *f, bool bug)
{
    struct scan_control sc = fixture_control(f, 0);
    struct folio *folio = fixture_listed(f, &f->file, 0, FIXTURE_STATE(1, 1, 3));
    fixture_fill(f, &f->file, 0, 10);
    folio_set(folio, FOLIO_UNEVICTABLE);
    eviction_run(f->lruvec, &sc, 0, 64);
    assert_int_equal(f->releases, 10);
    assert_true(folio_test(folio, FOLIO_LRU));
    assert_false(folio_test(folio, FOLIO_ACTIVE) || folio_has_seq(folio));
    assert_ptr_equal(f->lruvec->lists[LRU_UNEVICTABLE].next, &folio->lru);
    assert_int_equal(fixture_stat(f, MEMCG_UNEVICTABLE), 1);
    assert_int_equal(fixture_stat(f, MEMCG_PGACTIVATE), 0);
    fixture_verify(f);
}

static void row_21_unevictable_is_culled_on_putback(void **state)
{
    each_model(becomes_unevictable, false, false);
}

/* --- 22: executables ------------------------------------------------------------------------ */

static void first_sighting(struct fixture *f, bool old)
{
    struct mm_walk walk;
    struct page_mapping program = {0};
    list_init(&program.vmas);
    struct vma *exec = fixture_vma(f, &program, true);
    struct vma *data = fixture_vma(f, &f->file, false);
    struct vma *heap = fixture_vma(f, &f->anon, true);
    struct folio *code = fixture_listed(f, &program, 0, 0);
    struct folio *table = fixture_listed(f, &f->file, 0, 0);
    struct folio *stack = fixture_listed(f, &f->anon, 0, 0);
    fixture_map(exec, code);
    fixture_map(data, table);
    fixture_map(heap, stack);
    assert_true(fixture_walk(f, true, &walk));
    assert_int_equal(generation_seq(f->lruvec, code), 3);
    assert_int_equal(generation_seq(f->lruvec, table), old ? 3 : 0);
    assert_int_equal(generation_seq(f->lruvec, stack), old ? 3 : 0); /* not a file */
    assert_int_equal(folio_test(table, FOLIO_REFERENCED), !old);
    fixture_verify(f);
    fixture_drop(f, code);
}

/* 6.12 promotes all at once: the row is about the kernels between. */
static void row_22_executable_files_promote_at_once(void **state)
{
    each_model(first_sighting, true, false);
}

/* --- 23: protection in direct global reclaim ------------------------------------------------ */

static void global_with_min(struct fixture *f, bool bug)
{
    struct memcg *open = fixture_memcg(f, "/open");
    fixture_fill(f, &f->file, 0, 3000);
    for (unsigned i = 0; i < 3000; i++)
        fixture_place(fixture_folio_in(memcg_lruvec(open, 0), f, &f->file, 0, 0), 0, 0);
    page_counter_set_min(&f->memcg->memory, 3000);
    struct reclaim_request request = {.pages = 1000, .swappiness = -1};
    assert_true(reclaim_run(&f->reclaim, &request) > 0);
    long taken = fixture_stat(f, MEMCG_PGSTEAL_DIRECT);
    if (bug)
        assert_true(taken > 0);
    else
        assert_int_equal(taken, 0);
    fixture_verify(f);
}

static void row_23_direct_global_reclaim_honours_protection(void **state)
{
    each_model(global_with_min, true, false);
}

/* --- 24: only the root ---------------------------------------------------------------------- */

static void only_root(struct fixture *f, bool bug)
{
    struct lruvec *root = memcg_lruvec(f->tree->root, 0);
    assert_ptr_equal(root->reclaim, &f->reclaim);
    for (unsigned i = 0; i < 1000; i++)
        fixture_place(fixture_folio_in(root, f, &f->file, 0, 0), 0, 0);
    struct reclaim_request request = {.pages = 32, .swappiness = -1};
    assert_true(reclaim_run(&f->reclaim, &request) >= 32);
    fixture_verify(f);
}

static void row_24_root_alone_is_reclaimed(void **state)
{
    each_model(only_root, false, false);
}

/* --- 25, 26, 27: a removed memcg's folios --------------------------------------------------- */

struct removal {
    struct memcg *child;
    struct folio *folios[MAX_NR_GENS * LRU_TYPES * 2];
    unsigned count;
};

/* Folios of @child in all generations, of both types, on both nodes. */
static void populate(struct fixture *f, struct removal *removal)
{
    for (unsigned node = 0; node < 2; node++)
        for (uint64_t seq = 0; seq < MAX_NR_GENS; seq++)
            for (unsigned type = 0; type < LRU_TYPES; type++) {
                struct folio *folio = fixture_folio_in(memcg_lruvec(removal->child, node), f,
                                                       type == LRU_TYPE_ANON ? &f->anon : &f->file,
                                                       FIXTURE_ZONE, node);
                fixture_place(folio, seq, 0);
                removal->folios[removal->count++] = folio;
            }
}

static long exact_size(const struct memcg *memcg, enum lru_list list)
{
    long pages = 0;
    for (unsigned node = 0; node < 2; node++)
        for (unsigned zone = 0; zone < MAX_NR_ZONES; zone++)
            pages += memcg_lruvec(memcg, node)->lru_size[zone][list];
    return pages;
}

static void remove_child(struct fixture *f, bool stays)
{
    static const enum memcg_stat_item items[] = {MEMCG_INACTIVE_ANON, MEMCG_ACTIVE_ANON,
                                                 MEMCG_INACTIVE_FILE, MEMCG_ACTIVE_FILE};
    struct removal removal = {.child = fixture_memcg(f, "/t/c")};
    /* The parent is younger than the child: same lists, other classes. */
    aging_bump(f->lruvec, 60);
    populate(f, &removal);
    fixture_verify(f);
    memcg_get(removal.child);
    reclaim_offline(&f->reclaim, removal.child);
    assert_int_equal(memcg_offline(removal.child, 0), 0);
    fixture_verify(f);

    const struct memcg *owner = stays ? removal.child : f->memcg;
    const struct memcg *other = stays ? f->memcg : removal.child;
    for (unsigned l = 0; l < LRU_UNEVICTABLE; l++) {
        assert_int_equal(exact_size(other, (enum lru_list)l), 0);
        assert_int_equal(memcg_stat_local_exact(other, items[l]), 0);
        assert_int_equal(memcg_stat_local_exact(owner, items[l]),
                         exact_size(owner, (enum lru_list)l));
    }
    long all = 0;
    for (unsigned l = 0; l < LRU_UNEVICTABLE; l++)
        all += exact_size(owner, (enum lru_list)l);
    assert_int_equal(all, (1 + 2) * MAX_NR_GENS * LRU_TYPES);
    for (unsigned i = 0; i < removal.count; i++) {
        unsigned node = folio_order(removal.folios[i]); /* as populate chose it */
        assert_ptr_equal(removal.folios[i]->lruvec, memcg_lruvec(owner, node));
    }
    memcg_put(removal.child);
}

/* 6.12 has no reparenting of lists: the dying memcg keeps its folios. */
static void row_25_sizes_move_with_the_folios(void **state)
{
    each_model(remove_child, true, false);
}

/* The next walk of the parent promotes what came from the child, and counts it at the parent. */
static void walk_after_removal(struct fixture *f, bool stays)
{
    struct memcg *child = fixture_memcg(f, "/t/c");
    struct vma *vma = fixture_vma(f, &f->file, false);
    struct mm_walk walk;
    struct folio *folio = fixture_folio_in(memcg_lruvec(child, 0), f, &f->file, FIXTURE_ZONE, 0);
    fixture_place(folio, 0, FIXTURE_STATE(1, 0, 0));
    fixture_map(vma, folio);
    memcg_get(child);
    reclaim_offline(&f->reclaim, child);
    assert_int_equal(memcg_offline(child, 0), 0);
    assert_true(fixture_walk(f, true, &walk));
    assert_int_equal(walk.batched, 0);
    assert_int_equal(generation_seq(folio->lruvec, folio) == f->lruvec->max_seq, !stays);
    assert_int_equal(fixture_young(vma, folio->index), stays);
    fixture_verify(f);
    memcg_put(child);
}

/* One thread: no memcg dies under a walk. What can be seen is where a walk's batch goes later. */
static void row_26_walk_after_removal_counts_at_the_parent(void **state)
{
    each_model(walk_after_removal, true, false);
}

static void drop_after_removal(struct fixture *f, bool stays)
{
    struct removal removal = {.child = fixture_memcg(f, "/t/c")};
    populate(f, &removal);
    memcg_get(removal.child);
    reclaim_offline(&f->reclaim, removal.child);
    assert_int_equal(memcg_offline(removal.child, 0), 0);
    for (unsigned i = 0; i < removal.count; i++) {
        fixture_drop(f, removal.folios[i]);
        fixture_verify(f);
    }
    for (unsigned l = 0; l < LRU_UNEVICTABLE; l++) {
        assert_int_equal(exact_size(f->memcg, (enum lru_list)l), 0);
        assert_int_equal(exact_size(removal.child, (enum lru_list)l), 0);
    }
    memcg_put(removal.child);
}

static void row_27_lists_and_owners_agree_on_every_node(void **state)
{
    each_model(drop_after_removal, true, false);
}

/* --- 28: isolated folios -------------------------------------------------------------------- */

static void walk_meets_isolated(struct fixture *f, bool old)
{
    struct mm_walk walk;
    struct vma *vma = fixture_vma(f, &f->file, false);
    struct folio *folio = fixture_folio(f, &f->file); /* on no list */
    fixture_map(vma, folio);
    assert_true(fixture_walk(f, true, &walk));
    assert_false(folio_has_seq(folio));
    assert_int_equal(folio_test(folio, FOLIO_REFERENCED), old);
    assert_int_equal(fixture_young(vma, folio->index), !old);
    fixture_verify(f);
}

static void row_28_walk_leaves_isolated_folios_alone(void **state)
{
    each_model(walk_meets_isolated, true, false);
}

/* --- 30: a large folio's own entries -------------------------------------------------------- */

static unsigned filter_bits(const struct lruvec *lruvec, uint64_t seq)
{
    const uint64_t *filter = lruvec->mm_state.filters[seq % 2];
    unsigned bits = 0;
    for (unsigned i = 0; i < BLOOM_BITS / 64; i++)
        bits += (unsigned)__builtin_popcountll(filter[i]);
    return bits;
}

/* Eight young entries of one folio among 64: as many as one a cache line, so the table is dense. */
static void large_target(struct fixture *f, bool old)
{
    struct scan_control sc = fixture_control(f, 0);
    struct vma *vma = fixture_vma(f, &f->file, false);
    bool exec;
    struct folio *large = fixture_folio_in(f->lruvec, f, &f->file, FIXTURE_ZONE, 3);
    fixture_map(vma, large);
    for (unsigned i = 0; i < 56; i++) {
        struct folio *cold = fixture_listed(f, &f->file, 0, 0);
        fixture_map(vma, cold);
        fixture_age_entries(vma, cold);
    }
    f->lruvec->mm_state.filter_used[f->lruvec->max_seq % 2] = true;
    assert_int_equal(mm_referenced(&sc, large, &exec), 1);
    for (uint64_t i = 0; i < 8; i++)
        assert_false(fixture_young(vma, large->index + i));
    assert_int_equal(filter_bits(f->lruvec, f->lruvec->max_seq), 2);

    /* Four are not enough. */
    memset(f->lruvec->mm_state.filters[f->lruvec->max_seq % 2], 0, BLOOM_BITS / 8);
    struct folio *small = fixture_folio_in(f->lruvec, f, &f->file, FIXTURE_ZONE, 2);
    fixture_map(vma, small);
    assert_int_equal(mm_referenced(&sc, small, &exec), 1);
    assert_int_equal(filter_bits(f->lruvec, f->lruvec->max_seq), 0);
}

/* 6.12 handles one entry at a time and counts the others as neighbours: the same sums. */
static void row_30_look_around_counts_all_entries_of_the_target(void **state)
{
    each_model(large_target, true, false);
}

/* --- 34: moving the oldest generation ------------------------------------------------------- */

static void move_oldest(struct fixture *f, bool per_folio)
{
    struct lruvec *lruvec = f->lruvec;
    const struct reclaim_model *model = f->reclaim.model;
    /* Head to tail: 3, 2 (promoted), 1, 0. */
    struct folio *folios[4];
    for (unsigned i = 0; i < 4; i++)
        folios[i] = fixture_listed(f, &f->file, 0, FIXTURE_STATE(1, 0, 1));
    struct folio *before = fixture_listed(f, &f->file, 1, 0);
    struct folio *young = fixture_listed(f, &f->file, 3, 0);
    generation_account(lruvec, folios[2], 0, 3);
    folios[2]->flags = model->walk_flags(folios[2]->flags, 3, false);

    assert_true(aging_move_oldest(lruvec, LRU_TYPE_FILE, (enum aging_algorithm)model->aging));
    lruvec->min_seq[LRU_TYPE_FILE]++;
    fixture_verify(f);
    struct list_node *dst = &lruvec->folios[1][LRU_TYPE_FILE][FIXTURE_ZONE];
    struct list_node *top = &lruvec->folios[3][LRU_TYPE_FILE][FIXTURE_ZONE];
    assert_ptr_equal(dst->next, &before->lru); /* who came first stays the hottest */
    struct folio *coldest = per_folio ? folios[3] : folios[0];
    assert_ptr_equal(dst->prev, &coldest->lru);
    if (model->aging == AGING_SPLICE) /* sorted when eviction meets it */
        assert_ptr_equal(before->lru.next->next, &folios[2]->lru);
    else
        assert_ptr_equal(per_folio ? top->prev : top->next, &folios[2]->lru);
    assert_ptr_equal(per_folio ? top->next : top->prev, &young->lru);
    unsigned long counted = lruvec->protected_pages[LRU_TYPE_FILE][1] +
                            lruvec->protected_pages[LRU_TYPE_FILE][2] +
                            lruvec->protected_pages[LRU_TYPE_FILE][3];
    /* 7.3 counts the promoted one too; 6.12 and the splice count none. */
    assert_int_equal(counted, !model->bump_counts ? 0 : per_folio ? 4 : 3);
}

static void row_34_oldest_generation_keeps_its_order(void **state)
{
    each_model(move_oldest, true, true);
}

/* --- 35: layout ----------------------------------------------------------------------------- */

#define LINE_OF(field) (offsetof(struct lruvec, field) / 64)
#define LAST_LINE_OF(field)                                                                        \
    ((offsetof(struct lruvec, field) + sizeof(((struct lruvec *)0)->field) - 1) / 64)

/* The layout is the library's, whatever the model. */
static void row_35_lockless_counters_have_lines_of_their_own(void **state)
{
    _Static_assert(offsetof(struct lruvec, evicted) % 64 == 0, "starts a line");
    _Static_assert(offsetof(struct lruvec, refaulted) % 64 == 0, "starts a line");
    _Static_assert(sizeof(((struct lruvec *)0)->evicted) == 64, "fills its line");
    _Static_assert(sizeof(((struct lruvec *)0)->refaulted) == 64, "fills its line");
    _Static_assert(offsetof(struct lruvec, folios) % 64 == 0, "lists start a line");
    _Static_assert(_Alignof(struct lruvec) == 64, "lines are those of the struct");
    assert_true(LAST_LINE_OF(memcg_list) < LINE_OF(folios));
    assert_true(LAST_LINE_OF(protected_pages) < LINE_OF(evicted));
    assert_true(LAST_LINE_OF(refaulted) < LINE_OF(nonresident_age));
    assert_true(LINE_OF(enabled) != LINE_OF(evicted) && LINE_OF(enabled) != LINE_OF(refaulted));
}

/* --- 36: turning MGLRU on ------------------------------------------------------------------- */

static void fill_inactive(struct fixture *f, bool bug)
{
    struct lruvec *lruvec = f->lruvec;
    struct folio *folios[10];
    for (unsigned i = 0; i < 10; i++) { /* newest last; R as a file read once has it */
        folios[i] = fixture_folio(f, i < 5 ? &f->file : &f->anon);
        folio_set(folios[i], FOLIO_REFERENCED);
        lruvec_add(folios[i], false);
    }
    struct folio *active = fixture_folio(f, &f->file);
    folio_set(active, FOLIO_ACTIVE);
    lruvec_add(active, false);
    reclaim_switch(&f->reclaim, true, NULL, NULL);
    fixture_verify(f);
    assert_true(generation_seq(lruvec, active) + MIN_NR_GENS > lruvec->max_seq);
    if (bug) {
        assert_int_equal(generation_seq(lruvec, folios[0]), 1);
        assert_int_equal(generation_seq(lruvec, folios[9]), 2); /* among the young */
        return;
    }
    for (unsigned i = 0; i < 10; i++)
        assert_int_equal(generation_seq(lruvec, folios[i]), 0);
    for (unsigned type = 0; type < LRU_TYPES; type++) {
        struct list_node *list = &lruvec->folios[0][type][FIXTURE_ZONE];
        struct folio *oldest = folios[type == LRU_TYPE_FILE ? 0 : 5];
        struct folio *newest = folios[type == LRU_TYPE_FILE ? 4 : 9];
        assert_ptr_equal(list->prev, &oldest->lru);
        assert_ptr_equal(list->next, &newest->lru);
    }
}

static void row_36_switching_on_keeps_inactive_folios_oldest(void **state)
{
    for (unsigned m = 0; m < FIXTURE_MODELS; m++) {
        struct fixture *fixture = fixture_new_classic(fixture_models[m]);
        fill_inactive(fixture, m == FIXTURE_612 || m == FIXTURE_73);
        fixture_free(fixture);
    }
}

/* --- 37, 38: not in any model --------------------------------------------------------------- */

static void starvation(struct fixture *f, bool unused)
{
    struct scan_control sc = fixture_control(f, 0);
    struct isolation isolation = {.nr = 64, .type = LRU_TYPE_FILE, .tier = 3};
    list_init(&isolation.folios);
    fixture_seqs(f, 3, 2, 2);
    fixture_fill(f, &f->file, 2, 100);
    assert_int_equal(eviction_scan(f->lruvec, &sc, &isolation), 0);
    assert_true(list_empty(&isolation.folios));
    /* Folios of zones that do not help are shuffled on the way. */
    fixture_seqs(f, 3, 0, 0);
    fixture_fill(f, &f->file, 0, 10);
    sc.reclaim_zone = FIXTURE_ZONE - 1;
    assert_int_equal(eviction_scan(f->lruvec, &sc, &isolation), 10);
    assert_true(list_empty(&f->lruvec->folios[0][LRU_TYPE_FILE][FIXTURE_ZONE]));
    assert_true(list_empty(&isolation.folios));
    fixture_verify(f);
}

/* RFC: the bug stays in all four models. */
static void row_37_only_the_oldest_generation_is_scanned(void **state)
{
    each_model(starvation, true, true);
}

static void one_type(struct fixture *f, bool unused)
{
    struct scan_control sc = fixture_control(f, 0);
    fixture_fill(f, &f->file, 0, 40);
    fixture_fill(f, &f->anon, 0, 40);
    eviction_run(f->lruvec, &sc, 100, 64);
    /* Either or, never a share of both. */
    assert_int_equal(fixture_stat(f, MEMCG_PGSTEAL_FILE), 40);
    assert_int_equal(fixture_stat(f, MEMCG_PGSTEAL_ANON), 0);
}

/* RFC: the bug stays in all four models. */
static void row_38_one_batch_takes_one_type(void **state)
{
    each_model(one_type, true, true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(row_14_switching_hides_no_page),
        cmocka_unit_test(row_20_lazyfree_needs_no_io),
        cmocka_unit_test(row_21_unevictable_is_culled_on_putback),
        cmocka_unit_test(row_22_executable_files_promote_at_once),
        cmocka_unit_test(row_23_direct_global_reclaim_honours_protection),
        cmocka_unit_test(row_24_root_alone_is_reclaimed),
        cmocka_unit_test(row_25_sizes_move_with_the_folios),
        cmocka_unit_test(row_26_walk_after_removal_counts_at_the_parent),
        cmocka_unit_test(row_27_lists_and_owners_agree_on_every_node),
        cmocka_unit_test(row_28_walk_leaves_isolated_folios_alone),
        cmocka_unit_test(row_30_look_around_counts_all_entries_of_the_target),
        cmocka_unit_test(row_34_oldest_generation_keeps_its_order),
        cmocka_unit_test(row_35_lockless_counters_have_lines_of_their_own),
        cmocka_unit_test(row_36_switching_on_keeps_inactive_folios_oldest),
        cmocka_unit_test(row_37_only_the_oldest_generation_is_scanned),
        cmocka_unit_test(row_38_one_batch_takes_one_type),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
