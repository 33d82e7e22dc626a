/* SPDX-License-Identifier: MIT */
/*
 * Belady's MIN: evicts the page whose next access lies farthest ahead. No policy that loads every
 * missing page misses less often; it needs the future (policy/future.h).
 * L. A. Belady, "A study of replacement algorithms for a virtual-storage computer", IBM Systems
 * Journal 5(2), 1966.
 *
 * A binary max-heap of the resident pages by next access, and the position of each page in it. A
 * hit changes the page's key from now to its next access; a miss in a full cache replaces the root.
 * Pages that are never accessed again have the greatest key; which of them leaves first does not
 * change the number of misses. The incoming page is always loaded, even if it is not used again.
 *
 * Invariants: 1. at[position[page]].page = page for each resident page. 2. No key is greater than
 * that of the node's parent.
 */
#include <stdlib.h>
#include <string.h>

#include <mglru/error.h>

#include "base/check.h"
#include "policy/baselines.h"

#define BELADY_ABSENT UINT32_MAX
#define BELADY_ROOM_MIN 1024u

struct belady_node {
    uint64_t next_use;
    uint32_t page;
};

struct belady {
    struct belady_node *at;
    uint32_t count;     /* nodes in the heap */
    uint32_t room;      /* nodes allocated */
    uint32_t *position; /* by page; BELADY_ABSENT: not resident */
    uint32_t pages;     /* ids below it have room in @position */
    uint64_t capacity_pages;
};

static void belady_put(struct belady *belady, uint32_t position, struct belady_node node)
{
    belady->at[position] = node;
    belady->position[node.page] = position;
}

/* Moves @node up from the hole at @position to where it belongs. */
static void belady_rise(struct belady *belady, uint32_t position, struct belady_node node)
{
    while (position > 0) {
        uint32_t parent = (position - 1) / 2;
        if (belady->at[parent].next_use >= node.next_use)
            break;
        belady_put(belady, position, belady->at[parent]);
        position = parent;
    }
    belady_put(belady, position, node);
}

/* Moves @node down from the hole at @position to where it belongs. */
static void belady_sink(struct belady *belady, uint32_t position, struct belady_node node)
{
    for (;;) {
        uint64_t child = 2 * (uint64_t)position + 1;
        if (child >= belady->count)
            break;
        if (child + 1 < belady->count &&
            belady->at[child + 1].next_use > belady->at[child].next_use)
            child++;
        if (belady->at[child].next_use <= node.next_use)
            break;
        belady_put(belady, position, belady->at[child]);
        position = (uint32_t)child;
    }
    belady_put(belady, position, node);
}

static uint32_t belady_position(const struct belady *belady, uint32_t page)
{
    return page < belady->pages ? belady->position[page] : BELADY_ABSENT;
}

static uint64_t belady_doubled(uint64_t room, uint64_t needed)
{
    uint64_t doubled = room ? room * 2 : BELADY_ROOM_MIN;
    if (doubled < needed)
        doubled = needed;
    return doubled < UINT32_MAX ? doubled : UINT32_MAX;
}

static int belady_grow_pages(struct belady *belady, uint32_t page)
{
    if (page == UINT32_MAX)
        return MGLRU_EOVERFLOW;
    uint64_t pages = belady_doubled(belady->pages, (uint64_t)page + 1);
    uint32_t *position = realloc(belady->position, pages * sizeof(*position));
    if (!position)
        return MGLRU_ENOMEM;
    memset(position + belady->pages, 0xFF, (pages - belady->pages) * sizeof(*position));
    belady->position = position;
    belady->pages = (uint32_t)pages;
    return 0;
}

static int belady_grow_heap(struct belady *belady)
{
    uint64_t room = belady_doubled(belady->room, (uint64_t)belady->count + 1);
    struct belady_node *at = realloc(belady->at, room * sizeof(*at));
    if (!at)
        return MGLRU_ENOMEM;
    belady->at = at;
    belady->room = (uint32_t)room;
    return 0;
}

static int belady_miss(struct belady *belady, struct belady_node node)
{
    int error = node.page < belady->pages ? 0 : belady_grow_pages(belady, node.page);
    if (error)
        return error;
    if (belady->count >= belady->capacity_pages) {
        belady->position[belady->at[0].page] = BELADY_ABSENT;
        belady_sink(belady, 0, node);
        return 0;
    }
    if (belady->count == belady->room) {
        error = belady_grow_heap(belady);
        if (error)
            return error;
    }
    belady->count++;
    belady_rise(belady, belady->count - 1, node);
    return 0;
}

static int belady_access(void *state, const struct policy_request *request)
{
    struct belady *belady = state;
    struct belady_node node = {.next_use = request->next_use, .page = request->page};
    uint32_t position = belady_position(belady, request->page);
    if (position == BELADY_ABSENT)
        return belady_miss(belady, node);
    /* The old key was this very access, the smallest of all, so the page can only rise. */
    belady_rise(belady, position, node);
    return 1;
}

static void belady_forget(void *state, uint32_t page)
{
    struct belady *belady = state;
    uint32_t position = belady_position(belady, page);
    if (position == BELADY_ABSENT)
        return;
    belady->position[page] = BELADY_ABSENT;
    belady->count--;
    if (position == belady->count)
        return;
    struct belady_node last = belady->at[belady->count];
    if (position > 0 && belady->at[(position - 1) / 2].next_use < last.next_use)
        belady_rise(belady, position, last);
    else
        belady_sink(belady, position, last);
}

static uint64_t belady_resident(const void *state)
{
    const struct belady *belady = state;
    return belady->count;
}

static void belady_destroy(void *state)
{
    struct belady *belady = state;
    if (!belady)
        return;
    free(belady->at);
    free(belady->position);
    free(belady);
}

static int belady_create(uint64_t capacity_pages, void **state)
{
    MGLRU_CHECK(capacity_pages >= 1);
    struct belady *belady = calloc(1, sizeof(*belady));
    *state = belady;
    if (!belady)
        return MGLRU_ENOMEM;
    belady->capacity_pages = capacity_pages;
    return 0;
}

const struct policy_ops policy_belady = {
    .name = "belady",
    .about = "optimal with a known future, MIN (Belady 1966)",
    .needs_future = true,
    .create = belady_create,
    .destroy = belady_destroy,
    .access = belady_access,
    .forget = belady_forget,
    .resident = belady_resident,
};
