/* SPDX-License-Identifier: MIT */
/*
 * Parser of the lru_gen text: "memcg ID PATH", " node N", then one line "SEQ AGE ANON FILE" a
 * generation, where a letter can follow a number of pages. Lines of other shapes are passed over.
 */
#include "replay/lru_gen.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mglru/control.h>

#define TEXT_BYTES_FIRST 4096

int lru_gen_open(struct mglru_cache *cache, struct lru_gen_text *text)
{
    *text = (struct lru_gen_text){0};
    size_t capacity = TEXT_BYTES_FIRST;
    for (;;) {
        char *grown = realloc(text->text, capacity);
        if (grown == NULL) {
            lru_gen_close(text);
            return MGLRU_ENOMEM;
        }
        text->text = grown;
        size_t length = 0;
        int code = mglru_cache_read(cache, "lru_gen", grown, capacity, &length);
        text->rest = grown;
        if (code == MGLRU_OK)
            return MGLRU_OK;
        if (code != MGLRU_EOVERFLOW) {
            lru_gen_close(text);
            return code;
        }
        capacity = length + 1;
    }
}

bool lru_gen_next(struct lru_gen_text *text, struct lru_gen_line *line)
{
    while (text->rest != NULL && *text->rest != '\0') {
        const char *start = text->rest;
        const char *end = strchr(start, '\n');
        text->rest = end == NULL ? start + strlen(start) : end + 1;
        struct lru_gen_line *here = &text->line;
        uint64_t age;
        char mark[2];
        if (sscanf(start, " memcg %" SCNu64, &here->memcg_id) == 1)
            continue;
        if (sscanf(start, " node %" SCNu32, &here->node) == 1)
            continue;
        int fields = sscanf(start, " %" SCNu64 " %" SCNu64 " %" SCNu64 "%*1[x ] %" SCNu64 "%1s",
                            &here->seq, &age, &here->pages[0], &here->pages[1], mark);
        if (fields < 4)
            continue;
        *line = *here;
        return true;
    }
    return false;
}

void lru_gen_close(struct lru_gen_text *text)
{
    free(text->text);
    *text = (struct lru_gen_text){0};
}

int lru_gen_max_seq(struct mglru_memcg *memcg, struct mglru_cache *cache, uint32_t node,
                    uint64_t *seq)
{
    *seq = 0;
    struct lru_gen_text text;
    int code = lru_gen_open(cache, &text);
    if (code != MGLRU_OK)
        return code;
    const uint64_t id = mglru_memcg_id(memcg);
    struct lru_gen_line line;
    code = MGLRU_ENOENT;
    while (lru_gen_next(&text, &line)) {
        if (line.memcg_id != id || line.node != node)
            continue;
        *seq = line.seq > *seq ? line.seq : *seq;
        code = MGLRU_OK;
    }
    lru_gen_close(&text);
    return code;
}
