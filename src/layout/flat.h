/* SPDX-License-Identifier: MIT */
/*
 * An outer type flattened: every leaf with its absolute place, every nested struct, every gap.
 *
 * Idea: what shares a cache line is decided from the start of the outermost object, so all places
 * here are absolute bit offsets from there. A nested struct or union is looked into when it is
 * larger than expand_bytes; smaller ones (list heads, atomics, spinlocks) stay one leaf, since
 * their words are used together. Arrays of structs are looked into as well: a leaf below one stands
 * for its copy in every element, and its dims and strides say where those are.
 *
 * Invariants
 *   1. leaves stand in the order of their types' members: of place, except within unions.
 *   2. nests[0] is the outer type itself; every other nest has a parent with a smaller index.
 *   3. Strings and arrays belong to the flat and live as long as it does; types belong to the set.
 */
#ifndef LAYOUT_FLAT_H
#define LAYOUT_FLAT_H

#include "layout/set.h"
#include "layout/type.h"

/* Chosen: the largest flattened kernel struct has about 5,000 leaves. */
#define LAYOUT_LEAVES_MAX 200000u

/* Chosen: a list head, a lock, a counter; two pointers of a 64-bit machine. */
#define LAYOUT_EXPAND_BYTES 16u

/* Where copies of something lie that stands below arrays, outermost dimension first. */
struct layout_repeat {
    const uint64_t *dims;         /* elements; a flexible dimension is 0 */
    const uint64_t *stride_bytes; /* from one element of the same dimension to the next */
    uint32_t dim_count;
};

/* The outer type, or a struct or union inside it that was looked into. */
struct layout_nest {
    const char *path;                   /* "lruvec.lrugen"; "" for the outer type */
    const struct layout_type *type;     /* never NULL */
    const struct layout_member *member; /* that holds it; NULL for the outer type */
    struct layout_repeat repeat;        /* dims of all arrays on the way, its own included */
    uint64_t bit_offset;                /* absolute, of the first element */
    uint32_t parent;                    /* index into nests; the outer type's is 0 */
    uint32_t depth;                     /* 0: the outer type */
};

struct layout_leaf {
    const char *path;                   /* "lruvec.lrugen.folios[][][]", "a[].b"; anonymous parts
                                         * add nothing; an unnamed bit-field is ":3" at its place */
    const struct layout_member *member; /* type name, flags, own dims, line: see type.h */
    struct layout_repeat repeat;        /* dims of all arrays on the way, its own included */
    uint64_t bit_offset;                /* absolute, of the first copy */
    uint64_t bit_size;                  /* of one element: without any dims; 0 when flexible and
                                         * the element is empty */
    uint64_t bit_extent;                /* from the first copy's start to the last one's end; a
                                         * flexible array's is 0 */
    uint32_t nest;                      /* the struct that holds it */
    uint32_t union_id;                  /* outermost union on the way, from 1; 0: in no union */
    uint32_t alternative;               /* which member of that union, from 0 */
};

enum layout_gap_kind {
    LAYOUT_HOLE,   /* between two members */
    LAYOUT_PADDING /* behind the last member of a nested or of the outer type */
};

struct layout_gap {
    struct layout_repeat repeat;
    const struct layout_member *after;  /* member before the gap; NULL: at the start of the type */
    const struct layout_member *before; /* member behind it; NULL for padding */
    uint64_t bit_offset;                /* absolute, of the first copy */
    uint64_t bit_size;
    uint32_t nest; /* the type that has the gap */
    uint8_t kind;  /* enum layout_gap_kind */
};

struct layout_flat {
    const struct layout_type *type; /* the outer type */
    struct layout_leaf *leaves;
    struct layout_nest *nests;
    struct layout_gap *gaps; /* of structs only: what an alternative of a union leaves is no gap */
    size_t leaf_count;
    size_t nest_count;
    size_t gap_count;
    void *memory; /* owns paths and dims */
};

struct layout_flatten_options {
    size_t size_bytes;     /* sizeof(struct layout_flatten_options) */
    uint64_t expand_bytes; /* nested types up to this size stay one leaf; LAYOUT_EXPAND_BYTES by
                            * default (options NULL); 0: everything is looked into */
};

/*
 * Flattens @type. @options may be NULL. @flat: filled in; empty after an error. The caller frees it
 * with layout_flat_free() before the set of @type is closed. Any thread.
 * 0; MGLRU_ENOMEM; MGLRU_EOVERFLOW: more than LAYOUT_LEAVES_MAX leaves, @error says so.
 */
int layout_flatten(const struct layout_type *type, const struct layout_flatten_options *options,
                   struct layout_flat *flat, struct layout_error *error);
void layout_flat_free(struct layout_flat *flat);

/*
 * The leaf with @path, with or without its brackets: "lruvec.lrugen.folios" finds
 * "lruvec.lrugen.folios[][][]". NULL: none.
 */
const struct layout_leaf *layout_flat_leaf(const struct layout_flat *flat, const char *path);

/*
 * True when any copy of @leaf touches the bytes [@first_byte, @last_byte], both absolute. A
 * flexible array's elements touch everything from their start on.
 */
bool layout_leaf_touches(const struct layout_leaf *leaf, uint64_t first_byte, uint64_t last_byte);

#endif
