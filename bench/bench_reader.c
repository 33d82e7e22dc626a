/* SPDX-License-Identifier: MIT */
/*
 * How fast a trace is read: records and page accesses a second of each FILE, best of several runs,
 * decoding alone (no cache behind it). Also counts, so that a reader can be checked by hand.
 *
 * usage: bench_reader [--format NAME] [--columns MAP] [--runs N] [--pump] FILE...
 * --pump decodes in a second thread (trace/pump.h), which is what replay does.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/check.h"
#include "trace/pump.h"
#include "trace/reader.h"

#define BATCH 1024

struct totals {
    uint64_t records;
    uint64_t requests;
    uint64_t pages;
    uint64_t bytes;
    double seconds;
};

struct bench_options {
    struct trace_open_options open;
    int runs;
    bool pump;
};

static double now_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void add(struct totals *totals, const struct trace_record *records, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (!trace_op_is_access(records[i].op))
            continue;
        totals->requests++;
        totals->pages += records[i].count;
    }
    totals->records += count;
}

static int drain(struct trace_reader *reader, struct totals *totals, struct trace_error *error)
{
    static struct trace_record records[BATCH];
    size_t count = 1;
    int rc = 0;
    while (!rc && count > 0) {
        rc = trace_reader_next(reader, records, BATCH, &count, error);
        add(totals, records, count);
    }
    return rc;
}

static int drain_pump(struct trace_reader *reader, struct totals *totals, struct trace_error *error)
{
    struct trace_pump *pump;
    size_t count = 1;
    int rc = trace_pump_start(reader, &pump, error);
    while (!rc && count > 0) {
        struct trace_record *records;
        rc = trace_pump_next(pump, &records, &count, error);
        add(totals, records, count);
    }
    trace_pump_stop(pump);
    return rc;
}

static int read_once(const char *path, const struct bench_options *options, struct totals *totals)
{
    struct trace_reader *reader;
    struct trace_error error;
    *totals = (struct totals){0};
    double start = now_seconds();
    int rc = trace_reader_open(path, &options->open, &reader, &error);
    if (!rc)
        rc = options->pump ? drain_pump(reader, totals, &error) : drain(reader, totals, &error);
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

static int measure(const char *path, const struct bench_options *options)
{
    struct totals best = {.seconds = 1e300};
    for (int i = 0; i < options->runs; i++) {
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
    struct bench_options options = {.runs = 7};
    int failed = 0;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--format") == 0 && i + 1 < argc)
            options.open.format = argv[++i];
        else if (strcmp(argv[i], "--columns") == 0 && i + 1 < argc)
            options.open.columns = argv[++i];
        else if (strcmp(argv[i], "--runs") == 0 && i + 1 < argc)
            options.runs = atoi(argv[++i]);
        else if (strcmp(argv[i], "--pump") == 0)
            options.pump = true;
        else
            failed |= measure(argv[i], &options);
    }
    return failed;
}
