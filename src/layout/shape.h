/* SPDX-License-Identifier: MIT */
/*
 * A type that can be laid out anew: the compiler's rules for the order of members, as data.
 *
 * Idea: what is embedded by value and not in an array, a union or twice becomes a tree of structs
 * whose members can change their order. A struct whose places these rules do not explain (packed,
 * hidden zero-width bit-fields, C++ bases) stays as it is: shape_build() lays each struct out in
 * its old order and compares.
 *
 * A block is what moves as one: a member, or neighbouring bit-fields, which share bytes.
 *
 * Invariants
 *   1. structs[0] is the outer type; every other struct has a smaller parent.
 *   2. After shape_place() the sizes and offsets are those a compiler gives (property tested).
 *
 * One thread per shape. Private to layout/.
 */
#ifndef LAYOUT_SHAPE_H
#define LAYOUT_SHAPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "layout/classify.h"
#include "layout/type.h"

/* Chosen: the search is quadratic in these. No kernel struct embeds more structs than 60. */
#define SHAPE_STRUCTS_MAX 128
#define SHAPE_BLOCKS_MAX 1024

struct shape_block {
    uint32_t member;       /* index of the first member in the type */
    uint32_t member_count; /* 1, or bit-fields */
    uint32_t child;        /* struct inside, 0: none */
    uint64_t size_bytes;   /* of a member without child */
    uint32_t align_bytes;  /* of a member without child; what _Alignas states at least */
    uint32_t first_bit;    /* of bit-fields: the first one's number in bitfields */
    uint64_t bit_offset;   /* result: in its struct */
    bool bits;             /* bit-fields */
    bool pinned;           /* stays first, or last */
};

struct shape_struct {
    const struct layout_type *type;
    uint32_t parent;       /* struct around it */
    uint32_t parent_block; /* original number of the block that holds it */
    uint32_t first_block;  /* into blocks: its blocks, in original order */
    uint32_t block_count;
    uint32_t least_align; /* stated for the type itself */
    uint32_t align_bytes; /* result */
    uint64_t size_bytes;  /* result */
    uint64_t bit_offset;  /* result: absolute */
    char *path;           /* "lruvec.lrugen"; "" for the outer type */
    bool movable;         /* its members may change their order */
};

/* An order of all blocks, struct by struct, and what it states. */
struct shape_order {
    uint16_t order[SHAPE_BLOCKS_MAX];  /* at a struct's first_block + i: the block in place i */
    uint16_t stated[SHAPE_BLOCKS_MAX]; /* by block: 0 or an alignment */
};

/* Where a field of the map lies: in a block, at a fixed place. */
struct shape_field {
    uint32_t owner; /* struct */
    uint32_t block;
    uint64_t bit_offset; /* from the block's start, or from its bit-field's */
    uint32_t bitfield;   /* number in shape.bitfields; UINT32_MAX: none */
};

struct shape {
    struct shape_struct structs[SHAPE_STRUCTS_MAX];
    struct shape_block blocks[SHAPE_BLOCKS_MAX];
    uint32_t struct_count;
    uint32_t block_count;
    uint64_t bitfields[SHAPE_BLOCKS_MAX]; /* result: bit offset of each in its struct */
    uint32_t bitfield_count;
};

/*
 * Makes the shape of @type. Structs beyond the limits are not movable. @shape: the caller frees it
 * with shape_free(), also after an error. 0; MGLRU_ENOMEM.
 */
int shape_build(const struct layout_type *type, struct shape *shape);
void shape_free(struct shape *shape);

/* The order of the source text. */
void shape_order_reset(const struct shape *shape, struct shape_order *order);

/* Lays everything out by @order; results go into @shape. */
void shape_place(struct shape *shape, const struct shape_order *order);

/* Finds the block of a field of the map of the same type. False: it is in none (never). */
bool shape_find(const struct shape *shape, const struct layout_field *field,
                struct shape_field *place);

/* Absolute bit offset of the field after shape_place(). */
uint64_t shape_field_bits(const struct shape *shape, const struct shape_field *place);

#endif
