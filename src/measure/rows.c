/* SPDX-License-Identifier: MIT */
/* Rows of results, and the line that describes the machine. */
#include "measure/rows.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mglru/error.h>

/* "model name" of the first processor. */
static void read_model(char *text, size_t bytes)
{
    char line[256];
    FILE *file = fopen("/proc/cpuinfo", "r");
    snprintf(text, bytes, "unknown processor");
    while (file && fgets(line, sizeof(line), file)) {
        const char *colon = strchr(line, ':');
        if (strncmp(line, "model name", 10) || !colon)
            continue;
        snprintf(text, bytes, "%s", colon + 2);
        text[strcspn(text, "\n")] = '\0';
        break;
    }
    if (file)
        fclose(file);
}

void rows_begin(struct measure_result *result, const char *bench)
{
    *result = (struct measure_result){.bench = bench};
    char model[128];
    double load[1] = {0};
    read_model(model, sizeof(model));
    if (getloadavg(load, 1) != 1)
        load[0] = 0;
    snprintf(result->machine, sizeof(result->machine), "%s, %u CPUs, load %.1f", model,
             slices_cpus(), load[0]);
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

bool rows_add(struct measure_result *result, const struct row_name *name, double *values,
              unsigned count)
{
    struct measure_row *rows = realloc(result->rows, (result->count + 1) * sizeof(*rows));
    if (!rows) {
        rows_fail(result, MGLRU_ENOMEM, "rows");
        return false;
    }
    qsort(values, count, sizeof(*values), by_value);
    double middle = (values[(count - 1) / 2] + values[count / 2]) / 2;
    result->rows = rows;
    rows[result->count++] = (struct measure_row){.test = name->test,
                                                 .variant = name->variant,
                                                 .jobs = name->jobs,
                                                 .cpus = slices_cpus(),
                                                 .metric = name->metric,
                                                 .unit = name->unit,
                                                 .median = middle,
                                                 .min = values[0],
                                                 .max = values[count - 1],
                                                 .runs = count};
    return true;
}

bool rows_add_predicted(struct measure_result *result, const struct row_name *name, unsigned cpus,
                        double value)
{
    if (!rows_add(result, name, &value, 1))
        return false;
    result->rows[result->count - 1].cpus = cpus;
    result->rows[result->count - 1].predicted = true;
    return true;
}

const char *rows_text(struct measure_result *result, const char *format, ...)
{
    char **texts = realloc(result->texts, (result->text_count + 1) * sizeof(*texts));
    char *text = NULL;
    va_list arguments;
    va_start(arguments, format);
    if (texts) {
        result->texts = texts;
        if (vasprintf(&text, format, arguments) < 0)
            text = NULL;
        texts[result->text_count] = text;
        result->text_count += text != NULL;
    }
    va_end(arguments);
    if (!text)
        rows_fail(result, MGLRU_ENOMEM, "rows");
    return text;
}

bool rows_add_sums(struct measure_result *result, const struct row_name *name,
                   const struct slice_lane *lane, unsigned runs,
                   double (*value)(const struct slice_sum *sum))
{
    double values[SLICES_RUNS_MAX];
    for (unsigned i = 0; i < runs; i++)
        values[i] = value(&lane->sums[i]);
    return rows_add(result, name, values, runs);
}

double rows_cpu_ns(const struct slice_sum *sum)
{
    return sum->cpu_ns / (double)sum->operations;
}

double rows_rate(const struct slice_sum *sum)
{
    return (double)sum->operations / sum->wall_ns * 1e9;
}

double rows_hit_ratio(const struct slice_sum *sum)
{
    return 1.0 - (double)sum->misses / (double)sum->operations;
}

void rows_take_events(struct slice_sum *sum)
{
    double share = (double)sum->operations / (double)sum->all_operations;
    sum->misses = (uint64_t)((double)sum->events * share + 0.5);
}

int rows_fail(struct measure_result *result, int error, const char *what)
{
    if (error == MGLRU_EBUSY)
        snprintf(result->error, sizeof(result->error),
                 "%s: no slice ran undisturbed; the machine is too busy to measure on", what);
    else
        snprintf(result->error, sizeof(result->error), "%s: %s", what, mglru_error_text(error));
    return error;
}
