/* SPDX-License-Identifier: MIT */
/*
 * Lock files survive writing and reading; a check tells new pairs, growth, moved groups and missing
 * fields apart, and takes what became better.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <mglru/error.h>

#include "base/check.h"
#include "fixture.h"
#include "layout/lock.h"

static const char *files[3]; /* before, moved only, after: as in test_reference.c */
static char *class_text;

/* The lock of one stage. */
static void lock_stage(unsigned stage, struct layout_lock *lock)
{
    struct fixture f;
    memset(lock, 0, sizeof(*lock));
    fixture_open(&f, files[stage], "mem_cgroup_per_node", class_text);
    lock->line_bytes = 64;
    assert_int_equal(layout_lock_add(lock, &f.map, &f.classes, &f.options), MGLRU_OK);
    fixture_close(&f);
}

static void check_stage(unsigned stage, const struct layout_lock *lock,
                        struct layout_breaches *breaches)
{
    struct fixture f;
    memset(breaches, 0, sizeof(*breaches));
    fixture_open(&f, files[stage], "mem_cgroup_per_node", class_text);
    assert_int_equal(layout_check(&f.map, &f.classes, &f.options,
                                  layout_lock_find(lock, "mem_cgroup_per_node"), breaches),
                     MGLRU_OK);
    fixture_close(&f);
}

static size_t count(const struct layout_breaches *breaches, const char *verdict)
{
    size_t found = 0;
    for (size_t i = 0; i < breaches->count; i++)
        found += strcmp(breaches->items[i].verdict, verdict) == 0;
    return found;
}

static void a_layout_passes_its_own_lock(void **state)
{
    for (unsigned stage = 0; stage < 3; stage++) {
        struct layout_lock lock;
        struct layout_breaches breaches;
        lock_stage(stage, &lock);
        check_stage(stage, &lock, &breaches);
        assert_int_equal(breaches.count, 0);
        layout_breaches_free(&breaches);
        layout_lock_free(&lock);
    }
}

static void what_became_better_passes(void **state)
{
    struct layout_lock lock;
    struct layout_breaches breaches;
    lock_stage(0, &lock);
    check_stage(1, &lock, &breaches);
    assert_int_equal(count(&breaches, "false sharing"), 0);
    assert_int_equal(count(&breaches, "growth"), 0);
    layout_breaches_free(&breaches);
    layout_lock_free(&lock);
}

static void growth_and_new_pairs_are_told(void **state)
{
    struct layout_lock lock;
    struct layout_breaches breaches;
    lock_stage(1, &lock);
    check_stage(2, &lock, &breaches);
    assert_int_equal(count(&breaches, "growth"), 1);             /* 2048 -> 2112 */
    assert_int_equal(count(&breaches, "reader beside lock"), 1); /* list beside folios */
    assert_int_equal(count(&breaches, "false sharing"), 0);
    layout_breaches_free(&breaches);
    check_stage(0, &lock, &breaches);
    assert_int_equal(count(&breaches, "growth"), 0);
    assert_int_equal(count(&breaches, "false sharing"), 2); /* lines 25 and 23 */
    assert_int_equal(breaches.items[0].severity, LAYOUT_ERROR);
    assert_int_equal(breaches.items[0].line, 25);
    assert_int_equal(breaches.items[0].reader_count, 4);
    assert_string_equal(breaches.items[0].writers[0], "lruvec.lrugen.refaulted");
    layout_breaches_free(&breaches);
    layout_lock_free(&lock);
}

static void a_group_that_moved_on_its_line_is_told(void **state)
{
    struct layout_lock lock;
    struct layout_breaches breaches;
    lock_stage(2, &lock);
    assert_int_equal(lock.types[0].group_count, 1);
    assert_int_equal(lock.types[0].groups[0].first_byte, 1600);
    assert_int_equal(lock.types[0].groups[0].end_byte, 1728);
    check_stage(0, &lock, &breaches);
    assert_int_equal(count(&breaches, "moved group"), 1);
    layout_breaches_free(&breaches);
    check_stage(1, &lock, &breaches); /* 1536-1663: another place, the same lines */
    assert_int_equal(count(&breaches, "moved group"), 0);
    layout_breaches_free(&breaches);
    layout_lock_free(&lock);
}

static void a_lock_is_read_as_it_was_written(void **state)
{
    struct layout_lock lock;
    struct layout_lock again;
    struct layout_error error;
    lock_stage(0, &lock);
    char *text = layout_lock_text(&lock);
    assert_non_null(text);
    assert_int_equal(layout_lock_parse("text", text, strlen(text), &again, &error), MGLRU_OK);
    char *copy = layout_lock_text(&again);
    assert_string_equal(copy, text);
    free(copy);
    free(text);
    layout_lock_free(&again);
    layout_lock_free(&lock);
}

/* Every cut of a lock file is refused with a place, or ends between two facts. */
static void a_torn_lock_is_refused(void **state)
{
    struct layout_lock lock;
    struct layout_lock again;
    struct layout_error error;
    lock_stage(0, &lock);
    char *text = layout_lock_text(&lock);
    for (size_t bytes = 0; bytes < strlen(text); bytes++) {
        int code = layout_lock_parse("text", text, bytes, &again, &error);
        bool between = bytes > 23 && text[bytes - 1] == '\n';
        assert_int_equal(code, between ? MGLRU_OK : MGLRU_EINVAL);
        assert_true(between || strncmp(error.text, "text:", 5) == 0);
        layout_lock_free(&again);
    }
    free(text);
    layout_lock_free(&lock);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_layout_passes_its_own_lock),
        cmocka_unit_test(what_became_better_passes),
        cmocka_unit_test(growth_and_new_pairs_are_told),
        cmocka_unit_test(a_group_that_moved_on_its_line_is_told),
        cmocka_unit_test(a_lock_is_read_as_it_was_written),
        cmocka_unit_test(a_torn_lock_is_refused),
    };
    static char text[16384];
    MGLRU_CHECK(argc == 5);
    for (unsigned i = 0; i < 3; i++)
        files[i] = argv[1 + i];
    FILE *in = fopen(argv[4], "r");
    MGLRU_CHECK(in != NULL);
    size_t bytes = fread(text, 1, sizeof(text) - 256, in);
    fclose(in);
    snprintf(text + bytes, 256,
             "group mem_cgroup_per_node.counters: lruvec.lrugen.evicted "
             "lruvec.lrugen.refaulted\n");
    class_text = text;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
