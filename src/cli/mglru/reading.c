/* SPDX-License-Identifier: MIT */
/* See reading.h. */
#include "cli/mglru/reading.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include <mglru/error.h>

#include "cli/mglru/command.h"
#include "cli/mglru/stop.h"

bool reading_begin(const struct reading *reading)
{
    if (stop_catch())
        return true;
    command_fail(reading->command, COMMAND_ENVIRONMENT, "cannot catch signals: %s",
                 strerror(errno));
    return false;
}

int reading_end(const struct reading *reading, int status)
{
    return stop_wanted() && status == COMMAND_ENVIRONMENT ? stop_now(reading->command) : status;
}

int reading_progress(void *context, const struct trace_progress *progress, uint64_t accesses)
{
    struct reading *reading = context;
    struct report_progress_point point = {
        .done = progress->bytes_read, .total = progress->bytes_total, .items = accesses};
    if (!reading->silent)
        report_progress_update(&reading->progress, &point);
    return stop_wanted();
}

int reading_check_output(const char *path, const char *const *traces, size_t count,
                         struct report_error *error)
{
    struct stat output;
    if (path == NULL || strcmp(path, "-") == 0 || stat(path, &output) != 0 ||
        !S_ISREG(output.st_mode))
        return MGLRU_OK;
    for (size_t i = 0; i < count; i++) {
        struct stat input;
        if (stat(traces[i], &input) != 0 || input.st_dev != output.st_dev ||
            input.st_ino != output.st_ino)
            continue;
        snprintf(error->text, sizeof(error->text), "%s: is the trace, and would be overwritten",
                 path);
        return MGLRU_EINVAL;
    }
    return MGLRU_OK;
}
