/* SPDX-License-Identifier: MIT */
/* The help of `mglru plan`. */
#include <stdio.h>

#include "cli/mglru/plan_args.h"

static const char usage[] =
    "usage: mglru plan TRACE [OPTION...]\n"
    "\n"
    "Says how much memory a workload needs. Replays the trace under memory limits from a small "
    "part\n"
    "of the working set to all of it, each memcg alone, and prints what each would cost, where "
    "the\n"
    "curve bends, and the memory.high, memory.max and memory.low that follow, with the reasons.\n"
    "Limits that the trace sets are left out.\n"
    "\n"
    "what is wanted\n"
    "  --target miss-ratio=X    at most that share of the accesses misses, as 0.05 or 5%\n"
    "  --target misses/s=X      at most so many misses a second of the trace\n"
    "  --target stall=X%        at most that share of the time waits for the device. Without a\n"
    "                           target the knee of the curve counts\n"
    "  --device-latency T       what a miss waits: 100us (default), 8ms\n"
    "  --warmup T|N             leaves out the first time of the trace (30s), or the first N\n"
    "                           accesses of each memcg\n"
    "\n"
    "what is modelled\n"
    "  --model M[,M...]         kernel: 6.12, 7.3, next, ours. With several the first is\n"
    "                           today's, the others are those of an upgrade\n"
    "  --policy P               mglru or classic, the kernel without MGLRU. Without these two:\n"
    "                           what the trace was recorded on, else mglru of 7.3\n"
    "  --readahead SIZE|auto    largest window of readahead; auto (default): what the trace says,\n"
    "                           else 128K where it holds reads of programs (native format); 0: "
    "none\n"
    "  --swap SIZE              size of swap; none by default\n"
    "  --sample R               replays that share of the pages (1%, 0.01) with as large a part "
    "of\n"
    "                           the memory. By default long traces are sampled, short ones are "
    "not\n"
    "\n"
    "the trace\n"
    "  --trace-format F         found by content unless given; `mglru replay --help` lists them\n"
    "  --columns MAP            columns of a csv, from 0, as in time=0,page=4,count=5\n"
    "\n"
    "results\n"
    "  --format F               text (default); k8s: a resources block; systemd: unit lines\n"
    "  --json FILE              the plan for programs; FILE - is standard output\n"
    "  --html FILE              one page with everything in it, to send to a colleague\n"
    "  --plot FILE.svg|.png     the curves, drawn by gnuplot\n"
    "  --quiet                  nothing on standard output; --no-progress: no progress bar\n"
    "\n"
    "examples\n"
    "  mglru plan db.trace.zst\n"
    "  mglru plan db.trace.zst --target stall=5% --device-latency 8ms --warmup 60s\n"
    "  mglru plan db.trace.zst --model 6.12,7.3 --html plan.html\n"
    "  mglru plan db.trace.zst --target miss-ratio=10% --format systemd\n"
    "  mglru plan disk.vscsi --sample 1% --json plan.json --quiet\n"
    "\n"
    "exit status: 0 done; 1 no limit meets the target; 2 usage or bad input; 3 the environment\n"
    "refused\n";

void plan_help(void)
{
    fputs(usage, stdout);
}
