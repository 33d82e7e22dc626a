/* SPDX-License-Identifier: MIT */
/* Bytes to pages, once for all formats that count bytes, sectors or objects. */
#include "trace/format/request.h"

#include <inttypes.h>
#include <string.h>

static int too_high(const struct trace_reader *reader, const struct request *request,
                    struct trace_error *error)
{
    return format_fail(reader, error,
                       "a request at %" PRIu64 " of %" PRIu64
                       " bytes ends above page 2^52 - 1 or spans 2^32 pages",
                       request->start, request->bytes);
}

static struct trace_record *request_record(struct trace_reader *reader,
                                           const struct request *request,
                                           struct format_batch *batch)
{
    struct trace_record *record = format_record(reader, batch, request->op);
    record->memcg = request->memcg;
    record->object = request->object;
    record->time_ns = request->time_ns;
    return record;
}

/* Only pages that a discard covers whole leave the cache. */
static int free_emit(struct trace_reader *reader, const struct request *request,
                     struct format_batch *batch)
{
    uint64_t mask = reader->page_bytes - 1;
    uint64_t begin = request->start << request->unit_shift;
    uint64_t first = (begin >> reader->page_shift) + ((begin & mask) != 0);
    uint64_t end = (begin + (request->bytes - 1)) >> reader->page_shift;
    end += ((begin + (request->bytes - 1)) & mask) == mask;
    if (first >= end || end > TRACE_PAGE_MAX)
        return 0;
    struct trace_record *record = request_record(reader, request, batch);
    record->page = first;
    record->count = end - first > UINT32_MAX ? UINT32_MAX : (uint32_t)(end - first);
    return 0;
}

int request_emit(struct trace_reader *reader, const struct request *request,
                 struct format_batch *batch, struct trace_error *error)
{
    if (reader->whole_requests) {
        if (request->start > TRACE_PAGE_MAX)
            return too_high(reader, request, error);
        request_record(reader, request, batch)->page = request->start;
        return 0;
    }
    if (request->bytes == 0)
        return 0;
    uint64_t first = request->start << request->unit_shift;
    uint64_t last;
    if (first >> request->unit_shift != request->start ||
        __builtin_add_overflow(first, request->bytes - 1, &last))
        return too_high(reader, request, error);
    if (request->op == TRACE_FREE)
        return free_emit(reader, request, batch);
    first >>= reader->page_shift;
    last >>= reader->page_shift;
    if (last > TRACE_PAGE_MAX || last - first >= UINT32_MAX)
        return too_high(reader, request, error);
    struct trace_record *record = request_record(reader, request, batch);
    record->page = first;
    record->count = (uint32_t)(last - first + 1);
    return 0;
}

/* Number in decimal digits at the end of @buffer. */
static struct scan_field decimal(char buffer[20], uint64_t number)
{
    char *p = buffer + 20;
    do
        *--p = (char)('0' + number % 10);
    while (number /= 10);
    return (struct scan_field){p, (size_t)(buffer + 20 - p)};
}

int request_emit_object(struct trace_reader *reader, const struct request *request,
                        struct format_batch *batch, struct trace_error *error)
{
    if (reader->whole_requests || request->bytes <= reader->page_bytes) {
        int rc = key_emit(reader, request->start, batch, error);
        if (rc)
            return rc;
        struct trace_record *record = &batch->records[batch->count - 1];
        record->op = request->op;
        record->memcg = request->memcg;
        record->time_ns = request->time_ns;
        return 0;
    }
    struct request whole = *request;
    char digits[20];
    uint32_t root;
    int rc = 0;
    if (reader->memcgs.count == 0)
        rc = format_name(reader, &reader->memcgs, (struct scan_field){"/", 1}, &root, error);
    if (!rc)
        rc = format_name(reader, &reader->objects, decimal(digits, request->start), &whole.object,
                         error);
    whole.start = 0;
    return rc ? rc : request_emit(reader, &whole, batch, error);
}

uint64_t request_time(struct trace_reader *reader, uint64_t clock_ns)
{
    if (clock_ns == TRACE_NO_TIME)
        return clock_ns;
    if (!reader->time_started) {
        reader->time_started = true;
        reader->time_first_ns = clock_ns;
    }
    return clock_ns > reader->time_first_ns ? clock_ns - reader->time_first_ns : 0;
}

uint64_t request_time_units(uint64_t count, uint64_t unit_ns)
{
    uint64_t ns;
    return __builtin_mul_overflow(count, unit_ns, &ns) ? TRACE_NO_TIME : ns;
}

int request_names(struct trace_reader *reader, const char *name, struct trace_error *error)
{
    uint32_t id;
    int rc = format_name(reader, &reader->memcgs, (struct scan_field){"/", 1}, &id, error);
    return rc ? rc
              : format_name(reader, &reader->objects, (struct scan_field){name, strlen(name)}, &id,
                            error);
}

enum trace_op request_scsi_op(uint64_t command)
{
    switch (command) {
    case 0x08: /* READ, with 6, 10, 16 and 12 bytes of command */
    case 0x28:
    case 0x88:
    case 0xa8:
        return TRACE_READ;
    case 0x0a: /* WRITE, the same, then WRITE AND VERIFY */
    case 0x2a:
    case 0x8a:
    case 0xaa:
    case 0x2e:
    case 0x8e:
    case 0xae:
        return TRACE_WRITE;
    default:
        return (enum trace_op)0;
    }
}
