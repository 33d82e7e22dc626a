/* SPDX-License-Identifier: MIT */
/* Entries as nodes of the model's graph; see dwarf.h and model.h. */
#include <inttypes.h>

#include <mglru/error.h>

#include "layout/dwarf/constants.h"
#include "layout/dwarf/dwarf.h"

/* Chosen: more of a definition named by a signature, that is named by another, is a circle. */
#define REDIRECTS_MAX 4

int dwarf_entry_kind(const struct dwarf_entry *entry)
{
    switch (entry->tag) {
    case DW_TAG_base_type:
    case DW_TAG_unspecified_type:
        return NODE_BASE;
    case DW_TAG_enumeration_type:
        return NODE_ENUM;
    case DW_TAG_pointer_type:
        return NODE_POINTER;
    case DW_TAG_reference_type:
        return NODE_REFERENCE;
    case DW_TAG_rvalue_reference_type:
        return NODE_RVALUE;
    case DW_TAG_ptr_to_member_type:
        return NODE_MEMBER_POINTER;
    case DW_TAG_typedef:
        return NODE_TYPEDEF;
    case DW_TAG_const_type:
    case DW_TAG_immutable_type:
        return NODE_CONST;
    case DW_TAG_volatile_type:
        return NODE_VOLATILE;
    case DW_TAG_restrict_type:
    case DW_TAG_packed_type:
    case DW_TAG_shared_type:
        return NODE_RESTRICT;
    case DW_TAG_atomic_type:
        return NODE_ATOMIC;
    case DW_TAG_array_type:
        return NODE_ARRAY;
    case DW_TAG_subroutine_type:
        return NODE_FUNCTION;
    case DW_TAG_structure_type:
    case DW_TAG_interface_type:
        return NODE_STRUCT;
    case DW_TAG_class_type:
        return NODE_CLASS;
    case DW_TAG_union_type:
        return NODE_UNION;
    default:
        return NODE_OTHER;
    }
}

/* The entry that defines what @id names: a declaration may only carry a type unit's signature. */
static int read_definition(struct dwarf *dwarf, uint64_t id, struct dwarf_entry *entry)
{
    int code = dwarf_entry_get(dwarf, id, entry);
    for (unsigned i = 0; code == MGLRU_OK && i < REDIRECTS_MAX; i++) {
        uint64_t other = dwarf_ref(entry, FIELD_SIGNATURE);
        if (other == 0 || other == entry->id)
            break;
        code = dwarf_entry_get(dwarf, other, entry);
    }
    return code;
}

static bool is_constant(const struct dwarf_entry *entry, enum dwarf_field field)
{
    if (!entry_has(entry, field))
        return false;
    switch (entry->values[field].form) {
    case DW_FORM_data1:
    case DW_FORM_data2:
    case DW_FORM_data4:
    case DW_FORM_data8:
    case DW_FORM_udata:
    case DW_FORM_sdata:
    case DW_FORM_implicit_const:
        return true;
    default:
        return false;
    }
}

/* A constant that may have been written with fewer bytes than its sign needs: -1 as 0xff or
 * 0xffffffff stands for the bound of an array without elements. */
static bool is_minus_one(const struct dwarf_value *value)
{
    return value->number == UINT64_MAX ||
           (value->form == DW_FORM_data4 && value->number == UINT32_MAX);
}

/* Elements of one subrange; 0: none, or unknown. */
static uint64_t count_of(const struct dwarf_entry *entry)
{
    if (is_constant(entry, FIELD_COUNT)) {
        const struct dwarf_value *value = &entry->values[FIELD_COUNT];
        return is_minus_one(value) ? 0 : value->number;
    }
    if (!is_constant(entry, FIELD_UPPER_BOUND))
        return 0;
    const struct dwarf_value *value = &entry->values[FIELD_UPPER_BOUND];
    uint64_t lower =
        is_constant(entry, FIELD_LOWER_BOUND) ? entry->values[FIELD_LOWER_BOUND].number : 0;
    if (is_minus_one(value) || value->number < lower)
        return 0;
    return value->number - lower + 1;
}

/* Dimensions are an array's children. */
static int read_dims(struct dwarf_entry *array, struct node *node)
{
    struct dwarf_entry child;
    uint64_t offset = array->next;
    while (array->children && offset < array->unit->end) {
        int code = dwarf_entry_read(array->unit, offset, &child);
        if (code != MGLRU_OK || child.tag == 0)
            return code;
        if (child.tag != DW_TAG_subrange_type && child.tag != DW_TAG_enumeration_type)
            return MGLRU_OK;
        if (node->dim_count == MODEL_DIMS_MAX)
            return model_damaged(&array->unit->file->dwarf->model,
                                 "an array has more than %d dimensions", MODEL_DIMS_MAX);
        node->dims[node->dim_count++] = count_of(&child);
        if (child.children)
            return MGLRU_OK;
        code = model_work(&array->unit->file->dwarf->model, child.next - offset);
        if (code != MGLRU_OK)
            return code;
        offset = child.next;
    }
    return MGLRU_OK;
}

static int place_struct(struct dwarf_entry *entry, struct node *node)
{
    struct dwarf_unit *unit = entry->unit;
    int code = dwarf_full_name(entry, &node->name);
    if (code != MGLRU_OK)
        return code;
    node->name_token = unit->qualified ? (uintptr_t)node->name : dwarf_name_token(entry);
    node->line = (uint32_t)dwarf_number(entry, FIELD_DECL_LINE);
    node->comp_dir = unit->comp_dir;
    /* Version 4 gcc drops alignments; where version 5 states none, there is none. */
    node->states_alignment = unit->version >= 5;
    if (!entry_has(entry, FIELD_DECL_FILE))
        return MGLRU_OK;
    return dwarf_file_name(unit, dwarf_number(entry, FIELD_DECL_FILE), &node->file);
}

static void describe_base(const struct dwarf_entry *entry, struct node *node)
{
    uint64_t encoding = dwarf_number(entry, FIELD_ENCODING);
    node->is_bool = encoding == DW_ATE_boolean;
    node->is_complex = encoding == DW_ATE_complex_float;
    node->is_float = encoding == DW_ATE_float || encoding == DW_ATE_complex_float ||
                     encoding == DW_ATE_decimal_float;
    if (entry->tag != DW_TAG_unspecified_type)
        return;
    /* decltype(nullptr). */
    node->size_bytes = entry->unit->address_bytes;
    node->has_size = true;
}

/* Pointers to member functions are pairs. */
static int size_member_pointer(struct dwarf *dwarf, struct node *node)
{
    struct dwarf_entry target;
    if (node->has_size || node->ref == 0)
        return MGLRU_OK;
    int code = dwarf_entry_get(dwarf, node->ref, &target);
    if (code == MGLRU_OK && target.tag == DW_TAG_subroutine_type) {
        node->size_bytes = 2 * (uint64_t)dwarf->model.address_bytes;
        node->has_size = true;
    }
    return code;
}

static int get_node(struct model *model, uint64_t id, struct node *node)
{
    struct dwarf *dwarf = model->reader;
    struct dwarf_entry entry;
    node_clear(node);
    if (id == 0)
        return MGLRU_OK;
    int code = read_definition(dwarf, id, &entry);
    if (code != MGLRU_OK)
        return code;
    node->kind = (uint8_t)dwarf_entry_kind(&entry);
    node->ref = dwarf_ref(&entry, FIELD_TYPE);
    node->has_size = is_constant(&entry, FIELD_BYTE_SIZE);
    node->size_bytes = node->has_size ? dwarf_number(&entry, FIELD_BYTE_SIZE) : 0;
    node->declared_only = dwarf_flag(&entry, FIELD_DECLARATION);
    node->exact_alignment = entry.unit->exact_alignment;
    uint64_t align = dwarf_number(&entry, FIELD_ALIGNMENT);
    if (align != 0 && align <= UINT32_C(1) << 30 && (align & (align - 1)) == 0)
        node->align_bytes = (uint32_t)align;
    switch (node->kind) {
    case NODE_STRUCT:
    case NODE_UNION:
    case NODE_CLASS:
        /* A size of its own is the mark of a definition. */
        node->declared_only = node->declared_only || !node->has_size;
        return place_struct(&entry, node);
    case NODE_ARRAY:
        return read_dims(&entry, node);
    case NODE_MEMBER_POINTER:
        return size_member_pointer(dwarf, node);
    case NODE_BASE:
        describe_base(&entry, node);
        break;
    case NODE_ENUM:
    case NODE_TYPEDEF:
        return dwarf_full_name(&entry, &node->name);
    default:
        break;
    }
    node->name = dwarf_text(&entry, FIELD_NAME);
    return MGLRU_OK;
}

/* Where a member starts, in bytes; false: it depends on the object (virtual bases). */
static bool constant_location(const struct dwarf_entry *entry, uint64_t *bytes)
{
    const struct dwarf_value *value = &entry->values[FIELD_MEMBER_LOCATION];
    *bytes = 0;
    if (!entry_has(entry, FIELD_MEMBER_LOCATION))
        return true;
    if (is_constant(entry, FIELD_MEMBER_LOCATION)) {
        *bytes = value->number;
        return true;
    }
    struct span block = {value->data, value->bytes};
    struct bytes at = bytes_from(block, 0, entry->unit->file->elf.big);
    uint8_t op = bytes_u8(&at);
    if (op == DW_OP_plus_uconst || op == DW_OP_constu)
        *bytes = bytes_uleb(&at);
    else if (op >= DW_OP_lit0 && op <= DW_OP_lit31)
        *bytes = op - DW_OP_lit0;
    else
        return false;
    /* A constant may be followed by one addition. */
    return !at.bad && bytes_left(&at) <= 1;
}

/* The place of a bit-field, told from either end of its storage unit. */
static int place_bits(const struct dwarf_entry *entry, uint64_t bytes, struct raw_member *member)
{
    struct model *model = &entry->unit->file->dwarf->model;
    uint64_t size = dwarf_number(entry, FIELD_BIT_SIZE);
    member->flags |= LAYOUT_BITFIELD;
    member->bit_size = (uint32_t)size;
    if (size > UINT32_MAX)
        return model_damaged(model, "a bit-field of %" PRIu64 " bits", size);
    if (is_constant(entry, FIELD_DATA_BIT_OFFSET)) {
        member->bit_offset = dwarf_number(entry, FIELD_DATA_BIT_OFFSET) + bytes * 8;
        return MGLRU_OK;
    }
    member->bit_offset = bytes * 8;
    if (!is_constant(entry, FIELD_BIT_OFFSET))
        return MGLRU_OK;
    uint64_t from_top = dwarf_number(entry, FIELD_BIT_OFFSET);
    uint64_t unit_bytes = dwarf_number(entry, FIELD_BYTE_SIZE);
    if (!entry_has(entry, FIELD_BYTE_SIZE)) {
        struct node node = {.ref = dwarf_ref(entry, FIELD_TYPE)};
        for (unsigned i = 0; i < MODEL_CHAIN_MAX && !node.has_size && node.ref != 0; i++) {
            int code = get_node(model, node.ref, &node);
            if (code != MGLRU_OK)
                return code;
        }
        unit_bytes = node.size_bytes;
    }
    /* A negative offset of old compilers stands for bits past the unit; the sum wraps to it. */
    member->bit_offset += entry->unit->file->elf.big ? from_top : unit_bytes * 8 - from_top - size;
    return MGLRU_OK;
}

/* Members that are no part of the object. */
static bool is_static(const struct dwarf_entry *entry)
{
    return entry->tag == DW_TAG_member && !entry_has(entry, FIELD_MEMBER_LOCATION) &&
           !entry_has(entry, FIELD_DATA_BIT_OFFSET) &&
           (dwarf_flag(entry, FIELD_EXTERNAL) || dwarf_flag(entry, FIELD_DECLARATION) ||
            entry_has(entry, FIELD_CONST_VALUE));
}

static int add_member(struct dwarf_entry *entry, struct raw_members *members)
{
    struct model *model = &entry->unit->file->dwarf->model;
    struct raw_member member = {.name = dwarf_text(entry, FIELD_NAME),
                                .name_token = dwarf_name_token(entry),
                                .type = dwarf_ref(entry, FIELD_TYPE),
                                .line = (uint32_t)dwarf_number(entry, FIELD_DECL_LINE)};
    uint64_t bytes, align = dwarf_number(entry, FIELD_ALIGNMENT);
    int code = MGLRU_OK;
    if (is_static(entry))
        return MGLRU_OK;
    if (!constant_location(entry, &bytes) || bytes > MODEL_BYTES_MAX ||
        dwarf_number(entry, FIELD_VIRTUALITY) != 0) {
        members->incomplete = true;
        return MGLRU_OK;
    }
    if (align != 0 && align <= UINT32_C(1) << 30 && (align & (align - 1)) == 0)
        member.align_bytes = (uint32_t)align;
    if (entry->tag == DW_TAG_inheritance)
        member.flags |= LAYOUT_BASE;
    if (member.name != NULL && strncmp(member.name, "_vptr", 5) == 0)
        member.flags |= LAYOUT_VPTR;
    member.bit_offset = bytes * 8;
    if (entry_has(entry, FIELD_BIT_SIZE))
        code = place_bits(entry, bytes, &member);
    else if (is_constant(entry, FIELD_DATA_BIT_OFFSET))
        member.bit_offset = dwarf_number(entry, FIELD_DATA_BIT_OFFSET);
    if (code == MGLRU_OK && !raw_members_add(members, &member))
        code = model_no_memory(model);
    return code;
}

static int add_child(struct dwarf_entry *child, struct raw_members *members)
{
    struct raw_member parameter = {0};
    switch (child->tag) {
    case DW_TAG_member:
    case DW_TAG_inheritance:
        return add_member(child, members);
    case DW_TAG_variant_part:
        members->incomplete = true;
        return MGLRU_OK;
    case DW_TAG_formal_parameter:
        parameter.type = dwarf_ref(child, FIELD_TYPE);
        break;
    case DW_TAG_unspecified_parameters:
        break;
    default:
        return MGLRU_OK;
    }
    return raw_members_add(members, &parameter) ? MGLRU_OK
                                                : model_no_memory(&child->unit->file->dwarf->model);
}

/* Members of a struct, parameters of a function type: the children of its entry. */
static int get_members(struct model *model, uint64_t id, struct raw_members *members)
{
    struct dwarf *dwarf = model->reader;
    struct dwarf_entry entry, child;
    int code = read_definition(dwarf, id, &entry);
    if (code != MGLRU_OK || !entry.children)
        return code;
    uint64_t offset = entry.next;
    while (offset < entry.unit->end) {
        uint64_t start = offset;
        code = dwarf_entry_read(entry.unit, offset, &child);
        if (code != MGLRU_OK || child.tag == 0)
            return code;
        code = add_child(&child, members);
        if (code == MGLRU_OK && child.children)
            code = dwarf_skip_children(&child, &offset);
        else
            offset = child.next;
        if (code == MGLRU_OK)
            code = model_work(model, offset - start);
        if (code != MGLRU_OK)
            return code;
    }
    return MGLRU_OK;
}

const struct model_ops dwarf_model_ops = {
    .node = get_node, .members = get_members, .define = dwarf_define};
