/* SPDX-License-Identifier: MIT */
/*
 * What the tests of the trace level share: reading a whole trace from memory or a file, temporary
 * files, and the place of the shared traces.
 */
#ifndef TEST_TRACE_HELPER_H
#define TEST_TRACE_HELPER_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <mglru/error.h>

#include "trace/reader.h"

#define HELPER_RECORDS 4096

/* A whole small trace: its records, and how reading it ended. */
struct helper_trace {
    struct trace_reader *reader; /* NULL when it did not open */
    struct trace_record records[HELPER_RECORDS];
    char names[HELPER_RECORDS][32]; /* name and text of record i, copied */
    char texts[HELPER_RECORDS][64];
    size_t count;
    int rc;
    struct trace_error error;
};

/* Reads all records in batches of @batch. Free with helper_close. */
static inline void helper_drain(struct helper_trace *trace, size_t batch)
{
    size_t got = 1;
    while (!trace->rc && got > 0) {
        struct trace_record *records = trace->records + trace->count;
        size_t room = HELPER_RECORDS - trace->count;
        trace->rc = trace_reader_next(trace->reader, records, batch < room ? batch : room, &got,
                                      &trace->error);
        for (size_t i = 0; i < got; i++) {
            const char *name = records[i].name ? records[i].name : "";
            const char *text = records[i].text ? records[i].text : "";
            snprintf(trace->names[trace->count + i], 32, "%s", name);
            snprintf(trace->texts[trace->count + i], 64, "%s", text);
        }
        trace->count += got;
    }
}

static inline struct helper_trace *helper_read_bytes(const void *data, size_t bytes,
                                                     const struct trace_open_options *options)
{
    struct helper_trace *trace = calloc(1, sizeof(*trace));
    assert_non_null(trace);
    trace->rc = trace_reader_open_memory(data, bytes, options, &trace->reader, &trace->error);
    if (!trace->rc)
        helper_drain(trace, 7);
    return trace;
}

/* A trace in the text @text, format found by content unless @format names one. */
static inline struct helper_trace *helper_read(const char *text, const char *format)
{
    struct trace_open_options options = {.format = format};
    return helper_read_bytes(text, strlen(text), &options);
}

static inline void helper_close(struct helper_trace *trace)
{
    trace_reader_close(trace->reader);
    free(trace);
}

/* The trace ends well with @count records. */
static inline void helper_expect_count(const struct helper_trace *trace, size_t count)
{
    if (trace->rc)
        print_error("unexpected error: %s\n", trace->error.text);
    assert_int_equal(trace->rc, 0);
    assert_int_equal(trace->count, count);
}

/* @text is refused, in one line that holds @message. */
static inline void helper_expect_error(const char *text, const char *format, const char *message)
{
    struct helper_trace *trace = helper_read(text, format);
    if (!trace->rc || !strstr(trace->error.text, message))
        print_error("expected '%s', got %d '%s'\n", message, trace->rc, trace->error.text);
    assert_int_not_equal(trace->rc, 0);
    assert_non_null(strstr(trace->error.text, message));
    assert_null(strchr(trace->error.text, '\n'));
    helper_close(trace);
}

/* A file with these bytes below the build's temporary folder; the caller unlinks it. */
static inline void helper_write_file(char path[64], const void *data, size_t bytes)
{
    snprintf(path, 64, "/tmp/test-trace-XXXXXX");
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, data, bytes), bytes);
    close(fd);
}

/*
 * Path of a shared trace, from MGLRU_SHARED or beside the source tree; NULL where it is absent.
 * A user's clone does not have them, so tests skip then.
 */
static inline const char *helper_shared(const char *name, char path[512])
{
    const char *shared = getenv("MGLRU_SHARED");
    snprintf(path, 512, "%s/%s", shared ? shared : "../shared", name);
    if (access(path, R_OK) == 0)
        return path;
    print_message("skipped: %s is not here\n", path);
    return NULL;
}

#endif
