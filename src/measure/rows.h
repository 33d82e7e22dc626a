/* SPDX-License-Identifier: MIT */
/* Rows of a result: values of runs become a median with its range. */
#ifndef MEASURE_ROWS_H
#define MEASURE_ROWS_H

#include "measure/measure.h"
#include "measure/slices.h"

/* Names a row; its figures come by rows_add. */
struct row_name {
    const char *test;
    const char *variant;
    unsigned jobs;
    const char *metric;
    const char *unit;
};

/* Names the benchmark and the machine. */
void rows_begin(struct measure_result *result, const char *bench);
/* Adds the row of @count values, which it sorts. False: no memory, error is set. */
bool rows_add(struct measure_result *result, const struct row_name *name, double *values,
              unsigned count);
/* The row of a prediction for @cpus CPUs: one value. False: as above. */
bool rows_add_predicted(struct measure_result *result, const struct row_name *name, unsigned cpus,
                        double value);
/* A string that lives as long as the result; NULL: no memory, error is set. */
const char *rows_text(struct measure_result *result, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* The same of one value a run, got from the sums of a lane. */
bool rows_add_sums(struct measure_result *result, const struct row_name *name,
                   const struct slice_lane *lane, unsigned runs,
                   double (*value)(const struct slice_sum *sum));

/* Values of a run's sum. */
double rows_cpu_ns(const struct slice_sum *sum); /* an operation */
double rows_rate(const struct slice_sum *sum);   /* operations a second, of all threads */
double rows_hit_ratio(const struct slice_sum *sum);

/* The events of a lane were its misses: as many as fall to what was timed. */
void rows_take_events(struct slice_sum *sum);

/* The text of an error that slices_measure or a subject gave. */
int rows_fail(struct measure_result *result, int error, const char *what);

#endif
