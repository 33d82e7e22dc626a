/* SPDX-License-Identifier: MIT */
/* Small text files (classes, locks), read whole. Private to layout/. */
#ifndef LAYOUT_TEXT_H
#define LAYOUT_TEXT_H

#include <stdarg.h>
#include <stddef.h>

#include "layout/set.h"

/*
 * Reads @path ("-" is standard input) of at most @limit_bytes. @text: the caller frees it, NULL
 * after an error; it has a NUL behind its last byte. May block.
 * 0; MGLRU_EINVAL: a folder, or too large; MGLRU_ENOENT; MGLRU_EPERM; MGLRU_EIO; MGLRU_ENOMEM.
 */
int layout_text_read(const char *path, size_t limit_bytes, char **text, size_t *bytes,
                     struct layout_error *error);

/* "NAME:LINE: TEXT" of a text file that is refused. Returns MGLRU_EINVAL. */
int layout_text_fail(struct layout_error *error, const char *name, unsigned line,
                     const char *format, va_list arguments) __attribute__((format(printf, 4, 0)));

#endif
