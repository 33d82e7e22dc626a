/* SPDX-License-Identifier: MIT */
/*
 * Goal: every refused allocation while a file is opened, listed, searched and flattened ends in
 * MGLRU_ENOMEM with a line of text, and leaves nothing behind (leaks show under AddressSanitizer).
 * The same of each analysis of a type, from its class file to proposals, locks and checks.
 * Method: each file of the command line is read again and again, with the first, second, ...
 * allocation refused, until none is. The linker turns the allocator's entry points into the __wrap_
 * functions below.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <mglru/error.h>

#include "layout/diff.h"
#include "layout/draft.h"
#include "layout/flat.h"
#include "layout/growth.h"
#include "layout/lock.h"
#include "layout/set.h"
#include "layout/suggest.h"

/* Allocations until one fails; negative: none fails. */
static int until_failure = -1;
static bool met; /* one was refused */

static bool refused(void)
{
    if (until_failure < 0 || until_failure-- > 0)
        return false;
    met = true;
    return true;
}

void *__real_malloc(size_t bytes);
void *__real_calloc(size_t count, size_t bytes);
void *__real_realloc(void *old, size_t bytes);
char *__real_strdup(const char *text);
void *__wrap_malloc(size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes);
void *__wrap_realloc(void *old, size_t bytes);
char *__wrap_strdup(const char *text);

void *__wrap_malloc(size_t bytes)
{
    return refused() ? NULL : __real_malloc(bytes);
}

void *__wrap_calloc(size_t count, size_t bytes)
{
    return refused() ? NULL : __real_calloc(count, bytes);
}

void *__wrap_realloc(void *old, size_t bytes)
{
    return refused() ? NULL : __real_realloc(old, bytes);
}

char *__wrap_strdup(const char *text)
{
    return refused() ? NULL : __real_strdup(text);
}

/* More than any of the files needs; one that never comes through is a failure. */
#define ALLOCATIONS_MAX 2000
#define ANALYSES_MAX 100000

static char **files;
static int file_count;

static int flatten_all(const struct layout_choices *all, struct layout_error *error)
{
    int code = MGLRU_OK;
    for (size_t i = 0; i < all->count && code == MGLRU_OK; i++) {
        struct layout_flat flat;
        code = layout_flatten(all->types[i], NULL, &flat, error);
        layout_flat_free(&flat);
    }
    return code;
}

static int look(const char *path, struct layout_error *error)
{
    struct layout_set *set;
    struct layout_choices all;
    const struct layout_type *type;
    int code = layout_open(path, NULL, &set, error);
    if (code == MGLRU_OK)
        code = layout_all(set, &all, error);
    if (code == MGLRU_OK)
        code = flatten_all(&all, error);
    if (code == MGLRU_OK) {
        code = layout_find(set, "struct outer", &type, NULL, error);
        /* C++ files have none: then near names are looked for. */
        code = code == MGLRU_ENOENT ? MGLRU_OK : code;
    }
    layout_close(set);
    return code;
}

static void test_refused(void **state)
{
    for (int i = 0; i < file_count; i++) {
        int allocation = 0;
        for (; allocation < ALLOCATIONS_MAX; allocation++) {
            struct layout_error error = {.text = ""};
            met = false;
            until_failure = allocation;
            int code = look(files[i], &error);
            until_failure = -1;
            if (!met) {
                assert_int_equal(code, MGLRU_OK);
                break;
            }
            if (code != MGLRU_ENOMEM)
                fail_msg("%s, allocation %d: code %d, %s", files[i], allocation, code, error.text);
            assert_true(error.text[0] != '\0');
        }
        assert_in_range(allocation, 1, ALLOCATIONS_MAX - 1);
    }
}

/* Half of the members are read, half written by anybody: every kind of statement, many fights. */
static int read_classes(const struct layout_type *type, struct layout_classes *classes,
                        struct layout_error *error)
{
    char text[4096] = "alloc outer: static\nrule outer: no atomic beside read\n";
    static const char *const uses[] = {"read", "atomic", "lock(l)", "owner(o)"};
    unsigned taken = 0;
    for (size_t i = 0; i < type->member_count; i++)
        if (type->members[i].name != NULL) {
            size_t length = strlen(text);
            snprintf(text + length, sizeof(text) - length, "outer.%s: %s 3\n",
                     type->members[i].name, uses[taken++ % 4]);
        }
    assert_in_range(taken, 4, 1000);
    return layout_classes_parse("classes", text, strlen(text), classes, error);
}

/* What a map is good for; MGLRU_OK or the first refusal. */
static int analyse_map(const struct layout_map *map, const struct layout_classes *classes,
                       struct layout_error *error)
{
    struct layout_conflict_options options = {.line_bytes = 64, .alloc_align = 16};
    struct layout_suggestions suggestions = {.count = 0};
    struct layout_draft draft = {.count = 0};
    struct layout_diff diff = {0};
    struct layout_lock lock = {.line_bytes = 64};
    struct layout_lock again = {0};
    struct layout_breaches breaches = {0};
    char *text = NULL;
    int code = layout_draft_make(map, &draft);
    if (code == MGLRU_OK)
        code = layout_suggest(map, &options, &suggestions);
    if (code == MGLRU_OK)
        code = layout_diff(map, map, &options, &diff);
    if (code == MGLRU_OK)
        code = layout_lock_add(&lock, map, classes, &options);
    if (code == MGLRU_OK && (text = layout_lock_text(&lock)) == NULL)
        code = MGLRU_ENOMEM;
    if (code == MGLRU_OK)
        code = layout_lock_parse("lock", text, strlen(text), &again, error);
    if (code == MGLRU_OK)
        code = layout_check(map, classes, &options, &again.types[0], &breaches);
    free(text);
    layout_breaches_free(&breaches);
    layout_lock_free(&again);
    layout_lock_free(&lock);
    layout_diff_free(&diff);
    layout_suggestions_free(&suggestions);
    layout_draft_free(&draft);
    return code;
}

static int analyse(const struct layout_type *type, struct layout_error *error)
{
    struct layout_classes classes = {0};
    struct layout_map map = {0};
    struct layout_growth growth = {0};
    int code = read_classes(type, &classes, error);
    if (code == MGLRU_OK)
        code = layout_map_build(type, "outer", &classes, &map, error);
    if (code == MGLRU_OK)
        code = analyse_map(&map, &classes, error);
    if (code == MGLRU_OK)
        code = layout_growth_explain(type, type, 64, &growth);
    layout_growth_free(&growth);
    layout_map_free(&map);
    layout_classes_free(&classes);
    return code;
}

static void test_refused_analyses(void **state)
{
    struct layout_set *set;
    struct layout_error error = {.text = ""};
    const struct layout_type *type;
    int allocation = 0;
    assert_int_equal(layout_open(files[0], NULL, &set, &error), MGLRU_OK);
    assert_int_equal(layout_find(set, "struct outer", &type, NULL, &error), MGLRU_OK);
    for (; allocation < ANALYSES_MAX; allocation++) {
        met = false;
        until_failure = allocation;
        int code = analyse(type, &error);
        until_failure = -1;
        if (code != (met ? MGLRU_ENOMEM : MGLRU_OK))
            fail_msg("allocation %d: code %d, %s", allocation, code, error.text);
        if (!met)
            break;
    }
    assert_in_range(allocation, 20, ANALYSES_MAX - 1);
    layout_close(set);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_refused_analyses),
    };
    files = argv + 1;
    file_count = argc - 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
