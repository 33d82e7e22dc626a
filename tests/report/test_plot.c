/* SPDX-License-Identifier: MIT */
/*
 * Goal: plots show every curve, on the screen and through gnuplot; a failed plot leaves no file.
 * Method: hand-made results; golden files for the screen, the text of the SVG for gnuplot.
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
#include "report/curves.h"
#include "report/progress.h"

static void expect_screen(const char *golden, const struct replay_result *result,
                          struct report_style style)
{
    struct fixture_memory memory;
    struct report_out out;
    fixture_open(&memory, &out);
    report_terminal_plot(&out, result, &style);
    char *text = fixture_text(&memory, &out);
    fixture_compare(golden, text);
    free(text);
}

static void the_screen_shows_curves_in_both_character_sets(void **state)
{
    expect_screen("curves.ascii", fixture_curves(), (struct report_style){.columns = 80});
    expect_screen("curves.unicode", fixture_curves(),
                  (struct report_style){.columns = 60, .unicode = true});
}

static void the_screen_shows_a_series(void **state)
{
    expect_screen("series.ascii", fixture_series(), (struct report_style){.columns = 70});
}

static void one_size_without_series_is_not_drawn(void **state)
{
    struct replay_result one = *fixture_curves();
    struct report_curves curves;
    one.run_count = 1;
    assert_false(report_can_plot(&one));
    assert_int_equal(report_curves_find(&one, &curves), MGLRU_ENOENT);
    assert_true(report_can_plot(fixture_curves()));
    assert_true(report_can_plot(fixture_series()));
}

/* The whole file; fails the test when it cannot be read. */
static char *contents(const char *path)
{
    char *text = NULL;
    size_t capacity = 0;
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    assert_true(getdelim(&text, &capacity, '\0', file) > 0);
    fclose(file);
    return text;
}

static void gnuplot_draws_every_curve_with_its_label(void **state)
{
    char path[] = "/tmp/mglru-test-plot-XXXXXX.svg";
    struct report_error error;
    int fd = mkstemps(path, 4);
    assert_true(fd >= 0);
    close(fd);
    int code = report_plot(path, fixture_curves(), &error);
    if (code == MGLRU_ENOTSUP) {
        unlink(path);
        skip();
    }
    assert_int_equal(code, MGLRU_OK);
    char *svg = contents(path);
    static const char *const expected[] = {"mglru 6.12", "classic 6.12", "lru",
                                           "32M",        "128M",         "sample.trace.zst",
                                           "miss ratio", "</svg>"};
    for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++)
        assert_non_null(strstr(svg, expected[i]));
    free(svg);
    unlink(path);
}

static void a_failed_plot_says_why_and_leaves_nothing(void **state)
{
    struct report_error error;
    struct replay_result one = *fixture_curves();
    one.run_count = 1;
    assert_int_equal(report_plot("/tmp/mglru-test.pdf", &one, &error), MGLRU_EINVAL);
    assert_non_null(strstr(error.text, ".svg or .png"));
    assert_int_equal(report_plot("/tmp/mglru-test-plot.svg", &one, &error), MGLRU_EINVAL);
    assert_non_null(strstr(error.text, "nothing to draw"));
    int code = report_plot("/nonexistent/plot.svg", fixture_curves(), &error);
    assert_int_equal(code, MGLRU_ENOENT);
    char *path = strdup(getenv("PATH"));
    setenv("PATH", "/nonexistent", 1);
    code = report_plot("/tmp/mglru-test-plot.svg", fixture_curves(), &error);
    setenv("PATH", path, 1);
    free(path);
    assert_int_equal(code, MGLRU_ENOTSUP);
    assert_non_null(strstr(error.text, "gnuplot is not installed"));
    assert_int_not_equal(access("/tmp/mglru-test-plot.svg", F_OK), 0);
}

static void progress_shows_share_rate_and_time_left(void **state)
{
    const struct report_progress progress = {.label = "replay", .columns = 80};
    struct report_progress_point point = {.done = 250, .total = 1000, .items = 3000000};
    char text[256];
    report_progress_text(&progress, &point, UINT64_C(60000000000), text, sizeof(text));
    assert_string_equal(text, "replay [=====>              ]  25%  50.0k/s  3m00s left");
    point.done = 1000;
    report_progress_text(&progress, &point, UINT64_C(60000000000), text, sizeof(text));
    assert_string_equal(text, "replay [====================] 100%  50.0k/s  0s left");
    point.done = 0;
    report_progress_text(&progress, &point, 0, text, sizeof(text));
    assert_non_null(strstr(text, "  0%"));
    assert_non_null(strstr(text, "- left"));
    point.total = 0;
    point.items = 500;
    report_progress_text(&progress, &point, UINT64_C(10000000000), text, sizeof(text));
    assert_string_equal(text, "replay  50/s  10s");
}

static void progress_fits_the_terminal(void **state)
{
    const struct report_progress progress = {.label = "replay mglru", .columns = 40};
    const struct report_progress_point point = {.done = 1, .total = 2, .items = 1};
    char text[256];
    report_progress_text(&progress, &point, UINT64_C(3600000000000), text, sizeof(text));
    assert_int_equal(strlen(text), 39);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_screen_shows_curves_in_both_character_sets),
        cmocka_unit_test(the_screen_shows_a_series),
        cmocka_unit_test(one_size_without_series_is_not_drawn),
        cmocka_unit_test(gnuplot_draws_every_curve_with_its_label),
        cmocka_unit_test(a_failed_plot_says_why_and_leaves_nothing),
        cmocka_unit_test(progress_shows_share_rate_and_time_left),
        cmocka_unit_test(progress_fits_the_terminal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
