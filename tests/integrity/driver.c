/* SPDX-License-Identifier: MIT */
/* The verifying workload of driver.h. */
#include "driver.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/bits.h"
#include "base/check.h"
#include "os/os.h"
#include "sync/atomic.h"
#include "unit/seeded.h"

#define MILLION 1000000u

struct worker {
    const struct driver_options *options;
    struct driver_result result; /* of this thread, this round */
    struct seeded random;
    struct os_thread *thread;
    char *pages;                     /* DRIVER_PAGES_MAX of them */
    struct oracle_covered *snapshot; /* one a page of all mappings */
    uint64_t operations;
    unsigned number;
    _Atomic bool *stop;
};

static void note_finding(struct driver_result *result, const char *what, struct page_id id)
{
    if (!result->findings++)
        snprintf(result->first, sizeof(result->first), "%s: mapping %llu, page %llu", what,
                 (unsigned long long)id.mapping, (unsigned long long)id.index);
}

static bool note_call(struct worker *self, int error, const char *call, struct page_id id)
{
    if (!error)
        return true;
    self->result.failures++;
    bool allowed = self->options->errors || (self->options->no_room && error == MGLRU_EOOM);
    if (!allowed || error == SUBJECT_BROKEN) {
        char what[64];
        snprintf(what, sizeof(what), "%s failed with %d", call, error);
        note_finding(&self->result, what, id);
    }
    return false;
}

static struct subject_range random_range(struct worker *self, uint64_t mapping)
{
    const struct driver_options *options = self->options;
    struct subject_range range = {.mapping = mapping, .thread = self->number};
    range.first = seeded_below(&self->random, options->shape.pages);
    range.count = 1 + (uint32_t)seeded_below(&self->random, options->pages_max);
    if (range.count > options->shape.pages - range.first)
        range.count = (uint32_t)(options->shape.pages - range.first);
    return range;
}

static void read_some(struct worker *self)
{
    const struct driver_options *options = self->options;
    struct oracle_before before[DRIVER_PAGES_MAX];
    struct subject_range range =
        random_range(self, seeded_below(&self->random, options->shape.mappings));
    struct page_id id = {range.mapping, range.first};
    self->result.reads++;
    for (uint32_t i = 0; i < range.count; i++, id.index++)
        before[i] = oracle_before(options->oracle, id);
    id.index = range.first;
    if (!note_call(self, options->ops->read(options->subject, range, self->pages), "read", id))
        return;
    for (uint32_t i = 0; i < range.count; i++, id.index++) {
        enum oracle_finding finding = oracle_judge(
            options->oracle, id, before[i], self->pages + (size_t)i * options->shape.page_bytes);
        self->result.pages_judged++;
        if (finding)
            note_finding(&self->result, oracle_finding_text(finding), id);
    }
}

/* A mapping that this thread may change; there is one. */
static uint64_t own_mapping(struct worker *self)
{
    const struct driver_options *options = self->options;
    uint64_t own = (options->shape.mappings - self->number - 1) / options->threads + 1;
    return self->number + seeded_below(&self->random, own) * options->threads;
}

/* Begins a change of every page of @range. */
static void begin_change(struct worker *self, struct subject_range range, enum oracle_change change)
{
    struct page_id id = {range.mapping, range.first};
    for (uint32_t i = 0; i < range.count; i++, id.index++)
        oracle_begin(self->options->oracle, id, change);
}

static void end_change(struct worker *self, struct subject_range range, enum oracle_outcome outcome)
{
    struct page_id id = {range.mapping, range.first};
    for (uint32_t i = 0; i < range.count; i++, id.index++)
        oracle_end(self->options->oracle, id, oracle_started(self->options->oracle, id), outcome);
}

/* What has been taken back may be what the store tore. */
static enum oracle_outcome taken_back(const struct worker *self)
{
    return self->options->may_tear ? ORACLE_TEARING : ORACLE_FAILED;
}

/* What the call has come to. */
static enum oracle_outcome outcome_of(struct worker *self, struct subject_range range,
                                      const char *call, int error)
{
    if (note_call(self, error, call, (struct page_id){range.mapping, range.first}))
        return ORACLE_DONE;
    return self->options->ops->whole ? ORACLE_FAILED : ORACLE_TEARING;
}

static void write_some(struct worker *self)
{
    const struct driver_options *options = self->options;
    struct subject_range range = random_range(self, own_mapping(self));
    self->result.writes++;
    begin_change(self, range, ORACLE_WRITE);
    struct page_id id = {range.mapping, range.first};
    for (uint32_t i = 0; i < range.count; i++, id.index++)
        page_stamp(self->pages + (size_t)i * options->shape.page_bytes, options->shape.page_bytes,
                   id, oracle_started(options->oracle, id));
    int error = options->ops->write(options->subject, range, self->pages);
    end_change(self, range, outcome_of(self, range, "write", error));
}

static void truncate_one(struct worker *self)
{
    const struct driver_options *options = self->options;
    struct subject_range range = {.mapping = own_mapping(self), .thread = self->number};
    /* An empty mapping is what a store that lost pages starts anew from. */
    range.first =
        seeded_below(&self->random, 4) ? seeded_below(&self->random, options->shape.pages) : 0;
    range.count = (uint32_t)(options->shape.pages - range.first);
    self->result.truncates++;
    begin_change(self, range, ORACLE_ZEROS);
    int error = options->ops->truncate(options->subject, range);
    end_change(self, range, outcome_of(self, range, "truncate", error));
}

static void punch_one(struct worker *self)
{
    const struct driver_options *options = self->options;
    struct subject_range range = random_range(self, own_mapping(self));
    self->result.punches++;
    begin_change(self, range, ORACLE_PUNCH);
    int error = options->ops->punch(options->subject, range);
    enum oracle_outcome outcome = outcome_of(self, range, "punch", error);
    end_change(self, range, outcome == ORACLE_DONE ? outcome : taken_back(self));
}

static void discard_one(struct worker *self)
{
    const struct driver_options *options = self->options;
    struct subject_range range = random_range(self, own_mapping(self));
    range.count = options->ops->discarded;
    range.first -= range.first % range.count;
    self->result.discards++;
    begin_change(self, range, ORACLE_DISCARD);
    outcome_of(self, range, "discard", options->ops->discard(options->subject, range));
    end_change(self, range, taken_back(self)); /* whatever it says, it may have been nothing */
}

static void stir_one(struct worker *self)
{
    const struct driver_options *options = self->options;
    struct subject_range range =
        random_range(self, seeded_below(&self->random, options->shape.mappings));
    self->result.stirs++;
    note_call(self, options->ops->stir(options->subject, range), "stir",
              (struct page_id){range.mapping, range.first});
}

/* A sync of part of a mapping, one in two of all of it. */
static void sync_one(struct worker *self)
{
    const struct driver_options *options = self->options;
    struct subject_range range =
        random_range(self, seeded_below(&self->random, options->shape.mappings));
    if (seeded_below(&self->random, 2)) {
        range.first = 0;
        range.count = options->shape.pages;
    }
    struct page_id id = {range.mapping, range.first};
    oracle_sync_begin(options->oracle, range.mapping, self->snapshot);
    if (note_call(self, options->ops->sync(options->subject, range), "sync", id))
        oracle_sync_end(options->oracle, id, range.first + range.count - 1, self->snapshot);
}

static void sync_all(struct worker *self)
{
    const struct driver_options *options = self->options;
    struct page_id id = {0, 0};
    uint64_t pages = options->shape.pages;
    for (id.mapping = 0; id.mapping < options->shape.mappings; id.mapping++)
        oracle_sync_begin(options->oracle, id.mapping, self->snapshot + id.mapping * pages);
    id.mapping = 0;
    if (!note_call(self, options->ops->sync_all(options->subject, self->number), "sync of all", id))
        return;
    for (; id.mapping < options->shape.mappings; id.mapping++)
        oracle_sync_end(options->oracle, id, pages - 1, self->snapshot + id.mapping * pages);
}

static void sync_some(struct worker *self)
{
    self->result.syncs++;
    if (self->options->ops->sync_all && !seeded_below(&self->random, 8))
        sync_all(self);
    else
        sync_one(self);
}

/* One call; one that only the owner of a mapping may make is a read for who owns none. */
static void do_one(struct worker *self)
{
    const struct driver_options *options = self->options;
    const struct {
        unsigned ppm;
        bool owns;
        void (*call)(struct worker *);
    } calls[] = {
        {options->sync_ppm, false, sync_some}, {options->truncate_ppm, true, truncate_one},
        {options->punch_ppm, true, punch_one}, {options->discard_ppm, true, discard_one},
        {options->stir_ppm, false, stir_one},  {options->write_ppm, true, write_some},
    };
    bool owner = self->number < options->shape.mappings;
    unsigned which = (unsigned)seeded_below(&self->random, MILLION);
    for (size_t i = 0; i < MGLRU_ARRAY_LEN(calls); which -= calls[i++].ppm) {
        if (which >= calls[i].ppm)
            continue;
        if (calls[i].owns && !owner)
            break;
        calls[i].call(self);
        return;
    }
    read_some(self);
}

static void work(void *argument)
{
    struct worker *self = argument;
    const struct subject_ops *ops = self->options->ops;
    for (uint64_t i = 0; i < self->operations && !atomic_load_relaxed(self->stop); i++) {
        uint64_t failures = self->result.failures;
        do_one(self);
        bool failed = self->result.failures != failures;
        if (self->result.findings || (failed && ops->is_cut && ops->is_cut(self->options->subject)))
            atomic_store_relaxed(self->stop, true);
    }
}

void driver_add(struct driver_result *to, const struct driver_result *from)
{
    if (!to->findings && from->findings)
        snprintf(to->first, sizeof(to->first), "%s", from->first);
    to->reads += from->reads;
    to->writes += from->writes;
    to->syncs += from->syncs;
    to->truncates += from->truncates;
    to->punches += from->punches;
    to->discards += from->discards;
    to->stirs += from->stirs;
    to->failures += from->failures;
    to->pages_judged += from->pages_judged;
    to->cuts += from->cuts;
    to->findings += from->findings;
}

static void worker_init(struct worker *worker, const struct driver_options *options,
                        unsigned number)
{
    uint64_t seed = bits_mix64(options->seed * DRIVER_THREADS_MAX + number);
    *worker = (struct worker){.options = options, .number = number};
    worker->random = (struct seeded){.seed = options->seed, .state = seed};
    size_t bytes = (size_t)DRIVER_PAGES_MAX * options->shape.page_bytes;
    MGLRU_CHECK(os_pages_map(bytes, false, (void **)&worker->pages) == MGLRU_OK);
    worker->snapshot =
        calloc((size_t)options->shape.mappings * options->shape.pages, sizeof(*worker->snapshot));
    MGLRU_CHECK(worker->snapshot);
}

static void worker_fini(struct worker *worker)
{
    os_pages_unmap(worker->pages, (size_t)DRIVER_PAGES_MAX * worker->options->shape.page_bytes);
    free(worker->snapshot);
}

/* One round of @operations over all workers. */
static void run_round(struct worker *workers, uint64_t operations, struct driver_result *result)
{
    unsigned threads = workers[0].options->threads;
    _Atomic bool stop = false;
    for (unsigned i = 0; i < threads; i++) {
        workers[i].operations = operations / threads + (i < operations % threads);
        workers[i].stop = &stop;
        workers[i].result = (struct driver_result){0};
        if (i)
            MGLRU_CHECK(!os_thread_start(work, &workers[i], &workers[i].thread));
    }
    work(&workers[0]);
    for (unsigned i = 0; i < threads; i++) {
        if (i)
            os_thread_join(workers[i].thread);
        driver_add(result, &workers[i].result);
    }
}

void driver_recover(const struct driver_options *options, bool killed, struct driver_result *result)
{
    char *page;
    MGLRU_CHECK(os_pages_map(options->shape.page_bytes, false, (void **)&page) == MGLRU_OK);
    struct page_id id;
    for (id.mapping = 0; id.mapping < options->shape.mappings; id.mapping++) {
        for (id.index = 0; id.index < options->shape.pages; id.index++) {
            struct subject_range range = {id.mapping, id.index, 1, 0};
            int error, tries = 0;
            do { /* of a store that fails now and then */
                error = options->ops->read(options->subject, range, page);
            } while (error && options->errors && ++tries < 100);
            if (error) {
                note_finding(result, "unreadable after a crash", id);
                continue;
            }
            enum oracle_finding finding =
                oracle_recover(options->oracle, id, page, killed, options->may_tear);
            result->pages_judged++;
            if (finding)
                note_finding(result, oracle_finding_text(finding), id);
        }
    }
    os_pages_unmap(page, options->shape.page_bytes);
}

void driver_run(const struct driver_options *options, struct driver_result *result)
{
    struct worker workers[DRIVER_THREADS_MAX];
    uint64_t left = options->operations;
    *result = (struct driver_result){0};
    for (unsigned i = 0; i < options->threads; i++)
        worker_init(&workers[i], options, i);
    while (left && !result->findings) {
        uint64_t round = options->round && options->round < left ? options->round : left;
        run_round(workers, round, result);
        left -= round;
        if (!options->ops->power_cut || result->findings)
            continue;
        int error = options->ops->power_cut(options->subject);
        if (error) {
            note_finding(result, "a power cut failed", (struct page_id){0, 0});
            break;
        }
        result->cuts++;
        driver_recover(options, false, result);
    }
    for (unsigned i = 0; i < options->threads; i++)
        worker_fini(&workers[i]);
}
