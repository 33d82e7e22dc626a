/* SPDX-License-Identifier: MIT */
/*
 * The three algorithms that move the oldest generation into the next (mglru-facts 2.6, 2.7), on
 * random lists with folios that a walk has promoted, against a reference that sorts arrays.
 *
 *   P1 folios that were not promoted keep their order, and are colder than what was there
 *   P2 promoted folios are at the hot end of their generation
 *   P3 promoted folios are not counted as protected
 *   P4 a break after 4096 folios leaves a consistent state; going on gives the order of one pass
 *   P5 sums of pages do not change
 *   P6 one splice a run: at most one more than there are promoted folios, per zone and pass
 * The per-folio algorithm breaks P1 to P3 (row 34): its reference does as it does. The splice moves
 * promoted folios along; eviction sorts them later.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "count_splices.h"
#include "reclaim_fixture.h"
#include "seeded.h"

unsigned long counted_splices;

/* Lists as arrays, head first. */
struct array {
    struct folio **folios;
    unsigned long count;
};

struct world {
    struct fixture *fixture;
    enum lru_type type;
    enum aging_algorithm algorithm;
    struct array lists[MAX_NR_GENS][MAX_NR_ZONES]; /* what is expected */
    unsigned long protected_pages[MAX_NR_TIERS];
    unsigned long promoted;
    unsigned long oldest; /* folios to move */
    long pages;
};

static void append(struct array *array, struct folio *folio)
{
    array->folios = realloc(array->folios, (array->count + 1) * sizeof(*array->folios));
    assert_non_null(array->folios);
    array->folios[array->count++] = folio;
}

static void prepend(struct array *array, struct folio *folio)
{
    append(array, folio);
    memmove(array->folios + 1, array->folios, (array->count - 1) * sizeof(*array->folios));
    array->folios[0] = folio;
}

static bool is_promoted(const struct world *world, const struct folio *folio)
{
    return folio_stored_seq(folio) != world->fixture->lruvec->min_seq[world->type];
}

/* A folio on list @gen at the tail; one of the oldest may have been promoted by a walk. */
static struct folio *random_folio(struct world *world, struct seeded *s, unsigned gen,
                                  unsigned zone)
{
    struct fixture *f = world->fixture;
    struct page_mapping *mapping = world->type == LRU_TYPE_ANON ? &f->anon : &f->file;
    unsigned order = seeded_below(s, 8) ? 0 : (unsigned)seeded_below(s, 4);
    struct folio *folio = fixture_folio_in(f->lruvec, f, mapping, zone, order);
    uint64_t seq = gen;
    if (gen == 0 && seeded_below(s, 100) < s->seed % 4 * 10)
        seq = 1 + seeded_below(s, 3);
    fixture_place(folio, seq, (unsigned)seeded_below(s, 16));
    list_move_tail(&f->lruvec->folios[gen][world->type][zone], &folio->lru);
    world->pages += folio_pages(folio);
    return folio;
}

static void build(struct world *world, struct seeded *s)
{
    /* Every fourth world is larger than one or two chunks. */
    unsigned long most = s->seed % 4 ? 200 : 2 * MAX_LRU_BATCH;
    for (unsigned zone = 0; zone < MAX_NR_ZONES; zone++)
        for (unsigned gen = 0; gen < MAX_NR_GENS; gen++) {
            unsigned long count = seeded_below(s, gen ? 20 : most / (zone + 1));
            for (unsigned long i = 0; i < count; i++)
                append(&world->lists[gen][zone], random_folio(world, s, gen, zone));
        }
}

static void expect_protected(struct world *world, const struct folio *folio)
{
    const struct reclaim_model *model = world->fixture->reclaim.model;
    unsigned state = (unsigned)(folio->flags & FOLIO_STATE_MASK);
    bool full = model->protect_skips_full && (model->fully >> state & 1);
    if (model->bump_counts && !full)
        world->protected_pages[model->tier[state]] += (unsigned long)folio_pages(folio);
}

/* What becomes of one zone by the text of facts 2.6 and 2.7, naively. */
static void expect_zone(struct world *world, unsigned zone)
{
    struct array old = world->lists[0][zone];
    world->lists[0][zone] = (struct array){0};
    world->oldest += old.count;
    for (unsigned long i = 0; i < old.count; i++) {
        bool per_folio = world->algorithm == AGING_PER_FOLIO;
        struct folio *folio = old.folios[per_folio ? old.count - 1 - i : i];
        bool promoted = is_promoted(world, folio);
        world->promoted += promoted;
        uint64_t seq = promoted ? folio_stored_seq(folio) : 1;
        if (world->algorithm == AGING_SPLICE) {
            append(&world->lists[1][zone], folio);
            continue;
        }
        if (promoted && !per_folio) {
            prepend(&world->lists[seq][zone], folio);
            continue;
        }
        append(&world->lists[seq][zone], folio);
        expect_protected(world, folio);
    }
    free(old.folios);
}

static void check_lists(struct world *world, struct seeded *s)
{
    struct lruvec *lruvec = world->fixture->lruvec;
    for (unsigned zone = 0; zone < MAX_NR_ZONES; zone++)
        for (unsigned gen = 0; gen < MAX_NR_GENS; gen++) {
            const struct array *array = &world->lists[gen][zone];
            struct list_node *list = &lruvec->folios[gen][world->type][zone];
            struct list_node *pos = list;
            for (unsigned long i = 0; i < array->count; i++) {
                pos = pos->next;
                SEEDED_CHECK(s, pos == &array->folios[i]->lru);
            }
            SEEDED_CHECK(s, pos->next == list);
        }
}

/* Flags of what was moved: in generation 1, references cleared as the model says. */
static void check_flags(struct world *world, struct seeded *s, const uint64_t *before)
{
    const struct fixture *f = world->fixture;
    for (unsigned long i = 0; i < f->count; i++) {
        const struct folio *folio = f->folios[i];
        uint64_t was = before[i];
        uint64_t seq = (was >> FOLIO_SEQ_SHIFT) - 1;
        unsigned state = (unsigned)(was & FOLIO_STATE_MASK);
        if (seq == 0)
            state &= ~(unsigned)f->reclaim.model->bump_clears;
        SEEDED_CHECK(s, generation_seq(f->lruvec, folio) == (seq ? seq : 1));
        SEEDED_CHECK(s, generation_state(f->lruvec, folio) == state);
    }
}

static long sum_of_pages(const struct world *world)
{
    long pages = 0;
    for (unsigned gen = 0; gen < MAX_NR_GENS; gen++)
        for (unsigned zone = 0; zone < MAX_NR_ZONES; zone++)
            pages += world->fixture->lruvec->nr_pages[gen][world->type][zone];
    return pages;
}

static void move_and_check(struct world *world, struct seeded *s)
{
    struct lruvec *lruvec = world->fixture->lruvec;
    unsigned long chunks = 1;
    counted_splices = 0;
    while (!aging_move_oldest(lruvec, world->type, world->algorithm)) {
        fixture_verify(world->fixture); /* P4 */
        SEEDED_CHECK(s, sum_of_pages(world) == world->pages);
        chunks++;
    }
    /* A list that ends with a chunk is found empty by the next. */
    SEEDED_CHECK(s,
                 world->algorithm == AGING_SPLICE || chunks == world->oldest / MAX_LRU_BATCH + 1);
    lruvec->min_seq[world->type]++;
    fixture_verify(world->fixture);
    SEEDED_CHECK(s, sum_of_pages(world) == world->pages); /* P5 */
    check_lists(world, s);                                /* P1, P2 */
    for (unsigned tier = 0; tier < MAX_NR_TIERS; tier++)  /* P3 */
        SEEDED_CHECK(s, lruvec->protected_pages[world->type][tier] == world->protected_pages[tier]);
    if (world->algorithm == AGING_BATCHED) /* P6 */
        SEEDED_CHECK(s, counted_splices <= world->promoted + MAX_NR_ZONES + chunks - 1);
    bool splices = world->algorithm == AGING_BATCHED && world->oldest > world->promoted;
    SEEDED_CHECK(s, (counted_splices > 0) == splices);
}

static void run(struct seeded *s, const struct reclaim_model *model, enum aging_algorithm algorithm)
{
    struct world world = {.fixture = fixture_new(model),
                          .algorithm = algorithm,
                          .type = s->seed % 2 ? LRU_TYPE_FILE : LRU_TYPE_ANON};
    s->state = s->seed;
    build(&world, s);
    fixture_verify(world.fixture);
    for (unsigned zone = 0; zone < MAX_NR_ZONES; zone++)
        expect_zone(&world, zone);
    uint64_t *before = calloc(world.fixture->count + 1, sizeof(*before));
    assert_non_null(before);
    for (unsigned long i = 0; i < world.fixture->count; i++)
        before[i] = world.fixture->folios[i]->flags;
    move_and_check(&world, s);
    check_flags(&world, s, before);
    free(before);
    for (unsigned gen = 0; gen < MAX_NR_GENS; gen++)
        for (unsigned zone = 0; zone < MAX_NR_ZONES; zone++)
            free(world.lists[gen][zone].folios);
    fixture_free(world.fixture);
}

static void per_folio_case(struct seeded *s)
{
    run(s, &model_612, AGING_PER_FOLIO);
    run(s, &model_73, AGING_PER_FOLIO);
    run(s, &model_ours, AGING_PER_FOLIO);
}

static void batched_case(struct seeded *s)
{
    run(s, &model_73, AGING_BATCHED);
    run(s, &model_next, AGING_BATCHED);
    run(s, &model_ours, AGING_BATCHED);
}

static void splice_case(struct seeded *s)
{
    run(s, &model_ours, AGING_SPLICE);
}

static void per_folio_does_as_its_reference(void **state)
{
    seeded_cases(20, per_folio_case);
}

static void batched_has_properties_1_to_6(void **state)
{
    seeded_cases(20, batched_case);
}

static void splice_keeps_order_and_sums(void **state)
{
    seeded_cases(20, splice_case);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(per_folio_does_as_its_reference),
        cmocka_unit_test(batched_has_properties_1_to_6),
        cmocka_unit_test(splice_keeps_order_and_sums),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
