/* SPDX-License-Identifier: MIT */
/*
 * Object requests as webcachesim reads them (Berger et al., NSDI 2017): "time id bytes" a line,
 * time in seconds, further columns ignored. An object larger than a page is an object with pages
 * from 0; a smaller one is one page, its number, of the object "keys".
 */
#include "trace/format/request.h"

#include "base/check.h"

#define COLUMNS 3

/* Takes the three numbers; *@p stays at the first thing that is wrong. */
static bool parse(const char **p, uint64_t numbers[COLUMNS])
{
    for (size_t i = 0; i < COLUMNS; i++) {
        *p = scan_blanks(*p);
        const char *c = *p;
        if (!scan_u64(&c, &numbers[i]) || (unsigned char)*c > ' ')
            return false;
        *p = c;
    }
    *p = scan_blanks(*p);
    return true;
}

static bool line_fits(const char *line)
{
    uint64_t numbers[COLUMNS];
    return parse(&line, numbers) && *line == '\n';
}

static int webcachesim_probe(const struct format_sample *sample)
{
    return format_probe_lines(sample, line_fits) ? FORMAT_SHAPED : FORMAT_NO;
}

static int webcachesim_line(struct trace_reader *reader, const char *line,
                            struct format_batch *batch, struct trace_error *error)
{
    uint64_t numbers[COLUMNS];
    const char *p = line;
    if (*scan_blanks(p) == '\n')
        return 0;
    if (!parse(&p, numbers))
        return format_fail_field(reader, error, "'time id bytes' (numbers)", scan_field_take(&p));
    struct request request = {
        .op = TRACE_READ,
        .start = numbers[1],
        .bytes = numbers[2],
        .time_ns = request_time(reader, request_time_units(numbers[0], UINT64_C(1000000000)))};
    return request_emit_object(reader, &request, batch, error);
}

const struct trace_format format_webcachesim = {
    .name = "webcachesim",
    .about = "object requests: 'time id bytes' a line",
    .state_bytes = sizeof(struct key_objects),
    .probe = webcachesim_probe,
    .line = webcachesim_line,
};
