/* SPDX-License-Identifier: MIT */
/*
 * Two chunks of records take turns: while the views of one may still be in use, the other is
 * filled. A chunk owns copies of the texts of its control lines, because a reader's own texts die
 * with its next batch.
 *
 * Invariants
 *   1. map[kind][i] is the global id of the reader's name i; identity[kind] says that it is i.
 *   2. position < chunk.count, or the chunk is used up and cut_pages is 0.
 *   3. cut_pages pages of the record at position were handed out already.
 */
#include "replay/source.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/check.h"
#include "replay/filter.h"

#define CHUNK_RECORDS 8192 /* half a megabyte: stays in a second-level cache with its accesses */

struct record_chunk {
    struct trace_record *records;
    size_t count;
    char **texts; /* copies for control records */
    size_t text_count;
    size_t text_capacity;
    size_t warm_at; /* the record before which the warm-up ends; SIZE_MAX: none */
};

struct id_map {
    uint32_t *ids;
    uint32_t count;
    uint32_t capacity;
    bool identity;
};

struct replay_source {
    const struct replay_options *options;
    struct replay_names *names;
    struct trace_reader *reader;
    size_t trace; /* number of the trace in use */
    struct id_map maps[2];
    struct record_chunk chunks[2];
    unsigned current;
    size_t position;
    struct replay_filter *filter; /* NULL: everything passes */
    struct record_chunk raw;      /* what the filter works on */
    size_t raw_position;
    uint32_t cut_pages;
    struct trace_record cut[2]; /* pieces of long requests, taking turns like the chunks */
    unsigned cut_turn;
    uint64_t time_base_ns;
    uint64_t time_last_ns;
    uint64_t bytes_before; /* of the traces that are done */
    uint64_t bytes_total;  /* of all; 0: unknown */
    const char *format;
    uint32_t page_bytes;
    struct replay_source_totals totals;
};

static int open_trace(struct replay_source *source, struct replay_error *error)
{
    struct trace_error said = {.text = ""};
    int code = trace_reader_open(source->options->traces[source->trace], &source->options->open,
                                 &source->reader, &said);
    if (code != MGLRU_OK) {
        snprintf(error->text, sizeof(error->text), "%s", said.text);
        return code;
    }
    for (int kind = 0; kind < 2; kind++) {
        source->maps[kind].count = 0;
        source->maps[kind].identity = true;
    }
    uint32_t page_bytes = trace_reader_page_bytes(source->reader);
    if (source->format == NULL) {
        source->format = trace_reader_format(source->reader);
        source->page_bytes = page_bytes;
    } else if (page_bytes != source->page_bytes) {
        snprintf(error->text, sizeof(error->text),
                 "%s: pages of %" PRIu32 " bytes, but %s has pages of %" PRIu32
                 ": traces replayed as one must agree",
                 source->options->traces[source->trace], page_bytes, source->options->traces[0],
                 source->page_bytes);
        return MGLRU_EINVAL;
    }
    return MGLRU_OK;
}

/* Size of all traces together, for progress; 0 when one of them is no regular file. */
static uint64_t total_bytes(const struct replay_options *options)
{
    uint64_t total = 0;
    for (size_t i = 0; i < options->trace_count; i++) {
        struct stat info;
        if (stat(options->traces[i], &info) != 0 || !S_ISREG(info.st_mode))
            return 0;
        total += (uint64_t)info.st_size;
    }
    return total;
}

static int create_filter(struct replay_source *source)
{
    source->raw.records = calloc(CHUNK_RECORDS, sizeof(struct trace_record));
    source->filter = replay_filter_create(&source->options->filter, source->names);
    return source->raw.records != NULL && source->filter != NULL ? MGLRU_OK : MGLRU_ENOMEM;
}

int replay_source_open(const struct replay_options *options, struct replay_names *names,
                       struct replay_source **out, struct replay_error *error)
{
    *out = NULL;
    struct replay_source *source = calloc(1, sizeof(*source));
    if (source == NULL)
        return MGLRU_ENOMEM;
    source->options = options;
    source->names = names;
    source->bytes_total = total_bytes(options);
    int code = MGLRU_OK;
    for (int i = 0; i < 2; i++) {
        source->chunks[i].records = calloc(CHUNK_RECORDS, sizeof(struct trace_record));
        if (source->chunks[i].records == NULL)
            code = MGLRU_ENOMEM;
    }
    if (code == MGLRU_OK && replay_filter_wanted(&options->filter))
        code = create_filter(source);
    if (code == MGLRU_OK)
        code = open_trace(source, error);
    if (code != MGLRU_OK) {
        replay_source_close(source);
        return code;
    }
    *out = source;
    return MGLRU_OK;
}

static void forget_texts(struct record_chunk *chunk)
{
    for (size_t i = 0; i < chunk->text_count; i++)
        free(chunk->texts[i]);
    chunk->text_count = 0;
}

void replay_source_close(struct replay_source *source)
{
    if (source == NULL)
        return;
    trace_reader_close(source->reader);
    for (int i = 0; i < 2; i++) {
        forget_texts(&source->chunks[i]);
        free(source->chunks[i].texts);
        free(source->chunks[i].records);
        free(source->maps[i].ids);
    }
    forget_texts(&source->raw);
    free(source->raw.texts);
    free(source->raw.records);
    replay_filter_destroy(source->filter);
    free(source);
}

static const char *reader_name(const struct trace_reader *reader, enum replay_name_kind kind,
                               uint32_t id)
{
    const char *name = kind == REPLAY_MEMCG ? trace_reader_memcg_name(reader, id)
                                            : trace_reader_object_name(reader, id);
    return name != NULL ? name : "";
}

/* Learns the names that the reader has met since the last call. */
static int learn_names(struct replay_source *source, enum replay_name_kind kind)
{
    struct id_map *map = &source->maps[kind];
    uint32_t known = kind == REPLAY_MEMCG ? trace_reader_memcgs(source->reader)
                                          : trace_reader_objects(source->reader);
    if (known > map->capacity) {
        uint32_t capacity = known < 64 ? 64 : known + known / 2;
        uint32_t *grown = realloc(map->ids, capacity * sizeof(*grown));
        if (grown == NULL)
            return MGLRU_ENOMEM;
        map->ids = grown;
        map->capacity = capacity;
    }
    for (; map->count < known; map->count++) {
        uint32_t *id = &map->ids[map->count];
        const char *name = reader_name(source->reader, kind, map->count);
        int code = replay_names_intern(source->names, kind, name, id);
        if (code != MGLRU_OK)
            return code;
        map->identity = map->identity && *id == map->count;
    }
    return MGLRU_OK;
}

/* Makes *@text a copy that belongs to @chunk. */
static int keep_text(struct record_chunk *chunk, const char **text)
{
    if (*text == NULL)
        return MGLRU_OK;
    if (chunk->text_count == chunk->text_capacity) {
        size_t capacity = chunk->text_capacity == 0 ? 16 : chunk->text_capacity * 2;
        char **grown = realloc(chunk->texts, capacity * sizeof(*grown));
        if (grown == NULL)
            return MGLRU_ENOMEM;
        chunk->texts = grown;
        chunk->text_capacity = capacity;
    }
    char *copy = strdup(*text);
    if (copy == NULL)
        return MGLRU_ENOMEM;
    chunk->texts[chunk->text_count++] = copy;
    *text = copy;
    return MGLRU_OK;
}

/* Gives records global ids and one clock, and keeps the texts of control lines. */
static int adopt_records(struct replay_source *source, struct record_chunk *chunk)
{
    const struct id_map *memcgs = &source->maps[REPLAY_MEMCG];
    const struct id_map *objects = &source->maps[REPLAY_OBJECT];
    const bool mapped = !memcgs->identity || !objects->identity;
    for (size_t i = 0; i < chunk->count; i++) {
        struct trace_record *record = &chunk->records[i];
        if (mapped) {
            record->memcg = record->memcg < memcgs->count ? memcgs->ids[record->memcg] : 0;
            record->object = record->object < objects->count ? objects->ids[record->object] : 0;
        }
        if (record->time_ns != TRACE_NO_TIME) {
            record->time_ns += source->time_base_ns;
            source->time_last_ns = record->time_ns;
            source->totals.timed = true;
        }
        if (record->op < TRACE_MKDIR)
            continue;
        /* What a fact should have been is said by the run that meets it. */
        if (record->op == TRACE_SET &&
            strcmp(replay_names_at(source->names, REPLAY_MEMCG, record->memcg), "/") == 0)
            replay_recorded_take(&source->totals.recorded, record);
        if (keep_text(chunk, &record->name) != MGLRU_OK ||
            keep_text(chunk, &record->text) != MGLRU_OK)
            return MGLRU_ENOMEM;
    }
    return MGLRU_OK;
}

/* Goes on to the next trace. */
static int next_trace(struct replay_source *source, struct replay_error *error)
{
    struct trace_progress progress;
    trace_reader_progress(source->reader, &progress);
    source->bytes_before += progress.bytes_total;
    trace_reader_close(source->reader);
    source->reader = NULL;
    source->time_base_ns = source->time_last_ns;
    source->trace++;
    return open_trace(source, error);
}

/* Replaces what @chunk holds by the next records of the traces; none at the end of the last. */
static int read_chunk(struct replay_source *source, struct record_chunk *chunk,
                      struct replay_error *error)
{
    forget_texts(chunk);
    chunk->count = 0;
    for (;;) {
        struct trace_error said = {.text = ""};
        int code =
            trace_reader_next(source->reader, chunk->records, CHUNK_RECORDS, &chunk->count, &said);
        if (code != MGLRU_OK) {
            snprintf(error->text, sizeof(error->text), "%s", said.text);
            return code;
        }
        if (chunk->count > 0)
            break;
        if (source->trace + 1 == source->options->trace_count)
            return MGLRU_OK;
        code = next_trace(source, error);
        if (code != MGLRU_OK)
            return code;
    }
    int code = learn_names(source, REPLAY_MEMCG);
    if (code == MGLRU_OK)
        code = learn_names(source, REPLAY_OBJECT);
    return code == MGLRU_OK ? adopt_records(source, chunk) : code;
}

/* Moves what passes the filter from the raw chunk to @chunk, until one of them is used up. */
static int filter_chunk(struct replay_source *source, struct record_chunk *chunk)
{
    struct record_chunk *raw = &source->raw;
    while (source->raw_position < raw->count && chunk->count < CHUNK_RECORDS) {
        struct trace_record *piece = &chunk->records[chunk->count];
        bool warm;
        if (!replay_filter_next(source->filter, &raw->records[source->raw_position], piece,
                                &warm)) {
            source->raw_position++;
            continue;
        }
        if (warm)
            chunk->warm_at = chunk->count;
        chunk->count++;
        if (piece->op >= TRACE_MKDIR && (keep_text(chunk, &piece->name) != MGLRU_OK ||
                                         keep_text(chunk, &piece->text) != MGLRU_OK))
            return MGLRU_ENOMEM;
    }
    return MGLRU_OK;
}

/* read_chunk() through the filter. */
static int read_filtered(struct replay_source *source, struct record_chunk *chunk,
                         struct replay_error *error)
{
    forget_texts(chunk);
    chunk->count = 0;
    while (chunk->count < CHUNK_RECORDS) {
        if (source->raw_position == source->raw.count) {
            /* A view names the trace it comes from, so a chunk holds records of one trace. */
            if (chunk->count > 0 && source->options->trace_count > 1)
                break;
            int code = read_chunk(source, &source->raw, error);
            if (code == MGLRU_OK)
                code = replay_filter_learn(source->filter);
            if (code != MGLRU_OK)
                return code;
            source->raw_position = 0;
            if (source->raw.count == 0)
                break;
        }
        int code = filter_chunk(source, chunk);
        if (code != MGLRU_OK)
            return code;
    }
    return MGLRU_OK;
}

/* Fills the other chunk from the traces; it stays empty at the end of the last. */
static int refill(struct replay_source *source, struct replay_error *error)
{
    source->current ^= 1;
    source->position = 0;
    struct record_chunk *chunk = &source->chunks[source->current];
    chunk->warm_at = SIZE_MAX;
    return source->filter != NULL ? read_filtered(source, chunk, error)
                                  : read_chunk(source, chunk, error);
}

/* Hands out the next piece of a request that is longer than a view. */
static void cut_request(struct replay_source *source, struct replay_view *view)
{
    const struct trace_record *record = &source->chunks[source->current].records[source->position];
    uint32_t left = record->count - source->cut_pages;
    source->cut_turn ^= 1;
    struct trace_record *piece = &source->cut[source->cut_turn];
    *piece = *record;
    piece->page += source->cut_pages;
    piece->count = left < REPLAY_VIEW_PAGES_MAX ? left : REPLAY_VIEW_PAGES_MAX;
    source->cut_pages += piece->count;
    if (source->cut_pages == record->count) {
        source->cut_pages = 0;
        source->position++;
        source->totals.records++;
        source->totals.requests++;
    }
    view->records = piece;
    view->count = 1;
    view->pages = piece->count;
}

int replay_source_next(struct replay_source *source, struct replay_view *view,
                       struct replay_error *error)
{
    *view = (struct replay_view){0};
    if (source->position == source->chunks[source->current].count) {
        int code = refill(source, error);
        if (code != MGLRU_OK)
            return code;
    }
    const struct record_chunk *chunk = &source->chunks[source->current];
    size_t end = source->position;
    const size_t stop =
        chunk->warm_at > end && chunk->warm_at < chunk->count ? chunk->warm_at : chunk->count;
    uint64_t requests = 0;
    view->warm = chunk->warm_at == end && source->cut_pages == 0;
    for (; end < stop; end++) {
        const struct trace_record *record = &chunk->records[end];
        if (!trace_op_is_access(record->op))
            continue;
        if (view->pages + record->count > REPLAY_VIEW_PAGES_MAX)
            break;
        view->pages += record->count;
        requests++;
    }
    view->path = source->options->traces[source->trace];
    if (end == source->position && end < stop) {
        cut_request(source, view);
    } else {
        view->records = chunk->records + source->position;
        view->count = end - source->position;
        source->totals.records += view->count;
        source->totals.requests += requests;
        source->position = end;
    }
    source->totals.accesses += view->pages;
    MGLRU_ASSERT(view->pages <= REPLAY_VIEW_PAGES_MAX);
    return MGLRU_OK;
}

void replay_source_totals(const struct replay_source *source, struct replay_source_totals *out)
{
    *out = source->totals;
}

void replay_source_progress(const struct replay_source *source, struct trace_progress *out)
{
    *out = (struct trace_progress){0};
    if (source->reader != NULL)
        trace_reader_progress(source->reader, out);
    out->bytes_read += source->bytes_before;
    if (source->options->trace_count > 1)
        out->bytes_total = source->bytes_total;
    out->records = source->totals.records;
}

const char *replay_source_format(const struct replay_source *source)
{
    return source->format;
}

uint32_t replay_source_page_bytes(const struct replay_source *source)
{
    return source->page_bytes;
}
