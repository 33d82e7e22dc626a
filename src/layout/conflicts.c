/* SPDX-License-Identifier: MIT */
/*
 * Finds fights over lines; see conflicts.h for the table.
 *
 * Idea: lines with the same hot fields are one stretch. Sorted by first line, the fields open and
 * close stretches; the fields of a stretch are judged in pairs, and the pairs of one verdict make
 * one finding. So the work depends on the number of fields, not on the size of the object.
 *
 * With any_base a pair may meet on a line at some bases only. Then the findings are one a verdict
 * and first field, each with the bases at which it happens.
 *
 * Invariant: fields in a finding are unique and in order of declaration.
 */
#include "layout/conflicts.h"

#include <stdlib.h>

#include <mglru/error.h>

#include "layout/explain.h"
#include "layout/grow.h"

struct search {
    const struct layout_map *map;
    const struct layout_conflict_options *options;
    struct layout_findings *findings;
    const struct layout_field **hot; /* by first line */
    size_t hot_count;
    bool failed; /* out of memory */
};

static struct layout_finding *add_finding(struct search *search, enum layout_verdict verdict,
                                          uint64_t first, uint64_t last)
{
    struct layout_finding *finding =
        layout_grow(&search->findings->items, &search->findings->count, sizeof(*finding));
    if (finding == NULL) {
        search->failed = true;
        return NULL;
    }
    finding->verdict = verdict;
    finding->severity = layout_verdict_severity(verdict);
    finding->line = first;
    finding->last_line = last;
    return finding;
}

static void add_member(struct search *search, const struct layout_field ***list, size_t *count,
                       const struct layout_field *field)
{
    for (size_t i = 0; i < *count; i++)
        if ((*list)[i] == field)
            return;
    const struct layout_field **place = layout_grow(list, count, sizeof(*place));
    if (place == NULL)
        search->failed = true;
    else
        *place = field;
}

static void add_reader(struct search *search, struct layout_finding *finding,
                       const struct layout_field *field)
{
    add_member(search, &finding->readers, &finding->reader_count, field);
}

static void add_writer(struct search *search, struct layout_finding *finding,
                       const struct layout_field *field)
{
    add_member(search, &finding->writers, &finding->writer_count, field);
}

static void add_pair(struct search *search, struct layout_finding *finding,
                     const struct layout_pair *pair)
{
    uint64_t cost = layout_pair_cost(pair);
    /* Heat makes a note a warning: many hand-overs, many readers. */
    if (finding->severity == LAYOUT_NOTE && cost >= layout_verdict_weight(LAYOUT_ATOMIC_LOCK))
        finding->severity = LAYOUT_WARNING;
    if (layout_field_class(pair->first) == LAYOUT_CLASS_READ)
        add_reader(search, finding, pair->first);
    else
        add_writer(search, finding, pair->first);
    add_writer(search, finding, pair->second);
}

/* A stretch of lines with the same hot fields. */
struct stretch {
    const struct layout_field **fields;
    size_t count;
    uint64_t first, last;
};

static bool is_fight(enum layout_verdict verdict)
{
    return layout_verdict_weight(verdict) > 0;
}

/* Adds to the finding of @pair's verdict that was made for this stretch, or makes it. */
static void note_pair(struct search *search, const struct stretch *stretch,
                      const struct layout_pair *pair, size_t from)
{
    struct layout_finding *finding = NULL;
    for (size_t i = from; i < search->findings->count && finding == NULL; i++)
        if (search->findings->items[i].verdict == pair->verdict)
            finding = &search->findings->items[i];
    if (finding == NULL)
        finding = add_finding(search, pair->verdict, stretch->first, stretch->last);
    if (finding != NULL)
        add_pair(search, finding, pair);
}

/* True sharing on consecutive lines under one lock is one story. */
static void note_true_sharing(struct search *search, const struct stretch *stretch)
{
    struct layout_findings *found = search->findings;
    struct layout_finding *finding = NULL;
    for (size_t i = 0; i < found->count && finding == NULL; i++) {
        struct layout_finding *old = &found->items[i];
        if (old->verdict == LAYOUT_TRUE_SHARING && old->last_line + 1 == stretch->first &&
            layout_use_excludes(old->writers[0]->use, stretch->fields[0]->use))
            finding = old;
    }
    if (finding == NULL)
        finding = add_finding(search, LAYOUT_TRUE_SHARING, stretch->first, stretch->last);
    if (finding == NULL)
        return;
    finding->last_line = stretch->last;
    for (size_t i = 0; i < stretch->count; i++)
        add_writer(search, finding, stretch->fields[i]);
}

/* Only fields of one lock, more than one or an array: worth the word that it is no fight. */
static bool shares_truly(const struct stretch *stretch)
{
    for (size_t i = 0; i < stretch->count; i++)
        if (layout_field_class(stretch->fields[i]) != LAYOUT_CLASS_LOCK ||
            !layout_use_excludes(stretch->fields[0]->use, stretch->fields[i]->use))
            return false;
    return stretch->count > 1 || (stretch->count == 1 && stretch->fields[0]->element_bits > 0);
}

static void judge_stretch(struct search *search, const struct stretch *stretch)
{
    size_t from = search->findings->count;
    if (shares_truly(stretch)) {
        note_true_sharing(search, stretch);
        return;
    }
    for (size_t i = 0; i < stretch->count; i++)
        for (size_t j = i + 1; j < stretch->count; j++) {
            struct layout_pair pair;
            if (layout_pair_judge(stretch->fields[i], stretch->fields[j], &pair) &&
                pair.verdict != LAYOUT_TRUE_SHARING)
                note_pair(search, stretch, &pair, from);
        }
}

static void lines_of(const struct search *search, const struct layout_field *field,
                     uint64_t lines[2])
{
    layout_field_lines(field, search->options->line_bytes, search->options->base_bytes, lines);
}

/* Where the stretch that begins at @first ends: before the next field begins or one ends. */
static uint64_t stretch_end(const struct search *search, const struct stretch *stretch, size_t next)
{
    uint64_t end = UINT64_MAX;
    uint64_t lines[2];
    for (size_t i = 0; i < stretch->count; i++) {
        lines_of(search, stretch->fields[i], lines);
        end = lines[1] < end ? lines[1] : end;
    }
    if (next < search->hot_count) {
        lines_of(search, search->hot[next], lines);
        end = lines[0] <= end ? lines[0] - 1 : end;
    }
    return end;
}

static void find_on_lines(struct search *search)
{
    struct stretch stretch = {.fields = calloc(search->hot_count + 1, sizeof(*stretch.fields))};
    if (stretch.fields == NULL) {
        search->failed = true;
        return;
    }
    for (size_t next = 0; next < search->hot_count || stretch.count > 0;) {
        uint64_t lines[2];
        if (stretch.count == 0) {
            lines_of(search, search->hot[next], lines);
            stretch.first = lines[0];
        }
        for (; next < search->hot_count; next++) {
            lines_of(search, search->hot[next], lines);
            if (lines[0] > stretch.first)
                break;
            stretch.fields[stretch.count++] = search->hot[next];
        }
        stretch.last = stretch_end(search, &stretch, next);
        judge_stretch(search, &stretch);
        size_t kept = 0;
        for (size_t i = 0; i < stretch.count; i++) {
            lines_of(search, stretch.fields[i], lines);
            if (lines[1] > stretch.last)
                stretch.fields[kept++] = stretch.fields[i];
        }
        stretch.count = kept;
        stretch.first = stretch.last + 1;
    }
    free(stretch.fields);
}

/* Bases at which the two meet on a line; the line of the first such base. */
static uint64_t meeting_bases(const struct search *search, const struct layout_field *a,
                              const struct layout_field *b, uint64_t *line)
{
    uint64_t bases = 0;
    uint64_t line_bytes = search->options->line_bytes;
    for (uint64_t base = 0; base < line_bytes; base += LAYOUT_BASE_STEP) {
        uint64_t of_a[2];
        uint64_t of_b[2];
        layout_field_lines(a, line_bytes, base, of_a);
        layout_field_lines(b, line_bytes, base, of_b);
        if (of_a[0] > of_b[1] || of_b[0] > of_a[1])
            continue;
        if (bases == 0)
            *line = of_a[0] > of_b[0] ? of_a[0] : of_b[0];
        bases |= UINT64_C(1) << (base / LAYOUT_BASE_STEP);
    }
    return bases;
}

static void find_at_any_base(struct search *search)
{
    for (size_t i = 0; i < search->hot_count && !search->failed; i++)
        for (size_t j = i + 1; j < search->hot_count; j++) {
            struct layout_pair pair;
            if (!layout_pair_judge(search->hot[i], search->hot[j], &pair) ||
                !is_fight(pair.verdict))
                continue;
            uint64_t line = 0;
            uint64_t bases = meeting_bases(search, pair.first, pair.second, &line);
            if (bases == 0)
                continue;
            struct layout_finding *finding = NULL;
            for (size_t k = 0; k < search->findings->count && finding == NULL; k++) {
                struct layout_finding *old = &search->findings->items[k];
                const struct layout_field *first =
                    old->reader_count > 0 ? old->readers[0] : old->writers[0];
                if (old->verdict == pair.verdict && first == pair.first)
                    finding = old;
            }
            if (finding == NULL)
                finding = add_finding(search, pair.verdict, line, line);
            if (finding == NULL)
                return;
            finding->bases |= bases;
            add_pair(search, finding, &pair);
        }
}

static void find_elements(struct search *search, const struct layout_field *field)
{
    uint64_t stride = field->element_bits / 8;
    bool written = layout_field_class(field) != LAYOUT_CLASS_READ;
    if (!field->each || !written || stride == 0 || field->bit_size <= field->element_bits ||
        stride % search->options->line_bytes == 0)
        return;
    uint64_t lines[2];
    lines_of(search, field, lines);
    struct layout_finding *finding = add_finding(search, LAYOUT_ELEMENTS, lines[0], lines[1]);
    if (finding != NULL)
        add_writer(search, finding, field);
}

static void find_straddle(struct search *search, const struct layout_field *field)
{
    uint64_t lines[2];
    lines_of(search, field, lines);
    if (field->element_bits > 0 || lines[1] <= lines[0] ||
        field->bit_size > search->options->line_bytes * 8)
        return;
    struct layout_finding *finding = add_finding(search, LAYOUT_STRADDLE, lines[0], lines[1]);
    if (finding == NULL)
        return;
    /* The words of a list head are used together, but one at a time. */
    if (field->opaque)
        finding->severity = LAYOUT_NOTE;
    if (layout_field_class(field) == LAYOUT_CLASS_READ)
        add_reader(search, finding, field);
    else
        add_writer(search, finding, field);
}

static void find_alignment(struct search *search)
{
    uint64_t align = search->map->type->align_bytes;
    if (align <= LAYOUT_MALLOC_ALIGN || search->options->alloc_align >= align ||
        search->hot_count == 0)
        return;
    add_finding(search, LAYOUT_ALIGNMENT, 0, 0);
}

/* Data of @field's lock that one line could hold: where it lies and whether padding parts it. */
struct spread {
    uint64_t bytes;
    uint64_t lines;
    uint64_t last_line;
    uint64_t end_bits; /* of the previous one */
    bool parted;       /* padding moves one of them to another line */
};

static void spread_add(const struct search *search, struct spread *spread,
                       const struct layout_field *field, bool adjacent)
{
    uint64_t lines[2];
    lines_of(search, field, lines);
    if (spread->lines == 0 || lines[0] > spread->last_line) {
        /* Padding by a whole list head and more is no rounding up to the next member. */
        if (spread->lines > 0 && adjacent && field->bit_offset >= spread->end_bits + 128)
            spread->parted = true;
        spread->lines++;
    }
    spread->lines += lines[1] - lines[0];
    spread->last_line = lines[1];
    spread->end_bits = field->bit_offset + field->bit_size;
    spread->bytes += (field->bit_size + 7) / 8;
}

/* Lock data spread by padding: @first is the first field of its lock. */
static void find_split(struct search *search, const struct layout_field *first)
{
    const struct layout_map *map = search->map;
    struct spread spread = {0};
    const struct layout_field *previous = NULL;
    for (size_t i = 0; i < map->field_count; i++) {
        const struct layout_field *field = &map->fields[i];
        bool same = field->use != NULL && field->bit_size > 0 &&
                    field->bit_size <= search->options->line_bytes * 8 &&
                    layout_use_excludes(field->use, first->use);
        if (same && field < first)
            return;
        if (same)
            spread_add(search, &spread, field, previous != NULL && previous + 1 == field);
        if (same)
            previous = field;
    }
    uint64_t needed =
        (spread.bytes + search->options->line_bytes - 1) / search->options->line_bytes;
    if (!spread.parted || spread.lines <= needed)
        return;
    struct layout_finding *finding = add_finding(search, LAYOUT_SPLIT, 0, 0);
    for (size_t i = 0; finding != NULL && i < map->field_count; i++)
        if (map->fields[i].use != NULL && layout_use_excludes(map->fields[i].use, first->use))
            add_writer(search, finding, &map->fields[i]);
    if (finding == NULL)
        return;
    uint64_t lines[2];
    lines_of(search, finding->writers[0], lines);
    finding->line = lines[0];
    finding->last_line = spread.last_line;
}

static int compare_hot(const void *a, const void *b)
{
    const struct layout_field *first = *(const struct layout_field *const *)a;
    const struct layout_field *second = *(const struct layout_field *const *)b;
    if (first->bit_offset != second->bit_offset)
        return first->bit_offset < second->bit_offset ? -1 : 1;
    return (first > second) - (first < second);
}

static int compare_findings(const void *a, const void *b)
{
    const struct layout_finding *first = a;
    const struct layout_finding *second = b;
    if (first->severity != second->severity)
        return first->severity > second->severity ? -1 : 1;
    if (first->line != second->line)
        return first->line < second->line ? -1 : 1;
    return (first->verdict > second->verdict) - (first->verdict < second->verdict);
}

static void sort_members(const struct layout_field **list, size_t count)
{
    if (count > 1)
        qsort(list, count, sizeof(*list), compare_hot);
}

int layout_conflicts_find(const struct layout_map *map,
                          const struct layout_conflict_options *options,
                          struct layout_findings *findings)
{
    *findings = (struct layout_findings){.options = *options};
    struct search search = {.map = map, .options = options, .findings = findings};
    search.hot = calloc(map->field_count + 1, sizeof(*search.hot));
    search.failed = search.hot == NULL;
    for (size_t i = 0; !search.failed && i < map->field_count; i++)
        if (layout_field_hot(&map->fields[i]) && map->fields[i].bit_size > 0)
            search.hot[search.hot_count++] = &map->fields[i];
    if (search.hot_count > 1)
        qsort(search.hot, search.hot_count, sizeof(*search.hot), compare_hot);
    if (!search.failed && options->any_base)
        find_at_any_base(&search);
    else if (!search.failed)
        find_on_lines(&search);
    for (size_t i = 0; !search.failed && i < search.hot_count; i++) {
        find_elements(&search, search.hot[i]);
        if (!options->any_base)
            find_straddle(&search, search.hot[i]);
        if (layout_field_class(search.hot[i]) == LAYOUT_CLASS_LOCK)
            find_split(&search, search.hot[i]);
    }
    if (!search.failed)
        find_alignment(&search);
    for (size_t i = 0; !search.failed && i < findings->count; i++) {
        sort_members(findings->items[i].readers, findings->items[i].reader_count);
        sort_members(findings->items[i].writers, findings->items[i].writer_count);
        search.failed = !layout_finding_explain(map, options, &findings->items[i]);
    }
    free(search.hot);
    if (search.failed) {
        layout_findings_free(findings);
        return MGLRU_ENOMEM;
    }
    if (findings->count > 1)
        qsort(findings->items, findings->count, sizeof(*findings->items), compare_findings);
    return MGLRU_OK;
}

void layout_findings_free(struct layout_findings *findings)
{
    for (size_t i = 0; i < findings->count; i++) {
        free(findings->items[i].readers);
        free(findings->items[i].writers);
        free(findings->items[i].why);
    }
    free(findings->items);
    *findings = (struct layout_findings){0};
}
