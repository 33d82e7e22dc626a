/* SPDX-License-Identifier: MIT */
/* How subcommands fail: one line and a status. */
#include "cli/mglru/command.h"

#include <stdarg.h>
#include <stdio.h>

#include <mglru/error.h>

#define LINE_BYTES 1024

int command_fail(const char *command, int status, const char *format, ...)
{
    char line[LINE_BYTES];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof(line), format, arguments);
    va_end(arguments);
    for (char *c = line; *c != '\0'; c++)
        if ((unsigned char)*c < ' ' || *c == 0x7f)
            *c = '?';
    fprintf(stderr, "mglru %s: %s\n", command, line);
    return status;
}

int command_status_of(int code)
{
    switch (code) {
    case MGLRU_OK:
        return COMMAND_DONE;
    case MGLRU_EPERM:
    case MGLRU_EIO:
    case MGLRU_ENOMEM:
    case MGLRU_ENOTSUP:
    case MGLRU_ENOSPC:
    case MGLRU_EINTR:
        return COMMAND_ENVIRONMENT;
    default:
        return COMMAND_USAGE;
    }
}
