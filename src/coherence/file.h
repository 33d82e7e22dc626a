/* SPDX-License-Identifier: MIT */
/* The bytes of a file that is read whole, and never changed. */
#ifndef COHERENCE_FILE_H
#define COHERENCE_FILE_H

#include <stddef.h>

#include "coherence/error.h"

struct coherence_bytes {
    const void *data;
    size_t bytes;
    const char *name; /* stands for the file in messages */
};

/*
 * Maps @path, a regular file. @file: the caller closes it in any case.
 * 0; MGLRU_ENOENT, MGLRU_EPERM, MGLRU_EIO, MGLRU_EINVAL as errno_code(); @error says why.
 */
int coherence_file_open(const char *path, struct coherence_bytes *file,
                        struct coherence_error *error);
void coherence_file_close(struct coherence_bytes *file);

#endif
