/* SPDX-License-Identifier: MIT */
/* `mglru bench`: measures, then prints a table or JSON. */
#include <stdio.h>
#include <string.h>

#include <mglru/error.h>

#include "cli/mglru/bench_args.h"
#include "cli/mglru/command.h"
#include "report/bench.h"
#include "report/progress.h"

static const char name[] = "bench";

static const char help[] =
    "usage: mglru bench hit|refault|fault|fallocate|rstat|aging|replay [OPTION...]\n"
    "\n"
    "Measures the library on this machine. What is compared runs in turn in short slices; a slice\n"
    "counts only if each thread had its processor for nearly all of it and the threads ran at the\n"
    "same time, so that other work on the machine does not pass for a slow cache.\n"
    "\n"
    "benchmarks\n"
    "  hit              reads of 64 bytes of 4 KiB pages, Zipf 0.99: \"resident\", all pages fit, "
    "and\n"
    "                   \"read-through\", 84 % of them fit; ours, one mutex with a list and a "
    "hash\n"
    "                   map, and pure computing, whose gain from more threads is the best "
    "possible\n"
    "  refault          24 files in memory, one memcg with a limit of a third of them, whole "
    "blocks\n"
    "                   in random order: most reads refault. Also the times of the slowest reads\n"
    "  fault            memory or a file is touched page by page in a memcg of three levels, and\n"
    "                   given back: page_fault1, 2 and 3 of will-it-scale, without page tables\n"
    "  fallocate        a file in memory grows and is truncated: its fallocate1 and 2\n"
    "  rstat            counters of the memcgs of a compile are updated while the tree is flushed\n"
    "  aging            memory is aged again and again through lru_gen, its folios moved one by "
    "one,\n"
    "                   in runs, or as a whole; and in which order they then leave\n"
    "  replay TRACE     accesses of a trace: MGLRU, the classic LRU and LRU, CPU time of each\n"
    "\n"
    "options\n"
    "  --jobs N[,N]     threads; 1,2 by default. The gain is against the first number\n"
    "  --size SIZE      hit: all pages (256M); refault: all files (3G); fault: memory of a thread\n"
    "                   (128M); aging: all memory (512M);\n"
    "                   replay: memory (4096000)\n"
    "  --runs N         7 by default; figures are medians of the runs\n"
    "  --slices N       slices that count, a run and variant (25)\n"
    "  --slice TIME     how long a slice is (10ms); as long before it is not counted\n"
    "  --layout L[,L]   refault, fault, fallocate, rstat: orders of the hot structs' fields: "
    "before, after and "
    "ours\n"
    "                   (all): the kernel's before and after what Linux moved, and the library's\n"
    "  --cpus N[,N]     with layouts: predict the misses of caches for so many CPUs\n"
    "                   (1,8,16,24,52,80)\n"
    "  --rival FILE     hit: further caches from a shared object, as bench/rocksdb builds one\n"
    "  --json FILE      the table for programs; FILE - is standard output\n"
    "  --quiet          no table; --no-progress: no progress bar\n"
    "\n"
    "examples\n"
    "  mglru bench hit\n"
    "  mglru bench hit --rival build/bench/rocksdb/librocksdb-rivals.so --json hit.json\n"
    "  mglru bench refault --jobs 1,2,4 --size 12G\n"
    "  mglru bench replay trace.gz --size 1G --runs 3\n"
    "\n"
    "exit status: 0 done; 2 usage or bad input; 3 the environment refused, or was too busy\n";

struct bar {
    struct report_progress progress;
    bool shown;
};

static void show_progress(void *context, unsigned done, unsigned total)
{
    struct bar *bar = context;
    struct report_progress_point point = {.done = done, .total = total, .items = done};
    if (bar->shown)
        report_progress_update(&bar->progress, &point);
}

static int write_json(const struct bench_args *args, const struct measure_result *result,
                      struct report_error *error)
{
    struct report_out out;
    if (!args->json)
        return MGLRU_OK;
    int code = report_out_open(&out, args->json, error);
    if (code != MGLRU_OK)
        return code;
    report_bench_json(&out, result);
    return report_out_close(&out, error);
}

static int write_all(const struct bench_args *args, const struct measure_result *result,
                     struct report_error *error)
{
    bool taken = args->json && strcmp(args->json, "-") == 0;
    int code = MGLRU_OK;
    if (!args->quiet && !taken) {
        struct report_out out;
        code = report_out_stream(&out, stdout, "standard output");
        if (code == MGLRU_OK) {
            report_bench(&out, result);
            code = report_out_close(&out, error);
        }
    }
    return code ? code : write_json(args, result, error);
}

static int status_of(int code)
{
    return code == MGLRU_EBUSY || code == MGLRU_EAGAIN ? COMMAND_ENVIRONMENT : cli_status_of(code);
}

int command_bench(int argc, char **argv)
{
    struct bench_args args;
    struct args_error wrong;
    if (!bench_args_parse(&args, argc, argv, &wrong))
        return command_fail(name, COMMAND_USAGE, "%s", wrong.text);
    if (args.help) {
        fputs(help, stdout);
        return COMMAND_DONE;
    }
    struct bar bar = {.shown = !args.no_progress && !args.quiet};
    args.options.progress = show_progress;
    args.options.context = &bar;
    if (bar.shown)
        report_progress_begin(&bar.progress, args.name);
    struct measure_result result;
    struct report_error refused = {.text = ""};
    int code = args.measure(&args.options, &result);
    if (bar.shown)
        report_progress_end(&bar.progress);
    if (code == MGLRU_OK) {
        code = write_all(&args, &result, &refused);
        if (code == MGLRU_OK) {
            measure_free(&result);
            return COMMAND_DONE;
        }
    } else {
        snprintf(refused.text, sizeof(refused.text), "%s", result.error);
    }
    measure_free(&result);
    return command_fail(name, status_of(code), "%s",
                        refused.text[0] ? refused.text : mglru_error_text(code));
}
