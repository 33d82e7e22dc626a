/* SPDX-License-Identifier: MIT */
/*
 * Raw keys of 32 or 64 bits in either byte order, nothing else: be32, le32, be64, le64.
 *
 * Nothing marks such a file, and any file is a list of numbers. So content decides only where one
 * reading alone makes sense: all keys of the sample, at least KEYS_SURE of them, lie below
 * KEYS_SPREAD times their number, as with densely numbered pages, and the other byte order gives
 * no such picture. Everything else needs --format.
 */
#include "trace/format/binary.h"
#include "trace/format/key.h"

/* Chosen: far too many and too dense for chance, text (bytes above 8) or addresses. */
#define KEYS_SURE 256u
#define KEYS_SPREAD 16u

/* Largest key of the sample when read as keys of @bytes bytes. */
static uint64_t largest(const struct format_sample *sample, size_t bytes, bool big)
{
    uint64_t most = 0;
    const unsigned char *data = (const unsigned char *)sample->data;
    for (size_t i = 0; i + bytes <= sample->bytes; i += bytes) {
        uint64_t key;
        if (bytes == 4)
            key = big ? binary_be32(data + i) : binary_le32(data + i);
        else
            key = big ? binary_be64(data + i) : binary_le64(data + i);
        if (key > most)
            most = key;
    }
    return most;
}

static bool is_dense(const struct format_sample *sample, size_t bytes, bool big)
{
    size_t keys = sample->bytes / bytes;
    return keys >= KEYS_SURE && largest(sample, bytes, big) < keys * KEYS_SPREAD;
}

/* Wide keys that are dense look like narrow ones with a zero before or after each. */
static int probe(const struct format_sample *sample, size_t bytes, bool big)
{
    bool sized = sample->total_bytes % bytes == 0;
    bool wide = is_dense(sample, 8, big) && sample->total_bytes % 8 == 0;
    bool fits = is_dense(sample, bytes, big) && !is_dense(sample, bytes, !big);
    return sized && fits && (bytes == 8 || !wide) ? FORMAT_LIKELY : FORMAT_NO;
}

static int be32_probe(const struct format_sample *sample)
{
    return probe(sample, 4, true);
}

static int le32_probe(const struct format_sample *sample)
{
    return probe(sample, 4, false);
}

static int be64_probe(const struct format_sample *sample)
{
    return probe(sample, 8, true);
}

static int le64_probe(const struct format_sample *sample)
{
    return probe(sample, 8, false);
}

static int be32_next(struct trace_reader *reader, struct format_batch *batch,
                     struct trace_error *error)
{
    int rc = 0;
    const unsigned char *p = NULL;
    while (!rc && batch->count < batch->capacity && !(rc = binary_next(reader, 4, &p, error)) && p)
        rc = key_emit(reader, binary_be32(p), batch, error);
    return rc;
}

static int le32_next(struct trace_reader *reader, struct format_batch *batch,
                     struct trace_error *error)
{
    int rc = 0;
    const unsigned char *p = NULL;
    while (!rc && batch->count < batch->capacity && !(rc = binary_next(reader, 4, &p, error)) && p)
        rc = key_emit(reader, binary_le32(p), batch, error);
    return rc;
}

static int be64_next(struct trace_reader *reader, struct format_batch *batch,
                     struct trace_error *error)
{
    int rc = 0;
    const unsigned char *p = NULL;
    while (!rc && batch->count < batch->capacity && !(rc = binary_next(reader, 8, &p, error)) && p)
        rc = key_emit(reader, binary_be64(p), batch, error);
    return rc;
}

static int le64_next(struct trace_reader *reader, struct format_batch *batch,
                     struct trace_error *error)
{
    int rc = 0;
    const unsigned char *p = NULL;
    while (!rc && batch->count < batch->capacity && !(rc = binary_next(reader, 8, &p, error)) && p)
        rc = key_emit(reader, binary_le64(p), batch, error);
    return rc;
}

const struct trace_format format_be32 = {
    .name = "be32",
    .about = "raw 32-bit keys, most significant byte first",
    .state_bytes = sizeof(struct key_objects),
    .binary = true,
    .probe = be32_probe,
    .next = be32_next,
};

const struct trace_format format_le32 = {
    .name = "le32",
    .about = "raw 32-bit keys, least significant byte first",
    .state_bytes = sizeof(struct key_objects),
    .binary = true,
    .probe = le32_probe,
    .next = le32_next,
};

const struct trace_format format_be64 = {
    .name = "be64",
    .about = "raw 64-bit keys, most significant byte first",
    .state_bytes = sizeof(struct key_objects),
    .binary = true,
    .probe = be64_probe,
    .next = be64_next,
};

const struct trace_format format_le64 = {
    .name = "le64",
    .about = "raw 64-bit keys, least significant byte first",
    .state_bytes = sizeof(struct key_objects),
    .binary = true,
    .probe = le64_probe,
    .next = le64_next,
};
