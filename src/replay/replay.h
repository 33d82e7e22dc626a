/* SPDX-License-Identifier: MIT */
/*
 * Replays traces through one or several caches at once: the kernel's algorithms behind the public
 * header, or baseline policies. One pass over the traces feeds all runs, batch by batch, so memory
 * does not grow with the length of a trace and every run sees the same accesses.
 *
 * Meaning of a trace
 *  - Several traces are replayed one after another as one: the same names mean the same memcgs and
 *    files, and the clock of a trace starts where the one before it stopped.
 *  - With a memory size the memcgs of the trace live below one memcg with that memory.max, and "/"
 *    of the trace is that memcg. Without it they live where the trace says and only the limits that
 *    the trace sets hold. Reports show the paths of the trace in both cases.
 *  - A file is shared by all memcgs that name it; an anonymous region belongs to one memcg.
 *  - `f` frees the pages of the memcg's region of that name and those of the file of that name,
 *    whichever exists.
 *  - `!mkdir` of a live memcg changes nothing. After `!rmdir` a memcg must be made again before it
 *    is used. A control line that the kernel would refuse ends the replay with MGLRU_EINVAL.
 *  - `!set / swappiness N`, `!set / min_ttl_ms N` and `!set / enabled N` are global.
 *    options.swappiness, when given, wins over them; the classic run keeps the classic LRU whatever
 *    a trace writes to `enabled`, and passes over `!age` and `!evict`.
 *  - Out of memory: of the memcgs below the one over its limit the one with most anonymous memory
 *    loses its process: its anonymous regions are dropped, and its accesses are skipped until `o`
 *    or `!mkdir` names it again (a new process). When none has anonymous memory it is the memcg
 *    whose access failed. The event is counted for the victim.
 *  - Baselines know no memcgs, limits or control lines: all accesses go to one cache. `f` frees
 *    there too. An absent page is a miss, also when written; the first touch of an anonymous page
 *    is not.
 *  - The clock moves in steps of a millisecond, as fine as the modelled kernels' own.
 */
#ifndef REPLAY_REPLAY_H
#define REPLAY_REPLAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <mglru/cache.h>

#include "policy/policy.h"
#include "replay/filter.h"
#include "replay/names.h"
#include "replay/result.h"
#include "trace/reader.h"

#define REPLAY_ERROR_BYTES 640

/* Least memory of a run: one charge batch for the kernel's algorithms, one page for baselines. */
#define REPLAY_KERNEL_PAGES_MIN 64
#define REPLAY_BASELINE_PAGES_MIN 1

struct replay_error {
    char text[REPLAY_ERROR_BYTES]; /* one line without newline; empty when there was no error */
};

/* One run: an algorithm with a size. Strings live as long as the result. */
struct replay_spec {
    const struct policy_ops *baseline; /* NULL: one of the kernel's two algorithms */
    bool classic;                      /* of the kernel's: the classic LRU */
    const char *policy;                /* name for reports */
    const char *model;                 /* NULL for baselines */
    const char *aging;                 /* NULL: the model's own */
    uint64_t memory_bytes;             /* 0: the trace's own limits */
    uint32_t index;                    /* number of the run in the whole replay, shards included */
};

/* Readahead that stands for REPLAY_READAHEAD_AUTO where a trace holds the reads of programs. */
#define REPLAY_READAHEAD_DEFAULT_BYTES (128u * 1024u)
#define REPLAY_READAHEAD_AUTO UINT64_MAX

/* What on_records gets. */
struct replay_records {
    const struct replay_names *names;
    uint32_t page_bytes;
    const struct trace_record *records;
    size_t count;
};

struct replay_options {
    const char *const *traces; /* paths; "-" is standard input */
    size_t trace_count;
    struct trace_open_options open;
    const struct replay_spec *specs;
    size_t spec_count;
    bool count_distinct; /* count distinct pages of the trace; done anyway for baselines */
    struct replay_filter_options filter; /* what of the traces is replayed; zero: everything */

    uint64_t swap_bytes;
    int swappiness; /* negative: the kernel's default, or what the trace sets */
    enum mglru_kernel_charge kernel_charge;
    uint64_t kernel_charge_bytes;
    uint64_t readahead_bytes; /* 0: none, or REPLAY_READAHEAD_AUTO */
    enum mglru_stat_flush stat_flush;
    uint64_t stat_flush_period;
    const char
        *stat_flush_text; /* how reports state the schedule; lives as long as the result. NULL
                                  * with MGLRU_STAT_FLUSH_AUTO */

    uint64_t every;   /* page accesses between two points of the series; 0: no series */
    bool explain;     /* collect evictions that refaulted later */
    unsigned workers; /* threads over runs; 0: as many as the machine has processors */

    /* Called by the caller's thread after each batch and at least every 50 ms while one is in work;
     * nonzero, from then on: stop with MGLRU_EINTR. May be NULL. */
    int (*on_progress)(void *context, const struct trace_progress *progress, uint64_t accesses);
    /* Called by the caller's thread with every record in order, ids and times as replayed, names by
     * replay_names_*; requests above REPLAY_VIEW_PAGES_MAX come in pieces. A MGLRU_E code ends the
     * replay, with @error as its line. May be NULL. */
    int (*on_records)(void *context, const struct replay_records *records,
                      struct replay_error *error);
    /* Called with the next whole bytes of the run's miss bits, by any thread, but never for one run
     * by two at a time. May be NULL. */
    void (*on_miss_bits)(void *context, const struct replay_spec *spec, const void *bits,
                         size_t bytes);
    void *context;
};

/*
 * Replays. @result is empty after an error; else free it with replay_result_free(). Blocks; uses
 * options.workers further threads while it runs.
 * MGLRU_EINVAL: a bad trace, a refused control line, options that do not fit the trace;
 * MGLRU_ENOENT, MGLRU_EPERM, MGLRU_EIO: a trace cannot be opened or read; MGLRU_EINTR: on_progress
 * asked to stop; MGLRU_ENOMEM; any code that on_records returned. @error says what and where.
 */
int replay_run(const struct replay_options *options, struct replay_result *result,
               struct replay_error *error);

#endif
