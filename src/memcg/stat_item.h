/* SPDX-License-Identifier: MIT */
/*
 * The counters of a memcg, by the names of memory.stat and /proc/vmstat (mglru-facts 9.3), and
 * the lines of memory.stat that are made of them.
 *
 * Every counter is kept per node; the memcg's value is the sum over its nodes. Counters that the
 * kernel has no node for are counted on whatever node the caller names (node 0 by custom).
 */
#ifndef MEMCG_STAT_ITEM_H
#define MEMCG_STAT_ITEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum memcg_stat_unit {
    MEMCG_STAT_PAGES, /* counted in pages, shown in bytes */
    MEMCG_STAT_BYTES, /* counted and shown in bytes */
    MEMCG_STAT_EVENTS /* counted and shown as a number (pages or events) */
};

/* STAT_ROW(name, "text name", unit, kept per node by the kernel) */
/* clang-format off */
#define MEMCG_STAT_TABLE(STAT_ROW)                                                                 \
    STAT_ROW(NR_ANON, "anon", PAGES, true)                                                         \
    STAT_ROW(NR_FILE, "file", PAGES, true)                                                         \
    STAT_ROW(KERNEL, "kernel", PAGES, false)                                                       \
    STAT_ROW(KERNEL_STACK, "kernel_stack", BYTES, true)                                            \
    STAT_ROW(PAGETABLES, "pagetables", PAGES, true)                                                \
    STAT_ROW(SEC_PAGETABLES, "sec_pagetables", PAGES, true)                                        \
    STAT_ROW(PERCPU, "percpu", BYTES, false)                                                       \
    STAT_ROW(SOCK, "sock", PAGES, false)                                                           \
    STAT_ROW(VMALLOC, "vmalloc", PAGES, false)                                                     \
    STAT_ROW(SHMEM, "shmem", PAGES, true)                                                          \
    STAT_ROW(FILE_MAPPED, "file_mapped", PAGES, true)                                              \
    STAT_ROW(FILE_DIRTY, "file_dirty", PAGES, true)                                                \
    STAT_ROW(FILE_WRITEBACK, "file_writeback", PAGES, true)                                        \
    STAT_ROW(SWAPCACHE, "swapcached", PAGES, true)                                                 \
    STAT_ROW(ANON_THP, "anon_thp", PAGES, true)                                                    \
    STAT_ROW(FILE_THP, "file_thp", PAGES, true)                                                    \
    STAT_ROW(SHMEM_THP, "shmem_thp", PAGES, true)                                                  \
    STAT_ROW(INACTIVE_ANON, "inactive_anon", PAGES, true)                                          \
    STAT_ROW(ACTIVE_ANON, "active_anon", PAGES, true)                                              \
    STAT_ROW(INACTIVE_FILE, "inactive_file", PAGES, true)                                          \
    STAT_ROW(ACTIVE_FILE, "active_file", PAGES, true)                                              \
    STAT_ROW(UNEVICTABLE, "unevictable", PAGES, true)                                              \
    STAT_ROW(SLAB_RECLAIMABLE, "slab_reclaimable", BYTES, true)                                    \
    STAT_ROW(SLAB_UNRECLAIMABLE, "slab_unreclaimable", BYTES, true)                                \
    STAT_ROW(WORKINGSET_REFAULT_ANON, "workingset_refault_anon", EVENTS, true)                     \
    STAT_ROW(WORKINGSET_REFAULT_FILE, "workingset_refault_file", EVENTS, true)                     \
    STAT_ROW(WORKINGSET_ACTIVATE_ANON, "workingset_activate_anon", EVENTS, true)                   \
    STAT_ROW(WORKINGSET_ACTIVATE_FILE, "workingset_activate_file", EVENTS, true)                   \
    STAT_ROW(WORKINGSET_RESTORE_ANON, "workingset_restore_anon", EVENTS, true)                     \
    STAT_ROW(WORKINGSET_RESTORE_FILE, "workingset_restore_file", EVENTS, true)                     \
    STAT_ROW(WORKINGSET_NODERECLAIM, "workingset_nodereclaim", EVENTS, true)                       \
    STAT_ROW(PGDEMOTE_KSWAPD, "pgdemote_kswapd", EVENTS, true)                                     \
    STAT_ROW(PGDEMOTE_DIRECT, "pgdemote_direct", EVENTS, true)                                     \
    STAT_ROW(PGDEMOTE_KHUGEPAGED, "pgdemote_khugepaged", EVENTS, true)                             \
    STAT_ROW(PGDEMOTE_PROACTIVE, "pgdemote_proactive", EVENTS, true)                               \
    STAT_ROW(PGSTEAL_KSWAPD, "pgsteal_kswapd", EVENTS, true)                                       \
    STAT_ROW(PGSTEAL_DIRECT, "pgsteal_direct", EVENTS, true)                                       \
    STAT_ROW(PGSTEAL_KHUGEPAGED, "pgsteal_khugepaged", EVENTS, true)                               \
    STAT_ROW(PGSTEAL_PROACTIVE, "pgsteal_proactive", EVENTS, true)                                 \
    STAT_ROW(PGSCAN_KSWAPD, "pgscan_kswapd", EVENTS, true)                                         \
    STAT_ROW(PGSCAN_DIRECT, "pgscan_direct", EVENTS, true)                                         \
    STAT_ROW(PGSCAN_KHUGEPAGED, "pgscan_khugepaged", EVENTS, true)                                 \
    STAT_ROW(PGSCAN_PROACTIVE, "pgscan_proactive", EVENTS, true)                                   \
    STAT_ROW(PGREFILL, "pgrefill", EVENTS, true)                                                   \
    STAT_ROW(PGPROMOTE_SUCCESS, "pgpromote_success", EVENTS, true)                                 \
    STAT_ROW(PSWPIN, "pswpin", EVENTS, false)                                                      \
    STAT_ROW(PSWPOUT, "pswpout", EVENTS, false)                                                    \
    STAT_ROW(PGFAULT, "pgfault", EVENTS, false)                                                    \
    STAT_ROW(PGMAJFAULT, "pgmajfault", EVENTS, false)                                              \
    STAT_ROW(PGACTIVATE, "pgactivate", EVENTS, false)                                              \
    STAT_ROW(PGDEACTIVATE, "pgdeactivate", EVENTS, false)                                          \
    STAT_ROW(PGLAZYFREE, "pglazyfree", EVENTS, false)                                              \
    STAT_ROW(PGLAZYFREED, "pglazyfreed", EVENTS, false)                                            \
    /* From here on not in memory.stat; names of /proc/vmstat where it has them. */               \
    STAT_ROW(PGSTEAL_ANON, "pgsteal_anon", EVENTS, true)                                           \
    STAT_ROW(PGSTEAL_FILE, "pgsteal_file", EVENTS, true)                                           \
    STAT_ROW(PGSCAN_ANON, "pgscan_anon", EVENTS, true)                                             \
    STAT_ROW(PGSCAN_FILE, "pgscan_file", EVENTS, true)                                             \
    STAT_ROW(PGROTATE_ANON, "pgrotate_anon", EVENTS, true)                                         \
    STAT_ROW(PGROTATE_FILE, "pgrotate_file", EVENTS, true)                                         \
    STAT_ROW(PGROTATED, "pgrotated", EVENTS, false)                                                \
    STAT_ROW(NR_VMSCAN_WRITE, "nr_vmscan_write", EVENTS, true)                                     \
    STAT_ROW(NR_VMSCAN_IMMEDIATE, "nr_vmscan_immediate_reclaim", EVENTS, true)                     \
    STAT_ROW(THROTTLED, "reclaim_throttled", EVENTS, false)
/* clang-format on */

#define MEMCG_STAT_ENUM(name, text, unit, per_node) MEMCG_##name,
enum memcg_stat_item { MEMCG_STAT_TABLE(MEMCG_STAT_ENUM) MEMCG_STAT_COUNT };
#undef MEMCG_STAT_ENUM

/* What is known about one item. */
struct memcg_stat_info {
    const char *name;
    enum memcg_stat_unit unit;
    bool per_node;
};

/* Indexed by enum memcg_stat_item. */
extern const struct memcg_stat_info memcg_stat_infos[MEMCG_STAT_COUNT];

/* A line of memory.stat: the sum of @count items from @first on. */
struct memcg_stat_line {
    const char *name;
    uint8_t first; /* enum memcg_stat_item */
    uint8_t count;
};

/* All lines of memory.stat in its order. */
extern const struct memcg_stat_line memcg_stat_lines[];
extern const size_t memcg_stat_line_count;

/* The line called @name, also of items that memory.stat does not show; NULL: none. */
const struct memcg_stat_line *memcg_stat_line_find(const char *name);

#endif
