/* SPDX-License-Identifier: MIT */
/* How subcommands fail: one line and a status. */
#include "cli/mglru/command.h"

#include <stdarg.h>

int command_fail(const char *command, int status, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    cli_fail("mglru", command, format, arguments);
    va_end(arguments);
    return status;
}
