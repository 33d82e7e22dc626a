/* SPDX-License-Identifier: MIT */
/* Entries: their attributes, what those mean, and going from one to the next; see dwarf.h. */
#include <inttypes.h>

#include <mglru/error.h>

#include "layout/dwarf/constants.h"
#include "layout/dwarf/dwarf.h"

/* Blocks: their length is written in front. */
static void read_block(struct bytes *at, uint64_t length, struct dwarf_value *value)
{
    value->data = at->at;
    value->bytes = length;
    bytes_skip(at, length);
}

/* Forms whose bytes are one number; false: @form is none of them. */
static bool read_number(const struct dwarf_unit *unit, uint16_t form, struct bytes *at,
                        uint64_t *number)
{
    switch (form) {
    case DW_FORM_data1:
    case DW_FORM_flag:
    case DW_FORM_ref1:
    case DW_FORM_strx1:
    case DW_FORM_addrx1:
        *number = bytes_u8(at);
        return true;
    case DW_FORM_data2:
    case DW_FORM_ref2:
    case DW_FORM_strx2:
    case DW_FORM_addrx2:
        *number = bytes_u16(at);
        return true;
    case DW_FORM_strx3:
    case DW_FORM_addrx3:
        *number = bytes_uint(at, 3);
        return true;
    case DW_FORM_data4:
    case DW_FORM_ref4:
    case DW_FORM_ref_sup4:
    case DW_FORM_strx4:
    case DW_FORM_addrx4:
        *number = bytes_u32(at);
        return true;
    case DW_FORM_data8:
    case DW_FORM_ref8:
    case DW_FORM_ref_sig8:
    case DW_FORM_ref_sup8:
        *number = bytes_u64(at);
        return true;
    case DW_FORM_udata:
    case DW_FORM_ref_udata:
    case DW_FORM_strx:
    case DW_FORM_addrx:
    case DW_FORM_loclistx:
    case DW_FORM_rnglistx:
    case DW_FORM_GNU_addr_index:
    case DW_FORM_GNU_str_index:
        *number = bytes_uleb(at);
        return true;
    case DW_FORM_sdata:
        *number = (uint64_t)bytes_sleb(at);
        return true;
    case DW_FORM_addr:
        *number = bytes_uint(at, unit->address_bytes);
        return true;
    case DW_FORM_strp:
    case DW_FORM_sec_offset:
    case DW_FORM_line_strp:
    case DW_FORM_strp_sup:
    case DW_FORM_GNU_ref_alt:
    case DW_FORM_GNU_strp_alt:
        *number = bytes_uint(at, unit->offset_bytes);
        return true;
    case DW_FORM_ref_addr:
        *number = bytes_uint(at, unit->version <= 2 ? unit->address_bytes : unit->offset_bytes);
        return true;
    case DW_FORM_flag_present:
        *number = 1;
        return true;
    default:
        return false;
    }
}

void dwarf_value_read(const struct dwarf_unit *unit, const struct dwarf_attr *attr,
                      struct bytes *at, struct dwarf_value *value)
{
    struct dwarf_value unused;
    if (value == NULL)
        value = &unused;
    uint16_t form = attr->form;
    /* One step: a form that says "indirect" again is damage. */
    if (form == DW_FORM_indirect) {
        uint64_t other = bytes_uleb(at);
        form = other < UINT16_MAX && other != DW_FORM_implicit_const ? (uint16_t)other : UINT16_MAX;
    }
    *value = (struct dwarf_value){.form = form, .data = at->at};
    if (read_number(unit, form, at, &value->number))
        return;
    switch (form) {
    case DW_FORM_implicit_const:
        value->number = (uint64_t)attr->constant;
        break;
    case DW_FORM_string:
        value->data = (const uint8_t *)bytes_text(at);
        break;
    case DW_FORM_data16:
        bytes_skip(at, 16);
        break;
    case DW_FORM_block1:
        read_block(at, bytes_u8(at), value);
        break;
    case DW_FORM_block2:
        read_block(at, bytes_u16(at), value);
        break;
    case DW_FORM_block4:
        read_block(at, bytes_u32(at), value);
        break;
    case DW_FORM_block:
    case DW_FORM_exprloc:
        read_block(at, bytes_uleb(at), value);
        break;
    default:
        bytes_fail(at);
        break;
    }
}

static struct bytes unit_bytes(const struct dwarf_unit *unit, uint64_t offset)
{
    struct span part = {unit->section.data, unit->end};
    return bytes_from(part, offset, unit->file->elf.big);
}

static int bad_entry(const struct dwarf_unit *unit, uint64_t offset, const char *what)
{
    return model_damaged(&unit->file->dwarf->model, "entry at offset %#" PRIx64 ": %s", offset,
                         what);
}

int dwarf_entry_read(struct dwarf_unit *unit, uint64_t offset, struct dwarf_entry *entry)
{
    entry->unit = unit;
    entry->offset = offset;
    entry->id = dwarf_id(unit, offset);
    entry->have = 0;
    int status = dwarf_unit_open(unit);
    if (status != MGLRU_OK)
        return status;
    if (offset < unit->first || offset >= unit->end)
        return bad_entry(unit, offset, "lies outside its unit");
    struct bytes at = unit_bytes(unit, offset);
    uint64_t code = bytes_uleb(&at);
    const struct dwarf_abbrev *abbrev = NULL;
    entry->tag = 0;
    entry->children = false;
    if (code != 0) {
        abbrev = dwarf_abbrev_find(unit->abbrevs, code);
        if (abbrev == NULL)
            return bad_entry(unit, offset, "its abbreviation does not exist");
        entry->tag = abbrev->tag;
        entry->children = abbrev->children;
    }
    for (uint32_t i = 0; abbrev != NULL && i < abbrev->count; i++) {
        const struct dwarf_attr *attr = &unit->abbrevs->attrs[abbrev->first + i];
        dwarf_value_read(unit, attr, &at,
                         attr->field != FIELD_NONE ? &entry->values[attr->field] : NULL);
        entry->have |= UINT32_C(1) << attr->field;
    }
    if (at.bad)
        return bad_entry(unit, offset, "its attributes run past the end of the unit");
    entry->next = (uint64_t)(at.at - unit->section.data);
    return MGLRU_OK;
}

int dwarf_entry_get(struct dwarf *dwarf, uint64_t id, struct dwarf_entry *entry)
{
    uint64_t offset;
    struct dwarf_unit *unit = dwarf_unit_of(dwarf, id, &offset);
    if (unit == NULL)
        return model_damaged(&dwarf->model, "a reference leads outside all units");
    return dwarf_entry_read(unit, offset, entry);
}

/* Text number @index of the unit's table of string offsets. */
static const char *indexed_text(const struct dwarf_unit *unit, uint64_t index)
{
    struct bytes at =
        bytes_from(unit->file->str_offsets, unit->str_offsets_base, unit->file->elf.big);
    if (index > bytes_left(&at) / unit->offset_bytes)
        return NULL;
    bytes_skip(&at, index * unit->offset_bytes);
    uint64_t offset = bytes_uint(&at, unit->offset_bytes);
    return at.bad ? NULL : span_text(unit->file->str, offset);
}

const char *dwarf_text(const struct dwarf_entry *entry, enum dwarf_field field)
{
    if (!entry_has(entry, field))
        return NULL;
    const struct dwarf_value *value = &entry->values[field];
    const struct dwarf_file *file = entry->unit->file;
    switch (value->form) {
    case DW_FORM_string:
        return (const char *)value->data;
    case DW_FORM_strp:
        return span_text(file->str, value->number);
    case DW_FORM_line_strp:
        return span_text(file->line_str, value->number);
    case DW_FORM_strp_sup:
    case DW_FORM_GNU_strp_alt:
        return file->alt != NULL ? span_text(file->alt->str, value->number) : NULL;
    case DW_FORM_strx:
    case DW_FORM_strx1:
    case DW_FORM_strx2:
    case DW_FORM_strx3:
    case DW_FORM_strx4:
    case DW_FORM_GNU_str_index:
        return indexed_text(entry->unit, value->number);
    default:
        return NULL;
    }
}

uint64_t dwarf_name_token(const struct dwarf_entry *entry)
{
    if (!entry_has(entry, FIELD_NAME))
        return 0;
    const struct dwarf_value *value = &entry->values[FIELD_NAME];
    if (value->form == DW_FORM_strp)
        return value->number + 1;
    const char *text = dwarf_text(entry, FIELD_NAME);
    return text != NULL ? arena_hash(ARENA_HASH_START, text, strlen(text)) : 0;
}

uint64_t dwarf_number(const struct dwarf_entry *entry, enum dwarf_field field)
{
    return entry_has(entry, field) ? entry->values[field].number : 0;
}

bool dwarf_flag(const struct dwarf_entry *entry, enum dwarf_field field)
{
    return entry_has(entry, field) && entry->values[field].number != 0;
}

uint64_t dwarf_ref(const struct dwarf_entry *entry, enum dwarf_field field)
{
    if (!entry_has(entry, field))
        return 0;
    const struct dwarf_value *value = &entry->values[field];
    struct dwarf_unit *unit = entry->unit;
    const struct dwarf_unit *other;
    switch (value->form) {
    case DW_FORM_ref1:
    case DW_FORM_ref2:
    case DW_FORM_ref4:
    case DW_FORM_ref8:
    case DW_FORM_ref_udata:
        if (value->number > unit->end - unit->start)
            return 0;
        return dwarf_id(unit, unit->start + value->number);
    case DW_FORM_ref_addr:
        /* Always into .debug_info. */
        return value->number < unit->file->info.bytes
                   ? (uint64_t)unit->file->number << 48 | value->number
                   : 0;
    case DW_FORM_GNU_ref_alt:
    case DW_FORM_ref_sup4:
    case DW_FORM_ref_sup8:
        return unit->file->alt != NULL && value->number < unit->file->alt->info.bytes
                   ? (uint64_t)unit->file->alt->number << 48 | value->number
                   : 0;
    case DW_FORM_ref_sig8:
        other = table_get(&unit->file->dwarf->signatures, value->number);
        return other != NULL ? dwarf_id(other, other->start + other->type) : 0;
    default:
        return 0;
    }
}

void dwarf_walk_start(struct dwarf_unit *unit, struct dwarf_walk *walk)
{
    *walk = (struct dwarf_walk){.unit = unit, .at = unit_bytes(unit, unit->first)};
}

/* Reads past the attributes of @abbrev; gives the offset of its sibling, 0 when it has none. */
static uint64_t skip_attrs(struct dwarf_unit *unit, const struct dwarf_abbrev *abbrev,
                           struct bytes *at, bool want_sibling)
{
    uint64_t sibling = 0;
    if (abbrev->fixed && !(want_sibling && abbrev->has_sibling)) {
        bytes_skip(at, abbrev->fixed_bytes + (uint64_t)abbrev->addresses * unit->address_bytes +
                           (uint64_t)abbrev->offsets * unit->offset_bytes);
        return 0;
    }
    for (uint32_t i = 0; i < abbrev->count; i++) {
        const struct dwarf_attr *attr = &unit->abbrevs->attrs[abbrev->first + i];
        struct dwarf_value value;
        dwarf_value_read(unit, attr, at, &value);
        if (attr->field == FIELD_SIBLING && value.number < unit->end - unit->start)
            sibling = unit->start + value.number;
    }
    return sibling;
}

/* One entry forward in the file's order. @tag: 0 for the end of a list. */
static int step(struct dwarf_walk *walk, bool *is_end)
{
    walk->offset = (uint64_t)(walk->at.at - walk->unit->section.data);
    uint64_t code = bytes_uleb(&walk->at);
    *is_end = code == 0;
    if (walk->at.bad)
        return bad_entry(walk->unit, walk->offset, "the unit is cut off");
    if (code == 0)
        return MGLRU_OK;
    walk->abbrev = dwarf_abbrev_find(walk->unit->abbrevs, code);
    walk->attrs = walk->at;
    return walk->abbrev != NULL
               ? MGLRU_OK
               : bad_entry(walk->unit, walk->offset, "its abbreviation does not exist");
}

/* From the first child of an entry to behind its last one. */
static int skip_list(struct dwarf_walk *walk)
{
    struct dwarf_unit *unit = walk->unit;
    for (unsigned depth = 1; depth > 0 && bytes_left(&walk->at) > 0;) {
        bool is_end;
        int code = step(walk, &is_end);
        if (code != MGLRU_OK)
            return code;
        if (is_end) {
            depth--;
            continue;
        }
        uint64_t next = skip_attrs(unit, walk->abbrev, &walk->at, walk->abbrev->children);
        uint64_t here = (uint64_t)(walk->at.at - unit->section.data);
        if (walk->abbrev->children && next >= here && next <= unit->end)
            walk->at = unit_bytes(unit, next);
        else
            depth += walk->abbrev->children;
    }
    return walk->at.bad ? bad_entry(unit, walk->offset, "the unit is cut off") : MGLRU_OK;
}

int dwarf_skip_children(const struct dwarf_entry *entry, uint64_t *offset)
{
    struct dwarf_walk walk = {.unit = entry->unit, .at = unit_bytes(entry->unit, entry->next)};
    uint64_t sibling = dwarf_number(entry, FIELD_SIBLING);
    if (sibling < entry->unit->end - entry->unit->start &&
        entry->unit->start + sibling > entry->next) {
        *offset = entry->unit->start + sibling;
        return MGLRU_OK;
    }
    int code = skip_list(&walk);
    *offset = (uint64_t)(walk.at.at - entry->unit->section.data);
    return code;
}

/* Behind the present entry, and behind its children unless @into. */
static int leave_entry(struct dwarf_walk *walk, bool into)
{
    struct dwarf_unit *unit = walk->unit;
    bool skip = walk->abbrev->children && !into;
    uint64_t sibling = skip_attrs(unit, walk->abbrev, &walk->at, skip);
    if (walk->at.bad)
        return bad_entry(unit, walk->offset, "its attributes run past the end of the unit");
    if (!skip) {
        walk->depth += walk->abbrev->children;
        return MGLRU_OK;
    }
    uint64_t here = (uint64_t)(walk->at.at - unit->section.data);
    if (sibling >= here && sibling <= unit->end) {
        walk->at = unit_bytes(unit, sibling);
        return MGLRU_OK;
    }
    return skip_list(walk);
}

int dwarf_walk_next(struct dwarf_walk *walk, bool into, bool *more)
{
    int code = walk->started ? leave_entry(walk, into) : dwarf_unit_open(walk->unit);
    if (walk->started && walk->depth == 0 && code == MGLRU_OK) {
        /* The unit's own entry has no children. */
        *more = false;
        return MGLRU_OK;
    }
    walk->started = true;
    *more = false;
    while (code == MGLRU_OK && bytes_left(&walk->at) > 0) {
        bool is_end;
        code = step(walk, &is_end);
        if (code != MGLRU_OK || !is_end) {
            *more = code == MGLRU_OK;
            break;
        }
        /* Zeros behind the last entry fill the unit up. */
        if (walk->depth <= 1)
            break;
        walk->depth--;
    }
    return code;
}
