/* SPDX-License-Identifier: MIT */
/*
 * Bytes on their way to a file, compressed when the name ends with .gz, .xz or .zst.
 *
 * A regular file appears under its name only when it is complete: it is written beside it and
 * renamed at the end. Standard output ("-"), devices and pipes are written directly. After the
 * first error every call returns it, and nothing is left behind.
 *
 * One thread at a time. The program must ignore SIGPIPE, else a closed pipe kills it unheard.
 */
#ifndef TRACE_OUTPUT_H
#define TRACE_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/codec.h"
#include "trace/reader.h"

/* Chosen: few system calls, fits the first-level caches with what fills it. */
#define TRACE_OUTPUT_BYTES ((size_t)32 << 10)

struct trace_output {
    char *path;
    char *temporary; /* NULL: written directly */
    int fd;
    const struct codec *codec; /* NULL: plain */
    void *encoder;
    unsigned char *packed; /* compressed bytes not yet written */
    char *buffer;          /* TRACE_OUTPUT_BYTES, of which used are filled */
    size_t used;
    uint64_t written; /* bytes that the file has got so far */
    int failed;
};

/*
 * Opens @path. @output belongs to the caller, who ends it with trace_output_commit or _discard,
 * after an error as well. MGLRU_ENOENT, _EPERM, _ENOSPC, _EIO, _ENOMEM, MGLRU_EINVAL (a folder);
 * MGLRU_ENOTSUP: the codec of the suffix is not in this build.
 */
int trace_output_open(struct trace_output *output, const char *path, struct trace_error *error);

/*
 * The same over an open file, which is @output's to close from now on, also after an error. @name
 * stands in messages, and its suffix says the compression. MGLRU_ENOMEM, MGLRU_ENOTSUP.
 */
int trace_output_open_fd(struct trace_output *output, int fd, const char *name,
                         struct trace_error *error);

/* Hands the filled part of the buffer on; used is 0 then. MGLRU_ENOSPC, MGLRU_EIO, _ENOMEM. */
int trace_output_flush(struct trace_output *output, struct trace_error *error);

/* Completes the file and gives it its name; @output is closed then. Codes as above. */
int trace_output_commit(struct trace_output *output, struct trace_error *error);

/* Removes what was written; @output is closed then. Harmless on a closed one. */
void trace_output_discard(struct trace_output *output);

#endif
