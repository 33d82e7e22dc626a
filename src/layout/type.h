/* SPDX-License-Identifier: MIT */
/*
 * The one type model of linewise: what a struct, union or class looks like in memory, whichever
 * debug format told it. Analyses include this header and flat.h and never see DWARF or BTF.
 *
 * Words
 *   type       a struct, union or class with a definition; base types are only names here
 *   member     a direct part of a type: field, bit-field, anonymous struct or union, C++ base
 *   leaf       a member of a flattened outer type that is not looked into further (flat.h)
 *   hole       bits between two members that no member covers; padding: the same at the end
 *   stated     an alignment that the debug information names; inferred: derived from the members'
 *              natural alignment and from the holes that only a larger one explains
 *
 * Invariants of every type handed out, whatever the file held
 *   1. Members lie inside the type: bit_offset + bit_size <= size_bytes * 8. Exception: what
 *      follows a flexible array inside another type may overlap it.
 *   2. Nesting is a tree of at most LAYOUT_DEPTH_MAX levels and LAYOUT_TOTAL_MAX members: no type
 *      contains itself, and walking all of one is bounded.
 *   3. Strings are valid, NUL-terminated, free of control characters, and live as long as the set.
 *   4. Members are in order of place; those that start together are in order of declaration.
 *   5. size_bytes * 8 does not overflow 64 bits; a whole array's bit_size does not either.
 *
 * Bit offsets count in the order of memory on either byte order: bit b of a type lies in byte b /
 * 8. For a bit-field inside one byte of a big-endian file bit 0 is the most significant one, as
 * DWARF 5's DW_AT_data_bit_offset and BTF count.
 *
 * Nothing here is changed after it was handed out: any thread may read.
 */
#ifndef LAYOUT_TYPE_H
#define LAYOUT_TYPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Chosen: far above real nesting (15 in the kernel), below what recursion can bear. */
#define LAYOUT_DEPTH_MAX 64

/* Chosen: the largest kernel struct has about 5,000. */
#define LAYOUT_TOTAL_MAX 1000000u

enum layout_kind { LAYOUT_STRUCT, LAYOUT_UNION, LAYOUT_CLASS };

enum layout_align_source {
    LAYOUT_ALIGN_INFERRED, /* derived from members, holes and size */
    LAYOUT_ALIGN_STATED    /* an attribute in the debug information, or the natural alignment of a
                            * type for which a larger one would have been stated (DWARF 5) */
};

enum layout_member_flag {
    LAYOUT_BITFIELD = 1 << 0,
    LAYOUT_FLEXIBLE = 1 << 1, /* a last array without a size: bit_size is 0, the last dim is 0 */
    LAYOUT_POINTER = 1 << 2,  /* the element is a pointer or a C++ reference */
    LAYOUT_ATOMIC = 1 << 3,   /* _Atomic somewhere in the declared type (DWARF; BTF drops it) */
    LAYOUT_PERCPU = 1 << 4,   /* points to per-CPU data (a BTF type tag) */
    LAYOUT_BASE = 1 << 5,     /* a C++ base class; name is NULL */
    LAYOUT_VPTR = 1 << 6,     /* the compiler's pointer to the virtual table */
    LAYOUT_VOLATILE = 1 << 7,
    LAYOUT_CONST = 1 << 8,
    LAYOUT_ENUM = 1 << 9,
    LAYOUT_FLOAT = 1 << 10,
    LAYOUT_BOOL = 1 << 11,
    LAYOUT_OPAQUE = 1 << 12 /* its type is only declared in the file: element_bytes is 0, bit_size
                             * what is left up to the next member */
};

struct layout_type;

/* One direct member. Fixed at creation. */
struct layout_member {
    const char *name;      /* NULL: anonymous struct or union, unnamed bit-field, or C++ base */
    const char *type_name; /* of the element, as written: "atomic_long_t", "struct list_head *" */
    const char *resolved;  /* type_name with its typedefs and qualifiers gone: "struct page *" */
    const struct layout_type *type; /* of the element when that is a defined struct, else NULL */
    const uint64_t *dims;           /* array dimensions, outermost first; BTF keeps them as well
                                     * where the compiler wrote nested arrays */
    uint64_t bit_offset;            /* in the containing type */
    uint64_t bit_size;              /* of all elements together, or of the bit-field */
    uint64_t element_bytes;         /* one element; of a bit-field its declared type */
    uint32_t dim_count;             /* 0: no array */
    uint32_t align_bytes;           /* of the member here: 1 when packed; never 0 */
    uint32_t decl_line;             /* 0: unknown (BTF); the file is the type's */
    uint16_t flags;                 /* enum layout_member_flag */
    uint8_t align_source;           /* enum layout_align_source */
};

/* A defined struct, union or class. Fixed at creation. */
struct layout_type {
    const char *name;      /* full: "foo", "ns::vec<int>::node"; NULL: anonymous */
    const char *display;   /* never NULL: "struct foo", or "struct {...} at mm.h:12" */
    const char *decl_file; /* as the debug information names it; NULL: unknown (BTF) */
    const char *comp_dir;  /* where a relative decl_file starts; NULL: unknown */
    const struct layout_member *members;
    uint64_t size_bytes;
    uint64_t shape; /* hash of all that layout_same() compares */
    uint32_t member_count;
    uint32_t total_count; /* members with those of nested types, at most LAYOUT_TOTAL_MAX */
    uint32_t align_bytes; /* a power of 2, at least 1 */
    uint32_t decl_line;   /* 0: unknown */
    uint8_t align_source; /* enum layout_align_source */
    uint8_t kind;         /* enum layout_kind */
    uint8_t levels;       /* of nested types below, at most LAYOUT_DEPTH_MAX */
    bool packed;          /* a member lies below its natural alignment */
    bool misses_members;  /* static members or parts whose offset is not constant (virtual bases)
                           * were left out */
};

/* What pahole prints below a struct, for the type's direct members. */
struct layout_summary {
    uint32_t holes;         /* byte holes between members */
    uint32_t bit_holes;     /* unused bits that are no whole bytes, or lie beside a bit-field */
    uint64_t hole_bytes;    /* sum */
    uint64_t bit_hole_bits; /* sum */
    uint64_t padding_bytes; /* behind the last member */
    uint32_t bit_padding;   /* bits behind a last bit-field, below one byte */
    uint32_t flexible;      /* flexible arrays */
    bool overlaps; /* members overlap in a struct: C++ empty bases, or a compiler's trick */
};

/* Unions have padding only. */
void layout_summarise(const struct layout_type *type, struct layout_summary *summary);

/* "struct", "union" or "class". */
const char *layout_kind_name(enum layout_kind kind);

/* What belongs into shape; nested types count by their own. */
uint64_t layout_shape(const struct layout_type *type);

/*
 * True when both have the same size, alignment and members (names, places, type names), nested
 * types compared by shape. Names of anonymous types do not count.
 */
bool layout_same(const struct layout_type *a, const struct layout_type *b);

#endif
