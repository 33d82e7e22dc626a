/* SPDX-License-Identifier: MIT */
/*
 * The recording runtime: inside of the program that is recorded. Private.
 *
 * Idea: the compiler calls __tsan_read4() and its kin before every access. Most accesses are to
 * what nobody asked about, so the first question is one bit of a hash of watched lines; then the
 * exact range; then a record into the thread's own buffer, which is written to the log when full.
 *
 * Rules inside of the runtime
 *   1. It is compiled without instrumentation and calls nothing that is: no malloc, no stdio, no
 *      pthread lock. Memory comes from mmap.
 *   2. One lock, rt_lock, guards watched ranges, the list of threads and the file; nothing is
 *      called under it that could come back.
 *   3. State of a thread is touched by that thread, and by the one that ends the recording after
 *      it set the mode to off; a record that a running thread writes at that moment may be lost.
 */
#ifndef COHERENCE_RUNTIME_RUNTIME_H
#define COHERENCE_RUNTIME_RUNTIME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "coherence/log_format.h"

#define RT_LINE_BITS 6
/* 2^20 lines are 64 MiB: globals of most programs meet nothing else there. */
#define RT_FILTER_BITS ((uintptr_t)1 << 20)
/* 1 MiB of them. */
#define RT_RANGES_MAX 65536u
/* 1.5 MiB a thread; chosen: a write of that size costs the disk little. */
#define RT_BUFFER_RECORDS 65536u
#define RT_THREADS_MAX 1024u
#define RT_HELD_MAX 16u

enum rt_mode { RT_OFF, RT_FILTER, RT_COUNT, RT_LOG };

struct rt_range {
    uintptr_t first;
    uintptr_t last; /* both ends included */
};

struct rt_held {
    uintptr_t lock;
    bool logged;
};

struct rt_thread {
    uint64_t filtered;
    uint64_t counted;
    uint64_t logged;
    uint64_t lost;
    struct log_record *records; /* NULL: no buffer yet */
    struct rt_thread *next;     /* list of all; those that ended stay, with what they counted */
    uint32_t record_count;
    uint32_t unlogged; /* accesses since the record before */
    uint32_t held_count;
    uint16_t number;
    bool known;  /* in the list */
    bool inside; /* in the runtime: what it does itself is not recorded */
    struct rt_held held[RT_HELD_MAX];
};

extern __thread struct rt_thread rt_self __attribute__((tls_model("initial-exec")));
extern uint64_t rt_filter[RT_FILTER_BITS / 64];

/* Hot path, second half: the line may be watched. */
void rt_access_line(uintptr_t address, size_t bytes, enum log_kind kind);

static inline bool rt_line_watched(uintptr_t address)
{
    uintptr_t line = address >> RT_LINE_BITS & (RT_FILTER_BITS - 1);
    return rt_filter[line / 64] >> (line % 64) & 1;
}

/* Every access comes here. One that crosses into a watched line from another is looked at too. */
static inline void rt_access(const void *object, size_t bytes, enum log_kind kind)
{
    uintptr_t address = (uintptr_t)object;
    if (__builtin_expect(rt_line_watched(address) || rt_line_watched(address + bytes - 1), 0)) {
        rt_access_line(address, bytes, kind);
        return;
    }
    rt_self.filtered++;
    rt_self.unlogged++;
}

/* An access to @bytes bytes, which may be many lines or none. */
void rt_access_range(const void *object, size_t bytes, enum log_kind kind);

/* Locks: the lock word is an access, being held is state. @lock was taken, or will be let go. */
void rt_acquired(const void *lock);
void rt_releasing(const void *lock);

/* Makes the record part of the thread's buffer, or counts it as lost. */
void rt_put(struct rt_thread *self, const struct log_record *record, const char *name);

/* This thread's number in the log, and what it does first in one that another made at @time. */
uint16_t rt_number(void);
void rt_started(uint64_t time, uint16_t maker);

/* Watching. @type may be NULL. */
void rt_watch(uintptr_t first, size_t bytes, const char *type);
void rt_unwatch(uintptr_t first);
/* True when one of the bytes is watched. */
bool rt_watched(uintptr_t first, size_t bytes);

/* Start and end; start may be called many times. */
void rt_start(void);
void rt_set_mode(enum rt_mode mode);
extern enum rt_mode rt_mode;
extern uint64_t rt_lost_objects;

/* Watches what the text NAME[=TYPE][,...] asks for, or all of the program's writable data. */
void rt_watch_globals(const char *text);

/* The file. rt_log_open: false when it cannot be made. */
bool rt_log_open(const char *path, uint64_t max_bytes);
void rt_log_module(const char *path, uint64_t bias);
void rt_log_close(void);
extern const uint64_t *rt_costs_ps; /* filter, count, log */

void *rt_map(size_t bytes);
void rt_lock(void);
void rt_unlock(void);
/* One line on standard error. */
void rt_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

uint64_t rt_clock_ns(void);

/* A clock that all CPUs agree on; its rate is measured. */
static inline uint64_t rt_now(void)
{
#if defined(__x86_64__)
    return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
    uint64_t now;
    __asm__ __volatile__("mrs %0, cntvct_el0" : "=r"(now));
    return now;
#else
    return rt_clock_ns();
#endif
}

#endif
