/* SPDX-License-Identifier: MIT */
/* What a benchmark found, as a table and as JSON. */
#ifndef REPORT_BENCH_H
#define REPORT_BENCH_H

#include "measure/measure.h"
#include "report/out.h"

/* The machine, then one line a row. Write errors stay in the output. */
void report_bench(struct report_out *out, const struct measure_result *result);
/* {"bench","version","machine","rows":[...]}; rows with "predicted": true are of the coherence
 * model for "cpus" CPUs, the others of a clock. */
void report_bench_json(struct report_out *out, const struct measure_result *result);

#endif
