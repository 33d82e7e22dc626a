/* SPDX-License-Identifier: MIT */
/* The fading count-min sketch; idea and invariants are in the header. */
#include "policy/sketch.h"

#include <stdlib.h>
#include <string.h>

#include <mglru/error.h>

#include "base/bits.h"

enum {
    SKETCH_WORD_COUNTERS = 16,
    /* Counters a row and page of capacity, before rounding up to a power of two. A period counts
     * ten accesses a page of capacity; four counters keep the sum in each near the real count. */
    SKETCH_ROW_COUNTERS_PER_PAGE = 4,
    SKETCH_PERIOD_PER_PAGE = 10 /* sample size over cache size, from the paper (8 to 16) */
};

/* 32 MiB a row; caches of more than 2^24 pages share counters instead of growing it (chosen). */
#define SKETCH_ROW_WORDS_MAX (UINT64_C(1) << 22)

static uint64_t sketch_row_words(uint64_t capacity_pages)
{
    uint64_t counters_max = SKETCH_ROW_WORDS_MAX * SKETCH_WORD_COUNTERS;
    if (capacity_pages >= counters_max / SKETCH_ROW_COUNTERS_PER_PAGE)
        return SKETCH_ROW_WORDS_MAX;
    uint64_t counters = capacity_pages * SKETCH_ROW_COUNTERS_PER_PAGE;
    uint64_t words = (counters + SKETCH_WORD_COUNTERS - 1) / SKETCH_WORD_COUNTERS;
    return UINT64_C(1) << bits_log2up(words);
}

int sketch_init(struct sketch *sketch, uint64_t capacity_pages)
{
    memset(sketch, 0, sizeof(*sketch));
    sketch->row_words = sketch_row_words(capacity_pages);
    sketch->period = capacity_pages > UINT64_MAX / SKETCH_PERIOD_PER_PAGE
                         ? UINT64_MAX
                         : capacity_pages * SKETCH_PERIOD_PER_PAGE;
    sketch->words = calloc(SKETCH_ROWS * sketch->row_words, sizeof(*sketch->words));
    return sketch->words ? 0 : MGLRU_ENOMEM;
}

void sketch_free(struct sketch *sketch)
{
    free(sketch->words);
    memset(sketch, 0, sizeof(*sketch));
}

/* Where the counters of one page lie. */
struct sketch_spot {
    uint64_t word;  /* index into words */
    unsigned shift; /* of the counter in its word */
};

/*
 * Pages that collide in one row seldom do in another: row r takes hash a + r * b, which is as good
 * as independent hashes (A. Kirsch, M. Mitzenmacher, "Less hashing, same performance", ESA 2006).
 */
static void sketch_locate(const struct sketch *sketch, uint32_t page,
                          struct sketch_spot spots[SKETCH_ROWS])
{
    uint64_t hash = bits_mix64(page + UINT64_C(0x9E3779B97F4A7C15));
    uint64_t step = hash >> 32 | 1;
    for (unsigned row = 0; row < SKETCH_ROWS; row++) {
        spots[row].word = row * sketch->row_words + ((hash >> 4) & (sketch->row_words - 1));
        spots[row].shift = (unsigned)(hash & 15) * 4;
        hash += step;
    }
}

static unsigned sketch_read(const struct sketch *sketch, struct sketch_spot spot)
{
    return (unsigned)(sketch->words[spot.word] >> spot.shift) & SKETCH_COUNT_MAX;
}

static unsigned sketch_smallest(const struct sketch *sketch,
                                const struct sketch_spot spots[SKETCH_ROWS])
{
    unsigned smallest = SKETCH_COUNT_MAX;
    for (unsigned row = 0; row < SKETCH_ROWS; row++) {
        unsigned count = sketch_read(sketch, spots[row]);
        if (count < smallest)
            smallest = count;
    }
    return smallest;
}

static void sketch_halve(struct sketch *sketch)
{
    for (uint64_t i = 0; i < SKETCH_ROWS * sketch->row_words; i++)
        sketch->words[i] = (sketch->words[i] >> 1) & UINT64_C(0x7777777777777777);
    sketch->counted /= 2;
}

void sketch_count(struct sketch *sketch, uint32_t page)
{
    struct sketch_spot spots[SKETCH_ROWS];
    sketch_locate(sketch, page, spots);
    unsigned smallest = sketch_smallest(sketch, spots);
    if (smallest < SKETCH_COUNT_MAX)
        for (unsigned row = 0; row < SKETCH_ROWS; row++)
            if (sketch_read(sketch, spots[row]) == smallest)
                sketch->words[spots[row].word] += UINT64_C(1) << spots[row].shift;
    if (++sketch->counted >= sketch->period)
        sketch_halve(sketch);
}

unsigned sketch_estimate(const struct sketch *sketch, uint32_t page)
{
    struct sketch_spot spots[SKETCH_ROWS];
    sketch_locate(sketch, page, spots);
    return sketch_smallest(sketch, spots);
}
