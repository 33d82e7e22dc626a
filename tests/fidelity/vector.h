/* SPDX-License-Identifier: MIT */
/*
 * Miss vectors made small, for fixtures. A miss depends mostly on how long ago the page was
 * accessed and how that access went, so each bit is coded by an adaptive binary range coder in
 * the context of these two. Who unpacks needs the same page stream, which fixtures regenerate.
 *
 * The text form is base64.
 */
#ifndef FIDELITY_VECTOR_H
#define FIDELITY_VECTOR_H

#include <stddef.h>
#include <stdint.h>

/* A new string, owned by the caller; NULL: no memory. @pages: page of each access, < @page_count.
 */
char *vector_pack(const uint8_t *bits, const uint32_t *pages, uint64_t count, uint64_t page_count);

/* New bits (@count of them); NULL: the text is no packed vector of that length, or no memory. */
uint8_t *vector_unpack(const char *text, const uint32_t *pages, uint64_t count,
                       uint64_t page_count);

#endif
