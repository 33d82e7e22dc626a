/* SPDX-License-Identifier: MIT */
/* One reading of a trace that replays nothing: who accesses how much of what, and for how long. */
#ifndef REPLAY_PLAN_SURVEY_H
#define REPLAY_PLAN_SURVEY_H

#include "replay/plan.h"

struct plan_surveyed {
    char *path;
    uint64_t accesses; /* of the memcg itself, warm-up included */
};

struct plan_survey {
    /* found */
    struct plan_surveyed *memcgs; /* by id; those without accesses too */
    uint32_t memcg_count;
    const char *format;
    uint32_t page_bytes;
    uint64_t accesses; /* of all */
    uint64_t distinct_pages;
    uint64_t measured; /* accesses after the warm-up */
    uint64_t measured_ns;
    bool anonymous;
    struct replay_recorded recorded;

    /* of the pass */
    const struct plan_options *options;
    const char *memcg; /* the caller's; NULL: all */
    uint64_t first_ns; /* of the time measured; TRACE_NO_TIME: no record had one */
    uint64_t last_ns;
};

/*
 * Counts the distinct pages of the sample of @sample of REPLAY_SAMPLE_WHOLE of what @survey, whose
 * options and memcg are used, found. Codes as replay_run().
 */
int plan_survey_sample(const struct plan_survey *survey, uint32_t sample, uint64_t *pages,
                       struct replay_error *error);

/* Surveys @memcg with those below it, NULL: all. Codes as replay_run(). @survey is to be freed in
 * any case. */
int plan_survey(const struct plan_options *options, const char *memcg, struct plan_survey *survey,
                struct replay_error *error);
void plan_survey_free(struct plan_survey *survey);

#endif
