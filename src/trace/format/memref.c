/* SPDX-License-Identifier: MIT */
/*
 * Memory references of one program: the cache simulators' traces of SPEC ("l|s 0xADDRESS n" a
 * line: load or store, n instructions since the one before) and the output of
 * valgrind --tool=lackey --trace-mem=yes ("I  ADDRESS,BYTES" and " L", " S", " M" likewise).
 *
 * A reference is an access through a mapping of the object "memory"; the page is the address in
 * pages. Loads read, stores write, M (load and store) writes, I executes. References that cross
 * into the next page touch both. Lines of valgrind itself ("==", "--" in front) are skipped.
 */
#include "trace/format/request.h"

static int memref_open(struct trace_reader *reader, struct trace_error *error)
{
    return request_names(reader, "memory", error);
}

/* "l 0xADDRESS n" */
static bool spec_parse(const char **p, struct request *out)
{
    uint64_t ignored;
    const char *c = scan_blanks(*p);
    *out = (struct request){.bytes = 1, .time_ns = TRACE_NO_TIME};
    out->op = *c == 'l' ? TRACE_MAP_READ : *c == 's' ? TRACE_MAP_WRITE : (enum trace_op)0;
    *p = c;
    if (!out->op || !scan_is_blank(c[1]))
        return false;
    *p = scan_blanks(c + 1);
    c = *p;
    if (c[0] != '0' || (c[1] | 0x20) != 'x' || !scan_number(&c, &out->start))
        return false;
    *p = scan_blanks(c);
    c = *p;
    if (!scan_number(&c, &ignored))
        return false;
    *p = scan_blanks(c);
    return **p == '\n';
}

static bool spec_fits(const char *line)
{
    struct request request;
    return spec_parse(&line, &request);
}

static int spec_probe(const struct format_sample *sample)
{
    return format_probe_lines(sample, spec_fits) ? FORMAT_MARKED : FORMAT_NO;
}

static int spec_line(struct trace_reader *reader, const char *line, struct format_batch *batch,
                     struct trace_error *error)
{
    struct request request;
    if (spec_parse(&line, &request))
        return request_emit(reader, &request, batch, error);
    if (*line == '\n' && !request.op)
        return 0;
    return format_fail_field(reader, error, "'l|s 0xADDRESS NUMBER'", scan_field_take(&line));
}

static enum trace_op lackey_op(const char *line)
{
    if (line[0] == 'I' && line[1] == ' ')
        return TRACE_MAP_EXEC;
    if (line[0] != ' ' || (line[1] != 'L' && line[1] != 'S' && line[1] != 'M') || line[2] != ' ')
        return (enum trace_op)0;
    return line[1] == 'L' ? TRACE_MAP_READ : TRACE_MAP_WRITE;
}

/* " L ADDRESS,BYTES" */
static bool lackey_parse(const char *line, struct request *out)
{
    *out = (struct request){.op = lackey_op(line), .time_ns = TRACE_NO_TIME};
    if (!out->op)
        return false;
    const char *p = scan_blanks(line + 2);
    return scan_hex(&p, &out->start) && *p++ == ',' && scan_u64(&p, &out->bytes) &&
           out->bytes > 0 && *scan_blanks(p) == '\n';
}

/* Nothing, or valgrind's own "==1234== text". */
static bool lackey_is_other(const char *line)
{
    return *scan_blanks(line) == '\n' || strncmp(line, "==", 2) == 0 || strncmp(line, "--", 2) == 0;
}

static bool lackey_fits(const char *line)
{
    struct request request;
    return lackey_is_other(line) || lackey_parse(line, &request);
}

/* Valgrind's own lines come first, and may be all of the first few. */
static int lackey_probe(const struct format_sample *sample)
{
    const char *line = sample->data;
    const char *end = sample->data + sample->line_bytes;
    struct request request;
    if (!format_probe_lines(sample, lackey_fits))
        return FORMAT_NO;
    while (line < end && lackey_is_other(line))
        line = scan_line_end(line) + 1;
    return line < end && lackey_parse(line, &request) ? FORMAT_MARKED : FORMAT_NO;
}

static int lackey_line(struct trace_reader *reader, const char *line, struct format_batch *batch,
                       struct trace_error *error)
{
    struct request request;
    if (lackey_parse(line, &request))
        return request_emit(reader, &request, batch, error);
    if (lackey_is_other(line))
        return 0;
    const char *end = scan_line_end(line);
    return format_fail_field(reader, error, "'I|L|S|M ADDRESS,BYTES'",
                             (struct scan_field){line, (size_t)(end - line)});
}

const struct trace_format format_spec = {
    .name = "spec",
    .about = "memory references: 'l|s 0xADDRESS n' a line",
    .probe = spec_probe,
    .open = memref_open,
    .line = spec_line,
};

const struct trace_format format_lackey = {
    .name = "lackey",
    .about = "memory references from valgrind --tool=lackey --trace-mem=yes",
    .probe = lackey_probe,
    .open = memref_open,
    .line = lackey_line,
};
