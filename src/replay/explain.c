/* SPDX-License-Identifier: MIT */
/*
 * Evictions that refaulted. A table by page (mapping and index) holds the last eviction; distances
 * between eviction and refault are counted in evicted pages and kept in logarithmic buckets, eight
 * a power of two, so that the median is exact below 16 and within an eighth above.
 *
 * Invariants
 *   1. A slot with mapping NULL is empty; slots are never freed, a page has at most one.
 *   2. used <= size / 2.
 *   3. A group exists from its first eviction on.
 */
#include "replay/explain.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/bits.h"
#include "base/check.h"

#define TRAILS_MIN 4096
#define AGE_MAX 7 /* four generations at most, so three in the kernel's models */
#define GROUPS 512
#define BUCKETS 512

/* The last eviction of a page. */
struct trail {
    const struct mglru_mapping *mapping;
    uint64_t index : 52;
    uint64_t group : 9;
    uint64_t gone : 1; /* evicted and not back yet */
    uint64_t clock;    /* pages evicted before it */
};
_Static_assert(sizeof(struct trail) == 24, "one per page ever evicted");

struct group {
    uint64_t evictions;
    uint64_t refaults;
    uint64_t recent;
    uint64_t distances[BUCKETS];
};

struct replay_explain {
    const uint64_t *accesses;
    struct trail *trails;
    size_t size; /* a power of two */
    size_t used;
    struct group *groups[GROUPS];
    struct explain_facts facts;
    bool out_of_memory;
};

struct replay_explain *replay_explain_create(const uint64_t *accesses)
{
    struct replay_explain *explain = calloc(1, sizeof(*explain));
    if (explain == NULL)
        return NULL;
    explain->accesses = accesses;
    explain->size = TRAILS_MIN;
    explain->trails = calloc(explain->size, sizeof(*explain->trails));
    if (explain->trails == NULL) {
        free(explain);
        return NULL;
    }
    return explain;
}

void replay_explain_destroy(struct replay_explain *explain)
{
    if (explain == NULL)
        return;
    for (size_t i = 0; i < GROUPS; i++)
        free(explain->groups[i]);
    free(explain->trails);
    free(explain);
}

static unsigned bucket_of(uint64_t distance)
{
    if (distance < 16)
        return (unsigned)distance;
    unsigned top = bits_fls(distance) - 1; /* >= 4 */
    return (top - 2) * 8 + (unsigned)((distance >> (top - 3)) & 7);
}

/* Least distance of a bucket; inverse of bucket_of. */
static uint64_t bucket_start(unsigned bucket)
{
    if (bucket < 16)
        return bucket;
    unsigned top = bucket / 8 + 2;
    return (UINT64_C(8) + bucket % 8) << (top - 3);
}

static struct trail *find_trail(struct trail *trails, size_t size,
                                const struct mglru_mapping *mapping, uint64_t index)
{
    uint64_t hash = bits_mix64((uintptr_t)mapping ^ (index * 0x9E3779B97F4A7C15ull));
    for (size_t i = hash;; i++) {
        struct trail *trail = &trails[i & (size - 1)];
        if (trail->mapping == NULL || (trail->mapping == mapping && trail->index == index))
            return trail;
    }
}

static bool grow_trails(struct replay_explain *explain)
{
    size_t size = explain->size * 2;
    struct trail *grown = calloc(size, sizeof(*grown));
    if (grown == NULL)
        return false;
    for (size_t i = 0; i < explain->size; i++) {
        const struct trail *trail = &explain->trails[i];
        if (trail->mapping != NULL)
            *find_trail(grown, size, trail->mapping, trail->index) = *trail;
    }
    free(explain->trails);
    explain->trails = grown;
    explain->size = size;
    return true;
}

static unsigned group_of(const struct mglru_event *event)
{
    uint64_t age = event->max_seq > event->folio_seq ? event->max_seq - event->folio_seq : 0;
    if (age > AGE_MAX)
        age = AGE_MAX;
    /* The classic lists know neither. */
    if (event->rule == MGLRU_EVICT_CLASSIC)
        return ((unsigned)event->rule & 7) << 6 | (event->type & 1u) << 5;
    return ((unsigned)event->rule & 7) << 6 | (event->type & 1u) << 5 | (event->tier & 3u) << 3 |
           (unsigned)age;
}

static void note_eviction(struct replay_explain *explain, const struct mglru_event *event)
{
    unsigned group = group_of(event);
    if (explain->groups[group] == NULL)
        explain->groups[group] = calloc(1, sizeof(struct group));
    if (explain->groups[group] == NULL) {
        explain->out_of_memory = true;
        return;
    }
    explain->groups[group]->evictions += event->pages;
    for (uint32_t i = 0; i < event->pages; i++) {
        if (explain->used >= explain->size / 2 && !grow_trails(explain)) {
            explain->out_of_memory = true;
            return;
        }
        uint64_t index = event->index + i;
        struct trail *trail = find_trail(explain->trails, explain->size, event->mapping, index);
        explain->used += trail->mapping == NULL;
        trail->mapping = event->mapping;
        trail->index = index;
        trail->group = group;
        trail->gone = 1;
        trail->clock = explain->facts.evicted_pages++;
    }
}

static void note_refault(struct replay_explain *explain, const struct mglru_event *event)
{
    for (uint32_t i = 0; i < event->pages; i++) {
        struct trail *trail =
            find_trail(explain->trails, explain->size, event->mapping, event->index + i);
        if (trail->mapping == NULL || !trail->gone)
            continue;
        struct group *group = explain->groups[trail->group];
        trail->gone = 0;
        group->refaults++;
        group->recent += event->recent != 0;
        group->distances[bucket_of(explain->facts.evicted_pages - trail->clock - 1)]++;
        explain->facts.refaulted_pages++;
    }
}

void replay_explain_event(void *context, const struct mglru_event *event)
{
    struct replay_explain *explain = context;
    if (explain->out_of_memory)
        return;
    switch (event->kind) {
    case MGLRU_EVENT_EVICT:
        note_eviction(explain, event);
        break;
    case MGLRU_EVENT_REFAULT:
        note_refault(explain, event);
        break;
    case MGLRU_EVENT_AGE:
        explain->facts.generations++;
        explain->facts.last_generation = *explain->accesses;
        break;
    default:
        break;
    }
}

static uint64_t median_distance(const struct group *group)
{
    uint64_t seen = 0;
    for (unsigned i = 0; i < BUCKETS; i++) {
        seen += group->distances[i];
        if (seen * 2 >= group->refaults && seen > 0)
            return bucket_start(i);
    }
    return 0;
}

static const char *rule_text(unsigned rule)
{
    switch (rule) {
    case MGLRU_EVICT_OLDEST:
        return "oldest generation";
    case MGLRU_EVICT_SECOND_PASS:
        return "second pass";
    case MGLRU_EVICT_CLASSIC:
        return "inactive tail";
    default:
        return "unknown";
    }
}

/* Most refaults first; equal ones in a fixed order. */
static int compare_rows(const void *a, const void *b)
{
    const struct replay_explain_row *left = a;
    const struct replay_explain_row *right = b;
    if (left->refaults != right->refaults)
        return left->refaults < right->refaults ? 1 : -1;
    if (left->evictions != right->evictions)
        return left->evictions < right->evictions ? 1 : -1;
    int rules = strcmp(left->rule, right->rule);
    if (rules != 0)
        return rules;
    return (left->type * 64 + left->tier * 8 + left->age) -
           (right->type * 64 + right->tier * 8 + right->age);
}

static int fill_rows(const struct replay_explain *explain, struct replay_run *out)
{
    out->explain = calloc(GROUPS, sizeof(*out->explain));
    if (out->explain == NULL)
        return MGLRU_ENOMEM;
    for (unsigned i = 0; i < GROUPS; i++) {
        const struct group *group = explain->groups[i];
        if (group == NULL)
            continue;
        out->explain[out->explain_count++] = (struct replay_explain_row){
            .rule = rule_text(i >> 6),
            .type = (uint8_t)(i >> 5 & 1),
            .tier = (uint8_t)(i >> 3 & 3),
            .age = (uint8_t)(i & 7),
            .evictions = group->evictions,
            .refaults = group->refaults,
            .recent = group->recent,
            .distance_pages = median_distance(group),
        };
    }
    qsort(out->explain, out->explain_count, sizeof(*out->explain), compare_rows);
    return MGLRU_OK;
}

int replay_explain_finish(struct replay_explain *explain, struct mglru_cache *cache,
                          uint32_t page_bytes, struct replay_run *out)
{
    if (explain->out_of_memory)
        return MGLRU_ENOMEM;
    int code = fill_rows(explain, out);
    if (code != MGLRU_OK)
        return code;
    explain->facts.accesses = *explain->accesses;
    out->explain_text = explain_story(&explain->facts, cache, page_bytes, out);
    return out->explain_text != NULL ? MGLRU_OK : MGLRU_ENOMEM;
}
