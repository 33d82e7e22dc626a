/* SPDX-License-Identifier: MIT */
/*
 * Stream generators. Every pattern draws its numbers in access order from one splitmix64
 * sequence; Zipf takes a second one, seeded apart, for the shuffle of ranks over pages.
 */
#include "trace/gen.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <mglru/error.h>

#include "base/bits.h"

#define GOLDEN_GAMMA 0x9E3779B97F4A7C15ull
/* "PERM": keeps the shuffle's sequence apart from the one of the accesses. */
#define SHUFFLE_SALT 0x5045524Dull

static const struct {
    const char *name;
    enum gen_pattern pattern;
} patterns[] = {
    {"uniform", GEN_UNIFORM}, {"zipf", GEN_ZIPF},   {"loop", GEN_LOOP},
    {"hotscan", GEN_HOTSCAN}, {"phase", GEN_PHASE}, {"shift", GEN_SHIFT},
};

enum gen_pattern gen_pattern_find(const char *name)
{
    for (size_t i = 0; i < sizeof(patterns) / sizeof(patterns[0]); i++)
        if (strcmp(patterns[i].name, name) == 0)
            return patterns[i].pattern;
    return 0;
}

static uint64_t random_next(uint64_t *state)
{
    *state += GOLDEN_GAMMA;
    return bits_mix64(*state);
}

__extension__ typedef unsigned __int128 wide; /* ISO C has no name for it */

/* Uniform in [0, limit) by the high half of a 128-bit product. */
static uint64_t random_below(uint64_t *state, uint64_t limit)
{
    return (uint64_t)(((wide)random_next(state) * limit) >> 64);
}

/* Uniform in [0, 1) with 53 bits. */
static double random_unit(uint64_t *state)
{
    return (double)(random_next(state) >> 11) * 0x1p-53;
}

struct zipf {
    double *cumulative; /* [rank]: sum of weights of ranks 0 .. rank */
    uint32_t *page;     /* [rank] */
    uint64_t pages;
};

static void zipf_free(struct zipf *zipf)
{
    free(zipf->cumulative);
    free(zipf->page);
}

static int zipf_init(struct zipf *zipf, const struct gen_options *options)
{
    zipf->pages = options->pages;
    zipf->cumulative = calloc(options->pages, sizeof(*zipf->cumulative));
    zipf->page = calloc(options->pages, sizeof(*zipf->page));
    if (!zipf->cumulative || !zipf->page) {
        zipf_free(zipf);
        return MGLRU_ENOMEM;
    }
    double exponent = (double)options->exponent_milli / 1000.0;
    double sum = 0;
    for (uint64_t rank = 0; rank < options->pages; rank++) {
        sum += pow((double)(rank + 1), -exponent);
        zipf->cumulative[rank] = sum;
        zipf->page[rank] = (uint32_t)rank;
    }
    uint64_t state = options->seed ^ SHUFFLE_SALT;
    for (uint64_t i = options->pages - 1; i >= 1; i--) {
        uint64_t j = random_below(&state, i + 1);
        uint32_t page = zipf->page[i];
        zipf->page[i] = zipf->page[j];
        zipf->page[j] = page;
    }
    return 0;
}

/* Page of the least rank whose cumulative weight exceeds the drawn one. */
static uint32_t zipf_draw(const struct zipf *zipf, uint64_t *state)
{
    double drawn = random_unit(state) * zipf->cumulative[zipf->pages - 1];
    uint64_t low = 0;
    uint64_t high = zipf->pages - 1;
    while (low < high) {
        uint64_t middle = (low + high) / 2;
        if (zipf->cumulative[middle] > drawn)
            high = middle;
        else
            low = middle + 1;
    }
    return zipf->page[low];
}

static bool options_valid(const struct gen_options *options)
{
    bool hot = options->hot >= 1 && options->hot <= options->pages;
    if (options->pages < 1 || options->pages > UINT64_C(1) << 32)
        return false;
    switch (options->pattern) {
    case GEN_UNIFORM:
    case GEN_ZIPF:
        return true;
    case GEN_LOOP:
        return options->loop >= 1 && options->loop <= options->pages;
    case GEN_HOTSCAN:
        return hot && options->hot < options->pages && options->hot_per_1024 <= 1024;
    case GEN_PHASE:
        return hot && options->hot < options->pages;
    case GEN_SHIFT:
        return hot && options->segment >= 1;
    }
    return false;
}

/* The patterns without tables. @scan counts the accesses of the scanning part so far. */
static uint64_t draw(const struct gen_options *options, uint64_t i, uint64_t *state, uint64_t *scan)
{
    uint64_t cold = options->pages - options->hot;
    switch (options->pattern) {
    case GEN_LOOP:
        return i % options->loop;
    case GEN_HOTSCAN:
        if ((random_next(state) & 1023) < options->hot_per_1024)
            return random_below(state, options->hot);
        return options->hot + (*scan)++ % cold;
    case GEN_PHASE:
        if (i < options->lead || i >= options->lead + cold)
            return random_below(state, options->hot);
        return options->hot + (i - options->lead);
    case GEN_SHIFT:
        return (i / options->segment * options->step + random_below(state, options->hot)) %
               options->pages;
    case GEN_ZIPF:
    case GEN_UNIFORM:
        break;
    }
    return random_below(state, options->pages);
}

int gen_stream(const struct gen_options *options, uint32_t *out, size_t count)
{
    if (!options_valid(options))
        return MGLRU_EINVAL;
    uint64_t state = options->seed;
    if (options->pattern == GEN_ZIPF) {
        struct zipf zipf;
        int error = zipf_init(&zipf, options);
        if (error)
            return error;
        for (size_t i = 0; i < count; i++)
            out[i] = zipf_draw(&zipf, &state);
        zipf_free(&zipf);
        return 0;
    }
    uint64_t scan = 0;
    for (size_t i = 0; i < count; i++)
        out[i] = (uint32_t)draw(options, i, &state, &scan);
    return 0;
}

uint64_t gen_fnv(const uint32_t *pages, size_t count)
{
    uint64_t hash = 0xcbf29ce484222325ull;
    for (size_t i = 0; i < count; i++)
        for (unsigned shift = 0; shift < 32; shift += 8)
            hash = (hash ^ ((pages[i] >> shift) & 255)) * 0x100000001b3ull;
    return hash;
}
