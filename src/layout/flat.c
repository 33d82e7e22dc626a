/* SPDX-License-Identifier: MIT */
/* Outer types flattened; see flat.h. */
#include "layout/flat.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mglru/error.h>

#include "layout/read/arena.h"
#include "layout/read/blob.h"

/* A list that grows. */
struct list {
    void *items;
    size_t count;
    size_t capacity;
};

struct flattener {
    struct arena *arena;
    struct list leaves;
    struct list nests;
    struct list gaps;
    uint64_t expand_bytes;
    uint32_t unions;
    int code;
};

/* Where the recursion is. */
struct place {
    const struct layout_type *type;
    const char *prefix; /* path of the type, "" or with a dot at its end */
    struct layout_repeat repeat;
    uint64_t bit_offset; /* of the type's first copy */
    uint64_t bit_size;   /* without the tail that a base shares with what is derived from it */
    uint32_t nest;
    uint32_t depth;
    uint32_t union_id;
    uint32_t alternative;
};

/* A zeroed new item; NULL with flattener->code set. */
static void *push(struct flattener *flattener, struct list *list, size_t item_bytes)
{
    if (list->count >= LAYOUT_LEAVES_MAX) {
        flattener->code = MGLRU_EOVERFLOW;
        return NULL;
    }
    if (list->count == list->capacity) {
        size_t capacity = list->capacity != 0 ? list->capacity * 2 : 32;
        void *more = realloc(list->items, capacity * item_bytes);
        if (more == NULL) {
            flattener->code = MGLRU_ENOMEM;
            return NULL;
        }
        list->items = more;
        list->capacity = capacity;
    }
    void *item = (char *)list->items + list->count++ * item_bytes;
    memset(item, 0, item_bytes);
    return item;
}

/* "prefix" "name" "[][]"; parts without a name add nothing but their brackets. */
static const char *make_path(struct flattener *flattener, const struct place *place,
                             const struct layout_member *member)
{
    char bits[16] = "";
    const char *name = member->name;
    if (name == NULL && member->type == NULL) {
        snprintf(bits, sizeof(bits), ":%" PRIu64, member->bit_size);
        name = bits;
    }
    size_t prefix = strlen(place->prefix), length = name != NULL ? strlen(name) : 0;
    /* Without a name the dot of the prefix stays off. */
    if (name == NULL && prefix > 0)
        prefix--;
    char *path = arena_alloc(flattener->arena, prefix + length + 2u * member->dim_count + 1);
    if (path == NULL) {
        flattener->code = MGLRU_ENOMEM;
        return "";
    }
    memcpy(path, place->prefix, prefix);
    if (length > 0)
        memcpy(path + prefix, name, length);
    for (uint32_t i = 0; i < member->dim_count; i++)
        memcpy(path + prefix + length + 2u * i, "[]", 2);
    return path;
}

/* The dimensions on the way with those of @member behind them. */
static struct layout_repeat add_dims(struct flattener *flattener, const struct place *place,
                                     const struct layout_member *member)
{
    if (member->dim_count == 0)
        return place->repeat;
    uint32_t outer = place->repeat.dim_count, count = outer + member->dim_count;
    uint64_t *dims = arena_alloc(flattener->arena, 2u * count * sizeof(*dims));
    if (dims == NULL) {
        flattener->code = MGLRU_ENOMEM;
        return place->repeat;
    }
    uint64_t *strides = dims + count, stride = member->element_bytes;
    for (uint32_t i = 0; i < outer; i++) {
        dims[i] = place->repeat.dims[i];
        strides[i] = place->repeat.stride_bytes[i];
    }
    for (uint32_t i = member->dim_count; i-- > 0;) {
        dims[outer + i] = member->dims[i];
        strides[outer + i] = stride;
        stride *= member->dims[i];
    }
    return (struct layout_repeat){.dims = dims, .stride_bytes = strides, .dim_count = count};
}

/* From the start of the first copy to the end of the last; 0 when a dimension is. */
static uint64_t extent_of(const struct layout_repeat *repeat, uint64_t bits)
{
    for (uint32_t i = 0; i < repeat->dim_count; i++) {
        if (repeat->dims[i] == 0)
            return 0;
        bits += (repeat->dims[i] - 1) * repeat->stride_bytes[i] * 8;
    }
    return bits;
}

static void add_leaf(struct flattener *flattener, const struct place *place,
                     const struct layout_member *member)
{
    struct layout_leaf *leaf = push(flattener, &flattener->leaves, sizeof(*leaf));
    if (leaf == NULL)
        return;
    bool whole = (member->flags & (LAYOUT_BITFIELD | LAYOUT_OPAQUE)) != 0;
    leaf->path = make_path(flattener, place, member);
    leaf->member = member;
    leaf->repeat = add_dims(flattener, place, member);
    leaf->bit_offset = place->bit_offset + member->bit_offset;
    leaf->bit_size = whole ? member->bit_size : member->element_bytes * 8;
    /* A base that shares its tail with its successors ends where they begin. */
    if ((member->flags & LAYOUT_BASE) != 0)
        leaf->bit_size = member->bit_size;
    leaf->bit_extent = extent_of(&leaf->repeat, leaf->bit_size);
    leaf->nest = place->nest;
    leaf->union_id = place->union_id;
    leaf->alternative = place->alternative;
}

static bool looked_into(const struct flattener *flattener, const struct layout_member *member,
                        uint32_t depth)
{
    if (member->type == NULL || depth >= LAYOUT_DEPTH_MAX)
        return false;
    if (member->name == NULL)
        return true;
    return member->type->member_count > 0 && member->type->size_bytes > flattener->expand_bytes;
}

static void add_gap(struct flattener *flattener, const struct place *place, uint64_t start,
                    uint64_t end, const struct layout_member *neighbours[2])
{
    if (start >= end || place->union_id != 0)
        return;
    struct layout_gap *gap = push(flattener, &flattener->gaps, sizeof(*gap));
    if (gap == NULL)
        return;
    *gap = (struct layout_gap){.repeat = place->repeat,
                               .after = neighbours[0],
                               .before = neighbours[1],
                               .bit_offset = place->bit_offset + start,
                               .bit_size = end - start,
                               .nest = place->nest,
                               .kind = neighbours[1] != NULL ? LAYOUT_HOLE : LAYOUT_PADDING};
}

static void flatten_type(struct flattener *flattener, const struct place *place);

static void flatten_nested(struct flattener *flattener, const struct place *outer,
                           const struct layout_member *member)
{
    struct place inner = *outer;
    uint32_t number = (uint32_t)flattener->nests.count;
    struct layout_nest *nest = push(flattener, &flattener->nests, sizeof(*nest));
    if (nest == NULL)
        return;
    const char *path = make_path(flattener, outer, member);
    inner.type = member->type;
    inner.repeat = add_dims(flattener, outer, member);
    inner.bit_offset = outer->bit_offset + member->bit_offset;
    inner.bit_size =
        (member->flags & LAYOUT_BASE) != 0 ? member->bit_size : member->type->size_bytes * 8;
    inner.nest = number;
    inner.depth = outer->depth + 1;
    *nest = (struct layout_nest){.path = path,
                                 .type = member->type,
                                 .member = member,
                                 .repeat = inner.repeat,
                                 .bit_offset = inner.bit_offset,
                                 .parent = outer->nest,
                                 .depth = inner.depth};
    size_t length = strlen(path);
    char *prefix = arena_alloc(flattener->arena, length + 2);
    if (prefix == NULL) {
        flattener->code = MGLRU_ENOMEM;
        return;
    }
    memcpy(prefix, path, length);
    if (length > 0)
        prefix[length] = '.';
    inner.prefix = prefix;
    flatten_type(flattener, &inner);
}

static void flatten_type(struct flattener *flattener, const struct place *place)
{
    const struct layout_type *type = place->type;
    struct place here = *place;
    bool is_union = type->kind == LAYOUT_UNION;
    const struct layout_member *neighbours[2] = {NULL, NULL};
    uint64_t end = 0;
    /* The outermost union on the way has a number; unions inside are part of one alternative. */
    bool numbered = is_union && place->union_id == 0;
    uint32_t union_id = numbered ? ++flattener->unions : 0;
    for (uint32_t i = 0; i < type->member_count && flattener->code == MGLRU_OK; i++) {
        const struct layout_member *member = &type->members[i];
        neighbours[1] = member;
        if (!is_union)
            add_gap(flattener, place, end, member->bit_offset, neighbours);
        here.union_id = numbered ? union_id : place->union_id;
        here.alternative = numbered ? i : place->alternative;
        if (looked_into(flattener, member, place->depth))
            flatten_nested(flattener, &here, member);
        else
            add_leaf(flattener, &here, member);
        if (member->bit_offset + member->bit_size >= end) {
            end = member->bit_offset + member->bit_size;
            neighbours[0] = member;
        }
    }
    neighbours[1] = NULL;
    if (!is_union)
        add_gap(flattener, place, end, place->bit_size, neighbours);
}

int layout_flatten(const struct layout_type *type, const struct layout_flatten_options *options,
                   struct layout_flat *flat, struct layout_error *error)
{
    *flat = (struct layout_flat){.type = type};
    struct arena *arena = calloc(1, sizeof(*arena));
    if (arena == NULL)
        return layout_fail(error, MGLRU_ENOMEM, "%s: out of memory", type->display);
    struct flattener flattener = {.arena = arena,
                                  .expand_bytes = options != NULL ? options->expand_bytes
                                                                  : LAYOUT_EXPAND_BYTES};
    struct place place = {.type = type, .prefix = "", .bit_size = type->size_bytes * 8};
    struct layout_nest *outer = push(&flattener, &flattener.nests, sizeof(*outer));
    if (outer != NULL) {
        *outer = (struct layout_nest){.path = "", .type = type};
        flatten_type(&flattener, &place);
    }
    flat->leaves = flattener.leaves.items;
    flat->nests = flattener.nests.items;
    flat->gaps = flattener.gaps.items;
    flat->leaf_count = flattener.leaves.count;
    flat->nest_count = flattener.nests.count;
    flat->gap_count = flattener.gaps.count;
    flat->memory = arena;
    if (flattener.code == MGLRU_OK)
        return MGLRU_OK;
    layout_flat_free(flat);
    if (flattener.code == MGLRU_ENOMEM)
        return layout_fail(error, MGLRU_ENOMEM, "%s: out of memory", type->display);
    return layout_fail(error, flattener.code, "%s: more than %u fields", type->display,
                       LAYOUT_LEAVES_MAX);
}

void layout_flat_free(struct layout_flat *flat)
{
    free(flat->leaves);
    free(flat->nests);
    free(flat->gaps);
    if (flat->memory != NULL)
        arena_free(flat->memory);
    free(flat->memory);
    *flat = (struct layout_flat){0};
}

/* Equal but for brackets with nothing in them on either side. */
static bool same_path(const char *a, const char *b)
{
    for (;; a++, b++) {
        while (a[0] == '[' && a[1] == ']')
            a += 2;
        while (b[0] == '[' && b[1] == ']')
            b += 2;
        if (*a != *b || *a == '\0')
            return *a == *b;
    }
}

const struct layout_leaf *layout_flat_leaf(const struct layout_flat *flat, const char *path)
{
    for (size_t i = 0; i < flat->leaf_count; i++)
        if (same_path(flat->leaves[i].path, path))
            return &flat->leaves[i];
    return NULL;
}

/* A run of bytes, both ends included. */
struct range {
    uint64_t first;
    uint64_t last;
};

/* True when a copy in dimension @dim and below, the first of which starts at @bits, touches @range.
 * Of the elements that can reach it only the outermost two may lie across its ends. */
static bool touches(const struct layout_leaf *leaf, uint32_t dim, uint64_t bits, struct range range)
{
    const struct layout_repeat *repeat = &leaf->repeat;
    if (dim == repeat->dim_count)
        return bits / 8 <= range.last && (bits + leaf->bit_size - 1) / 8 >= range.first;
    struct layout_repeat inner = {.dims = repeat->dims + dim + 1,
                                  .stride_bytes = repeat->stride_bytes + dim + 1,
                                  .dim_count = repeat->dim_count - dim - 1};
    uint64_t stride = repeat->stride_bytes[dim], start = bits / 8;
    uint64_t reach = (bits % 8 + extent_of(&inner, leaf->bit_size) + 7) / 8;
    if (start > range.last || stride == 0)
        return stride == 0 && touches(leaf, dim + 1, bits, range);
    uint64_t low = range.first >= start + reach ? (range.first - start - reach) / stride + 1 : 0;
    uint64_t high = (range.last - start) / stride;
    if (high >= repeat->dims[dim])
        high = repeat->dims[dim] - 1;
    if (low > high)
        return false;
    return high - low >= 2 || touches(leaf, dim + 1, bits + low * stride * 8, range) ||
           touches(leaf, dim + 1, bits + high * stride * 8, range);
}

bool layout_leaf_touches(const struct layout_leaf *leaf, uint64_t first_byte, uint64_t last_byte)
{
    struct range range = {first_byte, last_byte};
    bool flexible = false;
    for (uint32_t i = 0; i < leaf->repeat.dim_count; i++)
        flexible = flexible || leaf->repeat.dims[i] == 0;
    if (flexible)
        return (leaf->member->flags & LAYOUT_FLEXIBLE) != 0 && leaf->bit_offset / 8 <= last_byte;
    return leaf->bit_size > 0 && touches(leaf, 0, leaf->bit_offset, range);
}
