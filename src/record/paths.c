/* SPDX-License-Identifier: MIT */
/* See paths.h. */
#include "record/paths.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <mglru/error.h>

#include "record/clock.h"
#include "record/readfile.h"
#include "record/table.h"
#include "record/walk.h"
#include "trace/names.h"

/* Chosen: a file that was not open in so many looks has been closed. */
#define TRIES_MAX 3
/* Looking takes at most one part in so many of the time; chosen. */
#define LOOK_SHARE 20u
/* Longer than a path; a name may get a mark behind it. */
#define NAME_BYTES (PATH_MAX + 64)

struct path {
    char *name; /* of its own, or NULL */
    uint64_t bytes;
    uint8_t tries;
};

struct paths {
    const struct rules *rules;
    const struct mounts *mounts;
    struct path *items; /* by number of the file */
    uint32_t count, capacity;
    uint32_t first_open; /* all before have a name or no more tries */
    uint64_t next_look_ns;
    int32_t looked_at; /* the process of the last scan of this look */
    uint32_t missing;  /* names that the walk under way may find */
    struct names used; /* given to the trace */
};

struct paths *paths_create(const struct rules *rules, const struct mounts *mounts)
{
    struct paths *paths = calloc(1, sizeof(*paths));
    if (paths != NULL) {
        paths->rules = rules;
        paths->mounts = mounts;
        names_init(&paths->used);
    }
    return paths;
}

/* Entries for all files. False: no memory, then the newest stay without. */
static bool make_room(struct paths *paths)
{
    const uint32_t count = rules_files(paths->rules);
    if (count > paths->capacity) {
        const uint32_t capacity = count < 256 ? 256 : count * 2;
        struct path *items = realloc(paths->items, capacity * sizeof(*items));
        if (items == NULL)
            return false;
        memset(items + paths->capacity, 0, (capacity - paths->capacity) * sizeof(*items));
        paths->items = items;
        paths->capacity = capacity;
    }
    paths->count = count;
    return true;
}

/* What stat says, without asking a server of a network. False: nothing of use. */
static bool look_at(const char *path, struct statx *out)
{
    return statx(AT_FDCWD, path, AT_STATX_DONT_SYNC, STATX_INO | STATX_SIZE | STATX_TYPE, out) ==
               0 &&
           S_ISREG(out->stx_mode);
}

/* The file that the events call so; overlay and btrfs show devices that no event has. */
static uint32_t file_of(const struct paths *paths, uint64_t device, uint64_t inode)
{
    uint32_t file = rules_find(paths->rules, device, inode);
    for (size_t i = 0; i < paths->mounts->count && file == TABLE_NONE && device >> 20 == 0; i++)
        file = rules_find(paths->rules, paths->mounts->items[i].device, inode);
    return file < paths->count ? file : TABLE_NONE;
}

static void learn(struct paths *paths, uint32_t file, const char *name, uint64_t bytes)
{
    struct path *path = &paths->items[file];
    if (path->name == NULL)
        path->name = strdup(name);
    if (bytes > path->bytes)
        path->bytes = bytes;
}

/* Files that a process has open. */
static void scan_open(struct paths *paths, int32_t pid)
{
    char folder[64], link[NAME_BYTES], target[PATH_MAX];
    snprintf(folder, sizeof(folder), "/proc/%" PRId32 "/fd", pid);
    DIR *entries = opendir(folder);
    for (struct dirent *entry; entries != NULL && (entry = readdir(entries)) != NULL;) {
        struct statx status;
        snprintf(link, sizeof(link), "%s/%s", folder, entry->d_name);
        if (entry->d_name[0] == '.' || !look_at(link, &status))
            continue;
        const uint32_t file = file_of(
            paths, mounts_device(status.stx_dev_major, status.stx_dev_minor), status.stx_ino);
        ssize_t bytes = file != TABLE_NONE ? readlink(link, target, sizeof(target) - 1) : -1;
        if (bytes <= 0)
            continue;
        target[bytes] = '\0';
        learn(paths, file, target, status.stx_size);
    }
    if (entries != NULL)
        closedir(entries);
}

/* Files that it has mapped: "FROM-TO PERMS OFFSET MAJOR:MINOR INODE   PATH". */
static void scan_maps(struct paths *paths, int32_t pid)
{
    char name[64], *rest = NULL;
    snprintf(name, sizeof(name), "/proc/%" PRId32 "/maps", pid);
    char *text = readfile_all(name);
    for (char *line = text != NULL ? strtok_r(text, "\n", &rest) : NULL; line != NULL;
         line = strtok_r(NULL, "\n", &rest)) {
        unsigned major, minor;
        uint64_t inode;
        const char *path = strchr(line, '/');
        if (path == NULL || sscanf(line, "%*s %*s %*s %x:%x %" SCNu64, &major, &minor, &inode) != 3)
            continue;
        const uint32_t file = file_of(paths, mounts_device(major, minor), inode);
        if (file != TABLE_NONE)
            learn(paths, file, path, 0);
    }
    free(text);
}

void paths_look(struct paths *paths)
{
    const uint64_t begin_ns = record_now_ns();
    if (begin_ns < paths->next_look_ns || !make_room(paths))
        return;
    paths->looked_at = 0;
    bool all_done = true;
    for (uint32_t i = paths->first_open; i < paths->count; i++) {
        struct path *path = &paths->items[i];
        const int32_t user = rules_file(paths->rules, i)->user;
        if (path->name == NULL && path->tries < TRIES_MAX && user > 0) {
            path->tries++;
            if (user != paths->looked_at) {
                paths->looked_at = user;
                scan_open(paths, user);
                scan_maps(paths, user);
            }
        }
        all_done = all_done && (path->name != NULL || path->tries >= TRIES_MAX || user <= 0);
        if (all_done)
            paths->first_open = i + 1;
    }
    const uint64_t end_ns = record_now_ns();
    paths->next_look_ns = end_ns + LOOK_SHARE * (end_ns - begin_ns);
}

/* Accessed, and without a name. */
static bool is_open(const struct paths *paths, uint32_t file)
{
    return paths->items[file].name == NULL && rules_file(paths->rules, file)->accesses > 0;
}

/* walk.h found a name with an inode that is wanted. */
static bool on_entry(void *context, uint64_t device, uint64_t inode, const char *path)
{
    struct paths *paths = context;
    const uint32_t file = file_of(paths, device, inode);
    if (file != TABLE_NONE && is_open(paths, file)) {
        learn(paths, file, path, 0);
        paths->missing--;
    }
    return paths->missing > 0;
}

/* Walks the file systems that hold files without a name. */
static void walk_file_systems(struct paths *paths)
{
    const uint64_t deadline_ns = record_now_ns() + WALK_NS_MAX;
    for (size_t m = 0; m < paths->mounts->count; m++) {
        const struct mount *mount = &paths->mounts->items[m];
        bool walked = false;
        paths->missing = 0;
        for (uint32_t i = 0; i < paths->count; i++)
            paths->missing +=
                is_open(paths, i) && rules_file(paths->rules, i)->device == mount->device;
        /* The same file system may be mounted often; once is enough. */
        for (size_t k = 0; k < m && !walked; k++)
            walked = paths->mounts->items[k].device == mount->device;
        if (paths->missing > 0 && !walked)
            walk_files(mount->path, mount->device, deadline_ns, on_entry, paths);
    }
}

void paths_finish(struct paths *paths)
{
    if (!make_room(paths))
        return;
    walk_file_systems(paths);
    for (uint32_t i = 0; i < paths->count; i++) {
        struct statx status;
        struct path *path = &paths->items[i];
        if (path->name != NULL && look_at(path->name, &status) &&
            status.stx_ino == rules_file(paths->rules, i)->inode && status.stx_size > path->bytes)
            path->bytes = status.stx_size;
    }
}

const char *paths_name(struct paths *paths, uint32_t file)
{
    char name[NAME_BYTES];
    uint32_t id;
    const struct record_file *what = rules_file(paths->rules, file);
    const uint32_t before = paths->used.count;
    if (paths_known(paths, file))
        snprintf(name, sizeof(name), "%.*s", PATH_MAX, paths->items[file].name);
    else
        snprintf(name, sizeof(name), "%" PRIx64 ":%" PRIx64 "/%" PRIx64, what->device >> 20,
                 what->device & 0xfffff, what->inode);
    if (names_intern(&paths->used, name, strlen(name), &id) != MGLRU_OK)
        return NULL;
    if (paths->used.count > before)
        return names_text(&paths->used, id);
    /* A file was deleted, and another one got its name. */
    snprintf(name + strlen(name), 64, "@%" PRIx64 ":%" PRIx64, what->device, what->inode);
    return names_intern(&paths->used, name, strlen(name), &id) == MGLRU_OK
               ? names_text(&paths->used, id)
               : NULL;
}

bool paths_known(const struct paths *paths, uint32_t file)
{
    return file < paths->count && paths->items[file].name != NULL;
}

uint64_t paths_bytes(const struct paths *paths, uint32_t file)
{
    return file < paths->count ? paths->items[file].bytes : 0;
}

void paths_free(struct paths *paths)
{
    if (paths == NULL)
        return;
    for (uint32_t i = 0; i < paths->count; i++)
        free(paths->items[i].name);
    free(paths->items);
    names_destroy(&paths->used);
    free(paths);
}
