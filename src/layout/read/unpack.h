/* SPDX-License-Identifier: MIT */
/*
 * Decompression of sections, kernels and modules, with a bound on what comes out.
 *
 * The output grows as it arrives: a size that the input claims is never trusted with memory.
 */
#ifndef LAYOUT_READ_UNPACK_H
#define LAYOUT_READ_UNPACK_H

#include "layout/read/blob.h"

enum unpack_format {
    UNPACK_NONE,
    UNPACK_ZLIB, /* never found by its magic: compressed sections say so themselves */
    UNPACK_GZIP,
    UNPACK_XZ,
    UNPACK_ZSTD,
    UNPACK_LZ4,  /* the legacy frames that kernels use */
    UNPACK_OTHER /* bzip2, lzma, lzo: known, not supported */
};

/* The format that @packed begins with. */
enum unpack_format unpack_detect(struct span packed);

/*
 * Decompresses the stream at the start of @packed; bytes behind its end are ignored. @plain: owns
 * the result, empty after an error. @name begins the message.
 * 0; MGLRU_EINVAL: damaged, cut off, or more than unpack_limit() bytes; MGLRU_ENOTSUP: this build
 * lacks the library; MGLRU_ENOMEM.
 */
int unpack(enum unpack_format format, struct span packed, struct blob *plain, const char *name,
           struct layout_error *error);

/* The most that @packed_bytes may grow to. */
size_t unpack_limit(size_t packed_bytes);

#endif
