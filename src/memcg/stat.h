/* SPDX-License-Identifier: MIT */
/*
 * Counting into a memcg and reading it back (mglru-facts 7.4, 7.5).
 *
 * Three views of a counter:
 *   exact    sum of what was added, at once; per-CPU values are never reset, so it is a plain sum
 *   flushed  as of the last flush, the subtree included: what the kernel's classic LRU decides by
 *   local    the memcg without its descendants
 * An update costs an add to the CPU's own value, and a queueing in rstat and a threshold count
 * that are both skipped, by one test, once they are done until the next flush.
 *
 * Threads: memcg_stat_add from the thread that owns @cpu; all readers from any thread.
 * Error bound of the flushed view: everything since the last flush; memcg_stat_flush_if_needed
 * leaves at most 64 pages of updates per CPU unflushed.
 */
#ifndef MEMCG_STAT_H
#define MEMCG_STAT_H

#include "memcg/memcg.h"

/* For node arguments of readers: the sum over all nodes. */
#define MEMCG_ALL_NODES (~0u)

/* Updates of one CPU that are moved to the shared sum at once; flushable is this many per CPU. */
#define MEMCG_STAT_BATCH 64u

/* What memcg_stat_add does out of line: queues @block and counts towards the thresholds. */
void memcg_stat_tell(struct memcg_stat_cpu *block, unsigned cpu, enum memcg_stat_item item,
                     long delta);

/*
 * Adds @delta (pages, bytes or events, as the item's unit says) on @cpu and @node. A dying memcg's
 * updates go to its nearest live ancestor where the model has it so. A CPU or node out of range
 * (row 40) is a programmer error: refused without touching memory.
 */
static inline void memcg_stat_add(struct memcg *memcg, unsigned cpu, unsigned node,
                                  enum memcg_stat_item item, long delta)
{
    struct memcg_stat *stat = &memcg->stat;
    if (MGLRU_NEVER(cpu >= stat->cpus || node >= stat->nodes))
        return;
    /* Acquire: pairs with the release in memcg_stat_redirect. */
    char *blocks = atomic_load_acquire(&stat->target);
    struct memcg_stat_cpu *block = (struct memcg_stat_cpu *)(void *)(blocks + cpu * stat->stride);
    atomic_add_owner(&block->values[node * MEMCG_STAT_COUNT + item], delta);
    if (MGLRU_UNLIKELY(!atomic_load_relaxed(&block->settled)))
        memcg_stat_tell(block, cpu, item, delta);
}

/* Exact amount of the memcg alone, all nodes; never negative. O(cpus * nodes). */
long memcg_stat_local_exact(const struct memcg *memcg, enum memcg_stat_item item);

/* Exact amount of the memcg alone on one node (or MEMCG_ALL_NODES); never negative. */
long memcg_stat_local_node_exact(const struct memcg *memcg, unsigned node,
                                 enum memcg_stat_item item);

/* Exact amount of the memcg and its subtree; never negative. O(descendants * cpus * nodes). */
long memcg_stat_exact(struct memcg *memcg, unsigned node, enum memcg_stat_item item);

/* Amount of the memcg and its subtree as of the last flush; never negative. */
long memcg_stat_flushed(const struct memcg *memcg, unsigned node, enum memcg_stat_item item);

/* Amount of the memcg alone as of the last flush; never negative. */
long memcg_stat_local_flushed(const struct memcg *memcg, unsigned node, enum memcg_stat_item item);

/* Brings the flushed view of the subtree of @memcg up to date. */
void memcg_stat_flush(struct memcg *memcg);

/* Whether enough happened since the last flush to make a synchronous one due. */
bool memcg_stat_flushable(const struct memcg *memcg);

/* Flushes if memcg_stat_flushable; returns whether it did. */
bool memcg_stat_flush_if_needed(struct memcg *memcg);

/*
 * Value of a line for the subtree, in the unit that memory.stat shows (bytes, or a number).
 * @exact: exact view, else flushed view. @page_bytes: size of a page.
 */
uint64_t memcg_stat_line_value(struct memcg *memcg, const struct memcg_stat_line *line,
                               unsigned node, bool exact, size_t page_bytes);

/* One cell of a memcg's counters on one CPU. */
struct memcg_stat_place {
    unsigned cpu;
    unsigned node;
    enum memcg_stat_item item;
};

/*
 * Moves @amount of one counter from @from to @to, as reparenting does with sizes (rows 25, 41);
 * sums of common ancestors stay as they are. By the thread that owns the place's CPU.
 */
void memcg_stat_move(struct memcg *from, struct memcg *to, struct memcg_stat_place place,
                     long amount);

/* Moves all present amounts (not events) of @from alone to @to; reparenting. @cpu: the caller's. */
void memcg_stat_reparent(struct memcg *from, struct memcg *to, unsigned cpu);

/* Life of the part; memcg.c calls them. MGLRU_ENOMEM. */
int memcg_stat_init(struct memcg *memcg);
void memcg_stat_exit(struct memcg *memcg);

/* Adds the exact amounts of @memcg and of what was freed below it to its parent's gone amounts. */
void memcg_stat_bequeath(struct memcg *memcg);

/* Sends further updates of @memcg and of its dying descendants to the live ancestor @to. */
void memcg_stat_redirect(struct memcg *memcg, struct memcg *to);

/* Flush callback of the tree's rstat. */
rstat_flush_fn memcg_stat_flush_cpu;

#endif
