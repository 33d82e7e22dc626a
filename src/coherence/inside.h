/* SPDX-License-Identifier: MIT */
/*
 * A recorder that hands accesses to a function of the same process, instead of writing a log: for
 * benchmarks that record a copy of the library that they have linked (variant/). The copy is
 * compiled with -fsanitize=thread and linked with runtime/inside.c and the runtime's entry points.
 *
 * Threads: one at a time makes accesses between inside_begin and inside_end; who comes next is
 * ordered by the caller.
 */
#ifndef COHERENCE_INSIDE_H
#define COHERENCE_INSIDE_H

#include <stddef.h>
#include <stdint.h>

#include "coherence/log_format.h"

struct inside_access {
    uint64_t address;
    uint32_t bytes;
    uint32_t skipped;   /* accesses to what is not watched since the one before, copies by words */
    enum log_kind kind; /* LOG_READ, LOG_WRITE, LOG_ATOMIC, LOG_ACQUIRE, LOG_RELEASE */
};

typedef void inside_sink(void *context, const struct inside_access *access);

/* Watches all lines that the object lies in, until inside_end. */
void inside_watch(const void *object, size_t bytes);

/* From here on @sink hears of every access to a watched line, and of locks. */
void inside_begin(inside_sink *sink, void *context);
void inside_end(void);

#endif
