/* SPDX-License-Identifier: MIT */
/* The help of `mglru record`. */
#include <stdio.h>

#include "cli/mglru/record_args.h"

static const char usage[] =
    "usage: mglru record [OPTION...] (-- COMMAND [ARGUMENT...] | --cgroup PATH | --pid N)\n"
    "\n"
    "Records which pages of which files programs access, from the kernel's tracepoints, with what\n"
    "they fork. The trace is for `mglru plan` and `mglru replay`: record while memory is not\n"
    "scarce, then every limit can be tried on it. Needs root, and Linux 6.10 or later.\n"
    "\n"
    "whom\n"
    "  -- COMMAND       a command, from its start to its end\n"
    "  --cgroup PATH    what is in a cgroup and below it, and what joins it: a folder, or its\n"
    "                   path below the mount, as in system.slice/nginx.service\n"
    "  --pid N          a running process\n"
    "\n"
    "how long\n"
    "  --duration T     at most that time: 60s, 10m. A command runs on after it\n"
    "  --max-size SIZE  at most so large a trace, 1M or more\n"
    "                   SIGINT, SIGTERM and SIGHUP end a recording too, and go on to the command\n"
    "\n"
    "how\n"
    "  -o FILE          the trace, - for standard output; .zst, .gz, .xz compress\n"
    "                   (mglru.trace.zst)\n"
    "  --buffer SIZE    memory of the kernel for events, for each CPU; larger where events are\n"
    "                   lost (a 64th of the memory for all CPUs, at most 16M each)\n"
    "\n"
    "examples\n"
    "  mglru record -o db.trace.zst -- sqlite3 shop.db '.read queries.sql'\n"
    "  mglru record -o web.trace.zst --cgroup system.slice/nginx.service --duration 1h\n"
    "  mglru record --pid 1234 --max-size 100M\n"
    "  mglru plan db.trace.zst\n"
    "\n"
    "exit status: that of the command, or the signal that ended it; 0 done; 2 usage, no such\n"
    "target, or nothing was accessed; 3 the environment refused (permission, no tracefs, no\n"
    "tracepoint, full disk, more than 1 % of the events lost)\n";

void record_help(void)
{
    fputs(usage, stdout);
}
