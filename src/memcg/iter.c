/* SPDX-License-Identifier: MIT */
/*
 * Walks over a subtree in pre-order, parents before children, oldest child first: the plain one,
 * and the one that reclaimers share.
 *
 * The shared walk of a (root, node) has one position and a generation that counts completed round
 * trips. Each step returns the next memcg after the position. A reclaimer remembers the generation
 * in which it began; when that has passed, everything was visited by somebody and its walk ends.
 * Lock: the tree's, for each step.
 */
#include "memcg/memcg.h"

struct memcg *memcg_next(struct memcg *root, struct memcg *prev)
{
    if (!prev)
        return root;
    if (!list_empty(&prev->children))
        return container_of(prev->children.next, struct memcg, sibling);
    for (struct memcg *pos = prev; pos != root; pos = pos->parent) {
        const struct list_node *next = pos->sibling.next;
        if (next != &pos->parent->children)
            return container_of(next, struct memcg, sibling);
    }
    return NULL;
}

/* One step of the shared walk. */
static struct memcg *shared_step(struct memcg *root, const struct memcg *prev,
                                 struct memcg_iter_cookie *cookie)
{
    struct memcg_iter *iter = &root->iters[cookie->node];
    uint32_t generation = atomic_load_relaxed(&iter->generation);
    if (!prev)
        cookie->generation = generation;
    else if (cookie->generation != generation)
        return NULL;
    struct memcg *next = memcg_next(root, atomic_load_relaxed(&iter->position));
    if (!next) {
        atomic_store_relaxed(&iter->generation, generation + 1);
        if (!prev) {
            /* The walk begins where the last one ended: go round at once. */
            cookie->generation = generation + 1;
            next = root;
        }
    }
    atomic_store_relaxed(&iter->position, next);
    return next;
}

static struct memcg *step(struct memcg *root, struct memcg *prev, struct memcg_iter_cookie *cookie)
{
    struct memcg *next = cookie ? shared_step(root, prev, cookie) : memcg_next(root, prev);
    if (next)
        memcg_get(next);
    return next;
}

struct memcg *memcg_iter_next(struct memcg *root, struct memcg *prev,
                              struct memcg_iter_cookie *cookie)
{
    struct memcg_tree *tree = root->tree;
    struct memcg *next;
    MGLRU_ASSERT(!cookie || cookie->node < tree->nodes);
    if (tree->shared) {
        lock_spin_acquire(&tree->lock);
        next = step(root, prev, cookie);
        lock_spin_release(&tree->lock);
    } else {
        next = step(root, prev, cookie); /* one thread: nobody else walks or changes the tree */
    }
    memcg_iter_break(prev);
    return next;
}

void memcg_iter_break(struct memcg *memcg)
{
    if (memcg)
        memcg_put(memcg);
}
