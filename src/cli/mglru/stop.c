/* SPDX-License-Identifier: MIT */
/* Signals; see stop.h. A handler can reach nothing but file-scope variables. */
#include "cli/mglru/stop.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "cli/mglru/command.h"

static volatile sig_atomic_t stop_signal;
static int stop_pipe[2];

static void on_signal(int number)
{
    stop_signal = number;
    /* A full pipe is readable, which is nearly all that is wanted. */
    const unsigned char byte = (unsigned char)number;
    ssize_t written = write(stop_pipe[1], &byte, 1);
    (void)written;
}

bool stop_catch(void)
{
    if (pipe2(stop_pipe, O_CLOEXEC | O_NONBLOCK) != 0)
        return false;
    const struct sigaction action = {.sa_handler = on_signal};
    return sigaction(SIGINT, &action, NULL) == 0 && sigaction(SIGTERM, &action, NULL) == 0 &&
           sigaction(SIGHUP, &action, NULL) == 0;
}

int stop_fd(void)
{
    return stop_pipe[0];
}

bool stop_wanted(void)
{
    return stop_signal != 0;
}

int stop_now(const char *command)
{
    fprintf(stderr, "mglru %s: interrupted\n", command);
    signal(stop_signal, SIG_DFL);
    raise(stop_signal);
    return COMMAND_ENVIRONMENT;
}
