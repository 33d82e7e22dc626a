/* SPDX-License-Identifier: MIT */
/* How subcommands fail: one line and a status. */
#include "cli/linewise/command.h"

#include <stdarg.h>

int linewise_fail(const char *command, int status, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    cli_fail("linewise", command, format, arguments);
    va_end(arguments);
    return status;
}
