/* SPDX-License-Identifier: MIT */
/* The pool of cache/slab.h. A new chunk is an eighth of what the pool has, so that little lies idle
 * in a pool of any size and large pools fill huge pages. */
#include "cache/slab.h"

#include "base/check.h"
#include "os/os.h"

/* Bounds of a chunk: the smallest keeps small caches small, the largest bounds one allocation. */
#define CHUNK_MIN ((size_t)16 << 10)
#define CHUNK_MAX ((size_t)64 << 20)
#define HUGE_PAGE ((size_t)2 << 20)
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
        os_pages_unmap(chunk, chunk->bytes);
    }
    slab_init(slab, slab->object_bytes);
}

static int grow(struct slab *slab)
{
    size_t bytes = slab->bytes / 8;
    if (bytes < CHUNK_MIN)
        bytes = CHUNK_MIN;
    if (bytes > CHUNK_MAX)
        bytes = CHUNK_MAX;
    size_t unit = bytes >= HUGE_PAGE ? HUGE_PAGE : CHUNK_MIN;
    bytes = bytes / unit * unit;
    void *start;
    if (os_pages_map(bytes, bytes >= HUGE_PAGE, &start))
        return -1;
    struct slab_chunk *chunk = start;
    chunk->next = slab->chunks;
    chunk->bytes = bytes;
    slab->chunks = chunk;
    slab->bytes += bytes;
    slab->next = (char *)start + CHUNK_HEADER;
    slab->end = (char *)start + bytes;
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
