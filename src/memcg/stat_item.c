/* SPDX-License-Identifier: MIT */
/* Names and units of the counters, and the lines of memory.stat made of them. */
#include "memcg/stat_item.h"

#include <string.h>

#include "base/check.h"

#define INFO_ROW(name, text, unit, per_node) [MEMCG_##name] = {text, MEMCG_STAT_##unit, per_node},
const struct memcg_stat_info memcg_stat_infos[MEMCG_STAT_COUNT] = {MEMCG_STAT_TABLE(INFO_ROW)};
#undef INFO_ROW

/* One line for each item, by the item's number; memory.stat's own order is further down. */
#define ITEM_ROW(name, text, unit, per_node) {text, MEMCG_##name, 1},
static const struct memcg_stat_line item_lines[MEMCG_STAT_COUNT] = {MEMCG_STAT_TABLE(ITEM_ROW)};
#undef ITEM_ROW

_Static_assert(MEMCG_SLAB_UNRECLAIMABLE == MEMCG_SLAB_RECLAIMABLE + 1, "slab sums neighbours");
_Static_assert(MEMCG_PGSCAN_PROACTIVE == MEMCG_PGSCAN_KSWAPD + 3, "pgscan sums neighbours");
_Static_assert(MEMCG_PGSTEAL_PROACTIVE == MEMCG_PGSTEAL_KSWAPD + 3, "pgsteal sums neighbours");
_Static_assert(MEMCG_STAT_COUNT <= UINT8_MAX, "a line names its items by one byte");

/* clang-format off */
const struct memcg_stat_line memcg_stat_lines[] = {
    {"anon", MEMCG_NR_ANON, 1},
    {"file", MEMCG_NR_FILE, 1},
    {"kernel", MEMCG_KERNEL, 1},
    {"kernel_stack", MEMCG_KERNEL_STACK, 1},
    {"pagetables", MEMCG_PAGETABLES, 1},
    {"sec_pagetables", MEMCG_SEC_PAGETABLES, 1},
    {"percpu", MEMCG_PERCPU, 1},
    {"sock", MEMCG_SOCK, 1},
    {"vmalloc", MEMCG_VMALLOC, 1},
    {"shmem", MEMCG_SHMEM, 1},
    {"file_mapped", MEMCG_FILE_MAPPED, 1},
    {"file_dirty", MEMCG_FILE_DIRTY, 1},
    {"file_writeback", MEMCG_FILE_WRITEBACK, 1},
    {"swapcached", MEMCG_SWAPCACHE, 1},
    {"anon_thp", MEMCG_ANON_THP, 1},
    {"file_thp", MEMCG_FILE_THP, 1},
    {"shmem_thp", MEMCG_SHMEM_THP, 1},
    {"inactive_anon", MEMCG_INACTIVE_ANON, 1},
    {"active_anon", MEMCG_ACTIVE_ANON, 1},
    {"inactive_file", MEMCG_INACTIVE_FILE, 1},
    {"active_file", MEMCG_ACTIVE_FILE, 1},
    {"unevictable", MEMCG_UNEVICTABLE, 1},
    {"slab_reclaimable", MEMCG_SLAB_RECLAIMABLE, 1},
    {"slab_unreclaimable", MEMCG_SLAB_UNRECLAIMABLE, 1},
    {"slab", MEMCG_SLAB_RECLAIMABLE, 2},
    {"workingset_refault_anon", MEMCG_WORKINGSET_REFAULT_ANON, 1},
    {"workingset_refault_file", MEMCG_WORKINGSET_REFAULT_FILE, 1},
    {"workingset_activate_anon", MEMCG_WORKINGSET_ACTIVATE_ANON, 1},
    {"workingset_activate_file", MEMCG_WORKINGSET_ACTIVATE_FILE, 1},
    {"workingset_restore_anon", MEMCG_WORKINGSET_RESTORE_ANON, 1},
    {"workingset_restore_file", MEMCG_WORKINGSET_RESTORE_FILE, 1},
    {"workingset_nodereclaim", MEMCG_WORKINGSET_NODERECLAIM, 1},
    {"pgdemote_kswapd", MEMCG_PGDEMOTE_KSWAPD, 1},
    {"pgdemote_direct", MEMCG_PGDEMOTE_DIRECT, 1},
    {"pgdemote_khugepaged", MEMCG_PGDEMOTE_KHUGEPAGED, 1},
    {"pgdemote_proactive", MEMCG_PGDEMOTE_PROACTIVE, 1},
    {"pgsteal_kswapd", MEMCG_PGSTEAL_KSWAPD, 1},
    {"pgsteal_direct", MEMCG_PGSTEAL_DIRECT, 1},
    {"pgsteal_khugepaged", MEMCG_PGSTEAL_KHUGEPAGED, 1},
    {"pgsteal_proactive", MEMCG_PGSTEAL_PROACTIVE, 1},
    {"pgscan_kswapd", MEMCG_PGSCAN_KSWAPD, 1},
    {"pgscan_direct", MEMCG_PGSCAN_DIRECT, 1},
    {"pgscan_khugepaged", MEMCG_PGSCAN_KHUGEPAGED, 1},
    {"pgscan_proactive", MEMCG_PGSCAN_PROACTIVE, 1},
    {"pgrefill", MEMCG_PGREFILL, 1},
    {"pgpromote_success", MEMCG_PGPROMOTE_SUCCESS, 1},
    {"pgscan", MEMCG_PGSCAN_KSWAPD, 4},
    {"pgsteal", MEMCG_PGSTEAL_KSWAPD, 4},
    {"pswpin", MEMCG_PSWPIN, 1},
    {"pswpout", MEMCG_PSWPOUT, 1},
    {"pgfault", MEMCG_PGFAULT, 1},
    {"pgmajfault", MEMCG_PGMAJFAULT, 1},
    {"pgactivate", MEMCG_PGACTIVATE, 1},
    {"pgdeactivate", MEMCG_PGDEACTIVATE, 1},
    {"pglazyfree", MEMCG_PGLAZYFREE, 1},
    {"pglazyfreed", MEMCG_PGLAZYFREED, 1},
};
/* clang-format on */
const size_t memcg_stat_line_count = MGLRU_ARRAY_LEN(memcg_stat_lines);

const struct memcg_stat_line *memcg_stat_line_find(const char *name)
{
    for (size_t i = 0; i < memcg_stat_line_count; i++)
        if (!strcmp(memcg_stat_lines[i].name, name))
            return &memcg_stat_lines[i];
    for (size_t i = 0; i < MEMCG_STAT_COUNT; i++)
        if (!strcmp(item_lines[i].name, name))
            return &item_lines[i];
    return NULL;
}
