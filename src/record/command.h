/* SPDX-License-Identifier: MIT */
/* A command as a process that waits before it becomes what it is, so that all of it is recorded. */
#ifndef RECORD_COMMAND_H
#define RECORD_COMMAND_H

#include <stdbool.h>
#include <sys/types.h>

#include "record/record.h"

/* All fields zero: there is none. */
struct command {
    pid_t pid;
    int go_fd;     /* a byte written to it starts the command */
    int failed_fd; /* holds an errno when it cannot be run, and ends when it runs */
    bool started;
    const char *name;
};

/* @own_stdout: its output goes to standard error, as the trace goes to standard output. MGLRU_EIO,
 * MGLRU_ENOMEM: no process can be made. */
int command_prepare(struct command *command, char *const *argv, bool own_stdout,
                    struct record_error *error);

/* MGLRU_EINVAL: there is no such program, or it cannot be run. */
int command_start(struct command *command, struct record_error *error);

/* Ends a process that was prepared and not started. */
void command_abandon(struct command *command);

#endif
