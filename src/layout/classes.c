/* SPDX-License-Identifier: MIT */
/*
 * Reads class files; the grammar stands in classes.h.
 *
 * Each line is copied, its comment cut off, and given to the reader of its first word. A line that
 * begins with none of the words group, rule, alloc and check is a class.
 *
 * Invariant: whatever was added to struct layout_classes can be freed by layout_classes_free().
 */
#include "layout/classes.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mglru/error.h>

#include "base/check.h"
#include "layout/grow.h"
#include "layout/pattern.h"
#include "layout/text.h"

static const struct {
    const char *name;
    char letter;
} class_names[LAYOUT_CLASSES] = {
    [LAYOUT_CLASS_NONE] = {"", '.'},       [LAYOUT_CLASS_READ] = {"read", 'R'},
    [LAYOUT_CLASS_LOCK] = {"lock", 'L'},   [LAYOUT_CLASS_ATOMIC] = {"atomic", 'A'},
    [LAYOUT_CLASS_OWNER] = {"owner", 'O'}, [LAYOUT_CLASS_COLD] = {"cold", 'C'},
};

const char *layout_class_name(enum layout_class class)
{
    return class_names[class].name;
}

char layout_class_letter(enum layout_class class)
{
    return class_names[class].letter;
}

static bool class_of(const char *name, enum layout_class *class)
{
    for (unsigned i = LAYOUT_CLASS_READ; i < LAYOUT_CLASSES; i++)
        if (strcmp(class_names[i].name, name) == 0) {
            *class = (enum layout_class)i;
            return true;
        }
    return false;
}

void layout_use_text(const struct layout_use *use, char *text, size_t bytes)
{
    size_t length = (size_t)snprintf(text, bytes, "%s", layout_class_name(use->class));
    for (unsigned i = 0; i < use->name_count && length < bytes; i++)
        length += (size_t)snprintf(text + length, bytes - length, "%s%s", i == 0 ? "(" : ", ",
                                   use->names[i]);
    if (use->name_count > 0 && length < bytes)
        snprintf(text + length, bytes - length, ")");
}

bool layout_glob(const char *glob, const char *name)
{
    const char *star = NULL;
    const char *resume = NULL;
    while (*name != '\0') {
        if (*glob == '*') {
            star = glob++;
            resume = name;
        } else if (*glob == *name) {
            glob++;
            name++;
        } else if (star != NULL) {
            glob = star + 1;
            name = ++resume;
        } else {
            return false;
        }
    }
    while (*glob == '*')
        glob++;
    return *glob == '\0';
}

/* A file being read. */
struct reader {
    const char *name;
    struct layout_classes *classes;
    struct layout_error *error;
    unsigned line;
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

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static char *trim(char *text)
{
    while (is_blank(*text))
        text++;
    size_t length = strlen(text);
    while (length > 0 && is_blank(text[length - 1]))
        text[--length] = '\0';
    return text;
}

/* The next word at *@at, ended by blanks or a comma; NULL: none is left. */
static char *next_word(char **at)
{
    char *word = *at;
    while (is_blank(*word) || *word == ',')
        word++;
    if (*word == '\0')
        return NULL;
    char *end = word;
    while (*end != '\0' && !is_blank(*end) && *end != ',')
        end++;
    *at = end;
    if (*end != '\0') {
        *end = '\0';
        *at = end + 1;
    }
    return word;
}

/* Cuts @text at the colon that ends its subject: the first that is not half of "::" and stands
 * outside angle brackets. Returns what follows; NULL: there is none. */
static char *cut_subject(char *text)
{
    unsigned depth = 0;
    for (char *c = text; *c != '\0'; c++) {
        if (*c == '<')
            depth++;
        else if (*c == '>' && depth > 0)
            depth--;
        if (*c != ':' || depth > 0)
            continue;
        if (c[1] == ':') {
            c++;
            continue;
        }
        *c = '\0';
        return c + 1;
    }
    return NULL;
}

/* A type's name without the keyword that C writes before it. */
static char *strip_keyword(char *name)
{
    static const char *const keywords[] = {"struct ", "union ", "class "};
    name = trim(name);
    for (size_t i = 0; i < MGLRU_ARRAY_LEN(keywords); i++)
        if (strncmp(name, keywords[i], strlen(keywords[i])) == 0)
            return trim(name + strlen(keywords[i]));
    return name;
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Reads "NAME, NAME)" behind a class and goes behind it. */
static int read_names(struct reader *reader, char **at, struct layout_use *use)
{
    char *close = strchr(*at, ')');
    if (close == NULL)
        return fail(reader, "expected ')' behind the names of %s",
                    use->class == LAYOUT_CLASS_LOCK ? "locks" : "the owner");
    *close = '\0';
    char *rest = *at;
    for (char *word; (word = next_word(&rest)) != NULL;) {
        if (use->name_count == LAYOUT_CLASS_NAMES_MAX)
            return fail(reader, "more than %d names", LAYOUT_CLASS_NAMES_MAX);
        use->names[use->name_count] = strdup(word);
        if (use->names[use->name_count] == NULL)
            return MGLRU_ENOMEM;
        use->name_count++;
    }
    if (use->name_count == 0)
        return fail(reader, "expected a name between the parentheses");
    qsort(use->names, use->name_count, sizeof(use->names[0]), compare_names);
    *at = close + 1;
    return MGLRU_OK;
}

static int read_weight(struct reader *reader, char *text, struct layout_use *use)
{
    text = trim(text);
    use->weight = 1;
    if (*text == '\0')
        return MGLRU_OK;
    char *end;
    errno = 0;
    unsigned long weight = strtoul(text, &end, 10);
    if (*text < '0' || *text > '9' || *end != '\0' || errno != 0 || weight < 1 ||
        weight > LAYOUT_WEIGHT_MAX)
        return fail(reader, "'%s' is no weight, expected a number in 1..%d", text,
                    LAYOUT_WEIGHT_MAX);
    use->weight = (unsigned)weight;
    return MGLRU_OK;
}

/* Reads "CLASS [WEIGHT]". */
static int read_use(struct reader *reader, char *text, struct layout_use *use)
{
    text = trim(text);
    char *end = text;
    while ((*end >= 'a' && *end <= 'z') || *end == '_')
        end++;
    char behind = *end;
    *end = '\0';
    if (!class_of(text, &use->class))
        return fail(reader, "'%s' is no class, expected read, lock(NAME), atomic, owner or cold",
                    text);
    *end = behind;
    while (is_blank(*end))
        end++;
    if (*end == '(') {
        if (use->class != LAYOUT_CLASS_LOCK && use->class != LAYOUT_CLASS_OWNER)
            return fail(reader, "class %s takes no name", layout_class_name(use->class));
        end++;
        int code = read_names(reader, &end, use);
        if (code != MGLRU_OK)
            return code;
    } else if (use->class == LAYOUT_CLASS_LOCK) {
        return fail(reader, "class lock needs the name of the lock, as in lock(lru_lock)");
    }
    return read_weight(reader, end, use);
}

static int read_class(struct reader *reader, char *text)
{
    char *rest = cut_subject(text);
    if (rest == NULL)
        return fail(reader, "expected 'TYPE.FIELD: CLASS', found no ':'");
    struct layout_classes *classes = reader->classes;
    struct layout_class_rule *rule =
        layout_grow(&classes->rules, &classes->rule_count, sizeof(*rule));
    if (rule == NULL)
        return MGLRU_ENOMEM;
    rule->line = reader->line;
    const char *reason;
    char *subject = strip_keyword(text);
    int code = layout_pattern_parse(subject, &rule->pattern, &reason);
    if (code == MGLRU_EINVAL)
        return fail(reader, "'%s': %s", subject, reason);
    if (code != MGLRU_OK)
        return code;
    for (size_t i = 0; i + 1 < classes->rule_count; i++)
        if (strcmp(classes->rules[i].pattern.text, rule->pattern.text) == 0)
            return fail(reader, "'%s' has a class already, at line %u", subject,
                        classes->rules[i].line);
    return read_use(reader, rest, &rule->use);
}

static int read_group(struct reader *reader, char *text)
{
    char *rest = cut_subject(text);
    if (rest == NULL)
        return fail(reader, "expected 'group TYPE.NAME: FIELD ...', found no ':'");
    char *subject = strip_keyword(text);
    size_t type_length = layout_pattern_type_length(subject);
    if (type_length == 0 || subject[type_length + 1] == '\0')
        return fail(reader, "'%s' names no group, expected TYPE.NAME", subject);
    subject[type_length] = '\0';
    struct layout_classes *classes = reader->classes;
    if (layout_classes_group(classes, subject, subject + type_length + 1) != NULL)
        return fail(reader, "group %s of %s was given twice", subject + type_length + 1, subject);
    struct layout_group *group =
        layout_grow(&classes->groups, &classes->group_count, sizeof(*group));
    if (group == NULL)
        return MGLRU_ENOMEM;
    group->line = reader->line;
    group->type = strdup(subject);
    group->name = strdup(subject + type_length + 1);
    if (group->type == NULL || group->name == NULL)
        return MGLRU_ENOMEM;
    for (char *word; (word = next_word(&rest)) != NULL;) {
        char **field = layout_grow(&group->fields, &group->field_count, sizeof(*field));
        if (field == NULL || (*field = strdup(word)) == NULL)
            return MGLRU_ENOMEM;
    }
    return group->field_count > 0 ? MGLRU_OK : fail(reader, "a group needs at least one field");
}

/* Reads "group NAME starts a line" and its kind. */
static int read_group_demand(struct reader *reader, struct layout_demand *demand, char *text)
{
    static const struct {
        const char *words;
        enum layout_demand_kind kind;
    } kinds[] = {{"starts a line", LAYOUT_DEMAND_STARTS},
                 {"fills its lines", LAYOUT_DEMAND_FILLS},
                 {"stays together", LAYOUT_DEMAND_TOGETHER}};
    char *name = next_word(&text);
    if (name == NULL)
        return fail(reader, "expected the name of a group");
    if (layout_classes_group(reader->classes, demand->type, name) == NULL)
        return fail(reader, "%s has no group %s; define it above the rule", demand->type, name);
    demand->group = strdup(name);
    if (demand->group == NULL)
        return MGLRU_ENOMEM;
    text = trim(text);
    for (size_t i = 0; i < MGLRU_ARRAY_LEN(kinds); i++)
        if (strcmp(text, kinds[i].words) == 0) {
            demand->kind = kinds[i].kind;
            return MGLRU_OK;
        }
    return fail(reader, "'%s': expected 'starts a line', 'fills its lines' or 'stays together'",
                text);
}

/* Reads "CLASS beside CLASS". */
static int read_apart(struct reader *reader, struct layout_demand *demand, char *text)
{
    char *first = next_word(&text);
    char *beside = next_word(&text);
    char *second = next_word(&text);
    demand->kind = LAYOUT_DEMAND_APART;
    if (second == NULL || next_word(&text) != NULL || strcmp(beside, "beside") != 0)
        return fail(reader, "expected 'no CLASS beside CLASS'");
    if (!class_of(first, &demand->first))
        return fail(reader, "'%s' is no class", first);
    if (!class_of(second, &demand->second))
        return fail(reader, "'%s' is no class", second);
    return MGLRU_OK;
}

/* Reads "at most BYTES". */
static int read_size(struct reader *reader, struct layout_demand *demand, char *text)
{
    unsigned long long bytes = 0;
    char rest;
    demand->kind = LAYOUT_DEMAND_SIZE;
    if (sscanf(text, " at most %15llu %c", &bytes, &rest) != 1)
        return fail(reader, "expected 'size at most BYTES'");
    demand->bytes = bytes;
    return MGLRU_OK;
}

static int read_rule(struct reader *reader, char *text)
{
    char *rest = cut_subject(text);
    if (rest == NULL)
        return fail(reader, "expected 'rule TYPE: ...', found no ':'");
    struct layout_classes *classes = reader->classes;
    struct layout_demand *demand =
        layout_grow(&classes->demands, &classes->demand_count, sizeof(*demand));
    if (demand == NULL)
        return MGLRU_ENOMEM;
    demand->line = reader->line;
    demand->type = strdup(strip_keyword(text));
    rest = trim(rest);
    demand->text = strdup(rest);
    if (demand->type == NULL || demand->text == NULL)
        return MGLRU_ENOMEM;
    if (demand->type[0] == '\0')
        return fail(reader, "expected a type behind 'rule'");
    char *word = next_word(&rest);
    if (word != NULL && strcmp(word, "group") == 0)
        return read_group_demand(reader, demand, rest);
    if (word != NULL && strcmp(word, "no") == 0)
        return read_apart(reader, demand, rest);
    if (word != NULL && strcmp(word, "size") == 0)
        return read_size(reader, demand, rest);
    return fail(reader,
                "'%s' is no rule, expected 'group NAME starts a line', "
                "'no CLASS beside CLASS' or 'size at most BYTES'",
                demand->text);
}

static int read_alloc(struct reader *reader, char *text)
{
    char *rest = cut_subject(text);
    if (rest == NULL)
        return fail(reader, "expected 'alloc TYPE: malloc', 'static' or BYTES, found no ':'");
    struct layout_classes *classes = reader->classes;
    struct layout_alloc *alloc =
        layout_grow(&classes->allocs, &classes->alloc_count, sizeof(*alloc));
    if (alloc == NULL)
        return MGLRU_ENOMEM;
    alloc->line = reader->line;
    alloc->type = strdup(strip_keyword(text));
    if (alloc->type == NULL)
        return MGLRU_ENOMEM;
    if (alloc->type[0] == '\0')
        return fail(reader, "expected a type behind 'alloc'");
    rest = trim(rest);
    unsigned bytes = 0;
    char surplus;
    if (strcmp(rest, "static") == 0)
        alloc->align = UINT64_MAX;
    else if (strcmp(rest, "malloc") == 0)
        alloc->align = LAYOUT_MALLOC_ALIGN;
    else if (sscanf(rest, "%8u%c", &bytes, &surplus) == 1 && bytes > 0 &&
             (bytes & (bytes - 1)) == 0)
        alloc->align = bytes;
    else
        return fail(reader, "'%s': expected malloc, static or a power of 2", rest);
    return MGLRU_OK;
}

static int read_check(struct reader *reader, char *text)
{
    char *rest = trim(text);
    struct layout_classes *classes = reader->classes;
    if (*rest == '\0')
        return fail(reader, "expected a type behind 'check'");
    char **name = layout_grow(&classes->checks, &classes->check_count, sizeof(*name));
    if (name == NULL)
        return MGLRU_ENOMEM;
    *name = strdup(strip_keyword(rest));
    return *name != NULL ? MGLRU_OK : MGLRU_ENOMEM;
}

static int read_statement(struct reader *reader, char *text)
{
    static const struct {
        const char *word;
        int (*read)(struct reader *reader, char *text);
    } words[] = {
        {"group", read_group}, {"rule", read_rule}, {"alloc", read_alloc}, {"check", read_check}};
    text = trim(text);
    if (*text == '\0')
        return MGLRU_OK;
    const struct layout_classes *classes = reader->classes;
    if (classes->rule_count + classes->group_count + classes->demand_count + classes->alloc_count +
            classes->check_count >=
        LAYOUT_STATEMENTS_MAX)
        return fail(reader, "more than %u statements", LAYOUT_STATEMENTS_MAX);
    for (size_t i = 0; i < MGLRU_ARRAY_LEN(words); i++) {
        size_t length = strlen(words[i].word);
        if (strncmp(text, words[i].word, length) == 0 && is_blank(text[length]))
            return words[i].read(reader, text + length);
    }
    return read_class(reader, text);
}

/* Makes one statement of the line at *@at and those that continue it, in @text; goes behind them.
 * Returns false at a byte that text does not hold. */
static bool take_line(struct reader *reader, const char **at, const char *end, char *text)
{
    size_t length = 0;
    bool comment = false;
    for (; *at < end && **at != '\n'; (*at)++) {
        unsigned char c = (unsigned char)**at;
        if (c == '\\' && !comment && *at + 1 < end && (*at)[1] == '\n') {
            text[length++] = ' ';
            (*at)++;
            reader->line++;
            continue;
        }
        if (c == '\r' && (*at + 1 == end || (*at)[1] == '\n'))
            continue;
        if ((c < ' ' && c != '\t') || c == 0x7f) {
            fail(reader, "the byte 0x%02x is no text", c);
            return false;
        }
        comment = comment || c == '#';
        if (!comment)
            text[length++] = c == '\t' ? ' ' : (char)c; /* names in messages have no tabs */
    }
    if (*at < end)
        (*at)++;
    text[length] = '\0';
    return true;
}

int layout_classes_parse(const char *name, const char *text, size_t bytes,
                         struct layout_classes *classes, struct layout_error *error)
{
    *classes = (struct layout_classes){.name = strdup(name)};
    error->text[0] = '\0';
    struct reader reader = {.name = name, .classes = classes, .error = error};
    char *line = malloc(bytes + 1);
    int code = classes->name != NULL && line != NULL ? MGLRU_OK : MGLRU_ENOMEM;
    for (const char *at = text; code == MGLRU_OK && at < text + bytes;) {
        reader.line++;
        unsigned first = reader.line;
        if (!take_line(&reader, &at, text + bytes, line)) {
            code = MGLRU_EINVAL;
            break;
        }
        unsigned last = reader.line;
        reader.line = first;
        code = read_statement(&reader, line);
        reader.line = code == MGLRU_OK ? last : first;
    }
    free(line);
    if (code == MGLRU_ENOMEM)
        snprintf(error->text, sizeof(error->text), "%s: out of memory", name);
    if (code != MGLRU_OK)
        layout_classes_free(classes);
    return code;
}

int layout_classes_read(const char *path, struct layout_classes *classes,
                        struct layout_error *error)
{
    *classes = (struct layout_classes){0};
    char *text;
    size_t bytes;
    int code = layout_text_read(path, LAYOUT_CLASS_FILE_MAX, &text, &bytes, error);
    if (code != MGLRU_OK)
        return code;
    code = layout_classes_parse(strcmp(path, "-") == 0 ? "standard input" : path, text, bytes,
                                classes, error);
    free(text);
    return code;
}

static void free_names(char **names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(names[i]);
}

void layout_classes_free(struct layout_classes *classes)
{
    for (size_t i = 0; i < classes->rule_count; i++) {
        layout_pattern_free(&classes->rules[i].pattern);
        free_names(classes->rules[i].use.names, classes->rules[i].use.name_count);
    }
    for (size_t i = 0; i < classes->group_count; i++) {
        free(classes->groups[i].type);
        free(classes->groups[i].name);
        free_names(classes->groups[i].fields, classes->groups[i].field_count);
        free(classes->groups[i].fields);
    }
    for (size_t i = 0; i < classes->demand_count; i++) {
        free(classes->demands[i].type);
        free(classes->demands[i].group);
        free(classes->demands[i].text);
    }
    for (size_t i = 0; i < classes->alloc_count; i++)
        free(classes->allocs[i].type);
    free_names(classes->checks, classes->check_count);
    free(classes->rules);
    free(classes->groups);
    free(classes->demands);
    free(classes->allocs);
    free(classes->checks);
    free(classes->name);
    *classes = (struct layout_classes){0};
}

const struct layout_group *layout_classes_group(const struct layout_classes *classes,
                                                const char *type, const char *name)
{
    for (size_t i = 0; i < classes->group_count; i++)
        if (strcmp(classes->groups[i].type, type) == 0 &&
            strcmp(classes->groups[i].name, name) == 0)
            return &classes->groups[i];
    return NULL;
}

uint64_t layout_classes_alloc(const struct layout_classes *classes, const char *type,
                              uint64_t fallback)
{
    for (size_t i = 0; i < classes->alloc_count; i++)
        if (strcmp(classes->allocs[i].type, type) == 0)
            return classes->allocs[i].align;
    return fallback;
}
