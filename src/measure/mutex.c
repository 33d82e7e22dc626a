/* SPDX-License-Identifier: MIT */
/*
 * The cache that a program would write first: a hash map with chains, a list in the order of use,
 * and one mutex around both and around the copy. The simplest thing that is right.
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <mglru/error.h>

#include "base/bits.h"
#include "base/list.h"
#include "measure/subjects.h"

struct entry {
    struct list_node use; /* cache.used, most recent first */
    struct entry *next;   /* of the bucket */
    uint32_t page;
    char *data;
};

struct cache {
    pthread_mutex_t lock;
    struct measure_setup setup;
    struct list_node used;
    struct entry **buckets;
    uint64_t mask;
    uint64_t room; /* pages that may still come without an eviction */
};

static struct entry **bucket_of(const struct cache *cache, uint32_t page)
{
    return &cache->buckets[bits_mix64(page) & cache->mask];
}

static void mutex_destroy(void *state)
{
    struct cache *cache = state;
    struct list_node *pos, *tmp;
    list_for_each_safe (pos, tmp, &cache->used) {
        struct entry *entry = container_of(pos, struct entry, use);
        free(entry->data);
        free(entry);
    }
    pthread_mutex_destroy(&cache->lock);
    free(cache->buckets);
    free(cache);
}

static int mutex_create(const struct measure_setup *setup, void **state)
{
    *state = NULL;
    struct cache *cache = calloc(1, sizeof(*cache));
    if (!cache)
        return MGLRU_ENOMEM;
    cache->setup = *setup;
    cache->room = setup->memory_bytes / setup->page_bytes;
    cache->mask = (UINT64_C(1) << bits_log2up(cache->room)) * 2 - 1;
    list_init(&cache->used);
    pthread_mutex_init(&cache->lock, NULL);
    cache->buckets = calloc(cache->mask + 1, sizeof(struct entry *));
    if (!cache->buckets) {
        mutex_destroy(cache);
        return MGLRU_ENOMEM;
    }
    *state = cache;
    return 0;
}

static struct entry *find(const struct cache *cache, uint32_t page)
{
    struct entry *entry = *bucket_of(cache, page);
    while (entry && entry->page != page)
        entry = entry->next;
    return entry;
}

/* The entry used longest ago, out of list and map. */
static struct entry *evict(struct cache *cache)
{
    struct entry *entry = container_of(cache->used.prev, struct entry, use);
    struct entry **at = bucket_of(cache, entry->page);
    while (*at != entry)
        at = &(*at)->next;
    *at = entry->next;
    list_del(&entry->use);
    return entry;
}

static struct entry *new_entry(struct cache *cache)
{
    struct entry *entry = calloc(1, sizeof(*entry));
    char *data = entry ? malloc(cache->setup.page_bytes) : NULL;
    if (!data) {
        free(entry);
        return NULL;
    }
    entry->data = data;
    cache->room--;
    return entry;
}

static struct entry *bring(struct cache *cache, uint32_t page)
{
    struct entry *entry = cache->room ? new_entry(cache) : evict(cache);
    if (!entry)
        return NULL;
    const struct measure_setup *setup = &cache->setup;
    memcpy(entry->data, setup->source + (size_t)page * setup->page_bytes, setup->page_bytes);
    entry->page = page;
    struct entry **bucket = bucket_of(cache, page);
    entry->next = *bucket;
    *bucket = entry;
    list_add_head(&cache->used, &entry->use);
    return entry;
}

static int mutex_read(void *state, struct measure_reads *reads)
{
    struct cache *cache = state;
    for (uint32_t i = 0; i < reads->count; i++) {
        uint32_t page = reads->pages[i];
        pthread_mutex_lock(&cache->lock);
        struct entry *entry = find(cache, page);
        if (entry) {
            list_move_head(&cache->used, &entry->use);
        } else {
            entry = bring(cache, page);
            reads->misses++;
        }
        if (entry)
            memcpy(reads->buffer,
                   entry->data + measure_offset(page, cache->setup.page_bytes, reads->bytes),
                   reads->bytes);
        pthread_mutex_unlock(&cache->lock);
        if (!entry)
            return MGLRU_ENOMEM;
    }
    return 0;
}

const struct measure_subject measure_mutex = {"mutex",       mutex_create, mutex_read,
                                              mutex_destroy, NULL,         1};
