/* SPDX-License-Identifier: MIT */
/*
 * The class file: who reads and who writes each field, and what must stay so.
 *
 * One statement a line; '#' begins a comment. A backslash at the end of a line continues it.
 *
 *   TYPE.FIELD: CLASS [WEIGHT]        who touches the field; WEIGHT 1..1000 is its heat (1)
 *   group TYPE.NAME: FIELD ...        fields that belong together
 *   rule TYPE: group NAME starts a line | group NAME fills its lines | group NAME stays together
 *   rule TYPE: no CLASS beside CLASS
 *   rule TYPE: size at most BYTES
 *   alloc TYPE: malloc | static | BYTES   the alignment that an object of the type surely has
 *   check TYPE ...                    what `linewise check` looks at when it is told no type
 *
 *   CLASS: read | lock(NAME, ...) | atomic | owner | owner(NAME) | cold
 *
 * TYPE and each part of FIELD may hold '*', which matches within one part. FIELD is a path with
 * array elements (refaulted[0][1][*], slots[2-5].head); without elements it is the whole array.
 * "[]" at the end says that every element has a CPU of its own. A statement about a struct holds
 * for all that is in it. The most specific statement wins, see classify.h.
 *
 * Reading needs no type: names are matched later. One thread per object.
 */
#ifndef LAYOUT_CLASSES_H
#define LAYOUT_CLASSES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "layout/set.h"

enum layout_class {
    LAYOUT_CLASS_NONE, /* nothing is known */
    LAYOUT_CLASS_READ, /* read by many, seldom written */
    LAYOUT_CLASS_LOCK, /* written under locks */
    LAYOUT_CLASS_ATOMIC,
    LAYOUT_CLASS_OWNER, /* written by one CPU or thread */
    LAYOUT_CLASS_COLD,
    LAYOUT_CLASSES
};

/* Chosen: no struct of 2,401 kernel units has more dimensions than 5. */
#define LAYOUT_INDEXES_MAX 8
#define LAYOUT_CLASS_NAMES_MAX 8
#define LAYOUT_WEIGHT_MAX 1000
/* A class file is written by people; more is another file by mistake. */
#define LAYOUT_CLASS_FILE_MAX ((size_t)4 << 20)
#define LAYOUT_STATEMENTS_MAX 5000u
/* What malloc guarantees on 64-bit machines (C17 7.22.3: alignof(max_align_t)). */
#define LAYOUT_MALLOC_ALIGN 16u

/* The elements of one dimension that a pattern means, both ends included. */
struct layout_index {
    uint64_t first;
    uint64_t last; /* UINT64_MAX: to the end */
};

/* One part of a path, between dots. */
struct layout_pattern_part {
    char *name; /* may hold '*' */
    struct layout_index indexes[LAYOUT_INDEXES_MAX];
    unsigned index_count;
};

struct layout_pattern {
    char *text; /* as written */
    char *type; /* may hold '*' */
    struct layout_pattern_part *parts;
    size_t part_count;
    bool each; /* ended in []: every element by another CPU */
};

/* A class and, for lock and owner, whose. */
struct layout_use {
    enum layout_class class;
    char *names[LAYOUT_CLASS_NAMES_MAX]; /* sorted; lock: all are held by the writer */
    unsigned name_count;
    unsigned weight; /* 1 unless stated */
};

struct layout_class_rule {
    struct layout_pattern pattern;
    struct layout_use use;
    unsigned line;
};

struct layout_group {
    char *type;
    char *name;
    char **fields; /* paths inside the type, without elements */
    size_t field_count;
    unsigned line;
};

enum layout_demand_kind {
    LAYOUT_DEMAND_STARTS,   /* group starts a line */
    LAYOUT_DEMAND_FILLS,    /* no other field on the lines of the group */
    LAYOUT_DEMAND_TOGETHER, /* no other field between those of the group */
    LAYOUT_DEMAND_APART,    /* no class beside class */
    LAYOUT_DEMAND_SIZE      /* size at most */
};

struct layout_demand {
    char *type;
    char *group; /* of the first three kinds */
    char *text;  /* as written, for messages */
    enum layout_demand_kind kind;
    enum layout_class first, second; /* of LAYOUT_DEMAND_APART */
    uint64_t bytes;                  /* of LAYOUT_DEMAND_SIZE */
    unsigned line;
};

struct layout_alloc {
    char *type;
    uint64_t align; /* UINT64_MAX: whatever the type asks for */
    unsigned line;
};

struct layout_classes {
    char *name; /* of the file, for messages */
    struct layout_class_rule *rules;
    size_t rule_count;
    struct layout_group *groups;
    size_t group_count;
    struct layout_demand *demands;
    size_t demand_count;
    struct layout_alloc *allocs;
    size_t alloc_count;
    char **checks;
    size_t check_count;
};

/*
 * Reads @path ("-" is standard input). @classes: filled in, empty after an error.
 * 0; MGLRU_EINVAL: not such a file, @error names file, line, what is wrong and what was expected;
 * MGLRU_ENOENT, MGLRU_EPERM, MGLRU_EIO; MGLRU_ENOMEM.
 */
int layout_classes_read(const char *path, struct layout_classes *classes,
                        struct layout_error *error);

/* The same from memory; @name stands for the file in messages. */
int layout_classes_parse(const char *name, const char *text, size_t bytes,
                         struct layout_classes *classes, struct layout_error *error);
void layout_classes_free(struct layout_classes *classes);

/* "read", "lock", ...; "" for LAYOUT_CLASS_NONE. */
const char *layout_class_name(enum layout_class class);

/* A letter for maps: R, L, A, O, C, or '.' */
char layout_class_letter(enum layout_class class);

/* Writes "lock(a, b)" or "atomic" into @text, cut off at @bytes. */
void layout_use_text(const struct layout_use *use, char *text, size_t bytes);

/* True when @name matches @glob, in which '*' stands for any characters. */
bool layout_glob(const char *glob, const char *name);

/* The group @name of @type; NULL: none. */
const struct layout_group *layout_classes_group(const struct layout_classes *classes,
                                                const char *type, const char *name);

/* Surely kept alignment of objects of @type, UINT64_MAX for its own; @fallback when not stated. */
uint64_t layout_classes_alloc(const struct layout_classes *classes, const char *type,
                              uint64_t fallback);

#endif
