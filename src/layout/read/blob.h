/* SPDX-License-Identifier: MIT */
/* The bytes of a file or of a decompressed part of it, and who frees them. */
#ifndef LAYOUT_READ_BLOB_H
#define LAYOUT_READ_BLOB_H

#include <stddef.h>
#include <stdint.h>

#include "layout/read/bytes.h"
#include "layout/set.h"

enum blob_owner { BLOB_BORROWED, BLOB_MAPPED, BLOB_ALLOCATED };

struct blob {
    struct span span;
    enum blob_owner owner;
};

/* Writes the line into @error, control characters as '?', and returns @code. */
int layout_fail(struct layout_error *error, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/*
 * The whole of @path: large regular files are mapped, everything else is read to its end.
 * 0; MGLRU_ENOENT, MGLRU_EPERM, MGLRU_EIO; MGLRU_EINVAL: a folder, or larger than fits;
 * MGLRU_ENOMEM.
 */
int blob_open(const char *path, struct blob *blob, struct layout_error *error);

void blob_free(struct blob *blob);

#endif
