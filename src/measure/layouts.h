/* SPDX-License-Identifier: MIT */
/* Benchmarks of work in several layouts (work.h): measured in turn, and predicted for many CPUs. */
#ifndef MEASURE_LAYOUTS_H
#define MEASURE_LAYOUTS_H

#include "coherence/predict.h"
#include "measure/measure.h"
#include "measure/work.h"

/* A piece of work as it is compared. */
struct layout_case {
    const char *bench;
    const char *test;     /* of the work */
    const char *label;    /* "case" of the rows */
    const char *document; /* whose pairs of fields are summed up: "001" */
    unsigned nodes;
    uint64_t size_bytes;        /* as measured */
    uint64_t record_size_bytes; /* as recorded: small, so that all of its stages come up */
    unsigned record_warm;       /* operations of a thread before the recording */
};

/*
 * Misses of a prediction, in all operations: on the pairs of fields that a document moved apart
 * ("000", "001", "004"), for nothing; and on read-mostly fields because others wrote fields that
 * are written often, be it under a common lock.
 */
double layouts_count_document(const struct coherence_prediction *prediction, const char *document);
double layouts_count_read_mostly(const struct coherence_prediction *prediction);

/* Adds the rows of one case. 0, or an error with result->error set. */
int layouts_measure(const struct measure_options *options, const struct layout_case *what,
                    struct measure_result *result);

#endif
