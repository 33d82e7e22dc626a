/* SPDX-License-Identifier: MIT */
/*
 * A page cache under Linux's page reclaim: memcgs with limits, files and anonymous regions, and
 * the accesses to them. This header covers caches without frames: they hold metadata only and tell
 * for each access whether the kernel would have had to wait for I/O.
 *
 * Caveats
 *  - Calls on one cache must not overlap; the caller serialises them. Calls on different caches
 *    are independent and may run on different threads. No call blocks, none needs a per-thread
 *    registration. Only mglru_cache_stop() may be called at any time, from anywhere.
 *  - All amounts named *_pages are base pages of options.page_bytes (4096 unless set).
 *  - Same calls, same results: nothing depends on time, addresses or randomness of the machine.
 *    The cache's clock is what mglru_cache_set_time() last said.
 *  - Handles (memcg, mapping, file) belong to their cache and end with it.
 *
 * Order of use: mglru_cache_create, mglru_memcg_create, mglru_mapping_create, mglru_file_open,
 * mglru_cache_access ..., mglru_memcg_counts, mglru_cache_destroy. <mglru/control.h> reads and
 * writes limits and statistics as the kernel's files do.
 */
#ifndef MGLRU_CACHE_H
#define MGLRU_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <mglru/error.h>

#ifdef __cplusplus
extern "C" {
#endif

struct mglru_cache;   /* one page cache: one machine's memory, all its memcgs */
struct mglru_memcg;   /* a memory cgroup of one cache */
struct mglru_mapping; /* the pages of one file, or one anonymous region */
struct mglru_file;    /* a mapping as one memcg has it open (and mapped) */

/* Largest page index, 2^52 - 1, and largest count of one access, 2^32 - 1. */
#define MGLRU_INDEX_MAX ((UINT64_C(1) << 52) - 1)

/* How kernel metadata (page-cache tree nodes, page tables, open files) is charged to memcgs. */
enum mglru_kernel_charge {
    MGLRU_KERNEL_CHARGE_AUTO = 0, /* what the modelled kernel would charge */
    MGLRU_KERNEL_CHARGE_NONE,     /* nothing */
    MGLRU_KERNEL_CHARGE_FIXED     /* kernel_charge_bytes per memcg that has accesses */
};

/* When the counters that the classic LRU decides by are brought up to date. */
enum mglru_stat_flush {
    MGLRU_STAT_FLUSH_AUTO = 0, /* 2 s once the clock moves, else every 20000 page accesses */
    MGLRU_STAT_FLUSH_TIME,     /* every stat_flush_period nanoseconds of the cache's clock */
    MGLRU_STAT_FLUSH_ACCESSES, /* every stat_flush_period page accesses */
    MGLRU_STAT_FLUSH_ALWAYS    /* before every use: no staleness */
};

enum mglru_event_kind {
    MGLRU_EVENT_EVICT = 1, /* a folio left memory by reclaim */
    MGLRU_EVENT_REFAULT,   /* a page with a shadow entry came back */
    MGLRU_EVENT_AGE,       /* a youngest generation was created */
    MGLRU_EVENT_OOM,       /* a charge failed: the memcg is out of memory */
    MGLRU_EVENT_READ       /* a folio was brought in from its file */
};

/* Why a folio was taken, for MGLRU_EVENT_EVICT. */
enum mglru_evict_rule {
    MGLRU_EVICT_OLDEST = 1,  /* oldest generation, tier not protected */
    MGLRU_EVICT_SECOND_PASS, /* came back from the retry of a batch */
    MGLRU_EVICT_CLASSIC      /* tail of the classic inactive list */
};

/* What happened; valid during the callback only. Fields that do not apply are 0. */
struct mglru_event {
    enum mglru_event_kind kind;
    enum mglru_evict_rule rule;
    struct mglru_memcg *memcg;     /* whose folio, or who ran out of memory */
    struct mglru_mapping *mapping; /* of the folio */
    uint64_t index;                /* first page of the folio in its mapping */
    uint32_t pages;                /* pages of the folio */
    uint8_t type;                  /* 0 anonymous, 1 file */
    uint8_t tier;                  /* 0..3 at eviction, or as remembered by the shadow entry */
    uint8_t recent;                /* REFAULT: counted as recent by the model */
    uint64_t folio_seq;            /* EVICT: generation of the folio; REFAULT: of the shadow */
    uint64_t min_seq;              /* oldest generation of this type now */
    uint64_t max_seq;              /* youngest generation now */
};

/* Zero-initialise, set size, change what differs from the defaults. */
struct mglru_cache_options {
    size_t size;              /* sizeof(struct mglru_cache_options) */
    const char *model;        /* "6.12", "7.3", "next" or "ours"; NULL means "ours" */
    const char *aging;        /* "per-folio", "batched" or "splice"; NULL: the model's own */
    bool classic;             /* start with lru_gen/enabled 0x0000 instead of 0x0007 */
    uint32_t page_bytes;      /* a power of two, 4096..65536; 0 means 4096 */
    uint32_t nodes;           /* NUMA nodes, 1..8; 0 means 1 */
    uint64_t swap_bytes;      /* capacity of swap; 0 means none */
    uint64_t readahead_bytes; /* window of sequential readahead; 0 means none */
    enum mglru_kernel_charge kernel_charge;
    uint64_t kernel_charge_bytes; /* at most 2^44 */
    enum mglru_stat_flush stat_flush;
    uint64_t stat_flush_period; /* ns or page accesses; 0 means 2 s or 20000 */
    /* The state that a process starts in, which differs from run to run of a real kernel: pages of
     * its own that wait in the LRU add batch, 1..30, and page tables charged before its first
     * access. 0 means typical (23 and 1), -1 none. */
    int32_t start_batch;
    int32_t start_tables;
    /* Path of a memcg that stands for none of the modelled machine, only for a common limit: its
     * children's kernel structures are not charged to it. NULL: none. Copied. */
    const char *container;
    /* Called in the middle of other calls; must not call the cache. NULL: no events. */
    void (*on_event)(void *context, const struct mglru_event *event);
    void *on_event_context;
    /* Memory of the machine for pages of files and anonymous memory, 1 MiB to 2^52; the kernel's
     * own structures are not part of it. 0: no end of it, limits of memcgs alone make reclaim.
     * Below the kernel's watermarks pages go from all memcgs, in the order of the memcg LRU (under
     * the classic LRU from one after the other), as memory.min and memory.low let them. */
    uint64_t memory_bytes;
};

/*
 * Creates a cache. @options may be NULL for defaults. @out receives the cache, or NULL on failure.
 * MGLRU_EINVAL: unknown model or aging, a number out of its range, size smaller than any release
 * had; MGLRU_ENOTSUP: aging "splice" with a kernel model; MGLRU_ENOMEM.
 */
MGLRU_API int mglru_cache_create(const struct mglru_cache_options *options,
                                 struct mglru_cache **out);

/* Frees the cache with all its memcgs, mappings and files. NULL is allowed. */
MGLRU_API void mglru_cache_destroy(struct mglru_cache *cache);

/*
 * Sets the clock, in nanoseconds since any start. Going backwards is ignored. Periodic work that
 * became due (statistics flush, writeback) runs inside this call.
 */
MGLRU_API void mglru_cache_set_time(struct mglru_cache *cache, uint64_t now_ns);

/*
 * @stop true: calls that work for long end early, the one under way soon (some milliseconds), and
 * later ones at once, with MGLRU_EINTR; false: they work again. The cache stays whole, and what was
 * done stays done. Any thread at any time, beside another call on the cache, and signal handlers.
 * These end early: mglru_cache_access, the write of memory.reclaim, and every call that has to
 * reclaim before it can charge; writing a lower memory.max or memory.high leaves its rest undone.
 */
MGLRU_API void mglru_cache_stop(struct mglru_cache *cache, bool stop);

/*
 * Creates the memcg at @path ("/a/b"); missing parents are created, the root "/" exists always.
 * An existing path is returned as it is. MGLRU_EINVAL: the path does not start with '/', has an
 * empty part, white space, or more than 4095 bytes; MGLRU_EOOM: the parent is at its limit and
 * cannot pay for the kernel's structures; MGLRU_ENOSPC: no memcg id is free; MGLRU_ENOMEM. A call
 * that fails creates none.
 */
MGLRU_API int mglru_memcg_create(struct mglru_cache *cache, const char *path,
                                 struct mglru_memcg **out);

/* Finds a memcg. MGLRU_ENOENT: there is none at @path. */
MGLRU_API int mglru_memcg_find(struct mglru_cache *cache, const char *path,
                               struct mglru_memcg **out);

/*
 * Removes a memcg; its pages stay and belong to the parent or to the dying memcg, as the model's
 * kernel has it. The handle and its open files must not be used afterwards.
 * MGLRU_EBUSY: it has children; MGLRU_EINVAL: it is the root.
 */
MGLRU_API int mglru_memcg_remove(struct mglru_memcg *memcg);

/* Path of a memcg; the string lives as long as the memcg. */
MGLRU_API const char *mglru_memcg_path(const struct mglru_memcg *memcg);

/*
 * Walks all live memcgs, parents before children: pass NULL for the first. Returns NULL at the end.
 */
MGLRU_API struct mglru_memcg *mglru_memcg_next(struct mglru_cache *cache,
                                               struct mglru_memcg *memcg);

enum mglru_mapping_kind {
    MGLRU_FILE = 1, /* pages come from a file and go back to it */
    MGLRU_ANON      /* pages start as zeros and go to swap */
};

/*
 * Creates a mapping with no pages. @name is copied, for events and reports. @size_pages clips
 * readahead, and accesses through a mapping map that many pages, which walks over page tables go
 * by; 0 means unknown: as far as the highest page touched. MGLRU_EINVAL, MGLRU_ENOMEM.
 */
MGLRU_API int mglru_mapping_create(struct mglru_cache *cache, const char *name,
                                   enum mglru_mapping_kind kind, uint64_t size_pages,
                                   struct mglru_mapping **out);

/* Name given at creation. */
MGLRU_API const char *mglru_mapping_name(const struct mglru_mapping *mapping);

/*
 * The file has @size_pages pages from now on, as at creation; what is cached beyond stays until it
 * is dropped. An access beyond makes it longer.
 */
MGLRU_API void mglru_mapping_resize(struct mglru_mapping *mapping, uint64_t size_pages);

/*
 * Takes pages @index .. @index + @count - 1 out of the cache, shadow entries and swap slots
 * included (truncate, punch, munmap, free). Absent pages are skipped. A large folio that lies
 * partly in the range is split; without memory for that it goes whole.
 */
MGLRU_API void mglru_mapping_drop(struct mglru_mapping *mapping, uint64_t index, uint64_t count);

/*
 * Opens @mapping for @memcg, whose pages its accesses will be charged to. A new open file has no
 * last position. MGLRU_EINVAL: of different caches; MGLRU_EOOM: the memcg has no room for the
 * kernel's structure; MGLRU_ENOMEM.
 */
MGLRU_API int mglru_file_open(struct mglru_mapping *mapping, struct mglru_memcg *memcg,
                              struct mglru_file **out);

/*
 * The process opens the file anew, by its name: the position of the last read and the readahead
 * state are forgotten. The first time for a mapping its name and inode are looked up and charged to
 * the memcg of @file, as far as its limit lets them.
 */
MGLRU_API void mglru_file_reopen(struct mglru_file *file);

/*
 * Closes @file; its mapping stays with all pages, those that only this file mapped become unmapped.
 * The handle must not be used afterwards.
 */
MGLRU_API void mglru_file_close(struct mglru_file *file);

enum mglru_access_kind {
    MGLRU_READ = 1,  /* read(2): fd access */
    MGLRU_WRITE,     /* write(2): accessed and dirty; an absent page is a miss, yet not read */
    MGLRU_MAP_READ,  /* load through a shared mapping */
    MGLRU_MAP_WRITE, /* store through a shared mapping */
    MGLRU_MAP_EXEC,  /* fetch through an executable mapping */
    MGLRU_TOUCH      /* touch of anonymous memory; the only kind for MGLRU_ANON mappings */
};

/* One call of the workload over @count pages from @index. */
struct mglru_access {
    struct mglru_file *file;
    uint64_t index;
    uint32_t count;
    enum mglru_access_kind kind;
};

/* One bit a page access, 1 = miss; access i is bit i mod 8 of byte i div 8. */
struct mglru_miss_log {
    uint8_t *bits; /* at least (next + pages of the call + 7) / 8 bytes */
    uint64_t next; /* index of the next access; advanced by the call */
};

/*
 * Performs @count accesses in order. @log may be NULL. @done receives how many were completed.
 * A page that cannot be charged because its memcg is out of memory ends the call.
 * MGLRU_EINVAL: a kind that does not fit the mapping, an index or a count out of range;
 * MGLRU_EINTR: mglru_cache_stop; pages of accesses[*done] may have been accessed;
 * MGLRU_EOOM: the memcg of accesses[*done].file, or the machine, is out of memory (events say so
 * too, for the machine with the root; the caller decides whether a process dies); MGLRU_ENOMEM.
 */
MGLRU_API int mglru_cache_access(struct mglru_cache *cache, const struct mglru_access *accesses,
                                 size_t count, struct mglru_miss_log *log, size_t *done);

/* What accesses of a memcg came to, in pages. hits + misses + first_touches = accesses. */
struct mglru_counts {
    uint64_t accesses;
    uint64_t hits;
    uint64_t misses;        /* absent file page, read or written, or swap-in */
    uint64_t first_touches; /* anonymous zero-fill */
    uint64_t pages_read;    /* all pages brought in, readahead included */
    /* The rest is counted in caches without frames; elsewhere it is 0. */
    uint64_t readahead_pages;  /* of pages_read: those that the access had not asked for */
    uint64_t readahead_wasted; /* of those: left memory before any access asked for their folio */
    uint64_t pages_written;    /* dirty pages of files that were given to the device */
    uint64_t write_misses;     /* of misses: pages that a write made, for which nothing waited */
};

/* Counts since creation, of the memcg alone or with its subtree (@recursive). */
MGLRU_API void mglru_memcg_counts(const struct mglru_memcg *memcg, bool recursive,
                                  struct mglru_counts *out);

/* Bytes of metadata that the cache holds now: folios, index, shadow entries, tables. */
MGLRU_API uint64_t mglru_cache_metadata_bytes(const struct mglru_cache *cache);

#ifdef __cplusplus
}
#endif
#endif
