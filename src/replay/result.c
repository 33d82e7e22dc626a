/* SPDX-License-Identifier: MIT */
/* Frees results. */
#include "replay/result.h"

#include <stdlib.h>

static void free_run(struct replay_run *run)
{
    for (size_t i = 0; i < run->memcg_count; i++) {
        free(run->memcgs[i].path);
        free(run->memcgs[i].figures.stat);
    }
    free(run->memcgs);
    free(run->figures.stat);
    free(run->series);
    free(run->explain);
    free(run->explain_text);
}

void replay_result_free(struct replay_result *result)
{
    for (size_t i = 0; i < result->run_count; i++)
        free_run(&result->runs[i]);
    free(result->runs);
    free(result->trace.path);
    *result = (struct replay_result){0};
}
