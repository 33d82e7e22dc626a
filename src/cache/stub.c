/* SPDX-License-Identifier: MIT */
/*
 * Stand-in for the engine while it is being written: exact LRU under the nearest memory.max, so
 * that the tools link and their plumbing can be tested. The engine replaces this file.
 *
 * Idea: one list of pages in order of last access, one chained hash by (mapping, index); a memcg
 * over its limit gives up the oldest page of its subtree.
 */
#include <mglru/cache.h>
#include <mglru/control.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bits.h"
#include "base/list.h"

#define STUB_BUCKETS 65536
#define STUB_PAGE 4096

struct mglru_memcg {
    struct mglru_cache *cache;
    struct mglru_memcg *parent;
    struct mglru_memcg *next; /* in order of creation */
    char *path;
    uint64_t id;
    uint64_t max_pages;
    uint64_t pages; /* subtree */
    uint64_t pgsteal;
    uint64_t refaults;
    struct mglru_counts counts; /* subtree */
    struct mglru_counts own;
};

struct mglru_mapping {
    struct mglru_mapping *next;
    struct mglru_cache *cache;
    char *name;
    enum mglru_mapping_kind kind;
};

struct mglru_file {
    struct mglru_file *next;
    struct mglru_mapping *mapping;
    struct mglru_memcg *memcg;
};

struct stub_page {
    struct list_node lru;
    struct stub_page *chain;
    struct mglru_mapping *mapping;
    struct mglru_memcg *memcg;
    uint64_t index;
    bool resident; /* false: a shadow entry */
};

struct mglru_cache {
    struct mglru_cache_options options;
    struct mglru_memcg *root;
    struct mglru_memcg *last;
    struct mglru_mapping *mappings;
    struct mglru_file *files;
    struct list_node lru;
    struct stub_page *buckets[STUB_BUCKETS];
};

static struct stub_page **find_slot(struct mglru_mapping *mapping, uint64_t index)
{
    uint64_t hash = bits_mix64((uintptr_t)mapping ^ (index * 0x9E3779B97F4A7C15ull));
    struct stub_page **slot = &mapping->cache->buckets[hash % STUB_BUCKETS];
    while (*slot != NULL && ((*slot)->mapping != mapping || (*slot)->index != index))
        slot = &(*slot)->chain;
    return slot;
}

static int add_memcg(struct mglru_cache *cache, const char *path, struct mglru_memcg *parent)
{
    struct mglru_memcg *memcg = calloc(1, sizeof(*memcg));
    char *copy = strdup(path);
    if (memcg == NULL || copy == NULL) {
        free(memcg);
        free(copy);
        return MGLRU_ENOMEM;
    }
    memcg->path = copy;
    memcg->cache = cache;
    memcg->parent = parent;
    memcg->max_pages = UINT64_MAX;
    memcg->id = cache->last == NULL ? 1 : cache->last->id + 1;
    if (cache->last == NULL)
        cache->root = memcg;
    else
        cache->last->next = memcg;
    cache->last = memcg;
    return MGLRU_OK;
}

int mglru_cache_create(const struct mglru_cache_options *options, struct mglru_cache **out)
{
    *out = NULL;
    struct mglru_cache *cache = calloc(1, sizeof(*cache));
    if (cache == NULL)
        return MGLRU_ENOMEM;
    if (options != NULL)
        cache->options = *options;
    list_init(&cache->lru);
    if (add_memcg(cache, "/", NULL) != MGLRU_OK) {
        free(cache);
        return MGLRU_ENOMEM;
    }
    *out = cache;
    return MGLRU_OK;
}

void mglru_cache_destroy(struct mglru_cache *cache)
{
    if (cache == NULL)
        return;
    for (size_t i = 0; i < STUB_BUCKETS; i++)
        for (struct stub_page *page = cache->buckets[i], *next; page != NULL; page = next) {
            next = page->chain;
            free(page);
        }
    for (struct mglru_file *file = cache->files, *next; file != NULL; file = next) {
        next = file->next;
        free(file);
    }
    for (struct mglru_mapping *mapping = cache->mappings, *next; mapping != NULL; mapping = next) {
        next = mapping->next;
        free(mapping->name);
        free(mapping);
    }
    for (struct mglru_memcg *memcg = cache->root, *next; memcg != NULL; memcg = next) {
        next = memcg->next;
        free(memcg->path);
        free(memcg);
    }
    free(cache);
}

void mglru_cache_set_time(struct mglru_cache *cache, uint64_t now_ns)
{
}

int mglru_memcg_find(struct mglru_cache *cache, const char *path, struct mglru_memcg **out)
{
    *out = NULL;
    for (struct mglru_memcg *memcg = cache->root; memcg != NULL; memcg = memcg->next)
        if (strcmp(memcg->path, path) == 0) {
            *out = memcg;
            return MGLRU_OK;
        }
    return MGLRU_ENOENT;
}

int mglru_memcg_create(struct mglru_cache *cache, const char *path, struct mglru_memcg **out)
{
    *out = NULL;
    if (path[0] != '/' || strstr(path, "//") != NULL)
        return MGLRU_EINVAL;
    if (mglru_memcg_find(cache, path, out) == MGLRU_OK)
        return MGLRU_OK;
    char *up = strdup(path);
    if (up == NULL)
        return MGLRU_ENOMEM;
    char *slash = strrchr(up, '/');
    slash[slash == up ? 1 : 0] = '\0';
    struct mglru_memcg *parent;
    int code = mglru_memcg_create(cache, up, &parent);
    free(up);
    if (code == MGLRU_OK)
        code = add_memcg(cache, path, parent);
    if (code == MGLRU_OK)
        *out = cache->last;
    return code;
}

int mglru_memcg_remove(struct mglru_memcg *memcg)
{
    struct mglru_cache *cache = memcg->cache;
    if (memcg == cache->root)
        return MGLRU_EINVAL;
    for (struct mglru_memcg *child = cache->root; child != NULL; child = child->next)
        if (child->parent == memcg)
            return MGLRU_EBUSY;
    struct mglru_memcg *before = cache->root;
    while (before->next != memcg)
        before = before->next;
    before->next = memcg->next;
    if (cache->last == memcg)
        cache->last = before;
    struct list_node *node;
    list_for_each (node, &cache->lru) {
        struct stub_page *page = container_of(node, struct stub_page, lru);
        if (page->memcg == memcg)
            page->memcg = memcg->parent;
    }
    free(memcg->path);
    free(memcg);
    return MGLRU_OK;
}

const char *mglru_memcg_path(const struct mglru_memcg *memcg)
{
    return memcg->path;
}

struct mglru_memcg *mglru_memcg_next(struct mglru_cache *cache, struct mglru_memcg *memcg)
{
    return memcg == NULL ? cache->root : memcg->next;
}

int mglru_mapping_create(struct mglru_cache *cache, const char *name, enum mglru_mapping_kind kind,
                         uint64_t size_pages, struct mglru_mapping **out)
{
    *out = NULL;
    struct mglru_mapping *mapping = calloc(1, sizeof(*mapping));
    char *copy = strdup(name);
    if (mapping == NULL || copy == NULL) {
        free(mapping);
        free(copy);
        return MGLRU_ENOMEM;
    }
    mapping->cache = cache;
    mapping->kind = kind;
    mapping->name = copy;
    mapping->next = cache->mappings;
    cache->mappings = mapping;
    *out = mapping;
    return MGLRU_OK;
}

const char *mglru_mapping_name(const struct mglru_mapping *mapping)
{
    return mapping->name;
}

static void uncharge(struct stub_page *page)
{
    list_del(&page->lru);
    page->resident = false;
    for (struct mglru_memcg *memcg = page->memcg; memcg != NULL; memcg = memcg->parent)
        memcg->pages--;
}

void mglru_mapping_drop(struct mglru_mapping *mapping, uint64_t index, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        struct stub_page **slot = find_slot(mapping, index + i);
        struct stub_page *page = *slot;
        if (page == NULL)
            continue;
        if (page->resident)
            uncharge(page);
        *slot = page->chain;
        free(page);
    }
}

int mglru_file_open(struct mglru_mapping *mapping, struct mglru_memcg *memcg,
                    struct mglru_file **out)
{
    *out = calloc(1, sizeof(**out));
    if (*out == NULL)
        return MGLRU_ENOMEM;
    (*out)->mapping = mapping;
    (*out)->memcg = memcg;
    (*out)->next = memcg->cache->files;
    memcg->cache->files = *out;
    return MGLRU_OK;
}

void mglru_file_reopen(struct mglru_file *file)
{
}

static bool is_below(const struct mglru_memcg *memcg, const struct mglru_memcg *top)
{
    while (memcg != NULL && memcg != top)
        memcg = memcg->parent;
    return memcg != NULL;
}

static bool evict_one(struct mglru_cache *cache, struct mglru_memcg *top)
{
    struct list_node *node;
    list_for_each_reverse (node, &cache->lru) {
        struct stub_page *page = container_of(node, struct stub_page, lru);
        if (!is_below(page->memcg, top))
            continue;
        if (page->mapping->kind == MGLRU_ANON && cache->options.swap_bytes == 0)
            continue;
        uncharge(page);
        for (struct mglru_memcg *memcg = page->memcg; memcg != NULL; memcg = memcg->parent)
            memcg->pgsteal++;
        struct mglru_event event = {.kind = MGLRU_EVENT_EVICT,
                                    .rule = cache->options.classic ? MGLRU_EVICT_CLASSIC
                                                                   : MGLRU_EVICT_OLDEST,
                                    .memcg = page->memcg,
                                    .mapping = page->mapping,
                                    .index = page->index,
                                    .pages = 1,
                                    .type = page->mapping->kind == MGLRU_FILE,
                                    .max_seq = 3};
        if (cache->options.on_event != NULL)
            cache->options.on_event(cache->options.on_event_context, &event);
        return true;
    }
    return false;
}

static int charge(struct mglru_cache *cache, struct stub_page *page)
{
    for (struct mglru_memcg *top = page->memcg; top != NULL; top = top->parent)
        while (top->pages >= top->max_pages)
            if (!evict_one(cache, top)) {
                struct mglru_event event = {.kind = MGLRU_EVENT_OOM, .memcg = top};
                if (cache->options.on_event != NULL)
                    cache->options.on_event(cache->options.on_event_context, &event);
                return MGLRU_EOOM;
            }
    for (struct mglru_memcg *top = page->memcg; top != NULL; top = top->parent)
        top->pages++;
    page->resident = true;
    list_add_head(&cache->lru, &page->lru);
    return MGLRU_OK;
}

/* 0: hit, 1: miss, 2: first touch, or a negative code. */
static int access_page(struct mglru_cache *cache, const struct mglru_access *access, uint64_t index)
{
    struct stub_page **slot = find_slot(access->file->mapping, index);
    struct stub_page *page = *slot;
    if (page != NULL && page->resident) {
        list_move_head(&cache->lru, &page->lru);
        return 0;
    }
    bool fresh = page == NULL;
    if (fresh) {
        page = calloc(1, sizeof(*page));
        if (page == NULL)
            return MGLRU_ENOMEM;
        page->mapping = access->file->mapping;
        page->index = index;
        *slot = page;
    }
    page->memcg = access->file->memcg;
    int code = charge(cache, page);
    if (code != MGLRU_OK)
        return code;
    struct mglru_event event = {.kind = MGLRU_EVENT_REFAULT,
                                .memcg = page->memcg,
                                .mapping = page->mapping,
                                .index = index,
                                .pages = 1,
                                .type = page->mapping->kind == MGLRU_FILE,
                                .max_seq = 3};
    if (!fresh) {
        for (struct mglru_memcg *memcg = page->memcg; memcg != NULL; memcg = memcg->parent)
            memcg->refaults++;
        if (cache->options.on_event != NULL)
            cache->options.on_event(cache->options.on_event_context, &event);
    }
    return access->kind == MGLRU_WRITE || (access->kind == MGLRU_TOUCH && fresh) ? 2 : 1;
}

static void count_into(struct mglru_counts *counts, int outcome)
{
    counts->accesses++;
    counts->hits += outcome == 0;
    counts->misses += outcome == 1;
    counts->pages_read += outcome == 1;
    counts->first_touches += outcome == 2;
}

static void count_page(struct mglru_memcg *memcg, int outcome)
{
    count_into(&memcg->own, outcome);
    for (; memcg != NULL; memcg = memcg->parent)
        count_into(&memcg->counts, outcome);
}

int mglru_cache_access(struct mglru_cache *cache, const struct mglru_access *accesses, size_t count,
                       struct mglru_miss_log *log, size_t *done)
{
    for (*done = 0; *done < count; ++*done) {
        const struct mglru_access *access = &accesses[*done];
        for (uint32_t i = 0; i < access->count; i++) {
            int outcome = access_page(cache, access, access->index + i);
            if (outcome < 0)
                return outcome;
            count_page(access->file->memcg, outcome);
            if (log == NULL)
                continue;
            uint8_t bit = (uint8_t)(1u << (log->next % 8));
            uint8_t *byte = &log->bits[log->next / 8];
            *byte = outcome == 1 ? *byte | bit : *byte & (uint8_t)~bit;
            log->next++;
        }
    }
    return MGLRU_OK;
}

void mglru_memcg_counts(const struct mglru_memcg *memcg, bool recursive, struct mglru_counts *out)
{
    *out = recursive ? memcg->counts : memcg->own;
}

uint64_t mglru_cache_metadata_bytes(const struct mglru_cache *cache)
{
    return cache->root->pages * sizeof(struct stub_page);
}

int mglru_memcg_write(struct mglru_memcg *memcg, const char *name, const char *text, size_t length)
{
    char *end;
    uint64_t value = strtoull(text, &end, 10);
    unsigned shift = *end == 'K' ? 10 : *end == 'M' ? 20 : *end == 'G' ? 30 : 0;
    if (strcmp(name, "memory.max") != 0)
        return strncmp(name, "memory.", 7) == 0 ? MGLRU_OK : MGLRU_ENOENT;
    if (memcg->parent == NULL)
        return MGLRU_ENOENT;
    if (end == text && strncmp(text, "max", 3) != 0)
        return MGLRU_EINVAL;
    memcg->max_pages = end == text ? UINT64_MAX : (value << shift) / STUB_PAGE;
    while (memcg->pages > memcg->max_pages)
        if (!evict_one(memcg->cache, memcg))
            return MGLRU_EOOM;
    return MGLRU_OK;
}

static int give_text(const char *text, char *buffer, size_t capacity, size_t *length)
{
    *length = strlen(text);
    if (capacity > 0)
        snprintf(buffer, capacity, "%s", text);
    return *length < capacity ? MGLRU_OK : MGLRU_EOVERFLOW;
}

int mglru_memcg_read(struct mglru_memcg *memcg, const char *name, char *buffer, size_t capacity,
                     size_t *length)
{
    char text[64];
    uint64_t value = 0;
    *length = 0;
    if (strcmp(name, "memory.current") == 0)
        value = memcg->pages * STUB_PAGE;
    else if (strcmp(name, "memory.max") == 0)
        value = memcg->max_pages == UINT64_MAX ? UINT64_MAX : memcg->max_pages * STUB_PAGE;
    else if (strncmp(name, "memory.", 7) != 0)
        return MGLRU_ENOENT;
    if (value == UINT64_MAX)
        return give_text("max\n", buffer, capacity, length);
    snprintf(text, sizeof(text), "%llu\n", (unsigned long long)value);
    return give_text(text, buffer, capacity, length);
}

int mglru_cache_write(struct mglru_cache *cache, const char *name, const char *text, size_t length)
{
    return MGLRU_OK;
}

int mglru_cache_read(struct mglru_cache *cache, const char *name, char *buffer, size_t capacity,
                     size_t *length)
{
    *length = 0;
    if (strcmp(name, "lru_gen") != 0)
        return MGLRU_ENOENT;
    char text[4096];
    size_t used = 0;
    for (struct mglru_memcg *memcg = cache->root; memcg != NULL; memcg = memcg->next)
        if (used < sizeof(text) - 256)
            used += (size_t)snprintf(text + used, sizeof(text) - used,
                                     "memcg %5llu %.128s\n node     0\n%11u%11u%11u %10llu \n",
                                     (unsigned long long)memcg->id, memcg->path, 3u, 0u, 0u,
                                     (unsigned long long)memcg->pages);
    return give_text(text, buffer, capacity, length);
}

uint64_t mglru_memcg_id(const struct mglru_memcg *memcg)
{
    return memcg->id;
}

int mglru_memcg_stat(struct mglru_memcg *memcg, const char *name, uint64_t *value)
{
    *value = 0;
    if (strcmp(name, "file") == 0)
        *value = memcg->pages * STUB_PAGE;
    else if (strcmp(name, "pgsteal") == 0)
        *value = memcg->pgsteal;
    else if (strcmp(name, "workingset_refault_file") == 0)
        *value = memcg->refaults;
    else
        return MGLRU_ENOENT;
    return MGLRU_OK;
}

const char *mglru_stat_name(size_t i)
{
    static const char *const names[] = {"file", "workingset_refault_file", "pgsteal"};
    return i < sizeof(names) / sizeof(names[0]) ? names[i] : NULL;
}
