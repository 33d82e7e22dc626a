/* SPDX-License-Identifier: MIT */
/* Arrays that grow by one. Private to layout/. */
#ifndef LAYOUT_GROW_H
#define LAYOUT_GROW_H

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/*
 * Room for one more item of @bytes, all zero, in the array that @array points to (a pointer to the
 * array's pointer); *@count is raised. NULL: out of memory, nothing changed. An array that grows
 * this way must only ever grow this way.
 */
static inline void *layout_grow(void *array, size_t *count, size_t bytes)
{
    char *items;
    memcpy(&items, array, sizeof(items)); /* a pointer of another type: no plain assignment */
    /* Powers of 2: the array is full exactly when its count is one. */
    if ((*count & (*count - 1)) == 0) {
        items = realloc(items, (*count == 0 ? 1 : *count * 2) * bytes);
        if (items == NULL)
            return NULL;
        memcpy(array, &items, sizeof(items));
    }
    char *added = items + *count * bytes;
    memset(added, 0, bytes);
    (*count)++;
    return added;
}

#endif
