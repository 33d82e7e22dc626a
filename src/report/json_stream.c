/* SPDX-License-Identifier: MIT */
/* JSON as it is told; see json_stream.h. */
#include "report/json_stream.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/utf8.h"
#include "base/check.h"

static void indent(struct report_json_stream *json)
{
    report_printf(json->out, "\n%*s", (int)(2 * json->depth), "");
}

static void write_string(struct report_json_stream *json, const char *text)
{
    const unsigned char *at = (const unsigned char *)text;
    report_write(json->out, "\"", 1);
    while (*at != '\0') {
        size_t length = utf8_length(at);
        if (length == 0)
            report_write(json->out, "\xef\xbf\xbd", 3);
        else if (*at == '"' || *at == '\\')
            report_printf(json->out, "\\%c", *at);
        else if (*at < ' ' || *at == 0x7f)
            report_printf(json->out, "\\u%04x", *at);
        else
            report_write(json->out, at, length);
        at += length > 0 ? length : 1;
    }
    report_write(json->out, "\"", 1);
}

/* What stands before a value. */
static void begin_value(struct report_json_stream *json, const char *key)
{
    if (json->depth > 0) {
        if (json->filled[json->depth - 1])
            report_write(json->out, ",", 1);
        json->filled[json->depth - 1] = true;
        indent(json);
    }
    if (key != NULL) {
        write_string(json, key);
        report_write(json->out, ": ", 2);
    }
}

static void open_value(struct report_json_stream *json, const char *key, bool array)
{
    MGLRU_CHECK(json->depth < REPORT_JSON_DEPTH);
    begin_value(json, key);
    report_write(json->out, array ? "[" : "{", 1);
    json->array[json->depth] = array;
    json->filled[json->depth++] = false;
}

void report_json_begin(struct report_json_stream *json, struct report_out *out)
{
    *json = (struct report_json_stream){.out = out};
}

void report_json_object(struct report_json_stream *json, const char *key)
{
    open_value(json, key, false);
}

void report_json_array(struct report_json_stream *json, const char *key)
{
    open_value(json, key, true);
}

void report_json_end(struct report_json_stream *json)
{
    MGLRU_CHECK(json->depth > 0);
    json->depth--;
    if (json->filled[json->depth])
        indent(json);
    report_write(json->out, json->array[json->depth] ? "]" : "}", 1);
    if (json->depth == 0)
        report_write(json->out, "\n", 1);
}

void report_json_text(struct report_json_stream *json, const char *key, const char *text)
{
    begin_value(json, key);
    if (text == NULL)
        report_write(json->out, "null", 4);
    else
        write_string(json, text);
}

void report_json_count(struct report_json_stream *json, const char *key, uint64_t count)
{
    begin_value(json, key);
    report_printf(json->out, "%" PRIu64, count);
}

void report_json_signed(struct report_json_stream *json, const char *key, int64_t number)
{
    begin_value(json, key);
    report_printf(json->out, "%" PRId64, number);
}

void report_json_number(struct report_json_stream *json, const char *key, double number)
{
    begin_value(json, key);
    if (isfinite(number))
        report_printf(json->out, "%.6g", number);
    else
        report_write(json->out, "null", 4);
}

void report_json_bool(struct report_json_stream *json, const char *key, bool value)
{
    begin_value(json, key);
    report_printf(json->out, "%s", value ? "true" : "false");
}
