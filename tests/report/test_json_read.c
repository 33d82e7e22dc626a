/* SPDX-License-Identifier: MIT */
/*
 * Goal: a result survives the way through JSON, shards join to the unsharded result, and a wrong
 * file is refused with its place.
 * Method: write, read, write again and compare the bytes; single faults put into a good file.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <mglru/error.h>

#include "fixture.h"

static char *as_json(const struct replay_result *result)
{
    struct fixture_memory memory;
    struct report_out out;
    struct report_error error;
    fixture_open(&memory, &out);
    int code = report_json(&out, result, &error);
    char *text = fixture_text(&memory, &out);
    if (code == MGLRU_ENOTSUP) {
        free(text);
        skip();
    }
    assert_int_equal(code, MGLRU_OK);
    return text;
}

/* report_json_read() of @bytes bytes of @text. */
static int read_text(const char *text, size_t bytes, struct report_loaded *loaded,
                     struct report_error *error)
{
    char path[] = "/tmp/mglru-test-json-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, bytes), bytes);
    close(fd);
    int code = report_json_read(path, loaded, error);
    unlink(path);
    return code;
}

static void expect_round_trip(const struct replay_result *result)
{
    struct report_loaded loaded;
    struct report_error error;
    char *first = as_json(result);
    int code = read_text(first, strlen(first), &loaded, &error);
    assert_string_equal(error.text, "");
    assert_int_equal(code, MGLRU_OK);
    char *second = as_json(&loaded.result);
    assert_string_equal(first, second);
    report_loaded_free(&loaded);
    free(first);
    free(second);
}

static void a_result_survives_the_way_through_json(void **state)
{
    expect_round_trip(fixture_curves());
    expect_round_trip(fixture_series());
}

/* Runs @first, @first + step, ... of the curves, read back from JSON. */
static void load_shard(size_t first, size_t step, struct report_loaded *loaded)
{
    struct replay_run runs[9];
    struct replay_result shard = *fixture_curves();
    struct report_error error;
    shard.run_count = 0;
    for (size_t i = first; i < fixture_curves()->run_count; i += step)
        runs[shard.run_count++] = fixture_curves()->runs[i];
    shard.runs = runs;
    char *text = as_json(&shard);
    assert_int_equal(read_text(text, strlen(text), loaded, &error), MGLRU_OK);
    free(text);
}

static void shards_join_to_the_unsharded_result(void **state)
{
    struct report_loaded whole, part;
    struct report_error error;
    load_shard(2, 3, &whole);
    load_shard(0, 3, &part);
    assert_int_equal(report_merge(&whole, &part, &error), MGLRU_OK);
    assert_int_equal(part.result.run_count, 0);
    load_shard(1, 3, &part);
    assert_int_equal(report_merge(&whole, &part, &error), MGLRU_OK);
    char *joined = as_json(&whole.result);
    char *unsharded = as_json(fixture_curves());
    assert_string_equal(joined, unsharded);
    free(joined);
    free(unsharded);
    report_loaded_free(&whole);
}

static void shards_that_do_not_belong_together_are_refused(void **state)
{
    struct report_loaded a, b;
    struct report_error error;
    load_shard(0, 3, &a);
    load_shard(0, 2, &b);
    assert_int_equal(report_merge(&a, &b, &error), MGLRU_EINVAL);
    assert_string_equal(error.text, "run 0 (mglru 6.12, 32M) stands in both");
    report_loaded_free(&b);
    load_shard(1, 3, &b);
    b.result.trace.accesses++;
    assert_int_equal(report_merge(&a, &b, &error), MGLRU_EINVAL);
    assert_non_null(strstr(error.text, "different traces"));
    assert_int_equal(a.result.run_count, 3);
    report_loaded_free(&a);
    report_loaded_free(&b);
}

/* Puts @to in the place of the first @from of a good file and expects @message. */
static void expect_refusal(const char *from, const char *to, const char *message)
{
    struct report_loaded loaded;
    struct report_error error;
    char *good = as_json(fixture_series());
    char *at = strstr(good, from);
    assert_non_null(at);
    char *bad = NULL;
    assert_true(asprintf(&bad, "%.*s%s%s", (int)(at - good), good, to, at + strlen(from)) > 0);
    assert_int_equal(read_text(bad, strlen(bad), &loaded, &error), MGLRU_EINVAL);
    if (strstr(error.text, message) == NULL)
        fail_msg("expected '%s' in '%s'", message, error.text);
    assert_null(loaded.result.runs);
    free(good);
    free(bad);
}

static void a_wrong_key_is_named_with_its_place(void **state)
{
    expect_refusal("\"tool\": \"mglru\"", "\"tool\": \"other\"", "tool: expected \"mglru\"");
    expect_refusal("\"runs\": [", "\"runs\": 7, \"x\": [", "runs: expected array");
    expect_refusal("\"misses\": 84000", "\"misses\": -1", "runs[0].misses: number out of range");
    expect_refusal("\"misses\": 84000", "\"misses\": \"1\"", "runs[0].misses: expected int");
    expect_refusal("\"misses\": 84000", "\"missed\": 84000", "runs[0].misses: missing");
    expect_refusal("\"misses\": 84000,\n          \"pages", "\"mises\": 84000,\n          \"pages",
                   "runs[0].series[3].misses: missing");
    expect_refusal("\"type\": \"file\"", "\"type\": \"fifo\"", "runs[0].explain.rows[0].type:");
    expect_refusal("\"tier\": 0", "\"tier\": 256", "tier: number out of range");
    expect_refusal("\"page_bytes\": 4096", "\"page_bytes\": 4096000000000",
                   "trace.page_bytes: number out of range");
}

static void garbage_and_torn_files_are_refused(void **state)
{
    struct report_loaded loaded;
    struct report_error error;
    char *good = as_json(fixture_series());
    assert_int_equal(read_text("", 0, &loaded, &error), MGLRU_EINVAL);
    assert_non_null(strstr(error.text, "the file ends too early"));
    for (size_t bytes = 1; bytes < strlen(good) - 2; bytes += 97)
        assert_int_equal(read_text(good, bytes, &loaded, &error), MGLRU_EINVAL);
    assert_int_equal(read_text("\x00\xff\x7f", 3, &loaded, &error), MGLRU_EINVAL);
    assert_int_equal(read_text("[1, 2]", 6, &loaded, &error), MGLRU_EINVAL);
    free(good);
}

static void files_that_cannot_be_read_are_named(void **state)
{
    struct report_loaded loaded;
    struct report_error error;
    int code = report_json_read("/nonexistent/a.json", &loaded, &error);
    if (code == MGLRU_ENOTSUP)
        skip();
    assert_int_equal(code, MGLRU_ENOENT);
    assert_string_equal(error.text, "/nonexistent/a.json: cannot open: No such file or directory");
    assert_int_equal(report_json_read("/tmp", &loaded, &error), MGLRU_EINVAL);
    assert_string_equal(error.text, "/tmp: cannot read: Is a directory");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_result_survives_the_way_through_json),
        cmocka_unit_test(shards_join_to_the_unsharded_result),
        cmocka_unit_test(shards_that_do_not_belong_together_are_refused),
        cmocka_unit_test(a_wrong_key_is_named_with_its_place),
        cmocka_unit_test(garbage_and_torn_files_are_refused),
        cmocka_unit_test(files_that_cannot_be_read_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
