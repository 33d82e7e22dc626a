/* SPDX-License-Identifier: MIT */
/* Small files of the kernel as text. Any thread. */
#ifndef RECORD_READFILE_H
#define RECORD_READFILE_H

#include <stddef.h>

/* The whole file, ended by NUL, to be freed; NULL: it cannot be read, or there is no memory. */
char *readfile_all(const char *path);

/* Its first line, cut to @bytes; @instead where it cannot be read. Returns @out. */
const char *readfile_line(const char *path, const char *instead, char *out, size_t bytes);

#endif
