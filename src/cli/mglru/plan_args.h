/* SPDX-License-Identifier: MIT */
/* The command line of `mglru plan`. */
#ifndef CLI_MGLRU_PLAN_ARGS_H
#define CLI_MGLRU_PLAN_ARGS_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/args.h"
#include "replay/plan.h"

enum plan_format { PLAN_TEXT, PLAN_K8S, PLAN_SYSTEMD };

struct plan_args {
    bool help;
    const char *trace; /* into argv */
    const char *trace_format;
    const char *columns;
    const char *policy;
    struct args_list models;
    struct plan_target target;
    uint64_t device_latency_ns;
    uint64_t warmup_accesses;
    uint64_t warmup_ns;
    double sample; /* 0: not given */
    bool has_readahead;
    uint64_t readahead_bytes;
    uint64_t swap_bytes;
    enum plan_format format;
    const char *json;
    const char *html;
    const char *plot;
    bool quiet;
    bool no_progress;
};

/*
 * Reads the command line. False: @error holds the line to print; @args is to be freed in any case.
 */
bool plan_args_parse(struct plan_args *args, int argc, char **argv, struct args_error *error);
void plan_args_free(struct plan_args *args);

/* plan_help.c: prints the help of the command. */
void plan_help(void);

#endif
