/* SPDX-License-Identifier: MIT */
/* `mglru merge`: the results of shards become one, as if one process had done all runs. */
#include <stdio.h>
#include <string.h>

#include <mglru/error.h>

#include "cli/args.h"
#include "cli/mglru/command.h"
#include "cli/mglru/values.h"
#include "report/report.h"

static const char name[] = "merge";

enum option_id { OPTION_HELP, OPTION_JSON, OPTION_CSV, OPTION_PLOT, OPTION_QUIET };

static const struct args_option options[] = {
    {"--help", false, OPTION_HELP},
    {"-h", false, OPTION_HELP},
    {"--json", true, OPTION_JSON},
    {"--csv", true, OPTION_CSV},
    {"--plot", true, OPTION_PLOT},
    {"--quiet", false, OPTION_QUIET},
    {NULL, false, 0},
};

struct merge {
    const char **files; /* into argv, in place */
    size_t file_count;
    const char *json;
    const char *csv;
    const char *plot;
    bool quiet;
    bool help;
    struct report_loaded whole;
};

static const char help[] =
    "usage: mglru merge FILE... [--json FILE] [--csv FILE] [--plot FILE.svg|.png] [--quiet]\n"
    "\n"
    "Joins results that `mglru replay --shard I/N --json FILE` wrote into one, as if one process\n"
    "had done all runs. FILE - is standard input for results and standard output for reports.\n"
    "\n"
    "examples\n"
    "  mglru replay big.trace --memory 1G..64G --shard 0/2 --json a.json   # on one machine\n"
    "  mglru replay big.trace --memory 1G..64G --shard 1/2 --json b.json   # on another\n"
    "  mglru merge a.json b.json --json whole.json --plot curve.svg\n"
    "\n"
    "exit status: 0 done; 2 usage or bad input; 3 the environment refused\n";

static bool parse(struct merge *merge, int argc, char **argv, struct args_error *error)
{
    struct args line = {.argc = argc, .argv = argv, .next = 1};
    for (;;) {
        const char *value;
        int id = args_next(&line, options, &value);
        if (args_refused(id, value, "mglru merge", error))
            return false;
        switch (id) {
        case ARGS_END:
            return merge->file_count > 0 || args_fail(error, "no result to merge was given");
        case ARGS_PLAIN:
            merge->files[merge->file_count++] = value;
            break;
        case OPTION_HELP:
            merge->help = true;
            return true;
        case OPTION_QUIET:
            merge->quiet = true;
            break;
        case OPTION_JSON:
            merge->json = value;
            break;
        case OPTION_CSV:
            merge->csv = value;
            break;
        default:
            merge->plot = value;
            break;
        }
    }
}

static int load_all(struct merge *merge, struct report_error *error)
{
    int code = report_json_read(merge->files[0], &merge->whole, error);
    for (size_t i = 1; i < merge->file_count && code == MGLRU_OK; i++) {
        struct report_loaded shard;
        code = report_json_read(merge->files[i], &shard, error);
        if (code != MGLRU_OK)
            break;
        code = report_merge(&merge->whole, &shard, error);
        report_loaded_free(&shard);
        if (code != MGLRU_OK && error->text[0] != '\0') {
            char text[REPORT_ERROR_BYTES];
            memcpy(text, error->text, sizeof(text));
            snprintf(error->text, sizeof(error->text), "%.200s: %.300s", merge->files[i], text);
        }
    }
    return code;
}

/* Writes one report into @path; NULL: not wanted. */
static int write_file(const struct merge *merge, const char *path, bool json,
                      struct report_error *error)
{
    if (path == NULL)
        return MGLRU_OK;
    struct report_out out;
    int code = report_out_open(&out, path, error);
    if (code != MGLRU_OK)
        return code;
    if (json)
        code = report_json(&out, &merge->whole.result, error);
    else
        report_csv(&out, &merge->whole.result);
    if (code == MGLRU_OK)
        return report_out_close(&out, error);
    report_out_abandon(&out);
    return code;
}

static int write_all(const struct merge *merge, struct report_error *error)
{
    const struct replay_result *result = &merge->whole.result;
    const bool taken = (merge->json != NULL && strcmp(merge->json, "-") == 0) ||
                       (merge->csv != NULL && strcmp(merge->csv, "-") == 0);
    int code = MGLRU_OK;
    if (!merge->quiet && !taken) {
        struct report_out out;
        code = report_out_stream(&out, stdout, "standard output");
        if (code == MGLRU_OK) {
            report_table(&out, result);
            report_explain(&out, result);
            code = report_out_close(&out, error);
        }
    }
    if (code == MGLRU_OK)
        code = write_file(merge, merge->json, true, error);
    if (code == MGLRU_OK)
        code = write_file(merge, merge->csv, false, error);
    if (code == MGLRU_OK && merge->plot != NULL)
        code = report_plot(merge->plot, result, error);
    return code;
}

int command_merge(int argc, char **argv)
{
    /* Plain arguments move to the front of argv, behind those already read. */
    struct merge merge = {.files = (const char **)argv};
    struct args_error error;
    if (!parse(&merge, argc, argv, &error))
        return command_fail(name, COMMAND_USAGE, "%s", error.text);
    if (merge.help) {
        fputs(help, stdout);
        return COMMAND_DONE;
    }
    struct report_error refused = {.text = ""};
    int code = load_all(&merge, &refused);
    if (code == MGLRU_OK)
        code = write_all(&merge, &refused);
    report_loaded_free(&merge.whole);
    if (code == MGLRU_OK)
        return COMMAND_DONE;
    return command_fail(name, cli_status_of(code), "%s",
                        refused.text[0] != '\0' ? refused.text : mglru_error_text(code));
}
