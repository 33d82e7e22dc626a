/* SPDX-License-Identifier: MIT */
/*
 * `mglru bench aging`: document 003's program. A memcg's memory is touched once, then aged again
 * and again by writing "+ MEMCG NODE SEQ" to lru_gen. From the third time on each aging moves all
 * pages from the oldest generation into the next: one by one (Linux 7.3), in runs (the document's
 * series), or as a whole (ours).
 *
 * Three parts: the time, in slices that alternate between the three, in caches with frames of 4 KiB
 * (folios of order 0) and of 2 MiB (as many bytes as order 9); the time of the splice by the number
 * of folios; and what became of the folios, told by the order in which a reclaim then takes them,
 * in caches without frames, which report each eviction.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <mglru/control.h>
#include <mglru/data.h>

#include "base/check.h"
#include "measure/rows.h"

#define BLOCK_BYTES ((size_t)2 << 20)
/* Agings before all pages are in the oldest generation for good. */
#define SETTLE 4
/* Pages of the look at their order. They enter the second oldest generation, so that the second
 * aging moves them for the first time: in two chunks of the kernel's 4096 and a rest. */
#define SHOWN_PAGES 10000u
/* One in so many of them is used again before it is looked at. */
#define SHOWN_USED 8u
#define SPLICES 1000u
/* The splice is shown up to so many times the memory, for which folios alone are made. */
#define SPLICE_MEMORY 100u
#define TEXT_BYTES 65536

static const struct algorithm {
    const char *aging;
    const char *model; /* the kernel that has it */
} algorithms[] = {{"per-folio", "7.3"}, {"batched", "next"}, {"splice", "ours"}};

#define ALGORITHMS MGLRU_ARRAY_LEN(algorithms)

struct aged {
    struct mglru_cache *cache;
    struct mglru_memcg *memcg;
    char command[64];
};

static int age(const struct aged *aged)
{
    return mglru_cache_write(aged->cache, "lru_gen", aged->command, strlen(aged->command));
}

/* The memcg, all of whose agings are one command: a number that lies back ages as well. */
static int make_memcg(struct aged *aged)
{
    int error = mglru_memcg_create(aged->cache, "/aged", &aged->memcg);
    if (!error)
        snprintf(aged->command, sizeof(aged->command), "+ %llu 0 0\n",
                 (unsigned long long)mglru_memcg_id(aged->memcg));
    return error;
}

static int settle(const struct aged *aged)
{
    int error = 0;
    for (unsigned i = 0; i < SETTLE && !error; i++)
        error = age(aged);
    return error;
}

/* --- the time ------------------------------------------------------------------------------- */

static int touch(const struct aged *aged, uint64_t bytes)
{
    struct mglru_mapping *memory;
    struct mglru_file *file;
    char *block = malloc(BLOCK_BYTES);
    if (!block)
        return MGLRU_ENOMEM;
    memset(block, 0x55, BLOCK_BYTES);
    int error = mglru_data_mapping_create(aged->cache, "memory", NULL, bytes, &memory);
    if (!error)
        error = mglru_file_open(memory, aged->memcg, &file);
    for (uint64_t at = 0; at < bytes && !error; at += BLOCK_BYTES) {
        size_t done, length = bytes - at < BLOCK_BYTES ? (size_t)(bytes - at) : BLOCK_BYTES;
        error = mglru_write(file, at, block, length, &done);
    }
    free(block);
    return error;
}

static int make_touched(struct aged *aged, const struct algorithm *algorithm, uint64_t bytes,
                        uint32_t frame_bytes)
{
    struct mglru_data_options options = {.size = sizeof(options),
                                         .memory_bytes = bytes + bytes / 16 + 64 * BLOCK_BYTES,
                                         .frame_bytes = frame_bytes,
                                         .model = algorithm->model,
                                         .aging = algorithm->aging,
                                         .no_threads = true};
    int error = mglru_data_create(&options, &aged->cache);
    if (!error)
        error = make_memcg(aged);
    if (!error)
        error = touch(aged, bytes);
    return error ? error : settle(aged);
}

static void age_once(void *state, unsigned thread, struct slice_count *count)
{
    count->error = age(state);
    count->operations++;
}

static double ms_per_aging(const struct slice_sum *sum)
{
    return rows_cpu_ns(sum) / 1e6;
}

/* Rows of one size of folios: the time, for a folio, and as a multiple of one by one. */
static bool add_times(const struct measure_options *options, const struct slice_lane *lanes,
                      const char *test, uint64_t folios, struct measure_result *result)
{
    bool ok = true;
    for (size_t i = 0; ok && i < ALGORITHMS; i++) {
        double each[SLICES_RUNS_MAX], times[SLICES_RUNS_MAX];
        struct row_name name = {.test = test, .variant = algorithms[i].aging, .jobs = 1};
        for (unsigned run = 0; run < options->runs; run++) {
            double ns = rows_cpu_ns(&lanes[i].sums[run]);
            each[run] = ns / (double)folios;
            times[run] = rows_cpu_ns(&lanes[0].sums[run]) / ns;
        }
        name.metric = "cpu_per_aging";
        name.unit = "ms";
        ok = rows_add_sums(result, &name, &lanes[i], options->runs, ms_per_aging);
        name.metric = "cpu_per_folio";
        name.unit = "ns";
        ok = ok && rows_add(result, &name, each, options->runs);
        name.metric = "gain";
        name.unit = "times";
        ok = ok && rows_add(result, &name, times, options->runs);
    }
    return ok;
}

/* --- caches without frames ------------------------------------------------------------------ */

/* The order in which pages left. */
struct departures {
    uint64_t pages[SHOWN_PAGES];
    size_t count;
};

static void on_event(void *context, const struct mglru_event *event)
{
    struct departures *departures = context;
    if (event->kind == MGLRU_EVENT_EVICT && departures->count < SHOWN_PAGES)
        departures->pages[departures->count++] = event->index;
}

static int access_pages(const struct aged *aged, struct mglru_file *file, uint64_t step,
                        enum mglru_access_kind kind)
{
    int error = 0;
    for (uint64_t page = 0; page < SHOWN_PAGES && !error; page += step) {
        struct mglru_access access = {file, page, 1, kind};
        size_t done;
        error = mglru_cache_access(aged->cache, &access, 1, NULL, &done);
    }
    return error;
}

/* The moving average of what was evicted and protected, all tiers and both types: column T of the
 * youngest generation. Each aging halves it and adds half of what it counted. */
static double read_average(const struct aged *aged)
{
    static char text[TEXT_BYTES];
    size_t length;
    double sum = 0;
    if (mglru_cache_read(aged->cache, "lru_gen_full", text, sizeof(text), &length))
        return 0;
    const char *line = strstr(text, "/aged");
    while (line && (line = strchr(line, '\n'))) {
        unsigned long long anon, file;
        if (sscanf(++line, "%*u %*uR %lluT %*ux %*uR %lluT %*ux", &anon, &file) == 2)
            sum += (double)(anon + file);
    }
    return sum;
}

/* A file that is read once and then aged until its pages are in the oldest generation; some are
 * used again, which the walk of the next aging promotes. *@protected: what that aging counted. */
static int make_shown(struct aged *aged, const struct algorithm *algorithm,
                      struct departures *departures, double *protected)
{
    struct mglru_cache_options options = {.size = sizeof(options),
                                          .model = algorithm->model,
                                          .aging = algorithm->aging,
                                          .kernel_charge = MGLRU_KERNEL_CHARGE_NONE,
                                          .start_batch = -1,
                                          .start_tables = -1,
                                          .on_event = on_event,
                                          .on_event_context = departures};
    struct mglru_mapping *mapping;
    struct mglru_file *file;
    int error = mglru_cache_create(&options, &aged->cache);
    if (!error)
        error = make_memcg(aged);
    if (!error)
        error = mglru_mapping_create(aged->cache, "program", MGLRU_FILE, SHOWN_PAGES, &mapping);
    if (!error)
        error = mglru_file_open(mapping, aged->memcg, &file);
    if (!error)
        error = access_pages(aged, file, 1, MGLRU_READ);
    if (!error)
        error = age(aged);
    if (!error)
        error = access_pages(aged, file, SHOWN_USED, MGLRU_MAP_EXEC);
    double before = error ? 0 : read_average(aged);
    if (!error)
        error = age(aged);
    *protected = error ? 0 : read_average(aged) * 2 - before;
    return error;
}

/* Share of the unused pages that left later than the one that left before them was used. */
static double judge(const struct departures *departures)
{
    uint64_t last = 0;
    size_t unused = 0, ordered = 0;
    for (size_t i = 0; i < departures->count; i++) {
        uint64_t page = departures->pages[i];
        if (page % SHOWN_USED == 0)
            continue;
        ordered += unused == 0 || page > last;
        last = page;
        unused++;
    }
    return unused ? (double)ordered / (double)unused : 0;
}

static int show_order(const struct algorithm *algorithm, struct measure_result *result)
{
    struct aged aged = {0};
    struct departures *departures = calloc(1, sizeof(*departures));
    double protected;
    int error = departures ? make_shown(&aged, algorithm, departures, &protected) : MGLRU_ENOMEM;
    if (!error) {
        /* It may fall short of everything; what left is what counts. */
        mglru_memcg_write(aged.memcg, "memory.reclaim", "1G", 2);
        double in_order = judge(departures);
        struct row_name name = {.test = "what was moved",
                                .variant = algorithm->aging,
                                .jobs = 1,
                                .metric = "left in order of use",
                                .unit = "share"};
        bool ok = rows_add(result, &name, &in_order, 1);
        name.metric = "counted as protected";
        name.unit = "pages";
        if (!ok || !rows_add(result, &name, &protected, 1))
            error = MGLRU_ENOMEM;
    }
    mglru_cache_destroy(aged.cache);
    free(departures);
    return error;
}

/* A file of @pages pages in a cache without frames, aged until they are the oldest generation. */
static int make_read(struct aged *aged, const struct algorithm *algorithm, uint64_t pages)
{
    struct mglru_cache_options options = {.size = sizeof(options),
                                          .model = algorithm->model,
                                          .aging = algorithm->aging,
                                          .kernel_charge = MGLRU_KERNEL_CHARGE_NONE};
    struct mglru_mapping *mapping;
    struct mglru_file *file = NULL;
    int error = mglru_cache_create(&options, &aged->cache);
    if (!error)
        error = make_memcg(aged);
    if (!error)
        error = mglru_mapping_create(aged->cache, "file", MGLRU_FILE, 0, &mapping);
    if (!error)
        error = mglru_file_open(mapping, aged->memcg, &file);
    if (error)
        return error;
    struct mglru_access access = {file, 0, (uint32_t)pages, MGLRU_READ};
    size_t done;
    error = mglru_cache_access(aged->cache, &access, 1, NULL, &done);
    return error ? error : settle(aged);
}

/* Folios of @frame_bytes each; @frames: in caches with frames. */
static int measure_order(const struct measure_options *options, uint32_t frame_bytes, bool frames,
                         const char *test, struct measure_result *result)
{
    struct aged aged[ALGORITHMS] = {{0}};
    struct slice_lane *lanes = calloc(ALGORITHMS, sizeof(*lanes));
    uint64_t folios = options->size_bytes / frame_bytes;
    folios = folios ? folios : 1;
    int error = lanes ? 0 : MGLRU_ENOMEM;
    for (size_t i = 0; i < ALGORITHMS && !error; i++) {
        error = frames ? make_touched(&aged[i], &algorithms[i], folios * frame_bytes, frame_bytes)
                       : make_read(&aged[i], &algorithms[i], folios);
        lanes[i] = (struct slice_lane){.jobs = 1, .work = age_once, .state = &aged[i]};
    }
    struct slices_options slices = {.runs = options->runs,
                                    .slices = options->slices,
                                    .slice_ns = options->slice_ns,
                                    .warm_ns = options->slice_ns / 4,
                                    .progress = options->progress,
                                    .context = options->context};
    if (!error)
        error = slices_measure(&slices, lanes, ALGORITHMS);
    if (!error && !add_times(options, lanes, test, folios, result))
        error = MGLRU_ENOMEM;
    for (size_t i = 0; i < ALGORITHMS; i++)
        mglru_cache_destroy(aged[i].cache);
    free(lanes);
    return error;
}

/* The splice of @pages folios; several times, since others use the machine. */
static int measure_splice(uint64_t pages, const char *test, unsigned runs,
                          struct measure_result *result)
{
    double ns[SLICES_RUNS_MAX];
    struct aged aged = {0};
    int error = make_read(&aged, &algorithms[ALGORITHMS - 1], pages);
    for (unsigned run = 0; run < runs && !error; run++) {
        uint64_t start = slices_clock_ns(CLOCK_THREAD_CPUTIME_ID);
        for (unsigned i = 0; i < SPLICES && !error; i++)
            error = age(&aged);
        ns[run] = (double)(slices_clock_ns(CLOCK_THREAD_CPUTIME_ID) - start) / SPLICES;
    }
    struct row_name name = {
        .test = test, .variant = "splice", .jobs = 1, .metric = "cpu_per_aging", .unit = "ns"};
    if (!error && !rows_add(result, &name, ns, runs))
        error = MGLRU_ENOMEM;
    mglru_cache_destroy(aged.cache);
    return error;
}

int measure_aging(const struct measure_options *options, struct measure_result *result)
{
    static const struct {
        uint64_t pages;
        const char *test;
    } sizes[] = {{10000, "10^4 folios"},
                 {100000, "10^5 folios"},
                 {1000000, "10^6 folios"},
                 {10000000, "10^7 folios"}};
    rows_begin(result, "aging");
    int error = measure_order(options, 4096, true, "order 0", result);
    if (!error)
        error = measure_order(options, (uint32_t)BLOCK_BYTES, true, "order 9", result);
    if (!error)
        error = measure_order(options, 4096, false, "order 0, one thread", result);
    for (size_t i = 0; i < ALGORITHMS && !error; i++)
        error = show_order(&algorithms[i], result);
    for (size_t i = 0; i < MGLRU_ARRAY_LEN(sizes) && !error; i++)
        if (sizes[i].pages * 4096 <= options->size_bytes * SPLICE_MEMORY)
            error = measure_splice(sizes[i].pages, sizes[i].test, options->runs, result);
    if (error && !result->error[0])
        rows_fail(result, error, "aging");
    return error;
}
