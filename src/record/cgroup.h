/* SPDX-License-Identifier: MIT */
/* Memory cgroups of both versions: where one lies, who is in it and below it. */
#ifndef RECORD_CGROUP_H
#define RECORD_CGROUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "record/mounts.h"
#include "record/record.h"

#define CGROUP_PATH_BYTES 4096

/* All fields zero: none. */
struct cgroup {
    char *folder;   /* where its files are */
    char *path;     /* below the mount: "/" or "/a/b" */
    bool version_1; /* the hierarchy of its memory controller */
};

/* @name: a folder, or a path below the mount of the memory controller. MGLRU_EINVAL: none is
 * there; MGLRU_ENOMEM. */
int cgroup_open(struct cgroup *cgroup, const char *name, const struct mounts *mounts,
                struct record_error *error);

/* The memory cgroup of a process; none where it cannot be found. */
void cgroup_of_process(struct cgroup *cgroup, pid_t pid, const struct mounts *mounts);

/* The path of the cgroup of a thread, in the hierarchy of @cgroup. False: the thread is gone. */
bool cgroup_path_of(const struct cgroup *cgroup, pid_t pid, char *path, size_t bytes);

/* Calls @take for each thread in the cgroup and below it, with the path of where it is. False: the
 * cgroup is gone. */
bool cgroup_walk(const struct cgroup *cgroup,
                 void (*take)(void *context, int32_t thread, const char *path), void *context);

void cgroup_close(struct cgroup *cgroup);

#endif
