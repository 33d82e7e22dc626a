/* SPDX-License-Identifier: MIT */
/*
 * Memory cgroups: tree, lifetime, iteration, events, effective protection. What else belongs to a
 * memcg lives beside this file: page_counter.h (limits), charge.h (verdicts), stock.h (prepaid
 * pages), stat.h (counters).
 *
 * Life: created (online) -> memcg_offline (dying: not found by path any more, no children can be
 * made) -> freed when nothing refers to it. What refers: references (memcg_get), children, prepaid
 * pages in a stock, and its own charged pages and swap, which need no reference of their own.
 * The tree's release callback runs just before a memcg is freed.
 *
 * Threads: with options.cpus == 1 a tree belongs to one thread at a time and no locked instruction
 * is used. With more, calls may run together, provided that each CPU number is used by one thread
 * at a time; memcg_tree_create and _destroy run alone.
 */
#ifndef MEMCG_MEMCG_H
#define MEMCG_MEMCG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <mglru/error.h>

#include "base/check.h"
#include "base/list.h"
#include "memcg/page_counter.h"
#include "memcg/params.h"
#include "memcg/rstat.h"
#include "memcg/stat_item.h"
#include "sync/atomic.h"
#include "sync/lock.h"
#include "sync/rcu.h"

/* Nodes of a machine; the public header's limit. */
#define MEMCG_NODES_MAX 8u
/* Largest id: shadow entries and swap entries have 16 bits for it. */
#define MEMCG_ID_MAX 65535u
/* Chosen: 64 names a bucket at MEMCG_ID_MAX, and 8 KiB a tree. */
#define MEMCG_NAME_BUCKETS 1024u
/* Pages that are paid in advance at once (mglru-facts 0). */
#define MEMCG_CHARGE_BATCH 64u
/* The root's and, unless set, every memcg's swappiness. */
#define MEMCG_SWAPPINESS_DEFAULT 60u

struct memcg;
struct memcg_tree;
struct memcg_stock;

enum memcg_event {
    MEMCG_EVENT_LOW,
    MEMCG_EVENT_HIGH,
    MEMCG_EVENT_MAX,
    MEMCG_EVENT_OOM,
    MEMCG_EVENT_OOM_KILL,
    MEMCG_EVENT_OOM_GROUP_KILL,
    MEMCG_EVENT_SOCK_THROTTLED,
    MEMCG_EVENT_SWAP_HIGH,
    MEMCG_EVENT_SWAP_MAX,
    MEMCG_EVENT_SWAP_FAIL,
    MEMCG_EVENT_COUNT
};

/*
 * Counters of one memcg on one CPU. One thread at a time writes value; the flusher writes prev.
 * Values never shrink back to 0: what a flush has taken is value - prev (mglru-facts 7.4).
 */
struct memcg_stat_cpu {
    struct rstat_cpu rstat; /* first: rstat finds it at the block's start */
    struct memcg_stat *owner;
    _Atomic uint32_t updates; /* pages since they were moved to owner->updates; CPU's thread */
    uint32_t threshold;       /* owner is flushable above this many; fixed at creation */
    _Atomic bool settled;     /* queued and flushable: until a flush, updates tell nothing more */
    /* [nodes][MEMCG_STAT_COUNT] values, then as many prev */
    _Alignas(64) _Atomic long values[];
};

/* Counters of one memcg, all CPUs together. */
struct memcg_stat {
    /* Fixed at creation, or changed at offline; read by every update. */
    struct rstat_node rstat;
    _Atomic(char *) target; /* block of CPU 0 that updates go to: own, or a live ancestor's */
    char *blocks;           /* own block of CPU 0 */
    size_t stride;          /* bytes between the blocks of two CPUs */
    unsigned cpus;
    unsigned nodes;
    struct memcg_stat *parent;
    /* [nodes][MEMCG_STAT_COUNT] each; written by flushes under the rstat lock. */
    _Atomic long *state; /* this memcg and below, as of the last flush */
    _Atomic long *local; /* this memcg alone, as of the last flush */
    long *pending;       /* from children, not yet in state */
    _Atomic long *gone;  /* exact amounts of descendants that were freed */
    /* Written by all CPUs: a line of its own. */
    _Alignas(64) _Atomic long updates;
};

/* Shared position of the partial walks of one (root, node) (mglru-facts 6.3). */
struct memcg_iter {
    _Atomic(struct memcg *) position; /* last returned; NULL: the walk begins at the root */
    _Atomic uint32_t generation;      /* completed round trips */
};

struct memcg {
    /* Line 0: read by every charge and update; written at creation, and once at offline. */
    _Alignas(64) struct memcg_tree *tree;
    struct memcg *parent; /* NULL at the root */
    void *reclaim;        /* for reclaim/: its per-node parts; reclaim/ frees it in release */
    void *user;           /* for cache/ */
    uint64_t serial;      /* number of creation: root 1, then 2, ...; never reused */
    uint32_t depth;       /* 0 at the root */
    _Atomic uint32_t id;  /* 1..MEMCG_ID_MAX; 0 once the id was given back */
    _Atomic uint8_t online;
    _Atomic uint8_t swappiness; /* 0..200 */
    _Atomic uint8_t oom_group;
    uint8_t id_turn; /* the tree's when it got its id; fixed */

    struct page_counter memory;
    struct page_counter swap;
    struct memcg_stat stat;

    /* Events: atomic, rare. */
    _Alignas(64) _Atomic uint64_t events[MEMCG_EVENT_COUNT]; /* this memcg and below */
    _Atomic uint64_t events_local[MEMCG_EVENT_COUNT];
    _Atomic uint32_t max_writes; /* writes of memory.max, see memcg_write_max */

    /* Tree: guarded by the tree's lock, except refs. */
    _Atomic long refs;
    struct list_node sibling;  /* among parent->children */
    struct list_node children; /* oldest first, dying ones included */
    char *path;                /* "/" or "/a/b"; fixed */
    const char *name;          /* last part of path */
    struct memcg *bucket_next; /* in tree->names, while online */
    struct memcg_iter iters[MEMCG_NODES_MAX];
    struct rcu_later later; /* of a shared tree: its end */
};

_Static_assert(offsetof(struct memcg, id_turn) < 64, "what every charge reads is one line");
_Static_assert(offsetof(struct memcg, memory) == 64, "counters begin on a line of their own");
_Static_assert(offsetof(struct memcg_stat, updates) % 64 == 0,
               "written by all CPUs: away from what each update reads");
_Static_assert(offsetof(struct memcg_stat_cpu, values) == 64,
               "queueing and threshold fields are the line before the values");
_Static_assert(offsetof(struct memcg, events) % 64 == 0, "events are atomic, on their own lines");

struct memcg_tree {
    /* Fixed at creation. */
    struct memcg *root;
    const struct memcg_params *params;
    unsigned cpus;
    unsigned nodes;
    bool shared;               /* cpus > 1: several threads at once */
    bool recursive_protection; /* mount option memory_recursiveprot */
    int (*attach)(struct memcg *memcg, void *context);
    void (*release)(struct memcg *memcg, void *context);
    void *release_context;
    struct memcg_stock *stock;
    struct rstat_tree rstat;
    /* Guarded by lock. */
    struct lock_spin lock;
    uint64_t next_serial;
    uint32_t id_count;                       /* memcgs that have an id */
    uint32_t id_hint;                        /* where the search begins; one thread: no id below is
                                                free */
    uint8_t id_turn;                         /* times that the search began at 1 again */
    _Atomic(struct memcg *) *ids;            /* [MEMCG_ID_MAX + 1], by id; read without the lock */
    size_t count;                            /* memcgs, dying ones included */
    struct memcg *names[MEMCG_NAME_BUCKETS]; /* online ones by parent and name */
};

/* Zero-initialise, then set what is needed. */
struct memcg_tree_options {
    unsigned cpus;                     /* 0 means 1 */
    unsigned nodes;                    /* 0 means 1 */
    const struct memcg_params *params; /* NULL means memcg_params_ours */
    bool no_recursive_protection;
    /* Called for each memcg but the root before others can see it; its error ends the creation.
     * NULL: who creates a memcg gives it its other parts. */
    int (*attach)(struct memcg *memcg, void *context);
    /* Called just before a memcg is freed, under no lock; frees memcg->reclaim and ->user. */
    void (*release)(struct memcg *memcg, void *context);
    void *release_context; /* for both */
};

/* ---- tree ---- */

/* Creates a tree and its root. *out: NULL on failure. MGLRU_ERANGE (cpus, nodes), MGLRU_ENOMEM. */
int memcg_tree_create(const struct memcg_tree_options *options, struct memcg_tree **out);

/* Frees all memcgs, children first, whatever refers to them. NULL is allowed. */
void memcg_tree_destroy(struct memcg_tree *tree);

/*
 * Creates the memcg @name below @parent. It is online, has one reference of its own (dropped by
 * memcg_offline) and inherits the parent's swappiness. MGLRU_EEXIST: an online child has the name;
 * MGLRU_EINVAL: empty, has '/', is "." or ".."; MGLRU_ENOENT: @parent is dying; MGLRU_ENOSPC: all
 * ids are in use; MGLRU_ENOMEM.
 */
int memcg_create(struct memcg *parent, const char *name, struct memcg **out);

/* Longest path of a memcg, without the NUL (PATH_MAX). */
#define MEMCG_PATH_MAX 4095

/* Whether @path names a place in a tree: starts with '/', parts are not empty, hold no white space
 * and are not "." or "..". */
bool memcg_path_valid(const char *path);

/* As memcg_create by path ("/a/b"), making missing parents; an existing one is returned as it is.
 * MGLRU_EINVAL: not absolute, an empty part, white space. What was made before a failure stays. */
int memcg_create_path(struct memcg_tree *tree, const char *path, struct memcg **out);

/* Finds an online memcg by path. *out is borrowed. MGLRU_ENOENT. */
int memcg_find(struct memcg_tree *tree, const char *path, struct memcg **out);

/*
 * Removes a memcg from sight and drops its own reference: it is dying, and freed (perhaps inside
 * this call) as soon as nothing refers to it. Prepaid pages for it are drained. With params that
 * reparent, the charges of its memory and its counters of present amounts (sizes, not events) are
 * handed to the parent: reclaim/ has moved its folios there before, and uncharges them from the
 * parent later (from the root: nothing, since it is free). Swap stays with the dying memcg.
 * @cpu: the caller's. MGLRU_EBUSY: it has online children; MGLRU_EINVAL: the root; MGLRU_ENOENT:
 * already dying.
 */
int memcg_offline(struct memcg *memcg, unsigned cpu);

/* Whether memcg_offline has not been called. */
static inline bool memcg_online(const struct memcg *memcg)
{
    return atomic_load_relaxed(&memcg->online);
}

static inline bool memcg_is_root(const struct memcg *memcg)
{
    return !memcg->parent;
}

/* Takes a reference; the caller has one, or holds the memcg by a charge or a child. */
void memcg_get(struct memcg *memcg);

/* Takes a reference of a memcg that another lock keeps from being freed. False: it has left the
 * tree and is about to be. Takes the tree's lock. */
bool memcg_try_get(struct memcg *memcg);

/* Drops a reference; may free the memcg and then its dying ancestors. */
void memcg_put(struct memcg *memcg);

/* The memcg that has @id, dying ones included while swap keeps their id; NULL: none. Borrowed: in a
 * tree that is shared it stays readable until the RCU section of the caller ends. */
struct memcg *memcg_by_id(const struct memcg_tree *tree, uint32_t id);

/* Whether a child is online. Takes the tree's lock. */
bool memcg_has_children(const struct memcg *memcg);

/* The nearest ancestor that is online, itself included. */
struct memcg *memcg_live(struct memcg *memcg);

/* Whether @memcg is @root or below it. */
bool memcg_is_descendant(const struct memcg *memcg, const struct memcg *root);

/* ---- iteration ---- */

/*
 * Pre-order walk of the subtree of @root, oldest child first, dying ones included: NULL gives
 * @root, the last gives NULL. Nothing may be created or freed during the walk.
 */
struct memcg *memcg_next(struct memcg *root, struct memcg *prev);

/* One reclaimer's walk; zero-initialise and set node. */
struct memcg_iter_cookie {
    unsigned node;
    uint32_t generation;
};

/*
 * As memcg_next, but the returned memcg is referenced and @prev's reference is dropped, so that
 * the tree may change meanwhile. With a @cookie reclaimers of the same (root, cookie->node) share
 * one position: each takes the next memcg, and a walk ends (NULL) after a full round trip.
 * Without, the walk is the caller's own and complete. Leave early through memcg_iter_break.
 */
struct memcg *memcg_iter_next(struct memcg *root, struct memcg *prev,
                              struct memcg_iter_cookie *cookie);

/* Ends a walk at @memcg: drops its reference. NULL is allowed. */
void memcg_iter_break(struct memcg *memcg);

/* ---- events, protection ---- */

/* Counts @event on @memcg (local) and on it and its ancestors but the root (hierarchical). */
void memcg_raise(struct memcg *memcg, enum memcg_event event);

/* Count of an event in the subtree, or of the memcg alone. */
uint64_t memcg_events(const struct memcg *memcg, enum memcg_event event);
uint64_t memcg_events_local(const struct memcg *memcg, enum memcg_event event);

/*
 * Computes the effective min and low of @memcg for a reclaim of @root. Right only if the ancestors
 * below @root were computed before in this reclaim: walk parents first.
 */
void memcg_protection_update(struct memcg *root, struct memcg *memcg);

/* As above for the whole path from @root down to @memcg (row 23). */
void memcg_protection_update_path(struct memcg *root, struct memcg *memcg);

/* Whether reclaim of @target has to leave @memcg alone: effective min (low) covers its usage.
 * False for the root and for the target itself. */
static inline bool memcg_below_min(const struct memcg *target, const struct memcg *memcg)
{
    return memcg != target && !memcg_is_root(memcg) &&
           atomic_load_relaxed(&memcg->memory.emin) >= page_counter_read(&memcg->memory);
}

static inline bool memcg_below_low(const struct memcg *target, const struct memcg *memcg)
{
    return memcg != target && !memcg_is_root(memcg) &&
           atomic_load_relaxed(&memcg->memory.elow) >= page_counter_read(&memcg->memory);
}

/* Checks the tree's invariants (aborts when broken); nothing else may run. */
void memcg_tree_verify(struct memcg_tree *tree);

#endif
