/* SPDX-License-Identifier: MIT */
/* `mglru bench fault` and `fallocate`: document 001's tests on one node and on two. */
#include "base/check.h"
#include "measure/layouts.h"
#include "measure/rows.h"

/* What will-it-scale maps; a file in memory has 1 MiB there whatever it maps. */
#define RECORD_BYTES (UINT64_C(1) << 20)
/* Twice around, so that the recording begins amid it. */
#define RECORD_WARM 512u

static int measure_cases(const struct measure_options *options, const struct layout_case *cases,
                         size_t count, struct measure_result *result)
{
    int error = 0;
    rows_begin(result, cases[0].bench);
    for (size_t i = 0; i < count && !error; i++) {
        struct layout_case one = cases[i];
        one.size_bytes = options->size_bytes;
        one.record_size_bytes = RECORD_BYTES;
        one.record_warm = RECORD_WARM;
        error = layouts_measure(options, &one, result);
    }
    return error;
}

#define CASES(bench, test)                                                                         \
    {bench, test, test ", 1 node", "001", 1, 0, 0, 0},                                             \
    {                                                                                              \
        bench, test, test ", 2 nodes", "001", 2, 0, 0, 0                                           \
    }

int measure_fault(const struct measure_options *options, struct measure_result *result)
{
    static const struct layout_case cases[] = {CASES("fault", "page_fault1"),
                                               CASES("fault", "page_fault2"),
                                               CASES("fault", "page_fault3")};
    return measure_cases(options, cases, MGLRU_ARRAY_LEN(cases), result);
}

int measure_fallocate(const struct measure_options *options, struct measure_result *result)
{
    static const struct layout_case cases[] = {CASES("fallocate", "fallocate1"),
                                               CASES("fallocate", "fallocate2")};
    return measure_cases(options, cases, MGLRU_ARRAY_LEN(cases), result);
}
