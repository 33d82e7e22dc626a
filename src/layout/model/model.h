/* SPDX-License-Identifier: MIT */
/*
 * Builds the types of type.h from what a debug format's reader tells.
 *
 * Idea: DWARF and BTF describe the same graph of nodes (base types, pointers, typedefs, arrays,
 * structs). A reader answers two questions about a node by number: what are you, and what are your
 * members. Everything that follows from the answers is done once, here: names as written, array
 * dimensions through typedefs, natural and inferred alignment, and the checks that make a type safe
 * to use. A type is built once and kept; with keys (DWARF, where every unit repeats its headers'
 * types) equal ones become the same.
 *
 * Bounds: nesting LAYOUT_DEPTH_MAX, chains of typedefs and qualifiers MODEL_CHAIN_MAX, names
 * MODEL_NAME_MAX characters, so that no graph, cyclic or not, costs more than its size.
 */
#ifndef LAYOUT_MODEL_MODEL_H
#define LAYOUT_MODEL_MODEL_H

#include "layout/read/arena.h"
#include "layout/read/blob.h"
#include "layout/read/table.h"
#include "layout/type.h"

#define MODEL_CHAIN_MAX 64
#define MODEL_NAME_MAX 1000
#define MODEL_DIMS_MAX 12
/* Chosen: larger than any object, far from overflow in bits. */
#define MODEL_BYTES_MAX ((uint64_t)1 << 48)
#define MODEL_MEMBERS_MAX 1000000u

enum node_kind {
    NODE_VOID,
    NODE_BASE,
    NODE_ENUM,
    NODE_POINTER,
    NODE_REFERENCE,
    NODE_RVALUE,         /* C++ && */
    NODE_MEMBER_POINTER, /* C++ T C::* */
    NODE_TYPEDEF,
    NODE_CONST,
    NODE_VOLATILE,
    NODE_RESTRICT,
    NODE_ATOMIC,
    NODE_TAG, /* a BTF type tag: name is its text */
    NODE_ARRAY,
    NODE_FUNCTION,
    NODE_STRUCT,
    NODE_UNION,
    NODE_CLASS,
    NODE_OTHER /* anything a member's type cannot be */
};

/* One node of the graph, as its reader sees it. Pointers are good until the set is closed. */
struct node {
    const char *name;     /* as in the file; of structs the full name; NULL: none */
    const char *file;     /* where a struct is declared; NULL: unknown */
    const char *comp_dir; /* where relative files start */
    uint64_t name_token;  /* equal for equal names of one set; used in keys */
    uint64_t ref;         /* node that this is made of; 0: void */
    uint64_t size_bytes;
    uint32_t dim_count;
    uint32_t align_bytes; /* stated; 0: not */
    uint32_t line;
    uint8_t kind;          /* enum node_kind */
    bool declared_only;    /* a struct or enum without its definition */
    bool states_alignment; /* the format would state an alignment above the natural one */
    bool exact_alignment;  /* align_bytes is what results, not what was asked for at least */
    bool is_bool;
    bool is_float;
    bool is_complex;
    bool has_size;
    uint64_t dims[MODEL_DIMS_MAX]; /* of an array, dim_count of them; 0: unknown or none */
};

/* Makes it a void, without touching the dims that it does not count. */
static inline void node_clear(struct node *node)
{
    memset(node, 0, offsetof(struct node, dims));
}

/* A direct member as its reader sees it, or a parameter of a function. */
struct raw_member {
    const char *name;
    uint64_t name_token;
    uint64_t type;
    uint64_t bit_offset;
    uint32_t bit_size; /* of a bit-field */
    uint32_t align_bytes;
    uint32_t line;
    uint16_t flags; /* LAYOUT_BITFIELD, LAYOUT_BASE, LAYOUT_VPTR */
};

struct raw_members {
    struct raw_member *items;
    size_t count;
    size_t capacity;
    bool incomplete; /* parts without a constant place were left out */
};

/* Appends; false: out of memory, or more than MODEL_MEMBERS_MAX. */
bool raw_members_add(struct raw_members *members, const struct raw_member *member);

struct model;

struct model_ops {
    /* 0, or a code with model->error written. */
    int (*node)(struct model *model, uint64_t id, struct node *node);
    int (*members)(struct model *model, uint64_t id, struct raw_members *members);
    /* The definition of declared-only node @id; 0: there is none in this file. */
    uint64_t (*define)(struct model *model, uint64_t id);
};

struct model {
    /* Fixed before the first use. */
    const struct model_ops *ops;
    void *reader;
    const char *path; /* begins messages */
    const char *hint; /* ends those about damage; NULL: none */
    uint32_t address_bytes;
    uint32_t align_max; /* largest natural alignment of an integer or float: 4 on i386 */
    bool keyed;         /* merge equal types by key */
    bool clean_names;   /* no name in the file holds a control character */
    /* State of one thread. */
    struct arena arena;
    struct table by_id;
    struct table by_key;
    struct table names;         /* id -> spelled name */
    struct layout_error *error; /* of the call under way */
    uint64_t bytes;             /* of debug information: what work is measured against */
    uint64_t work_bytes;        /* read by the call under way */
    unsigned depth;
};

/*
 * The type with definition @id, built on first use. @type: NULL after an error.
 * 0; MGLRU_EINVAL: damaged, model->error says where; MGLRU_ENOMEM.
 */
int model_type(struct model *model, uint64_t id, const struct layout_type **type);

/* Writes "PATH: damaged debug information: ..." and returns MGLRU_EINVAL. */
int model_damaged(struct model *model, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
int model_no_memory(struct model *model);

/*
 * Counts @bytes of entries that were read for a type's members. Every entry is read a few times at
 * most in a sound file, so a multiple of the file says that entries overlap: MGLRU_EINVAL.
 */
int model_work(struct model *model, uint64_t bytes);

void model_free(struct model *model);

/* model_name.c: the spelled type of node @id, "const struct page *", to *@name, which lasts as long
 * as the model. 0; MGLRU_ENOMEM, or an error of the reader, both written: *@name is NULL. */
int model_name(struct model *model, uint64_t id, const char **name);

/* model_align.c: sets the alignments of @type and its members, which are in order of place. */
void model_align(const struct model *model, struct layout_type *type, struct layout_member *members,
                 const struct node *node);

/* Natural alignment of a scalar of @node. */
uint32_t model_scalar_align(const struct model *model, const struct node *node);

/* Address at which something that ends at @value may go on with alignment @align, a power of 2. */
static inline uint64_t model_round_up(uint64_t value, uint64_t align)
{
    return (value + align - 1) & ~(align - 1);
}

#endif
