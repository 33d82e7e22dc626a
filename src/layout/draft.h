/* SPDX-License-Identifier: MIT */
/*
 * Guesses who touches a field by what its type is called. Only a start for the reader's own class
 * file: of 314 kernel structs with an atomic-like field, 285 have it beside a plain one, so the
 * names alone find a fight nearly everywhere.
 */
#ifndef LAYOUT_DRAFT_H
#define LAYOUT_DRAFT_H

#include "layout/classify.h"

struct layout_guess {
    const struct layout_field *field;
    enum layout_class class; /* LAYOUT_CLASS_NONE: the type tells nothing */
    char *lock;              /* of LAYOUT_CLASS_LOCK */
    char *reason;
};

struct layout_draft {
    struct layout_guess *items; /* one a field of the map, in order */
    size_t count;
};

/* @map: of an empty class file; must outlive @draft. 0; MGLRU_ENOMEM. */
int layout_draft_make(const struct layout_map *map, struct layout_draft *draft);
void layout_draft_free(struct layout_draft *draft);

#endif
