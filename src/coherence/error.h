/* SPDX-License-Identifier: MIT */
/* What was wrong with a file, in one line. */
#ifndef COHERENCE_ERROR_H
#define COHERENCE_ERROR_H

#include <stdarg.h>

#include "base/text.h"

#define COHERENCE_ERROR_BYTES 1024

struct coherence_error {
    char text[COHERENCE_ERROR_BYTES]; /* without newline; empty when there was no error */
};

/* Writes the line and returns @code. Control characters become '?'. */
static inline int coherence_fail(struct coherence_error *error, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static inline int coherence_fail(struct coherence_error *error, int code, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    text_line(error->text, sizeof(error->text), format, arguments);
    va_end(arguments);
    return code;
}

#endif
