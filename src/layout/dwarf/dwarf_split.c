/* SPDX-License-Identifier: MIT */
/*
 * Debug information that lies in other files: a dwz supplement (.gnu_debugaltlink), .dwo files of
 * split DWARF, or the package (.dwp) that replaces them; see dwarf.h.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <mglru/error.h>

#include "layout/dwarf/constants.h"
#include "layout/dwarf/dwarf.h"
#include "layout/read/search.h"

#define COLUMNS_MAX 16

/* Opens the ELF file @path and adds it. A file that cannot be read is no error: *file is NULL. */
static int add_path(struct dwarf *dwarf, const char *path, bool split, struct dwarf_file **file)
{
    struct blob blob;
    struct elf elf;
    struct layout_error unused;
    *file = NULL;
    if (blob_open(path, &blob, &unused) != MGLRU_OK)
        return MGLRU_OK;
    int code = elf_open(blob.span, path, &elf, dwarf->model.error);
    if (code != MGLRU_OK) {
        blob_free(&blob);
        return code;
    }
    return dwarf_file_add(dwarf, &elf, &blob, split, file);
}

static int open_alt(struct dwarf *dwarf, struct dwarf_file *file)
{
    struct span link;
    char path[SEARCH_PATH_MAX];
    int code = elf_section(&file->elf, ".gnu_debugaltlink", &link, dwarf->model.error);
    const char *name = link.bytes > 0 ? span_text(link, 0) : NULL;
    if (code != MGLRU_OK || name == NULL)
        return code;
    size_t used = strlen(name) + 1;
    struct span id = {link.data + used, link.bytes - used};
    if (search_beside(file->path, name, path) || search_build_id(id, path))
        code = add_path(dwarf, path, false, &file->alt);
    if (code != MGLRU_OK)
        return code;
    if (file->alt == NULL)
        return layout_fail(dwarf->model.error, MGLRU_EINVAL,
                           "%s: its types are partly in %s (made by dwz), which is not there",
                           dwarf->model.path, name);
    file->alt->is_alt = true;
    return MGLRU_OK;
}

/* The .dwo file of a skeleton: as named, below its unit's folder, or beside the program. */
static int open_dwo(struct dwarf *dwarf, struct dwarf_unit *unit, const char *name)
{
    char path[SEARCH_PATH_MAX];
    struct dwarf_file *file = NULL;
    int code = MGLRU_OK;
    if (name[0] != '/' && unit->comp_dir != NULL)
        snprintf(path, sizeof(path), "%s/%s", unit->comp_dir, name);
    else
        snprintf(path, sizeof(path), "%s", name);
    if (access(path, R_OK) == 0 || search_beside(unit->file->path, name, path))
        code = add_path(dwarf, path, true, &file);
    if (code == MGLRU_OK && file == NULL) {
        dwarf->dwo_missing++;
        snprintf(dwarf->dwo_example, sizeof(dwarf->dwo_example), "%s", name);
    }
    return code;
}

static int open_dwos(struct dwarf *dwarf, struct dwarf_file *file)
{
    struct dwarf_file *package = NULL;
    char path[SEARCH_PATH_MAX];
    size_t unit_count = file->unit_count;
    bool tried = false;
    int code = MGLRU_OK;
    for (size_t i = 0; i < unit_count && code == MGLRU_OK && package == NULL; i++) {
        struct dwarf_unit *unit = file->units[i];
        struct dwarf_entry entry;
        if (unit->first >= unit->end)
            continue;
        code = dwarf_entry_read(unit, unit->first, &entry);
        const char *name = code == MGLRU_OK ? dwarf_text(&entry, FIELD_DWO_NAME) : NULL;
        if (name == NULL)
            continue;
        snprintf(path, sizeof(path), "%s.dwp", file->path);
        if (!tried && access(path, R_OK) == 0)
            code = add_path(dwarf, path, true, &package);
        tried = true;
        if (package == NULL && code == MGLRU_OK)
            code = open_dwo(dwarf, unit, name);
    }
    return code;
}

int dwarf_open_others(struct dwarf *dwarf, struct dwarf_file *file)
{
    int code = open_alt(dwarf, file);
    return code == MGLRU_OK ? open_dwos(dwarf, file) : code;
}

/* The bases in row @row of the index at @at, which stands behind its header. */
static void read_row(struct dwarf_unit *unit, struct bytes at, uint32_t columns, uint64_t row)
{
    uint32_t kinds[COLUMNS_MAX];
    for (uint32_t i = 0; i < columns; i++)
        kinds[i] = bytes_u32(&at);
    bytes_skip(&at, row * columns * 4);
    for (uint32_t i = 0; i < columns; i++) {
        uint32_t base = bytes_u32(&at);
        if (at.bad)
            return;
        if (kinds[i] == DW_SECT_ABBREV)
            unit->abbrev_base = base;
        else if (kinds[i] == DW_SECT_LINE)
            unit->line_base = base;
        else if (kinds[i] == DW_SECT_STR_OFFSETS)
            unit->str_offsets_base = base;
    }
}

/* The row whose contribution begins where the unit does; units are few, rows as many. */
static bool find_row(const struct dwarf_unit *unit, struct bytes at, uint32_t columns,
                     uint32_t rows, uint64_t *row)
{
    uint32_t column = columns;
    for (uint32_t i = 0; i < columns; i++) {
        uint32_t kind = bytes_u32(&at);
        if (kind == (unit->types && unit->version < 5 ? DW_SECT_TYPES : DW_SECT_INFO))
            column = i;
    }
    for (*row = 0; column < columns && *row < rows && !at.bad; (*row)++) {
        struct bytes cell = at;
        bytes_skip(&cell, column * 4u);
        if (bytes_u32(&cell) == unit->start)
            return true;
        bytes_skip(&at, columns * 4u);
    }
    return false;
}

static void read_index(struct dwarf_unit *unit, struct span index)
{
    struct bytes at = bytes_from(index, 0, unit->file->elf.big);
    /* Version 2 has 4 bytes for its number, version 5 has 2 and padding. */
    bytes_skip(&at, 4);
    uint32_t columns = bytes_u32(&at);
    uint32_t rows = bytes_u32(&at);
    uint64_t slots = bytes_u32(&at);
    bytes_skip(&at, slots * 12);
    uint64_t row;
    if (at.bad || columns > COLUMNS_MAX || rows > bytes_left(&at) / 4)
        return;
    if (find_row(unit, at, columns, rows, &row))
        read_row(unit, at, columns, row);
}

void dwarf_package_bases(struct dwarf_unit *unit)
{
    bool type = unit->kind == DW_UT_type || unit->kind == DW_UT_split_type;
    struct span index = type ? unit->file->tu_index : unit->file->cu_index;
    if (index.bytes > 0)
        read_index(unit, index);
}
