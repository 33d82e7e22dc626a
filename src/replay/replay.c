/* SPDX-License-Identifier: MIT */
/*
 * The pass over the traces. The caller's thread reads and prepares view n + 1 while the pool's
 * threads replay view n in all runs; then the two meet. All runs have seen the same views when
 * something goes wrong, and the first run in order that failed is the one that is reported, so
 * errors do not depend on timing.
 */
#include "replay/replay.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "replay/baseline.h"
#include "replay/expand.h"
#include "replay/kernel.h"
#include "replay/pool.h"
#include "replay/source.h"

/* How long a wish to stop, or the progress bar, waits for a view in work. Chosen. */
#define PROGRESS_NS UINT64_C(50000000)

/* One of the two is set. */
struct runner {
    struct replay_kernel *kernel;
    struct replay_baseline *baseline;
    int code; /* of the view in work */
};

struct replay {
    const struct replay_options *options;
    struct replay_error *error;
    struct replay_names *names;
    struct replay_source *source;
    struct replay_expander *expander; /* NULL: nobody needs ids */
    struct future future;
    struct runner *runners; /* by number of specification */
    struct replay_pool *pool;
    struct replay_view views[2];
    struct replay_expansion expansions[2];
    unsigned turn; /* of the view that the pool has in work */
};

static bool any_baseline(const struct replay_options *options)
{
    for (size_t i = 0; i < options->spec_count; i++)
        if (options->specs[i].baseline != NULL)
            return true;
    return false;
}

static bool any_kernel(const struct replay_options *options)
{
    for (size_t i = 0; i < options->spec_count; i++)
        if (options->specs[i].baseline == NULL)
            return true;
    return false;
}

/* The first run that has to know the future; NULL: none. */
static const struct replay_spec *clairvoyant(const struct replay_options *options)
{
    for (size_t i = 0; i < options->spec_count; i++)
        if (options->specs[i].baseline != NULL && options->specs[i].baseline->needs_future)
            return &options->specs[i];
    return NULL;
}

static int out_of_ids(struct replay *replay, const struct replay_view *view, int code)
{
    snprintf(replay->error->text, sizeof(replay->error->text), "%s: %s", view->path,
             code == MGLRU_EOVERFLOW
                 ? "more distinct pages or accesses than baselines can number (2^32)"
                 : mglru_error_text(code));
    return code;
}

static int report_progress(struct replay *replay)
{
    const struct replay_options *options = replay->options;
    if (options->on_progress == NULL)
        return MGLRU_OK;
    struct trace_progress progress;
    struct replay_source_totals totals;
    replay_source_progress(replay->source, &progress);
    replay_source_totals(replay->source, &totals);
    if (options->on_progress(options->context, &progress, totals.accesses) == 0)
        return MGLRU_OK;
    snprintf(replay->error->text, sizeof(replay->error->text), "interrupted");
    return MGLRU_EINTR;
}

/* Reads all traces once to learn when each access is repeated. */
static int foresee(struct replay *replay)
{
    int code = replay_source_open(replay->options, replay->names, &replay->source, replay->error);
    struct replay_expander *expander = replay_expander_create();
    if (code == MGLRU_OK && expander == NULL)
        code = MGLRU_ENOMEM;
    while (code == MGLRU_OK) {
        struct replay_view view;
        code = replay_source_next(replay->source, &view, replay->error);
        if (code != MGLRU_OK || view.count == 0)
            break;
        code = replay_expand(expander, &view, &replay->expansions[0]);
        if (code == MGLRU_OK)
            code = replay_expansion_foresee(&replay->expansions[0], &replay->future);
        code = code == MGLRU_OK ? report_progress(replay) : out_of_ids(replay, &view, code);
    }
    future_seal(&replay->future);
    replay_expander_destroy(expander);
    replay_source_close(replay->source);
    replay->source = NULL;
    return code;
}

/* Belady's policy needs a trace that can be read twice. */
static int check_rereadable(const struct replay *replay, const struct replay_spec *spec)
{
    for (size_t i = 0; i < replay->options->trace_count; i++) {
        const char *path = replay->options->traces[i];
        struct stat info;
        bool file = strcmp(path, "-") != 0;
        if (file && stat(path, &info) == 0)
            file = !S_ISFIFO(info.st_mode) && !S_ISCHR(info.st_mode) && !S_ISSOCK(info.st_mode);
        if (file)
            continue;
        snprintf(replay->error->text, sizeof(replay->error->text),
                 "--policy %s reads the trace twice, which %s does not allow: give a file",
                 spec->policy, strcmp(path, "-") == 0 ? "standard input" : path);
        return MGLRU_EINVAL;
    }
    return MGLRU_OK;
}

static void work(void *context, size_t task)
{
    struct replay *replay = context;
    struct runner *runner = &replay->runners[task];
    if (replay->views[replay->turn].warm && runner->kernel != NULL)
        replay_kernel_mark(runner->kernel);
    else if (replay->views[replay->turn].warm)
        replay_baseline_mark(runner->baseline);
    runner->code = runner->kernel != NULL
                       ? replay_kernel_feed(runner->kernel, &replay->views[replay->turn])
                       : replay_baseline_feed(runner->baseline, &replay->expansions[replay->turn]);
}

static int create_runner(struct replay *replay, size_t i)
{
    const struct replay_spec *spec = &replay->options->specs[i];
    struct runner *runner = &replay->runners[i];
    if (spec->baseline == NULL) {
        struct replay_kernel_setup setup = {
            .options = replay->options, .names = replay->names, .source = replay->source};
        return replay_kernel_create(&setup, spec, &runner->kernel, replay->error);
    }
    struct replay_baseline_setup setup = {
        .options = replay->options,
        .names = replay->names,
        .future = spec->baseline->needs_future ? &replay->future : NULL,
        .page_bytes = replay_source_page_bytes(replay->source),
    };
    return replay_baseline_create(&setup, spec, &runner->baseline, replay->error);
}

/* Everything that the pass needs: the source, the runs, the threads. */
static int set_up(struct replay *replay)
{
    const struct replay_options *options = replay->options;
    int code = replay_source_open(options, replay->names, &replay->source, replay->error);
    if (code != MGLRU_OK)
        return code;
    replay->runners = calloc(options->spec_count + 1, sizeof(*replay->runners));
    if (options->count_distinct || any_baseline(options)) {
        replay->expander = replay_expander_create();
        code = replay->expander == NULL ? MGLRU_ENOMEM : MGLRU_OK;
    }
    if (replay->runners == NULL)
        return MGLRU_ENOMEM;
    for (size_t i = 0; i < options->spec_count && code == MGLRU_OK; i++)
        code = create_runner(replay, i);
    if (code != MGLRU_OK || options->spec_count == 0)
        return code;
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    unsigned threads = options->workers;
    if (threads == 0)
        threads = processors > 0 ? (unsigned)processors : 1;
    struct replay_pool_tasks tasks = {work, replay, options->spec_count};
    return replay_pool_create(&tasks, threads, &replay->pool);
}

/* A flush schedule in time needs a clock. Looked at once, after the first records. */
static int check_clock(const struct replay *replay)
{
    const struct replay_options *options = replay->options;
    struct replay_source_totals totals;
    replay_source_totals(replay->source, &totals);
    if (totals.timed || options->stat_flush != MGLRU_STAT_FLUSH_TIME || !any_kernel(options))
        return MGLRU_OK;
    snprintf(replay->error->text, sizeof(replay->error->text),
             "--stat-flush %s: %s has no times: give a number of accesses, or always",
             options->stat_flush_text, options->traces[0]);
    return MGLRU_EINVAL;
}

/* Reads the next view into @turn and does what has to be done once for all runs. */
static int prepare(struct replay *replay, unsigned turn)
{
    const struct replay_options *options = replay->options;
    struct replay_view *view = &replay->views[turn];
    int code = replay_source_next(replay->source, view, replay->error);
    if (code != MGLRU_OK || view->count == 0)
        return code;
    if (options->on_records != NULL) {
        const struct replay_records records = {
            .names = replay->names,
            .page_bytes = replay_source_page_bytes(replay->source),
            .records = view->records,
            .count = view->count,
        };
        code = options->on_records(options->context, &records, replay->error);
    }
    if (code == MGLRU_OK && replay->expander != NULL) {
        code = replay_expand(replay->expander, view, &replay->expansions[turn]);
        if (code != MGLRU_OK)
            return out_of_ids(replay, view, code);
    }
    return code;
}

/* Waits for the view in work, for as long as nobody asks to stop. */
static int wait_for_view(struct replay *replay)
{
    int code = MGLRU_OK;
    while (code == MGLRU_OK && !replay_pool_wait_for(replay->pool, PROGRESS_NS))
        code = report_progress(replay);
    if (code == MGLRU_OK)
        return code;
    /* A view may take minutes where each access reclaims for long; a baseline's takes some
     * hundredths of a second. */
    for (size_t i = 0; i < replay->options->spec_count; i++)
        if (replay->runners[i].kernel != NULL)
            replay_kernel_stop(replay->runners[i].kernel);
    replay_pool_wait(replay->pool);
    return code;
}

/* Waits for the view in work. The first run in order that failed speaks for all. */
static int meet(struct replay *replay)
{
    if (replay->pool == NULL)
        return MGLRU_OK;
    int stopped = wait_for_view(replay);
    if (stopped != MGLRU_OK)
        return stopped;
    for (size_t i = 0; i < replay->options->spec_count; i++) {
        const struct runner *runner = &replay->runners[i];
        if (runner->code == MGLRU_OK)
            continue;
        if (runner->kernel != NULL)
            *replay->error = runner->kernel->error;
        else
            snprintf(replay->error->text, sizeof(replay->error->text), "%s: %s",
                     replay->options->specs[i].policy, mglru_error_text(runner->code));
        return runner->code;
    }
    return MGLRU_OK;
}

static int pass(struct replay *replay)
{
    bool first = true;
    for (unsigned turn = 0;; turn ^= 1) {
        int code = prepare(replay, turn);
        int met = meet(replay);
        if (met != MGLRU_OK)
            return met;
        if (code != MGLRU_OK || replay->views[turn].count == 0)
            return code;
        if (first) {
            code = check_clock(replay);
            if (code != MGLRU_OK)
                return code;
            first = false;
        }
        replay->turn = turn;
        if (replay->pool != NULL)
            replay_pool_start(replay->pool);
        code = report_progress(replay);
        if (code != MGLRU_OK) {
            (void)wait_for_view(replay); /* is asked the same, and stops the view */
            return code;
        }
    }
}

/* Aging that a model does when nobody chose one (architecture.md, decisions 1 and 2). */
static const char *aging_of(const struct replay_spec *spec)
{
    if (spec->baseline != NULL || spec->classic)
        return NULL;
    if (spec->aging != NULL)
        return spec->aging;
    if (strcmp(spec->model, "next") == 0)
        return "batched";
    return strcmp(spec->model, "ours") == 0 ? "splice" : "per-folio";
}

/* The schedule of flushes that a classic run's results depend on: the engine's own when none was
 * chosen (enum mglru_stat_flush). */
static const char *stat_flush_of(const struct replay *replay, const struct replay_spec *spec)
{
    if (!spec->classic)
        return NULL;
    if (replay->options->stat_flush_text != NULL)
        return replay->options->stat_flush_text;
    struct replay_source_totals totals;
    replay_source_totals(replay->source, &totals);
    return totals.timed ? "2s" : "20000 accesses";
}

static int finish_run(struct replay *replay, size_t i, struct replay_run *out)
{
    const struct replay_spec *spec = &replay->options->specs[i];
    out->policy = spec->policy;
    out->model = spec->model;
    out->aging = aging_of(spec);
    out->memory_bytes = spec->memory_bytes;
    out->index = spec->index;
    out->stat_flush = stat_flush_of(replay, spec);
    return replay->runners[i].kernel != NULL
               ? replay_kernel_finish(replay->runners[i].kernel, out)
               : replay_baseline_finish(replay->runners[i].baseline, out);
}

/* One name for all traces: the first, and how many follow. */
static char *trace_title(const struct replay_options *options)
{
    char *title;
    if (options->trace_count == 1)
        return strdup(options->traces[0]);
    if (asprintf(&title, "%s + %zu more", options->traces[0], options->trace_count - 1) < 0)
        return NULL;
    return title;
}

static int finish(struct replay *replay, struct replay_result *result)
{
    const struct replay_options *options = replay->options;
    struct replay_source_totals totals;
    replay_source_totals(replay->source, &totals);
    if (totals.accesses == 0) {
        snprintf(replay->error->text, sizeof(replay->error->text),
                 "%s: no page access in the trace", options->traces[0]);
        return MGLRU_EINVAL;
    }
    result->trace = (struct replay_trace_info){
        .path = trace_title(options),
        .format = replay_source_format(replay->source),
        .accesses = totals.accesses,
        .requests = totals.requests,
        .page_bytes = replay_source_page_bytes(replay->source),
        .memcgs = replay_names_count(replay->names, REPLAY_MEMCG),
        .objects = replay_names_count(replay->names, REPLAY_OBJECT),
        .recorded = totals.recorded,
    };
    if (replay->expander != NULL)
        result->trace.distinct_pages = replay_expander_distinct(replay->expander);
    result->runs = calloc(options->spec_count + 1, sizeof(*result->runs));
    if (result->trace.path == NULL || result->runs == NULL)
        return MGLRU_ENOMEM;
    int code = MGLRU_OK;
    for (size_t i = 0; i < options->spec_count && code == MGLRU_OK; i++)
        code = finish_run(replay, i, &result->runs[result->run_count++]);
    return code;
}

static void tear_down(struct replay *replay)
{
    replay_pool_destroy(replay->pool);
    for (size_t i = 0; i < replay->options->spec_count && replay->runners != NULL; i++) {
        replay_kernel_destroy(replay->runners[i].kernel);
        replay_baseline_destroy(replay->runners[i].baseline);
    }
    free(replay->runners);
    for (int i = 0; i < 2; i++)
        replay_expansion_free(&replay->expansions[i]);
    future_free(&replay->future);
    replay_expander_destroy(replay->expander);
    replay_source_close(replay->source);
    replay_names_destroy(replay->names);
}

int replay_run(const struct replay_options *options, struct replay_result *result,
               struct replay_error *error)
{
    *result = (struct replay_result){0};
    error->text[0] = '\0';
    struct replay replay = {.options = options, .error = error, .names = replay_names_create()};
    future_init(&replay.future);
    int code = replay.names != NULL ? MGLRU_OK : MGLRU_ENOMEM;
    const struct replay_spec *spec = clairvoyant(options);
    if (code == MGLRU_OK && spec != NULL) {
        code = check_rereadable(&replay, spec);
        if (code == MGLRU_OK)
            code = foresee(&replay);
    }
    if (code == MGLRU_OK)
        code = set_up(&replay);
    if (code == MGLRU_OK)
        code = pass(&replay);
    if (code == MGLRU_OK)
        code = finish(&replay, result);
    tear_down(&replay);
    if (code != MGLRU_OK)
        replay_result_free(result);
    if (code != MGLRU_OK && error->text[0] == '\0')
        snprintf(error->text, sizeof(error->text), "%s", mglru_error_text(code));
    return code;
}
