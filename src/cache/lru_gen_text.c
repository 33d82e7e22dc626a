/* SPDX-License-Identifier: MIT */
/*
 * lru_gen as text: generations read, aging and eviction by command, the switches.
 * Facts: mglru-facts 9.1, 9.2, and what the recorded kernels answered to each command.
 *
 *   +  memcg_id  node  seq  [swappiness [force_scan]]
 *   -  memcg_id  node  seq  [swappiness [nr_to_reclaim]]
 * separated by ',' ';' or a newline.
 */
#include "cache/lru_gen_text.h"

#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "cache/cache.h"

/* --- reading -------------------------------------------------------------------------------- */

static unsigned long size_of(const struct lruvec *lruvec, uint64_t seq, unsigned type)
{
    unsigned long size = 0;
    for (unsigned zone = 0; zone < MAX_NR_ZONES; zone++) {
        long pages = lruvec_nr_pages(lruvec, gen_of(seq), type, zone);
        size += pages > 0 ? (unsigned long)pages : 0;
    }
    return size;
}

static void add_tier(const struct lruvec *lruvec, struct text *text, uint64_t seq, unsigned tier)
{
    text_add(text, "            %10u", tier);
    for (unsigned type = 0; type < LRU_TYPES; type++) {
        const char *marks = "xxx";
        unsigned long n[3] = {0, 0, 0};
        if (seq == lruvec_max_seq(lruvec)) {
            marks = "RTx";
            n[0] = lruvec->avg_refaulted[type][tier];
            n[1] = lruvec->avg_total[type][tier];
        } else if (seq == lruvec_min_seq(lruvec, type)) {
            marks = "rep";
            n[0] = atomic_load_relaxed(&lruvec->refaulted[type][tier]);
            n[1] = atomic_load_relaxed(&lruvec->evicted[type][tier]);
            n[2] = lruvec->protected_pages[type][tier];
        }
        for (unsigned i = 0; i < 3; i++)
            text_add(text, " %10lu%c", n[i], marks[i]);
    }
    text_add(text, "\n");
}

static void add_details(const struct lruvec *lruvec, struct text *text, uint64_t seq)
{
    for (unsigned tier = 0; tier < MAX_NR_TIERS; tier++)
        add_tier(lruvec, text, seq, tier);
    bool youngest = seq == lruvec_max_seq(lruvec);
    const char *marks = youngest ? "TYFA" : "xxxx";
    text_add(text, "                      ");
    for (unsigned i = 0; i < 4; i++)
        text_add(text, " %10lu%c", youngest ? (unsigned long)lruvec->mm_state.stats[i] : 0UL,
                 marks[i]);
    text_add(text, "\n");
}

static void add_lruvec(const struct lruvec *lruvec, struct text *text, bool full)
{
    const struct reclaim *reclaim = lruvec->reclaim;
    uint64_t first = lruvec_min_seq(lruvec, LRU_TYPE_ANON);
    if (reclaim->model->anon_only && lruvec_min_seq(lruvec, LRU_TYPE_FILE) < first)
        first = lruvec_min_seq(lruvec, LRU_TYPE_FILE);
    if (full)
        first = lruvec_max_seq(lruvec) >= MAX_NR_GENS - 1
                    ? lruvec_max_seq(lruvec) - (MAX_NR_GENS - 1)
                    : 0;
    text_add(text, " node %5u\n", lruvec->node);
    for (uint64_t seq = first; seq <= lruvec_max_seq(lruvec); seq++) {
        uint64_t age = (atomic_load_relaxed(&reclaim->now_ns) -
                        atomic_load_relaxed(&lruvec->timestamps[gen_of(seq)])) /
                       1000000;
        text_add(text, " %10llu %10llu", (unsigned long long)seq, (unsigned long long)age);
        for (unsigned type = 0; type < LRU_TYPES; type++)
            text_add(text, " %10lu%c", size_of(lruvec, seq, type),
                     full && seq < lruvec_min_seq(lruvec, type) ? 'x' : ' ');
        text_add(text, "\n");
        if (full)
            add_details(lruvec, text, seq);
    }
}

void lru_gen_read(struct mglru_cache *cache, struct text *text, bool full)
{
    struct memcg *memcg = NULL;
    while ((memcg = memcg_iter_next(cache->tree->root, memcg, NULL))) {
        unsigned id = atomic_load_relaxed(&memcg->id);
        /* Newer kernels print the id without padding. */
        text_add(text, cache->model->anon_only ? "memcg %u %s\n" : "memcg %5u %s\n", id,
                 memcg->path);
        for (unsigned node = 0; node < cache->reclaim.nodes; node++)
            add_lruvec(memcg_lruvec(memcg, node), text, full);
    }
}

void lru_gen_read_enabled(struct mglru_cache *cache, struct text *text)
{
    const struct reclaim *reclaim = &cache->reclaim;
    text_add(text, "0x%04x\n",
             (reclaim_enabled(reclaim) ? 1u : 0u) | (reclaim->mm_walk ? 2u : 0u) |
                 (reclaim->nonleaf ? 4u : 0u));
}

/* --- commands ------------------------------------------------------------------------------- */

static const char *skip_blanks(const char *p)
{
    while (*p == ' ' || *p == '\t' || *p == '\v' || *p == '\f' || *p == '\r')
        p++;
    return p;
}

/* An unsigned decimal as the kernel's sscanf reads it: wraps at 2^64. NULL: no digit here. */
static const char *scan_number(const char *p, uint64_t *value)
{
    p = skip_blanks(p);
    if (*p < '0' || *p > '9')
        return NULL;
    *value = 0;
    for (; *p >= '0' && *p <= '9'; p++)
        *value = *value * 10 + (uint64_t)(*p - '0');
    return p;
}

struct command {
    char verb;
    uint64_t memcg_id;
    uint64_t node;
    uint64_t seq;
    int swappiness;  /* -1: the current one */
    uint64_t option; /* UINT64_MAX: not given */
};

/* The optional swappiness: newer kernels read a word of at most four characters in any base. */
static const char *scan_swappiness(const struct mglru_cache *cache, const char *p,
                                   struct command *command, int *error)
{
    uint64_t number;
    *error = 0;
    if (!cache->model->anon_only) {
        const char *end = scan_number(p, &number);
        if (!end)
            return NULL;
        uint32_t narrow = (uint32_t)number;
        command->swappiness = narrow > INT32_MAX ? -1 : (int)narrow;
        return end;
    }
    char word[5] = {0};
    unsigned n = 0;
    while (n < 4 && *p && skip_blanks(p) == p && *p != '\n')
        word[n++] = *p++;
    if (!n)
        return NULL;
    unsigned value;
    if (strcmp(word, "max") == 0)
        command->swappiness = SWAPPINESS_ANON_ONLY;
    else if (control_parse_uint(word, &value))
        *error = MGLRU_EINVAL;
    else
        command->swappiness = value > INT32_MAX ? -1 : (int)value;
    return p;
}

static int parse_command(const struct mglru_cache *cache, const char *p, struct command *command)
{
    *command = (struct command){.swappiness = -1, .option = UINT64_MAX};
    command->verb = *p++;
    p = scan_number(p, &command->memcg_id);
    if (p)
        p = scan_number(p, &command->node);
    if (p)
        p = scan_number(p, &command->seq);
    if (!p)
        return MGLRU_EINVAL;
    p = skip_blanks(p);
    int error;
    const char *next = scan_swappiness(cache, p, command, &error);
    if (next) {
        p = skip_blanks(next);
        next = scan_number(p, &command->option);
        if (next)
            p = skip_blanks(next);
    }
    return *p ? MGLRU_EINVAL : error;
}

static int run_command(struct mglru_cache *cache, const struct command *command)
{
    struct reclaim *reclaim = &cache->reclaim;
    uint64_t id = cache->model->anon_only ? command->memcg_id : (uint32_t)command->memcg_id;
    if ((uint32_t)command->node >= reclaim->nodes || !id || id > MEMCG_ID_MAX)
        return MGLRU_EINVAL;
    struct memcg *memcg = memcg_by_id(cache->tree, (uint32_t)id);
    if (!memcg || !memcg_online(memcg))
        return MGLRU_EINVAL;
    struct lruvec *lruvec = memcg_lruvec(memcg, (unsigned)command->node);
    int most = cache->model->anon_only ? SWAPPINESS_ANON_ONLY : MAX_SWAPPINESS;
    int swappiness = command->swappiness;
    if (swappiness > most)
        return MGLRU_EINVAL;
    if (swappiness < 0) {
        struct scan_control sc = {.reclaim = reclaim, .may_swap = true, .swappiness = -1};
        swappiness = reclaim_swappiness(lruvec, &sc);
    }
    if (command->verb == '+')
        return reclaim_age_seq(reclaim, lruvec, command->seq, swappiness, command->option != 0);
    if (command->verb == '-')
        return reclaim_evict_seq(reclaim, lruvec, command->seq, swappiness, command->option);
    return MGLRU_EINVAL;
}

int lru_gen_write(struct mglru_cache *cache, char *commands)
{
    int error = MGLRU_EINVAL; /* nothing but separators is refused */
    char *next = commands;
    while (next) {
        char *item = next;
        next = strpbrk(item, ",;\n");
        if (next)
            *next++ = '\0';
        const char *text = skip_blanks(item);
        if (!*text)
            continue;
        struct command command;
        error = parse_command(cache, text, &command);
        if (!error)
            error = run_command(cache, &command);
        if (error)
            return error;
    }
    return error;
}

/* --- switches ------------------------------------------------------------------------------- */

int lru_gen_write_enabled(struct mglru_cache *cache, const char *text)
{
    struct reclaim *reclaim = &cache->reclaim;
    unsigned caps;
    if (!*text)
        return 0; /* a write of nothing does nothing */
    if (text[0] == 'n' || text[0] == 'N')
        caps = 0;
    else if (text[0] == 'y' || text[0] == 'Y')
        caps = ~0u;
    else if (control_parse_uint(text, &caps))
        return MGLRU_EINVAL;
    if (cache_is_shared(cache)) /* no page tables to walk, and no classic LRU (data.h) */
        return caps & 1 ? 0 : MGLRU_ENOTSUP;
    reclaim_switch(reclaim, caps & 1, NULL, NULL);
    reclaim->mm_walk = caps & 2;
    reclaim->nonleaf = caps & 4;
    return 0;
}

int lru_gen_write_min_ttl(struct mglru_cache *cache, const char *text)
{
    unsigned ms;
    if (!*text)
        return 0;
    if (control_parse_uint(text, &ms))
        return MGLRU_EINVAL;
    /* Kept in ticks of 4 ms (HZ 250), rounded up; what is no signed int means "for ever". */
    uint32_t rounded = ms > INT32_MAX ? 4294967288u : (ms + 3) / 4 * 4;
    atomic_store_relaxed(&cache->reclaim.min_ttl_ms, rounded);
    return 0;
}
