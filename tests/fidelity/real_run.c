/* SPDX-License-Identifier: MIT */
/*
 * Real programs through the library: one memcg, one mapping and open file for each inode. Runs of
 * the same limit are repeats; the figure is their median.
 */
#include "real.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <mglru/control.h>

#include "base/check.h"
#include "fixtures.h"
#include "json.h"
#include "vector.h"

#define PATH_BYTES 4096
#define MEMCG_PATH "/r"
#define REPEATS_MAX 8
#define RUNS_MAX 32
#define FILE_NAME 'f' /* a data file's name begins so, its inode follows */

/* memory.max of the run whose trace was kept, label m40. */
#define LIMITED_KB 40960

struct runner {
    const struct real_stream *stream;
    const struct real_options *options;
    struct real_result *result;
    struct mglru_cache *cache;
    struct mglru_memcg *memcg;
    struct mglru_file **files;  /* by index */
    struct mglru_file **blocks; /* metadata, a file for each page: no readahead goes over it */
    uint64_t next_bit;
};

static int file_open(struct runner *runner, char kind, uint64_t number, uint64_t pages,
                     struct mglru_file **out)
{
    if (*out)
        return 0;
    char name[32];
    snprintf(name, sizeof(name), "%c%" PRIu64, kind, number);
    struct mglru_mapping *mapping = NULL;
    int code = mglru_mapping_create(runner->cache, name, MGLRU_FILE, pages, &mapping);
    return code ? code : mglru_file_open(mapping, runner->memcg, out);
}

/* Metadata: each page by itself. */
static int blocks_play(struct runner *runner, const struct real_read *read)
{
    int code = 0;
    for (uint32_t i = 0; i < read->count && !code; i++) {
        struct mglru_file **file = &runner->blocks[read->first + i];
        code = file_open(runner, REAL_METADATA, read->first + i, 1, file);
        struct mglru_access access = {.file = *file, .count = 1, .kind = MGLRU_READ};
        size_t done = 0;
        if (!code)
            code = mglru_cache_access(runner->cache, &access, 1, NULL, &done);
    }
    return code;
}

static int read_play(struct runner *runner, const struct real_read *read)
{
    const struct real_options *options = runner->options;
    if (read->metadata && !options->metadata)
        return 0;
    double since_ns = (double)read->time_us * 1000.0 * options->pace;
    mglru_cache_set_time(runner->cache,
                         options->start_ns + options->schedule->offset_ns + (uint64_t)since_ns);
    if (read->metadata)
        return blocks_play(runner, read);
    const struct real_file *known = &runner->stream->files[read->file];
    struct mglru_file **file = &runner->files[read->file];
    int code = file_open(runner, FILE_NAME, known->inode, known->pages, file);
    if (code)
        return code;
    if (read->reopened)
        mglru_file_reopen(*file);
    struct mglru_access access = {
        .file = *file, .index = read->first, .count = read->count, .kind = MGLRU_READ};
    struct mglru_miss_log log = {.bits = runner->result->bits, .next = runner->next_bit};
    size_t done = 0;
    code = mglru_cache_access(runner->cache, &access, 1, &log, &done);
    runner->next_bit = log.next;
    return code;
}

/* Folios of data, in the order in which they come. */
static void note_folio(void *context, const struct mglru_event *event)
{
    struct real_result *result = context;
    const char *name = event->mapping ? mglru_mapping_name(event->mapping) : "";
    if (event->kind == MGLRU_EVENT_READ && name[0] == FILE_NAME)
        real_folios_add(&result->folios, strtoull(name + 1, NULL, 10), event->index, event->pages);
}

static int runner_set_up(struct runner *runner)
{
    const struct real_options *options = runner->options;
    struct mglru_cache_options cache = {
        .size = sizeof(cache),
        .model = options->model,
        .classic = options->classic,
        .readahead_bytes = options->readahead_bytes,
        .kernel_charge = options->kernel_charge,
        .kernel_charge_bytes = options->kernel_charge_bytes,
        .stat_flush = options->schedule->kind,
        .stat_flush_period = options->schedule->period,
        .on_event = note_folio,
        .on_event_context = runner->result,
    };
    runner->blocks = calloc(runner->stream->blocks + 1, sizeof(*runner->blocks));
    runner->files = calloc(runner->stream->files_count + 1, sizeof(*runner->files));
    runner->result->bits = calloc(runner->stream->accesses / 8 + 1, 1);
    if (!runner->files || !runner->blocks || !runner->result->bits)
        return MGLRU_ENOMEM;
    int code = mglru_cache_create(&cache, &runner->cache);
    if (!code)
        code = mglru_memcg_create(runner->cache, MEMCG_PATH, &runner->memcg);
    if (code || options->max_kb == 0)
        return code;
    char text[24];
    snprintf(text, sizeof(text), "%" PRIu64, options->max_kb * 1024);
    return mglru_memcg_write(runner->memcg, "memory.max", text, strlen(text));
}

/* Data pages only: what the metadata reads brought in is not asked for. */
static void runner_count(struct runner *runner)
{
    struct real_result *result = runner->result;
    for (uint64_t i = 0; i < runner->next_bit; i++)
        result->misses += result->bits[i / 8] >> (i % 8) & 1;
    struct mglru_counts counts;
    mglru_memcg_counts(runner->memcg, true, &counts);
    result->pages_read = counts.pages_read;
    uint64_t other = counts.misses - result->misses;
    result->pages_read -= other < result->pages_read ? other : result->pages_read;
    if (!runner->options->capture)
        return;
    result->stat = drive_read(runner->cache, runner->memcg, "memory.stat");
    result->lru_gen = drive_read(runner->cache, NULL, "lru_gen");
}

int real_run(const struct real_stream *stream, const struct real_options *options,
             struct real_result *out)
{
    *out = (struct real_result){0};
    struct runner runner = {.stream = stream, .options = options, .result = out};
    int code = runner_set_up(&runner);
    for (size_t i = 0; i < stream->count && !code; i++)
        code = read_play(&runner, &stream->reads[i]);
    out->oom = code == MGLRU_EOOM;
    if (out->oom)
        code = 0;
    if (!code)
        runner_count(&runner);
    mglru_cache_destroy(runner.cache);
    free(runner.files);
    free(runner.blocks);
    return code;
}

void real_result_free(struct real_result *result)
{
    free(result->bits);
    free(result->stat);
    free(result->lru_gen);
    *result = (struct real_result){0};
}

/* All repeats of one limit and algorithm in one boot. */
struct real_group {
    char label[16];
    uint64_t max_kb;
    bool classic;
    uint64_t added[REPEATS_MAX]; /* A_data */
    uint64_t kernel_bytes;       /* of the first */
    uint64_t start_ns;
    double pace;
    size_t repeats;
    json_object *run;
};

struct real_boot {
    const char *workload;
    char kernel[8];
    uint64_t readahead_kb;
    json_object *root;
    struct real_group group[RUNS_MAX];
    size_t groups;
    uint64_t traced_ns;         /* duration of the unlimited run, whose trace is played */
    struct real_stream stream;  /* of the unlimited run */
    struct real_stream limited; /* of a run with a limit; empty: there is no trace of one */
    uint64_t limited_kb;
    struct real_folios folios; /* that the kernel added without a limit; count 0: unknown */
};

/* Seconds of the guest's clock at the first event: "oldest event ts:     5.970099". */
static uint64_t run_start_ns(json_object *run)
{
    const char *found = strstr(json_text(run, "trace_stats"), "oldest event ts:");
    return found ? (uint64_t)(strtod(found + strlen("oldest event ts:"), NULL) * 1e9) : 0;
}

static void boot_add(struct real_boot *boot, json_object *run)
{
    uint64_t max_kb = json_number(run, "max_kb");
    bool classic = json_number(run, "lru") == 0;
    uint64_t added = json_number(json_path(run, "trace", NULL), "A_data");
    for (size_t i = 0; i < boot->groups; i++) {
        struct real_group *group = &boot->group[i];
        if (group->max_kb != max_kb || group->classic != classic)
            continue;
        if (group->repeats < REPEATS_MAX)
            group->added[group->repeats++] = added;
        return;
    }
    if (boot->groups == RUNS_MAX)
        return;
    struct real_group *group = &boot->group[boot->groups++];
    *group =
        (struct real_group){.max_kb = max_kb,
                            .classic = classic,
                            .added = {added},
                            .repeats = 1,
                            .run = run,
                            .start_ns = run_start_ns(run),
                            .pace = 1,
                            .kernel_bytes = json_number(json_path(run, "stat", NULL), "kernel")};
    snprintf(group->label, sizeof(group->label), "%s", json_text(run, "label"));
    if (max_kb == 0)
        boot->traced_ns = json_number(run, "ns");
    else if (boot->traced_ns)
        group->pace = (double)json_number(run, "ns") / (double)boot->traced_ns;
}

static bool boot_load(struct real_boot *boot, const char *path)
{
    boot->root = json_object_from_file(path);
    json_object *events = json_path(boot->root, "events", NULL);
    if (!events || strcmp(json_text(boot->root, "format"), "mglru-oracle-real-1") != 0)
        return false;
    boot->readahead_kb = json_number(boot->root, "ra_kb");
    bool v612 = strncmp(json_text(boot->root, "kernel"), "6.12.", 5) == 0;
    snprintf(boot->kernel, sizeof(boot->kernel), "%s", v612 ? "6.12" : "7.3");
    for (size_t i = 0; i < json_object_array_length(events); i++) {
        json_object *event = json_object_array_get_idx(events, i);
        if (strcmp(json_text(event, "ev"), "run") == 0)
            boot_add(boot, event);
    }
    return boot->groups > 0;
}

static int compare_u64(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a;
    uint64_t y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* Bounds of real programs: A_data with readahead off, pages read with it; one limit is free. */
static struct bound real_bound(const struct real_boot *boot, const struct real_group *group)
{
    bool tightest = strcmp(boot->workload, "grep_hot") == 0 && group->max_kb == 16384;
    if (boot->readahead_kb == 0)
        return (struct bound){.kind = tightest ? BOUND_NONE : BOUND_PERCENT, .percent = 3};
    if (group->classic || tightest)
        return (struct bound){.kind = BOUND_NONE};
    return (struct bound){.kind = BOUND_PERCENT, .percent = 10};
}

/* How a run of the library is set up. */
struct variant {
    const char *note;
    enum mglru_kernel_charge charge;
    bool metadata;
};

static const struct variant variants[] = {
    {"kernel charge: recorded; metadata too", MGLRU_KERNEL_CHARGE_FIXED, true},
    {"kernel charge: recorded", MGLRU_KERNEL_CHARGE_FIXED, false},
    {"kernel charge: auto", MGLRU_KERNEL_CHARGE_AUTO, false},
};

/* The bound applies to what plays all that the recording knows. */
static bool is_judged(const struct real_boot *boot, const struct variant *variant)
{
    return variant->charge == MGLRU_KERNEL_CHARGE_FIXED &&
           variant->metadata == boot->stream.metadata;
}

static void row_fill(struct row *row, const struct real_boot *boot, struct real_group *group,
                     const struct variant *variant)
{
    *row = (struct row){0};
    qsort(group->added, group->repeats, sizeof(group->added[0]), compare_u64);
    snprintf(row->kernel, sizeof(row->kernel), "%s", boot->kernel);
    snprintf(row->name, sizeof(row->name), "real/%s", boot->workload);
    snprintf(row->mode, sizeof(row->mode), "%s", group->classic ? "classic" : "mglru");
    char limit[24] = "no limit";
    if (group->max_kb)
        snprintf(limit, sizeof(limit), "%" PRIu64 "M", group->max_kb / 1024);
    snprintf(row->what, sizeof(row->what), "%s, ra %" PRIu64, limit, boot->readahead_kb);
    snprintf(row->note, sizeof(row->note), "%s", variant->note);
    size_t n = group->repeats;
    row->theirs = n % 2 ? group->added[n / 2] : (group->added[n / 2 - 1] + group->added[n / 2]) / 2;
    row->least = group->added[0];
    row->most = group->added[n - 1];
    if (is_judged(boot, variant))
        row->bound = real_bound(boot, group);
}

static void verbose_run(FILE *out, const struct row *row, const struct real_group *group,
                        const struct real_result *result)
{
    json_object *theirs = json_path(group->run, "stat", NULL);
    fprintf(out, "== %s %s %s %s, %s\n", row->kernel, row->name, row->mode, row->what, row->note);
    struct json_object_iterator at = json_object_iter_begin(theirs);
    struct json_object_iterator end = json_object_iter_end(theirs);
    for (; !json_object_iter_equal(&at, &end); json_object_iter_next(&at)) {
        const char *name = json_object_iter_peek_name(&at);
        uint64_t a = (uint64_t)json_object_get_int64(json_object_iter_peek_value(&at));
        uint64_t b = drive_stat(result->stat, name);
        if (a || b)
            fprintf(out, "    %-26s %12" PRIu64 " %12" PRIu64 "\n", name, a, b);
    }
    fprintf(out, "%s%s", json_text(group->run, "lru_gen"), result->lru_gen ? result->lru_gen : "");
}

/* Single accesses, where a trace of this very limit exists. */
static void row_differing(struct row *row, const struct real_stream *limited,
                          const struct real_stream *stream, const struct real_result *result)
{
    if (limited->accesses != stream->accesses)
        return;
    row->accesses = limited->accesses;
    for (uint64_t i = 0; i < row->accesses; i++)
        row->differing += (limited->misses[i / 8] ^ result->bits[i / 8]) >> (i % 8) & 1;
}

/* A row about a boot besides those of its groups: @theirs against @ours, without a bound. */
static struct row row_beside(const struct real_boot *boot, const char *mode, uint64_t theirs,
                             uint64_t ours)
{
    struct row row = {.theirs = theirs,
                      .least = theirs,
                      .most = theirs,
                      .ours = ours,
                      .low = ours,
                      .high = ours,
                      .verdict = VERDICT_STUDY};
    snprintf(row.kernel, sizeof(row.kernel), "%s", boot->kernel);
    snprintf(row.name, sizeof(row.name), "real/%s", boot->workload);
    snprintf(row.mode, sizeof(row.mode), "%s", mode);
    return row;
}

/* Every folio that readahead brings, in order, where nothing is evicted: all must agree. */
static int folios_compare(const struct real_boot *boot, const struct real_result *result,
                          struct compare *compare)
{
    const struct real_folios *theirs = &boot->folios, *ours = &result->folios;
    struct row row = row_beside(boot, "mglru", theirs->count, ours->count);
    bool same = theirs->count == ours->count && theirs->hash == ours->hash;
    snprintf(row.what, sizeof(row.what), "ra %" PRIu64 ", folios", boot->readahead_kb);
    snprintf(row.note, sizeof(row.note), "%s", same ? "each and in order" : "not the same ones");
    row.exact = true;
    row.verdict = same ? VERDICT_INSIDE : VERDICT_OUTSIDE;
    return compare_add(compare, &row);
}

/* Reads that had to wait, with readahead; the kernel's of the first repeat. */
static int waits_compare(const struct real_boot *boot, const struct real_group *group,
                         const struct real_result *result, struct compare *compare)
{
    json_object *trace = json_path(group->run, "trace", NULL);
    struct row row = row_beside(boot, group->classic ? "classic" : "mglru",
                                json_number(trace, "demand_miss_events"), result->misses);
    snprintf(row.what, sizeof(row.what), "%" PRIu64 "M, ra %" PRIu64 ", waits",
             group->max_kb / 1024, boot->readahead_kb);
    snprintf(row.note, sizeof(row.note), "reads that found nothing; first repeat");
    return compare_add(compare, &row);
}

static int beside_compare(const struct real_boot *boot, const struct real_group *group,
                          const struct real_result *result, struct compare *compare)
{
    if (!boot->readahead_kb)
        return 0;
    if (group->max_kb)
        return waits_compare(boot, group, result, compare);
    return boot->folios.count ? folios_compare(boot, result, compare) : 0;
}

static int group_run(const struct real_boot *boot, struct real_group *group,
                     const struct variant *variant, struct compare *compare, struct row *row)
{
    struct real_options run = {.model = compare->model ? compare->model : boot->kernel,
                               .classic = group->classic,
                               .max_kb = group->max_kb,
                               .readahead_bytes = boot->readahead_kb * 1024,
                               .kernel_charge = variant->charge,
                               .kernel_charge_bytes = group->kernel_bytes,
                               .metadata = variant->metadata,
                               .start_ns = group->start_ns,
                               .pace = group->pace,
                               .schedule = schedule_stated(boot->kernel),
                               .capture = compare->verbose != NULL};
    struct real_result result;
    int code = real_run(&boot->stream, &run, &result);
    if (!code) {
        row_fill(row, boot, group, variant);
        row->ours = boot->readahead_kb ? result.pages_read : result.misses;
        row->low = row->high = row->ours;
        if (!group->classic && group->max_kb == boot->limited_kb)
            row_differing(row, &boot->limited, &boot->stream, &result);
        row->verdict = VERDICT_STUDY;
        if (row->bound.kind != BOUND_NONE)
            row->verdict = bound_holds(&row->bound, row->theirs, row->ours, row->low, row->high)
                               ? VERDICT_INSIDE
                               : VERDICT_OUTSIDE;
        if (compare->verbose)
            verbose_run(compare->verbose, row, group, &result);
        if (is_judged(boot, variant))
            code = beside_compare(boot, group, &result, compare);
    }
    real_result_free(&result);
    return code;
}

static int boot_compare(struct real_boot *boot, struct compare *compare)
{
    int code = 0;
    for (size_t i = 0; i < boot->groups && !code; i++) {
        for (size_t k = 0; k < MGLRU_ARRAY_LEN(variants) && !code; k++) {
            struct row row;
            if (variants[k].metadata && !boot->stream.metadata)
                continue;
            code = group_run(boot, &boot->group[i], &variants[k], compare, &row);
            if (!code)
                code = compare_add(compare, &row);
            else
                snprintf(compare->error, COMPARE_ERROR_BYTES, "real/%s: %s", boot->workload,
                         mglru_error_text(code));
        }
    }
    return code;
}

/* A fixture says what came of its boot's own trace. */
static void boot_folios(struct real_boot *boot)
{
    json_object *folios = json_path(boot->root, "folios", NULL);
    boot->folios = boot->stream.folios;
    if (!folios)
        return;
    boot->folios.count = json_number(folios, "count");
    boot->folios.hash = strtoull(json_text(folios, "hash"), NULL, 16);
}

/* The reads of a boot: its own unlimited trace, or the native one of a fixture. */
static int boot_streams(struct real_boot *boot, const char *folder, const char *name,
                        struct trace_error *error)
{
    char path[PATH_BYTES];
    snprintf(path, sizeof(path), "%s/reads.trace.zst", folder);
    if (access(path, R_OK) == 0)
        return real_load_native(path, &boot->stream, error);
    snprintf(path, sizeof(path), "%s/%s_nolimit.trace.zst", folder, name);
    int code = real_load(path, &boot->stream, error);
    snprintf(path, sizeof(path), "%s/%s_m40.trace.zst", folder, name);
    if (code || access(path, R_OK) != 0)
        return code;
    boot->limited_kb = LIMITED_KB;
    return real_load(path, &boot->limited, error);
}

/* A fixture's vector of the limited run: only accesses and misses of that stream are needed. */
static int boot_vector(struct real_boot *boot)
{
    json_object *events = json_path(boot->root, "events", NULL);
    for (size_t i = 0; i < json_object_array_length(events); i++) {
        json_object *event = json_object_array_get_idx(events, i);
        if (strcmp(json_text(event, "ev"), "bits") != 0)
            continue;
        uint64_t page_count = 0;
        uint32_t *pages = real_pages(&boot->stream, &page_count);
        if (pages && json_number(event, "nbits") == boot->stream.accesses)
            boot->limited.misses =
                vector_unpack(json_text(event, "packed"), pages, boot->stream.accesses, page_count);
        free(pages);
        if (!boot->limited.misses)
            return MGLRU_EINVAL;
        boot->limited.accesses = boot->stream.accesses;
        boot->limited_kb = json_number(event, "max_kb");
    }
    return 0;
}

/* Loads a boot with its reads. */
static int boot_open(struct real_boot *boot, const char *folder, const char *name,
                     struct trace_error *error)
{
    char path[PATH_BYTES];
    snprintf(path, sizeof(path), "%s/%s.json", folder, name);
    if (!boot_load(boot, path)) {
        snprintf(error->text, sizeof(error->text), "%.400s: not a recording of a real program",
                 path);
        return MGLRU_EINVAL;
    }
    int code = boot_streams(boot, folder, name, error);
    if (code)
        return code;
    boot_folios(boot);
    code = boot_vector(boot);
    if (code)
        snprintf(error->text, sizeof(error->text), "%.400s: a miss vector that cannot be read",
                 path);
    return code;
}

static void boot_free(struct real_boot *boot)
{
    real_free(&boot->stream);
    real_free(&boot->limited);
    json_object_put(boot->root);
    free(boot);
}

/* What to do with each boot of a workload. */
struct boots {
    const char *folder;
    const char *workload;
    const char *out; /* where fixtures go; NULL: compare */
    struct compare *compare;
};

/* Writes the fixture of a boot; the reads of all are the same, so the last one stays. */
static int boot_write(const struct real_boot *boot, const char *out, const char *name)
{
    char path[PATH_BYTES];
    snprintf(path, sizeof(path), "%s/%s.json", out, name);
    json_object *folios = json_object_new_object();
    char hash[24];
    snprintf(hash, sizeof(hash), "%" PRIx64, boot->folios.hash);
    json_object_object_add(folios, "count", json_object_new_uint64(boot->folios.count));
    json_object_object_add(folios, "hash", json_object_new_string(hash));
    json_object_object_add(boot->root, "folios", folios);
    int code = fixture_write_boot(boot->root, boot->limited_kb ? &boot->limited : NULL,
                                  boot->limited_kb, path);
    snprintf(path, sizeof(path), "%s/reads.trace", out);
    return code ? code : real_emit(&boot->stream, path);
}

static int boot_visit(const struct boots *boots, const char *name)
{
    struct trace_error error = {.text = "out of memory"};
    struct real_boot *boot = calloc(1, sizeof(*boot));
    if (!boot)
        return MGLRU_ENOMEM;
    boot->workload = boots->workload;
    int code = boot_open(boot, boots->folder, name, &error);
    if (code) {
        snprintf(boots->compare->error, COMPARE_ERROR_BYTES, "%s", error.text);
    } else if (boots->out) {
        code = boot_write(boot, boots->out, name);
        if (code)
            snprintf(boots->compare->error, COMPARE_ERROR_BYTES, "%s: %s", boots->out,
                     mglru_error_text(code));
    } else {
        code = boot_compare(boot, boots->compare);
    }
    boot_free(boot);
    return code;
}

/* The recorded boots of a workload. */
static int boots_visit(const struct boots *boots)
{
    static const char *const names[] = {"k612_ra0", "k73_ra0", "k612_ra128", "k73_ra128"};
    int code = 0;
    for (size_t i = 0; i < MGLRU_ARRAY_LEN(names) && !code; i++) {
        char path[PATH_BYTES];
        snprintf(path, sizeof(path), "%s/%s.json", boots->folder, names[i]);
        if (access(path, R_OK) == 0)
            code = boot_visit(boots, names[i]);
    }
    return code;
}

int real_compare(const char *dir, const char *name, struct compare *compare)
{
    return real_write_fixtures(dir, name, NULL, compare);
}

int real_write_fixtures(const char *dir, const char *name, const char *out, struct compare *compare)
{
    char folder[PATH_BYTES / 2];
    int length = snprintf(folder, sizeof(folder), "%s/%s", dir, name);
    if (length < 0 || (size_t)length >= sizeof(folder))
        return MGLRU_EINVAL;
    const struct boots boots = {.folder = folder, .workload = name, .out = out, .compare = compare};
    return boots_visit(&boots);
}
