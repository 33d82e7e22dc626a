/* SPDX-License-Identifier: MIT */
/*
 * BTF, the kernel's type format, as a graph of nodes; see model.h.
 *
 * A header, a run of type records numbered from 1 (0 is void), a run of strings. A module's BTF
 * goes on counting types and string offsets where its base ends. Records are found through a table
 * of offsets that is made when the file is opened; at that time every reference and name is
 * checked, so that later code may follow them.
 *
 * Written on its own rather than over libbpf: a file may be hostile and of either byte order, and
 * all types of a kernel shall cost less than reading the file into another shape.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <mglru/error.h>

#include "layout/reader.h"

#define BTF_MAGIC 0xeb9f
#define BTF_VERSION 1
#define RECORD_BYTES 12
#define MEMBER_BYTES 12

enum btf_kind {
    BTF_INT = 1,
    BTF_PTR,
    BTF_ARRAY,
    BTF_STRUCT,
    BTF_UNION,
    BTF_ENUM,
    BTF_FWD,
    BTF_TYPEDEF,
    BTF_VOLATILE,
    BTF_CONST,
    BTF_RESTRICT,
    BTF_FUNC,
    BTF_FUNC_PROTO,
    BTF_VAR,
    BTF_DATASEC,
    BTF_FLOAT,
    BTF_DECL_TAG,
    BTF_TYPE_TAG,
    BTF_ENUM64,
    BTF_KIND_MAX = BTF_ENUM64
};

#define INT_BOOL 4u

/* One file's part: types and strings, with the numbers at which they start. */
struct btf_part {
    struct span types;
    struct span strings;
    uint32_t *offsets; /* of records in types */
    uint32_t first_id;
    uint32_t count;
    uint32_t first_string;
    bool big;
};

struct btf {
    struct layout_reader reader; /* first: callers see this */
    struct model model;
    struct btf_part parts[2]; /* base and own, or own alone */
    unsigned part_count;
};

/* A record's head and where its details begin. */
struct record {
    const struct btf_part *part;
    struct bytes at; /* behind the head */
    uint32_t name;
    uint32_t kind;
    uint32_t count; /* vlen */
    uint32_t ref;   /* size or type */
    bool flag;      /* kind_flag */
};

bool btf_is(struct span file)
{
    return file.bytes >= 8 && ((file.data[0] == 0x9f && file.data[1] == 0xeb) ||
                               (file.data[0] == 0xeb && file.data[1] == 0x9f));
}

/* Splits the bytes into types and strings. NULL, or what is wrong. */
static const char *read_header(struct span file, struct btf_part *part)
{
    if (!btf_is(file))
        return "does not begin with BTF's magic";
    part->big = file.data[0] == 0xeb;
    struct bytes at = bytes_from(file, 2, part->big);
    unsigned version = bytes_u8(&at);
    bytes_skip(&at, 1);
    uint64_t header = bytes_u32(&at);
    uint64_t type_offset = bytes_u32(&at), type_bytes = bytes_u32(&at);
    uint64_t string_offset = bytes_u32(&at), string_bytes = bytes_u32(&at);
    if (at.bad)
        return "is cut off in its header";
    if (version != BTF_VERSION)
        return "has another version than 1";
    if (header + type_offset + type_bytes > file.bytes ||
        header + string_offset + string_bytes > file.bytes)
        return "is shorter than its header says";
    part->types = (struct span){file.data + header + type_offset, (size_t)type_bytes};
    part->strings = (struct span){file.data + header + string_offset, (size_t)string_bytes};
    if (string_bytes == 0 || part->strings.data[string_bytes - 1] != '\0')
        return "has strings without an end";
    return NULL;
}

static inline uint32_t word_at(const struct btf_part *part, size_t offset)
{
    uint32_t word;
    memcpy(&word, part->types.data + offset, sizeof(word));
    return part->big ? __builtin_bswap32(word) : word;
}

/* The record at @offset, whose head lies inside. */
static inline struct record read_record(const struct btf_part *part, uint32_t offset)
{
    struct record record = {.part = part};
    uint32_t info = word_at(part, offset + 4);
    record.at = (struct bytes){.at = part->types.data + offset + RECORD_BYTES,
                               .end = part->types.data + part->types.bytes,
                               .big = part->big};
    record.name = word_at(part, offset);
    record.ref = word_at(part, offset + 8);
    record.kind = info >> 24 & 0x1f;
    record.count = info & 0xffff;
    record.flag = info >> 31 != 0;
    return record;
}

/* Bytes of the details behind a record's head. */
static inline uint64_t detail_bytes(const struct record *record)
{
    switch (record->kind) {
    case BTF_INT:
    case BTF_VAR:
    case BTF_DECL_TAG:
        return 4;
    case BTF_ARRAY:
        return 12;
    case BTF_STRUCT:
    case BTF_UNION:
        return (uint64_t)record->count * MEMBER_BYTES;
    case BTF_ENUM:
    case BTF_FUNC_PROTO:
        return (uint64_t)record->count * 8;
    case BTF_ENUM64:
    case BTF_DATASEC:
        return (uint64_t)record->count * 12;
    default:
        return 0;
    }
}

/* What index_records() says when it could not do its work. */
static const char out_of_memory[] = "out of memory";

/* Makes the table of records. NULL, or what is wrong, with the offset in @where. */
static const char *index_records(struct btf_part *part, uint32_t *where)
{
    size_t most = part->types.bytes / RECORD_BYTES;
    part->offsets = malloc((most + 1) * sizeof(*part->offsets));
    if (part->offsets == NULL)
        return out_of_memory;
    uint64_t offset = 0;
    while (offset + RECORD_BYTES <= part->types.bytes) {
        struct record record = read_record(part, (uint32_t)offset);
        *where = (uint32_t)offset;
        if (record.kind == 0 || record.kind > BTF_KIND_MAX)
            return "has a type of an unknown kind";
        uint64_t details = detail_bytes(&record);
        if (details > bytes_left(&record.at))
            return "is cut off in a type";
        part->offsets[part->count++] = (uint32_t)offset;
        offset += RECORD_BYTES + details;
    }
    *where = (uint32_t)offset;
    return offset == part->types.bytes ? NULL : "is cut off in a type";
}

static inline const struct btf_part *part_of(const struct btf *btf, uint64_t id)
{
    /* Mostly there is one; the last type's number is then the count. */
    if (btf->part_count == 1)
        return id - 1 < btf->parts[0].count ? &btf->parts[0] : NULL;
    for (unsigned i = 0; i < btf->part_count; i++) {
        const struct btf_part *part = &btf->parts[i];
        if (id >= part->first_id && id - part->first_id < part->count)
            return part;
    }
    return NULL;
}

/* NULL: no such string. */
static inline const char *string_at(const struct btf *btf, uint32_t offset)
{
    for (unsigned i = 0; i < btf->part_count; i++) {
        const struct btf_part *part = &btf->parts[i];
        if (offset >= part->first_string && offset - part->first_string < part->strings.bytes)
            return (const char *)part->strings.data + (offset - part->first_string);
    }
    return NULL;
}

static inline bool get_record(const struct btf *btf, uint64_t id, struct record *record)
{
    const struct btf_part *part = part_of(btf, id);
    if (part == NULL)
        return false;
    *record = read_record(part, part->offsets[id - part->first_id]);
    return true;
}

static inline bool has_ref(uint32_t kind)
{
    return kind == BTF_PTR || (kind >= BTF_TYPEDEF && kind <= BTF_VAR) || kind == BTF_DECL_TAG ||
           kind == BTF_TYPE_TAG;
}

/* True when the record's own reference and name, and those of its details, exist. */
static inline bool refers_well(const struct btf *btf, struct record record)
{
    uint32_t ids = btf->parts[btf->part_count - 1].first_id + btf->parts[btf->part_count - 1].count;
    if (string_at(btf, record.name) == NULL || (has_ref(record.kind) && record.ref >= ids))
        return false;
    if (record.kind == BTF_ARRAY)
        return bytes_u32(&record.at) < ids;
    unsigned skip = record.kind == BTF_FUNC_PROTO ? 0 : 4;
    if (record.kind != BTF_STRUCT && record.kind != BTF_UNION && record.kind != BTF_FUNC_PROTO)
        return true;
    for (uint32_t i = 0; i < record.count; i++) {
        uint32_t name = bytes_u32(&record.at), type = bytes_u32(&record.at);
        bytes_skip(&record.at, skip);
        if (string_at(btf, name) == NULL || type >= ids)
            return false;
    }
    return true;
}

/* The number of the first type of the last part that refers to nothing; 0: all are well. */
static uint32_t find_bad(const struct btf *btf)
{
    const struct btf_part *part = &btf->parts[btf->part_count - 1];
    for (uint32_t i = 0; i < part->count; i++)
        if (!refers_well(btf, read_record(part, part->offsets[i])))
            return part->first_id + i;
    return 0;
}

bool btf_needs_base(struct span own)
{
    struct btf btf = {.part_count = 1};
    uint32_t where;
    btf.parts[0].first_id = 1;
    bool needs = read_header(own, &btf.parts[0]) == NULL &&
                 index_records(&btf.parts[0], &where) == NULL && find_bad(&btf) != 0;
    free(btf.parts[0].offsets);
    return needs;
}

static uint8_t node_kind(const struct record *record)
{
    static const uint8_t kinds[] = {[BTF_INT] = NODE_BASE,
                                    [BTF_PTR] = NODE_POINTER,
                                    [BTF_ARRAY] = NODE_ARRAY,
                                    [BTF_STRUCT] = NODE_STRUCT,
                                    [BTF_UNION] = NODE_UNION,
                                    [BTF_ENUM] = NODE_ENUM,
                                    [BTF_FWD] = NODE_STRUCT,
                                    [BTF_TYPEDEF] = NODE_TYPEDEF,
                                    [BTF_VOLATILE] = NODE_VOLATILE,
                                    [BTF_CONST] = NODE_CONST,
                                    [BTF_RESTRICT] = NODE_RESTRICT,
                                    [BTF_FUNC] = NODE_OTHER,
                                    [BTF_FUNC_PROTO] = NODE_FUNCTION,
                                    [BTF_VAR] = NODE_OTHER,
                                    [BTF_DATASEC] = NODE_OTHER,
                                    [BTF_FLOAT] = NODE_BASE,
                                    [BTF_DECL_TAG] = NODE_OTHER,
                                    [BTF_TYPE_TAG] = NODE_TAG,
                                    [BTF_ENUM64] = NODE_ENUM};
    return record->kind == BTF_FWD && record->flag ? NODE_UNION : kinds[record->kind];
}

static int no_such(struct model *model, uint64_t id)
{
    return model_damaged(model,
                         "type %" PRIu64 " is not there, or its name; of a kernel module give the"
                         " kernel's own BTF with --btf-base",
                         id);
}

static int get_node(struct model *model, uint64_t id, struct node *node)
{
    struct btf *btf = model->reader;
    struct record record;
    node_clear(node);
    if (id == 0)
        return MGLRU_OK;
    if (!get_record(btf, id, &record))
        return no_such(model, id);
    node->kind = node_kind(&record);
    node->name = string_at(btf, record.name);
    if (node->name == NULL)
        return no_such(model, id);
    node->declared_only = record.kind == BTF_FWD;
    if (has_ref(record.kind)) {
        node->ref = record.ref;
    } else if (record.kind == BTF_ARRAY) {
        node->ref = bytes_u32(&record.at);
        bytes_skip(&record.at, 4);
        node->dims[0] = bytes_u32(&record.at);
        node->dim_count = 1;
    } else {
        node->size_bytes = record.ref;
        node->has_size = true;
    }
    node->is_float = record.kind == BTF_FLOAT;
    if (record.kind == BTF_INT)
        node->is_bool = (bytes_u32(&record.at) >> 24 & INT_BOOL) != 0;
    return MGLRU_OK;
}

/* Without kind_flag a bit-field is an integer with fewer bits than bytes hold, maybe shifted. */
static void old_bits(const struct btf *btf, struct raw_member *member)
{
    struct record record;
    uint64_t id = member->type;
    for (unsigned i = 0; i < MODEL_CHAIN_MAX && get_record(btf, id, &record); i++) {
        if (record.kind == BTF_INT) {
            uint32_t info = bytes_u32(&record.at);
            uint32_t bits = info & 0xff, shift = info >> 16 & 0xff;
            if (bits != record.ref * 8 || shift != 0) {
                member->flags |= LAYOUT_BITFIELD;
                member->bit_size = bits;
                member->bit_offset += shift;
            }
            return;
        }
        if (record.kind < BTF_TYPEDEF || record.kind > BTF_RESTRICT)
            return;
        id = record.ref;
    }
}

static int get_members(struct model *model, uint64_t id, struct raw_members *members)
{
    struct btf *btf = model->reader;
    struct record record;
    if (!get_record(btf, id, &record))
        return no_such(model, id);
    bool is_struct = record.kind == BTF_STRUCT || record.kind == BTF_UNION;
    if (!is_struct && record.kind != BTF_FUNC_PROTO)
        return MGLRU_OK;
    for (uint32_t i = 0; i < record.count; i++) {
        struct raw_member member = {.name = string_at(btf, bytes_u32(&record.at))};
        member.type = bytes_u32(&record.at);
        if (member.name == NULL)
            return no_such(model, id);
        uint32_t place = is_struct ? bytes_u32(&record.at) : 0;
        member.bit_offset = record.flag ? place & 0xffffff : place;
        if (is_struct && record.flag && place >> 24 != 0) {
            member.flags = LAYOUT_BITFIELD;
            member.bit_size = place >> 24;
        } else if (is_struct && !record.flag) {
            old_bits(btf, &member);
        }
        if (!raw_members_add(members, &member))
            return model_no_memory(model);
    }
    return model_work(model, record.count);
}

/* A type of one file is declared only when the whole file has no definition. */
static uint64_t no_definition(struct model *model, uint64_t id)
{
    return 0;
}

static const struct model_ops btf_model_ops = {
    .node = get_node, .members = get_members, .define = no_definition};

static int visit_names(struct layout_reader *reader, const char *wanted, reader_visit *visit,
                       void *context)
{
    struct btf *btf = (struct btf *)reader;
    /* A module shows its own types; one of the base is found when it is asked for by name. */
    unsigned first = wanted != NULL ? 0 : btf->part_count - 1;
    for (unsigned i = first; i < btf->part_count; i++) {
        const struct btf_part *part = &btf->parts[i];
        for (uint32_t j = 0; j < part->count; j++) {
            struct record record = read_record(part, part->offsets[j]);
            struct reader_name name = {.id = part->first_id + j, .exact = true};
            bool is_type = record.kind == BTF_STRUCT || record.kind == BTF_UNION ||
                           record.kind == BTF_FWD || record.kind == BTF_TYPEDEF;
            if (!is_type && (wanted == NULL || node_kind(&record) == NODE_OTHER))
                continue;
            name.name = string_at(btf, record.name);
            name.kind = node_kind(&record);
            name.declared_only = record.kind == BTF_FWD;
            if (name.name == NULL || name.name[0] == '\0' ||
                (wanted != NULL && strcmp(name.name, wanted) != 0))
                continue;
            int code = visit(context, &name);
            if (code != MGLRU_OK)
                return code;
        }
    }
    return MGLRU_OK;
}

static void close_reader(struct layout_reader *reader)
{
    struct btf *btf = (struct btf *)reader;
    for (unsigned i = 0; i < btf->part_count; i++)
        free(btf->parts[i].offsets);
    model_free(&btf->model);
    free(btf);
}

/* The size of an address: that of "long", which every kernel and program has. */
static uint32_t find_address_bytes(const struct btf *btf)
{
    static const char *const names[] = {"long unsigned int", "unsigned long", "long int", "long"};
    for (uint32_t id = 1; id < btf->parts[0].first_id + btf->parts[0].count; id++) {
        struct record record;
        if (!get_record(btf, id, &record) || record.kind != BTF_INT)
            continue;
        const char *name = string_at(btf, record.name);
        for (size_t i = 0; name != NULL && i < sizeof(names) / sizeof(names[0]); i++)
            if (strcmp(name, names[i]) == 0 && (record.ref == 4 || record.ref == 8))
                return record.ref;
    }
    return 8;
}

/* True when no string holds a control character. */
static bool is_clean(struct span strings)
{
    size_t bad = 0;
    for (size_t i = 0; i < strings.bytes; i++)
        bad += (strings.data[i] < ' ' && strings.data[i] != '\0') || strings.data[i] == 0x7f;
    return bad == 0;
}

/* Adds @file behind what is there. */
static int add_part(struct btf *btf, struct span file, const char *path)
{
    struct btf_part *part = &btf->parts[btf->part_count];
    uint32_t where = 0;
    *part = (struct btf_part){.first_id = 1};
    if (btf->part_count > 0) {
        const struct btf_part *base = &btf->parts[0];
        part->first_id = base->first_id + base->count;
        part->first_string = (uint32_t)base->strings.bytes;
    }
    const char *wrong = read_header(file, part);
    if (wrong == NULL)
        wrong = index_records(part, &where);
    btf->part_count++;
    if (wrong == out_of_memory)
        return model_no_memory(&btf->model);
    if (wrong != NULL)
        return layout_fail(btf->model.error, MGLRU_EINVAL, "%s: damaged BTF: it %s (offset %u)",
                           path, wrong, where);
    btf->model.bytes += part->types.bytes;
    btf->model.clean_names = btf->model.clean_names && is_clean(part->strings);
    return MGLRU_OK;
}

int btf_open(const struct btf_source *source, struct layout_reader **reader,
             struct layout_error *error)
{
    *reader = NULL;
    struct btf *btf = calloc(1, sizeof(*btf));
    if (btf == NULL)
        return layout_fail(error, MGLRU_ENOMEM, "%s: out of memory", source->path);
    btf->reader =
        (struct layout_reader){.model = &btf->model, .visit = visit_names, .close = close_reader};
    btf->model = (struct model){.ops = &btf_model_ops,
                                .reader = btf,
                                .path = source->path,
                                .align_max = source->align_max,
                                .clean_names = true,
                                .error = error};
    int code = MGLRU_OK;
    if (source->base.bytes > 0)
        code = add_part(btf, source->base, "the base of the module's BTF");
    if (code == MGLRU_OK)
        code = add_part(btf, source->own, source->path);
    if (code != MGLRU_OK) {
        close_reader(&btf->reader);
        return code;
    }
    if (btf->part_count > 1)
        btf->model.hint = "; is the base that of the kernel that the module was built for?";
    uint32_t address = source->address_bytes;
    btf->model.address_bytes = address != 0 ? address : find_address_bytes(btf);
    snprintf(btf->reader.text, sizeof(btf->reader.text), "BTF, %u-bit, %s-endian%s",
             btf->model.address_bytes * 8, btf->parts[0].big ? "big" : "little",
             btf->part_count > 1 ? ", over a base" : "");
    *reader = &btf->reader;
    return MGLRU_OK;
}
