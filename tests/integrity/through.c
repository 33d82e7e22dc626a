/* SPDX-License-Identifier: MIT */
/* The cache that keeps nothing (through.h), and its breakages, which are for one thread alone. */
#include "through.h"

#include <stdlib.h>
#include <string.h>

#include "bases.h"
#include "os/os.h"

/* Chosen: a breakage shows within a few thousand calls, not at once; truncates are rarer. */
#define BREAK_EVERY 97u
#define BREAK_TRUNCATES_EVERY 5u

/* Whether the cache does this now. */
static bool breaks(struct through *through, enum through_breakage breakage)
{
    unsigned every = breakage == THROUGH_KEEPS_TRUNCATED ? BREAK_TRUNCATES_EVERY : BREAK_EVERY;
    return through->breakage == breakage && ++through->calls % every == 0;
}

static uint64_t offset_of(const struct through *through, uint64_t page)
{
    return page * through->page_bytes;
}

static int through_read(void *subject, struct subject_range range, void *pages)
{
    struct through *through = subject;
    struct mglru_store_vec vec = {pages, (size_t)range.count * through->page_bytes};
    lock_mutex_acquire(&through->lock[range.mapping]);
    int error =
        mglru_store_read(through->store[range.mapping], offset_of(through, range.first), &vec, 1);
    lock_mutex_release(&through->lock[range.mapping]);
    if (error || through->breakage != THROUGH_READS_STALE)
        return error;
    bool same = through->old && through->old_of.mapping == range.mapping &&
                through->old_of.first == range.first;
    if (same)
        memcpy(pages, through->old, through->page_bytes);
    if (breaks(through, THROUGH_READS_STALE) && !through->old)
        through->old = calloc(1, through->page_bytes);
    if (through->calls % BREAK_EVERY == 0 && !same) {
        memcpy(through->old, pages, through->page_bytes);
        through->old_of = range;
    }
    return MGLRU_OK;
}

static int through_write(void *subject, struct subject_range range, const void *pages)
{
    struct through *through = subject;
    struct mglru_store_vec vec = {(void *)pages, (size_t)range.count * through->page_bytes};
    if (breaks(through, THROUGH_LOSES_WRITES))
        return MGLRU_OK;
    if (breaks(through, THROUGH_TEARS_PAGES))
        vec.bytes -= through->page_bytes / 2;
    if (breaks(through, THROUGH_MIXES_UP_PAGES))
        range.first++;
    lock_mutex_acquire(&through->lock[range.mapping]);
    int error =
        mglru_store_write(through->store[range.mapping], offset_of(through, range.first), &vec, 1);
    lock_mutex_release(&through->lock[range.mapping]);
    if (error && through->linger_ns)
        os_clock_sleep_ns(through->linger_ns);
    return error;
}

static int through_sync(void *subject, struct subject_range range)
{
    struct through *through = subject;
    if (through->breakage == THROUGH_LIES_ABOUT_SYNCS)
        return MGLRU_OK;
    int error = mglru_store_sync(through->store[range.mapping]);
    return through->breakage == THROUGH_HIDES_SYNC_ERRORS ? MGLRU_OK : error;
}

static int through_truncate(void *subject, struct subject_range range)
{
    struct through *through = subject;
    if (breaks(through, THROUGH_KEEPS_TRUNCATED))
        return MGLRU_OK;
    lock_mutex_acquire(&through->lock[range.mapping]);
    int error =
        mglru_store_truncate(through->store[range.mapping], offset_of(through, range.first));
    lock_mutex_release(&through->lock[range.mapping]);
    return error;
}

void through_init(struct through *through)
{
    for (uint32_t i = 0; i < THROUGH_MAPPINGS_MAX; i++)
        lock_mutex_init(&through->lock[i], RANK_LIMIT); /* any rank below those of stores */
}

int through_open(struct through *through)
{
    for (uint32_t i = 0; i < through->mappings; i++) {
        through->store[i] = through->base[i];
        if (!through->faults.size)
            continue;
        struct mglru_store_faulty_options faults = through->faults;
        faults.seed += i + through->restarts * THROUGH_MAPPINGS_MAX;
        int error = mglru_store_faulty_open(through->base[i], &faults, &through->store[i]);
        if (error)
            return error;
    }
    return MGLRU_OK;
}

void through_close(struct through *through)
{
    for (uint32_t i = 0; i < through->mappings && through->faults.size; i++) {
        base_add_faults(&through->counts, through->store[i]);
        mglru_store_close(through->store[i]);
    }
    free(through->old);
    through->old = NULL;
}

static int through_power_cut(void *subject)
{
    struct through *through = subject;
    for (uint32_t i = 0; i < through->mappings; i++) {
        int error = through->faults.size ? mglru_store_faulty_power_cut(through->store[i])
                                         : mglru_store_memory_power_cut(through->store[i]);
        if (error)
            return error;
    }
    through_close(through);
    through->restarts++;
    return through_open(through);
}

const struct subject_ops through_ops = {
    .name = "write-through",
    .read = through_read,
    .write = through_write,
    .sync = through_sync,
    .truncate = through_truncate,
    .power_cut = through_power_cut,
};

const struct subject_ops through_ops_uncut = {
    .name = "write-through, power stays",
    .read = through_read,
    .write = through_write,
    .sync = through_sync,
    .truncate = through_truncate,
};
