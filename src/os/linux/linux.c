/* SPDX-License-Identifier: MIT */
/* The real machine but for its files: thin wrappers over system calls. */
#include "os/linux/linux.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <linux/mman.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/check.h"

struct os_thread {
    pthread_t id;
    void (*body)(void *);
    void *argument;
};

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

/* Address space for @bytes at a multiple of OS_HUGE_BYTES: what sticks out is given back. */
static int map_aligned(size_t bytes, void **out)
{
    if (bytes > SIZE_MAX / 2)
        return MGLRU_ENOMEM;
    char *start = mmap(NULL, bytes + OS_HUGE_BYTES, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (start == MAP_FAILED)
        return MGLRU_ENOMEM;
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t head = -(uintptr_t)start % OS_HUGE_BYTES;
    size_t used = head + (bytes + page - 1) / page * page;
    if (head)
        munmap(start, head);
    if (used < bytes + OS_HUGE_BYTES)
        munmap(start + used, bytes + OS_HUGE_BYTES - used);
    *out = start + head;
    return MGLRU_OK;
}

/* Huge pages of the administrator's pool must all be there now: later an access would kill. */
static int map_strict(size_t bytes, void **out)
{
    void *start = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB | 21 << MAP_HUGE_SHIFT, -1, 0);
    if (start == MAP_FAILED)
        return MGLRU_ENOMEM;
    *out = start;
    return MGLRU_OK;
}

static int linux_range_map(size_t bytes, enum os_range_kind kind, void **out)
{
    if (kind == OS_RANGE_HUGE_STRICT)
        return map_strict(bytes, out);
    int error = map_aligned(bytes, out);
    if (!error) /* hints: refusal changes speed only */
        madvise(*out, bytes, kind == OS_RANGE_SMALL ? MADV_NOHUGEPAGE : MADV_HUGEPAGE);
    return error;
}

static int linux_range_release(void *start, size_t bytes)
{
    return madvise(start, bytes, MADV_DONTNEED) ? MGLRU_ENOTSUP : MGLRU_OK;
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

static void linux_wait_for(const void *word, uint32_t expected, uint64_t timeout_ns)
{
    struct timespec timeout = {.tv_sec = (time_t)(timeout_ns / 1000000000u),
                               .tv_nsec = (long)(timeout_ns % 1000000000u)};
    syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, expected, &timeout, NULL, 0);
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
    .range_map = linux_range_map,
    .range_release = linux_range_release,
    .file_open = linux_file_open,
    .file_read = linux_file_read,
    .file_write = linux_file_write,
    .file_size = linux_file_size,
    .file_sync = linux_file_sync,
    .file_open_direct = linux_file_open_direct,
    .file_readv = linux_file_readv,
    .file_writev = linux_file_writev,
    .file_datasync = linux_file_datasync,
    .file_punch = linux_file_punch,
    .file_resize = linux_file_resize,
    .file_close = linux_file_close,
    .file_remove = linux_file_remove,
    .thread_start = linux_thread_start,
    .thread_join = linux_thread_join,
    .thread_yield = linux_thread_yield,
    .wait = linux_wait,
    .wait_for = linux_wait_for,
    .wake = linux_wake,
    .cpu_count = linux_cpu_count,
    .random_fill = linux_random_fill,
};

const struct os_ops *os_linux(void)
{
    return &linux_ops;
}
