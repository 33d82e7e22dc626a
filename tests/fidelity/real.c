/* SPDX-License-Identifier: MIT */
/*
 * Kernel traces of real programs -> read() calls.
 *
 * The kernel reports a read() once per batch of folios, so that a read of pages 0..7 may come as
 * "0 7", "1 7", "2 7": events of one process, inode and last page with a growing first page are
 * one call. Opens carry no path; a file counts as opened anew when its reader opened anything
 * since its last read, or is another process.
 */
#include "real.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bits.h"
#include "base/check.h"
#include "trace/input.h"

#define PATH_BYTES 4096
#define INODES_MAX 65536 /* the recorded tree has 4,600; guards against a wrong file */
#define PIDS_MAX 65536
#define DATA_DEVICE "1:0"
#define PAGE_BYTES 4096
/* A read of a native trace gets its time this often; finer times serve nothing here. */
#define EMIT_TIME_EVERY 512

/* Only complete traces give a vector: without limit every page is added once. */
struct loader {
    struct real_stream *out;
    uint32_t *file_of_inode; /* index + 1; 0: not a file of the tree */
    uint32_t *opens_of_pid;
    uint32_t *reader_pid; /* by file: who read last (pid + 1), and its opens then */
    uint32_t *reader_opens;
    uint8_t *added; /* by page of the tree: added to the cache since its last access */
    uint64_t tree_pages;
    size_t miss_capacity; /* bytes */
    /* The call that is being joined. */
    bool in_call;
    uint32_t pid;
    uint32_t inode;
    uint64_t time_us;
    uint64_t start;
    uint64_t first;
    uint64_t last;
    uint32_t opens;
};

/* inodes.txt: "inode type size path"; files of type f get an index each. */
static void parse_inodes(struct loader *loader, FILE *in)
{
    char line[PATH_BYTES];
    struct real_stream *out = loader->out;
    while (fgets(line, sizeof(line), in)) {
        uint64_t inode = 0;
        uint64_t bytes = 0;
        char type = 0;
        if (sscanf(line, "%" SCNu64 " %c %" SCNu64, &inode, &type, &bytes) != 3 || type != 'f' ||
            inode >= INODES_MAX || out->files_count == INODES_MAX)
            continue;
        uint64_t pages = (bytes + PAGE_BYTES - 1) / PAGE_BYTES;
        loader->file_of_inode[inode] = (uint32_t)out->files_count + 1;
        out->files[out->files_count++] =
            (struct real_file){.inode = inode, .pages = pages, .offset = loader->tree_pages};
        loader->tree_pages += pages;
    }
}

static int load_inodes(struct loader *loader, const char *trace)
{
    char path[PATH_BYTES];
    const char *slash = strrchr(trace, '/');
    int folder = slash ? (int)(slash + 1 - trace) : 0;
    int length = snprintf(path, sizeof(path), "%.*sinodes.txt", folder, trace);
    FILE *in = length > 0 && (size_t)length < sizeof(path) ? fopen(path, "r") : NULL;
    if (!in)
        return MGLRU_ENOENT;
    loader->file_of_inode = calloc(INODES_MAX, sizeof(uint32_t));
    loader->opens_of_pid = calloc(PIDS_MAX, sizeof(uint32_t));
    loader->reader_pid = calloc(INODES_MAX, sizeof(uint32_t));
    loader->reader_opens = calloc(INODES_MAX, sizeof(uint32_t));
    loader->out->files = calloc(INODES_MAX, sizeof(*loader->out->files));
    if (loader->file_of_inode && loader->opens_of_pid && loader->reader_pid &&
        loader->reader_opens && loader->out->files)
        parse_inodes(loader, in);
    fclose(in);
    loader->added = calloc(loader->tree_pages + 1, 1);
    return loader->added && loader->out->files_count ? 0 : MGLRU_EINVAL;
}

static bool stream_add(struct real_stream *stream, const struct real_read *read)
{
    if (stream->count == stream->capacity) {
        size_t capacity = stream->capacity ? 2 * stream->capacity : 4096;
        struct real_read *reads = realloc(stream->reads, capacity * sizeof(*reads));
        if (!reads)
            return false;
        stream->reads = reads;
        stream->capacity = capacity;
    }
    stream->reads[stream->count++] = *read;
    return true;
}

/* Appends the miss bits of a call's pages: added since their last access. */
static bool call_misses(struct loader *loader, const struct real_read *read)
{
    struct real_stream *out = loader->out;
    size_t needed = (size_t)((out->accesses + read->count) / 8 + 1);
    if (needed > loader->miss_capacity) {
        size_t capacity = 2 * needed;
        uint8_t *misses = realloc(out->misses, capacity);
        if (!misses)
            return false;
        memset(misses + loader->miss_capacity, 0, capacity - loader->miss_capacity);
        out->misses = misses;
        loader->miss_capacity = capacity;
    }
    uint8_t *added = loader->added + out->files[read->file].offset + read->first;
    for (uint32_t i = 0; i < read->count; i++, out->accesses++) {
        out->misses[out->accesses / 8] |= (uint8_t)((unsigned)added[i] << (out->accesses % 8));
        added[i] = 0;
    }
    return true;
}

/* Ends the joined call and appends it. */
static bool call_end(struct loader *loader)
{
    if (!loader->in_call)
        return true;
    loader->in_call = false;
    uint32_t file = loader->file_of_inode[loader->inode] - 1;
    uint64_t pages = loader->out->files[file].pages;
    uint64_t last = loader->last < pages ? loader->last : pages - 1;
    if (pages == 0 || loader->start > last)
        return true;
    struct real_read read = {.time_us = loader->time_us,
                             .file = file,
                             .first = loader->start,
                             .count = (uint32_t)(last - loader->start + 1)};
    read.reopened =
        loader->reader_pid[file] != loader->pid + 1 || loader->reader_opens[file] != loader->opens;
    loader->reader_pid[file] = loader->pid + 1;
    loader->reader_opens[file] = loader->opens;
    return call_misses(loader, &read) && stream_add(loader->out, &read);
}

/* One event of the trace. */
struct event {
    uint64_t time_us;
    uint64_t pid;
    uint64_t inode;
    uint64_t first;
    uint64_t last;
    char kind;
    bool data; /* of the data disk's files */
};

static bool event_read(struct loader *loader, const struct event *event)
{
    bool same = loader->in_call && loader->pid == event->pid && loader->inode == event->inode &&
                loader->last == event->last && loader->first < event->first &&
                event->first <= event->last;
    if (same) {
        loader->first = event->first;
        return true;
    }
    if (!call_end(loader))
        return false;
    if (!loader->file_of_inode[event->inode])
        return true;
    loader->in_call = true;
    loader->pid = (uint32_t)event->pid;
    loader->inode = (uint32_t)event->inode;
    loader->time_us = event->time_us;
    loader->start = event->first;
    loader->first = event->first;
    loader->last = event->last;
    loader->opens = loader->opens_of_pid[event->pid];
    return true;
}

void real_folios_add(struct real_folios *folios, uint64_t inode, uint64_t first, uint64_t pages)
{
    folios->count++;
    folios->hash = bits_mix64(folios->hash ^ inode);
    folios->hash = bits_mix64(folios->hash ^ first);
    folios->hash = bits_mix64(folios->hash ^ pages);
}

static bool event_add(struct loader *loader, const struct event *event)
{
    struct real_stream *out = loader->out;
    if (!event->data) {
        if (event->last >= out->blocks)
            out->blocks = event->last + 1;
        struct real_read read = {.time_us = event->time_us,
                                 .metadata = true,
                                 .first = event->first,
                                 .count = (uint32_t)(event->last - event->first + 1)};
        out->metadata = true;
        return stream_add(out, &read);
    }
    uint32_t index = loader->file_of_inode[event->inode];
    if (!index)
        return true;
    const struct real_file *file = &out->files[index - 1];
    real_folios_add(&out->folios, event->inode, event->first, event->last - event->first + 1);
    for (uint64_t page = event->first; page <= event->last && page < file->pages; page++)
        loader->added[file->offset + page] = 1;
    return true;
}

/* False: a line that is no event, or no memory. */
static bool line_take(struct loader *loader, const char *line)
{
    struct event event = {0};
    char device[16] = "";
    int fields = sscanf(line, "%" SCNu64 " %" SCNu64 " %c %15s %" SCNu64 " %" SCNu64 " %" SCNu64,
                        &event.time_us, &event.pid, &event.kind, device, &event.inode, &event.first,
                        &event.last);
    if (fields < 3 || event.pid >= PIDS_MAX)
        return false;
    if (event.kind == 'O') {
        loader->opens_of_pid[event.pid]++;
        return true;
    }
    event.data = strcmp(device, DATA_DEVICE) == 0;
    if (fields != 7 || (event.data && event.inode >= INODES_MAX) || event.last < event.first)
        return event.kind == 'G'; /* a read past the end of file */
    if (event.kind == 'G')
        return !event.data || event_read(loader, &event);
    return event.kind != 'A' || event_add(loader, &event);
}

/* All lines of the decompressed trace. */
static int lines_take(struct loader *loader, const char *path, struct trace_error *error)
{
    struct trace_input input;
    uint64_t number = 0;
    int code = trace_input_open(&input, path, error);
    while (!code) {
        code = trace_input_lines(&input, error);
        if (code || input.begin == input.lines_end)
            break;
        while (input.begin < input.lines_end && !code) {
            char *line = (char *)input.buffer + input.begin;
            char *end = strchr(line, '\n');
            *end = '\0';
            number++;
            if (*line != '#' && !line_take(loader, line)) {
                snprintf(error->text, sizeof(error->text),
                         "%s:%" PRIu64 ": no event of a kernel trace", path, number);
                code = MGLRU_EINVAL;
            }
            input.begin += (size_t)(end + 1 - line);
        }
    }
    trace_input_close(&input);
    return code || call_end(loader) ? code : MGLRU_ENOMEM;
}

int real_load(const char *path, struct real_stream *out, struct trace_error *error)
{
    *out = (struct real_stream){0};
    struct loader loader = {.out = out};
    snprintf(error->text, sizeof(error->text), "%s: no usable inodes.txt beside it", path);
    int code = load_inodes(&loader, path);
    if (!code)
        code = lines_take(&loader, path, error);
    free(loader.file_of_inode);
    free(loader.opens_of_pid);
    free(loader.reader_pid);
    free(loader.reader_opens);
    free(loader.added);
    if (code)
        real_free(out);
    return code;
}

/* What is known of the objects of a native trace; their numbers are those of the files. */
struct native {
    struct real_stream *out;
    struct trace_reader *reader;
    bool *opened;
};

static int native_open(struct native *native, const struct trace_record *record)
{
    native->opened[record->object] = true;
    native->out->files[record->object].pages = record->count;
    return 0;
}

static int native_read(struct native *native, const struct trace_record *record)
{
    struct real_stream *out = native->out;
    const char *name = trace_reader_object_name(native->reader, record->object);
    struct real_file *file = &out->files[record->object];
    struct real_read read = {.time_us =
                                 record->time_ns == TRACE_NO_TIME ? 0 : record->time_ns / 1000,
                             .file = record->object,
                             .first = record->page,
                             .count = record->count,
                             .reopened = native->opened[record->object],
                             .metadata = name[0] == REAL_METADATA};
    if (out->count && read.time_us < out->reads[out->count - 1].time_us)
        read.time_us = out->reads[out->count - 1].time_us;
    if (read.metadata) {
        read.first = strtoull(name + 1, NULL, 10);
        file->pages = 0; /* no data */
        out->metadata = true;
        out->blocks = read.first >= out->blocks ? read.first + 1 : out->blocks;
        return stream_add(out, &read) ? 0 : MGLRU_ENOMEM;
    }
    native->opened[record->object] = false;
    out->accesses += read.count;
    file->inode = strtoull(name, NULL, 10);
    if (file->pages < record->page + record->count)
        file->pages = record->page + record->count;
    return stream_add(out, &read) ? 0 : MGLRU_ENOMEM;
}

static int native_take(struct native *native, const struct trace_record *record)
{
    if (record->object >= INODES_MAX || (record->op != TRACE_OPEN && record->op != TRACE_READ))
        return MGLRU_EINVAL;
    if (record->object >= native->out->files_count)
        native->out->files_count = record->object + 1;
    return record->op == TRACE_OPEN ? native_open(native, record) : native_read(native, record);
}

int real_load_native(const char *path, struct real_stream *out, struct trace_error *error)
{
    *out = (struct real_stream){.files = calloc(INODES_MAX, sizeof(struct real_file))};
    struct native native = {.out = out, .opened = calloc(INODES_MAX, sizeof(bool))};
    const struct trace_open_options options = {.format = "native"};
    static struct trace_record records[1024];
    size_t count = 0;
    int code = out->files && native.opened
                   ? trace_reader_open(path, &options, &native.reader, error)
                   : MGLRU_ENOMEM;
    while (!code) {
        code = trace_reader_next(native.reader, records, MGLRU_ARRAY_LEN(records), &count, error);
        if (code || count == 0)
            break;
        for (size_t i = 0; i < count && !code; i++)
            code = native_take(&native, &records[i]);
    }
    uint64_t offset = 0;
    for (size_t i = 0; i < out->files_count; i++) {
        out->files[i].offset = offset;
        offset += out->files[i].pages;
    }
    if (native.reader)
        trace_reader_close(native.reader);
    free(native.opened);
    if (code)
        real_free(out);
    return code;
}

void real_free(struct real_stream *stream)
{
    free(stream->reads);
    free(stream->files);
    free(stream->misses);
    *stream = (struct real_stream){0};
}

uint32_t *real_pages(const struct real_stream *stream, uint64_t *page_count)
{
    uint32_t *pages = calloc((size_t)stream->accesses + 1, sizeof(*pages));
    uint64_t next = 0;
    *page_count = 0;
    for (size_t i = 0; i < stream->files_count; i++)
        *page_count += stream->files[i].pages;
    for (size_t i = 0; pages && i < stream->count; i++) {
        const struct real_read *read = &stream->reads[i];
        if (read->metadata)
            continue;
        uint64_t page = stream->files[read->file].offset + read->first;
        for (uint32_t k = 0; k < read->count; k++)
            pages[next++] = (uint32_t)(page + k);
    }
    return pages;
}

/* One read, and the opening before it. */
static void emit_read(FILE *out, const struct real_stream *stream, const struct real_read *read)
{
    if (read->metadata) {
        for (uint32_t i = 0; i < read->count; i++)
            fprintf(out, "o /r %c%" PRIu64 " 1\nr /r %c%" PRIu64 " 0\n", REAL_METADATA,
                    read->first + i, REAL_METADATA, read->first + i);
        return;
    }
    const struct real_file *file = &stream->files[read->file];
    if (read->reopened)
        fprintf(out, "o /r %" PRIu64 " %" PRIu64 "\n", file->inode, file->pages);
    fprintf(out, "r /r %" PRIu64 " %" PRIu64, file->inode, read->first);
    if (read->count > 1)
        fprintf(out, " %" PRIu32, read->count);
    fputc('\n', out);
}

int real_emit(const struct real_stream *stream, const char *path)
{
    FILE *out = fopen(path, "w");
    if (!out)
        return MGLRU_EIO;
    fputs("#mglru-trace 1 page_size=4096\n", out);
    for (size_t i = 0; i < stream->count; i++) {
        if (i % EMIT_TIME_EVERY == 0)
            fprintf(out, "@%" PRIu64 " ", stream->reads[i].time_us * 1000);
        emit_read(out, stream, &stream->reads[i]);
    }
    bool written = !ferror(out);
    written = fclose(out) == 0 && written;
    if (!written)
        remove(path);
    return written ? 0 : MGLRU_EIO;
}
