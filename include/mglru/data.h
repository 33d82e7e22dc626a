/* SPDX-License-Identifier: MIT */
/*
 * Caches with frames: a page cache for real data, for many threads and many tenants. Pages come
 * from stores (<mglru/store.h>) and go back to them; memcgs (<mglru/cache.h>, <mglru/control.h>)
 * limit who may have how many; the reclaim of <mglru/cache.h> decides which go.
 *
 * Order of use: mglru_data_create, mglru_memcg_create, mglru_data_mapping_create, mglru_file_open,
 * then mglru_read, mglru_write, mglru_pin ... from any thread, mglru_sync, mglru_cache_destroy.
 * examples/file-server.c is 200 lines.
 *
 * Caveats
 *  - Any number of threads may call at once, and none registers. What must not run while other
 *    calls use the same object: mglru_cache_destroy, mglru_memcg_remove, mglru_file_close and
 *    mglru_data_mapping_destroy. Control calls (memcgs, limits, files) wait for each other.
 *  - Names: a page is a frame's worth of a mapping, options.frame_bytes; offsets are in bytes.
 *  - A write is in the cache when mglru_write returns, in the store when a flusher wrote it, and
 *    durable when a mglru_sync that began afterwards has succeeded.
 *  - Readers of a page and one writer of it exclude each other; a call that touches several pages
 *    is not atomic as a whole. A thread that has pinned a page for writing must not read, write or
 *    pin it again or sync it, nor write to a page that it has pinned for reading: it would wait
 *    for itself.
 *  - A process that forks goes on with the cache alone: the child has none of its threads, perhaps
 *    locks that they held, and must not call it.
 *  - memory.events: "oom" counts each time that there was no room and nothing to take, also for a
 *    read that was then served outside the limit. "oom_kill" stays 0, since nothing is killed.
 *  - Events (on_event of <mglru/cache.h>) and the classic LRU are for caches without frames.
 */
#ifndef MGLRU_DATA_H
#define MGLRU_DATA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <mglru/cache.h>
#include <mglru/store.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Zero-initialise, set size and memory_bytes, change what differs from the defaults. */
struct mglru_data_options {
    size_t size;           /* sizeof(struct mglru_data_options) */
    uint64_t memory_bytes; /* all frames together; at least 64 of them. The process grows by this,
                              5 % and 8 MiB at most */
    uint32_t frame_bytes;  /* a power of two, 4 KiB .. 2 MiB; 0 means 4096 */
    const char *model;     /* as in mglru_cache_options; NULL means "ours" */
    const char *aging;     /* as there */
    bool huge_pages;       /* ask for huge pages; without any the cache is as good, and slower */
    bool no_threads;   /* no flusher, no background reclaim: callers do it all, in their calls */
    uint32_t flushers; /* threads that write dirty pages, 1..16; 0 means 1 */
    uint32_t cpus;     /* threads that may be in the slow path at once; 0: twice the CPUs */
    uint64_t readahead_bytes; /* largest window; 0 means 128 KiB, UINT64_MAX none */
    uint32_t dirty_percent;   /* of a memcg's limit, and of all frames: writers wait; 0 means 20 */
    uint32_t dirty_background_percent; /* flushers start; 0 means 10 */
    uint32_t flush_after_ms;           /* age at which a dirty page is written; 0 means 5000 */
    bool strict_limits; /* a read without room fails instead of being served outside the limit */
};

/*
 * Creates a cache with frames. The caller owns *out and ends it by mglru_cache_destroy, which
 * stops its threads and forgets dirty pages: mglru_sync_all first, and no page is pinned. *out is
 * NULL on failure.
 * MGLRU_EINVAL: an option out of its range or an unknown name; MGLRU_ENOTSUP: as
 * mglru_cache_create; MGLRU_ENOMEM; MGLRU_EAGAIN: no thread could be started.
 */
MGLRU_API int mglru_data_create(const struct mglru_data_options *options, struct mglru_cache **out);

/* --- mappings ------------------------------------------------------------------------------- */

/*
 * Makes @store's bytes a mapping of @cache; bytes beyond @size_bytes are not readable until a write
 * or mglru_truncate makes them so. @store: the caller's, who keeps it open for as long as the
 * mapping lives and touches it through the mapping alone; its caps.align_bytes must divide the
 * cache's frame_bytes. NULL: a purgeable mapping, whose pages start as zeros, are written nowhere
 * and vanish under pressure when nobody has pinned them. @name is copied. Control call.
 * MGLRU_EINVAL: a cache without frames, a store that does not fit; MGLRU_ENOMEM.
 */
MGLRU_API int mglru_data_mapping_create(struct mglru_cache *cache, const char *name,
                                        struct mglru_store *store, uint64_t size_bytes,
                                        struct mglru_mapping **out);

/*
 * Forgets all pages of a mapping, dirty ones included, and frees it. Its files are closed, no page
 * is pinned. Waits for writes to the store that are in flight. NULL is allowed.
 */
MGLRU_API void mglru_data_mapping_destroy(struct mglru_mapping *mapping);

/* Readable bytes of a mapping now. Any thread, never blocks. */
MGLRU_API uint64_t mglru_data_mapping_bytes(const struct mglru_mapping *mapping);

/* --- reading and writing -------------------------------------------------------------------- */

/*
 * Copies up to @bytes from @offset into @buffer; *done is less than @bytes at the mapping's end or
 * after an error. Hits touch no shared line but to mark a page that was not marked yet; absent
 * pages are charged to the file's memcg and read from the store, with readahead.
 * A page for which the memcg (or the cache) has no room, since nothing can be taken, is served
 * outside the limit: read, copied, not kept, and counted (mglru_usage.outside).
 * May block for the store and for writers of a page.
 * MGLRU_EIO, MGLRU_ENOMEM or another error of the store; MGLRU_EOOM: there is no room and
 * options.strict_limits is set, see mglru_memcg_verdict; MGLRU_EINVAL: a file of a cache without
 * frames.
 */
MGLRU_API int mglru_read(struct mglru_file *file, uint64_t offset, void *buffer, size_t bytes,
                         size_t *done);

/*
 * Copies @bytes from @buffer to @offset, growing the mapping; *done is less than @bytes after an
 * error. Pages that are written in part are read first. Makes pages dirty; who has more than
 * options.dirty_percent of them waits for the flushers afterwards, at most 200 ms a page, or writes
 * 64 pages back itself where there are none; later there is no room. Errors as mglru_read, and
 * MGLRU_EOOM: the memcg (or the cache) has no room for the page and nothing left to take, see
 * mglru_memcg_verdict; MGLRU_EPERM: the store is read-only; MGLRU_ENOSPC: beyond the store's
 * size_max.
 */
MGLRU_API int mglru_write(struct mglru_file *file, uint64_t offset, const void *buffer,
                          size_t bytes, size_t *done);

/*
 * As mglru_read, but only of pages that are there, without marking them accessed and without
 * waiting: *done ends at the first that is absent or being written. Never blocks. MGLRU_EINVAL.
 */
MGLRU_API int mglru_peek(struct mglru_file *file, uint64_t offset, void *buffer, size_t bytes,
                         size_t *done);

/* One read of a batch. */
struct mglru_read_item {
    struct mglru_file *file;
    uint64_t offset;
    void *buffer;
    size_t bytes;
    size_t done; /* result */
    int error;   /* result */
};

/* Performs @count reads; absent pages of all of them are asked from their stores together where
 * stores are asynchronous. Returns the first error, or MGLRU_OK. Blocks as mglru_read. */
MGLRU_API int mglru_read_many(struct mglru_read_item *items, size_t count);

/* Brings pages of a range that are absent, the first ones, at most half of what the memcg and the
 * cache may hold; older pages go for them. Errors are not reported: what is missing is read when it
 * is needed. May block for the store. */
MGLRU_API void mglru_prefetch(struct mglru_file *file, uint64_t offset, uint64_t bytes);

/* --- pins ----------------------------------------------------------------------------------- */

enum mglru_pin_mode {
    MGLRU_PIN_READ = 1, /* content stays as it is; many at once */
    MGLRU_PIN_WRITE,    /* alone; content may be changed in place */
    MGLRU_PIN_OVERWRITE /* alone; content is not read from the store: the caller sets all of it */
};

/* A page held in place. Filled by mglru_pin, given back by mglru_unpin, once. */
struct mglru_pin {
    void *data;  /* frame_bytes of content */
    void *folio; /* the library's */
    uint64_t page;
    uint32_t mode;
};

enum mglru_unpin_how {
    MGLRU_UNPIN_CLEAN = 1, /* nothing was changed; OVERWRITE: what was not there is not kept */
    MGLRU_UNPIN_DIRTY,     /* WRITE, OVERWRITE: content has to go to the store */
    MGLRU_UNPIN_DISCARD    /* WRITE, OVERWRITE: the page leaves the cache, its changes are lost */
};

/*
 * Pins page @page (of frame_bytes) of the file's mapping. A page beyond the mapping's end can be
 * pinned for OVERWRITE alone. Waits for readers or the writer of the page. A page has room for
 * 16383 readers.
 * Errors as mglru_write; MGLRU_EBUSY: too many readers; MGLRU_ERANGE: beyond the end. A pin is
 * never served outside the limit.
 */
MGLRU_API int mglru_pin(struct mglru_file *file, uint64_t page, enum mglru_pin_mode mode,
                        struct mglru_pin *pin);

/* Pins @count pages, in the order given; all or none. Errors as mglru_pin. */
MGLRU_API int mglru_pin_many(struct mglru_file *file, const uint64_t *pages, size_t count,
                             enum mglru_pin_mode mode, struct mglru_pin *pins);

/* Lets go of a pin. Any thread. An unpin as DIRTY may wait as mglru_write does, and makes the whole
 * page readable, as far as the store's size_max. */
MGLRU_API void mglru_unpin(struct mglru_pin *pin, enum mglru_unpin_how how);

/* --- durability ----------------------------------------------------------------------------- */

/*
 * Writes the dirty pages of @bytes (0: all to the end) from @offset and syncs the store: what was
 * written before this call began is durable when it returns MGLRU_OK. Blocks for the store.
 * An error of the store since this file's last sync, of a flusher or of this call, is returned, to
 * each file once; the pages stay dirty and the next sync tries again. MGLRU_EIO for ever: a sync of
 * the store failed after pages that it was for had left the cache, or after a punch or truncation,
 * so that they may be lost; mglru_truncate to 0 or a new mapping ends that state. Purgeable
 * mappings: MGLRU_OK, nothing done.
 */
MGLRU_API int mglru_sync(struct mglru_file *file, uint64_t offset, uint64_t bytes);

/* Syncs all mappings of the cache; returns the first error and goes on. Control call. */
MGLRU_API int mglru_sync_all(struct mglru_cache *cache);

/* --- taking pages away ---------------------------------------------------------------------- */

/*
 * Sets the mapping's size; pages beyond it are dropped, pinned ones become their pinners' own. The
 * store is cut as well. Not at the same time as writes beyond the new end. Blocks for the store.
 * MGLRU_EIO and other errors of the store: the cache was cut, the store may not be. Then each sync,
 * and each call that would change the last page or make the mapping grow, cuts the store before
 * anything else, and fails with its error when it cannot.
 */
MGLRU_API int mglru_truncate(struct mglru_mapping *mapping, uint64_t bytes);

/* Makes a range read as zeros. Whole pages are dropped, a store's bytes punched (or written as
 * zeros where it cannot punch). Not at the same time as writes to the range. Errors as
 * mglru_truncate and mglru_write. */
MGLRU_API int mglru_punch(struct mglru_file *file, uint64_t offset, uint64_t bytes);

/* Drops the clean pages of a range that nobody uses; returns how many. */
MGLRU_API uint64_t mglru_drop(struct mglru_mapping *mapping, uint64_t offset, uint64_t bytes);

/* --- what memory is used for, and why nothing could be freed ------------------------------- */

/* Pages of a memcg and of those below it. */
struct mglru_usage {
    uint64_t resident;    /* in memory */
    uint64_t reclaimable; /* of these, what reclaim could take now: neither dirty nor pinned */
    uint64_t dirty;       /* to be written, or being written */
    uint64_t pinned;      /* pins held; a page that several have pinned counts for each */
    uint64_t working_set; /* in the young generations: used again, or new */
    uint64_t outside;     /* reads that were served outside the limit, ever */
};

/* Fills *usage. Costs a look at each memcg, whatever it holds; each field is of some moment during
 * the call, and exact when nothing else runs. Any thread; waits for control calls. */
MGLRU_API void mglru_memcg_usage(const struct mglru_memcg *memcg, struct mglru_usage *usage);

/* What reclaim met when it last gave up below a memcg, in pages. */
struct mglru_verdict {
    uint64_t pinned;     /* pinned, read or written at that moment */
    uint64_t dirty;      /* to be written first */
    uint64_t protected_; /* below memory.min or memory.low */
    uint64_t scanned;    /* looked at in all */
    uint64_t pinner; /* mglru_memcg_id of the memcg with most pins there; 0: nothing is pinned */
};

/* Fills *verdict as of the last time that nothing could be taken for a page of this memcg, or to
 * bring it to its limit; zeros: there was none. Any thread. */
MGLRU_API void mglru_memcg_verdict(const struct mglru_memcg *memcg, struct mglru_verdict *verdict);

#ifdef __cplusplus
}
#endif
#endif
