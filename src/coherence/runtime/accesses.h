/* SPDX-License-Identifier: MIT */
/*
 * The calls that compilers make for -fsanitize=thread, so that the compiler sees one declaration of
 * each here too. They are an interface between compilers and run-time libraries; the names are
 * theirs. Programs do not call them.
 */
#ifndef COHERENCE_RUNTIME_ACCESSES_H
#define COHERENCE_RUNTIME_ACCESSES_H

#include <stddef.h>

void __tsan_init(void);

#define DECLARE_ACCESS(bytes)                                                                      \
    void __tsan_read##bytes(void *object);                                                         \
    void __tsan_write##bytes(void *object);                                                        \
    void __tsan_read_write##bytes(void *object);                                                   \
    void __tsan_volatile_read##bytes(void *object);                                                \
    void __tsan_volatile_write##bytes(void *object);                                               \
    void __tsan_unaligned_read##bytes(void *object);                                               \
    void __tsan_unaligned_write##bytes(void *object);                                              \
    void __tsan_unaligned_read_write##bytes(void *object);                                         \
    void __tsan_unaligned_volatile_read##bytes(void *object);                                      \
    void __tsan_unaligned_volatile_write##bytes(void *object);

DECLARE_ACCESS(1)
DECLARE_ACCESS(2)
DECLARE_ACCESS(4)
DECLARE_ACCESS(8)
DECLARE_ACCESS(16)

void __tsan_read_range(void *object, size_t bytes);
void __tsan_write_range(void *object, size_t bytes);
void __tsan_vptr_update(void **object, void *value);
void __tsan_vptr_read(void **object);
void *__tsan_memcpy(void *to, const void *from, size_t bytes);
void *__tsan_memmove(void *to, const void *from, size_t bytes);
void *__tsan_memset(void *to, int value, size_t bytes);
void __tsan_func_entry(void *caller);
void __tsan_func_exit(void);
void __tsan_ignore_thread_begin(void);
void __tsan_ignore_thread_end(void);
void __tsan_acquire(void *object);
void __tsan_release(void *object);

/* Locks of the program's own making (sanitizer/tsan_interface.h). */
void __tsan_mutex_create(void *lock, unsigned flags);
void __tsan_mutex_destroy(void *lock, unsigned flags);
void __tsan_mutex_pre_lock(void *lock, unsigned flags);
void __tsan_mutex_post_lock(void *lock, unsigned flags, int recursion);
int __tsan_mutex_pre_unlock(void *lock, unsigned flags);
void __tsan_mutex_post_unlock(void *lock, unsigned flags);
void __tsan_mutex_pre_signal(void *lock, unsigned flags);
void __tsan_mutex_post_signal(void *lock, unsigned flags);
void __tsan_mutex_pre_divert(void *lock, unsigned flags);
void __tsan_mutex_post_divert(void *lock, unsigned flags);

void __tsan_atomic_thread_fence(int order);
void __tsan_atomic_signal_fence(int order);

#endif
