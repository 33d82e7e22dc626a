/* SPDX-License-Identifier: MIT */
/*
 * The tree of memcgs: creation, removal, the end of a dying memcg, lookup by path and id, events
 * and effective protection.
 *
 * States of a memcg, and who changes them:
 *   online  --memcg_offline-->  dying  --memcg_put, last reference, nothing charged-->  freed
 * Invariants, under the tree's lock:
 *   1. a child holds one reference of its parent, so parents outlive children
 *   2. refs > 0 or charged pages or charged swap, for every memcg in the tree
 *   3. ids[m->id] == m wherever m->id != 0
 * A reference count reaches 0 only under the tree's lock, by the rule in memcg_put: this makes
 * "0 references and nothing charged" a state that exactly one thread sees first.
 */
#include "memcg/memcg.h"

#include <stdlib.h>
#include <string.h>

#include "base/bits.h"
#include "memcg/stat.h"
#include "memcg/stock.h"

static char *join_path(const struct memcg *parent, const char *name, size_t length)
{
    size_t above = parent->parent ? strlen(parent->path) : 0;
    char *path = malloc(above + 1 + length + 1);
    if (!path)
        return NULL;
    memcpy(path, parent->path, above);
    path[above] = '/';
    memcpy(path + above + 1, name, length);
    path[above + 1 + length] = '\0';
    return path;
}

static void memcg_free_memory(struct memcg *memcg)
{
    free(memcg->path);
    free(memcg);
}

static void free_memory_later(struct rcu_later *later)
{
    memcg_free_memory(container_of(later, struct memcg, later));
}

/* Allocates a memcg that is not in the tree yet. */
static struct memcg *memcg_allocate(struct memcg_tree *tree, struct memcg *parent, const char *name,
                                    size_t length)
{
    struct memcg *memcg = aligned_alloc(64, sizeof(*memcg));
    if (!memcg)
        return NULL;
    memset(memcg, 0, sizeof(*memcg));
    memcg->tree = tree;
    memcg->parent = parent;
    memcg->depth = parent ? parent->depth + 1 : 0;
    memcg->path = parent ? join_path(parent, name, length) : strdup("/");
    if (!memcg->path || memcg_stat_init(memcg) != MGLRU_OK) {
        memcg_free_memory(memcg);
        return NULL;
    }
    memcg->name = strrchr(memcg->path, '/') + 1;
    unsigned flags = tree->shared ? PAGE_COUNTER_SHARED : 0;
    page_counter_init(&memcg->memory, parent ? &parent->memory : NULL,
                      flags | PAGE_COUNTER_PROTECTED);
    page_counter_init(&memcg->swap, parent ? &parent->swap : NULL, flags);
    list_init(&memcg->children);
    list_init(&memcg->sibling);
    atomic_store_relaxed(&memcg->refs, 1);
    atomic_store_relaxed(&memcg->online, 1);
    atomic_store_relaxed(&memcg->swappiness, parent ? atomic_load_relaxed(&parent->swappiness)
                                                    : MEMCG_SWAPPINESS_DEFAULT);
    return memcg;
}

/*
 * Gives @memcg the next free id: no other had it in this turn around all ids. A tree of one thread
 * gives the lowest, as the kernel does. False: none is free.
 */
static bool id_take(struct memcg_tree *tree, struct memcg *memcg) MGLRU_REQUIRES(tree->lock)
{
    MGLRU_ASSERT(lock_spin_held(&tree->lock));
    if (tree->id_count == MEMCG_ID_MAX)
        return false;
    uint32_t id = tree->id_hint;
    while (id > MEMCG_ID_MAX || atomic_load_relaxed(&tree->ids[id])) {
        if (id++ < MEMCG_ID_MAX)
            continue;
        id = 1;
        tree->id_turn++;
    }
    memcg->id_turn = tree->id_turn;
    atomic_store_relaxed(&memcg->id, id);
    /* Pairs with the load in memcg_by_id. */
    atomic_store_release(&tree->ids[id], memcg);
    tree->id_hint = id + 1;
    tree->id_count++;
    return true;
}

static void id_give_back(struct memcg_tree *tree, struct memcg *memcg) MGLRU_REQUIRES(tree->lock)
{
    MGLRU_ASSERT(lock_spin_held(&tree->lock));
    uint32_t id = atomic_load_relaxed(&memcg->id);
    if (!id)
        return;
    MGLRU_ASSERT(atomic_load_relaxed(&tree->ids[id]) == memcg);
    atomic_store_relaxed(&tree->ids[id], NULL);
    atomic_store_relaxed(&memcg->id, 0);
    tree->id_count--;
    if (id < tree->id_hint && !tree->shared)
        tree->id_hint = id;
}

/* The bucket of the name: FNV-1a over its bytes, mixed with the parent's number. */
static struct memcg **name_bucket(const struct memcg *parent, const char *name, size_t length)
{
    uint64_t hash = 0xCBF29CE484222325u;
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (unsigned char)name[i]) * 0x100000001B3u;
    hash = bits_mix64(hash ^ bits_mix64(parent->serial));
    return &parent->tree->names[hash % MEMCG_NAME_BUCKETS];
}

static struct memcg *child_find(const struct memcg *parent, const char *name, size_t length)
{
    MGLRU_ASSERT(lock_spin_held(&parent->tree->lock));
    struct memcg *child = *name_bucket(parent, name, length);
    while (child &&
           (child->parent != parent || strncmp(child->name, name, length) || child->name[length]))
        child = child->bucket_next;
    return child;
}

static void name_insert(struct memcg *memcg)
{
    struct memcg **bucket = name_bucket(memcg->parent, memcg->name, strlen(memcg->name));
    memcg->bucket_next = *bucket;
    *bucket = memcg;
}

static void name_remove(struct memcg *memcg)
{
    struct memcg **at = name_bucket(memcg->parent, memcg->name, strlen(memcg->name));
    while (*at != memcg) {
        MGLRU_CHECK(*at);
        at = &(*at)->bucket_next;
    }
    *at = memcg->bucket_next;
}

static int tree_attach(struct memcg_tree *tree, struct memcg *memcg) MGLRU_REQUIRES(tree->lock)
{
    MGLRU_ASSERT(lock_spin_held(&tree->lock));
    struct memcg *parent = memcg->parent;
    if (parent && !memcg_online(parent))
        return MGLRU_ENOENT;
    if (parent && child_find(parent, memcg->name, strlen(memcg->name)))
        return MGLRU_EEXIST;
    if (!id_take(tree, memcg))
        return MGLRU_ENOSPC;
    memcg->serial = tree->next_serial++;
    tree->count++;
    if (parent) {
        list_add_tail(&parent->children, &memcg->sibling);
        name_insert(memcg);
        memcg_get(parent);
    }
    return MGLRU_OK;
}

static int memcg_create_at(struct memcg_tree *tree, struct memcg *parent, const char *name,
                           size_t length, struct memcg **out)
{
    *out = NULL;
    struct memcg *memcg = memcg_allocate(tree, parent, name, length);
    if (!memcg)
        return MGLRU_ENOMEM;
    int error = parent && tree->attach ? tree->attach(memcg, tree->release_context) : MGLRU_OK;
    if (error) {
        memcg_stat_exit(memcg);
        memcg_free_memory(memcg);
        return error;
    }
    lock_spin_acquire(&tree->lock);
    error = tree_attach(tree, memcg);
    lock_spin_release(&tree->lock);
    if (error) {
        memcg_stat_exit(memcg);
        if (parent && tree->attach)
            tree->release(memcg, tree->release_context);
        memcg_free_memory(memcg);
        return error;
    }
    *out = memcg;
    return MGLRU_OK;
}

static bool name_valid(const char *name, size_t length)
{
    if (!length || (length == 1 && name[0] == '.') || (length == 2 && !memcmp(name, "..", 2)))
        return false;
    for (size_t i = 0; i < length; i++)
        if (name[i] == '/' || (unsigned char)name[i] <= ' ' || name[i] == 0x7f)
            return false;
    return true;
}

int memcg_create(struct memcg *parent, const char *name, struct memcg **out)
{
    *out = NULL;
    if (!name_valid(name, strlen(name)))
        return MGLRU_EINVAL;
    return memcg_create_at(parent->tree, parent, name, strlen(name), out);
}

bool memcg_path_valid(const char *path)
{
    if (path[0] != '/' || strlen(path) > MEMCG_PATH_MAX)
        return false;
    const char *part = path + 1;
    while (*part) {
        size_t length = strcspn(part, "/");
        if (!name_valid(part, length) || (part[length] == '/' && !part[length + 1]))
            return false;
        part += length + (part[length] == '/');
    }
    return true;
}

/* Walks @path from the root, making what is missing if @make. */
static int memcg_walk_path(struct memcg_tree *tree, const char *path, bool make, struct memcg **out)
{
    *out = NULL;
    if (!memcg_path_valid(path))
        return MGLRU_EINVAL;
    struct memcg *memcg = tree->root;
    const char *part = path + 1;
    while (*part) {
        size_t length = strcspn(part, "/");
        lock_spin_acquire(&tree->lock);
        struct memcg *child = child_find(memcg, part, length);
        lock_spin_release(&tree->lock);
        if (!child && !make)
            return MGLRU_ENOENT;
        if (!child) {
            int error = memcg_create_at(tree, memcg, part, length, &child);
            if (error)
                return error;
        }
        memcg = child;
        part += length + (part[length] == '/');
    }
    *out = memcg;
    return MGLRU_OK;
}

int memcg_create_path(struct memcg_tree *tree, const char *path, struct memcg **out)
{
    return memcg_walk_path(tree, path, true, out);
}

int memcg_find(struct memcg_tree *tree, const char *path, struct memcg **out)
{
    int error = memcg_walk_path(tree, path, false, out);
    return error ? MGLRU_ENOENT : MGLRU_OK;
}

/* A position that points to a memcg about to go would be followed into freed memory. */
static void iters_forget(struct memcg *memcg)
{
    for (struct memcg *root = memcg; root; root = root->parent)
        for (unsigned node = 0; node < MEMCG_NODES_MAX; node++)
            if (atomic_load_relaxed(&root->iters[node].position) == memcg)
                atomic_store_relaxed(&root->iters[node].position, NULL);
}

static bool memcg_charged(const struct memcg *memcg)
{
    return page_counter_read(&memcg->memory) || page_counter_read(&memcg->swap);
}

/* Takes a dying memcg that nothing refers to out of the tree. */
static void tree_detach(struct memcg_tree *tree, struct memcg *memcg) MGLRU_REQUIRES(tree->lock)
{
    MGLRU_ASSERT(lock_spin_held(&tree->lock));
    MGLRU_CHECK(list_empty(&memcg->children));
    memcg_stat_bequeath(memcg);
    iters_forget(memcg);
    id_give_back(tree, memcg);
    list_del_init(&memcg->sibling);
    tree->count--;
}

static void memcg_free(struct memcg *memcg)
{
    struct memcg_tree *tree = memcg->tree;
    memcg_stat_exit(memcg);
    if (tree->release)
        tree->release(memcg, tree->release_context);
    /* Who found it by its id or by a folio may still look at it. */
    if (tree->shared)
        rcu_free_later(&memcg->later, free_memory_later);
    else
        memcg_free_memory(memcg);
}

void memcg_get(struct memcg *memcg)
{
    if (memcg->tree->shared)
        atomic_add_relaxed(&memcg->refs, 1);
    else
        atomic_add_owner(&memcg->refs, 1);
}

bool memcg_try_get(struct memcg *memcg)
{
    struct memcg_tree *tree = memcg->tree;
    lock_spin_acquire(&tree->lock);
    bool there = memcg_is_root(memcg) || !list_empty(&memcg->sibling);
    if (there)
        memcg_get(memcg);
    lock_spin_release(&tree->lock);
    return there;
}

/* Drops a reference that is not the last; false: it is, and the tree's lock is needed. */
static bool put_fast(struct memcg *memcg)
{
    if (!memcg->tree->shared)
        return atomic_load_relaxed(&memcg->refs) > 1 && atomic_add_owner(&memcg->refs, -1);
    long refs = atomic_load_relaxed(&memcg->refs);
    while (refs > 1)
        /* Release half pairs with the acquire half in put_last: our uses come before the free. */
        if (atomic_cas_acq_rel(&memcg->refs, &refs, refs - 1))
            return true;
    return false;
}

/* Drops what may be the last reference. Returns whether the memcg left the tree. */
static bool put_last(struct memcg *memcg)
{
    struct memcg_tree *tree = memcg->tree;
    lock_spin_acquire(&tree->lock);
    /* Acquire half pairs with the release half in put_fast. */
    long refs = atomic_sub_acq_rel(&memcg->refs, 1) - 1;
    MGLRU_CHECK(refs >= 0);
    bool idle = !refs && !memcg_online(memcg);
    if (idle && !page_counter_read(&memcg->swap))
        id_give_back(tree, memcg);
    bool dead = idle && !memcg_charged(memcg);
    /*
     * The pages may have gone after the count was read: whoever took them has a reference (see
     * uncharge_counter) and will be here next. Pairs with the add in page_counter_uncharge: who
     * sees the pages gone sees that reference.
     */
    atomic_fence_acquire();
    dead = dead && !atomic_load_relaxed(&memcg->refs);
    if (dead)
        tree_detach(tree, memcg);
    lock_spin_release(&tree->lock);
    return dead;
}

void memcg_put(struct memcg *memcg)
{
    /* Bounded by the depth of the tree. */
    while (memcg && !put_fast(memcg) && put_last(memcg)) {
        struct memcg *parent = memcg->parent;
        memcg_free(memcg);
        memcg = parent;
    }
}

static bool has_online_child(const struct memcg *memcg)
{
    struct list_node *pos;
    MGLRU_ASSERT(lock_spin_held(&memcg->tree->lock));
    list_for_each (pos, &memcg->children) {
        if (memcg_online(container_of(pos, struct memcg, sibling)))
            return true;
    }
    return false;
}

bool memcg_has_children(const struct memcg *memcg)
{
    lock_spin_acquire(&memcg->tree->lock);
    bool has = has_online_child(memcg);
    lock_spin_release(&memcg->tree->lock);
    return has;
}

/*
 * Hands charges and present amounts to the parent. The memory stays charged to the parent, whose
 * usage includes it already; only the child's own counter forgets it. The root is free: what goes
 * there is not charged to anybody any more.
 */
static void reparent(struct memcg *memcg, unsigned cpu)
{
    memcg_stat_redirect(memcg, memcg->parent);
    memcg_stat_reparent(memcg, memcg->parent, cpu);
    long usage = page_counter_read(&memcg->memory);
    if (memcg_is_root(memcg->parent))
        page_counter_uncharge(&memcg->memory, usage);
    else
        page_counter_cancel(&memcg->memory, usage);
}

int memcg_offline(struct memcg *memcg, unsigned cpu)
{
    struct memcg_tree *tree = memcg->tree;
    if (memcg_is_root(memcg))
        return MGLRU_EINVAL;
    lock_spin_acquire(&tree->lock);
    int error = !memcg_online(memcg)      ? MGLRU_ENOENT
                : has_online_child(memcg) ? MGLRU_EBUSY
                                          : MGLRU_OK;
    if (!error) {
        atomic_store_relaxed(&memcg->online, 0);
        name_remove(memcg);
        if (!page_counter_read(&memcg->swap))
            id_give_back(tree, memcg);
    }
    lock_spin_release(&tree->lock);
    if (error)
        return error;
    memcg_stock_drain_all(memcg, cpu);
    if (tree->params->reparents)
        reparent(memcg, cpu);
    memcg_put(memcg);
    return MGLRU_OK;
}

struct memcg *memcg_by_id(const struct memcg_tree *tree, uint32_t id)
{
    if (!id || id > MEMCG_ID_MAX)
        return NULL;
    /* Pairs with the store in id_take. */
    return atomic_load_acquire(&tree->ids[id]);
}

struct memcg *memcg_live(struct memcg *memcg)
{
    while (!memcg_online(memcg))
        memcg = memcg->parent;
    return memcg;
}

bool memcg_is_descendant(const struct memcg *memcg, const struct memcg *root)
{
    while (memcg && memcg->depth > root->depth)
        memcg = memcg->parent;
    return memcg == root;
}

void memcg_raise(struct memcg *memcg, enum memcg_event event)
{
    atomic_add_relaxed(&memcg->events_local[event], 1);
    for (; memcg && !memcg_is_root(memcg); memcg = memcg->parent)
        atomic_add_relaxed(&memcg->events[event], 1);
}

uint64_t memcg_events(const struct memcg *memcg, enum memcg_event event)
{
    return atomic_load_relaxed(&memcg->events[event]);
}

uint64_t memcg_events_local(const struct memcg *memcg, enum memcg_event event)
{
    return atomic_load_relaxed(&memcg->events_local[event]);
}

void memcg_protection_update(struct memcg *root, struct memcg *memcg)
{
    struct page_counter_rules rules = {
        .recursive = memcg->tree->recursive_protection,
        .clamp = memcg->tree->params->protection_clamped,
    };
    page_counter_protect(&root->memory, &memcg->memory, rules);
}

void memcg_protection_update_path(struct memcg *root, struct memcg *memcg)
{
    /* Recursion is bounded by the depth of the tree; parents come first. */
    if (memcg == root || !memcg->parent)
        return;
    memcg_protection_update_path(root, memcg->parent);
    memcg_protection_update(root, memcg);
}

static int tree_allocate(const struct memcg_tree_options *options, struct memcg_tree *tree)
{
    tree->params = options->params ? options->params : &memcg_params_ours;
    tree->cpus = options->cpus ? options->cpus : 1;
    tree->nodes = options->nodes ? options->nodes : 1;
    tree->shared = tree->cpus > 1;
    tree->recursive_protection = !options->no_recursive_protection;
    tree->next_serial = 1;
    tree->id_hint = 1;
    lock_spin_init(&tree->lock, RANK_MEMCG_TREE);
    if (tree->nodes > MEMCG_NODES_MAX)
        return MGLRU_ERANGE;
    int error = rstat_tree_init(&tree->rstat, tree->cpus, memcg_stat_flush_cpu);
    if (error)
        return error;
    tree->ids = calloc(MEMCG_ID_MAX + 1, sizeof(*tree->ids));
    if (!tree->ids)
        return MGLRU_ENOMEM;
    error = memcg_stock_create(tree->params, tree->cpus, &tree->stock);
    return error ? error : memcg_create_at(tree, NULL, NULL, 0, &tree->root);
}

int memcg_tree_create(const struct memcg_tree_options *options, struct memcg_tree **out)
{
    *out = NULL;
    struct memcg_tree *tree = aligned_alloc(64, (sizeof(*tree) + 63) & ~(size_t)63);
    if (!tree)
        return MGLRU_ENOMEM;
    memset(tree, 0, sizeof(*tree));
    int error = tree_allocate(options, tree);
    if (error) {
        memcg_tree_destroy(tree);
        return error;
    }
    tree->attach = options->attach;
    tree->release = options->release;
    tree->release_context = options->release_context;
    *out = tree;
    return MGLRU_OK;
}

/* The deepest memcg that comes first: it has no children. */
static struct memcg *first_leaf(struct memcg *memcg)
{
    while (!list_empty(&memcg->children))
        memcg = container_of(memcg->children.next, struct memcg, sibling);
    return memcg;
}

void memcg_tree_destroy(struct memcg_tree *tree)
{
    if (!tree)
        return;
    struct memcg *memcg = tree->root ? first_leaf(tree->root) : NULL;
    while (memcg) {
        struct memcg *parent = memcg->parent;
        list_del_init(&memcg->sibling);
        memcg_free(memcg);
        memcg = parent ? first_leaf(parent) : NULL;
    }
    memcg_stock_destroy(tree->stock);
    free((void *)tree->ids);
    rstat_tree_exit(&tree->rstat);
    free(tree);
}

void memcg_tree_verify(struct memcg_tree *tree)
{
    size_t count = 0;
    lock_spin_acquire(&tree->lock);
    for (struct memcg *memcg = tree->root; memcg; memcg = memcg_next(tree->root, memcg)) {
        count++;
        uint32_t id = atomic_load_relaxed(&memcg->id);
        MGLRU_CHECK(memcg->tree == tree);
        MGLRU_CHECK(!id || atomic_load_relaxed(&tree->ids[id]) == memcg);
        MGLRU_CHECK(atomic_load_relaxed(&memcg->refs) > 0 || memcg_charged(memcg));
        MGLRU_CHECK(!memcg->parent || !memcg_online(memcg) ||
                    child_find(memcg->parent, memcg->name, strlen(memcg->name)) == memcg);
        MGLRU_CHECK(!memcg->parent || memcg->depth == memcg->parent->depth + 1);
        MGLRU_CHECK(page_counter_read(&memcg->memory) >= memcg_stock_pages(memcg));
        rstat_verify(&memcg->stat.rstat);
    }
    MGLRU_CHECK(count == tree->count);
    lock_spin_release(&tree->lock);
}
