/* SPDX-License-Identifier: MIT */
/* How the path of a memcg looks in a trace: "/" or "/a/b", so that each memcg has one spelling. */
#ifndef TRACE_PATH_H
#define TRACE_PATH_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* True: absolute, without an empty part. */
static inline bool path_is_memcg(const char *path, size_t bytes)
{
    if (bytes == 0 || path[0] != '/')
        return false;
    return bytes == 1 || (path[bytes - 1] != '/' && memmem(path, bytes, "//", 2) == NULL);
}

#endif
