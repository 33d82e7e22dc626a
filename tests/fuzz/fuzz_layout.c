/* SPDX-License-Identifier: MIT */
/*
 * The readers of debug information: ELF with DWARF, BTF, packed kernels; what a file is decides its
 * content. Whatever the bytes are:
 *
 *   - types keep the invariants of layout/type.h and layout/flat.h,
 *   - an error comes with one line of text,
 *   - a type that is listed is found by its name.
 *
 * A broken promise aborts, which libFuzzer reports as a crash with its input.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <mglru/error.h>

#include "base/check.h"
#include "layout/flat.h"
#include "layout/set.h"

/* Small enough that one input takes no time; the corpus holds no more either. */
#define INPUT_MAX ((size_t)64 << 10)
#define LOOKUPS_MAX 20u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_text(const char *text)
{
    MGLRU_CHECK(text != NULL);
    for (const char *c = text; *c; c++)
        MGLRU_CHECK((unsigned char)*c >= ' ' && *c != 0x7f);
}

static void check_error(const struct layout_error *error)
{
    MGLRU_CHECK(error->text[0] != '\0');
    MGLRU_CHECK(memchr(error->text, '\0', sizeof(error->text)) != NULL);
    check_text(error->text);
}

static void check_member(const struct layout_type *type, const struct layout_member *member)
{
    MGLRU_CHECK(member->bit_offset + member->bit_size >= member->bit_offset);
    MGLRU_CHECK(member->bit_offset + member->bit_size <= type->size_bytes * 8);
    MGLRU_CHECK(member->align_bytes >= 1);
    MGLRU_CHECK((member->align_bytes & (member->align_bytes - 1)) == 0);
    MGLRU_CHECK(member->dim_count == 0 || member->dims != NULL);
    check_text(member->type_name);
    check_text(member->resolved);
    if (member->name != NULL)
        check_text(member->name);
    if (member->type != NULL) {
        MGLRU_CHECK(member->type->total_count < type->total_count);
        MGLRU_CHECK(member->element_bytes == member->type->size_bytes);
    }
}

static void check_type(const struct layout_type *type)
{
    struct layout_summary summary;
    MGLRU_CHECK(type->name != NULL && type->name[0] != '\0');
    check_text(type->name);
    check_text(type->display);
    MGLRU_CHECK((type->align_bytes & (type->align_bytes - 1)) == 0 && type->align_bytes >= 1);
    MGLRU_CHECK(type->total_count <= LAYOUT_TOTAL_MAX);
    for (uint32_t i = 0; i < type->member_count; i++) {
        check_member(type, &type->members[i]);
        MGLRU_CHECK(i == 0 || type->members[i - 1].bit_offset <= type->members[i].bit_offset);
    }
    layout_summarise(type, &summary);
    MGLRU_CHECK(summary.hole_bytes + summary.padding_bytes <= type->size_bytes);
}

static void check_flat(const struct layout_type *type)
{
    struct layout_flatten_options options = {.size_bytes = sizeof(options)};
    struct layout_error error = {.text = ""};
    struct layout_flat flat;
    if (layout_flatten(type, &options, &flat, &error) != MGLRU_OK) {
        check_error(&error);
        return;
    }
    for (size_t i = 0; i < flat.leaf_count; i++) {
        const struct layout_leaf *leaf = &flat.leaves[i];
        check_text(leaf->path);
        /* Below a flexible array nothing lies inside the object. */
        if (leaf->bit_extent > 0)
            MGLRU_CHECK(leaf->bit_offset + leaf->bit_extent <= type->size_bytes * 8);
        MGLRU_CHECK(leaf->nest < flat.nest_count);
        if (leaf->bit_extent > 0 && leaf->bit_size > 0)
            MGLRU_CHECK(layout_leaf_touches(leaf, leaf->bit_offset / 8, leaf->bit_offset / 8));
    }
    for (size_t i = 1; i < flat.nest_count; i++)
        MGLRU_CHECK(flat.nests[i].parent < i);
    layout_flat_free(&flat);
}

static void check_lookups(struct layout_set *set, char names[LOOKUPS_MAX][64], size_t count)
{
    struct layout_error error = {.text = ""};
    const struct layout_type *type;
    for (size_t i = 0; i < count; i++) {
        int code = layout_find(set, names[i], &type, NULL, &error);
        MGLRU_CHECK(code != MGLRU_OK || type != NULL);
        if (code != MGLRU_OK)
            check_error(&error);
    }
    if (layout_find(set, "struct nowhere@x.c:1", &type, NULL, &error) != MGLRU_OK)
        check_error(&error);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct layout_memory memory = {.data = data, .bytes = size, .name = "input"};
    struct layout_open_options options = {.size_bytes = sizeof(options), .no_debug_search = true};
    struct layout_error error = {.text = ""};
    struct layout_set *set;
    struct layout_choices all;
    char names[LOOKUPS_MAX][64];
    size_t name_count = 0;
    if (size > INPUT_MAX)
        return 0;
    if (layout_open_memory(&memory, &options, &set, &error) != MGLRU_OK) {
        MGLRU_CHECK(set == NULL);
        check_error(&error);
        return 0;
    }
    if (layout_all(set, &all, &error) != MGLRU_OK)
        check_error(&error);
    for (size_t i = 0; i < all.count; i++) {
        check_type(all.types[i]);
        check_flat(all.types[i]);
        if (name_count < LOOKUPS_MAX)
            snprintf(names[name_count++], sizeof(names[0]), "%.63s", all.types[i]->name);
    }
    check_lookups(set, names, name_count);
    layout_close(set);
    return 0;
}
