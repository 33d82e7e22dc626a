/* SPDX-License-Identifier: MIT */
/*
 * What set.c asks of a debug format's reader: which names are there, and where.
 *
 * Nodes are numbers that mean something to the reader alone; model.h makes types of them.
 */
#ifndef LAYOUT_READER_H
#define LAYOUT_READER_H

#include "layout/model/model.h"
#include "layout/read/elf.h"
#include "layout/set.h"

/* One name in a file. */
struct reader_name {
    const char *name; /* full; good until the visit returns */
    uint64_t id;      /* a struct's, or a typedef's */
    uint8_t kind;     /* enum node_kind; structs, NODE_TYPEDEF, or what else has the name */
    bool declared_only;
    bool exact; /* find: the whole name is the one asked for, not only its last part */
};

/* Called for each name; a code other than 0 ends the visit and is returned. */
typedef int reader_visit(void *context, const struct reader_name *name);

struct layout_reader {
    struct model *model;
    /* Visits all structs and typedefs; @wanted: only those whose name, or last part, it is, and
     * other types of that name as well. */
    int (*visit)(struct layout_reader *reader, const char *wanted, reader_visit *visit,
                 void *context);
    /* *type: of the variable @name outside of functions, 0: there is none. NULL: never known. */
    int (*variable)(struct layout_reader *reader, const char *name, uint64_t *type);
    void (*close)(struct layout_reader *reader);
    char text[128]; /* "DWARF 5, x86-64, little-endian" */
    char note[512]; /* what a name that is not found may be owed to; "": nothing */
};

/*
 * Readers. @reader: NULL after an error; they borrow the bytes. @elf of DWARF is taken over by the
 * reader, also after an error. @base of BTF may be empty.
 * 0; MGLRU_EINVAL, MGLRU_ENOTSUP, MGLRU_ENOMEM with @error.
 */
int dwarf_open(struct elf *elf, bool search, struct layout_reader **reader,
               struct layout_error *error);

struct btf_source {
    struct span own;
    struct span base;       /* of a module: the kernel's; empty: none */
    const char *path;       /* for messages */
    uint32_t align_max;     /* of the machine, 8 where unknown */
    uint32_t address_bytes; /* 0: find out */
};

int btf_open(const struct btf_source *source, struct layout_reader **reader,
             struct layout_error *error);

/* True when @own refers to types or strings that it does not hold: it needs a base. */
bool btf_needs_base(struct span own);

/* True when @file begins with BTF's magic, in either byte order. */
bool btf_is(struct span file);

#endif
