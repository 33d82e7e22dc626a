/* SPDX-License-Identifier: MIT */
/*
 * Traces of virtual SCSI disks (Waldspurger et al., FAST 2015), little-endian records:
 *
 *   version 1, 32 bytes: serial u32, bytes u32, segments u32, command u16, version u16,
 *                        block u64, time u64
 *   version 2, 40 bytes: command u16, version u16, serial u32, bytes u32, segments u32,
 *                        block u64, time u64, response time u64
 *
 * The version's high byte is 1 or 2, blocks have 512 bytes, times are microseconds. Commands that
 * move no data (flush, unmap, ...) are no accesses. One object, "disk".
 */
#include "trace/format/binary.h"
#include "trace/format/request.h"

#define V1_BYTES 32
#define V2_BYTES 40

struct vscsi_fields {
    uint16_t command;
    uint16_t version;
    uint32_t bytes;
    uint64_t block;
    uint64_t time_us;
};

static struct vscsi_fields v1_fields(const unsigned char *p)
{
    return (struct vscsi_fields){.command = binary_le16(p + 12),
                                 .version = binary_le16(p + 14),
                                 .bytes = binary_le32(p + 4),
                                 .block = binary_le64(p + 16),
                                 .time_us = binary_le64(p + 24)};
}

static struct vscsi_fields v2_fields(const unsigned char *p)
{
    return (struct vscsi_fields){.command = binary_le16(p),
                                 .version = binary_le16(p + 2),
                                 .bytes = binary_le32(p + 8),
                                 .block = binary_le64(p + 16),
                                 .time_us = binary_le64(p + 24)};
}

static int vscsi_take(struct trace_reader *reader, const struct vscsi_fields *fields,
                      struct format_batch *batch, struct trace_error *error)
{
    unsigned version = reader->format == &format_vscsi1 ? 1 : 2;
    if (fields->version >> 8 != version)
        return format_fail(reader, error, "version 0x%04x, expected 0x%02xNN", fields->version,
                           version);
    enum trace_op op = request_scsi_op(fields->command);
    if (!op)
        return 0;
    struct request request = {.op = op,
                              .unit_shift = REQUEST_SECTOR_SHIFT,
                              .start = fields->block,
                              .bytes = fields->bytes,
                              .time_ns =
                                  request_time(reader, request_time_units(fields->time_us, 1000))};
    return request_emit(reader, &request, batch, error);
}

static int v1_next(struct trace_reader *reader, struct format_batch *batch,
                   struct trace_error *error)
{
    while (batch->count < batch->capacity) {
        const unsigned char *p;
        int rc = binary_next(reader, V1_BYTES, &p, error);
        if (rc || !p)
            return rc;
        struct vscsi_fields fields = v1_fields(p);
        rc = vscsi_take(reader, &fields, batch, error);
        if (rc)
            return rc;
    }
    return 0;
}

static int v2_next(struct trace_reader *reader, struct format_batch *batch,
                   struct trace_error *error)
{
    while (batch->count < batch->capacity) {
        const unsigned char *p;
        int rc = binary_next(reader, V2_BYTES, &p, error);
        if (rc || !p)
            return rc;
        struct vscsi_fields fields = v2_fields(p);
        rc = vscsi_take(reader, &fields, batch, error);
        if (rc)
            return rc;
    }
    return 0;
}

/* All whole records of the sample's start have the version and a command that fits a byte. */
static int vscsi_probe(const struct format_sample *sample, size_t record_bytes,
                       struct vscsi_fields (*parse)(const unsigned char *), unsigned version)
{
    size_t records = sample->bytes / record_bytes;
    size_t moving = 0;
    if (records > FORMAT_PROBE_LINES)
        records = FORMAT_PROBE_LINES;
    for (size_t i = 0; i < records; i++) {
        struct vscsi_fields fields = parse((const unsigned char *)sample->data + i * record_bytes);
        if (fields.version >> 8 != version || fields.command > 0xff)
            return FORMAT_NO;
        moving += request_scsi_op(fields.command) != 0;
    }
    return moving > 0 ? FORMAT_SHAPED : FORMAT_NO;
}

static int v1_probe(const struct format_sample *sample)
{
    return vscsi_probe(sample, V1_BYTES, v1_fields, 1);
}

static int v2_probe(const struct format_sample *sample)
{
    return vscsi_probe(sample, V2_BYTES, v2_fields, 2);
}

static int vscsi_open(struct trace_reader *reader, struct trace_error *error)
{
    return request_names(reader, "disk", error);
}

const struct trace_format format_vscsi1 = {
    .name = "vscsi1",
    .about = "virtual SCSI disk traces, version 1 (32-byte records)",
    .binary = true,
    .probe = v1_probe,
    .open = vscsi_open,
    .next = v1_next,
};

const struct trace_format format_vscsi2 = {
    .name = "vscsi2",
    .about = "virtual SCSI disk traces, version 2 (40-byte records)",
    .binary = true,
    .probe = v2_probe,
    .open = vscsi_open,
    .next = v2_next,
};
