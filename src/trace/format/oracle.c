/* SPDX-License-Identifier: MIT */
/*
 * libCacheSim's oracleGeneral: little-endian records of 24 bytes, time u32 (seconds), id u64,
 * bytes u32, next use i64 (number of the next request for the id, negative for none).
 *
 * The format does not say what an id is. In traces of block devices it is the number of a block
 * of 512 bytes and neighbours matter; elsewhere it is a name. Plain "oracleGeneral" takes blocks
 * when every size of the first buffer is a multiple of 512 and every id below ORACLE_BLOCKS_MAX,
 * else objects; "oracleGeneral-blocks" and "oracleGeneral-objects" say it.
 */
#include "trace/format/binary.h"
#include "trace/format/request.h"

#define RECORD_BYTES 24
/* Chosen: 512 TiB in blocks of 512 bytes; hashed ids are larger. */
#define ORACLE_BLOCKS_MAX (UINT64_C(1) << 40)

/* Chosen: more requests than any trace has, few enough that chance does not hit below. */
#define ORACLE_NEXT_MAX (INT64_C(1) << 36)

struct oracle_state {
    struct key_objects objects; /* first, for key_emit */
    bool blocks;
};

struct oracle_fields {
    uint32_t time;
    uint64_t id;
    uint32_t bytes;
    int64_t next;
};

static struct oracle_fields parse(const unsigned char *p)
{
    return (struct oracle_fields){.time = binary_le32(p),
                                  .id = binary_le64(p + 4),
                                  .bytes = binary_le32(p + 12),
                                  .next = (int64_t)binary_le64(p + 16)};
}

static int oracle_probe(const struct format_sample *sample)
{
    size_t records = sample->bytes / RECORD_BYTES;
    uint32_t before = 0;
    if (records > FORMAT_PROBE_LINES)
        records = FORMAT_PROBE_LINES;
    for (size_t i = 0; i < records; i++) {
        struct oracle_fields fields = parse((const unsigned char *)sample->data + i * RECORD_BYTES);
        bool next_fits = fields.next == INT64_MAX || (fields.next < 0 && fields.next >= -2) ||
                         (fields.next > (int64_t)i && fields.next < ORACLE_NEXT_MAX);
        if (fields.time < before || fields.bytes == 0 || !next_fits)
            return FORMAT_NO;
        before = fields.time;
    }
    return records > 0 ? FORMAT_SHAPED : FORMAT_NO;
}

static int never_probe(const struct format_sample *sample)
{
    return FORMAT_NO;
}

/* What lies in the buffer looks like requests to a block device. */
static bool looks_like_blocks(const struct trace_input *input)
{
    for (size_t i = input->begin; i + RECORD_BYTES <= input->end; i += RECORD_BYTES) {
        struct oracle_fields fields = parse(input->buffer + i);
        if (fields.bytes % 512 != 0 || fields.id >= ORACLE_BLOCKS_MAX)
            return false;
    }
    return true;
}

static int oracle_open(struct trace_reader *reader, struct trace_error *error)
{
    struct oracle_state *state = reader->state;
    state->blocks = reader->format == &format_oracle_blocks ||
                    (reader->format == &format_oracle && looks_like_blocks(&reader->input));
    return state->blocks ? request_names(reader, "disk", error) : 0;
}

static int oracle_next(struct trace_reader *reader, struct format_batch *batch,
                       struct trace_error *error)
{
    const struct oracle_state *state = reader->state;
    while (batch->count < batch->capacity) {
        const unsigned char *p;
        int rc = binary_next(reader, RECORD_BYTES, &p, error);
        if (rc || !p)
            return rc;
        struct oracle_fields fields = parse(p);
        struct request request = {.op = TRACE_READ,
                                  .unit_shift = REQUEST_SECTOR_SHIFT,
                                  .start = fields.id,
                                  .bytes = fields.bytes,
                                  .time_ns =
                                      request_time(reader, fields.time * UINT64_C(1000000000))};
        rc = state->blocks ? request_emit(reader, &request, batch, error)
                           : request_emit_object(reader, &request, batch, error);
        if (rc)
            return rc;
    }
    return 0;
}

const struct trace_format format_oracle = {
    .name = "oracleGeneral",
    .about = "libCacheSim's 24-byte records; blocks or objects, by the sizes",
    .state_bytes = sizeof(struct oracle_state),
    .binary = true,
    .probe = oracle_probe,
    .open = oracle_open,
    .next = oracle_next,
};

const struct trace_format format_oracle_blocks = {
    .name = "oracleGeneral-blocks",
    .about = "the same, ids are numbers of blocks of 512 bytes",
    .state_bytes = sizeof(struct oracle_state),
    .binary = true,
    .probe = never_probe,
    .open = oracle_open,
    .next = oracle_next,
};

const struct trace_format format_oracle_objects = {
    .name = "oracleGeneral-objects",
    .about = "the same, ids are names of objects",
    .state_bytes = sizeof(struct oracle_state),
    .binary = true,
    .probe = never_probe,
    .open = oracle_open,
    .next = oracle_next,
};
