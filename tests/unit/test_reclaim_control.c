/* SPDX-License-Identifier: MIT */
/*
 * What steers reclaim: the refault-rate controller (tier.c; mglru-facts 3.4), shadow entries
 * (workingset.c; 4), moves of min_seq (aging.c; 2.8), sort rules (eviction.c; 3.2, 3.3), and the
 * driver (reclaim.c; swappiness 2.1, min_ttl 2.9, protection 3.1, shadow nodes 13.3).
 */
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
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

/* --- tier.c --------------------------------------------------------------------------------- */

static void controller_compares_refault_rates(void **state)
{
    struct tier_position sp = {.refaulted = 99, .total = 936, .gain = 2};
    struct tier_position pv = {.refaulted = 63, .total = 1, .gain = 3};
    assert_true(tier_ok(&sp, &pv)); /* fewer than 64 refaults never count */
    pv.refaulted = 64;
    assert_false(tier_ok(&sp, &pv));
    pv = (struct tier_position){.refaulted = 150, .total = 1000, .gain = 3};
    assert_true(tier_ok(&sp, &pv)); /* equal is ok */
    pv.refaulted = 151;
    assert_false(tier_ok(&sp, &pv));
    /* Products of three longs do not overflow. */
    sp = (struct tier_position){.refaulted = 1ul << 40, .total = 1ul << 41, .gain = 200};
    pv = (struct tier_position){.refaulted = 1ul << 41, .total = 1ul << 41, .gain = 200};
    assert_false(tier_ok(&sp, &pv));
    pv.refaulted = 1ul << 39;
    assert_true(tier_ok(&sp, &pv));
}

static void reset_carries_half_over(void **state)
{
    struct fixture *f = fixture_new(&model_73);
    struct lruvec *lruvec = f->lruvec;
    for (unsigned tier = 0; tier < MAX_NR_TIERS; tier++) {
        lruvec->avg_refaulted[1][tier] = 10;
        lruvec->refaulted[1][tier] = 20 + tier;
        lruvec->avg_total[1][tier] = 100;
        lruvec->evicted[1][tier] = 40;
        lruvec->protected_pages[1][tier] = 10;
    }
    struct tier_position one = tier_read(lruvec, LRU_TYPE_FILE, 2, 7);
    assert_int_equal(one.refaulted, 32);
    assert_int_equal(one.total, 150);
    assert_int_equal(one.gain, 7);
    struct tier_position all = tier_read(lruvec, LRU_TYPE_FILE, MAX_NR_TIERS, 7);
    assert_int_equal(all.refaulted, 4 * 30 + 6);
    assert_int_equal(all.total, 600);
    tier_reset(lruvec, LRU_TYPE_FILE, false); /* one history slot: nothing */
    assert_int_equal(lruvec->evicted[1][0], 40);
    tier_reset(lruvec, LRU_TYPE_FILE, true);
    assert_int_equal(lruvec->avg_refaulted[1][2], 16);
    assert_int_equal(lruvec->avg_total[1][2], 75);
    assert_int_equal(lruvec->refaulted[1][2], 0);
    assert_int_equal(lruvec->evicted[1][2], 0);
    assert_int_equal(lruvec->protected_pages[1][2], 0);
    fixture_free(f);
}

/* --- workingset.c --------------------------------------------------------------------------- */

static void eviction_packs(struct fixture *f, bool old)
{
    const struct reclaim_model *model = f->reclaim.model;
    fixture_seqs(f, 13, 10, 12);
    for (unsigned state = 0; state < 16; state++) {
        struct folio *folio = fixture_folio(f, &f->file);
        folio_set(folio, state);
        unsigned long before = f->lruvec->evicted[LRU_TYPE_FILE][model->tier[state]];
        uint64_t packed = workingset_evict(&f->reclaim, folio, f->memcg);
        struct shadow shadow = workingset_unpack(packed);
        unsigned refs = model->refs[state];
        assert_int_equal(packed >> 63, 0); /* an index slot needs one bit */
        assert_int_equal(shadow.token, 12 << 2 | (refs ? refs - 1 : 0));
        assert_int_equal(workingset_shadow_seq(packed), 12);
        assert_int_equal(shadow.memcg_id, atomic_load_relaxed(&f->memcg->id));
        assert_int_equal(shadow.node, 0);
        assert_int_equal(shadow.workingset, old ? refs > 0 : (state >> 1 & 1));
        assert_int_equal(f->lruvec->evicted[LRU_TYPE_FILE][model->tier[state]], before + 1);
        fixture_drop(f, folio);
    }
}

static void shadows_hold_generation_and_refs(void **state)
{
    each_model(eviction_packs);
}

/* Evicts a folio with @state and brings its page back. */
static struct folio *come_back(struct fixture *f, unsigned state, bool in_fault)
{
    struct folio *gone = fixture_folio(f, &f->file);
    folio_set(gone, state);
    uint64_t shadow = workingset_evict(&f->reclaim, gone, f->memcg);
    fixture_drop(f, gone);
    struct folio *folio = fixture_folio(f, &f->file);
    assert_true(workingset_refault(&f->reclaim, folio, shadow, in_fault));
    return folio;
}

static void refaults(struct fixture *f, bool old)
{
    struct lruvec *lruvec = f->lruvec;
    /* Never marked. */
    struct folio *folio = come_back(f, 0, false);
    assert_false(folio_test(folio, FOLIO_STATE_MASK | FOLIO_ACTIVE));
    assert_int_equal(lruvec->refaulted[LRU_TYPE_FILE][0], 1);
    assert_int_equal(fixture_stat(f, MEMCG_WORKINGSET_ACTIVATE_FILE), old ? 1 : 0);
    /* Three accesses: refs 3 in the newer kernels, 2 in 6.12. */
    folio = come_back(f, old ? FIXTURE_STATE(1, 1, 1) : FIXTURE_STATE(1, 0, 2), false);
    assert_int_equal(folio->flags & FOLIO_STATE_MASK, old ? 0 : FIXTURE_STATE(0, 0, 2));
    assert_int_equal(lruvec->refaulted[LRU_TYPE_FILE][2], 1);
    assert_int_equal(fixture_stat(f, MEMCG_WORKINGSET_RESTORE_FILE), 0);
    /* Five: workingset comes back. */
    folio = come_back(f, FIXTURE_STATE(1, 1, 3), false);
    assert_int_equal(folio->flags & FOLIO_STATE_MASK,
                     old ? FIXTURE_STATE(0, 1, 3) : FIXTURE_STATE(0, 1, 0));
    assert_int_equal(lruvec->refaulted[LRU_TYPE_FILE][3], 1);
    assert_int_equal(fixture_stat(f, MEMCG_WORKINGSET_RESTORE_FILE), 1);
    assert_int_equal(fixture_stat(f, MEMCG_WORKINGSET_ACTIVATE_FILE), old ? 3 : 0);
    /* In a fault it is activated too. */
    come_back(f, FIXTURE_STATE(1, 1, 3), true);
    assert_int_equal(fixture_stat(f, MEMCG_WORKINGSET_ACTIVATE_FILE), old ? 4 : 1);
    assert_int_equal(fixture_stat(f, MEMCG_WORKINGSET_REFAULT_FILE), 4);
}

/* A page that another memcg brings back counts nowhere; an old one as a refault only. */
static void foreign_refaults(struct fixture *f, bool old)
{
    struct folio *gone = fixture_folio(f, &f->file);
    uint64_t shadow = workingset_evict(&f->reclaim, gone, f->memcg);
    struct lruvec *other = memcg_lruvec(fixture_memcg(f, "/u"), 0);
    struct folio *foreign = fixture_folio_in(other, f, &f->file, FIXTURE_ZONE, 0);
    assert_false(workingset_refault(&f->reclaim, foreign, shadow, true));
    assert_int_equal(fixture_stat(f, MEMCG_WORKINGSET_REFAULT_FILE), 0);
    fixture_seqs(f, 8, 5, 5);
    struct folio *late = fixture_folio(f, &f->file);
    assert_false(workingset_refault(&f->reclaim, late, shadow, true));
    assert_int_equal(fixture_stat(f, MEMCG_WORKINGSET_REFAULT_FILE), 1);
    assert_int_equal(f->lruvec->refaulted[LRU_TYPE_FILE][0], 0);
    /* A node that does not exist: nobody's. */
    assert_false(workingset_refault(&f->reclaim, late, shadow | 7 << 2, true));
}

static void refaults_go_by_section_4(void **state)
{
    each_model(refaults);
    each_model(foreign_refaults);
}

/* --- aging.c: 2.8, 2.9 ---------------------------------------------------------------------- */

static void min_seq_sync(struct fixture *f, bool old)
{
    fixture_seqs(f, 7, 4, 4);
    fixture_fill(f, &f->file, 4, 1);
    aging_inc_min_seq(f->lruvec, 60); /* anon is empty */
    /* Newer: anon stops one ahead of the file type. 6.12: anon never passes files. */
    assert_int_equal(f->lruvec->min_seq[LRU_TYPE_ANON], old ? 4 : 5);
    assert_int_equal(f->lruvec->min_seq[LRU_TYPE_FILE], 4);
    if (!old) { /* only the evictable type moves, as far as it likes */
        aging_inc_min_seq(f->lruvec, SWAPPINESS_ANON_ONLY);
        assert_int_equal(f->lruvec->min_seq[LRU_TYPE_ANON], 6);
    }
    fixture_verify(f);
}

static void min_seq_moves_past_empty_generations(void **state)
{
    each_model(min_seq_sync);
}

static void ttl(struct fixture *f, bool old)
{
    struct scan_control sc = fixture_control(f, DEF_PRIORITY);
    sc.target = NULL;
    fixture_fill(f, &f->file, 0, 5000);
    f->reclaim.now_ns = 1000 * UINT64_C(1000000);
    assert_true(reclaim_ttl_allows(&sc)); /* off */
    f->reclaim.min_ttl_ms = 1000;
    assert_false(reclaim_ttl_allows(&sc)); /* born exactly then: not before */
    assert_int_equal(reclaim_background(&f->reclaim, 64), 0);
    f->reclaim.min_ttl_ms = 999;
    assert_true(reclaim_ttl_allows(&sc));
    assert_true(reclaim_background(&f->reclaim, 64) > 0);
    assert_true(fixture_stat(f, MEMCG_PGSTEAL_KSWAPD) > 0);
    page_counter_set_min(&f->memcg->memory, 10000);
    assert_false(reclaim_ttl_allows(&sc)); /* nothing else is reclaimable */
    page_counter_set_min(&f->memcg->memory, 0);
    sc.priority = 12;
    for (unsigned long i = f->count; i > 4000; i--)
        fixture_drop(f, f->folios[i - 1]);
    assert_false(reclaim_ttl_allows(&sc)); /* too small at this priority */
}

static void min_ttl_protects_young_generations(void **state)
{
    each_model(ttl);
}

/* --- eviction.c: 3.3 ------------------------------------------------------------------------ */

static void sort_rules(struct fixture *f, bool old)
{
    struct scan_control sc = fixture_control(f, 0);
    struct isolation isolation = {.nr = 64, .type = LRU_TYPE_FILE, .tier = 1};
    list_init(&isolation.folios);
    struct list_node *next = f->lruvec->folios[1][LRU_TYPE_FILE];
    fixture_listed(f, &f->file, 1, 0);
    struct folio *high = fixture_folio_in(f->lruvec, f, &f->file, 4, 0);
    fixture_place(high, 0, 0);
    unsigned tier2 = old ? FIXTURE_STATE(1, 1, 1) : FIXTURE_STATE(1, 0, 2);
    unsigned tier1 = old ? FIXTURE_STATE(1, 1, 0) : FIXTURE_STATE(1, 0, 1);
    struct folio *protected = fixture_listed(f, &f->file, 0, tier2);
    struct folio *full = fixture_listed(f, &f->file, 0, FIXTURE_STATE(1, 1, 3));
    struct folio *plain = fixture_listed(f, &f->file, 0, tier1);
    struct folio *pinned = fixture_listed(f, &f->file, 0, 0);
    folio_set(pinned, FOLIO_PINNED);
    sc.reclaim_zone = 3;
    assert_int_equal(eviction_scan(f->lruvec, &sc, &isolation), 5);
    assert_int_equal(isolation.pages, 2);
    assert_ptr_equal(isolation.folios.prev, &plain->lru);
    /* A reference shows when the folio is to be freed, not before. */
    assert_ptr_equal(isolation.folios.next, &pinned->lru);
    assert_int_equal(plain->evict_note, 0);
    assert_int_equal(generation_seq(f->lruvec, high), 1);
    assert_int_equal(generation_seq(f->lruvec, protected), 1);
    assert_int_equal(generation_seq(f->lruvec, full), 1);
    /* Protected ones go to the hot end in newer kernels, to the cold end in 6.12. */
    assert_ptr_equal(old ? next[FIXTURE_ZONE].prev : next[FIXTURE_ZONE].next, &full->lru);
    assert_int_equal(f->lruvec->protected_pages[LRU_TYPE_FILE][2], 1);
    assert_int_equal(f->lruvec->protected_pages[LRU_TYPE_FILE][3], old ? 1 : 0);
    assert_int_equal(protected->flags & FOLIO_STATE_MASK, 0);
    assert_int_equal(full->flags & FOLIO_STATE_MASK, old ? 0 : FIXTURE_STATE(0, 1, 0));
    assert_int_equal(fixture_stat(f, MEMCG_PGREFILL), 3);
    assert_int_equal(fixture_stat(f, MEMCG_PGSCAN_FILE), 2);
    eviction_put_back(f->lruvec, &isolation.folios);
    fixture_verify(f);
}

static void scan_sorts_by_table_3_3(void **state)
{
    each_model(sort_rules);
}

/* --- 3.6: verdicts -------------------------------------------------------------------------- */

static void swapping(struct fixture *f, bool old)
{
    struct scan_control sc = fixture_control(f, 0);
    fixture_fill(f, &f->anon, 0, 10);
    f->swap_refuses = true;
    eviction_run(f->lruvec, &sc, 200, 64);
    assert_int_equal(f->releases, 0); /* activated */
    assert_true(fixture_stat(f, MEMCG_PGACTIVATE) >= 10);
    f->swap_refuses = false;
    f->swap_write_is_slow = true;
    aging_bump(f->lruvec, 200);
    aging_bump(f->lruvec, 200);
    aging_bump(f->lruvec, 200);
    eviction_run(f->lruvec, &sc, 200, 64);
    assert_int_equal(f->releases, 0); /* being written */
    assert_int_equal(f->swap_writes, 10);
    assert_int_equal(fixture_stat(f, MEMCG_NR_VMSCAN_WRITE), 10);
    for (unsigned long i = 0; i < f->count; i++) {
        assert_true(folio_test(f->folios[i], FOLIO_RECLAIM));
        folio_clear(f->folios[i], FOLIO_WRITEBACK | FOLIO_DIRTY | FOLIO_RECLAIM);
    }
    aging_bump(f->lruvec, 200);
    aging_bump(f->lruvec, 200);
    aging_bump(f->lruvec, 200);
    for (unsigned i = 0; i < 3; i++)
        eviction_run(f->lruvec, &sc, 200, 64);
    assert_int_equal(f->releases, 10);
    fixture_verify(f);
}

/* Written to after MADV_FREE: ordinary anonymous memory again. */
static void lazyfree_written(struct fixture *f, bool old)
{
    struct scan_control sc = fixture_control(f, 0);
    struct folio *folio = fixture_listed(f, &f->anon, 0, 0);
    folio_make_lazyfree(folio);
    folio_set(folio, FOLIO_DIRTY);
    while (f->lruvec->min_seq[LRU_TYPE_FILE] < generation_seq(f->lruvec, folio))
        aging_inc_min_seq(f->lruvec, 0);
    aging_bump(f->lruvec, 0);
    aging_bump(f->lruvec, 0);
    eviction_run(f->lruvec, &sc, 0, 64);
    assert_int_equal(f->releases, 0);
    assert_int_equal(folio_type(folio), LRU_TYPE_ANON);
    fixture_verify(f);
}

static void mapped_folios(struct fixture *f, bool old)
{
    struct scan_control sc = fixture_control(f, 0);
    struct vma *vma = fixture_vma(f, &f->file, false);
    struct folio *young = fixture_listed(f, &f->file, 0, 0);
    struct folio *cold = fixture_listed(f, &f->file, 0, 0);
    fixture_map(vma, young);
    fixture_map(vma, cold);
    fixture_age_entries(vma, cold);
    sc.may_unmap = false;
    eviction_run(f->lruvec, &sc, 0, 64);
    assert_int_equal(f->releases, 0);
    fixture_drop(f, young);
    sc.may_unmap = true;
    struct folio *again = fixture_listed(f, &f->file, f->lruvec->min_seq[LRU_TYPE_FILE], 0);
    fixture_map(vma, again);
    uint64_t index = cold->index;
    for (unsigned i = 0; i < 4; i++)
        aging_bump(f->lruvec, 0);
    eviction_run(f->lruvec, &sc, 0, 64);
    assert_true(fixture_was_released(f, index));
    assert_int_equal(again->map_count, 1); /* its entry was young: kept */
    assert_true(folio_test(again, FOLIO_LRU));
    fixture_verify(f);
}

static void folios_are_judged_by_3_6(void **state)
{
    each_model(swapping);
    each_model(lazyfree_written);
    each_model(mapped_folios);
}

/* --- reclaim.c ------------------------------------------------------------------------------ */

static void swappiness_is_resolved(void **state)
{
    struct fixture *f = fixture_new(&model_73);
    struct scan_control sc = fixture_control(f, 0);
    assert_int_equal(reclaim_swappiness(f->lruvec, &sc), 60);
    sc.proactive = true;
    sc.swappiness = 10;
    assert_int_equal(reclaim_swappiness(f->lruvec, &sc), 10);
    sc.swappiness = -1;
    assert_int_equal(reclaim_swappiness(f->lruvec, &sc), 60);
    f->swap_left = 63;
    assert_int_equal(reclaim_swappiness(f->lruvec, &sc), 0);
    f->swap_left = 64;
    sc.may_swap = false;
    assert_int_equal(reclaim_swappiness(f->lruvec, &sc), 0);
    sc.swappiness = SWAPPINESS_ANON_ONLY;
    assert_int_equal(reclaim_swappiness(f->lruvec, &sc), SWAPPINESS_ANON_ONLY);
    fixture_free(f);
}

/* 3.1: scan -= scan * protection / (usage + 1), at least 32. */
static void protection_is_proportional(void **state)
{
    struct fixture *f = fixture_new(&model_73);
    struct scan_control sc = fixture_control(f, 0);
    fixture_fill(f, &f->file, 0, 999);
    sc.target = f->tree->root;
    assert_int_equal(reclaim_protected_scan(f->lruvec, &sc, 1000), 1000);
    page_counter_set_min(&f->memcg->memory, 250);
    page_counter_set_low(&f->memcg->memory, 500);
    memcg_protection_update(f->tree->root, f->memcg);
    assert_int_equal(reclaim_protected_scan(f->lruvec, &sc, 1000), 500);
    assert_true(sc.low_skipped);
    sc.low_reclaim = true; /* the last pass ignores low */
    assert_int_equal(reclaim_protected_scan(f->lruvec, &sc, 1000), 750);
    assert_int_equal(reclaim_protected_scan(f->lruvec, &sc, 40), 32);
    sc.target = f->memcg; /* its own limit: no protection */
    assert_int_equal(reclaim_protected_scan(f->lruvec, &sc, 1000), 1000);
    fixture_free(f);
}

/* A subtree where all is below low gives in after a round, with events. */
static void low_is_ignored_when_nothing_else_is_left(void **state)
{
    for (unsigned m = 0; m < FIXTURE_MODELS; m++) {
        struct fixture *f = fixture_new(fixture_models[m]);
        struct memcg *child = fixture_memcg(f, "/t/c");
        struct lruvec *lruvec = memcg_lruvec(child, 0);
        for (unsigned i = 0; i < 3000; i++)
            fixture_place(fixture_folio_in(lruvec, f, &f->file, 0, 0), 0, 0);
        struct reclaim_request request = {.target = f->memcg, .pages = 32, .swappiness = -1};
        page_counter_set_min(&child->memory, 3000);
        assert_int_equal(reclaim_run(&f->reclaim, &request), 0);
        page_counter_set_min(&child->memory, 0);
        page_counter_set_low(&child->memory, 3000);
        assert_true(reclaim_run(&f->reclaim, &request) >= 32);
        assert_true(memcg_events(child, MEMCG_EVENT_LOW) > 0);
        fixture_free(f);
    }
}

/* 13.3: half of what exceeds an eighth of the pages seen, in batches of 128; the rest waits. */
static void shadow_nodes_shrink_by_priority(void **state)
{
    struct fixture *f = fixture_new(&model_73);
    struct scan_control sc = fixture_control(f, 12);
    reclaim_shrink_slab(f->lruvec, &sc);
    assert_int_equal(f->shadow_calls, 0);
    fixture_fill(f, &f->file, 0, 800); /* allow 100 nodes, once the counters are flushed */
    memcg_stat_flush(f->tree->root);
    f->shadow_nodes = 100;
    reclaim_shrink_slab(f->lruvec, &sc);
    assert_int_equal(f->shadow_nodes, 100);
    f->shadow_nodes = 100 + 200; /* 100 asked for: less than a batch, deferred */
    reclaim_shrink_slab(f->lruvec, &sc);
    assert_int_equal(f->shadow_nodes, 300);
    assert_int_equal(f->lruvec->deferred_shadow_nodes, 100);
    f->shadow_nodes = 100 + 600; /* 300: two batches; 44 and the old 100 wait */
    reclaim_shrink_slab(f->lruvec, &sc);
    assert_int_equal(f->shadow_nodes, 700 - 256);
    assert_int_equal(f->lruvec->deferred_shadow_nodes, 144);
    assert_int_equal(fixture_stat(f, MEMCG_WORKINGSET_NODERECLAIM), 256);
    sc.priority = 0; /* what waits is due: 144 + 172, at most twice the surplus */
    reclaim_shrink_slab(f->lruvec, &sc);
    assert_int_equal(f->shadow_nodes, 444 - 256);
    fixture_free(f);
}

static void commands(struct fixture *f, bool old)
{
    struct reclaim *reclaim = &f->reclaim;
    struct lruvec *lruvec = f->lruvec;
    assert_int_equal(reclaim_age_seq(reclaim, lruvec, 4, 0, true), MGLRU_EINVAL);
    /* Four generations: 6.12 refuses without force. A stale number ages in newer kernels only. */
    assert_int_equal(reclaim_age_seq(reclaim, lruvec, 3, 0, false), old ? MGLRU_ERANGE : 0);
    assert_int_equal(reclaim_age_seq(reclaim, lruvec, 2, 0, true), 0);
    assert_int_equal(lruvec->max_seq, old ? 3 : 5);
    lruvec->mm_state.seq = lruvec->max_seq; /* somebody else finishes this generation */
    int error = reclaim_age_seq(reclaim, lruvec, lruvec->max_seq, 0, true);
    assert_int_equal(error, old ? 0 : MGLRU_EEXIST);
    assert_int_equal(reclaim_evict_seq(reclaim, lruvec, lruvec->max_seq - 1, 0, 1), MGLRU_EINVAL);
    fixture_fill(f, &f->file, lruvec->min_seq[LRU_TYPE_FILE], 300);
    assert_int_equal(reclaim_evict_seq(reclaim, lruvec, lruvec->max_seq - 2, 0, 100), 0);
    assert_true(f->releases >= 100 && f->releases < 200);
    /* Pinned pages do not hold the command for ever. */
    for (unsigned long i = 0; i < f->count; i++)
        folio_set(f->folios[i], FOLIO_PINNED);
    unsigned long before = f->releases;
    assert_int_equal(reclaim_evict_seq(reclaim, lruvec, lruvec->max_seq - 2, 0, ULONG_MAX), 0);
    assert_int_equal(f->releases, before);
    fixture_verify(f);
}

static void commands_age_and_evict(void **state)
{
    each_model(commands);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(controller_compares_refault_rates),
        cmocka_unit_test(reset_carries_half_over),
        cmocka_unit_test(shadows_hold_generation_and_refs),
        cmocka_unit_test(refaults_go_by_section_4),
        cmocka_unit_test(min_seq_moves_past_empty_generations),
        cmocka_unit_test(min_ttl_protects_young_generations),
        cmocka_unit_test(scan_sorts_by_table_3_3),
        cmocka_unit_test(folios_are_judged_by_3_6),
        cmocka_unit_test(swappiness_is_resolved),
        cmocka_unit_test(protection_is_proportional),
        cmocka_unit_test(low_is_ignored_when_nothing_else_is_left),
        cmocka_unit_test(shadow_nodes_shrink_by_priority),
        cmocka_unit_test(commands_age_and_evict),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
