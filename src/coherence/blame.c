/* SPDX-License-Identifier: MIT */
/* Joins misses with names; see blame.h. */
#include "coherence/blame.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mglru/error.h>

struct blamer {
    const struct coherence_trace *trace;
    const struct coherence_subjects *subjects;
    struct coherence_pair *pairs;
    size_t count, capacity;
};

/* One side of a pair. */
struct side {
    const struct coherence_subject *subject;
    const struct coherence_field *field;
    uint64_t offset;
};

static struct side side_of(const struct blamer *blamer, uint32_t line, struct coherence_part part)
{
    uint64_t start = blamer->trace->line_addresses[line];
    struct side side = {0};
    /* A wide access may begin before the object. */
    for (uint64_t at = start + part.first; at <= start + part.last && side.subject == NULL; at++) {
        side.subject = coherence_subject_at(blamer->subjects, at);
        side.offset = at;
    }
    if (side.subject == NULL) {
        side.offset = part.first;
        return side;
    }
    side.offset -= side.subject->address;
    side.field = coherence_field_at(side.subject, side.offset);
    return side;
}

static void side_text(const struct side *side, const struct side *other, char *text)
{
    char name[COHERENCE_NAME_BYTES];
    if (side->subject == NULL) {
        snprintf(text, COHERENCE_NAME_BYTES, "+%" PRIu64, side->offset);
        return;
    }
    coherence_field_text(side->subject, side->offset, name, sizeof(name));
    if (side->subject == other->subject)
        snprintf(text, COHERENCE_NAME_BYTES, "%s", name);
    else
        snprintf(text, COHERENCE_NAME_BYTES, "%.60s.%.60s", side->subject->name, name);
}

static bool are_elements(const struct side *a, const struct side *b)
{
    if (a->field == NULL || a->subject != b->subject || a->field != b->field ||
        a->field->stride == 0)
        return false;
    uint64_t stride = a->field->stride, offset = a->field->offset;
    return (a->offset - offset) / stride != (b->offset - offset) / stride;
}

static enum coherence_verdict verdict_of(enum coherence_class class, const struct side *a,
                                         const struct side *b)
{
    if (class == COHERENCE_TRUE)
        return COHERENCE_PAIR_TRUE;
    if (class == COHERENCE_LOCKED)
        return COHERENCE_PAIR_LOCKED;
    return are_elements(a, b) ? COHERENCE_PAIR_ARRAY : COHERENCE_PAIR_FALSE;
}

static int add_pair(struct blamer *blamer, const struct coherence_pair *pair)
{
    if (blamer->count == blamer->capacity) {
        size_t capacity = blamer->capacity * 2 + 64;
        struct coherence_pair *larger = realloc(blamer->pairs, capacity * sizeof(*larger));
        if (larger == NULL)
            return MGLRU_ENOMEM;
        blamer->pairs = larger;
        blamer->capacity = capacity;
    }
    blamer->pairs[blamer->count++] = *pair;
    return MGLRU_OK;
}

static int add_row(struct blamer *blamer, const struct coherence_miss *row)
{
    /* An upgrade is a writer that missed because another read. */
    bool swap = row->cause.kind == COHERENCE_READ;
    struct side reader = side_of(blamer, row->line, swap ? row->cause : row->victim);
    struct side writer = side_of(blamer, row->line, swap ? row->victim : row->cause);
    const struct coherence_subject *subject =
        reader.subject != NULL ? reader.subject : writer.subject;
    uint64_t start = blamer->trace->line_addresses[row->line];
    struct coherence_pair pair;
    memset(&pair, 0, sizeof(pair));
    pair.line = start;
    if (subject != NULL) {
        uint64_t first = subject->address & ~(uint64_t)(blamer->trace->line_bytes - 1);
        snprintf(pair.subject, sizeof(pair.subject), "%s", subject->name);
        pair.line = (start - first) / blamer->trace->line_bytes;
    }
    pair.both_write = !swap && row->victim.kind != COHERENCE_READ;
    side_text(&reader, subject == reader.subject ? &reader : &writer, pair.reader);
    side_text(&writer, &reader, pair.writer);
    for (int class = COHERENCE_FALSE; class < COHERENCE_CLASSES; class ++) {
        pair.count = row->count[class];
        pair.verdict = verdict_of((enum coherence_class) class, &reader, &writer);
        int code = pair.count == 0 ? MGLRU_OK : add_pair(blamer, &pair);
        if (code != MGLRU_OK)
            return code;
    }
    return MGLRU_OK;
}

static int compare_names(const void *left, const void *right)
{
    const struct coherence_pair *a = left, *b = right;
    int order = strcmp(a->subject, b->subject);
    if (order == 0)
        order = (a->line > b->line) - (a->line < b->line);
    if (order == 0)
        order = strcmp(a->reader, b->reader);
    if (order == 0)
        order = strcmp(a->writer, b->writer);
    if (order == 0)
        order = (int)a->verdict - (int)b->verdict;
    return order != 0 ? order : (int)a->both_write - (int)b->both_write;
}

static int compare_counts(const void *left, const void *right)
{
    const struct coherence_pair *a = left, *b = right;
    if (a->count != b->count)
        return a->count > b->count ? -1 : 1;
    return compare_names(left, right);
}

static void merge(struct blamer *blamer)
{
    size_t kept = 0;
    if (blamer->count == 0)
        return;
    qsort(blamer->pairs, blamer->count, sizeof(*blamer->pairs), compare_names);
    for (size_t i = 1; i < blamer->count; i++)
        if (compare_names(&blamer->pairs[kept], &blamer->pairs[i]) == 0)
            blamer->pairs[kept].count += blamer->pairs[i].count;
        else
            blamer->pairs[++kept] = blamer->pairs[i];
    blamer->count = kept + 1;
    qsort(blamer->pairs, blamer->count, sizeof(*blamer->pairs), compare_counts);
}

int coherence_blame_make(const struct coherence_trace *trace, const struct coherence_result *result,
                         const struct coherence_subjects *subjects, struct coherence_blame *blame)
{
    struct blamer blamer = {.trace = trace, .subjects = subjects};
    *blame = (struct coherence_blame){0};
    for (size_t i = 0; i < result->row_count; i++) {
        int code = add_row(&blamer, &result->rows[i]);
        if (code != MGLRU_OK) {
            free(blamer.pairs);
            return code;
        }
    }
    merge(&blamer);
    *blame = (struct coherence_blame){blamer.pairs, blamer.count};
    return MGLRU_OK;
}

void coherence_blame_free(struct coherence_blame *blame)
{
    free(blame->pairs);
    *blame = (struct coherence_blame){0};
}

const char *coherence_verdict_name(enum coherence_verdict verdict)
{
    static const char *const names[] = {
        [COHERENCE_PAIR_FALSE] = "false",
        [COHERENCE_PAIR_ARRAY] = "array",
        [COHERENCE_PAIR_TRUE] = "true",
        [COHERENCE_PAIR_LOCKED] = "lock",
    };
    return names[verdict];
}
