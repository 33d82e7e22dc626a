/* SPDX-License-Identifier: MIT */
/* See command.h. */
#include "record/command.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <mglru/error.h>

#include "record/fail.h"

#define EXEC_FAILED 127 /* what a shell says of a command that is not there */

/* In the new process: waits for the start, or for the end of who would have started it. */
static _Noreturn void become(char *const *argv, int go_fd, int failed_fd)
{
    char byte;
    signal(SIGPIPE, SIG_DFL);
    if (read(go_fd, &byte, 1) == 1) {
        execvp(argv[0], argv);
        const int reason = errno;
        ssize_t written = write(failed_fd, &reason, sizeof(reason));
        (void)written;
    }
    _exit(EXEC_FAILED);
}

int command_prepare(struct command *command, char *const *argv, bool own_stdout,
                    struct record_error *error)
{
    int go[2], failed[2];
    *command = (struct command){.name = argv[0]};
    if (pipe2(go, O_CLOEXEC) != 0)
        return record_fail(error, MGLRU_EIO, "pipe: %s", strerror(errno));
    if (pipe2(failed, O_CLOEXEC) != 0) {
        close(go[0]);
        close(go[1]);
        return record_fail(error, MGLRU_EIO, "pipe: %s", strerror(errno));
    }
    command->pid = fork();
    if (command->pid == 0) {
        close(go[1]); /* else the wait would not end with the recorder */
        if (own_stdout)
            dup2(STDERR_FILENO, STDOUT_FILENO);
        become(argv, go[0], failed[1]);
    }
    const int reason = errno;
    close(go[0]);
    close(failed[1]);
    if (command->pid < 0) {
        close(go[1]);
        close(failed[0]);
        command->pid = 0;
        return record_fail(error, MGLRU_ENOMEM, "fork: %s", strerror(reason));
    }
    command->go_fd = go[1];
    command->failed_fd = failed[0];
    return MGLRU_OK;
}

static void close_pipes(struct command *command)
{
    close(command->go_fd);
    close(command->failed_fd);
}

int command_start(struct command *command, struct record_error *error)
{
    int reason = 0;
    ssize_t bytes = write(command->go_fd, "", 1);
    if (bytes == 1)
        do
            bytes = read(command->failed_fd, &reason, sizeof(reason));
        while (bytes < 0 && errno == EINTR);
    close_pipes(command);
    if (bytes == 0) {
        command->started = true;
        return MGLRU_OK;
    }
    waitpid(command->pid, NULL, 0);
    command->pid = 0;
    return record_fail(error, MGLRU_EINVAL, "%s cannot be run: %s", command->name,
                       strerror(reason));
}

void command_abandon(struct command *command)
{
    if (command->pid == 0 || command->started)
        return;
    close_pipes(command);
    waitpid(command->pid, NULL, 0);
    command->pid = 0;
}
