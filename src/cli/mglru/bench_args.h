/* SPDX-License-Identifier: MIT */
/* Command line of `mglru bench`. */
#ifndef CLI_MGLRU_BENCH_ARGS_H
#define CLI_MGLRU_BENCH_ARGS_H

#include "cli/args.h"
#include "measure/measure.h"

struct bench_args {
    const char *name; /* of the benchmark */
    int (*measure)(const struct measure_options *options, struct measure_result *result);
    struct measure_options options;
    const char *json;
    bool quiet;
    bool no_progress;
    bool help;
};

/* False: @error says in one line what is wrong. */
bool bench_args_parse(struct bench_args *args, int argc, char **argv, struct args_error *error);

#endif
