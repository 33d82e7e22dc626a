/* SPDX-License-Identifier: MIT */
/*
 * Types of a set by name, and all of them; see set.h.
 *
 * A name may stand in thousands of units. What is found is merged: the model makes equal types one,
 * and layouts that are the same but for the file they were declared in count once as well.
 */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mglru/error.h>

#include "layout/set_private.h"

#define SUGGESTIONS 3
#define SUGGESTED_MAX 64 /* characters of a name that are compared */
#define LISTED_MAX 8     /* layouts that a message lists */

/* A name as asked for: "struct foo@file.c:12". */
struct query {
    char *name;       /* without prefix and choice */
    const char *pick; /* behind the "@"; NULL: none */
    int kind;         /* enum layout_kind; -1: any */
};

struct near {
    char name[SUGGESTED_MAX * 2];
    unsigned distance;
};

struct finder {
    struct layout_set *set;
    const struct query *query;
    size_t exact_count; /* of the choices, those whose whole name was asked for */
    bool declared;
    const char *other; /* what else has the name */
    struct near near[SUGGESTIONS];
};

static int no_memory(struct layout_set *set)
{
    return layout_fail(set->error, MGLRU_ENOMEM, "%s: out of memory", set->path);
}

static void forget_choices(struct layout_set *set)
{
    set->choice_count = 0;
    table_free(&set->seen);
}

static int push_choice(struct layout_set *set, const struct layout_type *type)
{
    if (set->choice_count == set->choice_capacity) {
        size_t capacity = set->choice_capacity != 0 ? set->choice_capacity * 2 : 16;
        const struct layout_type **more = realloc(set->choices, capacity * sizeof(*more));
        if (more == NULL)
            return no_memory(set);
        set->choices = more;
        set->choice_capacity = capacity;
    }
    set->choices[set->choice_count++] = type;
    return MGLRU_OK;
}

/* @type under the name of the typedef that leads to it. */
static const struct layout_type *renamed(struct layout_set *set, const struct layout_type *type,
                                         const char *name)
{
    struct arena *arena = &set->reader->model->arena;
    struct layout_type *copy = arena_alloc(arena, sizeof(*copy));
    const char *kept = arena_string(arena, name, strlen(name));
    if (copy == NULL || kept == NULL)
        return NULL;
    *copy = *type;
    copy->name = kept;
    copy->display = kept;
    return copy;
}

/* The struct that typedef @id leads to; *id: its number, 0 when it leads elsewhere. */
static int follow_typedef(struct finder *finder, uint64_t *id, struct node *node)
{
    struct model *model = finder->set->reader->model;
    for (unsigned step = 0; step < MODEL_CHAIN_MAX; step++) {
        int code = model->ops->node(model, *id, node);
        if (code != MGLRU_OK)
            return code;
        if (node->kind < NODE_TYPEDEF || node->kind > NODE_TAG)
            break;
        *id = node->ref;
    }
    if (node->kind == NODE_STRUCT || node->kind == NODE_UNION || node->kind == NODE_CLASS)
        return MGLRU_OK;
    *id = 0;
    return MGLRU_OK;
}

static bool is_struct(uint8_t kind)
{
    return kind == NODE_STRUCT || kind == NODE_UNION || kind == NODE_CLASS;
}

/* Adds @type once. @name: of a typedef, for types that have none of their own. */
static int add_type(struct finder *finder, const struct layout_type *type, const char *name,
                    bool exact)
{
    struct layout_set *set = finder->set;
    uint64_t key = (uintptr_t)type;
    if (type->name == NULL)
        key = arena_hash(key, name, strlen(name));
    if (table_get(&set->seen, key) != NULL)
        return MGLRU_OK;
    if (!table_put(&set->seen, key, type))
        return no_memory(set);
    if (type->name == NULL && (type = renamed(set, type, name)) == NULL)
        return no_memory(set);
    /* Names that match as a whole win over those that only end so. */
    if (exact && finder->exact_count == 0)
        set->choice_count = 0;
    if (!exact && finder->exact_count > 0)
        return MGLRU_OK;
    finder->exact_count += exact;
    return push_choice(set, type);
}

static int visit_struct(struct finder *finder, const struct reader_name *name, uint64_t id)
{
    const struct layout_type *type;
    int code = model_type(finder->set->reader->model, id, &type);
    return code == MGLRU_OK ? add_type(finder, type, name->name, name->exact) : code;
}

static int visit_wanted(void *context, const struct reader_name *name)
{
    struct finder *finder = context;
    int kind = finder->query->kind;
    if (is_struct(name->kind)) {
        bool is_union = name->kind == NODE_UNION;
        /* "struct" and "class" name the same kind of thing. */
        if (kind >= 0 && is_union != (kind == LAYOUT_UNION))
            return MGLRU_OK;
        finder->declared = finder->declared || name->declared_only;
        return name->declared_only ? MGLRU_OK : visit_struct(finder, name, name->id);
    }
    if (kind >= 0)
        return MGLRU_OK;
    if (name->kind != NODE_TYPEDEF) {
        finder->other = name->kind == NODE_ENUM ? "an enum" : "no struct, union or class";
        return MGLRU_OK;
    }
    struct node node;
    uint64_t id = name->id;
    int code = follow_typedef(finder, &id, &node);
    if (code != MGLRU_OK)
        return code;
    if (id == 0)
        finder->other = "a typedef of something that is no struct, union or class";
    else if (node.declared_only)
        finder->declared = true;
    else
        return visit_struct(finder, name, id);
    return MGLRU_OK;
}

/* Edit distance of two short names without regard to case; UINT_MAX-like when it exceeds @most. */
static unsigned distance_of(const char *a, const char *b, unsigned most)
{
    unsigned row[SUGGESTED_MAX + 1];
    size_t length = strlen(a), other = strlen(b);
    size_t apart = length > other ? length - other : other - length;
    if (length > SUGGESTED_MAX || other > SUGGESTED_MAX || apart > most)
        return most + 1;
    for (size_t j = 0; j <= other; j++)
        row[j] = (unsigned)j;
    for (size_t i = 1; i <= length; i++) {
        unsigned diagonal = row[0];
        row[0] = (unsigned)i;
        for (size_t j = 1; j <= other; j++) {
            unsigned above = row[j];
            unsigned same = tolower((unsigned char)a[i - 1]) != tolower((unsigned char)b[j - 1]);
            unsigned best = diagonal + same;
            best = above + 1 < best ? above + 1 : best;
            row[j] = row[j - 1] + 1 < best ? row[j - 1] + 1 : best;
            diagonal = above;
        }
    }
    return row[other];
}

static int visit_near(void *context, const struct reader_name *name)
{
    struct finder *finder = context;
    const char *wanted = finder->query->name;
    unsigned most = (unsigned)strlen(wanted) / 3 + 1;
    unsigned distance = distance_of(wanted, name->name, most);
    if (distance > most && strlen(wanted) >= 4 && strstr(name->name, wanted) != NULL &&
        strlen(name->name) < SUGGESTED_MAX)
        distance = most;
    if (name->declared_only || distance > most ||
        strlen(name->name) >= sizeof(finder->near[0].name))
        return MGLRU_OK;
    for (size_t i = 0; i < SUGGESTIONS; i++)
        if (strcmp(finder->near[i].name, name->name) == 0)
            return MGLRU_OK;
    struct near one = {.distance = distance};
    snprintf(one.name, sizeof(one.name), "%s", name->name);
    for (size_t i = 0; i < SUGGESTIONS; i++) {
        struct near *slot = &finder->near[i];
        bool better = slot->name[0] == '\0' || one.distance < slot->distance ||
                      (one.distance == slot->distance && strcmp(one.name, slot->name) < 0);
        if (better) {
            struct near pushed = *slot;
            *slot = one;
            one = pushed;
        }
    }
    return MGLRU_OK;
}

/* The error of a name that stands for nothing usable. */
static int not_found(struct finder *finder)
{
    struct layout_set *set = finder->set;
    const char *name = finder->query->name;
    char near[SUGGESTIONS * sizeof(finder->near[0].name) + 32] = "";
    if (finder->declared)
        return layout_fail(set->error, MGLRU_ENOENT,
                           "%s: %s is only declared here, its members are not known: look in a file"
                           " of the code that defines it%s%s",
                           set->path, name, set->reader->note[0] != '\0' ? "; " : "",
                           set->reader->note);
    if (finder->other != NULL)
        return layout_fail(set->error, MGLRU_EINVAL, "%s: %s is %s", set->path, name,
                           finder->other);
    set->reader->model->work_bytes = 0;
    int code = set->reader->visit(set->reader, NULL, visit_near, finder);
    if (code != MGLRU_OK)
        return code;
    for (size_t i = 0; i < SUGGESTIONS && finder->near[i].name[0] != '\0'; i++) {
        size_t used = strlen(near);
        snprintf(near + used, sizeof(near) - used, "%s%s", i == 0 ? "; did you mean " : ", ",
                 finder->near[i].name);
    }
    return layout_fail(set->error, MGLRU_ENOENT, "%s: no type is named %s%s%s%s%s", set->path, name,
                       near, near[0] != '\0' ? "?" : "", set->reader->note[0] != '\0' ? "; " : "",
                       set->reader->note);
}

/* Layouts that look the same are one, wherever they were declared; @by_name: those of one name. */
static int merge_same(struct layout_set *set, bool by_name)
{
    struct table known = {0};
    size_t kept = 0;
    int code = MGLRU_OK;
    for (size_t i = 0; i < set->choice_count; i++) {
        const struct layout_type *type = set->choices[i];
        uint64_t key = type->shape;
        if (by_name)
            key = arena_hash(key, type->name, strlen(type->name));
        if (table_get(&known, key) != NULL)
            continue;
        if (!table_put(&known, key, type)) {
            code = no_memory(set);
            break;
        }
        set->choices[kept++] = type;
    }
    set->choice_count = kept;
    table_free(&known);
    return code;
}

static bool is_number(const char *text)
{
    return text[0] != '\0' && strspn(text, "0123456789") == strlen(text);
}

/* True when @pick ("FILE", "FILE:LINE", "SIZE", "#N") means choice @index. */
static bool picked(const struct layout_type *type, size_t index, const char *pick)
{
    if (pick[0] == '#')
        return is_number(pick + 1) && strtoull(pick + 1, NULL, 10) == index + 1;
    if (is_number(pick))
        return strtoull(pick, NULL, 10) == type->size_bytes;
    const char *colon = strrchr(pick, ':');
    size_t length = strlen(pick);
    if (colon != NULL && is_number(colon + 1)) {
        if (strtoul(colon + 1, NULL, 10) != type->decl_line)
            return false;
        length = (size_t)(colon - pick);
    }
    if (type->decl_file == NULL || length == 0)
        return false;
    size_t file = strlen(type->decl_file);
    return file >= length && strncmp(type->decl_file + file - length, pick, length) == 0 &&
           (file == length || type->decl_file[file - length - 1] == '/');
}

static void keep_picked(struct layout_set *set, const char *pick)
{
    size_t kept = 0;
    for (size_t i = 0; i < set->choice_count; i++)
        if (picked(set->choices[i], i, pick))
            set->choices[kept++] = set->choices[i];
    set->choice_count = kept;
}

/* Lists the choices: "foo@a.c:12 (40 bytes)". */
static int several(struct layout_set *set, const struct query *query)
{
    char list[LAYOUT_ERROR_BYTES / 2];
    size_t used = 0;
    for (size_t i = 0; i < set->choice_count && i < LISTED_MAX; i++) {
        const struct layout_type *type = set->choices[i];
        if (used >= sizeof(list) - 1)
            break;
        used += (size_t)snprintf(list + used, sizeof(list) - used, "%s%.100s@", i > 0 ? ", " : "",
                                 type->name);
        if (used >= sizeof(list) - 1)
            break;
        if (type->decl_file != NULL)
            used +=
                (size_t)snprintf(list + used, sizeof(list) - used, "%.200s:%u (%" PRIu64 " bytes)",
                                 type->decl_file, type->decl_line, type->size_bytes);
        else
            used += (size_t)snprintf(list + used, sizeof(list) - used, "#%zu (%" PRIu64 " bytes)",
                                     i + 1, type->size_bytes);
    }
    return layout_fail(set->error, MGLRU_EEXIST, "%s: %s has %zu different layouts, name one: %s%s",
                       set->path, query->name, set->choice_count, list,
                       set->choice_count > LISTED_MAX ? ", ..." : "");
}

static int parse_query(struct layout_set *set, const char *text, struct query *query)
{
    static const char *const words[] = {"struct ", "union ", "class "};
    *query = (struct query){.kind = -1};
    for (int i = 0; i < 3; i++)
        if (strncmp(text, words[i], strlen(words[i])) == 0) {
            query->kind = i;
            text += strlen(words[i]);
            break;
        }
    query->name = strdup(text);
    if (query->name == NULL)
        return no_memory(set);
    char *at = strrchr(query->name, '@');
    if (at != NULL) {
        *at = '\0';
        query->pick = at + 1;
    }
    if (query->name[0] == '\0')
        return layout_fail(set->error, MGLRU_EINVAL, "an empty name of a type");
    return MGLRU_OK;
}

static int choose(struct layout_set *set, const struct query *query,
                  const struct layout_type **type)
{
    size_t before = set->choice_count;
    if (query->pick != NULL)
        keep_picked(set, query->pick);
    if (set->choice_count == 0)
        return layout_fail(set->error, MGLRU_ENOENT,
                           "%s: none of the layouts of %s (%zu) is declared at, or is as large"
                           " as, '%s'",
                           set->path, query->name, before, query->pick);
    if (set->choice_count > 1)
        return several(set, query);
    *type = set->choices[0];
    return MGLRU_OK;
}

int layout_find(struct layout_set *set, const char *name, const struct layout_type **type,
                struct layout_choices *choices, struct layout_error *error)
{
    struct query query;
    *type = NULL;
    if (choices != NULL)
        *choices = (struct layout_choices){0};
    set->error = error;
    set->reader->model->error = error;
    set->reader->model->work_bytes = 0;
    forget_choices(set);
    struct finder finder = {.set = set, .query = &query};
    int code = parse_query(set, name, &query);
    if (code == MGLRU_OK)
        code = set->reader->visit(set->reader, query.name, visit_wanted, &finder);
    if (code == MGLRU_OK)
        code = merge_same(set, false);
    if (code == MGLRU_OK)
        code = set->choice_count == 0 ? not_found(&finder) : choose(set, &query, type);
    free(query.name);
    if (choices != NULL && (code == MGLRU_OK || code == MGLRU_EEXIST))
        *choices = (struct layout_choices){set->choices, set->choice_count};
    return code;
}

static int visit_all(void *context, const struct reader_name *name)
{
    struct finder *finder = context;
    struct node node;
    uint64_t id = name->id;
    if (name->declared_only)
        return MGLRU_OK;
    if (is_struct(name->kind))
        return visit_struct(finder, name, id);
    int code = follow_typedef(finder, &id, &node);
    /* Structs with a name of their own are visited under it. */
    if (code != MGLRU_OK || id == 0 || node.declared_only ||
        (node.name != NULL && node.name[0] != '\0'))
        return code;
    return visit_struct(finder, name, id);
}

static int compare_files(const struct layout_type *a, const struct layout_type *b)
{
    if (a->decl_file == NULL || b->decl_file == NULL)
        return (a->decl_file != NULL) - (b->decl_file != NULL);
    int order = strcmp(a->decl_file, b->decl_file);
    return order != 0 ? order : (a->decl_line > b->decl_line) - (a->decl_line < b->decl_line);
}

static int compare_types(const void *left, const void *right)
{
    const struct layout_type *a = *(const struct layout_type *const *)left;
    const struct layout_type *b = *(const struct layout_type *const *)right;
    int order = strcmp(a->name, b->name);
    if (order == 0)
        order = (a->kind > b->kind) - (a->kind < b->kind);
    if (order == 0)
        order = compare_files(a, b);
    if (order == 0)
        order = (a->size_bytes > b->size_bytes) - (a->size_bytes < b->size_bytes);
    return order != 0 ? order : (a->shape > b->shape) - (a->shape < b->shape);
}

int layout_all(struct layout_set *set, struct layout_choices *choices, struct layout_error *error)
{
    struct query query = {.kind = -1};
    struct finder finder = {.set = set, .query = &query};
    *choices = (struct layout_choices){0};
    set->error = error;
    set->reader->model->error = error;
    set->reader->model->work_bytes = 0;
    forget_choices(set);
    int code = set->reader->visit(set->reader, NULL, visit_all, &finder);
    if (code != MGLRU_OK)
        return code;
    if (set->choice_count > 0)
        qsort(set->choices, set->choice_count, sizeof(*set->choices), compare_types);
    code = merge_same(set, true);
    if (code == MGLRU_OK)
        *choices = (struct layout_choices){set->choices, set->choice_count};
    return code;
}
