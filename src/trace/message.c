/* SPDX-License-Identifier: MIT */
/* Messages of the trace folder: one line, printable, cut to the size of struct trace_error. */
#include "trace/message.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/text.h"

int message_set(struct trace_error *error, int code, const char *format, ...)
{
    if (!error)
        return code;
    va_list args;
    va_start(args, format);
    text_line(error->text, sizeof(error->text), format, args);
    va_end(args);
    return code;
}

struct message_quote message_quote(const char *data, size_t bytes)
{
    struct message_quote quote;
    size_t length = 0;
    size_t shown = bytes < MESSAGE_QUOTE_BYTES ? bytes : MESSAGE_QUOTE_BYTES;
    for (size_t i = 0; i < shown; i++) {
        unsigned char c = (unsigned char)data[i];
        if (c >= ' ' && c < 0x7f)
            quote.text[length++] = (char)c;
        else
            length += (size_t)snprintf(quote.text + length, 5, "\\x%02x", c);
    }
    snprintf(quote.text + length, 3, "%s", shown < bytes ? ".." : "");
    return quote;
}
