/* SPDX-License-Identifier: MIT */
/* The stores of bases.h. */
#include "bases.h"

#include <stdio.h>

#include "base/check.h"
#include "os/os.h"

#define PATH_BYTES 256

static void path_of(char *path, struct base_place place)
{
    snprintf(path, PATH_BYTES, "%s/mapping%u", place.folder, place.mapping);
}

int base_open(enum base_kind kind, struct base_place place, struct mglru_store **out)
{
    char path[PATH_BYTES];
    struct mglru_store_memory_options memory = {
        .size = sizeof(memory), .size_max = 1 << 24, .synced_copy = kind == BASE_SYNCED};
    struct mglru_store_file_options file = {.size = sizeof(file), .path = path, .create = true};
    path_of(path, place);
    switch (kind) {
    case BASE_FILE:
        return mglru_store_file_open(&file, out);
    case BASE_URING:
        return mglru_store_uring_open(&file, out);
    default:
        return mglru_store_memory_open(&memory, out);
    }
}

void base_remove(struct base_place place)
{
    char path[PATH_BYTES];
    path_of(path, place);
    os_file_remove(path);
}

void base_add_counts(struct mglru_store_faulty_counts *to,
                     const struct mglru_store_faulty_counts *from)
{
    to->requests += from->requests;
    to->read_errors += from->read_errors;
    to->write_errors += from->write_errors;
    to->write_nospaces += from->write_nospaces;
    to->sync_errors += from->sync_errors;
    to->discard_errors += from->discard_errors;
    to->shorts += from->shorts;
    to->delays += from->delays;
    to->pages_destaged += from->pages_destaged;
    to->pages_torn += from->pages_torn;
    to->pages_lost += from->pages_lost;
    to->refused += from->refused;
}

void base_add_faults(struct mglru_store_faulty_counts *to, struct mglru_store *faulty)
{
    struct mglru_store_faulty_counts counts = {.size = sizeof(counts)};
    MGLRU_CHECK(mglru_store_faulty_counts(faulty, &counts) == MGLRU_OK);
    base_add_counts(to, &counts);
}
