/* SPDX-License-Identifier: MIT */
/* See fail.h. */
#include "cli/fail.h"

#include <stdio.h>

#include <mglru/error.h>

#include "base/text.h"

#define LINE_BYTES 4096

void cli_fail(const char *program, const char *command, const char *format, va_list arguments)
{
    char line[LINE_BYTES];
    text_line(line, sizeof(line), format, arguments);
    fprintf(stderr, "%s %s: %s\n", program, command, line);
}

int cli_status_of(int code)
{
    switch (code) {
    case MGLRU_OK:
        return CLI_DONE;
    case MGLRU_EPERM:
    case MGLRU_EIO:
    case MGLRU_ENOMEM:
    case MGLRU_ENOTSUP:
    case MGLRU_ENOSPC:
    case MGLRU_EINTR:
        return CLI_ENVIRONMENT;
    default:
        return CLI_USAGE;
    }
}
