/* SPDX-License-Identifier: MIT */
/* See fixture.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "fixture.h"

#define MIB (UINT64_C(1) << 20)

static struct replay_stat stats[9][3];
static struct replay_stat memcg_stats[9][2][1];
static struct replay_memcg memcgs[9][2];
static char path_a[] = "/a";
static char path_b[] = "/b, \"the second\"";
static char trace_path[] = "traces/sample.trace.zst";

/* Figures with @misses of 400,000 accesses. */
static struct replay_figures figures(uint64_t misses, uint64_t aged, struct replay_stat *stat,
                                     size_t count)
{
    return (struct replay_figures){.accesses = 400000,
                                   .hits = 400000 - misses - 1000,
                                   .misses = misses,
                                   .pages_read = misses + 12,
                                   .first_touches = 1000,
                                   .readahead_pages = misses / 3,
                                   .readahead_wasted = misses / 30,
                                   .pages_written = misses / 5,
                                   .write_misses = misses / 6,
                                   .aged = aged,
                                   .stat = stat,
                                   .stats = count};
}

/* The counters and memcgs that a kernel's algorithm has. */
static void furnish(struct replay_run *run, size_t i, uint64_t misses)
{
    stats[i][0] = (struct replay_stat){"workingset_refault_anon", 10};
    stats[i][1] = (struct replay_stat){"workingset_refault_file", misses / 2};
    stats[i][2] = (struct replay_stat){"pgsteal", misses - 64};
    run->figures = figures(misses, 7, stats[i], 3);
    for (size_t j = 0; j < 2; j++) {
        memcg_stats[i][j][0] = (struct replay_stat){"pgsteal", misses / (j + 2)};
        memcgs[i][j].path = j == 0 ? path_a : path_b;
        memcgs[i][j].figures = figures(misses / (j + 2), 3, memcg_stats[i][j], 1);
        memcgs[i][j].oom_events = run->oom && j == 1;
    }
    run->memcgs = memcgs[i];
    run->memcg_count = 2;
}

const struct replay_result *fixture_curves(void)
{
    static struct replay_run runs[9];
    static struct replay_result result = {
        .trace = {.path = trace_path,
                  .format = "native",
                  .accesses = 400000,
                  .requests = 130000,
                  .distinct_pages = 65536,
                  .page_bytes = 4096,
                  .memcgs = 2,
                  .objects = 5},
        .runs = runs,
        .run_count = 9,
    };
    static const char *const policies[] = {"mglru", "classic", "lru"};
    static const uint64_t misses[] = {298039, 120000, 33000, 210188, 90000,
                                      32900,  250000, 99999, 64};
    for (size_t i = 0; i < 9; i++) {
        bool kernel = i < 6;
        runs[i] = (struct replay_run){
            .index = (uint32_t)i,
            .policy = policies[i / 3],
            .model = kernel ? "6.12" : NULL,
            .aging = i < 3 ? "per-folio" : NULL,
            .memory_bytes = (32 * MIB) << (i % 3),
            .oom = i == 3,
            .stat_flush = i / 3 == 1 ? "every 2s" : NULL,
        };
        if (kernel)
            furnish(&runs[i], i, misses[i]);
        else
            runs[i].figures = figures(misses[i], 0, NULL, 0);
    }
    return &result;
}

const struct replay_result *fixture_series(void)
{
    static struct replay_sample series[] = {
        {100000, 90000, 10000, 10000, 9000},
        {200000, 120000, 80000, 80000, 8192},
        {300000, 219000, 81000, 81000, 8192},
        {400000, 316000, 84000, 84000, 8100},
    };
    static struct replay_explain_row rows[] = {
        {"oldest generation, never used again", 1, 3, 0, 70000, 61000, 200, 12345},
        {"oldest generation, tier below the threshold", 1, 2, 1, 900, 0, 0, 0},
    };
    static char text[] = "Pages of the new working set were evicted before they were used twice.";
    static struct replay_run run = {
        .policy = "mglru",
        .model = "ours",
        .aging = "splice",
        .series = series,
        .series_count = MGLRU_ARRAY_LEN(series),
        .explain = rows,
        .explain_count = MGLRU_ARRAY_LEN(rows),
        .explain_text = text,
    };
    static struct replay_result result = {
        .trace = {.path = trace_path,
                  .format = "oracleGeneral",
                  .accesses = 400000,
                  .requests = 400000,
                  .page_bytes = 4096,
                  .memcgs = 1,
                  .objects = 1},
        .runs = &run,
        .run_count = 1,
    };
    run.figures = figures(84000, 12, NULL, 0);
    return &result;
}

void fixture_open(struct fixture_memory *memory, struct report_out *out)
{
    memory->stream = open_memstream(&memory->text, &memory->bytes);
    assert_non_null(memory->stream);
    assert_int_equal(report_out_stream(out, memory->stream, "memory"), 0);
}

char *fixture_text(struct fixture_memory *memory, struct report_out *out)
{
    struct report_error error;
    assert_int_equal(report_out_close(out, &error), 0);
    assert_int_equal(fclose(memory->stream), 0);
    return memory->text;
}

/* The whole file; NULL when it cannot be read. */
static char *read_file(const char *path)
{
    FILE *file = fopen(path, "r");
    if (file == NULL)
        return NULL;
    char *text = NULL;
    size_t capacity = 0;
    if (getdelim(&text, &capacity, '\0', file) < 0) {
        free(text);
        text = NULL;
    }
    fclose(file);
    return text;
}

void fixture_compare(const char *name, const char *text)
{
    char path[512];
    snprintf(path, sizeof(path), "%s/%s", GOLDEN_DIR, name);
    if (getenv("MGLRU_GOLDEN_WRITE") != NULL) {
        FILE *file = fopen(path, "w");
        assert_non_null(file);
        fputs(text, file);
        assert_int_equal(fclose(file), 0);
    }
    char *expected = read_file(path);
    if (expected == NULL)
        fail_msg("%s is missing or empty", path);
    if (strcmp(expected, text) != 0)
        print_error("--- expected (%s)\n%s--- got\n%s---\n", name, expected, text);
    assert_string_equal(text, expected);
    free(expected);
}
