/* SPDX-License-Identifier: MIT */
/*
 * JSON written as it is told: no tree, no library. Keys stand in the order of the calls, numbers in
 * one form, so the same calls give the same bytes. Strings are UTF-8: a byte that is none becomes
 * U+FFFD.
 *
 * Each call writes one value; inside an object it takes its key, inside an array and at the top the
 * key is NULL. Write errors stay in the output. One thread per stream.
 */
#ifndef REPORT_JSON_STREAM_H
#define REPORT_JSON_STREAM_H

#include <stdbool.h>
#include <stdint.h>

#include "report/out.h"

/* Deeper nesting no report has. */
#define REPORT_JSON_DEPTH 16

struct report_json_stream {
    struct report_out *out;
    unsigned depth;
    bool filled[REPORT_JSON_DEPTH]; /* the object or array of this depth has a value already */
    bool array[REPORT_JSON_DEPTH];
};

void report_json_begin(struct report_json_stream *json, struct report_out *out);

void report_json_object(struct report_json_stream *json, const char *key);
void report_json_array(struct report_json_stream *json, const char *key);

/* Ends the innermost object or array; the outermost one ends the line too. */
void report_json_end(struct report_json_stream *json);

/* NULL becomes null. */
void report_json_text(struct report_json_stream *json, const char *key, const char *text);
void report_json_count(struct report_json_stream *json, const char *key, uint64_t count);
void report_json_signed(struct report_json_stream *json, const char *key, int64_t number);
/* Six digits; what is no number becomes null. */
void report_json_number(struct report_json_stream *json, const char *key, double number);
void report_json_bool(struct report_json_stream *json, const char *key, bool value);

#endif
