/* SPDX-License-Identifier: MIT */
/*
 * A cursor over bytes of a file that may lie: every read is checked against the end.
 *
 * Idea: a read past the end sets bad, moves the cursor to the end and gives 0, so that a parser may
 * read a whole record and look at bad once. Loops over a cursor end, since a bad cursor is empty.
 */
#ifndef LAYOUT_READ_BYTES_H
#define LAYOUT_READ_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* A run of bytes. */
struct span {
    const uint8_t *data;
    size_t bytes;
};

struct bytes {
    const uint8_t *at;
    const uint8_t *end;
    bool big; /* the file's byte order */
    bool bad; /* a read went past the end */
};

/* The part of @span from @offset on; bad when that is outside. */
static inline struct bytes bytes_from(struct span span, uint64_t offset, bool big)
{
    struct bytes bytes = {.big = big, .bad = offset > span.bytes};
    bytes.at = bytes.bad ? span.data + span.bytes : span.data + offset;
    bytes.end = span.data + span.bytes;
    return bytes;
}

static inline size_t bytes_left(const struct bytes *bytes)
{
    return (size_t)(bytes->end - bytes->at);
}

static inline void bytes_fail(struct bytes *bytes)
{
    bytes->bad = true;
    bytes->at = bytes->end;
}

static inline void bytes_skip(struct bytes *bytes, uint64_t count)
{
    if (count > bytes_left(bytes))
        bytes_fail(bytes);
    else
        bytes->at += count;
}

static inline uint8_t bytes_u8(struct bytes *bytes)
{
    if (bytes->at >= bytes->end) {
        bytes->bad = true;
        return 0;
    }
    return *bytes->at++;
}

/* Copies the next @count bytes to @to. False: there are not so many, and the reading has failed. */
static inline bool bytes_take(struct bytes *bytes, void *to, size_t count)
{
    if (bytes_left(bytes) < count) {
        bytes_fail(bytes);
        return false;
    }
    memcpy(to, bytes->at, count);
    bytes->at += count;
    return true;
}

static inline uint16_t bytes_u16(struct bytes *bytes)
{
    uint16_t value;
    if (!bytes_take(bytes, &value, sizeof(value)))
        return 0;
    return bytes->big ? __builtin_bswap16(value) : value;
}

static inline uint32_t bytes_u32(struct bytes *bytes)
{
    uint32_t value;
    if (!bytes_take(bytes, &value, sizeof(value)))
        return 0;
    return bytes->big ? __builtin_bswap32(value) : value;
}

static inline uint64_t bytes_u64(struct bytes *bytes)
{
    uint64_t value;
    if (!bytes_take(bytes, &value, sizeof(value)))
        return 0;
    return bytes->big ? __builtin_bswap64(value) : value;
}

/* An integer of 1, 2, 3, 4 or 8 bytes. */
static inline uint64_t bytes_uint(struct bytes *bytes, unsigned width)
{
    uint32_t low, high;
    switch (width) {
    case 1:
        return bytes_u8(bytes);
    case 2:
        return bytes_u16(bytes);
    case 3:
        low = bytes_u8(bytes);
        high = bytes_u16(bytes);
        return bytes->big ? low << 16 | high : high << 8 | low;
    case 4:
        return bytes_u32(bytes);
    default:
        return bytes_u64(bytes);
    }
}

/* LEB128; bits past the 64th are dropped, as other readers do. *@last: the last byte; the result:
 * bits that were read. */
static inline unsigned bytes_leb(struct bytes *bytes, uint64_t *value, uint8_t *last)
{
    unsigned shift = 0;
    *value = 0;
    do {
        *last = bytes_u8(bytes);
        if (shift < 64)
            *value |= (uint64_t)(*last & 0x7f) << shift;
        shift += 7;
    } while (*last & 0x80);
    return shift;
}

static inline uint64_t bytes_uleb(struct bytes *bytes)
{
    uint64_t value;
    uint8_t last;
    bytes_leb(bytes, &value, &last);
    return value;
}

static inline int64_t bytes_sleb(struct bytes *bytes)
{
    uint64_t value;
    uint8_t last;
    unsigned shift = bytes_leb(bytes, &value, &last);
    if (shift < 64 && (last & 0x40))
        value |= ~UINT64_C(0) << shift;
    return (int64_t)value;
}

/* The text up to its NUL, which must lie before the end; "" when it does not. */
static inline const char *bytes_text(struct bytes *bytes)
{
    const uint8_t *nul = bytes->at < bytes->end ? memchr(bytes->at, 0, bytes_left(bytes)) : NULL;
    if (nul == NULL) {
        bytes_fail(bytes);
        return "";
    }
    const char *text = (const char *)bytes->at;
    bytes->at = nul + 1;
    return text;
}

/* The text at @offset of @span; NULL when it does not end inside. */
static inline const char *span_text(struct span span, uint64_t offset)
{
    if (offset >= span.bytes || memchr(span.data + offset, 0, span.bytes - offset) == NULL)
        return NULL;
    return (const char *)span.data + offset;
}

#endif
