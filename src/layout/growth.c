/* SPDX-License-Identifier: MIT */
/*
 * Why a type has another size; see growth.h.
 *
 * The account of a struct: size = members + holes between them + padding. Each term is compared
 * with its counterpart in the old layout; members are matched by name, those without one by their
 * number among such. For unions only the largest member counts.
 */
#include "layout/growth.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mglru/error.h>

#include "layout/grow.h"

#define REASON_BYTES 4096
/* Single terms that a reason names; the rest is summed up. Chosen: a step stays readable. */
#define TERMS_SHOWN 8

struct reason {
    char text[REASON_BYTES];
    size_t length;
    unsigned terms;
    int64_t rest; /* of terms that are not shown */
};

__attribute__((format(printf, 3, 4))) static void add_term(struct reason *reason, int64_t delta,
                                                           const char *format, ...)
{
    if (delta == 0)
        return;
    if (reason->terms >= TERMS_SHOWN || reason->length + 512 > sizeof(reason->text)) {
        reason->rest += delta;
        return;
    }
    char what[400];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof(what), format, arguments);
    va_end(arguments);
    reason->length +=
        (size_t)snprintf(reason->text + reason->length, sizeof(reason->text) - reason->length,
                         "%s%+" PRId64 " %s", reason->terms > 0 ? "; " : "", delta, what);
    reason->terms++;
}

static const char *name_of(const struct layout_member *member)
{
    return member->name != NULL ? member->name : "(unnamed)";
}

/* The member of @type that stands for @member of @of; NULL: none. */
static const struct layout_member *counterpart(const struct layout_type *type,
                                               const struct layout_type *of,
                                               const struct layout_member *member)
{
    unsigned unnamed = 0;
    for (const struct layout_member *m = of->members; m < member; m++)
        unnamed += m->name == NULL;
    for (uint32_t i = 0; i < type->member_count; i++) {
        const struct layout_member *other = &type->members[i];
        if (member->name == NULL ? other->name == NULL && unnamed-- == 0
                                 : other->name != NULL && strcmp(other->name, member->name) == 0)
            return other;
    }
    return NULL;
}

static int64_t bytes_of(uint64_t bits)
{
    return (int64_t)((bits + 7) / 8);
}

/* Where the members in front of @member end, in bytes. */
static int64_t end_before(const struct layout_type *type, const struct layout_member *member)
{
    uint64_t end = 0;
    for (const struct layout_member *m = type->members; m < member; m++)
        if (m->bit_offset + m->bit_size > end)
            end = m->bit_offset + m->bit_size;
    return bytes_of(end);
}

/* Bytes that nothing covers in front of @member; bit-fields share bytes, then 0. */
static int64_t hole_before(const struct layout_type *type, const struct layout_member *member)
{
    int64_t hole = (int64_t)(member->bit_offset / 8) - end_before(type, member);
    return hole > 0 ? hole : 0;
}

static int64_t tail_of(const struct layout_type *type)
{
    return (int64_t)type->size_bytes - end_before(type, type->members + type->member_count);
}

/* Bytes that @member adds to the end of those in front of it, its hole apart. */
static int64_t extent_of(const struct layout_type *type, const struct layout_member *member)
{
    return end_before(type, member + 1) - end_before(type, member) - hole_before(type, member);
}

static void compare_member(struct reason *reason, const struct layout_type *before,
                           const struct layout_type *after, const struct layout_member *member)
{
    const struct layout_member *old = counterpart(before, after, member);
    int64_t hole = hole_before(after, member);
    if (old == NULL) {
        add_term(reason, hole, "hole before %s", name_of(member));
        add_term(reason, extent_of(after, member), "%s is new", name_of(member));
        return;
    }
    int64_t old_hole = hole_before(before, old);
    const char *name = name_of(member);
    int64_t change = hole - old_hole;
    if (change > 0 && member->align_bytes > old->align_bytes)
        add_term(reason, change,
                 "hole before %s, which is aligned to %u instead of %u now (offset %" PRIu64
                 " -> %" PRIu64 ")",
                 name, member->align_bytes, old->align_bytes, old->bit_offset / 8,
                 member->bit_offset / 8);
    else if (change < 0 && hole == 0)
        add_term(reason, change, "the spare %" PRId64 " bytes before %s take it up", old_hole,
                 name);
    else
        add_term(reason, change, "hole before %s (%" PRId64 " -> %" PRId64 ")", name, old_hole,
                 hole);
    int64_t grown = extent_of(after, member) - extent_of(before, old);
    add_term(reason, grown, "%s %s", name, grown > 0 ? "grew" : "shrank");
}

static void compare_struct(struct reason *reason, const struct layout_type *before,
                           const struct layout_type *after)
{
    for (uint32_t i = 0; i < after->member_count; i++)
        compare_member(reason, before, after, &after->members[i]);
    for (uint32_t i = 0; i < before->member_count; i++) {
        const struct layout_member *old = &before->members[i];
        if (counterpart(after, before, old) != NULL)
            continue;
        add_term(reason, -extent_of(before, old), "%s is gone", name_of(old));
        add_term(reason, -hole_before(before, old), "with the hole before it");
    }
    int64_t tail = tail_of(after) - tail_of(before);
    if (after->align_bytes != before->align_bytes)
        add_term(reason, tail, "padding at the end: the size is a multiple of %u instead of %u now",
                 after->align_bytes, before->align_bytes);
    else
        add_term(reason, tail, "padding at the end (%" PRId64 " -> %" PRId64 ")", tail_of(before),
                 tail_of(after));
}

static void compare_union(struct reason *reason, const struct layout_type *before,
                          const struct layout_type *after)
{
    const struct layout_member *largest = NULL;
    for (uint32_t i = 0; i < after->member_count; i++)
        if (largest == NULL || after->members[i].bit_size > largest->bit_size)
            largest = &after->members[i];
    add_term(reason, (int64_t)after->size_bytes - (int64_t)before->size_bytes,
             "its largest member is %s now, of %" PRId64 " bytes",
             largest != NULL ? name_of(largest) : "none",
             largest != NULL ? bytes_of(largest->bit_size) : 0);
}

static int add_step(struct layout_growth *growth, const struct layout_type *before,
                    const struct layout_type *after, uint64_t line_bytes)
{
    struct reason *reason = calloc(1, sizeof(*reason));
    struct layout_growth_step *step =
        reason != NULL ? layout_grow(&growth->steps, &growth->count, sizeof(*step)) : NULL;
    if (step == NULL) {
        free(reason);
        return MGLRU_ENOMEM;
    }
    step->before = before;
    step->after = after;
    step->delta_bytes = (int64_t)after->size_bytes - (int64_t)before->size_bytes;
    if (before->kind == LAYOUT_UNION || after->kind == LAYOUT_UNION)
        compare_union(reason, before, after);
    else
        compare_struct(reason, before, after);
    char more[256] = "";
    uint64_t lines[2] = {(before->size_bytes + line_bytes - 1) / line_bytes,
                         (after->size_bytes + line_bytes - 1) / line_bytes};
    if (reason->rest != 0)
        snprintf(more, sizeof(more), "; %+" PRId64 " in other holes and members", reason->rest);
    char align[96] = "";
    if (before->align_bytes != after->align_bytes)
        snprintf(align, sizeof(align), "; aligned to %u instead of %u", after->align_bytes,
                 before->align_bytes);
    char count[96] = "";
    if (lines[0] != lines[1])
        snprintf(count, sizeof(count), "; %" PRIu64 " -> %" PRIu64 " lines", lines[0], lines[1]);
    size_t bytes = reason->length + sizeof(more) + sizeof(align) + sizeof(count) + 32;
    step->reason = malloc(bytes);
    if (step->reason != NULL)
        snprintf(step->reason, bytes, "%s%s%s%s",
                 reason->text[0] != '\0' ? reason->text : "the same members", more, align, count);
    free(reason);
    return step->reason != NULL ? MGLRU_OK : MGLRU_ENOMEM;
}

static bool known_step(const struct layout_growth *growth, const struct layout_type *after)
{
    for (size_t i = 0; i < growth->count; i++)
        if (growth->steps[i].after == after)
            return true;
    return false;
}

static int walk(struct layout_growth *growth, const struct layout_type *before,
                const struct layout_type *after, uint64_t line_bytes)
{
    int code = MGLRU_OK;
    for (uint32_t i = 0; code == MGLRU_OK && i < after->member_count; i++) {
        const struct layout_member *member = &after->members[i];
        const struct layout_member *old = counterpart(before, after, member);
        if (old == NULL || old->type == NULL || member->type == NULL ||
            known_step(growth, member->type) ||
            (old->type->size_bytes == member->type->size_bytes &&
             old->type->align_bytes == member->type->align_bytes))
            continue;
        code = walk(growth, old->type, member->type, line_bytes);
    }
    return code == MGLRU_OK ? add_step(growth, before, after, line_bytes) : code;
}

int layout_growth_explain(const struct layout_type *before, const struct layout_type *after,
                          uint64_t line_bytes, struct layout_growth *growth)
{
    *growth = (struct layout_growth){0};
    growth->total_bytes = (int64_t)after->size_bytes - (int64_t)before->size_bytes;
    int code = walk(growth, before, after, line_bytes);
    if (code != MGLRU_OK)
        layout_growth_free(growth);
    return code;
}

void layout_growth_free(struct layout_growth *growth)
{
    for (size_t i = 0; i < growth->count; i++)
        free(growth->steps[i].reason);
    free(growth->steps);
    *growth = (struct layout_growth){0};
}
