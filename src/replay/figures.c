/* SPDX-License-Identifier: MIT */
/*
 * What a run came to: counts, statistics and generations of the whole and of every memcg that the
 * trace named, each with its subtree.
 *
 * A memcg that was removed stays in the report. Its event counters were kept when it went; the
 * parent's statistics hold them too, as in the kernel. Amounts (bytes in use) are of the living.
 */
#include <stdlib.h>
#include <string.h>

#include <mglru/control.h>

#include "replay/kernel.h"
#include "replay/lru_gen.h"
#include "replay/rows.h"

struct aged {
    uint64_t memcg_id;
    uint64_t aged;
};

struct aged_list {
    struct aged *items; /* by memcg_id once sorted */
    size_t count;
    size_t capacity;
    uint64_t total;
};

static size_t stat_count(void)
{
    size_t count = 0;
    while (mglru_stat_name(count) != NULL)
        count++;
    return count;
}

/* Statistics that count events and so outlive the memcg; the others are amounts. */
static bool counts_events(const char *name)
{
    return strncmp(name, "workingset_", 11) == 0 || strncmp(name, "pg", 2) == 0 ||
           strncmp(name, "psw", 3) == 0;
}

static int add_aged(struct aged_list *list, uint64_t id, uint64_t aged)
{
    list->total += aged;
    if (list->count > 0 && list->items[list->count - 1].memcg_id == id) {
        list->items[list->count - 1].aged += aged;
        return MGLRU_OK;
    }
    if (list->count == list->capacity) {
        size_t capacity = list->capacity == 0 ? 16 : list->capacity * 2;
        struct aged *grown = realloc(list->items, capacity * sizeof(*grown));
        if (grown == NULL)
            return MGLRU_ENOMEM;
        list->items = grown;
        list->capacity = capacity;
    }
    list->items[list->count++] = (struct aged){.memcg_id = id, .aged = aged};
    return MGLRU_OK;
}

static int compare_aged(const void *a, const void *b)
{
    const struct aged *left = a;
    const struct aged *right = b;
    return (left->memcg_id > right->memcg_id) - (left->memcg_id < right->memcg_id);
}

/* Generations created since the start, by memcg: the last line of a node is its youngest. */
static int read_aged(const struct replay_kernel *run, struct aged_list *list)
{
    *list = (struct aged_list){0};
    struct lru_gen_text text;
    int code = lru_gen_open(run->cache, &text);
    if (code != MGLRU_OK)
        return code;
    struct lru_gen_line last = {0};
    struct lru_gen_line line;
    bool any = false;
    while (code == MGLRU_OK && lru_gen_next(&text, &line)) {
        if (any && (line.memcg_id != last.memcg_id || line.node != last.node) &&
            last.seq >= run->first_seq)
            code = add_aged(list, last.memcg_id, last.seq - run->first_seq);
        last = line;
        any = true;
    }
    if (code == MGLRU_OK && any && last.seq >= run->first_seq)
        code = add_aged(list, last.memcg_id, last.seq - run->first_seq);
    lru_gen_close(&text);
    if (list->count > 0)
        qsort(list->items, list->count, sizeof(*list->items), compare_aged);
    return code;
}

static uint64_t find_aged(const struct aged_list *list, struct mglru_memcg *memcg)
{
    if (memcg == NULL || list->count == 0)
        return 0;
    struct aged key = {.memcg_id = mglru_memcg_id(memcg)};
    const struct aged *found =
        bsearch(&key, list->items, list->count, sizeof(*list->items), compare_aged);
    return found != NULL ? found->aged : 0;
}

int kernel_figures_keep(struct replay_kernel *run, struct kernel_memcg *memcg)
{
    struct mglru_counts own;
    mglru_memcg_counts(memcg->handle, false, &own);
    memcg->gone.accesses += own.accesses;
    memcg->gone.hits += own.hits;
    memcg->gone.misses += own.misses;
    memcg->gone.first_touches += own.first_touches;
    memcg->gone.pages_read += own.pages_read;
    struct aged_list list;
    int code = read_aged(run, &list);
    memcg->gone_aged += find_aged(&list, memcg->handle);
    free(list.items);
    if (memcg->gone_stat == NULL)
        memcg->gone_stat = calloc(stat_count() + 1, sizeof(*memcg->gone_stat));
    if (memcg->gone_stat == NULL)
        return MGLRU_ENOMEM;
    for (size_t i = 0; mglru_stat_name(i) != NULL; i++) {
        uint64_t value = 0;
        if (counts_events(mglru_stat_name(i)) &&
            mglru_memcg_stat(memcg->handle, mglru_stat_name(i), &value) == MGLRU_OK)
            memcg->gone_stat[i] += value;
    }
    return code;
}

/* Fills the statistics of @figures; @handle or @gone may be NULL. */
static int fill_stat(struct replay_figures *figures, struct mglru_memcg *handle,
                     const uint64_t *gone)
{
    size_t count = stat_count();
    figures->stat = calloc(count + 1, sizeof(*figures->stat));
    if (figures->stat == NULL)
        return MGLRU_ENOMEM;
    figures->stats = count;
    for (size_t i = 0; i < count; i++) {
        struct replay_stat *stat = &figures->stat[i];
        stat->name = mglru_stat_name(i);
        if (handle != NULL && mglru_memcg_stat(handle, stat->name, &stat->value) != MGLRU_OK)
            stat->value = 0;
        if (gone != NULL)
            stat->value += gone[i];
    }
    return MGLRU_OK;
}

/* A memcg of the trace without its subtree. */
static void fill_own(const struct replay_kernel *run, uint32_t id, const struct aged_list *aged,
                     struct replay_own *own)
{
    *own = (struct replay_own){.path = replay_names_at(run->names, REPLAY_MEMCG, id), .id = id};
    if (id >= run->memcg_count)
        return;
    const struct kernel_memcg *memcg = &run->memcgs[id];
    struct mglru_counts counts = {0};
    if (memcg->handle != NULL)
        mglru_memcg_counts(memcg->handle, false, &counts);
    own->figures.accesses = counts.accesses + memcg->gone.accesses;
    own->figures.hits = counts.hits + memcg->gone.hits;
    own->figures.misses = counts.misses + memcg->gone.misses;
    own->figures.first_touches = counts.first_touches + memcg->gone.first_touches;
    own->figures.pages_read = counts.pages_read + memcg->gone.pages_read;
    own->figures.aged = memcg->gone_aged + find_aged(aged, memcg->handle);
    own->oom_events = memcg->oom_events;
    own->skipped = memcg->skipped;
}

static int fill_row_stat(const struct replay_kernel *run, const struct replay_own *own)
{
    struct mglru_memcg *handle = NULL;
    const uint64_t *gone = NULL;
    if (own->id < run->memcg_count) {
        handle = run->memcgs[own->id].handle;
        gone = run->memcgs[own->id].gone_stat;
    }
    return fill_stat(&own->row->figures, handle, gone);
}

static int fill_memcgs(const struct replay_kernel *run, const struct aged_list *aged,
                       struct replay_run *out)
{
    const uint32_t count = replay_names_count(run->names, REPLAY_MEMCG);
    struct replay_own *own = calloc(count + 1u, sizeof(*own));
    if (own == NULL)
        return MGLRU_ENOMEM;
    for (uint32_t i = 0; i < count; i++)
        fill_own(run, i, aged, &own[i]);
    int code = replay_rows_fill(own, count, out);
    for (uint32_t i = 0; i < count && code == MGLRU_OK; i++)
        if (own[i].row != NULL)
            code = fill_row_stat(run, &own[i]);
    free(own);
    return code;
}

int kernel_figures(struct replay_kernel *run, struct replay_run *out)
{
    struct mglru_counts counts;
    kernel_totals(run, &counts);
    out->figures.accesses = counts.accesses;
    out->figures.hits = counts.hits;
    out->figures.misses = counts.misses;
    out->figures.pages_read = counts.pages_read;
    out->figures.first_touches = counts.first_touches;
    struct aged_list aged;
    int code = read_aged(run, &aged);
    if (code == MGLRU_OK)
        code = fill_stat(&out->figures, run->top, NULL);
    if (code == MGLRU_OK)
        code = fill_memcgs(run, &aged, out);
    out->figures.aged = aged.total;
    for (uint32_t i = 0; i < run->memcg_count; i++)
        out->figures.aged += run->memcgs[i].gone_aged;
    free(aged.items);
    return code;
}
