/* SPDX-License-Identifier: MIT */
/* What the subcommands of linewise share: exit statuses and how they fail. */
#ifndef CLI_LINEWISE_COMMAND_H
#define CLI_LINEWISE_COMMAND_H

#include "cli/fail.h"

enum linewise_status {
    LINEWISE_CLEAN = CLI_DONE,
    LINEWISE_FOUND = CLI_FOUND, /* fights, or a broken rule */
    LINEWISE_USAGE = CLI_USAGE, /* usage or bad input */
    LINEWISE_ENVIRONMENT =
        CLI_ENVIRONMENT /* the environment refused: permission, missing feature, full disk */
};

/* Subcommands; argv[0] is the name of the subcommand. Return an exit status. */
int linewise_check(int argc, char **argv);
int linewise_classes(int argc, char **argv);
int linewise_list(int argc, char **argv);
int linewise_show(int argc, char **argv);
int linewise_conflicts(int argc, char **argv);
int linewise_diff(int argc, char **argv);
int linewise_import(int argc, char **argv);
int linewise_lock(int argc, char **argv);
int linewise_predict(int argc, char **argv);
int linewise_record(int argc, char **argv);
int linewise_suggest(int argc, char **argv);
int linewise_why_size(int argc, char **argv);

/* Prints "linewise COMMAND: TEXT" as one line on stderr and returns @status. Control characters, as
 * file names may have them, are shown as '?'. */
int linewise_fail(const char *command, int status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
