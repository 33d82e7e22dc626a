/* SPDX-License-Identifier: MIT */
/* See plan_survey.h. The filter has cut records where the warm-up ends, so a record is measured
 * as a whole or not at all. */
#include "replay/plan_survey.h"

#include <stdlib.h>
#include <string.h>

#include <mglru/error.h>

/* Learns the names of memcgs up to @id. */
static int learn(struct plan_survey *survey, const struct replay_names *names, uint32_t id)
{
    if (id < survey->memcg_count)
        return MGLRU_OK;
    const uint32_t count = replay_names_count(names, REPLAY_MEMCG);
    struct plan_surveyed *grown = realloc(survey->memcgs, count * sizeof(*grown));
    if (grown == NULL)
        return MGLRU_ENOMEM;
    survey->memcgs = grown;
    for (; survey->memcg_count < count; survey->memcg_count++) {
        struct plan_surveyed *memcg = &grown[survey->memcg_count];
        *memcg = (struct plan_surveyed){
            .path = strdup(replay_names_at(names, REPLAY_MEMCG, survey->memcg_count))};
        if (memcg->path == NULL)
            return MGLRU_ENOMEM;
    }
    return MGLRU_OK;
}

static bool is_measured(const struct plan_survey *survey, const struct trace_record *record)
{
    const struct plan_options *options = survey->options;
    if (survey->measured > 0)
        return true;
    return survey->accesses >= options->warmup_accesses &&
           (options->warmup_ns == 0 ||
            (record->time_ns != TRACE_NO_TIME && record->time_ns >= options->warmup_ns));
}

static int on_records(void *context, const struct replay_records *records,
                      struct replay_error *error)
{
    struct plan_survey *survey = context;
    for (size_t i = 0; i < records->count; i++) {
        const struct trace_record *record = &records->records[i];
        if (!trace_op_is_access(record->op))
            continue;
        int code = learn(survey, records->names, record->memcg);
        if (code != MGLRU_OK)
            return code;
        survey->memcgs[record->memcg].accesses += record->count;
        survey->anonymous = survey->anonymous || record->op == TRACE_TOUCH;
        if (is_measured(survey, record)) {
            survey->measured += record->count;
            if (record->time_ns != TRACE_NO_TIME && survey->first_ns == TRACE_NO_TIME)
                survey->first_ns = record->time_ns;
            if (record->time_ns != TRACE_NO_TIME)
                survey->last_ns = record->time_ns;
        }
        survey->accesses += record->count;
    }
    return MGLRU_OK;
}

static int on_progress(void *context, const struct trace_progress *progress, uint64_t accesses)
{
    const struct plan_options *options = ((struct plan_survey *)context)->options;
    if (options->on_progress == NULL)
        return 0;
    return options->on_progress(options->context, progress, accesses);
}

int plan_survey_sample(const struct plan_survey *survey, uint32_t sample, uint64_t *pages,
                       struct replay_error *error)
{
    const struct replay_options pass = {
        .traces = &survey->options->trace,
        .trace_count = 1,
        .open = survey->options->open,
        .count_distinct = true,
        .filter = {.memcg = survey->memcg, .sample = sample},
        .swappiness = -1,
        .on_progress = on_progress,
        .context = (void *)survey,
    };
    struct replay_result result;
    *pages = 0;
    int code = replay_run(&pass, &result, error);
    if (code != MGLRU_OK)
        return code;
    *pages = result.trace.distinct_pages;
    replay_result_free(&result);
    return MGLRU_OK;
}

int plan_survey(const struct plan_options *options, const char *memcg, struct plan_survey *survey,
                struct replay_error *error)
{
    *survey = (struct plan_survey){.options = options, .memcg = memcg, .first_ns = TRACE_NO_TIME};
    const struct replay_options pass = {
        .traces = &options->trace,
        .trace_count = 1,
        .open = options->open,
        .count_distinct = true,
        .filter = {.memcg = memcg,
                   .without_limits = true,
                   .warmup_accesses = options->warmup_accesses,
                   .warmup_ns = options->warmup_ns},
        .swappiness = -1,
        .on_progress = on_progress,
        .on_records = on_records,
        .context = survey,
    };
    struct replay_result result;
    int code = replay_run(&pass, &result, error);
    if (code != MGLRU_OK)
        return code;
    survey->format = result.trace.format;
    survey->page_bytes = result.trace.page_bytes;
    survey->distinct_pages = result.trace.distinct_pages;
    survey->recorded = result.trace.recorded;
    if (survey->first_ns != TRACE_NO_TIME)
        survey->measured_ns = survey->last_ns - survey->first_ns;
    replay_result_free(&result);
    return MGLRU_OK;
}

void plan_survey_free(struct plan_survey *survey)
{
    for (uint32_t i = 0; i < survey->memcg_count; i++)
        free(survey->memcgs[i].path);
    free(survey->memcgs);
    *survey = (struct plan_survey){0};
}
