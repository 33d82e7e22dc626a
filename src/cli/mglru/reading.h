/* SPDX-License-Identifier: MIT */
/*
 * What commands that read traces for long share: their frame, the progress line, and the check that
 * an output is not the trace.
 */
#ifndef CLI_MGLRU_READING_H
#define CLI_MGLRU_READING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/out.h"
#include "report/progress.h"
#include "trace/reader.h"

/* The first member of what a command gives its callbacks as context. */
struct reading {
    const char *command; /* its name, a static string */
    bool silent;         /* no progress line */
    struct report_progress progress;
};

/* Catches signals. False: they cannot be caught, which has been said. */
bool reading_begin(const struct reading *reading);

/* The exit status of a command that would end with @status; where a signal stopped it, the program
 * ends as the signal would have ended it. */
int reading_end(const struct reading *reading, int status);

/* An on_progress of options: draws the line; not 0 once a signal came. @context: see above. */
int reading_progress(void *context, const struct trace_progress *progress, uint64_t accesses);

/* MGLRU_EINVAL with a line in @error when @path is one of @traces, and no device or pipe. NULL and
 * "-" are fine. */
int reading_check_output(const char *path, const char *const *traces, size_t count,
                         struct report_error *error);

#endif
