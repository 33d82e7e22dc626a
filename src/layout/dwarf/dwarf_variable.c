/* SPDX-License-Identifier: MIT */
/*
 * The type of a variable outside of functions. Units are gone through at their top level and in
 * namespaces; a declaration without a type refers to one that has it.
 */
#include <string.h>

#include <mglru/error.h>

#include "layout/dwarf/constants.h"
#include "layout/dwarf/dwarf.h"

static int look_at(const struct dwarf_walk *walk, const char *name, uint64_t *type)
{
    struct dwarf_entry entry, declaration;
    int code = dwarf_entry_read(walk->unit, walk->offset, &entry);
    if (code != MGLRU_OK)
        return code;
    uint64_t specification = dwarf_ref(&entry, FIELD_SPECIFICATION);
    if (specification != 0 && !entry_has(&entry, FIELD_NAME)) {
        code = dwarf_entry_get(walk->unit->file->dwarf, specification, &declaration);
        if (code != MGLRU_OK)
            return code;
    } else {
        declaration = entry;
    }
    const char *found = dwarf_text(&declaration, FIELD_NAME);
    if (found != NULL && strcmp(found, name) == 0)
        *type = dwarf_ref(&declaration, FIELD_TYPE);
    return MGLRU_OK;
}

static int scan_unit(struct dwarf_unit *unit, const char *name, uint64_t *type)
{
    struct dwarf_walk walk;
    bool into = true, more = true;
    dwarf_walk_start(unit, &walk);
    while (*type == 0) {
        int code = dwarf_walk_next(&walk, into, &more);
        if (code != MGLRU_OK || !more)
            return code;
        into = walk.depth == 0 || walk.abbrev->tag == DW_TAG_namespace;
        if (walk.abbrev->tag != DW_TAG_variable)
            continue;
        code = look_at(&walk, name, type);
        if (code != MGLRU_OK)
            return code;
    }
    return MGLRU_OK;
}

int dwarf_variable(struct layout_reader *reader, const char *name, uint64_t *type)
{
    struct dwarf *dwarf = (struct dwarf *)reader;
    int code = MGLRU_OK;
    *type = 0;
    for (size_t i = 0; i < dwarf->file_count; i++) {
        struct dwarf_file *file = dwarf->files[i];
        for (size_t j = 0; j < file->unit_count && code == MGLRU_OK && *type == 0; j++)
            code = scan_unit(file->units[j], name, type);
    }
    return code;
}
