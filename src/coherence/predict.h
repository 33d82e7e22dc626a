/* SPDX-License-Identifier: MIT */
/*
 * What a trace comes to on so many CPUs: the most misses over three orders of its accesses (as
 * recorded, and by the CPUs' clocks one and 16 at a time) at two latencies, told by pairs of
 * fields, and the slowdown at both.
 */
#ifndef COHERENCE_PREDICT_H
#define COHERENCE_PREDICT_H

#include <stdbool.h>

#include "coherence/blame.h"

struct coherence_wish {
    uint32_t cpus;          /* 1..COHERENCE_CPUS_MAX */
    uint32_t latency_ns[2]; /* least, largest */
    uint64_t ops_max;       /* of each run, all CPUs together */
    bool in_vain; /* told is the order with the most misses for nothing, not the most of all */
};

/* One number of CPUs. */
struct coherence_prediction {
    uint32_t cpus;
    double misses_per_op; /* that another CPU caused, in the order that is told */
    double cold_per_op;
    double slowdown[2];  /* at the least and the largest latency */
    double worst;        /* what the order was chosen by, an operation */
    uint64_t operations; /* of the run whose pairs are shown */
    bool cut;            /* the run ended before the trace did */
    struct coherence_blame blame;
};

/* @trace is finished. *@out: the caller frees it, by coherence_prediction_free, in any case.
 * 0; MGLRU_EINVAL: a wish out of range; MGLRU_ENOMEM. */
int coherence_predict(const struct coherence_trace *trace,
                      const struct coherence_subjects *subjects, const struct coherence_wish *wish,
                      struct coherence_prediction *out);
void coherence_prediction_free(struct coherence_prediction *prediction);

#endif
