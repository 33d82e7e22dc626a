/* SPDX-License-Identifier: MIT */
/*
 * All memcgs at one moment, as a table in text: what a monitor shows in one call. The columns are
 * named in the first line, so that a reader goes by names and more can be added.
 */
#include "cache/cache.h"

#include <inttypes.h>
#include <string.h>

#include "base/check.h"

/* Lines of memory.stat that have a column. */
static const char *const stat_names[] = {
    "file", "file_dirty", "file_writeback", "workingset_refault_file", "pgscan", "pgsteal",
};

static const struct {
    const char *name;
    enum memcg_event event;
} events[] = {
    {"high", MEMCG_EVENT_HIGH},
    {"max", MEMCG_EVENT_MAX},
    {"oom", MEMCG_EVENT_OOM},
};

static void add_header(struct text *text)
{
    text_add(text, "path id memory.current memory.min memory.low memory.high memory.max"
                   " hits misses first_touches pages_read aged");
    for (size_t i = 0; i < MGLRU_ARRAY_LEN(stat_names); i++)
        text_add(text, " %s", stat_names[i]);
    for (size_t i = 0; i < MGLRU_ARRAY_LEN(events); i++)
        text_add(text, " events.%s", events[i].name);
    text_add(text, "\n");
}

static void add_limits(struct text *text, const struct mglru_memcg *user)
{
    const struct page_counter *memory = &user->memcg->memory;
    const long limits[] = {
        page_counter_read(memory),         atomic_load_relaxed(&memory->min),
        atomic_load_relaxed(&memory->low), atomic_load_relaxed(&memory->high),
        atomic_load_relaxed(&memory->max),
    };
    for (size_t i = 0; i < MGLRU_ARRAY_LEN(limits); i++) {
        text_add(text, " ");
        text_add_limit(text, user->cache, limits[i]);
    }
}

static void add_row(struct text *text, struct mglru_memcg *user)
{
    struct mglru_counts counts;
    struct memcg *memcg = user->memcg;
    cache_memcg_counts(user, &counts);
    text_add(text, "%s %u", memcg->path, atomic_load_relaxed(&memcg->id));
    add_limits(text, user);
    text_add(text, " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64, counts.hits,
             counts.misses, counts.first_touches, counts.pages_read, cache_memcg_aged(user));
    for (size_t i = 0; i < MGLRU_ARRAY_LEN(stat_names); i++)
        text_add(text, " %" PRIu64,
                 memcg_stat_line_value(memcg, memcg_stat_line_find(stat_names[i]), MEMCG_ALL_NODES,
                                       false, user->cache->page_bytes));
    for (size_t i = 0; i < MGLRU_ARRAY_LEN(events); i++)
        text_add(text, " %" PRIu64, memcg_events(memcg, events[i].event));
    text_add(text, "\n");
}

void cache_memcg_list(struct mglru_cache *cache, struct text *text)
{
    struct memcg *root = cache->tree->root, *memcg = NULL;
    add_header(text);
    cache_enter(cache);
    memcg_stat_flush(root);
    while ((memcg = memcg_iter_next(root, memcg, NULL)))
        if (memcg_online(memcg))
            add_row(text, memcg_user(memcg));
    cache_leave(cache);
}
