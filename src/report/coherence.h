/* SPDX-License-Identifier: MIT */
/*
 * What the coherence model predicts, for people, for programs, and as a class file. Write errors
 * stay in the output; nothing is kept. One thread per output.
 */
#ifndef REPORT_COHERENCE_H
#define REPORT_COHERENCE_H

#include "coherence/predict.h"
#include "coherence/uses.h"
#include "report/json_stream.h"
#include "report/out.h"

struct report_forecast {
    const char *log;
    const struct coherence_prediction *predictions;
    size_t prediction_count;
    uint64_t accesses; /* in the log */
    uint64_t lost;
    uint32_t threads;
    bool counted_operations; /* the program told its operations, else they are accesses */
    uint32_t latency_ns[2];
};

/* A table over the numbers of CPUs, then the pairs of the largest. */
void report_forecast(struct report_out *out, const struct report_forecast *forecast);

/* The object of ARCHITECTURE.md's `predict --json`, complete. */
void report_forecast_json(struct report_out *out, const struct report_forecast *forecast);

/* What counters sampled (coherence/samples.h). */
struct report_samples {
    const char *file;
    const struct coherence_blame *blame;
    uint64_t accesses; /* samples with an address */
    uint64_t left_out;
    uint64_t hitm;    /* loads that met a line which another CPU had modified */
    uint64_t unknown; /* of these, with no store sampled on the line */
    uint32_t lines;
};

/* The pairs of fields, most loads first. */
void report_samples(struct report_out *out, const struct report_samples *samples);

/* {"samples","left_out","hitm","unknown_writer","pairs":[...]}, pairs as in a forecast but with
 * "share" for "per_op". */
void report_samples_json(struct report_out *out, const struct report_samples *samples);

/* A class file in the form that layout/classes.h reads. @log: where it comes from. */
void report_uses(struct report_out *out, const char *log, const struct coherence_uses *uses);

#endif
