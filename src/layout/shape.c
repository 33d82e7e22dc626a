/* SPDX-License-Identifier: MIT */
/*
 * Lays structs out as a C compiler does (System V ABI): each member at the next multiple of its
 * alignment, a bit-field in the bits behind the last member unless it would cross a border of its
 * declared type, the size rounded up to the strictest alignment.
 *
 * Any of this can be wrong for a struct at hand: attributes that the debug information does not
 * carry, other ABIs. So a struct may move its members only if these rules give its known layout.
 */
#include "layout/shape.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mglru/error.h>

static uint64_t round_up(uint64_t value, uint64_t align)
{
    return align > 1 ? (value + align - 1) / align * align : value;
}

/* Places the bit-fields of @block from bit @at on; returns where they end. */
static uint64_t place_bits(struct shape *shape, const struct shape_struct *owner,
                           const struct shape_block *block, uint64_t at)
{
    for (uint32_t i = 0; i < block->member_count; i++) {
        const struct layout_member *member = &owner->type->members[block->member + i];
        uint64_t unit = member->element_bytes * 8;
        if (unit > 0 && at % unit + member->bit_size > unit)
            at = round_up(at, unit);
        shape->bitfields[block->first_bit + i] = at;
        at += member->bit_size;
    }
    return at;
}

static void place_struct(struct shape *shape, struct shape_struct *owner,
                         const struct shape_order *order)
{
    uint64_t at = 0;
    uint64_t align = owner->least_align;
    for (uint32_t i = 0; i < owner->block_count; i++) {
        uint32_t number = order->order[owner->first_block + i];
        struct shape_block *block = &shape->blocks[number];
        uint64_t block_align = block->align_bytes;
        uint64_t size = block->size_bytes;
        if (block->child != 0) {
            const struct shape_struct *child = &shape->structs[block->child];
            block_align = child->align_bytes > block_align ? child->align_bytes : block_align;
            size = child->size_bytes;
        }
        block_align = order->stated[number] > block_align ? order->stated[number] : block_align;
        align = block_align > align ? block_align : align;
        if (block->bits) {
            block->bit_offset = at;
            at = place_bits(shape, owner, block, at);
            continue;
        }
        at = round_up(round_up(at, 8), block_align * 8);
        block->bit_offset = at;
        at += size * 8;
    }
    owner->align_bytes = (uint32_t)align;
    owner->size_bytes = round_up(round_up(at, 8) / 8, align);
}

void shape_place(struct shape *shape, const struct shape_order *order)
{
    for (uint32_t i = shape->struct_count; i > 0; i--)
        place_struct(shape, &shape->structs[i - 1], order);
    for (uint32_t i = 1; i < shape->struct_count; i++) {
        struct shape_struct *inner = &shape->structs[i];
        inner->bit_offset = shape->structs[inner->parent].bit_offset +
                            shape->blocks[inner->parent_block].bit_offset;
    }
}

void shape_order_reset(const struct shape *shape, struct shape_order *order)
{
    for (uint32_t i = 0; i < shape->block_count; i++) {
        order->order[i] = (uint16_t)i;
        order->stated[i] = 0;
    }
}

/* True when the type may be taken apart: a struct whose parts are all told. */
static bool can_open(const struct layout_type *type)
{
    if (type->kind == LAYOUT_UNION || type->misses_members || type->packed ||
        type->member_count == 0)
        return false;
    for (uint32_t i = 0; i < type->member_count; i++)
        if ((type->members[i].flags & (LAYOUT_BASE | LAYOUT_VPTR)) != 0)
            return false;
    return true;
}

/* Makes the blocks of @number. False: too many; the shape is as before. */
static bool add_blocks(struct shape *shape, uint32_t number)
{
    struct shape_struct *owner = &shape->structs[number];
    const struct layout_type *type = owner->type;
    uint32_t before = shape->block_count;
    uint32_t bits_before = shape->bitfield_count;
    owner->first_block = before;
    for (uint32_t i = 0; i < type->member_count; i++) {
        const struct layout_member *member = &type->members[i];
        bool bits = (member->flags & LAYOUT_BITFIELD) != 0;
        struct shape_block *last =
            shape->block_count > before ? &shape->blocks[shape->block_count - 1] : NULL;
        bool joins = bits && last != NULL && last->bits;
        if (shape->block_count == SHAPE_BLOCKS_MAX || shape->bitfield_count == SHAPE_BLOCKS_MAX) {
            shape->block_count = before;
            shape->bitfield_count = bits_before;
            return false;
        }
        if (joins) {
            last->member_count++;
            if (member->align_bytes > last->align_bytes)
                last->align_bytes = member->align_bytes;
        } else {
            shape->blocks[shape->block_count++] = (struct shape_block){
                .member = i,
                .member_count = 1,
                .size_bytes = member->bit_size / 8,
                .align_bytes = member->align_bytes,
                .first_bit = shape->bitfield_count,
                .bits = bits,
                .pinned = (member->flags & LAYOUT_FLEXIBLE) != 0 || member->bit_size == 0,
            };
        }
        shape->bitfield_count += bits;
    }
    owner->block_count = shape->block_count - before;
    return true;
}

/* How often @type is embedded by value in @outer, arrays and unions included; stops at 2. */
static unsigned count_uses(const struct layout_type *outer, const struct layout_type *type,
                           unsigned depth)
{
    unsigned uses = 0;
    for (uint32_t i = 0; depth < LAYOUT_DEPTH_MAX && uses < 2 && i < outer->member_count; i++) {
        const struct layout_type *inner = outer->members[i].type;
        if (inner != NULL)
            uses += (inner == type) + count_uses(inner, type, depth + 1);
    }
    return uses;
}

/* True when the rules give the layout that is known; else the struct stays whole. */
static bool explains(struct shape *shape, const struct shape_struct *owner)
{
    const struct layout_type *type = owner->type;
    if (owner->size_bytes != type->size_bytes || owner->align_bytes != type->align_bytes)
        return false;
    for (uint32_t i = 0; i < owner->block_count; i++) {
        const struct shape_block *block = &shape->blocks[owner->first_block + i];
        for (uint32_t j = 0; j < block->member_count; j++) {
            uint64_t at = block->bits ? shape->bitfields[block->first_bit + j] : block->bit_offset;
            if (at != type->members[block->member + j].bit_offset)
                return false;
        }
    }
    return true;
}

static char *join_path(const char *path, const char *name)
{
    size_t bytes = strlen(path) + (name != NULL ? strlen(name) : 0) + 2;
    char *joined = malloc(bytes);
    if (joined != NULL)
        snprintf(joined, bytes, "%s%s%s", path, path[0] != '\0' && name != NULL ? "." : "",
                 name != NULL ? name : "");
    return joined;
}

/* Opens the struct in @block of @parent, if that makes sense. False: out of memory. */
static bool open_child(struct shape *shape, uint32_t parent, uint32_t block)
{
    const struct layout_type *outer = shape->structs[0].type;
    const struct layout_member *member =
        &shape->structs[parent].type->members[shape->blocks[block].member];
    if (member->type == NULL || member->dim_count > 0 || !can_open(member->type) ||
        count_uses(outer, member->type, 0) > 1 || shape->struct_count == SHAPE_STRUCTS_MAX)
        return true;
    struct shape_struct *inner = &shape->structs[shape->struct_count];
    *inner = (struct shape_struct){.type = member->type, .parent = parent, .parent_block = block};
    if (!add_blocks(shape, shape->struct_count))
        return true;
    struct shape_order order = {0};
    shape_order_reset(shape, &order);
    inner->least_align = member->type->align_bytes;
    place_struct(shape, inner, &order);
    if (!explains(shape, inner) || inner->size_bytes * 8 != member->bit_size) {
        shape->block_count = inner->first_block;
        return true;
    }
    inner->movable = true;
    inner->path = join_path(shape->structs[parent].path, member->name);
    shape->blocks[block].child = shape->struct_count++;
    return inner->path != NULL;
}

int shape_build(const struct layout_type *type, struct shape *shape)
{
    memset(shape, 0, sizeof(*shape));
    shape->structs[0] = (struct shape_struct){.type = type, .path = strdup("")};
    shape->struct_count = 1;
    if (shape->structs[0].path == NULL)
        return MGLRU_ENOMEM;
    if (!can_open(type) || !add_blocks(shape, 0))
        return MGLRU_OK;
    struct shape_order order = {0};
    shape_order_reset(shape, &order);
    shape->structs[0].least_align = type->align_bytes;
    place_struct(shape, &shape->structs[0], &order);
    shape->structs[0].movable = explains(shape, &shape->structs[0]);
    for (uint32_t i = 0; i < shape->struct_count; i++)
        for (uint32_t j = 0; shape->structs[0].movable && j < shape->structs[i].block_count; j++)
            if (!open_child(shape, i, shape->structs[i].first_block + j))
                return MGLRU_ENOMEM;
    shape_order_reset(shape, &order);
    shape_place(shape, &order);
    return MGLRU_OK;
}

void shape_free(struct shape *shape)
{
    for (uint32_t i = 0; i < shape->struct_count; i++)
        free(shape->structs[i].path);
    shape->struct_count = 0;
}

/* The block of @owner that holds bit @at of it, its bit-field too; UINT32_MAX: none. */
static uint32_t block_at(const struct shape *shape, const struct shape_struct *owner, uint64_t at,
                         struct shape_field *place)
{
    for (uint32_t i = 0; i < owner->block_count; i++) {
        const struct shape_block *block = &shape->blocks[owner->first_block + i];
        for (uint32_t j = 0; j < block->member_count; j++) {
            const struct layout_member *member = &owner->type->members[block->member + j];
            if (at < member->bit_offset || at >= member->bit_offset + member->bit_size)
                continue;
            place->bitfield = block->bits ? block->first_bit + j : UINT32_MAX;
            place->bit_offset = at - member->bit_offset;
            return owner->first_block + i;
        }
    }
    return UINT32_MAX;
}

bool shape_find(const struct shape *shape, const struct layout_field *field,
                struct shape_field *place)
{
    uint64_t at = field->bit_offset;
    uint32_t owner = 0;
    for (;;) {
        *place = (struct shape_field){.owner = owner};
        place->block = block_at(shape, &shape->structs[owner], at, place);
        if (place->block == UINT32_MAX)
            return false;
        uint32_t child = shape->blocks[place->block].child;
        /* A field can be a whole struct that a rule names: it moves with the block around it. */
        if (child == 0 || field->bit_size >= shape->structs[child].type->size_bytes * 8)
            return true;
        at = place->bit_offset;
        owner = child;
    }
}

uint64_t shape_field_bits(const struct shape *shape, const struct shape_field *place)
{
    const struct shape_struct *owner = &shape->structs[place->owner];
    uint64_t start = place->bitfield != UINT32_MAX ? shape->bitfields[place->bitfield]
                                                   : shape->blocks[place->block].bit_offset;
    return owner->bit_offset + start + place->bit_offset;
}
