/* SPDX-License-Identifier: MIT */
/* The comparison of ref_pair.h. */
#include "model/ref_pair.h"

#include <stdio.h>
#include <string.h>

#include <mglru/control.h>

#include "base/check.h"

static void on_event(void *context, const struct mglru_event *event)
{
    struct ref_counts *counts = context;
    if (event->kind == MGLRU_EVENT_EVICT) {
        counts->evictions++;
        counts->evict_hash = ref_hash(counts->evict_hash, event->type == 0, event->index);
    } else if (event->kind == MGLRU_EVENT_REFAULT) {
        counts->refaults[event->type]++;
        counts->recent += event->recent;
    } else if (event->kind == MGLRU_EVENT_AGE) {
        counts->agings++;
    }
}

static void must(int error)
{
    MGLRU_CHECK(error == 0);
}

static void write_number(struct mglru_memcg *memcg, const char *name, long number)
{
    char text[32];
    snprintf(text, sizeof(text), "%ld", number);
    must(mglru_memcg_write(memcg, name, text, strlen(text)));
}

static void open_part(struct ref_pair *pair, enum mglru_mapping_kind kind, int pages)
{
    bool file = kind == MGLRU_FILE;
    if (!pages)
        return;
    must(mglru_mapping_create(pair->cache, file ? "file" : "region", kind, (uint64_t)pages,
                              &pair->mapping[file]));
    must(mglru_file_open(pair->mapping[file], pair->memcg, &pair->file[file]));
}

void ref_pair_init(struct ref_pair *pair, const struct ref_options *options)
{
    static const char *const models[] = {"6.12", "7.3", "next", "ours"};
    *pair = (struct ref_pair){0};
    struct mglru_cache_options cache = {
        .size = sizeof(cache),
        .model = models[options->model],
        .classic = options->classic,
        .swap_bytes = (uint64_t)options->swap_size * 4096,
        .kernel_charge =
            options->kernel_charge ? MGLRU_KERNEL_CHARGE_AUTO : MGLRU_KERNEL_CHARGE_NONE,
        .stat_flush = options->flush_accesses ? MGLRU_STAT_FLUSH_ACCESSES : MGLRU_STAT_FLUSH_ALWAYS,
        .stat_flush_period = (uint64_t)options->flush_accesses,
        .start_batch = options->start_batch ? options->start_batch : -1,
        .start_tables = options->start_tables ? options->start_tables : -1,
        .on_event = on_event,
        .on_event_context = &pair->engine,
    };
    must(mglru_cache_create(&cache, &pair->cache));
    if (options->no_walk)
        must(mglru_cache_write(pair->cache, "enabled", "1", 1));
    must(mglru_memcg_create(pair->cache, "/m", &pair->memcg));
    write_number(pair->memcg, "memory.max", options->limit * 4096);
    write_number(pair->memcg, "swappiness", options->swappiness);
    open_part(pair, MGLRU_FILE, options->file_size);
    open_part(pair, MGLRU_ANON, options->anon_size);
    pair->ref = ref_create(options);
    MGLRU_CHECK(pair->ref);
}

void ref_pair_fini(struct ref_pair *pair)
{
    mglru_cache_destroy(pair->cache);
    ref_destroy(pair->ref);
}

static enum ref_result engine_access(struct ref_pair *pair, enum ref_access kind, int page)
{
    static const enum mglru_access_kind kinds[] = {MGLRU_READ, MGLRU_MAP_READ, MGLRU_MAP_EXEC,
                                                   MGLRU_TOUCH};
    struct mglru_access access = {.file = pair->file[kind != REF_TOUCH],
                                  .index = (uint64_t)page,
                                  .count = 1,
                                  .kind = kinds[kind]};
    uint8_t bit = 0;
    struct mglru_miss_log log = {.bits = &bit};
    struct mglru_counts before, after;
    size_t done;
    mglru_memcg_counts(pair->memcg, false, &before);
    int error = mglru_cache_access(pair->cache, &access, 1, &log, &done);
    mglru_memcg_counts(pair->memcg, false, &after);
    if (error == MGLRU_EOOM)
        return REF_OOM;
    must(error);
    MGLRU_CHECK((bit & 1) == after.misses - before.misses);
    if (after.misses > before.misses)
        return REF_MISS;
    return after.first_touches > before.first_touches ? REF_FIRST_TOUCH : REF_HIT;
}

/* False, with a line, when two numbers differ. */
static bool same(struct ref_pair *pair, const char *what, uint64_t engine, uint64_t reference)
{
    if (engine == reference)
        return true;
    if (!pair->difference[0])
        snprintf(pair->difference, sizeof(pair->difference), "%s: engine %llu, reference %llu",
                 what, (unsigned long long)engine, (unsigned long long)reference);
    return false;
}

static bool same_counts(struct ref_pair *pair)
{
    const struct ref_counts *counts = ref_counts(pair->ref);
    bool equal = same(pair, "generations begun", pair->engine.agings, counts->agings);
    equal &= same(pair, "evictions", pair->engine.evictions, counts->evictions);
    equal &= same(pair, "pages evicted, in order", pair->engine.evict_hash, counts->evict_hash);
    equal &= same(pair, "refaults of files", pair->engine.refaults[1], counts->refaults[1]);
    equal &= same(pair, "swap-ins", pair->engine.refaults[0], counts->refaults[0]);
    return equal & same(pair, "recent refaults", pair->engine.recent, counts->recent);
}

bool ref_pair_access(struct ref_pair *pair, enum ref_access kind, int page)
{
    enum ref_result engine = engine_access(pair, kind, page);
    enum ref_result reference = ref_access(pair->ref, kind, page);
    bool equal = same(pair, "hit, miss, first touch, OOM (0..3)", engine, reference);
    return same_counts(pair) && equal && engine != REF_OOM;
}

bool ref_pair_age(struct ref_pair *pair, int swappiness, bool force)
{
    char text[100];
    snprintf(text, sizeof(text), "+ %llu 0 %llu %d %d",
             (unsigned long long)mglru_memcg_id(pair->memcg),
             (unsigned long long)ref_max_seq(pair->ref), swappiness, force);
    int error = mglru_cache_write(pair->cache, "lru_gen", text, strlen(text));
    MGLRU_CHECK(error == 0 || error == MGLRU_ERANGE);
    ref_age(pair->ref, swappiness, force);
    return same_counts(pair);
}

bool ref_pair_set_swappiness(struct ref_pair *pair, int swappiness)
{
    write_number(pair->memcg, "swappiness", swappiness);
    ref_set_swappiness(pair->ref, swappiness);
    return same_counts(pair);
}

bool ref_pair_set_limit(struct ref_pair *pair, long pages)
{
    write_number(pair->memcg, "memory.max", pages * 4096);
    ref_set_limit(pair->ref, pages);
    return same_counts(pair);
}

bool ref_pair_drop(struct ref_pair *pair, bool anon, int page)
{
    mglru_mapping_drop(pair->mapping[!anon], (uint64_t)page, 1);
    ref_drop(pair->ref, anon, page);
    return same_counts(pair);
}

bool ref_pair_compare_stat(struct ref_pair *pair)
{
    const struct ref_counts *counts = ref_counts(pair->ref);
    const struct {
        const char *name[2]; /* summed */
        uint64_t reference;
    } items[] = {
        {{"workingset_refault_file"}, counts->refaults[1]},
        {{"workingset_refault_anon"}, counts->refaults[0]},
        {{"workingset_restore_file", "workingset_restore_anon"}, counts->restored},
        {{"workingset_nodereclaim"}, counts->node_reclaims},
        {{"pgscan"}, counts->scanned},
        {{"pgsteal"}, counts->stolen},
        {{"pgrefill"}, counts->refilled},
        {{"pgactivate"}, counts->activated},
        {{"pgdeactivate"}, counts->deactivated},
    };
    bool equal = true;
    for (size_t i = 0; i < MGLRU_ARRAY_LEN(items); i++) {
        uint64_t sum = 0, value;
        for (int n = 0; n < 2 && items[i].name[n]; n++) {
            must(mglru_memcg_stat(pair->memcg, items[i].name[n], &value));
            sum += value;
        }
        equal &= same(pair, items[i].name[0], sum, items[i].reference);
    }
    return equal;
}
