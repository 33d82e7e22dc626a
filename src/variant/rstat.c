/* SPDX-License-Identifier: MIT */
/*
 * Document 004's work: threads count in the memcgs of a compile, in bursts as compilers start and
 * end, while the tree is flushed again and again. How long each flush of a CPU holds the lock is
 * counted in the document's buckets.
 *
 * Beside it what an update costs against an addition to a thread's own word, and what the flush of
 * one updated memcg costs among 10 and among 10,000.
 */
#include "variant/variant.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bits.h"
#include "os/os.h"

/* A compile of so many jobs at once, each in a memcg of its own below the project's. */
#define COMPILE_JOBS 24u
/* Updates of a job before it ends, the tree is flushed and the thread goes on to another one: a
 * compiler's run, cut short. */
#define BURST 64u
#define MANY 10000u
#define FEW 10u
#define UPDATES 1000000u
#define FLUSHES 2000u

struct rstat_thread {
    _Alignas(64) uint64_t updates;
};

struct rstat {
    struct variant_machine *machine;
    struct memcg *jobs[COMPILE_JOBS];
    struct rstat_thread threads[VARIANT_JOBS_MAX];
};

static int rstat_run(void *state, unsigned number, unsigned count, uint64_t *done)
{
    /* What a page of a compiler's memory counts, and one of its sources. */
    static const enum memcg_stat_item items[] = {MEMCG_PGFAULT, MEMCG_NR_ANON, MEMCG_ACTIVE_ANON,
                                                 MEMCG_FILE_MAPPED};
    struct rstat *rstat = state;
    struct rstat_thread *thread = &rstat->threads[number];
    cpu_current = number;
    for (unsigned i = 0; i < count; i++, thread->updates++) {
        uint64_t burst = thread->updates / BURST * VARIANT_JOBS_MAX + number;
        struct memcg *memcg = rstat->jobs[bits_mix64(burst) % COMPILE_JOBS];
        memcg_stat_add(memcg, number, 0, items[thread->updates % 4], 1);
        if (thread->updates % BURST == BURST - 1)
            memcg_stat_flush(rstat->machine->tree->root);
    }
    cpu_current = 0;
    *done += count;
    return 0;
}

static void rstat_destroy(void *state)
{
    struct rstat *rstat = state;
    variant_machine_destroy(rstat->machine);
    free(rstat);
}

static int rstat_create(const struct work_setup *setup, void **state)
{
    struct rstat *rstat = aligned_alloc(64, sizeof(*rstat));
    *state = NULL;
    if (!rstat)
        return MGLRU_ENOMEM;
    memset(rstat, 0, sizeof(*rstat));
    int error = variant_machine_create(setup->jobs, setup->nodes, &rstat->machine);
    for (unsigned i = 0; i < COMPILE_JOBS && !error; i++) {
        char path[32];
        snprintf(path, sizeof(path), "/build/project/job%u", i);
        error = memcg_create_path(rstat->machine->tree, path, &rstat->jobs[i]);
    }
    if (error) {
        rstat_destroy(rstat);
        return error;
    }
    rstat->machine->tree->rstat.clock_ns = os_clock_now_ns;
    *state = rstat;
    return 0;
}

static size_t rstat_objects(void *state, struct coherence_subject *items)
{
    const struct rstat *rstat = state;
    struct variant_objects objects = {.items = items};
    variant_add_tree(&objects, rstat->machine->tree);
    for (unsigned i = 0; i < COMPILE_JOBS; i++)
        variant_add_memcg(&objects, rstat->jobs[i]);
    for (const struct memcg *memcg = rstat->jobs[0]->parent; memcg; memcg = memcg->parent)
        variant_add_memcg(&objects, memcg);
    return objects.count;
}

/* --- what single calls cost ----------------------------------------------------------------- */

static double update_ns(struct memcg *memcg)
{
    uint64_t start = os_clock_now_ns();
    for (unsigned i = 0; i < UPDATES; i++)
        memcg_stat_add(memcg, 0, 0, MEMCG_PGFAULT, 1);
    return (double)(os_clock_now_ns() - start) / UPDATES;
}

static double add_ns(void)
{
    static _Thread_local _Atomic long own[MEMCG_STAT_COUNT];
    uint64_t start = os_clock_now_ns();
    for (unsigned i = 0; i < UPDATES; i++)
        atomic_add_owner(&own[MEMCG_PGFAULT], 1);
    return (double)(os_clock_now_ns() - start) / UPDATES;
}

/* The flush of one updated memcg among @count of one CPU. */
static double flush_ns(unsigned count)
{
    struct variant_machine *machine;
    struct memcg *memcg = NULL;
    double ns = 0;
    int error = variant_machine_create(1, 1, &machine);
    for (unsigned i = 0; i < count && !error; i++) {
        char name[16];
        snprintf(name, sizeof(name), "m%u", i);
        error = memcg_create(machine->tree->root, name, &memcg);
    }
    if (!error) {
        memcg_stat_flush(machine->tree->root);
        uint64_t start = os_clock_now_ns();
        for (unsigned i = 0; i < FLUSHES; i++) {
            memcg_stat_add(memcg, 0, 0, MEMCG_PGFAULT, 1);
            memcg_stat_flush(machine->tree->root);
        }
        ns = (double)(os_clock_now_ns() - start) / FLUSHES;
    }
    variant_machine_destroy(machine);
    return ns;
}

static size_t rstat_facts(void *state, struct work_fact *facts)
{
    static const char *const names[RSTAT_HOLD_BUCKETS] = {
        "holds of 0-1 us",   "holds of 1-5 us",   "holds of 5-10 us",  "holds of 10-15 us",
        "holds of 15-20 us", "holds of 20-25 us", "holds of 25-30 us", "holds of 30 us or more"};
    const struct rstat *rstat = state;
    const struct rstat_tree *tree = &rstat->machine->tree->rstat;
    size_t count = 0;
    for (; count < RSTAT_HOLD_BUCKETS; count++)
        facts[count] = (struct work_fact){names[count], "of a million",
                                          (double)tree->holds_by[count] * 1e6 /
                                              (double)(tree->holds ? tree->holds : 1)};
    facts[count++] = (struct work_fact){"update", "ns", update_ns(rstat->jobs[0])};
    facts[count++] = (struct work_fact){"addition to a thread's word", "ns", add_ns()};
    facts[count++] = (struct work_fact){"flush of 1 among 10", "ns", flush_ns(FEW)};
    facts[count++] = (struct work_fact){"flush of 1 among 10,000", "ns", flush_ns(MANY)};
    return count;
}

const struct work rstat_work = {
    .bench = "rstat",
    .test = "compile",
    .unit = "updates",
    .create = rstat_create,
    .run = rstat_run,
    .destroy = rstat_destroy,
    .objects = rstat_objects,
    .facts = rstat_facts,
};
