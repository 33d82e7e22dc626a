/* SPDX-License-Identifier: MIT */
/*
 * Objects of the id table: a file is its object id; the n-th anonymous region is REGION_BIT + n.
 *
 * Invariants
 *   1. end of an object: the highest page accessed + 1, so that freeing a huge range costs no more
 *      than the pages that can be there.
 *   2. live[id] is set for anonymous pages that were touched and not freed since.
 */
#include "replay/expand.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <mglru/error.h>

#include "policy/keys.h"
#include "replay/slots.h"

#define REGION_BIT 0x80000000u

struct region {
    uint32_t memcg;
    uint64_t end;
};

struct replay_expander {
    struct keys keys;
    struct replay_slots slots; /* (memcg, object) to number of the region + 1 */
    struct region *regions;
    uint32_t region_count;
    uint32_t region_capacity;
    uint64_t *ends; /* of files, by object */
    uint32_t end_count;
    uint8_t *live; /* by id */
    uint32_t live_count;
};

struct replay_expander *replay_expander_create(void)
{
    struct replay_expander *expander = calloc(1, sizeof(*expander));
    if (expander != NULL && keys_init(&expander->keys) != MGLRU_OK) {
        free(expander);
        return NULL;
    }
    return expander;
}

void replay_expander_destroy(struct replay_expander *expander)
{
    if (expander == NULL)
        return;
    keys_free(&expander->keys);
    replay_slots_free(&expander->slots);
    free(expander->regions);
    free(expander->ends);
    free(expander->live);
    free(expander);
}

uint64_t replay_expander_distinct(const struct replay_expander *expander)
{
    return expander->keys.count;
}

static int reserve_ids(struct replay_expansion *out, uint64_t more)
{
    if (out->id_count + more <= out->id_capacity)
        return MGLRU_OK;
    size_t capacity = out->id_capacity * 2 + (size_t)more;
    uint32_t *grown = realloc(out->ids, capacity * sizeof(*grown));
    if (grown == NULL)
        return MGLRU_ENOMEM;
    out->ids = grown;
    out->id_capacity = capacity;
    return MGLRU_OK;
}

static int start_segment(struct replay_expansion *out, enum replay_segment_kind kind,
                         uint32_t memcg)
{
    if (out->segment_count == out->segment_capacity) {
        size_t capacity = out->segment_capacity == 0 ? 64 : out->segment_capacity * 2;
        struct replay_segment *grown = realloc(out->segments, capacity * sizeof(*grown));
        if (grown == NULL)
            return MGLRU_ENOMEM;
        out->segments = grown;
        out->segment_capacity = capacity;
    }
    out->segments[out->segment_count++] = (struct replay_segment){.kind = kind, .memcg = memcg};
    return MGLRU_OK;
}

/* The segment that ids of @kind go to; NULL: out of memory. */
static struct replay_segment *segment_for(struct replay_expansion *out,
                                          enum replay_segment_kind kind, uint32_t memcg)
{
    struct replay_segment *last =
        out->segment_count > 0 ? &out->segments[out->segment_count - 1] : NULL;
    if (last != NULL && last->kind == kind && last->memcg == memcg)
        return last;
    if (start_segment(out, kind, memcg) != MGLRU_OK)
        return NULL;
    return &out->segments[out->segment_count - 1];
}

static int access_file(struct replay_expander *expander, const struct trace_record *record,
                       struct replay_expansion *out)
{
    if (record->object >= expander->end_count) {
        uint32_t count = record->object < 32 ? 64 : record->object * 2;
        uint64_t *grown = realloc(expander->ends, count * sizeof(*grown));
        if (grown == NULL)
            return MGLRU_ENOMEM;
        memset(grown + expander->end_count, 0, (count - expander->end_count) * sizeof(*grown));
        expander->ends = grown;
        expander->end_count = count;
    }
    uint64_t end = record->page + record->count;
    if (end > expander->ends[record->object])
        expander->ends[record->object] = end;
    struct replay_segment *segment = segment_for(out, SEGMENT_ACCESS, record->memcg);
    if (segment == NULL)
        return MGLRU_ENOMEM;
    for (uint32_t i = 0; i < record->count; i++) {
        int code = keys_intern(&expander->keys, record->object, record->page + i,
                               &out->ids[out->id_count]);
        if (code != MGLRU_OK)
            return code;
        out->id_count++;
    }
    segment->count += record->count;
    return MGLRU_OK;
}

/* Number + 1 of the region of a record; 0: none. */
static uint32_t find_region(const struct replay_expander *expander,
                            const struct trace_record *record)
{
    return (uint32_t)(uintptr_t)replay_slots_find(&expander->slots, record->memcg, record->object);
}

static int make_region(struct replay_expander *expander, const struct trace_record *record,
                       uint32_t *number)
{
    *number = find_region(expander, record);
    if (*number != 0)
        return MGLRU_OK;
    if (expander->region_count == expander->region_capacity) {
        uint32_t capacity = expander->region_capacity == 0 ? 16 : expander->region_capacity * 2;
        struct region *grown = realloc(expander->regions, capacity * sizeof(*grown));
        if (grown == NULL)
            return MGLRU_ENOMEM;
        expander->regions = grown;
        expander->region_capacity = capacity;
    }
    expander->regions[expander->region_count++] = (struct region){.memcg = record->memcg};
    *number = expander->region_count;
    return replay_slots_add(&expander->slots, record->memcg, record->object,
                            (void *)(uintptr_t)*number);
}

static int reserve_live(struct replay_expander *expander, uint32_t id)
{
    if (id < expander->live_count)
        return MGLRU_OK;
    uint32_t count = id < 1024 ? 2048 : id < REGION_BIT ? id * 2 : UINT32_MAX;
    uint8_t *grown = realloc(expander->live, count);
    if (grown == NULL)
        return MGLRU_ENOMEM;
    memset(grown + expander->live_count, 0, count - expander->live_count);
    expander->live = grown;
    expander->live_count = count;
    return MGLRU_OK;
}

static int touch_region(struct replay_expander *expander, const struct trace_record *record,
                        struct replay_expansion *out)
{
    uint32_t number;
    int code = make_region(expander, record, &number);
    if (code != MGLRU_OK)
        return code;
    struct region *region = &expander->regions[number - 1];
    if (record->page + record->count > region->end)
        region->end = record->page + record->count;
    for (uint32_t i = 0; i < record->count; i++) {
        uint32_t id;
        code = keys_intern(&expander->keys, REGION_BIT | (number - 1), record->page + i, &id);
        if (code == MGLRU_OK)
            code = reserve_live(expander, id);
        if (code != MGLRU_OK)
            return code;
        struct replay_segment *segment = segment_for(
            out, expander->live[id] != 0 ? SEGMENT_ACCESS : SEGMENT_FRESH, record->memcg);
        if (segment == NULL)
            return MGLRU_ENOMEM;
        expander->live[id] = 1;
        segment->count++;
        out->ids[out->id_count++] = id;
    }
    return MGLRU_OK;
}

/* Frees pages @first .. @end - 1 of an object, those that were ever accessed. */
static int forget_range(struct replay_expander *expander, uint32_t object, uint64_t first,
                        uint64_t end, struct replay_expansion *out)
{
    if (first >= end)
        return MGLRU_OK;
    struct replay_segment *segment = segment_for(out, SEGMENT_FORGET, 0);
    if (segment == NULL || reserve_ids(out, end - first) != MGLRU_OK)
        return MGLRU_ENOMEM;
    for (uint64_t page = first; page < end; page++) {
        uint32_t id = keys_find(&expander->keys, object, page);
        if (id == KEYS_NONE)
            continue;
        if (id < expander->live_count)
            expander->live[id] = 0;
        out->ids[out->id_count++] = id;
        segment->count++;
    }
    return MGLRU_OK;
}

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static int forget_record(struct replay_expander *expander, const struct trace_record *record,
                         struct replay_expansion *out)
{
    const uint64_t end = record->page + record->count;
    uint32_t number = find_region(expander, record);
    int code = MGLRU_OK;
    if (number != 0)
        code = forget_range(expander, REGION_BIT | (number - 1), record->page,
                            least(end, expander->regions[number - 1].end), out);
    if (code == MGLRU_OK && record->object < expander->end_count)
        code = forget_range(expander, record->object, record->page,
                            least(end, expander->ends[record->object]), out);
    return code;
}

/* The regions of a removed memcg end with it. */
static int forget_memcg(struct replay_expander *expander, uint32_t memcg,
                        struct replay_expansion *out)
{
    int code = MGLRU_OK;
    for (uint32_t i = 0; i < expander->region_count && code == MGLRU_OK; i++)
        if (expander->regions[i].memcg == memcg)
            code = forget_range(expander, REGION_BIT | i, 0, expander->regions[i].end, out);
    return code;
}

int replay_expand(struct replay_expander *expander, const struct replay_view *view,
                  struct replay_expansion *out)
{
    out->id_count = 0;
    out->segment_count = 0;
    uint64_t left = view->pages;
    int code = reserve_ids(out, left);
    for (size_t i = 0; i < view->count && code == MGLRU_OK; i++) {
        const struct trace_record *record = &view->records[i];
        if (record->op == TRACE_FREE || record->op == TRACE_RMDIR) {
            code = record->op == TRACE_FREE ? forget_record(expander, record, out)
                                            : forget_memcg(expander, record->memcg, out);
            if (code == MGLRU_OK)
                code = reserve_ids(out, left);
        } else if (record->op == TRACE_TOUCH) {
            code = touch_region(expander, record, out);
            left -= record->count;
        } else if (trace_op_is_access(record->op)) {
            code = access_file(expander, record, out);
            left -= record->count;
        }
    }
    return code;
}

void replay_expansion_free(struct replay_expansion *expansion)
{
    free(expansion->ids);
    free(expansion->segments);
    *expansion = (struct replay_expansion){0};
}

int replay_expansion_foresee(const struct replay_expansion *expansion, struct future *future)
{
    const uint32_t *id = expansion->ids;
    for (size_t i = 0; i < expansion->segment_count; i++) {
        const struct replay_segment *segment = &expansion->segments[i];
        for (size_t j = 0; j < segment->count; j++, id++) {
            if (segment->kind == SEGMENT_FORGET) {
                future_forget(future, *id);
                continue;
            }
            int code = future_access(future, *id);
            if (code != MGLRU_OK)
                return code;
        }
    }
    return MGLRU_OK;
}
