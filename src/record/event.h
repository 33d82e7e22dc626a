/* SPDX-License-Identifier: MIT */
/*
 * Events of the kernel: which the recorder takes, where their fields lie, and how bytes of the ring
 * buffer become one. Where fields lie is read from the kernel's own description, since it differs
 * from kernel to kernel. Pure functions.
 */
#ifndef RECORD_EVENT_H
#define RECORD_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum event_kind {
    EVENT_READ,          /* a read() asked for pages first..last */
    EVENT_FAULT,         /* a fault on a mapping */
    EVENT_MAP,           /* pages mapped around a fault */
    EVENT_ADD,           /* pages came into the cache */
    EVENT_DELETE,        /* pages left it */
    EVENT_DIRTY,         /* a clean page became dirty; names a bdi instead of a device */
    EVENT_OPEN,          /* some file is opened */
    EVENT_RECLAIM_BEGIN, /* what is deleted until the end is reclaim's doing */
    EVENT_RECLAIM_END,
};

enum event_field {
    EVENT_FIELD_PID, /* the first: all events have it */
    EVENT_FIELD_DEVICE,
    EVENT_FIELD_INODE,
    EVENT_FIELD_FIRST,
    EVENT_FIELD_LAST,
    EVENT_FIELD_ORDER,
    EVENT_FIELD_BDI,
    EVENT_FIELDS
};

/* One tracepoint. */
struct event_source {
    const char *system;
    const char *name;
    enum event_kind kind;
    const char *fields[EVENT_FIELDS]; /* names of the kernel; NULL: the event has none */
};

extern const struct event_source event_sources[];
extern const size_t event_sources_count;

/* Where one event's fields lie, as the running kernel says. */
struct event_layout {
    const struct event_source *source; /* NULL: the kernel lacks the tracepoint */
    uint16_t type;                     /* number of the event, its first two bytes */
    struct {
        uint16_t offset;
        uint16_t bytes; /* 0: there is none */
    } fields[EVENT_FIELDS];
};

#define EVENT_BDI_BYTES 32

struct event {
    enum event_kind kind;
    int32_t pid;     /* of the thread */
    uint64_t device; /* the kernel's number, major << 20 | minor */
    uint64_t inode;
    uint64_t first, last; /* pages, first <= last < 2^52 */
    uint64_t time_ns;
    char bdi[EVENT_BDI_BYTES]; /* EVENT_DIRTY; ends with NUL */
};

/*
 * Fills all of @out but the time from @bytes bytes at @data. False: they are too few, or the pages
 * make no sense.
 */
bool event_decode(const struct event_layout *layout, const void *data, size_t bytes,
                  struct event *out);

/* The layout whose type stands at @data; NULL: none of the @count. */
const struct event_layout *event_layout_of(const struct event_layout *layouts, size_t count,
                                           const void *data, size_t bytes);

#endif
