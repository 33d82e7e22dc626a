/* SPDX-License-Identifier: MIT */
/*
 * Reads results back from what report_json wrote.
 *
 * Idea: a cursor knows where it is in the file ("runs[3].memcg./a") and remembers the first thing
 * that is wrong; every later step does nothing. So each step is one line and the message names the
 * key. Names that a struct replay_run does not own (policy, counters) go to loaded->strings.
 */
#include "report/report.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <mglru/error.h>

/* Bound of the input: a result of 10,000 runs is about 20 MB, so more is a mistake. */
#define FILE_BYTES_MAX (UINT64_C(1) << 30)

void report_loaded_free(struct report_loaded *loaded)
{
    replay_result_free(&loaded->result);
    for (size_t i = 0; i < loaded->string_count; i++)
        free(loaded->strings[i]);
    free(loaded->strings);
    *loaded = (struct report_loaded){0};
}

#ifdef MGLRU_HAVE_JSON_C
#include <json-c/json.h>

#define WHERE_BYTES 256

struct cursor {
    const char *path; /* of the file, for messages */
    struct report_loaded *loaded;
    struct report_error *error;
    char where[WHERE_BYTES]; /* keys from the root, e.g. "runs[3]." */
    int code;
};

static void refuse(struct cursor *cursor, const char *key, const char *what)
{
    if (cursor->code != MGLRU_OK)
        return;
    cursor->code = MGLRU_EINVAL;
    snprintf(cursor->error->text, sizeof(cursor->error->text), "%s: %s%s: %s", cursor->path,
             cursor->where, key, what);
}

static void run_out(struct cursor *cursor)
{
    if (cursor->code != MGLRU_OK)
        return;
    cursor->code = MGLRU_ENOMEM;
    snprintf(cursor->error->text, sizeof(cursor->error->text), "%s: out of memory", cursor->path);
}

/* The member @key of @object when it has type @type; NULL with an error else. */
static struct json_object *member(struct cursor *cursor, struct json_object *object,
                                  const char *key, enum json_type type)
{
    struct json_object *value = NULL;
    if (cursor->code != MGLRU_OK)
        return NULL;
    if (!json_object_object_get_ex(object, key, &value)) {
        refuse(cursor, key, "missing");
        return NULL;
    }
    if (!json_object_is_type(value, type)) {
        char text[64];
        snprintf(text, sizeof(text), "expected %s", json_type_to_name(type));
        refuse(cursor, key, text);
        return NULL;
    }
    return value;
}

/* The integer @key of @object, from 0 to @most. */
static uint64_t count_of(struct cursor *cursor, struct json_object *object, const char *key,
                         uint64_t most)
{
    struct json_object *value = member(cursor, object, key, json_type_int);
    if (value == NULL)
        return 0;
    errno = 0;
    uint64_t count = json_object_get_uint64(value);
    if (json_object_get_int64(value) < 0 || errno == ERANGE || count > most) {
        refuse(cursor, key, "number out of range");
        return 0;
    }
    return count;
}

/* A copy of @text that lives as long as loaded; the same text gives the same copy. */
static const char *intern(struct cursor *cursor, const char *text)
{
    struct report_loaded *loaded = cursor->loaded;
    for (size_t i = 0; i < loaded->string_count; i++)
        if (strcmp(loaded->strings[i], text) == 0)
            return loaded->strings[i];
    if (loaded->string_count == loaded->string_capacity) {
        size_t capacity = loaded->string_capacity == 0 ? 64 : loaded->string_capacity * 2;
        char **strings = realloc(loaded->strings, capacity * sizeof(*strings));
        if (strings == NULL) {
            run_out(cursor);
            return NULL;
        }
        loaded->strings = strings;
        loaded->string_capacity = capacity;
    }
    char *copy = strdup(text);
    if (copy == NULL)
        run_out(cursor);
    else
        loaded->strings[loaded->string_count++] = copy;
    return copy;
}

/* True when @key is there and null. */
static bool is_null(struct json_object *object, const char *key)
{
    struct json_object *value = NULL;
    return json_object_object_get_ex(object, key, &value) && value == NULL;
}

/* The text @key; NULL when it is null. Interned. */
static const char *text_of(struct cursor *cursor, struct json_object *object, const char *key)
{
    if (is_null(object, key))
        return NULL;
    struct json_object *value = member(cursor, object, key, json_type_string);
    return value != NULL ? intern(cursor, json_object_get_string(value)) : NULL;
}

/* The same as memory of its own, freed with the result. */
static char *own_text_of(struct cursor *cursor, struct json_object *object, const char *key)
{
    if (is_null(object, key))
        return NULL;
    struct json_object *value = member(cursor, object, key, json_type_string);
    char *copy = value != NULL ? strdup(json_object_get_string(value)) : NULL;
    if (value != NULL && copy == NULL)
        run_out(cursor);
    return copy;
}

/* calloc with at least one element; NULL with an error when memory runs out. */
static void *reserve(struct cursor *cursor, size_t count, size_t bytes)
{
    void *memory = calloc(count > 0 ? count : 1, bytes);
    if (memory == NULL)
        run_out(cursor);
    return memory;
}

/* Enters a key, to be named in messages until leave(). Returns the length before. */
static size_t enter(struct cursor *cursor, const char *key, size_t index, bool in_array)
{
    size_t length = strlen(cursor->where);
    if (in_array)
        snprintf(cursor->where + length, WHERE_BYTES - length, "%s[%zu].", key, index);
    else
        snprintf(cursor->where + length, WHERE_BYTES - length, "%s.", key);
    return length;
}

static void leave(struct cursor *cursor, size_t length)
{
    cursor->where[length] = '\0';
}

static void read_figures(struct cursor *cursor, struct json_object *object,
                         struct replay_figures *figures)
{
    figures->accesses = count_of(cursor, object, "accesses", UINT64_MAX);
    figures->hits = count_of(cursor, object, "hits", UINT64_MAX);
    figures->misses = count_of(cursor, object, "misses", UINT64_MAX);
    figures->pages_read = count_of(cursor, object, "pages_read", UINT64_MAX);
    figures->first_touches = count_of(cursor, object, "first_touches", UINT64_MAX);
    figures->readahead_pages = count_of(cursor, object, "readahead_pages", UINT64_MAX);
    figures->readahead_wasted = count_of(cursor, object, "readahead_wasted", UINT64_MAX);
    figures->pages_written = count_of(cursor, object, "pages_written", UINT64_MAX);
    figures->write_misses = count_of(cursor, object, "write_misses", UINT64_MAX);
    figures->aged = count_of(cursor, object, "aged", UINT64_MAX);
    struct json_object *stat = member(cursor, object, "stat", json_type_object);
    if (stat == NULL)
        return;
    size_t count = (size_t)json_object_object_length(stat);
    figures->stat = reserve(cursor, count, sizeof(*figures->stat));
    size_t outside = enter(cursor, "stat", 0, false);
    struct json_object_iterator at = json_object_iter_begin(stat);
    struct json_object_iterator end = json_object_iter_end(stat);
    for (; cursor->code == MGLRU_OK && !json_object_iter_equal(&at, &end);
         json_object_iter_next(&at)) {
        const char *name = json_object_iter_peek_name(&at);
        struct replay_stat *item = &figures->stat[figures->stats++];
        item->name = intern(cursor, name);
        item->value = count_of(cursor, stat, name, UINT64_MAX);
    }
    leave(cursor, outside);
}

static void read_memcg(struct cursor *cursor, struct json_object *object, const char *path,
                       struct replay_memcg *memcg)
{
    memcg->path = strdup(path);
    if (memcg->path == NULL)
        run_out(cursor);
    read_figures(cursor, object, &memcg->figures);
    memcg->oom_events = count_of(cursor, object, "oom_events", UINT64_MAX);
    memcg->skipped = count_of(cursor, object, "skipped", UINT64_MAX);
}

static void read_memcgs(struct cursor *cursor, struct json_object *object, struct replay_run *run)
{
    struct json_object *memcgs = member(cursor, object, "memcg", json_type_object);
    if (memcgs == NULL)
        return;
    run->memcgs = reserve(cursor, (size_t)json_object_object_length(memcgs), sizeof(*run->memcgs));
    size_t outside = enter(cursor, "memcg", 0, false);
    struct json_object_iterator at = json_object_iter_begin(memcgs);
    struct json_object_iterator end = json_object_iter_end(memcgs);
    for (; cursor->code == MGLRU_OK && !json_object_iter_equal(&at, &end);
         json_object_iter_next(&at)) {
        const char *path = json_object_iter_peek_name(&at);
        struct json_object *memcg = member(cursor, memcgs, path, json_type_object);
        size_t before = enter(cursor, path, 0, false);
        if (memcg != NULL)
            read_memcg(cursor, memcg, path, &run->memcgs[run->memcg_count++]);
        leave(cursor, before);
    }
    leave(cursor, outside);
}

/* The i-th element of @array when it is an object; NULL with an error else. */
static struct json_object *element(struct cursor *cursor, struct json_object *array, size_t i,
                                   const char *key)
{
    struct json_object *object = json_object_array_get_idx(array, i);
    if (cursor->code != MGLRU_OK)
        return NULL;
    if (!json_object_is_type(object, json_type_object)) {
        refuse(cursor, key, "expected objects in the array");
        return NULL;
    }
    return object;
}

static void read_series(struct cursor *cursor, struct json_object *object, struct replay_run *run)
{
    struct json_object *array = NULL;
    if (!json_object_object_get_ex(object, "series", &array))
        return;
    array = member(cursor, object, "series", json_type_array);
    size_t count = array != NULL ? json_object_array_length(array) : 0;
    run->series = reserve(cursor, count, sizeof(*run->series));
    for (size_t i = 0; i < count && cursor->code == MGLRU_OK; i++) {
        struct json_object *from = element(cursor, array, i, "series");
        if (from == NULL)
            return;
        size_t outside = enter(cursor, "series", i, true);
        struct replay_sample *sample = &run->series[run->series_count++];
        sample->accesses = count_of(cursor, from, "accesses", UINT64_MAX);
        sample->hits = count_of(cursor, from, "hits", UINT64_MAX);
        sample->misses = count_of(cursor, from, "misses", UINT64_MAX);
        sample->pages_read = count_of(cursor, from, "pages_read", UINT64_MAX);
        sample->resident_pages = count_of(cursor, from, "resident_pages", UINT64_MAX);
        leave(cursor, outside);
    }
}

static void read_explain_row(struct cursor *cursor, struct json_object *from,
                             struct replay_explain_row *row)
{
    const char *type = text_of(cursor, from, "type");
    row->rule = text_of(cursor, from, "rule");
    if (row->rule == NULL)
        refuse(cursor, "rule", "expected string");
    if (type == NULL || (strcmp(type, "anon") != 0 && strcmp(type, "file") != 0))
        refuse(cursor, "type", "expected \"anon\" or \"file\"");
    else
        row->type = strcmp(type, "file") == 0;
    row->age = (uint8_t)count_of(cursor, from, "age", UINT8_MAX);
    row->tier = (uint8_t)count_of(cursor, from, "tier", UINT8_MAX);
    row->evictions = count_of(cursor, from, "evictions", UINT64_MAX);
    row->refaults = count_of(cursor, from, "refaults", UINT64_MAX);
    row->recent = count_of(cursor, from, "recent", UINT64_MAX);
    row->distance_pages = count_of(cursor, from, "distance_pages", UINT64_MAX);
}

static void read_explain(struct cursor *cursor, struct json_object *object, struct replay_run *run)
{
    struct json_object *explain = NULL;
    if (!json_object_object_get_ex(object, "explain", &explain))
        return;
    explain = member(cursor, object, "explain", json_type_object);
    if (explain == NULL)
        return;
    run->explain_text = own_text_of(cursor, explain, "text");
    struct json_object *rows = member(cursor, explain, "rows", json_type_array);
    size_t count = rows != NULL ? json_object_array_length(rows) : 0;
    run->explain = reserve(cursor, count, sizeof(*run->explain));
    for (size_t i = 0; i < count && cursor->code == MGLRU_OK; i++) {
        struct json_object *from = element(cursor, rows, i, "rows");
        if (from == NULL)
            return;
        size_t outside = enter(cursor, "explain.rows", i, true);
        read_explain_row(cursor, from, &run->explain[run->explain_count++]);
        leave(cursor, outside);
    }
}

static void read_run(struct cursor *cursor, struct json_object *object, struct replay_run *run)
{
    run->index = (uint32_t)count_of(cursor, object, "index", UINT32_MAX);
    run->policy = text_of(cursor, object, "policy");
    if (run->policy == NULL)
        refuse(cursor, "policy", "expected string");
    run->model = text_of(cursor, object, "model");
    run->aging = text_of(cursor, object, "aging");
    run->memory_bytes = count_of(cursor, object, "memory_bytes", UINT64_MAX);
    read_figures(cursor, object, &run->figures);
    struct json_object *oom = member(cursor, object, "oom", json_type_boolean);
    run->oom = oom != NULL && json_object_get_boolean(oom);
    run->skipped = count_of(cursor, object, "skipped", UINT64_MAX);
    run->stat_flush = text_of(cursor, object, "stat_flush");
    read_memcgs(cursor, object, run);
    read_series(cursor, object, run);
    read_explain(cursor, object, run);
}

static void read_trace(struct cursor *cursor, struct json_object *root,
                       struct replay_trace_info *trace)
{
    struct json_object *object = member(cursor, root, "trace", json_type_object);
    if (object == NULL)
        return;
    size_t outside = enter(cursor, "trace", 0, false);
    trace->path = own_text_of(cursor, object, "path");
    trace->format = text_of(cursor, object, "format");
    trace->accesses = count_of(cursor, object, "accesses", UINT64_MAX);
    trace->requests = count_of(cursor, object, "requests", UINT64_MAX);
    trace->distinct_pages = count_of(cursor, object, "distinct_pages", UINT64_MAX);
    trace->page_bytes = (uint32_t)count_of(cursor, object, "page_bytes", UINT32_MAX);
    trace->memcgs = (uint32_t)count_of(cursor, object, "memcgs", UINT32_MAX);
    trace->objects = (uint32_t)count_of(cursor, object, "objects", UINT32_MAX);
    if (json_object_object_get_ex(object, "events_lost", NULL))
        trace->recorded.events_lost = count_of(cursor, object, "events_lost", UINT64_MAX);
    leave(cursor, outside);
}

static void read_root(struct cursor *cursor, struct json_object *root)
{
    struct replay_result *result = &cursor->loaded->result;
    if (!json_object_is_type(root, json_type_object)) {
        refuse(cursor, "top level", "expected the JSON object that mglru replay writes");
        return;
    }
    const char *tool = text_of(cursor, root, "tool");
    if (tool == NULL || strcmp(tool, "mglru") != 0)
        refuse(cursor, "tool", "expected \"mglru\"");
    read_trace(cursor, root, &result->trace);
    struct json_object *runs = member(cursor, root, "runs", json_type_array);
    size_t count = runs != NULL ? json_object_array_length(runs) : 0;
    result->runs = reserve(cursor, count, sizeof(*result->runs));
    for (size_t i = 0; i < count && cursor->code == MGLRU_OK; i++) {
        struct json_object *from = element(cursor, runs, i, "runs");
        if (from == NULL)
            return;
        size_t outside = enter(cursor, "runs", i, true);
        read_run(cursor, from, &result->runs[result->run_count++]);
        leave(cursor, outside);
    }
}

/* The whole input as text with its length; NULL with an error else. */
static char *read_input(struct cursor *cursor, FILE *file, size_t *bytes)
{
    char *text = NULL;
    size_t capacity = 0;
    *bytes = 0;
    do {
        if (*bytes == capacity) {
            capacity = capacity == 0 ? 65536 : capacity * 2;
            char *larger = capacity <= FILE_BYTES_MAX ? realloc(text, capacity) : NULL;
            if (larger == NULL) {
                free(text);
                run_out(cursor);
                return NULL;
            }
            text = larger;
        }
        *bytes += fread(text + *bytes, 1, capacity - *bytes, file);
    } while (!feof(file) && !ferror(file));
    if (ferror(file)) {
        cursor->code = errno == EISDIR ? MGLRU_EINVAL : MGLRU_EIO;
        snprintf(cursor->error->text, sizeof(cursor->error->text), "%s: cannot read: %s",
                 cursor->path, strerror(errno));
        free(text);
        return NULL;
    }
    return text;
}

static struct json_object *parse(struct cursor *cursor, const char *text, size_t bytes)
{
    struct json_tokener *tokener = json_tokener_new();
    if (tokener == NULL) {
        run_out(cursor);
        return NULL;
    }
    json_tokener_set_flags(tokener, JSON_TOKENER_STRICT);
    struct json_object *root = json_tokener_parse_ex(tokener, text, (int)bytes);
    if (json_tokener_get_error(tokener) != json_tokener_success || root == NULL) {
        cursor->code = MGLRU_EINVAL;
        enum json_tokener_error reason = json_tokener_get_error(tokener);
        snprintf(cursor->error->text, sizeof(cursor->error->text), "%s: byte %zu: no JSON: %s",
                 cursor->path, (size_t)json_tokener_get_parse_end(tokener),
                 reason == json_tokener_continue ? "the file ends too early"
                                                 : json_tokener_error_desc(reason));
        json_object_put(root);
        root = NULL;
    }
    json_tokener_free(tokener);
    return root;
}

static FILE *open_input(struct cursor *cursor)
{
    if (strcmp(cursor->path, "-") == 0)
        return stdin;
    FILE *file = fopen(cursor->path, "rb");
    if (file == NULL) {
        cursor->code = errno == ENOENT || errno == ENOTDIR ? MGLRU_ENOENT
                       : errno == EACCES || errno == EPERM ? MGLRU_EPERM
                                                           : MGLRU_EIO;
        snprintf(cursor->error->text, sizeof(cursor->error->text), "%s: cannot open: %s",
                 cursor->path, strerror(errno));
    }
    return file;
}

int report_json_read(const char *path, struct report_loaded *loaded, struct report_error *error)
{
    struct cursor cursor = {.path = path, .loaded = loaded, .error = error};
    *loaded = (struct report_loaded){0};
    error->text[0] = '\0';
    FILE *file = open_input(&cursor);
    if (file == NULL)
        return cursor.code;
    size_t bytes = 0;
    char *text = read_input(&cursor, file, &bytes);
    if (file != stdin)
        fclose(file);
    struct json_object *root = text != NULL ? parse(&cursor, text, bytes) : NULL;
    free(text);
    if (root != NULL)
        read_root(&cursor, root);
    json_object_put(root);
    if (cursor.code != MGLRU_OK)
        report_loaded_free(loaded);
    return cursor.code;
}

#else

int report_json_read(const char *path, struct report_loaded *loaded, struct report_error *error)
{
    *loaded = (struct report_loaded){0};
    snprintf(error->text, sizeof(error->text),
             "%s: this program was built without json-c (package libjson-c-dev)", path);
    return MGLRU_ENOTSUP;
}

#endif
