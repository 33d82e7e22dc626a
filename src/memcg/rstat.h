/* SPDX-License-Identifier: MIT */
/*
 * rstat: brings per-CPU counters of a tree together without visiting what did not change
 * (mglru-facts 7.1 to 7.3, the lockless form of 7.3).
 *
 * A node that was updated on a CPU is queued on that CPU's lockless list. A flush takes each CPU's
 * list, hangs the queued nodes and their ancestors into that CPU's updated tree, and calls back
 * for every updated node below the flushed one, children before parents.
 *
 * Threads: rstat_updated from any thread that may write the CPU's counters of that node, also
 * while flushes run; flushes exclude each other by the tree's lock, which is released between
 * CPUs. Init and exit of nodes exclude flushes by that lock; the owner keeps updates away from a
 * node that exits.
 * Guarantees: (A) linked(node) implies linked(every ancestor), per CPU; (B) after rstat_flush(n)
 * nothing at or below n is linked; (C) a flush calls back for every node that was queued before it
 * began; (D) an update whose rstat_updated_ordered began before a flush popped its CPU is either
 * seen by that flush's callback or queued again; plain rstat_updated may miss a flush that runs at
 * the same moment: such an update is carried by the next one of that node and CPU.
 * Progress: rstat_updated is wait-free but for the push, which is lock-free; flush blocks.
 */
#ifndef MEMCG_RSTAT_H
#define MEMCG_RSTAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <mglru/error.h>

#include "base/layout.h"
#include "sync/lock.h"

/* Holds of the lock by how long they took, in document 004's buckets. */
#define RSTAT_HOLD_BUCKETS 8u

/* Chosen: more CPUs than the machines that are modelled have. */
#define RSTAT_CPUS_MAX 1024u

struct rstat_node;

/* Element of a CPU's lockless list. Points to itself while it is not queued. */
struct rstat_link {
    _Atomic(struct rstat_link *) next;
};

/* The part of a node that belongs to one CPU. Lives at the start of the user's per-CPU block. */
struct rstat_cpu {
    struct rstat_node *updated_children; /* list that ends with the owner itself; tree lock */
    struct rstat_node *updated_next;     /* NULL: not linked; ends with the parent; tree lock */
    struct rstat_link link;              /* pushed by the updater, popped by the flusher */
    struct rstat_node *owner;            /* fixed at init */
};

struct rstat_cpu_list {
    _Alignas(64) _Atomic(struct rstat_link *) head;
};

struct rstat_tree;

/*
 * Folds what @cpu added to @node since the last call into the node and its parent's pending
 * amounts. Under the tree's lock: must not block, allocate or call rstat.
 */
typedef void rstat_flush_fn(struct rstat_node *node, unsigned cpu);

struct rstat_tree {
    rstat_flush_fn *flush;        /* fixed at init */
    unsigned cpus;                /* fixed at init */
    struct rstat_cpu_list *lists; /* one a CPU, each on its own line */
    /* Written by flushers only; away from what updaters read. */
    _Alignas(64) struct lock_spin lock;
    uint64_t holds; /* times the lock was taken to flush a CPU; guarded by lock */
    /* NULL: holds are not timed. Set before the first flush; holds_by is guarded by lock. */
    uint64_t (*clock_ns)(void);
    uint64_t holds_by[RSTAT_HOLD_BUCKETS];
};

struct rstat_node {
    /* Fixed at init; read by every update. */
    struct rstat_tree *tree;
    struct rstat_node *parent;
    char *cpu_base;
    size_t cpu_stride;
    /* Scratch of one flush, guarded by the tree's lock: on a line of its own, which is what
     * document 004 changed. */
#if MGLRU_LAYOUT == MGLRU_LAYOUT_BEFORE
    struct rstat_node *flush_next;
#else
    _Alignas(64) struct rstat_node *flush_next;
#endif
};

_Static_assert(sizeof(struct rstat_cpu) == 32, "four words at the head of a per-CPU block");
#if MGLRU_LAYOUT != MGLRU_LAYOUT_BEFORE
_Static_assert(offsetof(struct rstat_node, flush_next) == 64,
               "written at each flush: away from what updates read");
#endif

/* Least length of a hold in each bucket, in ns: 0, 1, 5, 10, 15, 20, 25 and 30 us. */
extern const uint64_t rstat_hold_least_ns[RSTAT_HOLD_BUCKETS];

/* Prepares a tree of @cpus CPUs (1..RSTAT_CPUS_MAX). MGLRU_ERANGE, MGLRU_ENOMEM. */
int rstat_tree_init(struct rstat_tree *tree, unsigned cpus, rstat_flush_fn *flush);

/* Frees what the tree holds. All its nodes have exited. */
void rstat_tree_exit(struct rstat_tree *tree);

/*
 * Prepares @node below @parent (NULL: the root). The caller owns cpus blocks, @cpu_stride bytes
 * apart from @cpu_base, each beginning with a struct rstat_cpu, until rstat_node_exit.
 */
void rstat_node_init(struct rstat_tree *tree, struct rstat_node *node, struct rstat_node *parent,
                     void *cpu_base, size_t cpu_stride);

/* Flushes @node for the last time: nothing of it stays queued or linked. It has no children. */
void rstat_node_exit(struct rstat_node *node);

/* The node's block of @cpu, which is in range. */
static inline struct rstat_cpu *rstat_node_cpu(const struct rstat_node *node, unsigned cpu)
{
    return (struct rstat_cpu *)(void *)(node->cpu_base + cpu * node->cpu_stride);
}

/* Whether the block waits for a flush; racy. */
static inline bool rstat_cpu_queued(const struct rstat_cpu *block)
{
    return atomic_load_relaxed(&block->link.next) != &block->link;
}

/* Queues a block of its tree's @cpu, which is in range, unless it is queued. */
void rstat_cpu_queue(struct rstat_cpu *block, unsigned cpu);

/*
 * Tells that @node has new amounts on @cpu. The thread owns the CPU's counters of the node.
 * MGLRU_ERANGE: no such CPU (row 40); nothing is touched then.
 */
int rstat_updated(struct rstat_node *node, unsigned cpu);

/* As rstat_updated with guarantee D. Costs a full fence. */
int rstat_updated_ordered(struct rstat_node *node, unsigned cpu);

/* Brings @node and everything below it up to date on all CPUs. May spin on the tree's lock. */
void rstat_flush(struct rstat_node *node);

/* Whether @node is linked on @cpu; for tests and verification, when nothing else runs. */
bool rstat_linked(const struct rstat_node *node, unsigned cpu);

/* Checks invariants of @node against its parent on all CPUs (aborts when broken); as above. */
void rstat_verify(struct rstat_node *node);

#endif
