/* SPDX-License-Identifier: MIT */
/* --explain: events go in, grouped evictions come out; the story names the cause that they show. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include <mglru/cache.h>

#include "base/bits.h"
#include "replay/explain.h"

struct fixture {
    struct mglru_cache *cache;
    struct mglru_mapping *mapping;
    uint64_t accesses;
    struct replay_explain *explain;
    struct replay_run run;
};

static int set_up(void **state)
{
    struct fixture *fixture = calloc(1, sizeof(*fixture));
    assert_non_null(fixture);
    assert_int_equal(mglru_cache_create(NULL, &fixture->cache), MGLRU_OK);
    assert_int_equal(mglru_mapping_create(fixture->cache, "data", MGLRU_FILE, 0, &fixture->mapping),
                     MGLRU_OK);
    fixture->explain = replay_explain_create(&fixture->accesses);
    assert_non_null(fixture->explain);
    *state = fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;
    free(fixture->run.explain);
    free(fixture->run.explain_text);
    replay_explain_destroy(fixture->explain);
    mglru_cache_destroy(fixture->cache);
    free(fixture);
    return 0;
}

static void evict(struct fixture *fixture, uint64_t index, uint64_t folio_seq, uint8_t tier)
{
    struct mglru_event event = {.kind = MGLRU_EVENT_EVICT,
                                .rule = MGLRU_EVICT_OLDEST,
                                .mapping = fixture->mapping,
                                .index = index,
                                .pages = 1,
                                .type = 1,
                                .tier = tier,
                                .folio_seq = folio_seq,
                                .min_seq = folio_seq,
                                .max_seq = 7};
    replay_explain_event(fixture->explain, &event);
}

static void refault(struct fixture *fixture, uint64_t index, uint8_t recent)
{
    struct mglru_event event = {.kind = MGLRU_EVENT_REFAULT,
                                .mapping = fixture->mapping,
                                .index = index,
                                .pages = 1,
                                .type = 1,
                                .recent = recent,
                                .max_seq = 7};
    replay_explain_event(fixture->explain, &event);
}

static const struct replay_explain_row *finish(struct fixture *fixture)
{
    assert_int_equal(replay_explain_finish(fixture->explain, fixture->cache, 4096, &fixture->run),
                     MGLRU_OK);
    return fixture->run.explain;
}

static void evictions_are_grouped_and_counted(void **state)
{
    struct fixture *fixture = *state;
    for (uint64_t i = 0; i < 100; i++)
        evict(fixture, i, 5, 0);
    for (uint64_t i = 100; i < 110; i++)
        evict(fixture, i, 4, 2);
    for (uint64_t i = 0; i < 40; i++)
        refault(fixture, i, i < 30);
    refault(fixture, 105, 1);
    refault(fixture, 105, 1); /* came back once only */
    refault(fixture, 999, 1); /* was never evicted */
    const struct replay_explain_row *rows = finish(fixture);
    assert_int_equal(fixture->run.explain_count, 2);
    assert_string_equal(rows[0].rule, "oldest generation");
    assert_int_equal(rows[0].evictions, 100);
    assert_int_equal(rows[0].refaults, 40);
    assert_int_equal(rows[0].recent, 30);
    assert_int_equal(rows[0].age, 2);
    assert_int_equal(rows[0].tier, 0);
    assert_int_equal(rows[1].evictions, 10);
    assert_int_equal(rows[1].refaults, 1);
    assert_int_equal(rows[1].age, 3);
    assert_int_equal(rows[1].tier, 2);
}

/* The median of the distances, in evicted pages, within an eighth. */
static void the_distance_is_a_median(void **state)
{
    struct fixture *fixture = *state;
    for (uint64_t i = 0; i < 5000; i++)
        evict(fixture, i, 5, 0);
    /* Page i was followed by 4999 - i evictions. */
    for (uint64_t i = 2000; i < 5000; i++)
        refault(fixture, i, 1);
    const struct replay_explain_row *rows = finish(fixture);
    assert_in_range(rows[0].distance_pages, 1500 - 1500 / 8, 1500);
}

static void a_page_counts_under_its_last_eviction(void **state)
{
    struct fixture *fixture = *state;
    evict(fixture, 1, 5, 0);
    refault(fixture, 1, 1);
    evict(fixture, 1, 4, 3);
    refault(fixture, 1, 1);
    const struct replay_explain_row *rows = finish(fixture);
    assert_int_equal(fixture->run.explain_count, 2);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(rows[i].evictions, 1);
        assert_int_equal(rows[i].refaults, 1);
        assert_int_equal(rows[i].distance_pages, 0);
    }
}

/* Many pages: the table grows, nothing is lost. */
static void a_million_pages_are_remembered(void **state)
{
    struct fixture *fixture = *state;
    const uint64_t pages = 1000000;
    for (uint64_t i = 0; i < pages; i++)
        evict(fixture, bits_mix64(i) >> 12, 5, 0);
    for (uint64_t i = 0; i < pages; i++)
        refault(fixture, bits_mix64(i) >> 12, 0);
    const struct replay_explain_row *rows = finish(fixture);
    assert_int_equal(rows[0].refaults, pages);
    assert_int_equal(rows[0].recent, 0);
}

/* Memory of @pages pages of which eviction sees few: the story says that the set cannot move. */
static void the_story_states_figures_of_the_run(void **state)
{
    struct fixture *fixture = *state;
    static struct replay_stat stat = {"file", 1000 * 4096};
    fixture->accesses = 400000;
    for (uint64_t i = 0; i < 8000; i++) {
        evict(fixture, i % 500, 5, 0);
        refault(fixture, i % 500, 0);
    }
    fixture->run.figures.misses = 10000;
    fixture->run.figures.stat = &stat;
    fixture->run.figures.stats = 1;
    finish(fixture);
    const char *text = fixture->run.explain_text;
    assert_non_null(strstr(text, "8,000 of 10,000 misses (80.0%)"));
    assert_non_null(strstr(text, "accessed at most once since they came in (tier 0)"));
    assert_non_null(strstr(text, "1,000 pages are in memory"));
    assert_non_null(strstr(text, "No generation was created in 400,000 accesses"));
}

static void nothing_evicted_is_said_in_one_line(void **state)
{
    struct fixture *fixture = *state;
    fixture->run.figures.misses = 5;
    finish(fixture);
    assert_string_equal(fixture->run.explain_text,
                        "0 of 5 misses (0.0%) were for pages that had been in memory before and "
                        "were evicted.\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(evictions_are_grouped_and_counted, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_distance_is_a_median, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_page_counts_under_its_last_eviction, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_million_pages_are_remembered, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_story_states_figures_of_the_run, set_up, tear_down),
        cmocka_unit_test_setup_teardown(nothing_evicted_is_said_in_one_line, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
