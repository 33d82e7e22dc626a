/* SPDX-License-Identifier: MIT */
/* Whether bytes are UTF-8 (RFC 3629): no overlong forms, no surrogates, nothing above U+10FFFF. */
#ifndef BASE_UTF8_H
#define BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Length that the first byte of a sequence announces; 0: no first byte. */
static inline size_t utf8_announced(unsigned char c)
{
    if (c < 0x80)
        return 1;
    if (c >= 0xc2 && c < 0xe0)
        return 2;
    if (c >= 0xe0 && c < 0xf0)
        return 3;
    return c >= 0xf0 && c < 0xf5 ? 4 : 0;
}

/* Bytes of the sequence at @text, of which @bytes (at least 1) are there; 0: it is none. */
static inline size_t utf8_sequence(const unsigned char *text, size_t bytes)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    size_t n = utf8_announced(text[0]);
    if (n < 2 || n > bytes)
        return n == 1 ? 1 : 0;
    uint32_t code = text[0] & (0x7fu >> n);
    for (size_t i = 1; i < n; i++) {
        if ((text[i] & 0xc0) != 0x80)
            return 0;
        code = code << 6 | (text[i] & 0x3f);
    }
    bool surrogate = code >= 0xd800 && code < 0xe000;
    return code < least[n] || surrogate || code > 0x10ffff ? 0 : n;
}

/* The same for text that ends with NUL; 1 at its end. */
static inline size_t utf8_length(const unsigned char *text)
{
    return utf8_sequence(text, strnlen((const char *)text, 4));
}

static inline bool utf8_valid(const char *text, size_t bytes)
{
    size_t n;
    for (size_t i = 0; i < bytes; i += n) {
        n = utf8_sequence((const unsigned char *)text + i, bytes - i);
        if (n == 0)
            return false;
    }
    return true;
}

#endif
