/* SPDX-License-Identifier: MIT */
/*
 * What the head of a trace says of its recording: `!set / kernel RELEASE`, `!set / lru classic` or
 * `mglru`, `!set / events_lost N`. They are facts about the trace, not files of a cgroup: a replay
 * reports them, and a plan takes from them which kernel it is about.
 */
#ifndef REPLAY_RECORDED_H
#define REPLAY_RECORDED_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/record.h"

#define REPLAY_RELEASE_BYTES 65 /* as in struct utsname */

struct replay_recorded {
    char kernel[REPLAY_RELEASE_BYTES]; /* release; empty: unknown */
    bool known_lru;
    bool classic;         /* with known_lru: the classic LRU was in use, else MGLRU */
    uint64_t events_lost; /* accesses that the trace lacks because the recorder missed them */
};

/*
 * Takes the fact that @record, a TRACE_SET of "/", states. Of several traces the first one's kernel
 * and LRU count, and the sum of the events. MGLRU_ENOENT: it states none; MGLRU_EINVAL: no such
 * value.
 */
int replay_recorded_take(struct replay_recorded *recorded, const struct trace_record *record);

/* The model closest to the kernel of the recording; NULL: unknown. Static text. */
const char *replay_recorded_model(const struct replay_recorded *recorded);

#endif
