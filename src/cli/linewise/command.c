/* SPDX-License-Identifier: MIT */
/* How subcommands fail: one line and a status. */
#include "cli/linewise/command.h"

#include <stdarg.h>
#include <stdio.h>

#include <mglru/error.h>

#define LINE_BYTES 4096

int linewise_fail(const char *command, int status, const char *format, ...)
{
    char line[LINE_BYTES];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof(line), format, arguments);
    va_end(arguments);
    for (char *c = line; *c != '\0'; c++)
        if ((unsigned char)*c < ' ' || *c == 0x7f)
            *c = '?';
    fprintf(stderr, "linewise %s: %s\n", command, line);
    return status;
}

int linewise_status_of(int code)
{
    switch (code) {
    case MGLRU_OK:
        return LINEWISE_CLEAN;
    case MGLRU_EPERM:
    case MGLRU_EIO:
    case MGLRU_ENOMEM:
    case MGLRU_ENOTSUP:
    case MGLRU_ENOSPC:
    case MGLRU_EINTR:
        return LINEWISE_ENVIRONMENT;
    default:
        return LINEWISE_USAGE;
    }
}
