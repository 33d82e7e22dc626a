/* SPDX-License-Identifier: MIT */
/*
 * Paths of class files: TYPE.part[index]...part.
 *
 * A type's name ends at the first dot outside angle brackets and parentheses, since names of C++
 * templates hold nearly anything inside theirs.
 */
#include "layout/pattern.h"

#include <stdlib.h>
#include <string.h>

#include <mglru/error.h>

size_t layout_pattern_type_length(const char *text)
{
    unsigned depth = 0;
    for (size_t i = 0; text[i] != '\0'; i++) {
        if (text[i] == '<' || text[i] == '(')
            depth++;
        else if ((text[i] == '>' || text[i] == ')') && depth > 0)
            depth--;
        else if (text[i] == '.' && depth == 0)
            return i;
    }
    return 0;
}

/* Reads digits at *@at and goes behind them. */
static bool read_number(const char **at, uint64_t *value)
{
    const char *from = *at;
    *value = 0;
    for (; **at >= '0' && **at <= '9'; (*at)++)
        if (__builtin_mul_overflow(*value, 10u, value) ||
            __builtin_add_overflow(*value, (uint64_t)(**at - '0'), value))
            return false;
    return *at != from;
}

/* Reads "N]", "N-M]" or "*]" behind a bracket. */
static bool read_index(const char **at, struct layout_index *index)
{
    if (**at == '*') {
        *index = (struct layout_index){.first = 0, .last = UINT64_MAX};
        (*at)++;
    } else {
        if (!read_number(at, &index->first))
            return false;
        index->last = index->first;
        if (**at == '-') {
            (*at)++;
            if (!read_number(at, &index->last) || index->last < index->first)
                return false;
        }
    }
    if (**at != ']')
        return false;
    (*at)++;
    return true;
}

static bool is_name_character(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '$' || c == '*' || (unsigned char)c >= 0x80;
}

/* True at the dot of "_vptr.CLASS", which is one name: gcc calls the pointer to a table so. */
static bool in_vptr(const char *from, const char *at)
{
    return at - from == 5 && *at == '.' && memcmp(from, "_vptr", 5) == 0;
}

/* Reads one part from *@at up to the dot or the end; "[]" may only be the last thing. */
static int read_part(const char **at, struct layout_pattern *pattern, const char **reason)
{
    struct layout_pattern_part *part = &pattern->parts[pattern->part_count];
    const char *from = *at;
    while (is_name_character(**at) || in_vptr(from, *at))
        (*at)++;
    *reason = "expected the name of a field";
    if (*at == from)
        return MGLRU_EINVAL;
    part->name = strndup(from, (size_t)(*at - from));
    if (part->name == NULL)
        return MGLRU_ENOMEM;
    pattern->part_count++;
    while (**at == '[') {
        (*at)++;
        if (**at == ']') {
            pattern->each = true;
            (*at)++;
            *reason = "[] belongs at the end of a path";
            return **at == '\0' ? MGLRU_OK : MGLRU_EINVAL;
        }
        *reason = "more than 8 dimensions";
        if (part->index_count == LAYOUT_INDEXES_MAX)
            return MGLRU_EINVAL;
        *reason = "expected an element: [3], [0-3], [*] or, at the end, []";
        if (!read_index(at, &part->indexes[part->index_count++]))
            return MGLRU_EINVAL;
    }
    *reason = "expected '.', '[' or ':' behind the name of a field";
    return **at == '.' || **at == '\0' ? MGLRU_OK : MGLRU_EINVAL;
}

int layout_pattern_parse(const char *text, struct layout_pattern *pattern, const char **reason)
{
    *pattern = (struct layout_pattern){0};
    *reason = "expected TYPE.FIELD";
    size_t type_length = layout_pattern_type_length(text);
    if (type_length == 0)
        return MGLRU_EINVAL;
    size_t parts = 1;
    for (const char *c = text + type_length + 1; *c != '\0'; c++)
        parts += *c == '.';
    pattern->text = strdup(text);
    pattern->type = strndup(text, type_length);
    pattern->parts = calloc(parts, sizeof(*pattern->parts));
    if (pattern->text == NULL || pattern->type == NULL || pattern->parts == NULL)
        return MGLRU_ENOMEM;
    const char *at = text + type_length;
    do {
        at++;
        int code = read_part(&at, pattern, reason);
        if (code != MGLRU_OK)
            return code;
    } while (*at == '.');
    return MGLRU_OK;
}

void layout_pattern_free(struct layout_pattern *pattern)
{
    for (size_t i = 0; i < pattern->part_count; i++)
        free(pattern->parts[i].name);
    free(pattern->parts);
    free(pattern->text);
    free(pattern->type);
    *pattern = (struct layout_pattern){0};
}
