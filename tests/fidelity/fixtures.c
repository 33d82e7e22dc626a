/* SPDX-License-Identifier: MIT */
/* Cuts recordings down to fixtures. */
#include "fixtures.h"

#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>

#include "base/check.h"
#include "json.h"
#include "vector.h"

/* A list of names that ends with NULL. */
typedef const char *const *names_t;

/* Event kinds of a recording that fixtures keep, with the members that are kept. */
static const char *const boot_names[] = {"ev", "release", NULL};
static const char *const stream_names[] = {"ev", "fnv", "fnv_s", "fnv_h", NULL};
static const char *const sample_names[] = {"ev", "t", "now_ns", NULL};
static const char *const fatal_names[] = {"ev", "msg", NULL};
static const char *const round_names[] = {"ev", "v", NULL};
static const char *const dump_names[] = {"ev", "what", "lru_gen", NULL};
static const char *const knob_names[] = {"ev", "file", "write", "errno", "readback", NULL};
static const char *const command_names[] = {"ev",         "fmt",       "errno",     "min_before",
                                            "max_before", "min_after", "max_after", NULL};
static const char *const aging_names[] = {
    "ev", "phase", "i", "cmd", "errno", "min_before", "max_before", "min_after", "max_after", NULL};

static const struct {
    const char *kind;
    names_t names;
} kept[] = {
    {"boot", boot_names},     {"stream", stream_names}, {"stream2", stream_names},
    {"sample", sample_names}, {"fatal", fatal_names},   {"hotmiss_per_round", round_names},
    {"debugfs", dump_names},  {"knob", knob_names},     {"cmd", command_names},
    {"aging", aging_names},
};

/* A new object with some members of @from, shared. */
static json_object *pick(json_object *from, names_t names)
{
    json_object *out = json_object_new_object();
    for (; *names; names++) {
        json_object *value = NULL;
        if (json_object_object_get_ex(from, *names, &value))
            json_object_object_add(out, *names, json_object_get(value));
    }
    return out;
}

static json_object *packed_event(const char *name, uint64_t count, char *text)
{
    if (!text)
        return NULL;
    json_object *out = json_object_new_object();
    json_object_object_add(out, "ev", json_object_new_string("bits"));
    json_object_object_add(out, "name", json_object_new_string(name));
    json_object_object_add(out, "nbits", json_object_new_uint64(count));
    json_object_object_add(out, "packed", json_object_new_string(text));
    free(text);
    return out;
}

/* The miss vectors of a mode, each with the stream of its part. */
static bool add_vectors(json_object *events, const struct recording *recording,
                        const struct script *script)
{
    static const char *const names[][2] = {{"miss", "miss_file"}, {"miss_s", "miss_h"}};
    bool two = recording->scenario.family == FAMILY_TWO;
    for (size_t i = 0; i < recording->parts; i++) {
        const struct recording_part *part = &recording->part[i];
        const uint32_t *pages = i == 0 ? script->stream : script->second;
        if (!part->bits || !pages)
            continue;
        char *text = vector_pack(part->bits, pages, part->bit_count,
                                 script_object_pages(script, (unsigned)i));
        json_object *event = packed_event(names[two][i], part->bit_count, text);
        if (!event)
            return false;
        json_object_array_add(events, event);
    }
    return true;
}

static json_object *cut_events(json_object *events)
{
    json_object *out = json_object_new_array();
    for (size_t i = 0; i < json_object_array_length(events); i++) {
        json_object *event = json_object_array_get_idx(events, i);
        for (size_t k = 0; k < MGLRU_ARRAY_LEN(kept); k++)
            if (strcmp(kept[k].kind, json_text(event, "ev")) == 0)
                json_object_array_add(out, pick(event, kept[k].names));
    }
    return out;
}

static json_object *cut_summary(json_object *run)
{
    static const char *const names[] = {"cg", "misses", "hotmiss", NULL};
    json_object *cgs = json_path(run, "summary", "cgs", NULL);
    json_object *list = json_object_new_array();
    for (size_t i = 0; cgs && i < json_object_array_length(cgs); i++)
        json_object_array_add(list, pick(json_object_array_get_idx(cgs, i), names));
    json_object *out = json_object_new_object();
    json_object_object_add(out, "cgs", list);
    return out;
}

/* A run: the first repeat with its events, the others with their totals only. */
static json_object *cut_run(json_object *run)
{
    static const char *const names[] = {"mode", "rep", "ok", NULL};
    json_object *out = pick(run, names);
    json_object_object_add(out, "summary", cut_summary(run));
    bool first = json_number(run, "rep") == 0;
    json_object *events = json_path(run, "events", NULL);
    json_object_object_add(out, "events",
                           first && events ? cut_events(events) : json_object_new_array());
    return out;
}

static int save(json_object *root, const char *path)
{
    return json_object_to_file_ext(path, root, JSON_C_TO_STRING_PLAIN) == 0 ? 0 : MGLRU_EIO;
}

int fixture_write(const struct oracle_file *file, const char *path)
{
    static const char *const names[] = {"format", "scenario", "params", NULL};
    json_object *root = pick(file->root, names);
    json_object *list = json_object_new_array();
    json_object *runs = json_path(file->root, "runs", NULL);
    struct script script = {0};
    int code = 0;
    if (file->mode_count)
        code = script_init(&script, &file->scenario, &file->modes[0].clock, "0");
    size_t mode = 0;
    for (size_t i = 0; i < json_object_array_length(runs) && !code; i++) {
        json_object *run = cut_run(json_object_array_get_idx(runs, i));
        json_object_array_add(list, run);
        if (json_number(run, "rep") == 0 && mode < file->mode_count &&
            !add_vectors(json_path(run, "events", NULL), &file->modes[mode++], &script))
            code = MGLRU_ENOMEM;
    }
    json_object_object_add(root, "runs", list);
    if (!code)
        code = save(root, path);
    script_free(&script);
    json_object_put(root);
    return code;
}

static json_object *cut_real_run(json_object *event)
{
    static const char *const names[] = {"ev", "label", "max_kb", "lru", "ns", NULL};
    static const char *const stat[] = {"kernel", NULL};
    static const char *const trace[] = {"A_data", "demand_miss_events", NULL};
    json_object *out = pick(event, names);
    json_object_object_add(out, "stat", pick(json_path(event, "stat", NULL), stat));
    json_object_object_add(out, "trace", pick(json_path(event, "trace", NULL), trace));
    const char *start = strstr(json_text(event, "trace_stats"), "oldest event ts:");
    if (start) {
        int length = (int)strcspn(start, "\n");
        json_object_object_add(out, "trace_stats", json_object_new_string_len(start, length));
    }
    return out;
}

int fixture_write_boot(struct json_object *boot, const struct real_stream *limited,
                       uint64_t limited_kb, const char *path)
{
    static const char *const names[] = {"format", "workload", "kernel", "ra_kb", "folios", NULL};
    json_object *root = pick(boot, names);
    json_object *list = json_object_new_array();
    json_object *events = json_path(boot, "events", NULL);
    for (size_t i = 0; i < json_object_array_length(events); i++) {
        json_object *event = json_object_array_get_idx(events, i);
        if (strcmp(json_text(event, "ev"), "run") == 0)
            json_object_array_add(list, cut_real_run(event));
    }
    int code = 0;
    if (limited) {
        uint64_t page_count = 0;
        uint32_t *pages = real_pages(limited, &page_count);
        char *text =
            pages ? vector_pack(limited->misses, pages, limited->accesses, page_count) : NULL;
        json_object *event = packed_event("miss", limited->accesses, text);
        free(pages);
        code = event ? 0 : MGLRU_ENOMEM;
        if (event) {
            json_object_object_add(event, "max_kb", json_object_new_uint64(limited_kb));
            json_object_array_add(list, event);
        }
    }
    json_object_object_add(root, "events", list);
    if (!code)
        code = save(root, path);
    json_object_put(root);
    return code;
}
