/* SPDX-License-Identifier: MIT */
/*
 * The writer: what it writes is read back as the same records, whatever they are, and a failure
 * leaves no file and does not harm an old one. Random records come from splitmix64 with the seed
 * that a failure prints.
 */
#include "test_trace_helper.h"

#include <dirent.h>
#include <signal.h>
#include <sys/stat.h>

#include "base/bits.h"
#include "trace/codec.h"
#include "trace/writer.h"

#define RECORDS 3000u
#define NAMES 12u

static uint64_t rng_state;

static uint64_t next_random(void)
{
    rng_state += 0x9E3779B97F4A7C15ull;
    return bits_mix64(rng_state);
}

static uint64_t below(uint64_t n)
{
    return next_random() % n;
}

/* A folder of its own for each test, so that leftovers are seen. */
static void make_folder(char path[64])
{
    snprintf(path, 64, "/tmp/test-trace-XXXXXX");
    assert_non_null(mkdtemp(path));
}

static size_t files_in(const char *folder)
{
    size_t files = 0;
    DIR *dir = opendir(folder);
    assert_non_null(dir);
    for (struct dirent *entry; (entry = readdir(dir));)
        files += entry->d_name[0] != '.';
    closedir(dir);
    return files;
}

/* Names with all kinds of bytes; none twice, so that their numbers can be compared. */
static void make_names(char names[NAMES][24], bool memcg)
{
    static const char odd[] = " \t%#\n\x01\x7f\xff\xc3\xa4z/";
    for (unsigned i = 0; i < NAMES; i++) {
        unsigned n = (unsigned)sprintf(names[i], memcg ? "/m%u" : "%u", i);
        for (unsigned k = (unsigned)below(12); k > 0; k--)
            names[i][n++] = odd[below(sizeof(odd) - 2)];
        names[i][n] = '\0';
    }
    strcpy(names[0], memcg ? "/" : "#");
}

static void make_access(struct trace_record *record)
{
    record->op = (enum trace_op)(TRACE_READ + below(8));
    record->count = record->op == TRACE_OPEN ? 0 : 1;
    record->page = record->op == TRACE_OPEN ? 0 : next_random() >> (12 + below(52));
    if (below(3) == 0)
        record->count = (uint32_t)(next_random() >> (32 + below(32))) | 1;
    if (record->op != TRACE_OPEN && record->page > TRACE_PAGE_MAX - (record->count - 1))
        record->page = TRACE_PAGE_MAX - (record->count - 1);
}

static void make_control(struct trace_record *record)
{
    static const char *const values[] = {"max", "32M", "0", "memory.stat", "a#b"};
    record->op = (enum trace_op)(TRACE_MKDIR + below(7));
    record->count = 0;
    record->object = 0;
    if (record->op == TRACE_SET || record->op == TRACE_STAT)
        record->name = values[below(5)];
    if (record->op == TRACE_LRU_GEN)
        record->name = below(2) ? "enabled" : "min_ttl_ms";
    if (record->op == TRACE_SET || record->op == TRACE_LRU_GEN)
        record->text = values[below(5)];
    if (record->op == TRACE_AGE)
        record->text = below(2) ? "0 200" : "1 max";
    if (record->op == TRACE_EVICT)
        record->text = below(2) ? "0 5 60 100" : "0 18446744073709551615 max";
}

static void make_records(struct trace_record records[RECORDS])
{
    for (unsigned i = 0; i < RECORDS; i++) {
        records[i] = (struct trace_record){.memcg = (uint32_t)below(NAMES),
                                           .object = (uint32_t)below(NAMES),
                                           .time_ns = TRACE_NO_TIME};
        if (below(4))
            records[i].time_ns = next_random() >> below(64);
        if (below(10))
            make_access(&records[i]);
        else
            make_control(&records[i]);
    }
}

static void write_trace(const char *path, const struct trace_record *records,
                        char memcgs[NAMES][24], char objects[NAMES][24])
{
    struct trace_writer *writer;
    struct trace_error error;
    assert_int_equal(trace_writer_open(path, 8192, &writer, &error), 0);
    for (unsigned i = 0; i < RECORDS; i++) {
        int rc = trace_writer_put(writer, &records[i], memcgs[records[i].memcg],
                                  objects[records[i].object], &error);
        if (rc)
            print_error("%s\n", error.text);
        assert_int_equal(rc, 0);
    }
    assert_int_equal(trace_writer_commit(writer, &error), 0);
}

static struct helper_trace *read_trace(const char *path)
{
    struct helper_trace *trace = calloc(1, sizeof(*trace));
    assert_non_null(trace);
    trace->rc = trace_reader_open(path, NULL, &trace->reader, &trace->error);
    if (!trace->rc)
        helper_drain(trace, 100);
    return trace;
}

static void expect_same(const struct helper_trace *t, const struct trace_record *records,
                        char memcgs[NAMES][24], char objects[NAMES][24])
{
    helper_expect_count(t, RECORDS);
    assert_int_equal(trace_reader_page_bytes(t->reader), 8192);
    for (unsigned i = 0; i < RECORDS; i++) {
        const struct trace_record *got = &t->records[i], *want = &records[i];
        assert_int_equal(got->op, want->op);
        assert_true(got->page == want->page && got->time_ns == want->time_ns);
        assert_int_equal(got->count, want->count);
        assert_int_equal(got->line, i + 2);
        if (want->op != TRACE_LRU_GEN)
            assert_string_equal(trace_reader_memcg_name(t->reader, got->memcg),
                                memcgs[want->memcg]);
        if (want->op <= TRACE_FREE)
            assert_string_equal(trace_reader_object_name(t->reader, got->object),
                                objects[want->object]);
        assert_string_equal(t->names[i], want->name ? want->name : "");
        assert_string_equal(t->texts[i], want->text ? want->text : "");
    }
}

static void what_is_written_is_read_back_the_same(void **state)
{
    static const char *const suffixes[] = {"", ".gz", ".xz", ".zst"};
    static struct trace_record records[RECORDS];
    char folder[64], path[128], memcgs[NAMES][24], objects[NAMES][24];
    make_folder(folder);
    for (uint64_t seed = 1; seed <= 12; seed++) {
        rng_state = seed;
        print_message("seed %" PRIu64 "\n", seed);
        const char *suffix = suffixes[seed % 4];
        snprintf(path, sizeof(path), "%s/trace%s", folder, suffix);
        if (*suffix && !codec_by_suffix(path)->encoder_create)
            continue;
        make_names(memcgs, true);
        make_names(objects, false);
        make_records(records);
        write_trace(path, records, memcgs, objects);
        struct helper_trace *t = read_trace(path);
        expect_same(t, records, memcgs, objects);
        helper_close(t);
        assert_int_equal(files_in(folder), 1);
        unlink(path);
    }
    rmdir(folder);
}

static void copying_a_trace_keeps_every_record(void **state)
{
    char folder[64], path[128];
    make_folder(folder);
    snprintf(path, sizeof(path), "%s/copy", folder);
    struct helper_trace *t = helper_read("1\n18446744073709551615\n2\n", NULL);
    struct trace_writer *writer;
    struct trace_error error;
    assert_int_equal(trace_writer_open(path, 4096, &writer, &error), 0);
    assert_int_equal(trace_writer_copy(writer, t->reader, t->records, t->count, &error), 0);
    assert_int_equal(trace_writer_commit(writer, &error), 0);
    struct helper_trace *copy = read_trace(path);
    helper_expect_count(copy, 3);
    assert_true(copy->records[1].page == TRACE_PAGE_MAX);
    assert_string_equal(trace_reader_object_name(copy->reader, copy->records[1].object),
                        "keys.fff");
    helper_close(copy);
    helper_close(t);
    unlink(path);
    rmdir(folder);
}

static const struct trace_record sample = {
    .op = TRACE_READ, .count = 1, .page = 1, .time_ns = TRACE_NO_TIME};

/* Enough records that the buffer is flushed; then the commit. */
static int write_many(struct trace_writer *writer, struct trace_error *error)
{
    int rc = 0;
    for (unsigned i = 0; i < 10000 && !rc; i++)
        rc = trace_writer_put(writer, &sample, "/a", "f", error);
    int committed = trace_writer_commit(writer, error);
    assert_true(!rc || committed == rc);
    return committed;
}

static void a_full_disk_is_reported(void **state)
{
    struct trace_writer *writer;
    struct trace_error error;
    if (access("/dev/full", W_OK) != 0)
        skip();
    assert_int_equal(trace_writer_open("/dev/full", 4096, &writer, &error), 0);
    assert_int_equal(write_many(writer, &error), MGLRU_ENOSPC);
    assert_non_null(strstr(error.text, "/dev/full: cannot write: No space left"));
    assert_int_equal(access("/dev/full", W_OK), 0);
}

static void a_closed_pipe_is_reported(void **state)
{
    int ends[2];
    char path[64];
    struct trace_writer *writer;
    struct trace_error error;
    assert_int_equal(pipe(ends), 0);
    snprintf(path, sizeof(path), "/proc/self/fd/%d", ends[1]);
    signal(SIGPIPE, SIG_IGN);
    assert_int_equal(trace_writer_open(path, 4096, &writer, &error), 0);
    close(ends[0]);
    assert_int_equal(write_many(writer, &error), MGLRU_EIO);
    assert_non_null(strstr(error.text, "cannot write: Broken pipe"));
    close(ends[1]);
}

static void a_failure_leaves_the_old_file_and_no_new_one(void **state)
{
    char folder[64], path[128];
    struct trace_writer *writer;
    struct trace_error error;
    make_folder(folder);
    snprintf(path, sizeof(path), "%s/trace", folder);
    FILE *old = fopen(path, "w");
    assert_non_null(old);
    fputs("old", old);
    fclose(old);

    assert_int_equal(trace_writer_open(path, 4096, &writer, &error), 0);
    assert_int_equal(trace_writer_put(writer, &sample, "/a", "f", &error), 0);
    assert_int_equal(trace_writer_put(writer, &sample, "a", "f", &error), MGLRU_EINVAL);
    assert_non_null(strstr(error.text, "record 2 cannot be written: the path of its memcg"));
    assert_int_equal(trace_writer_put(writer, &sample, "/a", "f", &error), MGLRU_EINVAL);
    assert_int_equal(trace_writer_commit(writer, &error), MGLRU_EINVAL);
    assert_int_equal(files_in(folder), 1);

    assert_int_equal(trace_writer_open(path, 4096, &writer, &error), 0);
    assert_int_equal(trace_writer_put(writer, &sample, "/a", "f", &error), 0);
    assert_int_equal(files_in(folder), 2);
    trace_writer_discard(writer);
    assert_int_equal(files_in(folder), 1);

    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_size, 3);
    unlink(path);
    rmdir(folder);
}

static void what_cannot_be_opened_is_refused(void **state)
{
    struct trace_writer *writer;
    struct trace_error error;
    assert_int_equal(trace_writer_open("/", 4096, &writer, &error), MGLRU_EINVAL);
    assert_null(writer);
    assert_int_equal(trace_writer_open("/no/such/x", 4096, &writer, &error), MGLRU_ENOENT);
    assert_non_null(strstr(error.text, "/no/such/x: cannot write: "));
    assert_int_equal(trace_writer_open("/tmp/x", 5000, &writer, &error), MGLRU_EINVAL);
    trace_writer_discard(NULL);
}

static void records_that_the_format_cannot_hold_are_refused(void **state)
{
    static const struct {
        struct trace_record record;
        const char *memcg, *object;
    } bad[] = {
        {{.op = (enum trace_op)0}, "/a", "f"},
        {{.op = (enum trace_op)99}, "/a", "f"},
        {{.op = TRACE_READ, .count = 0}, "/a", "f"},
        {{.op = TRACE_READ, .count = 2, .page = TRACE_PAGE_MAX}, "/a", "f"},
        {{.op = TRACE_READ, .count = 1}, "/a", ""},
        {{.op = TRACE_READ, .count = 1}, "/a", NULL},
        {{.op = TRACE_READ, .count = 1}, NULL, "f"},
        {{.op = TRACE_READ, .count = 1}, "/a//b", "f"},
        {{.op = TRACE_SET, .name = "memory.max"}, "/a", NULL},
        {{.op = TRACE_SET, .name = "memory.max", .text = "1 2"}, "/a", NULL},
        {{.op = TRACE_STAT, .name = "#x"}, "/a", NULL},
        {{.op = TRACE_AGE, .text = ""}, "/a", NULL},
        {{.op = TRACE_MKDIR}, "", NULL},
    };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct trace_writer *writer;
        struct trace_error error;
        char folder[64], path[128];
        make_folder(folder);
        snprintf(path, sizeof(path), "%s/trace", folder);
        assert_int_equal(trace_writer_open(path, 4096, &writer, &error), 0);
        assert_int_equal(
            trace_writer_put(writer, &bad[i].record, bad[i].memcg, bad[i].object, &error),
            MGLRU_EINVAL);
        assert_non_null(strstr(error.text, "record 1 cannot be written: "));
        trace_writer_discard(writer);
        assert_int_equal(rmdir(folder), 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_written_is_read_back_the_same),
        cmocka_unit_test(copying_a_trace_keeps_every_record),
        cmocka_unit_test(a_full_disk_is_reported),
        cmocka_unit_test(a_closed_pipe_is_reported),
        cmocka_unit_test(a_failure_leaves_the_old_file_and_no_new_one),
        cmocka_unit_test(what_cannot_be_opened_is_refused),
        cmocka_unit_test(records_that_the_format_cannot_hold_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
