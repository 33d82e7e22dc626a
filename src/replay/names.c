/* SPDX-License-Identifier: MIT */
/*
 * Interned names: per kind an array of strings by id and an open-addressing table of ids by hash.
 * The table is touched by the interning thread alone; the array can move when it grows, so that
 * and every look-up hold the lock. Look-ups happen once a name and run, never per access.
 */
#include "replay/names.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include <mglru/error.h>

#include "base/bits.h"

#define TABLE_MIN 64

struct name_list {
    char **names; /* by id */
    uint32_t count;
    uint32_t capacity;
    uint32_t *table; /* id + 1, 0: empty; a power of two, at most half full */
    uint32_t table_size;
};

struct replay_names {
    pthread_mutex_t lock;
    struct name_list lists[2];
};

struct replay_names *replay_names_create(void)
{
    struct replay_names *names = calloc(1, sizeof(*names));
    if (names != NULL)
        pthread_mutex_init(&names->lock, NULL);
    return names;
}

void replay_names_destroy(struct replay_names *names)
{
    if (names == NULL)
        return;
    for (int kind = 0; kind < 2; kind++) {
        struct name_list *list = &names->lists[kind];
        for (uint32_t i = 0; i < list->count; i++)
            free(list->names[i]);
        free(list->names);
        free(list->table);
    }
    pthread_mutex_destroy(&names->lock);
    free(names);
}

static uint32_t hash_name(const char *name)
{
    uint64_t hash = 0xCBF29CE484222325ull; /* FNV-1a */
    for (; *name != '\0'; name++)
        hash = (hash ^ (unsigned char)*name) * 0x100000001B3ull;
    return (uint32_t)bits_mix64(hash);
}

/* Slot that holds @name, or the empty one where it belongs. */
static uint32_t *find_slot(struct name_list *list, const char *name)
{
    uint32_t i = hash_name(name);
    for (;; i++) {
        uint32_t *slot = &list->table[i & (list->table_size - 1)];
        if (*slot == 0 || strcmp(list->names[*slot - 1], name) == 0)
            return slot;
    }
}

static int grow_table(struct name_list *list)
{
    uint32_t size = list->table_size == 0 ? TABLE_MIN : list->table_size * 2;
    uint32_t *table = calloc(size, sizeof(*table));
    if (table == NULL)
        return MGLRU_ENOMEM;
    free(list->table);
    list->table = table;
    list->table_size = size;
    for (uint32_t id = 0; id < list->count; id++)
        *find_slot(list, list->names[id]) = id + 1;
    return MGLRU_OK;
}

static int append_name(struct name_list *list, const char *name)
{
    if (list->count == list->capacity) {
        uint32_t capacity = list->capacity == 0 ? TABLE_MIN : list->capacity * 2;
        char **grown = realloc(list->names, capacity * sizeof(*grown));
        if (grown == NULL)
            return MGLRU_ENOMEM;
        list->names = grown;
        list->capacity = capacity;
    }
    char *copy = strdup(name);
    if (copy == NULL)
        return MGLRU_ENOMEM;
    list->names[list->count++] = copy;
    return MGLRU_OK;
}

int replay_names_intern(struct replay_names *names, enum replay_name_kind kind, const char *name,
                        uint32_t *id)
{
    struct name_list *list = &names->lists[kind];
    *id = 0;
    if (list->count >= list->table_size / 2 && grow_table(list) != MGLRU_OK)
        return MGLRU_ENOMEM;
    uint32_t *slot = find_slot(list, name);
    if (*slot == 0) {
        pthread_mutex_lock(&names->lock);
        int code = append_name(list, name);
        pthread_mutex_unlock(&names->lock);
        if (code != MGLRU_OK)
            return code;
        *slot = list->count;
    }
    *id = *slot - 1;
    return MGLRU_OK;
}

const char *replay_names_at(const struct replay_names *names, enum replay_name_kind kind,
                            uint32_t id)
{
    struct replay_names *locked = (struct replay_names *)names;
    pthread_mutex_lock(&locked->lock);
    const char *name = names->lists[kind].names[id];
    pthread_mutex_unlock(&locked->lock);
    return name;
}

uint32_t replay_names_count(const struct replay_names *names, enum replay_name_kind kind)
{
    struct replay_names *locked = (struct replay_names *)names;
    pthread_mutex_lock(&locked->lock);
    uint32_t count = names->lists[kind].count;
    pthread_mutex_unlock(&locked->lock);
    return count;
}
