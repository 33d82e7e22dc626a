/* SPDX-License-Identifier: MIT */
/* The cache of cached.h, through its public calls, and its walkers. */
#include "cached.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mglru/control.h>

#include "bases.h"
#include "data/data.h"
#include "os/os.h"

/* Frames that a thread pins at once. */
#define PINS_MAX 4u
/* A memcg's limit is drawn from these. */
#define LIMIT_FRAMES_MIN 24u
#define LIMIT_FRAMES_MAX 80u

const char *cached_call_text(enum cached_call call)
{
    static const char *const texts[CACHED_CALLS] = {
        [CALL_READ] = "read",
        [CALL_PEEK] = "peek",
        [CALL_READ_MANY] = "read_many",
        [CALL_PIN_READ] = "pin read",
        [CALL_WRITE] = "write",
        [CALL_WRITE_RAGGED] = "write, ragged",
        [CALL_PIN_WRITE] = "pin write",
        [CALL_PIN_OVERWRITE] = "pin overwrite",
        [CALL_SYNC] = "sync",
        [CALL_SYNC_ALL] = "sync_all",
        [CALL_TRUNCATE] = "truncate",
        [CALL_GROW] = "truncate, growing",
        [CALL_PUNCH] = "punch",
        [CALL_DISCARD] = "unpin discard",
        [CALL_PREFETCH] = "prefetch",
        [CALL_DROP] = "drop",
        [CALL_PIN_CLEAN] = "unpin clean",
        [CALL_MEMORY_MAX] = "memory.max",
        [CALL_MEMORY_RECLAIM] = "memory.reclaim",
    };
    return texts[call];
}

/* A range in bytes, by the file of the thread that asks. */
struct extent {
    struct cached_thread *thread;
    struct mglru_file *file;
    uint64_t offset;
    size_t bytes;
};

static struct extent extent_of(struct cached *cached, struct subject_range range)
{
    struct cached_thread *thread = &cached->thread[range.thread];
    uint32_t page = cached->shape.page_bytes;
    return (struct extent){thread, thread->files[range.mapping], range.first * page,
                           (size_t)range.count * page};
}

static bool one_in(struct cached_thread *thread, unsigned many)
{
    return !seeded_below(&thread->random, many);
}

static void linger(struct cached_thread *thread)
{
    for (unsigned long i = seeded_below(&thread->random, 4); i > 0; i--)
        os_thread_yield();
}

/* --- reading --------------------------------------------------------------------------------- */

/* What lies beyond the end are zeros. */
static int read_plain(const struct extent *at, char *to)
{
    size_t done;
    int error = mglru_read(at->file, at->offset, to, at->bytes, &done);
    at->thread->calls[CALL_READ]++;
    if (!error)
        memset(to + done, 0, at->bytes - done);
    return error;
}

/* As much as is there, then the rest. */
static int read_peeking(const struct extent *at, char *to)
{
    size_t done;
    int error = mglru_peek(at->file, at->offset, to, at->bytes, &done);
    at->thread->calls[CALL_PEEK]++;
    struct extent rest = {at->thread, at->file, at->offset + done, at->bytes - done};
    return error ? SUBJECT_BROKEN : read_plain(&rest, to + done);
}

static int read_many(const struct cached *cached, const struct extent *at, char *to)
{
    struct mglru_read_item items[DRIVER_PAGES_MAX];
    size_t page = cached->shape.page_bytes, count = at->bytes / page;
    for (size_t i = 0; i < count; i++)
        items[i] = (struct mglru_read_item){.file = at->file,
                                            .offset = at->offset + i * page,
                                            .buffer = to + i * page,
                                            .bytes = page};
    int error = mglru_read_many(items, count);
    at->thread->calls[CALL_READ_MANY]++;
    for (size_t i = 0; i < count && !error; i++)
        memset(to + i * page + items[i].done, 0, page - items[i].done);
    return error;
}

/* Where [at) meets the frame of a pin: bytes of it, from where in the range. */
struct overlap {
    size_t in_frame;
    size_t in_range;
    size_t bytes;
};

static struct overlap overlap_of(const struct cached *cached, const struct extent *at,
                                 uint64_t frame)
{
    uint64_t size = cached->options.frame_bytes, start = frame * size;
    uint64_t from = at->offset > start ? at->offset : start;
    uint64_t end = at->offset + at->bytes, last = start + size;
    return (struct overlap){(size_t)(from - start), (size_t)(from - at->offset),
                            (size_t)((end < last ? end : last) - from)};
}

/* Pins all frames at once, copies, and looks whether they stay as they are. */
static int read_pinned(const struct cached *cached, const struct extent *at, char *to)
{
    struct mglru_pin pins[PINS_MAX];
    uint64_t frames[PINS_MAX], first = at->offset / cached->options.frame_bytes;
    uint64_t last = (at->offset + at->bytes - 1) / cached->options.frame_bytes;
    size_t count = (size_t)(last - first + 1);
    for (size_t i = 0; i < count && i < PINS_MAX; i++)
        frames[i] = first + i;
    int error = count > PINS_MAX ? MGLRU_ERANGE
                                 : mglru_pin_many(at->file, frames, count, MGLRU_PIN_READ, pins);
    if (error == MGLRU_ERANGE)
        return read_plain(at, to);
    at->thread->calls[CALL_PIN_READ]++;
    for (unsigned turn = 0; turn < 2 && !error; turn++) {
        for (size_t i = 0; i < count; i++) {
            struct overlap part = overlap_of(cached, at, frames[i]);
            const char *from = (const char *)pins[i].data + part.in_frame;
            if (!turn)
                memcpy(to + part.in_range, from, part.bytes);
            else if (memcmp(to + part.in_range, from, part.bytes))
                error = SUBJECT_BROKEN;
        }
        linger(at->thread);
    }
    for (size_t i = 0; i < count && (!error || error == SUBJECT_BROKEN); i++)
        mglru_unpin(&pins[i], MGLRU_UNPIN_CLEAN);
    return error;
}

static int cached_read(void *subject, struct subject_range range, void *pages)
{
    struct cached *cached = subject;
    struct extent at = extent_of(cached, range);
    switch (seeded_below(&at.thread->random, 8)) {
    case 0:
        return read_peeking(&at, pages);
    case 1:
        return read_many(cached, &at, pages);
    case 2:
        return read_pinned(cached, &at, pages);
    default:
        return read_plain(&at, pages);
    }
}

/* --- changing -------------------------------------------------------------------------------- */

static int write_plain(const struct extent *at, const char *from)
{
    size_t done;
    int error = mglru_write(at->file, at->offset, from, at->bytes, &done);
    at->thread->calls[CALL_WRITE]++;
    return error || done == at->bytes ? error : SUBJECT_BROKEN;
}

/* From somewhere in the page before to somewhere in the page behind, whose bytes stay what they
 * are: their only writer is this thread. @end: of the mapping, which has whole pages alone. */
static int write_ragged(const struct cached *cached, const struct extent *at, uint64_t end,
                        const char *from)
{
    size_t page = cached->shape.page_bytes;
    size_t before = at->offset ? seeded_below(&at->thread->random, page) : 0;
    struct extent wide = {at->thread, at->file, at->offset - before,
                          before + at->bytes + seeded_below(&at->thread->random, page)};
    char *scratch = at->thread->scratch;
    if (wide.offset + wide.bytes > end)
        wide.bytes = before + at->bytes;
    int error = read_plain(&wide, scratch);
    if (error)
        return error;
    memcpy(scratch + before, from, at->bytes);
    at->thread->calls[CALL_WRITE_RAGGED]++;
    return write_plain(&wide, scratch);
}

/* Frame by frame, in place. */
static int write_pinned(const struct cached *cached, const struct extent *at, const char *from)
{
    uint64_t size = cached->options.frame_bytes;
    for (uint64_t frame = at->offset / size; frame * size < at->offset + at->bytes; frame++) {
        struct overlap part = overlap_of(cached, at, frame);
        bool all = part.bytes == size;
        struct mglru_pin pin;
        int error = mglru_pin(at->file, frame, all ? MGLRU_PIN_OVERWRITE : MGLRU_PIN_WRITE, &pin);
        if (error == MGLRU_ERANGE) {
            struct extent rest = {at->thread, at->file, at->offset + part.in_range, part.bytes};
            error = write_plain(&rest, from + part.in_range);
        } else if (!error) {
            linger(at->thread);
            memcpy((char *)pin.data + part.in_frame, from + part.in_range, part.bytes);
            mglru_unpin(&pin, MGLRU_UNPIN_DIRTY);
            at->thread->calls[all ? CALL_PIN_OVERWRITE : CALL_PIN_WRITE]++;
        }
        if (error)
            return error;
    }
    return MGLRU_OK;
}

static int cached_write(void *subject, struct subject_range range, const void *pages)
{
    struct cached *cached = subject;
    struct extent at = extent_of(cached, range);
    switch (seeded_below(&at.thread->random, 4)) {
    case 0:
        return write_ragged(cached, &at, mglru_data_mapping_bytes(cached->mapping[range.mapping]),
                            pages);
    case 1:
        return write_pinned(cached, &at, pages);
    default:
        return write_plain(&at, pages);
    }
}

/* The cache is cut whatever the store says, and no sync succeeds before the store is: so a
 * truncation cannot fail. */
static int cached_truncate(void *subject, struct subject_range range)
{
    struct cached *cached = subject;
    struct extent at = extent_of(cached, range);
    struct mglru_mapping *mapping = cached->mapping[range.mapping];
    uint64_t most = (uint64_t)cached->shape.pages * cached->shape.page_bytes;
    mglru_truncate(mapping, at.offset);
    at.thread->calls[CALL_TRUNCATE]++;
    if (mglru_data_mapping_bytes(mapping) > at.offset)
        return SUBJECT_BROKEN;
    if (one_in(at.thread, 2)) {
        mglru_truncate(mapping, most);
        at.thread->calls[CALL_GROW]++;
    }
    return MGLRU_OK;
}

static int cached_punch(void *subject, struct subject_range range)
{
    struct extent at = extent_of(subject, range);
    at.thread->calls[CALL_PUNCH]++;
    return mglru_punch(at.file, at.offset, at.bytes);
}

/* What was written into the page meanwhile must not be seen. */
static int cached_discard(void *subject, struct subject_range range)
{
    struct cached *cached = subject;
    struct extent at = extent_of(cached, range);
    struct mglru_pin pin;
    int error = mglru_pin(at.file, at.offset / cached->options.frame_bytes, MGLRU_PIN_WRITE, &pin);
    if (error)
        return error == MGLRU_ERANGE ? MGLRU_OK : error;
    memset((char *)pin.data + 100, 0xA5, 100);
    linger(at.thread);
    mglru_unpin(&pin, MGLRU_UNPIN_DISCARD);
    at.thread->calls[CALL_DISCARD]++;
    return MGLRU_OK;
}

/* --- durability ------------------------------------------------------------------------------ */

/* Writes and syncs that the store of a mapping has refused since it was opened. */
static uint64_t refused(const struct cached *cached, uint64_t mapping)
{
    struct mglru_store_faulty_counts counts = {.size = sizeof(counts)};
    if (!cached->faults.size || mglru_store_faulty_counts(cached->store[mapping], &counts))
        return 0;
    return counts.write_errors + counts.write_nospaces + counts.sync_errors;
}

/* Whatever the store refused since this file's last sync is told. */
static int cached_sync(void *subject, struct subject_range range)
{
    struct cached *cached = subject;
    struct extent at = extent_of(cached, range);
    uint64_t *told = &at.thread->told[range.mapping], before = refused(cached, range.mapping);
    uint64_t bytes = range.count == cached->shape.pages ? 0 : at.bytes;
    int error = mglru_sync(at.file, at.offset, bytes);
    at.thread->calls[CALL_SYNC]++;
    if (!error && before > *told)
        return SUBJECT_BROKEN;
    *told = refused(cached, range.mapping);
    return error;
}

static int cached_sync_all(void *subject, uint32_t thread)
{
    struct cached *cached = subject;
    cached->thread[thread].calls[CALL_SYNC_ALL]++;
    return mglru_sync_all(cached->cache);
}

/* --- what changes nothing -------------------------------------------------------------------- */

static void change_limit(struct cached *cached, struct cached_thread *thread)
{
    struct mglru_memcg *memcg = cached->memcgs[seeded_below(&thread->random, cached->threads + 1)];
    uint64_t frames =
        LIMIT_FRAMES_MIN + seeded_below(&thread->random, LIMIT_FRAMES_MAX - LIMIT_FRAMES_MIN);
    bool reclaim = one_in(thread, 3);
    char text[32];
    int length =
        snprintf(text, sizeof(text), "%llu",
                 (unsigned long long)(frames / (reclaim ? 8 : 1) * cached->options.frame_bytes));
    /* What is dirty or pinned may stand in its way. */
    mglru_memcg_write(memcg, reclaim ? "memory.reclaim" : "memory.max", text, (size_t)length);
    thread->calls[reclaim ? CALL_MEMORY_RECLAIM : CALL_MEMORY_MAX]++;
}

static int pin_and_leave(const struct cached *cached, const struct extent *at)
{
    struct mglru_pin pin;
    bool overwrite = one_in(at->thread, 2);
    int error = mglru_pin(at->file, at->offset / cached->options.frame_bytes,
                          overwrite ? MGLRU_PIN_OVERWRITE : MGLRU_PIN_WRITE, &pin);
    if (error)
        return error == MGLRU_ERANGE ? MGLRU_OK : error;
    linger(at->thread);
    mglru_unpin(&pin, MGLRU_UNPIN_CLEAN);
    at->thread->calls[CALL_PIN_CLEAN]++;
    return MGLRU_OK;
}

static int cached_stir(void *subject, struct subject_range range)
{
    struct cached *cached = subject;
    struct extent at = extent_of(cached, range);
    switch (seeded_below(&at.thread->random, 4)) {
    case 0:
        mglru_prefetch(at.file, at.offset, at.bytes * 4);
        at.thread->calls[CALL_PREFETCH]++;
        return MGLRU_OK;
    case 1:
        mglru_drop(cached->mapping[range.mapping], at.offset, at.bytes);
        at.thread->calls[CALL_DROP]++;
        return MGLRU_OK;
    case 2:
        change_limit(cached, at.thread);
        return MGLRU_OK;
    default:
        return pin_and_leave(cached, &at);
    }
}

/* --- life ------------------------------------------------------------------------------------ */

static int open_store(struct cached *cached, unsigned mapping)
{
    cached->store[mapping] = cached->base[mapping];
    if (!cached->faults.size)
        return MGLRU_OK;
    struct mglru_store_faulty_options faults = cached->faults;
    faults.seed = seeded_next(&cached->random);
    /* Not before all has been read after the last cut, with some errors. */
    if (cached->cut_within && seeded_below(&cached->random, 2))
        faults.cut_at_request =
            4 * cached->shape.pages + seeded_below(&cached->random, cached->cut_within);
    return mglru_store_faulty_open(cached->base[mapping], &faults, &cached->store[mapping]);
}

static int open_mapping(struct cached *cached, unsigned mapping)
{
    uint64_t bytes;
    int error = mglru_store_size(cached->base[mapping], &bytes);
    if (!error)
        error = open_store(cached, mapping);
    if (!error)
        error = mglru_data_mapping_create(cached->cache, "m", cached->store[mapping], bytes,
                                          &cached->mapping[mapping]);
    for (unsigned i = 0; i < cached->threads && !error; i++) {
        cached->thread[i].told[mapping] = 0;
        error = mglru_file_open(cached->mapping[mapping], cached->memcgs[i + 1],
                                &cached->thread[i].files[mapping]);
    }
    return error;
}

static int open_cache(struct cached *cached)
{
    int error = mglru_data_create(&cached->options, &cached->cache);
    if (!error)
        error = mglru_memcg_create(cached->cache, "/all", &cached->memcgs[0]);
    for (unsigned i = 0; i < cached->threads && !error; i++) {
        char path[32];
        snprintf(path, sizeof(path), "/all/%u", i);
        error = mglru_memcg_create(cached->cache, path, &cached->memcgs[i + 1]);
    }
    for (unsigned i = 0; i < cached->shape.mappings && !error; i++)
        error = open_mapping(cached, i);
    return error;
}

static int close_cache(struct cached *cached)
{
    background_stop(cache_data(cached->cache)); /* nothing may run while the walkers do */
    const char *broken = data_verify(cached->cache);
    if (broken)
        fprintf(stderr, "%s\n", broken);
    mglru_cache_destroy(cached->cache);
    for (unsigned i = 0; i < cached->shape.mappings && cached->faults.size; i++) {
        base_add_faults(&cached->counts, cached->store[i]);
        mglru_store_close(cached->store[i]);
    }
    return broken ? SUBJECT_BROKEN : MGLRU_OK;
}

int cached_open(struct cached *cached)
{
    cached->random = (struct seeded){.seed = cached->seed, .state = cached->seed};
    for (unsigned i = 0; i < cached->threads; i++) {
        struct cached_thread *thread = &cached->thread[i];
        uint64_t seed = seeded_next(&cached->random);
        thread->random = (struct seeded){.seed = seed, .state = seed};
        thread->scratch = malloc((size_t)(DRIVER_PAGES_MAX + 2) * cached->shape.page_bytes);
        if (!thread->scratch)
            return MGLRU_ENOMEM;
    }
    return open_cache(cached);
}

int cached_close(struct cached *cached)
{
    for (unsigned i = 0; i < cached->threads; i++)
        free(cached->thread[i].scratch);
    return close_cache(cached);
}

/* Whether the store of a mapping has lost its power. */
static bool is_cut(const struct cached *cached, unsigned mapping)
{
    uint64_t bytes;
    return mglru_store_size(cached->store[mapping], &bytes) != MGLRU_OK;
}

/* With a store that works again, each file is told at most once of what had failed. */
static int settle(struct cached *cached, unsigned mapping)
{
    struct mglru_store_faulty_options none = {.size = sizeof(none)};
    const struct data_map *map = mapping_map(cached->mapping[mapping]);
    if (mglru_store_faulty_set(cached->store[mapping], &none))
        return SUBJECT_BROKEN;
    for (unsigned i = 0; i < cached->threads; i++) {
        struct mglru_file *file = cached->thread[i].files[mapping];
        mglru_sync(file, 0, 0);
        bool fails = mglru_sync(file, 0, 0) != MGLRU_OK;
        if (fails != map->failed && !is_cut(cached, mapping))
            return SUBJECT_BROKEN;
    }
    return MGLRU_OK;
}

static int cached_power_cut(void *subject)
{
    struct cached *cached = subject;
    int error = MGLRU_OK;
    bool settles = cached->faults.size && !seeded_below(&cached->random, 4);
    for (unsigned i = 0; i < cached->shape.mappings && !error; i++) {
        if (settles)
            error = settle(cached, i);
        if (!error && cached->faults.size)
            error = mglru_store_faulty_power_cut(cached->store[i]);
    }
    int broken = close_cache(cached);
    for (unsigned i = 0; i < cached->shape.mappings && cached->synced && !error; i++)
        error = mglru_store_memory_power_cut(cached->base[i]);
    int open_error = open_cache(cached);
    return error ? error : broken ? broken : open_error;
}

static bool cached_is_cut(void *subject)
{
    const struct cached *cached = subject;
    for (unsigned i = 0; i < cached->shape.mappings; i++)
        if (is_cut(cached, i))
            return true;
    return false;
}

struct subject_ops cached_ops(const struct cached *cached)
{
    return (struct subject_ops){
        .name = "cache with frames",
        .whole = true,
        .discarded = cached->options.frame_bytes / cached->shape.page_bytes,
        .read = cached_read,
        .write = cached_write,
        .sync = cached_sync,
        .truncate = cached_truncate,
        .sync_all = cached_sync_all,
        .punch = cached_punch,
        .discard = cached_discard,
        .stir = cached_stir,
        .power_cut = cached_power_cut,
        .is_cut = cached_is_cut,
    };
}
