/* SPDX-License-Identifier: MIT */
/*
 * Stores: where the pages of a cache come from and go to. One table of operations stands for all
 * of them: those of <mglru/stores.h> (memory, file, io_uring, faults) and those that a program
 * writes itself. docs/stores.md has the contract in prose and a store in 40 lines.
 *
 * Caveats
 *  - A store has bytes 0 .. size - 1, and reads as zeros beyond and where nothing was written.
 *  - Transfers in flight at the same time must not overlap unless all of them are reads: what such
 *    frames and the store hold afterwards is any mixture. Whoever caches pages orders them anyway.
 *  - A write that has completed is seen by each later read. It is durable only once a sync that was
 *    submitted after its completion has succeeded. Until then a power cut may keep it, lose it, or
 *    keep any part of it that is smaller than caps.atomic_bytes, in any order among writes.
 *  - A sync that fails says nothing about the writes before it, and a later sync that succeeds does
 *    not make up for it: the caller writes again whatever must be durable. (Kernels forget which
 *    pages they could not write.)
 *  - A write that fails may have happened in part.
 *
 * Requests: the caller fills one, submits it, and gets it back by one call of its complete()
 * function. Short transfers are no business of the caller: the library repeats them until all is
 * done or an error ends them. A synchronous store completes inside mglru_store_submit; an
 * asynchronous one inside mglru_store_poll, mglru_store_wait or a later submit, on whichever thread
 * calls them: somebody has to. Those who want one request done use the blocking calls at the end.
 *
 * Threads: every call on a store may run on any number of threads at once, but for
 * mglru_store_close, and needs no registration of threads. Errors are those of <mglru/error.h>.
 */
#ifndef MGLRU_STORE_H
#define MGLRU_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <mglru/error.h>

#ifdef __cplusplus
extern "C" {
#endif

struct mglru_store; /* an open store */

/* Largest offset + bytes of any request, 2^62. */
#define MGLRU_STORE_BYTES_MAX (UINT64_C(1) << 62)

/* One piece of memory of a transfer. */
struct mglru_store_vec {
    void *frame;  /* the caller's; a write does not change it */
    size_t bytes; /* may be 0 */
};

enum mglru_store_op {
    MGLRU_STORE_READ = 1, /* store -> frames; what lies beyond the size reads as zeros */
    MGLRU_STORE_WRITE,    /* frames -> store; the size grows as needed */
    MGLRU_STORE_SYNC,     /* all writes, punches and truncates that have completed: durable */
    MGLRU_STORE_PUNCH,    /* bytes at offset read as zeros from now on; the size stays */
    MGLRU_STORE_TRUNCATE  /* the size becomes offset; growth reads as zeros */
};

/*
 * One request. The caller zero-initialises it, sets the first group, and leaves it and what vec
 * points to alone until complete() is called, once; from then on it is the caller's again.
 */
struct mglru_store_request {
    /* Set by the caller. */
    enum mglru_store_op op;
    uint32_t count;                    /* READ, WRITE: pieces in vec */
    const struct mglru_store_vec *vec; /* READ, WRITE: frames in order of the store's bytes */
    uint64_t offset;                   /* READ, WRITE, PUNCH: first byte; TRUNCATE: new size */
    uint64_t bytes;                    /* PUNCH: how many; READ, WRITE: the library sums up vec */
    /*
     * Called when the request has ended, on any thread, inside a call on the store. It may free
     * the request and submit others. It does not block, and neither waits for the store nor closes
     * it. NULL: nothing is called.
     */
    void (*complete)(struct mglru_store_request *request);
    void *context; /* for the caller */

    /*
     * The result, valid from complete() on. error is MGLRU_OK or
     *   MGLRU_EINVAL   an op out of range, offset + bytes above MGLRU_STORE_BYTES_MAX, or an
     *                  offset, a frame or its size that is no multiple of caps.align_bytes
     *   MGLRU_EIO      the device or file failed, or the store was cut off from its power
     *   MGLRU_ENOSPC   WRITE, TRUNCATE: no room, or beyond caps.size_max
     *   MGLRU_ENOMEM   the store ran out of memory of its own
     *   MGLRU_EPERM    a change of a store that was opened for reading only
     *   MGLRU_ENOTSUP  the store has no such op
     * or what else a store of the program's own gives.
     */
    int error;
    uint64_t done; /* READ, WRITE: bytes moved; a read that met the end moved less than asked for */

    /* Used by the library; next and store_data by the store while it has the request. */
    struct mglru_store *store;
    uint32_t piece;
    uint32_t reserved;
    size_t piece_done;
    struct mglru_store_request *next;
    uint64_t store_data[3];
};

/* What a store can do. Zero-initialise, set size and what differs from the defaults. */
struct mglru_store_caps {
    size_t size;           /* sizeof(struct mglru_store_caps) */
    uint32_t align_bytes;  /* offsets, frames and their sizes must be multiples; 0 means 1 */
    uint32_t prefer_bytes; /* multiples of this go the fast way; 0: no preference */
    uint32_t vec_max;      /* pieces that go in one transfer; longer requests work; 0: any number */
    uint32_t atomic_bytes; /* aligned blocks that no power cut tears; 0: nothing is promised */
    uint64_t size_max;     /* largest size; 0 means MGLRU_STORE_BYTES_MAX */
    bool durable;          /* a sync outlives the process and the power */
    bool read_only;        /* changes are refused with MGLRU_EPERM */
    bool asynchronous;     /* set by the library: requests may complete after submit */
};

/*
 * A store that a program writes. All functions may be called by many threads at once, but for poll;
 * the library calls none of them after close. @context is what mglru_store_create was given.
 */
struct mglru_store_ops {
    size_t size;      /* sizeof(struct mglru_store_ops) */
    const char *name; /* for messages; lives as long as the store */
    /*
     * Takes @count > 0 requests, each of which the store completes once by mglru_store_complete,
     * inside this call or (with poll) later. Requests are valid: their op is known, they fit
     * size_max and align_bytes, transfers have bytes left. May block unless there is a poll.
     */
    void (*submit)(void *context, struct mglru_store_request *const *requests, uint32_t count);
    /*
     * Completes what has ended and returns how many that were. With @block it waits for at least
     * one, unless nothing is in flight. One thread at a time is inside. NULL: synchronous store.
     */
    uint32_t (*poll)(void *context, bool block);
    /* The size in bytes, as left by completed writes and truncates. MGLRU_EIO. */
    int (*size_get)(void *context, uint64_t *bytes);
    /* Frees the store. Nothing is in flight. Makes nothing durable by itself. */
    void (*close)(void *context);
};

/*
 * Opens a store of the program's own. @ops lives as long as the store; @caps is copied, NULL means
 * defaults; @context is handed to each operation. The caller owns *out and closes it; on failure
 * *out is NULL and close() was not called. Any thread, does not block.
 * MGLRU_EINVAL: a size smaller than any release had, no submit, size_get or close, an align_bytes
 * that is no power of two, a size_max above MGLRU_STORE_BYTES_MAX; MGLRU_ENOMEM.
 */
MGLRU_API int mglru_store_create(const struct mglru_store_ops *ops,
                                 const struct mglru_store_caps *caps, void *context,
                                 struct mglru_store **out);

/*
 * Waits for all requests in flight, then closes and frees the store. Makes nothing durable: sync
 * first. No other call on the store runs or follows. NULL is allowed.
 */
MGLRU_API void mglru_store_close(struct mglru_store *store);

/* What the store can do, defaults filled in; lives as long as the store. Never blocks. */
MGLRU_API const struct mglru_store_caps *mglru_store_caps(const struct mglru_store *store);

/* Name of the kind of store: "memory", "file", ... Lives as long as the store. Never blocks. */
MGLRU_API const char *mglru_store_name(const struct mglru_store *store);

/* The size in bytes. May block as long as a file's attributes take. MGLRU_EIO. */
MGLRU_API int mglru_store_size(struct mglru_store *store, uint64_t *bytes);

/*
 * Hands @count requests to the store, in no order among each other. Cannot fail: what is wrong with
 * a request is said by its completion. Blocks for the I/O if the store is synchronous, else only
 * when the store's queue is full. May be called from a complete() function.
 */
MGLRU_API void mglru_store_submit(struct mglru_store *store,
                                  struct mglru_store_request *const *requests, uint32_t count);

/*
 * Completes what has ended, without blocking; returns how many requests ended in this call. Another
 * thread that does so already is not disturbed: then the result is 0.
 */
MGLRU_API uint32_t mglru_store_poll(struct mglru_store *store);

/*
 * Sleeps until the 32-bit word at @word differs from @expected, and meanwhile completes what ends.
 * The word is changed, atomically and with release order, by complete() functions of this store's
 * requests; a change by anybody else is noticed at the store's next completion only. Returns with
 * acquire order. Not from a complete() function.
 */
MGLRU_API void mglru_store_wait(struct mglru_store *store, const uint32_t *word, uint32_t expected);

/*
 * The blocking calls: one request each, submitted and waited for. They return the request's error.
 * Read and write move the bytes of @count pieces at byte @offset; the frames of a read are whole
 * afterwards, zeros included, unless there was an error. Not from a complete() function.
 */
MGLRU_API int mglru_store_read(struct mglru_store *store, uint64_t offset,
                               const struct mglru_store_vec *vec, uint32_t count);
MGLRU_API int mglru_store_write(struct mglru_store *store, uint64_t offset,
                                const struct mglru_store_vec *vec, uint32_t count);
MGLRU_API int mglru_store_sync(struct mglru_store *store);
MGLRU_API int mglru_store_punch(struct mglru_store *store, uint64_t offset, uint64_t bytes);
MGLRU_API int mglru_store_truncate(struct mglru_store *store, uint64_t bytes);

/* ---- For those who write stores ---- */

/*
 * The pieces of a READ or WRITE that are still to be moved: fills at most @capacity of @vec, none
 * of them empty, sets *offset to the store's byte of the first one, and returns how many. A store
 * need not take them all: what it leaves comes again. Only while the store has the request.
 */
MGLRU_API uint32_t mglru_store_pieces(const struct mglru_store_request *request,
                                      struct mglru_store_vec *vec, uint32_t capacity,
                                      uint64_t *offset);

/*
 * The store is done with @request: @moved bytes (READ, WRITE) of those that mglru_store_pieces gave
 * went over, then came @error, or MGLRU_OK. Fewer than asked for without an error: the library
 * submits the rest. None at all without an error: the end of the store for a read (the rest becomes
 * zeros), MGLRU_EIO for a write. The store does not touch the request afterwards. Inside submit or
 * poll, on any thread that holds no lock of the store.
 */
MGLRU_API void mglru_store_complete(struct mglru_store_request *request, int error, uint64_t moved);

#ifdef __cplusplus
}
#endif
#endif
