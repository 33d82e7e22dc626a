/* SPDX-License-Identifier: MIT */
/*
 * Lines of kernel tracepoints as perf script and tracefs print them:
 *
 *   COMM  PID [CPU] SECONDS: GROUP:EVENT: ARGUMENTS          perf script
 *   COMM-PID (TGID) [CPU] FLAGS SECONDS: EVENT: ARGUMENTS    tracefs (TGID on request)
 *
 * COMM may hold blanks, so the line is read from the name of the event to the left.
 */
#ifndef TRACE_FORMAT_EVENT_H
#define TRACE_FORMAT_EVENT_H

#include <string.h>

#include "trace/format.h"

struct event_line {
    struct scan_field name;
    const char *arguments; /* blanks skipped */
    uint64_t time_ns;      /* TRACE_NO_TIME: none could be read */
    uint64_t pid;          /* 0 likewise */
};

/* Seconds that end before @end, to the left of it. */
static inline uint64_t event_time(const char *line, const char *end)
{
    const char *p = end;
    uint64_t time_ns;
    while (p > line && ((unsigned)(unsigned char)p[-1] - '0' < 10 || p[-1] == '.'))
        p--;
    return p < end && scan_seconds(&p, &time_ns) && p == end ? time_ns : TRACE_NO_TIME;
}

/* The number before "[CPU]", or before "(TGID) [CPU]". */
static inline uint64_t event_pid(const char *line, const char *end)
{
    uint64_t pid;
    const char *p = memrchr(line, '[', (size_t)(end - line));
    if (!p)
        return 0;
    while (p > line && scan_is_blank(p[-1]))
        p--;
    if (p > line && p[-1] == ')') {
        while (p > line && *p != '(')
            p--;
        while (p > line && scan_is_blank(p[-1]))
            p--;
    }
    while (p > line && (unsigned)(unsigned char)p[-1] - '0' < 10)
        p--;
    return scan_u64(&p, &pid) ? pid : 0;
}

/* True: the line is one of an event whose name begins with @prefix, a colon behind the name. */
static inline bool event_parse(const char *line, const char *prefix, struct event_line *out)
{
    const char *end = scan_line_end(line);
    const char *name = memmem(line, (size_t)(end - line), prefix, strlen(prefix));
    if (!name || name == line)
        return false;
    const char *colon = name;
    while ((unsigned char)*colon > ' ' && *colon != ':')
        colon++;
    if (*colon != ':')
        return false;
    out->name = (struct scan_field){name, (size_t)(colon - name)};
    out->arguments = scan_blanks(colon + 1);
    /* Leave out "GROUP:", then the blank and the colon behind the seconds. */
    const char *p = name;
    while (p > line && !scan_is_blank(p[-1]))
        p--;
    while (p > line && scan_is_blank(p[-1]))
        p--;
    if (p > line && p[-1] == ':')
        p--;
    out->time_ns = event_time(line, p);
    out->pid = event_pid(line, p);
    return true;
}

#endif
