/* SPDX-License-Identifier: MIT */
/*
 * Bytes of a trace: a file or standard input, decompressed on the way when its first bytes are
 * those of gzip, xz or zstd. The reader of a format works directly on the buffer:
 *
 *   buffer  [ used up | unread: begin .. end | free ]
 *                       whole lines: begin .. lines_end
 *
 * Text formats call trace_input_lines and scan from begin to lines_end; a line break stands before
 * lines_end, so that scanning a number or a field needs no look at the end of the buffer.
 * Binary formats call trace_input_bytes. Both move what is unread to the front of the buffer, so
 * that pointers into it live until the next call.
 *
 * One thread at a time.
 */
#ifndef TRACE_INPUT_H
#define TRACE_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/codec.h"
#include "trace/reader.h"

/* Chosen: fits in the second-level cache; also the longest line that is read. */
#define TRACE_INPUT_BYTES ((size_t)256 << 10)
/* Behind it: a line break that may be added, and what scanning eight bytes at once may touch. */
#define TRACE_INPUT_PADDING ((size_t)16)

struct trace_input {
    /* Fixed at open. */
    const char *name; /* for messages: the path, or "standard input" */
    int fd;           /* -1: all bytes are in the buffer (trace_input_open_memory) */
    bool own_fd;
    const struct codec *codec; /* NULL: plain */
    void *decoder;
    uint64_t file_bytes; /* 0: unknown */

    int wake_fd; /* -1, or: reading ends with MGLRU_EINTR once this becomes readable */

    /* The buffer; text formats move begin. */
    unsigned char *buffer;
    size_t begin;
    size_t end;
    size_t lines_end;
    uint64_t taken; /* decompressed bytes that lay before buffer[0] */
    bool ended;     /* nothing follows end */
    bool torn;      /* the last line had no line break; one was added */

    /* Compressed bytes not yet decoded. */
    unsigned char *raw;
    size_t raw_begin;
    size_t raw_end;
    uint64_t raw_taken; /* bytes of the file that lay before raw[0] or buffer[0] */
    bool raw_ended;
    bool whole; /* the decoder is at the end of a stream */
};

/*
 * Opens @path ("-": standard input), recognises compression, fills the buffer for a first look.
 * @input is owned by the caller and closed with trace_input_close in every case.
 * MGLRU_ENOENT, _EPERM, _EIO, _ENOMEM; MGLRU_EINVAL: a directory, or nothing is in it;
 * MGLRU_ENOTSUP: compressed with a library that this build lacks.
 */
int trace_input_open(struct trace_input *input, const char *path, struct trace_error *error);

/* The same; MGLRU_EINTR as soon as @wake_fd becomes readable, also while it waits for the first
 * bytes. @wake_fd stays the caller's; -1: none. */
int trace_input_open_with(struct trace_input *input, const char *path, int wake_fd,
                          struct trace_error *error);

/* The same over @bytes bytes at @data, which must live as long as @input. For tests and fuzzing. */
int trace_input_open_memory(struct trace_input *input, const void *data, size_t bytes,
                            struct trace_error *error);

void trace_input_close(struct trace_input *input);

/*
 * Makes sure that a whole line is at begin, or begin == lines_end at the end of the input.
 * MGLRU_EIO, _EINVAL (damaged compression, or a line longer than TRACE_INPUT_BYTES), _ENOMEM,
 * MGLRU_EINTR (see wake_fd).
 */
int trace_input_lines(struct trace_input *input, struct trace_error *error);

/*
 * Makes sure that at least @bytes (<= TRACE_INPUT_BYTES) are unread, or all there are at the end.
 * Codes as above.
 */
int trace_input_bytes(struct trace_input *input, size_t bytes, struct trace_error *error);

/* Place of the next unread byte in the (decompressed) trace. */
static inline uint64_t trace_input_offset(const struct trace_input *input)
{
    return input->taken + input->begin;
}

/* Bytes of the file (compressed where it is) that have been taken in. */
uint64_t trace_input_consumed(const struct trace_input *input);

#endif
