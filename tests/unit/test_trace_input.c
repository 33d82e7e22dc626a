/* SPDX-License-Identifier: MIT */
/*
 * Input: plain and compressed, whole, cut short and damaged; files that are none. A trace that is
 * longer than the buffer is compressed here with each codec that this build has.
 */
#include "test_trace_helper.h"

#include <malloc.h>
#include <sys/stat.h>

#include "trace/codec.h"
#include "trace/input.h"

#define LINES 60000u

static const struct codec *const codecs[] = {&codec_gzip, &codec_xz, &codec_zstd};

/* A key trace of LINES lines, about 400 KB: more than one buffer. */
static char *make_trace(size_t *bytes)
{
    char *text = malloc(LINES * 8);
    assert_non_null(text);
    *bytes = 0;
    for (unsigned i = 0; i < LINES; i++)
        *bytes += (size_t)sprintf(text + *bytes, "%u\n", i * 7919u % 100000u);
    return text;
}

static unsigned char *compress(const struct codec *codec, const void *data, size_t bytes,
                               size_t *out_bytes)
{
    void *stream;
    size_t room = bytes + 4096;
    unsigned char *out = malloc(room);
    assert_non_null(out);
    assert_int_equal(codec->encoder_create(&stream), 0);
    struct codec_io io = {data, bytes, out, room};
    bool whole = false;
    while (!whole)
        assert_int_equal(codec->encoder_run(stream, &io, io.in_bytes == 0, &whole), 0);
    codec->encoder_destroy(stream);
    *out_bytes = room - io.out_bytes;
    return out;
}

/* Reads a file to its end; returns the code, the number of records and a sum over the pages. */
static int read_file(const char *path, uint64_t *records, uint64_t *sum, struct trace_error *error)
{
    static struct trace_record batch[512];
    struct trace_reader *reader;
    *records = *sum = 0;
    int rc = trace_reader_open(path, NULL, &reader, error);
    size_t count = 1;
    while (!rc && count) {
        rc = trace_reader_next(reader, batch, 512, &count, error);
        for (size_t i = 0; i < count; i++)
            *sum += (*records + i + 1) * batch[i].page;
        *records += count;
    }
    if (!rc) {
        struct trace_progress progress;
        trace_reader_progress(reader, &progress);
        assert_int_equal(progress.records, *records);
        assert_int_equal(progress.bytes_read, progress.bytes_total);
    }
    trace_reader_close(reader);
    return rc;
}

static int read_bytes(const void *data, size_t bytes, uint64_t *records, uint64_t *sum,
                      struct trace_error *error)
{
    char path[64];
    helper_write_file(path, data, bytes);
    int rc = read_file(path, records, sum, error);
    unlink(path);
    return rc;
}

static uint64_t expected_sum(void)
{
    uint64_t sum = 0;
    for (uint64_t i = 0; i < LINES; i++)
        sum += (i + 1) * (i * 7919u % 100000u);
    return sum;
}

static void plain_traces_longer_than_the_buffer_are_read_whole(void **state)
{
    size_t bytes;
    char *text = make_trace(&bytes);
    uint64_t records, sum;
    struct trace_error error;
    assert_int_equal(read_bytes(text, bytes, &records, &sum, &error), 0);
    assert_int_equal(records, LINES);
    assert_true(sum == expected_sum());
    free(text);
}

static void compressed_traces_are_recognised_and_read_whole(void **state)
{
    size_t bytes, packed;
    char *text = make_trace(&bytes);
    for (size_t i = 0; i < 3; i++) {
        if (!codecs[i]->encoder_create)
            continue;
        unsigned char *data = compress(codecs[i], text, bytes, &packed);
        assert_ptr_equal(codec_by_magic(data, packed), codecs[i]);
        uint64_t records, sum;
        struct trace_error error;
        assert_int_equal(read_bytes(data, packed, &records, &sum, &error), 0);
        assert_int_equal(records, LINES);
        assert_true(sum == expected_sum());
        free(data);
    }
    free(text);
}

static void streams_one_behind_the_other_are_one_trace(void **state)
{
    for (size_t i = 0; i < 3; i++) {
        if (!codecs[i]->encoder_create)
            continue;
        size_t first, second;
        unsigned char *a = compress(codecs[i], "1\n2\n", 4, &first);
        unsigned char *b = compress(codecs[i], "3\n", 2, &second);
        a = realloc(a, first + second);
        assert_non_null(a);
        memcpy(a + first, b, second);
        uint64_t records, sum;
        struct trace_error error;
        assert_int_equal(read_bytes(a, first + second, &records, &sum, &error), 0);
        assert_int_equal(records, 3);
        assert_int_equal(sum, 1 + 4 + 9);
        free(a);
        free(b);
    }
}

static void every_cut_of_a_compressed_trace_is_an_error(void **state)
{
    char text[2000];
    size_t bytes = 0, packed;
    for (unsigned i = 0; i < 300; i++)
        bytes += (size_t)sprintf(text + bytes, "%u\n", i * 7919u % 1000u);
    for (size_t i = 0; i < 3; i++) {
        if (!codecs[i]->encoder_create)
            continue;
        unsigned char *data = compress(codecs[i], text, bytes, &packed);
        for (size_t cut = codecs[i]->magic_bytes; cut < packed; cut++) {
            struct helper_trace *t = helper_read_bytes(data, cut, NULL);
            assert_int_equal(t->rc, MGLRU_EINVAL);
            assert_non_null(strstr(t->error.text, "cut short at byte "));
            helper_close(t);
        }
        free(data);
    }
}

static void damage_in_a_compressed_trace_is_an_error_with_its_place(void **state)
{
    size_t bytes, packed;
    char *text = make_trace(&bytes);
    for (size_t i = 0; i < 3; i++) {
        if (!codecs[i]->encoder_create || codecs[i] == &codec_zstd)
            continue; /* zstd frames carry no checksum unless asked for */
        unsigned char *data = compress(codecs[i], text, bytes, &packed);
        /* In gzip's checksum and in xz's index. */
        data[packed - (codecs[i] == &codec_gzip ? 6 : 20)] ^= 0x55;
        uint64_t records, sum;
        struct trace_error error;
        assert_int_equal(read_bytes(data, packed, &records, &sum, &error), MGLRU_EINVAL);
        assert_non_null(strstr(error.text, "damaged "));
        assert_non_null(strstr(error.text, " data near byte "));
        free(data);
    }
    free(text);
}

static void bytes_behind_a_gzip_stream_are_an_error(void **state)
{
    if (!codec_gzip.encoder_create)
        skip();
    size_t packed;
    unsigned char *data = compress(&codec_gzip, "1\n2\n", 4, &packed);
    data = realloc(data, packed + 5);
    assert_non_null(data);
    memcpy(data + packed, "trash", 5);
    uint64_t records, sum;
    struct trace_error error;
    assert_int_equal(read_bytes(data, packed + 5, &records, &sum, &error), MGLRU_EINVAL);
    assert_non_null(strstr(error.text, "damaged gzip data"));
    free(data);
}

static void what_is_no_file_of_records_is_refused(void **state)
{
    uint64_t records, sum;
    struct trace_error error;
    char path[64];
    assert_int_equal(read_file("/", &records, &sum, &error), MGLRU_EINVAL);
    assert_string_equal(error.text, "/: is a directory, expected a trace file");
    assert_int_equal(read_file("/no/such/file", &records, &sum, &error), MGLRU_ENOENT);
    assert_non_null(strstr(error.text, "/no/such/file: cannot open: "));
    assert_int_equal(read_bytes("", 0, &records, &sum, &error), MGLRU_EINVAL);
    assert_non_null(strstr(error.text, ": is empty, expected a trace"));
    assert_int_equal(read_bytes("\0\1\2\3garbage\xff", 12, &records, &sum, &error), MGLRU_EINVAL);
    assert_non_null(strstr(error.text, ": not a known trace, it starts with '\\x00\\x01\\x02"));
    helper_write_file(path, "1\n", 2);
    assert_int_equal(chmod(path, 0), 0);
    if (geteuid() != 0) {
        assert_int_equal(read_file(path, &records, &sum, &error), MGLRU_EPERM);
        assert_non_null(strstr(error.text, "cannot open"));
    }
    unlink(path);
}

static void an_empty_compressed_trace_is_refused(void **state)
{
    for (size_t i = 0; i < 3; i++) {
        if (!codecs[i]->encoder_create)
            continue;
        size_t packed;
        unsigned char *data = compress(codecs[i], "", 0, &packed);
        uint64_t records, sum;
        struct trace_error error;
        assert_int_equal(read_bytes(data, packed, &records, &sum, &error), MGLRU_EINVAL);
        assert_non_null(strstr(error.text, "is empty once decompressed"));
        free(data);
    }
}

static void a_line_without_end_is_refused(void **state)
{
    size_t bytes = TRACE_INPUT_BYTES * 2;
    char *text = malloc(bytes);
    assert_non_null(text);
    memset(text, '1', bytes);
    memcpy(text, "1\n2\n", 4);
    uint64_t records, sum;
    struct trace_error error;
    assert_int_equal(read_bytes(text, bytes, &records, &sum, &error), MGLRU_EINVAL);
    assert_int_equal(records, 2);
    assert_non_null(strstr(error.text, "offset 4: no line break in "));
    free(text);
}

/* Bytes in use on the heap; 0 where the allocator does not tell (sanitizers). */
static size_t heap_bytes(void)
{
#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 33)
    return mallinfo2().uordblks;
#else
    return 0;
#endif
}

static void memory_does_not_grow_with_the_length_of_a_trace(void **state)
{
    static struct trace_record batch[512];
    char path[64] = "/tmp/test-trace-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    FILE *file = fdopen(fd, "w");
    assert_non_null(file);
    fputs("#mglru-trace 1 page_size=4096\n", file);
    for (unsigned i = 0; i < 300000; i++)
        fprintf(file, i % 3 ? "r /a%u file%u %u\n" : "!set /a%u memory.max %u%09uM\n", i % 10,
                i % 100, i);
    fclose(file);
    struct trace_reader *reader;
    struct trace_error error;
    size_t count = 1, early = 0;
    uint64_t records = 0;
    assert_int_equal(trace_reader_open(path, NULL, &reader, &error), 0);
    while (count) {
        assert_int_equal(trace_reader_next(reader, batch, 512, &count, &error), 0);
        records += count;
        if (!early && records > 30000)
            early = heap_bytes();
    }
    assert_int_equal(records, 300000);
    assert_true(heap_bytes() <= early + 4096);
    trace_reader_close(reader);
    unlink(path);
}

static void unknown_formats_and_page_sizes_are_refused(void **state)
{
    helper_expect_error("1\n", "tape", "unknown trace format 'tape', expected one of: native, ");
    struct trace_open_options options = {.page_bytes = 5000};
    struct helper_trace *t = helper_read_bytes("1\n", 2, &options);
    assert_int_equal(t->rc, MGLRU_EINVAL);
    assert_non_null(strstr(t->error.text, "page size 5000"));
    helper_close(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain_traces_longer_than_the_buffer_are_read_whole),
        cmocka_unit_test(compressed_traces_are_recognised_and_read_whole),
        cmocka_unit_test(streams_one_behind_the_other_are_one_trace),
        cmocka_unit_test(every_cut_of_a_compressed_trace_is_an_error),
        cmocka_unit_test(damage_in_a_compressed_trace_is_an_error_with_its_place),
        cmocka_unit_test(bytes_behind_a_gzip_stream_are_an_error),
        cmocka_unit_test(what_is_no_file_of_records_is_refused),
        cmocka_unit_test(an_empty_compressed_trace_is_refused),
        cmocka_unit_test(a_line_without_end_is_refused),
        cmocka_unit_test(memory_does_not_grow_with_the_length_of_a_trace),
        cmocka_unit_test(unknown_formats_and_page_sizes_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
