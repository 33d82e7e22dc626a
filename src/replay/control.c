/* SPDX-License-Identifier: MIT */
/*
 * Memcgs, files and control lines of one run. A control line becomes what an administrator would
 * write into the kernel's file; a refusal ends the run with the errno text that the kernel gives.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mglru/control.h>

#include "base/check.h"
#include "replay/kernel.h"
#include "replay/lru_gen.h"

#define READ_BYTES 4096

static const char *trace_path(const struct replay_kernel *run, uint32_t id)
{
    return replay_names_at(run->names, REPLAY_MEMCG, id);
}

static const char *text_of(const char *text)
{
    return text != NULL ? text : "";
}

/* Says which line was refused and why. */
static int refuse(struct replay_kernel *run, const struct trace_record *record, const char *what,
                  int code)
{
    snprintf(run->error.text, sizeof(run->error.text), "%s: line %" PRIu64 ": %s: %s", run->path,
             record->line, what, strerror(mglru_error_errno(code)));
    return code == MGLRU_ENOMEM ? code : MGLRU_EINVAL;
}

/* The same for "!verb PATH [NAME] [TEXT]". */
static int refuse_line(struct replay_kernel *run, const struct trace_record *record,
                       const char *verb, int code)
{
    char what[256];
    snprintf(what, sizeof(what), "!%s %s%s%s%s%s", verb, trace_path(run, record->memcg),
             record->name != NULL ? " " : "", text_of(record->name),
             record->text != NULL ? " " : "", text_of(record->text));
    return refuse(run, record, what, code);
}

static int reserve_memcg(struct replay_kernel *run, uint32_t id)
{
    if (id < run->memcg_count)
        return MGLRU_OK;
    uint32_t count = id < 16 ? 32 : id * 2;
    struct kernel_memcg *grown = realloc(run->memcgs, count * sizeof(*grown));
    if (grown == NULL)
        return MGLRU_ENOMEM;
    memset(grown + run->memcg_count, 0, (count - run->memcg_count) * sizeof(*grown));
    run->memcgs = grown;
    run->memcg_count = count;
    return MGLRU_OK;
}

/* Writes the engine's path of @id to @path, which must be freed. */
static int engine_path(const struct replay_kernel *run, uint32_t id, char **path)
{
    const char *name = trace_path(run, id);
    if (strcmp(name, "/") == 0) {
        *path = strdup(run->prefix[0] != '\0' ? run->prefix : "/");
        return *path != NULL ? MGLRU_OK : MGLRU_ENOMEM;
    }
    return asprintf(path, "%s%s", run->prefix, name) >= 0 ? MGLRU_OK : MGLRU_ENOMEM;
}

/* Creates memcg @id, or finds the one that a child of it made exist. */
static int make_memcg(struct replay_kernel *run, uint32_t id)
{
    char *path;
    int code = engine_path(run, id, &path);
    if (code != MGLRU_OK)
        return code;
    code = mglru_memcg_create(run->cache, path, &run->memcgs[id].handle);
    free(path);
    if (code == MGLRU_OK)
        run->memcgs[id].state = MEMCG_LIVE;
    return code;
}

int kernel_memcg_use(struct replay_kernel *run, uint32_t id, const struct trace_record *record,
                     struct mglru_memcg **out)
{
    *out = NULL;
    int code = reserve_memcg(run, id);
    if (code != MGLRU_OK)
        return code;
    struct kernel_memcg *memcg = &run->memcgs[id];
    if (memcg->state == MEMCG_REMOVED) {
        snprintf(run->error.text, sizeof(run->error.text),
                 "%s: line %" PRIu64 ": memcg %s was removed before and not made again", run->path,
                 record->line, trace_path(run, id));
        return MGLRU_EINVAL;
    }
    if (memcg->state == MEMCG_UNUSED) {
        code = make_memcg(run, id);
        if (code != MGLRU_OK)
            return refuse_line(run, record, "mkdir", code);
    }
    *out = memcg->handle;
    return MGLRU_OK;
}

static int reserve_object(struct replay_kernel *run, uint32_t object)
{
    if (object < run->object_count)
        return MGLRU_OK;
    uint32_t count = object < 32 ? 64 : object * 2;
    struct mglru_mapping **grown = realloc(run->objects, count * sizeof(*grown));
    if (grown == NULL)
        return MGLRU_ENOMEM;
    memset(grown + run->object_count, 0, (count - run->object_count) * sizeof(*grown));
    run->objects = grown;
    run->object_count = count;
    return MGLRU_OK;
}

/* Opens the file of @object, shared by all memcgs, for @memcg. */
static int open_file(struct replay_kernel *run, const struct trace_record *record,
                     struct mglru_memcg *memcg, struct mglru_file **file)
{
    int code = reserve_object(run, record->object);
    if (code != MGLRU_OK)
        return code;
    struct mglru_mapping **mapping = &run->objects[record->object];
    const char *name = replay_names_at(run->names, REPLAY_OBJECT, record->object);
    if (*mapping == NULL)
        code = mglru_mapping_create(run->cache, name, MGLRU_FILE, 0, mapping);
    if (code == MGLRU_OK)
        code = mglru_file_open(*mapping, memcg, file);
    if (code == MGLRU_OK)
        code = replay_slots_add(&run->files, record->memcg, record->object, *file);
    return code;
}

/* Makes the anonymous region that @record touches. */
static int open_region(struct replay_kernel *run, const struct trace_record *record,
                       struct mglru_memcg *memcg, struct mglru_file **file)
{
    const char *name = replay_names_at(run->names, REPLAY_OBJECT, record->object);
    struct kernel_region *region = calloc(1, sizeof(*region));
    if (region == NULL)
        return MGLRU_ENOMEM;
    int code = mglru_mapping_create(run->cache, name, MGLRU_ANON, 0, &region->mapping);
    if (code == MGLRU_OK)
        code = mglru_file_open(region->mapping, memcg, &region->file);
    if (code == MGLRU_OK)
        code = replay_slots_add(&run->regions, record->memcg, record->object, region);
    if (code != MGLRU_OK) {
        free(region);
        return code;
    }
    region->next = run->memcgs[record->memcg].regions;
    run->memcgs[record->memcg].regions = region;
    *file = region->file;
    return MGLRU_OK;
}

int kernel_file_use(struct replay_kernel *run, const struct trace_record *record,
                    struct mglru_file **out)
{
    *out = NULL;
    struct mglru_memcg *memcg;
    /* Opening charges memory, so it comes after the accesses before it. */
    int code = kernel_flush(run);
    if (code == MGLRU_OK)
        code = kernel_memcg_use(run, record->memcg, record, &memcg);
    if (code != MGLRU_OK)
        return code;
    do {
        /* Killed just now, or by an access before. */
        if (run->memcgs[record->memcg].state == MEMCG_KILLED)
            return MGLRU_OK;
        code = record->op == TRACE_TOUCH ? open_region(run, record, memcg, out)
                                         : open_file(run, record, memcg, out);
    } while (code == MGLRU_EOOM && kernel_oom(run, record->memcg));
    if (code != MGLRU_OK && code != MGLRU_ENOMEM)
        return refuse(run, record, "cannot open the file or region", code);
    return code;
}

static void reopen(void *file)
{
    mglru_file_reopen(file);
}

/* A new process: it holds none of the open files of the killed one. */
static void revive(struct replay_kernel *run, uint32_t id)
{
    if (run->memcgs[id].state != MEMCG_KILLED)
        return;
    run->memcgs[id].state = MEMCG_LIVE;
    run->killed--;
    replay_slots_visit(&run->files, id, reopen);
}

static int do_open(struct replay_kernel *run, const struct trace_record *record)
{
    struct mglru_memcg *memcg;
    int code = kernel_memcg_use(run, record->memcg, record, &memcg);
    if (code != MGLRU_OK)
        return code;
    revive(run, record->memcg);
    struct mglru_file *file = replay_slots_find(&run->files, record->memcg, record->object);
    if (file != NULL)
        mglru_file_reopen(file);
    else
        code = kernel_file_use(run, record, &file);
    if (code == MGLRU_OK && file != NULL && record->count > 0)
        mglru_mapping_resize(run->objects[record->object], record->count);
    return code;
}

static void do_free(struct replay_kernel *run, const struct trace_record *record)
{
    struct kernel_region *region = replay_slots_find(&run->regions, record->memcg, record->object);
    if (region != NULL && record->page < region->end) {
        uint64_t there = region->end - record->page;
        mglru_mapping_drop(region->mapping, record->page,
                           record->count < there ? record->count : there);
    }
    if (record->object < run->object_count && run->objects[record->object] != NULL)
        mglru_mapping_drop(run->objects[record->object], record->page, record->count);
}

static int do_mkdir(struct replay_kernel *run, const struct trace_record *record)
{
    int code = reserve_memcg(run, record->memcg);
    if (code != MGLRU_OK)
        return code;
    struct kernel_memcg *memcg = &run->memcgs[record->memcg];
    revive(run, record->memcg);
    if (memcg->state == MEMCG_LIVE)
        return MGLRU_OK;
    code = make_memcg(run, record->memcg);
    return code == MGLRU_OK ? code : refuse_line(run, record, "mkdir", code);
}

/* The processes of a memcg have ended before it can be removed; so have their regions. */
static void end_processes(struct replay_kernel *run, uint32_t id)
{
    struct kernel_memcg *memcg = &run->memcgs[id];
    while (memcg->regions != NULL) {
        struct kernel_region *region = memcg->regions;
        memcg->regions = region->next;
        mglru_mapping_drop(region->mapping, 0, region->end);
        free(region);
    }
    replay_slots_drop_memcg(&run->regions, id);
}

/* Takes over a memcg that exists only because a child of it was made. MGLRU_ENOENT. */
static int find_parent(struct replay_kernel *run, uint32_t id)
{
    struct kernel_memcg *memcg = &run->memcgs[id];
    if (memcg->handle != NULL)
        return MGLRU_OK;
    char *path;
    int code = engine_path(run, id, &path);
    if (code != MGLRU_OK)
        return code;
    code = mglru_memcg_find(run->cache, path, &memcg->handle);
    free(path);
    if (code == MGLRU_OK)
        memcg->state = MEMCG_LIVE;
    return code;
}

static int do_rmdir(struct replay_kernel *run, const struct trace_record *record)
{
    int code = reserve_memcg(run, record->memcg);
    if (code == MGLRU_OK)
        code = find_parent(run, record->memcg);
    if (code != MGLRU_OK)
        return refuse_line(run, record, "rmdir", code);
    struct kernel_memcg *memcg = &run->memcgs[record->memcg];
    if (memcg->handle == run->top)
        return refuse_line(run, record, "rmdir", MGLRU_EBUSY);
    end_processes(run, record->memcg);
    code = kernel_figures_keep(run, memcg);
    if (code == MGLRU_OK)
        code = mglru_memcg_remove(memcg->handle);
    if (code != MGLRU_OK)
        return refuse_line(run, record, "rmdir", code);
    run->killed -= memcg->state == MEMCG_KILLED;
    memcg->state = MEMCG_REMOVED;
    memcg->handle = NULL;
    replay_slots_drop_memcg(&run->files, record->memcg);
    return MGLRU_OK;
}

/* True when a run keeps its own value of a global file whatever the trace writes. */
static bool keeps_own(const struct replay_kernel *run, const char *name)
{
    return (run->spec->classic && strcmp(name, "enabled") == 0) ||
           (run->options->swappiness >= 0 && strcmp(name, "swappiness") == 0) ||
           (run->options->readahead_bytes != REPLAY_READAHEAD_AUTO &&
            strcmp(name, "read_ahead_kb") == 0);
}

static bool is_global(const struct trace_record *record, const char *path)
{
    const char *name = record->name;
    return strcmp(path, "/") == 0 &&
           (strcmp(name, "swappiness") == 0 || strcmp(name, "min_ttl_ms") == 0 ||
            strcmp(name, "enabled") == 0 || strcmp(name, "read_ahead_kb") == 0);
}

static int write_memcg(struct replay_kernel *run, const struct trace_record *record,
                       struct mglru_memcg *memcg)
{
    const char *text = text_of(record->text);
    int code = mglru_memcg_write(memcg, record->name, text, strlen(text));
    /* Each kill takes a live memcg away, so this ends. */
    while (code == MGLRU_EOOM && kernel_oom(run, record->memcg))
        code = mglru_memcg_write(memcg, record->name, text, strlen(text));
    /* A limit that cannot be met, or a memory.reclaim that fell short, has still been written. */
    return code == MGLRU_EAGAIN || code == MGLRU_EOOM ? MGLRU_OK : code;
}

static int do_set(struct replay_kernel *run, const struct trace_record *record)
{
    const char *path = trace_path(run, record->memcg);
    const char *text = text_of(record->text);
    int code;
    if (is_global(record, path)) {
        if (keeps_own(run, record->name))
            return MGLRU_OK;
        code = mglru_cache_write(run->cache, record->name, text, strlen(text));
        return code == MGLRU_OK ? code : refuse_line(run, record, "set", code);
    }
    if (strcmp(path, "/") == 0) {
        struct replay_recorded checked = {0};
        code = replay_recorded_take(&checked, record);
        if (code != MGLRU_ENOENT)
            return code == MGLRU_OK ? code : refuse_line(run, record, "set", code);
    }
    struct mglru_memcg *memcg;
    code = kernel_memcg_use(run, record->memcg, record, &memcg);
    if (code != MGLRU_OK)
        return code;
    /* "/" of a trace is a root without limit files, even where a limited memcg stands for it. */
    if (strcmp(path, "/") == 0)
        code = mglru_memcg_find(run->cache, "/", &memcg);
    if (code == MGLRU_OK)
        code = write_memcg(run, record, memcg);
    return code == MGLRU_OK ? code : refuse_line(run, record, "set", code);
}

static int do_read(struct replay_kernel *run, const struct trace_record *record)
{
    struct mglru_memcg *memcg;
    char text[READ_BYTES];
    size_t length;
    int code = kernel_memcg_use(run, record->memcg, record, &memcg);
    if (code != MGLRU_OK)
        return code;
    code = mglru_memcg_read(memcg, record->name, text, sizeof(text), &length);
    if (code == MGLRU_ENOENT && memcg == run->top)
        code = mglru_cache_read(run->cache, record->name, text, sizeof(text), &length);
    /* Nobody looks at the text; what counts is what reading does to the statistics. */
    if (code == MGLRU_OK || code == MGLRU_EOVERFLOW)
        return MGLRU_OK;
    return refuse_line(run, record, "read", code);
}

static int do_lru_gen(struct replay_kernel *run, const struct trace_record *record)
{
    if (keeps_own(run, record->name))
        return MGLRU_OK;
    const char *text = text_of(record->text);
    int code = mglru_cache_write(run->cache, record->name, text, strlen(text));
    if (code == MGLRU_OK)
        return code;
    char what[128];
    snprintf(what, sizeof(what), "!lru_gen %s %s", record->name, text);
    return refuse(run, record, what, code);
}

/* "!age PATH NODE SWAPPINESS": the command names the youngest generation, which only we know. */
static int age_command(struct replay_kernel *run, const struct trace_record *record,
                       struct mglru_memcg *memcg, char *command, size_t bytes)
{
    unsigned node;
    char swappiness[8];
    char rest[2];
    if (sscanf(text_of(record->text), "%u %7s %1s", &node, swappiness, rest) != 2)
        return MGLRU_EINVAL;
    uint64_t seq;
    int code = lru_gen_max_seq(memcg, run->cache, node, &seq);
    /* The kernel has EINVAL for a node that does not exist. */
    if (code != MGLRU_OK)
        return code == MGLRU_ENOENT ? MGLRU_EINVAL : code;
    snprintf(command, bytes, "+ %" PRIu64 " %u %" PRIu64 " %s", mglru_memcg_id(memcg), node, seq,
             swappiness);
    return MGLRU_OK;
}

static int do_lru_gen_command(struct replay_kernel *run, const struct trace_record *record)
{
    if (run->spec->classic)
        return MGLRU_OK;
    struct mglru_memcg *memcg;
    int code = kernel_memcg_use(run, record->memcg, record, &memcg);
    if (code != MGLRU_OK)
        return code;
    char command[160];
    if (record->op == TRACE_AGE)
        code = age_command(run, record, memcg, command, sizeof(command));
    else
        snprintf(command, sizeof(command), "- %" PRIu64 " %.100s", mglru_memcg_id(memcg),
                 text_of(record->text));
    if (code == MGLRU_OK)
        code = mglru_cache_write(run->cache, "lru_gen", command, strlen(command));
    if (code == MGLRU_OK)
        return code;
    return refuse_line(run, record, record->op == TRACE_AGE ? "age" : "evict", code);
}

int kernel_control(struct replay_kernel *run, const struct trace_record *record)
{
    MGLRU_ASSERT(run->pending_count == 0);
    switch (record->op) {
    case TRACE_OPEN:
        return do_open(run, record);
    case TRACE_FREE:
        do_free(run, record);
        return MGLRU_OK;
    case TRACE_MKDIR:
        return do_mkdir(run, record);
    case TRACE_RMDIR:
        return do_rmdir(run, record);
    case TRACE_SET:
        return do_set(run, record);
    case TRACE_STAT:
        return do_read(run, record);
    case TRACE_LRU_GEN:
        return do_lru_gen(run, record);
    case TRACE_AGE:
    case TRACE_EVICT:
        return do_lru_gen_command(run, record);
    default:
        break;
    }
    return MGLRU_NEVER(true) ? MGLRU_EINVAL : MGLRU_OK;
}
