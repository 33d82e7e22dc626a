/* SPDX-License-Identifier: MIT */
/*
 * The benchmarks behind `mglru bench`: what they run, and the rows that come out. Everything is
 * measured by alternating slices (slices.h) through the public headers.
 */
#ifndef MEASURE_MEASURE_H
#define MEASURE_MEASURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MEASURE_JOBS_MAX 8
#define MEASURE_CPUS_MAX 16
#define MEASURE_LAYOUTS_MAX 3
#define MEASURE_ERROR_BYTES 512

struct measure_options {
    unsigned jobs[MEASURE_JOBS_MAX]; /* thread counts, each measured in turn */
    size_t job_count;
    unsigned runs;
    unsigned slices; /* that count, for each case in each run */
    uint64_t slice_ns;
    uint64_t size_bytes; /* hit: all pages; refault: all files; replay: memory of the run */
    const char *rival;   /* hit: a shared object of subjects (subject.h); NULL: none */
    const char *trace;   /* replay */
    /* Layouts of the hot structs that are compared, and numbers of CPUs for which misses are
     * predicted. */
    const char *layouts[MEASURE_LAYOUTS_MAX];
    size_t layout_count;
    unsigned cpus[MEASURE_CPUS_MAX];
    size_t cpu_count;
    void (*progress)(void *context, unsigned done, unsigned total);
    void *context;
};

/* A figure: median, least and greatest of the runs; or what the coherence model predicts for so
 * many CPUs. Strings are static or the result's. */
struct measure_row {
    const char *test; /* "case" of the JSON */
    const char *variant;
    unsigned jobs;
    unsigned cpus;
    const char *metric;
    const char *unit;
    double median;
    double min;
    double max;
    unsigned runs;
    bool predicted;
};

struct measure_result {
    const char *bench;
    char machine[256];
    struct measure_row *rows;
    size_t count;
    void *rival;  /* keeps the strings of a shared object; measure_free lets go of it */
    char **texts; /* strings of rows */
    size_t text_count;
    char error[MEASURE_ERROR_BYTES]; /* one line; empty when there was no error */
};

/*
 * The benchmarks. @result is filled in even after an error; free it by measure_free.
 * 0; MGLRU_ENOMEM; MGLRU_EAGAIN: no thread could be started; MGLRU_EBUSY: the machine is too busy;
 * MGLRU_ENOENT, MGLRU_EINVAL: the rival or the trace; errors of what is measured.
 */
int measure_hit(const struct measure_options *options, struct measure_result *result);
int measure_refault(const struct measure_options *options, struct measure_result *result);
int measure_replay(const struct measure_options *options, struct measure_result *result);
int measure_aging(const struct measure_options *options, struct measure_result *result);
/* The work of result->bench (measure/work.h) in options->layouts. MGLRU_ENOTSUP: this build has
 * none of them. */
int measure_fault(const struct measure_options *options, struct measure_result *result);
int measure_rstat(const struct measure_options *options, struct measure_result *result);
int measure_fallocate(const struct measure_options *options, struct measure_result *result);
void measure_free(struct measure_result *result);

#endif
