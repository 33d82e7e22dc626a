/* SPDX-License-Identifier: MIT */
/*
 * Writes records as a trace in the native text format. What a reader makes of the result are the
 * same records again: operations, names, pages, counts, times, control lines, in the same order
 * (line numbers and ids are the reader's own).
 *
 *   trace_writer_open -> trace_writer_put or _copy ... -> trace_writer_commit
 *                                                      -> trace_writer_discard
 *
 * Where the bytes go, and what an error leaves behind (nothing): output.h. One thread at a time.
 */
#ifndef TRACE_WRITER_H
#define TRACE_WRITER_H

#include <stddef.h>
#include <stdint.h>

#include "trace/reader.h"
#include "trace/record.h"

struct trace_writer;

/*
 * Creates the trace @path ("-": standard output; .gz, .xz, .zst compress). @page_bytes: a power of
 * two from 512 to 2^30. MGLRU_EINVAL: the page size, or @path is a folder; MGLRU_ENOENT, _EPERM,
 * _ENOSPC, _EIO, _ENOMEM: the file cannot be made; MGLRU_ENOTSUP: no such compression here.
 */
int trace_writer_open(const char *path, uint32_t page_bytes, struct trace_writer **out,
                      struct trace_error *error);

/*
 * The same over the open file @fd, which is the writer's to close from now on, also after an error.
 * @name stands in messages, and its suffix says the compression.
 */
int trace_writer_open_fd(int fd, const char *name, uint32_t page_bytes, struct trace_writer **out,
                         struct trace_error *error);

/* Bytes of the file so far; the encoder may hold up to 128 KiB more. */
uint64_t trace_writer_bytes(const struct trace_writer *writer);

/*
 * Adds a line for people: "# TEXT", control characters shown as '?', long texts cut. Readers pass
 * it over. MGLRU_ENOSPC, MGLRU_EIO, MGLRU_ENOMEM: writing failed.
 */
int trace_writer_comment(struct trace_writer *writer, const char *text, struct trace_error *error);

/*
 * Adds one record. @memcg, @object: names for the ids in it; NULL where the operation has none.
 * MGLRU_EINVAL: the format cannot hold it (a path that is none, an empty name, a number out of
 * range, a control word with blanks); MGLRU_ENOSPC, MGLRU_EIO, MGLRU_ENOMEM: writing failed.
 */
int trace_writer_put(struct trace_writer *writer, const struct trace_record *record,
                     const char *memcg, const char *object, struct trace_error *error);

/* Adds @count records of @reader, whose names they use. Codes as for trace_writer_put. */
int trace_writer_copy(struct trace_writer *writer, const struct trace_reader *reader,
                      const struct trace_record *records, size_t count, struct trace_error *error);

/*
 * Completes the trace and frees @writer in any case. After an error of this or an earlier call no
 * file is left. MGLRU_ENOSPC, MGLRU_EIO, ...: as told by the call that failed first.
 */
int trace_writer_commit(struct trace_writer *writer, struct trace_error *error);

/* Gives the trace up and removes what was written. NULL is ignored. */
void trace_writer_discard(struct trace_writer *writer);

#endif
