/* SPDX-License-Identifier: MIT */
/*
 * Goal: every refused allocation while a file is opened, listed, searched and flattened ends in
 * MGLRU_ENOMEM with a line of text, and leaves nothing behind (leaks show under AddressSanitizer).
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

#include "layout/flat.h"
#include "layout/set.h"

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

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_refused),
    };
    files = argv + 1;
    file_count = argc - 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
