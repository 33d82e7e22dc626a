/* SPDX-License-Identifier: MIT */
/* How the parts of the recorder fail: a code and one line of text. */
#ifndef RECORD_FAIL_H
#define RECORD_FAIL_H

#include <stdarg.h>

#include "base/text.h"
#include "record/record.h"

/* Writes the line and returns @code. */
__attribute__((format(printf, 3, 4))) static inline int
record_fail(struct record_error *error, int code, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    text_line(error->text, sizeof(error->text), format, arguments);
    va_end(arguments);
    return code;
}

#endif
