/* SPDX-License-Identifier: MIT */
/* The files of /sys/kernel/mm/lru_gen and /sys/kernel/debug/lru_gen as text. */
#ifndef CACHE_LRU_GEN_TEXT_H
#define CACHE_LRU_GEN_TEXT_H

#include <stdbool.h>

#include "cache/text.h"

struct mglru_cache;

void lru_gen_read(struct mglru_cache *cache, struct text *text, bool full);
void lru_gen_read_enabled(struct mglru_cache *cache, struct text *text);
/* Commands; those before a refused one stay done. 0 or MGLRU_EINVAL, _ERANGE, _EEXIST. */
int lru_gen_write(struct mglru_cache *cache, char *commands);
int lru_gen_write_enabled(struct mglru_cache *cache, const char *text);
int lru_gen_write_min_ttl(struct mglru_cache *cache, const char *text);

/* Unsigned number in any C base, as kstrtouint with base 0. 0 or MGLRU_EINVAL. */
int control_parse_uint(const char *text, unsigned *value);

#endif
