/* SPDX-License-Identifier: MIT */
/* Command lines; see args.h. */
#include "cli/args.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct args_option *find_option(const struct args_option *options, const char *name)
{
    for (; options->name != NULL; options++)
        if (strcmp(options->name, name) == 0)
            return options;
    return NULL;
}

int args_next(struct args *args, const struct args_option *options, const char **value)
{
    *value = NULL;
    if (args->next >= args->argc)
        return ARGS_END;
    const char *text = args->argv[args->next++];
    *value = text;
    if (args->plain_only || text[0] != '-' || text[1] == '\0')
        return ARGS_PLAIN;
    if (strcmp(text, "--") == 0) {
        args->plain_only = true;
        return args_next(args, options, value);
    }
    const char *equals = strchr(text, '=');
    if (equals != NULL && strncmp(text, "--", 2) == 0) {
        snprintf(args->name, sizeof(args->name), "%.*s", (int)(equals - text), text);
        text = args->name;
        *value = text;
    }
    const struct args_option *option = find_option(options, text);
    if (option == NULL)
        return ARGS_UNKNOWN;
    if (!option->has_value)
        return equals != NULL ? ARGS_SURPLUS : option->id;
    if (equals == NULL && args->next >= args->argc)
        return ARGS_MISSING;
    *value = equals != NULL ? equals + 1 : args->argv[args->next++];
    return option->id;
}

bool args_fail(struct args_error *error, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error->text, sizeof(error->text), format, arguments);
    va_end(arguments);
    return false;
}

/* Digits from @text on; returns where they end, NULL when there are none or too many. */
static const char *read_digits(const char *text, uint64_t *value)
{
    const char *at = text;
    uint64_t sum = 0;
    for (; *at >= '0' && *at <= '9'; at++)
        if (__builtin_mul_overflow(sum, 10u, &sum) ||
            __builtin_add_overflow(sum, (uint64_t)(*at - '0'), &sum))
            return NULL;
    *value = sum;
    return at == text ? NULL : at;
}

bool args_refused(int id, const char *value, const char *command, struct args_error *error)
{
    switch (id) {
    case ARGS_UNKNOWN:
        args_fail(error, "unknown option %s; `%s --help` lists them", value, command);
        return true;
    case ARGS_MISSING:
        args_fail(error, "%s needs a value", value);
        return true;
    case ARGS_SURPLUS:
        args_fail(error, "%s takes no value", value);
        return true;
    default:
        return false;
    }
}

bool args_number(const char *text, uint64_t *value)
{
    *value = 0;
    const char *end = read_digits(text, value);
    return end != NULL && *end == '\0';
}

bool args_size(const char *text, uint64_t *bytes)
{
    static const char units[] = "KMGT";
    *bytes = 0;
    uint64_t value;
    const char *end = read_digits(text, &value);
    if (end == NULL)
        return false;
    unsigned shift = 0;
    if (*end != '\0') {
        char unit = *end >= 'a' ? (char)(*end - 'a' + 'A') : *end;
        const char *found = strchr(units, unit);
        if (found == NULL || end[1] != '\0')
            return false;
        shift = 10u * (unsigned)(found - units + 1);
    }
    if (shift > 0 && value >> (64 - shift) != 0)
        return false;
    *bytes = value << shift;
    return true;
}

bool args_duration(const char *text, uint64_t *ns)
{
    static const struct {
        const char *unit;
        uint64_t ns;
    } units[] = {{"ns", 1},         {"us", 1000},       {"ms", 1000000},
                 {"s", 1000000000}, {"m", 60000000000}, {"h", 3600000000000}};
    *ns = 0;
    uint64_t value;
    const char *end = read_digits(text, &value);
    for (size_t i = 0; end != NULL && i < sizeof(units) / sizeof(units[0]); i++)
        if (strcmp(end, units[i].unit) == 0)
            return !__builtin_mul_overflow(value, units[i].ns, ns);
    return false;
}

bool args_list_split(struct args_list *list, const char *text)
{
    size_t count = 1;
    for (const char *c = text; *c != '\0'; c++)
        count += *c == ',';
    *list = (struct args_list){.copy = strdup(text), .items = calloc(count, sizeof(char *))};
    if (list->copy == NULL || list->items == NULL) {
        args_list_free(list);
        return false;
    }
    for (char *item = list->copy; item != NULL;) {
        list->items[list->count++] = item;
        item = strchr(item, ',');
        if (item != NULL)
            *item++ = '\0';
    }
    return true;
}

void args_list_free(struct args_list *list)
{
    free(list->copy);
    free(list->items);
    *list = (struct args_list){0};
}
