/* SPDX-License-Identifier: MIT */
/* Adds every memcg to itself and to all named memcgs above it: O(memcgs * depth * log memcgs). */
#include "replay/rows.h"

#include <stdlib.h>
#include <string.h>

#include <mglru/error.h>

static int compare_paths(const void *a, const void *b)
{
    return strcmp(((const struct replay_own *)a)->path, ((const struct replay_own *)b)->path);
}

static void add_own(struct replay_memcg *row, const struct replay_own *own)
{
    row->figures.accesses += own->figures.accesses;
    row->figures.hits += own->figures.hits;
    row->figures.misses += own->figures.misses;
    row->figures.first_touches += own->figures.first_touches;
    row->figures.pages_read += own->figures.pages_read;
    row->figures.readahead_pages += own->figures.readahead_pages;
    row->figures.readahead_wasted += own->figures.readahead_wasted;
    row->figures.pages_written += own->figures.pages_written;
    row->figures.write_misses += own->figures.write_misses;
    row->figures.aged += own->figures.aged;
    row->oom_events += own->oom_events;
    row->skipped += own->skipped;
}

/* Adds @own to the rows of its path and of those above it. */
static int add_upwards(const struct replay_own *all, size_t count, const struct replay_own *own,
                       struct replay_memcg *rows)
{
    char *path = strdup(own->path);
    if (path == NULL)
        return MGLRU_ENOMEM;
    for (;;) {
        struct replay_own key = {.path = path};
        const struct replay_own *found = bsearch(&key, all, count, sizeof(*all), compare_paths);
        if (found != NULL)
            add_own(&rows[found - all], own);
        char *slash = strrchr(path, '/');
        if (strcmp(path, "/") == 0 || slash == NULL)
            break;
        slash[slash == path ? 1 : 0] = '\0';
    }
    free(path);
    return MGLRU_OK;
}

static bool has_row(const struct replay_own *own, const struct replay_memcg *row)
{
    if (strcmp(own->path, "/") == 0 && own->figures.accesses == 0)
        return false;
    return row->figures.accesses > 0 || row->skipped > 0 || row->oom_events > 0;
}

int replay_rows_fill(struct replay_own *own, size_t count, struct replay_run *out)
{
    struct replay_memcg *rows = calloc(count + 1, sizeof(*rows));
    out->memcgs = rows;
    if (rows == NULL)
        return MGLRU_ENOMEM;
    qsort(own, count, sizeof(*own), compare_paths);
    int code = MGLRU_OK;
    for (size_t i = 0; i < count && code == MGLRU_OK; i++)
        code = add_upwards(own, count, &own[i], rows);
    for (size_t i = 0; i < count && code == MGLRU_OK; i++) {
        own[i].row = NULL;
        if (!has_row(&own[i], &rows[i]))
            continue;
        struct replay_memcg *row = &rows[out->memcg_count];
        *row = rows[i];
        row->path = strdup(own[i].path);
        if (row->path == NULL)
            return MGLRU_ENOMEM;
        own[i].row = row;
        out->memcg_count++;
    }
    return code;
}
