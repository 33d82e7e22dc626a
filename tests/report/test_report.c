/* SPDX-License-Identifier: MIT */
/*
 * Goal: what a result looks like as table, CSV, JSON and explanation does not change unnoticed.
 * Method: hand-made results against golden files.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include <mglru/error.h>

#include "fixture.h"
#include "report/grid.h"
#include "report/number.h"

typedef void (*report_writer)(struct report_out *out, const struct replay_result *result);

static void expect(const char *golden, report_writer write, const struct replay_result *result)
{
    struct fixture_memory memory;
    struct report_out out;
    fixture_open(&memory, &out);
    write(&out, result);
    char *text = fixture_text(&memory, &out);
    fixture_compare(golden, text);
    free(text);
}

static void table_shows_runs_memcgs_oom_and_flush(void **state)
{
    expect("curves.table", report_table, fixture_curves());
}

static void table_drops_columns_without_content(void **state)
{
    expect("series.table", report_table, fixture_series());
}

static void csv_has_one_regular_table(void **state)
{
    expect("curves.csv", report_csv, fixture_curves());
    expect("series.csv", report_csv, fixture_series());
}

static void explanation_names_rule_generation_and_tier(void **state)
{
    expect("series.explain", report_explain, fixture_series());
}

static void write_json(struct report_out *out, const struct replay_result *result)
{
    struct report_error error;
    int code = report_json(out, result, &error);
    if (code == MGLRU_ENOTSUP)
        skip();
    assert_int_equal(code, MGLRU_OK);
}

/* The version is the build's; golden files hold another. */
static void expect_json(const char *golden, const struct replay_result *result)
{
    struct fixture_memory memory;
    struct report_out out;
    fixture_open(&memory, &out);
    write_json(&out, result);
    char *text = fixture_text(&memory, &out);
    char *version = strstr(text, "\"" MGLRU_VERSION "\"");
    assert_non_null(version);
    version[1] = '\0';
    fixture_open(&memory, &out);
    report_printf(&out, "%sVERSION", text);
    report_printf(&out, "%s", version + 1 + strlen(MGLRU_VERSION));
    free(text);
    text = fixture_text(&memory, &out);
    fixture_compare(golden, text);
    free(text);
}

static void json_holds_every_figure_of_the_table(void **state)
{
    expect_json("curves.json", fixture_curves());
    expect_json("series.json", fixture_series());
}

static void an_empty_result_is_a_title_line(void **state)
{
    struct replay_result empty = {.trace = {.page_bytes = 4096}};
    expect("empty.table", report_table, &empty);
}

static void rounded_sizes_show_decimals(void **state)
{
    static const struct {
        uint64_t size_bytes;
        const char *text;
    } cases[] = {
        {0, "0"},
        {1, "1"},
        {1023, "1023"},
        {4000, "3.91K"},
        {4096, "4K"},
        {1536, "1.50K"},
        {UINT64_C(33554432), "32M"},
        {UINT64_C(33558528), "32.0M"},
        {UINT64_C(1610612736), "1.50G"},
        {UINT64_C(1) << 40, "1T"},
        {UINT64_MAX, "16.0E"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char text[REPORT_NUMBER_BYTES];
        report_number_size(cases[i].size_bytes, text, sizeof(text));
        assert_string_equal(text, cases[i].text);
    }
}

static void counts_are_grouped_in_thousands(void **state)
{
    char text[REPORT_NUMBER_BYTES];
    report_number_count(999, text, sizeof(text));
    assert_string_equal(text, "999");
    report_number_count(1000, text, sizeof(text));
    assert_string_equal(text, "1,000");
    report_number_count(UINT64_MAX, text, sizeof(text));
    assert_string_equal(text, "18,446,744,073,709,551,615");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(table_shows_runs_memcgs_oom_and_flush),
        cmocka_unit_test(table_drops_columns_without_content),
        cmocka_unit_test(csv_has_one_regular_table),
        cmocka_unit_test(explanation_names_rule_generation_and_tier),
        cmocka_unit_test(json_holds_every_figure_of_the_table),
        cmocka_unit_test(an_empty_result_is_a_title_line),
        cmocka_unit_test(rounded_sizes_show_decimals),
        cmocka_unit_test(counts_are_grouped_in_thousands),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
