/* SPDX-License-Identifier: MIT */
/*
 * Prints size and leaves of the types named r_N in the form of random_structs.c.
 *
 * usage: layout-leaves FILE DWARF-VERSION      exit: 0; 2 the file cannot be read
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mglru/error.h>

#include "layout/flat.h"

static void print_leaf(const struct layout_type *type, const struct layout_leaf *leaf, bool atomics)
{
    printf("%s %s %" PRIu64 " %" PRIu64, type->name, leaf->path, leaf->bit_offset, leaf->bit_size);
    if ((leaf->member->flags & LAYOUT_BITFIELD) != 0)
        puts(" bits");
    else
        printf(" %" PRIu64 "%s\n", leaf->bit_extent,
               atomics && (leaf->member->flags & LAYOUT_ATOMIC) != 0 ? " atomic" : "");
}

/* DWARF before version 5 holds neither alignments nor _Atomic for certain. */
static int print_type(const struct layout_type *type, bool all)
{
    struct layout_flatten_options options = {.size_bytes = sizeof(options)};
    struct layout_flat flat;
    struct layout_error error;
    if (layout_flatten(type, &options, &flat, &error) != MGLRU_OK) {
        fprintf(stderr, "%s\n", error.text);
        return 2;
    }
    printf("%s %" PRIu64, type->name, type->size_bytes);
    if (all)
        printf(" %u", type->align_bytes);
    puts("");
    for (size_t i = 0; i < flat.leaf_count; i++)
        print_leaf(type, &flat.leaves[i], all);
    layout_flat_free(&flat);
    return 0;
}

int main(int argc, char **argv)
{
    struct layout_set *set = NULL;
    struct layout_error error = {.text = ""};
    struct layout_choices types = {0};
    if (argc != 3 || layout_open(argv[1], NULL, &set, &error) != MGLRU_OK ||
        layout_all(set, &types, &error) != MGLRU_OK) {
        fprintf(stderr, "%s\n", argc == 3 ? error.text : "usage: layout-leaves FILE DWARF-VERSION");
        layout_close(set);
        return 2;
    }
    int status = 0;
    for (size_t i = 0; i < types.count && status == 0; i++)
        if (strncmp(types.types[i]->name, "r_", 2) == 0)
            status = print_type(types.types[i], atoi(argv[2]) >= 5);
    layout_close(set);
    return status;
}
