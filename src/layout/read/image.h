/* SPDX-License-Identifier: MIT */
/* Compressed kernels: where in a vmlinuz the packed vmlinux lies. */
#ifndef LAYOUT_READ_IMAGE_H
#define LAYOUT_READ_IMAGE_H

#include "layout/read/blob.h"

/*
 * The packed part of @file: an x86 bzImage (its setup header names the place), an EFI zboot image,
 * or a file that is a compressed stream as a whole (gzip, xz, zstd, lz4). False: none of these.
 */
bool image_payload(struct span file, struct span *packed);

/* Raw BTF somewhere in @file, as kernels that are no ELF files carry it. False: none. */
bool image_find_btf(struct span file, struct span *btf);

#endif
