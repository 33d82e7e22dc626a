/* SPDX-License-Identifier: MIT */
/*
 * The native text format: one operation a line, strict. The grammar is in docs/trace-formats.md.
 *
 * The idea of the fast path: names repeat. A name is first compared, as it is spelled, with the
 * one of the line before, then with the one that was last seen in its slot of a small table; only
 * a spelling that is in neither is checked, decoded and looked up.
 *
 * Nothing is guessed: what the grammar does not know is an error with line and field. A last line
 * without a line break is torn (the recorder may have died there), so it is an error as well.
 */
#include "trace/format.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <mglru/error.h>

#include "base/check.h"
#include "trace/path.h"
#include "base/utf8.h"

#define HEADER_MARK "#mglru-trace "
#define HEADER_MARK_BYTES (sizeof(HEADER_MARK) - 1)
#define COUNT_MAX (UINT64_C(1) << 32)
/* Longer spellings are looked up each time; with this length an entry fills a cache line. */
#define RECENT_NAME_BYTES 58u
/* Chosen: both tables together fit the first-level cache four times over. */
#define RECENT_NAMES 64u

/* A name field as it was spelled. */
struct recent_name {
    uint32_t id;
    uint8_t bytes; /* 0: none */
    char text[RECENT_NAME_BYTES + 1];
};

_Static_assert(sizeof(struct recent_name) == 64, "an entry is one cache line");

struct recent_names {
    struct recent_name entries[RECENT_NAMES];
    struct recent_name *last; /* of the line before; an entry of the table */
};

struct native_state {
    struct recent_names memcgs;
    struct recent_names objects;
    /* A count of 2^32 does not fit a record and becomes two; the second waits here. */
    struct trace_record pending;
    bool has_pending;
};

/* One line on its way to a record. */
struct native_line {
    struct trace_reader *reader;
    struct trace_error *error;
    const char *p; /* the next field, blanks skipped */
    uint64_t time_ns;
};

static int expected(const struct native_line *line, const char *what)
{
    const char *p = line->p;
    struct scan_field field = scan_field_take(&p);
    if (field.bytes > 0 && field.text[0] == '#')
        return format_fail(line->reader, line->error, "expected %s, found a comment", what);
    return format_fail_field(line->reader, line->error, what, field);
}

static inline bool at_end(const char *p)
{
    return *p == '\n' || *p == '#';
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Undoes percent-encoding into @out (field.bytes bytes). False: bad digits, or NUL. */
static bool percent_decode(struct scan_field field, char *out, size_t *bytes)
{
    *bytes = 0;
    for (size_t i = 0; i < field.bytes; i++) {
        char c = field.text[i];
        if (c == '%') {
            if (field.bytes - i < 3)
                return false;
            int high = hex_digit(field.text[i + 1]);
            int low = hex_digit(field.text[i + 2]);
            if (high < 0 || low < 0 || (high | low) == 0)
                return false;
            c = (char)(high << 4 | low);
            i += 2;
        }
        out[(*bytes)++] = c;
    }
    return true;
}

static int name_decoded(struct native_line *line, struct names *names, struct scan_field name,
                        uint32_t *id)
{
    if (names == &line->reader->memcgs && !path_is_memcg(name.text, name.bytes))
        return expected(line, "a memcg path such as /a/b");
    return format_name(line->reader, names, name, id, line->error);
}

/* Checks, decodes and looks up the name @field, which is at line->p. */
static int name_lookup(struct native_line *line, struct names *names, struct scan_field field,
                       uint32_t *id)
{
    if (field.bytes == 0 || field.text[0] == '#')
        return expected(line, names == &line->reader->memcgs ? "a memcg path such as /a/b"
                                                             : "a file or region name");
    if (!utf8_valid(field.text, field.bytes))
        return expected(line, "a name in UTF-8");
    if (!memchr(field.text, '%', field.bytes))
        return name_decoded(line, names, field, id);
    char *decoded = malloc(field.bytes);
    struct scan_field name = {decoded, 0};
    if (!decoded)
        return message_set(line->error, MGLRU_ENOMEM, "%s: no memory", line->reader->input.name);
    int rc;
    if (percent_decode(field, decoded, &name.bytes))
        rc = name_decoded(line, names, name, id);
    else
        rc = expected(line, "two hexadecimal digits (not 00) after each %");
    free(decoded);
    return rc;
}

/* Both ends of a name and its length tell most names apart. */
static inline size_t recent_slot(struct scan_field field)
{
    uint64_t head = 0, tail = 0;
    if (field.bytes >= sizeof(head)) {
        memcpy(&head, field.text, sizeof(head));
        memcpy(&tail, field.text + field.bytes - sizeof(tail), sizeof(tail));
    } else {
        for (size_t i = 0; i < field.bytes; i++)
            head = head << 8 | (unsigned char)field.text[i];
    }
    uint64_t mixed = (head ^ field.bytes) * 0x9E3779B97F4A7C15ull ^ tail * 0xBF58476D1CE4E5B9ull;
    return (mixed ^ mixed >> 32) * 0x94D049BB133111EBull >> 58;
}

/* A name that is not the one of the line before. */
static int name_other(struct native_line *line, struct names *names, struct recent_names *recent,
                      uint32_t *id)
{
    struct scan_field field = {line->p, (size_t)(scan_field_end(line->p) - line->p)};
    struct recent_name *entry = &recent->entries[recent_slot(field)];
    if (entry->bytes == 0 || entry->bytes != field.bytes ||
        memcmp(entry->text, field.text, field.bytes) != 0) {
        int rc = name_lookup(line, names, field, id);
        if (rc)
            return rc;
        if (field.bytes <= RECENT_NAME_BYTES) {
            memcpy(entry->text, field.text, field.bytes);
            entry->bytes = (uint8_t)field.bytes;
            entry->id = *id;
            recent->last = entry;
        }
    } else {
        *id = entry->id;
        recent->last = entry;
    }
    line->p = scan_blanks(field.text + field.bytes);
    return 0;
}

static inline int take_name(struct native_line *line, struct names *names,
                            struct recent_names *recent, uint32_t *id)
{
    const struct recent_name *last = recent->last;
    const char *p = line->p;
    size_t i = 0;
    while (i < last->bytes && p[i] == last->text[i])
        i++;
    if (i < last->bytes || (unsigned char)p[i] > ' ' || i == 0)
        return name_other(line, names, recent, id);
    *id = last->id;
    line->p = scan_blanks(p + i);
    return 0;
}

/* A decimal number up to @most with a blank or the end of the line behind it. */
static inline bool take_number(struct native_line *line, uint64_t most, uint64_t *out)
{
    const char *p = line->p;
    if (!scan_u64_padded(&p, out) || *out > most || (!scan_is_blank(*p) && *p != '\n'))
        return false;
    line->p = scan_blanks(p);
    return true;
}

static int line_end(const struct native_line *line)
{
    return MGLRU_LIKELY(at_end(line->p)) ? 0 : expected(line, "the end of the line");
}

static int take_memcg(struct native_line *line, uint32_t *id)
{
    struct native_state *state = line->reader->state;
    return take_name(line, &line->reader->memcgs, &state->memcgs, id);
}

/* Page and count; a count of 2^32 comes back as such. */
static inline int take_pages(struct native_line *line, uint64_t *page, uint64_t *count)
{
    *count = 1;
    if (!take_number(line, TRACE_PAGE_MAX, page))
        return expected(line, "a page number up to 2^52 - 1");
    if (at_end(line->p))
        return 0;
    const char *field = line->p;
    if (!take_number(line, COUNT_MAX, count) || *count == 0) {
        line->p = field;
        return expected(line, "a count of pages from 1 to 2^32");
    }
    if (*count - 1 > TRACE_PAGE_MAX - *page)
        return format_fail(line->reader, line->error,
                           "page %" PRIu64 " and a count of %" PRIu64 " end above page 2^52 - 1",
                           *page, *count);
    return line_end(line);
}

/* The pages of a file, if they stand there; 0 otherwise. */
static int take_size(struct native_line *line, uint64_t *count)
{
    *count = 0;
    if (at_end(line->p))
        return 0;
    if (!take_number(line, COUNT_MAX - 1, count) || *count == 0)
        return expected(line, "the pages of the file, 1 to 2^32 - 1");
    return line_end(line);
}

/* Puts the upper half of a record of 2^32 pages aside. */
static void split_record(struct native_state *state, struct trace_record *record)
{
    record->count = (uint32_t)(COUNT_MAX / 2);
    state->pending = *record;
    state->pending.page += COUNT_MAX / 2;
    state->has_pending = true;
}

static inline int take_access(struct native_line *line, enum trace_op op,
                              struct format_batch *batch)
{
    struct trace_reader *reader = line->reader;
    struct native_state *state = reader->state;
    uint32_t memcg, object;
    uint64_t page = 0, count = 1;
    int rc = take_name(line, &reader->memcgs, &state->memcgs, &memcg);
    if (!rc)
        rc = take_name(line, &reader->objects, &state->objects, &object);
    if (rc)
        return rc;
    rc = op == TRACE_OPEN ? take_size(line, &count) : take_pages(line, &page, &count);
    if (rc)
        return rc;
    struct trace_record *record = format_record(reader, batch, op);
    record->memcg = memcg;
    record->object = object;
    record->page = page;
    record->count = (uint32_t)count;
    record->time_ns = line->time_ns;
    if (MGLRU_UNLIKELY(count == COUNT_MAX))
        split_record(state, record);
    return 0;
}

/* One plain field, for the names and values of control files. */
static int take_word(struct native_line *line, const char *what, const char **out)
{
    if (at_end(line->p))
        return expected(line, what);
    struct scan_field field = {line->p, (size_t)(scan_field_end(line->p) - line->p)};
    if (field.bytes == 0 || !utf8_valid(field.text, field.bytes))
        return expected(line, what);
    *out = format_text_keep(line->reader, field);
    if (!*out)
        return message_set(line->error, MGLRU_ENOMEM, "%s: no memory", line->reader->input.name);
    line->p = scan_blanks(field.text + field.bytes);
    return 0;
}

/* !set PATH NAME VALUE, !read PATH NAME, !lru_gen NAME VALUE */
static int take_control_file(struct native_line *line, struct trace_record *record)
{
    int rc = 0;
    if (record->op != TRACE_LRU_GEN)
        rc = take_memcg(line, &record->memcg);
    const char *start = line->p;
    if (!rc)
        rc = take_word(line, "the name of a control file", &record->name);
    if (!rc && record->op == TRACE_LRU_GEN && strcmp(record->name, "enabled") != 0 &&
        strcmp(record->name, "min_ttl_ms") != 0) {
        line->p = start;
        return expected(line, "enabled or min_ttl_ms");
    }
    if (!rc && record->op != TRACE_STAT)
        rc = take_word(line, "a value", &record->text);
    return rc;
}

/* !age PATH NODE SWAPPINESS, !evict PATH NODE SEQ SWAPPINESS [NR]: the numbers stay text. */
static int take_command(struct native_line *line, struct trace_record *record)
{
    static const char *const age[] = {"a node number", "swappiness (a number or max)"};
    static const char *const evict[] = {"a node number", "a sequence number",
                                        "swappiness (a number or max)", "a number of pages"};
    bool is_age = record->op == TRACE_AGE;
    const char *const *what = is_age ? age : evict;
    size_t most = is_age ? 2 : 4;
    size_t swappiness = is_age ? 1 : 2;
    char text[4 * 21];
    size_t used = 0;
    int rc = take_memcg(line, &record->memcg);
    for (size_t i = 0; !rc && i < most && !(i == 3 && at_end(line->p)); i++) {
        uint64_t number;
        struct scan_field field = {line->p, (size_t)(scan_field_end(line->p) - line->p)};
        bool is_max = i == swappiness && scan_field_is(field, "max");
        if (is_max)
            line->p = scan_blanks(field.text + field.bytes);
        else if (field.bytes > 20 || !take_number(line, UINT64_MAX, &number))
            return expected(line, what[i]);
        if (i)
            text[used++] = ' ';
        memcpy(text + used, field.text, field.bytes);
        used += field.bytes;
    }
    if (rc)
        return rc;
    record->text = format_text_keep(line->reader, (struct scan_field){text, used});
    if (!record->text)
        return message_set(line->error, MGLRU_ENOMEM, "%s: no memory", line->reader->input.name);
    return 0;
}

static int take_control(struct native_line *line, struct format_batch *batch)
{
    static const struct {
        const char *word;
        enum trace_op op;
    } words[] = {{"!mkdir", TRACE_MKDIR},    {"!rmdir", TRACE_RMDIR}, {"!set", TRACE_SET},
                 {"!read", TRACE_STAT},      {"!age", TRACE_AGE},     {"!evict", TRACE_EVICT},
                 {"!lru_gen", TRACE_LRU_GEN}};
    const char *start = line->p;
    struct scan_field word = scan_field_take(&line->p);
    struct trace_record made = {.count = 0, .time_ns = line->time_ns, .line = line->reader->line};
    for (size_t i = 0; i < MGLRU_ARRAY_LEN(words); i++)
        if (scan_field_is(word, words[i].word))
            made.op = words[i].op;
    int rc;
    switch ((int)made.op) {
    case 0:
        line->p = start;
        return expected(line, "!mkdir, !rmdir, !set, !read, !lru_gen, !age or !evict");
    case TRACE_MKDIR:
    case TRACE_RMDIR:
        rc = take_memcg(line, &made.memcg);
        break;
    case TRACE_AGE:
    case TRACE_EVICT:
        rc = take_command(line, &made);
        break;
    default:
        rc = take_control_file(line, &made);
    }
    if (!rc)
        rc = line_end(line);
    if (rc)
        return rc;
    batch->records[batch->count++] = made;
    return 0;
}

static int take_time(struct native_line *line)
{
    line->p++;
    if (!take_number(line, TRACE_NO_TIME - 1, &line->time_ns))
        return expected(line, "a time in ns (up to 2^64 - 2) after @");
    return 0;
}

/* The line at line->p; afterwards line->p is behind what was used of it. */
static int take_line(struct native_line *line, struct format_batch *batch)
{
    static const uint8_t ops[128] = {
        ['r'] = TRACE_READ,      ['w'] = TRACE_WRITE,    ['m'] = TRACE_MAP_READ,
        ['M'] = TRACE_MAP_WRITE, ['x'] = TRACE_MAP_EXEC, ['a'] = TRACE_TOUCH,
        ['o'] = TRACE_OPEN,      ['f'] = TRACE_FREE};
    line->p = scan_blanks(line->p);
    if (at_end(line->p))
        return 0;
    if (*line->p == '@') {
        int rc = take_time(line);
        if (rc)
            return rc;
    }
    unsigned char c = (unsigned char)*line->p;
    if (c < 128 && ops[c] && scan_is_blank(line->p[1])) {
        line->p = scan_blanks(line->p + 1);
        return take_access(line, (enum trace_op)ops[c], batch);
    }
    if (c == '!')
        return take_control(line, batch);
    return expected(line, "an operation (r w m M x a o f or a ! line)");
}

static int native_next(struct trace_reader *reader, struct format_batch *batch,
                       struct trace_error *error)
{
    struct native_state *state = reader->state;
    struct trace_input *input = &reader->input;
    const char *buffer = (const char *)input->buffer;
    if (state->has_pending && batch->capacity > 0) {
        batch->records[batch->count++] = state->pending;
        state->has_pending = false;
    }
    while (batch->count < batch->capacity) {
        struct native_line line = {.reader = reader, .error = error, .time_ns = TRACE_NO_TIME};
        int rc = format_line_next(reader, &line.p, error);
        if (rc || !line.p)
            return rc;
        if (MGLRU_UNLIKELY(input->torn))
            return format_fail(reader, error, "the last line is torn, expected a line break");
        rc = take_line(&line, batch);
        if (rc)
            return rc;
        if (MGLRU_UNLIKELY(*line.p != '\n'))
            line.p = scan_line_end(line.p);
        input->begin = (size_t)(line.p - buffer) + 1;
        if (MGLRU_UNLIKELY(state->has_pending) && batch->count < batch->capacity) {
            batch->records[batch->count++] = state->pending;
            state->has_pending = false;
        }
    }
    return 0;
}

static int native_probe(const struct format_sample *sample)
{
    bool marked = sample->bytes >= HEADER_MARK_BYTES &&
                  memcmp(sample->data, HEADER_MARK, HEADER_MARK_BYTES) == 0;
    return marked ? FORMAT_MARKED : FORMAT_NO;
}

/* "#mglru-trace 1 page_size=4096" */
static int native_open(struct trace_reader *reader, struct trace_error *error)
{
    static const char size_key[] = "page_size=";
    struct native_line line = {.reader = reader, .error = error};
    struct native_state *state = reader->state;
    state->memcgs.last = state->memcgs.entries;
    state->objects.last = state->objects.entries;
    int rc = format_line_next(reader, &line.p, error);
    if (rc)
        return rc;
    if (!line.p || reader->input.torn || strncmp(line.p, HEADER_MARK, HEADER_MARK_BYTES) != 0)
        return format_fail(reader, error, "expected the header '%s1 page_size=4096'", HEADER_MARK);
    line.p = scan_blanks(line.p + HEADER_MARK_BYTES);
    uint64_t version, page_bytes;
    const char *version_text = line.p;
    if (!take_number(&line, 1, &version) || version != 1) {
        line.p = version_text;
        return expected(&line, "version 1 of the format");
    }
    if (strncmp(line.p, size_key, sizeof(size_key) - 1) != 0)
        return expected(&line, "page_size=N");
    line.p += sizeof(size_key) - 1;
    const char *size_text = line.p;
    bool is_number = take_number(&line, FORMAT_PAGE_BYTES_MAX, &page_bytes);
    if (!is_number || page_bytes < FORMAT_PAGE_BYTES_MIN || (page_bytes & (page_bytes - 1)) != 0) {
        line.p = size_text;
        return expected(&line, "a page size that is a power of two from 512 to 2^30");
    }
    rc = line_end(&line);
    if (rc)
        return rc;
    reader->page_bytes = (uint32_t)page_bytes;
    const char *end = scan_line_end(line.p);
    reader->input.begin = (size_t)(end - (const char *)reader->input.buffer) + 1;
    return 0;
}

const struct trace_format format_native = {
    .name = "native",
    .about = "mglru's own text format, with memcgs, times and control lines",
    .state_bytes = sizeof(struct native_state),
    .probe = native_probe,
    .open = native_open,
    .next = native_next,
};
