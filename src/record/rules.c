/* SPDX-License-Identifier: MIT */
/* See rules.h. */
#include "record/rules.h"

#include <stdlib.h>
#include <string.h>

#include <mglru/error.h>

#include "record/table.h"

/* Devices that no mount has: those of bdis whose device is unknown. */
#define DEVICE_UNKNOWN UINT32_MAX
#define ITEMS_FIRST 64u

struct task {
    uint32_t memcg;
    uint32_t opens;
    bool in_reclaim;
    bool reading, faulting, added;
    uint32_t read_file, fault_file;
    uint64_t read_first, read_last; /* of its latest event of a read */
    uint64_t fault_page;
    uint32_t add_file; /* the folio that it added last */
    uint64_t add_first, add_last;
};

struct rules {
    struct rules_hooks hooks;
    const struct mounts *mounts;
    struct table file_table, task_table;
    struct record_file *files;
    struct task *tasks;
    uint32_t files_capacity, tasks_capacity;
    struct rules_access waiting; /* a write or a free that may go on; count 0: none */
    struct rules_counts counts;
};

struct rules *rules_create(const struct rules_hooks *hooks, const struct mounts *mounts)
{
    struct rules *rules = calloc(1, sizeof(*rules));
    if (rules != NULL) {
        rules->hooks = *hooks;
        rules->mounts = mounts;
    }
    return rules;
}

/* @items with room for one more than @count, perhaps moved; NULL: no memory. */
static void *with_room(void *items, uint32_t count, uint32_t *capacity, size_t item_bytes)
{
    if (count < *capacity)
        return items;
    const uint32_t larger = *capacity > 0 ? *capacity * 2 : ITEMS_FIRST;
    void *moved = realloc(items, larger * item_bytes);
    if (moved != NULL)
        *capacity = larger;
    return moved;
}

/* Whether @inode is that of a block device, which the kernel numbers by the device. */
static bool is_block_device(const struct mounts *mounts, uint64_t inode)
{
    for (size_t i = 0; i < mounts->count; i++)
        if (mounts->items[i].device == inode && inode >> 20 != 0)
            return true;
    return false;
}

/* The number of the file, a new one for a new file; TABLE_NONE: no memory. */
static uint32_t file_number(struct rules *rules, uint64_t device, uint64_t inode)
{
    bool added;
    const uint32_t count = rules->file_table.count;
    uint32_t file = table_find(&rules->file_table, device, inode);
    if (file != TABLE_NONE)
        return file;
    struct record_file *files =
        with_room(rules->files, count, &rules->files_capacity, sizeof(*files));
    if (files == NULL)
        return TABLE_NONE;
    rules->files = files;
    if (!table_add(&rules->file_table, device, inode, count, &added))
        return TABLE_NONE;
    files[count] = (struct record_file){.device = device,
                                        .inode = inode,
                                        .block_device = is_block_device(rules->mounts, inode),
                                        .reader = -1,
                                        .user = -1};
    return count;
}

static struct task *task_of(struct rules *rules, int32_t pid)
{
    bool added;
    const uint32_t count = rules->task_table.count;
    uint32_t task = table_find(&rules->task_table, (uint64_t)pid, 0);
    if (task != TABLE_NONE)
        return &rules->tasks[task];
    struct task *tasks = with_room(rules->tasks, count, &rules->tasks_capacity, sizeof(*tasks));
    if (tasks == NULL)
        return NULL;
    rules->tasks = tasks;
    if (!table_add(&rules->task_table, (uint64_t)pid, 0, count, &added))
        return NULL;
    tasks[count] = (struct task){.memcg = rules->hooks.memcg_of(rules->hooks.context, pid)};
    return &tasks[count];
}

/* Several partitions write through one bdi: the one whose file is known is meant, else the first.
 * Some file systems without a disk, as btrfs, have a bdi with a name that no mount tells. */
static uint64_t device_of_bdi(const struct rules *rules, const char *bdi, uint64_t inode)
{
    const struct mounts *mounts = rules->mounts;
    uint64_t first = DEVICE_UNKNOWN, diskless = DEVICE_UNKNOWN;
    for (size_t i = 0; i < mounts->count; i++) {
        const uint64_t device = mounts->items[i].device;
        const bool named = strcmp(mounts->items[i].bdi, bdi) == 0;
        if (!named && device >> 20 != 0)
            continue;
        const bool known = table_find(&rules->file_table, device, inode) != TABLE_NONE;
        if (named && known)
            return device;
        if (named && first == DEVICE_UNKNOWN)
            first = device;
        if (!named && known)
            diskless = device;
    }
    return first != DEVICE_UNKNOWN ? first : diskless;
}

int rules_flush(struct rules *rules)
{
    if (rules->waiting.count == 0)
        return MGLRU_OK;
    const struct rules_access access = rules->waiting;
    rules->waiting.count = 0;
    return rules->hooks.emit(rules->hooks.context, &access);
}

static int emit(struct rules *rules, const struct rules_access *access)
{
    int code = rules_flush(rules);
    return code != MGLRU_OK ? code : rules->hooks.emit(rules->hooks.context, access);
}

/* Lets a write or a free wait for one that goes on where it ends. */
static int emit_later(struct rules *rules, const struct rules_access *access)
{
    struct rules_access *waiting = &rules->waiting;
    if (waiting->count > 0 && waiting->op == access->op && waiting->memcg == access->memcg &&
        waiting->file == access->file && waiting->page + waiting->count == access->page) {
        waiting->count += access->count;
        return MGLRU_OK;
    }
    int code = rules_flush(rules);
    if (code == MGLRU_OK)
        *waiting = *access;
    return code;
}

/* From here on the thread of @event reads the file from a position of its own. */
static int emit_open(struct rules *rules, const struct task *task, const struct event *event,
                     const struct rules_access *access)
{
    struct record_file *file = &rules->files[access->file];
    struct rules_access open = *access;
    open.op = TRACE_OPEN;
    file->reader = event->pid;
    file->reader_opens = task->opens;
    return emit(rules, &open);
}

static int take_read(struct rules *rules, struct task *task, const struct event *event,
                     struct rules_access *access)
{
    const struct record_file *file = &rules->files[access->file];
    const bool goes_on = task->reading && task->read_file == access->file &&
                         task->read_last == event->last && event->first > task->read_first;
    task->reading = true;
    task->read_file = access->file;
    task->read_first = event->first;
    task->read_last = event->last;
    if (goes_on)
        return MGLRU_OK;
    int code = MGLRU_OK;
    if (file->reader != event->pid || file->reader_opens != task->opens)
        code = emit_open(rules, task, event, access);
    access->op = TRACE_READ;
    return code != MGLRU_OK ? code : emit(rules, access);
}

static int take_fault(struct rules *rules, struct task *task, const struct event *event,
                      const struct rules_access *access)
{
    const bool repeated =
        task->faulting && task->fault_file == access->file && task->fault_page == event->first;
    task->faulting = !repeated;
    task->fault_file = access->file;
    task->fault_page = event->first;
    rules->counts.mapped_pages += !repeated;
    return repeated ? MGLRU_OK : emit(rules, access);
}

static int take_dirty(struct rules *rules, const struct task *task, const struct event *event,
                      struct rules_access *access)
{
    const bool new_folio =
        task->added && task->add_file == access->file && task->add_first == event->first;
    if (new_folio)
        access->count = task->add_last - task->add_first + 1;
    const bool mapped = task->faulting && task->fault_file == access->file &&
                        task->fault_page - event->first < access->count;
    access->op = mapped ? TRACE_MAP_WRITE : TRACE_WRITE;
    if (mapped) {
        access->page = task->fault_page;
        access->count = 1;
    }
    return emit_later(rules, access);
}

static int take_delete(struct rules *rules, const struct task *task, struct rules_access *access)
{
    if (task->in_reclaim) {
        rules->counts.reclaimed_pages += access->count;
        return MGLRU_OK;
    }
    /* What was not accessed is in no replay's cache. */
    if (rules->files[access->file].accesses == 0)
        return MGLRU_OK;
    access->op = TRACE_FREE;
    return emit_later(rules, access);
}

/* An event of a file: what it tells of the file, then what kind of access it is. */
static int take_of_file(struct rules *rules, struct task *task, const struct event *event,
                        uint32_t number)
{
    struct record_file *file = &rules->files[number];
    struct rules_access access = {.op = TRACE_MAP_READ,
                                  .memcg = task->memcg,
                                  .file = number,
                                  .page = event->first,
                                  .count = event->last - event->first + 1,
                                  .time_ns = event->time_ns};
    /* The range of a read or around a fault may reach behind the end of the file. */
    const bool open_ended = event->kind == EVENT_READ || event->kind == EVENT_MAP;
    const uint64_t shown = open_ended ? event->first : event->last;
    if (event->kind != EVENT_DELETE && shown >= file->end)
        file->end = shown + 1;
    if (event->kind == EVENT_ADD) {
        task->added = true;
        task->add_file = number;
        task->add_first = event->first;
        task->add_last = event->last;
        rules->counts.added_pages += access.count;
        return MGLRU_OK;
    }
    if (event->kind == EVENT_DELETE)
        return take_delete(rules, task, &access);
    int code = MGLRU_OK;
    if (file->accesses == 0)
        code = emit_open(rules, task, event, &access);
    file->accesses += access.count;
    file->user = event->pid;
    if (code != MGLRU_OK)
        return code;
    switch (event->kind) {
    case EVENT_READ:
        return take_read(rules, task, event, &access);
    case EVENT_FAULT:
        return take_fault(rules, task, event, &access);
    case EVENT_DIRTY:
        return take_dirty(rules, task, event, &access);
    default:
        rules->counts.mapped_pages += access.count;
        return emit(rules, &access);
    }
}

int rules_take(struct rules *rules, const struct event *event)
{
    struct task *task = task_of(rules, event->pid);
    if (task == NULL)
        return MGLRU_ENOMEM;
    switch (event->kind) {
    case EVENT_OPEN:
        task->opens++;
        return MGLRU_OK;
    case EVENT_RECLAIM_BEGIN:
    case EVENT_RECLAIM_END:
        task->in_reclaim = event->kind == EVENT_RECLAIM_BEGIN;
        return MGLRU_OK;
    default:
        break;
    }
    const uint64_t device =
        event->kind == EVENT_DIRTY ? device_of_bdi(rules, event->bdi, event->inode) : event->device;
    const uint32_t file = file_number(rules, device, event->inode);
    if (file == TABLE_NONE)
        return MGLRU_ENOMEM;
    if (!rules->files[file].block_device)
        return take_of_file(rules, task, event, file);
    rules->counts.metadata_pages += event->kind == EVENT_ADD;
    return MGLRU_OK;
}

uint32_t rules_files(const struct rules *rules)
{
    return rules->file_table.count;
}

const struct record_file *rules_file(const struct rules *rules, uint32_t file)
{
    return &rules->files[file];
}

uint32_t rules_find(const struct rules *rules, uint64_t device, uint64_t inode)
{
    return table_find(&rules->file_table, device, inode);
}

void rules_counts(const struct rules *rules, struct rules_counts *out)
{
    *out = rules->counts;
}

void rules_free(struct rules *rules)
{
    if (rules == NULL)
        return;
    table_free(&rules->file_table);
    table_free(&rules->task_table);
    free(rules->files);
    free(rules->tasks);
    free(rules);
}
