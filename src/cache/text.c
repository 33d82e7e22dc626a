/* SPDX-License-Identifier: MIT */
/* Texts under construction; see text.h. */
#include "cache/text.h"

#include <inttypes.h>
#include <stdio.h>

#include "cache/cache.h"

void text_add(struct text *text, const char *format, ...)
{
    va_list args;
    size_t room = text->length < text->capacity ? text->capacity - text->length : 0;
    va_start(args, format);
    int n = vsnprintf(room ? text->buffer + text->length : NULL, room, format, args);
    va_end(args);
    if (n > 0)
        text->length += (size_t)n;
}

void text_add_limit(struct text *text, const struct mglru_cache *cache, long pages)
{
    if (pages >= PAGE_COUNTER_MAX)
        text_add(text, "max");
    else
        text_add(text, "%" PRIu64, (uint64_t)pages * cache->page_bytes);
}
