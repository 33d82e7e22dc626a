/* SPDX-License-Identifier: MIT */
/*
 * Bytes as a sequence of calls of the public API, with the laws of cache_laws.h checked after each:
 * for fuzzers (any bytes) and for seeded tests (random bytes).
 */
#ifndef MODEL_CACHE_SCRIPT_H
#define MODEL_CACHE_SCRIPT_H

#include <stddef.h>
#include <stdint.h>

struct script_result {
    const char *broken; /* text of the first broken law, in static memory; NULL: none */
    unsigned calls;     /* made */
    char last[80];      /* the last one */
    uint64_t accesses;  /* pages, so that a caller can see that something happened */
    uint64_t misses;
    uint64_t evictions;
};

/* Runs the script of @size bytes. */
struct script_result cache_script_run(const uint8_t *data, size_t size);

#endif
