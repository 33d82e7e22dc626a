/* SPDX-License-Identifier: MIT */
/*
 * The memory store: one range of address space, whose pages exist from their first write on.
 *
 * Without synced_copy a transfer is a memcpy and no more. With it a second range holds what was
 * synced, and a bitmap the pages that differ; a summary has one bit for each word of the bitmap,
 * so that a sync looks at what changed, not at the size.
 *
 * Invariants, with synced_copy: (1) a page whose bit is clear is equal in both ranges; (2) a word
 * of the bitmap that is not 0 has its bit in the summary. Bits are set before the page is changed,
 * and a sync clears them before it copies the page, both under the lock of the page's stripe, so a
 * write beside a sync is either copied whole or leaves its bit. Lock: stripes, one a page; reads
 * take none, since transfers that overlap a write are the caller's fault (<mglru/store.h>).
 */
#include <mglru/stores.h>

#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "os/os.h"
#include "store/store.h"
#include "sync/atomic.h"
#include "sync/lock.h"

/* Unit of the synced copy, and the largest block that a power cut leaves whole. */
#define PAGE_BYTES 4096u
#define SIZE_DEFAULT (UINT64_C(1) << 36)
/* Chosen: half of what a process can map on the machines in use. */
#define SIZE_LIMIT (UINT64_C(1) << 45)
/* Chosen: many more than threads that write at once. */
#define STRIPES 64u

struct stripe {
    _Alignas(64) struct lock_mutex lock;
};

struct memory_store {
    char *data;
    uint64_t size_max;
    uint64_t bytes_mapped;
    char *synced;              /* NULL: no second copy */
    _Atomic uint64_t *changed; /* a bit a page */
    _Atomic uint64_t *summary; /* a bit a word of changed */
    uint64_t words;            /* of changed */
    uint64_t synced_size;      /* under sync_lock */
    struct lock_mutex sync_lock;
    _Alignas(64) _Atomic uint64_t size;
    struct stripe stripes[STRIPES];
};

static struct lock_mutex *stripe_of(struct memory_store *store, uint64_t page)
{
    return &store->stripes[page % STRIPES].lock;
}

/* Invariants 1 and 2. */
static void mark_changed(struct memory_store *store, uint64_t page)
{
    uint64_t word = page / 64;
    MGLRU_ASSERT(lock_mutex_held(stripe_of(store, page)));
    atomic_or_relaxed(&store->changed[word], UINT64_C(1) << page % 64);
    /* Pairs with the exchange in sync_changed. */
    atomic_or_acq_rel(&store->summary[word / 64], UINT64_C(1) << word % 64);
}

/* Copies @bytes within one page; @from NULL: zeros. */
static void change_page(struct memory_store *store, uint64_t offset, const void *from, size_t bytes)
{
    uint64_t page = offset / PAGE_BYTES;
    lock_mutex_acquire(stripe_of(store, page));
    mark_changed(store, page);
    if (from)
        memcpy(store->data + offset, from, bytes);
    else
        memset(store->data + offset, 0, bytes);
    lock_mutex_release(stripe_of(store, page));
}

static size_t part_of_page(uint64_t offset, uint64_t bytes)
{
    size_t left = PAGE_BYTES - (size_t)(offset % PAGE_BYTES);
    return bytes < left ? (size_t)bytes : left;
}

static void change(struct memory_store *store, uint64_t offset, const void *from, size_t bytes)
{
    if (!store->synced) {
        memcpy(store->data + offset, from, bytes);
        return;
    }
    while (bytes) {
        size_t part = part_of_page(offset, bytes);
        change_page(store, offset, from, part);
        from = (const char *)from + part;
        offset += part;
        bytes -= part;
    }
}

static void size_raise(struct memory_store *store, uint64_t end)
{
    uint64_t size = atomic_load_relaxed(&store->size);
    while (size < end && !atomic_cas_relaxed(&store->size, &size, end))
        ;
}

static uint64_t size_now(struct memory_store *store)
{
    return atomic_load_relaxed(&store->size);
}

/* Zeroes [offset, end) of one range, the whole pages in it by giving them back. */
static void zero_quick(char *data, uint64_t offset, uint64_t end)
{
    uint64_t first = (offset + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
    uint64_t last = end / PAGE_BYTES * PAGE_BYTES;
    if (first >= last || os_range_release(data + first, (size_t)(last - first))) {
        memset(data + offset, 0, (size_t)(end - offset));
        return;
    }
    memset(data + offset, 0, (size_t)(first - offset));
    memset(data + last, 0, (size_t)(end - last));
}

static void zero_range(struct memory_store *store, uint64_t offset, uint64_t end)
{
    while (store->synced && offset < end) {
        size_t part = part_of_page(offset, end - offset);
        change_page(store, offset, NULL, part);
        offset += part;
    }
    if (offset < end)
        zero_quick(store->data, offset, end);
}

/* What lies beyond the size is zeros always, so that growth need not write any. */
static void truncate_to(struct memory_store *store, uint64_t size)
{
    uint64_t old = atomic_exchange_relaxed(&store->size, size);
    if (old > size)
        zero_range(store, size, old);
}

/* Invariant 1: the bit goes first; a write that follows sets it anew. */
static void sync_page(struct memory_store *store, uint64_t page)
{
    uint64_t offset = page * PAGE_BYTES;
    lock_mutex_acquire(stripe_of(store, page));
    atomic_and_relaxed(&store->changed[page / 64], ~(UINT64_C(1) << page % 64));
    memcpy(store->synced + offset, store->data + offset, PAGE_BYTES);
    lock_mutex_release(stripe_of(store, page));
}

/* Calls @act for each page whose bit is set, from the summary down. */
static void each_changed(struct memory_store *store, void (*act)(struct memory_store *, uint64_t))
{
    for (uint64_t i = 0; i < (store->words + 63) / 64; i++) {
        if (!atomic_load_relaxed(&store->summary[i]))
            continue;
        /* Pairs with mark_changed: its page bits are seen once its summary bit is taken. */
        uint64_t words = atomic_exchange_acq_rel(&store->summary[i], 0);
        for (; words; words &= words - 1) {
            uint64_t word = i * 64 + (unsigned)__builtin_ctzll(words);
            uint64_t pages = atomic_load_relaxed(&store->changed[word]);
            for (; pages; pages &= pages - 1)
                act(store, word * 64 + (unsigned)__builtin_ctzll(pages));
        }
    }
}

static void sync_changed(struct memory_store *store)
{
    lock_mutex_acquire(&store->sync_lock);
    store->synced_size = size_now(store);
    each_changed(store, sync_page);
    lock_mutex_release(&store->sync_lock);
}

/* ---- Operations ---- */

#define PIECES 16u

static uint64_t read_pieces(struct memory_store *store, const struct mglru_store_request *request)
{
    struct mglru_store_vec vec[PIECES];
    uint64_t offset, moved = 0, size = size_now(store);
    uint32_t count = mglru_store_pieces(request, vec, PIECES, &offset);
    for (uint32_t i = 0; i < count && offset + moved < size; i++) {
        uint64_t left = size - (offset + moved);
        size_t part = vec[i].bytes < left ? vec[i].bytes : (size_t)left;
        memcpy(vec[i].frame, store->data + offset + moved, part);
        moved += part;
    }
    return moved;
}

static uint64_t write_pieces(struct memory_store *store, const struct mglru_store_request *request)
{
    struct mglru_store_vec vec[PIECES];
    uint64_t offset, moved = 0;
    uint32_t count = mglru_store_pieces(request, vec, PIECES, &offset);
    for (uint32_t i = 0; i < count; i++) {
        change(store, offset + moved, vec[i].frame, vec[i].bytes);
        moved += vec[i].bytes;
    }
    size_raise(store, offset + moved);
    return moved;
}

static void serve(struct memory_store *store, struct mglru_store_request *request)
{
    uint64_t moved = 0;
    switch (request->op) {
    case MGLRU_STORE_READ:
        moved = read_pieces(store, request);
        break;
    case MGLRU_STORE_WRITE:
        moved = write_pieces(store, request);
        break;
    case MGLRU_STORE_SYNC:
        if (store->synced)
            sync_changed(store);
        break;
    case MGLRU_STORE_PUNCH: {
        uint64_t size = size_now(store);
        uint64_t end = request->offset + request->bytes;
        zero_range(store, request->offset, end < size ? end : size);
        break;
    }
    case MGLRU_STORE_TRUNCATE:
        truncate_to(store, request->offset);
        break;
    }
    mglru_store_complete(request, MGLRU_OK, moved);
}

static void memory_submit(void *context, struct mglru_store_request *const *requests,
                          uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        serve(context, requests[i]);
}

static int memory_size(void *context, uint64_t *bytes)
{
    *bytes = size_now(context);
    return MGLRU_OK;
}

static void memory_close(void *context)
{
    struct memory_store *store = context;
    os_pages_unmap(store->data, store->bytes_mapped);
    os_pages_unmap(store->synced, store->bytes_mapped);
    os_pages_unmap(store->changed, store->words * 8);
    os_pages_unmap(store->summary, (store->words + 63) / 64 * 8);
    free(store);
}

static const struct mglru_store_ops memory_ops = {
    .size = sizeof(memory_ops),
    .name = "memory",
    .submit = memory_submit,
    .size_get = memory_size,
    .close = memory_close,
};

/* ---- Life ---- */

static int map_ranges(struct memory_store *store, const struct mglru_store_memory_options *options)
{
    enum os_range_kind kind = options->huge_pages ? OS_RANGE_HUGE_HINT : OS_RANGE_SMALL;
    int error = os_range_map(store->bytes_mapped, kind, (void **)&store->data);
    if (error || !options->synced_copy)
        return error;
    error = os_range_map(store->bytes_mapped, OS_RANGE_SMALL, (void **)&store->synced);
    if (!error)
        error = os_range_map(store->words * 8, OS_RANGE_SMALL, (void **)&store->changed);
    if (!error)
        error =
            os_range_map((store->words + 63) / 64 * 8, OS_RANGE_SMALL, (void **)&store->summary);
    return error;
}

static int memory_create(const struct mglru_store_memory_options *options,
                         struct memory_store **out)
{
    struct memory_store *store = aligned_alloc(_Alignof(struct memory_store), sizeof(*store));
    if (!store)
        return MGLRU_ENOMEM;
    memset(store, 0, sizeof(*store));
    store->size_max = options->size_max ? options->size_max : SIZE_DEFAULT;
    store->bytes_mapped = (store->size_max + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
    store->words = (store->bytes_mapped / PAGE_BYTES + 63) / 64;
    lock_mutex_init(&store->sync_lock, RANK_STORE_SYNC);
    for (unsigned i = 0; i < STRIPES; i++)
        lock_mutex_init(&store->stripes[i].lock, RANK_STORE_PAGE);
    int error = map_ranges(store, options);
    if (error) {
        memory_close(store);
        return error;
    }
    *out = store;
    return MGLRU_OK;
}

int mglru_store_memory_open(const struct mglru_store_memory_options *options,
                            struct mglru_store **out)
{
    static const struct mglru_store_memory_options defaults = {.size = sizeof(defaults)};
    struct mglru_store_memory_options full;
    struct memory_store *store;
    *out = NULL;
    int error = store_options_read(&full, sizeof(full), options ? options : &defaults,
                                   offsetof(struct mglru_store_memory_options, huge_pages) +
                                       sizeof(full.huge_pages));
    if (!error && full.size_max > SIZE_LIMIT)
        error = MGLRU_EINVAL;
    if (!error)
        error = memory_create(&full, &store);
    if (error)
        return error;
    struct mglru_store_caps caps = {
        .size = sizeof(caps),
        .prefer_bytes = PAGE_BYTES,
        .vec_max = PIECES,
        .atomic_bytes = PAGE_BYTES,
        .size_max = store->size_max,
    };
    error = mglru_store_create(&memory_ops, &caps, store, out);
    if (error)
        memory_close(store);
    return error;
}

static void restore_page(struct memory_store *store, uint64_t page)
{
    uint64_t offset = page * PAGE_BYTES;
    atomic_and_relaxed(&store->changed[page / 64], ~(UINT64_C(1) << page % 64));
    memcpy(store->data + offset, store->synced + offset, PAGE_BYTES);
}

int mglru_store_memory_power_cut(struct mglru_store *store)
{
    struct memory_store *memory = store_context(store, &memory_ops);
    if (!memory || !memory->synced)
        return MGLRU_EINVAL;
    uint64_t size = size_now(memory);
    each_changed(memory, restore_page);
    /* A write beside the last sync may have been copied without the size that it led to. */
    if (size > memory->synced_size) {
        zero_quick(memory->data, memory->synced_size, size);
        zero_quick(memory->synced, memory->synced_size, size);
    }
    atomic_store_relaxed(&memory->size, memory->synced_size);
    return MGLRU_OK;
}
