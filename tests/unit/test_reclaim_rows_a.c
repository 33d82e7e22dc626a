/* SPDX-License-Identifier: MIT */
/*
 * Rows 1 to 18 of mglru-facts 10: what went wrong in a kernel since 6.12. Each test is named after
 * its row and asserts for each model what the row's column says: a model of a kernel that has the
 * bug shows it, the others behave right. docs/rows.md lists where each row is covered.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include <mglru/control.h>

#include "reclaim_fixture.h"

/* Runs the test of a row for each model. */
static void each_model(void (*body)(struct fixture *fixture, bool old))
{
    for (unsigned m = 0; m < FIXTURE_MODELS; m++) {
        struct fixture *fixture = fixture_new(fixture_models[m]);
        body(fixture, m == FIXTURE_612);
        fixture_free(fixture);
    }
}

/* --- 1: no progress is told as no progress -------------------------------------------------- */

static void without_progress(struct fixture *f, bool old)
{
    fixture_fill(f, &f->file, 0, 200);
    for (unsigned long i = 0; i < f->count; i++)
        folio_set(f->folios[i], FOLIO_PINNED);
    for (unsigned i = 0; i < 16; i++)
        assert_int_equal(reclaim_background(&f->reclaim, 64), 0);
    for (unsigned long i = 0; i < f->count; i++)
        folio_clear(f->folios[i], FOLIO_PINNED);
    assert_true(reclaim_background(&f->reclaim, 64) > 0);
}

static void row_01_background_pass_without_progress_says_so(void **state)
{
    each_model(without_progress);
}

/* --- 2: an activated folio starts without references ---------------------------------------- */

static void activation_clears(struct fixture *f, bool old)
{
    struct folio *folio = fixture_folio(f, &f->file);
    folio_set(folio, FOLIO_ACTIVE | FIXTURE_STATE(1, 1, 2));
    lruvec_add(folio, false);
    assert_int_equal(generation_seq(f->lruvec, folio), 3);
    assert_false(folio_test(folio, FOLIO_ACTIVE));
    unsigned left = old ? FIXTURE_STATE(0, 1, 0) : FIXTURE_STATE(1, 1, 2);
    assert_int_equal(folio->flags & FOLIO_STATE_MASK, left);

    /* Newer kernels clear where the flag is set: leftovers of an eviction. */
    fixture_seqs(f, 3, 1, 1);
    struct folio *busy = fixture_folio(f, &f->file);
    folio_set(busy, FOLIO_DIRTY | FIXTURE_STATE(1, 0, 2));
    assert_false(f->reclaim.model->leftover(f->lruvec, busy, false));
    assert_true(folio_test(busy, FOLIO_ACTIVE));
    assert_int_equal(busy->flags & FOLIO_STATE_MASK, 0);
}

static void row_02_activation_resets_references(void **state)
{
    each_model(activation_clears);
}

/* --- 3: counters add up over the retry of a batch ------------------------------------------- */

static void unlock_all(struct fixture *f)
{
    for (unsigned long i = 0; i < f->count; i++)
        folio_clear(f->folios[i], FOLIO_LOCKED);
}

static void steal_counts(struct fixture *f, bool old)
{
    struct scan_control sc = fixture_control(f, 0);
    folio_set(fixture_listed(f, &f->file, 0, 0), FOLIO_LOCKED); /* judged first, kept */
    fixture_listed(f, &f->file, 0, 0);
    f->on_release = unlock_all;
    eviction_run(f->lruvec, &sc, 0, MIN_LRU_BATCH);
    assert_int_equal(f->releases, 2);
    assert_int_equal(f->released[1], 0); /* in the second pass */
    assert_int_equal(sc.nr_reclaimed, 2);
    assert_int_equal(fixture_stat(f, MEMCG_PGSTEAL_DIRECT), 2);
    assert_int_equal(fixture_stat(f, MEMCG_PGSTEAL_FILE), 2);
}

static void row_03_steal_counts_add_up_over_the_retry(void **state)
{
    each_model(steal_counts);
}

/* --- 4: folios of the oldest generation are not deactivated again --------------------------- */

static void deactivation(struct fixture *f, bool old)
{
    struct folio *oldest = fixture_listed(f, &f->file, 0, FIXTURE_STATE(1, 0, 1));
    fixture_listed(f, &f->file, 0, 0);
    folio_deactivate(oldest);
    struct list_node *tail = f->lruvec->folios[0][LRU_TYPE_FILE][FIXTURE_ZONE].prev;
    assert_int_equal(fixture_stat(f, MEMCG_PGDEACTIVATE), old ? 1 : 0);
    if (old) {
        assert_ptr_not_equal(tail, &oldest->lru);
        assert_int_equal(generation_seq(f->lruvec, oldest), 1);
    } else {
        assert_ptr_equal(tail, &oldest->lru);
        assert_int_equal(oldest->flags & FOLIO_STATE_MASK, 0);
    }
    /* The same question for a failed invalidation. */
    folio_deactivate_file(oldest);
    assert_int_equal(fixture_stat(f, MEMCG_PGROTATED), old ? 1 : 0);
    /* A folio of a younger generation moves in all models. */
    struct folio *younger = fixture_listed(f, &f->file, 2, 0);
    folio_deactivate_file(younger);
    assert_int_equal(generation_seq(f->lruvec, younger), 0);
    fixture_verify(f);
}

static void row_04_oldest_folios_are_left_alone_by_deactivation(void **state)
{
    each_model(deactivation);
}

/* --- 5: when to age, and anonymous memory ahead of files ------------------------------------ */

static void when_to_age(struct fixture *f, bool old)
{
    struct scan_control sc = fixture_control(f, DEF_PRIORITY - 1);
    unsigned long total;
    fixture_seqs(f, 3, 1, 1);
    fixture_fill(f, &f->file, 1, 100); /* three generations, all pages in the oldest */
    assert_int_equal(f->reclaim.model->should_age(f->lruvec, &sc, 60, &total), !old);
    fixture_fill(f, &f->file, 3, 101); /* now the youngest outnumber the rest */
    assert_true(f->reclaim.model->should_age(f->lruvec, &sc, 60, &total));
    sc.priority = DEF_PRIORITY;
    /* By sizes alone 6.12 would age at once; its caller waits for the next priority. */
    assert_int_equal(f->reclaim.model->should_age(f->lruvec, &sc, 60, &total), old);
}

static void anon_passes_file(struct fixture *f, bool old)
{
    fixture_seqs(f, 5, 2, 2);
    fixture_fill(f, &f->file, 2, 10);
    fixture_fill(f, &f->anon, 3, 10);
    assert_int_equal(aging_inc_min_seq(f->lruvec, 60), !old);
    assert_int_equal(f->lruvec->min_seq[LRU_TYPE_ANON], old ? 2 : 3);
    assert_int_equal(f->lruvec->min_seq[LRU_TYPE_FILE], 2);
}

static void row_05_aging_goes_by_generations_and_anon_passes_file(void **state)
{
    each_model(when_to_age);
    each_model(anon_passes_file);
}

/* --- 6: type and tier by all tiers ---------------------------------------------------------- */

static void isolate_one_batch(struct fixture *f, int swappiness, struct isolation *isolation)
{
    struct scan_control sc = fixture_control(f, 0);
    *isolation = (struct isolation){.nr = MIN_LRU_BATCH};
    list_init(&isolation->folios);
    f->reclaim.model->isolate(f->lruvec, &sc, swappiness, isolation);
    eviction_put_back(f->lruvec, &isolation->folios);
}

static void type_choice(struct fixture *f, bool old)
{
    struct lruvec *lruvec = f->lruvec;
    struct isolation isolation;
    fixture_fill(f, &f->file, 0, 10);
    fixture_fill(f, &f->anon, 0, 10);
    /* Files come back from tier 0 and hardly else; anonymous memory from tier 1. */
    lruvec->refaulted[LRU_TYPE_FILE][0] = 1000;
    lruvec->evicted[LRU_TYPE_FILE][0] = 1000;
    lruvec->evicted[LRU_TYPE_FILE][1] = 100000;
    lruvec->evicted[LRU_TYPE_ANON][0] = 1000;
    lruvec->refaulted[LRU_TYPE_ANON][1] = 90000;
    lruvec->evicted[LRU_TYPE_ANON][1] = 100000;
    isolate_one_batch(f, 60, &isolation);
    assert_int_equal(isolation.type, old ? LRU_TYPE_ANON : LRU_TYPE_FILE);
}

static void tier_gain(struct fixture *f, bool old)
{
    struct isolation isolation;
    f->lruvec->refaulted[LRU_TYPE_FILE][0] = 99;
    f->lruvec->evicted[LRU_TYPE_FILE][0] = 936;
    f->lruvec->evicted[LRU_TYPE_FILE][1] = 1000;
    fixture_fill(f, &f->file, 0, 1);
    /* Tier 1 may refault 3 to 2 times as much, 2 to 1 in 6.12. */
    static const unsigned long refaults[] = {150, 151, 200, 201};
    for (unsigned i = 0; i < 4; i++) {
        f->lruvec->refaulted[LRU_TYPE_FILE][1] = refaults[i];
        isolate_one_batch(f, 0, &isolation);
        unsigned long bound = old ? 200 : 150;
        assert_int_equal(isolation.tier, refaults[i] <= bound ? 3 : 0);
    }
}

static void row_06_type_and_tier_by_all_tiers(void **state)
{
    each_model(type_choice);
    each_model(tier_gain);
}

/* --- 7: recent is a distance ---------------------------------------------------------------- */

static void recent(struct fixture *f, bool old)
{
    struct folio *folio = fixture_folio(f, &f->file);
    fixture_seqs(f, 9, 7, 7);
    for (uint64_t seq = 4; seq <= 9; seq++) {
        struct shadow shadow = {.token = seq << 2, .token_bits = WORKINGSET_TOKEN_BITS};
        struct refault_result result = f->reclaim.model->refault(f->lruvec, folio, &shadow, false);
        assert_int_equal(result.recent, old ? seq == 7 : seq > 5);
    }
}

static void row_07_recent_is_a_distance_to_the_youngest(void **state)
{
    each_model(recent);
}

/* --- 8: four generations are used ----------------------------------------------------------- */

static void placement(struct fixture *f, bool old)
{
    struct folio *folios[5];
    for (unsigned i = 0; i < 5; i++)
        folios[i] = fixture_folio(f, i == 3 ? &f->anon : &f->file);
    folio_set(folios[1], FOLIO_REFERENCED);
    folio_set(folios[4], FOLIO_WORKINGSET);
    for (unsigned i = 0; i < 5; i++)
        lru_batch_add(&f->reclaim, folios[i], i >= 2); /* 0, 1 read; 2, 3, 4 faulted */
    lru_batch_drain(&f->reclaim);
    static const uint64_t expected[2][5] = {{0, 1, 1, 2, 3}, {1, 1, 3, 3, 3}};
    for (unsigned i = 0; i < 5; i++)
        assert_int_equal(generation_seq(f->lruvec, folios[i]), expected[old][i]);
    fixture_verify(f);
}

static void row_08_new_folios_spread_over_four_generations(void **state)
{
    each_model(placement);
}

/* --- 9, 19: the flushers start -------------------------------------------------------------- */

static void all_dirty(struct fixture *f, unsigned count)
{
    fixture_fill(f, &f->file, 0, count);
    for (unsigned long i = 0; i < f->count; i++)
        folio_set(f->folios[i], FOLIO_DIRTY);
}

static void flushers(struct fixture *f, bool old)
{
    struct scan_control sc = fixture_control(f, 0);
    all_dirty(f, 128);
    folio_clear(f->folios[0], FOLIO_DIRTY);
    f->reclaim.model->shrink(f->lruvec, &sc);
    assert_int_equal(f->wakes, old ? 0 : 1); /* one batch of two was dirty in whole */
    assert_int_equal(f->releases, 1);
    fixture_verify(f);
}

static void all_dirty_wakes(struct fixture *f, bool old)
{
    struct scan_control sc = fixture_control(f, 0);
    all_dirty(f, 40);
    f->reclaim.model->shrink(f->lruvec, &sc);
    assert_int_equal(f->wakes, 1);
}

static void row_09_all_dirty_wakes_the_flushers(void **state)
{
    each_model(all_dirty_wakes);
}

static void whole_loop(struct fixture *f, bool old)
{
    struct scan_control sc = fixture_control(f, 0);
    all_dirty(f, 128);
    f->reclaim.model->shrink(f->lruvec, &sc);
    assert_int_equal(f->wakes, old ? 1 : 2); /* after the loop; after each batch */
}

static void row_19_flushers_start_after_each_batch(void **state)
{
    each_model(flushers);
    each_model(whole_loop);
}

/* --- 10: a forced walk sees all tables ------------------------------------------------------ */

static void forced_walk(struct fixture *f, bool old)
{
    struct vma *vma = fixture_vma(f, &f->anon, false);
    struct mm_walk walk;
    struct page_table *table;
    struct folio *folio = fixture_listed(f, &f->anon, 0, FIXTURE_STATE(1, 0, 0));
    fixture_map(vma, folio);
    vma_entry(vma, folio->index, &table);
    /* The first iteration forces itself; here it has been. */
    assert_true(fixture_walk(f, false, &walk));
    f->lruvec->mm_state.seq--;
    *vma_entry(vma, folio->index, NULL) |= PTE_YOUNG;
    table->young = false;
    vma->mm->ran = true;
    assert_true(fixture_walk(f, false, &walk));
    assert_int_equal(walk.stats[2], 0);
    assert_true(fixture_young(vma, folio->index));

    f->lruvec->mm_state.seq--;
    vma->mm->ran = true;
    assert_true(fixture_walk(f, true, &walk));
    assert_int_equal(walk.stats[2], 1);
    assert_false(fixture_young(vma, folio->index));
}

static void row_10_forced_walk_ignores_non_leaf_bits(void **state)
{
    each_model(forced_walk);
}

/* --- 11: anonymous memory only -------------------------------------------------------------- */

static void anon_only(struct fixture *f, bool old)
{
    struct scan_control sc = fixture_control(f, 0);
    fixture_fill(f, &f->file, 0, 10);
    if (!old) {
        assert_int_equal(eviction_run(f->lruvec, &sc, SWAPPINESS_ANON_ONLY, 64), 0);
        assert_int_equal(f->releases, 0);
        /* Nothing can be swapped: nothing is scanned, files neither. */
        sc.proactive = true;
        sc.swappiness = SWAPPINESS_ANON_ONLY;
        f->swap_left = 0;
        f->reclaim.model->shrink(f->lruvec, &sc);
        assert_int_equal(f->releases, 0);
    }
    eviction_run(f->lruvec, &sc, MAX_SWAPPINESS, 64);
    assert_int_equal(f->releases, 10); /* 200 is a preference in all models */
}

static int write_max(const char *model)
{
    struct mglru_cache_options options = {.size = sizeof(options), .model = model};
    struct mglru_cache *cache;
    struct mglru_memcg *memcg;
    assert_int_equal(mglru_cache_create(&options, &cache), 0);
    assert_int_equal(mglru_memcg_create(cache, "/t", &memcg), 0);
    const char *text = "4096 swappiness=max";
    int error = mglru_memcg_write(memcg, "memory.reclaim", text, strlen(text));
    mglru_cache_destroy(cache);
    return error;
}

static void row_11_swappiness_max_never_takes_files(void **state)
{
    each_model(anon_only);
    for (unsigned m = 0; m < FIXTURE_MODELS; m++) /* EAGAIN: known, but nothing to take */
        assert_int_equal(write_max(fixture_models[m]->name),
                         m == FIXTURE_612 ? MGLRU_EINVAL : MGLRU_EAGAIN);
}

/* --- 12: min_seq stays when nothing is empty ------------------------------------------------ */

static void min_seq_stays(struct fixture *f, bool old)
{
    fixture_seqs(f, 6, 3, 4);
    fixture_fill(f, &f->anon, 3, 1);
    fixture_fill(f, &f->file, 4, 1);
    /* What a refault rate has gathered would be halved by a needless step. */
    f->lruvec->evicted[LRU_TYPE_FILE][0] = 100;
    for (unsigned i = 0; i < 3; i++)
        assert_false(aging_inc_min_seq(f->lruvec, 60));
    assert_int_equal(f->lruvec->min_seq[LRU_TYPE_ANON], 3);
    assert_int_equal(f->lruvec->min_seq[LRU_TYPE_FILE], 4);
    assert_int_equal(f->lruvec->evicted[LRU_TYPE_FILE][0], 100);
}

/* The bug of 6.12 costs time under the lock and changes no result: all models agree. */
static void row_12_min_seq_never_moves_for_nothing(void **state)
{
    each_model(min_seq_stays);
}

/* --- 13: whose reclaim a command is --------------------------------------------------------- */

static void command_counts(struct fixture *f, bool old)
{
    fixture_fill(f, &f->file, 0, 10);
    assert_int_equal(reclaim_evict_seq(&f->reclaim, f->lruvec, 0, 0, ULONG_MAX), 0);
    assert_int_equal(f->releases, 10);
    assert_int_equal(f->reclaim.global_scanned, old ? 10 : 0);
    assert_int_equal(f->reclaim.global_stolen, old ? 10 : 0);
    assert_int_equal(fixture_stat(f, MEMCG_PGSCAN_PROACTIVE), old ? 0 : 10);
    assert_int_equal(fixture_stat(f, MEMCG_PGSTEAL_PROACTIVE), old ? 0 : 10);
    assert_int_equal(fixture_stat(f, MEMCG_PGSTEAL_DIRECT), old ? 10 : 0);
}

static void row_13_command_counts_for_its_memcg(void **state)
{
    each_model(command_counts);
}

/* --- 15: aging does not end reclaim --------------------------------------------------------- */

static void after_aging(struct fixture *f, bool old)
{
    struct scan_control sc = fixture_control(f, 2);
    fixture_seqs(f, 3, 1, 1);
    fixture_fill(f, &f->file, 1, 1000);
    fixture_fill(f, &f->file, 3, 2000);
    bool rotate = f->reclaim.model->shrink(f->lruvec, &sc);
    assert_true(rotate);
    assert_int_equal(f->ages, 1);
    if (old)
        assert_int_equal(sc.nr_reclaimed, 0);
    else
        assert_true(sc.nr_reclaimed >= SWAP_CLUSTER_MAX);
}

static void row_15_reclaim_goes_on_after_aging(void **state)
{
    each_model(after_aging);
}

/* --- 16: sorting is no reason to change the type -------------------------------------------- */

static void only_sorted(struct fixture *f, bool old)
{
    struct scan_control sc = fixture_control(f, 0);
    for (unsigned i = 0; i < 10; i++) {
        struct folio *promoted = fixture_listed(f, &f->file, 3, 0);
        list_move_head(&f->lruvec->folios[0][LRU_TYPE_FILE][FIXTURE_ZONE], &promoted->lru);
        fixture_listed(f, &f->anon, 0, 0);
    }
    eviction_run(f->lruvec, &sc, 60, 64);
    assert_int_equal(fixture_stat(f, MEMCG_PGSTEAL_ANON), old ? 10 : 0);
    assert_int_equal(fixture_stat(f, MEMCG_PGREFILL), 10);
    fixture_verify(f);
}

static void row_16_sorting_does_not_switch_the_type(void **state)
{
    each_model(only_sorted);
}

/* --- 17: the count is of pages -------------------------------------------------------------- */

static void scan_count(struct fixture *f, bool old)
{
    struct scan_control sc = fixture_control(f, 0);
    fixture_fill(f, &f->file, 1, 10); /* the oldest generation is empty */
    unsigned long scanned = eviction_run(f->lruvec, &sc, 60, 64);
    assert_int_equal(scanned, old ? 1 : 10);
    assert_int_equal(f->releases, old ? 0 : 10);
}

static void row_17_scan_count_is_exact(void **state)
{
    each_model(scan_count);
}

/* --- 18: dirty folios are met once ---------------------------------------------------------- */

static void dirty_folio(struct fixture *f, bool old)
{
    struct scan_control sc = fixture_control(f, 0);
    struct folio *dirty = fixture_listed(f, &f->file, 0, 0);
    struct folio *writing = fixture_listed(f, &f->file, 0, 0);
    uint64_t indexes[] = {dirty->index, writing->index};
    folio_set(dirty, FOLIO_DIRTY);
    folio_set(writing, FOLIO_WRITEBACK);
    fixture_fill(f, &f->file, 0, 10);
    eviction_run(f->lruvec, &sc, 0, 64);
    assert_int_equal(f->releases, 10);
    struct folio *folios[] = {dirty, writing};
    for (unsigned i = 0; i < 2; i++) {
        assert_true(folio_test(folios[i], FOLIO_RECLAIM));
        assert_true(generation_seq(f->lruvec, folios[i]) + MIN_NR_GENS > f->lruvec->max_seq);
    }
    /* The write ends: next to be taken, before all others of the oldest generation. */
    aging_bump(f->lruvec, 0);
    fixture_fill(f, &f->file, f->lruvec->min_seq[LRU_TYPE_FILE], 100);
    for (unsigned i = 0; i < 2; i++) {
        folio_clear(folios[i], FOLIO_DIRTY | FOLIO_WRITEBACK | FOLIO_RECLAIM);
        folio_rotate_reclaimable(folios[i]);
    }
    assert_int_equal(fixture_stat(f, MEMCG_PGROTATED), 2);
    eviction_run(f->lruvec, &sc, 0, 2);
    assert_true(fixture_was_released(f, indexes[0]));
    assert_true(fixture_was_released(f, indexes[1]));
    fixture_verify(f);
}

static void row_18_dirty_folios_come_back_when_written(void **state)
{
    each_model(dirty_folio);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(row_01_background_pass_without_progress_says_so),
        cmocka_unit_test(row_02_activation_resets_references),
        cmocka_unit_test(row_03_steal_counts_add_up_over_the_retry),
        cmocka_unit_test(row_04_oldest_folios_are_left_alone_by_deactivation),
        cmocka_unit_test(row_05_aging_goes_by_generations_and_anon_passes_file),
        cmocka_unit_test(row_06_type_and_tier_by_all_tiers),
        cmocka_unit_test(row_07_recent_is_a_distance_to_the_youngest),
        cmocka_unit_test(row_08_new_folios_spread_over_four_generations),
        cmocka_unit_test(row_09_all_dirty_wakes_the_flushers),
        cmocka_unit_test(row_10_forced_walk_ignores_non_leaf_bits),
        cmocka_unit_test(row_11_swappiness_max_never_takes_files),
        cmocka_unit_test(row_12_min_seq_never_moves_for_nothing),
        cmocka_unit_test(row_13_command_counts_for_its_memcg),
        cmocka_unit_test(row_15_reclaim_goes_on_after_aging),
        cmocka_unit_test(row_16_sorting_does_not_switch_the_type),
        cmocka_unit_test(row_17_scan_count_is_exact),
        cmocka_unit_test(row_18_dirty_folios_come_back_when_written),
        cmocka_unit_test(row_19_flushers_start_after_each_batch),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
