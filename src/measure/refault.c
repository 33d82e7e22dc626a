/* SPDX-License-Identifier: MIT */
/*
 * `mglru bench refault`: 24 files in memory stores, three times as large as the limit of the one
 * memcg that reads them. Threads read whole 4 KiB blocks, each block once a pass, in another random
 * order each pass: most reads refault, and each refault charges, evicts and fills a page. It is the
 * job by which Linux measured where the counters of refaults lie (fio, psync, randread).
 *
 * Beside it run the copies that a refault cannot do without, store to frame and frame to reader, of
 * random places and with nothing else: what the machine's memory allows. Stores and frames lie in
 * huge pages where the machine has some.
 *
 * A third lane times each read alone. How many reads had to reclaim tells the memcg's event "max";
 * being the slowest ones, their 99.9th percentile is at most the read of that rank among all. A
 * fourth times as many plain copies as take about as long as a read that reclaims: its 99.9th
 * percentile is what the machine's interruptions make of any work of that length.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <mglru/control.h>
#include <mglru/data.h>
#include <mglru/error.h>
#include <mglru/stores.h>

#include "base/bits.h"
#include "measure/layouts.h"
#include "measure/permute.h"
#include "measure/rows.h"

#define FILES 24u
#define BLOCK_BYTES 4096u
/* The files together, as a multiple of the limit. */
#define OVERSIZE 3u
#define BATCH 16u
#define FILL_BYTES 65536u
#define FRAMES_SPARE_SHARE 64u
#define HUGE_BYTES ((size_t)2 << 20)
/* Copies that are timed together. */
#define TIMED_COPIES 8u

/* Where a thread stands. */
struct reader {
    _Alignas(64) struct measure_pass pass;
    /* At a page: copies between places that differ in their low bits cost more. */
    _Alignas(BLOCK_BYTES) char buffer[BLOCK_BYTES];
};

struct refault {
    const struct measure_options *options;
    struct measure_result *result;
    struct mglru_store *stores[FILES];
    struct mglru_cache *cache;
    struct mglru_memcg *memcg;
    struct mglru_file *files[FILES];
    uint64_t blocks; /* of all files */
    uint64_t limit_bytes;
    uint64_t rss_before;
    char *frames; /* limit_bytes, for the copies alone */
    struct reader readers[SLICES_JOBS_MAX];
};

enum lane_kind { LANE_READS, LANE_TIMED, LANE_COPIES, LANE_TIMED_COPIES, LANE_KINDS };

/* What a lane's threads share. */
struct job {
    struct refault *refault;
    unsigned jobs;
    enum lane_kind kind;
};

/* The block that a thread reads next: it has those whose number modulo jobs is its own. */
static uint64_t next_block(const struct job *job, unsigned thread)
{
    struct measure_pass *pass = &job->refault->readers[thread].pass;
    uint64_t own = job->refault->blocks / job->jobs;
    uint64_t block = measure_next_block(pass, own, thread, SLICES_JOBS_MAX);
    return block * job->jobs + thread;
}

static void read_batch(void *state, unsigned thread, struct slice_count *count)
{
    const struct job *job = state;
    struct refault *refault = job->refault;
    char *buffer = refault->readers[thread].buffer;
    for (unsigned i = 0; i < BATCH && !count->error; i++) {
        uint64_t block = next_block(job, thread),
                 start = count->latency ? slices_clock_ns(CLOCK_MONOTONIC) : 0;
        struct mglru_file *file = refault->files[block % FILES];
        size_t done;
        count->error = mglru_read(file, block / FILES * BLOCK_BYTES, buffer, BLOCK_BYTES, &done);
        if (count->latency)
            latency_note(count->latency, slices_clock_ns(CLOCK_MONOTONIC) - start);
        count->operations++;
    }
}

/* The same blocks, without a cache. */
static void copy_batch(void *state, unsigned thread, struct slice_count *count)
{
    const struct job *job = state;
    struct refault *refault = job->refault;
    uint64_t start = count->latency ? slices_clock_ns(CLOCK_MONOTONIC) : 0;
    for (unsigned i = 0; i < TIMED_COPIES && !count->error; i++) {
        uint64_t block = next_block(job, thread);
        uint64_t frame = bits_mix64(block) % (refault->limit_bytes / BLOCK_BYTES);
        struct mglru_store_vec vec = {refault->frames + frame * BLOCK_BYTES, BLOCK_BYTES};
        count->error =
            mglru_store_read(refault->stores[block % FILES], block / FILES * BLOCK_BYTES, &vec, 1);
        memcpy(refault->readers[thread].buffer, vec.frame, BLOCK_BYTES);
        count->operations++;
    }
    if (count->latency)
        latency_note(count->latency, slices_clock_ns(CLOCK_MONOTONIC) - start);
}

static uint64_t misses(void *state)
{
    const struct job *job = state;
    struct mglru_counts counts;
    mglru_memcg_counts(job->refault->memcg, false, &counts);
    return counts.misses;
}

/* Reads that reclaimed: the event "max" of the memcg. */
static uint64_t reclaims(void *state)
{
    const struct job *job = state;
    char text[256];
    size_t length;
    mglru_memcg_read(job->refault->memcg, "memory.events", text, sizeof(text), &length);
    const char *line = strstr(text, "\nmax ");
    return line ? strtoull(line + 5, NULL, 10) : 0;
}

/* Bytes of memory that this process has now. */
static uint64_t resident_bytes(void)
{
    unsigned long long size = 0, resident = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (file && fscanf(file, "%llu %llu", &size, &resident) != 2)
        resident = 0;
    if (file)
        fclose(file);
    return resident * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* --- setting up ----------------------------------------------------------------------------- */

static int fill_store(struct mglru_store *store, uint64_t bytes)
{
    static char content[FILL_BYTES];
    memset(content, 0x5a, sizeof(content));
    int error = 0;
    for (uint64_t at = 0; at < bytes && !error; at += FILL_BYTES) {
        struct mglru_store_vec vec = {content, bytes - at < FILL_BYTES ? bytes - at : FILL_BYTES};
        error = mglru_store_write(store, at, &vec, 1);
    }
    return error;
}

static int open_file(struct refault *refault, unsigned i)
{
    uint64_t bytes = refault->blocks / FILES * BLOCK_BYTES;
    struct mglru_mapping *mapping;
    char name[16];
    snprintf(name, sizeof(name), "file%u", i);
    int error =
        mglru_data_mapping_create(refault->cache, name, refault->stores[i], bytes, &mapping);
    return error ? error : mglru_file_open(mapping, refault->memcg, &refault->files[i]);
}

static int open_stores(struct refault *refault)
{
    struct mglru_store_memory_options store = {.size = sizeof(store), .huge_pages = true};
    store.size_max = refault->blocks / FILES * BLOCK_BYTES;
    int error = 0;
    for (unsigned i = 0; i < FILES && !error; i++) {
        error = mglru_store_memory_open(&store, &refault->stores[i]);
        if (!error)
            error = fill_store(refault->stores[i], store.size_max);
    }
    return error;
}

static int open_cache(struct refault *refault)
{
    struct mglru_data_options options = {
        .size = sizeof(options), .huge_pages = true, .readahead_bytes = UINT64_MAX};
    options.memory_bytes =
        refault->limit_bytes + refault->limit_bytes / FRAMES_SPARE_SHARE + (uint64_t)FILL_BYTES * 4;
    char text[32];
    int length = snprintf(text, sizeof(text), "%llu", (unsigned long long)refault->limit_bytes);
    int error = mglru_data_create(&options, &refault->cache);
    if (!error)
        error = mglru_memcg_create(refault->cache, "/bench", &refault->memcg);
    if (!error)
        error = mglru_memcg_write(refault->memcg, "memory.max", text, (size_t)length);
    for (unsigned i = 0; i < FILES && !error; i++)
        error = open_file(refault, i);
    return error;
}

/* Two passes: every page has a shadow then. */
static int warm(struct refault *refault)
{
    struct job job = {.refault = refault, .jobs = 1};
    struct slice_count count = {0};
    while (count.operations < refault->blocks * 2 && !count.error)
        read_batch(&job, 0, &count);
    return count.error;
}

/* --- what came out -------------------------------------------------------------------------- */

static double refault_rate(const struct slice_sum *sum)
{
    return (double)sum->misses / sum->wall_ns * 1e9;
}

static double refault_cpu_ns(const struct slice_sum *sum)
{
    return sum->misses ? sum->cpu_ns / (double)sum->misses : 0;
}

static bool add_rates(struct refault *refault, struct slice_lane *lane)
{
    unsigned runs = refault->options->runs;
    struct row_name name = {.test = "random", .variant = "ours", .jobs = lane->jobs};
    for (unsigned i = 0; i < runs; i++)
        rows_take_events(&lane->sums[i]);
    name.metric = "refaults";
    name.unit = "refaults/s";
    bool ok = rows_add_sums(refault->result, &name, lane, runs, refault_rate);
    name.metric = "rate";
    name.unit = "reads/s";
    ok = ok && rows_add_sums(refault->result, &name, lane, runs, rows_rate);
    name.metric = "cpu_per_refault";
    name.unit = "ns";
    return ok && rows_add_sums(refault->result, &name, lane, runs, refault_cpu_ns);
}

static bool add_latencies(struct refault *refault, struct slice_lane *lane, bool copies)
{
    double values[SLICES_RUNS_MAX], longest[SLICES_RUNS_MAX];
    for (unsigned i = 0; i < refault->options->runs; i++) {
        rows_take_events(&lane->sums[i]);
        uint64_t slow = copies ? lane->sums[i].operations / TIMED_COPIES : lane->sums[i].misses;
        values[i] = (double)latency_largest(&lane->latency[i], slow / 1000);
        longest[i] = (double)lane->latency[i].most_ns;
    }
    struct row_name name = {.test = "random",
                            .variant = copies ? "copies" : "ours",
                            .jobs = lane->jobs,
                            .metric = copies ? "as_long_p99.9" : "reclaiming_read_p99.9",
                            .unit = "ns"};
    bool ok = rows_add(refault->result, &name, values, refault->options->runs);
    name.metric = copies ? "as_long_longest" : "longest_read";
    return ok && rows_add(refault->result, &name, longest, refault->options->runs);
}

/* What the cache takes of the machine's memory, against its limit. */
static bool add_memory(struct refault *refault)
{
    double share =
        ((double)resident_bytes() - (double)refault->rss_before) / (double)refault->limit_bytes;
    struct row_name name = {.test = "random",
                            .variant = "ours",
                            .jobs = refault->options->jobs[0],
                            .metric = "rss_to_limit",
                            .unit = "share"};
    return rows_add(refault->result, &name, &share, 1);
}

static bool add_copies(struct refault *refault, struct slice_lane *lane)
{
    struct row_name name = {.test = "random",
                            .variant = "copies",
                            .jobs = lane->jobs,
                            .metric = "rate",
                            .unit = "reads/s"};
    unsigned runs = refault->options->runs;
    bool ok = rows_add_sums(refault->result, &name, lane, runs, rows_rate);
    name.metric = "cpu_per_read";
    name.unit = "ns";
    return ok && rows_add_sums(refault->result, &name, lane, runs, rows_cpu_ns);
}

static int make_lane(struct refault *refault, struct slice_lane *lane, struct job *job)
{
    *lane = (struct slice_lane){.jobs = job->jobs, .work = read_batch, .state = job};
    bool timed = job->kind == LANE_TIMED || job->kind == LANE_TIMED_COPIES;
    if (job->kind == LANE_COPIES || job->kind == LANE_TIMED_COPIES)
        lane->work = copy_batch;
    else
        lane->events = timed ? reclaims : misses;
    if (timed)
        lane->latency = calloc(refault->options->runs, sizeof(struct latency));
    return timed && !lane->latency ? MGLRU_ENOMEM : 0;
}

static bool add_rows(struct refault *refault, struct slice_lane *lanes, const struct job *jobs)
{
    bool ok = true;
    for (size_t i = 0; ok && i < refault->options->job_count * LANE_KINDS; i++) {
        switch (jobs[i].kind) {
        case LANE_READS:
            ok = add_rates(refault, &lanes[i]);
            break;
        case LANE_TIMED:
        case LANE_TIMED_COPIES:
            ok = add_latencies(refault, &lanes[i], jobs[i].kind == LANE_TIMED_COPIES);
            break;
        default:
            ok = add_copies(refault, &lanes[i]);
        }
    }
    return ok && add_memory(refault);
}

static int measure(struct refault *refault, struct slice_lane *lanes, struct job *jobs)
{
    const struct measure_options *options = refault->options;
    size_t count = options->job_count * LANE_KINDS;
    for (size_t i = 0; i < count; i++) {
        jobs[i] = (struct job){.refault = refault,
                               .jobs = options->jobs[i / LANE_KINDS],
                               .kind = (enum lane_kind)(i % LANE_KINDS)};
        int error = make_lane(refault, &lanes[i], &jobs[i]);
        if (error)
            return error;
    }
    struct slices_options slices = {.runs = options->runs,
                                    .slices = options->slices,
                                    .slice_ns = options->slice_ns,
                                    .warm_ns = options->slice_ns,
                                    .progress = options->progress,
                                    .context = options->context};
    int error = slices_measure(&slices, lanes, count);
    return error || add_rows(refault, lanes, jobs) ? error : MGLRU_ENOMEM;
}

static int prepare(struct refault *refault)
{
    int error = open_stores(refault);
    size_t bytes = (refault->limit_bytes + HUGE_BYTES - 1) / HUGE_BYTES * HUGE_BYTES;
    refault->frames = aligned_alloc(HUGE_BYTES, bytes);
    if (!refault->frames)
        return MGLRU_ENOMEM;
    (void)madvise(refault->frames, bytes, MADV_HUGEPAGE);
    memset(refault->frames, 1, refault->limit_bytes);
    refault->rss_before = resident_bytes();
    if (!error)
        error = open_cache(refault);
    return error ? error : warm(refault);
}

static void tear_down(struct refault *refault)
{
    mglru_cache_destroy(refault->cache);
    for (unsigned i = 0; i < FILES; i++)
        mglru_store_close(refault->stores[i]);
    free(refault->frames);
    free(refault);
}

/* Document 000's work in several layouts. Recorded is one pass over few blocks: how many
 * refaults are recent, and counted as such, depends on where in a pass they are. */
static int measure_layouts(const struct measure_options *options, struct measure_result *result)
{
    static const struct layout_case random = {.bench = "refault",
                                              .test = "random",
                                              .label = "random",
                                              .document = "000",
                                              .nodes = 1,
                                              .record_size_bytes = UINT64_C(8) << 20};
    struct layout_case one = random;
    one.size_bytes = options->size_bytes;
    return layouts_measure(options, &one, result);
}

int measure_refault(const struct measure_options *options, struct measure_result *result)
{
    rows_begin(result, "refault");
    if (options->layout_count)
        return measure_layouts(options, result);
    struct refault *refault = aligned_alloc(BLOCK_BYTES, sizeof(*refault));
    size_t lane_count = options->job_count * LANE_KINDS;
    struct slice_lane *lanes = calloc(lane_count, sizeof(*lanes));
    struct job *jobs = calloc(lane_count, sizeof(*jobs));
    int error = MGLRU_ENOMEM;
    if (refault && lanes && jobs) {
        memset(refault, 0, sizeof(*refault));
        refault->options = options;
        refault->result = result;
        refault->blocks = options->size_bytes / BLOCK_BYTES / FILES * FILES;
        refault->limit_bytes = options->size_bytes / OVERSIZE;
        error = prepare(refault);
        if (!error)
            error = measure(refault, lanes, jobs);
    }
    if (error && !result->error[0])
        rows_fail(result, error, "refault");
    for (size_t i = 0; lanes && i < lane_count; i++)
        free(lanes[i].latency);
    if (refault)
        tear_down(refault);
    free(lanes);
    free(jobs);
    return error;
}
