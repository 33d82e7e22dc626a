/* SPDX-License-Identifier: MIT */
/* Recordings of the kernel: the JSON that the recording harness wrote. */
#include "recording.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>

#include "base/check.h"
#include "json.h"
#include "vector.h"

static const struct {
    const char *mode;
    const char *enabled;
} modes[] = {
    {"mglru", "0x0007"},
    {"classic", "0x0000"},
    {"mglru_nowalk", "0x0001"},
    {"mglru_nononleaf", "0x0003"},
};

/* Repeats of a mode in one file; the recordings hold three. */
#define REPEATS_MAX 16

const char *recording_mode_enabled(const char *mode)
{
    for (size_t i = 0; i < MGLRU_ARRAY_LEN(modes); i++)
        if (strcmp(modes[i].mode, mode) == 0)
            return modes[i].enabled;
    return NULL;
}

void recording_free(struct recording *recording)
{
    for (size_t i = 0; i < RECORDING_PARTS; i++)
        free(recording->part[i].bits);
    free(recording->hot_misses);
}

void recording_name_parts(struct recording *recording)
{
    struct recording_part *part = recording->part;
    recording->parts = 2;
    recording->figures = 3;
    switch (recording->scenario.family) {
    case FAMILY_MIXED:
        part[0].what = "swap-ins";
        part[1].what = "file";
        part[2].what = "swap-ins + file";
        return;
    case FAMILY_ROUND:
        part[0].what = "hot";
        part[1].what = "stream";
        part[2].what = "all";
        return;
    case FAMILY_TWO:
        part[0].what = "/p/s";
        part[1].what = "/p/h";
        recording->figures = 2;
        return;
    default:
        part[0].what = "misses";
        recording->parts = 1;
        recording->figures = 1;
    }
}

static int compare_u64(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a;
    uint64_t y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static void part_set(struct recording_part *part, uint64_t *values, size_t count)
{
    qsort(values, count, sizeof(*values), compare_u64);
    part->least = values[0];
    part->most = values[count - 1];
    part->misses = count % 2 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}

/* Misses of each figure in the summary of one repeat. */
static void summary_misses(const struct recording *recording, json_object *run,
                           uint64_t values[RECORDING_PARTS])
{
    json_object *cgs = json_path(run, "summary", "cgs", NULL);
    json_object *first = json_object_array_get_idx(cgs, 0);
    uint64_t misses = json_number(first, "misses");
    uint64_t hot = json_number(first, "hotmiss");
    values[0] = misses;
    switch (recording->scenario.family) {
    case FAMILY_MIXED: /* misses: swap-ins; hotmiss: reads that did I/O */
        values[1] = hot;
        values[2] = misses + hot;
        break;
    case FAMILY_ROUND: /* misses: all I/O; hotmiss: of the hot pages */
        values[0] = hot;
        values[1] = misses - hot;
        values[2] = misses;
        break;
    case FAMILY_TWO:
        values[1] = json_number(json_object_array_get_idx(cgs, 1), "misses");
        break;
    default:
        break;
    }
}

static void load_totals(struct recording *recording, json_object *runs)
{
    uint64_t values[RECORDING_PARTS][REPEATS_MAX];
    for (size_t i = 0; i < json_object_array_length(runs); i++) {
        json_object *run = json_object_array_get_idx(runs, i);
        if (strcmp(json_text(run, "mode"), recording->mode) != 0)
            continue;
        if (!json_path(run, "summary", "cgs", NULL) || recording->repeats == REPEATS_MAX)
            continue;
        uint64_t one[RECORDING_PARTS] = {0};
        summary_misses(recording, run, one);
        for (size_t k = 0; k < RECORDING_PARTS; k++)
            values[k][recording->repeats] = one[k];
        recording->repeats++;
    }
    for (size_t k = 0; k < recording->figures && recording->repeats; k++)
        part_set(&recording->part[k], values[k], recording->repeats);
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* A fixture's vector: packed in the context of the part's page stream. */
static bool load_packed(struct recording_part *part, json_object *event,
                        const struct recording *recording)
{
    struct script script;
    size_t k = (size_t)(part - recording->part);
    part->bit_count = json_number(event, "nbits");
    if (script_init(&script, &recording->scenario, &recording->clock, "0"))
        return false;
    const uint32_t *pages = k == 0 ? script.stream : script.second;
    free(part->bits);
    part->bits = NULL;
    if (pages && part->bit_count <= script_part_accesses(&script, k))
        part->bits = vector_unpack(json_text(event, "packed"), pages, part->bit_count,
                                   script_object_pages(&script, (unsigned)k));
    script_free(&script);
    return part->bits != NULL;
}

/* Decodes a bits event into @part. False: the text is not hex or too short. */
static bool load_bits(struct recording_part *part, json_object *event)
{
    const char *hex = json_text(event, "hex");
    uint64_t count = json_number(event, "nbits");
    size_t bytes = (size_t)((count + 7) / 8);
    if (strlen(hex) < 2 * bytes)
        return false;
    free(part->bits);
    part->bits = calloc(bytes + 1, 1);
    if (!part->bits)
        return false;
    for (size_t i = 0; i < bytes; i++) {
        int high = hex_digit(hex[2 * i]);
        int low = hex_digit(hex[2 * i + 1]);
        if (high < 0 || low < 0)
            return false;
        part->bits[i] = (uint8_t)(high << 4 | low);
    }
    part->bit_count = count;
    return true;
}

static bool load_bits_event(struct recording *recording, json_object *event)
{
    static const struct {
        const char *name;
        size_t part;
    } names[] = {{"miss", 0}, {"miss_s", 0}, {"miss_file", 1}, {"miss_h", 1}};
    for (size_t i = 0; i < MGLRU_ARRAY_LEN(names); i++)
        if (strcmp(names[i].name, json_text(event, "name")) == 0)
            return json_path(event, "packed", NULL)
                       ? load_packed(&recording->part[names[i].part], event, recording)
                       : load_bits(&recording->part[names[i].part], event);
    return true;
}

static bool load_rounds(struct recording *recording, json_object *event)
{
    json_object *list = json_path(event, "v", NULL);
    recording->rounds = list ? json_object_array_length(list) : 0;
    recording->hot_misses = calloc(recording->rounds + 1, sizeof(*recording->hot_misses));
    if (!recording->hot_misses)
        return false;
    for (size_t i = 0; i < recording->rounds; i++)
        recording->hot_misses[i] =
            (uint32_t)json_object_get_int64(json_object_array_get_idx(list, i));
    return true;
}

static bool load_sample(struct recording *recording, json_object *event)
{
    struct scenario_clock *clock = &recording->clock;
    if (clock->samples == SCENARIO_SAMPLES_MAX)
        return false;
    clock->t[clock->samples] = json_number(event, "t");
    clock->now_ns[clock->samples++] = json_number(event, "now_ns");
    return true;
}

static void load_hashes(struct recording *recording, json_object *event)
{
    bool two = recording->scenario.family == FAMILY_TWO;
    recording->streams = true;
    if (strcmp(json_text(event, "ev"), "stream2") == 0) {
        recording->second_fnv = strtoull(json_text(event, "fnv"), NULL, 16);
        return;
    }
    recording->stream_fnv = strtoull(json_text(event, two ? "fnv_s" : "fnv"), NULL, 16);
    if (two)
        recording->second_fnv = strtoull(json_text(event, "fnv_h"), NULL, 16);
}

static bool load_event(struct recording *recording, json_object *event)
{
    const char *kind = json_text(event, "ev");
    if (strcmp(kind, "sample") == 0)
        return load_sample(recording, event);
    if (strcmp(kind, "bits") == 0)
        return load_bits_event(recording, event);
    if (strcmp(kind, "hotmiss_per_round") == 0)
        return load_rounds(recording, event);
    if (strcmp(kind, "stream") == 0 || strcmp(kind, "stream2") == 0)
        load_hashes(recording, event);
    if (strcmp(kind, "fatal") == 0)
        recording->oom = strstr(json_text(event, "msg"), "child died status 9") != NULL;
    return true;
}

static uint64_t popcount(const uint8_t *bits, uint64_t count)
{
    uint64_t sum = 0;
    for (uint64_t i = 0; i < (count + 7) / 8; i++)
        sum += (unsigned)__builtin_popcount(bits[i]);
    return sum;
}

/* The first repeat is the one whose vectors are kept; its total must be their popcount. */
static bool identities_hold(const struct recording *recording, json_object *run)
{
    uint64_t values[RECORDING_PARTS] = {0};
    summary_misses(recording, run, values);
    for (size_t k = 0; k < recording->parts; k++) {
        const struct recording_part *part = &recording->part[k];
        if (part->bits && popcount(part->bits, part->bit_count) != values[k])
            return false;
    }
    uint64_t sum = 0;
    for (size_t i = 0; i < recording->rounds; i++)
        sum += recording->hot_misses[i];
    return !recording->hot_misses || sum == values[0];
}

static const char *load_mode(struct recording *recording, json_object *runs, json_object *run)
{
    recording_name_parts(recording);
    recording->events = json_path(run, "events", NULL);
    if (!recording->events || !json_path(run, "summary", "cgs", NULL))
        return "a run without events or summary";
    for (size_t i = 0; i < json_object_array_length(recording->events); i++)
        if (!load_event(recording, json_object_array_get_idx(recording->events, i)))
            return "an event that cannot be read";
    load_totals(recording, runs);
    if (!recording_mode_enabled(recording->mode))
        return "an unknown mode";
    return identities_hold(recording, run) ? NULL : "miss vectors that do not add up to the totals";
}

static bool load_params(struct scenario *scenario, json_object *params)
{
    scenario_init(scenario);
    struct json_object_iterator at = json_object_iter_begin(params);
    struct json_object_iterator end = json_object_iter_end(params);
    for (; !json_object_iter_equal(&at, &end); json_object_iter_next(&at)) {
        const char *value = json_object_get_string(json_object_iter_peek_value(&at));
        if (!scenario_set(scenario, json_object_iter_peek_name(&at), value))
            return false;
    }
    return scenario->family != 0;
}

static const char *load_modes(struct oracle_file *out)
{
    json_object *runs = json_path(out->root, "runs", NULL);
    size_t count = json_object_array_length(runs);
    out->modes = calloc(count + 1, sizeof(*out->modes));
    if (!out->modes)
        return "too many runs for memory";
    if (out->scenario.family == FAMILY_AGE || out->scenario.family == FAMILY_CMDS)
        return NULL;
    for (size_t i = 0; i < count; i++) {
        json_object *run = json_object_array_get_idx(runs, i);
        if (json_number(run, "rep") != 0)
            continue;
        struct recording *recording = &out->modes[out->mode_count++];
        recording->scenario = out->scenario;
        memcpy(recording->kernel, out->kernel, sizeof(out->kernel));
        memcpy(recording->name, out->name, sizeof(out->name));
        snprintf(recording->mode, sizeof(recording->mode), "%s", json_text(run, "mode"));
        const char *wrong = load_mode(recording, runs, run);
        if (wrong)
            return wrong;
    }
    return NULL;
}

/* The kernel by the release in the first boot event. */
static bool load_kernel(struct oracle_file *out)
{
    json_object *runs = json_path(out->root, "runs", NULL);
    json_object *events = json_path(json_object_array_get_idx(runs, 0), "events", NULL);
    if (!events)
        return false;
    const char *release = json_text(json_object_array_get_idx(events, 0), "release");
    static const char *const kernels[] = {"6.12", "7.3"};
    for (size_t i = 0; i < MGLRU_ARRAY_LEN(kernels); i++) {
        size_t length = strlen(kernels[i]);
        if (strncmp(release, kernels[i], length) != 0 || release[length] != '.')
            continue;
        snprintf(out->kernel, sizeof(out->kernel), "%s", kernels[i]);
        return true;
    }
    return false;
}

static const char *load_all(const char *path, struct oracle_file *out)
{
    out->root = json_object_from_file(path);
    if (!out->root)
        return "no JSON";
    if (strcmp(json_text(out->root, "format"), "mglru-oracle-1") != 0)
        return "a format other than mglru-oracle-1";
    if (!json_object_is_type(json_path(out->root, "runs", NULL), json_type_array))
        return "no list of runs";
    const char *base = strrchr(path, '/');
    snprintf(out->name, sizeof(out->name), "%s", base ? base + 1 : path);
    char *ending = strrchr(out->name, '.');
    if (ending)
        *ending = '\0';
    if (!load_kernel(out))
        return "an unknown kernel release";
    if (!load_params(&out->scenario, json_path(out->root, "params", NULL)))
        return "an unknown parameter";
    return load_modes(out);
}

int oracle_load(const char *path, struct oracle_file *out, char *error)
{
    *out = (struct oracle_file){0};
    const char *wrong = load_all(path, out);
    if (!wrong)
        return 0;
    snprintf(error, ORACLE_ERROR_BYTES, "%s: %s; expected a recording of the harness", path, wrong);
    oracle_free(out);
    return MGLRU_EINVAL;
}

void oracle_free(struct oracle_file *file)
{
    for (size_t i = 0; i < file->mode_count; i++)
        recording_free(&file->modes[i]);
    free(file->modes);
    json_object_put(file->root);
    *file = (struct oracle_file){0};
}
