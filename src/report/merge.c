/* SPDX-License-Identifier: MIT */
/*
 * Joins the results of shards. A shard holds whole runs, numbered as the unsharded replay would
 * have numbered them, so joining is sorting by number, and the joined result equals the unsharded.
 */
#include "report/report.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <mglru/error.h>

#include "report/number.h"

static bool same_text(const char *a, const char *b)
{
    return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

/* Distinct pages are counted by some shards only, so 0 agrees with anything. */
static bool same_trace(const struct replay_trace_info *a, const struct replay_trace_info *b)
{
    bool distinct =
        a->distinct_pages == b->distinct_pages || a->distinct_pages == 0 || b->distinct_pages == 0;
    return distinct && same_text(a->path, b->path) && same_text(a->format, b->format) &&
           a->accesses == b->accesses && a->requests == b->requests &&
           a->page_bytes == b->page_bytes && a->memcgs == b->memcgs && a->objects == b->objects;
}

static int compare_runs(const void *a, const void *b)
{
    const struct replay_run *p = a;
    const struct replay_run *q = b;
    return (p->index > q->index) - (p->index < q->index);
}

/* The strings that the runs of @from point to change their owner as well. */
static int move_strings(struct report_loaded *into, struct report_loaded *from)
{
    size_t count = into->string_count + from->string_count;
    char **strings = realloc(into->strings, (count > 0 ? count : 1) * sizeof(*strings));
    if (strings == NULL)
        return MGLRU_ENOMEM;
    if (from->string_count > 0)
        memcpy(strings + into->string_count, from->strings, from->string_count * sizeof(*strings));
    into->strings = strings;
    into->string_count = into->string_capacity = count;
    from->string_count = 0;
    return MGLRU_OK;
}

static int move_runs(struct replay_result *into, struct replay_result *from)
{
    size_t count = into->run_count + from->run_count;
    struct replay_run *runs = realloc(into->runs, (count > 0 ? count : 1) * sizeof(*runs));
    if (runs == NULL)
        return MGLRU_ENOMEM;
    if (from->run_count > 0)
        memcpy(runs + into->run_count, from->runs, from->run_count * sizeof(*runs));
    into->runs = runs;
    into->run_count = count;
    from->run_count = 0;
    if (into->trace.distinct_pages == 0)
        into->trace.distinct_pages = from->trace.distinct_pages;
    return MGLRU_OK;
}

/* The run that both have, if any. */
static const struct replay_run *find_common(const struct replay_result *a,
                                            const struct replay_result *b)
{
    for (size_t i = 0; i < a->run_count; i++)
        for (size_t j = 0; j < b->run_count; j++)
            if (a->runs[i].index == b->runs[j].index)
                return &a->runs[i];
    return NULL;
}

int report_merge(struct report_loaded *into, struct report_loaded *from, struct report_error *error)
{
    error->text[0] = '\0';
    if (!same_trace(&into->result.trace, &from->result.trace)) {
        snprintf(error->text, sizeof(error->text), "results of different traces: %s and %s",
                 into->result.trace.path != NULL ? into->result.trace.path : "-",
                 from->result.trace.path != NULL ? from->result.trace.path : "-");
        return MGLRU_EINVAL;
    }
    const struct replay_run *common = find_common(&into->result, &from->result);
    if (common != NULL) {
        char size[REPORT_NUMBER_BYTES];
        report_number_size(common->memory_bytes, size, sizeof(size));
        snprintf(error->text, sizeof(error->text), "run %" PRIu32 " (%s%s%s, %s) stands in both",
                 common->index, common->policy, common->model != NULL ? " " : "",
                 common->model != NULL ? common->model : "", size);
        return MGLRU_EINVAL;
    }
    /* Should the second move fail, the strings of @from live on in @into, which is harmless. */
    int code = move_strings(into, from);
    if (code == MGLRU_OK)
        code = move_runs(&into->result, &from->result);
    if (code != MGLRU_OK) {
        snprintf(error->text, sizeof(error->text), "out of memory while merging");
        return code;
    }
    qsort(into->result.runs, into->result.run_count, sizeof(*into->result.runs), compare_runs);
    report_loaded_free(from);
    return MGLRU_OK;
}
