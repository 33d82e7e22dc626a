/* SPDX-License-Identifier: MIT */
/*
 * Full names of types in languages with namespaces: "ns::vec<int>::node".
 *
 * An entry does not know what encloses it, so a unit is gone through once, on the first question,
 * and the named entries that lie in a namespace or type are listed with their parents.
 */
#include <stdio.h>
#include <stdlib.h>

#include <mglru/error.h>

#include "layout/dwarf/constants.h"
#include "layout/dwarf/dwarf.h"

/* Chosen: deeper namespaces are cut at the outside. */
#define PARTS_MAX 32
#define FULL_NAME_MAX 8192

static bool encloses(unsigned tag)
{
    return tag == DW_TAG_namespace || tag == DW_TAG_structure_type || tag == DW_TAG_class_type ||
           tag == DW_TAG_union_type || tag == DW_TAG_interface_type;
}

static bool is_named(unsigned tag)
{
    return encloses(tag) || tag == DW_TAG_typedef || tag == DW_TAG_enumeration_type;
}

static bool add_parent(struct dwarf_unit *unit, size_t *capacity, uint64_t offset, uint64_t parent)
{
    if (unit->parent_count == *capacity) {
        size_t more_items = *capacity != 0 ? *capacity * 2 : 64;
        struct dwarf_parent *more = realloc(unit->parents, more_items * sizeof(*more));
        if (more == NULL)
            return false;
        unit->parents = more;
        *capacity = more_items;
    }
    unit->parents[unit->parent_count++] = (struct dwarf_parent){offset, parent};
    return true;
}

/* Lists parents; the entries enclosing the present one are kept up to PARTS_MAX deep. */
static int find_parents(struct dwarf_unit *unit)
{
    uint64_t enclosing[PARTS_MAX + 1] = {0};
    size_t capacity = 0;
    struct dwarf_walk walk;
    bool more = true, into = true;
    dwarf_walk_start(unit, &walk);
    unit->parents_known = true;
    for (;;) {
        int code = dwarf_walk_next(&walk, into, &more);
        if (code != MGLRU_OK || !more)
            return code;
        unsigned tag = walk.abbrev->tag, depth = walk.depth;
        into = depth == 0 || (encloses(tag) && depth < PARTS_MAX);
        if (depth >= 2 && depth <= PARTS_MAX && is_named(tag) &&
            !add_parent(unit, &capacity, walk.offset, enclosing[depth - 1]))
            return model_no_memory(&unit->file->dwarf->model);
        if (depth <= PARTS_MAX)
            enclosing[depth] = walk.offset;
    }
}

static uint64_t parent_of(const struct dwarf_unit *unit, uint64_t offset)
{
    size_t low = 0, high = unit->parent_count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (unit->parents[middle].offset < offset)
            low = middle + 1;
        else
            high = middle;
    }
    return low < unit->parent_count && unit->parents[low].offset == offset
               ? unit->parents[low].parent
               : 0;
}

static bool prepend(char *text, size_t *start, const char *part)
{
    size_t length = strlen(part);
    if (length > *start)
        return false;
    *start -= length;
    memcpy(text + *start, part, length);
    return true;
}

/* What @entry adds to a full name; "" for what adds nothing. */
static const char *part_of(const struct dwarf_entry *entry)
{
    const char *name = dwarf_text(entry, FIELD_NAME);
    if (name != NULL && name[0] != '\0')
        return name;
    return entry->tag == DW_TAG_namespace ? "(anonymous namespace)" : "";
}

/* A definition outside of its class names the declaration inside. */
static int follow_specification(struct dwarf_entry *entry)
{
    uint64_t id = dwarf_ref(entry, FIELD_SPECIFICATION);
    if (id == 0 || entry_has(entry, FIELD_NAME))
        return MGLRU_OK;
    return dwarf_entry_get(entry->unit->file->dwarf, id, entry);
}

/* The parts of @name, the entry's own, behind those of what encloses it. */
static int join_parts(const struct dwarf_entry *entry, uint64_t parent, const char **name)
{
    struct dwarf_unit *unit = entry->unit;
    struct model *model = &unit->file->dwarf->model;
    struct dwarf_entry outer;
    char text[FULL_NAME_MAX];
    size_t start = sizeof(text);
    if (!prepend(text, &start, *name))
        return MGLRU_OK;
    for (unsigned i = 0; parent != 0 && i < PARTS_MAX; i++) {
        int code = dwarf_entry_read(unit, parent, &outer);
        if (code != MGLRU_OK)
            return code;
        const char *part = part_of(&outer);
        if (part[0] != '\0' && (!prepend(text, &start, "::") || !prepend(text, &start, part)))
            break;
        parent = parent_of(unit, parent);
    }
    *name = arena_string(&model->arena, text + start, sizeof(text) - start);
    return *name != NULL ? MGLRU_OK : model_no_memory(model);
}

int dwarf_full_name(const struct dwarf_entry *first, const char **name)
{
    struct dwarf_entry entry = *first;
    *name = "";
    int code = follow_specification(&entry);
    if (code != MGLRU_OK)
        return code;
    struct dwarf_unit *unit = entry.unit;
    *name = part_of(&entry);
    if (!unit->qualified || (*name)[0] == '\0')
        return MGLRU_OK;
    code = unit->parents_known ? MGLRU_OK : find_parents(unit);
    uint64_t parent = code == MGLRU_OK ? parent_of(unit, entry.offset) : 0;
    return parent != 0 ? join_parts(&entry, parent, name) : code;
}
