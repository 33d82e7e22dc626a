/* SPDX-License-Identifier: MIT */
/*
 * What must hold of a cache whatever its policy decides: a slow model that knows which pages may be
 * resident and which may have been evicted, beside the public API.
 *
 *  L1  a page becomes resident by an access (or its readahead), leaves by an eviction event, by a
 *      drop, or with the end of its memcg, and in no other way
 *  L2  an access hits if and only if its page was resident; an absent file page misses, an absent
 *      anonymous page misses if it was swapped, else it is a first touch
 *  L3  hits + misses + first_touches = accesses; recursive counts are the sum of local ones; the
 *      miss log says the same
 *  L4  a refault is of a page that was evicted before
 *  L5  usage stays within memory.max, except right after a write of memory.max that said so
 *  L6  event counters never fall; peak >= current
 *  L7  the cache's own laws (cache_verify)
 */
#ifndef MODEL_CACHE_LAWS_H
#define MODEL_CACHE_LAWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cache/cache.h"

#define LAWS_MAPPINGS 4
#define LAWS_REGIONS 4 /* runs of pages far from each other, so that trees get high */
#define LAWS_RUN 96
#define LAWS_PAGES (LAWS_REGIONS * LAWS_RUN)
#define LAWS_MEMCGS 12

struct laws_memcg {
    struct mglru_memcg *memcg; /* NULL: unused */
    uint64_t events[7];
    long excess; /* pages over memory.max that a write left */
};

struct laws {
    struct mglru_cache *cache;
    struct mglru_mapping *mappings[LAWS_MAPPINGS];
    struct laws_memcg memcgs[LAWS_MEMCGS];
    bool resident[LAWS_MAPPINGS][LAWS_PAGES];
    bool evicted[LAWS_MAPPINGS][LAWS_PAGES]; /* since it was last resident */
    bool readahead;
    unsigned mapping, page; /* being accessed; page LAWS_PAGES: none */
    unsigned evicted_again; /* times that it was evicted meanwhile */
    const char *broken;     /* first broken law; NULL: none */
};

/* Page index of the @n-th page that the model watches. */
uint64_t laws_page(unsigned n);

/* Tells the model of an event; the on_event of the cache (context: struct laws). */
void laws_event(void *context, const struct mglru_event *event);

/* One page access through the API, judged. Returns what the API returned. */
int laws_access(struct laws *laws, struct mglru_file *file, unsigned mapping, unsigned n,
                enum mglru_access_kind kind);

/* An access of several pages, whose own order of events is not judged. */
int laws_access_many(struct laws *laws, struct mglru_file *file, unsigned mapping, unsigned n,
                     struct mglru_access access);

/* Pages of @mapping from the @n-th on were dropped, or all that @memcg owns (NULL: a range). */
void laws_dropped(struct laws *laws, unsigned mapping, unsigned n, unsigned count);

/* Call before a memcg is removed: forgets its anonymous pages as far as they went. */
void laws_resync_anon(struct laws *laws);

/* L1, L3, L5, L6, L7 now. @wrote_max: a memory.max was just written. */
void laws_check(struct laws *laws, bool wrote_max);

#endif
