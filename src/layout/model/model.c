/* SPDX-License-Identifier: MIT */
/* Types from nodes; see model.h. */
#include "layout/model/model.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <mglru/error.h>

#include "base/check.h"

/* Chosen: far above the two or three times that sound files need. */
#define WORK_TIMES 32u
#define WORK_FREE ((uint64_t)1 << 20)

/* Stands in by_id for a type that is being built. */
static const struct layout_type in_progress;

int model_damaged(struct model *model, const char *format, ...)
{
    char text[LAYOUT_ERROR_BYTES / 2];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    return layout_fail(model->error, MGLRU_EINVAL, "%s: damaged debug information: %s%s",
                       model->path, text, model->hint != NULL ? model->hint : "");
}

int model_no_memory(struct model *model)
{
    return layout_fail(model->error, MGLRU_ENOMEM, "%s: out of memory", model->path);
}

int model_work(struct model *model, uint64_t bytes)
{
    model->work_bytes += bytes;
    if (model->work_bytes / WORK_TIMES > model->bytes + WORK_FREE)
        return model_damaged(model, "its entries overlap each other");
    return MGLRU_OK;
}

bool raw_members_add(struct raw_members *members, const struct raw_member *member)
{
    if (members->count == members->capacity) {
        size_t capacity = members->capacity != 0 ? members->capacity * 2 : 16;
        struct raw_member *more = members->count < MODEL_MEMBERS_MAX
                                      ? realloc(members->items, capacity * sizeof(*more))
                                      : NULL;
        if (more == NULL)
            return false;
        members->items = more;
        members->capacity = capacity;
    }
    members->items[members->count++] = *member;
    return true;
}

/* What lies behind a member's type once arrays, typedefs and qualifiers are taken off. */
struct element {
    uint64_t named; /* node whose name is shown: inside the last array */
    uint64_t id;    /* the node that is left */
    struct node node;
    uint32_t dim_count;
    uint32_t align_bytes; /* stated on the way; 0: not */
    uint16_t flags;
    uint64_t dims[MODEL_DIMS_MAX]; /* dim_count of them */
};

static int add_dims(struct model *model, struct element *element)
{
    const struct node *node = &element->node;
    if (node->dim_count > MODEL_DIMS_MAX - element->dim_count)
        return model_damaged(model, "an array has more than %d dimensions", MODEL_DIMS_MAX);
    for (uint32_t i = 0; i < node->dim_count; i++)
        element->dims[element->dim_count++] = node->dims[i];
    element->named = node->ref;
    /* What qualified the array qualifies its elements. */
    return MGLRU_OK;
}

/* Takes one layer off; false when @element->node is none. */
static bool is_layer(const struct node *node)
{
    return (node->kind >= NODE_TYPEDEF && node->kind <= NODE_ARRAY) && !node->declared_only;
}

static int resolve(struct model *model, uint64_t id, struct element *element)
{
    element->named = element->id = id;
    element->dim_count = element->align_bytes = element->flags = 0;
    for (unsigned step = 0;; step++) {
        int code = model->ops->node(model, element->id, &element->node);
        if (code != MGLRU_OK)
            return code;
        const struct node *node = &element->node;
        if (node->align_bytes != 0 && element->align_bytes == 0 && is_layer(node))
            element->align_bytes = node->align_bytes;
        element->flags |= node->kind == NODE_CONST      ? LAYOUT_CONST
                          : node->kind == NODE_VOLATILE ? LAYOUT_VOLATILE
                          : node->kind == NODE_ATOMIC   ? LAYOUT_ATOMIC
                                                        : 0;
        if (!is_layer(node))
            return MGLRU_OK;
        if (step >= MODEL_CHAIN_MAX)
            return model_damaged(model, "a type at %#" PRIx64 " refers to itself", id);
        if (node->kind == NODE_ARRAY)
            code = add_dims(model, element);
        if (code != MGLRU_OK)
            return code;
        element->id = node->ref;
    }
}

static bool is_struct(const struct node *node)
{
    return node->kind == NODE_STRUCT || node->kind == NODE_UNION || node->kind == NODE_CLASS;
}

/* True when @id is a pointer to per-CPU data. */
static bool points_to_percpu(struct model *model, const struct node *pointer)
{
    struct node node = *pointer;
    for (unsigned step = 0; step < MODEL_CHAIN_MAX && node.ref != 0; step++) {
        if (model->ops->node(model, node.ref, &node) != MGLRU_OK)
            return false;
        if (node.kind == NODE_TAG && node.name != NULL && strcmp(node.name, "percpu") == 0)
            return true;
        if (node.kind != NODE_TAG && node.kind != NODE_CONST && node.kind != NODE_VOLATILE)
            return false;
    }
    return false;
}

static uint16_t element_flags(struct model *model, const struct element *element)
{
    uint16_t flags = element->flags;
    switch (element->node.kind) {
    case NODE_POINTER:
        flags |= points_to_percpu(model, &element->node) ? LAYOUT_PERCPU | LAYOUT_POINTER
                                                         : LAYOUT_POINTER;
        break;
    case NODE_REFERENCE:
    case NODE_RVALUE:
        flags |= LAYOUT_POINTER;
        break;
    case NODE_ENUM:
        flags |= LAYOUT_ENUM;
        break;
    case NODE_BASE:
        flags |= element->node.is_bool ? LAYOUT_BOOL : element->node.is_float ? LAYOUT_FLOAT : 0;
        break;
    default:
        break;
    }
    return flags;
}

/* Size of one element; 0 with LAYOUT_OPAQUE in @flags when it is only declared. */
static int element_size(struct model *model, struct element *element, struct layout_member *member)
{
    struct node *node = &element->node;
    if (is_struct(node) && node->declared_only) {
        uint64_t definition = model->ops->define(model, element->id);
        if (definition == 0) {
            member->flags |= LAYOUT_OPAQUE;
            return MGLRU_OK;
        }
        element->id = definition;
        int code = model->ops->node(model, definition, node);
        if (code != MGLRU_OK)
            return code;
    }
    if (is_struct(node)) {
        int code = model_type(model, element->id, &member->type);
        if (code == MGLRU_OK)
            member->element_bytes = member->type->size_bytes;
        return code;
    }
    switch (node->kind) {
    case NODE_POINTER:
    case NODE_REFERENCE:
    case NODE_RVALUE:
    case NODE_MEMBER_POINTER:
        member->element_bytes = node->has_size ? node->size_bytes : model->address_bytes;
        break;
    case NODE_VOID:
    case NODE_FUNCTION:
    case NODE_OTHER:
        member->flags |= LAYOUT_OPAQUE;
        break;
    default:
        member->element_bytes = node->size_bytes;
        if (!node->has_size)
            member->flags |= LAYOUT_OPAQUE;
        break;
    }
    return MGLRU_OK;
}

/* A name in the file stays there as long as the set; only control characters need a copy. */
static const char *keep_name(struct model *model, const char *name)
{
    size_t length = 0;
    if (model->clean_names)
        return name;
    while ((unsigned char)name[length] >= ' ' && name[length] != 0x7f)
        length++;
    if (name[length] == '\0')
        return name;
    const char *kept = arena_string(&model->arena, name, strlen(name));
    if (kept == NULL)
        model_no_memory(model);
    return kept;
}

static int keep_dims(struct model *model, const struct element *element,
                     struct layout_member *member)
{
    member->dim_count = element->dim_count;
    if (element->dim_count == 0)
        return MGLRU_OK;
    uint64_t *dims = arena_alloc(&model->arena, element->dim_count * sizeof(*dims));
    if (dims == NULL)
        return model_no_memory(model);
    memcpy(dims, element->dims, element->dim_count * sizeof(*dims));
    member->dims = dims;
    return MGLRU_OK;
}

/* The size in bits of all elements; false when it is absurd. */
static bool total_bits(const struct layout_member *member, uint64_t *bits)
{
    uint64_t bytes = member->element_bytes;
    for (uint32_t i = 0; i < member->dim_count; i++)
        if (__builtin_mul_overflow(bytes, member->dims[i], &bytes))
            return false;
    *bits = bytes * 8;
    return bytes <= MODEL_BYTES_MAX;
}

/* The alignment that the type asks for and that the debug information states; model_align() looks
 * at the place afterwards. */
static void align_member(struct model *model, const struct raw_member *raw,
                         const struct element *element, struct layout_member *member)
{
    uint64_t bytes = member->element_bytes;
    uint32_t natural = 1;
    if (member->type != NULL)
        natural = member->type->align_bytes;
    else if ((member->flags & LAYOUT_ATOMIC) != 0 && bytes > 0 && bytes <= 16 &&
             (bytes & (bytes - 1)) == 0)
        natural = (uint32_t)bytes;
    else if ((member->flags & LAYOUT_OPAQUE) == 0)
        natural = model_scalar_align(model, &element->node);
    uint32_t stated = raw->align_bytes != 0 ? raw->align_bytes : element->align_bytes;
    member->align_source = stated != 0 ? LAYOUT_ALIGN_STATED : LAYOUT_ALIGN_INFERRED;
    member->align_bytes = natural;
    if (stated != 0 && (stated > natural || element->node.exact_alignment))
        member->align_bytes = stated;
}

static int fill_member(struct model *model, const struct raw_member *raw,
                       struct layout_member *member)
{
    struct element element;
    int code = resolve(model, raw->type, &element);
    if (code != MGLRU_OK)
        return code;
    *member = (struct layout_member){.bit_offset = raw->bit_offset, .decl_line = raw->line};
    member->flags = (uint16_t)(raw->flags | element_flags(model, &element));
    if (raw->name != NULL && raw->name[0] != '\0' &&
        (member->name = keep_name(model, raw->name)) == NULL)
        return MGLRU_ENOMEM;
    code = model_name(model, element.named, &member->type_name);
    if (code == MGLRU_OK)
        code = model_name(model, element.id, &member->resolved);
    if (code == MGLRU_OK)
        code = keep_dims(model, &element, member);
    if (code == MGLRU_OK)
        code = element_size(model, &element, member);
    if (code != MGLRU_OK)
        return code;
    bool bits = (raw->flags & LAYOUT_BITFIELD) != 0;
    if (bits && (member->type != NULL || member->dim_count > 0))
        return model_damaged(model, "bit-field %s is a struct or an array",
                             member->name != NULL ? member->name : "without a name");
    if (bits)
        member->bit_size = raw->bit_size;
    else if (!total_bits(member, &member->bit_size))
        return model_damaged(model, "member %s has an impossible size",
                             member->name != NULL ? member->name : "without a name");
    align_member(model, raw, &element, member);
    return MGLRU_OK;
}

/* By place; what starts together stays in order of declaration. */
static void sort_members(struct layout_member *members, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        if (members[i - 1].bit_offset <= members[i].bit_offset)
            continue;
        /* Nearly always sorted already; languages that move fields have small structs. The search
         * keeps a hostile order from costing more than n log n comparisons, the move is a copy. */
        struct layout_member moved = members[i];
        size_t low = 0, high = i;
        while (low < high) {
            size_t middle = (low + high) / 2;
            if (members[middle].bit_offset <= moved.bit_offset)
                low = middle + 1;
            else
                high = middle;
        }
        memmove(&members[low + 1], &members[low], (i - low) * sizeof(moved));
        members[low] = moved;
    }
}

/* A member whose size is unknown reaches to the next one; a base that shares its tail is cut. */
static void fit_members(struct layout_type *type, struct layout_member *members)
{
    uint64_t end = type->size_bytes * 8;
    for (uint32_t i = type->member_count; i-- > 0;) {
        struct layout_member *member = &members[i];
        uint64_t room = member->bit_offset <= type->size_bytes * 8
                            ? type->size_bytes * 8 - member->bit_offset
                            : 0;
        if ((member->flags & LAYOUT_OPAQUE) != 0 && type->kind != LAYOUT_UNION &&
            member->bit_offset <= end)
            member->bit_size = end - member->bit_offset;
        if ((member->flags & (LAYOUT_OPAQUE | LAYOUT_BASE)) != 0 && member->bit_size > room)
            member->bit_size = room;
        if ((member->flags & LAYOUT_BASE) != 0 && end > member->bit_offset &&
            member->bit_size > end - member->bit_offset)
            member->bit_size = end - member->bit_offset;
        if (member->bit_offset < end)
            end = member->bit_offset;
    }
    /* An array of no bytes is flexible when nothing with bytes follows. */
    for (uint32_t i = type->member_count; i-- > 0 && members[i].bit_size == 0;)
        if (members[i].dim_count > 0 && type->kind != LAYOUT_UNION &&
            members[i].bit_offset >= end) {
            members[i].flags |= LAYOUT_FLEXIBLE;
            break;
        }
}

/* Where the last bit of what a base itself holds lies in @type; its virtual bases lie elsewhere. */
static uint64_t base_end(const struct layout_member *base)
{
    uint64_t end = 0;
    for (uint32_t i = 0; base->type != NULL && i < base->type->member_count; i++) {
        const struct layout_member *member = &base->type->members[i];
        if (member->bit_offset + member->bit_size > end)
            end = member->bit_offset + member->bit_size;
    }
    return base->dim_count == 0 ? base->bit_offset + end : UINT64_MAX;
}

static int check_members(struct model *model, const struct layout_type *type)
{
    for (uint32_t i = 0; i < type->member_count; i++) {
        const struct layout_member *member = &type->members[i];
        uint64_t end;
        bool fits = !__builtin_add_overflow(member->bit_offset, member->bit_size, &end) &&
                    end <= type->size_bytes * 8;
        if (fits && (member->flags & LAYOUT_BASE) != 0)
            fits = base_end(member) <= type->size_bytes * 8;
        if (fits)
            continue;
        return model_damaged(model,
                             "member %s of %s is %" PRIu64 " bits long at bit %" PRIu64
                             ", past the end of a type of %" PRIu64 " bytes",
                             member->name != NULL ? member->name : "without a name", type->display,
                             member->bit_size, member->bit_offset, type->size_bytes);
    }
    return MGLRU_OK;
}

static int count_members(struct model *model, struct layout_type *type)
{
    uint64_t total = type->member_count;
    for (uint32_t i = 0; i < type->member_count; i++) {
        const struct layout_member *member = &type->members[i];
        if (member->type == NULL)
            continue;
        total += member->type->total_count;
        if (member->type->levels >= type->levels)
            type->levels = (uint8_t)(member->type->levels + 1);
        if ((member->flags & LAYOUT_BASE) != 0 && member->type->misses_members)
            type->misses_members = true;
    }
    if (type->levels > LAYOUT_DEPTH_MAX)
        return model_damaged(model, "structs are nested more than %d deep", LAYOUT_DEPTH_MAX);
    if (total > LAYOUT_TOTAL_MAX)
        return model_damaged(model, "%s holds more than %u members", type->display,
                             LAYOUT_TOTAL_MAX);
    type->total_count = (uint32_t)total;
    return MGLRU_OK;
}

static enum layout_kind kind_of(const struct node *node)
{
    return node->kind == NODE_UNION   ? LAYOUT_UNION
           : node->kind == NODE_CLASS ? LAYOUT_CLASS
                                      : LAYOUT_STRUCT;
}

/* "struct foo". */
static int join_display(struct model *model, const char *kind, struct layout_type *type)
{
    size_t word = strlen(kind), length = strlen(type->name);
    char *display = arena_text(&model->arena, word + 1 + length);
    if (display == NULL)
        return model_no_memory(model);
    memcpy(display, kind, word);
    display[word] = ' ';
    memcpy(display + word + 1, type->name, length + 1);
    type->display = display;
    return MGLRU_OK;
}

static int name_type(struct model *model, const struct node *node, struct layout_type *type)
{
    char text[MODEL_NAME_MAX + 512];
    const char *file = node->file;
    if (file != NULL && (type->decl_file = keep_name(model, file)) == NULL)
        return MGLRU_ENOMEM;
    if (node->comp_dir != NULL && (type->comp_dir = keep_name(model, node->comp_dir)) == NULL)
        return MGLRU_ENOMEM;
    const char *kind = layout_kind_name(type->kind);
    if (node->name != NULL && node->name[0] != '\0') {
        type->name = keep_name(model, node->name);
        if (type->name == NULL)
            return MGLRU_ENOMEM;
        return join_display(model, kind, type);
    } else if (file != NULL) {
        const char *slash = strrchr(file, '/');
        snprintf(text, sizeof(text), "%s {...} at %.200s:%u", kind, slash ? slash + 1 : file,
                 node->line);
    } else {
        snprintf(text, sizeof(text), "%s {...}", kind);
    }
    type->display = arena_string(&model->arena, text, strlen(text));
    return type->display != NULL ? MGLRU_OK : model_no_memory(model);
}

static uint64_t key_of(const struct node *node, const struct raw_members *members)
{
    uint64_t parts[] = {node->kind, node->name_token,      node->size_bytes,
                        node->line, (uintptr_t)node->file, node->align_bytes};
    uint64_t hash = arena_hash(ARENA_HASH_START, parts, sizeof(parts));
    for (size_t i = 0; i < members->count; i++) {
        const struct raw_member *raw = &members->items[i];
        hash = bits_mix64(hash ^ raw->name_token);
        hash = bits_mix64(hash ^ raw->bit_offset) + ((uint64_t)raw->bit_size << 32 ^ raw->line);
    }
    return hash;
}

/* A new type of @node with @raw, whose nested types are built on the way. */
static int build(struct model *model, const struct node *node, const struct raw_members *raw,
                 const struct layout_type **result)
{
    struct layout_type *type = arena_alloc(&model->arena, sizeof(*type));
    struct layout_member *members = arena_alloc(&model->arena, (raw->count + 1) * sizeof(*members));
    if (type == NULL || members == NULL)
        return model_no_memory(model);
    type->kind = (uint8_t)kind_of(node);
    type->size_bytes = node->size_bytes;
    type->decl_line = node->line;
    type->members = members;
    type->member_count = (uint32_t)raw->count;
    type->misses_members = raw->incomplete;
    int code = name_type(model, node, type);
    if (code == MGLRU_OK && node->size_bytes > MODEL_BYTES_MAX)
        code = model_damaged(model, "%s has an impossible size", type->display);
    for (size_t i = 0; code == MGLRU_OK && i < raw->count; i++)
        code = fill_member(model, &raw->items[i], &members[i]);
    if (code != MGLRU_OK)
        return code;
    sort_members(members, raw->count);
    fit_members(type, members);
    code = check_members(model, type);
    if (code == MGLRU_OK)
        code = count_members(model, type);
    if (code != MGLRU_OK)
        return code;
    model_align(model, type, members, node);
    type->shape = layout_shape(type);
    *result = type;
    return MGLRU_OK;
}

/* Builds the type of @node, during which @id counts as in progress: it must not contain itself. */
static int build_new(struct model *model, uint64_t id, const struct node *node,
                     const struct raw_members *raw, const struct layout_type **type)
{
    if (model->depth >= LAYOUT_DEPTH_MAX)
        return model_damaged(model, "structs are nested more than %d deep", LAYOUT_DEPTH_MAX);
    if (!table_put(&model->by_id, id, &in_progress))
        return model_no_memory(model);
    model->depth++;
    int code = build(model, node, raw, type);
    model->depth--;
    if (code == MGLRU_OK && !table_put(&model->by_id, id, *type))
        code = model_no_memory(model);
    return code;
}

/* Builds the type, or finds one with the same key. */
static int make(struct model *model, uint64_t id, const struct layout_type **type)
{
    struct node node;
    struct raw_members raw = {0};
    uint64_t key = 0;
    int code = model->ops->node(model, id, &node);
    if (code == MGLRU_OK && (!is_struct(&node) || node.declared_only))
        code = model_damaged(model, "the type at %#" PRIx64 " is no struct with a definition", id);
    if (code == MGLRU_OK)
        code = model->ops->members(model, id, &raw);
    if (code == MGLRU_OK && model->keyed) {
        key = key_of(&node, &raw);
        *type = table_get(&model->by_key, key);
        /* The outermost types of a whole file are many, and each is asked for once. */
        if (*type != NULL && model->depth > 0 && !table_put(&model->by_id, id, *type))
            code = model_no_memory(model);
    }
    if (code == MGLRU_OK && *type == NULL) {
        code = build_new(model, id, &node, &raw, type);
        if (code == MGLRU_OK && model->keyed && !table_put(&model->by_key, key, *type))
            code = model_no_memory(model);
    }
    free(raw.items);
    return code;
}

int model_type(struct model *model, uint64_t id, const struct layout_type **type)
{
    *type = table_get(&model->by_id, id);
    if (*type == &in_progress) {
        *type = NULL;
        return model_damaged(model, "the struct at %#" PRIx64 " contains itself", id);
    }
    if (*type != NULL)
        return MGLRU_OK;
    int code = make(model, id, type);
    if (code != MGLRU_OK)
        *type = NULL;
    return code;
}

void model_free(struct model *model)
{
    arena_free(&model->arena);
    table_free(&model->by_id);
    table_free(&model->by_key);
    table_free(&model->names);
}
