/* SPDX-License-Identifier: MIT */
/* See walk.h. Entries tell their inode without a look at the file. */
#include "record/walk.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "record/clock.h"
#include "record/mounts.h"

/* Chosen: a bound for the memory of the walk. */
#define FOLDERS_MAX (1u << 20)

/* Folders still to be read: items[head..count). */
struct folders {
    char **items;
    size_t head, count, capacity;
};

static void add_folder(struct folders *folders, const char *path)
{
    if (folders->count == folders->capacity) {
        const size_t capacity = folders->capacity > 0 ? 2 * folders->capacity : 256;
        char **items =
            capacity <= FOLDERS_MAX ? realloc(folders->items, capacity * sizeof(*items)) : NULL;
        if (items == NULL)
            return; /* what lies there stays without a name */
        folders->items = items;
        folders->capacity = capacity;
    }
    folders->items[folders->count] = strdup(path);
    folders->count += folders->items[folders->count] != NULL;
}

/* A folder of the file system, opened without following links; NULL: not one. */
static DIR *open_folder(const char *path, uint64_t device)
{
    struct stat status;
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return NULL;
    DIR *folder = NULL;
    if (fstat(fd, &status) == 0 &&
        mounts_device(major(status.st_dev), minor(status.st_dev)) == device)
        folder = fdopendir(fd);
    if (folder == NULL)
        close(fd);
    return folder;
}

void walk_files(const char *root, uint64_t device, uint64_t deadline_ns,
                bool (*on_entry)(void *context, uint64_t device, uint64_t inode, const char *path),
                void *context)
{
    struct folders folders = {0};
    char path[PATH_MAX];
    bool more = true;
    add_folder(&folders, root);
    while (more && folders.head < folders.count && record_now_ns() < deadline_ns) {
        const char *parent = folders.items[folders.head++];
        DIR *folder = open_folder(parent, device);
        for (struct dirent *entry; folder && more && (entry = readdir(folder)) != NULL;) {
            const char *separator = parent[strlen(parent) - 1] == '/' ? "" : "/";
            if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0 ||
                snprintf(path, sizeof(path), "%s%s%s", parent, separator, entry->d_name) >=
                    (int)sizeof(path))
                continue;
            if (entry->d_type == DT_DIR)
                add_folder(&folders, path);
            else if (entry->d_type == DT_REG)
                more = on_entry(context, device, entry->d_ino, path);
        }
        if (folder != NULL)
            closedir(folder);
    }
    for (size_t i = 0; i < folders.count; i++)
        free(folders.items[i]);
    free(folders.items);
}
