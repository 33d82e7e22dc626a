/* SPDX-License-Identifier: MIT */
/* Names for runs of elements of arrays with several dimensions. Private to layout/. */
#ifndef LAYOUT_ELEMENTS_H
#define LAYOUT_ELEMENTS_H

#include <stddef.h>
#include <stdint.h>

struct layout_member;

/* Elements [first, end) of an array, counted as they lie in memory. */
struct layout_run {
    uint64_t first;
    uint64_t end;
};

/*
 * Takes from @run the longest part that one name stands for, "[0][1][*]" or "[0][0][1-3]", writes
 * the name into @text and moves run->first behind it. @run must not be empty.
 */
void layout_elements_take(const struct layout_member *member, struct layout_run *run, char *text,
                          size_t bytes);

/* Product of the dimensions; 0 for flexible arrays, 1 for no array. */
uint64_t layout_elements_count(const struct layout_member *member);

#endif
