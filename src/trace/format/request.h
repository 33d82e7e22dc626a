/* SPDX-License-Identifier: MIT */
/*
 * Requests of block, file and object traces as page accesses. A request for bytes touches every
 * page that it overlaps; a request for a whole object by id touches the object's pages.
 */
#ifndef TRACE_FORMAT_REQUEST_H
#define TRACE_FORMAT_REQUEST_H

#include "trace/format/key.h"

/* Bytes of the unit that block devices count in, whatever their real sector is. */
#define REQUEST_SECTOR_SHIFT 9

struct request {
    enum trace_op op;
    uint8_t unit_shift; /* start counts in units of 1 << unit_shift bytes */
    uint32_t memcg;
    uint32_t object;
    uint64_t start;
    uint64_t bytes;
    uint64_t time_ns;
};

/*
 * Adds the access for @request to the batch, which has room; none when the request is empty.
 * MGLRU_EINVAL with a message: it ends above page 2^52 - 1 or has 2^32 pages or more.
 */
int request_emit(struct trace_reader *reader, const struct request *request,
                 struct format_batch *batch, struct trace_error *error);

/*
 * Adds the access for the whole of object @id of @bytes bytes. An object that fits one page is
 * page @id of the object "keys" (see key.h), as if it were a key; a larger one is an object of
 * its own, named by its number, with pages from 0. The state begins with struct key_objects.
 */
int request_emit_object(struct trace_reader *reader, const struct request *request,
                        struct format_batch *batch, struct trace_error *error);

/* Time since the first time of the trace; 0 for what lies before it. */
uint64_t request_time(struct trace_reader *reader, uint64_t clock_ns);

/* @count units of @unit_ns as nanoseconds; TRACE_NO_TIME when they do not fit. */
uint64_t request_time_units(uint64_t count, uint64_t unit_ns);

/* Interns "/" as memcg 0 and @name as object 0, for formats with one device. */
int request_names(struct trace_reader *reader, const char *name, struct trace_error *error);

/* The operation of a SCSI command (SBC-4); 0: it moves no data of the medium. */
enum trace_op request_scsi_op(uint64_t command);

#endif
