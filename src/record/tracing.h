/* SPDX-License-Identifier: MIT */
/*
 * An instance of tracefs of our own: its buffers, tracepoints and list of processes are not shared
 * with anybody, so recorders and other tracers do not disturb each other. Needs libtracefs.
 *
 * Invariant: an instance that was made is removed by tracing_close. One whose maker was killed is
 * removed by the next tracing_open: its name holds the process's number, and the kernel refuses to
 * remove an instance that somebody has open.
 */
#ifndef RECORD_TRACING_H
#define RECORD_TRACING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "record/event.h"
#include "record/record.h"

struct tracing;

/*
 * Makes an instance with @buffer_bytes a CPU (0: chosen), stopped, with no process in its list.
 * MGLRU_ENOTSUP: no tracefs, or no tracepoint for reads; MGLRU_EPERM; MGLRU_ENOMEM.
 */
int tracing_open(uint64_t buffer_bytes, struct tracing **out, struct record_error *error);

/* The layouts of the events; those that the kernel lacks have no source. */
const struct event_layout *tracing_layouts(const struct tracing *tracing, size_t *count);

/* Whether the kernel has a tracepoint for @kind. */
bool tracing_has(const struct tracing *tracing, enum event_kind kind);

/* Turns all tracepoints of the instance on or off. MGLRU_EIO. */
int tracing_enable(struct tracing *tracing, bool on, struct record_error *error);

/* Follows only @count threads @ids and what they fork. MGLRU_EIO. */
int tracing_follow(struct tracing *tracing, const int32_t *ids, size_t count,
                   struct record_error *error);

/* Follows one thread more. False: it is gone, or the kernel refuses. */
bool tracing_follow_also(struct tracing *tracing, int32_t id);

/* Lets events into the buffers, or not. What is in them stays. */
void tracing_run(struct tracing *tracing, bool on);

/* The time of the events' clock, which starts anywhere and counts nanoseconds; exact to 1 us.
 * 0: unknown. */
uint64_t tracing_now_ns(struct tracing *tracing);

/* Empties the buffers. */
void tracing_clear(struct tracing *tracing);

/* A file descriptor of the raw buffer of @cpu, not blocking; -1: there is no such CPU. */
int tracing_open_buffer(struct tracing *tracing, unsigned cpu);

/* Events of @cpu that found no room. */
uint64_t tracing_lost(struct tracing *tracing, unsigned cpu);

/* Removes the instance. NULL is ignored. Descriptors of its buffers must be closed before. */
void tracing_close(struct tracing *tracing);

#endif
