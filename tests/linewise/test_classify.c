/* SPDX-License-Identifier: MIT */
/*
 * Which statement of a class file wins for a field, down to elements of arrays, members of unions
 * and structs in arrays; and the table of verdicts, pair by pair.
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

static const char *nodes;
static const char *cases;

/* Class, elements and place of the part of @path that holds byte @at. */
static const struct layout_field *part_at(const struct layout_map *map, const char *path,
                                          uint64_t at)
{
    for (size_t i = 0; i < map->field_count; i++)
        if (strcmp(map->fields[i].path, path) == 0 && map->fields[i].bit_offset / 8 <= at &&
            at < (map->fields[i].bit_offset + map->fields[i].bit_size) / 8)
            return &map->fields[i];
    fail_msg("no part of %s at %llu", path, (unsigned long long)at);
    return NULL;
}

static void check_class(const struct layout_map *map, const char *path, uint64_t at,
                        enum layout_class class)
{
    assert_int_equal(layout_field_class(part_at(map, path, at)), class);
}

static void the_more_specific_statement_wins(void **state)
{
    struct fixture f;
    fixture_open(&f, nodes, "mem_cgroup_per_node",
                 "lruvec.*: cold\n"
                 "lru_gen_folio.*: read\n"
                 "lru_gen_folio.*_pages: owner\n"
                 "lru_gen_folio.enabled: atomic\n"
                 "lruvec.lrugen.gen: lock(a)\n"
                 "lru_gen_folio.gen: atomic\n"
                 "*.seg: atomic\n"
                 "mem_cgroup_per_node.lruvec.lrugen.list: lock(b)\n");
    check_class(&f.map, "lruvec.lrugen.max_seq", 304, LAYOUT_CLASS_READ);
    check_class(&f.map, "lruvec.lrugen.nr_pages", 1000, LAYOUT_CLASS_OWNER); /* the later line */
    check_class(&f.map, "lruvec.lrugen.enabled", 1640, LAYOUT_CLASS_ATOMIC);
    check_class(&f.map, "lruvec.lrugen.gen", 1641, LAYOUT_CLASS_LOCK);
    check_class(&f.map, "lruvec.lrugen.list", 1648, LAYOUT_CLASS_LOCK);
    check_class(&f.map, "lruvec.flags", 128 + 128, LAYOUT_CLASS_COLD);
    check_class(&f.map, "memcg", 0, LAYOUT_CLASS_NONE);
    fixture_close(&f);
}

static void elements_of_an_array_have_classes_of_their_own(void **state)
{
    struct fixture f;
    fixture_open(&f, nodes, "lru_gen_folio",
                 "lru_gen_folio.refaulted: read\n"
                 "lru_gen_folio.refaulted[0][1]: atomic\n"
                 "lru_gen_folio.refaulted[0][1][2-3]: cold\n"
                 "lru_gen_folio.folios[1][*][0]: owner\n");
    const uint64_t start = 1272; /* of refaulted in the struct */
    check_class(&f.map, "refaulted", start, LAYOUT_CLASS_READ);
    check_class(&f.map, "refaulted", start + 31, LAYOUT_CLASS_READ);
    check_class(&f.map, "refaulted", start + 32, LAYOUT_CLASS_ATOMIC);
    check_class(&f.map, "refaulted", start + 47, LAYOUT_CLASS_ATOMIC);
    check_class(&f.map, "refaulted", start + 48, LAYOUT_CLASS_COLD);
    assert_string_equal(part_at(&f.map, "refaulted", start)->elements, "[0][0][*]");
    assert_string_equal(part_at(&f.map, "refaulted", start + 32)->elements, "[0][1][0-1]");
    /* folios is [4][2][5] of 16 bytes, from 56 on. */
    check_class(&f.map, "folios", 56 + 10 * 16, LAYOUT_CLASS_OWNER);
    check_class(&f.map, "folios", 56 + 15 * 16, LAYOUT_CLASS_OWNER);
    check_class(&f.map, "folios", 56 + 11 * 16, LAYOUT_CLASS_NONE);
    fixture_close(&f);
}

static void statements_reach_into_elements_of_arrays_of_structs(void **state)
{
    struct fixture f;
    fixture_open(&f, nodes, "lru_gen_folio",
                 "lru_gen_folio.folios[0][0].next: atomic\n"
                 "two_links.prev: read\n");
    check_class(&f.map, "folios[0][0][0].next", 56, LAYOUT_CLASS_ATOMIC);
    check_class(&f.map, "folios[0][0][4].next", 56 + 64, LAYOUT_CLASS_ATOMIC);
    check_class(&f.map, "folios[0][1][0].next", 56 + 80, LAYOUT_CLASS_NONE);
    check_class(&f.map, "folios[3][1][4].prev", 56 + 39 * 16 + 8, LAYOUT_CLASS_READ);
    fixture_close(&f);
}

static void members_of_one_union_never_fight(void **state)
{
    struct fixture f;
    struct layout_findings findings;
    fixture_open(&f, cases, "with_atomics",
                 "with_atomics.whole: read\nwith_atomics.part: atomic\nwith_atomics.third: cold\n");
    check_class(&f.map, "whole", 32, LAYOUT_CLASS_READ);
    check_class(&f.map, "part", 32, LAYOUT_CLASS_ATOMIC);
    assert_int_equal(layout_conflicts_find(&f.map, &f.options, &findings), MGLRU_OK);
    assert_int_equal(findings.count, 0);
    layout_findings_free(&findings);
    fixture_close(&f);
}

static void a_statement_that_fits_nothing_is_told(void **state)
{
    struct fixture f;
    fixture_open(&f, cases, "forty",
                 "forty.f00: read\nforty.g00: read\nother.f00: read\nforty.f00.x: read\n");
    assert_false(layout_map_misses(&f.map, &f.classes.rules[0], 0));
    assert_true(layout_map_misses(&f.map, &f.classes.rules[1], 1));
    assert_false(layout_map_misses(&f.map, &f.classes.rules[2], 2));
    assert_true(layout_map_misses(&f.map, &f.classes.rules[3], 3));
    fixture_close(&f);
}

/* The table of conflicts.h: f00 and f01 lie on one line; what does the pair of classes mean? */
static void each_pair_of_classes_has_its_verdict(void **state)
{
    static const struct {
        const char *first, *second;
        enum layout_verdict verdict; /* LAYOUT_VERDICTS: nothing is said */
        enum layout_severity severity;
    } pairs[] = {
        {"read", "read", LAYOUT_VERDICTS, 0},
        {"read", "atomic", LAYOUT_READ_ATOMIC, LAYOUT_ERROR},
        {"atomic", "read", LAYOUT_READ_ATOMIC, LAYOUT_ERROR},
        {"read", "lock(a)", LAYOUT_READ_LOCK, LAYOUT_NOTE},
        {"read 2", "lock(a) 3", LAYOUT_READ_LOCK, LAYOUT_NOTE},
        {"read 7", "lock(a)", LAYOUT_READ_LOCK, LAYOUT_WARNING},
        {"owner", "read", LAYOUT_READ_OWNER, LAYOUT_NOTE},
        {"read", "cold", LAYOUT_VERDICTS, 0},
        {"atomic", "atomic", LAYOUT_VERDICTS, 0},
        {"lock(a)", "atomic", LAYOUT_ATOMIC_LOCK, LAYOUT_WARNING},
        {"atomic", "lock(f00)", LAYOUT_LOCK_WORD, LAYOUT_NOTE},
        {"lock(a)", "lock(b)", LAYOUT_LOCK_LOCK, LAYOUT_WARNING},
        {"lock(a, b)", "lock(b, c)", LAYOUT_TRUE_SHARING, LAYOUT_NOTE},
        {"lock(a)", "lock(a)", LAYOUT_TRUE_SHARING, LAYOUT_NOTE},
        {"owner", "atomic", LAYOUT_OWNER_WRITTEN, LAYOUT_WARNING},
        {"owner", "lock(a)", LAYOUT_OWNER_WRITTEN, LAYOUT_WARNING},
        {"owner", "owner", LAYOUT_VERDICTS, 0},
        {"owner(x)", "owner(y)", LAYOUT_OWNER_WRITTEN, LAYOUT_WARNING},
        {"cold", "atomic", LAYOUT_VERDICTS, 0},
    };
    for (size_t i = 0; i < MGLRU_ARRAY_LEN(pairs); i++) {
        struct fixture f;
        struct layout_findings findings;
        char text[128];
        snprintf(text, sizeof(text), "forty.f00: %s\nforty.f01: %s\n", pairs[i].first,
                 pairs[i].second);
        fixture_open(&f, cases, "forty", text);
        assert_int_equal(layout_conflicts_find(&f.map, &f.options, &findings), MGLRU_OK);
        assert_int_equal(findings.count, pairs[i].verdict == LAYOUT_VERDICTS ? 0 : 1);
        if (findings.count > 0) {
            assert_int_equal(findings.items[0].verdict, pairs[i].verdict);
            assert_int_equal(findings.items[0].severity, pairs[i].severity);
            assert_int_equal(findings.items[0].line, 0);
        }
        layout_findings_free(&findings);
        fixture_close(&f);
    }
}

static void a_hot_field_on_two_lines_is_told(void **state)
{
    struct fixture f;
    struct layout_findings findings;
    fixture_open(&f, cases, "forty", "forty.f03: atomic\n");
    f.options.base_bytes = 36; /* an allocator that keeps 4 bytes only */
    assert_int_equal(layout_conflicts_find(&f.map, &f.options, &findings), MGLRU_OK);
    assert_int_equal(findings.count, 1); /* f03 at 36 + 24 .. 36 + 31 */
    assert_int_equal(findings.items[0].verdict, LAYOUT_STRADDLE);
    assert_int_equal(findings.items[0].severity, LAYOUT_WARNING);
    layout_findings_free(&findings);
    fixture_close(&f);
}

static void padded_elements_do_not_share_lines(void **state)
{
    static const struct {
        const char *text;
        uint64_t line_bytes;
        size_t findings;
    } arrays[] = {
        {"mem_cgroup_before.vmstats[]: owner\n", 64, 1},
        {"mem_cgroup_before.vmstats: owner\n", 64, 0},  /* one owner for all */
        {"mem_cgroup_before.vmstats[]: read\n", 64, 0}, /* reading takes nothing away */
        {"mem_cgroup_before.vmstats[]: atomic\n", 64, 1},
    };
    for (size_t i = 0; i < MGLRU_ARRAY_LEN(arrays); i++) {
        struct fixture f;
        struct layout_findings findings;
        fixture_open(&f, cases, "mem_cgroup_before", arrays[i].text);
        f.options.alloc_align = 64;
        f.options.line_bytes = arrays[i].line_bytes;
        assert_int_equal(layout_conflicts_find(&f.map, &f.options, &findings), MGLRU_OK);
        assert_int_equal(findings.count, arrays[i].findings);
        layout_findings_free(&findings);
        fixture_close(&f);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_more_specific_statement_wins),
        cmocka_unit_test(elements_of_an_array_have_classes_of_their_own),
        cmocka_unit_test(statements_reach_into_elements_of_arrays_of_structs),
        cmocka_unit_test(members_of_one_union_never_fight),
        cmocka_unit_test(a_statement_that_fits_nothing_is_told),
        cmocka_unit_test(each_pair_of_classes_has_its_verdict),
        cmocka_unit_test(a_hot_field_on_two_lines_is_told),
        cmocka_unit_test(padded_elements_do_not_share_lines),
    };
    MGLRU_CHECK(argc == 3);
    nodes = argv[1];
    cases = argv[2];
    return cmocka_run_group_tests(tests, NULL, NULL);
}
