/* SPDX-License-Identifier: MIT */
/* Where separate debug files lie: beside the program, and in /usr/lib/debug by name or build id. */
#ifndef LAYOUT_READ_SEARCH_H
#define LAYOUT_READ_SEARCH_H

#include "layout/read/elf.h"

#define SEARCH_PATH_MAX 4096

/* @name as it is when absolute, else in the folder of @file. True when it can be read. */
bool search_beside(const char *file, const char *name, char path[SEARCH_PATH_MAX]);

/* /usr/lib/debug/.build-id/ab/cdef....debug */
bool search_build_id(struct span id, char path[SEARCH_PATH_MAX]);

/* The debug file of a stripped @elf by its build id and its debug link. */
bool search_debug_file(struct elf *elf, char path[SEARCH_PATH_MAX]);

#endif
