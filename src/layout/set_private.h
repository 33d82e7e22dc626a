/* SPDX-License-Identifier: MIT */
/* An opened file, as set.c and find.c see it. */
#ifndef LAYOUT_SET_PRIVATE_H
#define LAYOUT_SET_PRIVATE_H

#include "layout/read/elf.h"
#include "layout/read/table.h"
#include "layout/reader.h"

struct layout_set {
    struct layout_open_options options;
    struct layout_info info;
    struct layout_error *error; /* of the call under way */
    struct layout_reader *reader;
    struct elf elf;       /* that BTF was found in */
    struct blob blobs[8]; /* the file, what was unpacked of it, and what it builds on */
    size_t blob_count;
    char *path;
    char *source_path; /* separate debug file; NULL: none */
    /* What the last call found. */
    const struct layout_type **choices;
    size_t choice_count;
    size_t choice_capacity;
    struct table seen; /* types that are among them, by address and name */
};

#endif
