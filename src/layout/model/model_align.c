/* SPDX-License-Identifier: MIT */
/*
 * Alignments that the debug information does not state.
 *
 * A struct is aligned as its strictest member. A member that lies below its natural alignment shows
 * a packed struct. A hole that the next member's natural alignment does not explain, and padding
 * that the struct's does not, show an alignment that somebody asked for: the cache line's size when
 * that explains the gap, else the smallest power of 2 that does. Where the format would have stated
 * it, nothing is inferred from gaps: those have other reasons there.
 */
#include "layout/model/model.h"

/* The usual reason for an alignment above the natural one. */
#define LINE_BYTES 64u

/* Chosen: a page; larger alignments of a struct are not seen. */
#define ALIGN_MAX 4096u

static uint32_t largest_power(uint64_t value, uint32_t most)
{
    uint64_t power = value != 0 ? value & (~value + 1) : most;
    return power < most ? (uint32_t)power : most;
}

uint32_t model_scalar_align(const struct model *model, const struct node *node)
{
    uint64_t bytes = node->size_bytes;
    bool address = node->kind == NODE_POINTER || node->kind == NODE_REFERENCE ||
                   node->kind == NODE_RVALUE || node->kind == NODE_MEMBER_POINTER;
    if (node->align_bytes != 0)
        return node->align_bytes;
    if (address)
        bytes = model->address_bytes;
    if (node->is_complex)
        bytes /= 2;
    uint32_t most = bytes >= 16 ? 16 : model->align_max;
    return bytes == 0 ? 1 : largest_power(bytes, most);
}

/* The alignment that alone explains why what follows @end_bytes begins at @start_bytes, above the
 * natural one @natural; 0: none does. */
static uint32_t explain(uint64_t end_bytes, uint64_t start_bytes, uint32_t natural)
{
    uint32_t smallest = 0;
    for (uint32_t align = natural * 2; align <= ALIGN_MAX; align *= 2) {
        if (start_bytes % align != 0 || model_round_up(end_bytes, align) != start_bytes)
            continue;
        if (smallest == 0)
            smallest = align;
        if (align == LINE_BYTES)
            return align;
    }
    return smallest;
}

/* True when a scalar lies below its alignment. A struct that does may be packed itself, with
 * members that happen to lie well. */
static bool is_packed(const struct layout_type *type)
{
    for (uint32_t i = 0; i < type->member_count; i++) {
        const struct layout_member *member = &type->members[i];
        if ((member->flags & (LAYOUT_BITFIELD | LAYOUT_OPAQUE)) == 0 && member->type == NULL &&
            member->bit_offset % (8u * (uint64_t)member->align_bytes) != 0)
            return true;
    }
    return false;
}

/* In a packed struct only what was asked for in words is aligned; elsewhere a member is aligned no
 * more than it shows. */
static void lower_members(struct layout_type *type, struct layout_member *members)
{
    for (uint32_t i = 0; i < type->member_count; i++) {
        struct layout_member *member = &members[i];
        if (type->packed && member->align_source == LAYOUT_ALIGN_INFERRED)
            member->align_bytes = 1;
        else if ((member->flags & LAYOUT_BITFIELD) == 0)
            member->align_bytes = largest_power(member->bit_offset / 8, member->align_bytes);
    }
}

/* Looks at the gap before each member: one that is too large shows an alignment. */
static void align_members(struct layout_type *type, struct layout_member *members)
{
    uint64_t end = 0;
    for (uint32_t i = 0; i < type->member_count; i++) {
        struct layout_member *member = &members[i];
        uint64_t start_bytes = member->bit_offset / 8, end_bytes = (end + 7) / 8;
        bool gap = start_bytes > model_round_up(end_bytes, member->align_bytes);
        if (gap && (member->flags & LAYOUT_BITFIELD) == 0 && end > 0 &&
            member->align_source == LAYOUT_ALIGN_INFERRED) {
            uint32_t align = explain(end_bytes, start_bytes, member->align_bytes);
            if (align != 0 && type->size_bytes % align == 0)
                member->align_bytes = align;
        }
        if (member->bit_offset + member->bit_size > end)
            end = member->bit_offset + member->bit_size;
    }
}

void model_align(const struct model *model, struct layout_type *type, struct layout_member *members,
                 const struct node *node)
{
    (void)model;
    uint64_t end = 0;
    uint32_t align = 1;
    bool infer = !node->states_alignment;
    type->packed = is_packed(type);
    lower_members(type, members);
    if (infer && !type->packed && type->kind != LAYOUT_UNION)
        align_members(type, members);
    for (uint32_t i = 0; i < type->member_count; i++) {
        uint64_t member_end = members[i].bit_offset + members[i].bit_size;
        end = member_end > end ? member_end : end;
        if (members[i].align_bytes > align) {
            align = members[i].align_bytes;
            type->align_source = members[i].align_source;
        }
    }
    if (node->align_bytes != 0 && (node->exact_alignment || node->align_bytes >= align)) {
        type->align_source = LAYOUT_ALIGN_STATED;
        type->align_bytes = node->align_bytes;
        return;
    }
    /* A size that is no multiple of the alignment: packed as a whole, members by luck in place. */
    if (node->states_alignment)
        type->align_source = LAYOUT_ALIGN_STATED;
    uint32_t fitting = largest_power(type->size_bytes, align);
    type->packed = type->packed || fitting < align;
    type->align_bytes = fitting;
    uint64_t end_bytes = (end + 7) / 8;
    if (infer && type->size_bytes > model_round_up(end_bytes, fitting)) {
        uint32_t larger = explain(end_bytes, type->size_bytes, fitting);
        if (larger != 0) {
            type->align_bytes = larger;
            type->align_source = LAYOUT_ALIGN_INFERRED;
        }
    }
}
