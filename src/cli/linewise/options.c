/* SPDX-License-Identifier: MIT */
/* Reads the command lines of analyses; see options.h. */
#include "cli/linewise/options.h"

#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "cli/linewise/command.h"
#include "cli/args.h"
#include "layout/conflicts.h"

enum {
    OPTION_HELP,
    OPTION_CLASSES,
    OPTION_LINE,
    OPTION_BASE,
    OPTION_UNICODE,
    OPTION_JSON,
    OPTION_PATCH,
    OPTION_LOCK,
    OPTION_OUTPUT,
    OPTION_HTML,
    OPTION_LINES,
    OPTION_SORT,
    OPTION_HOLES,
    OPTION_MIN_SIZE,
    OPTION_BTF,
    OPTION_BTF_BASE
};

static const struct {
    struct args_option option;
    unsigned takes; /* 0: every command */
} known[] = {
    {{"--help", false, OPTION_HELP}, 0},
    {{"-h", false, OPTION_HELP}, 0},
    {{"--classes", true, OPTION_CLASSES}, TAKES_CLASSES},
    {{"--line", true, OPTION_LINE}, TAKES_LINE},
    {{"--base", true, OPTION_BASE}, TAKES_BASE},
    {{"--unicode", false, OPTION_UNICODE}, TAKES_UNICODE},
    {{"--json", true, OPTION_JSON}, TAKES_JSON},
    {{"--patch", false, OPTION_PATCH}, TAKES_PATCH},
    {{"--lock", true, OPTION_LOCK}, TAKES_LOCK},
    {{"-o", true, OPTION_OUTPUT}, TAKES_OUTPUT},
    {{"--html", true, OPTION_HTML}, TAKES_HTML},
    {{"--lines", true, OPTION_LINES}, TAKES_LINES},
    {{"--sort", true, OPTION_SORT}, TAKES_FILTERS},
    {{"--holes", false, OPTION_HOLES}, TAKES_FILTERS},
    {{"--min-size", true, OPTION_MIN_SIZE}, TAKES_FILTERS},
    {{"--btf", false, OPTION_BTF}, 0},
    {{"--btf-base", true, OPTION_BTF_BASE}, 0},
};

static int read_line(struct linewise_options *options, const char *value)
{
    if (args_number(value, &options->line_bytes) && options->line_bytes >= LAYOUT_LINE_MIN &&
        options->line_bytes <= LAYOUT_LINE_MAX &&
        (options->line_bytes & (options->line_bytes - 1)) == 0) {
        options->line_given = true;
        return LINEWISE_CLEAN;
    }
    return linewise_fail(options->syntax->command, LINEWISE_USAGE,
                         "--line: '%s' is no power of 2 in %u..%u", value, LAYOUT_LINE_MIN,
                         LAYOUT_LINE_MAX);
}

static int read_base(struct linewise_options *options, const char *value)
{
    options->any_base = strcmp(value, "any") == 0;
    if (options->any_base)
        return LINEWISE_CLEAN;
    if (args_number(value, &options->base_bytes) && options->base_bytes < LAYOUT_LINE_MAX)
        return LINEWISE_CLEAN;
    return linewise_fail(options->syntax->command, LINEWISE_USAGE,
                         "--base: '%s' is neither 'any' nor a number of bytes below a line", value);
}

/* "25" or "20-26". */
static int read_lines(struct linewise_options *options, const char *value)
{
    char first[32];
    const char *dash = strchr(value, '-');
    size_t length = dash != NULL ? (size_t)(dash - value) : strlen(value);
    snprintf(first, sizeof(first), "%.*s", (int)(length < 31 ? length : 31), value);
    if (args_number(first, &options->lines[0]) &&
        args_number(dash != NULL ? dash + 1 : first, &options->lines[1]) &&
        options->lines[0] <= options->lines[1]) {
        options->some_lines = true;
        return LINEWISE_CLEAN;
    }
    return linewise_fail(options->syntax->command, LINEWISE_USAGE,
                         "--lines: '%s' is no line or range of lines, as in 20-26", value);
}

static int read_sort(struct linewise_options *options, const char *value)
{
    static const char *const keys[] = {"name", "size", "lines", "holes", "unused"};
    for (unsigned i = 0; i < MGLRU_ARRAY_LEN(keys); i++)
        if (strcmp(value, keys[i]) == 0) {
            options->sort = (enum linewise_sort)i;
            return LINEWISE_CLEAN;
        }
    return linewise_fail(options->syntax->command, LINEWISE_USAGE,
                         "--sort: '%s' is none of name, size, lines, holes, unused", value);
}

/* Options that say which types a list shows, and how the file is read. */
static int read_filter(struct linewise_options *options, int id, const char *value)
{
    switch (id) {
    case OPTION_SORT:
        return read_sort(options, value);
    case OPTION_HOLES:
        options->holes = true;
        return LINEWISE_CLEAN;
    case OPTION_MIN_SIZE:
        if (args_size(value, &options->min_size))
            return LINEWISE_CLEAN;
        return linewise_fail(options->syntax->command, LINEWISE_USAGE,
                             "--min-size: '%s' is no number of bytes", value);
    case OPTION_BTF:
        options->btf = true;
        return LINEWISE_CLEAN;
    default:
        options->btf_base = value;
        return LINEWISE_CLEAN;
    }
}

static int read_option(struct linewise_options *options, int id, const char *value)
{
    switch (id) {
    case OPTION_CLASSES:
        options->classes = value;
        break;
    case OPTION_LINE:
        return read_line(options, value);
    case OPTION_BASE:
        return read_base(options, value);
    case OPTION_UNICODE:
        options->unicode = true;
        break;
    case OPTION_JSON:
        options->json = value;
        break;
    case OPTION_PATCH:
        options->patch = true;
        break;
    case OPTION_LOCK:
        options->lock = value;
        break;
    case OPTION_OUTPUT:
        options->output = value;
        break;
    case OPTION_HTML:
        options->html = value;
        break;
    case OPTION_LINES:
        return read_lines(options, value);
    default:
        return read_filter(options, id, value);
    }
    return LINEWISE_CLEAN;
}

/* Looks at what only the whole line shows. */
static int check_whole(const struct linewise_options *options, unsigned files)
{
    const struct linewise_syntax *syntax = options->syntax;
    if (files < syntax->files)
        return linewise_fail(syntax->command, LINEWISE_USAGE,
                             syntax->files == 1 ? "no file was given; `linewise %s --help`"
                                                : "two files are needed; `linewise %s --help`",
                             syntax->command);
    if (syntax->needs_type && options->type_count == 0)
        return linewise_fail(syntax->command, LINEWISE_USAGE,
                             "no type was given; `linewise list %s` shows them", options->files[0]);
    if (!options->any_base && options->base_bytes >= options->line_bytes)
        return linewise_fail(
            syntax->command, LINEWISE_USAGE, "--base: %llu is not below the line of %llu bytes",
            (unsigned long long)options->base_bytes, (unsigned long long)options->line_bytes);
    return LINEWISE_CLEAN;
}

int linewise_options_parse(int argc, char **argv, const struct linewise_syntax *syntax,
                           struct linewise_options *options)
{
    struct args_option allowed[MGLRU_ARRAY_LEN(known) + 1] = {{0}};
    size_t count = 0;
    for (size_t i = 0; i < MGLRU_ARRAY_LEN(known); i++)
        if (known[i].takes == 0 || (syntax->takes & known[i].takes) != 0)
            allowed[count++] = known[i].option;
    struct args line = {.argc = argc, .argv = argv, .next = 1};
    unsigned files = 0;
    char full_name[32];
    snprintf(full_name, sizeof(full_name), "linewise %s", syntax->command);
    *options = (struct linewise_options){
        .syntax = syntax, .types = (const char **)(void *)argv, .line_bytes = 64};
    for (;;) {
        const char *value;
        int id = args_next(&line, allowed, &value);
        int status = LINEWISE_CLEAN;
        struct args_error refused;
        if (id == ARGS_END)
            return check_whole(options, files);
        if (id == ARGS_PLAIN && files < syntax->files)
            options->files[files++] = value;
        else if (id == ARGS_PLAIN)
            options->types[options->type_count++] = value; /* behind what was read already */
        else if (args_refused(id, value, full_name, &refused))
            status = linewise_fail(syntax->command, LINEWISE_USAGE, "%s", refused.text);
        else if (id == OPTION_HELP) {
            fputs(syntax->help, stdout);
            options->help = true;
            return LINEWISE_CLEAN;
        } else
            status = read_option(options, id, value);
        if (status != LINEWISE_CLEAN)
            return status;
    }
}
