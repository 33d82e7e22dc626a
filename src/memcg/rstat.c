/* SPDX-License-Identifier: MIT */
/*
 * The updated tree of rstat.
 *
 * Per CPU and node: updated_children is a list of linked children that ends with the node itself;
 * updated_next chains the node among its siblings and ends with the parent; NULL means not linked;
 * the root's updated_next is the root itself. So no list has a NULL end, and "linked" is one test.
 *
 * Invariants (per CPU, tree lock held):
 *   1. updated_next(n) != NULL implies updated_next(parent(n)) != NULL and n is on parent's list
 *   2. updated_children(n) != n implies updated_next(n) != NULL
 *   3. a queued block need not be linked; it becomes linked when a flush pops it
 */
#include "memcg/rstat.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/list.h"

int rstat_tree_init(struct rstat_tree *tree, unsigned cpus, rstat_flush_fn *flush)
{
    MGLRU_ASSERT(flush);
    memset(tree, 0, sizeof(*tree));
    if (!cpus || cpus > RSTAT_CPUS_MAX)
        return MGLRU_ERANGE;
    tree->lists = aligned_alloc(64, cpus * sizeof(*tree->lists));
    if (!tree->lists)
        return MGLRU_ENOMEM;
    memset(tree->lists, 0, cpus * sizeof(*tree->lists));
    tree->flush = flush;
    tree->cpus = cpus;
    lock_spin_init(&tree->lock, RANK_RSTAT);
    return MGLRU_OK;
}

void rstat_tree_exit(struct rstat_tree *tree)
{
    for (unsigned cpu = 0; tree->lists && cpu < tree->cpus; cpu++)
        MGLRU_ASSERT(!atomic_load_relaxed(&tree->lists[cpu].head));
    free(tree->lists);
    tree->lists = NULL;
}

void rstat_node_init(struct rstat_tree *tree, struct rstat_node *node, struct rstat_node *parent,
                     void *cpu_base, size_t cpu_stride)
{
    MGLRU_ASSERT(cpu_stride >= sizeof(struct rstat_cpu));
    node->tree = tree;
    node->parent = parent;
    node->cpu_base = cpu_base;
    node->cpu_stride = cpu_stride;
    node->flush_next = NULL;
    for (unsigned cpu = 0; cpu < tree->cpus; cpu++) {
        struct rstat_cpu *block = rstat_node_cpu(node, cpu);
        block->updated_children = node;
        block->updated_next = NULL;
        block->owner = node;
        atomic_store_relaxed(&block->link.next, &block->link);
    }
}

void rstat_node_exit(struct rstat_node *node)
{
    rstat_flush(node);
    for (unsigned cpu = 0; cpu < node->tree->cpus; cpu++) {
        MGLRU_CHECK(!rstat_node_cpu(node, cpu)->updated_next);
        MGLRU_CHECK(!rstat_cpu_queued(rstat_node_cpu(node, cpu)));
    }
}

/*
 * The claim makes one pusher of several that share a CPU number: the link is written by its
 * claimer only until the push has published it.
 */
void rstat_cpu_queue(struct rstat_cpu *block, unsigned cpu)
{
    struct rstat_tree *tree = block->owner->tree;
    struct rstat_link *link = &block->link;
    struct rstat_link *self = link;
    MGLRU_ASSERT(cpu < tree->cpus);
    _Atomic(struct rstat_link *) *head = &tree->lists[cpu].head;
    struct rstat_link *first = atomic_load_relaxed(head);
    if (!atomic_cas_relaxed(&link->next, &self, first))
        return;
    /* Release: pairs with the exchange in pop_all, which sees the link and the counters. */
    while (!atomic_cas_release(head, &first, link))
        atomic_store_relaxed(&link->next, first);
}

int rstat_updated(struct rstat_node *node, unsigned cpu)
{
    if (cpu >= node->tree->cpus)
        return MGLRU_ERANGE;
    struct rstat_cpu *block = rstat_node_cpu(node, cpu);
    if (!rstat_cpu_queued(block))
        rstat_cpu_queue(block, cpu);
    return MGLRU_OK;
}

int rstat_updated_ordered(struct rstat_node *node, unsigned cpu)
{
    /* Pairs with the fence in link_queued: either the flusher reads the new counters, or the test
     * of "queued" reads the link that the flusher re-initialised. */
    atomic_fence_seq_cst();
    return rstat_updated(node, cpu);
}

/* Hangs the block's owner and its ancestors into the updated tree of @cpu. */
static void link_up(struct rstat_node *node, unsigned cpu)
{
    for (;;) {
        struct rstat_cpu *block = rstat_node_cpu(node, cpu);
        if (block->updated_next)
            return;
        struct rstat_node *parent = node->parent;
        if (!parent) {
            block->updated_next = node;
            return;
        }
        struct rstat_cpu *above = rstat_node_cpu(parent, cpu);
        block->updated_next = above->updated_children;
        above->updated_children = node;
        node = parent;
    }
}

/* Empties the queue of @cpu into its updated tree. */
static void link_queued(struct rstat_tree *tree, unsigned cpu) MGLRU_REQUIRES(tree->lock)
{
    MGLRU_ASSERT(lock_spin_held(&tree->lock));
    /* Acquire: pairs with the release in rstat_cpu_queue. */
    struct rstat_link *link = atomic_exchange_acquire(&tree->lists[cpu].head, NULL);
    while (link) {
        struct rstat_link *next = atomic_load_relaxed(&link->next);
        struct rstat_cpu *block = container_of(link, struct rstat_cpu, link);
        /* From here on an updater may queue the block again. */
        atomic_store_relaxed(&link->next, link);
        link_up(block->owner, cpu);
        link = next;
    }
    /* Pairs with the fence in rstat_updated_ordered. */
    atomic_fence_seq_cst();
}

/* Takes a linked @root out of its parent's list. */
static void unlink_root(struct rstat_node *root, unsigned cpu)
{
    struct rstat_cpu *block = rstat_node_cpu(root, cpu);
    struct rstat_node *parent = root->parent;
    if (parent) {
        struct rstat_node **at = &rstat_node_cpu(parent, cpu)->updated_children;
        while (*at != root) {
            MGLRU_CHECK(*at != parent);
            at = &rstat_node_cpu(*at, cpu)->updated_next;
        }
        *at = block->updated_next;
    }
    block->updated_next = NULL;
}

/* Unlinks the children of @node and pushes them before @list; gives the new list. */
static struct rstat_node *push_children(struct rstat_node *node, unsigned cpu,
                                        struct rstat_node *list)
{
    struct rstat_cpu *block = rstat_node_cpu(node, cpu);
    struct rstat_node *child = block->updated_children;
    while (child != node) {
        struct rstat_cpu *below = rstat_node_cpu(child, cpu);
        struct rstat_node *sibling = below->updated_next;
        below->updated_next = NULL;
        child->flush_next = list;
        list = child;
        child = sibling;
    }
    block->updated_children = node;
    return list;
}

/*
 * Takes everything linked at or below @root out of the updated tree of @cpu, as a list through
 * flush_next with every child before its parent and @root last; NULL when @root is not linked.
 * Level by level: each level is pushed before the one above it.
 */
static struct rstat_node *take_updated(struct rstat_node *root, unsigned cpu)
{
    MGLRU_ASSERT(lock_spin_held(&root->tree->lock));
    if (!rstat_node_cpu(root, cpu)->updated_next)
        return NULL;
    unlink_root(root, cpu);
    root->flush_next = NULL;
    struct rstat_node *list = root;
    struct rstat_node *level_end = NULL;
    for (;;) {
        struct rstat_node *level = list;
        for (struct rstat_node *node = level; node != level_end; node = node->flush_next)
            list = push_children(node, cpu, list);
        if (list == level)
            return list;
        level_end = level;
    }
}

const uint64_t rstat_hold_least_ns[RSTAT_HOLD_BUCKETS] = {0,     1000,  5000,  10000,
                                                          15000, 20000, 25000, 30000};

static void count_hold(struct rstat_tree *tree, uint64_t ns)
{
    unsigned bucket = RSTAT_HOLD_BUCKETS - 1;
    while (ns < rstat_hold_least_ns[bucket])
        bucket--;
    tree->holds_by[bucket]++;
}

void rstat_flush(struct rstat_node *node)
{
    struct rstat_tree *tree = node->tree;
    for (unsigned cpu = 0; cpu < tree->cpus; cpu++) {
        lock_spin_acquire(&tree->lock);
        uint64_t start = tree->clock_ns ? tree->clock_ns() : 0;
        tree->holds++;
        link_queued(tree, cpu);
        struct rstat_node *next;
        for (struct rstat_node *pos = take_updated(node, cpu); pos; pos = next) {
            next = pos->flush_next;
            tree->flush(pos, cpu);
        }
        if (tree->clock_ns)
            count_hold(tree, tree->clock_ns() - start);
        lock_spin_release(&tree->lock);
    }
}

bool rstat_linked(const struct rstat_node *node, unsigned cpu)
{
    return rstat_node_cpu(node, cpu)->updated_next;
}

void rstat_verify(struct rstat_node *node)
{
    for (unsigned cpu = 0; cpu < node->tree->cpus; cpu++) {
        const struct rstat_cpu *block = rstat_node_cpu(node, cpu);
        MGLRU_CHECK(block->owner == node);
        MGLRU_CHECK(block->updated_children == node || block->updated_next);
        if (!block->updated_next)
            continue;
        if (!node->parent) {
            MGLRU_CHECK(block->updated_next == node);
            continue;
        }
        MGLRU_CHECK(rstat_linked(node->parent, cpu));
        const struct rstat_node *pos = rstat_node_cpu(node->parent, cpu)->updated_children;
        while (pos != node && pos != node->parent)
            pos = rstat_node_cpu(pos, cpu)->updated_next;
        MGLRU_CHECK(pos == node);
    }
}
