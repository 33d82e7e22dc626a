/* SPDX-License-Identifier: MIT */
/*
 * The io_uring store. A request in the ring has a place, which keeps its spans and is named by the
 * tag of the transfer. What finds no place, and what the ring does not do (holes, sizes, transfers
 * that the kernel gives back), is done at once by the thread that has it.
 *
 * Lock: lock (RANK_STORE_RING) guards the submitting side and the free places. The reaping side
 * belongs to the one thread inside poll. Handing a request over: the submitter writes the place
 * under lock, the reaper reads it under lock after its end.
 */
#include <mglru/stores.h>

#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "os/ring.h"
#include "store/file.h"
#include "sync/lock.h"

/* Ends that are taken in one go. Chosen: as many as a submission has. */
#define ENDS 32u
#define PLACE_NONE UINT32_MAX

struct place {
    struct mglru_store_request *request;
    uint32_t next_free;
    struct os_span spans[FILE_PIECES];
};

struct uring_store {
    struct file_pair pair; /* fixed at creation, as the ring */
    struct os_ring *ring;
    struct lock_mutex lock;
    uint32_t free_place; /* under lock, as all below */
    uint32_t used;       /* places in use = transfers in the ring */
    uint32_t waiting;    /* those of them that the kernel has not taken yet */
    struct place places[];
};

/* Puts @request into the ring; false: no place, or nothing for a ring. */
static bool push(struct uring_store *store, struct mglru_store_request *request)
{
    uint32_t number = store->free_place;
    MGLRU_ASSERT(lock_mutex_held(&store->lock));
    if (number == PLACE_NONE || request->op > MGLRU_STORE_SYNC)
        return false;
    struct place *place = &store->places[number];
    struct os_ring_op op = {.kind = OS_RING_DATASYNC, .file = store->pair.cached, .tag = number};
    if (request->op != MGLRU_STORE_SYNC) {
        op.kind = request->op == MGLRU_STORE_READ ? OS_RING_READ : OS_RING_WRITE;
        op.spans = place->spans;
        op.count = file_spans(request, FILE_PIECES, place->spans, &op.offset);
        op.file = file_for(&store->pair, place->spans, op.count, op.offset);
    }
    if (!os_ring_push(store->ring, &op))
        return false;
    store->free_place = place->next_free;
    store->used++;
    store->waiting++;
    place->request = request;
    return true;
}

static void uring_submit(void *context, struct mglru_store_request *const *requests, uint32_t count)
{
    struct uring_store *store = context;
    for (uint32_t i = 0; i < count;) {
        uint32_t first = i;
        lock_mutex_acquire(&store->lock);
        while (i < count && push(store, requests[i]))
            i++;
        if (i > first)
            store->waiting = os_ring_submit(store->ring);
        lock_mutex_release(&store->lock);
        if (i < count)
            file_serve(&store->pair, requests[i++]);
    }
}

/* Starts what could not start before; whether the kernel has anything to wait for. */
static bool under_way(struct uring_store *store)
{
    lock_mutex_acquire(&store->lock);
    if (store->waiting)
        store->waiting = os_ring_submit(store->ring);
    bool some = store->used > store->waiting;
    lock_mutex_release(&store->lock);
    return some;
}

/* Frees the places of @ends; requests[i] is whose end ends[i] is. */
static void free_places(struct uring_store *store, const struct os_ring_end *ends, unsigned count,
                        struct mglru_store_request **requests)
{
    lock_mutex_acquire(&store->lock);
    for (unsigned i = 0; i < count; i++) {
        struct place *place = &store->places[ends[i].tag];
        requests[i] = place->request;
        place->request = NULL;
        place->next_free = store->free_place;
        store->free_place = (uint32_t)ends[i].tag;
    }
    store->used -= count;
    lock_mutex_release(&store->lock);
}

static uint32_t uring_poll(void *context, bool block)
{
    struct uring_store *store = context;
    struct os_ring_end ends[ENDS];
    struct mglru_store_request *requests[ENDS];
    if (!under_way(store))
        return 0;
    unsigned count = os_ring_reap(store->ring, block, ends, ENDS);
    free_places(store, ends, count, requests);
    for (unsigned i = 0; i < count; i++) {
        if (ends[i].error == MGLRU_EAGAIN)
            file_serve(&store->pair, requests[i]);
        else
            mglru_store_complete(requests[i], ends[i].error, ends[i].moved);
    }
    return count;
}

static int uring_size(void *context, uint64_t *bytes)
{
    const struct uring_store *store = context;
    return os_file_size(store->pair.cached, bytes);
}

static void uring_close(void *context)
{
    struct uring_store *store = context;
    os_ring_close(store->ring);
    file_close(&store->pair);
    free(store);
}

static const struct mglru_store_ops uring_ops = {
    .size = sizeof(uring_ops),
    .name = "uring",
    .submit = uring_submit,
    .poll = uring_poll,
    .size_get = uring_size,
    .close = uring_close,
};

/* ---- Life ---- */

static int uring_create(const struct mglru_store_file_options *options, struct uring_store **out)
{
    struct uring_store *store = calloc(1, sizeof(*store) + options->queue * sizeof(struct place));
    if (!store)
        return MGLRU_ENOMEM;
    lock_mutex_init(&store->lock, RANK_STORE_RING);
    for (uint32_t i = 0; i < options->queue; i++)
        store->places[i].next_free = i + 1 < options->queue ? i + 1 : PLACE_NONE;
    int error = os_ring_open(options->queue, &store->ring);
    if (!error)
        error = file_open(options, &store->pair);
    if (error) {
        uring_close(store);
        return error;
    }
    *out = store;
    return MGLRU_OK;
}

int mglru_store_uring_open(const struct mglru_store_file_options *options, struct mglru_store **out)
{
    struct mglru_store_file_options full;
    struct mglru_store_caps caps;
    struct uring_store *store;
    *out = NULL;
    int error = file_options_read(options, &full, &caps);
    if (!error)
        error = uring_create(&full, &store);
    if (error)
        return error;
    error = mglru_store_create(&uring_ops, &caps, store, out);
    if (error)
        uring_close(store);
    return error;
}
