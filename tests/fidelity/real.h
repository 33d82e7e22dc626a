/* SPDX-License-Identifier: MIT */
/*
 * Real programs: their read() calls, from a kernel trace or from a native trace of this project,
 * and what the kernel made of them under several limits.
 */
#ifndef FIDELITY_REAL_H
#define FIDELITY_REAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "compare.h"
#include "table.h"
#include "trace/reader.h"

/* One read() call, or a page of file system metadata that the kernel read for the program. In a
 * native trace such a page is a file of its own, named by REAL_METADATA and its number. */
#define REAL_METADATA 'b'
struct real_read {
    uint64_t time_us;
    uint32_t file;  /* index into files */
    uint32_t count; /* pages */
    uint64_t first; /* page */
    bool reopened;  /* the program opened the file again since its last read of it */
    bool metadata;  /* not a read of the program: first is the block of the device */
};

struct real_file {
    uint64_t inode;
    uint64_t pages;
    uint64_t offset; /* of its first page among the pages of all files */
};

/* Folios that came into the cache, one after the other: how many, and a hash of all of them. */
struct real_folios {
    uint64_t count;
    uint64_t hash;
};

void real_folios_add(struct real_folios *folios, uint64_t inode, uint64_t first, uint64_t pages);

struct real_stream {
    struct real_read *reads;
    size_t count;
    size_t capacity;
    struct real_file *files;
    size_t files_count;
    uint64_t accesses;         /* pages of data reads */
    bool metadata;             /* there are metadata reads */
    uint64_t blocks;           /* above the highest of them */
    struct real_folios folios; /* of data, that the kernel added; kernel traces only */
    uint8_t *misses; /* one bit a page of data reads: added to the cache just before; a limited
                          run's trace only */
};

/*
 * Loads a kernel trace of the harness with the inodes.txt beside it. Consecutive events of one
 * call are joined and clipped to the file's size. A MGLRU_E code and one line in @error.
 */
int real_load(const char *path, struct real_stream *out, struct trace_error *error);

/* Loads a native trace of reads by one memcg. As above. */
int real_load_native(const char *path, struct real_stream *out, struct trace_error *error);
void real_free(struct real_stream *stream);

/* Page of each access, as an index into all pages of all files; NULL: no memory. */
uint32_t *real_pages(const struct real_stream *stream, uint64_t *page_count);

/* Writes the stream as a native trace of memcg /r. */
int real_emit(const struct real_stream *stream, const char *path);

struct real_options {
    const char *model;
    bool classic;
    uint64_t max_kb; /* 0: no limit */
    uint64_t readahead_bytes;
    enum mglru_kernel_charge kernel_charge;
    uint64_t kernel_charge_bytes;
    bool metadata;     /* play metadata reads as well */
    uint64_t start_ns; /* guest clock at the start of the run */
    double pace;       /* duration of the run by that of the traced one */
    const struct schedule *schedule;
    bool capture; /* keep memory.stat and lru_gen at the end */
};

struct real_result {
    uint64_t misses;           /* of data reads */
    uint64_t pages_read;       /* data */
    struct real_folios folios; /* data */
    uint8_t *bits;             /* one bit a page of data reads */
    bool oom;
    char *stat;
    char *lru_gen;
};

int real_run(const struct real_stream *stream, const struct real_options *options,
             struct real_result *out);
void real_result_free(struct real_result *result);

/*
 * Compares all runs of the boots in DIR/NAME: kernel traces with their inodes.txt, or of a fixture
 * the one native trace reads.trace.zst. 0, or a MGLRU_E code and an error line.
 */
int real_compare(const char *dir, const char *name, struct compare *compare);

/*
 * Writes fixtures of the boots into the folder @out: a JSON each, and reads.trace to be compressed
 * to reads.trace.zst. As real_compare.
 */
int real_write_fixtures(const char *dir, const char *name, const char *out,
                        struct compare *compare);

#endif
