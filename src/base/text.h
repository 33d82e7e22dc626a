/* SPDX-License-Identifier: MIT */
/* Control characters in text that people read: names of files may hold any. Pure functions. */
#ifndef BASE_TEXT_H
#define BASE_TEXT_H

#include <stdbool.h>

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

#endif
