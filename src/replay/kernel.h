/* SPDX-License-Identifier: MIT */
/*
 * One run of a trace through the kernel's reclaim: a metadata-only cache behind the public header.
 * Shared by kernel.c (accesses), control.c (memcgs, control lines), oom.c (who is killed) and
 * figures.c (what came out).
 *
 * States of a memcg of the trace
 *
 *     UNUSED --use, !mkdir--> LIVE --out of memory--> KILLED --o, !mkdir--> LIVE
 *                              ^  \                     |
 *                       !mkdir |   `--!rmdir--. .-!rmdir'
 *                              `----------- REMOVED
 *
 *   UNUSED, REMOVED: handle is NULL, no region, no slot. LIVE: handle is valid.
 *   KILLED: handle is valid, regions are empty; accesses are skipped, open files stay in the slots.
 *
 * One thread at a time per run; runs are independent.
 */
#ifndef REPLAY_KERNEL_H
#define REPLAY_KERNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <mglru/cache.h>

#include "replay/explain.h"
#include "replay/names.h"
#include "replay/replay.h"
#include "replay/slots.h"
#include "replay/source.h"

/* Accesses handed to the engine in one call: enough to hide the cost of the call, few enough to
 * stay in the first-level cache (32 bytes each). Chosen. */
#define KERNEL_PENDING 512

enum kernel_memcg_state { MEMCG_UNUSED, MEMCG_LIVE, MEMCG_KILLED, MEMCG_REMOVED };

/* An anonymous region of one memcg. */
struct kernel_region {
    struct kernel_region *next; /* of the same memcg */
    struct mglru_mapping *mapping;
    struct mglru_file *file;
    uint64_t end; /* highest page ever touched + 1 */
};

struct kernel_memcg {
    enum kernel_memcg_state state;
    struct mglru_memcg *handle;
    struct kernel_region *regions;
    uint64_t oom_events;
    uint64_t skipped;         /* page accesses passed over since its process was killed */
    struct mglru_counts gone; /* of its lives that ended with !rmdir */
    uint64_t gone_aged;
    uint64_t *gone_stat; /* event counters by index of mglru_stat_name; NULL: no such life */
};

struct replay_kernel {
    /* fixed at creation */
    const struct replay_options *options;
    const struct replay_spec *spec;
    const struct replay_names *names;
    struct mglru_cache *cache;
    struct mglru_memcg *top; /* what "/" of the trace is */
    const char *prefix;      /* of engine paths: "/replay" or "" */
    uint32_t page_bytes;

    /* names to handles */
    struct replay_slots files;      /* struct mglru_file */
    struct replay_slots regions;    /* struct kernel_region */
    struct mglru_mapping **objects; /* the file of each object; NULL: none yet */
    uint32_t object_count;
    struct kernel_memcg *memcgs; /* by id */
    uint32_t memcg_count;
    uint32_t killed; /* memcgs in state KILLED */

    /* accesses not yet handed over */
    struct mglru_access pending[KERNEL_PENDING];
    uint32_t pending_memcg[KERNEL_PENDING];
    size_t pending_count;
    uint64_t pending_pages;

    uint64_t accesses; /* page accesses done or skipped */
    uint64_t skipped;
    uint64_t now_ns;
    uint64_t next_tick_ns; /* the engine's clock moves when a record reaches it */
    uint64_t next_sample;  /* in page accesses; UINT64_MAX: no series */
    struct replay_sample *series;
    size_t series_count;
    size_t series_capacity;
    struct mglru_miss_log log;
    size_t log_bytes;
    struct replay_explain *explain; /* NULL without --explain */
    bool oom;
    double seconds; /* CPU time spent in the run */
    struct replay_mark warm;

    const char *path; /* trace of the view in work, for messages */
    struct replay_error error;
};

/* kernel.c */

/* What a run works with. Options and names outlive it, the source is looked at by _create only. */
struct replay_kernel_setup {
    const struct replay_options *options;
    const struct replay_names *names;
    const struct replay_source *source;
};

/* @spec outlives the run. MGLRU_EINVAL: the engine refuses the options. */
int replay_kernel_create(const struct replay_kernel_setup *setup, const struct replay_spec *spec,
                         struct replay_kernel **out, struct replay_error *error);
void replay_kernel_destroy(struct replay_kernel *run);

/* Replays the records of @view. Codes as replay_run(); run->error says what was wrong. */
int replay_kernel_feed(struct replay_kernel *run, const struct replay_view *view);

/* The warm-up ends here, between two views: keeps the counts so far for the result. */
void replay_kernel_mark(struct replay_kernel *run);

/* Makes the view in work end soon, with MGLRU_EINTR. Any thread. */
void replay_kernel_stop(struct replay_kernel *run);

/* Emits the last miss bits and fills @out; to be called once, after the last view. */
int replay_kernel_finish(struct replay_kernel *run, struct replay_run *out);

/* Hands the pending accesses to the engine. */
int kernel_flush(struct replay_kernel *run);

/* control.c */

/* The live memcg @id, created where the trace may do so. MGLRU_EINVAL: it was removed. */
int kernel_memcg_use(struct replay_kernel *run, uint32_t id, const struct trace_record *record,
                     struct mglru_memcg **out);
/* The open file, or region, that @record goes to, opened on first use. NULL with MGLRU_OK: there
 * was no memory for it and its memcg's process was killed. Flushes the pending accesses. */
int kernel_file_use(struct replay_kernel *run, const struct trace_record *record,
                    struct mglru_file **out);
/* Does what a record that is no access says. Pending accesses must have been flushed. */
int kernel_control(struct replay_kernel *run, const struct trace_record *record);

/* oom.c */

/* Kills the process that the kernel would choose when @memcg cannot be charged. False: that one had
 * been killed before. */
bool kernel_oom(struct replay_kernel *run, uint32_t memcg);

/* figures.c */

/* Counts of the whole run so far. */
void kernel_totals(const struct replay_kernel *run, struct mglru_counts *out);
/* Fills the figures of the run and of its memcgs. MGLRU_ENOMEM. */
int kernel_figures(struct replay_kernel *run, struct replay_run *out);
/* Refaults of all memcgs so far, of files and anonymous memory. */
uint64_t kernel_refaults(const struct replay_kernel *run);
/* Adds what a memcg came to, before it is removed, to its gone figures. MGLRU_ENOMEM. */
int kernel_figures_keep(struct replay_kernel *run, struct kernel_memcg *memcg);

#endif
