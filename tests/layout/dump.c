/* SPDX-License-Identifier: MIT */
/*
 * Prints every type of a file on one line, for comparison with other tools:
 *
 *   KIND NAME|SIZE|MEMBERS|UNUSED BITS|PADDING BITS|member:OFFSET:SIZE,bits#BIT:BITS,...
 *
 * usage: layout-dump FILE      exit: 0; 2 the file cannot be read
 */
#include <inttypes.h>
#include <stdio.h>

#include <mglru/error.h>

#include "layout/set.h"

static void print_member(const struct layout_member *member)
{
    const char *name = member->name != NULL ? member->name : "";
    if ((member->flags & LAYOUT_BITFIELD) != 0)
        printf("%s#%" PRIu64 ":%" PRIu64 ",", name, member->bit_offset, member->bit_size);
    else
        printf("%s:%" PRIu64 ":%" PRIu64 ",", name, member->bit_offset / 8, member->bit_size / 8);
}

static void print_type(const struct layout_type *type)
{
    struct layout_summary summary;
    layout_summarise(type, &summary);
    printf("%s %s|%" PRIu64 "|%u|%" PRIu64 "|%" PRIu64 "|",
           type->kind == LAYOUT_UNION ? "union" : "struct", type->name, type->size_bytes,
           type->member_count, summary.hole_bytes * 8 + summary.bit_hole_bits,
           summary.padding_bytes * 8 + summary.bit_padding);
    for (uint32_t i = 0; i < type->member_count; i++)
        print_member(&type->members[i]);
    puts("");
}

int main(int argc, char **argv)
{
    struct layout_set *set;
    struct layout_error error = {.text = ""};
    struct layout_choices all;
    if (argc != 2) {
        fputs("usage: layout-dump FILE\n", stderr);
        return 2;
    }
    if (layout_open(argv[1], NULL, &set, &error) != MGLRU_OK) {
        fprintf(stderr, "%s\n", error.text);
        return 2;
    }
    if (layout_all(set, &all, &error) != MGLRU_OK) {
        fprintf(stderr, "%s\n", error.text);
        layout_close(set);
        return 2;
    }
    for (size_t i = 0; i < all.count; i++)
        print_type(all.types[i]);
    layout_close(set);
    return 0;
}
