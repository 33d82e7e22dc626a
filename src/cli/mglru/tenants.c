/* SPDX-License-Identifier: MIT */
/* See tenants.h. Columns and lines are found by their names: a server may know more of them. */
#include "cli/mglru/tenants.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/mglru/command.h"

#define COLUMNS_MAX 64
/* A path and "/memory.stat". */
#define PATH_BYTES 4128

/* Number of the figure in each column of the header; TENANT_VALUES: another, or the path. */
struct header {
    unsigned columns[COLUMNS_MAX];
    size_t count;
};

void tenants_free(struct tenants *tenants)
{
    for (size_t i = 0; tenants->texts && i < tenants->view.count; i++)
        free(tenants->texts[i]);
    free(tenants->texts);
    free(tenants->stats);
    free(tenants->items);
    free(tenants->list);
    *tenants = (struct tenants){0};
}

static int fail_answer(const struct connection *connection, const char *verb,
                       struct args_error *error)
{
    args_fail(error, "%s: the answer to %s is not of this release", connection->path, verb);
    return COMMAND_USAGE;
}

static int fail_memory(struct args_error *error)
{
    args_fail(error, "out of memory");
    return COMMAND_ENVIRONMENT;
}

/* --- the table ------------------------------------------------------------------------------ */

/* False: a figure has no column. */
static bool read_header(char *line, struct header *header)
{
    unsigned found = 0;
    char *rest = line;
    header->count = 0;
    for (const char *word; (word = strsep(&rest, " ")) && header->count < COLUMNS_MAX;) {
        unsigned value = 0;
        while (value < TENANT_VALUES &&
               strcmp(report_tenant_column((enum report_tenant_value)value), word) != 0)
            value++;
        found += value < TENANT_VALUES;
        header->columns[header->count++] = value;
    }
    return found == TENANT_VALUES && !rest;
}

static bool read_row(char *line, const struct header *header, struct report_tenant *tenant)
{
    char *rest = line;
    tenant->path = line;
    for (size_t i = 0; i < header->count; i++) {
        const char *word = strsep(&rest, " ");
        if (!word)
            return false;
        if (header->columns[i] == TENANT_VALUES)
            continue;
        uint64_t *value = &tenant->values[header->columns[i]];
        if (strcmp(word, "max") == 0)
            *value = REPORT_TENANT_NO_LIMIT;
        else if (!args_number(word, value))
            return false;
    }
    return !rest && tenant->path[0] == '/';
}

static size_t count_lines(const char *text)
{
    size_t count = 0;
    for (; (text = strchr(text, '\n')); text++)
        count++;
    return count;
}

static bool read_list(struct tenants *tenants)
{
    struct header header;
    char *rest = tenants->list;
    char *line = strsep(&rest, "\n");
    if (!line || !read_header(line, &header))
        return false;
    for (; (line = strsep(&rest, "\n")) && *line; tenants->view.count++)
        if (!read_row(line, &header, &tenants->items[tenants->view.count]))
            return false;
    return true;
}

int tenants_ask(struct connection *connection, struct tenants *tenants, struct args_error *error)
{
    *tenants = (struct tenants){0};
    int status = connection_ask(connection, "list", NULL, NULL, error);
    if (status)
        return status;
    tenants->list = connection->text;
    connection->text = NULL;
    tenants->items = calloc(count_lines(tenants->list) + 1, sizeof(*tenants->items));
    tenants->view.items = tenants->items;
    if (!tenants->items)
        status = fail_memory(error);
    else if (!read_list(tenants))
        status = fail_answer(connection, "list", error);
    if (status)
        tenants_free(tenants);
    return status;
}

/* --- memory.stat ---------------------------------------------------------------------------- */

/* Lines of "NAME NUMBER", @count of them. */
static bool read_stats(char *text, struct report_tenant_stat *stats, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        char *line = strsep(&text, "\n");
        char *name = line ? strsep(&line, " ") : NULL;
        if (!name || !line || !args_number(line, &stats[i].value))
            return false;
        stats[i].name = name;
    }
    return true;
}

/* Asks for one memcg's and takes the answer. */
static int ask_stat(struct connection *connection, struct tenants *tenants, size_t i,
                    struct args_error *error)
{
    char name[PATH_BYTES];
    snprintf(name, sizeof(name), "%s/memory.stat",
             tenants->items[i].path[1] ? tenants->items[i].path : "");
    int status = connection_ask(connection, "read", name, NULL, error);
    if (status)
        return status;
    tenants->texts[i] = connection->text;
    connection->text = NULL;
    size_t count = count_lines(tenants->texts[i]);
    if (!tenants->stats) {
        tenants->stats = calloc(tenants->view.count * count + 1, sizeof(*tenants->stats));
        tenants->items[0].stat_count = count;
    }
    if (!tenants->stats)
        return fail_memory(error);
    struct report_tenant_stat *stats = tenants->stats + i * count;
    if (count != tenants->items[0].stat_count || !read_stats(tenants->texts[i], stats, count))
        return fail_answer(connection, "read memory.stat", error);
    tenants->items[i].stats = stats;
    tenants->items[i].stat_count = count;
    return COMMAND_DONE;
}

int tenants_ask_stats(struct connection *connection, struct tenants *tenants,
                      struct args_error *error)
{
    size_t count = tenants->view.count, kept = 0;
    int status = COMMAND_DONE;
    tenants->texts = calloc(count + 1, sizeof(*tenants->texts));
    if (!tenants->texts)
        status = fail_memory(error);
    for (size_t i = 0; !status && i < count; i++) {
        tenants->items[kept] = tenants->items[i];
        status = ask_stat(connection, tenants, kept, error);
        if (status && strcmp(connection->refusal, "ENOENT") == 0)
            status = COMMAND_DONE; /* it went since; the next one takes its place */
        else
            kept++;
    }
    if (status)
        tenants_free(tenants);
    else
        tenants->view.count = kept;
    return status;
}
