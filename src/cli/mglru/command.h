/* SPDX-License-Identifier: MIT */
/* What the subcommands of mglru share: exit statuses and how they fail. */
#ifndef CLI_MGLRU_COMMAND_H
#define CLI_MGLRU_COMMAND_H

#include "cli/fail.h"

enum command_status {
    COMMAND_DONE = CLI_DONE,
    COMMAND_FOUND = CLI_FOUND, /* a check found something */
    COMMAND_USAGE = CLI_USAGE, /* usage or bad input */
    COMMAND_ENVIRONMENT =
        CLI_ENVIRONMENT /* the environment refused: permission, missing feature, full disk */
};

/* Subcommands; argv[0] is the name of the subcommand. Return an exit status. */
int command_replay(int argc, char **argv);
int command_merge(int argc, char **argv);
int command_plan(int argc, char **argv);
int command_bench(int argc, char **argv);
int command_record(int argc, char **argv);
int command_ctl(int argc, char **argv);
int command_top(int argc, char **argv);

/* Prints "mglru COMMAND: TEXT" as one line on stderr and returns @status. Control characters, as
 * file names may have them, are shown as '?'. */
int command_fail(const char *command, int status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
