/* SPDX-License-Identifier: MIT */
/*
 * Inside of a cache: what the public handles point to. One cache is used by one thread at a time
 * (<mglru/cache.h>), so nothing here is locked.
 *
 * Conservation laws (cache_verify checks them):
 *   charge: usage of all memcgs = folio pages + kernel pages + prepaid stock
 *   every folio stands in the slots of its pages, and on one list, batch or nowhere else
 *   swap: slots in use = swapped pages + swap-cache pages = sum of swap charges + root's
 */
#ifndef CACHE_CACHE_H
#define CACHE_CACHE_H

#include <mglru/cache.h>
#include <mglru/control.h>

#include "cache/index.h"
#include "cache/slab.h"
#include "cache/text.h"
#include "memcg/charge.h"
#include "memcg/memcg.h"
#include "memcg/stat.h"
#include "reclaim/mm.h"
#include "reclaim/reclaim.h"
#include "sync/cpu.h"
#include "sync/lock.h"
#include "sync/atomic.h"

/* Periodic flush of the counters, as the kernel's (mglru-facts 7.5). */
#define CACHE_STAT_FLUSH_NS UINT64_C(2000000000)

/* Amounts that the kernel charges besides pages, in bytes (facts 13.1). */
#define KERNEL_NODE_BYTES 592 /* one node of a page-cache tree */
#define KERNEL_FILE_BYTES 200 /* an open file */
/* Files that the processes of a memcg are taken to have open at once; a trace does not say when
 * they close one. Chosen: three pages at most. */
#define KERNEL_FILES_MAX 64
/* Vma and anon_vma of a process with anonymous memory. Chosen: any amount up to a page gives the
 * recorded charge. */
#define KERNEL_ANON_BYTES 400
/* What a process brings along when it starts, unless options say otherwise: pages of its own that
 * enter the add batch, and page tables. Measured by trace points on 6.12 and 7.3: 23 to 26 entries,
 * 0 or 1 table, by chance of the run (0 where the process maps a file). With the run's own two
 * numbers the model agrees with the kernel access by access on all pread recordings. */
#define PROCESS_START_BATCH 23
#define PROCESS_START_TABLES 1
#define KERNEL_SLAB_LAG_BYTES 4096 /* slab counters lag until a CPU has gathered a page */

/* Dirty file pages of a memcg that start the flusher, and that make the writer wait, in percent
 * of its limit (the kernel's dirty_background_ratio and dirty_ratio). */
#define DIRTY_BACKGROUND_PERCENT 10
#define DIRTY_PERCENT 20
/* Age at which the flusher writes a page, and how often it looks (dirty_expire_centisecs,
 * dirty_writeback_centisecs). */
#define DIRTY_EXPIRE_NS UINT64_C(30000000000)
#define DIRTY_INTERVAL_NS UINT64_C(5000000000)

/* What the threads of a shared cache count of a memcg, by slot of the thread: the last one is
 * shared by all threads beyond. */
#define USE_SLOTS 64u
struct use_slot {
    _Alignas(64) _Atomic uint64_t hits;
    _Atomic uint64_t misses;
    _Atomic uint64_t pages_read;
    _Atomic uint64_t pins; /* taken less given back by this thread: the sum over threads counts */
};

struct mglru_memcg {
    /* Fixed at creation: read by every hit. */
    struct mglru_cache *cache;
    struct memcg *memcg;
    struct use_slot *use_slots; /* [USE_SLOTS]; NULL in a cache of one thread */
    /* A shared cache: written by writers and reclaim on any CPU. */
    _Alignas(64) _Atomic uint64_t shared_dirty; /* dirty pages, with those below */
    _Atomic uint64_t shared_aged;
    _Atomic uint64_t outside;    /* reads without room */
    _Atomic uint64_t verdict[5]; /* pinned, dirty, protected, scanned, pinner at the last OOM */
    /* A cache of one thread, and control calls. */
    _Alignas(64) struct mglru_counts counts; /* of this memcg alone */
    struct mm *mm;                           /* its processes; NULL before the first mapping */
    bool ran;                                /* had an access */
    uint64_t aged;                           /* youngest generations created */
    int64_t kernel_bytes;                    /* small objects charged */
    long kernel_pages;                       /* pages charged for them */
    long table_pages;                        /* page tables */
    long fixed_pages;                        /* kernel_charge FIXED */
    long slab_lag;                           /* bytes not yet in the slab counter */
    struct list_node shadow_leaves;          /* index leaves with shadows alone, oldest first */
    unsigned long shadow_leaf_count;
    unsigned long dirty_pages; /* file pages */
    struct list_node files;    /* struct mglru_file, by memcg_link */
    unsigned files_charged;
    int64_t lookup_bytes; /* of names and inodes, part of kernel_bytes */
    bool known;           /* the program has its handle: mglru_memcg_create or _find gave it */
    unsigned walks;       /* of the program that stand here: mglru_memcg_next */
};

struct mglru_mapping {
    struct page_mapping base; /* first: reclaim knows the mapping by it */
    void *data;               /* of data/ where the cache is shared; fixed at creation */
    _Atomic uint32_t errors;  /* of its store, so far; shared caches alone */
    struct mglru_cache *cache;
    enum mglru_mapping_kind kind;
    uint64_t size_pages; /* 0: unknown */
    char *name;
    struct page_index index;
    bool looked_up;        /* name and inode are charged */
    struct list_node link; /* cache->mappings */
};

/* Sequential readahead of one open file (readahead.c). */
struct readahead {
    uint64_t start;       /* first page of the current window */
    uint32_t size;        /* pages of it */
    uint32_t async_size;  /* reading into its last async_size pages starts the next window */
    unsigned order;       /* folio order of the window */
    unsigned mmap_misses; /* faults that found nothing, less those that did */
    uint64_t asked_first; /* what the access under way asks for: asked_first .. asked_end - 1 */
    uint64_t asked_end;
    uint64_t batch_end; /* one past the pages of it that are in hand */
    uint64_t prev_page; /* last page of the last read call */
    bool has_prev;
    bool in_fault; /* a fault is what brings pages now */
};

_Static_assert(offsetof(struct mglru_memcg, shared_dirty) == 64,
               "what writers and reclaim write is not on the line that every hit reads");
_Static_assert(sizeof(struct use_slot) == 64, "threads share no line of what they count");

struct mglru_file {
    /* Fixed when opened: read by every call. */
    struct mglru_mapping *mapping;
    struct mglru_memcg *memcg;
    struct vma *vma;   /* NULL before the first access through the mapping */
    long kernel_bytes; /* small objects charged for it */
    struct readahead readahead;
    /* A shared cache: written by misses and syncs of any thread. */
    _Alignas(64) _Atomic uint64_t next_page; /* where a sequential reader misses next */
    _Atomic uint32_t window;                 /* pages that the last miss brought */
    _Atomic uint32_t errors_told; /* errors of the mapping that this file's syncs have returned */
    struct list_node memcg_link;
    struct list_node cache_link;
};

_Static_assert(offsetof(struct mglru_file, next_page) % 64 == 0,
               "a miss of one thread does not slow the hits of the others");

/* What makes a cache shared: given by data/, which calls down; NULL for a cache of one thread. */
struct cache_shared {
    const struct reclaim_host *host;
    void *data;               /* of data/ */
    unsigned cpus;            /* numbers to claim */
    void (*stop)(void *data); /* before anything is freed: end threads */
    void (*fini)(void *data); /* the last thing of mglru_cache_destroy */
    /* Usage exceeds memory.high or comes near memory.max: background reclaim should start. */
    void (*over_high)(void *data, struct memcg *memcg);
    /* Nothing clean is left below @memcg: writes dirty pages, giving up the caller's CPU number
     * meanwhile. False: there were none to write. */
    bool (*relieve)(void *data, struct memcg *memcg);
};

/* Memory of the modelled machine, in pages; see machine.c. */
struct machine {
    long pages; /* 0: no end of it */
    long free_min;
    long free_low;
    long free_high;
    long used; /* by folios; counted while there is an end */
};

struct mglru_cache {
    /* Fixed at creation. */
    const struct reclaim_model *model;
    struct memcg_params params;
    struct cache_shared shared; /* shared.host NULL: a cache of one thread */
    struct cpu_claims *claims;
    struct lock_mutex control; /* RANK_CONTROL; shared caches alone */
    uint32_t page_bytes;
    enum mglru_kernel_charge kernel_charge;
    uint64_t kernel_charge_bytes;
    enum mglru_stat_flush stat_flush;
    uint64_t stat_flush_period;
    uint32_t readahead_pages;
    unsigned start_batch; /* see PROCESS_START_BATCH */
    unsigned start_tables;
    char *container; /* options.container; NULL: none */
    void (*on_event)(void *context, const struct mglru_event *event);
    void *on_event_context;

    struct memcg_tree *tree;
    struct reclaim reclaim;
    struct index_pool index_pool;
    struct slab folios;
    struct list_node mappings;
    struct list_node files;
    uint64_t mapping_bytes; /* of mappings, files and their names */

    struct machine machine;
    uint64_t swap_used;  /* slots */
    uint64_t accesses;   /* pages, for the flush by accesses */
    uint64_t next_flush; /* in accesses or ns */
    bool clock_moved;
    struct list_node dirty_leaves; /* index_leaf.dirty_link, oldest first */
    struct list_node writeback_leaves;
    uint64_t next_dirty_look_ns;
    _Atomic bool stopped;      /* by any thread: mglru_cache_stop */
    _Atomic uint32_t controls; /* control sockets (control/) that are open */
};

/* Looked at wherever a call may take long. A store seen late only means some more work. */
static inline bool cache_stopped(const struct mglru_cache *cache)
{
    return MGLRU_UNLIKELY(atomic_load_relaxed(&cache->stopped));
}

static inline struct mglru_memcg *memcg_user(const struct memcg *memcg)
{
    return memcg->user;
}

static inline struct mglru_mapping *folio_mapping(const struct folio *folio)
{
    return container_of(folio->mapping, struct mglru_mapping, base);
}

/* An access asks for a page of @folio. */
static inline void folio_ask(struct folio *folio)
{
    if (MGLRU_UNLIKELY(folio_test(folio, FOLIO_UNASKED)))
        folio_clear(folio, FOLIO_UNASKED);
}

/* Bits of the pages of @folio that lie in the leaf of @page, one of its pages. */
static inline uint64_t folio_leaf_bits(const struct folio *folio, uint64_t page)
{
    uint64_t pages = (uint64_t)folio_pages(folio);
    if (pages >= INDEX_LEAF_PAGES)
        return ~UINT64_C(0);
    return ((UINT64_C(1) << pages) - 1) << (folio->index % INDEX_LEAF_PAGES);
}

/* --- charge.c ------------------------------------------------------------------------------- */

/* Charges pages to @memcg, reclaiming as needed. 0, MGLRU_EOOM, or MGLRU_EINTR instead of a
 * reclaim. */
int cache_charge(struct mglru_cache *cache, struct mglru_memcg *memcg, unsigned pages);
/* The same for readahead, which does without: MGLRU_EAGAIN instead of out of memory. */
int cache_charge_once(struct mglru_cache *cache, struct mglru_memcg *memcg, unsigned pages);
/* Kernel objects of @bytes (negative: freed), page tables. 0 or MGLRU_EOOM. */
int cache_charge_kernel(struct mglru_cache *cache, struct mglru_memcg *memcg, long bytes);
int cache_charge_tables(struct mglru_cache *cache, struct mglru_memcg *memcg, unsigned pages);
void cache_uncharge_tables(struct mglru_cache *cache, struct mglru_memcg *memcg, unsigned pages);
/* True: the structures of new memcgs below @memcg are charged to it. */
bool cache_pays_for_children(const struct mglru_cache *cache, const struct memcg *memcg);
/* First access of a memcg: what its process costs. */
int cache_memcg_runs(struct mglru_cache *cache, struct mglru_memcg *memcg,
                     enum mglru_access_kind first);
/* Remembers what reclaim of @over met when @memcg was refused a page (mglru_memcg_verdict). */
void cache_note_verdict(struct mglru_memcg *memcg, struct memcg *over,
                        const struct reclaim_outcome *outcome);
/* Pins of pages that a memcg of a shared cache pays for itself. */
uint64_t cache_pins(const struct mglru_memcg *memcg);
/* Brings the memcg down to its limits after they were written: memory.max, memory.high. */
void cache_enforce_max(struct mglru_cache *cache, struct memcg *memcg);
void cache_enforce_high(struct mglru_cache *cache, struct memcg *memcg);
void cache_raise_oom(struct mglru_cache *cache, struct memcg *memcg);

/* --- machine.c ------------------------------------------------------------------------------ */

/* @bytes: of all memory, not 0. */
void machine_init(struct machine *machine, uint64_t bytes, uint32_t page_bytes);
/* Makes room for @pages more, by global reclaim. 0, MGLRU_EOOM, MGLRU_EINTR; @once: MGLRU_EAGAIN
 * instead of out of memory. */
int machine_make_room(struct mglru_cache *cache, unsigned pages, bool once);

/* --- folio.c -------------------------------------------------------------------------------- */

/*
 * A folio of 2^@order pages at @index in the mapping of @file, for the pages that the caller has
 * charged; not yet on the lists. Tree nodes that come into being are charged (and may reclaim).
 * *@shadow receives the first shadow entry that stood there, or 0. On MGLRU_EOOM and MGLRU_ENOMEM
 * there is no folio and the pages are uncharged.
 */
int cache_folio_enter(struct mglru_file *file, uint64_t index, unsigned order, struct folio **out,
                      uint64_t *shadow);
/* Uncharges and frees a folio that is in no mapping, list or batch. */
void cache_folio_free(struct mglru_cache *cache, struct folio *folio);
/* Takes a folio out of everything: truncation. */
void cache_folio_drop(struct mglru_cache *cache, struct folio *folio);
/* Makes single pages of a large folio, in its place. False: no memory, and nothing changed. */
bool cache_folio_split(struct mglru_cache *cache, struct folio *folio);
/* Leaf bookkeeping after its contents changed: shadow list, freeing. */
void cache_leaf_settle(struct mglru_cache *cache, struct index_leaf *leaf);
void cache_leaf_free(struct mglru_cache *cache, struct index_leaf *leaf);
/* The page of a new folio had a shadow entry. */
void cache_refault(struct mglru_cache *cache, struct folio *folio, uint64_t shadow, bool in_fault);
void cache_swap_free(struct mglru_cache *cache, struct mglru_memcg *memcg, uint64_t pages);
/* Says that @folio was brought in, to who listens. */
void cache_send_read_event(struct mglru_cache *cache, const struct folio *folio);
static inline void cache_read_event(struct mglru_cache *cache, const struct folio *folio)
{
    if (MGLRU_UNLIKELY(cache->on_event))
        cache_send_read_event(cache, folio);
}
/* Gives back the swap slot that @shadow of an anonymous mapping stands for. */
void cache_swap_forget(struct mglru_cache *cache, uint64_t shadow);
const struct reclaim_host *cache_reclaim_host(void);

/* --- fd.c, fault.c: one page access; 1 miss, 0 otherwise, negative: MGLRU_EOOM, _ENOMEM, _EINTR */

/* Page @i of a read call. */
int cache_read_page(struct mglru_cache *cache, const struct mglru_access *access, uint32_t i);
int cache_write_page(struct mglru_cache *cache, struct mglru_file *file, uint64_t page);
int cache_map_page(struct mglru_cache *cache, struct mglru_file *file, uint64_t page,
                   enum mglru_access_kind kind);
int cache_touch_page(struct mglru_cache *cache, struct mglru_file *file, uint64_t page);

/* --- readahead.c ---------------------------------------------------------------------------- */

/* Page @page is absent and @left pages of the request follow: brings it and what readahead
 * wants. 0 or a negative code. */
int readahead_sync(struct mglru_cache *cache, struct mglru_file *file, uint64_t page,
                   uint32_t left);
/* The same for a fault through a mapping: reads around the page. *@window: more than the page was
 * asked for. */
int readahead_around(struct mglru_cache *cache, struct mglru_file *file, uint64_t page,
                     bool *window);
/* A fault through a mapping found @page in @folio: reads on where it is marked, which is the
 * answer. @folio stays. */
bool readahead_mapped(struct mglru_cache *cache, struct mglru_file *file, struct folio *folio,
                      uint64_t page);
/* Pages that a fault mapped around itself, of one folio. */
struct found_pages {
    uint32_t pages;
    bool faulting; /* the faulting page is one of them */
    bool again;    /* the fault had to bring pages first */
};
/* A fault found pages of @folio: how readahead of the mapping judges itself. */
void readahead_found(const struct mglru_cache *cache, struct mglru_file *file,
                     const struct folio *folio, const struct found_pages *found);
/* Brings one page, no readahead; *@out is its folio, already in the batch of additions. */
int cache_bring_page(struct mglru_cache *cache, struct mglru_file *file, uint64_t page,
                     bool in_fault, struct folio **out);
/* A reader that wants @left pages from @page on reached @folio, which is marked READAHEAD: brings
 * the next window. @page is the folio's first for a read, the faulting one for a fault. */
void readahead_async(struct mglru_cache *cache, struct mglru_file *file, struct folio *folio,
                     uint64_t page, uint32_t left);

/* --- writeback.c ---------------------------------------------------------------------------- */

void writeback_dirty(struct mglru_cache *cache, struct folio *folio, uint64_t page);
void writeback_start(struct mglru_cache *cache, struct memcg *memcg, uint64_t older_than_ns);
void writeback_finish(struct mglru_cache *cache);
void writeback_forget(struct mglru_cache *cache, struct folio *folio);

/* --- cache.c -------------------------------------------------------------------------------- */

void cache_flush_stats(struct mglru_cache *cache);
/* mglru_cache_create for both kinds of caches; @shared NULL: of one thread. */
int cache_create(const struct mglru_cache_options *options, const struct cache_shared *shared,
                 struct mglru_cache **out);
/* Around every control call: one at a time, under a claimed CPU number. */
void cache_enter(struct mglru_cache *cache);
void cache_leave(struct mglru_cache *cache);

static inline bool cache_is_shared(const struct mglru_cache *cache)
{
    return cache->claims != NULL;
}

/* mglru_mapping_create, with what data/ knows the mapping by. */
struct cache_mapping_wish {
    const char *name;
    enum mglru_mapping_kind kind;
    uint64_t size_pages;
    void *data;
};
int cache_mapping_create(struct mglru_cache *cache, const struct cache_mapping_wish *wish,
                         struct mglru_mapping **out);

/* Creates the public side of a memcg of the tree. */
int cache_memcg_attach(struct mglru_cache *cache, struct memcg *memcg);

/* Counts of a memcg and what is below it; between cache_enter and cache_leave. */
void cache_memcg_counts(const struct mglru_memcg *memcg, struct mglru_counts *out);
/* Generations created in the memcg and below it; as above (control.c). */
uint64_t cache_memcg_aged(const struct mglru_memcg *memcg);

/* --- calls by path: found and used in one step, so that nobody removes the memcg between ---- */

/* A control file: of the memcg at @path, or of the cache where @path is NULL. */
struct cache_file_name {
    const char *path;
    const char *name;
};
/* As mglru_memcg_read and mglru_cache_read; @text says what did not fit (control.c). */
int cache_file_read(struct mglru_cache *cache, const struct cache_file_name *file,
                    struct text *text);
/* As mglru_memcg_write and mglru_cache_write (control.c). */
int cache_file_write(struct mglru_cache *cache, const struct cache_file_name *file,
                     const char *bytes, size_t length);
/* As mkdir(2) of a memcg: MGLRU_EEXIST, MGLRU_ENOENT: no parent; else as mglru_memcg_create. */
int cache_memcg_mkdir(struct mglru_cache *cache, const char *path);
/* As rmdir(2). MGLRU_EBUSY: it has children or open files, or the program has its handle. */
int cache_memcg_rmdir(struct mglru_cache *cache, const char *path);
/* One line a live memcg, parents before children, below a line of the names of the columns
 * (list.c). */
void cache_memcg_list(struct mglru_cache *cache, struct text *text);

/* --- verify.c ------------------------------------------------------------------------------- */

/* Walks everything; NULL or the text of the first broken law. */
const char *cache_verify(struct mglru_cache *cache);

#endif
