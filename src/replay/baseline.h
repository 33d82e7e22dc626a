/* SPDX-License-Identifier: MIT */
/*
 * One run of a trace through a baseline policy. The policy knows no memcgs; hits and misses are
 * counted for the memcg that made the access. One thread at a time per run; runs are independent.
 */
#ifndef REPLAY_BASELINE_H
#define REPLAY_BASELINE_H

#include "policy/future.h"
#include "replay/expand.h"
#include "replay/names.h"
#include "replay/replay.h"

struct replay_baseline;

/* What a run needs beside its specification; all outlive it. */
struct replay_baseline_setup {
    const struct replay_options *options;
    const struct replay_names *names;
    const struct future *future; /* NULL unless the policy needs it */
    uint32_t page_bytes;
};

/* MGLRU_EINVAL: less than a page of memory; MGLRU_ENOMEM; or what the policy says. */
int replay_baseline_create(const struct replay_baseline_setup *setup,
                           const struct replay_spec *spec, struct replay_baseline **out,
                           struct replay_error *error);
void replay_baseline_destroy(struct replay_baseline *run);

/* Replays an expansion. MGLRU_ENOMEM or what the policy says. */
int replay_baseline_feed(struct replay_baseline *run, const struct replay_expansion *expansion);

/* The warm-up ends here, between two views: keeps the counts so far for the result. */
void replay_baseline_mark(struct replay_baseline *run);

/* Emits the last miss bits and fills @out; to be called once, after the last view. */
int replay_baseline_finish(struct replay_baseline *run, struct replay_run *out);

#endif
