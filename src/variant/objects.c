/* SPDX-License-Identifier: MIT */
/* The hot structs of this build, field by field, so that misses get names without debug
 * information. */
#include "variant/variant.h"

#include <stdlib.h>

#include "base/check.h"
#include "memcg/stock.h"

#define SIZE_OF(type, member) sizeof(((struct type *)0)->member)
#define FIELD(type, member)                                                                        \
    {                                                                                              \
#member, offsetof(struct type, member), SIZE_OF(type, member), 0, 0                        \
    }
/* An array of numbers. */
#define ARRAY(type, member)                                                                        \
    {                                                                                              \
#member "[]", offsetof(struct type, member), SIZE_OF(type, member), sizeof(long), 0        \
    }

static const struct coherence_field lruvec_fields[] = {
    FIELD(lruvec, reclaim),
    FIELD(lruvec, memcg),
    FIELD(lruvec, node),
    FIELD(lruvec, enabled),
    FIELD(lruvec, max_seq),
    ARRAY(lruvec, min_seq),
    ARRAY(lruvec, timestamps),
    FIELD(lruvec, memcg_gen),
    FIELD(lruvec, memcg_seg),
    FIELD(lruvec, memcg_linked),
    FIELD(lruvec, memcg_list),
    ARRAY(lruvec, folios),
    FIELD(lruvec, lock),
    ARRAY(lruvec, nr_pages),
    ARRAY(lruvec, lists),
    ARRAY(lruvec, lru_size),
    ARRAY(lruvec, avg_refaulted),
    ARRAY(lruvec, avg_total),
    ARRAY(lruvec, protected_pages),
    ARRAY(lruvec, evicted),
    ARRAY(lruvec, refaulted),
    FIELD(lruvec, nonresident_age),
    ARRAY(lruvec, refaults),
    ARRAY(lruvec, cost),
    ARRAY(lruvec, cost_last_io),
    ARRAY(lruvec, cost_last_rotated),
    FIELD(lruvec, mm_state),
    FIELD(lruvec, deferred_shadow_nodes),
};

static const struct coherence_field memcg_fields[] = {
    FIELD(memcg, tree),
    FIELD(memcg, parent),
    FIELD(memcg, reclaim),
    FIELD(memcg, user),
    FIELD(memcg, serial),
    FIELD(memcg, depth),
    FIELD(memcg, id),
    FIELD(memcg, online),
    FIELD(memcg, swappiness),
    FIELD(memcg, oom_group),
    FIELD(memcg, memory.usage),
    FIELD(memcg, memory.underflows),
    FIELD(memcg, memory.emin),
    FIELD(memcg, memory.min_usage),
    FIELD(memcg, memory.elow),
    FIELD(memcg, memory.low_usage),
    FIELD(memcg, memory.watermark),
    FIELD(memcg, memory.local_watermark),
    FIELD(memcg, memory.min),
    FIELD(memcg, memory.low),
    FIELD(memcg, memory.high),
    FIELD(memcg, memory.max),
    FIELD(memcg, memory.parent),
    FIELD(memcg, memory.shared),
    FIELD(memcg, memory.protection),
    FIELD(memcg, memory.guarded),
    FIELD(memcg, swap),
    FIELD(memcg, stat.rstat.tree),
    FIELD(memcg, stat.rstat.parent),
    FIELD(memcg, stat.rstat.cpu_base),
    FIELD(memcg, stat.rstat.cpu_stride),
    FIELD(memcg, stat.rstat.flush_next),
    FIELD(memcg, stat.target),
    FIELD(memcg, stat.blocks),
    FIELD(memcg, stat.stride),
    FIELD(memcg, stat.cpus),
    FIELD(memcg, stat.nodes),
    FIELD(memcg, stat.parent),
    FIELD(memcg, stat.state),
    FIELD(memcg, stat.local),
    FIELD(memcg, stat.pending),
    FIELD(memcg, stat.gone),
    FIELD(memcg, stat.updates),
    ARRAY(memcg, events),
    ARRAY(memcg, events_local),
    FIELD(memcg, max_writes),
    FIELD(memcg, refs),
    FIELD(memcg, iters),
};

static const struct coherence_field stat_cpu_fields[] = {
    FIELD(memcg_stat_cpu, rstat.updated_children),
    FIELD(memcg_stat_cpu, rstat.updated_next),
    FIELD(memcg_stat_cpu, rstat.link),
    FIELD(memcg_stat_cpu, rstat.owner),
    FIELD(memcg_stat_cpu, owner),
    FIELD(memcg_stat_cpu, updates),
    FIELD(memcg_stat_cpu, threshold),
    FIELD(memcg_stat_cpu, settled),
};

static const struct coherence_field tree_fields[] = {
    FIELD(memcg_tree, root),        FIELD(memcg_tree, params),      FIELD(memcg_tree, cpus),
    FIELD(memcg_tree, nodes),       FIELD(memcg_tree, shared),      FIELD(memcg_tree, stock),
    FIELD(memcg_tree, rstat.flush), FIELD(memcg_tree, rstat.cpus),  FIELD(memcg_tree, rstat.lists),
    FIELD(memcg_tree, rstat.lock),  FIELD(memcg_tree, rstat.holds), FIELD(memcg_tree, lock),
};

static const struct coherence_field stock_fields[] = {
    FIELD(memcg_stock_cpu, lock),     ARRAY(memcg_stock_cpu, pages),
    ARRAY(memcg_stock_cpu, owner),    FIELD(memcg_stock_cpu, flushing),
    FIELD(memcg_stock_cpu, isolated), FIELD(memcg_stock_cpu, next_evict),
};

static const struct coherence_field reclaim_fields[] = {
    FIELD(reclaim, model),        FIELD(reclaim, aging),          FIELD(reclaim, host),
    FIELD(reclaim, host_context), FIELD(reclaim, tree),           FIELD(reclaim, nodes),
    FIELD(reclaim, page_bytes),   FIELD(reclaim, swap_pages),     FIELD(reclaim, shared),
    FIELD(reclaim, stat_always),  FIELD(reclaim, enabled),        FIELD(reclaim, mm_walk),
    FIELD(reclaim, now_ns),       FIELD(reclaim, batch),          FIELD(reclaim, batches),
    FIELD(reclaim, memcg_lru),    FIELD(reclaim, global_scanned), FIELD(reclaim, global_stolen),
    FIELD(reclaim, work),         FIELD(reclaim, random),
};

static void add(struct variant_objects *objects, const void *start, size_t bytes, const char *name)
{
    if (objects->count < WORK_OBJECTS_MAX)
        objects->items[objects->count++] =
            (struct coherence_subject){.address = (uintptr_t)start, .bytes = bytes, .name = name};
}

#define ADD(objects, object, name, list)                                                           \
    do {                                                                                           \
        add(objects, object, sizeof(*(object)), name);                                             \
        (objects)->items[(objects)->count - 1].fields = (list);                                    \
        (objects)->items[(objects)->count - 1].field_count = MGLRU_ARRAY_LEN(list);                \
    } while (0)

void variant_add_reclaim(struct variant_objects *objects, const struct reclaim *reclaim)
{
    ADD(objects, reclaim, "reclaim", reclaim_fields);
}

void variant_add_tree(struct variant_objects *objects, const struct memcg_tree *tree)
{
    ADD(objects, tree, "memcg_tree", tree_fields);
    for (unsigned cpu = 0; cpu < tree->cpus; cpu++)
        ADD(objects, &tree->stock->cpu[cpu], "memcg_stock_cpu", stock_fields);
    add(objects, tree->rstat.lists, tree->cpus * sizeof(*tree->rstat.lists), "rstat_cpu_list");
}

void variant_add_memcg(struct variant_objects *objects, const struct memcg *memcg)
{
    const struct memcg_stat *stat = &memcg->stat;
    ADD(objects, memcg, "memcg", memcg_fields);
    for (unsigned cpu = 0; cpu < stat->cpus; cpu++) {
        const struct memcg_stat_cpu *block =
            (const struct memcg_stat_cpu *)(const void *)(stat->blocks + cpu * stat->stride);
        ADD(objects, block, "memcg_stat_cpu", stat_cpu_fields);
        objects->items[objects->count - 1].bytes = stat->stride;
    }
    for (unsigned node = 0; memcg->reclaim && node < stat->nodes; node++)
        ADD(objects, memcg_lruvec(memcg, node), "lruvec", lruvec_fields);
}
