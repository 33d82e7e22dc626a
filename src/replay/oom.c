/* SPDX-License-Identifier: MIT */
/*
 * Who dies when a memcg is out of memory. The kernel picks, below the memcg that is over its limit,
 * the process with most anonymous memory, resident and swapped; in a trace a memcg stands for its
 * processes.
 */
#include <stdlib.h>
#include <string.h>

#include <mglru/control.h>

#include "replay/kernel.h"

/* The number in a memcg's file; "max" and what cannot be read are UINT64_MAX. */
static uint64_t read_number(struct mglru_memcg *memcg, const char *name)
{
    char text[64];
    size_t length;
    if (mglru_memcg_read(memcg, name, text, sizeof(text), &length) != MGLRU_OK)
        return UINT64_MAX;
    char *end;
    uint64_t value = strtoull(text, &end, 10);
    return end == text ? UINT64_MAX : value;
}

/* True when one page more does not fit. */
static bool is_full(const struct replay_kernel *run, struct mglru_memcg *memcg)
{
    uint64_t max = read_number(memcg, "memory.max");
    uint64_t current = read_number(memcg, "memory.current");
    return max != UINT64_MAX && current != UINT64_MAX && current + run->page_bytes > max;
}

/* Path of the nearest memcg from @memcg upwards that is full; @memcg's own when none is. */
static char *find_domain(const struct replay_kernel *run, struct mglru_memcg *memcg)
{
    char *path = strdup(mglru_memcg_path(memcg));
    while (path != NULL && strcmp(path, "/") != 0) {
        struct mglru_memcg *at;
        if (mglru_memcg_find(run->cache, path, &at) == MGLRU_OK && is_full(run, at))
            return path;
        char *slash = strrchr(path, '/');
        if (slash == NULL || slash == path)
            break;
        *slash = '\0';
    }
    free(path);
    return strdup(mglru_memcg_path(memcg));
}

static bool is_below(const char *path, const char *top)
{
    size_t length = strlen(top);
    return strcmp(top, "/") == 0 ||
           (strncmp(path, top, length) == 0 && (path[length] == '/' || path[length] == '\0'));
}

/* Anonymous bytes, resident and swapped, of a memcg with its subtree. */
static uint64_t anonymous_bytes(struct mglru_memcg *memcg)
{
    uint64_t anon = 0;
    uint64_t swapped = read_number(memcg, "memory.swap.current");
    if (mglru_memcg_stat(memcg, "anon", &anon) != MGLRU_OK)
        anon = 0;
    return anon + (swapped == UINT64_MAX ? 0 : swapped);
}

static uint32_t choose_victim(const struct replay_kernel *run, uint32_t failed)
{
    char *domain = find_domain(run, run->memcgs[failed].handle);
    uint32_t victim = failed;
    uint64_t most = 0;
    for (uint32_t i = 0; i < run->memcg_count && domain != NULL; i++) {
        const struct kernel_memcg *memcg = &run->memcgs[i];
        if (memcg->state != MEMCG_LIVE || memcg->regions == NULL ||
            !is_below(mglru_memcg_path(memcg->handle), domain))
            continue;
        uint64_t bytes = anonymous_bytes(memcg->handle);
        if (bytes > most || (bytes == most && i == failed && bytes > 0)) {
            most = bytes;
            victim = i;
        }
    }
    free(domain);
    return victim;
}

bool kernel_oom(struct replay_kernel *run, uint32_t memcg)
{
    struct kernel_memcg *victim = &run->memcgs[choose_victim(run, memcg)];
    run->oom = true;
    victim->oom_events++;
    if (victim->state != MEMCG_LIVE)
        return false;
    victim->state = MEMCG_KILLED;
    run->killed++;
    for (struct kernel_region *region = victim->regions; region != NULL; region = region->next) {
        mglru_mapping_drop(region->mapping, 0, region->end);
        region->end = 0;
    }
    return true;
}
