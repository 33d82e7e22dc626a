/* SPDX-License-Identifier: MIT */
/* Runs of the model over orders and latencies; see predict.h. */
#include "coherence/predict.h"

#include <mglru/error.h>

#include "base/check.h"

/* One order of the accesses at one latency: kept where it has the most misses so far. */
static int run_once(const struct coherence_trace *trace, const struct coherence_subjects *subjects,
                    const struct coherence_options *options, const struct coherence_wish *wish,
                    struct coherence_prediction *out)
{
    struct coherence_result result;
    int code = coherence_run(trace, options, &result);
    if (code != MGLRU_OK)
        return code;
    double operations = result.operations == 0 ? 1 : (double)result.operations;
    double misses = (double)coherence_result_caused(&result) / operations;
    double times = result.ideal_ns == 0 ? 1 : (double)result.clocks_ns / (double)result.ideal_ns;
    double *slowdown = &out->slowdown[options->latency_ns != wish->latency_ns[0]];
    *slowdown = times > *slowdown ? times : *slowdown;
    double judged = wish->in_vain ? (double)result.misses[COHERENCE_FALSE] / operations : misses;
    if (judged >= out->worst) {
        out->worst = judged;
        out->misses_per_op = misses;
        out->cold_per_op = (double)result.misses[COHERENCE_COLD] / operations;
        out->operations = result.operations;
        out->cut = result.ops >= options->ops_max;
        coherence_blame_free(&out->blame);
        code = coherence_blame_make(trace, &result, subjects, &out->blame);
    }
    coherence_result_free(&result);
    return code;
}

int coherence_predict(const struct coherence_trace *trace,
                      const struct coherence_subjects *subjects, const struct coherence_wish *wish,
                      struct coherence_prediction *out)
{
    static const uint32_t quanta[] = {0, 1, 16};
    *out = (struct coherence_prediction){.cpus = wish->cpus};
    for (size_t at = 0; at < 2; at++)
        for (size_t q = 0; q < MGLRU_ARRAY_LEN(quanta); q++) {
            struct coherence_options options = {wish->cpus, wish->latency_ns[at], quanta[q],
                                                wish->ops_max};
            int code = run_once(trace, subjects, &options, wish, out);
            if (code != MGLRU_OK)
                return code;
        }
    if (wish->latency_ns[0] == wish->latency_ns[1])
        out->slowdown[1] = out->slowdown[0];
    return MGLRU_OK;
}

void coherence_prediction_free(struct coherence_prediction *prediction)
{
    coherence_blame_free(&prediction->blame);
}
