/* SPDX-License-Identifier: MIT */
/* What two fields on one line mean for each other: the table of conflicts.h as data. */
#include "layout/conflicts.h"

#include <string.h>

#include "base/check.h"

static const struct {
    const char *name;
    const char *pair;
    enum layout_severity severity;
    unsigned weight;
} verdicts[LAYOUT_VERDICTS] = {
    [LAYOUT_READ_ATOMIC] = {"false sharing", "read x atomic", LAYOUT_ERROR, 100},
    [LAYOUT_ATOMIC_LOCK] = {"false sharing", "atomic x lock", LAYOUT_WARNING, 20},
    [LAYOUT_LOCK_LOCK] = {"false sharing", "lock x other lock", LAYOUT_WARNING, 20},
    [LAYOUT_OWNER_WRITTEN] = {"false sharing", "owner x written", LAYOUT_WARNING, 20},
    [LAYOUT_READ_LOCK] = {"reader beside lock", "read x lock", LAYOUT_NOTE, 3},
    [LAYOUT_READ_OWNER] = {"reader beside owner", "read x owner", LAYOUT_NOTE, 3},
    [LAYOUT_LOCK_WORD] = {"lock beside its data", "lock word x lock", LAYOUT_NOTE, 0},
    [LAYOUT_TRUE_SHARING] = {"true sharing", "lock x same lock", LAYOUT_NOTE, 0},
    [LAYOUT_ELEMENTS] = {"elements share lines", "element x element", LAYOUT_WARNING, 0},
    [LAYOUT_STRADDLE] = {"straddles two lines", "straddle", LAYOUT_WARNING, 0},
    [LAYOUT_ALIGNMENT] = {"alignment not kept", "alignment", LAYOUT_WARNING, 0},
    [LAYOUT_SPLIT] = {"split under one lock", "split", LAYOUT_WARNING, 0},
};

enum layout_severity layout_verdict_severity(enum layout_verdict verdict)
{
    return verdicts[verdict].severity;
}

const char *layout_verdict_name(enum layout_verdict verdict)
{
    return verdicts[verdict].name;
}

const char *layout_verdict_pair(enum layout_verdict verdict)
{
    return verdicts[verdict].pair;
}

unsigned layout_verdict_weight(enum layout_verdict verdict)
{
    return verdicts[verdict].weight;
}

uint64_t layout_pair_cost(const struct layout_pair *pair)
{
    return (uint64_t)layout_verdict_weight(pair->verdict) * pair->first->use->weight *
           pair->second->use->weight;
}

bool layout_verdict_of_pair(const char *text, enum layout_verdict *verdict)
{
    for (unsigned i = 0; i < LAYOUT_VERDICTS; i++)
        if (strcmp(verdicts[i].pair, text) == 0) {
            *verdict = (enum layout_verdict)i;
            return true;
        }
    return false;
}

const char *layout_severity_name(enum layout_severity severity)
{
    static const char *const names[] = {"note", "warning", "error"};
    return names[severity];
}

/* True when @field is the lock that @use names, by its whole path or its last part. */
static bool is_lock_of(const struct layout_field *field, const struct layout_use *use)
{
    const char *dot = strrchr(field->path, '.');
    const char *last = dot != NULL ? dot + 1 : field->path;
    for (unsigned i = 0; i < use->name_count; i++)
        if (strcmp(use->names[i], last) == 0 || strcmp(use->names[i], field->path) == 0)
            return true;
    return false;
}

/* Both are written. */
static enum layout_verdict judge_written(const struct layout_field *a, const struct layout_field *b)
{
    enum layout_class first = layout_field_class(a);
    enum layout_class second = layout_field_class(b);
    if (layout_use_excludes(a->use, b->use))
        return first == LAYOUT_CLASS_LOCK ? LAYOUT_TRUE_SHARING : LAYOUT_VERDICTS;
    if (first == LAYOUT_CLASS_OWNER || second == LAYOUT_CLASS_OWNER)
        return LAYOUT_OWNER_WRITTEN;
    if (first == LAYOUT_CLASS_LOCK && second == LAYOUT_CLASS_LOCK)
        return LAYOUT_LOCK_LOCK;
    if (first == LAYOUT_CLASS_ATOMIC && second == LAYOUT_CLASS_ATOMIC)
        return LAYOUT_VERDICTS; /* each is written by anybody at any time: no reader loses */
    return is_lock_of(first == LAYOUT_CLASS_ATOMIC ? a : b,
                      first == LAYOUT_CLASS_ATOMIC ? b->use : a->use)
               ? LAYOUT_LOCK_WORD
               : LAYOUT_ATOMIC_LOCK;
}

bool layout_pair_judge(const struct layout_field *a, const struct layout_field *b,
                       struct layout_pair *pair)
{
    if (!layout_field_hot(a) || !layout_field_hot(b))
        return false;
    if (a->union_id != 0 && a->union_id == b->union_id && a->alternative != b->alternative)
        return false;
    enum layout_class first = layout_field_class(a);
    enum layout_class second = layout_field_class(b);
    bool swap = second == LAYOUT_CLASS_READ ||
                (first != LAYOUT_CLASS_READ && second == LAYOUT_CLASS_ATOMIC &&
                 first != LAYOUT_CLASS_ATOMIC);
    *pair = (struct layout_pair){.first = swap ? b : a, .second = swap ? a : b};
    enum layout_class other = layout_field_class(pair->second);
    if (layout_field_class(pair->first) != LAYOUT_CLASS_READ) {
        pair->verdict = judge_written(pair->first, pair->second);
        return pair->verdict != LAYOUT_VERDICTS;
    }
    if (other == LAYOUT_CLASS_READ)
        return false;
    pair->verdict = other == LAYOUT_CLASS_ATOMIC ? LAYOUT_READ_ATOMIC
                    : other == LAYOUT_CLASS_LOCK ? LAYOUT_READ_LOCK
                                                 : LAYOUT_READ_OWNER;
    return true;
}

void layout_field_lines(const struct layout_field *field, uint64_t line_bytes, uint64_t base_bytes,
                        uint64_t lines[2])
{
    if (field->bit_size == 0) {
        lines[0] = 1; /* an empty range: the field is nowhere */
        lines[1] = 0;
        return;
    }
    lines[0] = (base_bytes + field->bit_offset / 8) / line_bytes;
    lines[1] = (base_bytes + (field->bit_offset + field->bit_size - 1) / 8) / line_bytes;
}

void layout_line_bits(const struct layout_conflict_options *options, uint64_t line,
                      uint64_t bits[2])
{
    uint64_t first = line * options->line_bytes;
    bits[0] = first > options->base_bytes ? (first - options->base_bytes) * 8 : 0;
    bits[1] = (first + options->line_bytes - options->base_bytes) * 8 - 1;
}
