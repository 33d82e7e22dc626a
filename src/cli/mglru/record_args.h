/* SPDX-License-Identifier: MIT */
/* The command line of `mglru record`. */
#ifndef CLI_MGLRU_RECORD_ARGS_H
#define CLI_MGLRU_RECORD_ARGS_H

#include <stdbool.h>

#include "cli/args.h"
#include "record/record.h"

struct record_args {
    bool help;
    struct record_options options; /* stop_fd is the caller's to fill */
};

/* Reads the command line. False: @error holds the line to print. */
bool record_args_parse(struct record_args *args, int argc, char **argv, struct args_error *error);

/* record_help.c: prints the help of the command. */
void record_help(void);

/* record_summary.c: says on standard error what was recorded, what it cost, what is not seen. */
void record_summary(const struct record_options *options, const struct record_report *report);

#endif
