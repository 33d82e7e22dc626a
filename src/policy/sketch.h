/* SPDX-License-Identifier: MIT */
/*
 * Approximate access counts of pages in a fixed amount of memory: a count-min sketch of 4-bit
 * counters whose counts fade. For W-TinyLFU.
 * G. Cormode, S. Muthukrishnan, "An improved data stream summary: the count-min sketch and its
 * applications", Journal of Algorithms 55(1), 2005; minimal increment and halving as in
 * G. Einziger, R. Friedman, B. Manes, "TinyLFU", ACM Transactions on Storage 13(4), 2017.
 *
 * The idea: a page has one counter in each of four rows; its estimate is the smallest. Counting
 * raises only those of the four that equal the smallest. After ten counted accesses a page of
 * capacity all counters are halved, so that old popularity fades.
 *
 * Invariants: 1. an estimate is never below min(15, accesses since the last halving). 2. counters
 * saturate at 15. Not thread-safe.
 */
#ifndef POLICY_SKETCH_H
#define POLICY_SKETCH_H

#include <stddef.h>
#include <stdint.h>

enum { SKETCH_ROWS = 4, SKETCH_COUNT_MAX = 15 };

struct sketch {
    uint64_t *words;    /* SKETCH_ROWS rows of row_words words of 16 counters */
    uint64_t row_words; /* a power of two */
    uint64_t counted;   /* accesses counted, halved with the counters */
    uint64_t period;    /* halve when @counted reaches it */
};

/* Sized for a cache of @capacity_pages >= 1. 0 or MGLRU_ENOMEM. Free with sketch_free. */
int sketch_init(struct sketch *sketch, uint64_t capacity_pages);

/* Frees the counters; @sketch may be all zero bytes. */
void sketch_free(struct sketch *sketch);

/* Counts one access to @page. */
void sketch_count(struct sketch *sketch, uint32_t page);

/* Estimated recent accesses to @page, 0 .. SKETCH_COUNT_MAX. */
unsigned sketch_estimate(const struct sketch *sketch, uint32_t page);

#endif
