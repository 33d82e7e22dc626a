/* SPDX-License-Identifier: MIT */
/*
 * Scanning of text lines by hand, without copies and without looking at the end of the buffer:
 * trace_input_lines promises that a line break stands before the end, and every function here
 * stops at a line break. Blanks are space, tab and carriage return (files from other systems).
 */
#ifndef TRACE_SCAN_H
#define TRACE_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* A piece of a line; not ended by NUL. */
struct scan_field {
    const char *text;
    size_t bytes;
};

static inline bool scan_is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

static inline const char *scan_blanks(const char *p)
{
    while (scan_is_blank(*p))
        p++;
    return p;
}

/* The end of the field at @p: the first byte that is not above a space (blanks, control bytes). */
static inline const char *scan_field_end(const char *p)
{
    while ((unsigned char)*p > ' ')
        p++;
    return p;
}

/* Takes the field at *@p (may be empty at the end of the line) and the blanks behind it. */
static inline struct scan_field scan_field_take(const char **p)
{
    const char *end = scan_field_end(*p);
    struct scan_field field = {*p, (size_t)(end - *p)};
    *p = scan_blanks(end);
    return field;
}

static inline bool scan_field_is(struct scan_field field, const char *text)
{
    return strlen(text) == field.bytes && memcmp(field.text, text, field.bytes) == 0;
}

/* The line break that ends the line at @p. */
static inline const char *scan_line_end(const char *p)
{
    while (*p != '\n')
        p++;
    return p;
}

/* Decimal digits at *@p, moved behind them. False: no digit there, or above 2^64 - 1. */
static inline bool scan_u64(const char **p, uint64_t *out)
{
    const char *start = *p;
    const char *c = start;
    uint64_t value = 0;
    unsigned digit;
    while ((digit = (unsigned)(unsigned char)*c - '0') < 10) {
        value = value * 10 + digit;
        c++;
    }
    *p = c;
    *out = value;
    size_t digits = (size_t)(c - start);
    if (digits > 0 && digits < 20)
        return true;
    if (digits == 0)
        return false;
    /* Twenty digits and more: once again, with care. Leading zeros are fine. */
    value = 0;
    for (c = start; c < *p; c++)
        if (__builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, (unsigned)(*c - '0'), &value))
            return false;
    *out = value;
    return true;
}

/*
 * The same for text with at least SCAN_PADDING readable bytes behind its last line: eight digits
 * at once and no branch on how many there are, which is what costs time in lines of small numbers.
 */
#define SCAN_PADDING 8

static inline bool scan_u64_padded(const char **p, uint64_t *out)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    const uint64_t zeros = 0x3030303030303030u, high = 0xf0f0f0f0f0f0f0f0u;
    uint64_t word;
    memcpy(&word, *p, sizeof(word));
    /* A digit has a high half of 3, before and after 6 is added to it. */
    uint64_t strange = ((word & high) ^ zeros) | (((word + 0x0606060606060606u) & high) ^ zeros);
    unsigned bits = strange ? (unsigned)__builtin_ctzll(strange) & ~7u : 64;
    if (bits - 8 >= 56)
        return scan_u64(p, out); /* none, or eight and perhaps more */
    /* The digits move to the high end; the zeros that come in count as leading ones. */
    uint64_t digits = (word ^ zeros) << (64 - bits);
    digits = (digits * 10 + (digits >> 8)) & 0x00ff00ff00ff00ffu;
    digits = (digits * 100 + (digits >> 16)) & 0x0000ffff0000ffffu;
    *out = (digits * 10000 + (digits >> 32)) & 0xffffffffu;
    *p += bits / 8;
    return true;
#else
    return scan_u64(p, out);
#endif
}

/* Hexadecimal digits without prefix at *@p, moved behind them. False: none, or above 64 bits. */
static inline bool scan_hex(const char **p, uint64_t *out)
{
    const char *start = *p;
    uint64_t value = 0;
    bool fits = true;
    for (;; (*p)++) {
        unsigned c = (unsigned char)**p;
        unsigned digit = c - '0';
        if (digit >= 10) {
            digit = (c | 0x20) - 'a';
            if (digit >= 6)
                break;
            digit += 10;
        }
        fits &= value >> 60 == 0;
        value = value << 4 | digit;
    }
    *out = value;
    return *p > start && fits;
}

/* A number that ends where a field ends, in padded text: decimal, or hexadecimal after 0x. */
static inline bool scan_number(const char **p, uint64_t *out)
{
    bool ok;
    if ((*p)[0] == '0' && ((*p)[1] | 0x20) == 'x') {
        *p += 2;
        ok = scan_hex(p, out);
    } else {
        ok = scan_u64_padded(p, out);
    }
    return ok && (unsigned char)**p <= ' ';
}

/*
 * Seconds with a decimal fraction ("12.000345") at *@p as nanoseconds; digits behind the ninth are
 * dropped. False: no number, or above 2^64 - 1 ns.
 */
static inline bool scan_seconds(const char **p, uint64_t *out_ns)
{
    uint64_t seconds;
    if (!scan_u64(p, &seconds))
        return false;
    uint64_t fraction = 0;
    uint64_t unit = 100000000;
    if (**p == '.') {
        for ((*p)++; (unsigned)(unsigned char)**p - '0' < 10; (*p)++, unit /= 10)
            fraction += (uint64_t)(**p - '0') * unit;
    }
    return !__builtin_mul_overflow(seconds, UINT64_C(1000000000), out_ns) &&
           !__builtin_add_overflow(*out_ns, fraction, out_ns);
}

#endif
