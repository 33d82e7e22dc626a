/* SPDX-License-Identifier: MIT */
/* `linewise list`: the types of a file. */
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mglru/error.h>

#include "cli/linewise/command.h"
#include "cli/linewise/session.h"
#include "report/types.h"

static const struct linewise_syntax syntax = {
    .command = "list",
    .takes = TAKES_LINE | TAKES_HTML | TAKES_JSON | TAKES_FILTERS,
    .files = 1,
    .help =
        "usage: linewise list FILE [TYPE...] [--sort KEY] [--holes] [--min-size SIZE]\n"
        "                     [--line N] [--html FILE] [--json FILE]\n"
        "\n"
        "Lists the structs, unions and classes of FILE. TYPE is a name, or a pattern as of the\n"
        "shell ('lru_*').\n"
        "\n"
        "  --sort KEY       name (default), size, lines, holes, unused: the most first\n"
        "  --holes          only types with holes\n"
        "  --min-size SIZE  only types of at least so many bytes\n"
        "  --line N         bytes of a line (64)\n"
        "  --html FILE      the table as a page; - is standard output\n"
        "  --json FILE      the table for programs\n"
        "\n"
        "size, lines, align: of the type; holes: how many there are between its members;\n"
        "unused: bytes in them, and bits (+3b) beside bit-fields; padding: behind the last one\n"
        "\n"
        "examples\n"
        "  linewise list /sys/kernel/btf/vmlinux 'lru*'\n"
        "  linewise list ./server --sort unused --min-size 256\n"
        "  linewise list /boot/vmlinuz-6.12 --json -\n"
        "\n"
        "exit status: 0 done; 2 usage or bad input, or no type fits; 3 the environment refused\n",
};

static bool wanted(const struct linewise_options *options, const struct layout_type *type)
{
    struct layout_summary summary;
    bool named = options->type_count == 0;
    for (size_t i = 0; i < options->type_count && !named; i++)
        named = fnmatch(options->types[i], type->name, 0) == 0 ||
                fnmatch(options->types[i], type->display, 0) == 0;
    if (!named || type->size_bytes < options->min_size)
        return false;
    layout_summarise(type, &summary);
    return !options->holes || summary.holes + summary.bit_holes > 0;
}

/* What the list is sorted by, larger first; 0 leaves the order of names. */
static uint64_t weight(const struct layout_type *type, enum linewise_sort sort)
{
    struct layout_summary summary;
    layout_summarise(type, &summary);
    switch (sort) {
    case SORT_SIZE:
    case SORT_LINES:
        return type->size_bytes;
    case SORT_HOLES:
        return summary.holes + summary.bit_holes;
    case SORT_UNUSED:
        return summary.hole_bytes * 8 + summary.bit_hole_bits;
    default:
        return 0;
    }
}

struct weighed {
    const struct layout_type *type;
    uint64_t weight;
    size_t order; /* of the name */
};

static int by_weight(const void *left, const void *right)
{
    const struct weighed *a = left, *b = right;
    if (a->weight != b->weight)
        return a->weight > b->weight ? -1 : 1;
    return (a->order > b->order) - (a->order < b->order);
}

/* The types to show, in their order; NULL: out of memory. */
static const struct layout_type **choose(const struct linewise_options *options,
                                         const struct layout_choices *all, size_t *count)
{
    struct weighed *list = calloc(all->count + 1, sizeof(*list));
    const struct layout_type **types = calloc(all->count + 1, sizeof(const struct layout_type *));
    *count = 0;
    for (size_t i = 0; list != NULL && types != NULL && i < all->count; i++)
        if (wanted(options, all->types[i])) {
            list[*count] = (struct weighed){all->types[i], weight(all->types[i], options->sort), i};
            (*count)++;
        }
    if (list == NULL || types == NULL) {
        free(list);
        free(types);
        return NULL;
    }
    qsort(list, *count, sizeof(*list), by_weight);
    for (size_t i = 0; i < *count; i++)
        types[i] = list[i].type;
    free(list);
    return types;
}

static int print(struct linewise_session *session, const struct report_types *types)
{
    const struct linewise_options *options = session->options;
    struct report_out out;
    const char *path = options->json != NULL   ? options->json
                       : options->html != NULL ? options->html
                                               : "-";
    int status = linewise_output_open(options, &out, path);
    if (status != LINEWISE_CLEAN)
        return status;
    if (options->json != NULL)
        report_types_json(&out, types);
    else if (options->html != NULL)
        report_types_html(&out, types);
    else
        report_types_text(&out, types);
    return linewise_output_close(options, &out);
}

static int run(struct linewise_session *session)
{
    const struct linewise_options *options = session->options;
    struct layout_error error = {.text = ""};
    struct layout_choices all;
    if (options->json != NULL && options->html != NULL)
        return linewise_fail(syntax.command, LINEWISE_USAGE,
                             "--json and --html exclude each other");
    int code = layout_all(session->sets[0], &all, &error);
    if (code != MGLRU_OK)
        return linewise_fail(syntax.command, cli_status_of(code), "%s", error.text);
    struct report_types types = {.info = layout_set_info(session->sets[0]),
                                 .total = all.count,
                                 .line_bytes = options->line_bytes};
    const struct layout_type **chosen = choose(options, &all, &types.count);
    if (chosen == NULL)
        return linewise_fail(syntax.command, LINEWISE_ENVIRONMENT, "out of memory");
    types.types = chosen;
    if (types.info->note[0] != '\0')
        fprintf(stderr, "linewise list: %s: %s\n", options->files[0], types.info->note);
    int status = LINEWISE_CLEAN;
    if (types.count == 0 && options->type_count > 0)
        status = linewise_fail(syntax.command, LINEWISE_USAGE, "%s: no type fits '%s'",
                               options->files[0], options->types[0]);
    else
        status = print(session, &types);
    free(chosen);
    return status;
}

int linewise_list(int argc, char **argv)
{
    return linewise_session_run(argc, argv, &syntax, run);
}
