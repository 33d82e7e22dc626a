/* SPDX-License-Identifier: MIT */
/*
 * The faulty store: faults drawn from a seed over another store.
 *
 * Request n draws each kind of fault from a hash of (seed, n, kind), so that one kind more or less
 * moves no other. It is done at once, under the lock, and completes at once or, delayed, when a
 * poll finds its time come. A power cut waits for the request that is being done, decides what
 * reaches the base, and sets cut: nothing touches the base afterwards.
 *
 * Locks: lock (RANK_STORE_CACHE) guards everything but the list of delayed requests, which
 * delayed_lock guards. No request completes under either.
 */
#include <mglru/stores.h>

#include <stdlib.h>
#include <string.h>

#include "base/bits.h"
#include "base/check.h"
#include "os/os.h"
#include "store/held.h"
#include "store/store.h"
#include "sync/lock.h"

#define MILLION 1000000u
#define DELAY_DEFAULT_NS UINT64_C(1000000)
/* Chosen: longer waits are for the caller's patience, not for a test. */
#define DELAY_LIMIT_NS UINT64_C(60000000000)
#define PAGE_DEFAULT 4096u
#define PAGE_MIN 512u
#define PAGE_LIMIT (1u << 21)
#define SECTOR_MIN 16u
#define PIECES 64u

/* What a request draws, each from a hash of its own. */
enum fault {
    FAULT_ERROR,
    FAULT_NOSPACE,
    FAULT_SHORT,
    FAULT_PART, /* how much of a short or failed transfer is done */
    FAULT_DELAY,
    FAULT_DELAY_TIME,
    FAULT_DESTAGE,
    FAULT_KINDS
};

struct faulty {
    struct mglru_store *base; /* fixed at creation */
    struct lock_mutex lock;
    struct mglru_store_faulty_options options; /* under lock, as all up to delayed_lock */
    struct mglru_store_faulty_counts counts;
    struct held held;
    bool cut;
    struct lock_mutex delayed_lock;
    struct mglru_store_request *delayed; /* by due time, under delayed_lock */
    bool hurry;                          /* under delayed_lock: cut, all of them fail now */
};

/* What store_data holds of a delayed request. */
enum { DUE_NS, MOVED, ERROR };

/* How a request ends. */
struct outcome {
    int error;
    uint64_t moved;
    uint64_t delay_ns;
};

static uint64_t roll(const struct faulty *faulty, enum fault kind)
{
    uint64_t number = faulty->counts.requests * FAULT_KINDS + kind;
    return bits_mix64(faulty->options.seed + bits_mix64(number));
}

static bool happens(const struct faulty *faulty, enum fault kind, uint32_t chance_ppm)
{
    return chance_ppm && roll(faulty, kind) % MILLION < chance_ppm;
}

/* ---- Doing a request, under lock ---- */

/* The next pieces of @request, cut at @limit bytes; *bytes is what they sum up to. */
static uint32_t pieces_within(const struct mglru_store_request *request, uint64_t limit,
                              struct mglru_store_vec *vec, uint64_t *bytes)
{
    uint64_t offset;
    uint32_t count = mglru_store_pieces(request, vec, PIECES, &offset);
    *bytes = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (vec[i].bytes >= limit - *bytes) {
            vec[i].bytes = (size_t)(limit - *bytes);
            count = i + 1;
        }
        *bytes += vec[i].bytes;
    }
    return count;
}

/* A transfer through the held pages. */
static int transfer_held(struct faulty *faulty, const struct mglru_store_request *request,
                         struct mglru_store_request *part, uint64_t bytes)
{
    struct held *held = &faulty->held;
    if (request->op == MGLRU_STORE_READ) {
        int error = store_run(faulty->base, part);
        part->done = part->offset >= held->size          ? 0
                     : bytes < held->size - part->offset ? bytes
                                                         : held->size - part->offset;
        if (error)
            return error;
    }
    uint64_t offset = part->offset;
    for (uint32_t i = 0; i < part->count; i++) {
        const struct mglru_store_vec *piece = &part->vec[i];
        if (request->op == MGLRU_STORE_READ) {
            held_overlay(held, offset, piece->frame, piece->bytes);
        } else {
            int error = held_change(held, offset, piece->frame, piece->bytes);
            if (error)
                return error;
            part->done += piece->bytes;
        }
        offset += piece->bytes;
    }
    return MGLRU_OK;
}

/* Moves at most @limit bytes of @request. */
static struct outcome transfer(struct faulty *faulty, const struct mglru_store_request *request,
                               uint64_t limit)
{
    struct mglru_store_vec vec[PIECES];
    uint64_t bytes;
    struct mglru_store_request part = {.op = request->op, .vec = vec};
    part.offset = request->offset + request->done;
    part.count = pieces_within(request, limit, vec, &bytes);
    struct outcome outcome = {MGLRU_OK, 0, 0};
    outcome.error = faulty->options.volatile_cache ? transfer_held(faulty, request, &part, bytes)
                                                   : store_run(faulty->base, &part);
    outcome.moved = part.done;
    return outcome;
}

/*
 * How much of @request is done before it stops: part of what is left, which ends where the drive
 * may tear a page; all of it where there is no such place.
 */
static uint64_t part_of(const struct faulty *faulty, const struct mglru_store_request *request)
{
    const struct mglru_store_faulty_options *options = &faulty->options;
    uint64_t unit = options->sector_bytes     ? options->sector_bytes
                    : options->volatile_cache ? options->page_bytes
                                              : 1;
    uint64_t start = request->offset + request->done, left = store_bytes_left(request);
    uint64_t end = start + roll(faulty, FAULT_PART) % left;
    end -= end % unit;
    return end > start ? end - start : left;
}

/* Bytes of @request that are done in this go: all, unless it draws a short transfer. */
static uint64_t limit_of(struct faulty *faulty, const struct mglru_store_request *request)
{
    if (!happens(faulty, FAULT_SHORT, faulty->options.short_ppm))
        return UINT64_MAX;
    uint64_t part = part_of(faulty, request);
    faulty->counts.shorts += part < store_bytes_left(request);
    return part;
}

static struct outcome do_read(struct faulty *faulty, const struct mglru_store_request *request)
{
    if (happens(faulty, FAULT_ERROR, faulty->options.read_error_ppm)) {
        faulty->counts.read_errors++;
        return (struct outcome){MGLRU_EIO, 0, 0};
    }
    return transfer(faulty, request, limit_of(faulty, request));
}

static struct outcome do_write(struct faulty *faulty, const struct mglru_store_request *request)
{
    const struct mglru_store_faulty_options *options = &faulty->options;
    if (happens(faulty, FAULT_NOSPACE, options->write_nospace_ppm)) {
        faulty->counts.write_nospaces++;
        return (struct outcome){MGLRU_ENOSPC, 0, 0};
    }
    if (happens(faulty, FAULT_ERROR, options->write_error_ppm)) {
        faulty->counts.write_errors++;
        struct outcome outcome = transfer(faulty, request, part_of(faulty, request));
        outcome.error = MGLRU_EIO;
        return outcome;
    }
    return transfer(faulty, request, limit_of(faulty, request));
}

static int do_sync(struct faulty *faulty)
{
    const struct mglru_store_faulty_options *options = &faulty->options;
    if (happens(faulty, FAULT_ERROR, options->sync_error_ppm)) {
        faulty->counts.sync_errors++;
        if (options->volatile_cache && options->failed_sync_loses)
            held_forget(&faulty->held);
        return MGLRU_EIO;
    }
    return options->volatile_cache ? held_sync(&faulty->held) : mglru_store_sync(faulty->base);
}

/* Punch and truncate. */
static int do_discard(struct faulty *faulty, const struct mglru_store_request *request)
{
    struct held *held = &faulty->held;
    if (happens(faulty, FAULT_ERROR, faulty->options.discard_error_ppm)) {
        faulty->counts.discard_errors++;
        return MGLRU_EIO;
    }
    bool punch = request->op == MGLRU_STORE_PUNCH;
    if (!faulty->options.volatile_cache)
        return punch ? mglru_store_punch(faulty->base, request->offset, request->bytes)
                     : mglru_store_truncate(faulty->base, request->offset);
    if (!punch)
        return held_truncate(held, request->offset);
    if (request->offset >= held->size)
        return MGLRU_OK;
    uint64_t left = held->size - request->offset;
    return held_change(held, request->offset, NULL, request->bytes < left ? request->bytes : left);
}

static int cut_power(struct faulty *faulty)
{
    int error = MGLRU_OK;
    if (faulty->cut)
        return MGLRU_OK;
    faulty->cut = true;
    if (faulty->options.volatile_cache)
        error = held_empty(&faulty->held, true);
    int sync_error = mglru_store_sync(faulty->base);
    lock_mutex_acquire(&faulty->delayed_lock);
    faulty->hurry = true;
    lock_mutex_release(&faulty->delayed_lock);
    return error ? error : sync_error;
}

static struct outcome do_op(struct faulty *faulty, const struct mglru_store_request *request)
{
    switch (request->op) {
    case MGLRU_STORE_READ:
        return do_read(faulty, request);
    case MGLRU_STORE_WRITE:
        return do_write(faulty, request);
    case MGLRU_STORE_SYNC:
        return (struct outcome){do_sync(faulty), 0, 0};
    default:
        return (struct outcome){do_discard(faulty, request), 0, 0};
    }
}

/* What request number counts.requests comes to. */
static struct outcome serve(struct faulty *faulty, const struct mglru_store_request *request)
{
    const struct mglru_store_faulty_options *options = &faulty->options;
    faulty->counts.requests++;
    if (faulty->counts.requests == options->cut_at_request)
        cut_power(faulty);
    if (faulty->cut) {
        faulty->counts.refused++;
        return (struct outcome){MGLRU_EIO, 0, 0};
    }
    struct outcome outcome = do_op(faulty, request);
    bool changes = request->op != MGLRU_STORE_READ && request->op != MGLRU_STORE_SYNC;
    if (changes && options->volatile_cache && happens(faulty, FAULT_DESTAGE, options->destage_ppm))
        held_destage(&faulty->held); /* a page that the base refuses stays held */
    if (happens(faulty, FAULT_DELAY, options->delay_ppm)) {
        faulty->counts.delays++;
        outcome.delay_ns = 1 + roll(faulty, FAULT_DELAY_TIME) % options->delay_max_ns;
    }
    return outcome;
}

/* ---- Completing ---- */

static void delay(struct faulty *faulty, struct mglru_store_request *request,
                  struct outcome outcome)
{
    request->store_data[DUE_NS] = os_clock_now_ns() + outcome.delay_ns;
    request->store_data[MOVED] = outcome.moved;
    request->store_data[ERROR] = (uint64_t)(int64_t)outcome.error;
    lock_mutex_acquire(&faulty->delayed_lock);
    struct mglru_store_request **at = &faulty->delayed;
    while (*at && (*at)->store_data[DUE_NS] <= request->store_data[DUE_NS])
        at = &(*at)->next;
    request->next = *at;
    *at = request;
    lock_mutex_release(&faulty->delayed_lock);
}

static void faulty_submit(void *context, struct mglru_store_request *const *requests,
                          uint32_t count)
{
    struct faulty *faulty = context;
    for (uint32_t i = 0; i < count; i++) {
        lock_mutex_acquire(&faulty->lock);
        struct outcome outcome = serve(faulty, requests[i]);
        lock_mutex_release(&faulty->lock);
        if (outcome.delay_ns)
            delay(faulty, requests[i], outcome);
        else
            mglru_store_complete(requests[i], outcome.error, outcome.moved);
    }
}

/* Takes the first delayed request if it is due; else says when it is, 0: there is none. */
static struct mglru_store_request *take_due(struct faulty *faulty, uint64_t *due_ns)
{
    lock_mutex_acquire(&faulty->delayed_lock);
    struct mglru_store_request *first = faulty->delayed;
    *due_ns = first ? first->store_data[DUE_NS] : 0;
    if (first && !faulty->hurry && *due_ns > os_clock_now_ns())
        first = NULL;
    if (first) {
        faulty->delayed = first->next;
        if (faulty->hurry) {
            first->store_data[MOVED] = 0;
            first->store_data[ERROR] = (uint64_t)(int64_t)MGLRU_EIO;
        }
    }
    lock_mutex_release(&faulty->delayed_lock);
    return first;
}

static uint32_t faulty_poll(void *context, bool block)
{
    struct faulty *faulty = context;
    uint32_t count = 0;
    for (;;) {
        uint64_t due_ns;
        struct mglru_store_request *request = take_due(faulty, &due_ns);
        if (request) {
            int error = (int)(int64_t)request->store_data[ERROR];
            count++;
            mglru_store_complete(request, error, request->store_data[MOVED]);
            continue;
        }
        if (count || !block || !due_ns)
            return count;
        uint64_t now_ns = os_clock_now_ns();
        if (due_ns > now_ns)
            os_clock_sleep_ns(due_ns - now_ns);
    }
}

static int faulty_size(void *context, uint64_t *bytes)
{
    struct faulty *faulty = context;
    int error = MGLRU_OK;
    lock_mutex_acquire(&faulty->lock);
    if (faulty->cut)
        error = MGLRU_EIO;
    else if (faulty->options.volatile_cache)
        *bytes = faulty->held.size;
    else
        error = mglru_store_size(faulty->base, bytes);
    lock_mutex_release(&faulty->lock);
    return error;
}

/* The machine lives on: what is held reaches the base, as far as the base takes it. */
static void faulty_close(void *context)
{
    struct faulty *faulty = context;
    if (faulty->options.volatile_cache) {
        if (!faulty->cut)
            held_empty(&faulty->held, false);
        held_fini(&faulty->held);
    }
    free(faulty);
}

static const struct mglru_store_ops faulty_ops = {
    .size = sizeof(faulty_ops),
    .name = "faulty",
    .submit = faulty_submit,
    .poll = faulty_poll,
    .size_get = faulty_size,
    .close = faulty_close,
};

/* ---- Life ---- */

static bool chances_valid(const struct mglru_store_faulty_options *options)
{
    const uint32_t chances[] = {
        options->read_error_ppm, options->write_error_ppm,   options->write_nospace_ppm,
        options->sync_error_ppm, options->discard_error_ppm, options->short_ppm,
        options->delay_ppm,      options->destage_ppm,
    };
    for (size_t i = 0; i < MGLRU_ARRAY_LEN(chances); i++) {
        if (chances[i] > MILLION)
            return false;
    }
    return options->delay_max_ns <= DELAY_LIMIT_NS;
}

static bool is_power_between(uint32_t value, uint32_t least, uint32_t most)
{
    return value >= least && value <= most && !(value & (value - 1));
}

static int options_read(const struct mglru_store_faulty_options *given,
                        struct mglru_store_faulty_options *full)
{
    int error = store_options_read(full, sizeof(*full), given,
                                   offsetof(struct mglru_store_faulty_options, sector_bytes) +
                                       sizeof(full->sector_bytes));
    if (error)
        return error;
    if (!full->delay_max_ns)
        full->delay_max_ns = DELAY_DEFAULT_NS;
    if (!full->page_bytes)
        full->page_bytes = PAGE_DEFAULT;
    bool valid =
        chances_valid(full) && is_power_between(full->page_bytes, PAGE_MIN, PAGE_LIMIT) &&
        (!full->sector_bytes || is_power_between(full->sector_bytes, SECTOR_MIN, full->page_bytes));
    return valid ? MGLRU_OK : MGLRU_EINVAL;
}

static int faulty_create(struct mglru_store *base, const struct mglru_store_faulty_options *options,
                         struct faulty **out)
{
    struct faulty *faulty = calloc(1, sizeof(*faulty));
    if (!faulty)
        return MGLRU_ENOMEM;
    faulty->base = base;
    faulty->options = *options;
    faulty->counts.size = sizeof(faulty->counts);
    lock_mutex_init(&faulty->lock, RANK_STORE_CACHE);
    lock_mutex_init(&faulty->delayed_lock, RANK_STORE_FAULTS);
    faulty->held = (struct held){
        .base = base,
        .page_bytes = options->page_bytes,
        .sector_bytes = options->sector_bytes ? options->sector_bytes : options->page_bytes,
        .random = bits_mix64(~options->seed),
        .counts = &faulty->counts,
    };
    int error = options->volatile_cache ? held_init(&faulty->held) : MGLRU_OK;
    if (error) {
        if (options->volatile_cache)
            held_fini(&faulty->held);
        free(faulty);
        return error;
    }
    *out = faulty;
    return MGLRU_OK;
}

int mglru_store_faulty_open(struct mglru_store *base,
                            const struct mglru_store_faulty_options *options,
                            struct mglru_store **out)
{
    struct mglru_store_faulty_options full;
    struct faulty *faulty;
    *out = NULL;
    const struct mglru_store_caps *below = mglru_store_caps(base);
    int error = options_read(options, &full);
    if (!error && (store_context(base, &faulty_ops) || below->align_bytes > 1))
        error = MGLRU_EINVAL;
    if (!error)
        error = faulty_create(base, &full, &faulty);
    if (error)
        return error;
    struct mglru_store_caps caps = *below;
    caps.vec_max = PIECES;
    caps.atomic_bytes = full.sector_bytes     ? full.sector_bytes
                        : full.volatile_cache ? full.page_bytes
                                              : 0;
    error = mglru_store_create(&faulty_ops, &caps, faulty, out);
    if (error)
        faulty_close(faulty);
    return error;
}

int mglru_store_faulty_power_cut(struct mglru_store *store)
{
    struct faulty *faulty = store_context(store, &faulty_ops);
    if (!faulty)
        return MGLRU_EINVAL;
    lock_mutex_acquire(&faulty->lock);
    int error = cut_power(faulty);
    lock_mutex_release(&faulty->lock);
    return error;
}

int mglru_store_faulty_set(struct mglru_store *store,
                           const struct mglru_store_faulty_options *options)
{
    struct faulty *faulty = store_context(store, &faulty_ops);
    struct mglru_store_faulty_options full;
    int error = faulty ? options_read(options, &full) : MGLRU_EINVAL;
    if (error)
        return error;
    lock_mutex_acquire(&faulty->lock);
    struct mglru_store_faulty_options *mine = &faulty->options;
    mine->read_error_ppm = full.read_error_ppm;
    mine->write_error_ppm = full.write_error_ppm;
    mine->write_nospace_ppm = full.write_nospace_ppm;
    mine->sync_error_ppm = full.sync_error_ppm;
    mine->discard_error_ppm = full.discard_error_ppm;
    mine->short_ppm = full.short_ppm;
    mine->delay_ppm = full.delay_ppm;
    mine->delay_max_ns = full.delay_max_ns;
    mine->destage_ppm = full.destage_ppm;
    lock_mutex_release(&faulty->lock);
    return MGLRU_OK;
}

int mglru_store_faulty_counts(struct mglru_store *store, struct mglru_store_faulty_counts *counts)
{
    struct faulty *faulty = store_context(store, &faulty_ops);
    size_t size = counts->size;
    if (!faulty || size < sizeof(faulty->counts))
        return MGLRU_EINVAL;
    lock_mutex_acquire(&faulty->lock);
    memcpy(counts, &faulty->counts, sizeof(faulty->counts));
    lock_mutex_release(&faulty->lock);
    counts->size = size;
    return MGLRU_OK;
}
