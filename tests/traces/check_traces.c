/* SPDX-License-Identifier: MIT */
/*
 * Replays real traces under the baseline policies and compares the miss ratios with a list of
 * expected ones: LRU, FIFO and Belady to four decimals, the others within 0.01, which docs/
 * policies.md explains. The traces are not part of the project (see ../shared/traces/README.md).
 *
 * usage: check_traces [--quick] [--all] DIR
 *   DIR      holds expected-missratios.csv and the traces
 *   --quick  only traces of less than 100,000 accesses
 *   --all    print every row, not only the worst deviation of each trace and policy
 * exit: 0 all within bounds; 1 some are not; 2 usage, or the list cannot be read; 77 DIR is absent,
 *   or this build cannot read one of the traces
 */
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mglru/error.h>

#include "base/check.h"
#include "policy/future.h"
#include "policy/keys.h"
#include "policy/policy.h"
#include "trace/reader.h"

#define EXIT_SKIP 77
#define QUICK_ACCESSES 100000
#define ROWS_MAX 4096
#define POLICIES_MAX 16
#define RECORDS 1024
/* Half a unit of the fourth decimal, and a little for the rounding of the sum itself. */
#define EXACT_TOLERANCE 0.0000501
#define VARIANT_TOLERANCE 0.01

/* How the name in the list is found and read; README.md of the traces says so in words. */
struct source {
    const char *trace;
    const char *file;
    const char *format; /* NULL: by content */
    bool whole_requests;
    uint64_t accesses_max; /* 0: to the end */
};

static const struct source sources[] = {
    {.trace = "cpp", .file = "cpp.trace.gz"},
    {.trace = "cs", .file = "cs.trace.gz"},
    {.trace = "gli", .file = "gli.trace.gz"},
    {.trace = "multi1", .file = "multi1.trace.gz"},
    {.trace = "multi2", .file = "multi2.trace.gz"},
    {.trace = "2_pools", .file = "2_pools.trace.gz"},
    {.trace = "scan", .file = "scan.trace.gz"},
    {.trace = "loop", .file = "loop.trace.gz"},
    {.trace = "zigzag", .file = "zigzag.trace.gz"},
    {.trace = "backf", .file = "backf.trace.gz"},
    {.trace = "web07", .file = "web07.trace.xz", .format = "be32"},
    {.trace = "corda-vault", .file = "trace_vaultservice.gz", .format = "be64"},
    {.trace = "spec-gcc", .file = "formats/gcc.trace.gz"},
    {.trace = "spec-mcf", .file = "formats/mcf.trace.gz"},
    {.trace = "sq-mdb", .file = "sq-mdb.u32.xz", .format = "le32"},
    {.trace = "orm-busy", .file = "orm-busy.trace.xz", .format = "be32", .accesses_max = 5000000},
    {.trace = "cloudPhysicsIO-lbn",
     .file = "formats/cloudPhysicsIO.oracleGeneral.bin",
     .whole_requests = true},
    {.trace = "cloudPhysicsIO-4k", .file = "formats/cloudPhysicsIO.vscsi.zst"},
    {.trace = "arc-OLTP", .file = "OLTP.lis.zst"},
    {.trace = "arc-P3", .file = "P3.lis.zst"},
};

struct row {
    char trace[32];
    char policy[16];
    uint64_t accesses;
    uint64_t pages;
    uint64_t capacity_pages;
    double expected;
};

struct totals {
    unsigned rows;
    unsigned failures;
    unsigned unreadable; /* traces in formats or compressions that this build lacks */
};

struct options {
    const char *directory;
    bool quick;
    bool all;
};

/* A trace in memory: the dense id of each access. */
struct ids {
    uint32_t *id;
    uint64_t count;
    uint64_t room;
    struct keys keys;
    struct future future;
};

static struct row rows[ROWS_MAX];
static unsigned row_count;

static bool read_row(const char *line, struct row *row)
{
    char end;
    return sscanf(line, "%31[^,],%" SCNu64 ",%" SCNu64 ",%15[^,],%" SCNu64 ",%lf %c", row->trace,
                  &row->accesses, &row->pages, row->policy, &row->capacity_pages, &row->expected,
                  &end) == 6 &&
           row->capacity_pages >= 1 && row->accesses >= 1;
}

static int read_rows(const char *path)
{
    char line[256];
    FILE *file = fopen(path, "r");
    if (!file)
        return EXIT_SKIP;
    /* The first line names the columns. */
    bool ok = fgets(line, sizeof(line), file) != NULL;
    while (ok && fgets(line, sizeof(line), file)) {
        ok = row_count < ROWS_MAX && read_row(line, &rows[row_count]);
        if (ok && strcmp(rows[row_count].policy, "twoq") == 0)
            strcpy(rows[row_count].policy, "2q");
        row_count += ok;
    }
    fclose(file);
    if (ok && row_count > 0)
        return 0;
    fprintf(stderr, "%s:%u: expected trace,accesses,unique_pages,policy,size,miss_ratio\n", path,
            row_count + 2);
    return 2;
}

static int add_access(struct ids *ids, uint32_t object, uint64_t page)
{
    if (ids->count == ids->room) {
        uint64_t room = ids->room ? ids->room * 2 : 65536;
        uint32_t *id = realloc(ids->id, room * sizeof(*id));
        if (!id)
            return MGLRU_ENOMEM;
        ids->id = id;
        ids->room = room;
    }
    int error = keys_intern(&ids->keys, object, page, &ids->id[ids->count]);
    if (!error)
        error = future_access(&ids->future, ids->id[ids->count]);
    if (!error)
        ids->count++;
    return error;
}

static int add_records(struct ids *ids, const struct trace_record *records, size_t count,
                       uint64_t accesses_max)
{
    for (size_t i = 0; i < count; i++) {
        if (!trace_op_is_access(records[i].op))
            continue;
        for (uint32_t n = 0; n < records[i].count; n++) {
            if (accesses_max && ids->count == accesses_max)
                return 0;
            int error = add_access(ids, records[i].object, records[i].page + n);
            if (error)
                return error;
        }
    }
    return 0;
}

static void free_ids(struct ids *ids)
{
    free(ids->id);
    keys_free(&ids->keys);
    future_free(&ids->future);
}

/* 0 or a MGLRU_E code, which has been reported. */
static int read_trace(const struct source *source, const char *directory, struct ids *ids)
{
    char path[4096];
    struct trace_record records[RECORDS];
    struct trace_error problem = {.text = ""};
    struct trace_reader *reader = NULL;
    struct trace_open_options options = {.format = source->format,
                                         .whole_requests = source->whole_requests};
    memset(ids, 0, sizeof(*ids));
    snprintf(path, sizeof(path), "%s/%s", directory, source->file);
    int error = keys_init(&ids->keys);
    if (!error)
        error = trace_reader_open(path, &options, &reader, &problem);
    size_t count = 1;
    while (!error && count > 0 && !(source->accesses_max && ids->count == source->accesses_max)) {
        error = trace_reader_next(reader, records, RECORDS, &count, &problem);
        if (!error)
            error = add_records(ids, records, count, source->accesses_max);
    }
    if (reader)
        trace_reader_close(reader);
    if (error)
        fprintf(stderr, "%s: %s\n", source->trace,
                problem.text[0] ? problem.text : mglru_error_text(error));
    return error;
}

/* The miss ratio; negative after a failure, which has been reported. */
static double replay(const struct policy_ops *ops, const struct ids *ids, uint64_t capacity_pages)
{
    void *cache;
    uint64_t misses = 0;
    int found = ops->create(capacity_pages, &cache);
    for (uint64_t i = 0; i < ids->count && found >= 0; i++) {
        struct policy_request request = {.page = ids->id[i]};
        if (ops->needs_future)
            request.next_use = future_next(&ids->future, i);
        found = ops->access(cache, &request);
        misses += found == 0;
    }
    ops->destroy(cache);
    if (found >= 0)
        return (double)misses / (double)ids->count;
    fprintf(stderr, "%s: %s\n", ops->name, mglru_error_text(found));
    return -1;
}

static bool is_exact(const char *policy)
{
    return !strcmp(policy, "lru") || !strcmp(policy, "fifo") || !strcmp(policy, "belady");
}

/* Runs one row; returns the deviation. */
static double check_row(struct row *row, const struct ids *ids, bool print, struct totals *totals)
{
    const struct policy_ops *ops = policy_find(row->policy);
    double ratio = ops ? replay(ops, ids, row->capacity_pages) : -1;
    double deviation = fabs(ratio - row->expected);
    bool ok =
        ratio >= 0 && deviation <= (is_exact(row->policy) ? EXACT_TOLERANCE : VARIANT_TOLERANCE);
    totals->rows++;
    totals->failures += !ok;
    if (print || !ok)
        printf("%-18s %-8s %8" PRIu64 " pages: expected %.4f, found %.4f%s\n", row->trace,
               row->policy, row->capacity_pages, row->expected, ratio, ok ? "" : "  OUT OF BOUNDS");
    return deviation;
}

static bool counts_match(const struct row *row, const struct ids *ids)
{
    if (row->accesses == ids->count && row->pages == ids->keys.count)
        return true;
    printf("%s: expected %" PRIu64 " accesses of %" PRIu64 " pages, found %" PRIu64 " of %u\n",
           row->trace, row->accesses, row->pages, ids->count, ids->keys.count);
    return false;
}

/* One line of the table: the worst deviation of each policy. */
static void check_trace(const struct source *source, const struct ids *ids, bool print_all,
                        struct totals *totals)
{
    double worst[POLICIES_MAX];
    for (size_t p = 0; p < POLICIES_MAX; p++)
        worst[p] = -1;
    for (unsigned r = 0; r < row_count; r++) {
        if (strcmp(rows[r].trace, source->trace) != 0)
            continue;
        if (!counts_match(&rows[r], ids)) {
            totals->rows++;
            totals->failures++;
            continue;
        }
        double deviation = check_row(&rows[r], ids, print_all, totals);
        for (size_t p = 0; policy_at(p) && p < POLICIES_MAX; p++)
            if (strcmp(policy_at(p)->name, rows[r].policy) == 0 && deviation > worst[p])
                worst[p] = deviation;
    }
    printf("%-18s %9" PRIu64, source->trace, ids->count);
    for (size_t p = 0; policy_at(p) && p < POLICIES_MAX; p++)
        if (worst[p] < 0)
            printf(" %9s", "-");
        else
            printf(" %9.5f", worst[p]);
    printf("\n");
    fflush(stdout);
}

static bool is_wanted(const char *trace, bool quick)
{
    for (unsigned r = 0; r < row_count; r++)
        if (strcmp(rows[r].trace, trace) == 0)
            return !quick || rows[r].accesses < QUICK_ACCESSES;
    return false;
}

static void check_source(const struct source *source, const struct options *options,
                         struct totals *totals)
{
    struct ids ids;
    if (!is_wanted(source->trace, options->quick))
        return;
    int error = read_trace(source, options->directory, &ids);
    if (error == MGLRU_ENOTSUP)
        totals->unreadable++;
    else if (error)
        totals->failures++;
    else
        check_trace(source, &ids, options->all, totals);
    free_ids(&ids);
}

/* Rows of traces that no source is known for must not pass unseen. */
static void find_unknown_traces(struct totals *totals)
{
    for (unsigned r = 0; r < row_count; r++) {
        bool known = false;
        for (size_t s = 0; s < MGLRU_ARRAY_LEN(sources); s++)
            known = known || strcmp(sources[s].trace, rows[r].trace) == 0;
        if (known)
            continue;
        printf("%s: no trace of that name is known\n", rows[r].trace);
        totals->failures++;
    }
}

static bool parse(int argc, char **argv, struct options *options)
{
    *options = (struct options){0};
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--quick") == 0)
            options->quick = true;
        else if (strcmp(argv[i], "--all") == 0)
            options->all = true;
        else if (!options->directory && argv[i][0] != '-')
            options->directory = argv[i];
        else
            return false;
    }
    return options->directory != NULL;
}

int main(int argc, char **argv)
{
    struct options options;
    struct totals totals = {0};
    char path[4096];
    if (!parse(argc, argv, &options)) {
        fprintf(stderr, "usage: check_traces [--quick] [--all] DIR\n");
        return 2;
    }
    snprintf(path, sizeof(path), "%s/expected-missratios.csv", options.directory);
    int rc = read_rows(path);
    if (rc) {
        if (rc == EXIT_SKIP)
            printf("skipped: no %s\n", path);
        return rc;
    }
    printf("Worst deviation of the miss ratio over all sizes\n%-18s %9s", "trace", "accesses");
    for (size_t p = 0; policy_at(p); p++)
        printf(" %9s", policy_at(p)->name);
    printf("\n");
    for (size_t s = 0; s < MGLRU_ARRAY_LEN(sources); s++)
        check_source(&sources[s], &options, &totals);
    find_unknown_traces(&totals);
    printf("%u of %u rows checked, %u failures, %u traces unreadable in this build\n", totals.rows,
           row_count, totals.failures, totals.unreadable);
    if (totals.failures > 0)
        return 1;
    return totals.unreadable > 0 || totals.rows == 0 ? EXIT_SKIP : 0;
}
