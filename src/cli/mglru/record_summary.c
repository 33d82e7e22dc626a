/* SPDX-License-Identifier: MIT */
/* What `mglru record` says at its end. */
#include <inttypes.h>
#include <stdio.h>

#include "cli/mglru/record_args.h"
#include "report/number.h"

/* "12,345 WHAT" */
static void print_count(const char *before, uint64_t count, const char *what)
{
    char text[REPORT_NUMBER_BYTES];
    report_number_count(count, text, sizeof(text));
    fprintf(stderr, "%s%s %s", before, text, what);
}

static void print_end(const struct record_report *report)
{
    static const char *const ends[] = {[RECORD_END_TARGET] = NULL,
                                       [RECORD_END_GONE] = "the cgroup was removed",
                                       [RECORD_END_SIGNAL] = "a signal came",
                                       [RECORD_END_TIME] = "--duration was reached",
                                       [RECORD_END_BYTES] = "--max-size was reached"};
    if (ends[report->end] != NULL)
        fprintf(stderr, "  ended      %s; the trace is whole up to there\n", ends[report->end]);
    if (report->command != 0)
        fputs("  command    runs on; waiting for its end\n", stderr);
}

static void print_events(const struct record_report *report)
{
    print_count("  events     ", report->events, "taken, ");
    if (report->lost == 0) {
        fputs("none lost\n", stderr);
        return;
    }
    print_count("", report->lost, "LOST, so the trace has holes (");
    for (unsigned i = 0, said = 0; i < report->cpus; i++)
        if (report->lost_on[i] > 0)
            fprintf(stderr, "%sCPU %u: %" PRIu64, said++ > 0 ? ", " : "", i, report->lost_on[i]);
    fputs("); a larger --buffer helps\n", stderr);
}

/* What the events cost the program, in relation to what it did. */
static void print_overhead(const struct record_options *options, const struct record_report *report)
{
    const double cost_ns = report->event_ns * (double)report->events;
    const bool of_command = options->target == RECORD_COMMAND && report->cpu_ns > 0;
    const double base_ns = (double)(of_command ? report->cpu_ns : report->duration_ns);
    if (report->event_ns <= 0) {
        fputs("  overhead   below what can be measured here\n", stderr);
    } else {
        fprintf(stderr, "  overhead   %.0f ns an event, measured before the start: %.2f s in all",
                report->event_ns, cost_ns / 1e9);
        /* The command's own time holds the cost. */
        const double rest_ns = of_command ? base_ns - cost_ns : base_ns;
        if (rest_ns > 0)
            fprintf(stderr, ", %.1f %% of %s", 100 * cost_ns / rest_ns,
                    of_command ? "the command's CPU time without it" : "one CPU");
        fputc('\n', stderr);
    }
    fprintf(stderr, "  recorder   %.2f s of CPU time of its own\n",
            (double)report->own_cpu_ns / 1e9);
}

static void print_unseen(const struct record_report *report)
{
    const struct {
        bool missing;
        const char *what;
    } rows[] = {{report->no_faults, "faults on mapped files (no filemap:mm_filemap_fault here)"},
                {report->no_maps, "pages mapped around faults (no filemap:mm_filemap_map_pages)"},
                {report->no_adds, "pages that come in (no filemap:mm_filemap_add_to_page_cache)"},
                {report->no_frees, "files that are deleted or truncated (tracepoints missing)"},
                {report->no_dirty, "writes (no writeback:writeback_dirty_folio here)"},
                {report->no_opens, "opens (no syscalls:sys_enter_openat here)"},
                {!report->no_dirty, "writes to pages that are dirty already"}};
    const char *before = "  not seen   ";
    if (report->mapped_pages > 0) {
        print_count(
            before, report->mapped_pages,
            "accesses through mappings are first touches: what mapped pages do\n"
            "             between faults no tracepoint tells, so they seem colder than they "
            "are\n");
        before = "             ";
    }
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (rows[i].missing) {
            fprintf(stderr, "%s%s\n", before, rows[i].what);
            before = "             ";
        }
    if (report->metadata_pages > 0)
        print_count(before, report->metadata_pages,
                    "pages of file systems' metadata came in; their use is not seen\n");
}

void record_summary(const struct record_options *options, const struct record_report *report)
{
    fprintf(stderr, "mglru record: %s: ", options->output);
    print_count("", report->accesses, "page accesses in ");
    print_count("", report->requests, "requests to ");
    print_count("", report->files, "files, ");
    fprintf(stderr, "%.2f s\n", (double)report->duration_ns / 1e9);
    print_end(report);
    print_events(report);
    print_overhead(options, report);
    print_count("  cache      ", report->added_pages, "pages came in, reclaim took ");
    print_count("", report->reclaimed_pages,
                report->reclaimed_pages > 0 ? "(memory was scarce meanwhile)\n" : "\n");
    if (report->unnamed > 0)
        print_count("  names      ", report->unnamed,
                    "files are named by device and inode: deleted, or not found in time\n");
    print_unseen(report);
}
