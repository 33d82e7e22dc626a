/* SPDX-License-Identifier: MIT */
/* Lock files: made from a map, written, read. See lock.h for the format. */
#include "layout/lock.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <mglru/error.h>

#include "base/text.h"
#include "base/check.h"
#include "layout/diff.h"
#include "layout/grow.h"
#include "layout/text.h"

bool layout_field_under(const struct layout_field *field, const char *path)
{
    size_t length = strlen(path);
    if (strncmp(field->path, path, length) != 0)
        return false;
    char behind = field->path[length];
    return behind == '\0' || behind == '.' || behind == '[';
}

bool layout_group_range(const struct layout_map *map, const struct layout_group *group,
                        uint64_t range[2], const char **missing)
{
    range[0] = UINT64_MAX;
    range[1] = 0;
    for (size_t i = 0; i < group->field_count; i++) {
        bool found = false;
        for (size_t j = 0; j < map->field_count; j++) {
            const struct layout_field *field = &map->fields[j];
            if (!layout_field_under(field, group->fields[i]))
                continue;
            uint64_t first = field->bit_offset / 8;
            uint64_t end = (field->bit_offset + field->bit_size + 7) / 8;
            range[0] = first < range[0] ? first : range[0];
            range[1] = end > range[1] ? end : range[1];
            found = true;
        }
        if (!found) {
            *missing = group->fields[i];
            return false;
        }
    }
    return true;
}

static char *full_path(const struct layout_field *field)
{
    size_t bytes = strlen(field->path) + strlen(field->elements) + 1;
    char *text = malloc(bytes);
    if (text != NULL)
        snprintf(text, bytes, "%s%s", field->path, field->elements);
    return text;
}

struct adder {
    struct layout_lock_type *type;
    bool failed;
};

static bool add_pair(void *context, const struct layout_field *a, const struct layout_field *b)
{
    struct adder *adder = context;
    struct layout_pair judged;
    if (b == NULL || !layout_pair_judge(a, b, &judged) ||
        layout_verdict_weight(judged.verdict) == 0)
        return true;
    char *first = full_path(judged.first);
    char *second = full_path(judged.second);
    bool known = first == NULL || second == NULL;
    for (size_t i = 0; !known && i < adder->type->pair_count; i++)
        known = strcmp(adder->type->pairs[i].first, first) == 0 &&
                strcmp(adder->type->pairs[i].second, second) == 0;
    struct layout_lock_pair *pair =
        known ? NULL : layout_grow(&adder->type->pairs, &adder->type->pair_count, sizeof(*pair));
    adder->failed = adder->failed || first == NULL || second == NULL || (!known && pair == NULL);
    if (pair == NULL) {
        free(first);
        free(second);
        return !adder->failed;
    }
    *pair = (struct layout_lock_pair){judged.verdict, first, second};
    return true;
}

static bool add_field(struct layout_lock_type *type, const struct layout_field *field)
{
    char class[256];
    struct layout_lock_field *fact = layout_grow(&type->fields, &type->field_count, sizeof(*fact));
    if (fact == NULL)
        return false;
    layout_use_text(field->use, class, sizeof(class));
    for (char *c = class; *c != '\0'; c++)
        *c = *c == ' ' ? '_' : *c;
    fact->path = full_path(field);
    fact->class = strdup(class);
    fact->offset_bytes = field->bit_offset / 8;
    fact->size_bytes = (field->bit_offset + field->bit_size + 7) / 8 - fact->offset_bytes;
    return fact->path != NULL && fact->class != NULL;
}

static bool add_groups(struct layout_lock_type *type, const struct layout_map *map,
                       const struct layout_classes *classes)
{
    for (size_t i = 0; i < classes->group_count; i++) {
        const struct layout_group *group = &classes->groups[i];
        uint64_t range[2];
        const char *missing;
        if (strcmp(group->type, type->name) != 0 ||
            !layout_group_range(map, group, range, &missing))
            continue;
        struct layout_lock_group *fact =
            layout_grow(&type->groups, &type->group_count, sizeof(*fact));
        if (fact == NULL)
            return false;
        fact->first_byte = range[0];
        fact->end_byte = range[1];
        fact->name = strdup(group->name);
        if (fact->name == NULL)
            return false;
    }
    return true;
}

static const char *map_name(const struct layout_map *map)
{
    return map->type->name != NULL ? map->type->name : map->name;
}

int layout_lock_add(struct layout_lock *lock, const struct layout_map *map,
                    const struct layout_classes *classes,
                    const struct layout_conflict_options *options)
{
    struct layout_findings findings;
    if (layout_conflicts_find(map, options, &findings) != MGLRU_OK)
        return MGLRU_ENOMEM;
    struct layout_lock_type *type = layout_grow(&lock->types, &lock->type_count, sizeof(*type));
    bool sound = type != NULL && (type->name = strdup(map_name(map))) != NULL;
    if (sound) {
        type->size_bytes = map->type->size_bytes;
        type->align_bytes = map->type->align_bytes;
    }
    for (size_t i = 0; sound && i < map->field_count; i++)
        if (layout_field_hot(&map->fields[i]))
            sound = add_field(type, &map->fields[i]);
    sound = sound && add_groups(type, map, classes);
    struct adder adder = {.type = type};
    for (size_t i = 0; sound && i < findings.count; i++) {
        layout_finding_pairs(&findings.items[i], add_pair, &adder);
        sound = !adder.failed;
    }
    layout_findings_free(&findings);
    return sound ? MGLRU_OK : MGLRU_ENOMEM;
}

char *layout_lock_text(const struct layout_lock *lock)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *stream = open_memstream(&text, &bytes);
    if (stream == NULL)
        return NULL;
    fprintf(stream, "linewise-lock %d\nline %" PRIu64 "\n", LAYOUT_LOCK_VERSION, lock->line_bytes);
    for (size_t i = 0; i < lock->type_count; i++) {
        const struct layout_lock_type *type = &lock->types[i];
        fprintf(stream, "type %" PRIu64 " %" PRIu64 " %s\n", type->size_bytes, type->align_bytes,
                type->name);
        for (size_t j = 0; j < type->field_count; j++)
            fprintf(stream, "field %" PRIu64 " %" PRIu64 " %s %s\n", type->fields[j].offset_bytes,
                    type->fields[j].size_bytes, type->fields[j].class, type->fields[j].path);
        for (size_t j = 0; j < type->group_count; j++)
            fprintf(stream, "group %" PRIu64 " %" PRIu64 " %s\n", type->groups[j].first_byte,
                    type->groups[j].end_byte, type->groups[j].name);
        for (size_t j = 0; j < type->pair_count; j++)
            fprintf(stream, "pair %s, %s, %s\n", layout_verdict_pair(type->pairs[j].verdict),
                    type->pairs[j].first, type->pairs[j].second);
    }
    bool failed = ferror(stream) != 0;
    if (fclose(stream) != 0 || failed) {
        free(text);
        return NULL;
    }
    return text;
}

/* A lock file being read. */
struct reader {
    const char *name;
    struct layout_lock *lock;
    struct layout_error *error;
    unsigned line;
    size_t facts;
};

__attribute__((format(printf, 2, 3))) static int fail(struct reader *reader, const char *format,
                                                      ...)
{
    va_list arguments;
    va_start(arguments, format);
    layout_text_fail(reader->error, reader->name, reader->line, format, arguments);
    va_end(arguments);
    return MGLRU_EINVAL;
}

/* Digits at *@at and the blank behind them. */
static bool take_number(char **at, uint64_t *value)
{
    char *from = *at;
    *value = 0;
    for (; **at >= '0' && **at <= '9'; (*at)++)
        if (__builtin_mul_overflow(*value, 10u, value) ||
            __builtin_add_overflow(*value, (uint64_t)(**at - '0'), value))
            return false;
    if (*at == from || (**at != ' ' && **at != '\0'))
        return false;
    *at += **at == ' ';
    return true;
}

static struct layout_lock_type *last_type(struct reader *reader)
{
    struct layout_lock *lock = reader->lock;
    return lock->type_count > 0 ? &lock->types[lock->type_count - 1] : NULL;
}

static int read_type(struct reader *reader, char *text)
{
    uint64_t size;
    uint64_t align;
    if (!take_number(&text, &size) || !take_number(&text, &align) || *text == '\0')
        return fail(reader, "expected 'type SIZE ALIGN NAME'");
    if (layout_lock_find(reader->lock, text) != NULL)
        return fail(reader, "type %s stands here twice", text);
    struct layout_lock_type *type =
        layout_grow(&reader->lock->types, &reader->lock->type_count, sizeof(*type));
    if (type == NULL)
        return MGLRU_ENOMEM;
    type->size_bytes = size;
    type->align_bytes = align;
    type->name = strdup(text);
    return type->name != NULL ? MGLRU_OK : MGLRU_ENOMEM;
}

static int read_field(struct reader *reader, char *text)
{
    struct layout_lock_type *type = last_type(reader);
    uint64_t offset;
    uint64_t size;
    char *path;
    if (!take_number(&text, &offset) || !take_number(&text, &size) ||
        (path = strchr(text, ' ')) == NULL || path == text || path[1] == '\0')
        return fail(reader, "expected 'field OFFSET SIZE CLASS PATH'");
    *path++ = '\0';
    struct layout_lock_field *field =
        layout_grow(&type->fields, &type->field_count, sizeof(*field));
    if (field == NULL)
        return MGLRU_ENOMEM;
    field->offset_bytes = offset;
    field->size_bytes = size;
    field->class = strdup(text);
    field->path = strdup(path);
    return field->class != NULL && field->path != NULL ? MGLRU_OK : MGLRU_ENOMEM;
}

static int read_group(struct reader *reader, char *text)
{
    struct layout_lock_type *type = last_type(reader);
    uint64_t first;
    uint64_t end;
    if (!take_number(&text, &first) || !take_number(&text, &end) || *text == '\0' || first > end)
        return fail(reader, "expected 'group FIRST END NAME'");
    struct layout_lock_group *group =
        layout_grow(&type->groups, &type->group_count, sizeof(*group));
    if (group == NULL)
        return MGLRU_ENOMEM;
    group->first_byte = first;
    group->end_byte = end;
    group->name = strdup(text);
    return group->name != NULL ? MGLRU_OK : MGLRU_ENOMEM;
}

static int read_pair(struct reader *reader, char *text)
{
    struct layout_lock_type *type = last_type(reader);
    enum layout_verdict verdict;
    char *first = strstr(text, ", ");
    char *second = first != NULL ? strstr(first + 2, ", ") : NULL;
    if (second == NULL || second[2] == '\0' || second == first + 2)
        return fail(reader, "expected 'pair KIND, PATH, PATH'");
    *first = *second = '\0';
    if (!layout_verdict_of_pair(text, &verdict))
        return fail(reader, "'%s' is no kind of pair", text);
    struct layout_lock_pair *pair = layout_grow(&type->pairs, &type->pair_count, sizeof(*pair));
    if (pair == NULL)
        return MGLRU_ENOMEM;
    pair->verdict = verdict;
    pair->first = strdup(first + 2);
    pair->second = strdup(second + 2);
    return pair->first != NULL && pair->second != NULL ? MGLRU_OK : MGLRU_ENOMEM;
}

/* The first two lines. */
static int read_head(struct reader *reader, char *text)
{
    uint64_t number;
    char *rest = text;
    if (reader->line == 1) {
        if (strncmp(text, "linewise-lock ", 14) != 0)
            return fail(reader, "expected 'linewise-lock %d'", LAYOUT_LOCK_VERSION);
        rest += 14;
        if (take_number(&rest, &number) && *rest == '\0' && number == LAYOUT_LOCK_VERSION)
            return MGLRU_OK;
        fail(reader,
             "version '%s' of the format, expected %d: write the file anew with `linewise "
             "lock`",
             text + 14, LAYOUT_LOCK_VERSION);
        return MGLRU_ENOTSUP;
    }
    if (strncmp(text, "line ", 5) != 0)
        return fail(reader, "expected 'line BYTES'");
    rest += 5;
    if (!take_number(&rest, &number) || *rest != '\0' || number < LAYOUT_LINE_MIN ||
        number > LAYOUT_LINE_MAX || (number & (number - 1)) != 0)
        return fail(reader, "'%s' is no size of a line", text + 5);
    reader->lock->line_bytes = number;
    return MGLRU_OK;
}

static int read_fact(struct reader *reader, char *text)
{
    static const struct {
        const char *word;
        int (*read)(struct reader *reader, char *text);
    } words[] = {
        {"type ", read_type}, {"field ", read_field}, {"group ", read_group}, {"pair ", read_pair}};
    for (const char *c = text; *c != '\0'; c++)
        if (text_is_control(*c))
            return fail(reader, "the byte 0x%02x is no text", (unsigned char)*c);
    if (reader->line <= 2)
        return read_head(reader, text);
    if (++reader->facts > LAYOUT_LOCK_FACTS_MAX)
        return fail(reader, "more than %u facts", LAYOUT_LOCK_FACTS_MAX);
    for (size_t i = 0; i < MGLRU_ARRAY_LEN(words); i++) {
        size_t length = strlen(words[i].word);
        if (strncmp(text, words[i].word, length) != 0)
            continue;
        if (i > 0 && last_type(reader) == NULL)
            return fail(reader, "expected a 'type' line first");
        return words[i].read(reader, text + length);
    }
    return fail(reader, "expected a line 'type', 'field', 'group' or 'pair'");
}

int layout_lock_parse(const char *name, const char *text, size_t bytes, struct layout_lock *lock,
                      struct layout_error *error)
{
    *lock = (struct layout_lock){0};
    error->text[0] = '\0';
    struct reader reader = {.name = name, .lock = lock, .error = error};
    char *copy = malloc(bytes + 1);
    int code = copy != NULL ? MGLRU_OK : MGLRU_ENOMEM;
    if (copy != NULL) {
        memcpy(copy, text, bytes);
        copy[bytes] = '\0';
    }
    for (char *at = copy, *end; code == MGLRU_OK && at < copy + bytes; at = end + 1) {
        end = memchr(at, '\n', bytes - (size_t)(at - copy));
        reader.line++;
        if (end == NULL || memchr(at, '\0', (size_t)(end - at)) != NULL) {
            code = fail(&reader, end == NULL ? "the last line is torn, expected a line break"
                                             : "the byte 0x00 is no text");
            break;
        }
        *end = '\0';
        code = read_fact(&reader, at);
    }
    if (code == MGLRU_OK && reader.line < 2) {
        reader.line++;
        code = fail(&reader, "the file ends here, expected '%s'",
                    reader.line == 1 ? "linewise-lock 1" : "line BYTES");
    }
    free(copy);
    if (code == MGLRU_ENOMEM)
        snprintf(error->text, sizeof(error->text), "%s: out of memory", name);
    if (code != MGLRU_OK)
        layout_lock_free(lock);
    return code;
}

int layout_lock_read(const char *path, struct layout_lock *lock, struct layout_error *error)
{
    *lock = (struct layout_lock){0};
    char *text;
    size_t bytes;
    int code = layout_text_read(path, LAYOUT_LOCK_FILE_MAX, &text, &bytes, error);
    if (code == MGLRU_OK)
        code = layout_lock_parse(strcmp(path, "-") == 0 ? "standard input" : path, text, bytes,
                                 lock, error);
    free(text);
    return code;
}

static void free_type(struct layout_lock_type *type)
{
    for (size_t i = 0; i < type->field_count; i++) {
        free(type->fields[i].path);
        free(type->fields[i].class);
    }
    for (size_t i = 0; i < type->group_count; i++)
        free(type->groups[i].name);
    for (size_t i = 0; i < type->pair_count; i++) {
        free(type->pairs[i].first);
        free(type->pairs[i].second);
    }
    free(type->fields);
    free(type->groups);
    free(type->pairs);
    free(type->name);
}

void layout_lock_free(struct layout_lock *lock)
{
    for (size_t i = 0; i < lock->type_count; i++)
        free_type(&lock->types[i]);
    free(lock->types);
    *lock = (struct layout_lock){0};
}

const struct layout_lock_type *layout_lock_find(const struct layout_lock *lock, const char *name)
{
    for (size_t i = 0; i < lock->type_count; i++)
        if (strcmp(lock->types[i].name, name) == 0)
            return &lock->types[i];
    return NULL;
}
