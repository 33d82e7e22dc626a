/* SPDX-License-Identifier: MIT */
/*
 * The memory.* files of a memcg and the small files of the cache, as text with the kernel's
 * grammar. Facts: mglru-facts 9.1, 9.3, 6.4. The lru_gen files are in lru_gen_text.c.
 */
#include "cache/lru_gen_text.h"
#include "cache/text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "cache/cache.h"

/* Longest text that a control file takes (the kernel: one page). */
#define CONTROL_BYTES 4096

/* --- reading -------------------------------------------------------------------------------- */

static void add_bytes(struct text *text, const struct mglru_cache *cache, long pages)
{
    text_add(text, "%" PRIu64 "\n", (uint64_t)pages * cache->page_bytes);
}

static void add_limit(struct text *text, const struct mglru_cache *cache, long pages)
{
    text_add_limit(text, cache, pages);
    text_add(text, "\n");
}

static void read_current(struct mglru_memcg *user, struct text *text)
{
    add_bytes(text, user->cache, page_counter_read(&user->memcg->memory));
}

static void read_peak(struct mglru_memcg *user, struct text *text)
{
    add_bytes(text, user->cache, atomic_load_relaxed(&user->memcg->memory.watermark));
}

static void read_min(struct mglru_memcg *user, struct text *text)
{
    add_limit(text, user->cache, atomic_load_relaxed(&user->memcg->memory.min));
}

static void read_low(struct mglru_memcg *user, struct text *text)
{
    add_limit(text, user->cache, atomic_load_relaxed(&user->memcg->memory.low));
}

static void read_high(struct mglru_memcg *user, struct text *text)
{
    add_limit(text, user->cache, atomic_load_relaxed(&user->memcg->memory.high));
}

static void read_max(struct mglru_memcg *user, struct text *text)
{
    add_limit(text, user->cache, atomic_load_relaxed(&user->memcg->memory.max));
}

static void read_swap_current(struct mglru_memcg *user, struct text *text)
{
    add_bytes(text, user->cache, page_counter_read(&user->memcg->swap));
}

static void read_swap_peak(struct mglru_memcg *user, struct text *text)
{
    add_bytes(text, user->cache, atomic_load_relaxed(&user->memcg->swap.watermark));
}

static void read_swap_high(struct mglru_memcg *user, struct text *text)
{
    add_limit(text, user->cache, atomic_load_relaxed(&user->memcg->swap.high));
}

static void read_swap_max(struct mglru_memcg *user, struct text *text)
{
    add_limit(text, user->cache, atomic_load_relaxed(&user->memcg->swap.max));
}

static void add_events(struct mglru_memcg *user, struct text *text, bool local)
{
    static const char *const names[] = {"low",      "high",           "max",           "oom",
                                        "oom_kill", "oom_group_kill", "sock_throttled"};
    for (unsigned i = 0; i < MGLRU_ARRAY_LEN(names); i++) {
        enum memcg_event event = (enum memcg_event)i;
        uint64_t count =
            local ? memcg_events_local(user->memcg, event) : memcg_events(user->memcg, event);
        text_add(text, "%s %" PRIu64 "\n", names[i], count);
    }
}

static void read_events(struct mglru_memcg *user, struct text *text)
{
    add_events(user, text, false);
}

static void read_events_local(struct mglru_memcg *user, struct text *text)
{
    add_events(user, text, true);
}

static void read_swap_events(struct mglru_memcg *user, struct text *text)
{
    text_add(text, "high %" PRIu64 "\nmax %" PRIu64 "\nfail %" PRIu64 "\n",
             memcg_events(user->memcg, MEMCG_EVENT_SWAP_HIGH),
             memcg_events(user->memcg, MEMCG_EVENT_SWAP_MAX),
             memcg_events(user->memcg, MEMCG_EVENT_SWAP_FAIL));
}

static void read_oom_group(struct mglru_memcg *user, struct text *text)
{
    text_add(text, "%u\n", (unsigned)atomic_load_relaxed(&user->memcg->oom_group));
}

static void read_swappiness(struct mglru_memcg *user, struct text *text)
{
    text_add(text, "%u\n", (unsigned)atomic_load_relaxed(&user->memcg->swappiness));
}

static void read_stat(struct mglru_memcg *user, struct text *text)
{
    memcg_stat_flush_if_needed(user->memcg);
    for (size_t i = 0; i < memcg_stat_line_count; i++) {
        const struct memcg_stat_line *line = &memcg_stat_lines[i];
        text_add(text, "%s %" PRIu64 "\n", line->name,
                 memcg_stat_line_value(user->memcg, line, MEMCG_ALL_NODES, false,
                                       user->cache->page_bytes));
    }
}

static void read_numa_stat(struct mglru_memcg *user, struct text *text)
{
    memcg_stat_flush_if_needed(user->memcg);
    for (size_t i = 0; i < memcg_stat_line_count; i++) {
        const struct memcg_stat_line *line = &memcg_stat_lines[i];
        if (!memcg_stat_infos[line->first].per_node)
            continue;
        text_add(text, "%s", line->name);
        for (unsigned node = 0; node < user->cache->reclaim.nodes; node++)
            text_add(
                text, " N%u=%" PRIu64, node,
                memcg_stat_line_value(user->memcg, line, node, false, user->cache->page_bytes));
        text_add(text, "\n");
    }
}

/* --- writing -------------------------------------------------------------------------------- */

static int parse_limit(struct mglru_memcg *user, const char *text, long *pages)
{
    return page_counter_parse(text, strlen(text), user->cache->page_bytes, pages);
}

static int write_min(struct mglru_memcg *user, const char *text)
{
    long pages;
    int error = parse_limit(user, text, &pages);
    if (!error)
        page_counter_set_min(&user->memcg->memory, pages);
    return error;
}

static int write_low(struct mglru_memcg *user, const char *text)
{
    long pages;
    int error = parse_limit(user, text, &pages);
    if (!error)
        page_counter_set_low(&user->memcg->memory, pages);
    return error;
}

static int write_high(struct mglru_memcg *user, const char *text)
{
    long pages;
    int error = parse_limit(user, text, &pages);
    if (error)
        return error;
    page_counter_set_high(&user->memcg->memory, pages);
    cache_enforce_high(user->cache, user->memcg);
    return 0;
}

static int write_max(struct mglru_memcg *user, const char *text)
{
    long pages;
    int error = parse_limit(user, text, &pages);
    if (error)
        return error;
    memcg_write_max(user->memcg, pages);
    cache_enforce_max(user->cache, user->memcg);
    return 0;
}

static int write_swap_max(struct mglru_memcg *user, const char *text)
{
    long pages;
    int error = parse_limit(user, text, &pages);
    if (!error)
        page_counter_store_max(&user->memcg->swap, pages);
    return error;
}

static int write_swap_high(struct mglru_memcg *user, const char *text)
{
    long pages;
    int error = parse_limit(user, text, &pages);
    if (!error)
        page_counter_set_high(&user->memcg->swap, pages);
    return error;
}

static int write_peak(struct mglru_memcg *user, const char *text)
{
    page_counter_reset_watermark(&user->memcg->memory);
    return 0;
}

int control_parse_uint(const char *text, unsigned *value)
{
    char *end;
    if (text[0] < '0' || text[0] > '9') {
        /* As kstrtouint: one sign, no blanks before the number. */
        if (text[0] != '+' || text[1] < '0' || text[1] > '9')
            return MGLRU_EINVAL;
    }
    errno = 0;
    unsigned long parsed = strtoul(text, &end, 0);
    if (*end == '\n')
        end++;
    if (*end || errno || parsed > UINT32_MAX)
        return MGLRU_EINVAL;
    *value = (unsigned)parsed;
    return 0;
}

static int write_oom_group(struct mglru_memcg *user, const char *text)
{
    unsigned value;
    if (control_parse_uint(text, &value) || value > 1)
        return MGLRU_EINVAL;
    atomic_store_relaxed(&user->memcg->oom_group, (uint8_t)value);
    return 0;
}

static int write_swappiness(struct mglru_memcg *user, const char *text)
{
    unsigned value;
    if (control_parse_uint(text, &value) || value > MAX_SWAPPINESS)
        return MGLRU_EINVAL;
    atomic_store_relaxed(&user->memcg->swappiness, (uint8_t)value);
    return 0;
}

/* One option of memory.reclaim: "swappiness=N" or "swappiness=max". */
static int parse_reclaim_option(const struct mglru_memcg *user, const char *option, int *swappiness)
{
    unsigned value;
    if (strncmp(option, "swappiness=", 11) != 0)
        return MGLRU_EINVAL;
    if (strcmp(option + 11, "max") == 0 && user->cache->model->anon_only)
        value = SWAPPINESS_ANON_ONLY;
    else if (control_parse_uint(option + 11, &value) || value > MAX_SWAPPINESS)
        return MGLRU_EINVAL;
    *swappiness = (int)value;
    return 0;
}

/* "<bytes> [swappiness=N|swappiness=max]"; of several options the last counts. */
static int parse_reclaim(struct mglru_memcg *user, const char *text, long *pages, int *swappiness)
{
    char copy[CONTROL_BYTES];
    snprintf(copy, sizeof(copy), "%s", text);
    char *rest = copy + strspn(copy, " \t\n");
    char *word = rest;
    rest += strcspn(rest, " \t\n");
    *swappiness = -1;
    int error = MGLRU_EINVAL;
    for (bool first = true; *word; first = false) {
        if (*rest)
            *rest++ = '\0';
        error =
            first ? parse_limit(user, word, pages) : parse_reclaim_option(user, word, swappiness);
        if (error)
            return error;
        word = rest + strspn(rest, " \t\n");
        rest = word + strcspn(word, " \t\n");
    }
    return error;
}

static int write_reclaim(struct mglru_memcg *user, const char *text)
{
    struct mglru_cache *cache = user->cache;
    long pages;
    int swappiness;
    int error = parse_reclaim(user, text, &pages, &swappiness);
    if (error)
        return error;
    unsigned long wanted = (unsigned long)pages, reclaimed = 0;
    unsigned retries = MAX_RECLAIM_RETRIES;
    while (reclaimed < wanted) {
        if (cache_stopped(cache))
            return MGLRU_EINTR;
        struct reclaim_request request = {.target = user->memcg,
                                          .pages = (wanted - reclaimed) / 4,
                                          .may_swap = true,
                                          .proactive = true,
                                          .swappiness = swappiness};
        if (retries == 0)
            lru_batch_drain(&cache->reclaim);
        unsigned long now = reclaim_run(&cache->reclaim, &request);
        if (!now && retries-- == 0)
            return MGLRU_EAGAIN;
        reclaimed += now;
    }
    return 0;
}

/* --- the table ------------------------------------------------------------------------------ */

struct control_file {
    const char *name;
    void (*read)(struct mglru_memcg *user, struct text *text);
    int (*write)(struct mglru_memcg *user, const char *text);
};

static const struct control_file files[] = {
    {"memory.current", read_current, NULL},
    {"memory.peak", read_peak, write_peak},
    {"memory.min", read_min, write_min},
    {"memory.low", read_low, write_low},
    {"memory.high", read_high, write_high},
    {"memory.max", read_max, write_max},
    {"memory.reclaim", NULL, write_reclaim},
    {"memory.events", read_events, NULL},
    {"memory.events.local", read_events_local, NULL},
    {"memory.oom.group", read_oom_group, write_oom_group},
    {"memory.stat", read_stat, NULL},
    {"memory.numa_stat", read_numa_stat, NULL},
    {"memory.swap.current", read_swap_current, NULL},
    {"memory.swap.peak", read_swap_peak, NULL},
    {"memory.swap.high", read_swap_high, write_swap_high},
    {"memory.swap.max", read_swap_max, write_swap_max},
    {"memory.swap.events", read_swap_events, NULL},
    {"swappiness", read_swappiness, write_swappiness},
    {"memory.swappiness", read_swappiness, write_swappiness},
};

static const struct control_file *find_file(const char *name)
{
    for (size_t i = 0; i < MGLRU_ARRAY_LEN(files); i++)
        if (strcmp(files[i].name, name) == 0)
            return &files[i];
    return NULL;
}

/* A terminated copy of at most a page. */
static int copy_text(const char *text, size_t length, char copy[CONTROL_BYTES])
{
    if (length >= CONTROL_BYTES || memchr(text, '\0', length))
        return MGLRU_EINVAL;
    memcpy(copy, text, length);
    copy[length] = '\0';
    return 0;
}

/* The root has no limits, and no events of its own. */
static bool root_lacks(const char *name)
{
    return strncmp(name, "memory.", 7) == 0 && strcmp(name, "memory.stat") != 0 &&
           strcmp(name, "memory.numa_stat") != 0 && strcmp(name, "memory.reclaim") != 0;
}

static int memcg_write(struct mglru_memcg *user, const char *name, const char *text, size_t length)
{
    char copy[CONTROL_BYTES];
    const struct control_file *file = find_file(name);
    if (!file || (memcg_is_root(user->memcg) && root_lacks(name)))
        return MGLRU_ENOENT;
    if (!file->write)
        return MGLRU_EPERM;
    int error = copy_text(text, length, copy);
    return error ? error : file->write(user, copy);
}

int mglru_memcg_write(struct mglru_memcg *user, const char *name, const char *text, size_t length)
{
    cache_enter(user->cache);
    int error = memcg_write(user, name, text, length);
    cache_leave(user->cache);
    return error;
}

static int finish_read(const struct text *text, size_t *length)
{
    if (text->capacity && text->length >= text->capacity)
        text->buffer[text->capacity - 1] = '\0';
    if (length)
        *length = text->length;
    return text->length < text->capacity ? 0 : MGLRU_EOVERFLOW;
}

static int memcg_read(struct mglru_memcg *user, const char *name, struct text *text)
{
    const struct control_file *file = find_file(name);
    if (!file || (memcg_is_root(user->memcg) && root_lacks(name)))
        return MGLRU_ENOENT;
    if (!file->read)
        return MGLRU_EPERM;
    file->read(user, text);
    return 0;
}

int mglru_memcg_read(struct mglru_memcg *user, const char *name, char *buffer, size_t capacity,
                     size_t *length)
{
    struct text text = {.buffer = buffer, .capacity = capacity};
    if (capacity)
        buffer[0] = '\0';
    cache_enter(user->cache);
    int error = memcg_read(user, name, &text);
    cache_leave(user->cache);
    return error ? error : finish_read(&text, length);
}

/* --- files of the cache --------------------------------------------------------------------- */

static int write_global_swappiness(struct mglru_cache *cache, const char *text)
{
    unsigned value;
    if (control_parse_uint(text, &value) || value > MAX_SWAPPINESS)
        return MGLRU_EINVAL;
    struct memcg *memcg = NULL;
    while ((memcg = memcg_iter_next(cache->tree->root, memcg, NULL)))
        atomic_store_relaxed(&memcg->swappiness, (uint8_t)value);
    return 0;
}

/* As in the kernel's bdi folders. */
static int write_read_ahead_kb(struct mglru_cache *cache, const char *text)
{
    unsigned value;
    if (control_parse_uint(text, &value) || value > UINT32_MAX / 1024)
        return MGLRU_EINVAL;
    cache->readahead_pages = (uint32_t)((uint64_t)value * 1024 / cache->page_bytes);
    return 0;
}

static int cache_write(struct mglru_cache *cache, const char *name, const char *text, size_t length)
{
    char copy[CONTROL_BYTES];
    int error = copy_text(text, length, copy);
    if (strcmp(name, "lru_gen") == 0)
        return error ? error : lru_gen_write(cache, copy);
    if (strcmp(name, "enabled") == 0)
        return error ? error : lru_gen_write_enabled(cache, copy);
    if (strcmp(name, "min_ttl_ms") == 0)
        return error ? error : lru_gen_write_min_ttl(cache, copy);
    if (strcmp(name, "swappiness") == 0)
        return error ? error : write_global_swappiness(cache, copy);
    if (strcmp(name, "read_ahead_kb") == 0 && !cache_is_shared(cache))
        return error ? error : write_read_ahead_kb(cache, copy);
    if (strcmp(name, "stat_refresh") == 0) {
        cache_flush_stats(cache);
        return 0;
    }
    return strcmp(name, "lru_gen_full") == 0 ? MGLRU_EPERM : MGLRU_ENOENT;
}

int mglru_cache_write(struct mglru_cache *cache, const char *name, const char *text, size_t length)
{
    cache_enter(cache);
    int error = cache_write(cache, name, text, length);
    cache_leave(cache);
    return error;
}

static int cache_read(struct mglru_cache *cache, const char *name, struct text *text)
{
    if (strcmp(name, "read_ahead_kb") == 0 && !cache_is_shared(cache))
        text_add(text, "%" PRIu64 "\n",
                 (uint64_t)cache->readahead_pages * cache->page_bytes / 1024);
    else if (strcmp(name, "lru_gen") == 0)
        lru_gen_read(cache, text, false);
    else if (strcmp(name, "lru_gen_full") == 0)
        lru_gen_read(cache, text, true);
    else if (strcmp(name, "enabled") == 0)
        lru_gen_read_enabled(cache, text);
    else if (strcmp(name, "min_ttl_ms") == 0)
        text_add(text, "%u\n", atomic_load_relaxed(&cache->reclaim.min_ttl_ms));
    else if (strcmp(name, "swappiness") == 0)
        read_swappiness(memcg_user(cache->tree->root), text);
    else
        return strcmp(name, "stat_refresh") == 0 ? MGLRU_EPERM : MGLRU_ENOENT;
    return 0;
}

int mglru_cache_read(struct mglru_cache *cache, const char *name, char *buffer, size_t capacity,
                     size_t *length)
{
    struct text text = {.buffer = buffer, .capacity = capacity};
    if (capacity)
        buffer[0] = '\0';
    cache_enter(cache);
    int error = cache_read(cache, name, &text);
    cache_leave(cache);
    return error ? error : finish_read(&text, length);
}

/* --- by path -------------------------------------------------------------------------------- */

int cache_file_read(struct mglru_cache *cache, const struct cache_file_name *file,
                    struct text *text)
{
    struct memcg *memcg;
    cache_enter(cache);
    int error = file->path ? memcg_find(cache->tree, file->path, &memcg) : 0;
    if (!error)
        error = file->path ? memcg_read(memcg_user(memcg), file->name, text)
                           : cache_read(cache, file->name, text);
    cache_leave(cache);
    return error;
}

int cache_file_write(struct mglru_cache *cache, const struct cache_file_name *file,
                     const char *bytes, size_t length)
{
    struct memcg *memcg;
    cache_enter(cache);
    int error = file->path ? memcg_find(cache->tree, file->path, &memcg) : 0;
    if (!error)
        error = file->path ? memcg_write(memcg_user(memcg), file->name, bytes, length)
                           : cache_write(cache, file->name, bytes, length);
    cache_leave(cache);
    return error;
}

/* --- statistics by name --------------------------------------------------------------------- */

/* Generations created, in either kind of cache. */
static uint64_t memcg_aged(const struct mglru_memcg *user)
{
    return user->aged + atomic_load_relaxed(&user->shared_aged);
}

uint64_t cache_memcg_aged(const struct mglru_memcg *user)
{
    struct memcg *memcg = NULL;
    uint64_t sum = 0;
    while ((memcg = memcg_iter_next(user->memcg, memcg, NULL)))
        sum += memcg_aged(memcg_user(memcg));
    return sum;
}

static int stat_value(struct mglru_memcg *user, const char *name, uint64_t *value)
{
    const struct memcg_stat_line *line = memcg_stat_line_find(name);
    *value = 0;
    if (strcmp(name, "aged") == 0) {
        *value = cache_memcg_aged(user);
        return 0;
    }
    if (!line)
        return MGLRU_ENOENT;
    *value =
        memcg_stat_line_value(user->memcg, line, MEMCG_ALL_NODES, true, user->cache->page_bytes);
    return 0;
}

int mglru_memcg_stat(struct mglru_memcg *user, const char *name, uint64_t *value)
{
    cache_enter(user->cache);
    int error = stat_value(user, name, value);
    cache_leave(user->cache);
    return error;
}

const char *mglru_stat_name(size_t i)
{
    return i < memcg_stat_line_count ? memcg_stat_lines[i].name : NULL;
}
