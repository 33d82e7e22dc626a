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

/* One memcg of the trace without its subtree. */
struct own {
    const char *path;
    const struct kernel_memcg *memcg;
    struct replay_memcg *row;
    uint64_t aged;
};

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

static void add_own(struct replay_memcg *row, const struct own *own)
{
    struct mglru_counts counts = {0};
    const struct kernel_memcg *memcg = own->memcg;
    if (memcg->handle != NULL)
        mglru_memcg_counts(memcg->handle, false, &counts);
    row->figures.accesses += counts.accesses + memcg->gone.accesses;
    row->figures.hits += counts.hits + memcg->gone.hits;
    row->figures.misses += counts.misses + memcg->gone.misses;
    row->figures.first_touches += counts.first_touches + memcg->gone.first_touches;
    row->figures.pages_read += counts.pages_read + memcg->gone.pages_read;
    row->figures.aged += own->aged;
    row->oom_events += memcg->oom_events;
    row->skipped += memcg->skipped;
}

static int compare_own(const void *a, const void *b)
{
    return strcmp(((const struct own *)a)->path, ((const struct own *)b)->path);
}

/* Adds @own to its row and to the rows of those above it. @path is scratch for its path. */
static void add_upwards(const struct own *all, size_t count, const struct own *own, char *path)
{
    strcpy(path, own->path);
    for (;;) {
        struct own key = {.path = path};
        const struct own *found = bsearch(&key, all, count, sizeof(*all), compare_own);
        if (found != NULL)
            add_own(found->row, own);
        if (strcmp(path, "/") == 0)
            return;
        char *slash = strrchr(path, '/');
        if (slash == NULL)
            return;
        slash[slash == path ? 1 : 0] = '\0';
    }
}

/* The memcgs that the run met, in order of path. */
static size_t collect(const struct replay_kernel *run, const struct aged_list *aged,
                      struct own *all)
{
    size_t count = 0;
    for (uint32_t i = 0; i < run->memcg_count; i++) {
        const struct kernel_memcg *memcg = &run->memcgs[i];
        if (memcg->state != MEMCG_UNUSED)
            all[count++] = (struct own){
                .path = replay_names_at(run->names, REPLAY_MEMCG, i),
                .memcg = memcg,
                .aged = memcg->gone_aged + find_aged(aged, memcg->handle),
            };
    }
    qsort(all, count, sizeof(*all), compare_own);
    return count;
}

static int fill_memcgs(const struct aged_list *aged, struct replay_kernel *run,
                       struct replay_run *out)
{
    struct own *all = calloc(run->memcg_count + 1u, sizeof(*all));
    out->memcgs = calloc(run->memcg_count + 1u, sizeof(*out->memcgs));
    int code = all != NULL && out->memcgs != NULL ? MGLRU_OK : MGLRU_ENOMEM;
    size_t count = code == MGLRU_OK ? collect(run, aged, all) : 0;
    size_t longest = 1;
    for (size_t i = 0; i < count && code == MGLRU_OK; i++) {
        struct replay_memcg *row = &out->memcgs[out->memcg_count++];
        all[i].row = row;
        row->path = strdup(all[i].path);
        longest = strlen(all[i].path) > longest ? strlen(all[i].path) : longest;
        code = row->path == NULL
                   ? MGLRU_ENOMEM
                   : fill_stat(&row->figures, all[i].memcg->handle, all[i].memcg->gone_stat);
    }
    char *path = malloc(longest + 2);
    if (path == NULL)
        code = MGLRU_ENOMEM;
    for (size_t i = 0; i < count && code == MGLRU_OK; i++)
        add_upwards(all, count, &all[i], path);
    free(path);
    free(all);
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
        code = fill_memcgs(&aged, run, out);
    out->figures.aged = aged.total;
    for (uint32_t i = 0; i < run->memcg_count; i++)
        out->figures.aged += run->memcgs[i].gone_aged;
    free(aged.items);
    return code;
}
