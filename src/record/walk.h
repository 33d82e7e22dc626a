/* SPDX-License-Identifier: MIT */
/* Names of files by inode: a walk over one file system, for a bounded time. */
#ifndef RECORD_WALK_H
#define RECORD_WALK_H

#include <stdbool.h>
#include <stdint.h>

/* Chosen: a million names in warm caches, and nobody waits much longer for a report. */
#define WALK_NS_MAX UINT64_C(10000000000)

/*
 * Calls @on_entry for each regular file below @root on @device, folders near the root first, until
 * it returns false or CLOCK_MONOTONIC reaches @deadline_ns.
 */
void walk_files(const char *root, uint64_t device, uint64_t deadline_ns,
                bool (*on_entry)(void *context, uint64_t device, uint64_t inode, const char *path),
                void *context);

#endif
