/* SPDX-License-Identifier: MIT */
/* A machine of many CPUs without caches: memcgs, lruvecs and batches of this build. */
#include "variant/variant.h"

#include <stdlib.h>
#include <string.h>

#include "memcg/stock.h"
#include "sync/rcu.h"

static int attach(struct memcg *memcg, void *context)
{
    return lruvec_attach(context, memcg);
}

static void release(struct memcg *memcg, void *context)
{
    lruvec_detach(memcg);
}

/* Whoever lets a folio go frees it itself; its batch is drained before. */
static void dispose(void *context, struct folio *folio)
{
    MGLRU_ASSERT(!folio);
}

static long swap_left(void *context, struct memcg *memcg)
{
    return 0;
}

static const struct reclaim_host host = {.dispose = dispose, .swap_left = swap_left};

static int init_reclaim(struct variant_machine *machine, unsigned cpus, unsigned nodes)
{
    struct reclaim *reclaim = &machine->reclaim;
    size_t bytes = cpus * sizeof(*reclaim->batches);
    *reclaim = (struct reclaim){.model = &model_ours,
                                .aging = model_ours.aging,
                                .host = &host,
                                .host_context = machine,
                                .nodes = nodes,
                                .page_bytes = 4096,
                                .shared = true};
    atomic_store_relaxed(&reclaim->enabled, true);
    reclaim->batches = aligned_alloc(64, bytes);
    if (!reclaim->batches)
        return MGLRU_ENOMEM;
    memset(reclaim->batches, 0, bytes);
    struct memcg_tree_options options = {.cpus = cpus,
                                         .nodes = nodes,
                                         .attach = attach,
                                         .release = release,
                                         .release_context = reclaim};
    int error = memcg_tree_create(&options, &machine->tree);
    if (error)
        return error;
    reclaim->tree = machine->tree;
    return reclaim_init(reclaim);
}

int variant_machine_create(unsigned cpus, unsigned nodes, struct variant_machine **out)
{
    struct variant_machine *machine = aligned_alloc(64, (sizeof(*machine) + 63) & ~(size_t)63);
    *out = NULL;
    if (!machine)
        return MGLRU_ENOMEM;
    memset(machine, 0, sizeof(*machine));
    int error = init_reclaim(machine, cpus, nodes);
    if (error) {
        variant_machine_destroy(machine);
        return error;
    }
    *out = machine;
    return 0;
}

void variant_machine_destroy(struct variant_machine *machine)
{
    if (!machine)
        return;
    memcg_tree_destroy(machine->tree);
    rcu_drain();
    free(machine->reclaim.batches);
    free(machine);
}
