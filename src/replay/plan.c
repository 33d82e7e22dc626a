/* SPDX-License-Identifier: MIT */
/*
 * The passes of a plan: one survey of the whole trace; then for each memcg a survey of its own,
 * unless it is the only one, and one replay with all sizes and models at once, and one run more a
 * model that has memory for everything and so counts what no memory saves.
 */
#include "replay/plan.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <mglru/error.h>

#include "replay/plan_parts.h"
#include "replay/plan_survey.h"

/* Of a trace that does not say on which kernel it was recorded. */
#define MODEL_DEFAULT "7.3"

/* More than any machine has, and counted in pages of any size without overflow. */
#define MEMORY_FOR_EVERYTHING (UINT64_C(1) << 50)

/* Accesses between two flushes of the classic LRU's counters without times; the engine's own. */
#define FLUSH_ACCESSES 20000.0

/* The passes read the trace again and again. */
static int check_file(const char *path, struct replay_error *error)
{
    struct stat info;
    const bool input = strcmp(path, "-") == 0;
    if (!input && (stat(path, &info) != 0 || S_ISREG(info.st_mode) || S_ISDIR(info.st_mode)))
        return MGLRU_OK; /* or the reader says what is wrong */
    snprintf(error->text, sizeof(error->text),
             "%s: a plan reads the trace several times, which this does not allow: give a file",
             input ? "standard input" : path);
    return MGLRU_EINVAL;
}

static const char *name_of(const char *memcg, const char *trace)
{
    return memcg != NULL ? memcg : trace;
}

/* What the options ask of the trace, or of one memcg of it. */
static int check_survey(const struct plan_options *options, const struct plan_survey *survey,
                        const char *memcg, struct replay_error *error)
{
    const char *name = name_of(memcg, options->trace);
    const char *target = options->target.kind == PLAN_STALL               ? "stall"
                         : options->target.kind == PLAN_MISSES_PER_SECOND ? "misses/s"
                                                                          : NULL;
    if (options->warmup_ns > 0 && survey->last_ns == 0 && survey->measured == 0)
        snprintf(error->text, sizeof(error->text),
                 "%s: the warm-up outlasts the trace, or the trace has no times: give a number of "
                 "accesses to --warmup",
                 name);
    else if (survey->measured == 0)
        snprintf(error->text, sizeof(error->text),
                 "%s: has %" PRIu64 " page accesses, --warmup leaves none of them", name,
                 survey->accesses);
    else if (target != NULL && survey->measured_ns == 0)
        snprintf(error->text, sizeof(error->text),
                 "%s: --target %s needs the times of the accesses, which this trace does not have",
                 name, target);
    else
        return MGLRU_OK;
    return MGLRU_EINVAL;
}

/*
 * Finds how large a share of the pages is replayed. The hash passes a few more or fewer pages than
 * were asked for; what is counted and by how much memory is scaled goes by those that passed, which
 * takes most of the error of small samples away.
 */
static int choose_rate(const struct plan_survey *survey, struct plan_memcg *memcg, uint32_t *sample,
                       struct replay_error *error)
{
    const struct plan_extent extent = {survey->accesses, survey->distinct_pages,
                                       survey->page_bytes};
    const double wanted = plan_rate(&extent, survey->options->sample);
    memcg->rate = 1;
    *sample = 0;
    if (wanted >= 1)
        return MGLRU_OK;
    uint64_t pages = 0;
    *sample = (uint32_t)fmax(1, wanted * REPLAY_SAMPLE_WHOLE);
    const bool enough = wanted * (double)survey->distinct_pages >= PLAN_SAMPLED_PAGES_MIN / 2.0;
    int code = enough ? plan_survey_sample(survey, *sample, &pages, error) : MGLRU_OK;
    if (code != MGLRU_OK)
        return code;
    if (pages < PLAN_SAMPLED_PAGES_MIN) {
        snprintf(error->text, sizeof(error->text),
                 "--sample %g: is too small a part of the %" PRIu64
                 " pages of %s, expected at least %d pages",
                 wanted, memcg->distinct_pages, memcg->path, PLAN_SAMPLED_PAGES_MIN);
        return MGLRU_EINVAL;
    }
    memcg->rate = (double)pages / (double)survey->distinct_pages;
    memcg->error = plan_rate_error(&extent, memcg->rate);
    return MGLRU_OK;
}

/* What a replay of one memcg works with. */
struct plan_pass {
    const struct plan_options *options;
    struct plan_memcg *memcg;
    const struct plan_survey *survey;
    uint32_t sample; /* of REPLAY_SAMPLE_WHOLE; 0: all */
    uint64_t sizes[PLAN_SIZES_MAX];
    size_t size_count;
    struct replay_spec *specs; /* a model's sizes and its run with memory for everything */
};

static int list_specs(struct plan_pass *pass)
{
    const struct plan_options *options = pass->options;
    const size_t each = pass->size_count + 1;
    pass->specs = calloc(options->model_count * each, sizeof(*pass->specs));
    if (pass->specs == NULL)
        return MGLRU_ENOMEM;
    for (size_t i = 0; i < options->model_count * each; i++) {
        const size_t size = i % each;
        uint64_t bytes = MEMORY_FOR_EVERYTHING;
        if (size < pass->size_count)
            bytes =
                plan_sampled_bytes(pass->sizes[size], pass->memcg->rate, pass->survey->page_bytes);
        pass->specs[i] = (struct replay_spec){
            .classic = options->classic,
            .policy = options->classic ? "classic" : "mglru",
            .model = options->models[i / each],
            .memory_bytes = bytes,
            .index = (uint32_t)i,
        };
    }
    return MGLRU_OK;
}

static int replay_pass(const struct plan_pass *pass, struct replay_result *result,
                       struct replay_error *error)
{
    const struct plan_options *options = pass->options;
    const double rate = pass->memcg->rate;
    struct replay_options run = {
        .traces = &options->trace,
        .trace_count = 1,
        .open = options->open,
        .specs = pass->specs,
        .spec_count = options->model_count * (pass->size_count + 1),
        .filter = {.memcg = pass->survey->memcg,
                   .sample = pass->sample,
                   .without_limits = true,
                   .warmup_accesses = options->warmup_accesses,
                   .warmup_ns = options->warmup_ns},
        .swap_bytes = options->swap_bytes,
        .swappiness = -1,
        .readahead_bytes = options->readahead_bytes,
        .on_progress = options->on_progress,
        .context = options->context,
    };
    if (rate < 1) {
        run.swap_bytes = (uint64_t)((double)options->swap_bytes * rate);
        run.readahead_bytes = 0;
        run.kernel_charge = MGLRU_KERNEL_CHARGE_NONE;
    }
    if (rate < 1 && pass->memcg->duration_ns == 0) {
        run.stat_flush = MGLRU_STAT_FLUSH_ACCESSES;
        run.stat_flush_period = (uint64_t)fmax(1, FLUSH_ACCESSES * rate);
    }
    return replay_run(&run, result, error);
}

/* A count of the sample as a count of the whole. */
static uint64_t scale(uint64_t count, double rate)
{
    return rate < 1 ? (uint64_t)((double)count / rate + 0.5) : count;
}

static uint64_t refaults_of(const struct replay_figures *figures)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < figures->stats; i++)
        if (strncmp(figures->stat[i].name, "workingset_refault_", 19) == 0)
            sum += figures->stat[i].value;
    return sum;
}

static struct plan_point point_of(const struct plan_pass *pass, const struct replay_run *run,
                                  uint64_t memory_bytes)
{
    const struct plan_memcg *memcg = pass->memcg;
    const double accesses = (double)memcg->accesses;
    struct plan_point point = {
        .memory_bytes = memory_bytes,
        .misses = scale(run->figures.misses - run->warm.misses, memcg->rate),
        .pages_read = scale(run->figures.pages_read - run->warm.pages_read, memcg->rate),
        .refaults = scale(refaults_of(&run->figures) - run->warm.refaults, memcg->rate),
        .oom = run->oom,
    };
    /* A sample with more accesses than its share can have more misses than there are accesses. */
    if (point.misses > memcg->accesses)
        point.misses = memcg->accesses;
    point.miss_ratio = (double)point.misses / accesses;
    uint64_t writes = scale(run->figures.write_misses - run->warm.write_misses, memcg->rate);
    uint64_t waits = point.misses > writes ? point.misses - writes : 0;
    point.stall_ns = waits * pass->options->device_latency_ns;
    return point;
}

static int fill_curves(const struct plan_pass *pass, const struct replay_result *result)
{
    struct plan_memcg *memcg = pass->memcg;
    const size_t each = pass->size_count + 1;
    memcg->curves = calloc(pass->options->model_count, sizeof(*memcg->curves));
    if (memcg->curves == NULL)
        return MGLRU_ENOMEM;
    for (size_t i = 0; i < pass->options->model_count; i++) {
        struct plan_curve *curve = &memcg->curves[memcg->curve_count++];
        curve->model = pass->options->models[i];
        curve->points = calloc(pass->size_count, sizeof(*curve->points));
        if (curve->points == NULL)
            return MGLRU_ENOMEM;
        for (size_t j = 0; j < pass->size_count; j++)
            curve->points[curve->count++] =
                point_of(pass, &result->runs[i * each + j], pass->sizes[j]);
        const struct replay_run *whole = &result->runs[i * each + pass->size_count];
        curve->cold_misses = point_of(pass, whole, MEMORY_FOR_EVERYTHING).misses;
        plan_advise(memcg, &pass->options->target, curve);
    }
    return MGLRU_OK;
}

/* Sizes, runs and advice for one memcg. */
static int plan_curves(struct plan_pass *pass, struct replay_error *error)
{
    struct plan_memcg *memcg = pass->memcg;
    const struct plan_extent extent = {memcg->accesses, memcg->distinct_pages,
                                       pass->survey->page_bytes};
    int code = choose_rate(pass->survey, memcg, &pass->sample, error);
    if (code != MGLRU_OK)
        return code;
    pass->size_count = plan_sizes(&extent, memcg->rate, pass->sizes);
    struct replay_result result = {0};
    code = list_specs(pass);
    if (code == MGLRU_OK)
        code = replay_pass(pass, &result, error);
    if (code == MGLRU_OK)
        code = fill_curves(pass, &result);
    replay_result_free(&result);
    free(pass->specs);
    pass->specs = NULL;
    return code;
}

/* Adds the plan of what @survey found. */
static int add_memcg(const struct plan_options *options, const struct plan_survey *survey,
                     const char *path, struct plan *plan, struct replay_error *error)
{
    struct plan_memcg *memcg = &plan->memcgs[plan->memcg_count++];
    *memcg = (struct plan_memcg){
        .path = strdup(path),
        .accesses = survey->measured,
        .distinct_pages = survey->distinct_pages,
        .working_set_bytes = survey->distinct_pages * survey->page_bytes,
        .duration_ns = survey->measured_ns,
        .anonymous = survey->anonymous,
    };
    if (memcg->path == NULL)
        return MGLRU_ENOMEM;
    struct plan_pass pass = {.options = options, .memcg = memcg, .survey = survey};
    return plan_curves(&pass, error);
}

static int compare_surveyed(const void *a, const void *b)
{
    const struct plan_surveyed *left = a;
    const struct plan_surveyed *right = b;
    return strcmp(left->path, right->path);
}

/* Surveys and plans one of several memcgs; those that end within the warm-up are left out. */
static int plan_one(const struct plan_options *options, const char *path, struct plan *plan,
                    struct replay_error *error)
{
    struct plan_survey survey;
    int code = plan_survey(options, path, &survey, error);
    if (code == MGLRU_OK && survey.measured == 0)
        plan->left_out++;
    else if (code == MGLRU_OK)
        code = check_survey(options, &survey, path, error);
    if (code == MGLRU_OK && survey.measured > 0)
        code = add_memcg(options, &survey, path, plan, error);
    plan_survey_free(&survey);
    return code;
}

static int plan_all(const struct plan_options *options, struct plan_survey *survey,
                    struct plan *plan, struct replay_error *error)
{
    int code = check_survey(options, survey, NULL, error);
    plan->format = survey->format;
    plan->page_bytes = survey->page_bytes;
    plan->trace = strdup(options->trace);
    plan->memcgs = calloc(survey->memcg_count + 1u, sizeof(*plan->memcgs));
    if (code == MGLRU_OK && (plan->trace == NULL || plan->memcgs == NULL))
        code = MGLRU_ENOMEM;
    uint32_t active = 0;
    for (uint32_t i = 0; i < survey->memcg_count; i++)
        if (survey->memcgs[i].accesses > 0)
            survey->memcgs[active++] = survey->memcgs[i];
        else
            free(survey->memcgs[i].path);
    survey->memcg_count = active;
    if (code == MGLRU_OK && active == 1)
        return add_memcg(options, survey, survey->memcgs[0].path, plan, error);
    qsort(survey->memcgs, active, sizeof(*survey->memcgs), compare_surveyed);
    for (uint32_t i = 0; i < active && code == MGLRU_OK; i++)
        code = plan_one(options, survey->memcgs[i].path, plan, error);
    if (code == MGLRU_OK && plan->memcg_count == 0) {
        snprintf(error->text, sizeof(error->text),
                 "%s: the accesses of all %" PRIu32 " memcgs end within --warmup", options->trace,
                 active);
        code = MGLRU_EINVAL;
    }
    return code;
}

/* Takes from the recording what the options leave open. */
static void choose_kernel(struct plan_options *options, const char **model, struct plan *plan)
{
    const struct replay_recorded *recorded = &plan->recorded;
    if (!options->classic && !options->mglru && options->model_count == 0 && recorded->known_lru) {
        options->classic = recorded->classic;
        plan->lru_recorded = true;
    }
    plan->classic = options->classic;
    if (options->model_count > 0)
        return;
    *model = replay_recorded_model(recorded);
    plan->model_recorded = *model != NULL;
    if (*model == NULL)
        *model = MODEL_DEFAULT;
    options->models = model;
    options->model_count = 1;
}

int plan_make(const struct plan_options *options, struct plan *plan, struct replay_error *error)
{
    *plan = (struct plan){
        .device_latency_ns = options->device_latency_ns,
        .warmup_accesses = options->warmup_accesses,
        .warmup_ns = options->warmup_ns,
        .target = options->target,
    };
    error->text[0] = '\0';
    int code = check_file(options->trace, error);
    if (code != MGLRU_OK)
        return code;
    struct plan_survey survey;
    code = plan_survey(options, NULL, &survey, error);
    if (code == MGLRU_OK) {
        struct plan_options chosen = *options;
        const char *model;
        plan->recorded = survey.recorded;
        choose_kernel(&chosen, &model, plan);
        code = plan_all(&chosen, &survey, plan, error);
    }
    plan_survey_free(&survey);
    if (code != MGLRU_OK)
        plan_free(plan);
    if (code != MGLRU_OK && error->text[0] == '\0')
        snprintf(error->text, sizeof(error->text), "%s", mglru_error_text(code));
    return code;
}

void plan_free(struct plan *plan)
{
    for (size_t i = 0; i < plan->memcg_count; i++) {
        struct plan_memcg *memcg = &plan->memcgs[i];
        for (size_t j = 0; j < memcg->curve_count; j++)
            free(memcg->curves[j].points);
        free(memcg->curves);
        free(memcg->path);
    }
    free(plan->memcgs);
    free(plan->trace);
    *plan = (struct plan){0};
}
