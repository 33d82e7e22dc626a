/* SPDX-License-Identifier: MIT */
/*
 * A type joined with a class file: every field with its absolute place and its class.
 *
 * Idea: the class file decides how deep to look. A nested struct about whose inside a statement
 * speaks is looked into, and one of more than 16 bytes about which nothing is said; anything else
 * is one field. An array is
 * one field unless a statement speaks about some of its elements or about their inside.
 *
 * Which statement wins for a field: one about the field itself before one about a struct around it;
 * then one with elements before one without; then the one with fewer '*'; then the longer path;
 * then the later line.
 *
 * Strings and arrays belong to the map; types and statements stay their owners' and outlive it.
 * One thread per map.
 */
#ifndef LAYOUT_CLASSIFY_H
#define LAYOUT_CLASSIFY_H

#include "layout/classes.h"
#include "layout/set.h"
#include "layout/type.h"

/* Bounds memory; the largest kernel struct has about 5,000 leaves. */
#define LAYOUT_FIELDS_MAX 100000u
/* The deepest path of the kernel has 15 parts. */
#define LAYOUT_PATH_BYTES 512

/* A field, or some elements of an array. */
struct layout_field {
    char *path;     /* from the outer type, without its own elements: "lruvec.lrugen.refaulted" */
    char *elements; /* "[0][1][*]"; "" for whole arrays and for what is no array */
    const struct layout_member *member;
    const struct layout_use *use;         /* its class; NULL: nothing is known */
    const struct layout_class_rule *rule; /* where the class comes from; NULL as use */
    uint64_t bit_offset;                  /* absolute */
    uint64_t bit_size;                    /* of all elements meant */
    uint64_t first_element;               /* of member's array that is meant */
    uint64_t element_bits;                /* from one element to the next; 0: no array */
    unsigned union_id;                    /* outermost union around it, from 1; 0: none */
    unsigned alternative;                 /* which member of that union */
    bool each;                            /* every element has its own CPU */
    bool opaque;                          /* a whole struct that was not looked into */
};

struct layout_map {
    const struct layout_type *type;
    char *name;                  /* of the type, as the user called it */
    struct layout_field *fields; /* in order of declaration */
    size_t field_count;
    bool *matched; /* one a statement of the class file: it gave some field its class */
};

/*
 * Classifies the fields of @type, called @name in messages and, beside its own name, in the class
 * file. @map: filled in; empty after an error.
 * 0; MGLRU_ENOMEM; MGLRU_EOVERFLOW: more than LAYOUT_FIELDS_MAX fields, @error says so.
 */
int layout_map_build(const struct layout_type *type, const char *name,
                     const struct layout_classes *classes, struct layout_map *map,
                     struct layout_error *error);
void layout_map_free(struct layout_map *map);

/* Class of the field, LAYOUT_CLASS_NONE when nothing is known. */
enum layout_class layout_field_class(const struct layout_field *field);

/* True when the field is read or written often: neither cold nor unknown. */
bool layout_field_hot(const struct layout_field *field);

/*
 * Writes the name of the part of @field that lies in [@first_bit, @last_bit] into @text: its path,
 * and for arrays the elements there, "refaulted[0][0][3], refaulted[0][1][*]". A whole array that
 * lies there whole is "nr_pages[]".
 */
void layout_field_text(const struct layout_field *field, const uint64_t bits[2], char *text,
                       size_t bytes);

/* True when a writer of one surely excludes writers of the other: a lock or an owner in common. */
bool layout_use_excludes(const struct layout_use *a, const struct layout_use *b);

/* The statement, number @index of its file, begins with this very type but fits no field of it. */
bool layout_map_misses(const struct layout_map *map, const struct layout_class_rule *rule,
                       size_t index);

#endif
