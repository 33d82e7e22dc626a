/* SPDX-License-Identifier: MIT */
/*
 * Moves declarations in source text; see patch.h.
 *
 * Idea: the file is an array of lines, each with the number it had. Moving a block permutes the
 * array; stating an alignment replaces a line. Afterwards the longest part that is still in order
 * stays where it is, the rest is deleted and added: that is the diff. With few moves a greedy
 * choice is enough: what was moved is deleted and added, what was not stays.
 *
 * Invariant: each old line is in the new text exactly once, moved or not, replaced or not.
 */
#include "layout/patch.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mglru/error.h>

#include "layout/text.h"

#define SOURCE_MAX ((size_t)64 << 20)
/* A declaration with its comment. Chosen: longer ones are no declarations. */
#define BLOCK_MAX 200u
#define CONTEXT 3u

struct line {
    const char *text; /* without its end */
    char *owned;      /* a replacement; NULL: text is the source's */
    size_t length;
    uint32_t number; /* in the old text, from 0 */
    bool moved;
};

struct source {
    char *path;
    char *text;
    struct line *lines; /* in the new order */
    uint32_t count;
};

/* Numbers of the first and behind the last line of a declaration, in the old text. */
struct block {
    uint32_t first;
    uint32_t end;
};

static int fail(struct layout_error *error, const char *path, const char *what, const char *name)
{
    snprintf(error->text, sizeof(error->text), "%s: %s%s%s", path, what, name != NULL ? ": " : "",
             name != NULL ? name : "");
    return MGLRU_ENOTSUP;
}

/* The type's file, beside its compilation folder where it is relative. */
static char *source_path(const struct layout_type *type)
{
    bool relative = type->decl_file[0] != '/' && type->comp_dir != NULL;
    size_t bytes = strlen(type->decl_file) + (relative ? strlen(type->comp_dir) : 0) + 2;
    char *path = malloc(bytes);
    if (path != NULL)
        snprintf(path, bytes, "%s%s%s", relative ? type->comp_dir : "", relative ? "/" : "",
                 type->decl_file);
    return path;
}

static int split(struct source *source, size_t bytes)
{
    uint32_t capacity = 1;
    for (size_t i = 0; i < bytes; i++)
        capacity += source->text[i] == '\n';
    source->lines = calloc(capacity, sizeof(*source->lines));
    if (source->lines == NULL)
        return MGLRU_ENOMEM;
    for (const char *at = source->text; at < source->text + bytes;) {
        const char *end = memchr(at, '\n', bytes - (size_t)(at - source->text));
        size_t length = end != NULL ? (size_t)(end - at) : bytes - (size_t)(at - source->text);
        source->lines[source->count] =
            (struct line){.text = at, .length = length, .number = source->count};
        source->count++;
        at += length + 1;
    }
    return MGLRU_OK;
}

static int load(const struct layout_type *type, struct source *source, struct layout_error *error)
{
    size_t bytes;
    if (type->decl_file == NULL)
        return fail(error, type->display, "its source file is not known (BTF has no lines)", NULL);
    source->path = source_path(type);
    if (source->path == NULL)
        return MGLRU_ENOMEM;
    int code = layout_text_read(source->path, SOURCE_MAX, &source->text, &bytes, error);
    return code == MGLRU_OK ? split(source, bytes) : code;
}

static void unload(struct source *source)
{
    for (uint32_t i = 0; i < source->count; i++)
        free(source->lines[i].owned);
    free(source->lines);
    free(source->text);
    free(source->path);
    *source = (struct source){0};
}

/* Index in the new order of the line that had @number. */
static uint32_t place_of(const struct source *source, uint32_t number)
{
    for (uint32_t i = 0; i < source->count; i++)
        if (source->lines[i].number == number)
            return i;
    return source->count;
}

static bool has_word(const struct line *line, const char *word)
{
    size_t length = strlen(word);
    for (size_t i = 0; i + length <= line->length; i++) {
        bool before =
            i == 0 || !(isalnum((unsigned char)line->text[i - 1]) || line->text[i - 1] == '_');
        unsigned char behind =
            i + length < line->length ? (unsigned char)line->text[i + length] : ' ';
        if (before && !isalnum(behind) && behind != '_' &&
            memcmp(line->text + i, word, length) == 0)
            return true;
    }
    return false;
}

/* First character that is no blank; 0 for an empty line. */
static char first_of(const struct line *line)
{
    for (size_t i = 0; i < line->length; i++)
        if (line->text[i] != ' ' && line->text[i] != '\t')
            return line->text[i];
    return '\0';
}

static bool ends_with(const struct line *line, const char *end)
{
    size_t length = line->length;
    size_t wanted = strlen(end);
    while (length > 0 && (line->text[length - 1] == ' ' || line->text[length - 1] == '\t'))
        length--;
    return length >= wanted && memcmp(line->text + length - wanted, end, wanted) == 0;
}

/* True when the whole line is part of a comment. */
static bool is_comment(const struct line *line)
{
    char first = first_of(line);
    if (first == '*')
        return true;
    if (first != '/')
        return false;
    const char *at = memchr(line->text, '/', line->length);
    bool slashes = at + 1 < line->text + line->length && at[1] == '/';
    return slashes || ends_with(line, "*/") || memchr(line->text, ';', line->length) == NULL;
}

/* A line that ends a declaration: its semicolon stands outside a comment at its end. */
static bool ends_declaration(const struct line *line)
{
    size_t length = line->length;
    for (size_t i = 0; i + 1 < line->length; i++)
        if (line->text[i] == '/' && (line->text[i + 1] == '/' || line->text[i + 1] == '*')) {
            length = i;
            break;
        }
    return memchr(line->text, ';', length) != NULL;
}

/* How deep braces are open behind @line, from @depth on. */
static int braces(const struct line *line, int depth)
{
    for (size_t i = 0; i < line->length; i++)
        depth += (line->text[i] == '{') - (line->text[i] == '}');
    return depth;
}

/* The lines of member @member, in old numbers. Only lines that were not moved yet are looked at. */
static int find_block(const struct source *source, const struct layout_type *type, uint32_t member,
                      struct block *block, struct layout_error *error)
{
    const struct layout_member *m = &type->members[member];
    const char *name = m->name != NULL ? m->name : "(unnamed)";
    if (m->decl_line == 0 || m->name == NULL || m->decl_line > source->count)
        return fail(error, source->path, "the debug information gives no line for a member", name);
    for (uint32_t i = 0; i < type->member_count; i++)
        if (i != member && type->members[i].decl_line == m->decl_line)
            return fail(error, source->path, "members share a line, move them by hand", name);
    uint32_t at = place_of(source, m->decl_line - 1);
    if (at == source->count || !has_word(&source->lines[at], m->name))
        return fail(error, source->path,
                    "the file is not the one that was compiled: no such "
                    "member where it should be",
                    name);
    uint32_t end = at;
    int depth = 0;
    while (end < source->count && end - at < BLOCK_MAX) {
        depth = braces(&source->lines[end], depth);
        if (depth <= 0 && ends_declaration(&source->lines[end]))
            break;
        end++;
    }
    uint32_t first = at;
    /* A declaration of a struct in place begins before its name, which stands behind the brace. */
    while (first > 0 && depth < 0 && at - first < BLOCK_MAX) {
        first--;
        depth = -braces(&source->lines[first], -depth);
    }
    while (first > 0 && at - first < BLOCK_MAX && is_comment(&source->lines[first - 1]))
        first--;
    if (end == source->count || end - at >= BLOCK_MAX || depth != 0)
        return fail(error, source->path, "its declaration does not end where it should", name);
    *block = (struct block){.first = first, .end = end + 1};
    return MGLRU_OK;
}

/* Takes the lines [@block) out of the order and puts them in front of place @to. */
static int move_lines(struct source *source, struct block block, uint32_t to)
{
    uint32_t count = block.end - block.first;
    struct line *taken = malloc(count * sizeof(*taken));
    if (taken == NULL)
        return MGLRU_ENOMEM;
    memcpy(taken, &source->lines[block.first], count * sizeof(*taken));
    for (uint32_t i = 0; i < count; i++)
        taken[i].moved = true;
    if (to > block.first)
        memmove(&source->lines[block.first], &source->lines[block.end],
                (to - block.end) * sizeof(*taken));
    else
        memmove(&source->lines[to + count], &source->lines[to],
                (block.first - to) * sizeof(*taken));
    memcpy(&source->lines[to > block.first ? to - count : to], taken, count * sizeof(*taken));
    free(taken);
    return MGLRU_OK;
}

/* Where the blocks of @move go: in front of this line of the new order. */
static int find_target(const struct source *source, const struct layout_move *move, uint32_t *to,
                       struct layout_error *error)
{
    struct block block;
    bool last = move->before == UINT32_MAX;
    uint32_t member = last ? move->type->member_count - 1 : move->before;
    int code = find_block(source, move->type, member, &block, error);
    *to = last ? block.end : block.first;
    return code;
}

/* Line, from 1, of the innermost #if or #else around line @number of the old text; 0: none. */
static uint32_t condition_at(const struct source *source, uint32_t number)
{
    uint32_t open[64] = {0};
    uint32_t depth = 0;
    const char *at = source->text;
    for (uint32_t i = 0; i < number && *at != '\0'; i++) {
        const char *word = at + strspn(at, " \t");
        if (*word == '#') {
            word += 1 + strspn(word + 1, " \t");
            if (strncmp(word, "if", 2) == 0 && depth < 63)
                open[++depth] = i + 1;
            else if (strncmp(word, "el", 2) == 0 && depth > 0)
                open[depth] = i + 1;
            else if (strncmp(word, "endif", 5) == 0 && depth > 0)
                depth--;
        }
        at += strcspn(at, "\n");
        at += *at == '\n';
    }
    return open[depth];
}

/* Both members stand under the same #if, so that a move means the same in every configuration. */
static bool same_condition(const struct source *source, const struct layout_type *type, uint32_t a,
                           uint32_t b)
{
    return condition_at(source, type->members[a].decl_line) ==
           condition_at(source, type->members[b].decl_line);
}

static int move_members(struct source *source, const struct layout_move *move,
                        struct layout_error *error)
{
    for (uint32_t i = 0; i < move->member_count; i++) {
        struct block block;
        uint32_t to;
        int code = find_block(source, move->type, move->members[i], &block, error);
        if (code == MGLRU_OK)
            code = find_target(source, move, &to, error);
        uint32_t beside = move->before == UINT32_MAX ? move->type->member_count - 1 : move->before;
        if (code == MGLRU_OK && !same_condition(source, move->type, move->members[i], beside))
            code = fail(error, source->path, "stands under another #if than its new neighbour",
                        move->type->members[move->members[i]].name);
        if (code == MGLRU_OK && to > block.first && to < block.end)
            code = fail(error, source->path, "declarations overlap", NULL);
        if (code == MGLRU_OK)
            code = move_lines(source, block, to);
        if (code != MGLRU_OK)
            return code;
    }
    return MGLRU_OK;
}

/* Writes _Alignas in front of the declaration. */
static int state_alignment(struct source *source, const struct layout_stated *stated,
                           struct layout_error *error)
{
    struct block block;
    int code = find_block(source, stated->type, stated->member, &block, error);
    if (code != MGLRU_OK)
        return code;
    struct line *line =
        &source->lines[place_of(source, stated->type->members[stated->member].decl_line - 1)];
    size_t blanks = 0;
    while (blanks < line->length && (line->text[blanks] == ' ' || line->text[blanks] == '\t'))
        blanks++;
    size_t bytes = line->length + 32;
    char *text = malloc(bytes);
    if (text == NULL)
        return MGLRU_ENOMEM;
    snprintf(text, bytes, "%.*s_Alignas(%u) %.*s", (int)blanks, line->text, stated->align_bytes,
             (int)(line->length - blanks), line->text + blanks);
    line->owned = text;
    line->text = text;
    line->length = strlen(text);
    return MGLRU_OK;
}

/* One step of the diff: a line that stays (' '), goes ('-') or comes ('+'). */
struct step {
    const struct line *line;
    const char *text; /* the old one for '-' */
    size_t length;
    char kind;
    uint32_t old_number, new_number;
};

/* The old text of the line with @number. */
static void old_text(const struct source *source, uint32_t number, struct step *step)
{
    const char *at = source->text;
    for (uint32_t i = 0; i < number; i++)
        at = strchr(at, '\n') + 1;
    step->text = at;
    step->length = strcspn(at, "\n");
}

static struct step *list_steps(const struct source *source, uint32_t *count)
{
    struct step *steps = calloc(2 * (size_t)source->count + 1, sizeof(*steps));
    uint32_t old = 0;
    *count = 0;
    for (uint32_t i = 0; steps != NULL && i < source->count; i++) {
        const struct line *line = &source->lines[i];
        bool stays = !line->moved && line->owned == NULL;
        /* Old lines in front of this one that are elsewhere now. */
        while (!line->moved && old < line->number) {
            struct step *gone = &steps[(*count)++];
            *gone = (struct step){.kind = '-', .old_number = old++, .new_number = i};
            old_text(source, gone->old_number, gone);
        }
        if (!line->moved && !stays) {
            struct step *gone = &steps[(*count)++];
            *gone = (struct step){.kind = '-', .old_number = old, .new_number = i};
            old_text(source, old, gone);
        }
        steps[(*count)++] = (struct step){.text = line->text,
                                          .length = line->length,
                                          .kind = stays ? ' ' : '+',
                                          .old_number = old + (!line->moved && !stays),
                                          .new_number = i};
        old += !line->moved;
    }
    while (steps != NULL && old < source->count) {
        struct step *gone = &steps[(*count)++];
        *gone = (struct step){.kind = '-', .old_number = old++, .new_number = source->count};
        old_text(source, gone->old_number, gone);
    }
    return steps;
}

/* Index behind the hunk that begins at @from with a change in it. */
static uint32_t hunk_end(const struct step *steps, uint32_t count, uint32_t from)
{
    uint32_t last = from;
    for (uint32_t i = from; i < count && i - last <= 2 * CONTEXT + 1; i++)
        if (steps[i].kind != ' ')
            last = i;
    uint32_t end = last + CONTEXT + 1;
    return end < count ? end : count;
}

static void print_hunk(FILE *stream, const struct step *steps, uint32_t from, uint32_t end)
{
    uint32_t old = 0;
    uint32_t new = 0;
    for (uint32_t i = from; i < end; i++) {
        old += steps[i].kind != '+';
        new += steps[i].kind != '-';
    }
    fprintf(stream, "@@ -%u,%u +%u,%u @@\n", steps[from].old_number + 1, old,
            steps[from].new_number + 1, new);
    for (uint32_t i = from; i < end; i++)
        fprintf(stream, "%c%.*s\n", steps[i].kind, (int)steps[i].length, steps[i].text);
}

/* The name as version control knows it: what leads out of the build's folder is cut off. */
static const char *shown_name(const char *name)
{
    while (strncmp(name, "../", 3) == 0 || strncmp(name, "./", 2) == 0)
        name = strchr(name, '/') + 1;
    return name;
}

/* Appends the diff of one file to @stream. */
static int print_diff(FILE *stream, const struct source *source, const char *name)
{
    uint32_t count;
    struct step *steps = list_steps(source, &count);
    if (steps == NULL)
        return MGLRU_ENOMEM;
    fprintf(stream, "--- %s%s\n+++ %s%s\n", name[0] == '/' ? "" : "a/", name,
            name[0] == '/' ? "" : "b/", name);
    uint32_t done = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (steps[i].kind == ' ')
            continue;
        uint32_t from = i > done + CONTEXT ? i - CONTEXT : done;
        uint32_t end = hunk_end(steps, count, i);
        print_hunk(stream, steps, from, end);
        done = end;
        i = end - 1;
    }
    free(steps);
    return MGLRU_OK;
}

/* The types that the proposal changes, each once. */
static size_t list_types(const struct layout_suggestion *suggestion,
                         const struct layout_type **types)
{
    size_t count = 0;
    for (size_t i = 0; i < suggestion->move_count + suggestion->aligned_count; i++) {
        const struct layout_type *type = i < suggestion->move_count
                                             ? suggestion->moves[i].type
                                             : suggestion->aligned[i - suggestion->move_count].type;
        bool known = false;
        for (size_t j = 0; j < count; j++)
            known = known || types[j] == type;
        if (!known)
            types[count++] = type;
    }
    return count;
}

static bool same_file(const struct layout_type *a, const struct layout_type *b)
{
    return a->decl_file != NULL && b->decl_file != NULL && strcmp(a->decl_file, b->decl_file) == 0;
}

/* Applies all that concerns the file of @type and prints it. */
static int patch_file(const struct layout_suggestion *suggestion, const struct layout_type *type,
                      FILE *stream, struct layout_error *error)
{
    struct source source = {0};
    int code = load(type, &source, error);
    for (size_t i = 0; code == MGLRU_OK && i < suggestion->move_count; i++)
        if (same_file(suggestion->moves[i].type, type))
            code = move_members(&source, &suggestion->moves[i], error);
    for (size_t i = 0; code == MGLRU_OK && i < suggestion->aligned_count; i++)
        if (same_file(suggestion->aligned[i].type, type))
            code = state_alignment(&source, &suggestion->aligned[i], error);
    if (code == MGLRU_OK)
        code = print_diff(stream, &source, shown_name(type->decl_file));
    unload(&source);
    return code;
}

int layout_patch_make(const struct layout_suggestion *suggestion, char **patch,
                      struct layout_error *error)
{
    const struct layout_type *types[SUGGEST_MOVES_MAX + SUGGEST_ALIGNS_MAX];
    size_t type_count = list_types(suggestion, types);
    size_t bytes;
    *patch = NULL;
    error->text[0] = '\0';
    FILE *stream = open_memstream(patch, &bytes);
    int code = stream != NULL ? MGLRU_OK : MGLRU_ENOMEM;
    for (size_t i = 0; code == MGLRU_OK && i < type_count; i++) {
        bool done = false;
        for (size_t j = 0; j < i; j++)
            done = done || same_file(types[j], types[i]);
        if (!done)
            code = patch_file(suggestion, types[i], stream, error);
    }
    if (stream != NULL && fclose(stream) != 0 && code == MGLRU_OK)
        code = MGLRU_ENOMEM;
    if (code != MGLRU_OK) {
        free(*patch);
        *patch = NULL;
    }
    return code;
}
