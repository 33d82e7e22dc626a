/* SPDX-License-Identifier: MIT */
/* Weighs orders of members and makes new ones; see search.h. */
#include "layout/search.h"

#include <stdlib.h>
#include <string.h>

#include <mglru/error.h>

#include "base/check.h"
#include "layout/grow.h"

/* Neighbours weigh more than the way: more places than these no struct has. */
#define AWKWARD_STEP SHAPE_BLOCKS_MAX

/* First base and number of bases to look at. */
static uint64_t base_count(const struct layout_conflict_options *options)
{
    return options->any_base ? options->line_bytes / LAYOUT_BASE_STEP : 1;
}

static uint64_t base_at(const struct layout_conflict_options *options, uint64_t index)
{
    return options->any_base ? index * LAYOUT_BASE_STEP : options->base_bytes;
}

/* Lines that two fields share when the object starts at @base. */
static uint64_t shared_lines(const struct search *search, uint32_t a, uint32_t b, uint64_t base)
{
    uint64_t line_bits = search->options->line_bytes * 8;
    uint64_t at = base * 8;
    uint64_t first_a = (search->bits[a] + at) / line_bits;
    uint64_t last_a = (search->bits[a] + at + search->hot[a]->bit_size - 1) / line_bits;
    uint64_t first_b = (search->bits[b] + at) / line_bits;
    uint64_t last_b = (search->bits[b] + at + search->hot[b]->bit_size - 1) / line_bits;
    uint64_t first = first_a > first_b ? first_a : first_b;
    uint64_t last = last_a < last_b ? last_a : last_b;
    return last >= first ? last - first + 1 : 0;
}

static void place_all(struct search *search, const struct shape_order *order)
{
    shape_place(&search->shape, order);
    search->work += search->shape.block_count + search->pair_count;
    for (size_t i = 0; i < search->hot_count; i++)
        search->bits[i] = shape_field_bits(&search->shape, &search->places[i]);
}

void search_weigh(struct search *search, struct search_state *state)
{
    place_all(search, &state->order);
    state->residual = 0;
    state->fresh = 0;
    state->size_bytes = search->shape.structs[0].size_bytes;
    for (uint64_t b = 0; b < base_count(search->options); b++) {
        uint64_t base = base_at(search->options, b);
        for (size_t i = 0; i < search->pair_count; i++) {
            const struct search_pair *pair = &search->pairs[i];
            uint64_t cost = pair->cost * shared_lines(search, pair->first, pair->second, base);
            state->residual += cost;
            state->fresh += pair->known ? 0 : cost;
        }
    }
}

/* True when struct @inner is @owner or lies in it. */
static bool lies_in(const struct shape *shape, uint32_t inner, uint32_t owner)
{
    while (inner > owner)
        inner = shape->structs[inner].parent;
    return inner == owner;
}

uint64_t search_weigh_inside(const struct search *search, uint32_t owner, uint64_t base_bytes)
{
    uint64_t residual = 0;
    uint64_t line_bytes = search->options->line_bytes;
    uint64_t start = search->shape.structs[owner].bit_offset / 8 % line_bytes;
    uint64_t base = (base_bytes + line_bytes - start) % line_bytes;
    for (size_t i = 0; i < search->pair_count; i++) {
        const struct search_pair *pair = &search->pairs[i];
        if (lies_in(&search->shape, search->places[pair->first].owner, owner) &&
            lies_in(&search->shape, search->places[pair->second].owner, owner))
            residual += pair->cost * shared_lines(search, pair->first, pair->second, base);
    }
    return residual;
}

int search_compare(const struct search_state *a, const struct search_state *b)
{
    if (a->residual != b->residual)
        return a->residual < b->residual ? -1 : 1;
    if (a->size_bytes != b->size_bytes)
        return a->size_bytes < b->size_bytes ? -1 : 1;
    if (a->moved + a->torn != b->moved + b->torn)
        return a->moved + a->torn < b->moved + b->torn ? -1 : 1;
    return (a->awkward > b->awkward) - (a->awkward < b->awkward);
}

/* 0 is best: behind like members and before unlike ones, as a person would put it. */
static unsigned awkwardness(const struct search *search, const struct search_state *state,
                            const struct shape_struct *owner, uint32_t place, uint32_t count)
{
    const uint16_t *order = &state->order.order[owner->first_block];
    uint32_t kind = search->kinds[order[place]];
    bool like_before = place > 0 && search->kinds[order[place - 1]] == kind;
    bool like_behind =
        place + count < owner->block_count && search->kinds[order[place + count]] == kind;
    if (like_before != like_behind)
        return like_before ? 0 : 1;
    return like_before ? 2 : 3;
}

/* Members next to those in places [@from, @from + @count) that are like them and stay behind: a
 * group that would be torn. */
static unsigned torn_by(const struct search *search, const struct shape_struct *owner,
                        const uint16_t *order, uint32_t from, uint32_t count)
{
    unsigned torn = 0;
    uint32_t kind = search->kinds[order[from]];
    for (uint32_t i = from; i > 0 && search->kinds[order[i - 1]] == kind; i--)
        torn += search->shape.blocks[order[i - 1]].member_count;
    for (uint32_t i = from + count; i < owner->block_count && search->kinds[order[i]] == kind; i++)
        torn += search->shape.blocks[order[i]].member_count;
    return torn;
}

static bool holds(const struct search_move *move, uint16_t block)
{
    for (uint16_t i = 0; i < move->count; i++)
        if (move->blocks[i] == block)
            return true;
    return false;
}

/* Makes @next from @state by @move. */
static void apply_move(const struct search *search, const struct search_state *state,
                       const struct search_move *move, struct search_state *next)
{
    const struct shape_struct *owner = &search->shape.structs[move->owner];
    const uint16_t *old = &state->order.order[owner->first_block];
    *next = *state;
    uint16_t *order = &next->order.order[owner->first_block];
    uint32_t place = 0;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < owner->block_count; i++) {
        if (old[i] == move->before)
            place = kept;
        if (!holds(move, old[i]))
            order[kept++] = old[i];
    }
    if (move->before == UINT16_MAX)
        place = kept;
    memmove(&order[place + move->count], &order[place], (kept - place) * sizeof(*order));
    memcpy(&order[place], move->blocks, move->count * sizeof(*order));
    next->moves[next->move_count++] = *move;
    for (uint16_t i = 0; i < move->count; i++)
        next->moved += search->shape.blocks[move->blocks[i]].member_count;
    next->awkward += AWKWARD_STEP * awkwardness(search, next, owner, place, move->count);
    uint32_t from = 0;
    while (old[from] != move->blocks[0])
        from++;
    next->awkward += from > place ? from - place : place - from;
}

/* Where a search hands its results to. */
struct sink {
    void (*found)(void *context, const struct search_state *state);
    void *context;
    struct search_state *next;
};

/* Tries all places for the blocks of @move, which tears @torn members from their like. False: the
 * bound of the work was met. */
static bool try_places(struct search *search, const struct search_state *state,
                       struct search_move *move, unsigned torn, const struct sink *sink)
{
    const struct shape_struct *owner = &search->shape.structs[move->owner];
    const uint16_t *order = &state->order.order[owner->first_block];
    for (uint32_t to = 0; to <= owner->block_count; to++) {
        /* A pinned first member keeps others from in front of it, a pinned last one from behind. */
        bool end = to == owner->block_count;
        if (search->shape.blocks[order[end ? to - 1 : to]].pinned && (end || to == 0))
            continue;
        move->before = end ? UINT16_MAX : order[to];
        bool in_place = to > 0 && holds(move, order[to - 1]);
        if ((!end && holds(move, order[to])) || (in_place && move->count == 1))
            continue;
        if (search->work > SUGGEST_WORK)
            return false;
        apply_move(search, state, move, sink->next);
        sink->next->torn += torn;
        sink->next->awkward += torn > 0 ? AWKWARD_STEP : 0;
        search_weigh(search, sink->next);
        if (sink->next->fresh == 0 && sink->next->residual < state->residual)
            sink->found(sink->context, sink->next);
    }
    return true;
}

/* Longest run of like blocks from place @from. */
static uint32_t run_length(const struct search *search, const struct shape_struct *owner,
                           const uint16_t *order, uint32_t from)
{
    uint32_t end = from;
    while (end < owner->block_count && end - from < SUGGEST_RUN_MAX &&
           !search->shape.blocks[order[end]].pinned &&
           search->kinds[order[end]] == search->kinds[order[from]])
        end++;
    return end - from;
}

/* True when the two share a line at some base that is looked at. */
static bool meet(const struct search *search, uint32_t a, uint32_t b)
{
    for (uint64_t i = 0; i < base_count(search->options); i++)
        if (shared_lines(search, a, b, base_at(search->options, i)) > 0)
            return true;
    return false;
}

void search_regroup(const struct search *search, struct search_state *state)
{
    for (uint32_t i = 0; i < search->shape.struct_count; i++) {
        const struct shape_struct *owner = &search->shape.structs[i];
        /* The least kind is gathered first, so the groups end up in the order of their numbers. */
        for (uint32_t kind = 1; owner->movable && kind <= search->kind_count; kind++) {
            const uint16_t *order = &state->order.order[owner->first_block];
            struct search_move move = {.owner = (uint16_t)i, .before = UINT16_MAX};
            for (uint32_t j = 0; j < owner->block_count && move.count < SUGGEST_RUN_MAX; j++)
                if (search->kinds[order[j]] == kind && !search->shape.blocks[order[j]].pinned)
                    move.blocks[move.count++] = order[j];
            bool last_pinned = search->shape.blocks[order[owner->block_count - 1]].pinned;
            if (move.count == 0 || last_pinned || state->move_count == SUGGEST_MOVES_MAX)
                continue;
            struct search_state next;
            apply_move(search, state, &move, &next);
            *state = next;
        }
    }
}

bool search_mark(struct search *search, const struct search_state *state)
{
    bool any = false;
    memset(search->fights, 0, SHAPE_BLOCKS_MAX * sizeof(*search->fights));
    place_all(search, &state->order);
    for (size_t i = 0; i < search->pair_count; i++)
        if (meet(search, search->pairs[i].first, search->pairs[i].second)) {
            search->fights[search->places[search->pairs[i].first].block] = true;
            search->fights[search->places[search->pairs[i].second].block] = true;
            any = true;
        }
    return any;
}

static bool move_fights(const struct search *search, const struct search_move *move)
{
    for (uint16_t i = 0; i < move->count; i++)
        if (search->fights[move->blocks[i]])
            return true;
    return false;
}

/* Tries the runs of like blocks that begin in place @from of struct @number. */
static bool try_runs(struct search *search, const struct search_state *state, uint32_t number,
                     uint32_t from, const struct sink *sink)
{
    const struct shape_struct *owner = &search->shape.structs[number];
    const uint16_t *order = &state->order.order[owner->first_block];
    uint32_t longest = run_length(search, owner, order, from);
    struct search_move move = {.owner = (uint16_t)number};
    while (move.count < longest) {
        move.blocks[move.count] = order[from + move.count];
        move.count++;
        unsigned torn = torn_by(search, owner, order, from, move.count);
        if (move_fights(search, &move) && !try_places(search, state, &move, torn, sink))
            return false;
    }
    return true;
}

/* Tries to gather all blocks like the one in place @first, which is the first of them. */
static bool try_gathering(struct search *search, const struct search_state *state, uint32_t number,
                          uint32_t first, const struct sink *sink)
{
    const struct shape_struct *owner = &search->shape.structs[number];
    const uint16_t *order = &state->order.order[owner->first_block];
    uint32_t kind = search->kinds[order[first]];
    struct search_move move = {.owner = (uint16_t)number};
    bool scattered = false;
    if (kind == 0)
        return true;
    for (uint32_t i = 0; i < owner->block_count; i++) {
        if (search->kinds[order[i]] != kind || search->shape.blocks[order[i]].pinned)
            continue;
        if (i < first || move.count == SUGGEST_RUN_MAX)
            return true;
        scattered = scattered || (i > first && search->kinds[order[i - 1]] != kind);
        move.blocks[move.count++] = order[i];
    }
    if (!scattered || !move_fights(search, &move))
        return true;
    return try_places(search, state, &move, 0, sink);
}

bool search_moves(struct search *search, const struct search_state *from,
                  void (*found)(void *context, const struct search_state *state), void *context)
{
    struct search_state next;
    struct sink sink = {.found = found, .context = context, .next = &next};
    if (from->move_count == SUGGEST_MOVES_MAX)
        return true;
    search_mark(search, from);
    for (uint32_t i = 0; i < search->shape.struct_count; i++) {
        const struct shape_struct *owner = &search->shape.structs[i];
        for (uint32_t j = 0; owner->movable && j < owner->block_count; j++)
            if (!try_runs(search, from, i, j, &sink) || !try_gathering(search, from, i, j, &sink))
                return false;
    }
    return true;
}

/* True when struct embedded first is a base class in C: its address is the object's. */
static void pin_bases(struct shape *shape)
{
    for (uint32_t i = 0; i < shape->struct_count; i++) {
        struct shape_block *first = &shape->blocks[shape->structs[i].first_block];
        if (shape->structs[i].block_count > 0 && shape->structs[i].type->members[0].type != NULL &&
            shape->structs[i].type->members[0].dim_count == 0)
            first->pinned = true;
    }
}

static bool same_use(const struct layout_use *a, const struct layout_use *b)
{
    return a->class == b->class && (a->class == LAYOUT_CLASS_READ ||
                                    a->class == LAYOUT_CLASS_ATOMIC || layout_use_excludes(a, b));
}

/* Numbers the blocks by the class of their hot fields; blocks with several classes stay alone. */
static void number_kinds(struct search *search)
{
    uint32_t kinds = 0; /* so far */
    uint32_t *kind_of = search->kinds;
    for (size_t i = 0; i < search->hot_count; i++) {
        uint32_t block = search->places[i].block;
        uint32_t kind = 0;
        for (size_t j = 0; j < i && kind == 0; j++)
            if (same_use(search->hot[i]->use, search->hot[j]->use))
                kind = kind_of[search->places[j].block];
        if (kind == 0)
            kind = ++kinds;
        kind_of[block] = kind_of[block] == 0 || kind_of[block] == kind ? kind : ++kinds;
    }
    /* A block around others is itself as good as alone: its members are moved instead. */
    for (uint32_t i = 0; i < search->shape.block_count; i++)
        if (search->shape.blocks[i].child != 0)
            kind_of[i] = ++kinds;
    search->kind_count = kinds;
}

static int list_pairs(struct search *search)
{
    for (uint32_t i = 0; i < search->hot_count; i++)
        for (uint32_t j = i + 1; j < search->hot_count; j++) {
            struct layout_pair judged;
            if (!layout_pair_judge(search->hot[i], search->hot[j], &judged) ||
                layout_verdict_weight(judged.verdict) == 0)
                continue;
            struct search_pair *pair =
                layout_grow(&search->pairs, &search->pair_count, sizeof(*pair));
            if (pair == NULL)
                return MGLRU_ENOMEM;
            pair->first = i;
            pair->second = j;
            pair->cost = layout_pair_cost(&judged);
            pair->known = meet(search, i, j);
        }
    return MGLRU_OK;
}

int search_begin(struct search *search, const struct layout_map *map,
                 const struct layout_conflict_options *options, struct search_state *start)
{
    memset(search, 0, sizeof(*search));
    memset(start, 0, sizeof(*start));
    search->map = map;
    search->options = options;
    search->hot = calloc(SUGGEST_HOT_MAX, sizeof(*search->hot));
    search->places = calloc(SUGGEST_HOT_MAX, sizeof(*search->places));
    search->bits = calloc(SUGGEST_HOT_MAX, sizeof(*search->bits));
    search->kinds = calloc(SHAPE_BLOCKS_MAX, sizeof(*search->kinds));
    search->fights = calloc(SHAPE_BLOCKS_MAX, sizeof(*search->fights));
    int code = shape_build(map->type, &search->shape);
    if (search->hot == NULL || search->places == NULL || search->bits == NULL ||
        search->kinds == NULL || search->fights == NULL || code != MGLRU_OK)
        return MGLRU_ENOMEM;
    for (size_t i = 0; i < map->field_count && search->hot_count < SUGGEST_HOT_MAX; i++) {
        const struct layout_field *field = &map->fields[i];
        if (layout_field_hot(field) && field->bit_size > 0 &&
            shape_find(&search->shape, field, &search->places[search->hot_count]))
            search->hot[search->hot_count++] = field;
    }
    pin_bases(&search->shape);
    number_kinds(search);
    shape_order_reset(&search->shape, &start->order);
    place_all(search, &start->order);
    code = list_pairs(search);
    if (code == MGLRU_OK)
        search_weigh(search, start);
    MGLRU_ASSERT(start->fresh == 0);
    return code;
}

void search_end(struct search *search)
{
    shape_free(&search->shape);
    free(search->hot);
    free(search->places);
    free(search->bits);
    free(search->pairs);
    free(search->kinds);
    free(search->fights);
}
