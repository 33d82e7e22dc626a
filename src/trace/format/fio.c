/* SPDX-License-Identifier: MIT */
/*
 * I/O logs of fio (write_iolog), versions 2 and 3. After the header "fio version N iolog" a line
 * is "FILE ACTION" or "FILE ACTION OFFSET BYTES"; version 3 has microseconds since the start in
 * front. read and write are accesses, trim frees, open is an open; add, close, sync, datasync,
 * sync_file_range and wait touch no page. Each file is an object.
 */
#include "trace/format/request.h"

#include "base/check.h"

#define HEADER_2 "fio version 2 iolog"
#define HEADER_3 "fio version 3 iolog"

static bool has_header(const char *data, size_t bytes, const char *header)
{
    size_t length = strlen(header);
    return bytes > length && memcmp(data, header, length) == 0 &&
           *scan_blanks(data + length) == '\n';
}

static int fio2_probe(const struct format_sample *sample)
{
    return has_header(sample->data, sample->line_bytes, HEADER_2) ? FORMAT_MARKED : FORMAT_NO;
}

static int fio3_probe(const struct format_sample *sample)
{
    return has_header(sample->data, sample->line_bytes, HEADER_3) ? FORMAT_MARKED : FORMAT_NO;
}

static int fio_open(struct trace_reader *reader, struct trace_error *error)
{
    struct trace_input *input = &reader->input;
    const char *header = reader->format == &format_fio2 ? HEADER_2 : HEADER_3;
    const char *line;
    int rc = format_line_next(reader, &line, error);
    if (rc)
        return rc;
    if (!line || !has_header(line, input->lines_end - input->begin, header))
        return format_fail(reader, error, "expected the header '%s'", header);
    input->begin = (size_t)(scan_line_end(line) - (const char *)input->buffer) + 1;
    uint32_t root;
    return format_name(reader, &reader->memcgs, (struct scan_field){"/", 1}, &root, error);
}

/* What a word of fio's does to pages: *@has_pages says whether offset and bytes follow. */
static bool find_action(struct scan_field word, enum trace_op *op, bool *has_pages)
{
    static const struct {
        const char *word;
        int op; /* 0: nothing */
        bool has_pages;
    } actions[] = {{"read", TRACE_READ, true}, {"write", TRACE_WRITE, true},
                   {"trim", TRACE_FREE, true}, {"open", TRACE_OPEN, false},
                   {"add", 0, false},          {"close", 0, false},
                   {"sync", 0, false},         {"datasync", 0, false},
                   {"wait", 0, false},         {"sync_file_range", 0, false}};
    for (size_t i = 0; i < MGLRU_ARRAY_LEN(actions); i++) {
        if (!scan_field_is(word, actions[i].word))
            continue;
        *op = (enum trace_op)actions[i].op;
        *has_pages = actions[i].has_pages;
        return true;
    }
    return false;
}

/* A number between blanks at *@p, or an error that says what was expected. */
static int take_number(struct trace_reader *reader, const char **p, const char *what, uint64_t *out,
                       struct trace_error *error)
{
    const char *c = *p;
    if (!scan_u64(&c, out) || (unsigned char)*c > ' ')
        return format_fail_field(reader, error, what, scan_field_take(p));
    *p = scan_blanks(c);
    return 0;
}

static int fio_emit(struct trace_reader *reader, struct request *request, bool has_pages,
                    struct format_batch *batch, struct trace_error *error)
{
    if (has_pages)
        return request_emit(reader, request, batch, error);
    struct trace_record *record = format_record(reader, batch, TRACE_OPEN);
    record->object = request->object;
    record->count = 0;
    record->time_ns = request->time_ns;
    return 0;
}

static int fio_line(struct trace_reader *reader, const char *line, struct format_batch *batch,
                    struct trace_error *error)
{
    const char *p = scan_blanks(line);
    struct request request = {.time_ns = TRACE_NO_TIME};
    int rc = 0;
    if (*p == '\n')
        return 0;
    if (reader->format == &format_fio3) {
        uint64_t time_us;
        rc = take_number(reader, &p, "a time in microseconds", &time_us, error);
        request.time_ns = request_time_units(time_us, 1000);
    }
    if (rc)
        return rc;
    struct scan_field file = scan_field_take(&p);
    const char *word = p;
    struct scan_field action = scan_field_take(&p);
    bool has_pages;
    if (file.bytes == 0 || !find_action(action, &request.op, &has_pages))
        return format_fail_field(reader, error, "an action (read, write, trim, open, ...)",
                                 scan_field_take(&word));
    if (has_pages) {
        rc = take_number(reader, &p, "an offset in bytes", &request.start, error);
        if (!rc)
            rc = take_number(reader, &p, "a length in bytes", &request.bytes, error);
        if (!rc && *p != '\n')
            rc = format_fail_field(reader, error, "the end of the line", scan_field_take(&p));
    }
    if (rc || !request.op)
        return rc;
    rc = format_name(reader, &reader->objects, file, &request.object, error);
    return rc ? rc : fio_emit(reader, &request, has_pages, batch, error);
}

const struct trace_format format_fio2 = {
    .name = "fio2",
    .about = "I/O logs of fio, version 2",
    .probe = fio2_probe,
    .open = fio_open,
    .line = fio_line,
};

const struct trace_format format_fio3 = {
    .name = "fio3",
    .about = "I/O logs of fio, version 3 (with times)",
    .probe = fio3_probe,
    .open = fio_open,
    .line = fio_line,
};
