/* SPDX-License-Identifier: MIT */
/*
 * Deterministic streams of page indices, the same ones that the recordings of real kernels were
 * made with: a stream is a pure function of its options, on every machine. Randomness is
 * splitmix64 (Steele, Lea, Flood, OOPSLA 2014), started at the seed.
 *
 * Caveat: Zipf streams add up pow(k + 1, -s) in double, so they need a correctly rounded libm to
 * be bit-identical elsewhere; gen_fnv() tells.
 */
#ifndef TRACE_GEN_H
#define TRACE_GEN_H

#include <stddef.h>
#include <stdint.h>

enum gen_pattern {
    GEN_UNIFORM = 1, /* each page of [0, pages) alike */
    GEN_ZIPF,        /* rank by Zipf(exponent), ranks dealt to pages by a seeded shuffle */
    GEN_LOOP,        /* 0, 1, ..., loop - 1, 0, ... */
    GEN_HOTSCAN,     /* hot_per_1024 of 1024 accesses uniform in [0, hot), the rest scan on */
    GEN_PHASE,       /* hot set, then at access lead one pass over [hot, pages), then hot again */
    GEN_SHIFT        /* uniform in a window of hot pages that moves by step every segment */
};

/* All amounts in pages or accesses; fields that a pattern does not use are ignored. */
struct gen_options {
    enum gen_pattern pattern;
    uint64_t pages; /* 1 .. 2^32 */
    uint64_t seed;
    uint64_t exponent_milli; /* Zipf exponent times 1000 */
    uint64_t loop;           /* LOOP: 1 .. pages */
    uint64_t hot;            /* HOTSCAN, PHASE: 1 .. pages - 1; SHIFT: 1 .. pages */
    uint64_t hot_per_1024;   /* HOTSCAN: 0 .. 1024 */
    uint64_t lead;           /* PHASE: accesses before the scan */
    uint64_t segment;        /* SHIFT: accesses between two moves, >= 1 */
    uint64_t step;           /* SHIFT: pages of a move */
};

/* Pattern by its name ("uniform", "zipf", ...); 0: there is none of that name. */
enum gen_pattern gen_pattern_find(const char *name);

/*
 * Writes @count page indices to @out. MGLRU_EINVAL: an unknown pattern or a number outside its
 * range; MGLRU_ENOMEM (Zipf needs 12 bytes a page). Any thread.
 */
int gen_stream(const struct gen_options *options, uint32_t *out, size_t count);

/* FNV-1a-64 over the indices, each as four bytes, least first. Names a stream in recordings. */
uint64_t gen_fnv(const uint32_t *pages, size_t count);

#endif
