/* SPDX-License-Identifier: MIT */
/* Reads the text of lru_gen: which generations a memcg has and how many pages are in them. */
#ifndef REPLAY_LRU_GEN_H
#define REPLAY_LRU_GEN_H

#include <stdbool.h>
#include <stdint.h>

#include <mglru/cache.h>

/* One generation of one memcg and node. */
struct lru_gen_line {
    uint64_t memcg_id;
    uint32_t node;
    uint64_t seq;
    uint64_t pages[2]; /* by type: anonymous, file */
};

struct lru_gen_text {
    char *text; /* owned */
    const char *rest;
    struct lru_gen_line line; /* memcg and node carry over from line to line */
};

/* Reads lru_gen of @cache. MGLRU_ENOMEM, or what mglru_cache_read says. */
int lru_gen_open(struct mglru_cache *cache, struct lru_gen_text *text);

/* The next generation, memcg by memcg, node by node, oldest first. False at the end. */
bool lru_gen_next(struct lru_gen_text *text, struct lru_gen_line *line);

void lru_gen_close(struct lru_gen_text *text);

/* Youngest generation of a memcg on a node. MGLRU_ENOENT: no such memcg or node; else as open. */
int lru_gen_max_seq(struct mglru_memcg *memcg, struct mglru_cache *cache, uint32_t node,
                    uint64_t *seq);

#endif
