/* SPDX-License-Identifier: MIT */
/*
 * From orders to proposals: the beam, what is dominated, what is luck, what a reader is told.
 *
 * Two fronts are kept: orders that moves alone reach, and orders that state alignments on top of
 * them. A front holds only states of which none is at least as good as another in residual, size
 * and members moved.
 *
 * Luck: what is inside a struct that is not aligned to a line keeps its distances but not its
 * lines: a new member in front of it shifts it. So an order is sure only if no shift that the
 * struct's alignment allows brings a fight inside it back.
 */
#include "layout/suggest.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mglru/error.h>

#include "layout/search.h"

/* States that the next round of moves starts from. Chosen: twice as many found nothing better in
 * the tests' random structs. */
#define BEAM 6
/* States of one front. */
#define FRONT 24

struct front {
    struct search_state *items; /* FRONT of them */
    size_t count;
};

struct plan {
    struct search search;
    struct search_state start;
    struct front moves;
    struct front stated;
    struct front beam; /* the best of this round, whatever dominates them */
    struct layout_suggestions *out;
    struct search_state *next; /* being tried */
};

/* At least as good in all that a proposal is weighed by. */
static bool dominates(const struct search_state *a, const struct search_state *b)
{
    return a->residual <= b->residual && a->size_bytes <= b->size_bytes &&
           a->moved + a->torn <= b->moved + b->torn && a->luck <= b->luck;
}

static void drop(struct front *front, size_t index)
{
    front->count--;
    memmove(&front->items[index], &front->items[index + 1],
            (front->count - index) * sizeof(*front->items));
}

/* Adds @state unless one that is no worse is there; drops what it makes needless. */
static void front_add(struct front *front, const struct search_state *state)
{
    for (size_t i = 0; i < front->count; i++)
        if (dominates(&front->items[i], state) &&
            (!dominates(state, &front->items[i]) || front->items[i].awkward <= state->awkward))
            return;
    for (size_t i = front->count; i > 0; i--)
        if (dominates(state, &front->items[i - 1]))
            drop(front, i - 1);
    if (front->count == FRONT)
        drop(front, FRONT - 1);
    size_t place = front->count;
    while (place > 0 && search_compare(state, &front->items[place - 1]) < 0)
        place--;
    memmove(&front->items[place + 1], &front->items[place],
            (front->count - place) * sizeof(*front->items));
    front->items[place] = *state;
    front->count++;
}

static bool same_order(const struct search_state *a, const struct search_state *b, uint32_t blocks)
{
    return memcmp(a->order.order, b->order.order, blocks * sizeof(a->order.order[0])) == 0;
}

/* Keeps the best BEAM different orders. */
static void beam_add(struct plan *plan, const struct search_state *state)
{
    struct front *beam = &plan->beam;
    size_t place = beam->count;
    while (place > 0 && search_compare(state, &beam->items[place - 1]) < 0)
        place--;
    if (place == BEAM)
        return;
    for (size_t i = 0; i < beam->count; i++)
        if (beam->items[i].residual == state->residual &&
            beam->items[i].size_bytes == state->size_bytes &&
            same_order(&beam->items[i], state, plan->search.shape.block_count))
            return;
    size_t kept = beam->count < BEAM ? beam->count : BEAM - 1;
    memmove(&beam->items[place + 1], &beam->items[place], (kept - place) * sizeof(*beam->items));
    beam->items[place] = *state;
    beam->count = kept + 1;
}

static void found_move(void *context, const struct search_state *state)
{
    struct plan *plan = context;
    if (state->fresh == 0)
        front_add(&plan->moves, state);
    beam_add(plan, state);
}

static void search_all_moves(struct plan *plan, struct search_state *round)
{
    bool whole = search_moves(&plan->search, &plan->start, found_move, plan);
    for (unsigned depth = 1; whole && depth < SUGGEST_MOVES_MAX; depth++) {
        size_t count = plan->beam.count;
        memcpy(round, plan->beam.items, count * sizeof(*round));
        plan->beam.count = 0;
        for (size_t i = 0; whole && i < count; i++)
            whole = search_moves(&plan->search, &round[i], found_move, plan);
    }
    plan->out->cut_short = !whole;
}

/* What fights remain inside struct @owner at the worst place that its alignment allows. */
static uint64_t worst_inside(const struct plan *plan, uint32_t owner)
{
    const struct layout_conflict_options *options = plan->search.options;
    uint64_t align = plan->search.shape.structs[owner].align_bytes;
    if (owner == 0 && options->alloc_align != UINT64_MAX)
        align = options->alloc_align;
    uint64_t step = align > LAYOUT_BASE_STEP ? align : LAYOUT_BASE_STEP;
    uint64_t worst = 0;
    for (uint64_t base = 0; base < options->line_bytes; base += step) {
        uint64_t residual = search_weigh_inside(&plan->search, owner, base);
        worst = residual > worst ? residual : worst;
    }
    return worst;
}

/* The struct whose place the answer depends on, from the outer one in; UINT32_MAX: none. */
static uint32_t find_luck(struct plan *plan, struct search_state *state)
{
    uint32_t lucky = UINT32_MAX;
    search_weigh(&plan->search, state);
    for (unsigned i = 0; i < state->move_count + state->stated_count; i++) {
        uint32_t owner = 0;
        if (i < state->move_count)
            owner = state->moves[i].owner;
        else
            for (uint32_t j = 0; j < plan->search.shape.struct_count; j++) {
                const struct shape_struct *s = &plan->search.shape.structs[j];
                uint32_t block = state->stated_blocks[i - state->move_count];
                if (block >= s->first_block && block < s->first_block + s->block_count)
                    owner = j;
            }
        uint64_t base = plan->search.shape.structs[owner].bit_offset / 8;
        if (worst_inside(plan, owner) >
            search_weigh_inside(&plan->search, owner,
                                (base + plan->search.options->base_bytes) %
                                    plan->search.options->line_bytes))
            lucky = owner;
    }
    state->luck = lucky != UINT32_MAX;
    return lucky;
}

/* Padding that parts data of one lock makes it slower (CUBRID #7844): the block before one that is
 * pushed to the next line must not have the same lock. */
static bool parts_lock(const struct plan *plan, const struct search_state *state, uint32_t owner,
                       uint32_t place)
{
    const struct shape_struct *s = &plan->search.shape.structs[owner];
    const uint16_t *order = &state->order.order[s->first_block];
    return place > 0 && plan->search.kinds[order[place]] != 0 &&
           plan->search.kinds[order[place]] == plan->search.kinds[order[place - 1]];
}

/* States an alignment for each member in turn, on top of @from. */
static void try_alignments(struct plan *plan, const struct search_state *from)
{
    struct search *search = &plan->search;
    uint16_t line = (uint16_t)search->options->line_bytes;
    if (from->stated_count == SUGGEST_ALIGNS_MAX)
        return;
    struct search_state *next = plan->next;
    bool fights = search_mark(search, from);
    for (uint32_t i = 0; i < search->shape.struct_count; i++) {
        const struct shape_struct *owner = &search->shape.structs[i];
        for (uint32_t j = 1; owner->movable && j < owner->block_count; j++) {
            uint32_t block = from->order.order[owner->first_block + j];
            /* Of what is not hot, or does not fight, an alignment would only shift the rest. */
            if (search->kinds[block] == 0 || (fights && !search->fights[block]) ||
                search->shape.blocks[block].child != 0 || search->shape.blocks[block].bits ||
                search->shape.blocks[block].pinned || from->order.stated[block] != 0 ||
                parts_lock(plan, from, i, j) || search->work > SUGGEST_WORK)
                continue;
            *next = *from;
            next->order.stated[block] = line;
            next->stated_blocks[next->stated_count++] = (uint16_t)block;
            search_weigh(search, next);
            if (next->fresh > 0 || next->residual >= plan->start.residual)
                continue;
            find_luck(plan, next);
            /* Padding must buy something: fewer fights, or certainty. */
            if (next->residual < from->residual || (from->luck && !next->luck))
                front_add(&plan->stated, next);
        }
    }
}

/* The alignment that leaves least of the fights of @state; false: none leaves less. */
static bool align_best(struct plan *plan, struct search_state *state, struct search_state *best)
{
    struct search *search = &plan->search;
    bool better = false;
    struct search_state *next = plan->next;
    if (state->stated_count == SUGGEST_ALIGNS_MAX)
        return false;
    *best = *state;
    for (uint32_t block = 0; block < search->shape.block_count; block++) {
        const struct shape_block *b = &search->shape.blocks[block];
        if (search->kinds[block] == 0 || b->child != 0 || b->bits || b->pinned ||
            state->order.stated[block] != 0)
            continue;
        *next = *state;
        next->order.stated[block] = (uint16_t)search->options->line_bytes;
        next->stated_blocks[next->stated_count++] = (uint16_t)block;
        search_weigh(search, next);
        if (next->residual + next->fresh < best->residual + best->fresh) {
            *best = *next;
            better = true;
        }
    }
    return better;
}

/* All like members together, and as many alignments as it takes to have no new fight. */
static void search_groups(struct plan *plan, struct search_state *round)
{
    struct search_state *state = &round[0];
    *state = plan->start;
    search_regroup(&plan->search, state);
    search_weigh(&plan->search, state);
    while (state->fresh > 0 && align_best(plan, state, &round[1]))
        *state = round[1];
    if (state->fresh > 0 || state->residual >= plan->start.residual || state->move_count == 0)
        return;
    find_luck(plan, state);
    front_add(state->stated_count > 0 ? &plan->stated : &plan->moves, state);
}

static void search_alignments(struct plan *plan, struct search_state *round)
{
    size_t count = plan->moves.count < BEAM ? plan->moves.count : BEAM;
    for (size_t i = 0; i < plan->moves.count; i++)
        find_luck(plan, &plan->moves.items[i]);
    memcpy(round, plan->moves.items, count * sizeof(*round));
    try_alignments(plan, &plan->start);
    for (size_t i = 0; i < count; i++)
        try_alignments(plan, &round[i]);
    count = plan->stated.count < BEAM ? plan->stated.count : BEAM;
    memcpy(round, plan->stated.items, count * sizeof(*round));
    for (size_t i = 0; i < count; i++)
        try_alignments(plan, &round[i]);
}

void layout_member_path(const struct layout_type *type, const char *type_path, uint32_t member,
                        char *text, size_t bytes)
{
    const char *name = type->members[member].name;
    snprintf(text, bytes, "%s%s%s", type_path, type_path[0] != '\0' ? "." : "",
             name != NULL ? name : "(unnamed)");
}

/* Tells block @block of struct @owner as members of its type. */
static uint32_t member_of(const struct plan *plan, uint32_t block)
{
    return plan->search.shape.blocks[block].member;
}

static bool tell_move(const struct plan *plan, const struct search_move *from,
                      struct layout_move *to)
{
    const struct shape_struct *owner = &plan->search.shape.structs[from->owner];
    to->type = owner->type;
    to->type_path = strdup(owner->path);
    to->before = from->before == UINT16_MAX ? UINT32_MAX : member_of(plan, from->before);
    for (unsigned i = 0; i < from->count; i++) {
        const struct shape_block *block = &plan->search.shape.blocks[from->blocks[i]];
        for (uint32_t j = 0; j < block->member_count && to->member_count < SUGGEST_RUN_MAX; j++)
            to->members[to->member_count++] = block->member + j;
    }
    return to->type_path != NULL;
}

static bool tell_stated(const struct plan *plan, uint32_t block, struct layout_stated *to)
{
    const struct shape *shape = &plan->search.shape;
    for (uint32_t i = 0; i < shape->struct_count; i++) {
        const struct shape_struct *owner = &shape->structs[i];
        if (block < owner->first_block || block >= owner->first_block + owner->block_count)
            continue;
        to->type = owner->type;
        to->type_path = strdup(owner->path);
        to->member = member_of(plan, block);
        to->align_bytes = (uint32_t)plan->search.options->line_bytes;
    }
    return to->type_path != NULL;
}

/* What keeps a lucky answer: for an inner struct its place can be asserted. */
static char *make_pin(const struct plan *plan, uint32_t owner)
{
    char text[1024];
    const struct shape_struct *s = &plan->search.shape.structs[owner];
    const struct layout_type *outer = plan->search.map->type;
    uint64_t line = plan->search.options->line_bytes;
    uint64_t at = s->bit_offset / 8;
    if (owner == 0)
        snprintf(text, sizeof(text),
                 "allocate %s on a line, as by aligned_alloc(%" PRIu64 ", ...), and say 'alloc %s: "
                 "%" PRIu64 "' in the class file",
                 outer->display, line, outer->name != NULL ? outer->name : plan->search.map->name,
                 line);
    else
        snprintf(text, sizeof(text),
                 "_Static_assert(offsetof(%s, %s) %% %" PRIu64 " == %" PRIu64
                 ", \"%s: lines of its groups\");",
                 outer->display, s->path, line, at % line, s->path);
    return strdup(text);
}

static bool tell(struct plan *plan, struct search_state *state)
{
    struct layout_suggestions *out = plan->out;
    struct layout_suggestion *to = &out->items[out->count++];
    *to = (struct layout_suggestion){0};
    uint32_t lucky = find_luck(plan, state);
    to->residual = state->residual;
    to->size_bytes = state->size_bytes;
    to->growth_bytes = (int64_t)state->size_bytes - (int64_t)out->size_bytes;
    to->moved = state->moved;
    to->luck = state->luck;
    bool sound = true;
    for (unsigned i = 0; sound && i < state->move_count; i++)
        sound = tell_move(plan, &state->moves[i], &to->moves[to->move_count++]);
    for (unsigned i = 0; sound && i < state->stated_count; i++)
        sound = tell_stated(plan, state->stated_blocks[i], &to->aligned[to->aligned_count++]);
    if (sound && lucky != UINT32_MAX)
        sound = (to->pin = make_pin(plan, lucky)) != NULL;
    return sound;
}

static int compare_places(const void *a, const void *b)
{
    const struct layout_field *first = a;
    const struct layout_field *second = b;
    if (first->bit_offset != second->bit_offset)
        return first->bit_offset < second->bit_offset ? -1 : 1;
    return (first->bit_size > second->bit_size) - (first->bit_size < second->bit_size);
}

/* Findings about data of one lock that padding parts. */
static int count_splits(const struct plan *plan, const struct layout_map *map, size_t *count)
{
    struct layout_findings findings;
    struct layout_conflict_options options = *plan->search.options;
    options.any_base = false;
    *count = 0;
    int code = layout_conflicts_find(map, &options, &findings);
    for (size_t i = 0; code == MGLRU_OK && i < findings.count; i++)
        *count += findings.items[i].verdict == LAYOUT_SPLIT;
    layout_findings_free(&findings);
    return code;
}

/* True when the order parts data of one lock that was not parted (promise C). Members that carry an
 * alignment of their own can do that wherever they go. */
static bool splits(struct plan *plan, struct search_state *state)
{
    const struct layout_map *map = plan->search.map;
    struct layout_map moved = *map;
    size_t before;
    size_t after;
    moved.fields = calloc(map->field_count + 1, sizeof(*moved.fields));
    moved.field_count = 0;
    if (moved.fields == NULL)
        return true;
    search_weigh(&plan->search, state);
    for (size_t i = 0; i < map->field_count; i++) {
        struct shape_field place;
        if (!shape_find(&plan->search.shape, &map->fields[i], &place))
            continue;
        moved.fields[moved.field_count] = map->fields[i];
        moved.fields[moved.field_count++].bit_offset =
            shape_field_bits(&plan->search.shape, &place);
    }
    qsort(moved.fields, moved.field_count, sizeof(*moved.fields), compare_places);
    bool worse = count_splits(plan, map, &before) != MGLRU_OK ||
                 count_splits(plan, &moved, &after) != MGLRU_OK || after > before;
    free(moved.fields);
    return worse;
}

static void drop_splits(struct plan *plan, struct front *front)
{
    for (size_t i = front->count; i > 0; i--)
        if (splits(plan, &front->items[i - 1]))
            drop(front, i - 1);
}

/* Moves first, then padding that buys what no move does. */
static bool tell_all(struct plan *plan)
{
    bool sound = true;
    size_t room = SUGGEST_MAX - 2;
    /* From the fewest fights to the fewest moves, evenly. */
    size_t shown = plan->moves.count < room ? plan->moves.count : room;
    for (size_t i = 0; sound && i < shown; i++)
        sound = tell(plan,
                     &plan->moves.items[shown > 1 ? i * (plan->moves.count - 1) / (shown - 1) : 0]);
    for (size_t i = 0; sound && i < plan->stated.count && plan->out->count < SUGGEST_MAX; i++) {
        struct search_state *state = &plan->stated.items[i];
        bool needless = false;
        for (size_t j = 0; j < plan->moves.count && !needless; j++)
            needless = dominates(&plan->moves.items[j], state);
        for (size_t j = 0; j < i && !needless; j++)
            needless = plan->stated.items[j].residual <= state->residual &&
                       plan->stated.items[j].size_bytes <= state->size_bytes &&
                       (state->luck || !plan->stated.items[j].luck);
        if (!needless)
            sound = tell(plan, state);
    }
    return sound;
}

/* What the fields cost each other where they are: for types that cannot be laid out anew. */
static uint64_t weigh_as_is(const struct layout_map *map,
                            const struct layout_conflict_options *options)
{
    uint64_t cost = 0;
    for (size_t i = 0; i < map->field_count; i++)
        for (size_t j = i + 1; layout_field_hot(&map->fields[i]) && j < map->field_count; j++) {
            struct layout_pair pair;
            uint64_t lines[2][2];
            if (!layout_pair_judge(&map->fields[i], &map->fields[j], &pair))
                continue;
            layout_field_lines(&map->fields[i], options->line_bytes, options->base_bytes, lines[0]);
            layout_field_lines(&map->fields[j], options->line_bytes, options->base_bytes, lines[1]);
            uint64_t first = lines[0][0] > lines[1][0] ? lines[0][0] : lines[1][0];
            uint64_t last = lines[0][1] < lines[1][1] ? lines[0][1] : lines[1][1];
            if (last >= first)
                cost += (last - first + 1) * layout_pair_cost(&pair);
        }
    return cost;
}

int layout_suggest(const struct layout_map *map, const struct layout_conflict_options *options,
                   struct layout_suggestions *suggestions)
{
    *suggestions = (struct layout_suggestions){0};
    struct plan *plan = calloc(1, sizeof(*plan));
    struct search_state *states = calloc(4 * (FRONT + 1) + 1, sizeof(*states));
    int code = MGLRU_ENOMEM;
    if (plan != NULL && states != NULL) {
        plan->out = suggestions;
        plan->moves.items = states;
        plan->stated.items = states + FRONT + 1;
        plan->beam.items = states + 2 * (FRONT + 1);
        plan->next = states + 4 * (FRONT + 1);
        code = search_begin(&plan->search, map, options, &plan->start);
    }
    if (code == MGLRU_OK) {
        suggestions->fixed = !plan->search.shape.structs[0].movable;
        suggestions->residual =
            suggestions->fixed ? weigh_as_is(map, options) : plan->start.residual;
        suggestions->size_bytes = map->type->size_bytes;
        struct search_state *round = states + 3 * (FRONT + 1);
        find_luck(plan, &plan->start);
        if (plan->start.residual > 0 && !suggestions->fixed) {
            search_all_moves(plan, round);
            search_groups(plan, round);
            drop_splits(plan, &plan->moves);
            search_alignments(plan, round);
            drop_splits(plan, &plan->stated);
        }
        code = tell_all(plan) ? MGLRU_OK : MGLRU_ENOMEM;
    }
    if (plan != NULL)
        search_end(&plan->search);
    if (code != MGLRU_OK)
        layout_suggestions_free(suggestions);
    free(states);
    free(plan);
    return code;
}

void layout_suggestions_free(struct layout_suggestions *suggestions)
{
    for (size_t i = 0; i < suggestions->count; i++) {
        struct layout_suggestion *item = &suggestions->items[i];
        for (size_t j = 0; j < item->move_count; j++)
            free(item->moves[j].type_path);
        for (size_t j = 0; j < item->aligned_count; j++)
            free(item->aligned[j].type_path);
        free(item->pin);
    }
    *suggestions = (struct layout_suggestions){0};
}
