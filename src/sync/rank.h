/* SPDX-License-Identifier: MIT */
/*
 * The order of all locks. A thread may take a lock only if its rank is greater than the rank of
 * every lock that it holds (lock_spin_acquire_nested relaxes this to "equal" for the one documented
 * case). Debug builds check each acquisition and name both locks (lock.c). docs/locks.md is
 * generated from the table below by scripts/gen-locks; the text in each row is the rule.
 *
 * RANK_ROW(name, "text of the lock", "what it guards", "notes on nesting")
 */
#ifndef SYNC_RANK_H
#define SYNC_RANK_H

/* clang-format off */
#define RANK_TABLE(RANK_ROW)                                                                       \
    RANK_ROW(CONTROL, "control", "memcgs, mappings and files of one shared cache",                 \
             "outermost: one control call at a time, limits are enforced under it")                \
    RANK_ROW(SYNC, "mapping sync", "one sync of one mapping at a time",                            \
             "held while the store writes")                                                        \
    RANK_ROW(SPARE, "spare frame", "the frame of reads that are served outside the limit",         \
             "held while the store reads")                                                         \
    RANK_ROW(SWITCH, "lru switch", "turning MGLRU on and off, one writer at a time",               \
             "outermost: the switch takes every other lock of reclaim")                            \
    RANK_ROW(LIMIT, "memcg limits", "writes of limits of one tree",                                \
             "held while reclaim brings usage below a new limit")                                  \
    RANK_ROW(OOM, "memcg oom", "choice of a victim of one tree", "never inside an lru lock")       \
    RANK_ROW(STOCK_DRAIN, "stock drain", "one drainer of all CPUs at a time",                      \
             "try-lock only; a loser skips the drain")                                             \
    RANK_ROW(MMAP, "mmap", "regions of one address space", "try-lock only in walks")               \
    RANK_ROW(PAGE_TABLE, "page table", "entries of one page-table page",                           \
             "try-lock only in walks; no lru lock under it when a walk object exists")             \
    RANK_ROW(MM_LIST, "mm list", "mm list of one memcg and the walk positions in it",              \
             "taken alone")                                                                        \
    RANK_ROW(OBJCG, "objcg", "owner of the objects of a memcg while it is reparented",             \
             "outside both lru locks of a reparenting")                                            \
    RANK_ROW(MAPPING, "mapping", "index, dirty pages and counts of one mapping with frames",       \
             "never together with an lru lock")                                                    \
    RANK_ROW(DIRTY, "dirty mappings", "the list of mappings with dirty pages",                     \
             "inside a mapping lock")                                                              \
    RANK_ROW(SHADOWS, "shadow leaves", "index leaves that hold shadow entries alone",              \
             "leaf of the mapping locks")                                                          \
    RANK_ROW(LRU, "lru", "lists, generations and sizes of one lruvec",                             \
             "nested only when reparenting: child, then parent")                                   \
    RANK_ROW(MEMCG_LRU, "memcg lru", "memcg generations of one node",                              \
             "never under an lru lock: a rotation follows the unlock")                             \
    RANK_ROW(MEMCG_TREE, "memcg tree", "children lists, ids and last references of one tree",      \
             "short; nothing is allocated under it")                                               \
    RANK_ROW(STOCK, "stock", "cached pages of one CPU",                                            \
             "try-lock by its owner, waited for by a drainer only")                                \
    RANK_ROW(RSTAT, "rstat", "updated tree of one rstat tree",                                     \
             "leaf but for the flush callback; released between CPUs")                             \
    RANK_ROW(STORE_CACHE, "store write cache", "what a faulty store holds until a sync",           \
             "held during transfers of the store below it; never under a spin lock")               \
    RANK_ROW(STORE_FAULTS, "store faults", "delayed requests and the chances of a faulty store",   \
             "short; no request completes under it")                                               \
    RANK_ROW(STORE_RING, "store ring", "submission side and free places of an io_uring",           \
             "never under a spin lock: the kernel may start the I/O inside")                       \
    RANK_ROW(STORE_SYNC, "store sync", "one sync of a memory store at a time",                     \
             "its pages' locks are taken under it one by one")                                     \
    RANK_ROW(STORE_PAGE, "store page", "pages of a memory store while they are copied", "leaf")    \
    RANK_ROW(ARENA_MAGAZINE, "arena magazine", "free frames of one thread",                        \
             "by its owner, and by one who finds the pool empty, one magazine at a time")          \
    RANK_ROW(ARENA_POOL, "arena pool", "free frames of an arena, its limit", "leaf")               \
    RANK_ROW(SLOT, "thread slots", "numbers of threads", "leaf")
/* clang-format on */

#define RANK_ENUM(name, text, guards, nesting) RANK_##name,
enum lock_rank { RANK_NONE = 0, RANK_TABLE(RANK_ENUM) RANK_COUNT };
#undef RANK_ENUM

#endif
