/* SPDX-License-Identifier: MIT */
/* Files and their units; see dwarf.h. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <mglru/error.h>

#include "base/check.h"
#include "layout/dwarf/constants.h"
#include "layout/dwarf/dwarf.h"

/* The bit of an id that says .debug_types. */
#define ID_TYPES (UINT64_C(1) << 47)

/* Chosen: numbers of files fit above the offset in an id. */
#define FILES_MAX 60000u

uint64_t dwarf_id(const struct dwarf_unit *unit, uint64_t offset)
{
    return (uint64_t)unit->file->number << 48 | (unit->types ? ID_TYPES : 0) | offset;
}

/* Order of units in a file. */
static uint64_t unit_key(const struct dwarf_unit *unit)
{
    return (unit->types ? ID_TYPES : 0) | unit->start;
}

struct dwarf_unit *dwarf_unit_of(struct dwarf *dwarf, uint64_t id, uint64_t *offset)
{
    uint64_t number = id >> 48, key = id & (ID_TYPES | (ID_TYPES - 1));
    *offset = key & ~ID_TYPES;
    struct dwarf_unit *unit = dwarf->last;
    if (unit != NULL && unit->file->number == number && unit_key(unit) <= key &&
        unit->types == ((key & ID_TYPES) != 0) && *offset < unit->end)
        return unit;
    if (number == 0 || number > dwarf->file_count)
        return NULL;
    struct dwarf_file *file = dwarf->files[number - 1];
    size_t low = 0, high = file->unit_count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (unit_key(file->units[middle]) <= key)
            low = middle + 1;
        else
            high = middle;
    }
    unit = low > 0 ? file->units[low - 1] : NULL;
    if (unit == NULL || unit->types != ((key & ID_TYPES) != 0) || *offset >= unit->end)
        return NULL;
    dwarf->last = unit;
    return unit;
}

static bool is_qualified(uint64_t language)
{
    switch (language) {
    case DW_LANG_C89:
    case DW_LANG_C:
    case DW_LANG_C99:
    case DW_LANG_C11:
    case DW_LANG_C17:
    case DW_LANG_C23:
    case DW_LANG_Mips_Assembler:
        return false;
    default:
        return true;
    }
}

int dwarf_unit_open(struct dwarf_unit *unit)
{
    struct dwarf_entry entry;
    if (unit->abbrevs != NULL)
        return MGLRU_OK;
    int code = dwarf_abbrevs_get(unit, &unit->abbrevs);
    if (code != MGLRU_OK || unit->first >= unit->end)
        return code;
    code = dwarf_entry_read(unit, unit->first, &entry);
    if (code != MGLRU_OK)
        return code;
    if (entry_has(&entry, FIELD_STR_OFFSETS_BASE))
        unit->str_offsets_base += dwarf_number(&entry, FIELD_STR_OFFSETS_BASE);
    else if (unit->version >= 5)
        unit->str_offsets_base += unit->offset_bytes == 8 ? 16 : 8;
    unit->comp_dir = dwarf_text(&entry, FIELD_COMP_DIR);
    unit->has_lines = entry_has(&entry, FIELD_STMT_LIST);
    unit->stmt_list = dwarf_number(&entry, FIELD_STMT_LIST) + unit->line_base;
    const char *producer = dwarf_text(&entry, FIELD_PRODUCER);
    unit->exact_alignment = producer != NULL && strncmp(producer, "GNU ", 4) == 0;
    unit->qualified = is_qualified(dwarf_number(&entry, FIELD_LANGUAGE));
    return MGLRU_OK;
}

static int add_unit(struct dwarf_file *file, const struct dwarf_unit *unit, size_t *capacity)
{
    struct dwarf *dwarf = file->dwarf;
    if (file->unit_count == *capacity) {
        size_t more_units = *capacity != 0 ? *capacity * 2 : 16;
        struct dwarf_unit **more = realloc(file->units, more_units * sizeof(*more));
        if (more == NULL)
            return model_no_memory(&dwarf->model);
        file->units = more;
        *capacity = more_units;
    }
    struct dwarf_unit *kept = arena_alloc(&dwarf->model.arena, sizeof(*kept));
    if (kept == NULL)
        return model_no_memory(&dwarf->model);
    *kept = *unit;
    file->units[file->unit_count++] = kept;
    if ((unit->kind == DW_UT_type || unit->kind == DW_UT_split_type) &&
        table_get(&dwarf->signatures, unit->signature) == NULL &&
        !table_put(&dwarf->signatures, unit->signature, kept))
        return model_no_memory(&dwarf->model);
    return MGLRU_OK;
}

/* The header behind the length; fills in version, sizes, kind and where entries begin. */
static void read_header(struct dwarf_unit *unit, struct bytes *at)
{
    unit->version = (uint8_t)bytes_u16(at);
    unit->kind = unit->types ? DW_UT_type : DW_UT_compile;
    if (unit->version >= 5) {
        unit->kind = bytes_u8(at);
        unit->address_bytes = bytes_u8(at);
        unit->abbrev_offset = bytes_uint(at, unit->offset_bytes);
        if (unit->kind == DW_UT_skeleton || unit->kind == DW_UT_split_compile)
            bytes_skip(at, 8);
    } else {
        unit->abbrev_offset = bytes_uint(at, unit->offset_bytes);
        unit->address_bytes = bytes_u8(at);
    }
    if (unit->kind == DW_UT_type || unit->kind == DW_UT_split_type) {
        unit->signature = bytes_u64(at);
        unit->type = bytes_uint(at, unit->offset_bytes);
    }
    unit->first = (uint64_t)(at->at - unit->section.data);
}

static int check_header(struct dwarf_unit *unit, const struct bytes *at, uint64_t length)
{
    struct model *model = &unit->file->dwarf->model;
    if (at->bad || unit->first > unit->end)
        return model_damaged(model,
                             "the unit at offset %#" PRIx64 " of %" PRIu64 " bytes does not fit"
                             " its section of %zu",
                             unit->start, length, unit->section.bytes);
    if (unit->version < 2 || unit->version > 5)
        return layout_fail(model->error, MGLRU_EINVAL,
                           "%s: the unit at offset %#" PRIx64 " has DWARF version %u, expected 2 to"
                           " 5",
                           model->path, unit->start, unit->version);
    if (unit->address_bytes != 4 && unit->address_bytes != 8 && unit->address_bytes != 2)
        return model_damaged(model, "the unit at offset %#" PRIx64 " has addresses of %u bytes",
                             unit->start, unit->address_bytes);
    return MGLRU_OK;
}

static int read_units(struct dwarf_file *file, struct span section, bool types, size_t *capacity)
{
    struct bytes at = bytes_from(section, 0, file->elf.big);
    int code = MGLRU_OK;
    while (code == MGLRU_OK && bytes_left(&at) > 0) {
        struct dwarf_unit unit = {.file = file, .section = section, .types = types};
        unit.start = (uint64_t)(at.at - section.data);
        uint64_t length = bytes_u32(&at);
        unit.offset_bytes = 4;
        if (length == UINT32_MAX) {
            length = bytes_u64(&at);
            unit.offset_bytes = 8;
        }
        /* Linkers may leave zeros between units. */
        if (length == 0 && !at.bad)
            continue;
        uint64_t here = (uint64_t)(at.at - section.data);
        unit.end = length <= bytes_left(&at) ? here + length : 0;
        struct bytes header = at;
        read_header(&unit, &header);
        code = check_header(&unit, &header, length);
        if (code == MGLRU_OK && file->split)
            dwarf_package_bases(&unit);
        if (code == MGLRU_OK)
            code = add_unit(file, &unit, capacity);
        bytes_skip(&at, length);
    }
    return code;
}

static int read_sections(struct dwarf_file *file)
{
    const struct {
        const char *name;
        const char *split_name;
        struct span *span;
    } sections[] = {
        {".debug_info", ".debug_info.dwo", &file->info},
        {".debug_types", ".debug_types.dwo", &file->types},
        {".debug_abbrev", ".debug_abbrev.dwo", &file->abbrev},
        {".debug_str", ".debug_str.dwo", &file->str},
        {".debug_line_str", ".debug_line_str.dwo", &file->line_str},
        {".debug_line", ".debug_line.dwo", &file->line},
        {".debug_str_offsets", ".debug_str_offsets.dwo", &file->str_offsets},
        {".debug_cu_index", ".debug_cu_index", &file->cu_index},
        {".debug_tu_index", ".debug_tu_index", &file->tu_index},
    };
    for (size_t i = 0; i < MGLRU_ARRAY_LEN(sections); i++) {
        const char *name = file->split ? sections[i].split_name : sections[i].name;
        int code = elf_section(&file->elf, name, sections[i].span, file->dwarf->model.error);
        if (code != MGLRU_OK)
            return code;
    }
    return MGLRU_OK;
}

int dwarf_file_add(struct dwarf *dwarf, struct elf *elf, struct blob *blob, bool split,
                   struct dwarf_file **result)
{
    size_t capacity = 0;
    *result = NULL;
    struct dwarf_file *file = calloc(1, sizeof(*file));
    struct dwarf_file **more = realloc(dwarf->files, (dwarf->file_count + 1) * sizeof(*more));
    dwarf->files = more != NULL ? more : dwarf->files;
    if (file == NULL || more == NULL || dwarf->file_count >= FILES_MAX ||
        (file->path = strdup(elf->path)) == NULL) {
        free(file);
        elf_close(elf);
        if (blob != NULL)
            blob_free(blob);
        return model_no_memory(&dwarf->model);
    }
    file->dwarf = dwarf;
    file->elf = *elf;
    file->elf.path = file->path;
    file->split = split;
    if (blob != NULL)
        file->blob = *blob;
    dwarf->files[dwarf->file_count++] = file;
    file->number = (uint32_t)dwarf->file_count;
    *result = file;
    int code = read_sections(file);
    if (code == MGLRU_OK && (file->info.bytes | file->types.bytes) >= ID_TYPES)
        code = model_damaged(&dwarf->model, "sections of an impossible size");
    dwarf->model.bytes += file->info.bytes + file->types.bytes;
    if (code == MGLRU_OK)
        code = read_units(file, file->info, false, &capacity);
    if (code == MGLRU_OK)
        code = read_units(file, file->types, true, &capacity);
    return code;
}

/* What a table of abbreviations or of lines points to. */
static void free_tables(struct dwarf_file *file)
{
    for (size_t i = 0; i < file->abbrevs.slots; i++) {
        struct dwarf_abbrevs *abbrevs = (struct dwarf_abbrevs *)file->abbrevs.entries[i].value;
        if (abbrevs == NULL)
            continue;
        free(abbrevs->items);
        free(abbrevs->attrs);
        free(abbrevs);
    }
    for (size_t i = 0; i < file->lines.slots; i++) {
        struct dwarf_lines *lines = (struct dwarf_lines *)file->lines.entries[i].value;
        if (lines == NULL)
            continue;
        free(lines->files);
        free(lines);
    }
    table_free(&file->abbrevs);
    table_free(&file->lines);
}

void dwarf_file_free(struct dwarf_file *file)
{
    for (size_t i = 0; i < file->unit_count; i++)
        free(file->units[i]->parents);
    free(file->units);
    free(file->imported);
    free_tables(file);
    elf_close(&file->elf);
    blob_free(&file->blob);
    free(file->path);
    free(file);
}

static void close_reader(struct layout_reader *reader)
{
    struct dwarf *dwarf = (struct dwarf *)reader;
    for (size_t i = 0; i < dwarf->file_count; i++)
        dwarf_file_free(dwarf->files[i]);
    free(dwarf->files);
    table_free(&dwarf->signatures);
    for (size_t i = 0; i < dwarf->definitions.slots; i++)
        free((void *)dwarf->definitions.entries[i].value);
    table_free(&dwarf->definitions);
    model_free(&dwarf->model);
    free(dwarf);
}

static void describe(struct dwarf *dwarf)
{
    char machine[32];
    const struct dwarf_file *file = dwarf->files[0];
    unsigned version = file->unit_count > 0 ? file->units[0]->version : 0;
    snprintf(dwarf->reader.text, sizeof(dwarf->reader.text), "DWARF %u, %s, %s-endian", version,
             elf_machine_name(&file->elf, machine, sizeof(machine)),
             file->elf.big ? "big" : "little");
    if (dwarf->dwo_missing > 0)
        snprintf(dwarf->reader.note, sizeof(dwarf->reader.note),
                 "%zu .dwo file%s not there, such as %s: their types are missing",
                 dwarf->dwo_missing, dwarf->dwo_missing == 1 ? " is" : "s are", dwarf->dwo_example);
}

/* Integers of 8 bytes lie on 4 on i386, those of 4 on 2 on m68k. */
static uint32_t align_max_of(const struct elf *elf)
{
    return elf->machine == 3 ? 4 : elf->machine == 4 ? 2 : 8;
}

int dwarf_open(struct elf *elf, bool search, struct layout_reader **reader,
               struct layout_error *error)
{
    *reader = NULL;
    struct dwarf *dwarf = calloc(1, sizeof(*dwarf));
    if (dwarf == NULL) {
        elf_close(elf);
        return layout_fail(error, MGLRU_ENOMEM, "%s: out of memory", elf->path);
    }
    struct dwarf_file *file;
    dwarf->search = search;
    dwarf->reader = (struct layout_reader){.model = &dwarf->model,
                                           .visit = dwarf_visit,
                                           .variable = dwarf_variable,
                                           .close = close_reader};
    dwarf->model = (struct model){.ops = &dwarf_model_ops,
                                  .reader = dwarf,
                                  .path = elf->path,
                                  .address_bytes = elf->wide ? 8 : 4,
                                  .align_max = align_max_of(elf),
                                  .keyed = true,
                                  .error = error};
    /* A .dwo may be looked at by itself. */
    bool split = !elf_has(elf, ".debug_info") && elf_has(elf, ".debug_info.dwo");
    int code = dwarf_file_add(dwarf, elf, NULL, split, &file);
    if (code == MGLRU_OK && search)
        code = dwarf_open_others(dwarf, file);
    if (code != MGLRU_OK) {
        close_reader(&dwarf->reader);
        return code;
    }
    /* x32 and the like: wide files are not all of 8-byte addresses, nor narrow ones of 4. */
    if (file->unit_count > 0)
        dwarf->model.address_bytes = file->units[0]->address_bytes;
    describe(dwarf);
    *reader = &dwarf->reader;
    return MGLRU_OK;
}
