/* SPDX-License-Identifier: MIT */
/*
 * Hand-made results for the tests of reports, and a comparison with golden files. The figures are
 * invented; they only obey accesses = hits + misses + first_touches.
 */
#ifndef TESTS_REPORT_FIXTURE_H
#define TESTS_REPORT_FIXTURE_H

#include "replay/result.h"
#include "report/report.h"

/* Three policies at three sizes, two memcgs, one OOM, classic with its flush schedule. Static. */
const struct replay_result *fixture_curves(void);

/* One run with a series and an explanation, under the trace's own limits. Static. */
const struct replay_result *fixture_series(void);

/* An output into memory; fixture_text() closes it and returns what was written, to be freed. */
struct fixture_memory {
    FILE *stream;
    char *text;
    size_t bytes;
};
void fixture_open(struct fixture_memory *memory, struct report_out *out);
char *fixture_text(struct fixture_memory *memory, struct report_out *out);

/*
 * Fails the test unless @text equals the file @name of tests/report/golden. With MGLRU_GOLDEN_WRITE
 * in the environment the file is written instead, to be read by a person before it is committed.
 */
void fixture_compare(const char *name, const char *text);

#endif
