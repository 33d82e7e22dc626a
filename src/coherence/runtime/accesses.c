/* SPDX-License-Identifier: MIT */
/*
 * What the compilers call before plain accesses (gcc 12, clang 14): the names and arguments are the
 * sanitizer's, each says size and direction.
 */
#include "coherence/runtime/accesses.h"
#include "coherence/runtime/runtime.h"

#include <string.h>

#pragma GCC visibility push(default)

void __tsan_init(void)
{
    rt_start();
}

/* One function for each size: reads, writes, and both at once, which clang emits for x++. The
 * compilers name those apart that are marked, or have no natural alignment; here it is all one. */
#define ACCESS(bytes)                                                                              \
    void __tsan_read##bytes(void *object)                                                          \
    {                                                                                              \
        rt_access(object, bytes, LOG_READ);                                                        \
    }                                                                                              \
    void __tsan_write##bytes(void *object)                                                         \
    {                                                                                              \
        rt_access(object, bytes, LOG_WRITE);                                                       \
    }                                                                                              \
    void __tsan_read_write##bytes(void *object)                                                    \
    {                                                                                              \
        rt_access(object, bytes, LOG_READ);                                                        \
        rt_access(object, bytes, LOG_WRITE);                                                       \
    }                                                                                              \
    void __tsan_volatile_read##bytes(void *object)                                                 \
    {                                                                                              \
        rt_access(object, bytes, LOG_READ);                                                        \
    }                                                                                              \
    void __tsan_volatile_write##bytes(void *object)                                                \
    {                                                                                              \
        rt_access(object, bytes, LOG_WRITE);                                                       \
    }                                                                                              \
    void __tsan_unaligned_read##bytes(void *object)                                                \
    {                                                                                              \
        rt_access(object, bytes, LOG_READ);                                                        \
    }                                                                                              \
    void __tsan_unaligned_write##bytes(void *object)                                               \
    {                                                                                              \
        rt_access(object, bytes, LOG_WRITE);                                                       \
    }                                                                                              \
    void __tsan_unaligned_read_write##bytes(void *object)                                          \
    {                                                                                              \
        rt_access(object, bytes, LOG_READ);                                                        \
        rt_access(object, bytes, LOG_WRITE);                                                       \
    }                                                                                              \
    void __tsan_unaligned_volatile_read##bytes(void *object)                                       \
    {                                                                                              \
        rt_access(object, bytes, LOG_READ);                                                        \
    }                                                                                              \
    void __tsan_unaligned_volatile_write##bytes(void *object)                                      \
    {                                                                                              \
        rt_access(object, bytes, LOG_WRITE);                                                       \
    }

ACCESS(1)
ACCESS(2)
ACCESS(4)
ACCESS(8)
ACCESS(16)

void __tsan_read_range(void *object, size_t bytes)
{
    rt_access_range(object, bytes, LOG_READ);
}

void __tsan_write_range(void *object, size_t bytes)
{
    rt_access_range(object, bytes, LOG_WRITE);
}

void __tsan_vptr_update(void **object, void *value)
{
    rt_access(object, sizeof(*object), LOG_WRITE);
}

void __tsan_vptr_read(void **object)
{
    rt_access(object, sizeof(*object), LOG_READ);
}

void *__tsan_memcpy(void *to, const void *from, size_t bytes)
{
    rt_access_range(from, bytes, LOG_READ);
    rt_access_range(to, bytes, LOG_WRITE);
    return memcpy(to, from, bytes);
}

void *__tsan_memmove(void *to, const void *from, size_t bytes)
{
    rt_access_range(from, bytes, LOG_READ);
    rt_access_range(to, bytes, LOG_WRITE);
    return memmove(to, from, bytes);
}

void *__tsan_memset(void *to, int value, size_t bytes)
{
    rt_access_range(to, bytes, LOG_WRITE);
    return memset(to, value, bytes);
}

/* Calls and happens-before: nothing that moves a line. */
void __tsan_func_entry(void *caller)
{
}

void __tsan_func_exit(void)
{
}

void __tsan_ignore_thread_begin(void)
{
}

void __tsan_ignore_thread_end(void)
{
}

void __tsan_acquire(void *object)
{
}

void __tsan_release(void *object)
{
}

#pragma GCC visibility pop
