/* SPDX-License-Identifier: MIT */
/*
 * The pump hands out what the reader would, in order, errors and the end included, and stops at
 * any time. Run under ThreadSanitizer by make check-san.
 */
#include "test_trace_helper.h"

#include <signal.h>
#include <sys/wait.h>

#include "trace/pump.h"

/* A native trace of @lines lines with a new name now and then and a control line here and there. */
static char *make_trace(unsigned lines, const char *last, size_t *bytes)
{
    char *text = malloc(lines * 40 + 100);
    assert_non_null(text);
    *bytes = (size_t)sprintf(text, "#mglru-trace 1 page_size=4096\n");
    for (unsigned i = 0; i < lines; i++) {
        if (i % 97 == 5)
            *bytes += (size_t)sprintf(text + *bytes, "!set /m%u memory.max %uM\n", i / 1000, i);
        else
            *bytes += (size_t)sprintf(text + *bytes, "r /m%u file%u %u\n", i / 1000, i / 50, i);
    }
    *bytes += (size_t)sprintf(text + *bytes, "%s", last);
    return text;
}

static struct trace_reader *open_bytes(const char *text, size_t bytes, char path[64])
{
    struct trace_reader *reader;
    struct trace_error error;
    helper_write_file(path, text, bytes);
    assert_int_equal(trace_reader_open(path, NULL, &reader, &error), 0);
    unlink(path);
    return reader;
}

static bool same_text(const char *a, const char *b)
{
    return (!a && !b) || (a && b && strcmp(a, b) == 0);
}

/* Compares record by record with a reader of the same trace in the same batches. */
static void expect_like_reader(const char *text, size_t bytes)
{
    static struct trace_record plain[PUMP_BATCH];
    char path[64];
    struct trace_reader *reader = open_bytes(text, bytes, path);
    struct trace_reader *pumped = open_bytes(text, bytes, path);
    struct trace_pump *pump;
    struct trace_error error, pump_error;
    assert_int_equal(trace_pump_start(pumped, &pump, &pump_error), 0);
    int rc = 0;
    size_t count = 1;
    for (unsigned extra = 0; extra < 3;) {
        struct trace_record *records;
        size_t pump_count;
        rc = trace_reader_next(reader, plain, PUMP_BATCH, &count, &error);
        assert_int_equal(trace_pump_next(pump, &records, &pump_count, &pump_error), rc);
        assert_int_equal(pump_count, count);
        for (size_t i = 0; i < count; i++) {
            assert_int_equal(records[i].op, plain[i].op);
            assert_true(records[i].page == plain[i].page && records[i].line == plain[i].line);
            assert_true(same_text(records[i].name, plain[i].name));
            assert_true(same_text(records[i].text, plain[i].text));
            assert_string_equal(trace_reader_memcg_name(pumped, records[i].memcg),
                                trace_reader_memcg_name(reader, plain[i].memcg));
            assert_string_equal(trace_reader_object_name(pumped, records[i].object),
                                trace_reader_object_name(reader, plain[i].object));
        }
        if (rc) /* the paths in front differ */
            assert_string_equal(strchr(pump_error.text, ':'), strchr(error.text, ':'));
        extra += rc != 0 || count == 0;
    }
    struct trace_progress progress;
    trace_pump_progress(pump, &progress);
    assert_int_equal(progress.bytes_read, progress.bytes_total);
    assert_int_equal(trace_pump_memcgs(pump), trace_reader_memcgs(reader));
    assert_int_equal(trace_pump_objects(pump), trace_reader_objects(reader));
    trace_pump_stop(pump);
    trace_reader_close(reader);
    trace_reader_close(pumped);
}

static void a_pump_gives_what_the_reader_gives(void **state)
{
    static const unsigned lines[] = {0, 1, PUMP_BATCH, PUMP_BATCH * PUMP_SLOTS, 20000};
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        size_t bytes;
        char *text = make_trace(lines[i], "", &bytes);
        expect_like_reader(text, bytes);
        free(text);
    }
}

static void an_error_comes_behind_the_records_before_it(void **state)
{
    size_t bytes;
    char *text = make_trace(20000, "r /a b nonsense\n", &bytes);
    expect_like_reader(text, bytes);
    free(text);
}

static void stopping_early_does_not_hang(void **state)
{
    size_t bytes;
    char *text = make_trace(20000, "", &bytes);
    for (unsigned batches = 0; batches < 8; batches++) {
        char path[64];
        struct trace_reader *reader = open_bytes(text, bytes, path);
        struct trace_pump *pump;
        struct trace_error error;
        assert_int_equal(trace_pump_start(reader, &pump, &error), 0);
        for (unsigned i = 0; i < batches; i++) {
            struct trace_record *records;
            size_t count;
            assert_int_equal(trace_pump_next(pump, &records, &count, &error), 0);
        }
        trace_pump_stop(pump);
        trace_reader_close(reader);
    }
    trace_pump_stop(NULL);
    free(text);
}

/* Longer than a pipe and the reader's buffer hold, so that a writer is needed to feed it. */
static void stopping_while_input_is_awaited_does_not_hang(void **state)
{
    size_t bytes;
    char *text = make_trace(20000, "", &bytes);
    int ends[2];
    assert_true(bytes > (256u << 10));
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        size_t done = 0;
        while (done < bytes) {
            ssize_t n = write(ends[1], text + done, bytes - done);
            if (n <= 0)
                break;
            done += (size_t)n;
        }
        for (;;) /* the pipe stays open and silent until the test ends us */
            pause();
    }
    char path[64];
    snprintf(path, sizeof(path), "/proc/self/fd/%d", ends[0]);
    struct trace_reader *reader;
    struct trace_pump *pump;
    struct trace_error error;
    struct trace_record *records;
    size_t count, total = 0;
    assert_int_equal(trace_reader_open(path, NULL, &reader, &error), 0);
    assert_int_equal(trace_pump_start(reader, &pump, &error), 0);
    while (total + PUMP_BATCH <= 19000) {
        assert_int_equal(trace_pump_next(pump, &records, &count, &error), 0);
        total += count;
    }
    trace_pump_stop(pump);
    trace_reader_close(reader);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    close(ends[0]);
    close(ends[1]);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pump_gives_what_the_reader_gives),
        cmocka_unit_test(an_error_comes_behind_the_records_before_it),
        cmocka_unit_test(stopping_early_does_not_hang),
        cmocka_unit_test(stopping_while_input_is_awaited_does_not_hang),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
