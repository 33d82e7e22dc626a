/* SPDX-License-Identifier: MIT */
/*
 * Paths and sizes of the files that the events name by device and inode.
 *
 * While the recording runs, files that programs have open or mapped are found in /proc. What was
 * closed sooner is looked for in the file systems at the end, for a bounded time; there, and on
 * overlay file systems, whose devices differ from those of the events, the inode alone decides.
 * Files that were deleted meanwhile keep the name "MAJOR:MINOR/INODE" in hexadecimal.
 */
#ifndef RECORD_PATHS_H
#define RECORD_PATHS_H

#include <stdbool.h>
#include <stdint.h>

#include "record/mounts.h"
#include "record/rules.h"

struct paths;

/* Both must outlive the paths. NULL: no memory. */
struct paths *paths_create(const struct rules *rules, const struct mounts *mounts);

/* Looks for files that came since the last call, for a small share of the time. */
void paths_look(struct paths *paths);

/* Looks for what is left, and for the sizes of all. */
void paths_finish(struct paths *paths);

/* The name for the trace, different for each file; NULL: no memory. */
const char *paths_name(struct paths *paths, uint32_t file);

/* Whether that is a path. */
bool paths_known(const struct paths *paths, uint32_t file);

/* Bytes of the file, the largest size that was seen; 0: unknown. */
uint64_t paths_bytes(const struct paths *paths, uint32_t file);

void paths_free(struct paths *paths);

#endif
