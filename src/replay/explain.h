/* SPDX-License-Identifier: MIT */
/*
 * Why pages that were needed again had been evicted: remembers for every page its last eviction
 * and, when the page comes back, counts that eviction under its rule, type, tier and age. explain.c
 * counts, story.c tells it in sentences.
 *
 * Memory: 24 bytes a slot, 24 to 48 a page that was ever evicted. One thread per object.
 */
#ifndef REPLAY_EXPLAIN_H
#define REPLAY_EXPLAIN_H

#include <stdint.h>

#include <mglru/cache.h>

#include "replay/result.h"

/* @accesses: page accesses of the run so far, read at each new generation; must outlive it. NULL:
 * out of memory. */
struct replay_explain *replay_explain_create(const uint64_t *accesses);
void replay_explain_destroy(struct replay_explain *explain);

/* on_event of the cache; @context is the struct replay_explain. */
void replay_explain_event(void *context, const struct mglru_event *event);

/*
 * Fills @out->explain and explain_text. @out's figures are filled in already. MGLRU_ENOMEM, now or
 * at any event before.
 */
int replay_explain_finish(struct replay_explain *explain, struct mglru_cache *cache,
                          uint32_t page_bytes, struct replay_run *out);

/* What story.c needs beside the rows. */
struct explain_facts {
    uint64_t evicted_pages;
    uint64_t refaulted_pages;
    uint64_t generations;     /* created */
    uint64_t last_generation; /* page accesses done when the last one was created */
    uint64_t accesses;        /* in all */
};

/* The story as one string of lines, to be freed; NULL: out of memory. */
char *explain_story(const struct explain_facts *facts, struct mglru_cache *cache,
                    uint32_t page_bytes, const struct replay_run *run);

#endif
