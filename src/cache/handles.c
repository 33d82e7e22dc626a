/* SPDX-License-Identifier: MIT */
/*
 * Public handles: memcgs, mappings, open files; their birth and end.
 */
#include "cache/cache.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"

/* --- memcgs --------------------------------------------------------------------------------- */

bool cache_pays_for_children(const struct mglru_cache *cache, const struct memcg *memcg)
{
    return !memcg_is_root(memcg) && (!cache->container || strcmp(memcg->path, cache->container));
}

/* The kernel's structures of a memcg are charged to its parent. */
static int charge_parent(struct mglru_cache *cache, struct memcg *memcg, long bytes)
{
    if (!cache_pays_for_children(cache, memcg->parent))
        return 0;
    return cache_charge_kernel(cache, memcg_user(memcg->parent), bytes);
}

/* Gives a new memcg its other parts. On failure it is as it was. */
static int attach(struct mglru_cache *cache, struct memcg *memcg)
{
    int error = lruvec_attach(&cache->reclaim, memcg);
    if (error)
        return error;
    error = cache_memcg_attach(cache, memcg);
    if (!error)
        error = charge_parent(cache, memcg, (long)cache->model->memcg_bytes);
    if (error) {
        lruvec_detach(memcg);
        free(memcg->user);
        memcg->user = NULL;
    }
    return error;
}

/* The memcg at @path, whose parent exists. *@created: it is new. */
static int create_one(struct mglru_cache *cache, const char *path, struct memcg **out,
                      bool *created)
{
    *created = memcg_find(cache->tree, path, out) != 0;
    if (!*created)
        return 0;
    int error = memcg_create_path(cache->tree, path, out);
    if (error || cache_is_shared(cache))
        return error;
    error = attach(cache, *out);
    if (error)
        memcg_offline(*out, cpu_current);
    return error;
}

static int remove_memcg(struct mglru_memcg *user);

/* Creates what is missing of @path, cut at each of its parts in turn. A failure takes back what
 * this call created. */
static int create_parts(struct mglru_cache *cache, char *path, struct memcg **out)
{
    struct memcg *last = cache->tree->root;
    unsigned made = 0;
    int error = 0;
    for (char *end = path + 1; !error && end;) {
        end = strchr(end, '/');
        if (end)
            *end = '\0';
        struct memcg *memcg;
        bool created;
        error = create_one(cache, path, &memcg, &created);
        if (!error) {
            last = memcg;
            made += created;
        }
        if (end)
            *end++ = '/';
    }
    for (; error && made; made--) {
        struct memcg *parent = last->parent;
        remove_memcg(memcg_user(last));
        last = parent;
    }
    *out = last;
    return error;
}

/* The program gets the handle: from now on the program alone removes the memcg. */
static struct mglru_memcg *hand_out(const struct memcg *memcg)
{
    struct mglru_memcg *user = memcg_user(memcg);
    user->known = true;
    return user;
}

int mglru_memcg_create(struct mglru_cache *cache, const char *path, struct mglru_memcg **out)
{
    struct memcg *memcg = NULL;
    *out = NULL;
    if (!path || !memcg_path_valid(path))
        return MGLRU_EINVAL;
    char *copy = strdup(path);
    if (!copy)
        return MGLRU_ENOMEM;
    cache_enter(cache);
    int error = path[1] ? create_parts(cache, copy, &memcg) : memcg_find(cache->tree, path, &memcg);
    if (!error)
        *out = hand_out(memcg);
    cache_leave(cache);
    free(copy);
    return error;
}

int mglru_memcg_find(struct mglru_cache *cache, const char *path, struct mglru_memcg **out)
{
    struct memcg *memcg;
    *out = NULL;
    cache_enter(cache);
    int error = memcg_find(cache->tree, path, &memcg);
    if (!error)
        *out = hand_out(memcg);
    cache_leave(cache);
    return error;
}

/* Whether there is a memcg that the one at @path would be a child of. */
static bool has_parent(struct mglru_cache *cache, const char *path)
{
    char parent[MEMCG_PATH_MAX + 1];
    struct memcg *memcg;
    size_t length = (size_t)(strrchr(path, '/') - path);
    snprintf(parent, sizeof(parent), "%.*s", (int)(length ? length : 1), path);
    return memcg_find(cache->tree, parent, &memcg) == 0;
}

int cache_memcg_mkdir(struct mglru_cache *cache, const char *path)
{
    struct memcg *memcg;
    bool created;
    if (!memcg_path_valid(path))
        return MGLRU_EINVAL;
    cache_enter(cache);
    int error = has_parent(cache, path) ? create_one(cache, path, &memcg, &created) : MGLRU_ENOENT;
    cache_leave(cache);
    return error || created ? error : MGLRU_EEXIST;
}

/* --- pages that go ---------------------------------------------------------------------- */

static void drop_slot(struct mglru_mapping *mapping, uint64_t page)
{
    struct mglru_cache *cache = mapping->cache;
    uint64_t slot = index_get(&mapping->index, page);
    if (slot_is_folio(slot)) {
        cache_folio_drop(cache, slot_folio(slot));
        return;
    }
    struct index_leaf *leaf = index_leaf(&mapping->index, page);
    if (mapping->kind == MGLRU_ANON)
        cache_swap_forget(cache, slot >> 1);
    leaf_erase(leaf, page);
    cache_leaf_settle(cache, leaf);
}

/* Drops what @leaf has between two pages. The leaf may be gone afterwards. */
static void drop_leaf(struct mglru_mapping *mapping, struct index_leaf *leaf, uint64_t first,
                      uint64_t last)
{
    uint64_t base = leaf->chunk * INDEX_LEAF_PAGES;
    uint64_t occupied = leaf->occupied;
    for (; occupied; occupied &= occupied - 1) {
        uint64_t page = base + (uint64_t)__builtin_ctzll(occupied);
        if (page < first || page > last)
            continue;
        /* A large folio took its other pages along; the leaf may have gone with it. */
        uint64_t slot = index_get(&mapping->index, page);
        if (!slot)
            continue;
        /* One that reaches beyond the range is split; without memory for that it goes whole. */
        struct folio *folio = slot_is_folio(slot) ? slot_folio(slot) : NULL;
        if (folio &&
            (folio->index < first || folio->index + (uint64_t)folio_pages(folio) - 1 > last))
            cache_folio_split(mapping->cache, folio);
        drop_slot(mapping, page);
    }
}

void mglru_mapping_drop(struct mglru_mapping *mapping, uint64_t index, uint64_t count)
{
    struct page_index *pages = &mapping->index;
    if (!count || index > MGLRU_INDEX_MAX || cache_is_shared(mapping->cache))
        return; /* shared: mglru_drop and mglru_truncate */
    uint64_t last = count - 1 > MGLRU_INDEX_MAX - index ? MGLRU_INDEX_MAX : index + count - 1;
    uint64_t chunks = (last >> INDEX_LEAF_SHIFT) - (index >> INDEX_LEAF_SHIFT) + 1;
    if (chunks <= pages->leaves) {
        for (uint64_t chunk = index >> INDEX_LEAF_SHIFT; chunk <= last >> INDEX_LEAF_SHIFT;
             chunk++) {
            struct index_leaf *leaf = index_leaf(pages, chunk << INDEX_LEAF_SHIFT);
            if (leaf)
                drop_leaf(mapping, leaf, index, last);
        }
        return;
    }
    /* Removal moves table entries: a slot is looked at again after its leaf went. */
    for (uint64_t i = 0; i < pages->table_size;) {
        struct index_leaf *leaf = pages->table[i];
        if (leaf)
            drop_leaf(mapping, leaf, index, last);
        if (!leaf || pages->table[i] == leaf)
            i++;
    }
}

/* Frees the anonymous memory of @mapping that @memcg pays for, swapped or not. */
static void drop_owned(struct mglru_mapping *mapping, const struct memcg *memcg)
{
    struct page_index *pages = &mapping->index;
    /* Removal moves table entries: a slot is looked at again after its leaf went. */
    for (uint64_t i = 0; i < pages->table_size;) {
        struct index_leaf *leaf = pages->table[i];
        for (uint64_t rest = leaf ? leaf->occupied : 0; rest; rest &= rest - 1) {
            uint64_t page = leaf->chunk * INDEX_LEAF_PAGES + (uint64_t)__builtin_ctzll(rest);
            uint64_t slot = *leaf_slot(leaf, page);
            bool owned = slot_is_folio(slot) ? folio_lruvec(slot_folio(slot))->memcg == memcg
                                             : workingset_unpack(slot >> 1).owner_id ==
                                                   atomic_load_relaxed(&memcg->id);
            if (owned)
                drop_slot(mapping, page);
            if (pages->table[i] != leaf)
                break;
        }
        if (!leaf || pages->table[i] == leaf)
            i++;
    }
}

static void close_file(struct mglru_file *file)
{
    struct mglru_cache *cache = file->mapping->cache;
    if (file->kernel_bytes) {
        file->memcg->files_charged -= file->mapping->kind == MGLRU_FILE;
        cache_charge_kernel(cache, file->memcg, -file->kernel_bytes);
    }
    list_del(&file->memcg_link);
    list_del(&file->cache_link);
    if (file->vma)
        vma_destroy(file->vma);
    cache->mapping_bytes -= sizeof(*file);
    free(file);
}

/* The processes of a memcg end: files are closed, anonymous memory and page tables are freed. */
static void end_processes(struct mglru_memcg *user)
{
    struct list_node *pos, *tmp;
    list_for_each_safe (pos, tmp, &user->files) {
        struct mglru_file *file = container_of(pos, struct mglru_file, memcg_link);
        if (file->mapping->kind == MGLRU_ANON)
            drop_owned(file->mapping, user->memcg);
        close_file(file);
    }
    if (user->mm)
        mm_destroy(user->mm);
    user->mm = NULL;
    if (user->table_pages + user->fixed_pages) {
        long pages = user->table_pages + user->fixed_pages;
        memcg_uncharge(user->memcg, (unsigned)pages);
        memcg_stat_add(user->memcg, cpu_current, 0, MEMCG_KERNEL, -pages);
        memcg_stat_add(user->memcg, cpu_current, 0, MEMCG_PAGETABLES, -user->table_pages);
        user->table_pages = user->fixed_pages = 0;
    }
}

/* Kernel objects outlive the memcg: the parent pays for them from now on. */
static void reparent_kernel(struct mglru_cache *cache, struct mglru_memcg *user)
{
    struct mglru_memcg *parent = memcg_user(user->memcg->parent);
    struct list_node *pos;
    list_for_each (pos, &cache->mappings) {
        struct page_index *index = &container_of(pos, struct mglru_mapping, link)->index;
        for (uint64_t i = 0; i < index->table_size; i++)
            if (index->table[i] && index->table[i]->charged == user->memcg)
                index->table[i]->charged = parent->memcg;
        for (uint64_t i = 0; i < index->inner_size; i++)
            if (index->inner[i].charged == user->memcg)
                index->inner[i].charged = parent->memcg;
    }
    list_splice_tail(&parent->shadow_leaves, &user->shadow_leaves);
    parent->shadow_leaf_count += user->shadow_leaf_count;
    user->shadow_leaf_count = 0;

    long pages = user->kernel_pages;
    if (pages) {
        memcg_charge_force(parent->memcg, (unsigned)pages);
        memcg_uncharge(user->memcg, (unsigned)pages);
        memcg_stat_add(user->memcg, cpu_current, 0, MEMCG_KERNEL, -pages);
        memcg_stat_add(parent->memcg, cpu_current, 0, MEMCG_KERNEL, pages);
    }
    parent->kernel_pages += pages;
    parent->kernel_bytes += user->kernel_bytes;
    parent->lookup_bytes += user->lookup_bytes;
    user->kernel_pages = 0;
    user->kernel_bytes = 0;
    user->lookup_bytes = 0;
}

static int remove_memcg(struct mglru_memcg *user)
{
    struct mglru_cache *cache = user->cache;
    struct memcg *memcg = user->memcg;
    if (memcg_is_root(memcg))
        return MGLRU_EINVAL;
    if (memcg_has_children(memcg))
        return MGLRU_EBUSY;
    end_processes(user);
    reparent_kernel(cache, user);
    if (cache->model->reparents_folios) {
        memcg_user(memcg->parent)->dirty_pages += user->dirty_pages;
        user->dirty_pages = 0;
    }
    reclaim_offline(&cache->reclaim, memcg);
    charge_parent(cache, memcg, -(long)cache->model->memcg_bytes);
    return memcg_offline(memcg, cpu_current);
}

int mglru_memcg_remove(struct mglru_memcg *user)
{
    struct mglru_cache *cache = user->cache;
    cache_enter(cache);
    int error = remove_memcg(user);
    cache_leave(cache);
    return error;
}

int cache_memcg_rmdir(struct mglru_cache *cache, const char *path)
{
    struct memcg *memcg;
    cache_enter(cache);
    int error = memcg_find(cache->tree, path, &memcg);
    if (!error) {
        struct mglru_memcg *user = memcg_user(memcg);
        bool used = user->known || user->walks || !list_empty(&user->files);
        error = used && !memcg_is_root(memcg) ? MGLRU_EBUSY : remove_memcg(user);
    }
    cache_leave(cache);
    return error;
}

const char *mglru_memcg_path(const struct mglru_memcg *user)
{
    return user->memcg->path;
}

struct mglru_memcg *mglru_memcg_next(struct mglru_cache *cache, struct mglru_memcg *user)
{
    struct memcg *root = cache->tree->root;
    cache_enter(cache);
    struct memcg *memcg = user ? user->memcg : NULL;
    if (memcg)
        memcg_get(memcg); /* the walk gives it back */
    do {
        memcg = memcg_iter_next(root, memcg, NULL);
    } while (memcg && !memcg_online(memcg));
    memcg_iter_break(memcg); /* online: the lock of control calls keeps it */
    struct mglru_memcg *next = memcg ? memcg_user(memcg) : NULL;
    if (user && user->walks)
        user->walks--;
    if (next)
        next->walks++;
    cache_leave(cache);
    return next;
}

uint64_t mglru_memcg_id(const struct mglru_memcg *user)
{
    return atomic_load_relaxed(&user->memcg->id);
}

/* --- mappings ------------------------------------------------------------------------------- */

int mglru_mapping_create(struct mglru_cache *cache, const char *name, enum mglru_mapping_kind kind,
                         uint64_t size_pages, struct mglru_mapping **out)
{
    struct cache_mapping_wish wish = {.name = name, .kind = kind, .size_pages = size_pages};
    *out = NULL;
    if (!name || (kind != MGLRU_FILE && kind != MGLRU_ANON) || size_pages > MGLRU_INDEX_MAX + 1)
        return MGLRU_EINVAL;
    return cache_mapping_create(cache, &wish, out);
}

int cache_mapping_create(struct mglru_cache *cache, const struct cache_mapping_wish *wish,
                         struct mglru_mapping **out)
{
    struct mglru_mapping *mapping = calloc(1, sizeof(*mapping));
    char *copy = strdup(wish->name);
    if (!mapping || !copy) {
        free(mapping);
        free(copy);
        return MGLRU_ENOMEM;
    }
    list_init(&mapping->base.vmas);
    mapping->base.anon = wish->kind == MGLRU_ANON;
    mapping->cache = cache;
    mapping->kind = wish->kind;
    mapping->size_pages = wish->size_pages;
    mapping->data = wish->data;
    mapping->name = copy;
    index_init(&mapping->index, &cache->index_pool);
    cache_enter(cache);
    list_add_tail(&cache->mappings, &mapping->link);
    cache->mapping_bytes += sizeof(*mapping) + strlen(copy) + 1;
    cache_leave(cache);
    *out = mapping;
    return 0;
}

const char *mglru_mapping_name(const struct mglru_mapping *mapping)
{
    return mapping->name;
}

void mglru_mapping_resize(struct mglru_mapping *mapping, uint64_t size_pages)
{
    mapping->size_pages = size_pages;
}

/* --- open files ----------------------------------------------------------------------------- */

/* Gives a new file its place; on failure it has none. */
static int open_file(struct mglru_mapping *mapping, struct mglru_memcg *user,
                     struct mglru_file *file)
{
    file->mapping = mapping;
    file->memcg = user;
    /* Errors from before it was opened are not its own. */
    atomic_store_relaxed(&file->errors_told, atomic_load_relaxed(&mapping->errors));
    if (mapping->kind == MGLRU_FILE && user->files_charged < KERNEL_FILES_MAX) {
        int error = cache_charge_kernel(mapping->cache, user, KERNEL_FILE_BYTES);
        if (error)
            return error;
        user->files_charged++;
        file->kernel_bytes = KERNEL_FILE_BYTES;
    }
    list_add_tail(&user->files, &file->memcg_link);
    list_add_tail(&mapping->cache->files, &file->cache_link);
    mapping->cache->mapping_bytes += sizeof(*file);
    return 0;
}

int mglru_file_open(struct mglru_mapping *mapping, struct mglru_memcg *user,
                    struct mglru_file **out)
{
    *out = NULL;
    if (!mapping || !user || mapping->cache != user->cache)
        return MGLRU_EINVAL;
    struct mglru_file *file = aligned_alloc(64, sizeof(*file));
    if (!file)
        return MGLRU_ENOMEM;
    memset(file, 0, sizeof(*file));
    cache_enter(mapping->cache);
    int error = open_file(mapping, user, file);
    cache_leave(mapping->cache);
    if (error)
        free(file);
    else
        *out = file;
    return error;
}
void mglru_file_reopen(struct mglru_file *file)
{
    struct mglru_mapping *mapping = file->mapping;
    file->readahead = (struct readahead){0};
    if (mapping->looked_up || mapping->kind == MGLRU_ANON)
        return;
    mapping->looked_up = true;
    /* Where there is no room, reclaim has done what it could: the open goes on without. */
    long bytes = (long)mapping->cache->model->lookup_bytes;
    if (!cache_charge_kernel(mapping->cache, file->memcg, bytes))
        file->memcg->lookup_bytes += bytes;
}

void mglru_file_close(struct mglru_file *file)
{
    struct mglru_cache *cache = file->mapping->cache;
    cache_enter(cache);
    close_file(file);
    cache_leave(cache);
}
