/* SPDX-License-Identifier: MIT */
/*
 * The stores that come with the library. Each opens as a struct mglru_store, whose calls, threads
 * and errors <mglru/store.h> describes; what differs stands here.
 *
 * Every option struct is zero-initialised, gets its size, and then what differs from the defaults.
 * Every open function may be called by any thread, and leaves *out NULL when it fails, with
 * MGLRU_EINVAL for a size smaller than any release had or an option out of its range, and
 * MGLRU_ENOMEM, beside the codes named.
 */
#ifndef MGLRU_STORES_H
#define MGLRU_STORES_H

#include <mglru/store.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * A store in memory: sparse, and without locks, so that it is as fast as memory is. It ends
 * with the process. With synced_copy it keeps a second copy of what was synced, to which
 * mglru_store_memory_power_cut goes back. Synchronous.
 */
struct mglru_store_memory_options {
    size_t size;       /* sizeof(struct mglru_store_memory_options) */
    uint64_t size_max; /* bytes of address space; at most 2^45; 0 means 2^36 */
    bool synced_copy;  /* keep what was synced apart; writes and syncs then take locks */
    bool huge_pages;   /* hint: huge pages are welcome */
};

/* Opens an empty store. @options may be NULL for defaults. */
MGLRU_API int mglru_store_memory_open(const struct mglru_store_memory_options *options,
                                      struct mglru_store **out);

/*
 * The power fails and comes back: the store holds what it held at the end of its last sync. No
 * other call on the store runs. MGLRU_EINVAL: not a memory store with synced_copy; nothing changed.
 */
MGLRU_API int mglru_store_memory_power_cut(struct mglru_store *store);

/*
 * A regular file or a block device, by pread and pwrite. Where the file system can, transfers of
 * whole aligned pages go past the kernel's page cache (O_DIRECT), since this library is one;
 * others go through it. Sync is fdatasync. Holes are punched, or written as zeros where the file
 * system has none. Durable, synchronous, nothing larger than a byte is promised to be atomic.
 */
struct mglru_store_file_options {
    size_t size;      /* sizeof(struct mglru_store_file_options) */
    const char *path; /* copied */
    bool read_only;   /* the file must exist, changes are refused */
    bool create;      /* create it if there is none; else MGLRU_ENOENT */
    bool cached;      /* go through the kernel's page cache always */
    uint32_t queue;   /* io_uring: requests in flight, 1..4096; 0 means 128 */
};

/* Opens a file. MGLRU_ENOENT, MGLRU_EPERM, MGLRU_EIO (also a directory), MGLRU_EINVAL: no path. */
MGLRU_API int mglru_store_file_open(const struct mglru_store_file_options *options,
                                    struct mglru_store **out);

/*
 * As mglru_store_file_open, but reads, writes and syncs go through an io_uring and complete
 * asynchronously. What the ring has no room for is done at once by the submitter. Also
 * MGLRU_ENOTSUP: the library was built without liburing, or the kernel has no io_uring (it came
 * with 5.1); MGLRU_EPERM: the kernel refuses it (kernel.io_uring_disabled, a seccomp
 * filter). Nothing falls back by itself: the caller may open the file store instead.
 */
MGLRU_API int mglru_store_uring_open(const struct mglru_store_file_options *options,
                                     struct mglru_store **out);

/*
 * Faults over another store, for tests: every fault is drawn from the seed and the number of the
 * request, so that one thread, or a simulated machine, repeats a run exactly. Chances are in parts
 * per million of the requests they apply to; a transfer that stopped short and goes on counts anew.
 * Asynchronous (some requests are delayed); what it does to the base it does one by one.
 *
 * With volatile_cache it is a drive with a cache of its own that loses power: writes, punches and
 * truncates are held until a sync and reach the base early in any order (destage_ppm), a whole page
 * at a time, or sector by sector with sector_bytes.
 */
struct mglru_store_faulty_options {
    size_t size; /* sizeof(struct mglru_store_faulty_options) */
    uint64_t seed;
    uint32_t read_error_ppm;    /* MGLRU_EIO */
    uint32_t write_error_ppm;   /* MGLRU_EIO, after any part of the write */
    uint32_t write_nospace_ppm; /* MGLRU_ENOSPC, after none of it */
    uint32_t sync_error_ppm;    /* MGLRU_EIO; see failed_sync_loses */
    uint32_t discard_error_ppm; /* punch and truncate: MGLRU_EIO, not done */
    uint32_t short_ppm;         /* transfers that stop early without an error */
    uint32_t delay_ppm;         /* requests that complete later, at most delay_max_ns */
    uint64_t delay_max_ns;      /* 0 means 1 ms */
    uint64_t cut_at_request;    /* the power is cut before this one, counted from 1; 0: never */
    bool volatile_cache;        /* hold changes until a sync */
    bool failed_sync_loses;     /* volatile_cache: a failed sync forgets half of what was held: it
                                   can be read until the power is cut, and no later sync saves it */
    uint32_t destage_ppm;       /* volatile_cache: after a change, one held page reaches the base */
    uint32_t page_bytes;        /* volatile_cache: unit held, a power of two 512..2^21; 0: 4096 */
    uint32_t sector_bytes;      /* torn at these, a power of two from 16 up to page_bytes; 0: with
                                   volatile_cache pages are never torn, else at any byte */
};

/* What happened so far, in requests unless said. */
struct mglru_store_faulty_counts {
    size_t size; /* sizeof(struct mglru_store_faulty_counts), set by the caller */
    uint64_t requests;
    uint64_t read_errors;
    uint64_t write_errors;
    uint64_t write_nospaces;
    uint64_t sync_errors;
    uint64_t discard_errors;
    uint64_t shorts;
    uint64_t delays;
    uint64_t pages_destaged; /* pages that reached the base before their sync */
    uint64_t pages_torn;     /* pages of which some sectors reached the base and some did not */
    uint64_t pages_lost;     /* pages held at a power cut, or forgotten by a sync, and lost */
    uint64_t refused;        /* requests after the power cut */
};

/*
 * Opens faults over @base, which stays the caller's: it is closed after this store and not used
 * meanwhile, except after a power cut. Also MGLRU_EINVAL: a base that is a faulty store itself, or
 * that asks for an alignment; or the base's error when asked for its size.
 */
MGLRU_API int mglru_store_faulty_open(struct mglru_store *base,
                                      const struct mglru_store_faulty_options *options,
                                      struct mglru_store **out);

/*
 * Cuts the power: of what is held, each page (with sector_bytes, each sector) reaches the base or
 * is lost, by the seed; then the base is synced and left alone: every later request on @store, and
 * those that are delayed, fail with MGLRU_EIO. Without volatile_cache the base keeps all. Any
 * thread, beside other calls; blocks for I/O. MGLRU_EINVAL: not a faulty store; or the error of
 * the base, which is cut off all the same.
 */
MGLRU_API int mglru_store_faulty_power_cut(struct mglru_store *store);

/*
 * Changes all chances (fields *_ppm) and delay_max_ns to those of @options, whose other fields are
 * ignored. Any thread. MGLRU_EINVAL: not a faulty store, or as in open.
 */
MGLRU_API int mglru_store_faulty_set(struct mglru_store *store,
                                     const struct mglru_store_faulty_options *options);

/* Fills @counts. Any thread. MGLRU_EINVAL: not a faulty store, or a size smaller than any had. */
MGLRU_API int mglru_store_faulty_counts(struct mglru_store *store,
                                        struct mglru_store_faulty_counts *counts);

#ifdef __cplusplus
}
#endif
#endif
