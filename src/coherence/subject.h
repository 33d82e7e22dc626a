/* SPDX-License-Identifier: MIT */
/*
 * What lies where: objects with the fields of their types, told by the caller, so that nothing here
 * knows debug information. Pure look-ups; everything is borrowed.
 */
#ifndef COHERENCE_SUBJECT_H
#define COHERENCE_SUBJECT_H

#include <stddef.h>
#include <stdint.h>

/* Fields of one type, by offset. Those of unions and of structs in arrays overlap; the last that
 * fits is taken. */
struct coherence_field {
    const char *name; /* path inside of the type: "queue.head", "slots[]" */
    uint64_t offset;
    uint64_t bytes;
    uint64_t stride; /* bytes from one element to the next; 0: no array */
    uint64_t width;  /* bytes of it at the start of each element; 0: all. The rest is others' */
};

struct coherence_subject {
    uint64_t address;
    uint64_t bytes;
    const char *name; /* of the type, or of the variable */
    const struct coherence_field *fields;
    size_t field_count; /* 0: fields are told by their offsets */
};

struct coherence_subjects {
    const struct coherence_subject *items; /* by address, without overlaps */
    size_t count;
};

/* The object at @address; NULL: none. */
const struct coherence_subject *coherence_subject_at(const struct coherence_subjects *subjects,
                                                     uint64_t address);

/* The field at @offset of the object; NULL: none is known there. */
const struct coherence_field *coherence_field_at(const struct coherence_subject *subject,
                                                 uint64_t offset);

/* Writes the name of the field at @offset, "+16" where none is known; cut off at @bytes. */
void coherence_field_text(const struct coherence_subject *subject, uint64_t offset, char *text,
                          size_t bytes);

#endif
