/* SPDX-License-Identifier: MIT */
/* The pool of cache/slab.h. Chunks double up to 2 MiB, so that small caches stay small. */
#include "cache/slab.h"

#include <stdlib.h>

#include "base/check.h"

/* First and largest chunk (chosen: start-up stays cheap, large pools fill huge pages). */
#define CHUNK_MIN (16u << 10)
#define CHUNK_MAX (2u << 20)
#define CHUNK_HEADER 64

struct slab_chunk {
    struct slab_chunk *next;
    size_t bytes;
};

void slab_init(struct slab *slab, size_t object_bytes)
{
    MGLRU_CHECK(object_bytes >= sizeof(void *) && object_bytes % sizeof(void *) == 0);
    *slab = (struct slab){.object_bytes = object_bytes};
}

void slab_fini(struct slab *slab)
{
    while (slab->chunks) {
        struct slab_chunk *chunk = slab->chunks;
        slab->chunks = chunk->next;
        free(chunk);
    }
    slab_init(slab, slab->object_bytes);
}

static int grow(struct slab *slab)
{
    size_t bytes = slab->chunks ? slab->chunks->bytes * 2 : CHUNK_MIN;
    if (bytes > CHUNK_MAX)
        bytes = CHUNK_MAX;
    /* Large chunks are aligned so that the kernel can back them with huge pages. */
    struct slab_chunk *chunk = aligned_alloc(bytes == CHUNK_MAX ? CHUNK_MAX : 4096, bytes);
    if (!chunk)
        return -1;
    chunk->next = slab->chunks;
    chunk->bytes = bytes;
    slab->chunks = chunk;
    slab->bytes += bytes;
    slab->next = (char *)chunk + CHUNK_HEADER;
    slab->end = (char *)chunk + bytes;
    return 0;
}

void *slab_alloc(struct slab *slab)
{
    if (slab->free_list) {
        void *object = slab->free_list;
        slab->free_list = *(void **)object;
        return object;
    }
    if ((size_t)(slab->end - slab->next) < slab->object_bytes && grow(slab))
        return NULL;
    void *object = slab->next;
    slab->next += slab->object_bytes;
    return object;
}

void slab_free(struct slab *slab, void *object)
{
    *(void **)object = slab->free_list;
    slab->free_list = object;
}
