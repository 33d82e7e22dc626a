/* SPDX-License-Identifier: MIT */
/* Finds objects and fields; see subject.h. */
#include "coherence/subject.h"

#include <inttypes.h>
#include <stdio.h>

/* Fields that may begin between one and the place that it reaches: members of a struct in an array,
 * or of a union. */
#define OVERLAPS_MAX 64u

const struct coherence_subject *coherence_subject_at(const struct coherence_subjects *subjects,
                                                     uint64_t address)
{
    size_t first = 0, end = subjects->count;
    while (first < end) {
        size_t middle = first + (end - first) / 2;
        if (subjects->items[middle].address <= address)
            first = middle + 1;
        else
            end = middle;
    }
    if (first == 0)
        return NULL;
    const struct coherence_subject *found = &subjects->items[first - 1];
    return address - found->address < found->bytes ? found : NULL;
}

const struct coherence_field *coherence_field_at(const struct coherence_subject *subject,
                                                 uint64_t offset)
{
    size_t first = 0, end = subject->field_count;
    while (first < end) {
        size_t middle = first + (end - first) / 2;
        if (subject->fields[middle].offset <= offset)
            first = middle + 1;
        else
            end = middle;
    }
    for (unsigned tries = 0; first > 0 && tries < OVERLAPS_MAX; tries++) {
        const struct coherence_field *field = &subject->fields[--first];
        uint64_t in_field = offset - field->offset;
        if (in_field < field->bytes &&
            (field->width == 0 || in_field % field->stride < field->width))
            return field;
    }
    return NULL;
}

void coherence_field_text(const struct coherence_subject *subject, uint64_t offset, char *text,
                          size_t bytes)
{
    const struct coherence_field *field = coherence_field_at(subject, offset);
    if (field == NULL)
        snprintf(text, bytes, "+%" PRIu64, offset);
    else
        snprintf(text, bytes, "%s", field->name);
}
