/* SPDX-License-Identifier: MIT */
/*
 * Searches orders of members: one state is an order, what it costs and the steps that led there.
 *
 * Idea: a beam search. From each of the best few orders every move of a run of like neighbours, or
 * of all like members, to every place of its struct is tried, if one of them fights: members that
 * only shift others would be the cheapest answer often, and the first one to break. What is weighed
 * stands in suggest.h.
 *
 * Private to layout/. One thread per search.
 */
#ifndef LAYOUT_SEARCH_H
#define LAYOUT_SEARCH_H

#include "layout/shape.h"
#include "layout/suggest.h"

/* Placing one block costs one step. Chosen: a second on a slow machine. */
#define SUGGEST_WORK UINT64_C(40000000)

struct search_move {
    uint16_t owner; /* struct */
    uint16_t count;
    uint16_t before; /* block; UINT16_MAX: end */
    uint16_t blocks[SUGGEST_RUN_MAX];
};

struct search_state {
    struct shape_order order;
    struct search_move moves[SUGGEST_MOVES_MAX];
    uint16_t stated_blocks[SUGGEST_ALIGNS_MAX];
    unsigned move_count;
    unsigned stated_count;
    uint64_t residual;
    uint64_t fresh; /* of residual: by pairs that did not fight before; no proposal then */
    uint64_t size_bytes;
    unsigned moved;   /* members */
    unsigned torn;    /* like neighbours that moved ones left behind: weighed as if moved too */
    unsigned awkward; /* breaks ties: how ill the moved ones fit their new neighbours, how far */
    bool luck;
};

/* Two hot fields that fight when they share a line. */
struct search_pair {
    uint32_t first, second; /* into hot */
    uint64_t cost;          /* a line */
    bool known;             /* they fight already, at some base that is looked at */
};

struct search {
    const struct layout_map *map;
    const struct layout_conflict_options *options;
    struct shape shape;
    const struct layout_field **hot;
    struct shape_field *places; /* of the hot fields */
    uint64_t *bits;             /* result of placing: absolute offset of each */
    struct search_pair *pairs;
    uint32_t *kinds; /* by block: like neighbours have the same number; 0: nothing hot in it */
    bool *fights;    /* by block: a field of it fights in the order that is being left */
    size_t hot_count;
    uint32_t kind_count;
    size_t pair_count;
    uint64_t work;
};

/* Prepares the search and weighs the order as it is into @start. 0; MGLRU_ENOMEM. */
int search_begin(struct search *search, const struct layout_map *map,
                 const struct layout_conflict_options *options, struct search_state *start);
void search_end(struct search *search);

/* Weighs the order of @state. */
void search_weigh(struct search *search, struct search_state *state);

/* Marks in fights the blocks with a field that fights in the order @state. True: there are any. */
bool search_mark(struct search *search, const struct search_state *state);

/* What the fields inside struct @owner cost each other when it starts @base_bytes behind a line's
 * start, after search_weigh(). */
uint64_t search_weigh_inside(const struct search *search, uint32_t owner, uint64_t base_bytes);

/* Calls @found for each move from @from that leaves less and has no new fight. Returns false when
 * the bound of the work was met. */
bool search_moves(struct search *search, const struct search_state *from,
                  void (*found)(void *context, const struct search_state *state), void *context);

/* Gathers all like members of each struct behind the others, for structs that are mixed so badly
 * that every single move brings a new fight. Not weighed yet. */
void search_regroup(const struct search *search, struct search_state *state);

/* Negative when @a is better. */
int search_compare(const struct search_state *a, const struct search_state *b);

#endif
