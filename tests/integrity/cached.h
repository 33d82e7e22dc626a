/* SPDX-License-Identifier: MIT */
/*
 * A cache with frames under the verifying workload: small enough that reclaim, write-back under
 * reclaim, throttling and refaults go on all the time. Each call of the workload is made in one of
 * several ways (by copy, by pin, in a batch, ragged at its edges ...), drawn from the seed.
 */
#ifndef TESTS_INTEGRITY_CACHED_H
#define TESTS_INTEGRITY_CACHED_H

#include <mglru/data.h>
#include <mglru/stores.h>

#include "driver.h"
#include "subject.h"
#include "unit/seeded.h"

#define CACHED_MAPPINGS_MAX 4u
#define CACHED_THREADS_MAX 8u

/* Ways of calling the cache, which are counted. */
enum cached_call {
    CALL_READ,
    CALL_PEEK,
    CALL_READ_MANY,
    CALL_PIN_READ,
    CALL_WRITE,
    CALL_WRITE_RAGGED,
    CALL_PIN_WRITE,
    CALL_PIN_OVERWRITE,
    CALL_SYNC,
    CALL_SYNC_ALL,
    CALL_TRUNCATE,
    CALL_GROW,
    CALL_PUNCH,
    CALL_DISCARD,
    CALL_PREFETCH,
    CALL_DROP,
    CALL_PIN_CLEAN,
    CALL_MEMORY_MAX,
    CALL_MEMORY_RECLAIM,
    CACHED_CALLS
};

/* "read", ... */
const char *cached_call_text(enum cached_call call);

/* Of one thread. */
struct cached_thread {
    struct seeded random;
    struct mglru_file *files[CACHED_MAPPINGS_MAX];
    /* Failed writes and syncs of the store that this thread's file has been told of, or more. */
    uint64_t told[CACHED_MAPPINGS_MAX];
    char *scratch;
    uint64_t calls[CACHED_CALLS];
};

struct cached {
    /* Set by the caller. */
    struct mglru_data_options options;
    struct oracle_shape shape; /* page_bytes divide the frames of the cache */
    unsigned threads;
    uint64_t seed;
    uint64_t
        cut_within; /* requests within which a store's power fails by itself, now and then; 0 */
    bool synced;    /* the bases are memory that knows what was synced */
    struct mglru_store *base[CACHED_MAPPINGS_MAX];
    struct mglru_store_faulty_options faults; /* size 0: the bases are used as they are */
    /* Its own. */
    struct seeded random; /* for what is done when nothing else runs */
    struct mglru_cache *cache;
    struct mglru_memcg *memcgs[CACHED_THREADS_MAX]; /* the first above the others */
    struct mglru_store *store[CACHED_MAPPINGS_MAX];
    struct mglru_mapping *mapping[CACHED_MAPPINGS_MAX];
    struct cached_thread thread[CACHED_THREADS_MAX];
    struct mglru_store_faulty_counts counts; /* of closed stores */
};

/* Makes the cache over the bases. 0, or an MGLRU_E code. */
int cached_open(struct cached *cached);

/* Ends it. 0, or SUBJECT_BROKEN: a law of the cache's structures is broken, which it prints. */
int cached_close(struct cached *cached);

/* Discards are about one frame: the table for caches with pages of @page_bytes in it. */
struct subject_ops cached_ops(const struct cached *cached);

#endif
