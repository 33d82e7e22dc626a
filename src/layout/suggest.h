/* SPDX-License-Identifier: MIT */
/*
 * Proposes other orders of members that leave fewer fights over lines, cheapest first.
 *
 * What is weighed: the residual conflict (the sum over lines of what the pairs on them cost: read x
 * atomic 100, atomic x lock and other pairs of writers 20, read x lock 3, times the heat of both
 * fields), the growth of the outer type in bytes, and the fields moved; like neighbours that are
 * left behind count as moved, since it is no gain to tear a group. With these weights the first
 * answer for the kernel's struct lru_gen_folio is its author's own move. A proposal that another
 * beats in all three is left out. Padding (an alignment stated for a member) is tried on
 * top of moves, and kept where it buys what moves alone do not: fewer fights, or an answer that
 * does not depend on where the struct happens to lie.
 *
 * Promises
 *   A. No proposal has a fight between two fields that did not fight before.
 *   B. Growth is what the compiler gives: sizes respect every alignment (property tested).
 *   C. Data of one lock is not spread.
 *   D. Bounded work: SUGGEST_WORK steps, whatever the struct.
 */
#ifndef LAYOUT_SUGGEST_H
#define LAYOUT_SUGGEST_H

#include "layout/conflicts.h"

/* Chosen: more steps than these no reader follows. */
#define SUGGEST_MOVES_MAX 8
#define SUGGEST_ALIGNS_MAX 4
#define SUGGEST_MAX 6
/* Most blocks that move as one. Chosen. */
#define SUGGEST_RUN_MAX 64
/* Hot fields that are weighed against each other, the first ones of the type. Chosen. */
#define SUGGEST_HOT_MAX 512

/* Members that move together, in their new order. */
struct layout_move {
    const struct layout_type *type;    /* the struct they are members of */
    char *type_path;                   /* of that struct in the outer type; "" for the outer type */
    uint32_t members[SUGGEST_RUN_MAX]; /* indexes into type->members */
    uint32_t member_count;
    uint32_t before; /* member they go before; UINT32_MAX: to the end */
};

/* An alignment stated for a member, which starts a line from then on. */
struct layout_stated {
    const struct layout_type *type;
    char *type_path;
    uint32_t member;
    uint32_t align_bytes;
};

struct layout_suggestion {
    struct layout_move moves[SUGGEST_MOVES_MAX];
    struct layout_stated aligned[SUGGEST_ALIGNS_MAX];
    size_t move_count;
    size_t aligned_count;
    unsigned moved; /* members */
    int64_t growth_bytes;
    uint64_t size_bytes; /* of the outer type then */
    uint64_t residual;
    bool luck; /* holds only where the struct happens to start on a line */
    char *pin; /* what keeps it: a static assert, or what to ask of the allocator; or NULL */
};

struct layout_suggestions {
    struct layout_suggestion items[SUGGEST_MAX];
    size_t count;
    uint64_t residual; /* of the type as it is */
    uint64_t size_bytes;
    bool fixed;     /* nothing can be moved: packed, a union, or not explained by C's rules */
    bool cut_short; /* the bound of the work was met: there may be better ones */
};

/*
 * Proposes for the type of @map. @suggestions: empty after an error; the caller frees it.
 * 0; MGLRU_ENOMEM.
 */
int layout_suggest(const struct layout_map *map, const struct layout_conflict_options *options,
                   struct layout_suggestions *suggestions);
void layout_suggestions_free(struct layout_suggestions *suggestions);

/* Path in the outer type of member @member of @type, which lies at @type_path; "(unnamed)" parts
 * for anonymous ones. */
void layout_member_path(const struct layout_type *type, const char *type_path, uint32_t member,
                        char *text, size_t bytes);

#endif
