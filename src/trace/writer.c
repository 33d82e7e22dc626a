/* SPDX-License-Identifier: MIT */
/*
 * Records to native text. A line is put together in the output buffer, which is flushed before
 * each line that might not fit; names longer than LINE_NAME_BYTES are refused, so that a line has
 * a bound.
 */
#include "trace/writer.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <mglru/error.h>

#include "base/check.h"
#include "base/text.h"
#include "base/utf8.h"
#include "trace/message.h"
#include "trace/output.h"
#include "trace/path.h"

/* Chosen: a path of the kernel has 4096 bytes at most. */
#define LINE_NAME_BYTES 4096u
/* Memcg and object, each byte as %XX, and numbers and words of control lines. */
#define LINE_BYTES (2 * 3 * LINE_NAME_BYTES + 512)
#define WORD_BYTES 200u
#define COMMENT_BYTES 1024u

_Static_assert(LINE_BYTES <= TRACE_OUTPUT_BYTES, "a line fits the output buffer");

struct trace_writer {
    struct trace_output output;
    uint64_t records; /* put so far, for messages */
    int failed;
    struct trace_error failure;
};

static int refuse(struct trace_writer *writer, struct trace_error *error, const char *why)
{
    writer->failed =
        message_set(error, MGLRU_EINVAL, "%s: record %" PRIu64 " cannot be written: %s",
                    writer->output.path, writer->records, why);
    if (error)
        writer->failure = *error;
    return writer->failed;
}

/* What both ways to open share; @fd is -1 where @name is a path. */
static int start(int fd, const char *name, uint32_t page_bytes, struct trace_writer **out,
                 struct trace_error *error)
{
    *out = NULL;
    int rc = 0;
    struct trace_writer *writer = NULL;
    if (page_bytes < 512 || page_bytes > (1u << 30) || (page_bytes & (page_bytes - 1)) != 0)
        rc = message_set(error, MGLRU_EINVAL, "%s: page size %" PRIu32, name, page_bytes);
    else if (!(writer = calloc(1, sizeof(*writer))))
        rc = message_set(error, MGLRU_ENOMEM, "%s: no memory", name);
    if (rc) {
        if (fd >= 0)
            close(fd);
        return rc;
    }
    rc = fd >= 0 ? trace_output_open_fd(&writer->output, fd, name, error)
                 : trace_output_open(&writer->output, name, error);
    if (rc) {
        trace_writer_discard(writer);
        return rc;
    }
    writer->output.used = (size_t)snprintf(writer->output.buffer, TRACE_OUTPUT_BYTES,
                                           "#mglru-trace 1 page_size=%" PRIu32 "\n", page_bytes);
    *out = writer;
    return 0;
}

int trace_writer_open(const char *path, uint32_t page_bytes, struct trace_writer **out,
                      struct trace_error *error)
{
    return start(-1, path, page_bytes, out, error);
}

int trace_writer_open_fd(int fd, const char *name, uint32_t page_bytes, struct trace_writer **out,
                         struct trace_error *error)
{
    return start(fd, name, page_bytes, out, error);
}

uint64_t trace_writer_bytes(const struct trace_writer *writer)
{
    return writer->output.written;
}

static char *put_number(char *p, uint64_t number)
{
    char digits[20];
    size_t i = sizeof(digits);
    do
        digits[--i] = (char)('0' + number % 10);
    while (number /= 10);
    memcpy(p, digits + i, sizeof(digits) - i);
    return p + sizeof(digits) - i;
}

/* A blank and the name, percent-encoded where the grammar needs it. NULL: empty or too long. */
static char *put_name(char *p, const char *name)
{
    static const char hex[] = "0123456789ABCDEF";
    size_t bytes = name ? strlen(name) : 0;
    if (bytes == 0 || bytes > LINE_NAME_BYTES)
        return NULL;
    /* Bytes that are no UTF-8 are legal in file names, but not in the text. */
    bool all_high = !utf8_valid(name, bytes);
    *p++ = ' ';
    for (size_t i = 0; i < bytes; i++) {
        unsigned char c = (unsigned char)name[i];
        bool encode =
            c <= ' ' || c == '%' || c == 0x7f || (c == '#' && i == 0) || (c >= 0x80 && all_high);
        if (!encode) {
            *p++ = (char)c;
            continue;
        }
        *p++ = '%';
        *p++ = hex[c >> 4];
        *p++ = hex[c & 15];
    }
    return p;
}

/* A blank and one word of a control line, as it is. NULL: not a word. */
static char *put_word(char *p, const char *word)
{
    size_t bytes = word ? strlen(word) : 0;
    if (bytes == 0 || bytes > WORD_BYTES || word[0] == '#' || !utf8_valid(word, bytes))
        return NULL;
    for (size_t i = 0; i < bytes; i++)
        if ((unsigned char)word[i] <= ' ')
            return NULL;
    *p++ = ' ';
    memcpy(p, word, bytes);
    return p + bytes;
}

/* The words of an !age or !evict line, one blank before each. */
static char *put_words(char *p, const char *words)
{
    if (!words || strlen(words) > WORD_BYTES)
        return NULL;
    char copy[WORD_BYTES + 1];
    strcpy(copy, words);
    char *rest = NULL;
    char *word = strtok_r(copy, " ", &rest);
    do
        p = put_word(p, word);
    while (p && (word = strtok_r(NULL, " ", &rest)));
    return p;
}

/* Operation, names and pages of an access. NULL: *@why tells. */
static char *put_access(char *p, const struct trace_record *record, const char *memcg,
                        const char *object, const char **why)
{
    static const char letters[] = " rwmMxaof";
    *p++ = letters[record->op];
    if (!memcg || !path_is_memcg(memcg, strlen(memcg)) || !(p = put_name(p, memcg))) {
        *why = "the path of its memcg is none";
        return NULL;
    }
    if (!(p = put_name(p, object))) {
        *why = "the name of its object is empty or too long";
        return NULL;
    }
    if (record->op == TRACE_OPEN && record->count == 0)
        return p;
    if (record->op == TRACE_OPEN) {
        *p++ = ' ';
        return put_number(p, record->count);
    }
    if (record->count == 0 || record->page > TRACE_PAGE_MAX ||
        record->count - 1 > TRACE_PAGE_MAX - record->page) {
        *why = "its pages are out of range";
        return NULL;
    }
    *p++ = ' ';
    p = put_number(p, record->page);
    if (record->count > 1) {
        *p++ = ' ';
        p = put_number(p, record->count);
    }
    return p;
}

/* A control line. NULL: *@why tells. */
static char *put_control(char *p, const struct trace_record *record, const char *memcg,
                         const char **why)
{
    static const char *const words[] = {
        [TRACE_MKDIR] = "!mkdir", [TRACE_RMDIR] = "!rmdir",     [TRACE_SET] = "!set",
        [TRACE_STAT] = "!read",   [TRACE_LRU_GEN] = "!lru_gen", [TRACE_AGE] = "!age",
        [TRACE_EVICT] = "!evict"};
    p = stpcpy(p, words[record->op]);
    *why = "the path of its memcg is none";
    if (record->op != TRACE_LRU_GEN) {
        if (!memcg || !path_is_memcg(memcg, strlen(memcg)) || !(p = put_name(p, memcg)))
            return NULL;
    }
    *why = "a word of its control line is empty, too long or has blanks";
    if (record->op == TRACE_SET || record->op == TRACE_STAT || record->op == TRACE_LRU_GEN)
        p = put_word(p, record->name);
    if (p && (record->op == TRACE_SET || record->op == TRACE_LRU_GEN))
        p = put_word(p, record->text);
    if (p && (record->op == TRACE_AGE || record->op == TRACE_EVICT))
        p = put_words(p, record->text);
    return p;
}

/* Makes room for one line; fails with what an earlier call failed with. */
static int reserve_line(struct trace_writer *writer, struct trace_error *error)
{
    if (!writer->failed && TRACE_OUTPUT_BYTES - writer->output.used < LINE_BYTES)
        writer->failed = trace_output_flush(&writer->output, &writer->failure);
    if (writer->failed && error)
        *error = writer->failure;
    return writer->failed;
}

int trace_writer_comment(struct trace_writer *writer, const char *text, struct trace_error *error)
{
    struct trace_output *output = &writer->output;
    int rc = reserve_line(writer, error);
    if (rc)
        return rc;
    char line[COMMENT_BYTES];
    snprintf(line, sizeof(line), "# %s", text);
    text_mask_controls(line);
    size_t bytes = strlen(line);
    /* A text that was cut may end in half a character. */
    while (bytes > 0 && !utf8_valid(line, bytes))
        bytes--;
    memcpy(output->buffer + output->used, line, bytes);
    output->used += bytes;
    output->buffer[output->used++] = '\n';
    return 0;
}

int trace_writer_put(struct trace_writer *writer, const struct trace_record *record,
                     const char *memcg, const char *object, struct trace_error *error)
{
    struct trace_output *output = &writer->output;
    int rc = reserve_line(writer, error);
    if (rc)
        return rc;
    writer->records++;
    const char *why = "its operation is unknown";
    char *p = output->buffer + output->used;
    if (record->time_ns != TRACE_NO_TIME) {
        *p++ = '@';
        p = put_number(p, record->time_ns);
        *p++ = ' ';
    }
    if (record->op >= TRACE_READ && record->op <= TRACE_FREE)
        p = put_access(p, record, memcg, object, &why);
    else if (record->op > TRACE_FREE && record->op <= TRACE_EVICT)
        p = put_control(p, record, memcg, &why);
    else
        p = NULL;
    if (!p)
        return refuse(writer, error, why);
    *p++ = '\n';
    output->used = (size_t)(p - output->buffer);
    return 0;
}

int trace_writer_copy(struct trace_writer *writer, const struct trace_reader *reader,
                      const struct trace_record *records, size_t count, struct trace_error *error)
{
    for (size_t i = 0; i < count; i++) {
        int rc =
            trace_writer_put(writer, &records[i], trace_reader_memcg_name(reader, records[i].memcg),
                             trace_reader_object_name(reader, records[i].object), error);
        if (rc)
            return rc;
    }
    return 0;
}

int trace_writer_commit(struct trace_writer *writer, struct trace_error *error)
{
    int rc = writer->failed;
    if (rc) {
        if (error)
            *error = writer->failure;
        trace_output_discard(&writer->output);
    } else {
        rc = trace_output_commit(&writer->output, error);
    }
    free(writer);
    return rc;
}

void trace_writer_discard(struct trace_writer *writer)
{
    if (!writer)
        return;
    trace_output_discard(&writer->output);
    free(writer);
}
