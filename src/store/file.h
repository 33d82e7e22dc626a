/* SPDX-License-Identifier: MIT */
/* The synchronous part of the file stores, which the io_uring store falls back on. Not public. */
#ifndef STORE_FILE_H
#define STORE_FILE_H

#include <mglru/stores.h>

#include "os/os.h"

/* Pieces of one transfer. Chosen: 2 MiB of 4 KiB frames need eight, each costs stack. */
#define FILE_PIECES 64u

/* The same file, opened up to twice. Fixed while it is open. */
struct file_pair {
    struct os_file *cached; /* through the kernel's page cache, any offset and size */
    struct os_file *direct; /* past it, or NULL */
};

/* Opens what @options name; both are NULL on failure. Codes of mglru_store_file_open. */
int file_open(const struct mglru_store_file_options *options, struct file_pair *out);

/* Closes what is open. */
void file_close(struct file_pair *pair);

/* The handle for a transfer of @spans at @offset: direct where all is aligned. */
struct os_file *file_for(const struct file_pair *pair, const struct os_span *spans, unsigned count,
                         uint64_t offset);

/* The next pieces of @request as spans; returns how many. */
unsigned file_spans(const struct mglru_store_request *request, unsigned capacity,
                    struct os_span *spans, uint64_t *offset);

/* Performs @request at once and completes it. Blocks. */
void file_serve(const struct file_pair *pair, struct mglru_store_request *request);

/* Reads @given into @full and fills @caps for it. MGLRU_EINVAL. */
int file_options_read(const struct mglru_store_file_options *given,
                      struct mglru_store_file_options *full, struct mglru_store_caps *caps);

#endif
