/* SPDX-License-Identifier: MIT */
/*
 * Every allocation of trace/ is refused once. The call must answer MGLRU_ENOMEM with a line of
 * text and leave nothing behind (leaks show under AddressSanitizer, files are looked for here).
 * The linker turns the allocator's entry points into the __wrap_ functions below.
 */
#include "test_trace_helper.h"

#include "trace/pump.h"
#include "trace/writer.h"

/* Allocations until one fails; negative: none fails. */
static int until_failure = -1;
static bool met; /* one was refused */

static bool refused(void)
{
    if (until_failure < 0 || until_failure-- > 0)
        return false;
    met = true;
    return true;
}

void *__real_malloc(size_t bytes);
void *__real_calloc(size_t count, size_t bytes);
void *__real_realloc(void *old, size_t bytes);
void *__wrap_malloc(size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes);
void *__wrap_realloc(void *old, size_t bytes);

void *__wrap_malloc(size_t bytes)
{
    return refused() ? NULL : __real_malloc(bytes);
}

void *__wrap_calloc(size_t count, size_t bytes)
{
    return refused() ? NULL : __real_calloc(count, bytes);
}

void *__wrap_realloc(void *old, size_t bytes)
{
    return refused() ? NULL : __real_realloc(old, bytes);
}

/* More than any scenario makes; a scenario that never comes through is a failure. */
#define ALLOCATIONS_MAX 500

static char folder[64];

/* Runs @scenario with its first, second, ... allocation refused, until none is. */
static void refuse_each(int (*scenario)(struct trace_error *error))
{
    int allocation = 0;
    for (; allocation < ALLOCATIONS_MAX; allocation++) {
        struct trace_error error = {.text = ""};
        met = false;
        until_failure = allocation;
        int rc = scenario(&error);
        until_failure = -1;
        if (!met) {
            assert_int_equal(rc, 0);
            break;
        }
        assert_int_equal(rc, MGLRU_ENOMEM);
        assert_true(error.text[0] != '\0');
    }
    assert_in_range(allocation, 1, ALLOCATIONS_MAX - 1);
}

static int read_all(const char *text, const struct trace_open_options *options,
                    struct trace_error *error)
{
    struct trace_record records[16];
    struct trace_reader *reader;
    size_t count = 1;
    int rc = trace_reader_open_memory(text, strlen(text), options, &reader, error);
    while (!rc && count)
        rc = trace_reader_next(reader, records, 16, &count, error);
    trace_reader_close(reader);
    return rc;
}

/* Names enough that their table grows, encoded ones, and control lines. */
static int read_native(struct trace_error *error)
{
    static char text[16384];
    size_t n = (size_t)sprintf(text, "#mglru-trace 1 page_size=4096\n");
    for (int i = 0; i < 200; i++)
        n += (size_t)sprintf(text + n, "r /a%d f%%20%d 1\n", i % 3, i);
    for (int i = 0; i < 40; i++)
        n += (size_t)sprintf(text + n, "!set /a memory.max %d\n!evict /a 0 1 max\n", i);
    return read_all(text, NULL, error);
}

static int read_keys(struct trace_error *error)
{
    return read_all("1\n18446744073709551615\n2\n", NULL, error);
}

static int read_objects(struct trace_error *error)
{
    return read_all("1 7 100\n2 8 9000\n", NULL, error);
}

static int read_csv(struct trace_error *error)
{
    return read_all("time,page,file,memcg\n1,2,a,b\n", NULL, error);
}

static int read_filemap(struct trace_error *error)
{
    return read_all("a 1 [0] 1.0: mm_filemap_get_pages: dev=8:1 ino=1 ofs=0-16383\n"
                    "a 1 [0] 1.1: mm_filemap_fault: dev=8:1 ino=2 ofs=0\n",
                    NULL, error);
}

static int read_file(struct trace_error *error)
{
    char path[128];
    struct trace_reader *reader;
    struct trace_open_options options = {.columns = "page=0"};
    int failure = until_failure; /* making the file is not what is tested */
    until_failure = -1;
    snprintf(path, sizeof(path), "%s/in", folder);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs("1,2\n", file);
    fclose(file);
    until_failure = failure;
    int rc = trace_reader_open(path, &options, &reader, error);
    trace_reader_close(reader);
    unlink(path);
    return rc;
}

static int write_file(struct trace_error *error)
{
    char path[128];
    struct trace_writer *writer;
    snprintf(path, sizeof(path), "%s/out.zst", folder);
    static const struct trace_record record = {
        .op = TRACE_READ, .count = 1, .time_ns = TRACE_NO_TIME};
    int rc = trace_writer_open(path, 4096, &writer, error);
    if (rc == MGLRU_ENOTSUP)
        return 0;
    if (!rc)
        rc = trace_writer_put(writer, &record, "/", "f", error);
    if (!rc)
        rc = trace_writer_commit(writer, error);
    assert_true(rc == 0 || access(path, F_OK) != 0);
    unlink(path);
    return rc;
}

/* Only the pump's own allocation, the first: its thread makes others in an order of its own. */
static int start_pump(struct trace_error *error)
{
    struct trace_reader *reader;
    struct trace_pump *pump;
    int failure = until_failure;
    until_failure = -1;
    assert_int_equal(trace_reader_open_memory("1\n", 2, NULL, &reader, error), 0);
    if (failure == 0)
        until_failure = 0;
    int rc = trace_pump_start(reader, &pump, error);
    trace_pump_stop(pump);
    trace_reader_close(reader);
    return rc;
}

static void readers_survive_each_refused_allocation(void **state)
{
    refuse_each(read_native);
    refuse_each(read_keys);
    refuse_each(read_objects);
    refuse_each(read_csv);
    refuse_each(read_filemap);
    refuse_each(read_file);
}

static void the_writer_survives_each_refused_allocation(void **state)
{
    refuse_each(write_file);
}

static void the_pump_survives_a_refused_allocation(void **state)
{
    refuse_each(start_pump);
}

static int make_folder(void **state)
{
    snprintf(folder, sizeof(folder), "/tmp/test-trace-XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

/* Fails when a test left a file behind. */
static int remove_folder(void **state)
{
    return rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(readers_survive_each_refused_allocation),
        cmocka_unit_test(the_writer_survives_each_refused_allocation),
        cmocka_unit_test(the_pump_survives_a_refused_allocation),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
