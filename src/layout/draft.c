/* SPDX-License-Identifier: MIT */
/* Guesses classes from the names of types; see draft.h. */
#include "layout/draft.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mglru/error.h>

#include "base/check.h"

#define TEXT_BYTES 512

/* Types by name ('*' matches anything), and what they are. */
static const char *const atomics[] = {
    "atomic_t",
    "atomic_long_t",
    "atomic64_t",
    "refcount_t",
    "struct refcount_struct",
    "local_t",
    "kref",
    "struct kref",
    "std::atomic<*",
    "atomic_*",
    "struct std::atomic<*",
    "struct percpu_ref",
    "file_ref_t",
    "rcuref_t",
    "struct core::sync::atomic::Atomic*",
};
static const char *const locks[] = {
    "spinlock_t",
    "raw_spinlock_t",
    "struct spinlock",
    "struct raw_spinlock",
    "arch_spinlock_t",
    "rwlock_t",
    "struct mutex",
    "struct rw_semaphore",
    "struct semaphore",
    "seqlock_t",
    "seqcount*",
    "struct lockref",
    "pthread_mutex_t",
    "pthread_spinlock_t",
    "pthread_rwlock_t",
    "pthread_cond_t",
    "std::mutex",
    "std::*mutex",
    "mtx_t",
    "sem_t",
    "std::atomic_flag",
    "struct std::atomic_flag",
};
static const char *const links[] = {
    "struct list_head", "struct hlist_head", "struct hlist_node",     "struct hlist_nulls_node",
    "struct rb_root",   "struct rb_node",    "struct rb_root_cached", "struct llist_node",
    "struct xarray",    "struct list_node",  "struct hlist_bl_node",
};

static bool one_of(const char *const *names, size_t count, const char *name)
{
    for (size_t i = 0; name != NULL && i < count; i++)
        if (layout_glob(names[i], name))
            return true;
    return false;
}

/* A name without the words that files in C and C++ may put in front of it. */
static const char *plain(const char *name)
{
    static const char *const words[] = {"const ", "class "};
    for (size_t i = 0; name != NULL && i < MGLRU_ARRAY_LEN(words); i++)
        if (strncmp(name, words[i], strlen(words[i])) == 0)
            name += strlen(words[i]);
    return name;
}

static bool is_atomic(const struct layout_member *member)
{
    return (member->flags & LAYOUT_ATOMIC) != 0 ||
           ((member->flags & LAYOUT_POINTER) == 0 &&
            (one_of(atomics, MGLRU_ARRAY_LEN(atomics), plain(member->type_name)) ||
             one_of(atomics, MGLRU_ARRAY_LEN(atomics), plain(member->resolved))));
}

static bool is_lock(const struct layout_member *member)
{
    return (member->flags & LAYOUT_POINTER) == 0 &&
           (one_of(locks, MGLRU_ARRAY_LEN(locks), plain(member->type_name)) ||
            one_of(locks, MGLRU_ARRAY_LEN(locks), plain(member->resolved)));
}

static bool is_link(const struct layout_member *member)
{
    return one_of(links, MGLRU_ARRAY_LEN(links), plain(member->type_name)) ||
           one_of(links, MGLRU_ARRAY_LEN(links), plain(member->resolved));
}

/* A pointer to a table of functions: its type's name says so, or it is to constant data. */
static bool is_operations(const struct layout_member *member)
{
    const char *name = member->type_name;
    if ((member->flags & LAYOUT_POINTER) == 0 || name == NULL)
        return false;
    return layout_glob("*_operations *", name) || layout_glob("*_ops *", name) ||
           strstr(name, "(*)") != NULL;
}

/* The only lock of the struct that holds @field, or of all; NULL: none or several. */
static const struct layout_field *only_lock(const struct layout_map *map)
{
    const struct layout_field *found = NULL;
    for (size_t i = 0; i < map->field_count; i++) {
        if (!is_lock(map->fields[i].member))
            continue;
        if (found != NULL)
            return NULL;
        found = &map->fields[i];
    }
    return found;
}

static const char *last_part(const char *path)
{
    const char *dot = strrchr(path, '.');
    return dot != NULL ? dot + 1 : path;
}

/* Fills in class and reason; the text of the reason goes to @reason. */
static enum layout_class guess(const struct layout_field *field, const struct layout_field *lock,
                               char *reason)
{
    const struct layout_member *member = field->member;
    const char *type = member->type_name != NULL ? member->type_name : "?";
    if (is_atomic(member)) {
        snprintf(reason, TEXT_BYTES, "%s: made for writing without a lock", type);
        return LAYOUT_CLASS_ATOMIC;
    }
    if (is_lock(member)) {
        snprintf(reason, TEXT_BYTES, "%s: CPUs write the lock before they hold it", type);
        return LAYOUT_CLASS_ATOMIC;
    }
    if ((member->flags & LAYOUT_PERCPU) != 0) {
        snprintf(reason, TEXT_BYTES, "%s: points to per-CPU data, set once", type);
        return LAYOUT_CLASS_READ;
    }
    if ((member->flags & LAYOUT_CONST) != 0 || (member->flags & LAYOUT_VPTR) != 0) {
        snprintf(reason, TEXT_BYTES, "%s: constant", type);
        return LAYOUT_CLASS_READ;
    }
    if (is_operations(member)) {
        snprintf(reason, TEXT_BYTES, "%s: functions, set once", type);
        return LAYOUT_CLASS_READ;
    }
    if (is_link(member) && lock != NULL) {
        snprintf(reason, TEXT_BYTES, "%s, and %s is the only lock here", type, lock->path);
        return LAYOUT_CLASS_LOCK;
    }
    snprintf(reason, TEXT_BYTES, "%s: the type does not tell", type);
    return LAYOUT_CLASS_NONE;
}

int layout_draft_make(const struct layout_map *map, struct layout_draft *draft)
{
    *draft = (struct layout_draft){.items = calloc(map->field_count + 1, sizeof(*draft->items))};
    if (draft->items == NULL)
        return MGLRU_ENOMEM;
    const struct layout_field *lock = only_lock(map);
    for (size_t i = 0; i < map->field_count; i++) {
        char reason[TEXT_BYTES];
        struct layout_guess *item = &draft->items[draft->count++];
        item->field = &map->fields[i];
        item->class = guess(item->field, lock, reason);
        item->reason = strdup(reason);
        if (item->class == LAYOUT_CLASS_LOCK)
            item->lock = strdup(last_part(lock->path));
        if (item->reason == NULL || (item->class == LAYOUT_CLASS_LOCK && item->lock == NULL)) {
            layout_draft_free(draft);
            return MGLRU_ENOMEM;
        }
    }
    return MGLRU_OK;
}

void layout_draft_free(struct layout_draft *draft)
{
    for (size_t i = 0; i < draft->count; i++) {
        free(draft->items[i].reason);
        free(draft->items[i].lock);
    }
    free(draft->items);
    *draft = (struct layout_draft){0};
}
