/* SPDX-License-Identifier: MIT */
/* Formats of plain numbers: one key a line, LIRS, ARC .lis. */
#include "test_trace_helper.h"

static void keys_are_found_and_become_pages(void **state)
{
    struct helper_trace *t = helper_read("7\n0\n\n 0x1F \r\n7", NULL);
    helper_expect_count(t, 4);
    assert_string_equal(trace_reader_format(t->reader), "keys");
    assert_string_equal(trace_reader_memcg_name(t->reader, 0), "/");
    assert_string_equal(trace_reader_object_name(t->reader, 0), "keys");
    assert_int_equal(trace_reader_objects(t->reader), 1);
    static const uint64_t pages[] = {7, 0, 31, 7};
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(t->records[i].page, pages[i]);
        assert_int_equal(t->records[i].op, TRACE_READ);
        assert_int_equal(t->records[i].count, 1);
    }
    assert_int_equal(t->records[3].line, 5);
    helper_close(t);
}

static void large_keys_stay_apart(void **state)
{
    /* 2^52 - 1, 2^52, 2^52 + 1, 2^64 - 1, 0 */
    struct helper_trace *t = helper_read("4503599627370495\n4503599627370496\n4503599627370497\n"
                                         "18446744073709551615\n0\n",
                                         NULL);
    helper_expect_count(t, 5);
    assert_int_equal(trace_reader_objects(t->reader), 3);
    for (size_t i = 0; i < 5; i++)
        for (size_t j = 0; j < i; j++)
            assert_false(t->records[i].page == t->records[j].page &&
                         t->records[i].object == t->records[j].object);
    assert_string_equal(trace_reader_object_name(t->reader, t->records[1].object), "keys.001");
    assert_string_equal(trace_reader_object_name(t->reader, t->records[3].object), "keys.fff");
    assert_int_equal(t->records[4].object, t->records[0].object);
    helper_close(t);
}

static void lirs_marks_are_skipped(void **state)
{
    struct helper_trace *t = helper_read("1\n2\n*\n3\n *\n", NULL);
    helper_expect_count(t, 3);
    assert_string_equal(trace_reader_format(t->reader), "lirs");
    helper_close(t);
    t = helper_read("*\n5\n", "keys");
    helper_expect_count(t, 1);
    helper_close(t);
}

static void bad_keys_are_refused(void **state)
{
    helper_expect_error("1\n2x\n", "keys", "line 2: expected a key (a number up to 2^64 - 1)");
    helper_expect_error("1 2\n", "keys", "line 1: expected the end of the line, found '2'");
    helper_expect_error("18446744073709551616\n", "keys", "line 1: expected a key");
    helper_expect_error("*3\n", "keys", "line 1: expected the end of the line");
    helper_expect_error("-1\n", "keys", "found '-1'");
    helper_expect_error("0x\n", "keys", "expected a key");
    helper_expect_error("0x10000000000000000\n", "keys", "expected a key");
}

static void lis_requests_keep_their_count(void **state)
{
    struct helper_trace *t = helper_read("10 1 0 0\n20 8 0 1\n\n4503599627370495 1 0 2", NULL);
    helper_expect_count(t, 3);
    assert_string_equal(trace_reader_format(t->reader), "lis");
    assert_int_equal(t->records[1].page, 20);
    assert_int_equal(t->records[1].count, 8);
    assert_true(t->records[2].page == TRACE_PAGE_MAX);
    helper_close(t);
}

static void bad_lis_lines_are_refused(void **state)
{
    helper_expect_error("1 1 0\n", "lis", "line 1: expected the sequence number");
    helper_expect_error("1 1 0 0 5\n", "lis", "expected the end of the line, found '5'");
    helper_expect_error("1 0 0 0\n", "lis", "a count of 0 pages");
    helper_expect_error("1 4294967296 0 0\n", "lis", "a count of 4294967296 pages");
    helper_expect_error("4503599627370495 2 0 0\n", "lis", "page 4503599627370495");
    helper_expect_error("1 x 0 0\n", "lis", "expected a count of pages, found 'x'");
}

static void shared_traces_have_their_documented_counts(void **state)
{
    static const struct {
        const char *name;
        uint64_t accesses;
    } traces[] = {
        {"cpp.trace.gz", 9047},     {"cs.trace.gz", 6781},      {"gli.trace.gz", 6015},
        {"multi1.trace.gz", 15858}, {"multi2.trace.gz", 26311}, {"2_pools.trace.gz", 100000},
        {"scan.trace.gz", 50025},   {"loop.trace.gz", 505500},  {"zigzag.trace.gz", 52001},
        {"backf.trace.gz", 9000},   {"OLTP.lis.zst", 914145},   {"P3.lis.zst", 3912296}};
    for (size_t i = 0; i < sizeof(traces) / sizeof(traces[0]); i++) {
        char name[64], path[512];
        snprintf(name, sizeof(name), "traces/%s", traces[i].name);
        if (!helper_shared(name, path))
            skip();
        struct trace_reader *reader;
        struct trace_error error;
        int rc = trace_reader_open(path, NULL, &reader, &error);
        if (rc == MGLRU_ENOTSUP)
            continue;
        assert_int_equal(rc, 0);
        uint64_t pages = 0;
        size_t count = 1;
        static struct trace_record records[1000];
        while (count) {
            assert_int_equal(trace_reader_next(reader, records, 1000, &count, &error), 0);
            for (size_t k = 0; k < count; k++)
                pages += records[k].count;
        }
        assert_int_equal(pages, traces[i].accesses);
        trace_reader_close(reader);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_are_found_and_become_pages),
        cmocka_unit_test(large_keys_stay_apart),
        cmocka_unit_test(lirs_marks_are_skipped),
        cmocka_unit_test(bad_keys_are_refused),
        cmocka_unit_test(lis_requests_keep_their_count),
        cmocka_unit_test(bad_lis_lines_are_refused),
        cmocka_unit_test(shared_traces_have_their_documented_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
