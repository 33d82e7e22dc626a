/* SPDX-License-Identifier: MIT */
/*
 * Where a report goes: a file or standard output, with every write error noticed.
 *
 * Idea: writers of reports never check single writes. The first error is kept in struct report_out,
 * later writes do nothing, and report_out_close() tells. A regular file appears under its name only
 * when it is complete: it is written beside it and renamed at the end, so a full disk or a refused
 * run leaves nothing behind and never destroys an older report.
 *
 * Invariants
 *   1. stream is NULL exactly when the output is not open.
 *   2. temporary is NULL for standard output and for paths that exist and are no regular files
 *      (devices, pipes): those are written directly and never removed.
 *
 * The program must ignore SIGPIPE, else a closed pipe kills it before it can be reported.
 */
#ifndef REPORT_OUT_H
#define REPORT_OUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#define REPORT_ERROR_BYTES 512

struct report_error {
    char text[REPORT_ERROR_BYTES]; /* one line without newline; empty when there was no error */
};

struct report_out {
    FILE *stream;
    char *path;      /* as the user named it, for messages */
    char *temporary; /* name until report_out_close; see invariant 2 */
    int error_errno; /* of the first failed write; 0: none */
    bool borrowed;   /* the stream is the caller's, or standard output: flushed, not closed */
};

/*
 * Opens @path for writing; "-" is standard output. @out: filled in, valid also after an error (then
 * closed). One thread per output. May block in open(2).
 * 0; MGLRU_ENOENT: the folder does not exist; MGLRU_EPERM: not allowed; MGLRU_EINVAL: @path is a
 * folder; MGLRU_EIO: any other refusal by the system; MGLRU_ENOMEM. @error names path and reason.
 */
int report_out_open(struct report_out *out, const char *path, struct report_error *error);

/* Opens an already open stream, which stays the caller's; @name stands for it in messages. */
int report_out_stream(struct report_out *out, FILE *stream, const char *name);

/* printf into the output; does nothing after an error. */
void report_printf(struct report_out *out, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* @bytes bytes of @data as they are; does nothing after an error. */
void report_write(struct report_out *out, const void *data, size_t bytes);

/*
 * Completes the output: flushes, closes and gives the file its name. After a failed write the
 * partial file is removed. The output is closed in any case.
 * 0; MGLRU_EIO: a write failed (full disk, closed pipe, ...), @error says which.
 */
int report_out_close(struct report_out *out, struct report_error *error);

/* Gives the output up: the partial file is removed. Nothing to do when it is not open. */
void report_out_abandon(struct report_out *out);

#endif
