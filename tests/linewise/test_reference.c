/* SPDX-License-Identifier: MIT */
/*
 * The reference figures: struct mem_cgroup_per_node before and after the patch that moves the
 * counters away from the read-mostly fields, and in between (fields moved, nothing aligned).
 * Expected numbers come from the review of the patch, not from this program.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include <mglru/error.h>

#include "base/check.h"
#include "fixture.h"
#include "layout/diff.h"
#include "layout/growth.h"
#include "layout/suggest.h"

static const char *files[3]; /* before, moved only, after */
static const char *classes;

static void open_stage(struct fixture *fixture, unsigned stage)
{
    fixture_open(fixture, files[stage], "mem_cgroup_per_node", classes);
}

/* First and last byte of a field, and its lines. */
static void check_place(const struct layout_map *map, const char *name, uint64_t first,
                        uint64_t last)
{
    const struct layout_field *field = fixture_field(map, name);
    assert_int_equal(field->bit_offset / 8, first);
    assert_int_equal((field->bit_offset + field->bit_size) / 8 - 1, last);
}

static void places_fields_before(void **state)
{
    struct fixture f;
    char text[256];
    open_stage(&f, 0);
    assert_int_equal(f.map.type->size_bytes, 2048);
    check_place(&f.map, "max_seq", 304, 311);
    check_place(&f.map, "enabled", 1640, 1640);
    check_place(&f.map, "gen", 1641, 1641);
    check_place(&f.map, "seg", 1642, 1642);
    check_place(&f.map, "list", 1648, 1663);
    const uint64_t line25[2] = {UINT64_C(1600) * 8, UINT64_C(1664) * 8 - 1};
    layout_field_text(fixture_field(&f.map, "refaulted"), line25, text, sizeof(text));
    assert_string_equal(text, "lruvec.lrugen.refaulted[0][0][3], lruvec.lrugen.refaulted[0][1][*]");
    fixture_close(&f);
}

static void places_fields_after(void **state)
{
    struct fixture f;
    uint64_t lines[2];
    open_stage(&f, 2);
    assert_int_equal(f.map.type->size_bytes, 2112);
    check_place(&f.map, "max_seq", 320, 327);
    check_place(&f.map, "enabled", 376, 376);
    check_place(&f.map, "seg", 378, 378);
    check_place(&f.map, "list", 384, 399);
    check_place(&f.map, "nr_pages", 1040, 1359);
    check_place(&f.map, "evicted", 1600, 1663);
    check_place(&f.map, "refaulted", 1664, 1727);
    layout_field_lines(fixture_field(&f.map, "nr_pages"), 64, 0, lines);
    assert_int_equal(lines[0], 16);
    assert_int_equal(lines[1], 21);
    layout_field_lines(fixture_field(&f.map, "list"), 64, 0, lines);
    assert_int_equal(lines[0], 6);
    fixture_close(&f);
}

static void finds_the_fight_on_line_25_before(void **state)
{
    struct fixture f;
    struct layout_findings findings;
    open_stage(&f, 0);
    assert_int_equal(layout_conflicts_find(&f.map, &f.options, &findings), MGLRU_OK);
    assert_int_equal(fixture_count(&findings, LAYOUT_ERROR), 1);
    const struct layout_finding *fight = fixture_finding(&findings, 25, LAYOUT_READ_ATOMIC);
    assert_non_null(fight);
    assert_int_equal(fight->line, 25);
    assert_int_equal(fight->last_line, 25);
    assert_int_equal(fight->severity, LAYOUT_ERROR);
    assert_int_equal(fight->writer_count, 1);
    assert_true(fixture_names(fight, "refaulted", false));
    assert_int_equal(fight->reader_count, 4);
    assert_true(fixture_names(fight, "enabled", true));
    assert_true(fixture_names(fight, "list", true));
    layout_findings_free(&findings);
    fixture_close(&f);
}

static void explains_that_nr_pages_is_true_sharing(void **state)
{
    for (unsigned stage = 0; stage < 3; stage++) {
        struct fixture f;
        struct layout_findings findings;
        open_stage(&f, stage);
        assert_int_equal(layout_conflicts_find(&f.map, &f.options, &findings), MGLRU_OK);
        for (uint64_t line = 17; line <= 20; line++) {
            const struct layout_finding *truly =
                fixture_finding(&findings, line, LAYOUT_TRUE_SHARING);
            assert_non_null(truly);
            assert_int_equal(truly->severity, LAYOUT_NOTE);
            assert_true(fixture_names(truly, "nr_pages", false));
            assert_non_null(strstr(truly->why, "under lru_lock only"));
            assert_non_null(strstr(truly->why, "the next holder needs the values"));
        }
        layout_findings_free(&findings);
        fixture_close(&f);
    }
}

/* What the thread did not see, (a): the move alone removes every fight, for 0 bytes. */
static void moving_alone_costs_nothing_and_removes_the_fight(void **state)
{
    struct fixture f;
    struct layout_findings findings;
    open_stage(&f, 1);
    assert_int_equal(f.map.type->size_bytes, 2048);
    assert_int_equal(layout_conflicts_find(&f.map, &f.options, &findings), MGLRU_OK);
    assert_int_equal(fixture_count(&findings, LAYOUT_ERROR), 0);
    assert_int_equal(fixture_count(&findings, LAYOUT_WARNING), 0);
    layout_findings_free(&findings);
    fixture_close(&f);
}

/* What the thread did not see, (b): after the patch list lies beside the first list heads. */
static void list_lies_beside_the_first_folios_after(void **state)
{
    struct fixture f;
    struct layout_findings findings;
    open_stage(&f, 2);
    assert_int_equal(layout_conflicts_find(&f.map, &f.options, &findings), MGLRU_OK);
    assert_int_equal(fixture_count(&findings, LAYOUT_ERROR), 0);
    const struct layout_finding *beside = fixture_finding(&findings, 6, LAYOUT_READ_LOCK);
    assert_non_null(beside);
    assert_true(fixture_names(beside, "list", true));
    assert_true(fixture_names(beside, "folios", false));
    assert_null(fixture_finding(&findings, 5, LAYOUT_READ_LOCK));
    layout_findings_free(&findings);
    fixture_close(&f);
}

static void explains_growth_by_48_104_64(void **state)
{
    static const struct {
        const char *name;
        uint64_t before, after;
        const char *reasons[4];
    } steps[] = {
        {"struct lru_gen_folio", 1360, 1408, {"+48 hole before evicted", NULL}},
        {"struct lruvec",
         1624,
         1728,
         {"+16 hole before lrugen", "+48 lrugen grew", "+40 padding at the end",
          "(offset 176 -> 192)"}},
        {"struct mem_cgroup_per_node",
         2048,
         2112,
         {"+104 lruvec grew", "-40 the spare 40 bytes", "32 -> 33 lines", NULL}},
    };
    struct fixture before;
    struct fixture after;
    struct layout_growth growth;
    open_stage(&before, 0);
    open_stage(&after, 2);
    assert_int_equal(layout_growth_explain(before.map.type, after.map.type, 64, &growth), MGLRU_OK);
    assert_int_equal(growth.total_bytes, 64);
    assert_int_equal(growth.count, MGLRU_ARRAY_LEN(steps));
    for (size_t i = 0; i < growth.count; i++) {
        assert_string_equal(growth.steps[i].after->display, steps[i].name);
        assert_int_equal(growth.steps[i].before->size_bytes, steps[i].before);
        assert_int_equal(growth.steps[i].after->size_bytes, steps[i].after);
        assert_int_equal(growth.steps[i].delta_bytes, steps[i].after - steps[i].before);
        for (size_t j = 0; j < 4 && steps[i].reasons[j] != NULL; j++)
            assert_non_null(strstr(growth.steps[i].reason, steps[i].reasons[j]));
    }
    layout_growth_free(&growth);
    fixture_close(&before);
    fixture_close(&after);
}

/* The author's own move comes first, said to be luck, with the assert that pins it. */
static void suggests_the_authors_move_first(void **state)
{
    struct fixture f;
    struct layout_suggestions suggestions;
    open_stage(&f, 0);
    assert_int_equal(layout_suggest(&f.map, &f.options, &suggestions), MGLRU_OK);
    assert_true(suggestions.count > 0);
    const struct layout_suggestion *first = &suggestions.items[0];
    assert_int_equal(first->residual, 0);
    assert_int_equal(first->growth_bytes, 0);
    assert_int_equal(first->moved, 4);
    assert_int_equal(first->move_count, 1);
    assert_int_equal(first->aligned_count, 0);
    const struct layout_type *type = first->moves[0].type;
    assert_string_equal(type->name, "lru_gen_folio");
    static const char *const moved[] = {"enabled", "gen", "seg", "list"};
    for (size_t i = 0; i < MGLRU_ARRAY_LEN(moved); i++)
        assert_string_equal(type->members[first->moves[0].members[i]].name, moved[i]);
    assert_string_equal(type->members[first->moves[0].before].name, "folios");
    assert_true(first->luck);
    assert_non_null(strstr(first->pin, "_Static_assert(offsetof(struct mem_cgroup_per_node, "
                                       "lruvec.lrugen) % 64 == 48"));
    /* A sure answer follows: padding, at the price of the patch. */
    const struct layout_suggestion *sure = &suggestions.items[suggestions.count - 1];
    assert_false(sure->luck);
    assert_int_equal(sure->residual, 0);
    assert_true(sure->aligned_count > 0);
    assert_int_equal(sure->growth_bytes, 64);
    layout_suggestions_free(&suggestions);
    fixture_close(&f);
}

static void tells_what_the_patch_changed(void **state)
{
    struct fixture before;
    struct fixture after;
    struct layout_diff diff;
    open_stage(&before, 0);
    open_stage(&after, 2);
    assert_int_equal(layout_diff(&before.map, &after.map, &before.options, &diff), MGLRU_OK);
    assert_int_equal(diff.growth_bytes, 64);
    assert_int_equal(diff.changed_count, 0);
    assert_non_null(fixture_finding(&diff.gone, 25, LAYOUT_READ_ATOMIC));
    assert_int_equal(diff.fresh.count, 1);
    assert_non_null(fixture_finding(&diff.fresh, 6, LAYOUT_READ_LOCK));
    for (size_t i = 0; i < diff.moved_count; i++)
        if (strcmp(diff.moved[i].after->path, "lruvec.lrugen.enabled") == 0) {
            assert_int_equal(diff.moved[i].before->bit_offset / 8, 1640);
            assert_int_equal(diff.moved[i].after->bit_offset / 8, 376);
            layout_diff_free(&diff);
            fixture_close(&before);
            fixture_close(&after);
            return;
        }
    fail_msg("enabled did not move");
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(places_fields_before),
        cmocka_unit_test(places_fields_after),
        cmocka_unit_test(finds_the_fight_on_line_25_before),
        cmocka_unit_test(explains_that_nr_pages_is_true_sharing),
        cmocka_unit_test(moving_alone_costs_nothing_and_removes_the_fight),
        cmocka_unit_test(list_lies_beside_the_first_folios_after),
        cmocka_unit_test(explains_growth_by_48_104_64),
        cmocka_unit_test(suggests_the_authors_move_first),
        cmocka_unit_test(tells_what_the_patch_changed),
    };
    MGLRU_CHECK(argc == 5);
    for (unsigned i = 0; i < 3; i++)
        files[i] = argv[1 + i];
    classes = argv[4];
    return cmocka_run_group_tests(tests, NULL, NULL);
}
