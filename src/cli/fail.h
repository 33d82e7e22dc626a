/* SPDX-License-Identifier: MIT */
/* How the subcommands of both programs fail: one line and an exit status. */
#ifndef CLI_FAIL_H
#define CLI_FAIL_H

#include <stdarg.h>

/* Exit statuses of both programs. */
enum cli_status {
    CLI_DONE = 0,
    CLI_FOUND = 1,      /* a check found something */
    CLI_USAGE = 2,      /* usage or bad input */
    CLI_ENVIRONMENT = 3 /* the environment refused: permission, missing feature, full disk */
};

/* Prints "PROGRAM COMMAND: TEXT" as one line on stderr. Control characters, as file names may have
 * them, are shown as '?'. */
void cli_fail(const char *program, const char *command, const char *format, va_list arguments)
    __attribute__((format(printf, 3, 0)));

/* Exit status that a MGLRU_E code means. */
int cli_status_of(int code);

#endif
