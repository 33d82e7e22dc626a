/* SPDX-License-Identifier: MIT */
/* What an event costs the program that makes it, on this machine and now. */
#ifndef RECORD_OVERHEAD_H
#define RECORD_OVERHEAD_H

#include "record/record.h"
#include "record/tracing.h"

/*
 * Reads a cached page of this program in a loop, with and without the instance's tracepoints, for
 * about 20 ms, and leaves them on, the buffers empty and nobody followed. *@event_ns: the
 * difference, in CPU time; 0: it could not be measured. MGLRU_EIO.
 */
int overhead_measure(struct tracing *tracing, double *event_ns, struct record_error *error);

#endif
