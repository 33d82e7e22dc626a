/* SPDX-License-Identifier: MIT */
/* What stands for the recorder in a build without the libraries that it needs. */
#include <mglru/error.h>

#include "record/fail.h"
#include "record/record.h"

int record_run(const struct record_options *options, struct record_report *report,
               struct record_error *error)
{
    *report = (struct record_report){.end = RECORD_END_REFUSED, .wait_status = -1};
    *error = (struct record_error){.text = ""};
    return record_fail(error, MGLRU_ENOTSUP,
                       "this build cannot record: it was made without libtracefs and "
                       "libtraceevent (libtracefs-dev, libtraceevent-dev)");
}

void record_wait(struct record_report *report, int stop_fd)
{
    (void)report;
    (void)stop_fd;
}

void record_report_free(struct record_report *report)
{
    (void)report;
}
