/* SPDX-License-Identifier: MIT */
/*
 * Results as JSON, the twin of the table. Keys stand in a fixed order and numbers in a fixed form,
 * so that the same result gives the same bytes. Names that are not UTF-8 are shown with U+FFFD for
 * each bad byte, since JSON is UTF-8.
 *
 * json-c frees a tree with its root; a failed allocation shows as a NULL child, which ends the run
 * with MGLRU_ENOMEM before anything is written.
 */
#include "report/report.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <mglru/error.h>

#ifdef MGLRU_HAVE_JSON_C
#include <json-c/json.h>

#include "base/utf8.h"

/* A tree under construction. */
struct writer {
    bool failed; /* out of memory */
};

static void put(struct writer *writer, struct json_object *object, const char *key,
                struct json_object *value)
{
    if (value == NULL || object == NULL || json_object_object_add(object, key, value) != 0) {
        json_object_put(value);
        writer->failed = true;
    }
}

static void append(struct writer *writer, struct json_object *array, struct json_object *value)
{
    if (value == NULL || array == NULL || json_object_array_add(array, value) != 0) {
        json_object_put(value);
        writer->failed = true;
    }
}

static void put_count(struct writer *writer, struct json_object *object, const char *key,
                      uint64_t count)
{
    put(writer, object, key, json_object_new_uint64(count));
}

/* @text with bad bytes replaced; NULL: out of memory. The caller frees it. */
static char *as_utf8(const char *text)
{
    const unsigned char *from = (const unsigned char *)text;
    char *clean = malloc(strlen(text) * 3 + 1);
    char *to = clean;
    while (clean != NULL && *from != '\0') {
        size_t length = utf8_length(from);
        if (length == 0) {
            memcpy(to, "\xef\xbf\xbd", 3);
            to += 3;
            from++;
        } else {
            memcpy(to, from, length);
            to += length;
            from += length;
        }
    }
    if (clean != NULL)
        *to = '\0';
    return clean;
}

/* json-c has no object for null: a NULL child is written as null and is no failure here. */
static void put_text(struct writer *writer, struct json_object *object, const char *key,
                     const char *text)
{
    if (text == NULL) {
        if (object == NULL || json_object_object_add(object, key, NULL) != 0)
            writer->failed = true;
        return;
    }
    char *clean = as_utf8(text);
    put(writer, object, key, clean != NULL ? json_object_new_string(clean) : NULL);
    free(clean);
}

/* null when there is nothing to divide by. */
static void put_ratio(struct writer *writer, struct json_object *object, const char *key,
                      uint64_t part, uint64_t whole)
{
    if (whole == 0) {
        put_text(writer, object, key, NULL);
        return;
    }
    double ratio = (double)part / (double)whole;
    char text[32];
    snprintf(text, sizeof(text), "%.6f", ratio);
    put(writer, object, key, json_object_new_double_s(ratio, text));
}

static void put_figures(struct writer *writer, struct json_object *object,
                        const struct replay_figures *figures)
{
    put_count(writer, object, "accesses", figures->accesses);
    put_count(writer, object, "hits", figures->hits);
    put_count(writer, object, "misses", figures->misses);
    put_count(writer, object, "pages_read", figures->pages_read);
    put_count(writer, object, "first_touches", figures->first_touches);
    put_count(writer, object, "readahead_pages", figures->readahead_pages);
    put_count(writer, object, "readahead_wasted", figures->readahead_wasted);
    put_count(writer, object, "pages_written", figures->pages_written);
    put_count(writer, object, "write_misses", figures->write_misses);
    put_ratio(writer, object, "miss_ratio", figures->misses, figures->accesses);
    put_count(writer, object, "aged", figures->aged);
    struct json_object *stat = json_object_new_object();
    put(writer, object, "stat", stat);
    for (size_t i = 0; i < figures->stats && !writer->failed; i++)
        put_count(writer, stat, figures->stat[i].name, figures->stat[i].value);
}

static struct json_object *memcg_object(struct writer *writer, const struct replay_memcg *memcg)
{
    struct json_object *object = json_object_new_object();
    if (object == NULL)
        return NULL;
    put_figures(writer, object, &memcg->figures);
    put_count(writer, object, "oom_events", memcg->oom_events);
    put_count(writer, object, "skipped", memcg->skipped);
    return object;
}

static struct json_object *series_array(struct writer *writer, const struct replay_run *run)
{
    struct json_object *array = json_object_new_array();
    for (size_t i = 0; i < run->series_count && !writer->failed; i++) {
        struct json_object *sample = json_object_new_object();
        append(writer, array, sample);
        if (writer->failed)
            break;
        put_count(writer, sample, "accesses", run->series[i].accesses);
        put_count(writer, sample, "hits", run->series[i].hits);
        put_count(writer, sample, "misses", run->series[i].misses);
        put_count(writer, sample, "pages_read", run->series[i].pages_read);
        put_count(writer, sample, "resident_pages", run->series[i].resident_pages);
    }
    return array;
}

static struct json_object *explain_row(struct writer *writer, const struct replay_explain_row *row)
{
    struct json_object *object = json_object_new_object();
    if (object == NULL)
        return NULL;
    put_text(writer, object, "rule", row->rule);
    put_text(writer, object, "type", row->type == 0 ? "anon" : "file");
    put_count(writer, object, "age", row->age);
    put_count(writer, object, "tier", row->tier);
    put_count(writer, object, "evictions", row->evictions);
    put_count(writer, object, "refaults", row->refaults);
    put_count(writer, object, "recent", row->recent);
    put_count(writer, object, "distance_pages", row->distance_pages);
    return object;
}

static struct json_object *explain_object(struct writer *writer, const struct replay_run *run)
{
    struct json_object *object = json_object_new_object();
    if (object == NULL)
        return NULL;
    put_text(writer, object, "text", run->explain_text);
    struct json_object *rows = json_object_new_array();
    put(writer, object, "rows", rows);
    for (size_t i = 0; i < run->explain_count && !writer->failed; i++)
        append(writer, rows, explain_row(writer, &run->explain[i]));
    return object;
}

static struct json_object *run_object(struct writer *writer, const struct replay_run *run)
{
    struct json_object *object = json_object_new_object();
    if (object == NULL)
        return NULL;
    put_count(writer, object, "index", run->index);
    put_text(writer, object, "policy", run->policy);
    put_text(writer, object, "model", run->model);
    put_text(writer, object, "aging", run->aging);
    put_count(writer, object, "memory_bytes", run->memory_bytes);
    put_figures(writer, object, &run->figures);
    put(writer, object, "oom", json_object_new_boolean(run->oom));
    put_count(writer, object, "skipped", run->skipped);
    put_text(writer, object, "stat_flush", run->stat_flush);
    struct json_object *memcgs = json_object_new_object();
    put(writer, object, "memcg", memcgs);
    for (size_t i = 0; i < run->memcg_count && !writer->failed; i++) {
        char *path = as_utf8(run->memcgs[i].path);
        if (path != NULL)
            put(writer, memcgs, path, memcg_object(writer, &run->memcgs[i]));
        else
            writer->failed = true;
        free(path);
    }
    if (run->series_count > 0)
        put(writer, object, "series", series_array(writer, run));
    if (run->explain_count > 0 || run->explain_text != NULL)
        put(writer, object, "explain", explain_object(writer, run));
    return object;
}

static struct json_object *trace_object(struct writer *writer,
                                        const struct replay_trace_info *trace)
{
    struct json_object *object = json_object_new_object();
    if (object == NULL)
        return NULL;
    put_text(writer, object, "path", trace->path);
    put_text(writer, object, "format", trace->format);
    put_count(writer, object, "accesses", trace->accesses);
    put_count(writer, object, "requests", trace->requests);
    put_count(writer, object, "distinct_pages", trace->distinct_pages);
    put_count(writer, object, "page_bytes", trace->page_bytes);
    put_count(writer, object, "memcgs", trace->memcgs);
    put_count(writer, object, "objects", trace->objects);
    if (trace->recorded.events_lost > 0)
        put_count(writer, object, "events_lost", trace->recorded.events_lost);
    return object;
}

/* Numbers, booleans, null, and texts with their escapes. */
static void print_scalar(struct report_out *out, struct json_object *value)
{
    report_printf(out, "%s",
                  json_object_to_json_string_ext(value, JSON_C_TO_STRING_PLAIN |
                                                            JSON_C_TO_STRING_NOSLASHESCAPE));
}

static void print_key(struct report_out *out, const char *key)
{
    struct json_object *text = json_object_new_string(key);
    if (text != NULL)
        print_scalar(out, text);
    else if (out->error_errno == 0)
        out->error_errno = ENOMEM;
    json_object_put(text);
    report_printf(out, ": ");
}

/* One value on lines indented by two blanks a level; json-c's own layout differs by version. The
 * recursion is as deep as the tree built above: five levels. */
static void print_value(struct report_out *out, struct json_object *value, int depth)
{
    size_t count = 0;
    if (json_object_is_type(value, json_type_object)) {
        struct json_object_iterator at = json_object_iter_begin(value);
        struct json_object_iterator end = json_object_iter_end(value);
        report_printf(out, "{");
        for (; !json_object_iter_equal(&at, &end); json_object_iter_next(&at)) {
            report_printf(out, "%s\n%*s", count++ > 0 ? "," : "", 2 * depth + 2, "");
            print_key(out, json_object_iter_peek_name(&at));
            print_value(out, json_object_iter_peek_value(&at), depth + 1);
        }
    } else if (json_object_is_type(value, json_type_array)) {
        report_printf(out, "[");
        for (; count < json_object_array_length(value); count++) {
            report_printf(out, "%s\n%*s", count > 0 ? "," : "", 2 * depth + 2, "");
            print_value(out, json_object_array_get_idx(value, count), depth + 1);
        }
    } else {
        print_scalar(out, value);
        return;
    }
    if (count > 0)
        report_printf(out, "\n%*s", 2 * depth, "");
    report_printf(out, json_object_is_type(value, json_type_object) ? "}" : "]");
}

static void print_document(struct report_out *out, struct json_object *root)
{
    print_value(out, root, 0);
    report_printf(out, "\n");
}

int report_json(struct report_out *out, const struct replay_result *result,
                struct report_error *error)
{
    struct writer writer = {0};
    struct json_object *root = json_object_new_object();
    put_text(&writer, root, "tool", "mglru");
    put_text(&writer, root, "version", MGLRU_VERSION);
    put(&writer, root, "trace", trace_object(&writer, &result->trace));
    struct json_object *runs = json_object_new_array();
    put(&writer, root, "runs", runs);
    for (size_t i = 0; i < result->run_count && !writer.failed; i++)
        append(&writer, runs, run_object(&writer, &result->runs[i]));
    if (writer.failed)
        snprintf(error->text, sizeof(error->text), "out of memory while writing JSON");
    else
        print_document(out, root);
    json_object_put(root);
    return writer.failed ? MGLRU_ENOMEM : MGLRU_OK;
}

#else

int report_json(struct report_out *out, const struct replay_result *result,
                struct report_error *error)
{
    snprintf(error->text, sizeof(error->text),
             "--json: this program was built without json-c (package libjson-c-dev)");
    return MGLRU_ENOTSUP;
}

#endif
