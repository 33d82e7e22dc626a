/* SPDX-License-Identifier: MIT */
/* See fixture.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include <mglru/error.h>

#include "fixture.h"

void fixture_open(struct fixture *fixture, const char *file, const char *type, const char *classes)
{
    struct layout_error error = {.text = ""};
    const struct layout_type *found;
    memset(fixture, 0, sizeof(*fixture));
    int code =
        strchr(classes, '\n') != NULL
            ? layout_classes_parse("text", classes, strlen(classes), &fixture->classes, &error)
            : layout_classes_read(classes, &fixture->classes, &error);
    if (code == MGLRU_OK)
        code = layout_open(file, NULL, &fixture->set, &error);
    if (code == MGLRU_OK)
        code = layout_find(fixture->set, type, &found, NULL, &error);
    if (code == MGLRU_OK)
        code = layout_map_build(found, type, &fixture->classes, &fixture->map, &error);
    if (code != MGLRU_OK)
        fail_msg("%s", error.text);
    fixture->options = (struct layout_conflict_options){
        .line_bytes = 64,
        .alloc_align = layout_classes_alloc(&fixture->classes, type, LAYOUT_MALLOC_ALIGN)};
}

void fixture_close(struct fixture *fixture)
{
    layout_map_free(&fixture->map);
    layout_close(fixture->set);
    layout_classes_free(&fixture->classes);
}

const struct layout_finding *fixture_finding(const struct layout_findings *findings, uint64_t line,
                                             enum layout_verdict verdict)
{
    for (size_t i = 0; i < findings->count; i++)
        if (findings->items[i].line <= line && line <= findings->items[i].last_line &&
            findings->items[i].verdict == verdict)
            return &findings->items[i];
    return NULL;
}

size_t fixture_count(const struct layout_findings *findings, enum layout_severity severity)
{
    size_t count = 0;
    for (size_t i = 0; i < findings->count; i++)
        count += findings->items[i].severity == severity;
    return count;
}

static bool ends_in(const char *path, const char *name)
{
    size_t length = strlen(path);
    size_t wanted = strlen(name);
    return length >= wanted && strcmp(path + length - wanted, name) == 0 &&
           (length == wanted || path[length - wanted - 1] == '.');
}

bool fixture_names(const struct layout_finding *finding, const char *name, bool reader)
{
    size_t count = reader ? finding->reader_count : finding->writer_count;
    for (size_t i = 0; i < count; i++)
        if (ends_in(reader ? finding->readers[i]->path : finding->writers[i]->path, name))
            return true;
    return false;
}

const struct layout_field *fixture_field(const struct layout_map *map, const char *name)
{
    for (size_t i = 0; i < map->field_count; i++)
        if (ends_in(map->fields[i].path, name))
            return &map->fields[i];
    fail_msg("no field %s", name);
    return NULL;
}
