/* SPDX-License-Identifier: MIT */
/* Which of perf's texts it is, and what reading both has in common; see samples.h. */
#include "coherence/perf.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <mglru/error.h>

char *perf_next_line(struct perf_text *text)
{
    char *line = text->rest;
    if (line == NULL || *line == '\0')
        return NULL;
    char *end = strchr(line, '\n');
    text->rest = end != NULL ? end + 1 : NULL;
    if (end != NULL)
        *end = '\0';
    text->number++;
    return line;
}

int perf_fail_line(const struct perf_text *text, const char *what)
{
    return coherence_fail(text->error, MGLRU_EINVAL, "%s: line %lu: %s", text->name, text->number,
                          what);
}

int perf_fail_add(const struct perf_text *text, int code)
{
    if (code == MGLRU_EINVAL)
        return perf_fail_line(text, "more than 1024 threads");
    if (code == MGLRU_EOVERFLOW)
        return coherence_fail(text->error, code, "%s: line %lu: more than %zu samples", text->name,
                              text->number, COHERENCE_SAMPLES_MAX);
    return coherence_fail(text->error, code, "%s: out of memory", text->name);
}

char *perf_next_word(char **rest)
{
    char *word = *rest + strspn(*rest, " \t");
    if (*word == '\0')
        return NULL;
    *rest = word + strcspn(word, " \t");
    if (**rest != '\0')
        *(*rest)++ = '\0';
    return word;
}

static bool number(const char *word, int base, uint64_t *value)
{
    char *end;
    if (strspn(word, base == 16 ? "0123456789abcdefABCDEFx" : "0123456789") != strlen(word))
        return false;
    errno = 0;
    *value = strtoull(word, &end, base);
    return end != word && *end == '\0' && errno == 0;
}

bool perf_hex(const char *word, uint64_t *value)
{
    return number(word, 16, value);
}

bool perf_count(const char *word, uint64_t *value)
{
    return number(word, 10, value);
}

static int parse(struct perf_text *text)
{
    if (strstr(text->rest, PERF_PARETO) != NULL)
        return perf_read_c2c(text);
    if (strstr(text->rest, PERF_OPERATION) != NULL)
        return perf_read_script(text);
    return coherence_fail(text->error, MGLRU_EINVAL,
                          "%s: neither perf c2c report --stdio ('" PERF_PARETO
                          "') nor perf script with data_src ('" PERF_OPERATION "')",
                          text->name);
}

int coherence_samples_parse(const struct coherence_bytes *file, uint32_t line_bytes,
                            struct coherence_samples *samples, struct coherence_error *error)
{
    error->text[0] = '\0';
    int code = coherence_samples_begin(samples, line_bytes);
    if (code != MGLRU_OK)
        return coherence_fail(error, code, "%s: %s", file->name, mglru_error_text(code));
    char *copy = malloc(file->bytes + 1);
    if (copy == NULL)
        return coherence_fail(error, MGLRU_ENOMEM, "%s: out of memory", file->name);
    memcpy(copy, file->data, file->bytes);
    copy[file->bytes] = '\0';
    struct perf_text text = {.rest = copy, .name = file->name, .samples = samples, .error = error};
    code = parse(&text);
    free(copy);
    return code;
}
