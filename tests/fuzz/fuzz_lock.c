/* SPDX-License-Identifier: MIT */
/*
 * Lock files: whatever the bytes are, reading ends with facts that can be written and read again,
 * or with one line of text that names the place.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <mglru/error.h>

#include "base/check.h"
#include "layout/lock.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Larger inputs find nothing new. */
#define INPUT_MAX ((size_t)64 << 10)

static void check_again(const struct layout_lock *lock)
{
    struct layout_lock again;
    struct layout_error error;
    char *text = layout_lock_text(lock);
    MGLRU_CHECK(text != NULL);
    int code = layout_lock_parse("again", text, strlen(text), &again, &error);
    MGLRU_CHECK(code == MGLRU_OK);
    MGLRU_CHECK(again.type_count == lock->type_count && again.line_bytes == lock->line_bytes);
    for (size_t i = 0; i < lock->type_count; i++) {
        const struct layout_lock_type *type = &lock->types[i];
        MGLRU_CHECK(layout_lock_find(&again, type->name) != NULL);
        MGLRU_CHECK(again.types[i].field_count == type->field_count);
        MGLRU_CHECK(again.types[i].group_count == type->group_count);
        MGLRU_CHECK(again.types[i].pair_count == type->pair_count);
    }
    layout_lock_free(&again);
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct layout_lock lock;
    struct layout_error error;
    if (size > INPUT_MAX)
        return 0;
    int code = layout_lock_parse("input", (const char *)data, size, &lock, &error);
    MGLRU_CHECK((code == MGLRU_OK) == (error.text[0] == '\0'));
    MGLRU_CHECK(code == MGLRU_OK || strncmp(error.text, "input:", 6) == 0);
    for (const char *c = error.text; *c != '\0'; c++)
        MGLRU_CHECK((unsigned char)*c >= ' ' && *c != 0x7f);
    if (code == MGLRU_OK)
        check_again(&lock);
    layout_lock_free(&lock);
    return 0;
}
