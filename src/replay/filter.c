/* SPDX-License-Identifier: MIT */
/*
 * See filter.h. Accesses are cut where the warm-up ends and, under sampling, into the runs of
 * neighbouring pages that pass. Frees pass whole: they concern whatever pages there are.
 *
 * Invariant: offset pages of the record in work were passed or dropped; 0 between two records.
 */
#include "replay/filter.h"

#include <stdlib.h>
#include <string.h>

#include <mglru/error.h>

#include "base/bits.h"

enum kept {
    KEPT_NOT = 0,
    KEPT_CONTROL, /* an ancestor of the memcg: it is made and removed as the trace says */
    KEPT_ALL
};

struct replay_filter {
    const struct replay_filter_options *options;
    const struct replay_names *names;
    uint8_t *kept; /* enum kept by id of the memcg; NULL: all of all */
    uint32_t known;
    uint32_t offset;
    uint64_t accesses; /* seen of the memcg, before sampling */
    bool warming;
    bool due; /* the warm-up is over, and no piece after it was handed out yet */
};

bool replay_filter_wanted(const struct replay_filter_options *options)
{
    return options->memcg != NULL || options->sample > 0 || options->without_limits ||
           options->warmup_accesses > 0 || options->warmup_ns > 0;
}

struct replay_filter *replay_filter_create(const struct replay_filter_options *options,
                                           const struct replay_names *names)
{
    struct replay_filter *filter = calloc(1, sizeof(*filter));
    if (filter == NULL)
        return NULL;
    filter->options = options;
    filter->names = names;
    filter->warming = options->warmup_accesses > 0 || options->warmup_ns > 0;
    return filter;
}

void replay_filter_destroy(struct replay_filter *filter)
{
    if (filter == NULL)
        return;
    free(filter->kept);
    free(filter);
}

/* True when @path is @top or lies below it. */
static bool is_below(const char *path, const char *top)
{
    size_t length = strlen(top);
    if (length > 0 && top[length - 1] == '/')
        length--;
    return strncmp(path, top, length) == 0 && (path[length] == '\0' || path[length] == '/');
}

static enum kept judge(const struct replay_filter *filter, const char *path)
{
    if (is_below(path, filter->options->memcg))
        return KEPT_ALL;
    return is_below(filter->options->memcg, path) ? KEPT_CONTROL : KEPT_NOT;
}

int replay_filter_learn(struct replay_filter *filter)
{
    if (filter->options->memcg == NULL)
        return MGLRU_OK;
    uint32_t count = replay_names_count(filter->names, REPLAY_MEMCG);
    if (count == filter->known)
        return MGLRU_OK;
    uint8_t *grown = realloc(filter->kept, count);
    if (grown == NULL)
        return MGLRU_ENOMEM;
    filter->kept = grown;
    for (; filter->known < count; filter->known++)
        grown[filter->known] =
            (uint8_t)judge(filter, replay_names_at(filter->names, REPLAY_MEMCG, filter->known));
    return MGLRU_OK;
}

bool replay_filter_samples(uint32_t object, uint64_t page, uint32_t sample)
{
    uint64_t hash = bits_mix64(page ^ bits_mix64(object + UINT64_C(0x9E3779B97F4A7C15)));
    return hash >> 40 < sample;
}

/* Control lines that stand for the memory that the recording had. */
static bool manages_memory(const struct trace_record *record)
{
    if (record->op == TRACE_AGE || record->op == TRACE_EVICT)
        return true;
    return record->op == TRACE_SET && record->name != NULL &&
           strncmp(record->name, "memory.", 7) == 0 && strcmp(record->name, "memory.swap.max") != 0;
}

static bool control_passes(const struct replay_filter *filter, const struct trace_record *record)
{
    if (filter->options->without_limits && manages_memory(record))
        return false;
    if (filter->kept == NULL || record->op == TRACE_LRU_GEN)
        return true;
    const enum kept kept = (enum kept)filter->kept[record->memcg];
    return kept == KEPT_ALL ||
           (kept == KEPT_CONTROL && (record->op >= TRACE_MKDIR && record->op <= TRACE_SET));
}

/* Where the piece that begins at offset has to end, for the warm-up. */
static uint32_t cut_at_warmup(const struct replay_filter *filter, uint32_t count)
{
    const uint64_t wanted = filter->options->warmup_accesses;
    if (!filter->warming || wanted == 0)
        return count;
    const uint64_t room = wanted - filter->accesses;
    return count - filter->offset > room ? filter->offset + (uint32_t)room : count;
}

/* The next run of sampled pages in offset .. end - 1; count 0: none is left there. */
static void find_sampled(struct replay_filter *filter, const struct trace_record *record,
                         uint32_t end, struct trace_record *piece)
{
    const uint32_t sample = filter->options->sample;
    uint32_t at = filter->offset;
    while (at < end && !replay_filter_samples(record->object, record->page + at, sample))
        at++;
    piece->page = record->page + at;
    uint32_t first = at;
    while (at < end && replay_filter_samples(record->object, record->page + at, sample))
        at++;
    piece->count = at - first;
    filter->accesses += at - filter->offset;
    filter->offset = at;
}

static bool next_access(struct replay_filter *filter, const struct trace_record *record,
                        struct trace_record *piece)
{
    while (filter->offset < record->count) {
        const uint32_t end = cut_at_warmup(filter, record->count);
        if (end == filter->offset) /* the warm-up ends here; the caller says so and comes again */
            break;
        if (filter->options->sample > 0) {
            find_sampled(filter, record, end, piece);
        } else {
            piece->page = record->page + filter->offset;
            piece->count = end - filter->offset;
            filter->accesses += piece->count;
            filter->offset = end;
        }
        if (piece->count > 0)
            return true;
    }
    return false;
}

/* Looks whether the warm-up is over before the page at offset. */
static void look_at_warmup(struct replay_filter *filter, const struct trace_record *record)
{
    if (!filter->warming || filter->offset == record->count)
        return;
    const struct replay_filter_options *options = filter->options;
    const bool counted =
        options->warmup_accesses > 0 && filter->accesses >= options->warmup_accesses;
    const bool timed = options->warmup_ns > 0 && record->time_ns != TRACE_NO_TIME &&
                       record->time_ns >= options->warmup_ns;
    filter->warming = !counted && !timed;
    filter->due = !filter->warming;
}

/* A record without pages of its own: passes once, or not at all. */
static bool next_whole(struct replay_filter *filter, const struct trace_record *record)
{
    const bool own = filter->kept == NULL || filter->kept[record->memcg] == KEPT_ALL;
    const bool passes = record->op >= TRACE_MKDIR ? control_passes(filter, record) : own;
    filter->offset = filter->offset == 0 && passes;
    return filter->offset > 0;
}

bool replay_filter_next(struct replay_filter *filter, const struct trace_record *record,
                        struct trace_record *piece, bool *warm)
{
    *piece = *record;
    *warm = false;
    if (!trace_op_is_access(record->op))
        return next_whole(filter, record);
    if (filter->kept != NULL && filter->kept[record->memcg] != KEPT_ALL)
        return false;
    look_at_warmup(filter, record);
    bool more = next_access(filter, record, piece);
    if (!more && filter->offset < record->count) {
        look_at_warmup(filter, record);
        more = next_access(filter, record, piece);
    }
    if (!more) {
        filter->offset = 0;
        return false;
    }
    *warm = filter->due;
    filter->due = false;
    return true;
}
