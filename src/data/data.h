/* SPDX-License-Identifier: MIT */
/*
 * Inside of a cache with frames (<mglru/data.h>): how a page is found, filled, changed, written and
 * taken, with many threads at it.
 *
 * A folio stands for a frame: folio n of data->folios is the descriptor of frame n of the arena,
 * for ever, so a pointer to it is always readable; what it is now, its hold tells (reclaim/hold.h).
 *
 *            mapping lock            lru lock              hold of the folio
 *   insert   slot := folio                                 born: WRITER, 2 references
 *   fill                                                   WRITER until the store has answered
 *   add                              batch drained         batch's reference ends
 *   read     -                       -                     version before = version after
 *   pin      -                       -                     readers + 1, or WRITER
 *   isolate                          off the list          isolator's reference
 *   evict    slot := shadow                                frozen, version + 1
 *   cut      slot := 0                                     index's reference ends
 *
 * Laws, checked by data_verify when nothing runs:
 *   frames used = folios in slots + orphans (cut while somebody held them) + the spare one
 *   charged pages of memcgs = frames used + prepaid stock
 *   dirty bits of a leaf = FOLIO_DIRTY of the folios in its slots
 * A mapping that is uncut has no page that lies beyond its end as a whole, and the last one's bytes
 * beyond it are zeros, whatever the store says.
 *
 * Order of locks: control > mapping > shadow leaves; an lru lock is never held with these. Nothing
 * sleeps, and no store is called, under any of them or under a CPU claim.
 */
#ifndef DATA_DATA_H
#define DATA_DATA_H

#include <mglru/data.h>

#include "cache/arena.h"
#include "cache/cache.h"
#include "os/os.h"
#include "reclaim/hold.h"
#include "sync/rcu.h"
#include "sync/slot.h"

#define LEAF_PAGES 64u
#define LEAF_SHIFT 6
/* Pages that one write to a store takes at most (chosen: 256 KiB of 4 KiB pages). */
#define FLUSH_PAGES 64u
/* All pages are of one zone, as in caches without frames. */
#define DATA_ZONE UINT64_C(2)
#define FLUSHERS_MAX 16u

struct data_map;

/* 64 pages of a mapping. Slots are read under RCU and written under the mapping's lock; the rest
 * is guarded by that lock. */
struct data_leaf {
    uint64_t chunk; /* page >> LEAF_SHIFT; fixed */
    struct data_map *map;
    _Atomic uint64_t slots[LEAF_PAGES]; /* 0, folio, or shadow << 1 | 1 */
    uint8_t folios;                     /* slots that hold folios */
    uint8_t shadows;
    bool gone;         /* out of the table, waits for its readers */
    uint16_t flushers; /* who works on it without the lock: it is freed after the last of them */
    uint64_t dirty;    /* bit a page: to be written */
    uint64_t unsynced; /* bit a page: written, no sync of the store has begun since */
    uint64_t syncing;  /* bit a page: written before the sync that is going on */
    uint64_t dirty_since_ns;
    struct list_node dirty_link;
    struct list_node sync_link;     /* map->sync_leaves */
    struct list_node unsynced_link; /* map->unsynced_leaves */
    struct list_node shadow_link;   /* data->shadow_leaves; guarded by data->shadow_lock */
    struct rcu_later later;
};

/* Leaves of a mapping by chunk: open addressing, at most half full. Readers may miss a leaf that
 * is being moved; who misses asks again under the lock. */
struct data_table {
    struct rcu_later later;
    uint64_t size; /* a power of two */
    _Atomic(struct data_leaf *) leaves[];
};

struct data_map {
    /* Line 0: read by every look-up. Fixed at creation, but for what grows. */
    struct mglru_mapping *mapping;
    struct data *data;
    struct mglru_store *store; /* NULL: purgeable */
    _Atomic(struct data_table *) table;
    _Atomic uint64_t bytes; /* readable size; grows under the lock */
    _Atomic bool uncut;     /* the store may be longer: it refused a truncation */
    /* Under the lock. */
    _Alignas(64) struct lock_spin lock; /* RANK_MAPPING */
    uint64_t leaf_count;
    struct list_node dirty_leaves; /* data_leaf.dirty_link, roughly oldest first */
    uint64_t dirty_leaf_count;
    struct list_node sync_leaves;     /* data_leaf.sync_link: what the sync that runs has to do */
    struct list_node unsynced_leaves; /* data_leaf.unsynced_link */
    uint32_t flips;                   /* changes of the phase of flights, which is its low bit */
    uint64_t hole_first;              /* a punch is going on: no page comes into hole_first .. */
    uint64_t hole_last;               /* .. hole_last meanwhile; first > last: none is */
    uint32_t discards;                /* punches and truncations of the store that are going on */
    bool lost;                        /* since the last good sync unsynced pages left the cache, or
                                         the store was punched or cut: neither can be done again */
    bool failed;                      /* a sync failed after that: for ever */
    struct list_node dirty_map_link;  /* data->dirty_maps; guarded by data->dirty_lock */
    /* Anybody. */
    _Alignas(64) _Atomic uint32_t flights[2]; /* writes to the store that are going on, by phase */
    _Atomic uint32_t users;                   /* flushers that took it from data->dirty_maps */
    _Atomic uint32_t holes;                   /* punches that ended */
    struct lock_mutex sync;                   /* RANK_SYNC: one sync of the store at a time */
    struct rcu_later later;
};

_Static_assert(offsetof(struct data_map, lock) == 64,
               "misses and flushes of other threads leave the line of look-ups alone");
_Static_assert(offsetof(struct data_map, flights) % 64 == 0,
               "flights of flushers are counted off the line of the lock");

/* What background threads wait for. */
struct bell {
    _Atomic uint32_t rings;
    _Atomic uint32_t sleepers;
};

struct data {
    /* Fixed at creation. */
    struct mglru_cache *cache;
    struct arena *arena;
    struct folio *folios; /* one a frame */
    size_t folio_bytes;
    uint32_t frames; /* but for the spare one */
    uint32_t spare; /* the frame of a page that is served outside the limit when no other is left */
    unsigned frame_shift;
    bool no_threads;
    bool strict_limits;
    uint32_t readahead_pages;
    uint32_t dirty_percent;
    uint32_t background_percent;
    uint64_t flush_after_ns;
    uint64_t start_ns; /* of the machine's clock, where the cache's begins */
    unsigned flusher_count;
    struct os_thread *flushers[FLUSHERS_MAX];
    struct os_thread *reclaimer;
    _Atomic bool stop; /* set once */

    struct lock_mutex spare_lock; /* RANK_SPARE: who has the spare frame */

    /* Lists that all mappings share. */
    _Alignas(64) struct lock_spin shadow_lock; /* RANK_SHADOWS */
    struct list_node shadow_leaves;            /* leaves with shadows alone, oldest first */
    _Atomic uint64_t shadow_count;             /* written under the lock */
    _Alignas(64) struct lock_spin dirty_lock;  /* RANK_DIRTY */
    struct list_node dirty_maps;
    uint64_t dirty_map_count;

    _Alignas(64) _Atomic bool urgent; /* reclaim waits for clean pages: flushers write all */
    struct bell flush_bell;
    struct bell clean_bell; /* rung by flushers when pages became clean */
    struct bell reclaim_bell;
    struct bell write_bell;  /* a write to a store has ended */
    _Atomic uint32_t writes; /* that are going on */
};

static inline struct data *cache_data(const struct mglru_cache *cache)
{
    return cache->shared.data;
}

/* Of all mappings. */
static inline uint64_t data_dirty_pages(const struct data *data)
{
    return atomic_load_relaxed(&memcg_user(data->cache->tree->root)->shared_dirty);
}

static inline struct data_map *mapping_map(const struct mglru_mapping *mapping)
{
    return mapping->data;
}

static inline struct data_map *folio_map(const struct folio *folio)
{
    return container_of(folio->mapping, struct mglru_mapping, base)->data;
}

static inline uint32_t folio_frame(const struct data *data, const struct folio *folio)
{
    return (uint32_t)(folio - data->folios);
}

static inline void *folio_data(const struct data *data, const struct folio *folio)
{
    return arena_frame(data->arena, folio_frame(data, folio));
}

static inline bool slot_has_folio(uint64_t slot)
{
    return slot && !(slot & 1);
}

static inline struct folio *slot_get_folio(uint64_t slot)
{
    return (struct folio *)(uintptr_t)slot;
}

static inline void map_lock(struct data_map *map) MGLRU_ACQUIRES(map->lock)
{
    lock_spin_acquire(&map->lock);
}

static inline void map_unlock(struct data_map *map) MGLRU_RELEASES(map->lock)
{
    lock_spin_release(&map->lock);
}

/* --- index.c: where pages are --------------------------------------------------------------- */

/* Where the search for a leaf begins. */
static inline uint64_t table_home(const struct data_table *table, uint64_t chunk)
{
    return (chunk + (chunk >> 16) * 0x9E3779B97F4A7C15u) & (table->size - 1);
}

/* The leaf of a page, under RCU or the lock. Under RCU NULL may be wrong. */
static inline struct data_leaf *map_find(const struct data_map *map, uint64_t page)
{
    const struct data_table *table = rcu_load(&map->table); /* pairs with table_grow */
    uint64_t chunk = page >> LEAF_SHIFT;
    if (MGLRU_UNLIKELY(!table))
        return NULL;
    for (uint64_t i = table_home(table, chunk);; i = (i + 1) & (table->size - 1)) {
        /* Acquire: pairs with the stores of leaves in index.c. */
        struct data_leaf *leaf = atomic_load_acquire(&table->leaves[i]);
        if (!leaf || leaf->chunk == chunk)
            return leaf;
    }
}

static inline uint64_t map_slot(const struct data_leaf *leaf, uint64_t page)
{
    /* Acquire: pairs with leaf_set. */
    return leaf ? atomic_load_acquire(&leaf->slots[page % LEAF_PAGES]) : 0;
}

/* How a new page is made. Where it has to lie is looked at together with the insertion: so a page
 * is never read from the store behind the back of a truncation, nor made of zeros where somebody
 * wrote meanwhile. */
enum page_how {
    PAGE_ONCE = 1,   /* gives up early: readahead */
    PAGE_INSIDE = 2, /* of the mapping's size only */
    PAGE_BEYOND = 4, /* beyond it only */
    /* Beyond any limit, never on a list: its maker takes it out before he lets go of it. */
    PAGE_OUTSIDE = 8,
    PAGE_SPARE = 16 /* in the spare frame; the caller holds spare_lock */
};

/* Whether a folio stands at @page at this moment. */
static inline bool page_is_there(const struct data_map *map, uint64_t page)
{
    rcu_enter();
    bool there = slot_has_folio(map_slot(map_find(map, page), page));
    rcu_leave();
    return there;
}

/*
 * Puts a new folio at its page. 0: it is there, *@shadow is what stood there or 0; MGLRU_EEXIST:
 * another folio stands there; MGLRU_ERANGE: the page does not lie where @how wants it; MGLRU_EBUSY:
 * it is being punched; MGLRU_ENOMEM. Takes the lock.
 */
int map_insert(struct data_map *map, struct folio *folio, unsigned how, uint64_t *shadow);
/* Under the lock: the slot of @page becomes @value (a shadow: it is evicted; or 0); the folio loses
 * its dirty bits. The leaf may be freed. */
void map_remove(struct data_map *map, struct data_leaf *leaf, uint64_t page, uint64_t value)
    MGLRU_REQUIRES(map->lock);
/* Under the lock: a flusher is done with a leaf. */
void map_leaf_put(struct data_map *map, struct data_leaf *leaf) MGLRU_REQUIRES(map->lock);
/* After removals, without the lock: keeps leaves of shadows to an eighth of the frames. */
void map_trim(struct data *data);
/* Frees the table and the leaves, which hold shadows alone; nobody uses the mapping. */
void map_fini(struct data_map *map);

/* --- pages.c: birth and end of folios ------------------------------------------------------- */

/*
 * Makes a folio for @page, charged to the file's memcg: held as WRITER, any content. Reclaims;
 * writes dirty pages when nothing else helps, but with PAGE_ONCE. *@out is NULL and the result 0
 * where a folio stands there already. MGLRU_EOOM, _ENOMEM, _EAGAIN (PAGE_ONCE), _ERANGE: it does
 * not lie where @how, a set of enum page_how, wants it.
 */
int page_make(struct mglru_file *file, uint64_t page, unsigned how, struct folio **out);
/*
 * Makes pages @page .. @page + @most - 1 (at most FLUSH_PAGES) as far as they are absent and lie in
 * the mapping, and reads them from the store. *@out: the first, held as WRITER; NULL and 0: another
 * else brings it at this moment. @once: all of it is readahead. Errors of page_make and of the
 * store; MGLRU_ERANGE: @page does not lie in the mapping.
 */
int page_read_in(struct mglru_file *file, uint64_t page, uint32_t most, bool once,
                 struct folio **out);
/* A page held as WRITER; raw: it was absent and has any content. */
struct data_page {
    struct folio *folio;
    bool raw;
};
/* Becomes the writer of @page, brought if absent; @overwrite: without content. */
int page_hold_write(struct mglru_file *file, uint64_t page, bool overwrite, struct data_page *out);
uint32_t page_window(struct mglru_file *file, uint64_t page);
/* Adds to the hits of the memcg; a negative amount corrects what this thread has added. */
void page_count_hits(struct mglru_memcg *user, uint64_t hits);
/* Adds to the misses of the memcg, and to the pages that the store gave. */
void page_count_misses(struct mglru_memcg *user, uint64_t misses, uint64_t pages_read);
/* Adds to the pins of the memcg that pays for the folio, or takes from them (a negative amount):
 * its pinner, before he lets go of it. */
void page_count_pins(const struct folio *folio, uint64_t pins);
/* The writer of @folio takes it out of its mapping, if it still stands there. */
void page_discard(struct data *data, struct folio *folio);
/* The last reference went. Under a claim / with a claim of its own. */
void page_dispose(struct data *data, struct folio *folio);
void page_dispose_claiming(struct data *data, struct folio *folio);
/* Where what a store says of a page that stands in its slot ends, and zeros begin. */
static inline uint64_t map_end(const struct data_map *map)
{
    /* Acquire: pairs with cut_store; a read of the store that follows finds it cut. */
    return atomic_load_acquire(&map->uncut) ? atomic_load_relaxed(&map->bytes) : UINT64_MAX;
}
/* Its writer zeroes the bytes of a page beyond @end. */
void page_zero_from(const struct data *data, const struct folio *folio, uint64_t end);
/* Around a punch or truncation of the store. */
void discard_begin(struct data_map *map);
void discard_end(struct data_map *map);
/* Cuts the store of a mapping that is uncut: before the last page or one beyond is written, before
 * the mapping grows, and for a sync. The error of the store. No lock or claim. */
int cut_again(struct data_map *map);
/* Makes first .. last a hole, into which no page comes; waits for other holes. Ends it. Waits for
 * the end of the hole in which a page was refused. No lock or claim. */
void hole_begin(struct data_map *map, uint64_t first, uint64_t last);
void hole_end(struct data_map *map);
void hole_wait(struct data_map *map, uint64_t page);
/* Takes the pages first .. last out of the mapping: all of them, whoever holds them, or only clean
 * ones that nobody uses. Returns how many. */
uint64_t page_cut(struct data_map *map, uint64_t first, uint64_t last, bool only_idle);
const struct reclaim_host *page_host(void);

/* --- wait.c: readers and writers of one page ------------------------------------------------ */

enum hold_result {
    HOLD_TAKEN,
    HOLD_GONE, /* the folio does not stand in the slot (any more): look again */
    HOLD_BUSY, /* others have it: hold_wait, and look again */
    HOLD_FULL  /* too many readers */
};

/*
 * Joins the readers of a folio that was found in @slot, or becomes its writer. Under RCU or the
 * mapping's lock; never waits. *@seen: for hold_wait.
 */
enum hold_result hold_read(struct data *data, struct folio *folio, const _Atomic uint64_t *slot,
                           uint64_t *seen);
enum hold_result hold_write(struct data *data, struct folio *folio, const _Atomic uint64_t *slot,
                            uint64_t *seen);
/* Sleeps until the hold is no longer *as seen* in what kept the caller away. Not under RCU, a lock
 * or a claim. */
void hold_wait(struct folio *folio, uint64_t seen);
/*
 * Looks @page up and joins its readers, or becomes its writer (@writes); never waits. *@folio is
 * NULL where none stands; else, unless HOLD_TAKEN, page_hold_again before the next try.
 */
enum hold_result page_hold(struct data_map *map, uint64_t page, bool writes, struct folio **folio,
                           uint64_t *seen);
/* Waits for whoever has the page, or lets who takes it out of its slot go on. As hold_wait. */
void page_hold_again(struct folio *folio, enum hold_result result, uint64_t seen);
/* Ends them; may dispose of the folio. No claim, no lock. The version moves with a write's end. */
void hold_end_read(struct data *data, struct folio *folio);
void hold_end_write(struct data *data, struct folio *folio);
/* The writer becomes a reader. */
void hold_downgrade(struct folio *folio);

/* --- dirty.c, flush.c: to the store --------------------------------------------------------- */

/* The writer of @folio changed it; the mapping is readable up to @bytes at least. Neither counts
 * if the folio was cut out of it. No claim is held. */
void dirty_set(struct data *data, struct folio *folio, uint64_t bytes);
/* Under the mapping's lock and a claim: @folio, in @leaf, is clean or gone. */
void dirty_clear(struct data_map *map, struct data_leaf *leaf, struct folio *folio)
    MGLRU_REQUIRES(map->lock);

/* Under the same: it is dirty after all. */
void dirty_restore(struct data_map *map, struct data_leaf *leaf, struct folio *folio)
    MGLRU_REQUIRES(map->lock);

/* What a flush looks at. */
struct flush_range {
    uint64_t first;
    uint64_t last;
    uint64_t most;          /* pages */
    uint64_t older_than_ns; /* leaves that became dirty later are left alone */
    bool waits;             /* a sync: also pages that are being changed now, whatever their age */
};
/* Writes what is dirty in the range; each page at most once. *@error: of the store, which ends the
 * flush. Returns the pages written. No lock, claim or RCU section. */
uint64_t flush_map(struct data_map *map, const struct flush_range *range, int *error);
/* Writes up to @most dirty pages of any mappings that became dirty before @older_than_ns. */
uint64_t flush_some(struct data *data, uint64_t most, uint64_t older_than_ns);
/* The writer of @folio asks whether the folio's memcg, or the cache, has too many dirty pages; it
 * wakes the flushers long before. Not NULL, but the memcg with a reference: it owes flush_throttle
 * after it let go of the folio. */
struct mglru_memcg *flush_throttles(struct data *data, const struct folio *folio);
/* Waits until the memcg has few enough dirty pages, for a bounded time, or writes some where there
 * are no flushers. Drops the reference. No lock, claim or RCU section. */
void flush_throttle(struct data *data, struct mglru_memcg *user);
/* Waits until all writes to the store that were going on have ended. */
void flush_wait(struct data_map *map);
/* Waits until no flusher has the mapping, which has no dirty pages. */
void flush_wait_users(struct data_map *map);
/* Writes the range and syncs the store; the error of this attempt. */
int sync_map(struct data_map *map, uint64_t first, uint64_t last);

/* --- background.c --------------------------------------------------------------------------- */

int background_start(struct data *data);
void background_stop(struct data *data);
/* Puts what waits in the batches of all CPUs onto the lists, and waits for those who reclaim now.
 * False: there was nothing and nobody. Without a claim. */
bool background_drain(struct data *data);
void bell_ring(struct bell *bell);
/* Waits for a ring after the number @seen, at most @timeout_ns. */
void bell_wait(struct bell *bell, uint32_t seen, uint64_t timeout_ns);
void background_over_high(void *data, struct memcg *memcg);
bool background_relieve(void *data, struct memcg *memcg);

/* --- verify.c ------------------------------------------------------------------------------- */

/* Walks everything while nothing runs; NULL or the text of the first broken law. */
const char *data_verify(struct mglru_cache *cache);

#endif
