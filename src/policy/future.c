/* SPDX-License-Identifier: MIT */
/* Next-use times in chunks, so that growth neither copies nor over-allocates. */
#include "policy/future.h"

#include <stdlib.h>
#include <string.h>

#include <mglru/error.h>

#include "base/check.h"
#include "policy/policy.h"

#define FUTURE_UNUSED UINT32_MAX
#define FUTURE_CHUNK_BITS 18 /* 1 MiB a chunk (chosen) */
#define FUTURE_CHUNK_ACCESSES (1u << FUTURE_CHUNK_BITS)
#define FUTURE_ACCESSES_MAX (UINT32_MAX - 1)
#define FUTURE_ROOM_MIN 1024u

void future_init(struct future *future)
{
    memset(future, 0, sizeof(*future));
}

void future_free(struct future *future)
{
    for (uint64_t i = 0; i * FUTURE_CHUNK_ACCESSES < future->accesses; i++)
        free(future->chunks[i]);
    free(future->chunks);
    free(future->last);
    memset(future, 0, sizeof(*future));
}

static uint32_t *future_slot(const struct future *future, uint64_t index)
{
    uint32_t *chunk = future->chunks[index >> FUTURE_CHUNK_BITS];
    return &chunk[index & (FUTURE_CHUNK_ACCESSES - 1)];
}

static int future_grow_pages(struct future *future, uint32_t page)
{
    if (page == UINT32_MAX)
        return MGLRU_EOVERFLOW;
    uint64_t pages = future->pages ? (uint64_t)future->pages * 2 : FUTURE_ROOM_MIN;
    if (pages <= page)
        pages = (uint64_t)page + 1;
    if (pages > UINT32_MAX)
        pages = UINT32_MAX;
    uint32_t *last = realloc(future->last, pages * sizeof(*last));
    if (!last)
        return MGLRU_ENOMEM;
    memset(last + future->pages, 0xFF, (pages - future->pages) * sizeof(*last));
    future->last = last;
    future->pages = (uint32_t)pages;
    return 0;
}

/* Called when the last chunk is full. */
static int future_add_chunk(struct future *future)
{
    uint32_t used = (uint32_t)(future->accesses >> FUTURE_CHUNK_BITS);
    if (used == future->chunk_room) {
        uint32_t room = used ? used * 2 : 16;
        uint32_t **chunks = realloc(future->chunks, room * sizeof(*chunks));
        if (!chunks)
            return MGLRU_ENOMEM;
        future->chunks = chunks;
        future->chunk_room = room;
    }
    future->chunks[used] = malloc(FUTURE_CHUNK_ACCESSES * sizeof(**future->chunks));
    return future->chunks[used] ? 0 : MGLRU_ENOMEM;
}

int future_access(struct future *future, uint32_t page)
{
    if (future->accesses >= FUTURE_ACCESSES_MAX)
        return MGLRU_EOVERFLOW;
    int error = page < future->pages ? 0 : future_grow_pages(future, page);
    if (error)
        return error;
    if ((future->accesses & (FUTURE_CHUNK_ACCESSES - 1)) == 0) {
        error = future_add_chunk(future);
        if (error)
            return error;
    }
    uint32_t now = (uint32_t)future->accesses++;
    if (future->last[page] != FUTURE_UNUSED)
        *future_slot(future, future->last[page]) = now;
    future->last[page] = now;
    *future_slot(future, now) = FUTURE_UNUSED;
    return 0;
}

void future_forget(struct future *future, uint32_t page)
{
    if (page < future->pages)
        future->last[page] = FUTURE_UNUSED;
}

void future_seal(struct future *future)
{
    free(future->last);
    future->last = NULL;
    future->pages = 0;
}

uint64_t future_next(const struct future *future, uint64_t index)
{
    MGLRU_CHECK(index < future->accesses);
    uint32_t next = *future_slot(future, index);
    return next == FUTURE_UNUSED ? POLICY_NEVER : next;
}
