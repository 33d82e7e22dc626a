/* SPDX-License-Identifier: MIT */
/* The command line of source.h. */
#include "cli/linewise/source.h"

#include <stdio.h>

#include "base/check.h"
#include "cli/linewise/command.h"

#define OWN_MAX 8

enum {
    OPTION_HELP,
    OPTION_LINE,
    OPTION_PROGRAM,
    OPTION_CLASSES_OUT,
    OPTION_JSON,
    OPTION_BTF,
    OPTION_BTF_BASE
};

static const struct args_option common[] = {
    {"--help", false, OPTION_HELP},
    {"-h", false, OPTION_HELP},
    {"--line", true, OPTION_LINE},
    {"--program", true, OPTION_PROGRAM},
    {"--classes-out", true, OPTION_CLASSES_OUT},
    {"--json", true, OPTION_JSON},
    {"--btf", false, OPTION_BTF},
    {"--btf-base", true, OPTION_BTF_BASE},
};

static int take(struct linewise_source *source, const struct linewise_source_syntax *syntax, int id,
                const char *value)
{
    switch (id) {
    case OPTION_LINE:
        if (args_number(value, &source->line_bytes) &&
            (source->line_bytes == 32 || source->line_bytes == 64 || source->line_bytes == 128))
            return LINEWISE_CLEAN;
        return linewise_fail(syntax->command, LINEWISE_USAGE, "--line: '%s' is none of 32, 64, 128",
                             value);
    case OPTION_PROGRAM:
        source->program = value;
        return LINEWISE_CLEAN;
    case OPTION_CLASSES_OUT:
        source->classes_out = value;
        return LINEWISE_CLEAN;
    case OPTION_JSON:
        source->json = value;
        return LINEWISE_CLEAN;
    case OPTION_BTF:
        source->open.prefer_btf = true;
        return LINEWISE_CLEAN;
    case OPTION_BTF_BASE:
        source->open.base = value;
        return LINEWISE_CLEAN;
    default:
        return syntax->take(syntax->context, id, value);
    }
}

static int take_file(struct linewise_source *source, const struct linewise_source_syntax *syntax,
                     const char *value)
{
    if (source->file != NULL)
        return linewise_fail(syntax->command, LINEWISE_USAGE, "one %s at a time; '%s' is a second",
                             syntax->what, value);
    source->file = value;
    return LINEWISE_CLEAN;
}

int linewise_source_read(struct linewise_source *source,
                         const struct linewise_source_syntax *syntax, int argc, char **argv)
{
    struct args_option allowed[MGLRU_ARRAY_LEN(common) + OWN_MAX + 1] = {{0}};
    size_t count = 0;
    for (; count < MGLRU_ARRAY_LEN(common); count++)
        allowed[count] = common[count];
    for (const struct args_option *own = syntax->own; own->name != NULL; own++) {
        MGLRU_CHECK(count < MGLRU_ARRAY_LEN(allowed) - 1);
        allowed[count++] = *own;
    }
    *source = (struct linewise_source){.line_bytes = 64, .open.size_bytes = sizeof(source->open)};
    char full_name[32];
    snprintf(full_name, sizeof(full_name), "linewise %s", syntax->command);
    struct args line = {.argc = argc, .argv = argv, .next = 1};
    for (;;) {
        const char *value;
        struct args_error refused;
        int id = args_next(&line, allowed, &value), status;
        if (id == ARGS_END && source->file != NULL)
            return LINEWISE_CLEAN;
        if (id == ARGS_END)
            return linewise_fail(syntax->command, LINEWISE_USAGE, "no %s was given; %s makes one",
                                 syntax->what, syntax->made_by);
        if (id == OPTION_HELP) {
            fputs(syntax->help, stdout);
            source->help = true;
            return LINEWISE_CLEAN;
        }
        if (id == ARGS_PLAIN)
            status = take_file(source, syntax, value);
        else if (args_refused(id, value, full_name, &refused))
            status = linewise_fail(syntax->command, LINEWISE_USAGE, "%s", refused.text);
        else
            status = take(source, syntax, id, value);
        if (status != LINEWISE_CLEAN)
            return status;
    }
}
