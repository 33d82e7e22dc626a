/* SPDX-License-Identifier: MIT */
/* See target.h. */
#include "record/target.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <mglru/error.h>

#include "record/cgroup.h"
#include "record/command.h"
#include "record/fail.h"
#include "record/readfile.h"
#include "record/table.h"
#include "record/tracing.h"
#include "trace/names.h"

/* The inode of the namespace that the kernel begins with, a constant of it. */
#define FIRST_PID_NAMESPACE 0xEFFFFFFCu

struct target {
    enum record_target kind;
    pid_t pid; /* of the command or process */
    int end_fd;
    struct command command;
    struct cgroup cgroup;
    struct names memcgs;
    struct table threads; /* of a cgroup: (thread, 0) -> memcg */
    struct tracing *tracing;
    bool no_memory;
};

/* "/NAME" as the name of a memcg. */
static int name_memcg(struct target *target, const char *name, struct record_error *error)
{
    char path[NAME_MAX + 2];
    uint32_t id;
    snprintf(path, sizeof(path), "/%s", name);
    return names_intern(&target->memcgs, path, strlen(path), &id) == MGLRU_OK
               ? MGLRU_OK
               : record_fail(error, MGLRU_ENOMEM, "no memory");
}

static int open_command(struct target *target, const struct record_options *options,
                        struct record_error *error)
{
    char *const *argv = options->command;
    const bool own_stdout = strcmp(options->output, "-") == 0;
    const char *slash = strrchr(argv[0], '/');
    const char *name = slash != NULL && slash[1] != '\0' ? slash + 1 : argv[0];
    int code = name_memcg(target, name, error);
    if (code == MGLRU_OK)
        code = command_prepare(&target->command, argv, own_stdout, error);
    target->pid = target->command.pid;
    return code;
}

static int open_pid(struct target *target, pid_t pid, struct record_error *error)
{
    char path[64], name[64];
    snprintf(path, sizeof(path), "/proc/%ld/comm", (long)pid);
    target->pid = pid;
    if (access(path, F_OK) != 0)
        return record_fail(error, MGLRU_EINVAL, "no process has the number %ld", (long)pid);
    readfile_line(path, "process", name, sizeof(name));
    for (char *c = name; *c != '\0'; c++)
        if (*c == '/')
            *c = '_';
    return name_memcg(target, name[0] != '\0' ? name : "process", error);
}

static int open_kind(struct target *target, const struct record_options *options,
                     const struct mounts *mounts, struct record_error *error)
{
    uint32_t root;
    int code = MGLRU_OK;
    switch (options->target) {
    case RECORD_COMMAND:
        code = open_command(target, options, error);
        break;
    case RECORD_PID:
        code = open_pid(target, options->pid, error);
        break;
    default:
        code = cgroup_open(&target->cgroup, options->cgroup, mounts, error);
        if (code == MGLRU_OK && names_intern(&target->memcgs, target->cgroup.path,
                                             strlen(target->cgroup.path), &root) != MGLRU_OK)
            code = record_fail(error, MGLRU_ENOMEM, "no memory");
        return code;
    }
    if (code != MGLRU_OK)
        return code;
    cgroup_of_process(&target->cgroup, target->pid, mounts);
    target->end_fd = pidfd_open(target->pid, 0);
    if (target->end_fd < 0)
        return record_fail(error, errno == ESRCH ? MGLRU_EINVAL : MGLRU_EIO, "process %ld: %s",
                           (long)target->pid, strerror(errno));
    return MGLRU_OK;
}

/* Tracepoints know processes by the machine's numbers; those of another PID namespace would name
 * strangers. */
static int check_pid_namespace(struct record_error *error)
{
    struct stat info;
    if (stat("/proc/self/ns/pid", &info) != 0 || info.st_ino == FIRST_PID_NAMESPACE)
        return MGLRU_OK;
    return record_fail(error, MGLRU_ENOTSUP,
                       "this is a PID namespace of its own, and tracepoints know the machine's "
                       "process numbers only: record outside of the container, with --cgroup or "
                       "--pid");
}

int target_open(const struct record_options *options, const struct mounts *mounts,
                struct target **out, struct record_error *error)
{
    *out = NULL;
    int code = check_pid_namespace(error);
    if (code != MGLRU_OK)
        return code;
    struct target *target = calloc(1, sizeof(*target));
    if (target == NULL)
        return record_fail(error, MGLRU_ENOMEM, "no memory");
    target->kind = options->target;
    target->end_fd = -1;
    names_init(&target->memcgs);
    code = open_kind(target, options, mounts, error);
    if (code != MGLRU_OK)
        target_close(target);
    else
        *out = target;
    return code;
}

/* Threads of a process, each followed. */
static int follow_process(struct target *target, struct tracing *tracing,
                          struct record_error *error)
{
    char path[64];
    size_t followed = 0;
    snprintf(path, sizeof(path), "/proc/%ld/task", (long)target->pid);
    DIR *folder = opendir(path);
    for (struct dirent *entry; folder != NULL && (entry = readdir(folder)) != NULL;)
        if (isdigit((unsigned char)entry->d_name[0]))
            followed += tracing_follow_also(tracing, atoi(entry->d_name));
    if (folder != NULL)
        closedir(folder);
    return followed > 0 ? MGLRU_OK
                        : record_fail(error, MGLRU_EINVAL, "process %ld ended before the recording",
                                      (long)target->pid);
}

/* A thread that was found in a cgroup; new ones are followed. */
static void take_thread(void *context, int32_t thread, const char *memcg)
{
    struct target *target = context;
    uint32_t id;
    bool added;
    if (names_intern(&target->memcgs, memcg, strlen(memcg), &id) != MGLRU_OK ||
        !table_add(&target->threads, (uint64_t)thread, 0, id, &added))
        target->no_memory = true;
    else if (added)
        tracing_follow_also(target->tracing, thread);
}

int target_follow(struct target *target, struct tracing *tracing, struct record_error *error)
{
    int code = tracing_follow(tracing, NULL, 0, error);
    if (code != MGLRU_OK)
        return code;
    if (target->kind != RECORD_CGROUP)
        return follow_process(target, tracing, error);
    if (!target_refresh(target, tracing))
        return record_fail(error, MGLRU_EINVAL, "%s: the cgroup is gone", target->cgroup.folder);
    return target->no_memory ? record_fail(error, MGLRU_ENOMEM, "no memory") : MGLRU_OK;
}

bool target_refresh(struct target *target, struct tracing *tracing)
{
    target->tracing = tracing;
    return target->kind != RECORD_CGROUP || cgroup_walk(&target->cgroup, take_thread, target);
}

int target_start(struct target *target, struct record_error *error)
{
    return target->kind == RECORD_COMMAND ? command_start(&target->command, error) : MGLRU_OK;
}

int target_end_fd(const struct target *target)
{
    return target->end_fd;
}

void target_signal(struct target *target, int signal)
{
    if (target->kind == RECORD_COMMAND && target->command.started)
        kill(target->pid, signal);
}

void target_hand_over(struct target *target, struct record_report *report)
{
    if (target->kind != RECORD_COMMAND || !target->command.started)
        return;
    report->command = target->pid;
    report->command_fd = target->end_fd;
    target->end_fd = -1;
}

uint32_t target_memcg_of(struct target *target, int32_t pid)
{
    char path[CGROUP_PATH_BYTES];
    uint32_t id;
    if (target->kind != RECORD_CGROUP)
        return 0;
    id = table_find(&target->threads, (uint64_t)pid, 0);
    if (id != TABLE_NONE)
        return id;
    /* Forked since the last look: where it is now, or the whole target when it is gone already. */
    if (!cgroup_path_of(&target->cgroup, pid, path, sizeof(path)) ||
        names_intern(&target->memcgs, path, strlen(path), &id) != MGLRU_OK)
        return 0;
    return id;
}

const char *target_memcg_name(const struct target *target, uint32_t memcg)
{
    return names_text(&target->memcgs, memcg);
}

const char *target_cgroup_folder(const struct target *target)
{
    return target->cgroup.folder;
}

void target_close(struct target *target)
{
    if (target == NULL)
        return;
    command_abandon(&target->command);
    cgroup_close(&target->cgroup);
    if (target->end_fd >= 0)
        close(target->end_fd);
    names_destroy(&target->memcgs);
    table_free(&target->threads);
    free(target);
}
