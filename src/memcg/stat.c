/* SPDX-License-Identifier: MIT */
/*
 * Folding and reading of memcg counters.
 *
 * Conservation, when nobody is inside a call: for each node and item
 *   1. exact(m) = sum over CPUs of values + gone(m) + sum of exact(child)
 *   2. state(m) = exact(m) - (values - prev of the subtree) - pending of the subtree
 *   3. after a flush of m: state(m) = exact(m)
 * Lock: the tree's rstat lock guards prev, pending and the writes of state and local.
 */
#include "memcg/stat.h"

#include <stdlib.h>
#include <string.h>

static size_t row_count(const struct memcg_stat *stat)
{
    return (size_t)stat->nodes * MEMCG_STAT_COUNT;
}

static struct memcg_stat_cpu *own_block(const struct memcg_stat *stat, unsigned cpu)
{
    return (struct memcg_stat_cpu *)(void *)(stat->blocks + cpu * stat->stride);
}

static long not_negative(long value)
{
    return value < 0 ? 0 : value;
}

/* Amounts in pages, anything that is not nothing counting at least 1 (mglru-facts 7.5). */
static long update_pages(enum memcg_stat_item item, long delta)
{
    long amount = delta < 0 ? -delta : delta;
    if (memcg_stat_infos[item].unit != MEMCG_STAT_BYTES || !amount)
        return amount;
    return amount < 4096 ? 1 : amount / 4096;
}

/*
 * Counts the update for the memcg and its ancestors, up to the first that is flushable: the ones
 * above it have seen at least as much.
 */
static void count_updates(struct memcg_stat_cpu *block, unsigned cpu, enum memcg_stat_item item,
                          long delta)
{
    long pages = update_pages(item, delta);
    for (struct memcg_stat *stat = block->owner; stat; stat = stat->parent) {
        struct memcg_stat_cpu *own = own_block(stat, cpu);
        if (atomic_load_relaxed(&stat->updates) > (long)own->threshold)
            return;
        long sum = (long)atomic_load_relaxed(&own->updates) + pages;
        if (sum >= (long)MEMCG_STAT_BATCH) {
            if (stat->cpus > 1)
                atomic_add_relaxed(&stat->updates, sum);
            else
                atomic_add_owner(&stat->updates, sum);
            sum = 0;
        }
        atomic_store_relaxed(&own->updates, (uint32_t)sum);
    }
}

static void settle(struct memcg_stat_cpu *block)
{
    atomic_store_relaxed(&block->settled, true);
    /*
     * Pairs with the fence in rstat.c between un-queueing and the callback: either we see that the
     * block was un-queued, or that flush's callback clears the flag after us.
     */
    atomic_fence_seq_cst();
    if (!rstat_cpu_queued(&block->rstat))
        atomic_store_relaxed(&block->settled, false);
}

void memcg_stat_tell(struct memcg_stat_cpu *block, unsigned cpu, enum memcg_stat_item item,
                     long delta)
{
    if (!rstat_cpu_queued(&block->rstat))
        rstat_cpu_queue(&block->rstat, cpu);
    count_updates(block, cpu, item, delta);
    if (atomic_load_relaxed(&block->owner->updates) > (long)block->threshold)
        settle(block);
}

void memcg_stat_flush_cpu(struct rstat_node *node, unsigned cpu)
{
    struct memcg_stat *stat = container_of(node, struct memcg_stat, rstat);
    struct memcg_stat *parent = stat->parent;
    struct memcg_stat_cpu *block = own_block(stat, cpu);
    size_t rows = row_count(stat);
    MGLRU_ASSERT(lock_spin_held(&node->tree->lock));
    /* Before the values are read: who adds from here on queues the block again. */
    atomic_store_relaxed(&block->settled, false);
    for (size_t i = 0; i < rows; i++) {
        long value = atomic_load_relaxed(&block->values[i]);
        long own = value - atomic_load_relaxed(&block->values[rows + i]);
        long all = own + stat->pending[i];
        if (!own && !all)
            continue;
        stat->pending[i] = 0;
        atomic_store_relaxed(&block->values[rows + i], value);
        atomic_add_owner(&stat->local[i], own);
        atomic_add_owner(&stat->state[i], all);
        if (parent)
            parent->pending[i] += all;
    }
    atomic_store_relaxed(&block->updates, 0);
    atomic_store_relaxed(&stat->updates, 0);
}

int memcg_stat_init(struct memcg *memcg)
{
    struct memcg_stat *stat = &memcg->stat;
    struct memcg_tree *tree = memcg->tree;
    stat->cpus = tree->cpus;
    stat->nodes = tree->nodes;
    stat->parent = memcg->parent ? &memcg->parent->stat : NULL;
    size_t rows = row_count(stat);
    size_t stride = sizeof(struct memcg_stat_cpu) + 2 * rows * sizeof(long);
    stat->stride = (stride + 63) & ~(size_t)63;
    stat->blocks = aligned_alloc(64, stat->stride * stat->cpus);
    stat->state = calloc(4 * rows, sizeof(long));
    if (!stat->blocks || !stat->state) {
        free(stat->blocks);
        free((void *)stat->state);
        return MGLRU_ENOMEM;
    }
    memset(stat->blocks, 0, stat->stride * stat->cpus);
    stat->local = stat->state + rows;
    stat->gone = stat->local + rows;
    stat->pending = (long *)(void *)(stat->gone + rows);
    for (unsigned cpu = 0; cpu < stat->cpus; cpu++) {
        own_block(stat, cpu)->owner = stat;
        own_block(stat, cpu)->threshold = MEMCG_STAT_BATCH * stat->cpus;
    }
    rstat_node_init(&tree->rstat, &stat->rstat, stat->parent ? &stat->parent->rstat : NULL,
                    stat->blocks, stat->stride);
    atomic_store_relaxed(&stat->target, stat->blocks);
    return MGLRU_OK;
}

void memcg_stat_exit(struct memcg *memcg)
{
    struct memcg_stat *stat = &memcg->stat;
    if (!stat->blocks)
        return;
    rstat_node_exit(&stat->rstat);
    free(stat->blocks);
    free((void *)stat->state);
    stat->blocks = NULL;
}

/* Sum over CPUs of one cell. */
static long cell_exact(const struct memcg_stat *stat, size_t row)
{
    long sum = 0;
    for (unsigned cpu = 0; cpu < stat->cpus; cpu++)
        sum += atomic_load_relaxed(&own_block(stat, cpu)->values[row]);
    return sum;
}

void memcg_stat_bequeath(struct memcg *memcg)
{
    struct memcg_stat *stat = &memcg->stat;
    MGLRU_ASSERT(stat->parent);
    for (size_t i = 0; i < row_count(stat); i++)
        atomic_add_owner(&stat->parent->gone[i],
                         cell_exact(stat, i) + atomic_load_relaxed(&stat->gone[i]));
}

/* Adds up @cell over the nodes asked for. */
static long sum_nodes(const struct memcg_stat *stat, unsigned node, enum memcg_stat_item item,
                      long (*cell)(const struct memcg_stat *, size_t))
{
    MGLRU_ASSERT(node < stat->nodes || node == MEMCG_ALL_NODES);
    if (node != MEMCG_ALL_NODES)
        return cell(stat, (size_t)node * MEMCG_STAT_COUNT + item);
    long sum = 0;
    for (unsigned n = 0; n < stat->nodes; n++)
        sum += cell(stat, (size_t)n * MEMCG_STAT_COUNT + item);
    return sum;
}

static long cell_with_gone(const struct memcg_stat *stat, size_t row)
{
    return cell_exact(stat, row) + atomic_load_relaxed(&stat->gone[row]);
}

static long cell_state(const struct memcg_stat *stat, size_t row)
{
    return atomic_load_relaxed(&stat->state[row]);
}

static long cell_local(const struct memcg_stat *stat, size_t row)
{
    return atomic_load_relaxed(&stat->local[row]);
}

long memcg_stat_local_node_exact(const struct memcg *memcg, unsigned node,
                                 enum memcg_stat_item item)
{
    return not_negative(sum_nodes(&memcg->stat, node, item, cell_exact));
}

long memcg_stat_local_exact(const struct memcg *memcg, enum memcg_stat_item item)
{
    return memcg_stat_local_node_exact(memcg, MEMCG_ALL_NODES, item);
}

long memcg_stat_exact(struct memcg *memcg, unsigned node, enum memcg_stat_item item)
{
    long sum = 0;
    lock_spin_acquire(&memcg->tree->lock);
    for (struct memcg *pos = memcg; pos; pos = memcg_next(memcg, pos))
        sum += sum_nodes(&pos->stat, node, item, cell_with_gone);
    lock_spin_release(&memcg->tree->lock);
    return not_negative(sum);
}

long memcg_stat_flushed(const struct memcg *memcg, unsigned node, enum memcg_stat_item item)
{
    return not_negative(sum_nodes(&memcg->stat, node, item, cell_state));
}

long memcg_stat_local_flushed(const struct memcg *memcg, unsigned node, enum memcg_stat_item item)
{
    return not_negative(sum_nodes(&memcg->stat, node, item, cell_local));
}

void memcg_stat_flush(struct memcg *memcg)
{
    rstat_flush(&memcg->stat.rstat);
}

bool memcg_stat_flushable(const struct memcg *memcg)
{
    return atomic_load_relaxed(&memcg->stat.updates) > (long)(MEMCG_STAT_BATCH * memcg->stat.cpus);
}

bool memcg_stat_flush_if_needed(struct memcg *memcg)
{
    if (!memcg_stat_flushable(memcg))
        return false;
    memcg_stat_flush(memcg);
    return true;
}

uint64_t memcg_stat_line_value(struct memcg *memcg, const struct memcg_stat_line *line,
                               unsigned node, bool exact, size_t page_bytes)
{
    uint64_t sum = 0;
    for (unsigned i = line->first; i < (unsigned)line->first + line->count; i++) {
        enum memcg_stat_item item = (enum memcg_stat_item)i;
        long amount =
            exact ? memcg_stat_exact(memcg, node, item) : memcg_stat_flushed(memcg, node, item);
        bool pages = memcg_stat_infos[item].unit == MEMCG_STAT_PAGES;
        sum += (uint64_t)amount * (pages ? page_bytes : 1);
    }
    return sum;
}

void memcg_stat_move(struct memcg *from, struct memcg *to, struct memcg_stat_place place,
                     long amount)
{
    MGLRU_ASSERT(place.cpu < from->stat.cpus && place.node < from->stat.nodes);
    /* Not through memcg_stat_add: @from may be redirected, and its own cell has to shrink. */
    struct memcg_stat_cpu *block = own_block(&from->stat, place.cpu);
    atomic_add_owner(&block->values[place.node * MEMCG_STAT_COUNT + place.item], -amount);
    memcg_stat_tell(block, place.cpu, place.item, amount);
    memcg_stat_add(to, place.cpu, place.node, place.item, amount);
}

void memcg_stat_reparent(struct memcg *from, struct memcg *to, unsigned cpu)
{
    struct memcg_stat_place place = {.cpu = cpu};
    for (place.node = 0; place.node < from->stat.nodes; place.node++) {
        for (unsigned i = 0; i < MEMCG_STAT_COUNT; i++) {
            place.item = (enum memcg_stat_item)i;
            long amount = cell_exact(&from->stat, (size_t)place.node * MEMCG_STAT_COUNT + i);
            if (amount && memcg_stat_infos[i].unit != MEMCG_STAT_EVENTS)
                memcg_stat_move(from, to, place, amount);
        }
    }
}

void memcg_stat_redirect(struct memcg *memcg, struct memcg *to)
{
    char *target = atomic_load_relaxed(&to->stat.target);
    for (struct memcg *pos = memcg; pos; pos = memcg_next(memcg, pos))
        /* Release: pairs with the acquire in memcg_stat_add. */
        atomic_store_release(&pos->stat.target, target);
}
