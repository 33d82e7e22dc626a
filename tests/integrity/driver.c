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
    char *pages;        /* DRIVER_PAGES_MAX of them */
    uint64_t *snapshot; /* a number a page of a mapping */
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
    if (!self->options->errors) {
        char what[64];
        snprintf(what, sizeof(what), "%s failed with %d", call, error);
        note_finding(&self->result, what, id);
    }
    return false;
}

static struct subject_range random_range(struct worker *self, uint64_t mapping)
{
    const struct driver_options *options = self->options;
    struct subject_range range = {.mapping = mapping};
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

static void write_some(struct worker *self)
{
    const struct driver_options *options = self->options;
    uint64_t versions[DRIVER_PAGES_MAX];
    struct subject_range range = random_range(self, own_mapping(self));
    struct page_id id = {range.mapping, range.first};
    self->result.writes++;
    for (uint32_t i = 0; i < range.count; i++, id.index++) {
        versions[i] = oracle_begin(options->oracle, id, false);
        page_stamp(self->pages + (size_t)i * options->shape.page_bytes, options->shape.page_bytes,
                   id, versions[i]);
    }
    id.index = range.first;
    bool ok =
        note_call(self, options->ops->write(options->subject, range, self->pages), "write", id);
    for (uint32_t i = 0; i < range.count; i++, id.index++)
        oracle_end(options->oracle, id, versions[i], ok);
}

static void truncate_one(struct worker *self)
{
    const struct driver_options *options = self->options;
    struct page_id id = {own_mapping(self), 0};
    uint64_t first = seeded_below(&self->random, options->shape.pages);
    self->result.truncates++;
    for (id.index = first; id.index < options->shape.pages; id.index++)
        oracle_begin(options->oracle, id, true);
    int error = options->ops->truncate(options->subject, id.mapping, first);
    id.index = first;
    bool ok = note_call(self, error, "truncate", id);
    for (; id.index < options->shape.pages; id.index++)
        oracle_end(options->oracle, id, oracle_started(options->oracle, id), ok);
}

static void sync_one(struct worker *self)
{
    const struct driver_options *options = self->options;
    uint64_t mapping = seeded_below(&self->random, options->shape.mappings);
    self->result.syncs++;
    oracle_sync_begin(options->oracle, mapping, self->snapshot);
    if (note_call(self, options->ops->sync(options->subject, mapping), "sync",
                  (struct page_id){mapping, 0}))
        oracle_sync_end(options->oracle, mapping, self->snapshot);
}

static void work(void *argument)
{
    struct worker *self = argument;
    const struct driver_options *options = self->options;
    bool owner = self->number < options->shape.mappings;
    for (uint64_t i = 0; i < self->operations && !atomic_load_relaxed(self->stop); i++) {
        unsigned which = (unsigned)seeded_below(&self->random, MILLION);
        unsigned truncates = options->truncate_ppm + options->sync_ppm;
        if (which < options->sync_ppm)
            sync_one(self);
        else if (which < truncates && owner)
            truncate_one(self);
        else if (which < truncates + options->write_ppm && owner)
            write_some(self);
        else
            read_some(self);
        if (self->result.findings)
            atomic_store_relaxed(self->stop, true);
    }
}

static void add_result(struct driver_result *to, const struct driver_result *from)
{
    if (!to->findings && from->findings)
        snprintf(to->first, sizeof(to->first), "%s", from->first);
    to->reads += from->reads;
    to->writes += from->writes;
    to->syncs += from->syncs;
    to->truncates += from->truncates;
    to->failures += from->failures;
    to->pages_judged += from->pages_judged;
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
    worker->snapshot = malloc(options->shape.pages * sizeof(uint64_t));
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
        add_result(result, &workers[i].result);
    }
}

void driver_recover(const struct driver_options *options, bool killed, struct driver_result *result)
{
    char *page;
    MGLRU_CHECK(os_pages_map(options->shape.page_bytes, false, (void **)&page) == MGLRU_OK);
    struct page_id id;
    for (id.mapping = 0; id.mapping < options->shape.mappings; id.mapping++) {
        for (id.index = 0; id.index < options->shape.pages; id.index++) {
            struct subject_range range = {id.mapping, id.index, 1};
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
        MGLRU_CHECK(options->ops->power_cut(options->subject) == MGLRU_OK);
        result->cuts++;
        driver_recover(options, false, result);
    }
    for (unsigned i = 0; i < options->threads; i++)
        worker_fini(&workers[i]);
}
