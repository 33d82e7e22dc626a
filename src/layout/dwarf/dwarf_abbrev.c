/* SPDX-License-Identifier: MIT */
/* Abbreviations: which attributes an entry has, and how wide they are; see dwarf.h. */
#include <inttypes.h>
#include <stdlib.h>

#include <mglru/error.h>

#include "layout/dwarf/constants.h"
#include "layout/dwarf/dwarf.h"

/* A table under construction. */
struct builder {
    struct dwarf_abbrevs table;
    size_t attr_count;
    size_t attr_capacity;
    size_t capacity;
    bool sorted;
};

enum dwarf_field dwarf_field_of(uint64_t attribute)
{
    static const uint8_t fields[0x90] = {
        [DW_AT_sibling] = FIELD_SIBLING,
        [DW_AT_name] = FIELD_NAME,
        [DW_AT_byte_size] = FIELD_BYTE_SIZE,
        [DW_AT_bit_offset] = FIELD_BIT_OFFSET,
        [DW_AT_bit_size] = FIELD_BIT_SIZE,
        [DW_AT_stmt_list] = FIELD_STMT_LIST,
        [DW_AT_language] = FIELD_LANGUAGE,
        [DW_AT_import] = FIELD_IMPORT,
        [DW_AT_comp_dir] = FIELD_COMP_DIR,
        [DW_AT_const_value] = FIELD_CONST_VALUE,
        [DW_AT_lower_bound] = FIELD_LOWER_BOUND,
        [DW_AT_producer] = FIELD_PRODUCER,
        [DW_AT_upper_bound] = FIELD_UPPER_BOUND,
        [DW_AT_count] = FIELD_COUNT,
        [DW_AT_data_member_location] = FIELD_MEMBER_LOCATION,
        [DW_AT_decl_file] = FIELD_DECL_FILE,
        [DW_AT_decl_line] = FIELD_DECL_LINE,
        [DW_AT_declaration] = FIELD_DECLARATION,
        [DW_AT_encoding] = FIELD_ENCODING,
        [DW_AT_external] = FIELD_EXTERNAL,
        [DW_AT_specification] = FIELD_SPECIFICATION,
        [DW_AT_type] = FIELD_TYPE,
        [DW_AT_virtuality] = FIELD_VIRTUALITY,
        [DW_AT_signature] = FIELD_SIGNATURE,
        [DW_AT_data_bit_offset] = FIELD_DATA_BIT_OFFSET,
        [DW_AT_str_offsets_base] = FIELD_STR_OFFSETS_BASE,
        [DW_AT_dwo_name] = FIELD_DWO_NAME,
        [DW_AT_alignment] = FIELD_ALIGNMENT,
    };
    if (attribute < sizeof(fields))
        return (enum dwarf_field)fields[attribute];
    return attribute == DW_AT_GNU_dwo_name ? FIELD_DWO_NAME : FIELD_NONE;
}

/* Adds the width of @form to @abbrev's sums. */
static void add_width(struct dwarf_abbrev *abbrev, uint16_t form)
{
    switch (form) {
    case DW_FORM_flag_present:
    case DW_FORM_implicit_const:
        break;
    case DW_FORM_data1:
    case DW_FORM_flag:
    case DW_FORM_ref1:
    case DW_FORM_strx1:
    case DW_FORM_addrx1:
        abbrev->fixed_bytes += 1;
        break;
    case DW_FORM_data2:
    case DW_FORM_ref2:
    case DW_FORM_strx2:
    case DW_FORM_addrx2:
        abbrev->fixed_bytes += 2;
        break;
    case DW_FORM_data4:
    case DW_FORM_ref4:
    case DW_FORM_ref_sup4:
    case DW_FORM_strx4:
    case DW_FORM_addrx4:
        abbrev->fixed_bytes += 4;
        break;
    case DW_FORM_data8:
    case DW_FORM_ref8:
    case DW_FORM_ref_sig8:
    case DW_FORM_ref_sup8:
        abbrev->fixed_bytes += 8;
        break;
    case DW_FORM_data16:
        abbrev->fixed_bytes += 16;
        break;
    case DW_FORM_addr:
        abbrev->addresses++;
        break;
    case DW_FORM_strp:
    case DW_FORM_sec_offset:
    case DW_FORM_line_strp:
    case DW_FORM_strp_sup:
    case DW_FORM_GNU_ref_alt:
    case DW_FORM_GNU_strp_alt:
        abbrev->offsets++;
        break;
    default:
        abbrev->fixed = false;
        break;
    }
}

static bool add_attr(struct builder *builder, const struct dwarf_attr *attr)
{
    if (builder->attr_count == builder->attr_capacity) {
        size_t capacity = builder->attr_capacity != 0 ? builder->attr_capacity * 2 : 256;
        struct dwarf_attr *more = realloc(builder->table.attrs, capacity * sizeof(*more));
        if (more == NULL)
            return false;
        builder->table.attrs = more;
        builder->attr_capacity = capacity;
    }
    builder->table.attrs[builder->attr_count++] = *attr;
    return true;
}

static bool add_abbrev(struct builder *builder, const struct dwarf_abbrev *abbrev)
{
    struct dwarf_abbrevs *table = &builder->table;
    if (table->count == builder->capacity) {
        size_t capacity = builder->capacity != 0 ? builder->capacity * 2 : 64;
        struct dwarf_abbrev *more = realloc(table->items, capacity * sizeof(*more));
        if (more == NULL)
            return false;
        table->items = more;
        builder->capacity = capacity;
    }
    if (table->count > 0 && table->items[table->count - 1].code >= abbrev->code)
        builder->sorted = false;
    table->items[table->count++] = *abbrev;
    return true;
}

/* One abbreviation behind its code. False: out of memory. */
static bool read_abbrev(struct builder *builder, uint64_t code, struct bytes *at)
{
    struct dwarf_abbrev abbrev = {
        .code = code, .first = (uint32_t)builder->attr_count, .fixed = true};
    uint64_t tag = bytes_uleb(at);
    /* Tags of vendors are larger and mean nothing here, but must not look like another. */
    abbrev.tag = tag < UINT16_MAX ? (uint16_t)tag : UINT16_MAX;
    abbrev.children = bytes_u8(at) != 0;
    while (!at->bad) {
        uint64_t name = bytes_uleb(at);
        uint64_t form = bytes_uleb(at);
        if (name == 0 && form == 0)
            break;
        struct dwarf_attr attr = {.form = form < UINT16_MAX ? (uint16_t)form : UINT16_MAX,
                                  .field = (uint8_t)dwarf_field_of(name)};
        if (form == DW_FORM_implicit_const)
            attr.constant = bytes_sleb(at);
        abbrev.has_sibling = abbrev.has_sibling || attr.field == FIELD_SIBLING;
        add_width(&abbrev, attr.form);
        if (!add_attr(builder, &attr))
            return false;
        abbrev.count++;
    }
    return add_abbrev(builder, &abbrev);
}

static int by_code(const void *a, const void *b)
{
    const struct dwarf_abbrev *left = a, *right = b;
    return left->code < right->code ? -1 : left->code > right->code;
}

static int read_table(struct dwarf_unit *unit, uint64_t offset, struct builder *builder)
{
    struct dwarf_file *file = unit->file;
    struct model *model = &file->dwarf->model;
    struct bytes at = bytes_from(file->abbrev, offset, file->elf.big);
    const uint8_t *start = at.at;
    builder->sorted = true;
    for (;;) {
        uint64_t code = bytes_uleb(&at);
        if (code == 0 || at.bad)
            break;
        if (!read_abbrev(builder, code, &at))
            return model_no_memory(model);
        if (file->abbrev_spent + (size_t)(at.at - start) > 2 * (uint64_t)file->abbrev.bytes)
            return model_damaged(model, "units overlap each other's abbreviations");
    }
    file->abbrev_spent += (size_t)(at.at - start);
    if (at.bad)
        return model_damaged(model,
                             "the abbreviations at offset %#" PRIx64 " run past the end of"
                             " .debug_abbrev (%zu bytes)",
                             offset, file->abbrev.bytes);
    if (!builder->sorted)
        qsort(builder->table.items, builder->table.count, sizeof(struct dwarf_abbrev), by_code);
    return MGLRU_OK;
}

int dwarf_abbrevs_get(struct dwarf_unit *unit, const struct dwarf_abbrevs **abbrevs)
{
    struct dwarf_file *file = unit->file;
    struct builder builder = {0};
    uint64_t offset;
    *abbrevs = NULL;
    if (__builtin_add_overflow(unit->abbrev_offset, unit->abbrev_base, &offset))
        offset = UINT64_MAX;
    *abbrevs = table_get(&file->abbrevs, offset);
    if (*abbrevs != NULL)
        return MGLRU_OK;
    int code = read_table(unit, offset, &builder);
    struct dwarf_abbrevs *table = code == MGLRU_OK ? malloc(sizeof(*table)) : NULL;
    if (table != NULL)
        *table = builder.table;
    if (table == NULL || !table_put(&file->abbrevs, offset, table)) {
        free(builder.table.items);
        free(builder.table.attrs);
        free(table);
        return code != MGLRU_OK ? code : model_no_memory(&file->dwarf->model);
    }
    *abbrevs = table;
    return MGLRU_OK;
}

const struct dwarf_abbrev *dwarf_abbrev_find(const struct dwarf_abbrevs *abbrevs, uint64_t code)
{
    /* Compilers number them from 1 on. */
    if (code - 1 < abbrevs->count && abbrevs->items[code - 1].code == code)
        return &abbrevs->items[code - 1];
    size_t low = 0, high = abbrevs->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (abbrevs->items[middle].code < code)
            low = middle + 1;
        else
            high = middle;
    }
    return low < abbrevs->count && abbrevs->items[low].code == code ? &abbrevs->items[low] : NULL;
}
