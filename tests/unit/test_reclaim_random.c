/* SPDX-License-Identifier: MIT */
/*
 * Invariants I1 to I8 of mglru-facts 1.1 after every one of thousands of random operations on the
 * engine: additions, marks, walks, look-arounds, evictions, advice, writeback, switching, removal
 * of memcgs, rotations of the memcg LRU. Zones, orders and nodes are mixed. verify_reclaim checks
 * I1, I4 to I8; I2 and I3 compare with the state before the operation.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "reclaim_fixture.h"
#include "seeded.h"

#define GROUPS 5u
#define STEPS 1500u
#define FOLIOS_MOST 1500u
#define SEEN_MOST 64u

struct group {
    struct memcg *memcg;
    struct mm *mm;
    struct vma *vmas[LRU_TYPES];
};

/* Sequence numbers of one lruvec after the last step. */
struct seen {
    uint64_t serial;
    unsigned node;
    uint64_t max_seq;
    uint64_t min_seq[LRU_TYPES];
};

struct world {
    struct fixture *fixture;
    struct seeded *s;
    struct group groups[GROUPS];
    struct seen seen[SEEN_MOST];
    unsigned seen_count;
    bool both_types; /* swappiness stays inside 1..200: I3 holds at any time */
    unsigned names;
};

static struct folio *any_folio(struct world *w)
{
    struct fixture *f = w->fixture;
    return f->count ? f->folios[seeded_below(w->s, f->count)] : NULL;
}

static struct group *any_group(struct world *w)
{
    return &w->groups[seeded_below(w->s, GROUPS)];
}

static struct lruvec *any_lruvec(struct world *w)
{
    return memcg_lruvec(any_group(w)->memcg, (unsigned)seeded_below(w->s, 2));
}

static int any_swappiness(struct world *w)
{
    static const int edges[] = {0, 1, 60, 200, SWAPPINESS_ANON_ONLY};
    bool old = !w->fixture->reclaim.model->anon_only;
    return w->both_types ? 60 : edges[seeded_below(w->s, old ? 4 : 5)];
}

static void create_group(struct world *w, struct group *group)
{
    char path[32];
    snprintf(path, sizeof(path), "/t/c%u", w->names++);
    group->memcg = fixture_memcg(w->fixture, w->names > 1 ? path : "/t");
    group->mm = mm_create(group->memcg);
    assert_non_null(group->mm);
    group->vmas[LRU_TYPE_ANON] = vma_create(group->mm, &w->fixture->anon, false);
    group->vmas[LRU_TYPE_FILE] =
        vma_create(group->mm, &w->fixture->file, seeded_below(w->s, 2) != 0);
}

/* --- operations ----------------------------------------------------------------------------- */

static void do_add(struct world *w)
{
    struct fixture *f = w->fixture;
    for (unsigned i = 0; i < 8 && f->count < FOLIOS_MOST; i++) {
        bool anon = seeded_below(w->s, 3) == 0;
        unsigned order = seeded_below(w->s, 8) ? 0 : (unsigned)seeded_below(w->s, 4);
        struct folio *folio = fixture_folio_in(any_lruvec(w), f, anon ? &f->anon : &f->file,
                                               (unsigned)seeded_below(w->s, MAX_NR_ZONES), order);
        if (seeded_below(w->s, 4) == 0)
            folio_set(folio, seeded_below(w->s, 16));
        lru_batch_add(&f->reclaim, folio, anon || seeded_below(w->s, 2));
    }
}

static void do_mark(struct world *w)
{
    for (unsigned i = 0; i < 16 && w->fixture->count; i++)
        folio_mark_accessed(&w->fixture->reclaim, any_folio(w));
}

/* Maps a folio of the group, or touches it again. */
static void do_touch(struct world *w)
{
    for (unsigned i = 0; i < 16 && w->fixture->count; i++) {
        struct folio *folio = any_folio(w);
        bool anon = folio_test(folio, FOLIO_ANON);
        for (unsigned g = 0; g < GROUPS; g++) {
            struct vma *vma = w->groups[g].vmas[anon ? LRU_TYPE_ANON : LRU_TYPE_FILE];
            if (w->groups[g].memcg != folio->lruvec->memcg)
                continue;
            if (!vma_touch(vma, folio->index, seeded_below(w->s, 8) == 0) && !folio->map_count)
                fixture_map(vma, folio);
            w->groups[g].mm->ran = true;
        }
    }
}

static void do_age(struct world *w)
{
    struct lruvec *lruvec = any_lruvec(w);
    reclaim_age_seq(&w->fixture->reclaim, lruvec, lruvec->max_seq, any_swappiness(w),
                    seeded_below(w->s, 2));
}

static void do_evict_seq(struct world *w)
{
    struct lruvec *lruvec = any_lruvec(w);
    uint64_t seq = lruvec->max_seq - seeded_below(w->s, 4);
    reclaim_evict_seq(&w->fixture->reclaim, lruvec, seq, any_swappiness(w),
                      1 + seeded_below(w->s, 100));
}

static void do_reclaim(struct world *w)
{
    struct fixture *f = w->fixture;
    struct reclaim_request request = {.pages = 1 + seeded_below(w->s, 100),
                                      .may_swap = w->both_types || seeded_below(w->s, 2),
                                      .swappiness = any_swappiness(w)};
    f->swap_write_is_slow = seeded_below(w->s, 4) == 0;
    if (seeded_below(w->s, 4))
        request.target = any_group(w)->memcg;
    request.proactive = request.target && seeded_below(w->s, 2);
    reclaim_run(&f->reclaim, &request);
}

static void do_background(struct world *w)
{
    w->fixture->reclaim.min_ttl_ms = seeded_below(w->s, 4) ? 0 : 1000;
    reclaim_background(&w->fixture->reclaim, 1 + seeded_below(w->s, 100));
}

static void do_advice(struct world *w)
{
    struct folio *folio = any_folio(w);
    if (!folio)
        return;
    switch (seeded_below(w->s, 4)) {
    case 0:
        folio_deactivate(folio);
        return;
    case 1:
        folio_deactivate_file(folio);
        return;
    case 2:
        folio_make_lazyfree(folio);
        return;
    default:
        folio_rotate_reclaimable(folio);
    }
}

/* Pages become dirty, are written, are pinned, locked, and back. */
static void do_states(struct world *w)
{
    static const uint64_t flags[] = {FOLIO_DIRTY, FOLIO_WRITEBACK, FOLIO_PINNED, FOLIO_LOCKED};
    for (unsigned i = 0; i < 8 && w->fixture->count; i++) {
        struct folio *folio = any_folio(w);
        uint64_t flag = flags[seeded_below(w->s, 4)];
        if (!folio_test(folio, flag)) {
            if (seeded_below(w->s, 2))
                folio_set(folio, flag);
            continue;
        }
        folio_clear(folio, flag);
        if (flag == FOLIO_WRITEBACK && folio_test(folio, FOLIO_RECLAIM)) {
            folio_clear(folio, FOLIO_RECLAIM);
            folio_rotate_reclaimable(folio);
        }
    }
}

/* mlock and munlock take the folio off its list and put it back. */
static void do_lock_memory(struct world *w)
{
    struct folio *folio = any_folio(w);
    if (!folio || !folio_test(folio, FOLIO_LRU))
        return;
    lruvec_del(folio, false);
    folio->flags ^= FOLIO_UNEVICTABLE;
    if (folio_test(folio, FOLIO_UNEVICTABLE))
        folio_clear(folio, FOLIO_ACTIVE);
    lruvec_add(folio, false);
}

static void do_reclaim_meanwhile(void *context)
{
    struct world *w = context;
    do_reclaim(w);
    fixture_verify(w->fixture);
}

static void do_switch(struct world *w)
{
    struct reclaim *reclaim = &w->fixture->reclaim;
    if (seeded_below(w->s, 4) == 0)
        reclaim_switch(reclaim, !reclaim->enabled, do_reclaim_meanwhile, w);
    reclaim->mm_walk = seeded_below(w->s, 4) != 0;
    reclaim->nonleaf = seeded_below(w->s, 2) != 0;
}

/* A child goes, its folios stay somewhere; another takes its place. */
static void do_remove(struct world *w)
{
    struct group *group = &w->groups[1 + seeded_below(w->s, GROUPS - 1)];
    mm_destroy(group->mm);
    reclaim_offline(&w->fixture->reclaim, group->memcg);
    assert_int_equal(memcg_offline(group->memcg, 0), 0);
    create_group(w, group);
}

static void do_rotate(struct world *w)
{
    memcg_lru_rotate(any_lruvec(w), (enum memcg_lru_op)seeded_below(w->s, 5));
}

static void do_drop(struct world *w)
{
    if (w->fixture->count)
        fixture_drop(w->fixture, any_folio(w));
}

static void do_drain(struct world *w)
{
    lru_batch_drain(&w->fixture->reclaim);
    w->fixture->reclaim.now_ns += seeded_below(w->s, 2000000000);
    w->fixture->swap_left = w->both_types ? 1 << 20 : (long)seeded_below(w->s, 500);
}

struct operation {
    unsigned weight;
    void (*run)(struct world *w);
};

static const struct operation operations[] = {
    {30, do_add},     {20, do_mark},      {20, do_touch}, {6, do_age},     {4, do_evict_seq},
    {10, do_reclaim}, {4, do_background}, {6, do_advice}, {10, do_states}, {2, do_lock_memory},
    {2, do_switch},   {2, do_remove},     {3, do_rotate}, {4, do_drop},    {4, do_drain},
};

static void step(struct world *w)
{
    unsigned total = 0;
    for (size_t i = 0; i < MGLRU_ARRAY_LEN(operations); i++)
        total += operations[i].weight;
    unsigned long pick = seeded_below(w->s, total);
    size_t i = 0;
    while (pick >= operations[i].weight)
        pick -= operations[i++].weight;
    operations[i].run(w);
}

/* --- checks --------------------------------------------------------------------------------- */

static const struct seen *seen_before(const struct world *w, const struct memcg *memcg,
                                      unsigned node)
{
    for (unsigned i = 0; i < w->seen_count; i++)
        if (w->seen[i].serial == memcg->serial && w->seen[i].node == node)
            return &w->seen[i];
    return NULL;
}

static void check_lruvec(struct world *w, const struct lruvec *lruvec)
{
    struct seeded *s = w->s;
    const struct reclaim_model *model = w->fixture->reclaim.model;
    const struct seen *before = seen_before(w, lruvec->memcg, lruvec->node);
    if (before) { /* I2 */
        SEEDED_CHECK(s, lruvec->max_seq >= before->max_seq);
        SEEDED_CHECK(s, lruvec->min_seq[0] >= before->min_seq[0]);
        SEEDED_CHECK(s, lruvec->min_seq[1] >= before->min_seq[1]);
    }
    if (!model->anon_only) /* I1 of 6.12 */
        SEEDED_CHECK(s, lruvec->min_seq[LRU_TYPE_ANON] <= lruvec->min_seq[LRU_TYPE_FILE]);
    else if (w->both_types) { /* I3 */
        long distance = (long)(lruvec->min_seq[0] - lruvec->min_seq[1]);
        SEEDED_CHECK(s, distance >= -1 && distance <= 1);
    }
}

static void check(struct world *w)
{
    struct seen now[SEEN_MOST];
    unsigned count = 0;
    struct memcg *root = w->fixture->tree->root;
    const char *broken = verify_reclaim(&w->fixture->reclaim);
    if (broken)
        print_error("%s: %s\n", w->fixture->reclaim.model->name, broken);
    SEEDED_CHECK(w->s, !broken);
    for (struct memcg *memcg = root; memcg; memcg = memcg_next(root, memcg))
        for (unsigned node = 0; node < 2; node++) {
            const struct lruvec *lruvec = memcg_lruvec(memcg, node);
            check_lruvec(w, lruvec);
            if (count < SEEN_MOST)
                now[count++] = (struct seen){
                    memcg->serial, node, lruvec->max_seq, {lruvec->min_seq[0], lruvec->min_seq[1]}};
        }
    memcpy(w->seen, now, count * sizeof(*now));
    w->seen_count = count;
}

static void run_model(struct seeded *s, const struct reclaim_model *model)
{
    struct world w = {.s = s, .both_types = s->seed % 2};
    w.fixture = s->seed % 3 ? fixture_new(model) : fixture_new_classic(model);
    w.fixture->reclaim.stat_always = s->seed % 5 != 0;
    for (unsigned i = 0; i < GROUPS; i++)
        create_group(&w, &w.groups[i]);
    for (s->step = 0; s->step < STEPS; s->step++) {
        step(&w);
        check(&w);
    }
    assert_true(w.fixture->releases > 0);
    fixture_free(w.fixture);
}

static void case_612(struct seeded *s)
{
    run_model(s, &model_612);
}

static void case_73(struct seeded *s)
{
    run_model(s, &model_73);
}

static void case_next(struct seeded *s)
{
    run_model(s, &model_next);
}

static void case_ours(struct seeded *s)
{
    run_model(s, &model_ours);
}

static void invariants_hold_in_612(void **state)
{
    seeded_cases(6, case_612);
}

static void invariants_hold_in_73(void **state)
{
    seeded_cases(6, case_73);
}

static void invariants_hold_in_next(void **state)
{
    seeded_cases(6, case_next);
}

static void invariants_hold_in_ours(void **state)
{
    seeded_cases(6, case_ours);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(invariants_hold_in_612),
        cmocka_unit_test(invariants_hold_in_73),
        cmocka_unit_test(invariants_hold_in_next),
        cmocka_unit_test(invariants_hold_in_ours),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
