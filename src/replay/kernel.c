/* SPDX-License-Identifier: MIT */
/*
 * Accesses of one run: records become struct mglru_access and go to the engine some hundred at a
 * time. The loop per record does a look-up in an array and a few stores; whatever is rarer (new
 * names, the clock, control lines, points of the series, memcgs out of memory) leaves it.
 *
 * Invariants
 *   1. accesses + pending_pages < next_sample between two records.
 *   2. log.next < 8 between two views: full bytes were emitted.
 */
#include "replay/kernel.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <mglru/control.h>

#include "base/check.h"

/* Engine path of the memcg that stands for the root of the trace. */
#define REPLAY_TOP "/replay"

#define CLOCK_STEP_NS 1000000u
#define SERIES_MIN 64
#define PREFETCH_RECORDS 12 /* chosen: some hundred nanoseconds of accesses ahead */

_Static_assert((int)TRACE_READ == (int)MGLRU_READ && (int)TRACE_WRITE == (int)MGLRU_WRITE &&
                   (int)TRACE_MAP_READ == (int)MGLRU_MAP_READ &&
                   (int)TRACE_MAP_WRITE == (int)MGLRU_MAP_WRITE &&
                   (int)TRACE_MAP_EXEC == (int)MGLRU_MAP_EXEC &&
                   (int)TRACE_TOUCH == (int)MGLRU_TOUCH,
               "kinds of access are converted by a cast");

/* Pages offset .. offset + count - 1 of a record. */
struct kernel_part {
    uint32_t offset;
    uint32_t count;
};

static double thread_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* Readahead that the options mean for this trace: formats of programs' reads have it, formats of
 * block devices and keys recorded what lies below a page cache. */
static uint64_t readahead_of(const struct replay_options *options, const char *format)
{
    if (options->readahead_bytes != REPLAY_READAHEAD_AUTO)
        return options->readahead_bytes;
    return strcmp(format, "native") == 0 ? REPLAY_READAHEAD_DEFAULT_BYTES : 0;
}

static int create_cache(struct replay_kernel *run, const struct replay_source *source)
{
    const struct replay_options *options = run->options;
    struct mglru_cache_options want = {
        .size = sizeof(want),
        .model = run->spec->model,
        .aging = run->spec->aging,
        .classic = run->spec->classic,
        .page_bytes = run->page_bytes,
        .swap_bytes = options->swap_bytes,
        .readahead_bytes = readahead_of(options, replay_source_format(source)),
        .kernel_charge = options->kernel_charge,
        .kernel_charge_bytes = options->kernel_charge_bytes,
        .stat_flush = options->stat_flush,
        .stat_flush_period = options->stat_flush_period,
        .on_event = run->explain != NULL ? replay_explain_event : NULL,
        .on_event_context = run->explain,
        .container = run->spec->memory_bytes > 0 ? REPLAY_TOP : NULL,
    };
    return mglru_cache_create(&want, &run->cache);
}

/* Creates the memcg that stands for the root of the trace, with its limit. */
static int create_top(struct replay_kernel *run)
{
    run->prefix = run->spec->memory_bytes > 0 ? REPLAY_TOP : "";
    int code =
        mglru_memcg_create(run->cache, run->prefix[0] != '\0' ? run->prefix : "/", &run->top);
    if (code != MGLRU_OK || run->spec->memory_bytes == 0)
        return code;
    char text[32];
    int length = snprintf(text, sizeof(text), "%" PRIu64, run->spec->memory_bytes);
    return mglru_memcg_write(run->top, "memory.max", text, (size_t)length);
}

static int set_swappiness(struct replay_kernel *run)
{
    if (run->options->swappiness < 0)
        return MGLRU_OK;
    char text[16];
    int length = snprintf(text, sizeof(text), "%d", run->options->swappiness);
    return mglru_cache_write(run->cache, "swappiness", text, (size_t)length);
}

/* What only the trace tells: whether its pages are pages that the engine knows. */
static int check_pages(const struct replay_kernel *run, struct replay_error *error)
{
    const uint64_t least = (uint64_t)REPLAY_KERNEL_PAGES_MIN * run->page_bytes;
    if (run->page_bytes < 4096 || run->page_bytes > 65536)
        snprintf(error->text, sizeof(error->text),
                 "%s: pages of %" PRIu32 " bytes: %s knows 4096 to 65536", run->options->traces[0],
                 run->page_bytes, run->spec->policy);
    else if (run->spec->memory_bytes > 0 && run->spec->memory_bytes < least)
        snprintf(error->text, sizeof(error->text),
                 "--memory %" PRIu64 " is below the minimum of %s with pages of %" PRIu32
                 " bytes: %" PRIu64 " bytes, %d pages",
                 run->spec->memory_bytes, run->spec->policy, run->page_bytes, least,
                 REPLAY_KERNEL_PAGES_MIN);
    else
        return MGLRU_OK;
    return MGLRU_EINVAL;
}

static int set_up(struct replay_kernel *run, const struct replay_source *source)
{
    if (run->options->explain) {
        run->explain = replay_explain_create(&run->accesses);
        if (run->explain == NULL)
            return MGLRU_ENOMEM;
    }
    int code = create_cache(run, source);
    if (code == MGLRU_OK)
        code = create_top(run);
    if (code == MGLRU_OK)
        code = set_swappiness(run);
    return code;
}

int replay_kernel_create(const struct replay_kernel_setup *setup, const struct replay_spec *spec,
                         struct replay_kernel **out, struct replay_error *error)
{
    *out = NULL;
    struct replay_kernel *run = calloc(1, sizeof(*run));
    if (run == NULL)
        return MGLRU_ENOMEM;
    run->options = setup->options;
    run->spec = spec;
    run->names = setup->names;
    run->page_bytes = replay_source_page_bytes(setup->source);
    run->next_sample = setup->options->every > 0 ? setup->options->every : UINT64_MAX;
    int code = check_pages(run, error);
    if (code == MGLRU_OK)
        code = set_up(run, setup->source);
    if (code != MGLRU_OK && error->text[0] == '\0')
        snprintf(error->text, sizeof(error->text), "cannot set up %s, model %s: %s", spec->policy,
                 spec->model, mglru_error_text(code));
    if (code != MGLRU_OK) {
        replay_kernel_destroy(run);
        return code;
    }
    *out = run;
    return MGLRU_OK;
}

void replay_kernel_destroy(struct replay_kernel *run)
{
    if (run == NULL)
        return;
    for (uint32_t i = 0; i < run->memcg_count; i++) {
        for (struct kernel_region *region = run->memcgs[i].regions, *next; region; region = next) {
            next = region->next;
            free(region);
        }
        free(run->memcgs[i].gone_stat);
    }
    free(run->memcgs);
    free(run->objects);
    replay_slots_free(&run->files);
    replay_slots_free(&run->regions);
    free(run->series);
    free(run->log.bits);
    mglru_cache_destroy(run->cache);
    replay_explain_destroy(run->explain);
    free(run);
}

void replay_kernel_stop(struct replay_kernel *run)
{
    mglru_cache_stop(run->cache, true);
}

/* Bits of skipped accesses: no miss. */
static void skip_pages(struct replay_kernel *run, uint32_t memcg, uint64_t pages)
{
    run->memcgs[memcg].skipped += pages;
    run->skipped += pages;
    if (run->options->on_miss_bits == NULL)
        return;
    for (uint64_t i = 0; i < pages; i++, run->log.next++)
        run->log.bits[run->log.next / 8] &= (uint8_t) ~(1u << (run->log.next % 8));
}

/* Page accesses that the engine has counted so far. */
static uint64_t counted_accesses(const struct replay_kernel *run)
{
    struct mglru_counts counts;
    kernel_totals(run, &counts);
    return counts.accesses;
}

/*
 * Goes on with the pending accesses from @first after a memcg ran out of memory: one at a time,
 * since any of them may belong to a memcg whose process is gone by then. Each turn either finishes
 * an access or kills a process, so it ends.
 */
static int flush_slowly(struct replay_kernel *run, size_t first, uint64_t done_before)
{
    uint64_t expected = done_before;
    for (size_t i = first; i < run->pending_count;) {
        struct mglru_access *access = &run->pending[i];
        if (run->memcgs[run->pending_memcg[i]].state == MEMCG_KILLED) {
            skip_pages(run, run->pending_memcg[i], access->count);
            i++;
            continue;
        }
        size_t done = 0;
        struct mglru_miss_log *log = run->options->on_miss_bits != NULL ? &run->log : NULL;
        int code = mglru_cache_access(run->cache, access, 1, log, &done);
        if (code != MGLRU_OK && code != MGLRU_EOOM)
            return code;
        if (code == MGLRU_OK) {
            expected += access->count;
            i++;
            continue;
        }
        uint64_t partly = counted_accesses(run) - expected;
        MGLRU_ASSERT(partly < access->count);
        expected += partly;
        access->index += partly;
        access->count -= (uint32_t)partly;
        kernel_oom(run, run->pending_memcg[i]);
    }
    return MGLRU_OK;
}

static int fail_access(struct replay_kernel *run, int code)
{
    snprintf(run->error.text, sizeof(run->error.text), "%s: the engine refused an access: %s",
             run->path, mglru_error_text(code));
    return code;
}

int kernel_flush(struct replay_kernel *run)
{
    if (run->pending_count == 0)
        return MGLRU_OK;
    size_t done = 0;
    struct mglru_miss_log *log = run->options->on_miss_bits != NULL ? &run->log : NULL;
    int code = mglru_cache_access(run->cache, run->pending, run->pending_count, log, &done);
    if (code == MGLRU_EOOM) {
        uint64_t before = run->accesses - run->skipped;
        uint64_t finished = 0;
        for (size_t i = 0; i < done; i++)
            finished += run->pending[i].count;
        struct mglru_access *access = &run->pending[done];
        uint64_t partly = counted_accesses(run) - before - finished;
        access->index += partly;
        access->count -= (uint32_t)partly;
        kernel_oom(run, run->pending_memcg[done]);
        code = flush_slowly(run, done, before + finished + partly);
    }
    run->accesses += run->pending_pages;
    run->pending_count = 0;
    run->pending_pages = 0;
    return code == MGLRU_OK ? code : fail_access(run, code);
}

static int take_sample(struct replay_kernel *run)
{
    if (run->series_count == run->series_capacity) {
        size_t capacity = run->series_capacity == 0 ? SERIES_MIN : run->series_capacity * 2;
        struct replay_sample *grown = realloc(run->series, capacity * sizeof(*grown));
        if (grown == NULL)
            return MGLRU_ENOMEM;
        run->series = grown;
        run->series_capacity = capacity;
    }
    struct mglru_counts counts;
    kernel_totals(run, &counts);
    uint64_t anon = 0;
    uint64_t file = 0;
    /* A model without one of the names has no such pages. */
    (void)mglru_memcg_stat(run->top, "anon", &anon);
    (void)mglru_memcg_stat(run->top, "file", &file);
    run->series[run->series_count++] = (struct replay_sample){
        .accesses = counts.accesses,
        .hits = counts.hits,
        .misses = counts.misses,
        .pages_read = counts.pages_read,
        .resident_pages = (anon + file) / run->page_bytes,
    };
    return MGLRU_OK;
}

/* Flushes and takes a point of the series; the next one is due at the next multiple of --every. */
static int flush_sample(struct replay_kernel *run)
{
    int code = kernel_flush(run);
    if (code != MGLRU_OK)
        return code;
    const uint64_t every = run->options->every;
    run->next_sample = run->accesses - run->accesses % every + every;
    return take_sample(run);
}

static int advance_clock(struct replay_kernel *run, uint64_t now_ns)
{
    int code = kernel_flush(run);
    mglru_cache_set_time(run->cache, now_ns);
    run->now_ns = now_ns;
    run->next_tick_ns = now_ns + CLOCK_STEP_NS;
    return code;
}

/* True when the process of @memcg was killed and its accesses do not happen. */
static inline bool is_killed(const struct replay_kernel *run, uint32_t memcg)
{
    return MGLRU_UNLIKELY(run->killed > 0) && memcg < run->memcg_count &&
           run->memcgs[memcg].state == MEMCG_KILLED;
}

static int skip_access(struct replay_kernel *run, const struct trace_record *record)
{
    int code = kernel_flush(run);
    skip_pages(run, record->memcg, record->count);
    run->accesses += record->count;
    if (code == MGLRU_OK && run->accesses >= run->next_sample)
        code = flush_sample(run);
    return code;
}

/* The file that @record goes to; NULL: its process was killed. */
static inline int find_file(struct replay_kernel *run, const struct trace_record *record,
                            struct mglru_file **file)
{
    if (record->op != TRACE_TOUCH) {
        *file = replay_slots_find(&run->files, record->memcg, record->object);
        return MGLRU_LIKELY(*file != NULL) ? MGLRU_OK : kernel_file_use(run, record, file);
    }
    struct kernel_region *region = replay_slots_find(&run->regions, record->memcg, record->object);
    if (MGLRU_UNLIKELY(region == NULL)) {
        int code = kernel_file_use(run, record, file);
        if (code != MGLRU_OK || *file == NULL)
            return code;
        region = replay_slots_find(&run->regions, record->memcg, record->object);
    }
    if (record->page + record->count > region->end)
        region->end = record->page + record->count;
    *file = region->file;
    return MGLRU_OK;
}

/* Queues @count pages from page @offset of the record. */
static inline int push_access(struct replay_kernel *run, const struct trace_record *record,
                              struct mglru_file *file, struct kernel_part part)
{
    size_t i = run->pending_count++;
    run->pending[i] = (struct mglru_access){.file = file,
                                            .index = record->page + part.offset,
                                            .count = part.count,
                                            .kind = (enum mglru_access_kind)record->op};
    run->pending_memcg[i] = record->memcg;
    run->pending_pages += part.count;
    return run->pending_count == KERNEL_PENDING ? kernel_flush(run) : MGLRU_OK;
}

/* Queues a request that reaches points of the series, cut at each of them. */
static int push_with_samples(struct replay_kernel *run, const struct trace_record *record,
                             struct mglru_file *file)
{
    int code = MGLRU_OK;
    for (uint32_t offset = 0; offset < record->count && code == MGLRU_OK;) {
        uint64_t room = run->next_sample - run->accesses - run->pending_pages;
        struct kernel_part part = {.offset = offset, .count = record->count - offset};
        if (part.count > room)
            part.count = (uint32_t)room;
        code = push_access(run, record, file, part);
        offset += part.count;
        if (code == MGLRU_OK && run->accesses + run->pending_pages == run->next_sample)
            code = flush_sample(run);
    }
    return code;
}

static inline int add_access(struct replay_kernel *run, const struct trace_record *record)
{
    if (is_killed(run, record->memcg))
        return skip_access(run, record);
    struct mglru_file *file;
    int code = find_file(run, record, &file);
    if (MGLRU_UNLIKELY(code != MGLRU_OK || file == NULL))
        return code != MGLRU_OK ? code : skip_access(run, record);
    if (MGLRU_UNLIKELY(run->accesses + run->pending_pages + record->count >= run->next_sample))
        return push_with_samples(run, record, file);
    return push_access(run, record, file, (struct kernel_part){0, record->count});
}

static int reserve_log(struct replay_kernel *run, uint64_t pages)
{
    size_t bytes = (size_t)(run->log.next + pages + 7) / 8 + 1;
    if (bytes <= run->log_bytes)
        return MGLRU_OK;
    uint8_t *grown = realloc(run->log.bits, bytes);
    if (grown == NULL)
        return MGLRU_ENOMEM;
    run->log.bits = grown;
    run->log_bytes = bytes;
    return MGLRU_OK;
}

/* Hands out the full bytes of the log and keeps the started one. */
static void emit_log(struct replay_kernel *run)
{
    size_t full = (size_t)(run->log.next / 8);
    if (full == 0)
        return;
    run->options->on_miss_bits(run->options->context, run->spec, run->log.bits, full);
    run->log.bits[0] = run->log.bits[full];
    run->log.next %= 8;
}

static int feed_records(struct replay_kernel *run, const struct replay_view *view)
{
    int code = MGLRU_OK;
    for (size_t i = 0; i < view->count && code == MGLRU_OK; i++) {
        const struct trace_record *record = &view->records[i];
        /* The records were written by another processor: fetching them early hides the way. */
        __builtin_prefetch(record + PREFETCH_RECORDS);
        /* TRACE_NO_TIME + 1 is 0, so records without a time never pass. */
        if (MGLRU_UNLIKELY(record->time_ns + 1 > run->next_tick_ns)) {
            code = advance_clock(run, record->time_ns);
            if (code != MGLRU_OK)
                break;
        }
        if (MGLRU_LIKELY(trace_op_is_access(record->op))) {
            code = add_access(run, record);
        } else {
            code = kernel_flush(run);
            if (code == MGLRU_OK)
                code = kernel_control(run, record);
        }
    }
    return code == MGLRU_OK ? kernel_flush(run) : code;
}

int replay_kernel_feed(struct replay_kernel *run, const struct replay_view *view)
{
    double start = thread_seconds();
    const bool logged = run->options->on_miss_bits != NULL;
    run->path = view->path;
    int code = logged ? reserve_log(run, view->pages) : MGLRU_OK;
    if (code == MGLRU_OK)
        code = feed_records(run, view);
    if (logged && code == MGLRU_OK)
        emit_log(run);
    if (code == MGLRU_ENOMEM && run->error.text[0] == '\0')
        snprintf(run->error.text, sizeof(run->error.text), "%s: %s", view->path,
                 mglru_error_text(code));
    run->seconds += thread_seconds() - start;
    return code;
}

void replay_kernel_mark(struct replay_kernel *run)
{
    struct mglru_counts counts;
    kernel_totals(run, &counts);
    run->warm = (struct replay_mark){.accesses = counts.accesses,
                                     .hits = counts.hits,
                                     .misses = counts.misses,
                                     .pages_read = counts.pages_read,
                                     .first_touches = counts.first_touches,
                                     .write_misses = counts.write_misses,
                                     .refaults = kernel_refaults(run)};
}

/* The rest of the miss bits: the last byte is filled up with zeros. */
static void finish_log(struct replay_kernel *run)
{
    if (run->log.next == 0)
        return;
    uint8_t last = run->log.bits[0] & (uint8_t)((1u << run->log.next) - 1);
    run->options->on_miss_bits(run->options->context, run->spec, &last, 1);
}

int replay_kernel_finish(struct replay_kernel *run, struct replay_run *out)
{
    double start = thread_seconds();
    finish_log(run);
    if (run->options->every > 0 && run->accesses % run->options->every != 0 &&
        take_sample(run) != MGLRU_OK)
        return MGLRU_ENOMEM;
    out->series = run->series;
    out->series_count = run->series_count;
    run->series = NULL;
    int code = kernel_figures(run, out);
    if (code == MGLRU_OK && run->explain != NULL)
        code = replay_explain_finish(run->explain, run->cache, run->page_bytes, out);
    out->oom = run->oom;
    out->warm = run->warm;
    out->skipped = run->skipped;
    out->seconds = run->seconds + thread_seconds() - start;
    return code;
}
