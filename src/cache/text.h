/* SPDX-License-Identifier: MIT */
/* A bounded text under construction: counts what did not fit, for the read calls. */
#ifndef CACHE_TEXT_H
#define CACHE_TEXT_H

#include <stdarg.h>
#include <stddef.h>

struct text {
    char *buffer;
    size_t capacity;
    size_t length; /* what a large enough buffer would hold */
};

__attribute__((format(printf, 2, 3))) void text_add(struct text *text, const char *format, ...);

struct mglru_cache;
/* A limit in bytes, "max" where there is none. */
void text_add_limit(struct text *text, const struct mglru_cache *cache, long pages);

#endif
