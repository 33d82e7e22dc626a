/* SPDX-License-Identifier: MIT */
/* Opening, filling and completing outputs; see replay_outputs.h. */
#include "cli/mglru/replay_outputs.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mglru/error.h>

#include "cli/mglru/reading.h"
#include "report/report.h"

static int open_one(struct replay_outputs *outputs, struct report_out *out,
                    const struct replay_args *args, const char *path, struct report_error *error)
{
    if (path == NULL)
        return MGLRU_OK;
    outputs->stdout_taken = outputs->stdout_taken || strcmp(path, "-") == 0;
    int code = reading_check_output(path, args->traces, args->trace_count, error);
    return code == MGLRU_OK ? report_out_open(out, path, error) : code;
}

/* Writes what the mark %@mark stands for; false: there is no such mark. */
static bool expand_mark(char mark, const struct replay_spec *spec, char *text, size_t bytes)
{
    switch (mark) {
    case 'p':
        snprintf(text, bytes, "%s", spec->policy);
        return true;
    case 'm':
        snprintf(text, bytes, "%s", spec->model != NULL ? spec->model : "none");
        return true;
    case 'b':
        snprintf(text, bytes, "%" PRIu64, spec->memory_bytes);
        return true;
    case 'i':
        snprintf(text, bytes, "%" PRIu32, spec->index);
        return true;
    case '%':
        snprintf(text, bytes, "%%");
        return true;
    default:
        return false;
    }
}

/* The name of a run's file; to be freed. */
static int expand_name(const char *pattern, const struct replay_spec *spec, char **name,
                       struct report_error *error)
{
    size_t bytes = 0;
    FILE *out = open_memstream(name, &bytes);
    if (out == NULL)
        return MGLRU_ENOMEM;
    int code = MGLRU_OK;
    for (const char *c = pattern; *c != '\0' && code == MGLRU_OK; c++) {
        char text[64];
        if (*c != '%') {
            fputc(*c, out);
        } else if (expand_mark(c[1], spec, text, sizeof(text))) {
            fputs(text, out);
            c++;
        } else {
            snprintf(error->text, sizeof(error->text),
                     "--miss-bits %s: after %% only p, m, b, i and %% have a meaning", pattern);
            code = MGLRU_EINVAL;
        }
    }
    if (fclose(out) != 0 && code == MGLRU_OK)
        code = MGLRU_ENOMEM;
    return code;
}

/* Opens the file of run @i, whose name no run before it may have. */
static int open_miss_bits(struct replay_outputs *outputs, const struct replay_args *args, size_t i,
                          struct report_error *error)
{
    char *name = NULL;
    int code = expand_name(args->miss_bits, &args->specs[i], &name, error);
    for (size_t j = 0; j < i && code == MGLRU_OK; j++) {
        if (strcmp(outputs->miss_bits[j].path, name) != 0)
            continue;
        snprintf(error->text, sizeof(error->text),
                 "--miss-bits %s: two runs would write to %s: tell them apart by %%p, %%m, %%b or "
                 "%%i",
                 args->miss_bits, name);
        code = MGLRU_EINVAL;
    }
    if (code == MGLRU_OK)
        code = open_one(outputs, &outputs->miss_bits[i], args, name, error);
    free(name);
    return code;
}

int replay_outputs_open(struct replay_outputs *outputs, const struct replay_args *args,
                        struct report_error *error)
{
    *outputs = (struct replay_outputs){0};
    error->text[0] = '\0';
    int code = open_one(outputs, &outputs->json, args, args->json, error);
    if (code == MGLRU_OK)
        code = open_one(outputs, &outputs->csv, args, args->csv, error);
    if (code == MGLRU_OK && args->write_native != NULL) {
        outputs->stdout_taken = outputs->stdout_taken || strcmp(args->write_native, "-") == 0;
        code = reading_check_output(args->write_native, args->traces, args->trace_count, error);
    }
    if (code == MGLRU_OK)
        code = reading_check_output(args->plot, args->traces, args->trace_count, error);
    if (code == MGLRU_OK && args->miss_bits != NULL) {
        outputs->miss_bits = calloc(args->spec_count, sizeof(*outputs->miss_bits));
        if (outputs->miss_bits == NULL)
            code = MGLRU_ENOMEM;
        for (size_t i = 0; i < args->spec_count && code == MGLRU_OK; i++) {
            code = open_miss_bits(outputs, args, i, error);
            outputs->miss_bits_count = i + 1;
        }
    }
    if (code != MGLRU_OK && error->text[0] == '\0')
        snprintf(error->text, sizeof(error->text), "%s", mglru_error_text(code));
    return code;
}

void replay_outputs_abandon(struct replay_outputs *outputs)
{
    report_out_abandon(&outputs->json);
    report_out_abandon(&outputs->csv);
    trace_writer_discard(outputs->native);
    for (size_t i = 0; i < outputs->miss_bits_count; i++)
        report_out_abandon(&outputs->miss_bits[i]);
    free(outputs->miss_bits);
    *outputs = (struct replay_outputs){0};
}

/* The table and what goes with it, on standard output. @plot: draw with characters in any case. */
static int print_table(const struct replay_args *args, const struct replay_result *result,
                       bool plot, struct report_error *error)
{
    struct report_out out;
    struct report_style style;
    int code = report_out_stream(&out, stdout, "standard output");
    if (code != MGLRU_OK)
        return code;
    report_style_detect(stdout, &style);
    report_table(&out, result);
    if (args->explain)
        report_explain(&out, result);
    if (report_can_plot(result) && (plot || style.terminal))
        report_terminal_plot(&out, result, &style);
    return report_out_close(&out, error);
}

int replay_outputs_native(struct replay_outputs *outputs, const struct replay_args *args,
                          const struct replay_records *records, struct replay_error *error)
{
    struct trace_error said = {.text = ""};
    int code = MGLRU_OK;
    if (outputs->native == NULL)
        code = trace_writer_open(args->write_native, records->page_bytes, &outputs->native, &said);
    for (size_t i = 0; i < records->count && code == MGLRU_OK; i++) {
        const struct trace_record *record = &records->records[i];
        const bool global = record->op == TRACE_LRU_GEN;
        const char *memcg =
            global ? NULL : replay_names_at(records->names, REPLAY_MEMCG, record->memcg);
        const char *object = record->op < TRACE_MKDIR
                                 ? replay_names_at(records->names, REPLAY_OBJECT, record->object)
                                 : NULL;
        code = trace_writer_put(outputs->native, record, memcg, object, &said);
    }
    if (code != MGLRU_OK)
        snprintf(error->text, sizeof(error->text), "%s", said.text);
    return code;
}

/* Completes the native trace. */
static int commit_native(struct replay_outputs *outputs, struct report_error *error)
{
    if (outputs->native == NULL)
        return MGLRU_OK;
    struct trace_error said = {.text = ""};
    int code = trace_writer_commit(outputs->native, &said);
    outputs->native = NULL;
    if (code != MGLRU_OK)
        snprintf(error->text, sizeof(error->text), "%s", said.text);
    return code;
}

/* Completes the files; the first error is returned, the others' files are completed all the same
 * where they can be. */
static int close_all(struct replay_outputs *outputs, struct report_error *error)
{
    struct report_out *files[] = {&outputs->json, &outputs->csv};
    const size_t fixed = sizeof(files) / sizeof(files[0]);
    int first = commit_native(outputs, error);
    for (size_t i = 0; i < fixed + outputs->miss_bits_count; i++) {
        struct report_error said;
        int code = report_out_close(i < fixed ? files[i] : &outputs->miss_bits[i - fixed], &said);
        if (code == MGLRU_OK || first != MGLRU_OK)
            continue;
        first = code;
        *error = said;
    }
    return first;
}

/* The plot; where gnuplot is missing, the same with characters on standard output. */
static int draw(const struct replay_outputs *outputs, const struct replay_args *args,
                const struct replay_result *result, struct report_error *error)
{
    if (args->plot == NULL)
        return MGLRU_OK;
    int code = report_plot(args->plot, result, error);
    if (code != MGLRU_ENOTSUP || outputs->stdout_taken || args->quiet)
        return code;
    struct report_error ignored;
    struct report_out out;
    struct report_style style;
    report_style_detect(stdout, &style);
    if (!style.terminal && report_out_stream(&out, stdout, "standard output") == MGLRU_OK) {
        report_terminal_plot(&out, result, &style);
        (void)report_out_close(&out, &ignored);
    }
    return code;
}

int replay_outputs_finish(struct replay_outputs *outputs, const struct replay_args *args,
                          const struct replay_result *result, struct report_error *error)
{
    error->text[0] = '\0';
    int code = MGLRU_OK;
    if (args->spec_count > 0 && !args->quiet && !outputs->stdout_taken)
        code = print_table(args, result, false, error);
    struct report_error said = {.text = ""};
    if (args->json != NULL) {
        int written = report_json(&outputs->json, result, &said);
        if (written != MGLRU_OK) {
            report_out_abandon(&outputs->json);
            if (code == MGLRU_OK) {
                code = written;
                *error = said;
            }
        }
    }
    if (args->csv != NULL)
        report_csv(&outputs->csv, result);
    int closed = close_all(outputs, &said);
    if (code == MGLRU_OK && closed != MGLRU_OK) {
        code = closed;
        *error = said;
    }
    int drawn = draw(outputs, args, result, &said);
    if (code == MGLRU_OK && drawn != MGLRU_OK) {
        code = drawn;
        *error = said;
    }
    if (code != MGLRU_OK && error->text[0] == '\0')
        snprintf(error->text, sizeof(error->text), "%s", mglru_error_text(code));
    return code;
}
