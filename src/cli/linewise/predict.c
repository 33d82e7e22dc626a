/* SPDX-License-Identifier: MIT */
/* `linewise predict`: what a recording costs on more CPUs, and which fields are to blame. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mglru/error.h>

#include "cli/linewise/command.h"
#include "cli/linewise/session.h"
#include "cli/linewise/source.h"
#include "cli/linewise/subjects.h"
#include "coherence/log.h"
#include "coherence/predict.h"
#include "report/coherence.h"

#define COMMAND "predict"
#define CPU_COUNTS_MAX 16
#define LATENCY_LOW_NS 40
#define LATENCY_HIGH_NS 200
/* Accesses of a run, all CPUs together: a second or two. */
#define OPS_MAX 4000000u

static const char help[] =
    "usage: linewise predict LOG [--cpus N[,N...]] [--latency A..B] [--line N]\n"
    "                        [--program FILE] [--classes-out FILE] [--json FILE]\n"
    "\n"
    "Predicts from a recording (linewise record) how often CPUs take a line from each other,\n"
    "per operation, and names the pairs of fields. More CPUs than the program had threads\n"
    "repeat the threads.\n"
    "\n"
    "  --cpus N[,N...]     numbers of CPUs, 1..256 (2,8,24)\n"
    "  --latency A..B      how long a line takes from CPU to CPU, in ns (40..200)\n"
    "  --line N            bytes of a line: 32, 64, 128 (64)\n"
    "  --program FILE      where symbols and debug information are (the recorded program)\n"
    "  --classes-out FILE  a class file of what was recorded, for conflicts and suggest\n"
    "  --json FILE         the prediction for programs; - is standard output\n"
    "\n"
    "Misses are the most over three orders of the accesses: as recorded, and by the CPUs'\n"
    "clocks one and 16 at a time. The slowdown is against the same accesses without them.\n"
    "\n"
    "examples\n"
    "  linewise record -o server.log -- ./server && linewise predict server.log\n"
    "  linewise predict server.log --cpus 2,24,128 --json -\n"
    "  linewise predict server.log --classes-out server.classes\n"
    "\n"
    "exit status: 0 done; 2 usage or bad input; 3 the environment refused\n";

struct predict {
    struct linewise_source source;
    uint32_t cpus[CPU_COUNTS_MAX];
    size_t cpu_count;
    uint32_t latency_ns[2];
    struct coherence_log log;
    struct linewise_subjects subjects;
    struct coherence_prediction predictions[CPU_COUNTS_MAX];
};

static int read_cpus(struct predict *predict, const char *value)
{
    struct args_list list;
    int status = LINEWISE_CLEAN;
    if (!args_list_split(&list, value))
        return linewise_fail(COMMAND, LINEWISE_ENVIRONMENT, "out of memory");
    predict->cpu_count = 0;
    for (size_t i = 0; i < list.count && status == LINEWISE_CLEAN; i++) {
        uint64_t number;
        if (predict->cpu_count == CPU_COUNTS_MAX || !args_number(list.items[i], &number) ||
            number == 0 || number > COHERENCE_CPUS_MAX)
            status = linewise_fail(COMMAND, LINEWISE_USAGE,
                                   "--cpus: '%s' is no list of at most %d numbers in 1..%u", value,
                                   CPU_COUNTS_MAX, COHERENCE_CPUS_MAX);
        else
            predict->cpus[predict->cpu_count++] = (uint32_t)number;
    }
    args_list_free(&list);
    return status;
}

/* "40..200" or "60". */
static int read_latency(struct predict *predict, const char *value)
{
    char first[16] = "";
    uint64_t low, high;
    const char *dots = strstr(value, "..");
    size_t length = dots != NULL ? (size_t)(dots - value) : strlen(value);
    if (length < sizeof(first))
        memcpy(first, value, length);
    if (!args_number(first, &low) || !args_number(dots != NULL ? dots + 2 : first, &high) ||
        low == 0 || low > high || high > COHERENCE_LATENCY_MAX_NS)
        return linewise_fail(COMMAND, LINEWISE_USAGE,
                             "--latency: '%s' is no range of nanoseconds, as in 40..200", value);
    predict->latency_ns[0] = (uint32_t)low;
    predict->latency_ns[1] = (uint32_t)high;
    return LINEWISE_CLEAN;
}

enum { OPTION_CPUS = SOURCE_OPTION_OWN, OPTION_LATENCY };

static int take_option(void *context, int id, const char *value)
{
    return id == OPTION_CPUS ? read_cpus(context, value) : read_latency(context, value);
}

static int read_options(struct predict *predict, int argc, char **argv)
{
    static const struct args_option own[] = {
        {"--cpus", true, OPTION_CPUS}, {"--latency", true, OPTION_LATENCY}, {NULL, false, 0}};
    const struct linewise_source_syntax syntax = {
        .command = COMMAND,
        .help = help,
        .what = "log",
        .made_by = "`linewise record -o LOG -- COMMAND`",
        .own = own,
        .take = take_option,
        .context = predict,
    };
    return linewise_source_read(&predict->source, &syntax, argc, argv);
}

static int predict_all(struct predict *predict)
{
    for (size_t i = 0; i < predict->cpu_count; i++) {
        struct coherence_wish wish = {
            predict->cpus[i], {predict->latency_ns[0], predict->latency_ns[1]}, OPS_MAX, false};
        if (coherence_predict(&predict->log.trace, &predict->subjects.subjects, &wish,
                              &predict->predictions[i]) != MGLRU_OK)
            return linewise_fail(COMMAND, LINEWISE_ENVIRONMENT, "out of memory");
    }
    return LINEWISE_CLEAN;
}

static int write_report(struct predict *predict)
{
    struct linewise_syntax syntax = {.command = COMMAND};
    struct linewise_options options = {.syntax = &syntax};
    const struct coherence_trace *trace = &predict->log.trace;
    const uint64_t *totals = predict->log.totals;
    struct report_forecast forecast = {
        .log = predict->source.file,
        .predictions = predict->predictions,
        .prediction_count = predict->cpu_count,
        .accesses = trace->op_count,
        .lost = totals[LOG_TOTAL_LOST],
        .threads = trace->thread_count,
        .counted_operations = trace->operations > 0,
        .latency_ns = {predict->latency_ns[0], predict->latency_ns[1]},
    };
    struct report_out out;
    int status = linewise_output_open(&options, &out,
                                      predict->source.json != NULL ? predict->source.json : "-");
    if (status != LINEWISE_CLEAN)
        return status;
    if (predict->source.json != NULL)
        report_forecast_json(&out, &forecast);
    else
        report_forecast(&out, &forecast);
    return linewise_output_close(&options, &out);
}

static int run(struct predict *predict)
{
    struct coherence_error error;
    int code = coherence_log_read(predict->source.file, (uint32_t)predict->source.line_bytes,
                                  &predict->log, &error);
    if (code != MGLRU_OK)
        return linewise_fail(COMMAND, cli_status_of(code), "%s", error.text);
    if (predict->log.trace.op_count == 0)
        return linewise_fail(COMMAND, LINEWISE_USAGE,
                             "%s: no access was recorded: was anything watched?",
                             predict->source.file);
    int status = linewise_subjects_make(COMMAND, &predict->log, predict->source.program,
                                        &predict->source.open, &predict->subjects);
    if (status == LINEWISE_CLEAN)
        status = linewise_uses_write(&predict->subjects, &predict->log, predict->source.file,
                                     predict->source.classes_out);
    if (status == LINEWISE_CLEAN)
        status = predict_all(predict);
    return status == LINEWISE_CLEAN ? write_report(predict) : status;
}

int linewise_predict(int argc, char **argv)
{
    struct predict *predict = calloc(1, sizeof(*predict));
    if (predict == NULL)
        return linewise_fail(COMMAND, LINEWISE_ENVIRONMENT, "out of memory");
    predict->cpus[0] = 2;
    predict->cpus[1] = 8;
    predict->cpus[2] = 24;
    predict->cpu_count = 3;
    predict->latency_ns[0] = LATENCY_LOW_NS;
    predict->latency_ns[1] = LATENCY_HIGH_NS;
    int status = read_options(predict, argc, argv);
    if (status == LINEWISE_CLEAN && !predict->source.help)
        status = run(predict);
    for (size_t i = 0; i < predict->cpu_count; i++)
        coherence_prediction_free(&predict->predictions[i]);
    linewise_subjects_free(&predict->subjects);
    coherence_log_free(&predict->log);
    free(predict);
    return status;
}
