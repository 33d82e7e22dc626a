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
#include "replay/rows.h"

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

/* Generations created in the memcg and the live ones below it. */
static uint64_t aged_of(struct mglru_memcg *handle)
{
    uint64_t aged = 0;
    return mglru_memcg_stat(handle, "aged", &aged) == MGLRU_OK ? aged : 0;
}

static void add_counts(struct mglru_counts *sum, const struct mglru_counts *counts)
{
    sum->accesses += counts->accesses;
    sum->hits += counts->hits;
    sum->misses += counts->misses;
    sum->first_touches += counts->first_touches;
    sum->pages_read += counts->pages_read;
    sum->readahead_pages += counts->readahead_pages;
    sum->readahead_wasted += counts->readahead_wasted;
    sum->pages_written += counts->pages_written;
    sum->write_misses += counts->write_misses;
}

/* Adds what a memcg came to in all its lives, without its subtree. */
static void add_lives(struct mglru_counts *sum, const struct kernel_memcg *memcg)
{
    struct mglru_counts own = {0};
    if (memcg->handle != NULL)
        mglru_memcg_counts(memcg->handle, false, &own);
    add_counts(sum, &own);
    add_counts(sum, &memcg->gone);
}

void kernel_totals(const struct replay_kernel *run, struct mglru_counts *out)
{
    *out = (struct mglru_counts){0};
    for (uint32_t i = 0; i < run->memcg_count; i++)
        add_lives(out, &run->memcgs[i]);
}

int kernel_figures_keep(struct replay_kernel *run, struct kernel_memcg *memcg)
{
    struct mglru_counts own;
    mglru_memcg_counts(memcg->handle, false, &own);
    add_counts(&memcg->gone, &own);
    memcg->gone_aged += aged_of(memcg->handle);
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
    return MGLRU_OK;
}

uint64_t kernel_refaults(const struct replay_kernel *run)
{
    static const char *const names[] = {"workingset_refault_file", "workingset_refault_anon"};
    uint64_t sum = 0;
    for (size_t i = 0; i < 2; i++) {
        uint64_t value = 0;
        /* A model without one of the names has no such refaults. */
        (void)mglru_memcg_stat(run->top, names[i], &value);
        sum += value;
    }
    return sum;
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

static void set_counts(struct replay_figures *figures, const struct mglru_counts *counts)
{
    figures->accesses = counts->accesses;
    figures->hits = counts->hits;
    figures->misses = counts->misses;
    figures->pages_read = counts->pages_read;
    figures->first_touches = counts->first_touches;
    figures->readahead_pages = counts->readahead_pages;
    figures->readahead_wasted = counts->readahead_wasted;
    figures->pages_written = counts->pages_written;
    figures->write_misses = counts->write_misses;
}

/* A memcg of the trace without its subtree. */
static void fill_own(const struct replay_kernel *run, uint32_t id, struct replay_own *own)
{
    *own = (struct replay_own){.path = replay_names_at(run->names, REPLAY_MEMCG, id), .id = id};
    if (id >= run->memcg_count)
        return;
    const struct kernel_memcg *memcg = &run->memcgs[id];
    struct mglru_counts counts = {0};
    add_lives(&counts, memcg);
    set_counts(&own->figures, &counts);
    own->figures.aged = memcg->gone_aged;
    own->oom_events = memcg->oom_events;
    own->skipped = memcg->skipped;
}

/* What the engine knows of a memcg with its live subtree. */
static int fill_row_stat(const struct replay_kernel *run, const struct replay_own *own)
{
    struct mglru_memcg *handle = NULL;
    const uint64_t *gone = NULL;
    if (own->id < run->memcg_count) {
        handle = run->memcgs[own->id].handle;
        gone = run->memcgs[own->id].gone_stat;
    }
    if (handle != NULL)
        own->row->figures.aged += aged_of(handle);
    return fill_stat(&own->row->figures, handle, gone);
}

static int fill_memcgs(const struct replay_kernel *run, struct replay_run *out)
{
    const uint32_t count = replay_names_count(run->names, REPLAY_MEMCG);
    struct replay_own *own = calloc(count + 1u, sizeof(*own));
    if (own == NULL)
        return MGLRU_ENOMEM;
    for (uint32_t i = 0; i < count; i++)
        fill_own(run, i, &own[i]);
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
    set_counts(&out->figures, &counts);
    struct mglru_memcg *root;
    out->figures.aged = 0;
    if (mglru_memcg_find(run->cache, "/", &root) == MGLRU_OK)
        out->figures.aged = aged_of(root);
    for (uint32_t i = 0; i < run->memcg_count; i++)
        out->figures.aged += run->memcgs[i].gone_aged;
    int code = fill_stat(&out->figures, run->top, NULL);
    return code == MGLRU_OK ? fill_memcgs(run, out) : code;
}
