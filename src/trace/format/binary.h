/* SPDX-License-Identifier: MIT */
/* What the binary formats share: numbers in either byte order, and the next record of the input. */
#ifndef TRACE_FORMAT_BINARY_H
#define TRACE_FORMAT_BINARY_H

#include <inttypes.h>
#include <string.h>

#include "trace/format.h"

static inline uint16_t binary_le16(const unsigned char *p)
{
    return (uint16_t)(p[0] | p[1] << 8);
}

static inline uint32_t binary_le32(const unsigned char *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static inline uint64_t binary_le64(const unsigned char *p)
{
    return binary_le32(p) | (uint64_t)binary_le32(p + 4) << 32;
}

static inline uint32_t binary_be32(const unsigned char *p)
{
    return (uint32_t)p[3] | (uint32_t)p[2] << 8 | (uint32_t)p[1] << 16 | (uint32_t)p[0] << 24;
}

static inline uint64_t binary_be64(const unsigned char *p)
{
    return binary_be32(p + 4) | (uint64_t)binary_be32(p) << 32;
}

/*
 * The next record of @bytes bytes, counted in reader->line and taken from the input; *@record is
 * NULL at the end. MGLRU_EINVAL: the input ends within a record.
 */
static inline int binary_next(struct trace_reader *reader, size_t bytes,
                              const unsigned char **record, struct trace_error *error)
{
    struct trace_input *input = &reader->input;
    *record = NULL;
    if (input->end - input->begin < bytes) {
        int rc = trace_input_bytes(input, bytes, error);
        if (rc || input->begin == input->end)
            return rc;
    }
    reader->line++;
    if (input->end - input->begin < bytes)
        return format_fail(reader, error, "cut short at offset %" PRIu64 ", %zu of %zu bytes",
                           trace_input_offset(input), input->end - input->begin, bytes);
    *record = input->buffer + input->begin;
    input->begin += bytes;
    return 0;
}

#endif
