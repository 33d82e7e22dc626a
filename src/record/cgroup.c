/* SPDX-License-Identifier: MIT */
/* See cgroup.h. */
#include "record/cgroup.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <mglru/error.h>

#include "record/fail.h"
#include "record/readfile.h"

/* Chosen: far above the depth of any tree that systemd or Kubernetes makes. */
#define DEPTH_MAX 64u

static bool has_option(const char *options, const char *name)
{
    const size_t length = strlen(name);
    for (const char *at = options; (at = strstr(at, name)) != NULL; at += length)
        if ((at == options || at[-1] == ',') && (at[length] == ',' || at[length] == '\0'))
            return true;
    return false;
}

/* The mount of the memory controller: version 1 where there is one, as the kernel has it in one
 * hierarchy only. NULL: none. */
static const struct mount *memory_mount(const struct mounts *mounts, bool *version_1)
{
    const struct mount *unified = NULL;
    for (size_t i = 0; i < mounts->count; i++) {
        const struct mount *mount = &mounts->items[i];
        *version_1 = strcmp(mount->type, "cgroup") == 0;
        if (*version_1 && has_option(mount->options, "memory"))
            return mount;
        if (strcmp(mount->type, "cgroup2") == 0 && unified == NULL)
            unified = mount;
    }
    *version_1 = false;
    return unified;
}

/* The longest mount of a cgroup file system that @folder lies in; NULL: none. */
static const struct mount *mount_of(const struct mounts *mounts, const char *folder)
{
    const struct mount *found = NULL;
    for (size_t i = 0; i < mounts->count; i++) {
        const struct mount *mount = &mounts->items[i];
        const size_t length = strlen(mount->path);
        if (strncmp(mount->type, "cgroup", 6) == 0 && strncmp(folder, mount->path, length) == 0 &&
            (folder[length] == '/' || folder[length] == '\0') &&
            (found == NULL || length > strlen(found->path)))
            found = mount;
    }
    return found;
}

static int set(struct cgroup *cgroup, const char *folder, const struct mount *mount)
{
    const char *below = folder + strlen(mount->path);
    cgroup->version_1 = strcmp(mount->type, "cgroup") == 0;
    cgroup->folder = strdup(folder);
    cgroup->path = strdup(below[0] != '\0' ? below : "/");
    return cgroup->folder != NULL && cgroup->path != NULL ? MGLRU_OK : MGLRU_ENOMEM;
}

int cgroup_open(struct cgroup *cgroup, const char *name, const struct mounts *mounts,
                struct record_error *error)
{
    char path[CGROUP_PATH_BYTES], folder[PATH_MAX];
    bool version_1;
    *cgroup = (struct cgroup){0};
    const struct mount *mount = memory_mount(mounts, &version_1);
    if (realpath(name, folder) != NULL && mount_of(mounts, folder) != NULL) {
        mount = mount_of(mounts, folder);
    } else {
        if (mount == NULL)
            return record_fail(error, MGLRU_ENOTSUP, "no cgroup file system is mounted");
        snprintf(path, sizeof(path), "%s/%s", mount->path, name + (name[0] == '/'));
        if (realpath(path, folder) == NULL || mount_of(mounts, folder) != mount)
            return record_fail(error, MGLRU_EINVAL, "%s: there is no such cgroup, also not as %s",
                               name, path);
    }
    return set(cgroup, folder, mount) == MGLRU_OK ? MGLRU_OK
                                                  : record_fail(error, MGLRU_ENOMEM, "no memory");
}

bool cgroup_path_of(const struct cgroup *cgroup, pid_t pid, char *path, size_t bytes)
{
    char name[64];
    snprintf(name, sizeof(name), "/proc/%ld/cgroup", (long)pid);
    char *text = readfile_all(name), *rest = NULL;
    bool found = false;
    /* HIERARCHY:CONTROLLERS:PATH; version 2 has no controllers. */
    for (char *line = text != NULL ? strtok_r(text, "\n", &rest) : NULL; line != NULL && !found;
         line = strtok_r(NULL, "\n", &rest)) {
        char *controllers = strchr(line, ':');
        char *at = controllers != NULL ? strchr(controllers + 1, ':') : NULL;
        if (at == NULL)
            continue;
        *at = '\0';
        found = cgroup->version_1 ? has_option(controllers + 1, "memory") : controllers[1] == '\0';
        if (found)
            snprintf(path, bytes, "%s", at + 1);
    }
    free(text);
    return found;
}

void cgroup_of_process(struct cgroup *cgroup, pid_t pid, const struct mounts *mounts)
{
    char path[CGROUP_PATH_BYTES], folder[PATH_MAX + CGROUP_PATH_BYTES];
    *cgroup = (struct cgroup){0};
    const struct mount *mount = memory_mount(mounts, &cgroup->version_1);
    if (mount == NULL || !cgroup_path_of(cgroup, pid, path, sizeof(path)))
        return;
    snprintf(folder, sizeof(folder), "%s%s", mount->path, path[1] != '\0' ? path : "");
    if (access(folder, F_OK) != 0 || set(cgroup, folder, mount) != MGLRU_OK)
        cgroup_close(cgroup);
}

/* One folder's threads. False: it is gone. */
static bool take_threads(const struct cgroup *cgroup, const char *below,
                         void (*take)(void *, int32_t, const char *), void *context)
{
    char name[PATH_MAX + CGROUP_PATH_BYTES], path[2 * CGROUP_PATH_BYTES];
    const bool at_root = cgroup->path[1] == '\0';
    snprintf(name, sizeof(name), "%s%s/%s", cgroup->folder, below,
             cgroup->version_1 ? "tasks" : "cgroup.threads");
    snprintf(path, sizeof(path), "%s%s", at_root && below[0] != '\0' ? "" : cgroup->path, below);
    char *text = readfile_all(name), *end;
    if (text == NULL)
        return false;
    for (char *at = text;; at = end) {
        const long thread = strtol(at, &end, 10);
        if (end == at)
            break;
        if (thread > 0 && thread <= INT32_MAX)
            take(context, (int32_t)thread, path);
    }
    free(text);
    return true;
}

static void walk_below(const struct cgroup *cgroup, const char *below, unsigned depth,
                       void (*take)(void *, int32_t, const char *), void *context)
{
    char name[PATH_MAX + CGROUP_PATH_BYTES];
    snprintf(name, sizeof(name), "%s%s", cgroup->folder, below);
    DIR *folder = depth < DEPTH_MAX ? opendir(name) : NULL;
    for (struct dirent *entry; folder != NULL && (entry = readdir(folder)) != NULL;) {
        char path[CGROUP_PATH_BYTES];
        if (entry->d_type != DT_DIR || entry->d_name[0] == '.' ||
            snprintf(path, sizeof(path), "%s/%s", below, entry->d_name) >= (int)sizeof(path))
            continue;
        take_threads(cgroup, path, take, context);
        walk_below(cgroup, path, depth + 1, take, context);
    }
    if (folder != NULL)
        closedir(folder);
}

bool cgroup_walk(const struct cgroup *cgroup,
                 void (*take)(void *context, int32_t thread, const char *path), void *context)
{
    if (!take_threads(cgroup, "", take, context))
        return access(cgroup->folder, F_OK) == 0;
    walk_below(cgroup, "", 0, take, context);
    return true;
}

void cgroup_close(struct cgroup *cgroup)
{
    free(cgroup->folder);
    free(cgroup->path);
    *cgroup = (struct cgroup){0};
}
