/* SPDX-License-Identifier: MIT */
/*
 * Compares curves of a sample of the pages with those of all pages, on real traces of more than
 * 500,000 accesses, from the least size on that a plan shows. LRU shows what the sampler does,
 * MGLRU what a plan may promise. The traces are not part of the project (see
 * ../shared/traces/README.md).
 *
 * usage: check_sampling [--rate R] [--all] DIR
 *   --rate R  share of the pages, 0.01 unless given
 *   --all     print every size, not only the errors of each trace
 * exit: 0 mean errors of MGLRU and all errors of LRU are within bounds; 1 some are not; 2 usage;
 *   77 DIR is absent or this build can read none of the traces
 */
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mglru/error.h>

#include "base/check.h"
#include "policy/policy.h"
#include "replay/plan_parts.h"
#include "replay/replay.h"

#define EXIT_SKIP 77
#define SIZES 16
#define PAGE_BYTES 4096u
/* Samples that are smaller than a plan's least size: below it a sampled distance, a whole number of
 * pages of the sample, tells nothing. */
#define SMALL_PAGES_MIN 8
#define BOUND 0.02 /* asked for: absolute error of the miss ratio */

static const struct source {
    const char *file;
    const char *format; /* NULL: by content */
} sources[] = {
    {"loop.trace.gz", NULL},        {"OLTP.lis.zst", NULL},
    {"P3.lis.zst", NULL},           {"orm-busy.trace.xz", "be32"},
    {"sq-mdb.u32.xz", "le32"},      {"formats/cloudPhysicsIO.vscsi.zst", NULL},
    {"formats/gcc.trace.gz", NULL}, {"formats/mcf.trace.gz", NULL},
};

/* One comparison. */
struct curve_check {
    const char *path;
    const struct source *source;
    bool kernel;  /* MGLRU; else LRU */
    double rate;  /* asked for */
    double share; /* of the distinct pages that the sample has */
    bool all;
    uint64_t distinct_pages;
    uint64_t accesses;
    double mean_error;
    double most_error;
    size_t sizes;
};

/* What a cache of @pages of the sample, or what it stands for, gets. */
static uint64_t memory_of(const struct curve_check *check, uint64_t pages, bool sampled)
{
    const uint64_t whole = PAGE_BYTES * (uint64_t)((double)pages / check->share + 0.5);
    if (!sampled)
        return whole;
    return check->kernel ? plan_sampled_bytes(whole, check->share, PAGE_BYTES) : PAGE_BYTES * pages;
}

static int run(const struct curve_check *check, const uint64_t *pages, uint32_t sample,
               struct replay_result *result)
{
    struct replay_spec specs[SIZES];
    struct replay_error error;
    for (size_t i = 0; i < check->sizes; i++)
        specs[i] = (struct replay_spec){.baseline = check->kernel ? NULL : policy_find("lru"),
                                        .policy = check->kernel ? "mglru" : "lru",
                                        .model = check->kernel ? "7.3" : NULL,
                                        .memory_bytes = memory_of(check, pages[i], sample > 0)};
    const struct replay_options options = {
        .traces = &check->path,
        .trace_count = 1,
        .open = {.format = check->source->format},
        .specs = specs,
        .spec_count = check->sizes,
        .count_distinct = true,
        .filter = {.sample = sample},
        .swappiness = -1,
        .kernel_charge = MGLRU_KERNEL_CHARGE_NONE,
    };
    int code = replay_run(&options, result, &error);
    if (code != MGLRU_OK)
        fprintf(stderr, "%s\n", error.text);
    return code;
}

static uint32_t sample_of(const struct curve_check *check)
{
    return (uint32_t)(check->rate * REPLAY_SAMPLE_WHOLE);
}

/* Sizes in pages of the sample, from the least that it can show to all of it. Only at whole pages
 * of the sample is a sampled curve a statement. */
static size_t make_sizes(const struct curve_check *check, uint64_t pages[SIZES])
{
    const double most = floor((double)check->distinct_pages * check->share + 0.5);
    double least = PLAN_SAMPLED_PAGES_MIN;
    if (!check->kernel && most < 2 * least)
        least = fmax(1, fmin(SMALL_PAGES_MIN, most / 2));
    size_t count = 0;
    for (int i = 0; i < SIZES && least <= most; i++) {
        uint64_t size = (uint64_t)(least * pow(most / least, i / (SIZES - 1.0)) + 0.5);
        if (count == 0 || size > pages[count - 1])
            pages[count++] = size;
    }
    return count;
}

static int compare(struct curve_check *check)
{
    uint64_t pages[SIZES];
    struct replay_result exact;
    struct replay_result sampled;
    check->sizes = make_sizes(check, pages);
    check->mean_error = check->most_error = 0;
    if (check->sizes == 0)
        return MGLRU_OK;
    int code = run(check, pages, 0, &exact);
    if (code != MGLRU_OK)
        return code;
    code = run(check, pages, sample_of(check), &sampled);
    for (size_t i = 0; i < check->sizes && code == MGLRU_OK; i++) {
        const double whole = (double)exact.runs[i].figures.misses / (double)check->accesses;
        const double part =
            (double)sampled.runs[i].figures.misses / check->share / (double)check->accesses;
        const double error = fabs(whole - fmin(part, 1));
        check->mean_error += error / (double)check->sizes;
        check->most_error = fmax(check->most_error, error);
        if (check->all)
            printf("  %9.0f pages: %.4f, sampled %.4f\n", (double)pages[i] / check->share, whole,
                   part);
    }
    replay_result_free(&exact);
    replay_result_free(&sampled);
    return code;
}

/* Finds how large the trace and its sample are. */
static int measure(struct curve_check *check)
{
    struct replay_result result;
    check->sizes = 0;
    int code = run(check, NULL, 0, &result);
    if (code != MGLRU_OK)
        return code;
    check->distinct_pages = result.trace.distinct_pages;
    check->accesses = result.trace.accesses;
    replay_result_free(&result);
    code = run(check, NULL, sample_of(check), &result);
    if (code != MGLRU_OK)
        return code;
    check->share = (double)result.trace.distinct_pages / (double)check->distinct_pages;
    replay_result_free(&result);
    return MGLRU_OK;
}

/* Prints a line; true when the errors are within the bound. MGLRU has cliffs where a size or two
 * may be off by more: a plan judges by the whole curve. */
static bool judge(struct curve_check *check)
{
    if (compare(check) != MGLRU_OK)
        return false;
    const char *policy = check->kernel ? "mglru" : "lru";
    const double sampled = (double)check->distinct_pages * check->share;
    if (check->sizes == 0) {
        printf("%-34s %-5s %9" PRIu64 " %8" PRIu64 "  too few pages\n", check->source->file, policy,
               check->accesses, check->distinct_pages);
        return true;
    }
    const bool good = (check->kernel ? check->mean_error : check->most_error) < BOUND;
    printf("%-34s %-5s %9" PRIu64 " %8" PRIu64 " %8.0f %8.4f %8.4f%s\n", check->source->file,
           policy, check->accesses, check->distinct_pages, sampled, check->mean_error,
           check->most_error, good ? "" : "  above the bound");
    return good;
}

int main(int argc, char **argv)
{
    struct curve_check check = {.rate = 0.01};
    int next = 1;
    for (; next < argc && argv[next][0] == '-'; next++) {
        if (strcmp(argv[next], "--all") == 0)
            check.all = true;
        else if (strcmp(argv[next], "--rate") == 0 && next + 1 < argc)
            check.rate = strtod(argv[++next], NULL);
        else
            break;
    }
    if (next + 1 != argc || !(check.rate > 0 && check.rate < 1)) {
        fputs("usage: check_sampling [--rate R] [--all] DIR\n", stderr);
        return 2;
    }
    setvbuf(stdout, NULL, _IOLBF, 0); /* lines as they come: a trace takes seconds */
    printf("%-34s %-5s %9s %8s %8s %8s %8s\n", "trace", "", "accesses", "pages", "sampled", "mean",
           "most");
    unsigned seen = 0;
    unsigned failures = 0;
    for (size_t i = 0; i < MGLRU_ARRAY_LEN(sources); i++) {
        char path[4096];
        snprintf(path, sizeof(path), "%s/%s", argv[next], sources[i].file);
        FILE *file = fopen(path, "r");
        if (file == NULL)
            continue;
        fclose(file);
        check.path = path;
        check.source = &sources[i];
        if (measure(&check) != MGLRU_OK)
            continue;
        seen++;
        for (int kernel = 0; kernel < 2; kernel++) {
            check.kernel = kernel;
            failures += !judge(&check);
        }
    }
    if (seen == 0)
        printf("skipped: no trace in %s can be read\n", argv[next]);
    return seen == 0 ? EXIT_SKIP : failures > 0;
}
