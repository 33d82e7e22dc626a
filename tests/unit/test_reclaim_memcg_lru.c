/* SPDX-License-Identifier: MIT */
/*
 * The memcg LRU of global reclaim (src/reclaim/memcg_lru.c): the operations and the event table of
 * mglru-facts 5, its invariants under random operations, and the walk over the bins.
 */
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "memcg/charge.h"
#include "reclaim_fixture.h"
#include "seeded.h"

enum { SEG_DEFAULT, SEG_HEAD, SEG_TAIL };

static bool at_head_of_a_bin(const struct memcg_lru *lru, unsigned gen, const struct lruvec *lruvec)
{
    for (unsigned bin = 0; bin < MEMCG_NR_BINS; bin++)
        if (lru->fifo[gen][bin].next == &lruvec->memcg_list)
            return true;
    return false;
}

static bool at_tail_of_a_bin(const struct memcg_lru *lru, unsigned gen, const struct lruvec *lruvec)
{
    for (unsigned bin = 0; bin < MEMCG_NR_BINS; bin++)
        if (lru->fifo[gen][bin].prev == &lruvec->memcg_list)
            return true;
    return false;
}

/* Enough others that a bin has more than one. */
static void populate(struct fixture *f, unsigned count)
{
    char path[16];
    for (unsigned i = 0; i < count; i++) {
        snprintf(path, sizeof(path), "/m%u", i);
        fixture_memcg(f, path);
    }
}

static void operations_move_by_the_table(void **state)
{
    struct fixture *f = fixture_new(&model_73);
    struct memcg_lru *lru = &f->reclaim.memcg_lru[0];
    struct lruvec *lruvec = f->lruvec;
    populate(f, 40);
    assert_int_equal(lruvec->memcg_gen, 0);
    assert_int_equal(lruvec->memcg_seg, SEG_DEFAULT);
    memcg_lru_rotate(lruvec, MEMCG_LRU_HEAD);
    assert_int_equal(lruvec->memcg_seg, SEG_HEAD);
    assert_true(at_head_of_a_bin(lru, 0, lruvec));
    memcg_lru_rotate(lruvec, MEMCG_LRU_TAIL);
    assert_int_equal(lruvec->memcg_seg, SEG_TAIL);
    assert_true(at_tail_of_a_bin(lru, 0, lruvec));
    memcg_lru_rotate(lruvec, MEMCG_LRU_NOP);
    assert_int_equal(lruvec->memcg_seg, SEG_TAIL);
    memcg_lru_rotate(lruvec, MEMCG_LRU_YOUNG);
    assert_int_equal(lruvec->memcg_gen, 1);
    assert_int_equal(lruvec->memcg_seg, SEG_DEFAULT);
    assert_true(at_tail_of_a_bin(lru, 1, lruvec));
    memcg_lru_rotate(lruvec, MEMCG_LRU_HEAD); /* stays in its generation */
    assert_int_equal(lruvec->memcg_gen, 1);
    memcg_lru_rotate(lruvec, MEMCG_LRU_OLD);
    assert_int_equal(lruvec->memcg_gen, 0);
    assert_true(at_head_of_a_bin(lru, 0, lruvec));
    assert_int_equal(lru->seq, 0);
    fixture_verify(f);
    fixture_free(f);
}

/* The last to leave the old generation makes the young one old. */
static void seq_advances_with_the_last(void **state)
{
    struct fixture *f = fixture_new(&model_73);
    struct memcg_lru *lru = &f->reclaim.memcg_lru[0];
    struct lruvec *root = memcg_lruvec(f->tree->root, 0);
    memcg_lru_rotate(f->lruvec, MEMCG_LRU_YOUNG);
    assert_int_equal(lru->seq, 0);
    memcg_lru_rotate(root, MEMCG_LRU_YOUNG);
    assert_int_equal(lru->seq, 1);
    assert_int_equal(lru->nr_memcgs[1], 2);
    fixture_verify(f);
    memcg_lru_release(root);
    memcg_lru_release(root); /* idempotent */
    memcg_lru_rotate(root, MEMCG_LRU_YOUNG);
    assert_int_equal(lru->nr_memcgs[1], 1);
    memcg_lru_offline(f->lruvec); /* OLD: where it is already */
    assert_int_equal(lru->seq, 1);
    memcg_lru_release(f->lruvec);
    fixture_free(f);
}

static void random_rotations(struct seeded *s)
{
    struct fixture *f = fixture_new(&model_73);
    struct memcg_lru *lru = &f->reclaim.memcg_lru[0];
    struct memcg *memcgs[12];
    char path[16];
    for (unsigned i = 0; i < 12; i++) {
        snprintf(path, sizeof(path), "/m%u", i);
        memcgs[i] = fixture_memcg(f, path);
    }
    for (s->step = 0; s->step < 2000; s->step++) {
        uint64_t seq = lru->seq;
        bool old_populated = lru->nr_memcgs[seq % MEMCG_NR_GENS] > 0;
        struct lruvec *lruvec = memcg_lruvec(memcgs[seeded_below(s, 12)], 0);
        unsigned long left = (unsigned long)lru->nr_memcgs[seq % MEMCG_NR_GENS];
        memcg_lru_rotate(lruvec, (enum memcg_lru_op)seeded_below(s, 5));
        SEEDED_CHECK(s, lru->seq == seq || (lru->seq == seq + 1 && left == 1 && old_populated));
        SEEDED_CHECK(s, lru->nr_memcgs[0] + lru->nr_memcgs[1] + lru->nr_memcgs[2] == 14);
        SEEDED_CHECK(s, !verify_reclaim(&f->reclaim));
    }
    fixture_free(f);
}

static void rotations_keep_the_invariants(void **state)
{
    seeded_cases(5, random_rotations);
}

/* --- the event table ------------------------------------------------------------------------ */

/* One pass over the lists at @priority. */
static void pass(struct fixture *f, int priority)
{
    struct scan_control sc = fixture_control(f, priority);
    sc.target = NULL;
    sc.nr_to_reclaim = ULONG_MAX;
    memcg_lru_shrink(&sc, 0);
    fixture_verify(f);
}

/* Puts everybody else away, so that one pass meets "/t" once. */
static void alone(struct fixture *f)
{
    memcg_lru_release(memcg_lruvec(f->tree->root, 0));
}

static void protected_by_min_goes_young(void **state)
{
    struct fixture *f = fixture_new(&model_73);
    populate(f, 1); /* keeps the old generation populated: nothing advances */
    alone(f);
    fixture_fill(f, &f->file, 0, 1000);
    page_counter_set_min(&f->memcg->memory, 1000);
    pass(f, 3);
    assert_int_equal(f->releases, 0);
    assert_int_equal(f->lruvec->memcg_gen, 1);
    fixture_free(f);
}

/* "/t" below its low limit after one pass; which bins it went through is random. */
static struct fixture *below_low(uint64_t seed)
{
    struct fixture *f = fixture_new(&model_73);
    f->reclaim.random = seed;
    alone(f);
    fixture_fill(f, &f->file, 0, 1000);
    page_counter_set_low(&f->memcg->memory, 1000);
    pass(f, 3);
    return f;
}

/* The first visit passes by; a second, in the same pass if it went to a later bin, reclaims. */
static void protected_by_low_is_skipped_once(void **state)
{
    bool skipped = false;
    for (uint64_t seed = 0; seed < 64 && !skipped; seed++) {
        struct fixture *f = below_low(seed);
        bool visited_twice = memcg_events(f->memcg, MEMCG_EVENT_LOW) > 0;
        if (!visited_twice) {
            skipped = true;
            assert_int_equal(f->releases, 0);
            assert_int_equal(f->lruvec->memcg_seg, SEG_TAIL);
            pass(f, 0);
            assert_true(memcg_events(f->memcg, MEMCG_EVENT_LOW) > 0);
            assert_true(f->releases > 0);
        }
        fixture_free(f);
    }
    assert_true(skipped);
}

static void large_memcgs_stay_small_ones_rotate(void **state)
{
    struct fixture *f = fixture_new(&model_73);
    populate(f, 1);
    alone(f);
    fixture_fill(f, &f->file, 0, 10000);
    pass(f, 6);
    assert_int_equal(f->lruvec->memcg_gen, 0); /* something is left at this priority */
    assert_true(f->releases > 0);
    uint64_t seq = f->reclaim.memcg_lru[0].seq;
    pass(f, 12); /* 10000 >> 12 is 2 */
    assert_int_equal(f->lruvec->memcg_gen, seq % MEMCG_NR_GENS);
    fixture_free(f);
}

/* Aged: one batch, then it is the others' turn. */
static void aged_memcgs_rotate_after_one_batch(void **state)
{
    struct fixture *f = fixture_new(&model_73);
    populate(f, 1);
    alone(f);
    fixture_seqs(f, 3, 1, 1);
    fixture_fill(f, &f->file, 1, 10000);
    pass(f, 2);
    assert_int_equal(f->ages, 1);
    assert_int_equal(f->releases, MIN_LRU_BATCH);
    assert_int_equal(f->lruvec->memcg_gen, 1);
    fixture_free(f);
}

/* A removed memcg of 6.12 keeps its folios and is scraped at once. */
static void dying_memcgs_are_emptied(void **state)
{
    struct fixture *f = fixture_new(&model_612);
    struct memcg *child = fixture_memcg(f, "/t/c");
    struct lruvec *lruvec = memcg_lruvec(child, 0);
    for (unsigned i = 0; i < 500; i++)
        fixture_place(fixture_folio_in(lruvec, f, &f->file, 0, 0), 0, 0);
    memcg_get(child);
    reclaim_offline(&f->reclaim, child);
    assert_int_equal(memcg_offline(child, 0), 0);
    pass(f, 12); /* the budget is what is left, not a share of it */
    assert_true(f->releases >= 250);
    for (unsigned i = 0; i < 4; i++)
        pass(f, 12);
    assert_int_equal(f->releases, 500);
    memcg_put(child);
    fixture_free(f);
}

static void reclaim_stops_when_it_has_enough(void **state)
{
    struct fixture *f = fixture_new(&model_73);
    populate(f, 20);
    struct memcg *root = f->tree->root;
    for (struct memcg *memcg = memcg_next(root, root); memcg; memcg = memcg_next(root, memcg))
        for (unsigned i = 0; i < 200; i++)
            fixture_place(fixture_folio_in(memcg_lruvec(memcg, 0), f, &f->file, 0, 0), 0, 0);
    struct scan_control sc = fixture_control(f, 0);
    sc.target = NULL;
    sc.nr_to_reclaim = 300;
    memcg_lru_shrink(&sc, 0);
    assert_true(sc.nr_reclaimed >= 300 && sc.nr_reclaimed < 300 + 200);
    fixture_verify(f);
    fixture_free(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(operations_move_by_the_table),
        cmocka_unit_test(seq_advances_with_the_last),
        cmocka_unit_test(rotations_keep_the_invariants),
        cmocka_unit_test(protected_by_min_goes_young),
        cmocka_unit_test(protected_by_low_is_skipped_once),
        cmocka_unit_test(large_memcgs_stay_small_ones_rotate),
        cmocka_unit_test(aged_memcgs_rotate_after_one_batch),
        cmocka_unit_test(dying_memcgs_are_emptied),
        cmocka_unit_test(reclaim_stops_when_it_has_enough),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
