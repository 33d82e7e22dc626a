/* SPDX-License-Identifier: MIT */
/*
 * How fast a trace is read: records and page accesses a second of each FILE, best of several runs,
 * decoding alone (no cache behind it). Also counts, so that a reader can be checked by hand.
 *
 * usage: bench_reader [--format NAME] [--columns MAP] [--runs N] FILE...
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/check.h"
#include "trace/reader.h"

#define BATCH 1024

struct totals {
    uint64_t records;
    uint64_t requests;
    uint64_t pages;
    uint64_t bytes;
    double seconds;
};

static double now_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static int read_once(const char *path, const struct trace_open_options *options,
                     struct totals *totals)
{
    static struct trace_record records[BATCH];
    struct trace_reader *reader;
    struct trace_error error;
    *totals = (struct totals){0};
    double start = now_seconds();
    int rc = trace_reader_open(path, options, &reader, &error);
    size_t count = 1;
    while (!rc && count > 0) {
        rc = trace_reader_next(reader, records, BATCH, &count, &error);
        for (size_t i = 0; i < count; i++) {
            if (!trace_op_is_access(records[i].op))
                continue;
            totals->requests++;
            totals->pages += records[i].count;
        }
        totals->records += count;
    }
    totals->seconds = now_seconds() - start;
    if (rc) {
        fprintf(stderr, "bench_reader: %s\n", error.text);
    } else {
        struct trace_progress progress;
        trace_reader_progress(reader, &progress);
        totals->bytes = progress.bytes_read;
    }
    trace_reader_close(reader);
    return rc;
}

static int measure(const char *path, const struct trace_open_options *options, int runs)
{
    struct totals best = {.seconds = 1e300};
    for (int i = 0; i < runs; i++) {
        struct totals totals;
        if (read_once(path, options, &totals))
            return 1;
        if (totals.seconds < best.seconds)
            best = totals;
    }
    printf("%s: %" PRIu64 " records, %" PRIu64 " requests, %" PRIu64 " page accesses, %.1f ms: "
           "%.1f M records/s, %.1f M pages/s, %.0f MB/s\n",
           path, best.records, best.requests, best.pages, best.seconds * 1e3,
           (double)best.records / best.seconds * 1e-6, (double)best.pages / best.seconds * 1e-6,
           (double)best.bytes / best.seconds * 1e-6);
    return 0;
}

int main(int argc, char **argv)
{
    struct trace_open_options options = {0};
    int runs = 7;
    int failed = 0;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--format") == 0 && i + 1 < argc)
            options.format = argv[++i];
        else if (strcmp(argv[i], "--columns") == 0 && i + 1 < argc)
            options.columns = argv[++i];
        else if (strcmp(argv[i], "--runs") == 0 && i + 1 < argc)
            runs = atoi(argv[++i]);
        else
            failed |= measure(argv[i], &options, runs);
    }
    return failed;
}
