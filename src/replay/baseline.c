/* SPDX-License-Identifier: MIT */
/* Drives one policy and counts; see baseline.h. */
#include "replay/baseline.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <mglru/error.h>

#include "base/check.h"
#include "replay/rows.h"

#define LOG_BYTES 4096

struct tally {
    uint64_t accesses;
    uint64_t hits;
    uint64_t first_touches;
};

struct replay_baseline {
    struct replay_baseline_setup setup;
    const struct replay_spec *spec;
    void *state;
    uint64_t accesses; /* page accesses so far: index of the next */
    uint64_t next_sample;
    struct tally *memcgs; /* by id */
    uint32_t memcg_count;
    struct replay_sample *series;
    size_t series_count;
    size_t series_capacity;
    uint8_t log[LOG_BYTES];
    size_t log_bits;
    double seconds;
    struct replay_mark warm;
};

static double thread_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

int replay_baseline_create(const struct replay_baseline_setup *setup,
                           const struct replay_spec *spec, struct replay_baseline **out,
                           struct replay_error *error)
{
    *out = NULL;
    uint64_t capacity_pages = spec->memory_bytes / setup->page_bytes;
    if (capacity_pages < REPLAY_BASELINE_PAGES_MIN) {
        snprintf(error->text, sizeof(error->text),
                 "--memory %" PRIu64 ": %s needs at least one page of %" PRIu32 " bytes",
                 spec->memory_bytes, spec->policy, setup->page_bytes);
        return MGLRU_EINVAL;
    }
    struct replay_baseline *run = calloc(1, sizeof(*run));
    if (run == NULL)
        return MGLRU_ENOMEM;
    run->setup = *setup;
    run->spec = spec;
    run->next_sample = setup->options->every > 0 ? setup->options->every : UINT64_MAX;
    int code = spec->baseline->create(capacity_pages, &run->state);
    if (code != MGLRU_OK) {
        snprintf(error->text, sizeof(error->text), "cannot set up %s with %" PRIu64 " pages: %s",
                 spec->policy, capacity_pages, mglru_error_text(code));
        free(run);
        return code;
    }
    *out = run;
    return MGLRU_OK;
}

void replay_baseline_destroy(struct replay_baseline *run)
{
    if (run == NULL)
        return;
    run->spec->baseline->destroy(run->state);
    free(run->memcgs);
    free(run->series);
    free(run);
}

static int reserve_memcg(struct replay_baseline *run, uint32_t id)
{
    if (id < run->memcg_count)
        return MGLRU_OK;
    uint32_t count = id < 16 ? 32 : id * 2;
    struct tally *grown = realloc(run->memcgs, count * sizeof(*grown));
    if (grown == NULL)
        return MGLRU_ENOMEM;
    memset(grown + run->memcg_count, 0, (count - run->memcg_count) * sizeof(*grown));
    run->memcgs = grown;
    run->memcg_count = count;
    return MGLRU_OK;
}

static void sum_tallies(const struct replay_baseline *run, struct tally *sum)
{
    *sum = (struct tally){0};
    for (uint32_t i = 0; i < run->memcg_count; i++) {
        sum->accesses += run->memcgs[i].accesses;
        sum->hits += run->memcgs[i].hits;
        sum->first_touches += run->memcgs[i].first_touches;
    }
}

static int take_sample(struct replay_baseline *run)
{
    if (run->series_count == run->series_capacity) {
        size_t capacity = run->series_capacity == 0 ? 64 : run->series_capacity * 2;
        struct replay_sample *grown = realloc(run->series, capacity * sizeof(*grown));
        if (grown == NULL)
            return MGLRU_ENOMEM;
        run->series = grown;
        run->series_capacity = capacity;
    }
    struct tally sum;
    sum_tallies(run, &sum);
    uint64_t misses = sum.accesses - sum.hits - sum.first_touches;
    run->series[run->series_count++] = (struct replay_sample){
        .accesses = sum.accesses,
        .hits = sum.hits,
        .misses = misses,
        .pages_read = misses,
        .resident_pages = run->spec->baseline->resident(run->state),
    };
    return MGLRU_OK;
}

static void emit_log(struct replay_baseline *run)
{
    const struct replay_options *options = run->setup.options;
    if (run->log_bits == 0)
        return;
    options->on_miss_bits(options->context, run->spec, run->log, (run->log_bits + 7) / 8);
    memset(run->log, 0, sizeof(run->log));
    run->log_bits = 0;
}

static void log_access(struct replay_baseline *run, bool miss)
{
    run->log[run->log_bits / 8] |= (uint8_t)((unsigned)miss << (run->log_bits % 8));
    if (++run->log_bits == 8u * LOG_BYTES)
        emit_log(run);
}

/* Replays ids of one segment that need no sample in between. */
static int access_pages(struct replay_baseline *run, const struct replay_segment *segment,
                        const uint32_t *ids, size_t count)
{
    const struct policy_ops *ops = run->spec->baseline;
    const struct future *future = run->setup.future;
    const bool logged = run->setup.options->on_miss_bits != NULL;
    const bool fresh = segment->kind == SEGMENT_FRESH;
    uint64_t hits = 0;
    for (size_t i = 0; i < count; i++) {
        struct policy_request request = {.page = ids[i], .next_use = POLICY_NEVER};
        if (future != NULL)
            request.next_use = future_next(future, run->accesses + i);
        int hit = ops->access(run->state, &request);
        if (MGLRU_UNLIKELY(hit < 0))
            return hit;
        hits += (uint64_t)hit;
        if (logged)
            log_access(run, hit == 0 && !fresh);
    }
    struct tally *tally = &run->memcgs[segment->memcg];
    tally->accesses += count;
    tally->hits += hits;
    tally->first_touches += fresh ? count - hits : 0;
    run->accesses += count;
    return MGLRU_OK;
}

static int access_segment(struct replay_baseline *run, const struct replay_segment *segment,
                          const uint32_t *ids)
{
    int code = reserve_memcg(run, segment->memcg);
    for (size_t done = 0; done < segment->count && code == MGLRU_OK;) {
        uint64_t room = run->next_sample - run->accesses;
        size_t count = segment->count - done;
        if (count > room)
            count = (size_t)room;
        code = access_pages(run, segment, ids + done, count);
        done += count;
        if (code == MGLRU_OK && run->accesses == run->next_sample) {
            run->next_sample += run->setup.options->every;
            code = take_sample(run);
        }
    }
    return code;
}

int replay_baseline_feed(struct replay_baseline *run, const struct replay_expansion *expansion)
{
    double start = thread_seconds();
    const uint32_t *ids = expansion->ids;
    int code = MGLRU_OK;
    for (size_t i = 0; i < expansion->segment_count && code == MGLRU_OK; i++) {
        const struct replay_segment *segment = &expansion->segments[i];
        if (segment->kind == SEGMENT_FORGET)
            for (size_t j = 0; j < segment->count; j++)
                run->spec->baseline->forget(run->state, ids[j]);
        else
            code = access_segment(run, segment, ids);
        ids += segment->count;
    }
    run->seconds += thread_seconds() - start;
    return code;
}

void replay_baseline_mark(struct replay_baseline *run)
{
    struct tally sum;
    sum_tallies(run, &sum);
    const uint64_t misses = sum.accesses - sum.hits - sum.first_touches;
    run->warm = (struct replay_mark){.accesses = sum.accesses,
                                     .hits = sum.hits,
                                     .misses = misses,
                                     .pages_read = misses,
                                     .first_touches = sum.first_touches};
}

static void fill_figures(struct replay_figures *figures, const struct tally *tally)
{
    figures->accesses = tally->accesses;
    figures->hits = tally->hits;
    figures->first_touches = tally->first_touches;
    figures->misses = figures->accesses - figures->hits - figures->first_touches;
    figures->pages_read = figures->misses;
}

static int fill_memcgs(const struct replay_baseline *run, struct replay_run *out)
{
    const uint32_t count = replay_names_count(run->setup.names, REPLAY_MEMCG);
    struct replay_own *own = calloc(count + 1u, sizeof(*own));
    if (own == NULL)
        return MGLRU_ENOMEM;
    for (uint32_t i = 0; i < count; i++) {
        own[i].path = replay_names_at(run->setup.names, REPLAY_MEMCG, i);
        if (i < run->memcg_count)
            fill_figures(&own[i].figures, &run->memcgs[i]);
    }
    int code = replay_rows_fill(own, count, out);
    free(own);
    return code;
}

int replay_baseline_finish(struct replay_baseline *run, struct replay_run *out)
{
    struct tally sum;
    sum_tallies(run, &sum);
    fill_figures(&out->figures, &sum);
    emit_log(run);
    const uint64_t every = run->setup.options->every;
    int code = every > 0 && run->accesses % every != 0 ? take_sample(run) : MGLRU_OK;
    out->series = run->series;
    out->series_count = run->series_count;
    run->series = NULL;
    out->seconds = run->seconds;
    out->warm = run->warm;
    return code == MGLRU_OK ? fill_memcgs(run, out) : code;
}
