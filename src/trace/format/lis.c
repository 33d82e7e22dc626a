/* SPDX-License-Identifier: MIT */
/*
 * Traces of the ARC paper (Megiddo and Modha, FAST 2003): "start count ignored seq" a line; a
 * request for count pages from start on. One object, "blocks".
 */
#include "trace/format.h"

#include "base/check.h"

struct lis_line {
    uint64_t start, count, ignored, seq;
};

/* The first page, whose length differs from line to line. */
static inline bool take_first(const char **p, uint64_t *out)
{
    if (!scan_u64_padded(p, out) || (unsigned char)**p > ' ')
        return false;
    *p = scan_blanks(*p);
    return true;
}

/* A number and the blanks behind it. */
static inline bool take(const char **p, uint64_t *out)
{
    if (!scan_u64(p, out) || (unsigned char)**p > ' ')
        return false;
    *p = scan_blanks(*p);
    return true;
}

/* Takes the four numbers; *@p stays near the first thing that is wrong. */
static inline bool lis_parse(const char **p, struct lis_line *out)
{
    *p = scan_blanks(*p);
    return take_first(p, &out->start) && take(p, &out->count) && take(p, &out->ignored) &&
           take(p, &out->seq) && **p == '\n';
}

static bool line_fits(const char *line)
{
    struct lis_line lis;
    return lis_parse(&line, &lis);
}

static int lis_probe(const struct format_sample *sample)
{
    return format_probe_lines(sample, line_fits) ? FORMAT_SHAPED : FORMAT_NO;
}

static int lis_open(struct trace_reader *reader, struct trace_error *error)
{
    uint32_t id;
    int rc = format_name(reader, &reader->memcgs, (struct scan_field){"/", 1}, &id, error);
    return rc ? rc
              : format_name(reader, &reader->objects, (struct scan_field){"blocks", 6}, &id, error);
}

/* A line that lis_parse refused: blank, or an error that shows the line's field. */
static int lis_refused(struct trace_reader *reader, const char *line, struct trace_error *error)
{
    static const char *const expected[] = {"the first page (a number)", "a count of pages",
                                           "the third number", "the sequence number"};
    const char *p = scan_blanks(line);
    if (*p == '\n')
        return 0;
    for (size_t i = 0; i < MGLRU_ARRAY_LEN(expected); i++) {
        const char *field = p;
        uint64_t number;
        if (!take(&p, &number))
            return format_fail_field(reader, error, expected[i], scan_field_take(&field));
    }
    return format_fail_field(reader, error, "the end of the line", scan_field_take(&p));
}

static int lis_next(struct trace_reader *reader, struct format_batch *batch,
                    struct trace_error *error)
{
    struct trace_input *input = &reader->input;
    while (batch->count < batch->capacity) {
        const char *line;
        int rc = format_line_next(reader, &line, error);
        if (rc || !line)
            return rc;
        const char *p = line;
        struct lis_line lis;
        if (MGLRU_LIKELY(lis_parse(&p, &lis))) {
            if (lis.count == 0 || lis.count > UINT32_MAX)
                return format_fail(reader, error, "a count of %llu pages, expected 1 to 2^32 - 1",
                                   (unsigned long long)lis.count);
            if (lis.start > TRACE_PAGE_MAX - (lis.count - 1))
                return format_fail(reader, error, "page %llu, expected at most 2^52 - 1",
                                   (unsigned long long)lis.start);
            struct trace_record *record = format_record(reader, batch, TRACE_READ);
            record->page = lis.start;
            record->count = reader->whole_requests ? 1 : (uint32_t)lis.count;
        } else {
            rc = lis_refused(reader, line, error);
            if (rc)
                return rc;
            p = scan_line_end(line);
        }
        input->begin = (size_t)(p - (const char *)input->buffer) + 1;
    }
    return 0;
}

const struct trace_format format_lis = {
    .name = "lis",
    .about = "ARC traces: 'start count ignored seq' a line",
    .probe = lis_probe,
    .open = lis_open,
    .next = lis_next,
};
