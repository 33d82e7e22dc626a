/* SPDX-License-Identifier: MIT */
/*
 * The filemap reader on real programs: the events that two kernels recorded of SQLite and grep are
 * put into the words of tracefs, and must come out as exactly the page accesses that the programs
 * made, whatever readahead brought in, and though grep asks for more than its files hold.
 *
 * The recordings lie beside some checkouts only; without them the test is skipped.
 */
#include "test_trace_helper.h"

#include "trace/input.h"

/* "t_us pid kind dev inode first last", pages; other lines are no page events of the data disk. */
static void put_event(FILE *out, const char *line)
{
    unsigned long long time_us, pid, inode, first, last;
    char kind;
    if (sscanf(line, "%llu %llu %c 1:0 %llu %llu %llu", &time_us, &pid, &kind, &inode, &first,
               &last) != 6)
        return;
    fprintf(out, "  prog-%llu  [000] ..... %llu.%06llu: ", pid, time_us / 1000000,
            time_us % 1000000);
    if (kind == 'G')
        fprintf(out, "mm_filemap_get_pages: dev=1:0 ino=%llx ofs=%llu-%llu\n", inode, first << 12,
                ((last + 1) << 12) - 1);
    else if (kind == 'A')
        fprintf(out, "mm_filemap_add_to_page_cache: dev 1:0 ino %llx pfn=0x1 ofs=%llu order=%u\n",
                inode, first << 12, (unsigned)__builtin_ctzll(last - first + 1));
    else
        fprintf(out, "other_event: x\n");
}

/* False: the build cannot decompress it. */
static bool convert(const char *recording, char path[64])
{
    struct trace_input input;
    struct trace_error error;
    int rc = trace_input_open(&input, recording, &error);
    if (rc == MGLRU_ENOTSUP) {
        trace_input_close(&input);
        return false;
    }
    snprintf(path, 64, "/tmp/test-trace-XXXXXX");
    FILE *out = fdopen(mkstemp(path), "w");
    assert_non_null(out);
    for (;;) {
        assert_int_equal(rc, 0);
        rc = trace_input_lines(&input, &error);
        if (rc || input.begin == input.lines_end)
            break;
        char *line = (char *)input.buffer + input.begin;
        char *end = strchr(line, '\n');
        *end = '\0';
        put_event(out, line);
        input.begin += (size_t)(end - line) + 1;
    }
    assert_int_equal(rc, 0);
    trace_input_close(&input);
    assert_int_equal(fclose(out), 0);
    return true;
}

static uint64_t count_pages(const char *path)
{
    static struct trace_record records[1000];
    struct trace_reader *reader;
    struct trace_error error;
    uint64_t pages = 0;
    size_t count = 1;
    assert_int_equal(trace_reader_open(path, NULL, &reader, &error), 0);
    assert_string_equal(trace_reader_format(reader), "filemap");
    while (count) {
        assert_int_equal(trace_reader_next(reader, records, 1000, &count, &error), 0);
        for (size_t i = 0; i < count; i++) {
            assert_int_equal(records[i].op, TRACE_READ);
            pages += records[i].count;
        }
    }
    trace_reader_close(reader);
    return pages;
}

static void real_programs_come_out_at_their_page_accesses(void **state)
{
    static const struct {
        const char *name;
        uint64_t pages;
    } recordings[] = {{"grep_a/k612_ra0", 38124},
                      {"grep_a/k73_ra128", 38124},
                      {"grep_hot/k612_ra128", 48697},
                      {"sqlite_a/k73_ra128", 130497}};
    for (size_t i = 0; i < sizeof(recordings) / sizeof(recordings[0]); i++) {
        char name[128], recording[512], path[64];
        snprintf(name, sizeof(name), "oracle/real/%s_nolimit.trace.zst", recordings[i].name);
        if (!helper_shared(name, recording) || !convert(recording, path))
            skip();
        assert_int_equal(count_pages(path), recordings[i].pages);
        unlink(path);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(real_programs_come_out_at_their_page_accesses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
