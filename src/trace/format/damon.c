/* SPDX-License-Identifier: MIT */
/*
 * DAMON's damon_aggregated events, as perf script or tracefs print them:
 *
 *   damon_aggregated: target_id=N nr_regions=N START-END: ACCESSES [AGE]
 *
 * DAMON samples: it says that a region of addresses was seen accessed in ACCESSES of the samples
 * of one interval, not which pages and in which order. The reader takes a region with ACCESSES
 * above 0 as one access, through a mapping, to each of its pages, once an interval: an upper bound
 * of what was touched, at the coarse clock of the intervals. Each target is an object, "target-N".
 */
#include "trace/format/event.h"
#include "trace/format/request.h"

#include <stdio.h>

#define EVENT "damon_aggregated"

struct damon_line {
    struct event_line line;
    uint64_t target;
    uint64_t start, end; /* bytes; end is not part of it */
    uint64_t accesses;
};

static bool take_key(const char **p, const char *key, uint64_t *out)
{
    size_t bytes = strlen(key);
    if (strncmp(*p, key, bytes) != 0)
        return false;
    *p += bytes;
    bool ok = scan_u64(p, out);
    *p = scan_blanks(*p);
    return ok;
}

/* 1: a line of ours; 0: something else; -1: one of ours that cannot be read. */
static int parse(const char *line, struct damon_line *out)
{
    uint64_t regions;
    if (!event_parse(line, EVENT, &out->line) || !scan_field_is(out->line.name, EVENT))
        return 0;
    const char *p = out->line.arguments;
    bool ok = take_key(&p, "target_id=", &out->target) && take_key(&p, "nr_regions=", &regions) &&
              scan_u64(&p, &out->start) && *p++ == '-' && scan_u64(&p, &out->end) && *p++ == ':';
    if (!ok || out->end <= out->start)
        return -1;
    p = scan_blanks(p);
    return scan_u64(&p, &out->accesses) ? 1 : -1;
}

static int damon_probe(const struct format_sample *sample)
{
    const char *found = memmem(sample->data, sample->line_bytes, EVENT, sizeof(EVENT) - 1);
    struct damon_line parsed;
    if (!found)
        return FORMAT_NO;
    while (found > sample->data && found[-1] != '\n')
        found--;
    return parse(found, &parsed) == 1 ? FORMAT_MARKED : FORMAT_NO;
}

static int damon_open(struct trace_reader *reader, struct trace_error *error)
{
    uint32_t root;
    return format_name(reader, &reader->memcgs, (struct scan_field){"/", 1}, &root, error);
}

static int damon_line(struct trace_reader *reader, const char *text, struct format_batch *batch,
                      struct trace_error *error)
{
    struct damon_line line;
    int kind = parse(text, &line);
    if (kind < 0) {
        const char *end = scan_line_end(line.line.arguments);
        return format_fail_field(
            reader, error, "'target_id=N nr_regions=N START-END: ACCESSES'",
            (struct scan_field){line.line.arguments, (size_t)(end - line.line.arguments)});
    }
    if (kind == 0 || line.accesses == 0)
        return 0;
    char name[32];
    int bytes = snprintf(name, sizeof(name), "target-%llu", (unsigned long long)line.target);
    struct request request = {.op = TRACE_MAP_READ,
                              .start = line.start,
                              .bytes = line.end - line.start,
                              .time_ns = request_time(reader, line.line.time_ns)};
    int rc = format_name(reader, &reader->objects, (struct scan_field){name, (size_t)bytes},
                         &request.object, error);
    return rc ? rc : request_emit(reader, &request, batch, error);
}

const struct trace_format format_damon = {
    .name = "damon",
    .about = "perf script or tracefs text of damon_aggregated (regions, an upper bound)",
    .probe = damon_probe,
    .open = damon_open,
    .line = damon_line,
};
