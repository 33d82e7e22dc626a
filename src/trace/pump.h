/* SPDX-License-Identifier: MIT */
/*
 * A second thread that reads ahead: it decodes batches of records into a ring of PUMP_SLOTS, so
 * that reading and decompressing overlap with what is done with the records.
 *
 *   one decoder thread --fills--> ring of batches --in order--> the one consumer
 *
 * Records, errors and the end come in the order in which trace_reader_next would give them. While
 * the pump runs, the reader belongs to the decoder thread: the consumer may ask it for names of
 * ids in batches that it was handed, for the format and the page size, and nothing else; counts of
 * names and progress are asked of the pump.
 */
#ifndef TRACE_PUMP_H
#define TRACE_PUMP_H

#include <stddef.h>
#include <stdint.h>

#include "trace/reader.h"

/* Chosen: enough to ride over a slow read, few enough to stay in the second-level cache. */
#define PUMP_SLOTS 4u
#define PUMP_BATCH 1024u

struct trace_pump;

/*
 * Starts reading ahead in @reader, which must outlive the pump and is not closed by it.
 * MGLRU_ENOMEM; MGLRU_EAGAIN: the system gives no thread (the reader can be used without a pump).
 */
int trace_pump_start(struct trace_reader *reader, struct trace_pump **out,
                     struct trace_error *error);

/*
 * The next batch: *@count records at *@records, which are the caller's to use and to change until
 * the next call; 0 is the end.
 * Blocks until there is one. Codes and error as for trace_reader_next, at the same record; after
 * an error or the end every call says so again.
 */
int trace_pump_next(struct trace_pump *pump, struct trace_record **records, size_t *count,
                    struct trace_error *error);

/* Progress and numbers of names as of the batch handed out last. */
void trace_pump_progress(const struct trace_pump *pump, struct trace_progress *out);
uint32_t trace_pump_memcgs(const struct trace_pump *pump);
uint32_t trace_pump_objects(const struct trace_pump *pump);

/*
 * Ends the decoder thread, at any time, even while it waits for input, and frees the pump. The
 * reader is the caller's again; where in the trace it stands is not defined. NULL is ignored.
 */
void trace_pump_stop(struct trace_pump *pump);

#endif
