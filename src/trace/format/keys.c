/* SPDX-License-Identifier: MIT */
/*
 * One key a line: a decimal number, or a hexadecimal one after 0x. Blank lines are skipped, and so
 * are lines that hold a lone '*', the marker between phases in the traces of the LIRS paper
 * (Jiang and Zhang, SIGMETRICS 2002); "lirs" is the name for a trace that begins with such marks.
 *
 * Each key is one page. Keys above 2^52 - 1 keep their low 52 bits as the page and give their high
 * bits to the name of the object, so that no two keys fall together.
 */
#include "trace/format/key.h"

/* False: neither a key nor a line to skip. */
static bool line_fits(const char *line)
{
    const char *p = scan_blanks(line);
    uint64_t key;
    if (*p == '*')
        return *scan_blanks(p + 1) == '\n';
    return *p == '\n' || (scan_number(&p, &key) && *scan_blanks(p) == '\n');
}

static bool has_mark(const struct format_sample *sample)
{
    return sample->bytes > 1 &&
           (sample->data[0] == '*' || memmem(sample->data, sample->line_bytes, "\n*", 2) != NULL);
}

static int keys_probe(const struct format_sample *sample)
{
    return format_probe_lines(sample, line_fits) ? FORMAT_LIKELY : FORMAT_NO;
}

static int lirs_probe(const struct format_sample *sample)
{
    return has_mark(sample) && format_probe_lines(sample, line_fits) ? FORMAT_SHAPED : FORMAT_NO;
}

static int keys_next(struct trace_reader *reader, struct format_batch *batch,
                     struct trace_error *error)
{
    struct trace_input *input = &reader->input;
    while (batch->count < batch->capacity) {
        const char *line;
        int rc = format_line_next(reader, &line, error);
        if (rc || !line)
            return rc;
        const char *p = scan_blanks(line);
        if (*p == '*') {
            p = scan_blanks(p + 1);
        } else if (*p != '\n') {
            const char *field = p;
            uint64_t key;
            if (!scan_number(&p, &key))
                return format_fail_field(reader, error, "a key (a number up to 2^64 - 1)",
                                         scan_field_take(&field));
            p = scan_blanks(p);
            rc = key_emit(reader, key, batch, error);
            if (rc)
                return rc;
        }
        if (*p != '\n')
            return format_fail_field(reader, error, "the end of the line", scan_field_take(&p));
        input->begin = (size_t)(p - (const char *)input->buffer) + 1;
    }
    return 0;
}

const struct trace_format format_keys = {
    .name = "keys",
    .about = "one key (number) a line",
    .state_bytes = sizeof(struct key_objects),
    .probe = keys_probe,
    .next = keys_next,
};

const struct trace_format format_lirs = {
    .name = "lirs",
    .about = "one block number a line, lines with '*' between phases",
    .state_bytes = sizeof(struct key_objects),
    .probe = lirs_probe,
    .next = keys_next,
};
