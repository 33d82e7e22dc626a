/* SPDX-License-Identifier: MIT */
/* `mglru bench rstat`: document 004's work in several layouts. */
#include "measure/layouts.h"
#include "measure/rows.h"

int measure_rstat(const struct measure_options *options, struct measure_result *result)
{
    static const struct layout_case compile = {.bench = "rstat",
                                               .test = "compile",
                                               .label = "compile",
                                               .document = "004",
                                               .nodes = 1,
                                               .record_warm = 1024};
    rows_begin(result, "rstat");
    return layouts_measure(options, &compile, result);
}
