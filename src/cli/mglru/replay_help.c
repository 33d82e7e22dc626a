/* SPDX-License-Identifier: MIT */
/* The help of `mglru replay`; the lists of formats and policies come from their tables. */
#include <stdio.h>

#include "cli/mglru/replay_args.h"

static const char usage[] =
    "usage: mglru replay TRACE... [OPTION...]\n"
    "\n"
    "Replays the page accesses of a trace under memory limits and tells how many miss. Several\n"
    "traces are replayed one after another as one; - is standard input.\n"
    "\n"
    "what to run\n"
    "  --memory SIZE[,SIZE...]  memory.max of all memcgs of the trace together\n"
    "  --memory A..B            12 sizes from A to B, geometric. Without --memory only the limits\n"
    "                           that the trace sets hold\n"
    "  --policy P[,P...]        mglru (default), classic, or a policy of the list below\n"
    "  --model M[,M...]         kernel of mglru and classic: 6.12, 7.3 (default), next, ours\n"
    "  --aging A                per-folio, batched, or splice (model ours only)\n"
    "  --swap SIZE              size of swap; none by default\n"
    "  --swappiness N           0..200, wins over what the trace sets\n"
    "  --kernel-charge C        kernel memory charged to memcgs: auto (default), 0, or a SIZE "
    "each\n"
    "  --readahead SIZE|auto    largest window of readahead, 0 (default): none; auto: what the "
    "trace\n"
    "                           says, else 128K where it holds reads of programs (native format)\n"
    "  --stat-flush T|N|always  how often counters are brought up to date that the classic LRU\n"
    "                           decides by: a time as 2s or 500ms, a number of accesses, always\n"
    "  --shard I/N              only the runs whose number modulo N is I, from 0; join the --json\n"
    "                           files with `mglru merge`\n"
    "\n"
    "the trace\n"
    "  --format F               found by content unless given; list below\n"
    "  --columns MAP            columns of a csv, from 0, as in time=0,page=4,count=5\n"
    "  --write-native FILE      writes the trace in the native format; given without any option\n"
    "                           that concerns a run, it only converts\n"
    "\n"
    "results\n"
    "  --every N                a point of a series every N accesses\n"
    "  --explain                what evicted the pages that were needed again\n"
    "  --json FILE, --csv FILE  the table for programs; FILE - is standard output\n"
    "  --plot FILE.svg|.png     the curve over sizes, or the series, drawn by gnuplot\n"
    "  --miss-bits FILE         one bit an access, 1 a miss. For several runs FILE must hold %p\n"
    "                           (policy), %m (model), %b (bytes) or %i (number of the run)\n"
    "  --quiet                  no table; --no-progress: no progress bar\n"
    "\n"
    "SIZE is bytes, or a number with K, M, G or T (powers of 1024). The least memory is 64 pages\n"
    "(256K) for mglru and classic, one page for the others.\n";

static const char rest[] =
    "\n"
    "examples\n"
    "  mglru replay db.trace --memory 256M,512M,1G --policy mglru,classic --model 6.12,7.3\n"
    "  mglru replay db.trace --memory 64M..1G --policy mglru,lru,belady --plot curve.svg\n"
    "  mglru replay db.trace --memory 32M --model 6.12 --explain\n"
    "  zcat db.trace.gz | mglru replay - --memory 1G --json result.json --quiet\n"
    "  mglru replay disk.vscsi --write-native disk.trace.native\n"
    "\n"
    "exit status: 0 done; 2 usage or bad input; 3 the environment refused\n";

void replay_help(void)
{
    fputs(usage, stdout);
    puts("\npolicies");
    for (size_t i = 0; policy_at(i) != NULL; i++)
        printf("  %-16s %s\n", policy_at(i)->name, policy_at(i)->about);
    puts("\nformats");
    for (size_t i = 0; trace_format_name(i) != NULL; i++)
        printf("  %-16s %s\n", trace_format_name(i), trace_format_about(i));
    fputs(rest, stdout);
}
