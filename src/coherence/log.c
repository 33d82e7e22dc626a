/* SPDX-License-Identifier: MIT */
/*
 * Reads a log in three passes: each record is checked and put to its kind, those of accesses and
 * locks are sorted by time, and replayed so that each access knows the locks its thread holds.
 */
#include "coherence/log.h"

#include <endian.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <mglru/error.h>

#include "base/text.h"
#include "base/check.h"

/* A program of an hour at a nanosecond each has fewer. */
#define OPERATIONS_MAX ((uint64_t)1 << 40)
#define RECORD sizeof(struct log_record)

/* A record that the replay needs. */
struct event {
    uint64_t time;
    size_t index; /* in the file */
};

struct thread {
    uint64_t last_time; /* of reading, then of replaying */
    uint64_t locks[COHERENCE_HELD_MAX];
    uint32_t held;
    uint32_t lockset;
    bool begun;
};

struct parser {
    struct coherence_log *log;
    struct coherence_error *error;
    const uint8_t *data;
    const char *name;
    size_t count; /* records with header and end */
    uint64_t ticks_per_s;
    struct event *events;
    size_t event_count;
    struct thread *threads;
};

static struct log_record record_at(const struct parser *parser, size_t index)
{
    struct log_record raw;
    memcpy(&raw, parser->data + index * RECORD, RECORD);
    return (struct log_record){le64toh(raw.time),  le64toh(raw.address),
                               le32toh(raw.bytes), le16toh(raw.thread),
                               raw.kind,           raw.skipped};
}

static int fail_at(const struct parser *parser, size_t index, const char *what)
{
    return coherence_fail(parser->error, MGLRU_EINVAL, "%s: offset %zu: %s", parser->name,
                          index * RECORD, what);
}

static int no_memory(const struct parser *parser)
{
    return coherence_fail(parser->error, MGLRU_ENOMEM, "%s: out of memory", parser->name);
}

bool coherence_log_is(const struct coherence_bytes *file)
{
    return file->bytes >= 8 && memcmp(file->data, LOG_MAGIC, 8) == 0;
}

static int check_header(struct parser *parser, const struct coherence_bytes *file)
{
    struct log_header header;
    if (!coherence_log_is(file))
        return coherence_fail(parser->error, MGLRU_EINVAL,
                              "%s: no log of the recorder: it does not begin with \"%s\"",
                              file->name, LOG_MAGIC);
    if (file->bytes < sizeof(header))
        return fail_at(parser, 0, "the log ends inside of its header");
    memcpy(&header, file->data, sizeof(header));
    if (le32toh(header.version) != LOG_VERSION)
        return coherence_fail(parser->error, MGLRU_EINVAL,
                              "%s: a log of version %" PRIu32 ", this program reads %u", file->name,
                              le32toh(header.version), LOG_VERSION);
    if (le32toh(header.layout) != LOG_LAYOUT || le32toh(header.record_bytes) != RECORD)
        return fail_at(parser, 0, "the records are laid out differently than this program's");
    struct log_record end = {0};
    if (file->bytes % RECORD == 0 && parser->count >= 2)
        end = record_at(parser, parser->count - 1);
    if (end.kind != LOG_END || end.address != parser->count - 1)
        return fail_at(parser, parser->count,
                       "the log is torn: its end is missing (the program was killed, it called"
                       " _exit, or the disk is full)");
    if (end.time == 0 || end.time > (uint64_t)1 << 40)
        return fail_at(parser, parser->count - 1, "the rate of the clock is out of range");
    parser->ticks_per_s = end.time;
    return MGLRU_OK;
}

/* Copy of the name behind record @index; NULL with *@code set. */
static const char *take_name(struct parser *parser, size_t index, size_t length, int *code)
{
    struct coherence_log *log = parser->log;
    size_t records = (length + RECORD - 1) / RECORD;
    *code = MGLRU_OK;
    if (length == 0 || records > parser->count - index - 1) {
        *code = fail_at(parser, index, "a name is empty or goes past the end");
        return NULL;
    }
    const char *bytes = (const char *)parser->data + (index + 1) * RECORD;
    for (size_t i = 0; i < length; i++)
        if (text_is_control((char)bytes[i])) {
            *code = fail_at(parser, index, "a name has control characters");
            return NULL;
        }
    if (log->name_count == log->name_capacity) {
        size_t capacity = log->name_capacity * 2 + 16;
        char **larger = realloc(log->names, capacity * sizeof(*larger));
        if (larger != NULL) {
            log->names = larger;
            log->name_capacity = capacity;
        }
    }
    /* Most objects have the type of the one before. */
    const char *last = log->name_count > 0 ? log->names[log->name_count - 1] : "";
    if (strlen(last) == length && memcmp(last, bytes, length) == 0)
        return last;
    char *copy = log->name_count < log->name_capacity ? strndup(bytes, length) : NULL;
    if (copy == NULL) {
        *code = no_memory(parser);
        return NULL;
    }
    log->names[log->name_count++] = copy;
    return copy;
}

static int take_object(struct parser *parser, size_t index, const struct log_record *record)
{
    struct coherence_log *log = parser->log;
    int code;
    const char *type = take_name(parser, index, record->skipped, &code);
    if (type == NULL)
        return code;
    if (record->bytes == 0 || record->address + record->bytes < record->address)
        return fail_at(parser, index, "an object without bytes, or past the end of memory");
    if (log->object_count >= COHERENCE_OBJECTS_MAX)
        return fail_at(parser, index, "more than a million objects");
    if (log->object_count == log->object_capacity) {
        size_t capacity = log->object_capacity * 2 + 16;
        struct coherence_object *larger = realloc(log->objects, capacity * sizeof(*larger));
        if (larger == NULL)
            return no_memory(parser);
        log->objects = larger;
        log->object_capacity = capacity;
    }
    log->objects[log->object_count] = (struct coherence_object){record->address, record->bytes,
                                                                type, (uint32_t)log->object_count};
    log->object_count++;
    return MGLRU_OK;
}

static int take_module(struct parser *parser, size_t index, const struct log_record *record)
{
    struct coherence_log *log = parser->log;
    int code;
    const char *path = take_name(parser, index, record->skipped, &code);
    if (path == NULL)
        return code;
    if (log->module_count == COHERENCE_MODULES_MAX)
        return fail_at(parser, index, "more than 64 modules");
    log->modules[log->module_count++] = (struct coherence_module){path, record->address};
    return MGLRU_OK;
}

static int take_event(struct parser *parser, size_t index, const struct log_record *record)
{
    if (record->thread >= COHERENCE_THREADS_MAX)
        return fail_at(parser, index, "a thread's number is out of range");
    bool access = record->kind <= LOG_ATOMIC;
    if (access && (record->bytes == 0 || record->bytes > LOG_ACCESS_MAX ||
                   record->address + record->bytes - 1 < record->address))
        return fail_at(parser, index, "an access of no bytes, too many, or past the end of memory");
    struct thread *thread = &parser->threads[record->thread];
    /* A thread's order is that of the file, whatever the clock says. */
    if (record->time > thread->last_time)
        thread->last_time = record->time;
    parser->events[parser->event_count++] = (struct event){thread->last_time, index};
    return MGLRU_OK;
}

static int take_record(struct parser *parser, size_t index, size_t *next)
{
    struct log_record record = record_at(parser, index);
    *next = index + 1;
    switch (record.kind) {
    case LOG_READ:
    case LOG_WRITE:
    case LOG_ATOMIC:
    case LOG_ACQUIRE:
    case LOG_RELEASE:
    case LOG_START:
        return take_event(parser, index, &record);
    case LOG_OBJECT:
        *next += (record.skipped + RECORD - 1) / RECORD;
        return take_object(parser, index, &record);
    case LOG_MODULE:
        *next += (record.skipped + RECORD - 1) / RECORD;
        return take_module(parser, index, &record);
    case LOG_MARK:
        if (record.address > OPERATIONS_MAX - parser->log->trace.operations)
            return fail_at(parser, index, "more than 2^40 operations");
        parser->log->trace.operations += record.address;
        return MGLRU_OK;
    case LOG_TOTAL:
        if (record.bytes >= LOG_TOTALS)
            return fail_at(parser, index, "a sum of an unknown kind");
        parser->log->totals[record.bytes] = record.address;
        return MGLRU_OK;
    default:
        return fail_at(parser, index, "a record of an unknown kind");
    }
}

static int compare_events(const void *left, const void *right)
{
    const struct event *a = left, *b = right;
    if (a->time != b->time)
        return a->time < b->time ? -1 : 1;
    return (a->index > b->index) - (a->index < b->index);
}

static int change_locks(struct parser *parser, struct thread *thread,
                        const struct log_record *record)
{
    if (record->kind == LOG_ACQUIRE && thread->held < COHERENCE_HELD_MAX)
        thread->locks[thread->held++] = record->address;
    for (uint32_t i = 0; record->kind == LOG_RELEASE && i < thread->held; i++)
        if (thread->locks[i] == record->address) {
            memmove(&thread->locks[i], &thread->locks[i + 1],
                    (thread->held - i - 1) * sizeof(thread->locks[0]));
            thread->held--;
            break;
        }
    return coherence_trace_lockset(&parser->log->trace, thread->locks, thread->held,
                                   &thread->lockset);
}

/* Work before the access, without what recording cost. */
static uint32_t gap_of(const struct parser *parser, const struct thread *thread, uint64_t time,
                       const struct log_record *record)
{
    const uint64_t *totals = parser->log->totals;
    if (!thread->begun)
        return 0;
    double ns = (double)(time - thread->last_time) * 1e9 / (double)parser->ticks_per_s;
    ns -= ((double)totals[LOG_TOTAL_LOG_PS] +
           (double)record->skipped * (double)totals[LOG_TOTAL_FILTER_PS]) /
          1000;
    if (ns < 0)
        return 0;
    return ns > COHERENCE_GAP_MAX_NS ? COHERENCE_GAP_MAX_NS : (uint32_t)ns;
}

static int replay(struct parser *parser)
{
    static const enum coherence_kind kinds[] = {[LOG_READ] = COHERENCE_READ,
                                                [LOG_WRITE] = COHERENCE_WRITE,
                                                [LOG_ATOMIC] = COHERENCE_ATOMIC};
    for (size_t i = 0; i < parser->event_count; i++) {
        struct log_record record = record_at(parser, parser->events[i].index);
        struct thread *thread = &parser->threads[record.thread];
        int code;
        if (record.kind == LOG_START) {
            coherence_trace_start(&parser->log->trace, record.thread,
                                  record.address < COHERENCE_THREADS_MAX ? (uint32_t)record.address
                                                                         : COHERENCE_THREADS_MAX);
            code = MGLRU_OK;
        } else if (record.kind > LOG_ATOMIC) {
            code = change_locks(parser, thread, &record);
        } else {
            uint64_t time = parser->events[i].time;
            struct coherence_access access = {
                .address = record.address,
                .bytes = record.bytes,
                .thread = record.thread,
                .gap_ns = gap_of(parser, thread, time, &record),
                .lockset = thread->lockset,
                .kind = kinds[record.kind],
            };
            thread->begun = true;
            thread->last_time = time;
            code = coherence_trace_add(&parser->log->trace, &access);
        }
        if (code == MGLRU_EOVERFLOW)
            return coherence_fail(parser->error, code, "%s: too many accesses", parser->name);
        if (code != MGLRU_OK)
            return no_memory(parser);
    }
    return MGLRU_OK;
}

static int compare_objects(const void *left, const void *right)
{
    const struct coherence_object *a = left, *b = right;
    if (a->address != b->address)
        return a->address < b->address ? -1 : 1;
    return (a->order > b->order) - (a->order < b->order);
}

/* Objects by address. Of those that overlap, since one was freed unsaid, the later one stays. */
static void sort_objects(struct coherence_log *log)
{
    size_t kept = 0;
    if (log->object_count == 0)
        return;
    qsort(log->objects, log->object_count, sizeof(*log->objects), compare_objects);
    for (size_t i = 1; i < log->object_count; i++) {
        const struct coherence_object *last = &log->objects[kept], *next = &log->objects[i];
        if (next->address - last->address >= last->bytes)
            log->objects[++kept] = *next;
        else if (next->order > last->order)
            log->objects[kept] = *next;
    }
    log->object_count = kept + 1;
}

static int parse_records(struct parser *parser)
{
    for (size_t at = 1, next; at < parser->count - 1; at = next) {
        int code = take_record(parser, at, &next);
        if (code != MGLRU_OK)
            return code;
        if (next > parser->count - 1)
            return fail_at(parser, at, "a name goes past the end");
    }
    if (parser->event_count > 0)
        qsort(parser->events, parser->event_count, sizeof(*parser->events), compare_events);
    for (uint32_t t = 0; t < COHERENCE_THREADS_MAX; t++)
        parser->threads[t].last_time = 0;
    int code = replay(parser);
    if (code != MGLRU_OK)
        return code;
    sort_objects(parser->log);
    return coherence_trace_finish(&parser->log->trace) == MGLRU_OK ? MGLRU_OK : no_memory(parser);
}

int coherence_log_parse(const struct coherence_bytes *file, uint32_t line_bytes,
                        struct coherence_log *log, struct coherence_error *error)
{
    struct parser parser = {.log = log,
                            .error = error,
                            .data = file->data,
                            .name = file->name,
                            .count = file->bytes / RECORD};
    *log = (struct coherence_log){0};
    error->text[0] = '\0';
    int code = coherence_trace_begin(&log->trace, line_bytes);
    if (code == MGLRU_EINVAL)
        return coherence_fail(error, code, "lines of %u bytes: expected 32, 64 or 128", line_bytes);
    if (code != MGLRU_OK)
        return no_memory(&parser);
    code = check_header(&parser, file);
    if (code != MGLRU_OK)
        return code;
    parser.events = malloc(parser.count * sizeof(*parser.events));
    parser.threads = calloc(COHERENCE_THREADS_MAX, sizeof(*parser.threads));
    code = parser.events != NULL && parser.threads != NULL ? parse_records(&parser)
                                                           : no_memory(&parser);
    free(parser.events);
    free(parser.threads);
    return code;
}

int coherence_log_read(const char *path, uint32_t line_bytes, struct coherence_log *log,
                       struct coherence_error *error)
{
    struct coherence_bytes bytes;
    *log = (struct coherence_log){0};
    int code = coherence_file_open(path, &bytes, error);
    if (code == MGLRU_OK)
        code = coherence_log_parse(&bytes, line_bytes, log, error);
    coherence_file_close(&bytes);
    return code;
}

void coherence_log_free(struct coherence_log *log)
{
    coherence_trace_free(&log->trace);
    for (size_t i = 0; i < log->name_count; i++)
        free(log->names[i]);
    free(log->names);
    free(log->objects);
    *log = (struct coherence_log){0};
}
