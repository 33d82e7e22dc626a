/* SPDX-License-Identifier: MIT */
/*
 * The accesses of one or several traces as one stream of views: runs of records with global ids,
 * one clock and bounded size.
 *
 * A view stays valid until the second next call of replay_source_next, so that one view can be
 * replayed while the next is prepared. Only the names grow with the length of the traces.
 */
#ifndef REPLAY_SOURCE_H
#define REPLAY_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "replay/names.h"
#include "replay/recorded.h"
#include "replay/replay.h"
#include "trace/reader.h"

/* Most page accesses of a view. Longer requests are cut; bounds the buffers behind (512 KiB of ids
 * a view), far above any request of a program. */
#define REPLAY_VIEW_PAGES_MAX (1u << 17)

struct replay_view {
    const char *path; /* the trace they come from */
    const struct trace_record *records;
    size_t count;
    uint64_t pages; /* page accesses in them, <= REPLAY_VIEW_PAGES_MAX */
    bool warm;      /* the warm-up of options.filter ended just before it */
};

/* What went through so far. */
struct replay_source_totals {
    uint64_t records;
    uint64_t requests; /* access records */
    uint64_t accesses; /* page accesses */
    bool timed;        /* a record had a time */
    struct replay_recorded recorded;
};

struct replay_source;

/*
 * Opens the first trace; the others open when their turn comes. @options and @names must outlive
 * the source. Codes and @error as replay_run().
 */
int replay_source_open(const struct replay_options *options, struct replay_names *names,
                       struct replay_source **out, struct replay_error *error);
void replay_source_close(struct replay_source *source);

/* The next view; count 0 at the end of the last trace. One thread. Codes as replay_run(). */
int replay_source_next(struct replay_source *source, struct replay_view *view,
                       struct replay_error *error);

void replay_source_totals(const struct replay_source *source, struct replay_source_totals *out);
void replay_source_progress(const struct replay_source *source, struct trace_progress *out);

/* Of the first trace: format name (static) and page size in bytes. */
const char *replay_source_format(const struct replay_source *source);
uint32_t replay_source_page_bytes(const struct replay_source *source);

#endif
