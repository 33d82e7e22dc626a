/* SPDX-License-Identifier: MIT */
/* Names of source files out of the headers of line tables, versions 2 to 5; see dwarf.h. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <mglru/error.h>

#include "layout/dwarf/constants.h"
#include "layout/dwarf/dwarf.h"

#define FORMATS_MAX 16

/* A header while its lists are read. */
struct lines_builder {
    struct dwarf_unit *unit;
    struct bytes at;
    const char **folders;
    size_t folder_count;
    size_t folder_capacity;
    struct dwarf_lines lines;
    size_t file_capacity;
    uint8_t offset_bytes;
};

static bool push(const char ***list, size_t *count, size_t *capacity, const char *text)
{
    if (*count == *capacity) {
        size_t more_items = *capacity != 0 ? *capacity * 2 : 64;
        const char **more = realloc(*list, more_items * sizeof(*more));
        if (more == NULL)
            return false;
        *list = more;
        *capacity = more_items;
    }
    (*list)[(*count)++] = text;
    return true;
}

/* Folder and name joined; absolute names and unknown folders stay as they are. */
static bool push_file(struct lines_builder *builder, const char *name, uint64_t folder)
{
    char path[4096];
    struct model *model = &builder->unit->file->dwarf->model;
    const char *dir = folder < builder->folder_count ? builder->folders[folder] : NULL;
    /* Folder 0 is the unit's own: relative names start there anyway. */
    if (name[0] == '/' || dir == NULL || folder == 0)
        snprintf(path, sizeof(path), "%s", name);
    else
        snprintf(path, sizeof(path), "%s/%s", dir, name);
    const char *kept = arena_string(&model->arena, path, strlen(path));
    return kept != NULL &&
           push(&builder->lines.files, &builder->lines.count, &builder->file_capacity, kept);
}

/* Versions 2 to 4: lists of texts that end with an empty one; folder 0 and file 0 are implied. */
static bool read_old_lists(struct lines_builder *builder)
{
    struct bytes *at = &builder->at;
    bool ok = push(&builder->folders, &builder->folder_count, &builder->folder_capacity, NULL) &&
              push(&builder->lines.files, &builder->lines.count, &builder->file_capacity, NULL);
    for (const char *text; ok && *(text = bytes_text(at)) != '\0';)
        ok = push(&builder->folders, &builder->folder_count, &builder->folder_capacity, text);
    for (const char *text; ok && *(text = bytes_text(at)) != '\0';) {
        uint64_t folder = bytes_uleb(at);
        bytes_uleb(at);
        bytes_uleb(at);
        ok = at->bad || push_file(builder, text, folder);
    }
    return ok;
}

static const char *text_of(const struct dwarf_unit *unit, const struct dwarf_value *value)
{
    struct dwarf_entry entry = {.unit = (struct dwarf_unit *)unit,
                                .have = UINT32_C(1) << FIELD_NAME};
    entry.values[FIELD_NAME] = *value;
    return dwarf_text(&entry, FIELD_NAME);
}

/* Version 5: a description of columns, then rows. @files: of files, else of folders. */
static bool read_new_list(struct lines_builder *builder, bool files)
{
    struct bytes *at = &builder->at;
    struct dwarf_unit unit = *builder->unit;
    struct dwarf_attr columns[FORMATS_MAX];
    uint64_t kinds[FORMATS_MAX];
    unsigned column_count = bytes_u8(at);
    bool ok = column_count <= FORMATS_MAX;
    unit.offset_bytes = builder->offset_bytes;
    for (unsigned i = 0; ok && i < column_count; i++) {
        kinds[i] = bytes_uleb(at);
        uint64_t form = bytes_uleb(at);
        columns[i] = (struct dwarf_attr){.form = form < UINT16_MAX ? (uint16_t)form : UINT16_MAX};
    }
    uint64_t rows = bytes_uleb(at);
    if (!ok || column_count == 0 || rows > bytes_left(at)) {
        if (!ok || rows > 0)
            bytes_fail(at);
        return true;
    }
    for (uint64_t row = 0; ok && row < rows && !at->bad; row++) {
        const char *name = NULL;
        uint64_t folder = 0;
        for (unsigned i = 0; i < column_count; i++) {
            struct dwarf_value value;
            dwarf_value_read(&unit, &columns[i], at, &value);
            if (kinds[i] == DW_LNCT_path)
                name = text_of(&unit, &value);
            else if (kinds[i] == DW_LNCT_directory_index)
                folder = value.number;
        }
        if (at->bad)
            break;
        name = name != NULL ? name : "?";
        ok = files
                 ? push_file(builder, name, folder)
                 : push(&builder->folders, &builder->folder_count, &builder->folder_capacity, name);
    }
    return ok;
}

/* Fields in front of the lists. False: a version that is not known here. */
static bool skip_fields(struct lines_builder *builder, bool *new_lists)
{
    struct bytes *at = &builder->at;
    uint64_t length = bytes_u32(at);
    builder->offset_bytes = 4;
    if (length == UINT32_MAX) {
        length = bytes_u64(at);
        builder->offset_bytes = 8;
    }
    if (length < bytes_left(at))
        at->end = at->at + length;
    unsigned version = bytes_u16(at);
    if (version >= 5)
        bytes_skip(at, 2);
    uint64_t header = bytes_uint(at, builder->offset_bytes);
    if (header < bytes_left(at))
        at->end = at->at + header;
    bytes_skip(at, version >= 4 ? 5 : 4);
    unsigned opcodes = bytes_u8(at);
    bytes_skip(at, opcodes > 0 ? opcodes - 1 : 0);
    *new_lists = version >= 5;
    builder->lines.from_zero = version >= 5;
    return version >= 2 && version <= 5;
}

static int read_lines(struct dwarf_unit *unit, struct lines_builder *builder)
{
    struct dwarf_file *file = unit->file;
    struct model *model = &file->dwarf->model;
    bool new_lists;
    builder->unit = unit;
    builder->at = bytes_from(file->line, unit->stmt_list, file->elf.big);
    const uint8_t *start = builder->at.at;
    /* Names of files are no reason to refuse a file: an unknown table has none. */
    if (!skip_fields(builder, &new_lists))
        return MGLRU_OK;
    bool ok = new_lists ? read_new_list(builder, false) && read_new_list(builder, true)
                        : read_old_lists(builder);
    if (!ok)
        return model_no_memory(model);
    file->line_spent += (uint64_t)(builder->at.at - start);
    if (file->line_spent > 2 * (uint64_t)file->line.bytes)
        return model_damaged(model, "units overlap each other's line tables");
    return MGLRU_OK;
}

static int get_lines(struct dwarf_unit *unit)
{
    static const struct dwarf_lines none;
    struct dwarf_file *file = unit->file;
    unit->lines = unit->has_lines ? table_get(&file->lines, unit->stmt_list) : &none;
    if (unit->lines != NULL)
        return MGLRU_OK;
    struct lines_builder builder = {0};
    struct dwarf_lines *kept = calloc(1, sizeof(*kept));
    int code = kept != NULL ? read_lines(unit, &builder) : model_no_memory(&file->dwarf->model);
    free(builder.folders);
    if (code == MGLRU_OK) {
        *kept = builder.lines;
        if (!table_put(&file->lines, unit->stmt_list, kept))
            code = model_no_memory(&file->dwarf->model);
    }
    if (code != MGLRU_OK) {
        free(builder.lines.files);
        free(kept);
        return code;
    }
    unit->lines = kept;
    return MGLRU_OK;
}

int dwarf_file_name(struct dwarf_unit *unit, uint64_t number, const char **name)
{
    *name = NULL;
    int code = dwarf_unit_open(unit);
    if (code == MGLRU_OK && unit->lines == NULL)
        code = get_lines(unit);
    if (code == MGLRU_OK && number < unit->lines->count)
        *name = unit->lines->files[number];
    return code;
}
