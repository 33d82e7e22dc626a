/* SPDX-License-Identifier: MIT */
/*
 * The CSV twin of the table: one regular table with a "kind" column, so that any program reads it.
 * kind "run" is a whole run, "memcg" one memcg of it, "sample" one point of its series; columns
 * that a kind does not have are empty. Counters of memory.stat follow the fixed columns, in the
 * order in which the runs name them first.
 */
#include "report/report.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct stat_names {
    const char **names;
    size_t count;
};

static size_t figures_in(const struct replay_result *result)
{
    size_t count = 0;
    for (size_t i = 0; i < result->run_count; i++) {
        count += result->runs[i].figures.stats;
        for (size_t j = 0; j < result->runs[i].memcg_count; j++)
            count += result->runs[i].memcgs[j].figures.stats;
    }
    return count;
}

static void add_names(struct stat_names *list, const struct replay_figures *figures)
{
    for (size_t i = 0; i < figures->stats; i++) {
        size_t j = 0;
        while (j < list->count && strcmp(list->names[j], figures->stat[i].name) != 0)
            j++;
        if (j == list->count)
            list->names[list->count++] = figures->stat[i].name;
    }
}

/* All counter names of the result, each once. False: out of memory. */
static bool collect_names(const struct replay_result *result, struct stat_names *list)
{
    *list = (struct stat_names){.names = calloc(figures_in(result) + 1, sizeof(char *))};
    if (list->names == NULL)
        return false;
    for (size_t i = 0; i < result->run_count; i++) {
        add_names(list, &result->runs[i].figures);
        for (size_t j = 0; j < result->runs[i].memcg_count; j++)
            add_names(list, &result->runs[i].memcgs[j].figures);
    }
    return true;
}

/* One field, quoted where a reader would stumble otherwise. */
static void print_text(struct report_out *out, const char *text)
{
    if (text == NULL)
        return;
    if (strpbrk(text, ",\"\r\n") == NULL) {
        report_printf(out, "%s", text);
        return;
    }
    report_printf(out, "\"");
    for (; *text != '\0'; text++)
        report_printf(out, *text == '"' ? "\"\"" : "%c", *text);
    report_printf(out, "\"");
}

static void print_identity(struct report_out *out, const char *kind, const struct replay_run *run,
                           const char *memcg)
{
    report_printf(out, "%s,", kind);
    print_text(out, run->policy);
    report_printf(out, ",");
    print_text(out, run->model);
    report_printf(out, ",");
    print_text(out, run->aging);
    report_printf(out, ",%" PRIu64 ",", run->memory_bytes);
    print_text(out, memcg);
}

static void print_figures(struct report_out *out, const struct replay_figures *figures)
{
    report_printf(out, ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",",
                  figures->accesses, figures->hits, figures->misses, figures->pages_read,
                  figures->first_touches);
    if (figures->accesses > 0)
        report_printf(out, "%.6f", (double)figures->misses / (double)figures->accesses);
    report_printf(out, ",%" PRIu64 ",", figures->aged);
}

static void print_counters(struct report_out *out, const struct stat_names *names,
                           const struct replay_figures *figures)
{
    report_printf(out, ",%" PRIu64 ",%" PRIu64 ",%" PRIu64, figures->readahead_pages,
                  figures->readahead_wasted, figures->pages_written);
    for (size_t i = 0; i < names->count; i++) {
        report_printf(out, ",");
        for (size_t j = 0; j < figures->stats; j++) {
            if (strcmp(figures->stat[j].name, names->names[i]) == 0) {
                report_printf(out, "%" PRIu64, figures->stat[j].value);
                break;
            }
        }
    }
    report_printf(out, "\n");
}

static void print_samples(struct report_out *out, const struct replay_run *run, size_t counters)
{
    for (size_t i = 0; i < run->series_count; i++) {
        const struct replay_sample *sample = &run->series[i];
        print_identity(out, "sample", run, NULL);
        report_printf(out, ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",,,,%" PRIu64 ",,,,,",
                      sample->accesses, sample->hits, sample->misses, sample->pages_read,
                      sample->resident_pages);
        for (size_t j = 0; j < counters; j++)
            report_printf(out, ",");
        report_printf(out, "\n");
    }
}

static void print_run(struct report_out *out, const struct replay_run *run,
                      const struct stat_names *names)
{
    print_identity(out, "run", run, NULL);
    print_figures(out, &run->figures);
    report_printf(out, ",%d,", run->oom);
    print_text(out, run->stat_flush);
    print_counters(out, names, &run->figures);
    for (size_t i = 0; i < run->memcg_count; i++) {
        const struct replay_memcg *memcg = &run->memcgs[i];
        print_identity(out, "memcg", run, memcg->path);
        print_figures(out, &memcg->figures);
        report_printf(out, ",%" PRIu64 ",", memcg->oom_events);
        print_text(out, run->stat_flush);
        print_counters(out, names, &memcg->figures);
    }
    print_samples(out, run, names->count);
}

void report_csv(struct report_out *out, const struct replay_result *result)
{
    struct stat_names names;
    if (!collect_names(result, &names)) {
        if (out->error_errno == 0)
            out->error_errno = ENOMEM;
        return;
    }
    report_printf(out, "kind,policy,model,aging,memory_bytes,memcg,accesses,hits,misses,pages_read,"
                       "first_touches,miss_ratio,aged,resident_pages,oom,stat_flush,"
                       "readahead_pages,readahead_wasted,pages_written");
    for (size_t i = 0; i < names.count; i++) {
        report_printf(out, ",");
        print_text(out, names.names[i]);
    }
    report_printf(out, "\n");
    for (size_t i = 0; i < result->run_count; i++)
        print_run(out, &result->runs[i], &names);
    free(names.names);
}
