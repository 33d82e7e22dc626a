/* SPDX-License-Identifier: MIT */
/*
 * A pool of equal objects: pages of objects that are never given back before the pool ends, and a
 * free list through the objects. Allocation on the miss path costs a few instructions.
 * Not thread-safe.
 */
#ifndef CACHE_SLAB_H
#define CACHE_SLAB_H

#include <stddef.h>
#include <stdint.h>

struct slab_chunk;

struct slab {
    size_t object_bytes; /* at least a pointer; objects are aligned to their power of two, <= 64 */
    void *free_list;
    char *next; /* unused part of the newest chunk */
    char *end;
    struct slab_chunk *chunks;
    uint64_t bytes; /* taken from the system */
};

void slab_init(struct slab *slab, size_t object_bytes);
void slab_fini(struct slab *slab);

/* Uninitialised object, or NULL when memory is out. */
void *slab_alloc(struct slab *slab);
void slab_free(struct slab *slab, void *object);

#endif
