/* SPDX-License-Identifier: MIT */
/* The rules of class files: what a type must keep whatever it was before. */
#include <inttypes.h>
#include <string.h>

#include <mglru/error.h>

#include "layout/diff.h"
#include "layout/lock.h"

/* One rule being checked. */
struct trial {
    const struct layout_map *map;
    const struct layout_classes *classes;
    const struct layout_conflict_options *options;
    const struct layout_demand *demand;
    struct layout_breaches *breaches;
    bool failed; /* out of memory */
};

static struct layout_breach *break_rule(struct trial *trial, const char *what)
{
    struct layout_breach *breach =
        layout_breach_add(trial->breaches, "broken rule", LAYOUT_ERROR, "%s:%u: '%s': %s",
                          trial->classes->name, trial->demand->line, trial->demand->text, what);
    trial->failed = trial->failed || breach == NULL;
    return breach;
}

static bool in_group(const struct layout_group *group, const struct layout_field *field)
{
    for (size_t i = 0; i < group->field_count; i++)
        if (layout_field_under(field, group->fields[i]))
            return true;
    return false;
}

static void try_starts(struct trial *trial, const uint64_t range[2])
{
    uint64_t at = (range[0] + trial->options->base_bytes) % trial->options->line_bytes;
    char text[256];
    if (at == 0)
        return;
    snprintf(text, sizeof(text), "it starts at byte %" PRIu64 ", %" PRIu64 " bytes into a line.",
             range[0], at);
    struct layout_breach *breach = break_rule(trial, text);
    if (breach != NULL)
        breach->line = (range[0] + trial->options->base_bytes) / trial->options->line_bytes;
}

/* No field of another group between those of the group, or on their lines. */
static void try_alone(struct trial *trial, const struct layout_group *group, uint64_t range[2])
{
    bool lines = trial->demand->kind == LAYOUT_DEMAND_FILLS;
    uint64_t line = trial->options->line_bytes;
    uint64_t base = trial->options->base_bytes;
    uint64_t first = lines ? (range[0] + base) / line * line : range[0] + base;
    uint64_t end = lines ? (range[1] + base + line - 1) / line * line : range[1] + base;
    for (size_t i = 0; !trial->failed && i < trial->map->field_count; i++) {
        const struct layout_field *field = &trial->map->fields[i];
        uint64_t from = field->bit_offset / 8 + base;
        uint64_t to = (field->bit_offset + field->bit_size + 7) / 8 + base;
        if (field->bit_size == 0 || in_group(group, field) || to <= first || from >= end)
            continue;
        char text[LAYOUT_PATH_BYTES + 64];
        snprintf(text, sizeof(text), "%s%s lies %s.", field->path, field->elements,
                 lines ? "on its lines" : "between its fields");
        struct layout_breach *breach = break_rule(trial, text);
        if (breach != NULL)
            breach->line = from / line;
    }
}

static void try_group(struct trial *trial)
{
    const struct layout_group *group =
        layout_classes_group(trial->classes, trial->demand->type, trial->demand->group);
    uint64_t range[2];
    const char *missing = NULL;
    if (!layout_group_range(trial->map, group, range, &missing)) {
        char text[LAYOUT_PATH_BYTES + 64];
        snprintf(text, sizeof(text), "there is no field %s.", missing);
        break_rule(trial, text);
    } else if (trial->demand->kind == LAYOUT_DEMAND_STARTS) {
        try_starts(trial, range);
    } else {
        try_alone(trial, group, range);
    }
}

static bool have_classes(const struct layout_field *a, const struct layout_field *b,
                         const struct layout_demand *demand)
{
    return layout_field_class(a) == demand->first && layout_field_class(b) == demand->second;
}

static void try_apart(struct trial *trial)
{
    const struct layout_map *map = trial->map;
    for (size_t i = 0; !trial->failed && i < map->field_count; i++)
        for (size_t j = 0; !trial->failed && j < map->field_count; j++) {
            const struct layout_field *a = &map->fields[i];
            const struct layout_field *b = &map->fields[j];
            bool parts = a->union_id != 0 && a->union_id == b->union_id;
            if (a == b || parts || !have_classes(a, b, trial->demand) ||
                (trial->demand->first == trial->demand->second && j < i) ||
                !layout_fields_meet(a, b, trial->options))
                continue;
            char text[2 * LAYOUT_PATH_BYTES];
            snprintf(text, sizeof(text), "%.400s%s and %.400s%s share a line.", a->path,
                     a->elements, b->path, b->elements);
            struct layout_breach *breach = break_rule(trial, text);
            if (breach == NULL)
                return;
            uint64_t lines[2];
            layout_field_lines(b, trial->options->line_bytes, trial->options->base_bytes, lines);
            breach->line = lines[0];
            trial->failed =
                !(layout_field_class(b) == LAYOUT_CLASS_READ ? layout_breach_reader(breach, b)
                                                             : layout_breach_writer(breach, b)) ||
                !(layout_field_class(a) == LAYOUT_CLASS_READ ? layout_breach_reader(breach, a)
                                                             : layout_breach_writer(breach, a));
        }
}

static void try_size(struct trial *trial)
{
    char text[128];
    if (trial->map->type->size_bytes <= trial->demand->bytes)
        return;
    snprintf(text, sizeof(text), "it has %" PRIu64 " bytes.", trial->map->type->size_bytes);
    break_rule(trial, text);
}

int layout_demands_check(const struct layout_map *map, const struct layout_classes *classes,
                         const struct layout_conflict_options *options,
                         struct layout_breaches *breaches)
{
    struct trial trial = {.map = map, .classes = classes, .options = options, .breaches = breaches};
    for (size_t i = 0; !trial.failed && i < classes->demand_count; i++) {
        trial.demand = &classes->demands[i];
        bool named = map->type->name != NULL && strcmp(trial.demand->type, map->type->name) == 0;
        if (!named && strcmp(trial.demand->type, map->name) != 0)
            continue;
        if (trial.demand->kind == LAYOUT_DEMAND_APART)
            try_apart(&trial);
        else if (trial.demand->kind == LAYOUT_DEMAND_SIZE)
            try_size(&trial);
        else
            try_group(&trial);
    }
    return trial.failed ? MGLRU_ENOMEM : MGLRU_OK;
}
