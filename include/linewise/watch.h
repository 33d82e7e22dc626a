/* SPDX-License-Identifier: MIT */
/*
 * What a program may tell the recorder of linewise: which of its objects matter, and what an
 * operation is.
 *
 * Overview. A program compiled with -fsanitize=thread and linked with the library linewise-rt
 * instead of the sanitizer's reports its loads, stores and atomics. `linewise record -- PROGRAM`
 * writes them down. Global variables are watched without a word; objects from the heap are when
 * the program says so:
 *
 *   struct queue *queue = aligned_alloc(64, sizeof(*queue));
 *   linewise_watch(queue, sizeof(*queue), "struct queue");
 *
 * Caveats. The calls do nothing when the program is not linked with linewise-rt, so they may stay
 * in production code; they need weak symbols, as gcc and clang have them on ELF systems. Nothing
 * here allocates from the heap.
 *
 * Threads: all calls may run at the same time.
 */
#ifndef LINEWISE_WATCH_H
#define LINEWISE_WATCH_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The recorder's side; absent when the program was linked without it. Call those below. */
void linewise_rt_watch(const void *object, size_t bytes, const char *type) __attribute__((weak));
void linewise_rt_unwatch(const void *object) __attribute__((weak));
void linewise_rt_operations(unsigned long count) __attribute__((weak));

/*
 * Watches an object.
 *
 * @object: its first byte. @bytes: its size; 0 does nothing. @type: what debug information calls
 * its type, "struct queue"; copied, at most 255 bytes; NULL: no type. An object that is watched
 * already gets the new size and type. Blocks shortly when other threads do the same. Objects
 * beyond the recorder's bound (65,536 at a time) are counted and told at the end.
 */
static inline void linewise_watch(const void *object, size_t bytes, const char *type)
{
    if (linewise_rt_watch)
        linewise_rt_watch(object, bytes, type);
}

/* Ends it: call it before the object is freed. @object: as watched; others are ignored. */
static inline void linewise_unwatch(const void *object)
{
    if (linewise_rt_unwatch)
        linewise_rt_unwatch(object);
}

/*
 * Says that the calling thread has done @count operations (requests, transactions, ...) since it
 * last said so. Misses are then told per operation, else per access.
 */
static inline void linewise_operations(unsigned long count)
{
    if (linewise_rt_operations)
        linewise_rt_operations(count);
}

#ifdef __cplusplus
}
#endif

#endif
