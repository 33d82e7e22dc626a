/* SPDX-License-Identifier: MIT */
/*
 * The general part of all stores: checks, repetition of short transfers, waiting.
 *
 * Repetition: a store completes a part, and the library submits the rest. A store that completes
 * inside submit would recurse once a part, so each entry into a store's functions leaves a struct
 * visit on its stack, and a short request of that store queues on it; the entry submits again
 * after the function has returned.
 *
 * Waiting: only one thread at a time, the reaper, is inside poll. The role is a flag, not a lock:
 * nobody waits for it as such, and complete() functions may take any lock while somebody has it.
 * Others sleep on store->events, which grows whenever they may have something to do:
 *   W1  a sleeper counts itself in sleepers, reads events, then looks at its word, the role and
 *       in_flight once more, and sleeps only if events is still what it read;
 *   W2  whoever changes one of these three looks at sleepers afterwards, and adds to events.
 * All of it is sequentially consistent, so that either W1 sees the change or W2 the sleeper.
 *   W3  a synchronous store has neither role nor requests in flight, and nobody sleeps for a
 *       request of his own. Its completions look at sleepers without a fence, which would wait
 *       until the page just read lies in memory; a sleeper that one of them overlooked looks again
 *       by itself.
 *
 * Conservation: in_flight = requests submitted to an asynchronous store - those completed.
 */
#include "store/store.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "os/os.h"
#include "sync/atomic.h"

/* Requests that go to the store in one call. Chosen: amortises a system call, fits the stack. */
#define BATCH 32u
/* W3. Chosen: seldom, and short against what I/O of others takes. */
#define LOOK_AGAIN_NS UINT64_C(1000000)

struct mglru_store {
    /* Line 0: fixed at creation. */
    const struct mglru_store_ops *ops;
    void *context;
    struct mglru_store_caps caps;
    /* Line 1 and on: written by every asynchronous request, and by sleepers. */
    _Alignas(64) _Atomic uint32_t in_flight;
    _Atomic uint32_t reaping; /* 1: somebody is inside poll */
    _Atomic uint32_t events;
    _Atomic uint32_t sleepers;
};

/* An entry of this thread into the functions of a store. */
struct visit {
    struct mglru_store *store;
    struct mglru_store_request *again; /* short requests, to be submitted once more */
    struct visit *outer;
    bool polls;
};

static _Thread_local struct visit *visits;

static struct visit *visit_find(const struct mglru_store *store)
{
    for (struct visit *visit = visits; visit; visit = visit->outer) {
        if (visit->store == store)
            return visit;
    }
    return NULL;
}

/* ---- Completion ---- */

/* W2, W3 */
static void wake_sleepers(struct mglru_store *store)
{
    if (store->ops->poll)
        atomic_fence_seq_cst(); /* pairs with the count in mglru_store_wait */
    if (MGLRU_LIKELY(!atomic_load_seq_cst(&store->sleepers)))
        return;
    atomic_add_seq_cst(&store->events, 1);
    os_wake(&store->events, true);
}

static void finish(struct mglru_store_request *request, int error)
{
    struct mglru_store *store = request->store;
    request->error = error;
    if (request->complete)
        request->complete(request); /* the request may be gone now */
    wake_sleepers(store);
}

static void finish_submitted(struct mglru_store_request *request, int error)
{
    struct mglru_store *store = request->store;
    finish(request, error);
    if (store->ops->poll) {
        /* Pairs with the loads in reap and mglru_store_close. */
        uint32_t before = atomic_sub_seq_cst(&store->in_flight, 1);
        MGLRU_ASSERT(before);
        (void)before;
    }
}

static bool is_transfer(const struct mglru_store_request *request)
{
    return request->op == MGLRU_STORE_READ || request->op == MGLRU_STORE_WRITE;
}

uint64_t store_bytes_left(const struct mglru_store_request *request)
{
    return is_transfer(request) ? request->bytes - request->done : 0;
}

/* Moves the position in the pieces on by @moved bytes. */
static void advance(struct mglru_store_request *request, uint64_t moved)
{
    request->done += moved;
    while (request->piece < request->count) {
        size_t left = request->vec[request->piece].bytes - request->piece_done;
        if (moved < left) {
            request->piece_done += (size_t)moved;
            return;
        }
        moved -= left;
        request->piece++;
        request->piece_done = 0;
    }
    MGLRU_ASSERT(!moved);
}

/* Zeroes what a read at the end of the store left; done keeps saying what the store had. */
static void zero_rest(struct mglru_store_request *request)
{
    size_t skip = request->piece_done;
    for (uint32_t i = request->piece; i < request->count; i++) {
        const struct mglru_store_vec *piece = &request->vec[i];
        if (piece->bytes > skip)
            memset((char *)piece->frame + skip, 0, piece->bytes - skip);
        skip = 0;
    }
}

uint32_t mglru_store_pieces(const struct mglru_store_request *request, struct mglru_store_vec *vec,
                            uint32_t capacity, uint64_t *offset)
{
    uint32_t filled = 0;
    size_t skip = request->piece_done;
    *offset = request->offset + request->done;
    for (uint32_t i = request->piece; i < request->count && filled < capacity; i++) {
        const struct mglru_store_vec *piece = &request->vec[i];
        if (piece->bytes > skip)
            vec[filled++] =
                (struct mglru_store_vec){(char *)piece->frame + skip, piece->bytes - skip};
        skip = 0;
    }
    return filled;
}

static void hand_over(struct mglru_store *store, struct mglru_store_request *first);

void mglru_store_complete(struct mglru_store_request *request, int error, uint64_t moved)
{
    MGLRU_CHECK(moved <= store_bytes_left(request));
    if (moved)
        advance(request, moved);
    if (error || !store_bytes_left(request)) {
        finish_submitted(request, error);
        return;
    }
    if (!moved) {
        if (request->op == MGLRU_STORE_READ)
            zero_rest(request);
        finish_submitted(request, request->op == MGLRU_STORE_READ ? MGLRU_OK : MGLRU_EIO);
        return;
    }
    struct visit *visit = visit_find(request->store);
    request->next = visit ? visit->again : NULL;
    if (visit)
        visit->again = request;
    else
        hand_over(request->store, request);
}

/* ---- Submission ---- */

/* Takes at most BATCH requests off the list that begins with *first. */
static uint32_t take_batch(struct mglru_store_request **first, struct mglru_store_request **batch)
{
    uint32_t count = 0;
    while (*first && count < BATCH) {
        batch[count++] = *first;
        *first = (*first)->next;
    }
    return count;
}

/* Submits what queued on @visit, as long as more comes. */
static void visit_end(struct visit *visit)
{
    while (visit->again) {
        struct mglru_store_request *batch[BATCH];
        uint32_t count = take_batch(&visit->again, batch);
        visit->store->ops->submit(visit->store->context, batch, count);
    }
    visits = visit->outer;
}

/* Submits the list that begins with @first. */
static void hand_over(struct mglru_store *store, struct mglru_store_request *first)
{
    struct visit visit = {.store = store, .again = first, .outer = visits};
    visits = &visit;
    visit_end(&visit);
}

uint64_t store_vec_bytes(const struct mglru_store_vec *vec, uint32_t count)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (vec[i].bytes > MGLRU_STORE_BYTES_MAX - bytes)
            return UINT64_MAX;
        bytes += vec[i].bytes;
    }
    return bytes;
}

static bool is_aligned(const struct mglru_store_request *request, uint32_t align)
{
    uint64_t all = request->offset;
    if (request->op == MGLRU_STORE_PUNCH)
        all |= request->bytes;
    for (uint32_t i = 0; is_transfer(request) && i < request->count; i++)
        all |= (uintptr_t)request->vec[i].frame | request->vec[i].bytes;
    return !(all & (align - 1));
}

/* Checks what every store may rely on. */
static int check(const struct mglru_store *store, const struct mglru_store_request *request)
{
    const struct mglru_store_caps *caps = &store->caps;
    uint64_t bytes = request->bytes;
    if (request->op < MGLRU_STORE_READ || request->op > MGLRU_STORE_TRUNCATE)
        return MGLRU_EINVAL;
    if (request->op == MGLRU_STORE_SYNC)
        return MGLRU_OK;
    if (request->op == MGLRU_STORE_TRUNCATE)
        bytes = 0;
    if (request->offset > MGLRU_STORE_BYTES_MAX || bytes > MGLRU_STORE_BYTES_MAX - request->offset)
        return MGLRU_EINVAL;
    if (caps->align_bytes > 1 && !is_aligned(request, caps->align_bytes))
        return MGLRU_EINVAL;
    if (request->op == MGLRU_STORE_READ)
        return MGLRU_OK;
    if (caps->read_only)
        return MGLRU_EPERM;
    /* A hole beyond the largest size changes nothing and is cut below. */
    if (request->op != MGLRU_STORE_PUNCH && request->offset + bytes > caps->size_max)
        return MGLRU_ENOSPC;
    return MGLRU_OK;
}

/* A request that needs no store: it is wrong, or there is nothing to do. */
static bool ends_at_once(struct mglru_store *store, struct mglru_store_request *request, int *error)
{
    request->store = store;
    request->next = NULL;
    request->piece = 0;
    request->piece_done = 0;
    request->done = 0;
    request->error = MGLRU_OK;
    if (is_transfer(request))
        request->bytes = store_vec_bytes(request->vec, request->count);
    *error = check(store, request);
    if (*error)
        return true;
    uint64_t size_max = store->caps.size_max;
    if (request->op == MGLRU_STORE_PUNCH) {
        if (request->offset >= size_max)
            return true;
        if (request->bytes > size_max - request->offset)
            request->bytes = size_max - request->offset;
    }
    if (request->op == MGLRU_STORE_READ && request->offset >= size_max) {
        zero_rest(request);
        return true;
    }
    return request->op != MGLRU_STORE_SYNC && request->op != MGLRU_STORE_TRUNCATE &&
           !request->bytes;
}

void mglru_store_submit(struct mglru_store *store, struct mglru_store_request *const *requests,
                        uint32_t count)
{
    struct mglru_store_request *first = NULL, **last = &first;
    uint32_t good = 0;
    for (uint32_t i = 0; i < count; i++) {
        struct mglru_store_request *request = requests[i];
        int error;
        if (ends_at_once(store, request, &error)) {
            finish(request, error);
            continue;
        }
        *last = request;
        last = &request->next;
        good++;
    }
    if (!good)
        return;
    /* Before the first of them can complete. Pairs with the load in mglru_store_wait. */
    if (store->ops->poll)
        atomic_add_seq_cst(&store->in_flight, good);
    hand_over(store, first);
    /* Somebody has to reap what is in flight now; the store stays open while this call runs. */
    if (store->ops->poll)
        wake_sleepers(store);
}

/* ---- Waiting ---- */

/* Takes the role of the reaper; false: nothing to reap, or somebody else has it. */
static bool reaper_begin(struct mglru_store *store)
{
    return store->ops->poll && atomic_load_seq_cst(&store->in_flight) &&
           !atomic_exchange_seq_cst(&store->reaping, 1);
}

/* The reaper polls. */
static uint32_t reaper_poll(struct mglru_store *store, bool block)
{
    struct visit visit = {.store = store, .outer = visits, .polls = true};
    visits = &visit;
    uint32_t count = store->ops->poll(store->context, block);
    visit_end(&visit);
    return count;
}

static void reaper_end(struct mglru_store *store)
{
    atomic_store_seq_cst(&store->reaping, 0); /* pairs with the load in mglru_store_wait */
    wake_sleepers(store);
}

uint32_t mglru_store_poll(struct mglru_store *store)
{
    if (!reaper_begin(store))
        return 0;
    uint32_t count = reaper_poll(store, false);
    reaper_end(store);
    return count;
}

static bool word_is(const uint32_t *word, uint32_t expected)
{
    /* Pairs with the release in the caller's complete() function. */
    return atomic_load_acquire((const _Atomic uint32_t *)word) == expected;
}

/* Reaps for a waiter, if there is something to reap and nobody who does. */
static bool reap_once(struct mglru_store *store, const uint32_t *word, uint32_t expected)
{
    if (!reaper_begin(store))
        return false;
    /* The last reaper may just have changed the word; then nothing may be left to wait for. */
    if (word_is(word, expected) && !reaper_poll(store, true))
        os_thread_yield(); /* a submitter has counted its request and not handed it over yet */
    reaper_end(store);
    return true;
}

void mglru_store_wait(struct mglru_store *store, const uint32_t *word, uint32_t expected)
{
    const struct visit *visit = visit_find(store);
    MGLRU_CHECK(!visit || !visit->polls); /* it would wait for itself */
    while (word_is(word, expected)) {
        if (reap_once(store, word, expected))
            continue;
        /* W1 */
        atomic_add_seq_cst(&store->sleepers, 1);
        atomic_fence_seq_cst(); /* pairs with wake_sleepers */
        uint32_t events = atomic_load_seq_cst(&store->events);
        bool idle = !store->ops->poll || atomic_load_seq_cst(&store->reaping) ||
                    !atomic_load_seq_cst(&store->in_flight);
        if (idle && word_is(word, expected) && store->ops->poll)
            os_wait(&store->events, events);
        else if (idle && word_is(word, expected))
            os_wait_for(&store->events, events, LOOK_AGAIN_NS); /* W3 */
        atomic_sub_seq_cst(&store->sleepers, 1);
    }
}

/* ---- One request, blocking ---- */

static void note_done(struct mglru_store_request *request)
{
    /* Pairs with the acquire in word_is. */
    atomic_store_release((_Atomic uint32_t *)request->context, 1);
}

int store_run(struct mglru_store *store, struct mglru_store_request *request)
{
    _Atomic uint32_t ended;
    atomic_store_relaxed(&ended, 0);
    request->complete = note_done;
    request->context = &ended;
    mglru_store_submit(store, &request, 1);
    mglru_store_wait(store, (const uint32_t *)&ended, 0);
    return request->error;
}

int mglru_store_read(struct mglru_store *store, uint64_t offset, const struct mglru_store_vec *vec,
                     uint32_t count)
{
    struct mglru_store_request request = {
        .op = MGLRU_STORE_READ, .offset = offset, .vec = vec, .count = count};
    return store_run(store, &request);
}

int mglru_store_write(struct mglru_store *store, uint64_t offset, const struct mglru_store_vec *vec,
                      uint32_t count)
{
    struct mglru_store_request request = {
        .op = MGLRU_STORE_WRITE, .offset = offset, .vec = vec, .count = count};
    return store_run(store, &request);
}

int mglru_store_sync(struct mglru_store *store)
{
    struct mglru_store_request request = {.op = MGLRU_STORE_SYNC};
    return store_run(store, &request);
}

int mglru_store_punch(struct mglru_store *store, uint64_t offset, uint64_t bytes)
{
    struct mglru_store_request request = {
        .op = MGLRU_STORE_PUNCH, .offset = offset, .bytes = bytes};
    return store_run(store, &request);
}

int mglru_store_truncate(struct mglru_store *store, uint64_t bytes)
{
    struct mglru_store_request request = {.op = MGLRU_STORE_TRUNCATE, .offset = bytes};
    return store_run(store, &request);
}

/* ---- Life ---- */

int store_options_read(void *full, size_t full_bytes, const void *given, size_t oldest)
{
    size_t size;
    memset(full, 0, full_bytes);
    memcpy(&size, given, sizeof(size));
    if (size < oldest)
        return MGLRU_EINVAL;
    memcpy(full, given, size < full_bytes ? size : full_bytes);
    return MGLRU_OK;
}

/* Sizes of the first release: the last field that it had, and what lies before. */
#define CAPS_OLDEST (offsetof(struct mglru_store_caps, asynchronous) + sizeof(bool))
#define OPS_OLDEST (offsetof(struct mglru_store_ops, close) + sizeof(void (*)(void)))

static int read_caps(const struct mglru_store_caps *given, struct mglru_store_caps *caps)
{
    static const struct mglru_store_caps defaults = {.size = sizeof(defaults)};
    int error = store_options_read(caps, sizeof(*caps), given ? given : &defaults, CAPS_OLDEST);
    if (error)
        return error;
    if (!caps->align_bytes)
        caps->align_bytes = 1;
    if (!caps->size_max)
        caps->size_max = MGLRU_STORE_BYTES_MAX;
    bool wrong =
        caps->align_bytes & (caps->align_bytes - 1) || caps->size_max > MGLRU_STORE_BYTES_MAX;
    caps->size = sizeof(*caps);
    return wrong ? MGLRU_EINVAL : MGLRU_OK;
}

int mglru_store_create(const struct mglru_store_ops *ops, const struct mglru_store_caps *caps,
                       void *context, struct mglru_store **out)
{
    struct mglru_store_caps full;
    *out = NULL;
    if (ops->size < OPS_OLDEST || !ops->submit || !ops->size_get || !ops->close)
        return MGLRU_EINVAL;
    int error = read_caps(caps, &full);
    if (error)
        return error;
    full.asynchronous = ops->poll != NULL;
    struct mglru_store *store = aligned_alloc(_Alignof(struct mglru_store), sizeof(*store));
    if (!store)
        return MGLRU_ENOMEM;
    memset(store, 0, sizeof(*store));
    store->ops = ops;
    store->context = context;
    store->caps = full;
    *out = store;
    return MGLRU_OK;
}

void mglru_store_close(struct mglru_store *store)
{
    if (!store)
        return;
    /* Pairs with finish_submitted. */
    while (atomic_load_seq_cst(&store->in_flight)) {
        if (!reaper_begin(store) || !reaper_poll(store, true))
            os_thread_yield();
        atomic_store_seq_cst(&store->reaping, 0);
    }
    store->ops->close(store->context);
    free(store);
}

const struct mglru_store_caps *mglru_store_caps(const struct mglru_store *store)
{
    return &store->caps;
}

const char *mglru_store_name(const struct mglru_store *store)
{
    return store->ops->name;
}

int mglru_store_size(struct mglru_store *store, uint64_t *bytes)
{
    *bytes = 0;
    return store->ops->size_get(store->context, bytes);
}

void *store_context(const struct mglru_store *store, const struct mglru_store_ops *ops)
{
    return store && store->ops == ops ? store->context : NULL;
}
