/* SPDX-License-Identifier: MIT */
/*
 * Walks a type and gives each field its class; classify.h says which statement wins.
 *
 * Idea: while walking down, every statement of the class file that has matched so far is a state:
 * the statement and how many parts of its path are used up. A member moves the states that fit its
 * name on by one part, and starts new ones for statements that begin with the type it stands in.
 * A state without parts left has matched the member.
 *
 * Invariants
 *   1. states is a stack: a walk leaves it as it found it.
 *   2. Every field is added to the map complete, or the walk ends with an error.
 */
#include "layout/classify.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mglru/error.h>

#include "layout/elements.h"

/* Types up to this size (a list head, a lock, a counter) stay whole, as in flat.h. */
#define WHOLE_BYTES 16

struct state {
    uint32_t rule;
    uint32_t parts; /* matched so far, at least 1 */
};

struct walk {
    const struct layout_classes *classes;
    struct layout_map *map;
    struct layout_error *error;
    struct state *states;
    size_t state_count;
    size_t state_capacity;
    size_t field_capacity;
    unsigned unions;
};

/* Where a type being walked lies. */
struct place {
    const char *path; /* of the type, "" for the outer one */
    /* The type that statements name for the members: the nearest around anonymous ones. */
    const struct layout_type *scope;
    const char *alias; /* another name of scope: a typedef, or the user's word; may be NULL */
    uint64_t bit_offset;
    const struct layout_class_rule *inherited;
    size_t first, last; /* states of the member that holds it */
    unsigned union_id, alternative;
    unsigned depth;
};

static int walk_type(struct walk *walk, const struct layout_type *type, const struct place *place);

enum layout_class layout_field_class(const struct layout_field *field)
{
    return field->use != NULL ? field->use->class : LAYOUT_CLASS_NONE;
}

bool layout_field_hot(const struct layout_field *field)
{
    enum layout_class class = layout_field_class(field);
    return class != LAYOUT_CLASS_NONE && class != LAYOUT_CLASS_COLD;
}

bool layout_use_excludes(const struct layout_use *a, const struct layout_use *b)
{
    if (a->class != b->class)
        return false;
    /* Owners without a name are the one owner of the object. */
    if (a->class == LAYOUT_CLASS_OWNER && a->name_count == 0 && b->name_count == 0)
        return true;
    for (unsigned i = 0; i < a->name_count; i++)
        for (unsigned j = 0; j < b->name_count; j++)
            if (strcmp(a->names[i], b->names[j]) == 0)
                return true;
    return false;
}

/* Name of @type in class files, without the keyword. */
static bool type_matches(const char *glob, const struct layout_type *type, const char *alias)
{
    if (type->name != NULL && layout_glob(glob, type->name))
        return true;
    return alias != NULL && layout_glob(glob, alias);
}

static int push(struct walk *walk, struct state state)
{
    if (walk->state_count == walk->state_capacity) {
        size_t capacity = walk->state_capacity == 0 ? 64 : walk->state_capacity * 2;
        struct state *larger = realloc(walk->states, capacity * sizeof(*larger));
        if (larger == NULL)
            return MGLRU_ENOMEM;
        walk->states = larger;
        walk->state_capacity = capacity;
    }
    walk->states[walk->state_count++] = state;
    return MGLRU_OK;
}

static const struct layout_pattern_part *last_part(const struct walk *walk, size_t state)
{
    const struct state *s = &walk->states[state];
    return &walk->classes->rules[s->rule].pattern.parts[s->parts - 1];
}

static bool complete(const struct walk *walk, size_t state)
{
    const struct state *s = &walk->states[state];
    return s->parts == walk->classes->rules[s->rule].pattern.part_count;
}

/* Pushes the states that reach @member of @type. */
static int advance(struct walk *walk, const struct layout_type *type, const struct place *place,
                   const struct layout_member *member)
{
    int code = MGLRU_OK;
    for (size_t i = place->first; code == MGLRU_OK && i < place->last; i++) {
        struct state s = walk->states[i];
        const struct layout_pattern *pattern = &walk->classes->rules[s.rule].pattern;
        if (s.parts < pattern->part_count &&
            layout_glob(pattern->parts[s.parts].name, member->name) &&
            pattern->parts[s.parts].index_count <= member->dim_count)
            code = push(walk, (struct state){s.rule, s.parts + 1});
    }
    for (size_t i = 0; code == MGLRU_OK && i < walk->classes->rule_count; i++) {
        const struct layout_pattern *pattern = &walk->classes->rules[i].pattern;
        if (layout_glob(pattern->parts[0].name, member->name) &&
            pattern->parts[0].index_count <= member->dim_count &&
            (type_matches(pattern->type, type, NULL) ||
             type_matches(pattern->type, place->scope, place->alias)))
            code = push(walk, (struct state){(uint32_t)i, 1});
    }
    return code;
}

/* True when the statement's elements, if it names any, hold element @index of @member. */
static bool selects(const struct layout_pattern_part *part, const struct layout_member *member,
                    uint64_t index)
{
    uint64_t block = 1;
    for (uint32_t i = member->dim_count; i > 0; i--) {
        uint64_t at = index / block % (member->dims[i - 1] > 0 ? member->dims[i - 1] : 1);
        if (i <= part->index_count &&
            (at < part->indexes[i - 1].first || at > part->indexes[i - 1].last))
            return false;
        block *= member->dims[i - 1] > 0 ? member->dims[i - 1] : 1;
    }
    return true;
}

static unsigned stars(const struct layout_pattern *pattern)
{
    unsigned count = 0;
    for (const char *c = pattern->type; *c != '\0'; c++)
        count += *c == '*';
    for (size_t i = 0; i < pattern->part_count; i++)
        for (const char *c = pattern->parts[i].name; *c != '\0'; c++)
            count += *c == '*';
    return count;
}

static bool has_elements(const struct layout_pattern *pattern)
{
    for (size_t i = 0; i < pattern->part_count; i++)
        if (pattern->parts[i].index_count > 0)
            return true;
    return false;
}

/* True when @a wins over @b, both matching the same field; see classify.h. */
static bool wins(const struct layout_class_rule *a, const struct layout_class_rule *b)
{
    if (has_elements(&a->pattern) != has_elements(&b->pattern))
        return has_elements(&a->pattern);
    unsigned stars_a = stars(&a->pattern);
    unsigned stars_b = stars(&b->pattern);
    if (stars_a != stars_b)
        return stars_a < stars_b;
    if (a->pattern.part_count != b->pattern.part_count)
        return a->pattern.part_count > b->pattern.part_count;
    return a->line > b->line;
}

/* The statement for element @index of @member among the states from @first on. */
static const struct layout_class_rule *best_rule(const struct walk *walk, size_t first,
                                                 const struct layout_member *member, uint64_t index,
                                                 const struct layout_class_rule *inherited)
{
    const struct layout_class_rule *best = NULL;
    for (size_t i = first; i < walk->state_count; i++) {
        const struct layout_class_rule *rule = &walk->classes->rules[walk->states[i].rule];
        if (complete(walk, i) && selects(last_part(walk, i), member, index) &&
            (best == NULL || wins(rule, best)))
            best = rule;
    }
    return best != NULL ? best : inherited;
}

/* True when @name is a member of @type, also through anonymous parts. */
static bool has_member(const struct layout_type *type, const char *name, unsigned depth)
{
    for (uint32_t i = 0; i < type->member_count; i++) {
        const struct layout_member *member = &type->members[i];
        if (member->name != NULL && layout_glob(name, member->name))
            return true;
        if (member->name == NULL && member->type != NULL && depth < LAYOUT_DEPTH_MAX &&
            has_member(member->type, name, depth + 1))
            return true;
    }
    return false;
}

/* True when a statement begins with a member of @type or of a type inside it. @alias: another name
 * of @type, or NULL. */
static bool mentioned(const struct walk *walk, const struct layout_type *type, const char *alias,
                      unsigned depth)
{
    for (size_t i = 0; i < walk->classes->rule_count; i++) {
        const struct layout_pattern *pattern = &walk->classes->rules[i].pattern;
        if (type_matches(pattern->type, type, alias) && has_member(type, pattern->parts[0].name, 0))
            return true;
    }
    for (uint32_t i = 0; depth < LAYOUT_DEPTH_MAX && i < type->member_count; i++)
        if (type->members[i].type != NULL &&
            mentioned(walk, type->members[i].type, type->members[i].type_name, depth + 1))
            return true;
    return false;
}

/* True when a statement speaks about the inside of @member. */
static bool speaks_inside(const struct walk *walk, size_t first, const struct layout_member *member)
{
    if (member->type == NULL || member->type->member_count == 0)
        return false;
    for (size_t i = first; i < walk->state_count; i++)
        if (!complete(walk, i))
            return true;
    return mentioned(walk, member->type, member->type_name, 0);
}

static bool names_elements(const struct walk *walk, size_t first)
{
    for (size_t i = first; i < walk->state_count; i++)
        if (last_part(walk, i)->index_count > 0)
            return true;
    return false;
}

static int add_field(struct walk *walk, struct layout_field field, const char *path,
                     const char *elements)
{
    struct layout_map *map = walk->map;
    if (map->field_count == LAYOUT_FIELDS_MAX) {
        snprintf(walk->error->text, sizeof(walk->error->text),
                 "%s has more than %u fields and elements", map->name, LAYOUT_FIELDS_MAX);
        return MGLRU_EOVERFLOW;
    }
    if (map->field_count == walk->field_capacity) {
        size_t capacity = walk->field_capacity == 0 ? 64 : walk->field_capacity * 2;
        struct layout_field *larger = realloc(map->fields, capacity * sizeof(*larger));
        if (larger == NULL)
            return MGLRU_ENOMEM;
        map->fields = larger;
        walk->field_capacity = capacity;
    }
    field.path = strdup(path);
    field.elements = strdup(elements);
    if (field.rule != NULL) {
        field.use = &field.rule->use;
        field.each = field.rule->pattern.each && field.element_bits > 0;
        map->matched[field.rule - walk->classes->rules] = true;
    }
    map->fields[map->field_count++] = field;
    return field.path != NULL && field.elements != NULL ? MGLRU_OK : MGLRU_ENOMEM;
}

/* One member that is walked: its path and where its states begin. */
struct node {
    const struct layout_member *member;
    char path[LAYOUT_PATH_BYTES];
    size_t first;
};

static struct layout_field field_of(const struct place *place, const struct node *node)
{
    const struct layout_member *member = node->member;
    return (struct layout_field){
        .member = member,
        .bit_offset = place->bit_offset + member->bit_offset,
        .bit_size = member->bit_size,
        .element_bits = member->dim_count > 0 ? member->element_bytes * 8 : 0,
        .union_id = place->union_id,
        .alternative = place->alternative,
        .opaque = member->type != NULL && member->type->member_count > 0,
    };
}

static int walk_single(struct walk *walk, const struct place *place, const struct node *node)
{
    const struct layout_member *member = node->member;
    const struct layout_class_rule *rule =
        best_rule(walk, node->first, member, 0, place->inherited);
    bool deep = speaks_inside(walk, node->first, member) ||
                (rule == NULL && member->type != NULL && member->type->member_count > 0 &&
                 member->type->size_bytes > WHOLE_BYTES);
    if (!deep || place->depth >= LAYOUT_DEPTH_MAX) {
        struct layout_field field = field_of(place, node);
        field.rule = rule;
        return add_field(walk, field, node->path, "");
    }
    struct place inner = *place;
    inner.path = node->path;
    inner.scope = member->type;
    inner.alias = member->type_name;
    inner.bit_offset += member->bit_offset;
    inner.inherited = rule;
    inner.first = node->first;
    inner.last = walk->state_count;
    inner.depth++;
    return walk_type(walk, member->type, &inner);
}

/* Elements of an array about whose inside nothing is said: runs with the same statement. */
static int walk_runs(struct walk *walk, const struct place *place, const struct node *node)
{
    const struct layout_member *member = node->member;
    uint64_t count = layout_elements_count(member);
    int code = MGLRU_OK;
    for (uint64_t first = 0, end; code == MGLRU_OK && first < count; first = end) {
        const struct layout_class_rule *rule =
            best_rule(walk, node->first, member, first, place->inherited);
        for (end = first + 1; end < count; end++)
            if (best_rule(walk, node->first, member, end, place->inherited) != rule)
                break;
        struct layout_run run = {.first = first, .end = end};
        while (code == MGLRU_OK && run.first < run.end) {
            char text[LAYOUT_PATH_BYTES];
            struct layout_field field = field_of(place, node);
            field.first_element = run.first;
            layout_elements_take(member, &run, text, sizeof(text));
            field.rule = rule;
            field.bit_offset += field.first_element * field.element_bits;
            field.bit_size = (run.first - field.first_element) * field.element_bits;
            code = add_field(walk, field, node->path, text);
        }
    }
    return code;
}

/* Each element of an array of structs by itself. */
static int walk_elements(struct walk *walk, const struct place *place, const struct node *node)
{
    const struct layout_member *member = node->member;
    uint64_t count = layout_elements_count(member);
    size_t end = walk->state_count;
    int code = MGLRU_OK;
    for (uint64_t i = 0; code == MGLRU_OK && i < count; i++) {
        char elements[LAYOUT_PATH_BYTES];
        char path[2 * LAYOUT_PATH_BYTES];
        struct layout_run run = {.first = i, .end = i + 1};
        layout_elements_take(member, &run, elements, sizeof(elements));
        snprintf(path, sizeof(path), "%s%s", node->path, elements);
        struct place inner = *place;
        inner.path = path;
        inner.scope = member->type;
        inner.alias = member->type_name;
        inner.bit_offset += member->bit_offset + i * member->element_bytes * 8;
        inner.inherited = best_rule(walk, node->first, member, i, place->inherited);
        inner.depth++;
        inner.first = walk->state_count;
        for (size_t s = node->first; code == MGLRU_OK && s < end; s++)
            if (selects(last_part(walk, s), member, i))
                code = push(walk, walk->states[s]);
        inner.last = walk->state_count;
        if (code == MGLRU_OK)
            code = walk_type(walk, member->type, &inner);
        walk->state_count = end;
    }
    return code;
}

static int walk_array(struct walk *walk, const struct place *place, const struct node *node)
{
    if (place->depth < LAYOUT_DEPTH_MAX && speaks_inside(walk, node->first, node->member))
        return walk_elements(walk, place, node);
    uint64_t count = layout_elements_count(node->member);
    if (names_elements(walk, node->first) && count > 0) {
        if (count <= LAYOUT_FIELDS_MAX)
            return walk_runs(walk, place, node);
        snprintf(walk->error->text, sizeof(walk->error->text),
                 "%s.%s has more than %u elements: name the whole array", walk->map->name,
                 node->path, LAYOUT_FIELDS_MAX);
        return MGLRU_EOVERFLOW;
    }
    struct layout_field field = field_of(place, node);
    field.rule = best_rule(walk, node->first, node->member, 0, place->inherited);
    return add_field(walk, field, node->path, "");
}

/* A part without a name adds nothing to the path of its members. */
static int walk_anonymous(struct walk *walk, const struct place *place,
                          const struct layout_member *member)
{
    if (member->type == NULL || place->depth >= LAYOUT_DEPTH_MAX)
        return MGLRU_OK;
    struct place inner = *place;
    inner.bit_offset += member->bit_offset;
    inner.depth++;
    return walk_type(walk, member->type, &inner);
}

static int walk_member(struct walk *walk, const struct layout_type *type, const struct place *place,
                       const struct layout_member *member)
{
    if (member->name == NULL)
        return walk_anonymous(walk, place, member);
    struct node node = {.member = member, .first = walk->state_count};
    snprintf(node.path, sizeof(node.path), "%s%s%s", place->path, place->path[0] != '\0' ? "." : "",
             member->name);
    int code = advance(walk, type, place, member);
    if (code == MGLRU_OK)
        code = member->dim_count > 0 ? walk_array(walk, place, &node)
                                     : walk_single(walk, place, &node);
    walk->state_count = node.first;
    return code;
}

static int walk_type(struct walk *walk, const struct layout_type *type, const struct place *place)
{
    struct place inner = *place;
    bool is_union = type->kind == LAYOUT_UNION && place->union_id == 0;
    if (is_union)
        inner.union_id = ++walk->unions;
    int code = MGLRU_OK;
    for (uint32_t i = 0; code == MGLRU_OK && i < type->member_count; i++) {
        if (is_union)
            inner.alternative = i;
        code = walk_member(walk, type, &inner, &type->members[i]);
    }
    return code;
}

int layout_map_build(const struct layout_type *type, const char *name,
                     const struct layout_classes *classes, struct layout_map *map,
                     struct layout_error *error)
{
    *map = (struct layout_map){.type = type, .name = strdup(name)};
    error->text[0] = '\0';
    map->matched = calloc(classes->rule_count + 1, sizeof(*map->matched));
    struct walk walk = {.classes = classes, .map = map, .error = error};
    struct place place = {.path = "", .scope = type, .alias = name};
    int code = map->name != NULL && map->matched != NULL ? MGLRU_OK : MGLRU_ENOMEM;
    if (code == MGLRU_OK)
        code = walk_type(&walk, type, &place);
    free(walk.states);
    if (code == MGLRU_ENOMEM)
        snprintf(error->text, sizeof(error->text), "%s: out of memory", name);
    if (code != MGLRU_OK)
        layout_map_free(map);
    return code;
}

void layout_map_free(struct layout_map *map)
{
    for (size_t i = 0; i < map->field_count; i++) {
        free(map->fields[i].path);
        free(map->fields[i].elements);
    }
    free(map->fields);
    free(map->matched);
    free(map->name);
    *map = (struct layout_map){0};
}

/* Appends to @text and returns the new length, at most @bytes. */
static size_t append(char *text, size_t bytes, size_t length, const char *more)
{
    if (length < bytes)
        length += (size_t)snprintf(text + length, bytes - length, "%s", more);
    return length < bytes ? length : bytes;
}

void layout_field_text(const struct layout_field *field, const uint64_t bits[2], char *text,
                       size_t bytes)
{
    size_t length = append(text, bytes, 0, field->path);
    uint64_t end = field->bit_offset + field->bit_size;
    if (field->element_bits == 0 || field->bit_size == 0) {
        append(text, bytes, length, field->elements);
        return;
    }
    if (bits[0] <= field->bit_offset && bits[1] + 1 >= end) {
        append(text, bytes, length, field->elements[0] != '\0' ? field->elements : "[]");
        return;
    }
    uint64_t from = bits[0] > field->bit_offset ? bits[0] - field->bit_offset : 0;
    uint64_t to = (bits[1] + 1 < end ? bits[1] + 1 : end) - field->bit_offset;
    struct layout_run run = {.first = field->first_element + from / field->element_bits,
                             .end = field->first_element +
                                    (to + field->element_bits - 1) / field->element_bits};
    for (bool first = true; run.first < run.end && length < bytes; first = false) {
        char elements[LAYOUT_PATH_BYTES];
        layout_elements_take(field->member, &run, elements, sizeof(elements));
        if (!first) {
            length = append(text, bytes, length, ", ");
            length = append(text, bytes, length, field->path);
        }
        length = append(text, bytes, length, elements);
    }
}

bool layout_map_misses(const struct layout_map *map, const struct layout_class_rule *rule,
                       size_t index)
{
    bool names = (map->type->name != NULL && strcmp(rule->pattern.type, map->type->name) == 0) ||
                 strcmp(rule->pattern.type, map->name) == 0;
    return names && !map->matched[index];
}
