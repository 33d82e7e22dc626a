/* SPDX-License-Identifier: MIT */
/* Checks a layout against its lock and the rules of the class file; see lock.h. */
#include "layout/lock.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <mglru/error.h>

#include "layout/diff.h"
#include "layout/grow.h"

#define TEXT_BYTES 2048

struct layout_breach *layout_breach_add(struct layout_breaches *breaches, const char *verdict,
                                        enum layout_severity severity, const char *format, ...)
{
    char text[TEXT_BYTES];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    struct layout_breach *breach = layout_grow(&breaches->items, &breaches->count, sizeof(*breach));
    if (breach == NULL)
        return NULL;
    breach->verdict = verdict;
    breach->severity = severity;
    breach->why = strdup(text);
    return breach->why != NULL ? breach : NULL;
}

static bool add_path(char ***list, size_t *count, const struct layout_field *field)
{
    char text[TEXT_BYTES];
    snprintf(text, sizeof(text), "%s%s", field->path, field->elements);
    for (size_t i = 0; i < *count; i++)
        if (strcmp((*list)[i], text) == 0)
            return true;
    char **place = layout_grow(list, count, sizeof(*place));
    return place != NULL && (*place = strdup(text)) != NULL;
}

bool layout_breach_reader(struct layout_breach *breach, const struct layout_field *field)
{
    return add_path(&breach->readers, &breach->reader_count, field);
}

bool layout_breach_writer(struct layout_breach *breach, const struct layout_field *field)
{
    return add_path(&breach->writers, &breach->writer_count, field);
}

void layout_breaches_free(struct layout_breaches *breaches)
{
    for (size_t i = 0; i < breaches->count; i++) {
        struct layout_breach *breach = &breaches->items[i];
        for (size_t j = 0; j < breach->reader_count; j++)
            free(breach->readers[j]);
        for (size_t j = 0; j < breach->writer_count; j++)
            free(breach->writers[j]);
        free(breach->readers);
        free(breach->writers);
        free(breach->why);
    }
    free(breaches->items);
    *breaches = (struct layout_breaches){0};
}

/* One check. */
struct check {
    const struct layout_map *map;
    const struct layout_classes *classes;
    const struct layout_conflict_options *options;
    const struct layout_lock_type *locked;
    struct layout_breaches *breaches;
    const struct layout_finding *finding;
    struct layout_breach *breach; /* of the finding */
    bool failed;
};

static bool is_locked(const struct check *check, const struct layout_pair *pair)
{
    char first[TEXT_BYTES];
    char second[TEXT_BYTES];
    snprintf(first, sizeof(first), "%s%s", pair->first->path, pair->first->elements);
    snprintf(second, sizeof(second), "%s%s", pair->second->path, pair->second->elements);
    for (size_t i = 0; i < check->locked->pair_count; i++) {
        const struct layout_lock_pair *known = &check->locked->pairs[i];
        if ((strcmp(known->first, first) == 0 && strcmp(known->second, second) == 0) ||
            (strcmp(known->first, second) == 0 && strcmp(known->second, first) == 0))
            return true;
    }
    return false;
}

/* The breach of the finding that is being looked at. */
static struct layout_breach *breach_of(struct check *check)
{
    if (check->breach != NULL)
        return check->breach;
    const struct layout_finding *finding = check->finding;
    enum layout_severity severity =
        finding->severity == LAYOUT_NOTE ? LAYOUT_WARNING : finding->severity;
    check->breach =
        layout_breach_add(check->breaches, layout_verdict_name(finding->verdict), severity, "%s%s",
                          check->locked != NULL ? "New: " : "", finding->why);
    if (check->breach == NULL)
        check->failed = true;
    else
        check->breach->line = finding->line;
    return check->breach;
}

static bool visit_pair(void *context, const struct layout_field *a, const struct layout_field *b)
{
    struct check *check = context;
    struct layout_pair pair;
    if (b == NULL || !layout_pair_judge(a, b, &pair) || pair.verdict != check->finding->verdict ||
        layout_verdict_weight(pair.verdict) == 0 ||
        (check->locked != NULL && is_locked(check, &pair)))
        return true;
    struct layout_breach *breach = breach_of(check);
    if (breach == NULL)
        return false;
    bool reads = layout_field_class(pair.first) == LAYOUT_CLASS_READ;
    check->failed = !(reads ? layout_breach_reader(breach, pair.first)
                            : layout_breach_writer(breach, pair.first)) ||
                    !layout_breach_writer(breach, pair.second);
    return !check->failed;
}

/* Pairs that are not locked; without a lock errors and warnings of any kind. */
static void check_pairs(struct check *check)
{
    struct layout_findings findings;
    if (layout_conflicts_find(check->map, check->options, &findings) != MGLRU_OK) {
        check->failed = true;
        return;
    }
    for (size_t i = 0; !check->failed && i < findings.count; i++) {
        check->finding = &findings.items[i];
        check->breach = NULL;
        if (check->locked == NULL && check->finding->severity == LAYOUT_NOTE)
            continue;
        layout_finding_pairs(check->finding, visit_pair, check);
        /* What is no pair has no place in lock files: it is told until it is gone. */
        if (check->finding->verdict >= LAYOUT_ELEMENTS && check->finding->severity != LAYOUT_NOTE &&
            breach_of(check) != NULL) {
            check->breach->severity = check->finding->severity;
            for (size_t j = 0; !check->failed && j < check->finding->writer_count; j++)
                check->failed = !layout_breach_writer(check->breach, check->finding->writers[j]);
        }
    }
    layout_findings_free(&findings);
}

static void check_size(struct check *check)
{
    const struct layout_type *type = check->map->type;
    uint64_t old = check->locked->size_bytes;
    uint64_t line = check->options->line_bytes;
    if (type->size_bytes <= old)
        return;
    if (layout_breach_add(check->breaches, "growth", LAYOUT_WARNING,
                          "%s grew from %" PRIu64 " to %" PRIu64 " bytes (%" PRIu64 " to %" PRIu64
                          " lines); `linewise why-size OLD NEW` explains it, `linewise lock` "
                          "accepts it.",
                          type->display, old, type->size_bytes, (old + line - 1) / line,
                          (type->size_bytes + line - 1) / line) == NULL)
        check->failed = true;
}

/* A group lies as before when it starts at the same place of a line and takes as many lines. */
static void check_group(struct check *check, const struct layout_lock_group *locked)
{
    const struct layout_group *group =
        layout_classes_group(check->classes, check->locked->name, locked->name);
    uint64_t range[2];
    const char *missing = NULL;
    if (group == NULL || !layout_group_range(check->map, group, range, &missing)) {
        check->failed =
            layout_breach_add(check->breaches, "missing", LAYOUT_ERROR,
                              "Group %s of %s is gone%s%s.", locked->name, check->locked->name,
                              missing != NULL ? ": there is no field " : "",
                              missing != NULL ? missing : "") == NULL;
        return;
    }
    uint64_t line = check->options->line_bytes;
    uint64_t lines = range[1] > range[0] ? (range[1] - 1) / line - range[0] / line + 1 : 0;
    uint64_t old = locked->end_byte > locked->first_byte
                       ? (locked->end_byte - 1) / line - locked->first_byte / line + 1
                       : 0;
    if (range[0] % line == locked->first_byte % line && lines <= old)
        return;
    struct layout_breach *breach = layout_breach_add(
        check->breaches, "moved group", LAYOUT_WARNING,
        "Group %s lay at bytes %" PRIu64 "-%" PRIu64 ", %" PRIu64 " bytes into a line, on %" PRIu64
        " line%s; now it lies at %" PRIu64 "-%" PRIu64 ", %" PRIu64
        " bytes into a line, on %" PRIu64 ".",
        locked->name, locked->first_byte, locked->end_byte - 1, locked->first_byte % line, old,
        old == 1 ? "" : "s", range[0], range[1] - 1, range[0] % line, lines);
    check->failed = breach == NULL;
    if (breach != NULL)
        breach->line = range[0] / line;
}

static void check_fields(struct check *check)
{
    for (size_t i = 0; !check->failed && i < check->locked->field_count; i++) {
        const struct layout_lock_field *fact = &check->locked->fields[i];
        bool found = false;
        for (size_t j = 0; j < check->map->field_count && !found; j++) {
            const struct layout_field *field = &check->map->fields[j];
            size_t length = strlen(field->path);
            found = layout_field_hot(field) && strncmp(fact->path, field->path, length) == 0 &&
                    strcmp(fact->path + length, field->elements) == 0;
        }
        if (!found)
            check->failed =
                layout_breach_add(check->breaches, "missing", LAYOUT_WARNING,
                                  "%s has no hot field %s any more; `linewise lock` accepts it.",
                                  check->map->type->display, fact->path) == NULL;
    }
}

static void check_statements(struct check *check)
{
    for (size_t i = 0; !check->failed && i < check->classes->rule_count; i++) {
        const struct layout_class_rule *rule = &check->classes->rules[i];
        if (layout_map_misses(check->map, rule, i))
            check->failed = layout_breach_add(
                                check->breaches, "missing", LAYOUT_ERROR,
                                "%s:%u: %s has no field that fits '%s'.", check->classes->name,
                                rule->line, check->map->type->display, rule->pattern.text) == NULL;
    }
}

int layout_check(const struct layout_map *map, const struct layout_classes *classes,
                 const struct layout_conflict_options *options,
                 const struct layout_lock_type *locked, struct layout_breaches *breaches)
{
    struct check check = {
        .map = map, .classes = classes, .options = options, .locked = locked, .breaches = breaches};
    check_pairs(&check);
    if (!check.failed && locked != NULL) {
        check_size(&check);
        for (size_t i = 0; !check.failed && i < locked->group_count; i++)
            check_group(&check, &locked->groups[i]);
        if (!check.failed)
            check_fields(&check);
    }
    if (!check.failed)
        check_statements(&check);
    if (!check.failed)
        check.failed = layout_demands_check(map, classes, options, breaches) != MGLRU_OK;
    return check.failed ? MGLRU_ENOMEM : MGLRU_OK;
}
