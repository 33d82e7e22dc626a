/* SPDX-License-Identifier: MIT */
/*
 * Class files: every statement is read as classes.h says, every mistake is one line with its place.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include <mglru/error.h>

#include "base/check.h"
#include "layout/classes.h"

static struct layout_error error;

static int parse(const char *text, struct layout_classes *classes)
{
    return layout_classes_parse("c", text, strlen(text), classes, &error);
}

static void reads_classes_with_names_elements_and_weights(void **state)
{
    struct layout_classes classes;
    assert_int_equal(parse("struct a.b.c[0][*][2-5]: lock(z, y) 7 # why\n"
                           "a.d[]: owner\n"
                           "ns::v<x.y, int>.e*: atomic\r\n",
                           &classes),
                     MGLRU_OK);
    assert_int_equal(classes.rule_count, 3);
    const struct layout_class_rule *rule = &classes.rules[0];
    assert_string_equal(rule->pattern.type, "a");
    assert_int_equal(rule->pattern.part_count, 2);
    assert_string_equal(rule->pattern.parts[1].name, "c");
    assert_int_equal(rule->pattern.parts[1].index_count, 3);
    assert_true(rule->pattern.parts[1].indexes[1].last == UINT64_MAX);
    assert_int_equal(rule->pattern.parts[1].indexes[2].first, 2);
    assert_int_equal(rule->pattern.parts[1].indexes[2].last, 5);
    assert_int_equal(rule->use.weight, 7);
    char text[32];
    layout_use_text(&rule->use, text, sizeof(text));
    assert_string_equal(text, "lock(y, z)");
    assert_true(classes.rules[1].pattern.each);
    assert_string_equal(classes.rules[2].pattern.type, "ns::v<x.y, int>");
    assert_int_equal(classes.rules[2].line, 3);
    layout_classes_free(&classes);
}

static void reads_groups_rules_and_allocations(void **state)
{
    struct layout_classes classes;
    assert_int_equal(parse("group a.hot: b, c \\\n d\n"
                           "rule a: group hot starts a line\n"
                           "rule a: no atomic beside read\n"
                           "rule a: size at most 128\n"
                           "alloc a: 64\nalloc b: static\ncheck struct a\n",
                           &classes),
                     MGLRU_OK);
    const struct layout_group *group = layout_classes_group(&classes, "a", "hot");
    assert_non_null(group);
    assert_int_equal(group->field_count, 3);
    assert_string_equal(group->fields[2], "d");
    assert_int_equal(classes.demands[0].kind, LAYOUT_DEMAND_STARTS);
    assert_int_equal(classes.demands[0].line, 3);
    assert_int_equal(classes.demands[1].first, LAYOUT_CLASS_ATOMIC);
    assert_int_equal(classes.demands[1].second, LAYOUT_CLASS_READ);
    assert_int_equal(classes.demands[2].bytes, 128);
    assert_int_equal(layout_classes_alloc(&classes, "a", 16), 64);
    assert_true(layout_classes_alloc(&classes, "b", 16) == UINT64_MAX);
    assert_int_equal(layout_classes_alloc(&classes, "c", 16), 16);
    assert_string_equal(classes.checks[0], "a");
    layout_classes_free(&classes);
}

static void names_place_and_expectation_of_each_mistake(void **state)
{
    static const struct {
        const char *text;
        const char *message;
    } cases[] = {
        {"a.b read\n", "c:1: expected 'TYPE.FIELD: CLASS', found no ':'"},
        {"\n\nab: read\n", "c:3: 'ab': expected TYPE.FIELD"},
        {"a.: read\n", "c:1: 'a.': expected the name of a field"},
        {"a.b[x]: read\n",
         "c:1: 'a.b[x]': expected an element: [3], [0-3], [*] or, at the end, []"},
        {"a.b[3-1]: read\n",
         "c:1: 'a.b[3-1]': expected an element: [3], [0-3], [*] or, at the end, []"},
        {"a.b[].c: read\n", "c:1: 'a.b[].c': [] belongs at the end of a path"},
        {"a.b: hot\n", "c:1: 'hot' is no class, expected read, lock(NAME), atomic, owner or cold"},
        {"a.b: lock\n", "c:1: class lock needs the name of the lock, as in lock(lru_lock)"},
        {"a.b: lock(\n", "c:1: expected ')' behind the names of locks"},
        {"a.b: lock()\n", "c:1: expected a name between the parentheses"},
        {"a.b: read(x)\n", "c:1: class read takes no name"},
        {"a.b: read -1\n", "c:1: '-1' is no weight, expected a number in 1..1000"},
        {"a.b: read 1001\n", "c:1: '1001' is no weight, expected a number in 1..1000"},
        {"a.b: read\na.b: cold\n", "c:2: 'a.b' has a class already, at line 1"},
        {"rule a: group x starts a line\n", "c:1: a has no group x; define it above the rule"},
        {"rule a: no atomic near read\n", "c:1: expected 'no CLASS beside CLASS'"},
        {"rule a: size at most lots\n", "c:1: expected 'size at most BYTES'"},
        {"alloc a: 48\n", "c:1: '48': expected malloc, static or a power of 2"},
        {"a.b: re\x01\n", "c:1: the byte 0x01 is no text"},
    };
    for (size_t i = 0; i < MGLRU_ARRAY_LEN(cases); i++) {
        struct layout_classes classes;
        assert_int_equal(parse(cases[i].text, &classes), MGLRU_EINVAL);
        assert_string_equal(error.text, cases[i].message);
        assert_int_equal(classes.rule_count, 0);
    }
}

static void refuses_files_that_are_none(void **state)
{
    struct layout_classes classes;
    assert_int_equal(layout_classes_read("/nosuch/classes", &classes, &error), MGLRU_ENOENT);
    assert_string_equal(error.text, "/nosuch/classes: cannot open: No such file or directory");
    assert_int_equal(layout_classes_read("/", &classes, &error), MGLRU_EINVAL);
    assert_string_equal(error.text, "/: is a directory, expected a file");
    assert_int_equal(layout_classes_read("/dev/zero", &classes, &error), MGLRU_EINVAL);
    assert_string_equal(error.text, "/dev/zero: is too large for such a file");
}

static void matches_globs(void **state)
{
    assert_true(layout_glob("a*c", "abcbc"));
    assert_true(layout_glob("*", ""));
    assert_true(layout_glob("a", "a"));
    assert_false(layout_glob("a*d", "abc"));
    assert_false(layout_glob("", "a"));
    assert_true(layout_glob("*_lock*", "lru_lock"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_classes_with_names_elements_and_weights),
        cmocka_unit_test(reads_groups_rules_and_allocations),
        cmocka_unit_test(names_place_and_expectation_of_each_mistake),
        cmocka_unit_test(refuses_files_that_are_none),
        cmocka_unit_test(matches_globs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
