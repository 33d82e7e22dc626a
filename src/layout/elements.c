/* SPDX-License-Identifier: MIT */
/*
 * Runs of elements by name. A run falls into sub-arrays: at each place the largest one that starts
 * there and fits is taken, together with its neighbours of the same size in the same row.
 */
#include "layout/elements.h"

#include <inttypes.h>
#include <stdio.h>

#include "layout/type.h"

uint64_t layout_elements_count(const struct layout_member *member)
{
    uint64_t count = 1;
    for (uint32_t i = 0; i < member->dim_count; i++)
        if (__builtin_mul_overflow(count, member->dims[i], &count))
            return 0;
    return count;
}

/* Elements in one sub-array of dimensions @from on. */
static uint64_t block(const struct layout_member *member, uint32_t from)
{
    uint64_t count = 1;
    for (uint32_t i = from; i < member->dim_count; i++)
        count *= member->dims[i];
    return count;
}

void layout_elements_take(const struct layout_member *member, struct layout_run *run, char *text,
                          size_t bytes)
{
    uint32_t fixed = 0;
    while (fixed < member->dim_count) {
        uint64_t size = block(member, fixed);
        if (size > 0 && run->first % size == 0 && run->first + size <= run->end)
            break;
        fixed++;
    }
    uint64_t size = block(member, fixed);
    uint64_t row = fixed > 0 ? block(member, fixed - 1) : size;
    uint64_t rest = row - run->first % row;
    uint64_t count = (rest < run->end - run->first ? rest : run->end - run->first) / size;
    size_t length = 0;
    text[0] = '\0';
    for (uint32_t i = 0; i < member->dim_count && length < bytes; i++) {
        uint64_t index = run->first / block(member, i + 1) % member->dims[i];
        if (i >= fixed)
            length += (size_t)snprintf(text + length, bytes - length, "[*]");
        else if (i + 1 == fixed && count > 1)
            length += (size_t)snprintf(text + length, bytes - length, "[%" PRIu64 "-%" PRIu64 "]",
                                       index, index + count - 1);
        else
            length += (size_t)snprintf(text + length, bytes - length, "[%" PRIu64 "]", index);
    }
    run->first += size * count;
}
