/* SPDX-License-Identifier: MIT */
/* `linewise import`: the fields that perf's samples of memory accesses blame. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mglru/error.h>

#include "cli/linewise/command.h"
#include "cli/linewise/session.h"
#include "cli/linewise/source.h"
#include "cli/linewise/subjects.h"
#include "coherence/samples.h"
#include "report/coherence.h"

#define COMMAND "import"
/* Objects of --at. */
#define OBJECTS_MAX 64

static const char help[] =
    "usage: linewise import FILE [--program FILE] [--bias N] [--at ADDRESS=TYPE]... [--line N]\n"
    "                       [--classes-out FILE] [--json FILE]\n"
    "\n"
    "Names the fields behind what perf sampled with the counters of a CPU. FILE is the text of\n"
    "`perf c2c report --stdio`, or of `perf script -F comm,tid,ip,addr,data_src`.\n"
    "\n"
    "  --program FILE      where symbols and debug information are; a kernel's for --at\n"
    "  --bias N            what the loader added to the program's addresses (0)\n"
    "  --at ADDRESS=TYPE   at this address is an object of that type, as perf saw it\n"
    "  --line N            bytes of a line: 32, 64, 128 (64)\n"
    "  --classes-out FILE  a class file of what was sampled, for conflicts and suggest\n"
    "  --json FILE         the pairs for programs; - is standard output\n"
    "\n"
    "examples\n"
    "  perf c2c record -- ./server && perf c2c report --stdio >c2c.txt\n"
    "  linewise import c2c.txt --program server --bias 0x555555554000\n"
    "  linewise import c2c.txt --program vmlinux --at '0xffff888100b52c00=struct lruvec'\n"
    "\n"
    "exit status: 0 done; 2 usage or bad input; 3 the environment refused\n";

struct import {
    struct linewise_source source;
    uint64_t bias;
    struct coherence_object objects[OBJECTS_MAX];
    size_t object_count;
    struct coherence_samples samples;
    struct coherence_result result;
    struct coherence_blame blame;
    struct linewise_subjects subjects;
};

enum { OPTION_BIAS = SOURCE_OPTION_OWN, OPTION_AT };

/* Decimal, or hexadecimal with 0x. */
static bool read_address(const char *text, const char *end, uint64_t *value)
{
    char *stop;
    *value = strtoull(text, &stop, 0);
    return text[0] >= '0' && text[0] <= '9' && stop == end;
}

static int read_at(struct import *import, const char *value)
{
    const char *equals = strchr(value, '=');
    struct coherence_object object = {.order = (uint32_t)import->object_count};
    if (import->object_count == OBJECTS_MAX)
        return linewise_fail(COMMAND, LINEWISE_USAGE, "--at: at most %d objects", OBJECTS_MAX);
    if (equals == NULL || equals[1] == '\0' || !read_address(value, equals, &object.address))
        return linewise_fail(COMMAND, LINEWISE_USAGE,
                             "--at: '%s' is no ADDRESS=TYPE, as in '0x4040=struct foo'", value);
    object.type = equals + 1;
    import->objects[import->object_count++] = object;
    return LINEWISE_CLEAN;
}

static int take_option(void *context, int id, const char *value)
{
    struct import *import = context;
    if (id == OPTION_AT)
        return read_at(import, value);
    if (read_address(value, value + strlen(value), &import->bias))
        return LINEWISE_CLEAN;
    return linewise_fail(COMMAND, LINEWISE_USAGE, "--bias: '%s' is no number", value);
}

static int read_options(struct import *import, int argc, char **argv)
{
    static const struct args_option own[] = {
        {"--bias", true, OPTION_BIAS}, {"--at", true, OPTION_AT}, {NULL, false, 0}};
    const struct linewise_source_syntax syntax = {
        .command = COMMAND,
        .help = help,
        .what = "file",
        .made_by = "`perf c2c report --stdio`",
        .own = own,
        .take = take_option,
        .context = import,
    };
    return linewise_source_read(&import->source, &syntax, argc, argv);
}

static int read_file(struct import *import)
{
    struct coherence_error error;
    struct coherence_bytes bytes;
    int code = coherence_file_open(import->source.file, &bytes, &error);
    if (code == MGLRU_OK)
        code = coherence_samples_parse(&bytes, (uint32_t)import->source.line_bytes,
                                       &import->samples, &error);
    coherence_file_close(&bytes);
    if (code != MGLRU_OK)
        return linewise_fail(COMMAND, cli_status_of(code), "%s", error.text);
    if (import->samples.log.trace.op_count == 0)
        return linewise_fail(COMMAND, LINEWISE_USAGE,
                             "%s: no load or store with an address was sampled",
                             import->source.file);
    return LINEWISE_CLEAN;
}

/* Looks up the objects of --at, which the log does not own, and the program's variables. */
static int name_fields(struct import *import)
{
    struct coherence_log *log = &import->samples.log;
    if (import->source.program != NULL) {
        log->modules[0] =
            (struct coherence_module){.path = import->source.program, .bias = import->bias};
        log->module_count = 1;
    }
    log->objects = import->objects;
    log->object_count = import->object_count;
    int status = linewise_subjects_make(COMMAND, log, import->source.program, &import->source.open,
                                        &import->subjects);
    log->objects = NULL;
    log->object_count = 0;
    return status;
}

static int write_report(struct import *import)
{
    struct linewise_syntax syntax = {.command = COMMAND};
    struct linewise_options options = {.syntax = &syntax};
    const struct coherence_trace *trace = &import->samples.log.trace;
    struct report_samples samples = {.file = import->source.file,
                                     .blame = &import->blame,
                                     .accesses = trace->op_count,
                                     .left_out = import->samples.left_out,
                                     .hitm = import->samples.hitm,
                                     .unknown = import->samples.unknown,
                                     .lines = (uint32_t)trace->line_count};
    struct report_out out;
    int status = linewise_output_open(&options, &out,
                                      import->source.json != NULL ? import->source.json : "-");
    if (status != LINEWISE_CLEAN)
        return status;
    if (import->source.json != NULL)
        report_samples_json(&out, &samples);
    else
        report_samples(&out, &samples);
    return linewise_output_close(&options, &out);
}

static int run(struct import *import)
{
    int status = read_file(import);
    if (status != LINEWISE_CLEAN)
        return status;
    if (coherence_samples_finish(&import->samples, &import->result) != MGLRU_OK)
        return linewise_fail(COMMAND, LINEWISE_ENVIRONMENT, "out of memory");
    status = name_fields(import);
    if (status == LINEWISE_CLEAN)
        status = linewise_uses_write(&import->subjects, &import->samples.log, import->source.file,
                                     import->source.classes_out);
    if (status != LINEWISE_CLEAN)
        return status;
    if (coherence_blame_make(&import->samples.log.trace, &import->result,
                             &import->subjects.subjects, &import->blame) != MGLRU_OK)
        return linewise_fail(COMMAND, LINEWISE_ENVIRONMENT, "out of memory");
    return write_report(import);
}

int linewise_import(int argc, char **argv)
{
    struct import *import = calloc(1, sizeof(*import));
    if (import == NULL)
        return linewise_fail(COMMAND, LINEWISE_ENVIRONMENT, "out of memory");
    int status = read_options(import, argc, argv);
    if (status == LINEWISE_CLEAN && !import->source.help)
        status = run(import);
    coherence_blame_free(&import->blame);
    coherence_result_free(&import->result);
    linewise_subjects_free(&import->subjects);
    coherence_samples_free(&import->samples);
    free(import);
    return status;
}
