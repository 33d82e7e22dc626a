/* SPDX-License-Identifier: MIT */
/*
 * Going through all units for types, by name or all; see dwarf.h.
 *
 * Idea: a kernel has 2,400 units with the same few names, so an entry is looked at as little as
 * possible: siblings skip what lies inside, and where names are offsets into .debug_str (they
 * nearly always are), the places where the wanted name stands there are found once and compared as
 * numbers. Bodies of functions are entered only when a name is found nowhere else.
 */
#include <stdio.h>
#include <stdlib.h>

#include <mglru/error.h>

#include "layout/dwarf/constants.h"
#include "layout/dwarf/dwarf.h"

/* Linkers merge equal strings, and tails with whole ones; object files hold a few copies. */
#define PLACES_MAX 16

struct dwarf_scan {
    struct dwarf *dwarf;
    reader_visit *visit;
    void *context;
    const char *wanted; /* NULL: all */
    const char *last;   /* its last part */
    const struct dwarf_file *places_file;
    uint64_t places[PLACES_MAX];
    size_t place_count; /* PLACES_MAX + 1: too many to list */
    size_t matches;
    uint8_t *alt_state; /* by unit of the supplement: 1 imported, 2 done */
    bool deep;
};

struct dwarf_definition {
    uint64_t id;
    const char *name;
};

static bool is_struct(unsigned tag)
{
    return tag == DW_TAG_structure_type || tag == DW_TAG_class_type || tag == DW_TAG_union_type ||
           tag == DW_TAG_interface_type;
}

/* Equal but for blanks, which compilers put differently into template names. */
static bool same_name(const char *a, const char *b)
{
    for (;; a++, b++) {
        while (*a == ' ')
            a++;
        while (*b == ' ')
            b++;
        if (*a != *b || *a == '\0')
            return *a == *b;
    }
}

/* The part behind the last "::" outside of template arguments. */
static const char *last_part(const char *name)
{
    const char *last = name;
    int depth = 0;
    for (const char *c = name; *c != '\0'; c++) {
        depth += *c == '<';
        depth -= *c == '>' && depth > 0;
        if (depth == 0 && c[0] == ':' && c[1] == ':')
            last = c + 2;
    }
    return last;
}

/* True when @full is @wanted, or ends with it as its last parts. */
static bool name_matches(const char *full, const char *wanted, bool *exact)
{
    *exact = same_name(full, wanted);
    int depth = 0;
    for (const char *c = full; *c != '\0' && !*exact; c++) {
        depth += *c == '<';
        depth -= *c == '>' && depth > 0;
        if (depth == 0 && c[0] == ':' && c[1] == ':' && same_name(c + 2, wanted))
            return true;
    }
    return *exact;
}

/* Where the last part stands in .debug_str of @file, its NUL included. */
static void find_places(struct dwarf_scan *scan, const struct dwarf_file *file)
{
    const uint8_t *at = file->str.data, *end = at + file->str.bytes;
    size_t length = strlen(scan->last) + 1;
    scan->places_file = file;
    scan->place_count = 0;
    /* Template names are compared without blanks. */
    if (strchr(scan->last, '<') != NULL || strchr(scan->last, ' ') != NULL)
        scan->place_count = PLACES_MAX + 1;
    while (scan->place_count <= PLACES_MAX && file->str.bytes >= length &&
           (at = memmem(at, (size_t)(end - at), scan->last, length)) != NULL) {
        if (scan->place_count < PLACES_MAX)
            scan->places[scan->place_count] = (uint64_t)(at - file->str.data);
        scan->place_count++;
        at++;
    }
}

/* A look at the name alone: false when it cannot be the wanted one. */
static bool may_match(struct dwarf_scan *scan, const struct dwarf_walk *walk)
{
    const struct dwarf_unit *unit = walk->unit;
    struct bytes at = walk->attrs;
    for (uint32_t i = 0; i < walk->abbrev->count; i++) {
        const struct dwarf_attr *attr = &unit->abbrevs->attrs[walk->abbrev->first + i];
        struct dwarf_value value;
        dwarf_value_read(unit, attr, &at, &value);
        if (attr->field == FIELD_SPECIFICATION)
            return true;
        if (attr->field != FIELD_NAME)
            continue;
        if (value.form != DW_FORM_strp)
            return true;
        if (scan->places_file != unit->file)
            find_places(scan, unit->file);
        if (scan->place_count > PLACES_MAX)
            return true;
        for (size_t place = 0; place < scan->place_count; place++)
            if (scan->places[place] == value.number)
                return true;
        return false;
    }
    return false;
}

static int report(struct dwarf_scan *scan, struct dwarf_walk *walk)
{
    struct dwarf_entry entry;
    int code = dwarf_entry_read(walk->unit, walk->offset, &entry);
    if (code != MGLRU_OK)
        return code;
    const char *plain = dwarf_text(&entry, FIELD_NAME);
    if (scan->wanted != NULL && plain != NULL && !same_name(plain, scan->last))
        return MGLRU_OK;
    bool is_typedef = entry.tag == DW_TAG_typedef;
    struct reader_name name = {.id = entry.id, .kind = (uint8_t)dwarf_entry_kind(&entry)};
    name.declared_only = dwarf_flag(&entry, FIELD_DECLARATION) ||
                         (is_struct(entry.tag) && !entry_has(&entry, FIELD_BYTE_SIZE));
    /* The type unit that a signature names is visited by itself. */
    if (name.declared_only && dwarf_ref(&entry, FIELD_SIGNATURE) != 0)
        return MGLRU_OK;
    if (!is_typedef && !is_struct(entry.tag) && scan->wanted == NULL)
        return MGLRU_OK;
    code = dwarf_full_name(&entry, &name.name);
    if (code != MGLRU_OK)
        return code;
    if (name.name[0] == '\0' ||
        (scan->wanted != NULL && !name_matches(name.name, scan->wanted, &name.exact)))
        return MGLRU_OK;
    scan->matches += !name.declared_only;
    return scan->visit(scan->context, &name);
}

/* A unit of the supplement counts when something that counts imports it. */
static int note_import(struct dwarf_scan *scan, struct dwarf_walk *walk)
{
    struct dwarf_entry entry;
    uint64_t offset;
    int code = dwarf_entry_read(walk->unit, walk->offset, &entry);
    if (code != MGLRU_OK || scan->alt_state == NULL)
        return code;
    uint64_t id = dwarf_ref(&entry, FIELD_IMPORT);
    struct dwarf_unit *unit = id != 0 ? dwarf_unit_of(scan->dwarf, id, &offset) : NULL;
    if (unit == NULL || !unit->file->is_alt)
        return MGLRU_OK;
    for (size_t low = 0, high = unit->file->unit_count; low < high;) {
        size_t middle = (low + high) / 2;
        if (unit->file->units[middle] == unit) {
            scan->alt_state[middle] |= 1;
            break;
        }
        if (unit->file->units[middle]->start < unit->start)
            low = middle + 1;
        else
            high = middle;
    }
    return MGLRU_OK;
}

static int scan_entry(struct dwarf_scan *scan, struct dwarf_walk *walk, bool *into)
{
    unsigned tag = walk->abbrev->tag;
    *into = walk->depth == 0 || scan->deep;
    switch (tag) {
    case DW_TAG_imported_unit:
        return note_import(scan, walk);
    case DW_TAG_namespace:
        *into = true;
        return MGLRU_OK;
    case DW_TAG_structure_type:
    case DW_TAG_class_type:
    case DW_TAG_union_type:
    case DW_TAG_interface_type:
        *into = walk->unit->qualified || scan->deep;
        break;
    case DW_TAG_typedef:
    case DW_TAG_enumeration_type:
    case DW_TAG_base_type:
        *into = false;
        break;
    default:
        return MGLRU_OK;
    }
    if (scan->wanted != NULL && !may_match(scan, walk))
        return MGLRU_OK;
    return report(scan, walk);
}

static int scan_unit(struct dwarf_scan *scan, struct dwarf_unit *unit)
{
    struct dwarf_walk walk;
    bool into = true, more = true;
    dwarf_walk_start(unit, &walk);
    for (;;) {
        int code = dwarf_walk_next(&walk, into, &more);
        if (code != MGLRU_OK || !more)
            return code;
        code = scan_entry(scan, &walk, &into);
        if (code != MGLRU_OK)
            return code;
    }
}

/* Imported units may import others. */
static int scan_alt(struct dwarf_scan *scan, struct dwarf_file *alt)
{
    int code = MGLRU_OK;
    for (bool again = true; again && code == MGLRU_OK;) {
        again = false;
        for (size_t i = 0; i < alt->unit_count && code == MGLRU_OK; i++) {
            if (scan->alt_state[i] != 1)
                continue;
            scan->alt_state[i] = 2 | 1;
            again = true;
            code = scan_unit(scan, alt->units[i]);
        }
    }
    return code;
}

static int scan_all(struct dwarf_scan *scan)
{
    struct dwarf *dwarf = scan->dwarf;
    struct dwarf_file *alt = dwarf->files[0]->alt;
    int code = MGLRU_OK;
    if (alt != NULL && (scan->alt_state = calloc(alt->unit_count + 1, 1)) == NULL)
        return model_no_memory(&dwarf->model);
    for (size_t i = 0; i < dwarf->file_count && code == MGLRU_OK; i++) {
        struct dwarf_file *file = dwarf->files[i];
        for (size_t j = 0; !file->is_alt && j < file->unit_count && code == MGLRU_OK; j++)
            code = scan_unit(scan, file->units[j]);
    }
    if (alt != NULL && code == MGLRU_OK)
        code = scan_alt(scan, alt);
    free(scan->alt_state);
    scan->alt_state = NULL;
    return code;
}

int dwarf_visit(struct layout_reader *reader, const char *wanted, reader_visit *visit,
                void *context)
{
    struct dwarf_scan scan = {.dwarf = (struct dwarf *)reader,
                              .visit = visit,
                              .context = context,
                              .wanted = wanted,
                              .last = wanted != NULL ? last_part(wanted) : NULL,
                              .deep = true};
    return scan_all(&scan);
}

static int add_definition(void *context, const struct reader_name *name)
{
    struct dwarf *dwarf = context;
    uint64_t hash = arena_hash(ARENA_HASH_START, name->name, strlen(name->name));
    if (name->declared_only || name->kind == NODE_TYPEDEF ||
        table_get(&dwarf->definitions, hash) != NULL)
        return MGLRU_OK;
    struct dwarf_definition *definition = malloc(sizeof(*definition));
    if (definition == NULL || !table_put(&dwarf->definitions, hash, definition)) {
        free(definition);
        return model_no_memory(&dwarf->model);
    }
    *definition = (struct dwarf_definition){.id = name->id, .name = name->name};
    return MGLRU_OK;
}

uint64_t dwarf_define(struct model *model, uint64_t id)
{
    struct dwarf *dwarf = model->reader;
    struct dwarf_entry entry;
    if (!dwarf->definitions_known) {
        dwarf->definitions_known = true;
        if (dwarf_visit(&dwarf->reader, NULL, add_definition, dwarf) != MGLRU_OK)
            return 0;
    }
    if (dwarf_entry_get(dwarf, id, &entry) != MGLRU_OK)
        return 0;
    const char *name;
    if (dwarf_full_name(&entry, &name) != MGLRU_OK || name[0] == '\0')
        return 0;
    uint64_t hash = arena_hash(ARENA_HASH_START, name, strlen(name));
    const struct dwarf_definition *definition = table_get(&dwarf->definitions, hash);
    return definition != NULL && strcmp(definition->name, name) == 0 ? definition->id : 0;
}
