/* SPDX-License-Identifier: MIT */
/*
 * Opens a trace of any known format, plain or compressed, and streams its records in batches.
 * Memory does not grow with the length of the trace, only with the number of names.
 *
 * Bad input is an answer, not an accident: the call returns a code and @error holds one line that
 * names file, line or offset, what is wrong and what was expected.
 */
#ifndef TRACE_READER_H
#define TRACE_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/record.h"

struct trace_reader;

#define TRACE_ERROR_BYTES 512

struct trace_error {
    char text[TRACE_ERROR_BYTES]; /* without final newline; empty when there was no error */
};

struct trace_open_options {
    const char *format;  /* name of a format, NULL: found by content */
    const char *columns; /* csv: column map, e.g. "time=0,page=4,count=5"; NULL: from the header */
    uint32_t page_bytes; /* for formats that count bytes; 0 means 4096 */
    int stop_fd;         /* reading ends with MGLRU_EINTR once it is readable; 0: none */
    /*
     * Block and object formats: one access a request, its page being the first block number or
     * the key, as simulators count that do not expand requests. Not what a page cache does.
     */
    bool whole_requests;
};

/* How to look at the input so far; for progress bars. */
struct trace_progress {
    uint64_t bytes_read;  /* compressed bytes consumed */
    uint64_t bytes_total; /* size of the file; 0 when unknown (pipe) */
    uint64_t records;
};

/*
 * @path "-" is standard input. MGLRU_EINVAL: not a trace of the (or any) format; MGLRU_ENOENT,
 * MGLRU_EPERM, MGLRU_EIO: the file cannot be opened or read; MGLRU_ENOTSUP: it is compressed with
 * a library that this build lacks; MGLRU_ENOMEM.
 */
int trace_reader_open(const char *path, const struct trace_open_options *options,
                      struct trace_reader **out, struct trace_error *error);

/* The same over @bytes bytes at @data (at most 256 KiB, copied). For tests and fuzzing. */
int trace_reader_open_memory(const void *data, size_t bytes,
                             const struct trace_open_options *options, struct trace_reader **out,
                             struct trace_error *error);

/*
 * Fills @records with up to @capacity records, returns how many in @count; 0 is the end.
 * MGLRU_EINVAL: a bad record; MGLRU_EIO: read or decompression failed; MGLRU_ENOMEM. Records before
 * the bad one have been handed out by earlier calls or are counted in @count of this one.
 */
int trace_reader_next(struct trace_reader *reader, struct trace_record *records, size_t capacity,
                      size_t *count, struct trace_error *error);

void trace_reader_close(struct trace_reader *reader);

/* Names by id; NULL when @id is unknown. Live until the reader is closed. */
const char *trace_reader_memcg_name(const struct trace_reader *reader, uint32_t id);
const char *trace_reader_object_name(const struct trace_reader *reader, uint32_t id);
uint32_t trace_reader_memcgs(const struct trace_reader *reader);
uint32_t trace_reader_objects(const struct trace_reader *reader);

/* Name of the format in use ("native", "oracleGeneral", ...), page size in bytes. */
const char *trace_reader_format(const struct trace_reader *reader);
uint32_t trace_reader_page_bytes(const struct trace_reader *reader);
void trace_reader_progress(const struct trace_reader *reader, struct trace_progress *out);

/* The i-th format name and its one-line description, for --help; NULL past the last. */
const char *trace_format_name(size_t i);
const char *trace_format_about(size_t i);

#endif
