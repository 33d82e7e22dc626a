/* SPDX-License-Identifier: MIT */
/* See values.h. */
#include "cli/mglru/values.h"

#include <string.h>

#include "base/check.h"
#include "replay/replay.h"

#define PAGE_MIN 4096u
#define READAHEAD_MAX (UINT64_C(1) << 30) /* chosen: far above any device's window */

const char values_size_expected[] = "expected bytes, or a number with K, M, G or T";

bool values_output(const char **path, const char *option, const char *text,
                   struct args_error *error)
{
    if (*path != NULL)
        return args_fail(error, "%s was given twice", option);
    if (text[0] == '\0')
        return args_fail(error, "%s needs the name of a file", option);
    *path = text;
    return true;
}

bool values_outputs_differ(const struct values_output *outputs, size_t count,
                           struct args_error *error)
{
    for (size_t i = 0; i < count; i++) {
        const char *path = outputs[i].path;
        for (size_t j = i + 1; j < count; j++)
            if (path != NULL && outputs[j].path != NULL && strcmp(path, outputs[j].path) == 0)
                return args_fail(error, "%s and %s both want %s", outputs[i].option,
                                 outputs[j].option,
                                 strcmp(path, "-") == 0 ? "standard output" : path);
    }
    return true;
}

static bool ends_with(const char *text, const char *end)
{
    size_t length = strlen(text);
    return length >= strlen(end) && strcmp(text + length - strlen(end), end) == 0;
}

bool values_check_plot(const char *path, struct args_error *error)
{
    return path == NULL || ends_with(path, ".svg") || ends_with(path, ".png") ||
           args_fail(error, "--plot: the name '%s' ends neither in .svg nor in .png", path);
}

bool values_names(struct args_list *list, const char *option, const char *text,
                  struct args_error *error)
{
    if (list->items != NULL)
        return args_fail(error, "%s was given twice: give a list", option);
    if (!args_list_split(list, text))
        return args_fail(error, "out of memory");
    for (size_t i = 0; i < list->count; i++)
        for (size_t j = 0; j < i; j++)
            if (strcmp(list->items[i], list->items[j]) == 0)
                return args_fail(error, "%s %s: '%s' was given twice", option, text,
                                 list->items[i]);
    return true;
}

bool values_check_models(const struct args_list *models, struct args_error *error)
{
    static const char *const known[] = {"6.12", "7.3", "next", "ours"};
    for (size_t i = 0; i < models->count; i++) {
        bool found = false;
        for (size_t j = 0; j < MGLRU_ARRAY_LEN(known); j++)
            found = found || strcmp(models->items[i], known[j]) == 0;
        if (!found)
            return args_fail(error, "--model: '%s' is none of 6.12, 7.3, next, ours",
                             models->items[i]);
    }
    return true;
}

bool values_swap(const char *text, uint64_t *bytes, struct args_error *error)
{
    if (!args_size(text, bytes))
        return args_fail(error, "--swap: '%s' is no size: %s", text, values_size_expected);
    if (*bytes > 0 && *bytes < PAGE_MIN)
        return args_fail(error, "--swap %s is below the least, a page of 4K; 0 is none", text);
    return true;
}

bool values_readahead(const char *text, uint64_t *bytes, struct args_error *error)
{
    if (strcmp(text, "auto") == 0) {
        *bytes = REPLAY_READAHEAD_AUTO;
        return true;
    }
    if (!args_size(text, bytes))
        return args_fail(error, "--readahead: '%s' is none of 0, auto and a size: %s", text,
                         values_size_expected);
    if (*bytes > READAHEAD_MAX)
        return args_fail(error, "--readahead %s is above the most, 1G", text);
    if (*bytes > 0 && *bytes < PAGE_MIN)
        return args_fail(error, "--readahead %s is below the least, a page of 4K; 0 is none", text);
    return true;
}
