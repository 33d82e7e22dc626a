/* SPDX-License-Identifier: MIT */
/* What a reader of a trace wants to know of the machine that made it, as lines of text. */
#ifndef RECORD_FACTS_H
#define RECORD_FACTS_H

#include "record/mounts.h"
#include "record/record.h"
#include "record/rules.h"
#include "record/target.h"

#define FACTS_MAX 16u
#define FACTS_BYTES 512u
#define FACTS_RELEASE_BYTES 65u /* as in struct utsname */

struct facts {
    char lines[FACTS_MAX][FACTS_BYTES];
    const char *at[FACTS_MAX]; /* the lines that are filled */
    unsigned count;
    char readahead_kb[16];            /* of the device with most of the accesses; empty: unknown */
    char kernel[FACTS_RELEASE_BYTES]; /* release; empty: unknown */
    const char *lru;                  /* in use: "classic" or "mglru" */
};

/* What holds while the target is there: kernel, LRU, limit, swappiness. */
void facts_begin(struct facts *facts, const struct record_options *options,
                 const struct target *target);

/* What is known at the end: readahead of the devices, lost events, how it ended. */
void facts_end(struct facts *facts, const struct rules *rules, const struct mounts *mounts,
               const struct record_report *report);

#endif
