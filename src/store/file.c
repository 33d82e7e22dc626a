/* SPDX-License-Identifier: MIT */
/*
 * The file store. Whole aligned pages go past the kernel's page cache, everything else (the end of
 * a file of odd size, small transfers) through it; the kernel keeps the two in step for transfers
 * that do not overlap in time, which the contract of stores forbids anyway.
 */
#include "store/file.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "store/store.h"

/* Chosen: requests in an io_uring when the caller does not say, and the most it may say. */
#define QUEUE_DEFAULT 128u
#define QUEUE_MAX 4096u
/* Zeros that are written at a time where the file system has no holes. */
#define ZEROS_BYTES 4096u

/* Without create the file must be there before a mode that would make it is used. */
static int open_cached(const struct mglru_store_file_options *options, struct os_file **out)
{
    if (!options->create || options->read_only) {
        int error = os_file_open(options->path, OS_OPEN_READ, out);
        if (error || options->read_only)
            return error;
        os_file_close(*out);
    }
    return os_file_open(options->path, OS_OPEN_WRITE, out);
}

int file_open(const struct mglru_store_file_options *options, struct file_pair *out)
{
    *out = (struct file_pair){NULL, NULL};
    int error = open_cached(options, &out->cached);
    if (error || options->cached)
        return error;
    error = os_file_open_direct(out->cached, &out->direct);
    if (!error || error == MGLRU_ENOTSUP)
        return MGLRU_OK;
    file_close(out);
    return error;
}

void file_close(struct file_pair *pair)
{
    os_file_close(pair->direct);
    os_file_close(pair->cached);
    *pair = (struct file_pair){NULL, NULL};
}

struct os_file *file_for(const struct file_pair *pair, const struct os_span *spans, unsigned count,
                         uint64_t offset)
{
    uint64_t all = offset;
    for (unsigned i = 0; i < count; i++)
        all |= (uintptr_t)spans[i].start | spans[i].bytes;
    return pair->direct && !(all & (OS_DIRECT_ALIGN - 1)) ? pair->direct : pair->cached;
}

unsigned file_spans(const struct mglru_store_request *request, unsigned capacity,
                    struct os_span *spans, uint64_t *offset)
{
    struct mglru_store_vec vec[FILE_PIECES];
    MGLRU_ASSERT(capacity <= FILE_PIECES);
    unsigned count = mglru_store_pieces(request, vec, capacity, offset);
    for (unsigned i = 0; i < count; i++)
        spans[i] = (struct os_span){vec[i].frame, vec[i].bytes};
    return count;
}

static int transfer(const struct file_pair *pair, const struct mglru_store_request *request,
                    size_t *moved)
{
    int (*move)(struct os_file *, const struct os_span *, unsigned, uint64_t, size_t *) =
        request->op == MGLRU_STORE_READ ? os_file_readv : os_file_writev;
    struct os_span spans[FILE_PIECES];
    uint64_t offset;
    unsigned count = file_spans(request, FILE_PIECES, spans, &offset);
    struct os_file *file = file_for(pair, spans, count, offset);
    int error = move(file, spans, count, offset, moved);
    /* A device with larger blocks than any known: the kernel's page cache takes everything. */
    if (error == MGLRU_EINVAL && file != pair->cached)
        error = move(pair->cached, spans, count, offset, moved);
    return error == MGLRU_EINVAL ? MGLRU_EIO : error;
}

/* Holes where the file system has none. */
static int write_zeros(const struct file_pair *pair, uint64_t offset, uint64_t end)
{
    static const char zeros[ZEROS_BYTES];
    int error = MGLRU_OK;
    while (offset < end && !error) {
        size_t part = end - offset < ZEROS_BYTES ? (size_t)(end - offset) : ZEROS_BYTES;
        error = os_file_write(pair->cached, zeros, part, offset);
        offset += part;
    }
    return error;
}

/* Only up to the end: file systems refuse what lies beyond their largest file. */
static int punch(const struct file_pair *pair, uint64_t offset, uint64_t bytes)
{
    uint64_t size;
    int error = os_file_size(pair->cached, &size);
    if (error || offset >= size)
        return error;
    uint64_t end = bytes < size - offset ? offset + bytes : size;
    error = os_file_punch(pair->cached, offset, end - offset);
    return error == MGLRU_ENOTSUP ? write_zeros(pair, offset, end) : error;
}

void file_serve(const struct file_pair *pair, struct mglru_store_request *request)
{
    size_t moved = 0;
    int error = MGLRU_ENOTSUP;
    switch (request->op) {
    case MGLRU_STORE_READ:
    case MGLRU_STORE_WRITE:
        error = transfer(pair, request, &moved);
        break;
    case MGLRU_STORE_SYNC:
        error = os_file_datasync(pair->cached);
        break;
    case MGLRU_STORE_PUNCH:
        error = punch(pair, request->offset, request->bytes);
        break;
    case MGLRU_STORE_TRUNCATE:
        error = os_file_resize(pair->cached, request->offset);
        break;
    }
    mglru_store_complete(request, error, moved);
}

int file_options_read(const struct mglru_store_file_options *given,
                      struct mglru_store_file_options *full, struct mglru_store_caps *caps)
{
    int error =
        store_options_read(full, sizeof(*full), given,
                           offsetof(struct mglru_store_file_options, queue) + sizeof(full->queue));
    if (error)
        return error;
    if (!full->path || full->queue > QUEUE_MAX)
        return MGLRU_EINVAL;
    if (!full->queue)
        full->queue = QUEUE_DEFAULT;
    *caps = (struct mglru_store_caps){
        .size = sizeof(*caps),
        .prefer_bytes = OS_DIRECT_ALIGN,
        .vec_max = FILE_PIECES,
        .durable = true,
        .read_only = full->read_only,
    };
    return MGLRU_OK;
}

/* ---- The store ---- */

static void store_submit(void *context, struct mglru_store_request *const *requests, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        file_serve(context, requests[i]);
}

static int store_size(void *context, uint64_t *bytes)
{
    const struct file_pair *pair = context;
    return os_file_size(pair->cached, bytes);
}

static void store_close(void *context)
{
    file_close(context);
    free(context);
}

static const struct mglru_store_ops file_ops = {
    .size = sizeof(file_ops),
    .name = "file",
    .submit = store_submit,
    .size_get = store_size,
    .close = store_close,
};

int mglru_store_file_open(const struct mglru_store_file_options *options, struct mglru_store **out)
{
    struct mglru_store_file_options full;
    struct mglru_store_caps caps;
    *out = NULL;
    int error = file_options_read(options, &full, &caps);
    if (error)
        return error;
    struct file_pair *pair = malloc(sizeof(*pair));
    if (!pair)
        return MGLRU_ENOMEM;
    error = file_open(&full, pair);
    if (!error)
        error = mglru_store_create(&file_ops, &caps, pair, out);
    if (error) {
        file_close(pair);
        free(pair);
    }
    return error;
}
