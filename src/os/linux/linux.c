/* SPDX-License-Identifier: MIT */
/*
 * The real machine. Thin wrappers over system calls; the one place that maps errno values to the
 * codes of <mglru/error.h>.
 */
#include "os/os.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/check.h"

struct os_file {
    int fd;
};

struct os_thread {
    pthread_t id;
    void (*body)(void *);
    void *argument;
};

static int error_of(int errno_value)
{
    switch (errno_value) {
    case ENOENT:
    case ENOTDIR:
        return MGLRU_ENOENT;
    case EACCES:
    case EPERM:
    case EROFS:
        return MGLRU_EPERM;
    case ENOMEM:
        return MGLRU_ENOMEM;
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
        return MGLRU_ENOSPC;
    default:
        return MGLRU_EIO;
    }
}

static uint64_t linux_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void linux_sleep_ns(uint64_t duration_ns)
{
    struct timespec left = {.tv_sec = (time_t)(duration_ns / 1000000000u),
                            .tv_nsec = (long)(duration_ns % 1000000000u)};
    while (clock_nanosleep(CLOCK_MONOTONIC, 0, &left, &left) == EINTR)
        ;
}

static int linux_pages_map(size_t bytes, bool huge, void **out)
{
    void *start = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (start == MAP_FAILED)
        return MGLRU_ENOMEM;
    if (huge)
        madvise(start, bytes, MADV_HUGEPAGE); /* a hint: refusal changes speed only */
    *out = start;
    return MGLRU_OK;
}

static void linux_pages_unmap(void *start, size_t bytes)
{
    int error = munmap(start, bytes);
    MGLRU_CHECK(!error);
}

static int open_flags(enum os_open_mode mode)
{
    switch (mode) {
    case OS_OPEN_READ:
        return O_RDONLY;
    case OS_OPEN_WRITE:
        return O_RDWR | O_CREAT;
    default:
        return O_RDWR | O_CREAT | O_TRUNC;
    }
}

static int linux_file_open(const char *path, enum os_open_mode mode, struct os_file **out)
{
    struct os_file *file = malloc(sizeof(*file));
    if (!file)
        return MGLRU_ENOMEM;
    file->fd = open(path, open_flags(mode) | O_CLOEXEC, 0666);
    struct stat info;
    int error = file->fd < 0             ? error_of(errno)
                : fstat(file->fd, &info) ? MGLRU_EIO
                : S_ISDIR(info.st_mode)  ? MGLRU_EIO
                                         : MGLRU_OK;
    if (error) {
        if (file->fd >= 0)
            close(file->fd);
        free(file);
        return error;
    }
    *out = file;
    return MGLRU_OK;
}

static int linux_file_read(struct os_file *file, void *buffer, size_t bytes, uint64_t offset,
                           size_t *done)
{
    while (*done < bytes) {
        ssize_t got =
            pread(file->fd, (char *)buffer + *done, bytes - *done, (off_t)(offset + *done));
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return MGLRU_EIO;
        if (!got)
            return MGLRU_OK;
        *done += (size_t)got;
    }
    return MGLRU_OK;
}

static int linux_file_write(struct os_file *file, const void *buffer, size_t bytes, uint64_t offset)
{
    for (size_t done = 0; done < bytes;) {
        ssize_t put =
            pwrite(file->fd, (const char *)buffer + done, bytes - done, (off_t)(offset + done));
        if (put < 0 && errno == EINTR)
            continue;
        if (put < 0)
            return error_of(errno) == MGLRU_ENOSPC ? MGLRU_ENOSPC : MGLRU_EIO;
        done += (size_t)put;
    }
    return MGLRU_OK;
}

static int linux_file_size(struct os_file *file, uint64_t *bytes)
{
    struct stat info;
    if (fstat(file->fd, &info))
        return MGLRU_EIO;
    *bytes = (uint64_t)info.st_size;
    return MGLRU_OK;
}

static int linux_file_sync(struct os_file *file)
{
    return fsync(file->fd) ? MGLRU_EIO : MGLRU_OK;
}

static void linux_file_close(struct os_file *file)
{
    close(file->fd);
    free(file);
}

static int linux_file_remove(const char *path)
{
    return unlink(path) ? error_of(errno) : MGLRU_OK;
}

static void *thread_body(void *argument)
{
    struct os_thread *thread = argument;
    thread->body(thread->argument);
    return NULL;
}

static int linux_thread_start(void (*body)(void *), void *argument, struct os_thread **out)
{
    struct os_thread *thread = malloc(sizeof(*thread));
    if (!thread)
        return MGLRU_ENOMEM;
    thread->body = body;
    thread->argument = argument;
    if (pthread_create(&thread->id, NULL, thread_body, thread)) {
        free(thread);
        return MGLRU_ENOMEM;
    }
    *out = thread;
    return MGLRU_OK;
}

static void linux_thread_join(struct os_thread *thread)
{
    int error = pthread_join(thread->id, NULL);
    MGLRU_CHECK(!error);
    free(thread);
}

static void linux_thread_yield(void)
{
    sched_yield();
}

static void linux_wait(const void *word, uint32_t expected)
{
    syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, expected, NULL, NULL, 0);
}

static void linux_wake(const void *word, bool all)
{
    syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, all ? INT_MAX : 1, NULL, NULL, 0);
}

static unsigned linux_cpu_count(void)
{
    cpu_set_t set;
    int count = sched_getaffinity(0, sizeof(set), &set) ? 1 : CPU_COUNT(&set);
    return count < 1 ? 1 : (unsigned)count;
}

static int linux_random_fill(void *buffer, size_t bytes)
{
    for (size_t done = 0; done < bytes;) {
        ssize_t got = getrandom((char *)buffer + done, bytes - done, 0);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return MGLRU_EIO;
        done += (size_t)got;
    }
    return MGLRU_OK;
}

static const struct os_ops linux_ops = {
    .name = "linux",
    .clock_now_ns = linux_now_ns,
    .clock_sleep_ns = linux_sleep_ns,
    .pages_map = linux_pages_map,
    .pages_unmap = linux_pages_unmap,
    .file_open = linux_file_open,
    .file_read = linux_file_read,
    .file_write = linux_file_write,
    .file_size = linux_file_size,
    .file_sync = linux_file_sync,
    .file_close = linux_file_close,
    .file_remove = linux_file_remove,
    .thread_start = linux_thread_start,
    .thread_join = linux_thread_join,
    .thread_yield = linux_thread_yield,
    .wait = linux_wait,
    .wake = linux_wake,
    .cpu_count = linux_cpu_count,
    .random_fill = linux_random_fill,
};

const struct os_ops *os_linux(void)
{
    return &linux_ops;
}
