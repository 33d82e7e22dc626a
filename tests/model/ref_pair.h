/* SPDX-License-Identifier: MIT */
/*
 * The engine, through its public API, and the reference (ref_kernel.h) side by side: each access
 * goes to both, and what they say of it must be the same: hit, miss or first touch; the pages that
 * were evicted and their order; refaults, and which of them were recent; new generations. At the
 * end the counters of memory.stat.
 */
#ifndef MODEL_REF_PAIR_H
#define MODEL_REF_PAIR_H

#include <mglru/cache.h>

#include "model/ref_kernel.h"

struct ref_pair {
    struct ref *ref;
    struct mglru_cache *cache;
    struct mglru_memcg *memcg;
    struct mglru_mapping *mapping[2];
    struct mglru_file *file[2]; /* of the region, of the file; NULL: not there */
    struct ref_counts engine;   /* as the events say */
    char difference[400];       /* first one; "": none */
};

/* A memcg of the same kind in both. Aborts where the API refuses. */
void ref_pair_init(struct ref_pair *pair, const struct ref_options *options);
void ref_pair_fini(struct ref_pair *pair);

/* One access to both. False: they differ (see difference), or both are out of memory. */
bool ref_pair_access(struct ref_pair *pair, enum ref_access kind, int page);

/* The commands of ref_kernel.h to both. False: they differ. */
bool ref_pair_age(struct ref_pair *pair, int swappiness, bool force);
bool ref_pair_set_swappiness(struct ref_pair *pair, int swappiness);
bool ref_pair_set_limit(struct ref_pair *pair, long pages);
bool ref_pair_drop(struct ref_pair *pair, bool anon, int page);

/* Compares memory.stat; false: see difference. */
bool ref_pair_compare_stat(struct ref_pair *pair);

#endif
