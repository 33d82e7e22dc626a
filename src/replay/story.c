/* SPDX-License-Identifier: MIT */
/*
 * Tells in sentences why pages that were needed again had been evicted. Every sentence states
 * figures of this run; the ones that name a cause appear only when the figures show it.
 *
 * What counts as shown
 *   soon   half of the refaulted pages came back before as many pages were evicted as memory holds.
 *   stuck  they came back soon, eviction went through memory's worth of pages at least four times
 *          for each generation created, and most of memory lies in generations younger than the
 *          oldest, where eviction does not look. For the classic LRU: soon, and most of memory is
 *          on the active list.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mglru/control.h>

#include "replay/explain.h"
#include "replay/lru_gen.h"

#define STUCK_ROUNDS 4
#define GENERATIONS 8 /* of one memcg and node that are told apart; four exist at most */

struct where {
    uint64_t seq[GENERATIONS];
    uint64_t pages[GENERATIONS];
    size_t count;
    uint64_t total;
    uint64_t oldest; /* pages in the oldest generation that has any of this type */
    uint64_t memcg_id;
};

struct story {
    FILE *out;
    const struct explain_facts *facts;
    const struct replay_run *run;
    struct mglru_cache *cache;
    uint64_t resident_pages;
    const struct replay_explain_row *worst; /* NULL: nothing refaulted */
};

#define COUNT_BYTES 32

/* Thousands apart, into one of the caller's buffers. */
static const char *count(uint64_t value, char *text)
{
    char digits[24];
    int length = snprintf(digits, sizeof(digits), "%" PRIu64, value);
    char *to = text;
    for (int i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0)
            *to++ = ',';
        *to++ = digits[i];
    }
    *to = '\0';
    return text;
}

static double percent(uint64_t part, uint64_t whole)
{
    return whole == 0 ? 0.0 : 100.0 * (double)part / (double)whole;
}

static uint64_t stat_of(const struct replay_run *run, const char *name)
{
    for (size_t i = 0; i < run->figures.stats; i++)
        if (strcmp(run->figures.stat[i].name, name) == 0)
            return run->figures.stat[i].value;
    return 0;
}

/* Pages by generation of the memcg and node that hold most pages of @type. */
static void look_at_generations(struct mglru_cache *cache, unsigned type, struct where *most)
{
    *most = (struct where){0};
    struct lru_gen_text text;
    if (lru_gen_open(cache, &text) != MGLRU_OK)
        return;
    struct where now = {0};
    struct lru_gen_line line;
    uint32_t node = UINT32_MAX;
    while (lru_gen_next(&text, &line)) {
        if (line.memcg_id != now.memcg_id || line.node != node)
            now = (struct where){.memcg_id = line.memcg_id};
        node = line.node;
        if (now.count == GENERATIONS)
            continue;
        now.seq[now.count] = line.seq;
        now.pages[now.count++] = line.pages[type];
        now.total += line.pages[type];
        if (now.oldest == 0)
            now.oldest = line.pages[type];
        if (now.total >= most->total)
            *most = now;
    }
    lru_gen_close(&text);
}

static void tell_total(const struct story *story)
{
    char a[COUNT_BYTES], b[COUNT_BYTES];
    const struct replay_figures *figures = &story->run->figures;
    fprintf(story->out,
            "%s of %s misses (%.1f%%) were for pages that had been in memory before and were "
            "evicted.\n",
            count(story->facts->refaulted_pages, a), count(figures->misses, b),
            percent(story->facts->refaulted_pages, figures->misses));
}

static const char *use_text(const struct replay_explain_row *row)
{
    if (strcmp(row->rule, "inactive tail") == 0)
        return "not accessed twice while on the inactive list";
    static const char *const texts[] = {
        "accessed at most once since they came in (tier 0)", "accessed twice (tier 1)",
        "accessed three or four times (tier 2)", "accessed five times or more (tier 3)"};
    return texts[row->tier & 3];
}

static void tell_worst(const struct story *story)
{
    char a[COUNT_BYTES], b[COUNT_BYTES];
    const struct replay_explain_row *row = story->worst;
    double share = percent(row->refaults, story->facts->refaulted_pages);
    if (row->refaults == story->facts->refaulted_pages)
        fprintf(story->out, "All of them");
    else
        fprintf(story->out, "%s, %.1f%%,", share > 50 ? "Most of them" : "The largest group",
                share);
    fprintf(story->out, " were %s pages taken by the rule \"%s\", %s",
            row->type == 1 ? "file" : "anonymous", row->rule, use_text(row));
    if (strcmp(row->rule, "inactive tail") != 0)
        fprintf(story->out, ", %u generation%s older than the youngest", row->age,
                row->age == 1 ? "" : "s");
    fprintf(story->out,
            ".\nHalf of these came back before about %s more pages were evicted; %s pages are in "
            "memory.\n",
            count(row->distance_pages, a), count(story->resident_pages, b));
}

/* See the head of the file. */
static bool came_back_soon(const struct story *story)
{
    return story->worst->distance_pages < story->resident_pages;
}

static bool is_stuck(const struct story *story, uint64_t looked_at, uint64_t total)
{
    return came_back_soon(story) && looked_at * 2 < total &&
           story->facts->evicted_pages / (story->facts->generations + 1) >
               STUCK_ROUNDS * story->resident_pages;
}

/* Where no cause shows: what the distance means for the size. */
static void tell_remedy(const struct story *story)
{
    char a[COUNT_BYTES];
    fprintf(story->out,
            "About %s pages more of memory, evicted in the same order, would have kept half of "
            "these.\n",
            count(story->worst->distance_pages + 1, a));
}

static void tell_generations(const struct story *story, const struct where *where)
{
    char a[COUNT_BYTES], b[COUNT_BYTES];
    const struct explain_facts *facts = story->facts;
    if (facts->generations == 0)
        fprintf(story->out, "No generation was created in %s accesses: aging never ran.\n",
                count(facts->accesses, a));
    else
        fprintf(story->out, "%s generations were created in %s accesses, the last one after about ",
                count(facts->generations, a), count(facts->accesses, b));
    if (facts->generations > 0)
        fprintf(story->out, "%s.\n", count(facts->last_generation, a));
    fprintf(story->out, "At the end they hold, oldest first (generation: %s pages):",
            story->worst->type == 1 ? "file" : "anonymous");
    for (size_t i = 0; i < where->count; i++)
        fprintf(story->out, "%s %" PRIu64 ": %s", i > 0 ? "," : "", where->seq[i],
                count(where->pages[i], a));
    fprintf(story->out, ".\n");
}

static void tell_mglru(const struct story *story)
{
    char a[COUNT_BYTES], b[COUNT_BYTES], c[COUNT_BYTES];
    struct where where;
    look_at_generations(story->cache, story->worst->type, &where);
    tell_generations(story, &where);
    if (is_stuck(story, where.oldest, where.total)) {
        fprintf(story->out,
                "Eviction looks at the oldest generation only. %s of %s pages (%.1f%%) lie in "
                "younger ones, where nothing looks at them until aging runs, used or not.\n"
                "Aging does not run at the priority that reclaim starts with while the oldest "
                "generation has pages to give, and it always has: what is read now enters there "
                "or just above.\n"
                "So what was hot once stays for good, and what is hot now is evicted after about "
                "%s more pages, before it can prove itself: a set of hot pages that moves never "
                "settles.\n",
                count(where.total - where.oldest, a), count(where.total, b),
                percent(where.total - where.oldest, where.total),
                count(story->worst->distance_pages, c));
        fprintf(story->out, "Compare: --policy mglru,classic --model 6.12,7.3,next,ours.\n");
    } else {
        tell_remedy(story);
    }
}

static void tell_classic(const struct story *story, uint32_t page_bytes)
{
    char a[COUNT_BYTES], b[COUNT_BYTES];
    const bool file = story->worst->type == 1;
    uint64_t active = stat_of(story->run, file ? "active_file" : "active_anon") / page_bytes;
    uint64_t inactive = stat_of(story->run, file ? "inactive_file" : "inactive_anon") / page_bytes;
    fprintf(story->out, "At the end the active list holds %s pages and the inactive list %s.\n",
            count(active, a), count(inactive, b));
    if (came_back_soon(story) && inactive * 2 < active + inactive)
        fprintf(story->out,
                "A new page enters the inactive list and has the time that list takes to drain, "
                "%s pages, to be accessed again.\n"
                "Most of memory is on the active list, which is shrunk only when the inactive one "
                "is too small beside it, as of the last flush of the counters.\n"
                "So pages needed at longer distance are evicted, although older active ones may "
                "not be needed any more.\n",
                count(inactive, a));
    else
        tell_remedy(story);
}

char *explain_story(const struct explain_facts *facts, struct mglru_cache *cache,
                    uint32_t page_bytes, const struct replay_run *run)
{
    char *text = NULL;
    size_t bytes = 0;
    struct story story = {.facts = facts, .run = run, .cache = cache};
    story.out = open_memstream(&text, &bytes);
    if (story.out == NULL)
        return NULL;
    story.resident_pages = (stat_of(run, "anon") + stat_of(run, "file")) / page_bytes;
    if (run->explain_count > 0 && run->explain[0].refaults > 0)
        story.worst = &run->explain[0];
    tell_total(&story);
    if (story.worst != NULL) {
        tell_worst(&story);
        if (strcmp(story.worst->rule, "inactive tail") == 0)
            tell_classic(&story, page_bytes);
        else
            tell_mglru(&story);
    }
    if (fclose(story.out) != 0) {
        free(text);
        return NULL;
    }
    return text;
}
