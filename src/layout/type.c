/* SPDX-License-Identifier: MIT */
/* What can be said of a type without looking anywhere else; see type.h. */
#include "layout/type.h"

#include <string.h>

#include "base/bits.h"

const char *layout_kind_name(enum layout_kind kind)
{
    return kind == LAYOUT_UNION ? "union" : kind == LAYOUT_CLASS ? "class" : "struct";
}

static uint64_t end_of(const struct layout_member *member)
{
    return member->bit_offset + member->bit_size;
}

/* Where the storage unit of a bit-field ends: what is unused up to there are bits, not bytes. */
static uint64_t unit_end(const struct layout_member *member)
{
    uint64_t unit = member->element_bytes * 8;
    uint64_t end = end_of(member);
    return unit == 0 ? end : (end + unit - 1) / unit * unit;
}

/* The gap from @end to @start behind @previous (NULL: at the start of the type). */
static void add_gap(struct layout_summary *summary, const struct layout_member *previous,
                    uint64_t end, uint64_t start)
{
    uint64_t bits = 0;
    if (previous != NULL && (previous->flags & LAYOUT_BITFIELD) != 0) {
        uint64_t stop = unit_end(previous) < start ? unit_end(previous) : start;
        bits = stop > end ? stop - end : 0;
    }
    bits += (start - end - bits) % 8;
    summary->bit_holes += bits > 0;
    summary->bit_hole_bits += bits;
    summary->hole_bytes += (start - end - bits) / 8;
    summary->holes += start - end - bits > 0;
}

void layout_summarise(const struct layout_type *type, struct layout_summary *summary)
{
    *summary = (struct layout_summary){0};
    const struct layout_member *previous = NULL;
    uint64_t end = 0, size = type->size_bytes * 8;
    for (uint32_t i = 0; i < type->member_count; i++) {
        const struct layout_member *member = &type->members[i];
        summary->flexible += (member->flags & LAYOUT_FLEXIBLE) != 0;
        if (type->kind != LAYOUT_UNION && member->bit_offset > end)
            add_gap(summary, previous, end, member->bit_offset);
        if (type->kind != LAYOUT_UNION && member->bit_offset < end && member->bit_size > 0)
            summary->overlaps = true;
        if (end_of(member) >= end) {
            end = end_of(member);
            previous = member;
        }
    }
    summary->padding_bytes = (size - end) / 8;
    summary->bit_padding = (uint32_t)((size - end) % 8);
}

#define HASH_START UINT64_C(0xcbf29ce484222325)

static uint64_t mix(uint64_t hash, uint64_t value)
{
    return bits_mix64(hash ^ value) + value;
}

static uint64_t mix_text(uint64_t hash, const char *text)
{
    uint64_t sum = HASH_START;
    for (; text != NULL && *text != '\0'; text++)
        sum = (sum ^ (uint8_t)*text) * UINT64_C(0x100000001b3);
    return mix(hash, text != NULL ? sum : 1);
}

static uint64_t mix_member(uint64_t hash, const struct layout_member *member)
{
    hash = mix_text(hash, member->name);
    hash = mix(hash, member->bit_offset);
    hash = mix(hash, member->bit_size);
    hash = mix(hash, member->flags);
    for (uint32_t i = 0; i < member->dim_count; i++)
        hash = mix(hash, member->dims[i] + 1);
    return member->type != NULL ? mix(hash, member->type->shape)
                                : mix_text(hash, member->type_name);
}

uint64_t layout_shape(const struct layout_type *type)
{
    uint64_t hash = mix(HASH_START, type->kind);
    hash = mix(hash, type->size_bytes);
    hash = mix(hash, type->align_bytes);
    for (uint32_t i = 0; i < type->member_count; i++)
        hash = mix_member(hash, &type->members[i]);
    return hash;
}

bool layout_same(const struct layout_type *a, const struct layout_type *b)
{
    return a == b || (a->kind == b->kind && a->size_bytes == b->size_bytes &&
                      a->member_count == b->member_count && a->shape == b->shape);
}
