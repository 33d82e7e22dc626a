/* SPDX-License-Identifier: MIT */
/* Joins a recording with debug information; see subjects.h. */
#include "cli/linewise/subjects.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mglru/error.h>

#include "cli/linewise/command.h"
#include "cli/linewise/session.h"
#include "report/coherence.h"

/* The lines that the log touches, sorted. */
struct touched {
    uint64_t *lines;
    size_t count;
    uint64_t mask;
};

static int no_memory(const struct linewise_subjects *subjects)
{
    return linewise_fail(subjects->command, LINEWISE_ENVIRONMENT, "out of memory");
}

static int compare_lines(const void *left, const void *right)
{
    const uint64_t *a = left, *b = right;
    return (*a > *b) - (*a < *b);
}

static bool sort_touched(const struct coherence_trace *trace, struct touched *touched)
{
    touched->count = trace->line_count;
    touched->mask = trace->line_bytes - 1;
    touched->lines = malloc(touched->count * sizeof(*touched->lines) + 1);
    if (touched->lines == NULL)
        return false;
    if (touched->count > 0) {
        memcpy(touched->lines, trace->line_addresses, touched->count * sizeof(*touched->lines));
        qsort(touched->lines, touched->count, sizeof(*touched->lines), compare_lines);
    }
    return true;
}

static bool is_touched(const struct touched *touched, uint64_t address, uint64_t bytes)
{
    uint64_t first_line = address & ~touched->mask;
    size_t first = 0, end = touched->count;
    while (first < end) {
        size_t middle = first + (end - first) / 2;
        if (touched->lines[middle] < first_line)
            first = middle + 1;
        else
            end = middle;
    }
    return first < touched->count && touched->lines[first] - first_line < bytes + touched->mask &&
           touched->lines[first] <= address + (bytes - 1);
}

/* A lock of pthread is one field, whatever it is made of. */
static bool is_lock_nest(const struct layout_nest *nest)
{
    return nest->member != NULL && nest->member->type_name != NULL &&
           strncmp(nest->member->type_name, "pthread_", 8) == 0;
}

/* The outermost lock around @leaf; NULL: none. */
static const struct layout_nest *lock_around(const struct layout_flat *flat,
                                             const struct layout_leaf *leaf)
{
    const struct layout_nest *found = NULL;
    for (uint32_t at = leaf->nest; at != 0; at = flat->nests[at].parent)
        if (is_lock_nest(&flat->nests[at]))
            found = &flat->nests[at];
    return found;
}

static struct coherence_field field_of(const struct layout_leaf *leaf)
{
    uint64_t first = leaf->bit_offset / 8, last = (leaf->bit_offset + leaf->bit_extent + 7) / 8;
    struct coherence_field field = {.name = leaf->path, .offset = first, .bytes = last - first};
    const struct layout_repeat *repeat = &leaf->repeat;
    if (repeat->dim_count == 0 || leaf->bit_size % 8 != 0 || leaf->bit_size == 0)
        return field;
    uint64_t elements = 1;
    for (uint32_t i = 0; i < repeat->dim_count; i++)
        elements *= repeat->dims[i];
    if (elements * (leaf->bit_size / 8) == field.bytes) {
        field.stride = leaf->bit_size / 8;
    } else if (repeat->dims[0] > 0 && repeat->stride_bytes[0] > 0) {
        /* In a struct in an array: others lie between its copies. */
        field.stride = repeat->stride_bytes[0];
        field.width = field.bytes - field.stride * (repeat->dims[0] - 1);
    }
    return field;
}

static int compare_fields(const void *left, const void *right)
{
    const struct coherence_field *a = left, *b = right;
    if (a->offset != b->offset)
        return a->offset < b->offset ? -1 : 1;
    return (a->bytes < b->bytes) - (a->bytes > b->bytes);
}

static int fill_fields(const struct linewise_subjects *subjects, struct linewise_fields *type,
                       const struct layout_type *layout)
{
    struct layout_error error = {.text = ""};
    if (layout_flatten(layout, NULL, &type->flat, &error) != MGLRU_OK)
        return linewise_fail(subjects->command, LINEWISE_ENVIRONMENT, "%s", error.text);
    type->bytes = layout->size_bytes;
    type->fields = calloc(type->flat.leaf_count + 1, sizeof(*type->fields));
    if (type->fields == NULL)
        return no_memory(subjects);
    const struct layout_nest *last = NULL;
    for (size_t i = 0; i < type->flat.leaf_count; i++) {
        const struct layout_leaf *leaf = &type->flat.leaves[i];
        const struct layout_nest *lock = lock_around(&type->flat, leaf);
        struct coherence_field field = field_of(leaf);
        if (lock != NULL && lock == last)
            continue;
        last = lock;
        if (lock != NULL)
            field = (struct coherence_field){.name = lock->path,
                                             .offset = lock->bit_offset / 8,
                                             .bytes = lock->type->size_bytes};
        if (field.bytes > 0)
            type->fields[type->count++] = field;
    }
    if (type->count > 0)
        qsort(type->fields, type->count, sizeof(*type->fields), compare_fields);
    return LINEWISE_CLEAN;
}

/* The type @asked, or that of the variable @asked; an entry without a name when there is none. */
static int find_type(struct linewise_subjects *subjects, const char *asked, bool variable,
                     size_t *index)
{
    for (*index = 0; *index < subjects->type_count; ++*index)
        if (strcmp(subjects->types[*index].asked, asked) == 0)
            return LINEWISE_CLEAN;
    struct linewise_fields *larger =
        realloc(subjects->types, (subjects->type_count + 1) * sizeof(*larger));
    if (larger == NULL)
        return no_memory(subjects);
    subjects->types = larger;
    struct linewise_fields *type = &larger[subjects->type_count++];
    *type = (struct linewise_fields){.asked = strdup(asked)};
    if (type->asked == NULL)
        return no_memory(subjects);
    struct layout_error error = {.text = ""};
    const struct layout_type *layout = NULL;
    int code = MGLRU_ENOENT;
    if (subjects->set != NULL)
        code = variable ? layout_variable(subjects->set, asked, &layout, &error)
                        : layout_find(subjects->set, asked, &layout, NULL, &error);
    if (code != MGLRU_OK && !variable && subjects->set != NULL)
        fprintf(stderr, "linewise %s: %s\n", subjects->command, error.text);
    /* A variable of an anonymous type is its own name for it, which nobody else knows. */
    if (code != MGLRU_OK || (variable && layout->name == NULL))
        return LINEWISE_CLEAN;
    char text[LAYOUT_PATH_BYTES];
    type->name = strdup(linewise_type_name(layout, asked, text, sizeof(text)));
    return type->name == NULL ? no_memory(subjects) : fill_fields(subjects, type, layout);
}

static struct coherence_subject subject_of(const struct linewise_fields *type, uint64_t address,
                                           uint64_t bytes, const char *fallback)
{
    return (struct coherence_subject){
        .address = address,
        .bytes = bytes,
        .name = type->name != NULL ? type->name : fallback,
        .fields = type->fields,
        .field_count = type->count,
    };
}

/* Adds an array of structs as one subject an element, so that elements add up like objects. */
static int add_subject(struct linewise_subjects *subjects, size_t *capacity,
                       struct coherence_subject subject, uint64_t element_bytes)
{
    uint64_t count =
        element_bytes > 0 && subject.bytes % element_bytes == 0 ? subject.bytes / element_bytes : 1;
    if (count > COHERENCE_OBJECTS_MAX)
        count = 1;
    uint64_t bytes = subject.bytes / count;
    if (subjects->subjects.count + count > *capacity) {
        *capacity = (subjects->subjects.count + count) * 2;
        struct coherence_subject *larger = realloc(subjects->items, *capacity * sizeof(*larger));
        if (larger == NULL)
            return no_memory(subjects);
        subjects->items = larger;
        subjects->subjects.items = larger;
    }
    for (uint64_t i = 0; i < count; i++, subject.address += bytes) {
        subject.bytes = bytes;
        subjects->items[subjects->subjects.count++] = subject;
    }
    return LINEWISE_CLEAN;
}

static int add_objects(struct linewise_subjects *subjects, const struct coherence_log *log,
                       const struct touched *touched, size_t *capacity)
{
    for (size_t i = 0; i < log->object_count; i++) {
        const struct coherence_object *object = &log->objects[i];
        size_t type;
        if (object->bytes > 0 && !is_touched(touched, object->address, object->bytes))
            continue;
        int status = find_type(subjects, object->type, false, &type);
        if (status != LINEWISE_CLEAN)
            return status;
        uint64_t bytes = object->bytes > 0 ? object->bytes : subjects->types[type].bytes;
        if (bytes > 0)
            status = add_subject(
                subjects, capacity,
                subject_of(&subjects->types[type], object->address, bytes, object->type),
                subjects->types[type].bytes);
        if (status != LINEWISE_CLEAN)
            return status;
    }
    return LINEWISE_CLEAN;
}

static int add_symbols(struct linewise_subjects *subjects, const struct coherence_log *log,
                       const struct touched *touched, size_t *capacity)
{
    struct coherence_symbol symbol;
    uint64_t bias = log->module_count > 0 ? log->modules[0].bias : 0;
    for (size_t at = 0; coherence_symbols_next(&subjects->symbols, &at, &symbol);) {
        size_t type;
        if (!is_touched(touched, symbol.address + bias, symbol.bytes))
            continue;
        int status = find_type(subjects, symbol.name, true, &type);
        if (status == LINEWISE_CLEAN)
            status = add_subject(subjects, capacity,
                                 subject_of(&subjects->types[type], symbol.address + bias,
                                            symbol.bytes, symbol.name),
                                 subjects->types[type].bytes);
        if (status != LINEWISE_CLEAN)
            return status;
    }
    return LINEWISE_CLEAN;
}

static int compare_subjects(const void *left, const void *right)
{
    const struct coherence_subject *a = left, *b = right;
    if (a->address != b->address)
        return a->address < b->address ? -1 : 1;
    return (a->field_count < b->field_count) - (a->field_count > b->field_count);
}

/* Sorts; of those that overlap (aliases, watched variables) the first with fields stays. */
static void sort_subjects(struct linewise_subjects *subjects)
{
    size_t kept = 0, count = subjects->subjects.count;
    if (count == 0)
        return;
    qsort(subjects->items, count, sizeof(*subjects->items), compare_subjects);
    for (size_t i = 1; i < count; i++)
        if (subjects->items[i].address - subjects->items[kept].address >=
            subjects->items[kept].bytes)
            subjects->items[++kept] = subjects->items[i];
    subjects->subjects.count = kept + 1;
}

static void open_program(struct linewise_subjects *subjects, const char *path,
                         const struct layout_open_options *options)
{
    struct layout_error error = {.text = ""};
    if (!coherence_symbols_open(&subjects->symbols, path))
        fprintf(stderr, "linewise %s: %s: no symbols can be read; variables have no names\n",
                subjects->command, path);
    if (layout_open(path, options, &subjects->set, &error) != MGLRU_OK)
        fprintf(stderr, "linewise %s: %s; fields are told by their offsets\n", subjects->command,
                error.text);
}

int linewise_subjects_make(const char *command, const struct coherence_log *log,
                           const char *program, const struct layout_open_options *options,
                           struct linewise_subjects *subjects)
{
    struct touched touched;
    size_t capacity = 0;
    *subjects = (struct linewise_subjects){.command = command};
    if (program == NULL && log->module_count > 0)
        program = log->modules[0].path;
    if (program != NULL)
        open_program(subjects, program, options);
    if (!sort_touched(&log->trace, &touched))
        return no_memory(subjects);
    int status = add_objects(subjects, log, &touched, &capacity);
    if (status == LINEWISE_CLEAN)
        status = add_symbols(subjects, log, &touched, &capacity);
    free(touched.lines);
    sort_subjects(subjects);
    return status;
}

int linewise_uses_write(const struct linewise_subjects *subjects, const struct coherence_log *log,
                        const char *source, const char *path)
{
    struct linewise_syntax syntax = {.command = subjects->command};
    struct linewise_options options = {.syntax = &syntax};
    struct coherence_uses uses;
    struct report_out out;
    if (path == NULL)
        return LINEWISE_CLEAN;
    int status = linewise_output_open(&options, &out, path);
    if (status != LINEWISE_CLEAN)
        return status;
    if (coherence_uses_make(&log->trace, &subjects->subjects, &uses) != MGLRU_OK) {
        report_out_abandon(&out);
        return no_memory(subjects);
    }
    report_uses(&out, source, &uses);
    coherence_uses_free(&uses);
    return linewise_output_close(&options, &out);
}

void linewise_subjects_free(struct linewise_subjects *subjects)
{
    for (size_t i = 0; i < subjects->type_count; i++) {
        free(subjects->types[i].asked);
        free(subjects->types[i].name);
        free(subjects->types[i].fields);
        layout_flat_free(&subjects->types[i].flat);
    }
    free(subjects->types);
    free(subjects->items);
    layout_close(subjects->set);
    coherence_symbols_close(&subjects->symbols);
    *subjects = (struct linewise_subjects){0};
}
