/* SPDX-License-Identifier: MIT */
/*
 * Interned names: a name gets the next number when it is first seen. The texts never move, and
 * neither do the tables that lead from number to text (chunks that double in size), so a thread
 * that learned a number may read its text while the owner adds more names.
 *
 * One owner adds; others may call names_text for numbers that they were handed by the owner.
 */
#ifndef TRACE_NAMES_H
#define TRACE_NAMES_H

#include <stddef.h>
#include <stdint.h>

/* Chunk i holds NAMES_FIRST_CHUNK << i names: together more than ids can count. */
#define NAMES_FIRST_CHUNK 64u
#define NAMES_CHUNKS 27

struct names_entry {
    char *text; /* ends with NUL */
    uint32_t bytes;
    uint32_t hash;
};

struct names {
    struct names_entry *chunks[NAMES_CHUNKS];
    uint32_t *slots; /* id + 1; 0: free. Open addressing, linear probing */
    uint32_t slot_mask;
    uint32_t count;
};

/* All fields zero is the empty set as well; names_init says so by name. */
void names_init(struct names *names);
void names_destroy(struct names *names);

/*
 * Number of the name of @bytes bytes at @text (no NUL inside), adding it when it is new.
 * 0 and *@id, or MGLRU_ENOMEM (the set is unchanged), MGLRU_EOVERFLOW: 2^32 - 2 names are there.
 */
int names_intern(struct names *names, const char *text, size_t bytes, uint32_t *id);

/* Text by number; NULL when @id was not given out. Lives until names_destroy. */
const char *names_text(const struct names *names, uint32_t id);

#endif
