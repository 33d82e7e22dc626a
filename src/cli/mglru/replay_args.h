/* SPDX-License-Identifier: MIT */
/*
 * The command line of `mglru replay`: what it says, checked for combinations that cannot be, and
 * the list of runs that it asks for.
 *
 * Order of runs: policies and models as given, sizes from small to large. With --shard I/N a
 * process does the runs whose number modulo N is I, counted from 0.
 */
#ifndef CLI_MGLRU_REPLAY_ARGS_H
#define CLI_MGLRU_REPLAY_ARGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/args.h"
#include "replay/replay.h"

#define REPLAY_SIZES_MAX 1024

struct replay_args {
    bool help;
    const char **traces; /* into argv */
    size_t trace_count;
    const char *format;
    const char *columns;
    uint64_t *sizes; /* rising; empty: the trace's own limits */
    size_t size_count;
    struct args_list policies;
    struct args_list models;
    const char *aging;
    bool has_swap;
    uint64_t swap_bytes;
    int swappiness; /* -1: not given */
    enum mglru_kernel_charge kernel_charge;
    uint64_t kernel_charge_bytes;
    bool has_readahead;
    uint64_t readahead_bytes;
    bool has_stat_flush;
    enum mglru_stat_flush stat_flush;
    uint64_t stat_flush_period;
    char stat_flush_text[48];
    uint64_t every;
    bool explain;
    const char *miss_bits;
    const char *write_native;
    const char *json;
    const char *csv;
    const char *plot;
    uint64_t shard;  /* number of this shard */
    uint64_t shards; /* 0: not given */
    bool quiet;
    bool no_progress;
    bool asks_result; /* anything that only a replay answers was given */

    struct replay_spec *specs; /* of this shard */
    size_t spec_count;
    size_t whole_count;  /* of all shards */
    bool whole_baseline; /* a baseline is in the whole, perhaps in another shard */
};

/*
 * Reads the command line. False: @error holds the line to print; @args is to be freed in any case.
 */
bool replay_args_parse(struct replay_args *args, int argc, char **argv, struct args_error *error);
void replay_args_free(struct replay_args *args);

/* replay_runs.c: makes the list of runs from what was parsed, with the checks that need it. */
bool replay_args_list_runs(struct replay_args *args, struct args_error *error);

/* replay_help.c: prints the help of the command. */
void replay_help(void);

#endif
