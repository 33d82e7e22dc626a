/* SPDX-License-Identifier: MIT */
/* The native text format: every line of the grammar, and what it refuses. */
#include "test_trace_helper.h"

#define HEADER "#mglru-trace 1 page_size=4096\n"

static void every_access_becomes_its_operation(void **state)
{
    static const enum trace_op ops[] = {TRACE_READ,      TRACE_WRITE,    TRACE_MAP_READ,
                                        TRACE_MAP_WRITE, TRACE_MAP_EXEC, TRACE_TOUCH,
                                        TRACE_FREE};
    struct helper_trace *t = helper_read(HEADER "r /a f 1\nw /a f 2\nm /a f 3\nM /a f 4\n"
                                                "x /a f 5\na /a f 6\nf /a f 7 8\n",
                                         NULL);
    helper_expect_count(t, 7);
    assert_string_equal(trace_reader_format(t->reader), "native");
    for (size_t i = 0; i < 7; i++) {
        assert_int_equal(t->records[i].op, ops[i]);
        assert_int_equal(t->records[i].page, i + 1);
        assert_int_equal(t->records[i].count, i == 6 ? 8 : 1);
        assert_true(t->records[i].time_ns == TRACE_NO_TIME);
        assert_int_equal(t->records[i].line, i + 2);
        assert_null(t->records[i].name);
    }
    helper_close(t);
}

static void open_may_tell_the_size(void **state)
{
    struct helper_trace *t = helper_read(HEADER "o /a f\no /a g 7 # pages\n"
                                                "o /a h 4294967295\n",
                                         NULL);
    helper_expect_count(t, 3);
    static const uint32_t counts[] = {0, 7, UINT32_MAX};
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(t->records[i].op, TRACE_OPEN);
        assert_int_equal(t->records[i].page, 0);
        assert_int_equal(t->records[i].count, counts[i]);
    }
    helper_close(t);
}

static void open_has_no_page_and_time_is_optional(void **state)
{
    struct helper_trace *t = helper_read(HEADER "@1000000 o /a f\n@0 r /a f 0 4\nr /a f 4\n", NULL);
    helper_expect_count(t, 3);
    assert_int_equal(t->records[0].op, TRACE_OPEN);
    assert_int_equal(t->records[0].time_ns, 1000000);
    assert_int_equal(t->records[1].time_ns, 0);
    assert_int_equal(t->records[1].count, 4);
    assert_true(t->records[2].time_ns == TRACE_NO_TIME);
    helper_close(t);
}

static void names_get_dense_numbers_and_are_decoded(void **state)
{
    struct helper_trace *t = helper_read(HEADER "r /a f 1\nr /b my%20file 1\nr /a my%20file 1\n"
                                                "r /%61 %66 1\nr /a %25 1\nr /a \xc3\xa4 1\n",
                                         NULL);
    helper_expect_count(t, 6);
    assert_int_equal(trace_reader_memcgs(t->reader), 2);
    assert_int_equal(trace_reader_objects(t->reader), 4);
    assert_string_equal(trace_reader_memcg_name(t->reader, 1), "/b");
    assert_string_equal(trace_reader_object_name(t->reader, 1), "my file");
    assert_string_equal(trace_reader_object_name(t->reader, 2), "%");
    assert_null(trace_reader_object_name(t->reader, 4));
    assert_int_equal(t->records[2].object, 1);
    assert_int_equal(t->records[3].memcg, 0);
    assert_int_equal(t->records[3].object, 0);
    helper_close(t);
}

static void control_lines_carry_their_words(void **state)
{
    struct helper_trace *t =
        helper_read(HEADER "!mkdir /a\n!set /a memory.max 32M\n!read /a memory.stat\n"
                           "!lru_gen enabled 0x0001\n!age /a 0 200\n!evict /a  0 5 max\n"
                           "!evict /a 0 5 60 100\n@7 !rmdir /a # gone\n",
                    NULL);
    static const struct {
        enum trace_op op;
        const char *name, *text;
    } want[] = {{TRACE_MKDIR, "", ""},           {TRACE_SET, "memory.max", "32M"},
                {TRACE_STAT, "memory.stat", ""}, {TRACE_LRU_GEN, "enabled", "0x0001"},
                {TRACE_AGE, "", "0 200"},        {TRACE_EVICT, "", "0 5 max"},
                {TRACE_EVICT, "", "0 5 60 100"}, {TRACE_RMDIR, "", ""}};
    helper_expect_count(t, 8);
    for (size_t i = 0; i < 8; i++) {
        assert_int_equal(t->records[i].op, want[i].op);
        assert_string_equal(t->names[i], want[i].name);
        assert_string_equal(t->texts[i], want[i].text);
    }
    assert_int_equal(t->records[7].time_ns, 7);
    helper_close(t);
}

static void blank_lines_and_comments_are_skipped(void **state)
{
    struct helper_trace *t =
        helper_read(HEADER "\n# note\n  \t\nr /a f#1 1 # why\n r\t/a  f 2 3 #c\r\n", NULL);
    helper_expect_count(t, 2);
    assert_string_equal(trace_reader_object_name(t->reader, 0), "f#1");
    assert_int_equal(t->records[0].line, 5);
    assert_int_equal(t->records[1].count, 3);
    helper_close(t);
}

static void extremes_of_page_and_count_are_kept(void **state)
{
    struct helper_trace *t = helper_read(HEADER "r /a f 4503599627370495\n"
                                                "f /a f 0 4294967295\nf /a f 5 4294967296\n"
                                                "r /a f 00000000000000000000000009\n",
                                         NULL);
    helper_expect_count(t, 5);
    assert_true(t->records[0].page == TRACE_PAGE_MAX);
    assert_true(t->records[1].count == UINT32_MAX);
    /* 2^32 pages do not fit a record: two follow each other without a gap. */
    assert_true(t->records[2].page == 5 && t->records[2].count == UINT32_C(1) << 31);
    assert_true(t->records[3].page == 5 + (UINT64_C(1) << 31));
    assert_true(t->records[3].count == UINT32_C(1) << 31);
    assert_int_equal(t->records[3].line, 4);
    assert_int_equal(t->records[4].page, 9);
    helper_close(t);
}

static void a_batch_of_one_splits_the_largest_count_too(void **state)
{
    static const char text[] = HEADER "f /a f 0 4294967296\nr /a f 1\n";
    struct trace_reader *reader;
    struct trace_error error;
    struct trace_record record;
    size_t count;
    assert_int_equal(trace_reader_open_memory(text, strlen(text), NULL, &reader, &error), 0);
    for (unsigned i = 0; i < 3; i++) {
        assert_int_equal(trace_reader_next(reader, &record, 1, &count, &error), 0);
        assert_int_equal(count, 1);
        assert_int_equal(record.line, i < 2 ? 2 : 3);
    }
    assert_int_equal(trace_reader_next(reader, &record, 1, &count, &error), 0);
    assert_int_equal(count, 0);
    trace_reader_close(reader);
}

static void what_the_grammar_does_not_know_is_refused(void **state)
{
    static const char *const cases[][2] = {
        {"q /a f 1\n", "line 2: expected an operation"},
        {"rr /a f 1\n", "line 2: expected an operation"},
        {"r\n", "expected an operation"},
        {"r a f 1\n", "expected a memcg path such as /a/b, found 'a'"},
        {"r /a/ f 1\n", "expected a memcg path"},
        {"r //a f 1\n", "expected a memcg path"},
        {"r /a\n", "expected a file or region name, found the end of the line"},
        {"r /a # f 1\n", "expected a file or region name, found a comment"},
        {"r /a f\n", "expected a page number"},
        {"r /a f -1\n", "expected a page number up to 2^52 - 1, found '-1'"},
        {"r /a f 1x\n", "expected a page number"},
        {"r /a f 0x10\n", "expected a page number"},
        {"r /a f 4503599627370496\n", "expected a page number"},
        {"r /a f 18446744073709551617\n", "expected a page number"},
        {"r /a f 1 0\n", "expected a count of pages"},
        {"r /a f 1 4294967297\n", "expected a count of pages"},
        {"r /a f 4503599627370495 2\n", "end above page 2^52 - 1"},
        {"r /a f 1 2 3\n", "expected the end of the line, found '3'"},
        {"o /a f 1 2\n", "expected the end of the line"},
        {"@ r /a f 1\n", "expected a time in ns"},
        {"@18446744073709551615 r /a f 1\n", "expected a time in ns"},
        {"@5\n", "expected an operation"},
        {"r /a f%2 1\n", "two hexadecimal digits"},
        {"r /a f%00 1\n", "two hexadecimal digits"},
        {"r /a f%zz 1\n", "two hexadecimal digits"},
        {"r /a \xff 1\n", "expected a name in UTF-8"},
        {"r /a \xc0\x80 1\n", "expected a name in UTF-8"},
        {"r /a f\x01 1\n", "expected a page number up to 2^52 - 1, found '\\x01'"},
        {"!make /a\n", "expected !mkdir"},
        {"!mkdir\n", "expected a memcg path"},
        {"!mkdir /a /b\n", "expected the end of the line"},
        {"!set /a memory.max\n", "expected a value"},
        {"!set /a memory.max 1 2\n", "expected the end of the line"},
        {"!read /a\n", "expected the name of a control file"},
        {"!lru_gen speed 1\n", "expected enabled or min_ttl_ms, found 'speed'"},
        {"!age /a 0\n", "expected swappiness"},
        {"!age /a x 1\n", "expected a node number"},
        {"!evict /a 0 max 1\n", "expected a sequence number"},
        {"!evict /a 0 1 2 3 4\n", "expected the end of the line"},
        {"!evict /a 0 1 2 000000000000000000000000000000000000000000000003\n", "a number of pages"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char text[256];
        snprintf(text, sizeof(text), HEADER "%s", cases[i][0]);
        helper_expect_error(text, NULL, cases[i][1]);
    }
}

static void the_header_is_checked(void **state)
{
    static const char *const cases[][2] = {
        {"#mglru-trace 2 page_size=4096\n", "expected version 1 of the format, found '2'"},
        {"#mglru-trace 1 page_size=4095\n", "power of two"},
        {"#mglru-trace 1 page_size=0\n", "power of two"},
        {"#mglru-trace 1 page_size=99999999999999999999\n", "power of two"},
        {"#mglru-trace 1\n", "expected page_size=N"},
        {"#mglru-trace 1 page_size=4096 zone=1\n", "expected the end of the line"},
        {"#mglru-trace 1 page_size=4096", "expected the header"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        helper_expect_error(cases[i][0], NULL, cases[i][1]);
    helper_expect_error("r /a f 1\n", "native", "line 1: expected the header");
    struct helper_trace *t = helper_read("#mglru-trace 1 page_size=16384\n", NULL);
    helper_expect_count(t, 0);
    assert_int_equal(trace_reader_page_bytes(t->reader), 16384);
    helper_close(t);
}

static void a_torn_last_line_is_an_error_after_the_records_before_it(void **state)
{
    struct helper_trace *t = helper_read(HEADER "r /a f 1\nr /a f 2\nr /a f 3", NULL);
    assert_int_equal(t->rc, MGLRU_EINVAL);
    assert_int_equal(t->count, 2);
    assert_string_equal(t->error.text,
                        "memory: line 4: the last line is torn, expected a line break");
    size_t count = 9;
    struct trace_record record;
    assert_int_equal(trace_reader_next(t->reader, &record, 1, &count, &t->error), MGLRU_EINVAL);
    assert_int_equal(count, 0);
    helper_close(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_access_becomes_its_operation),
        cmocka_unit_test(open_may_tell_the_size),
        cmocka_unit_test(open_has_no_page_and_time_is_optional),
        cmocka_unit_test(names_get_dense_numbers_and_are_decoded),
        cmocka_unit_test(control_lines_carry_their_words),
        cmocka_unit_test(blank_lines_and_comments_are_skipped),
        cmocka_unit_test(extremes_of_page_and_count_are_kept),
        cmocka_unit_test(a_batch_of_one_splits_the_largest_count_too),
        cmocka_unit_test(what_the_grammar_does_not_know_is_refused),
        cmocka_unit_test(the_header_is_checked),
        cmocka_unit_test(a_torn_last_line_is_an_error_after_the_records_before_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
