/* SPDX-License-Identifier: MIT */
/*
 * Opens a trace, finds its format and hands out its records. What is common to the formats lives
 * here: the error state, names, text of control records, the loop over lines.
 */
#include "trace/reader.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mglru/error.h>

#include "base/bits.h"
#include "base/check.h"
#include "trace/format.h"

#define PAGE_BYTES_DEFAULT 4096u

/* Room for the names of all formats. */
#define FORMAT_LIST_BYTES 320

/* Chosen: hundreds of control lines a block. */
#define TEXT_BLOCK_BYTES ((size_t)8 << 10)

static const struct trace_format *const formats[] = {
    &format_native,         &format_keys,   &format_lirs,    &format_lis,
    &format_webcachesim,    &format_csv,    &format_oracle,  &format_oracle_blocks,
    &format_oracle_objects, &format_vscsi1, &format_vscsi2,  &format_blkparse,
    &format_fio2,           &format_fio3,   &format_filemap, &format_damon,
    &format_spec,           &format_lackey, &format_be32,    &format_le32,
    &format_be64,           &format_le64,
};

const char *trace_format_name(size_t i)
{
    return i < MGLRU_ARRAY_LEN(formats) ? formats[i]->name : NULL;
}

const char *trace_format_about(size_t i)
{
    return i < MGLRU_ARRAY_LEN(formats) ? formats[i]->about : NULL;
}

/* The names of all formats, for messages: "native, lis, ...". */
static const char *format_list(char *buffer, size_t bytes)
{
    size_t used = 0;
    for (size_t i = 0; i < MGLRU_ARRAY_LEN(formats) && used < bytes; i++)
        used +=
            (size_t)snprintf(buffer + used, bytes - used, "%s%s", i ? ", " : "", formats[i]->name);
    return buffer;
}

/* Shows the formats what the input begins with. */
static void take_sample(struct trace_reader *reader, struct format_sample *sample)
{
    struct trace_input *input = &reader->input;
    size_t unread = input->end - input->begin;
    const char *data = (const char *)input->buffer + input->begin;
    const char *last = memrchr(data, '\n', unread);
    *sample = (struct format_sample){.data = data,
                                     .bytes = unread,
                                     .line_bytes = last ? (size_t)(last - data) + 1 : 0,
                                     .columns = reader->columns};
    if (input->end == TRACE_INPUT_BYTES) {
        sample->total_bytes = input->codec ? 0 : input->file_bytes;
    } else {
        sample->total_bytes = unread;
        /* The byte behind the buffer is there for this line break. */
        input->buffer[input->end] = '\n';
        if (sample->line_bytes < unread)
            sample->line_bytes = unread + 1;
    }
}

/* Bytes of the UTF-8 byte-order mark. Some programs begin text with it; it is no part of a line. */
#define MARK "\xEF\xBB\xBF"
#define MARK_BYTES (sizeof(MARK) - 1)

/* Passes over a byte-order mark at the beginning of the input. True: there was one. */
static bool skip_mark(struct trace_input *input)
{
    if (input->end < MARK_BYTES || memcmp(input->buffer, MARK, MARK_BYTES) != 0)
        return false;
    input->begin = MARK_BYTES;
    input->lines_end = MARK_BYTES;
    return true;
}

/* The format that fits best, or none. */
static void probe(struct trace_reader *reader, struct format_sample *sample)
{
    take_sample(reader, sample);
    int best = FORMAT_NO;
    reader->format = NULL;
    for (size_t i = 0; i < MGLRU_ARRAY_LEN(formats); i++) {
        int score = formats[i]->probe(sample);
        if (score > best) {
            best = score;
            reader->format = formats[i];
        }
    }
}

static int find_format(struct trace_reader *reader, struct trace_error *error)
{
    struct format_sample sample;
    probe(reader, &sample);
    /* In binary formats the bytes of the mark are numbers like any others. */
    if ((!reader->format || !reader->format->binary) && skip_mark(&reader->input))
        probe(reader, &sample);
    if (reader->format)
        return 0;
    char list[FORMAT_LIST_BYTES];
    struct message_quote start = message_quote(sample.data, sample.bytes < 16 ? sample.bytes : 16);
    return message_set(error, MGLRU_EINVAL,
                       "%s: not a known trace, it starts with '%s'; expected one of: %s "
                       "(--format names one where content cannot tell)",
                       reader->input.name, start.text, format_list(list, sizeof(list)));
}

static int choose_format(struct trace_reader *reader, const char *name, struct trace_error *error)
{
    if (!name)
        return find_format(reader, error);
    for (size_t i = 0; i < MGLRU_ARRAY_LEN(formats); i++)
        if (strcmp(formats[i]->name, name) == 0)
            reader->format = formats[i];
    if (reader->format) {
        if (!reader->format->binary)
            skip_mark(&reader->input);
        return 0;
    }
    char list[FORMAT_LIST_BYTES];
    struct message_quote asked = message_quote(name, strlen(name));
    return message_set(error, MGLRU_EINVAL, "%s: unknown trace format '%s', expected one of: %s",
                       reader->input.name, asked.text, format_list(list, sizeof(list)));
}

static int take_options(struct trace_reader *reader, const struct trace_open_options *options,
                        struct trace_error *error)
{
    reader->page_bytes = options->page_bytes ? options->page_bytes : PAGE_BYTES_DEFAULT;
    if (reader->page_bytes < FORMAT_PAGE_BYTES_MIN || reader->page_bytes > FORMAT_PAGE_BYTES_MAX ||
        (reader->page_bytes & (reader->page_bytes - 1)) != 0)
        return message_set(error, MGLRU_EINVAL,
                           "page size %" PRIu32 ", expected a power of two from %u to %u",
                           reader->page_bytes, FORMAT_PAGE_BYTES_MIN, FORMAT_PAGE_BYTES_MAX);
    reader->page_shift = (uint8_t)bits_log2up(reader->page_bytes);
    reader->whole_requests = options->whole_requests;
    if (options->columns) {
        reader->columns = strdup(options->columns);
        if (!reader->columns)
            return message_set(error, MGLRU_ENOMEM, "no memory for the column map");
    }
    return 0;
}

/* The input is open: finds the format and lets it read its header. */
static int start(struct trace_reader *reader, const struct trace_open_options *options,
                 struct trace_error *error)
{
    int rc = choose_format(reader, options->format, error);
    if (rc)
        return rc;
    if (reader->columns && strcmp(reader->format->name, "csv") != 0)
        return message_set(error, MGLRU_EINVAL, "%s: a column map fits csv only, the trace is %s",
                           reader->input.name, reader->format->name);
    if (reader->format->state_bytes) {
        reader->state = calloc(1, reader->format->state_bytes);
        if (!reader->state)
            return message_set(error, MGLRU_ENOMEM, "%s: no memory", reader->input.name);
    }
    return reader->format->open ? reader->format->open(reader, error) : 0;
}

static const struct trace_open_options no_options;

int trace_reader_open(const char *path, const struct trace_open_options *options,
                      struct trace_reader **out, struct trace_error *error)
{
    *out = NULL;
    error->text[0] = '\0';
    options = options ? options : &no_options;
    struct trace_reader *reader = calloc(1, sizeof(*reader));
    if (!reader)
        return message_set(error, MGLRU_ENOMEM, "%s: no memory", path);
    reader->input.fd = -1;
    reader->path = strdup(path);
    int rc = take_options(reader, options, error);
    if (!rc && !reader->path)
        rc = message_set(error, MGLRU_ENOMEM, "%s: no memory", path);
    if (!rc)
        rc = trace_input_open_with(&reader->input, reader->path,
                                   options->stop_fd > 0 ? options->stop_fd : -1, error);
    if (!rc)
        rc = start(reader, options, error);
    if (rc) {
        trace_reader_close(reader);
        return rc;
    }
    *out = reader;
    return 0;
}

int trace_reader_open_memory(const void *data, size_t bytes,
                             const struct trace_open_options *options, struct trace_reader **out,
                             struct trace_error *error)
{
    *out = NULL;
    error->text[0] = '\0';
    options = options ? options : &no_options;
    struct trace_reader *reader = calloc(1, sizeof(*reader));
    if (!reader)
        return message_set(error, MGLRU_ENOMEM, "memory: no memory");
    reader->input.fd = -1;
    int rc = take_options(reader, options, error);
    if (!rc)
        rc = trace_input_open_memory(&reader->input, data, bytes, error);
    if (!rc)
        rc = start(reader, options, error);
    if (rc) {
        trace_reader_close(reader);
        return rc;
    }
    *out = reader;
    return 0;
}

static void text_reset(struct trace_reader *reader)
{
    struct format_text *text = reader->text;
    if (!text)
        return;
    while (text->next) {
        struct format_text *next = text->next;
        free(text);
        text = next;
    }
    text->used = 0;
    reader->text = text;
}

void trace_reader_close(struct trace_reader *reader)
{
    if (!reader)
        return;
    if (reader->format && reader->state && reader->format->close)
        reader->format->close(reader);
    free(reader->state);
    text_reset(reader);
    free(reader->text);
    names_destroy(&reader->memcgs);
    names_destroy(&reader->objects);
    trace_input_close(&reader->input);
    free(reader->columns);
    free(reader->path);
    free(reader);
}

int format_line_next(struct trace_reader *reader, const char **line, struct trace_error *error)
{
    struct trace_input *input = &reader->input;
    *line = NULL;
    if (input->begin == input->lines_end) {
        int rc = trace_input_lines(input, error);
        if (rc || input->begin == input->lines_end)
            return rc;
    }
    reader->line++;
    *line = (const char *)input->buffer + input->begin;
    return 0;
}

/* The loop over lines for formats that take one at a time. */
static int lines_next(struct trace_reader *reader, struct format_batch *batch,
                      struct trace_error *error)
{
    while (batch->count < batch->capacity) {
        const char *line;
        int rc = format_line_next(reader, &line, error);
        if (rc || !line)
            return rc;
        rc = reader->format->line(reader, line, batch, error);
        if (rc)
            return rc;
        const char *end = memchr(line, '\n', reader->input.lines_end - reader->input.begin);
        reader->input.begin += (size_t)(end - line) + 1;
    }
    return 0;
}

int trace_reader_next(struct trace_reader *reader, struct trace_record *records, size_t capacity,
                      size_t *count, struct trace_error *error)
{
    *count = 0;
    if (reader->failed) {
        *error = reader->failure;
        return reader->failed;
    }
    text_reset(reader);
    struct format_batch batch = {records, capacity, 0};
    const struct trace_format *format = reader->format;
    int rc = format->next ? format->next(reader, &batch, error) : lines_next(reader, &batch, error);
    if (!rc && batch.count == 0 && capacity > 0 && format->finish)
        rc = format->finish(reader, error);
    *count = batch.count;
    reader->records += batch.count;
    if (rc) {
        reader->failed = rc;
        reader->failure = *error;
    }
    return rc;
}

const char *trace_reader_memcg_name(const struct trace_reader *reader, uint32_t id)
{
    return names_text(&reader->memcgs, id);
}

const char *trace_reader_object_name(const struct trace_reader *reader, uint32_t id)
{
    return names_text(&reader->objects, id);
}

uint32_t trace_reader_memcgs(const struct trace_reader *reader)
{
    return reader->memcgs.count;
}

uint32_t trace_reader_objects(const struct trace_reader *reader)
{
    return reader->objects.count;
}

const char *trace_reader_format(const struct trace_reader *reader)
{
    return reader->format->name;
}

uint32_t trace_reader_page_bytes(const struct trace_reader *reader)
{
    return reader->page_bytes;
}

void trace_reader_progress(const struct trace_reader *reader, struct trace_progress *out)
{
    out->bytes_read = trace_input_consumed(&reader->input);
    out->bytes_total = reader->input.file_bytes;
    out->records = reader->records;
}

int format_fail(const struct trace_reader *reader, struct trace_error *error, const char *text, ...)
{
    char what[TRACE_ERROR_BYTES];
    va_list args;
    va_start(args, text);
    vsnprintf(what, sizeof(what), text, args);
    va_end(args);
    return message_set(error, MGLRU_EINVAL, "%s: %s %" PRIu64 ": %s", reader->input.name,
                       reader->format->binary ? "record" : "line", reader->line, what);
}

int format_fail_field(const struct trace_reader *reader, struct trace_error *error,
                      const char *expected, struct scan_field found)
{
    if (found.bytes == 0 && *found.text == '\n')
        return format_fail(reader, error, "expected %s, found the end of the line", expected);
    /* A byte that no field can hold stops the scan before it: show that byte. */
    struct message_quote quote = message_quote(found.text, found.bytes ? found.bytes : 1);
    return format_fail(reader, error, "expected %s, found '%s'", expected, quote.text);
}

int format_name(struct trace_reader *reader, struct names *names, struct scan_field name,
                uint32_t *id, struct trace_error *error)
{
    int rc = names_intern(names, name.text, name.bytes, id);
    if (rc == MGLRU_ENOMEM)
        return message_set(error, rc, "%s: no memory for names", reader->input.name);
    if (rc)
        return message_set(error, rc, "%s: line %" PRIu64 ": too many names", reader->input.name,
                           reader->line);
    return 0;
}

const char *format_text_keep(struct trace_reader *reader, struct scan_field field)
{
    struct format_text *text = reader->text;
    if (!text || text->capacity - text->used < field.bytes + 1) {
        size_t capacity = field.bytes < TEXT_BLOCK_BYTES ? TEXT_BLOCK_BYTES : field.bytes + 1;
        text = malloc(sizeof(*text) + capacity);
        if (!text)
            return NULL;
        text->next = reader->text;
        text->used = 0;
        text->capacity = capacity;
        reader->text = text;
    }
    char *copy = text->data + text->used;
    memcpy(copy, field.text, field.bytes);
    copy[field.bytes] = '\0';
    text->used += field.bytes + 1;
    return copy;
}

size_t format_probe_lines(const struct format_sample *sample, bool (*fits)(const char *line))
{
    const char *line = sample->data;
    const char *end = sample->data + sample->line_bytes;
    size_t fitting = 0;
    for (unsigned i = 0; i < FORMAT_PROBE_LINES && line < end; i++) {
        const char *text = scan_blanks(line);
        if (*text != '\n') {
            if (!fits(line))
                return 0;
            fitting++;
        }
        line = scan_line_end(line) + 1;
    }
    return fitting;
}
