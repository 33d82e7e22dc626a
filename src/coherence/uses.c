/* SPDX-License-Identifier: MIT */
/*
 * Counts uses of fields; see uses.h.
 *
 * A cell is what may have a thread of its own: a field of an object, or an element of an array.
 */
#include "coherence/uses.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mglru/error.h>

#define NOBODY UINT16_MAX
#define SEVERAL (UINT16_MAX - 1)
/* Longer arrays are one cell. */
#define ELEMENTS_MAX 4096u
/* Writes among accesses of what counts as read-mostly; chosen. */
#define READ_PERCENT 1u
/* Accesses of a cold field among those of the busiest; chosen. */
#define COLD_PER_MILLE 1u
#define HEAT_MAX 10u
/* Marks a lock by its offset in the object that it guards. */
#define INSIDE ((uint64_t)1 << 63)

struct cell {
    uint16_t toucher; /* thread, NOBODY or SEVERAL */
    uint16_t writer;
};

struct object {
    size_t first_cell;
    size_t type; /* index into types */
    uint16_t maker;
    bool shared;
};

struct field_state {
    struct coherence_use use;
    uint64_t locks[COHERENCE_HELD_MAX]; /* held at every write; see INSIDE */
    uint32_t lock_count;
    size_t first_cell; /* from that of the object */
};

struct type {
    const struct coherence_subject *sample;
    size_t first_field; /* index into fields */
    size_t cells;
};

struct counter {
    const struct coherence_trace *trace;
    const struct coherence_subjects *subjects;
    struct object *objects; /* one a subject */
    struct type *types;
    size_t type_count;
    struct field_state *fields;
    size_t field_count;
    struct cell *cells;
    size_t cell_count;
};

static size_t elements_of(const struct coherence_field *field)
{
    size_t count = field->stride == 0 ? 1 : (size_t)(field->bytes / field->stride);
    return count == 0 || count > ELEMENTS_MAX ? 1 : count;
}

/* Types are told apart by their name and fields. */
static bool same_type(const struct coherence_subject *a, const struct coherence_subject *b)
{
    return a->fields == b->fields && strcmp(a->name, b->name) == 0;
}

static size_t find_type(const struct counter *counter, const struct coherence_subject *subject)
{
    size_t i = 0;
    while (i < counter->type_count && !same_type(counter->types[i].sample, subject))
        i++;
    return i;
}

static void add_type(struct counter *counter, const struct coherence_subject *subject)
{
    struct type *type = &counter->types[counter->type_count++];
    *type = (struct type){subject, counter->field_count, 0};
    for (size_t f = 0; f < subject->field_count; f++) {
        counter->fields[counter->field_count++] = (struct field_state){
            .use = {.subject = subject->name, .field = &subject->fields[f]},
            .first_cell = type->cells,
        };
        type->cells += elements_of(&subject->fields[f]);
    }
}

static int lay_out(struct counter *counter)
{
    size_t fields = 0, previous = 0;
    const struct coherence_subjects *subjects = counter->subjects;
    counter->objects = calloc(subjects->count + 1, sizeof(*counter->objects));
    counter->types = calloc(subjects->count + 1, sizeof(*counter->types));
    for (size_t i = 0; i < subjects->count; i++)
        if (i == 0 || !same_type(&subjects->items[i], &subjects->items[i - 1]))
            fields += subjects->items[i].field_count;
    counter->fields = calloc(fields + 1, sizeof(*counter->fields));
    if (counter->objects == NULL || counter->types == NULL || counter->fields == NULL)
        return MGLRU_ENOMEM;
    for (size_t i = 0; i < subjects->count; i++) {
        const struct coherence_subject *subject = &subjects->items[i];
        bool same = i > 0 && same_type(subject, &subjects->items[i - 1]);
        size_t type = same ? previous : find_type(counter, subject);
        if (type == counter->type_count)
            add_type(counter, subject);
        counter->objects[i] = (struct object){counter->cell_count, type, NOBODY, false};
        counter->cell_count += counter->types[type].cells;
        previous = type;
    }
    counter->cells = malloc(counter->cell_count * sizeof(*counter->cells) + 1);
    if (counter->cells == NULL)
        return MGLRU_ENOMEM;
    memset(counter->cells, 0xff, counter->cell_count * sizeof(*counter->cells));
    return MGLRU_OK;
}

static void meet(uint16_t *who, uint16_t thread)
{
    *who = *who == NOBODY || *who == thread ? thread : SEVERAL;
}

/* Keeps the locks that are held at this write too. */
static void meet_locks(struct field_state *state, const struct coherence_subject *subject,
                       const struct coherence_lockset *held)
{
    uint64_t keys[COHERENCE_HELD_MAX];
    for (uint32_t i = 0; i < held->count; i++) {
        uint64_t offset = held->locks[i] - subject->address;
        keys[i] = offset < subject->bytes ? offset | INSIDE : held->locks[i];
    }
    if (state->use.writes == 1) {
        memcpy(state->locks, keys, held->count * sizeof(*keys));
        state->lock_count = held->count;
        return;
    }
    uint32_t kept = 0;
    for (uint32_t i = 0; i < state->lock_count; i++)
        for (uint32_t j = 0; j < held->count; j++)
            if (state->locks[i] == keys[j]) {
                state->locks[kept++] = keys[j];
                break;
            }
    state->lock_count = kept;
}

static void count_use(struct counter *counter, size_t number, const struct coherence_op *op,
                      uint64_t offset)
{
    const struct coherence_subject *subject = &counter->subjects->items[number];
    const struct object *object = &counter->objects[number];
    const struct coherence_field *field = coherence_field_at(subject, offset);
    if (field == NULL)
        return;
    size_t index = (size_t)(field - subject->fields);
    struct field_state *state = &counter->fields[counter->types[object->type].first_field + index];
    size_t element =
        elements_of(field) > 1 ? (size_t)((offset - field->offset) / field->stride) : 0;
    if (element >= elements_of(field))
        element = elements_of(field) - 1;
    struct cell *cell = &counter->cells[object->first_cell + state->first_cell + element];
    meet(&cell->toucher, op->thread);
    if (op->kind == COHERENCE_READ) {
        state->use.reads++;
        return;
    }
    meet(&cell->writer, op->thread);
    state->use.writes++;
    state->use.atomics += op->kind == COHERENCE_ATOMIC;
    meet_locks(state, subject, &counter->trace->locksets[op->lockset]);
}

static void count_op(struct counter *counter, const struct coherence_op *op)
{
    uint64_t start = counter->trace->line_addresses[op->line];
    const struct coherence_subject *subject =
        coherence_subject_at(counter->subjects, start + op->first);
    if (subject == NULL || subject->field_count == 0)
        return;
    size_t number = (size_t)(subject - counter->subjects->items);
    struct object *object = &counter->objects[number];
    if (!object->shared) {
        if (object->maker == NOBODY)
            object->maker = op->thread;
        object->shared = object->maker != op->thread;
    }
    if (object->shared)
        count_use(counter, number, op, start + op->first - subject->address);
}

/* How cells of one field were used, over all objects. */
struct sharing {
    bool several_writers; /* of one cell */
    bool several;         /* touched one cell */
    bool differ;          /* cells of one object have different threads */
};

static struct sharing look_at_cells(const struct counter *counter, const struct type *type,
                                    const struct field_state *state)
{
    struct sharing sharing = {0};
    size_t elements = elements_of(state->use.field);
    for (size_t i = 0; i < counter->subjects->count; i++) {
        if (&counter->types[counter->objects[i].type] != type)
            continue;
        const struct cell *cells =
            &counter->cells[counter->objects[i].first_cell + state->first_cell];
        uint16_t someone = NOBODY;
        for (size_t e = 0; e < elements; e++) {
            sharing.several_writers |= cells[e].writer == SEVERAL;
            sharing.several |= cells[e].toucher == SEVERAL;
            if (cells[e].toucher == NOBODY)
                continue;
            sharing.differ |= someone != NOBODY && someone != cells[e].toucher;
            someone = cells[e].toucher;
        }
    }
    return sharing;
}

static void name_lock(const struct counter *counter, const struct type *type,
                      struct field_state *state)
{
    char *text = state->use.lock;
    uint64_t key = state->locks[0];
    if (key & INSIDE) {
        coherence_field_text(type->sample, key & ~INSIDE, text, COHERENCE_NAME_BYTES);
    } else {
        const struct coherence_subject *holder = coherence_subject_at(counter->subjects, key);
        if (holder != NULL && holder->address == key)
            snprintf(text, COHERENCE_NAME_BYTES, "%s", holder->name);
        else
            snprintf(text, COHERENCE_NAME_BYTES, "lock_at_%" PRIx64, key);
    }
    char *end = text;
    for (const char *c = text; *c != '\0'; c++)
        if (isalnum((unsigned char)*c) || *c == '_' || *c == '.')
            *end++ = *c;
    *end = '\0';
}

static void judge(const struct counter *counter, const struct type *type, struct field_state *state,
                  uint64_t most)
{
    struct coherence_use *use = &state->use;
    uint64_t all = use->reads + use->writes;
    struct sharing sharing = look_at_cells(counter, type, state);
    use->heat = most == 0 ? 1 : 1 + (unsigned)(all * (HEAT_MAX - 1) / most);
    use->each = use->field->stride != 0 && use->writes > 0 && !sharing.several && sharing.differ;
    if (all == 0 || all * 1000 < most * COLD_PER_MILLE)
        use->used = COHERENCE_USED_COLD;
    else if (use->writes * 100 <= all * READ_PERCENT)
        use->used = COHERENCE_USED_READ;
    else if (use->each)
        use->used = COHERENCE_USED_OWNER;
    else if (state->lock_count > 0)
        use->used = COHERENCE_USED_LOCK;
    else if (!sharing.several_writers && !sharing.differ)
        use->used = COHERENCE_USED_OWNER;
    else
        use->used = COHERENCE_USED_ATOMIC;
    if (use->used == COHERENCE_USED_LOCK)
        name_lock(counter, type, state);
}

static int judge_all(struct counter *counter, struct coherence_uses *uses)
{
    uses->items = calloc(counter->field_count + 1, sizeof(*uses->items));
    if (uses->items == NULL)
        return MGLRU_ENOMEM;
    for (size_t t = 0; t < counter->type_count; t++) {
        const struct type *type = &counter->types[t];
        struct field_state *fields = &counter->fields[type->first_field];
        uint64_t most = 0;
        for (size_t f = 0; f < type->sample->field_count; f++)
            if (fields[f].use.reads + fields[f].use.writes > most)
                most = fields[f].use.reads + fields[f].use.writes;
        for (size_t f = 0; f < type->sample->field_count; f++) {
            judge(counter, type, &fields[f], most);
            uses->items[uses->count++] = fields[f].use;
        }
    }
    return MGLRU_OK;
}

int coherence_uses_make(const struct coherence_trace *trace,
                        const struct coherence_subjects *subjects, struct coherence_uses *uses)
{
    struct counter counter = {.trace = trace, .subjects = subjects};
    *uses = (struct coherence_uses){0};
    int code = lay_out(&counter);
    for (size_t i = 0; code == MGLRU_OK && i < trace->op_count; i++)
        count_op(&counter, &trace->ops[i]);
    if (code == MGLRU_OK)
        code = judge_all(&counter, uses);
    free(counter.objects);
    free(counter.types);
    free(counter.fields);
    free(counter.cells);
    return code;
}

void coherence_uses_free(struct coherence_uses *uses)
{
    free(uses->items);
    *uses = (struct coherence_uses){0};
}
