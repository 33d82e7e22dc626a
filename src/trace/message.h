/* SPDX-License-Identifier: MIT */
/*
 * The one line that tells a person what is wrong with a trace. Every message of this folder is
 * made here, so that none holds a line break or a control character, whatever the input held.
 */
#ifndef TRACE_MESSAGE_H
#define TRACE_MESSAGE_H

#include <stddef.h>

#include "trace/reader.h"

/* Bytes of input that a message quotes at most; chosen so that a line fits a terminal. */
#define MESSAGE_QUOTE_BYTES 40

/* A piece of input made fit for a message. */
struct message_quote {
    char text[4 * MESSAGE_QUOTE_BYTES + 4];
};

/* Writes the message into @error (which may be NULL) and returns @code. Any thread. */
int message_set(struct trace_error *error, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Quotes @bytes bytes at @data: unprintable ones as \xNN, long ones cut with "..". */
struct message_quote message_quote(const char *data, size_t bytes);

#endif
