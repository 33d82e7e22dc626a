/* SPDX-License-Identifier: MIT */
/*
 * Text of blkparse in its default format:
 *
 *   MAJ,MIN CPU SEQ SECONDS PID ACTION RWBS SECTOR + SECTORS [PROGRAM]
 *
 * One action stands for a request: Q (queued) where the first buffer shows any, else D (issued),
 * else C (completed). R in RWBS reads, W writes, D discards (pages leave the cache). Each device
 * is an object, named "MAJ,MIN". The summary at the end is skipped.
 */
#include "trace/format/request.h"

struct blkparse_state {
    char action;
    bool in_summary;
};

struct blkparse_line {
    struct scan_field device;
    uint64_t time_ns;
    char action;
    struct scan_field rwbs;
    bool has_sectors;
    uint64_t sector;
    uint64_t sectors;
};

/* "259,2" */
static bool take_device(const char **p, struct scan_field *device)
{
    uint64_t number;
    const char *c = *p;
    device->text = c;
    if (!scan_u64(&c, &number) || *c++ != ',' || !scan_u64(&c, &number) || !scan_is_blank(*c))
        return false;
    device->bytes = (size_t)(c - device->text);
    *p = scan_blanks(c);
    return true;
}

static bool take_u64(const char **p, uint64_t *out)
{
    if (!scan_u64(p, out) || (unsigned char)**p > ' ')
        return false;
    *p = scan_blanks(*p);
    return true;
}

/* False: no line of blkparse; *@p stays near what is wrong. */
static bool parse(const char **p, struct blkparse_line *out)
{
    uint64_t ignored;
    *p = scan_blanks(*p);
    if (!take_device(p, &out->device) || !take_u64(p, &ignored) || !take_u64(p, &ignored) ||
        !scan_seconds(p, &out->time_ns) || !scan_is_blank(**p))
        return false;
    *p = scan_blanks(*p);
    if (!take_u64(p, &ignored))
        return false;
    struct scan_field action = scan_field_take(p);
    out->action = action.bytes > 0 ? action.text[0] : '\0';
    out->rwbs = scan_field_take(p);
    if (action.bytes == 0 || action.bytes > 2 || out->rwbs.bytes == 0)
        return false;
    /* Only requests with data have "SECTOR + SECTORS". */
    const char *c = *p;
    out->has_sectors = take_u64(&c, &out->sector) && *c == '+' && scan_is_blank(c[1]);
    if (!out->has_sectors)
        return true;
    *p = scan_blanks(c + 1);
    return take_u64(p, &out->sectors);
}

static bool line_fits(const char *line)
{
    struct blkparse_line parsed;
    return parse(&line, &parsed);
}

static int blkparse_probe(const struct format_sample *sample)
{
    /* A short trace has its summary within the first lines, so the first line decides. */
    struct format_sample first = *sample;
    const char *end = memchr(sample->data, '\n', sample->line_bytes);
    if (!end)
        return FORMAT_NO;
    first.line_bytes = (size_t)(end - sample->data) + 1;
    return format_probe_lines(&first, line_fits) ? FORMAT_MARKED : FORMAT_NO;
}

static int blkparse_open(struct trace_reader *reader, struct trace_error *error)
{
    static const char wanted[] = "QDC";
    struct blkparse_state *state = reader->state;
    size_t best = sizeof(wanted) - 2; /* C where none is seen */
    int rc = trace_input_lines(&reader->input, error);
    if (rc)
        return rc;
    const char *line = (const char *)reader->input.buffer + reader->input.begin;
    const char *end = (const char *)reader->input.buffer + reader->input.lines_end;
    for (; line < end; line = scan_line_end(line) + 1) {
        const char *p = line;
        struct blkparse_line parsed;
        if (!parse(&p, &parsed) || !parsed.has_sectors)
            continue;
        for (size_t i = 0; i < best; i++)
            if (parsed.action == wanted[i])
                best = i;
    }
    state->action = wanted[best];
    uint32_t root;
    return format_name(reader, &reader->memcgs, (struct scan_field){"/", 1}, &root, error);
}

static enum trace_op rwbs_op(struct scan_field rwbs)
{
    if (memchr(rwbs.text, 'D', rwbs.bytes))
        return TRACE_FREE;
    if (memchr(rwbs.text, 'R', rwbs.bytes))
        return TRACE_READ;
    return memchr(rwbs.text, 'W', rwbs.bytes) ? TRACE_WRITE : (enum trace_op)0;
}

/* "CPU0 (259,2):" or, for one CPU, "Total (259,2):" */
static bool is_summary(const char *line)
{
    return strncmp(line, "CPU", 3) == 0 || strncmp(line, "Total", 5) == 0;
}

static int blkparse_line(struct trace_reader *reader, const char *line, struct format_batch *batch,
                         struct trace_error *error)
{
    struct blkparse_state *state = reader->state;
    state->in_summary |= is_summary(line);
    if (state->in_summary || *scan_blanks(line) == '\n')
        return 0;
    const char *p = line;
    struct blkparse_line parsed;
    if (!parse(&p, &parsed))
        return format_fail_field(reader, error,
                                 "'MAJ,MIN CPU SEQ SECONDS PID ACTION RWBS SECTOR + SECTORS'",
                                 scan_field_take(&p));
    enum trace_op op = rwbs_op(parsed.rwbs);
    if (parsed.action != state->action || !parsed.has_sectors || !op)
        return 0;
    struct request request = {.op = op,
                              .unit_shift = REQUEST_SECTOR_SHIFT,
                              .start = parsed.sector,
                              .time_ns = request_time(reader, parsed.time_ns)};
    if (__builtin_mul_overflow(parsed.sectors, UINT64_C(1) << REQUEST_SECTOR_SHIFT, &request.bytes))
        return format_fail(reader, error, "too many sectors");
    int rc = format_name(reader, &reader->objects, parsed.device, &request.object, error);
    return rc ? rc : request_emit(reader, &request, batch, error);
}

const struct trace_format format_blkparse = {
    .name = "blkparse",
    .about = "block requests as blkparse prints them",
    .state_bytes = sizeof(struct blkparse_state),
    .probe = blkparse_probe,
    .open = blkparse_open,
    .line = blkparse_line,
};
