/* SPDX-License-Identifier: MIT */
/*
 * From events to accesses, and what is known of each file meanwhile. No system call is made here,
 * so that all of it can be tested with made-up events.
 *
 * 1. One read() emits EVENT_READ once a batch of folios, with the end of the request in all of
 *    them. Events of one thread that go on like this are one access of the whole range. The end may
 *    lie behind the end of the file: record_file.end says what was seen to be there, and who writes
 *    the trace cuts by it.
 * 2. The first access of a file opens it. A read by another thread than the last one of the file,
 *    or after its thread opened anything, is of a file opened anew (the position of the last read
 *    does not count).
 * 3. A fault is an access through a mapping; one that is repeated after the disk answered is one.
 *    Pages mapped around a fault are accesses too, since the kernel marks them so.
 * 4. A folio that becomes dirty is a write: of all its pages where the thread has just added it,
 *    else of the first, since the event tells no size. Where the thread just had a fault on one of
 *    them it is a write of that one through the mapping. Writes to what is dirty already are
 *    invisible.
 * 5. Pages that leave the cache are freed (unlink, truncate, fadvise), unless the thread is in
 *    reclaim: a replay reclaims by itself.
 * 6. Pages of block devices themselves are metadata of file systems and no accesses.
 *
 * Writes and frees that go on page by page are one record each.
 */
#ifndef RECORD_RULES_H
#define RECORD_RULES_H

#include <stdbool.h>
#include <stdint.h>

#include "record/event.h"
#include "record/mounts.h"
#include "trace/record.h"

struct record_file {
    uint64_t device, inode;
    uint64_t end;          /* one behind the last page that was seen to be there */
    uint64_t accesses;     /* pages asked for, before any cut */
    bool block_device;     /* no file: metadata of a file system */
    int32_t reader;        /* thread of the last read; -1: none */
    uint32_t reader_opens; /* what it had opened then */
    int32_t user;          /* a thread that accessed it */
};

struct rules_access {
    enum trace_op op;
    uint32_t memcg, file;
    uint64_t page, count; /* TRACE_OPEN has none */
    uint64_t time_ns;
};

struct rules_hooks {
    /* Takes an access. An error code ends rules_take with it. */
    int (*emit)(void *context, const struct rules_access *access);
    /* The memcg of a thread, asked once for each. */
    uint32_t (*memcg_of)(void *context, int32_t pid);
    void *context;
};

struct rules_counts {
    uint64_t added_pages, metadata_pages, reclaimed_pages, mapped_pages;
};

struct rules;

/* @mounts lead from bdis to devices; they and @hooks' context must outlive the rules. NULL: no
 * memory. */
struct rules *rules_create(const struct rules_hooks *hooks, const struct mounts *mounts);

/* Takes the next event in order of time. MGLRU_ENOMEM, or what emit returned. */
int rules_take(struct rules *rules, const struct event *event);

/* Emits what waits to be joined with what follows. */
int rules_flush(struct rules *rules);

/* Files seen so far, by number; the pointer lives until the next rules_take. */
uint32_t rules_files(const struct rules *rules);
const struct record_file *rules_file(const struct rules *rules, uint32_t file);

/* The number of a file; TABLE_NONE: not seen. */
uint32_t rules_find(const struct rules *rules, uint64_t device, uint64_t inode);
void rules_counts(const struct rules *rules, struct rules_counts *out);

void rules_free(struct rules *rules);

#endif
