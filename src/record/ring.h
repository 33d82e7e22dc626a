/* SPDX-License-Identifier: MIT */
/*
 * The kernel's buffers, one a CPU, as one stream of events in order of time. Needs libtraceevent.
 *
 * An event has arrived for sure when the buffers were read after its time and a little more, so
 * ring_read takes what is there and ring_next hands out what is older than a moment that the caller
 * names. The others wait in a queue for each CPU.
 */
#ifndef RECORD_RING_H
#define RECORD_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "record/event.h"
#include "record/record.h"

struct ring;
struct tracing;

/* @tracing must outlive the ring. MGLRU_ENOMEM; MGLRU_EIO: no buffer can be opened. */
int ring_open(struct tracing *tracing, struct ring **out, struct record_error *error);

/* Takes what the buffers hold; *@bytes: how much it was. MGLRU_ENOMEM, MGLRU_EIO. */
int ring_read(struct ring *ring, size_t *bytes, struct record_error *error);

/* The next event older than @before_ns of the events' clock; false: there is none. */
bool ring_next(struct ring *ring, uint64_t before_ns, struct event *out);

/* CPUs that there can be, for tracing_lost. */
unsigned ring_cpus(const struct ring *ring);

void ring_close(struct ring *ring);

#endif
