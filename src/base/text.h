/* SPDX-License-Identifier: MIT */
/* Text that people read: one line, whatever the names of files in it hold. Pure functions. */
#ifndef BASE_TEXT_H
#define BASE_TEXT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

static inline bool text_is_control(char c)
{
    return (unsigned char)c < ' ' || c == 0x7f;
}

/* Makes one line of a message: each control character, line breaks too, becomes a '?'. */
static inline void text_mask_controls(char *text)
{
    for (; *text != '\0'; text++)
        if (text_is_control(*text))
            *text = '?';
}

/* Writes one line of a message into @text, cut to @bytes. */
__attribute__((format(printf, 3, 0))) static inline void
text_line(char *text, size_t bytes, const char *format, va_list arguments)
{
    vsnprintf(text, bytes, format, arguments);
    text_mask_controls(text);
}

#endif
