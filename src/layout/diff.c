/* SPDX-License-Identifier: MIT */
/*
 * Compares two layouts; see diff.h.
 *
 * Idea: a finding of one layout is cut down to the fields that take part in a pair which the other
 * layout does not have. What is left, if anything, is new (or gone).
 */
#include "layout/diff.h"

#include <stdlib.h>
#include <string.h>

#include <mglru/error.h>

#include "layout/explain.h"
#include "layout/grow.h"

static int compare_names(const void *a, const void *b)
{
    const struct layout_field *first = *(const struct layout_field *const *)a;
    const struct layout_field *second = *(const struct layout_field *const *)b;
    int order = strcmp(first->path, second->path);
    if (order == 0)
        order = strcmp(first->elements, second->elements);
    return order != 0 ? order : (first > second) - (first < second);
}

int layout_index_build(const struct layout_map *map, struct layout_index_of *index)
{
    index->count = map->field_count;
    index->fields = calloc(map->field_count + 1, sizeof(*index->fields));
    if (index->fields == NULL)
        return MGLRU_ENOMEM;
    for (size_t i = 0; i < map->field_count; i++)
        index->fields[i] = &map->fields[i];
    qsort(index->fields, index->count, sizeof(*index->fields), compare_names);
    return MGLRU_OK;
}

void layout_index_free(struct layout_index_of *index)
{
    free(index->fields);
    *index = (struct layout_index_of){0};
}

const struct layout_field *layout_index_find(const struct layout_index_of *index, const char *path,
                                             const char *elements)
{
    size_t low = 0;
    size_t high = index->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = strcmp(index->fields[middle]->path, path);
        if (order == 0)
            order = strcmp(index->fields[middle]->elements, elements);
        if (order == 0)
            return index->fields[middle];
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

static bool meet_at(const struct layout_field *a, const struct layout_field *b, uint64_t line_bytes,
                    uint64_t base_bytes)
{
    uint64_t of_a[2];
    uint64_t of_b[2];
    layout_field_lines(a, line_bytes, base_bytes, of_a);
    layout_field_lines(b, line_bytes, base_bytes, of_b);
    return of_a[0] <= of_a[1] && of_b[0] <= of_b[1] && of_a[0] <= of_b[1] && of_b[0] <= of_a[1];
}

bool layout_fields_meet(const struct layout_field *a, const struct layout_field *b,
                        const struct layout_conflict_options *options)
{
    if (!options->any_base)
        return meet_at(a, b, options->line_bytes, options->base_bytes);
    for (uint64_t base = 0; base < options->line_bytes; base += LAYOUT_BASE_STEP)
        if (meet_at(a, b, options->line_bytes, base))
            return true;
    return false;
}

void layout_finding_pairs(const struct layout_finding *finding,
                          bool (*visit)(void *context, const struct layout_field *a,
                                        const struct layout_field *b),
                          void *context)
{
    if (finding->verdict >= LAYOUT_ELEMENTS) {
        for (size_t i = 0; i < finding->reader_count + finding->writer_count; i++)
            if (!visit(context,
                       i < finding->reader_count ? finding->readers[i]
                                                 : finding->writers[i - finding->reader_count],
                       NULL))
                return;
        return;
    }
    for (size_t i = 0; i < finding->writer_count; i++) {
        for (size_t j = 0; j < finding->reader_count; j++)
            if (!visit(context, finding->readers[j], finding->writers[i]))
                return;
        for (size_t j = i + 1; finding->reader_count == 0 && j < finding->writer_count; j++)
            if (!visit(context, finding->writers[i], finding->writers[j]))
                return;
    }
}

/* Cuts a finding down to what the other layout does not have. */
struct cut {
    const struct layout_finding *finding;
    const struct layout_index_of *other;
    const struct layout_findings *other_findings;
    struct layout_finding *left;
    bool failed;
};

static void keep(struct cut *cut, const struct layout_field *field)
{
    bool reader = layout_field_class(field) == LAYOUT_CLASS_READ;
    const struct layout_field ***list = reader ? &cut->left->readers : &cut->left->writers;
    size_t *count = reader ? &cut->left->reader_count : &cut->left->writer_count;
    for (size_t i = 0; i < *count; i++)
        if ((*list)[i] == field)
            return;
    const struct layout_field **place = layout_grow(list, count, sizeof(*place));
    if (place == NULL)
        cut->failed = true;
    else
        *place = field;
}

/* True when the other layout has a finding of this kind about @field alone. */
static bool other_has(const struct cut *cut, const struct layout_field *field)
{
    for (size_t i = 0; i < cut->other_findings->count; i++) {
        const struct layout_finding *old = &cut->other_findings->items[i];
        for (size_t j = 0;
             old->verdict == cut->finding->verdict && j < old->reader_count + old->writer_count;
             j++) {
            const struct layout_field *other =
                j < old->reader_count ? old->readers[j] : old->writers[j - old->reader_count];
            if (strcmp(other->path, field->path) == 0 &&
                strcmp(other->elements, field->elements) == 0)
                return true;
        }
    }
    return false;
}

static bool visit_pair(void *context, const struct layout_field *a, const struct layout_field *b)
{
    struct cut *cut = context;
    struct layout_pair pair;
    if (b == NULL) {
        if (!other_has(cut, a))
            keep(cut, a);
        return !cut->failed;
    }
    if (!layout_pair_judge(a, b, &pair) || pair.verdict != cut->finding->verdict)
        return true;
    const struct layout_field *old_a = layout_index_find(cut->other, a->path, a->elements);
    const struct layout_field *old_b = layout_index_find(cut->other, b->path, b->elements);
    if (old_a != NULL && old_b != NULL &&
        layout_fields_meet(old_a, old_b, &cut->other_findings->options))
        return true;
    keep(cut, a);
    keep(cut, b);
    return !cut->failed;
}

/* Moves what only @of has into @to. */
static int cut_findings(const struct layout_map *map, const struct layout_findings *of,
                        const struct layout_index_of *other,
                        const struct layout_findings *other_findings, struct layout_findings *to)
{
    to->options = of->options;
    for (size_t i = 0; i < of->count; i++) {
        const struct layout_finding *finding = &of->items[i];
        struct layout_finding left = *finding;
        left.readers = left.writers = NULL;
        left.reader_count = left.writer_count = 0;
        left.why = NULL;
        struct cut cut = {
            .finding = finding, .other = other, .other_findings = other_findings, .left = &left};
        if (layout_verdict_weight(finding->verdict) > 0 || finding->verdict >= LAYOUT_ELEMENTS)
            layout_finding_pairs(finding, visit_pair, &cut);
        bool any = left.reader_count + left.writer_count > 0;
        struct layout_finding *place =
            any && !cut.failed ? layout_grow(&to->items, &to->count, sizeof(*place)) : NULL;
        if (place != NULL)
            *place = left;
        if (any && (place == NULL || !layout_finding_explain(map, &of->options, place))) {
            if (place == NULL) {
                free(left.readers);
                free(left.writers);
            }
            return MGLRU_ENOMEM;
        }
    }
    return MGLRU_OK;
}

static int note_change(struct layout_change **list, size_t *count,
                       const struct layout_field *before, const struct layout_field *after)
{
    struct layout_change *change = layout_grow(list, count, sizeof(*change));
    if (change == NULL)
        return MGLRU_ENOMEM;
    *change = (struct layout_change){.before = before, .after = after};
    return MGLRU_OK;
}

static int list_changes(const struct layout_map *before, const struct layout_map *after,
                        const struct layout_index_of indexes[2], struct layout_diff *diff)
{
    int code = MGLRU_OK;
    for (size_t i = 0; code == MGLRU_OK && i < after->field_count; i++) {
        const struct layout_field *field = &after->fields[i];
        const struct layout_field *old =
            layout_index_find(&indexes[0], field->path, field->elements);
        if (old == NULL || old->bit_size != field->bit_size)
            code = note_change(&diff->changed, &diff->changed_count, old, field);
        if (code == MGLRU_OK && old != NULL && old->bit_offset != field->bit_offset)
            code = note_change(&diff->moved, &diff->moved_count, old, field);
    }
    for (size_t i = 0; code == MGLRU_OK && i < before->field_count; i++) {
        const struct layout_field *old = &before->fields[i];
        if (layout_index_find(&indexes[1], old->path, old->elements) == NULL)
            code = note_change(&diff->changed, &diff->changed_count, old, NULL);
    }
    return code;
}

int layout_diff(const struct layout_map *before, const struct layout_map *after,
                const struct layout_conflict_options *options, struct layout_diff *diff)
{
    struct layout_index_of indexes[2] = {{0}};
    struct layout_findings found[2] = {{0}};
    *diff = (struct layout_diff){0};
    diff->growth_bytes = (int64_t)after->type->size_bytes - (int64_t)before->type->size_bytes;
    int code = layout_index_build(before, &indexes[0]);
    if (code == MGLRU_OK)
        code = layout_index_build(after, &indexes[1]);
    if (code == MGLRU_OK)
        code = layout_conflicts_find(before, options, &found[0]);
    if (code == MGLRU_OK)
        code = layout_conflicts_find(after, options, &found[1]);
    if (code == MGLRU_OK)
        code = list_changes(before, after, indexes, diff);
    if (code == MGLRU_OK)
        code = cut_findings(after, &found[1], &indexes[0], &found[0], &diff->fresh);
    if (code == MGLRU_OK)
        code = cut_findings(before, &found[0], &indexes[1], &found[1], &diff->gone);
    for (unsigned i = 0; i < 2; i++) {
        layout_index_free(&indexes[i]);
        layout_findings_free(&found[i]);
    }
    if (code != MGLRU_OK)
        layout_diff_free(diff);
    return code;
}

void layout_diff_free(struct layout_diff *diff)
{
    free(diff->moved);
    free(diff->changed);
    layout_findings_free(&diff->fresh);
    layout_findings_free(&diff->gone);
    *diff = (struct layout_diff){0};
}
