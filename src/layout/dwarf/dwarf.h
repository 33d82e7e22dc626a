/* SPDX-License-Identifier: MIT */
/*
 * DWARF 2 to 5 as a graph of nodes; see model.h. Private to dwarf/.
 *
 * Idea: layouts need few tags and few attributes, so this is a lean reader of .debug_info: entries
 * are skipped by sizes known from their abbreviations, strings are looked up only where a name
 * matters, line tables only for the names of files. Everything is checked against the bytes that
 * are there.
 *
 * Words
 *   file   one ELF file with DWARF: the one asked for, its dwz supplement, its .dwo or .dwp files
 *   unit   a compilation, partial or type unit
 *   entry  a debugging information entry (DIE)
 *   id     an entry's number: file, section and offset in one; 0 is void
 *
 * Bounds: tables of abbreviations and of file names are kept by offset, and all of one file
 * together may take no more bytes than twice their section, so units that overlap each other's
 * tables are damage, not work.
 */
#ifndef LAYOUT_DWARF_DWARF_H
#define LAYOUT_DWARF_DWARF_H

#include "layout/reader.h"

/* Attributes that are read, as positions in an entry. */
enum dwarf_field {
    FIELD_NONE,
    FIELD_SIBLING,
    FIELD_NAME,
    FIELD_BYTE_SIZE,
    FIELD_BIT_OFFSET,
    FIELD_BIT_SIZE,
    FIELD_STMT_LIST,
    FIELD_LANGUAGE,
    FIELD_COMP_DIR,
    FIELD_IMPORT,
    FIELD_UPPER_BOUND,
    FIELD_LOWER_BOUND,
    FIELD_COUNT,
    FIELD_MEMBER_LOCATION,
    FIELD_DECL_FILE,
    FIELD_DECL_LINE,
    FIELD_DECLARATION,
    FIELD_ENCODING,
    FIELD_EXTERNAL,
    FIELD_SPECIFICATION,
    FIELD_TYPE,
    FIELD_VIRTUALITY,
    FIELD_SIGNATURE,
    FIELD_DATA_BIT_OFFSET,
    FIELD_ALIGNMENT,
    FIELD_STR_OFFSETS_BASE,
    FIELD_DWO_NAME,
    FIELD_CONST_VALUE,
    FIELD_PRODUCER,
    FIELD_MAX
};

struct dwarf_attr {
    uint16_t form;
    uint8_t field;    /* enum dwarf_field */
    int64_t constant; /* of DW_FORM_implicit_const */
};

struct dwarf_abbrev {
    uint64_t code;
    uint32_t first; /* attribute */
    uint32_t count;
    uint32_t fixed_bytes; /* of all attributes, without the next two */
    uint16_t addresses;   /* attributes as wide as an address */
    uint16_t offsets;     /* attributes as wide as an offset */
    uint16_t tag;
    bool children;
    bool fixed; /* every attribute has a size known here */
    bool has_sibling;
};

struct dwarf_abbrevs {
    struct dwarf_abbrev *items; /* sorted by code */
    struct dwarf_attr *attrs;
    size_t count;
};

/* File names of a line table, by number. */
struct dwarf_lines {
    const char **files; /* interned, with their folder; NULL: unknown */
    size_t count;
    bool from_zero; /* DWARF 5 counts files from 0 */
};

struct dwarf_file;

/* A named entry and the one that encloses it. */
struct dwarf_parent {
    uint64_t offset;
    uint64_t parent; /* offset */
};

struct dwarf_unit {
    struct dwarf_file *file;
    struct span section; /* info or types */
    uint64_t start;      /* offset of the header */
    uint64_t first;      /* offset of the first entry */
    uint64_t end;
    uint64_t signature; /* of a type unit */
    uint64_t type;      /* offset of a type unit's type */
    uint64_t abbrev_offset;
    uint64_t abbrev_base; /* of a package's contribution, as the next two */
    uint64_t line_base;
    uint64_t str_offsets_base;
    const struct dwarf_abbrevs *abbrevs; /* NULL: not opened yet */
    const struct dwarf_lines *lines;     /* NULL: not read yet */
    const char *comp_dir;
    struct dwarf_parent *parents; /* sorted; of languages with namespaces */
    size_t parent_count;
    uint64_t stmt_list;
    bool has_lines;
    bool types;     /* from .debug_types */
    bool qualified; /* names of its language have parts */
    bool parents_known;
    bool exact_alignment; /* gcc states what results, clang what was asked for */
    uint8_t version;
    uint8_t address_bytes;
    uint8_t offset_bytes;
    uint8_t kind; /* DW_UT_ */
};

struct dwarf_file {
    struct dwarf *dwarf;
    struct blob blob; /* empty: the caller's */
    struct elf elf;
    char *path;
    struct dwarf_file *alt; /* dwz supplement; NULL: none */
    struct span info, types, abbrev, str, line_str, line, str_offsets;
    struct span cu_index, tu_index; /* of a package */
    struct dwarf_unit **units;      /* sorted: of info, then of types */
    size_t unit_count;
    struct table abbrevs; /* by offset */
    struct table lines;   /* by offset */
    uint64_t abbrev_spent;
    uint64_t line_spent;
    uint32_t number; /* from 1 */
    bool split;      /* a .dwo or .dwp */
    bool is_alt;     /* only what others import of it belongs to the file asked for */
    bool *imported;  /* of a supplement: by unit */
};

struct dwarf {
    struct layout_reader reader; /* first: callers see this */
    struct model model;
    struct dwarf_file **files; /* [0]: the one asked for */
    size_t file_count;
    struct table signatures;  /* type units: signature -> dwarf_unit */
    struct table definitions; /* hash of a full name -> dwarf_definition */
    bool definitions_known;
    bool search; /* for other files */
    size_t dwo_missing;
    char dwo_example[256];
    struct dwarf_unit *last; /* found most recently */
};

/* One attribute's value. */
struct dwarf_value {
    uint64_t number;     /* constant, offset or reference as it stands */
    const uint8_t *data; /* of strings and blocks */
    uint64_t bytes;      /* of blocks */
    uint16_t form;
};

struct dwarf_entry {
    struct dwarf_unit *unit;
    uint64_t offset;
    uint64_t next; /* offset behind its attributes */
    uint64_t id;
    uint32_t have; /* bit of each field that is there */
    uint16_t tag;  /* 0: the end of a list of children */
    bool children;
    struct dwarf_value values[FIELD_MAX];
};

static inline bool entry_has(const struct dwarf_entry *entry, enum dwarf_field field)
{
    return (entry->have & UINT32_C(1) << field) != 0;
}

/* dwarf_file.c: takes @elf over. Returns 0 or a code with model.error written. */
int dwarf_file_add(struct dwarf *dwarf, struct elf *elf, struct blob *blob, bool split,
                   struct dwarf_file **file);
void dwarf_file_free(struct dwarf_file *file);
int dwarf_unit_open(struct dwarf_unit *unit);
/* The unit that holds @id; NULL: none. */
struct dwarf_unit *dwarf_unit_of(struct dwarf *dwarf, uint64_t id, uint64_t *offset);
uint64_t dwarf_id(const struct dwarf_unit *unit, uint64_t offset);

/* dwarf_abbrev.c */
int dwarf_abbrevs_get(struct dwarf_unit *unit, const struct dwarf_abbrevs **abbrevs);
const struct dwarf_abbrev *dwarf_abbrev_find(const struct dwarf_abbrevs *abbrevs, uint64_t code);
enum dwarf_field dwarf_field_of(uint64_t attribute);

/* dwarf_entry.c */
int dwarf_entry_read(struct dwarf_unit *unit, uint64_t offset, struct dwarf_entry *entry);
int dwarf_entry_get(struct dwarf *dwarf, uint64_t id, struct dwarf_entry *entry);
/* Reads past one attribute; @value may be NULL. */
void dwarf_value_read(const struct dwarf_unit *unit, const struct dwarf_attr *attr,
                      struct bytes *at, struct dwarf_value *value);
const char *dwarf_text(const struct dwarf_entry *entry, enum dwarf_field field);
uint64_t dwarf_number(const struct dwarf_entry *entry, enum dwarf_field field);
bool dwarf_flag(const struct dwarf_entry *entry, enum dwarf_field field);
/* The id that a reference means; 0: void, or nowhere. */
uint64_t dwarf_ref(const struct dwarf_entry *entry, enum dwarf_field field);
/* Equal for the same name in one file, cheap to compute. */
uint64_t dwarf_name_token(const struct dwarf_entry *entry);

/* The offset behind the children of @entry. */
int dwarf_skip_children(const struct dwarf_entry *entry, uint64_t *offset);

/* Going through a unit's entries in their order. */
struct dwarf_walk {
    struct dwarf_unit *unit;
    struct bytes at;
    const struct dwarf_abbrev *abbrev; /* of the entry at offset */
    uint64_t offset;
    struct bytes attrs;
    unsigned depth; /* of that entry; 0: the unit's own */
    bool started;
};

void dwarf_walk_start(struct dwarf_unit *unit, struct dwarf_walk *walk);
/* Goes to the next entry; @into: the children of the present one count. @more: false at the end. */
int dwarf_walk_next(struct dwarf_walk *walk, bool into, bool *more);

/* dwarf_line.c: the name of file @number of @unit; NULL: unknown. */
int dwarf_file_name(struct dwarf_unit *unit, uint64_t number, const char **name);

/* dwarf_name.c: the full name of a named type's entry, "" when it has none. */
int dwarf_full_name(const struct dwarf_entry *entry, const char **name);

/* dwarf_node.c */
extern const struct model_ops dwarf_model_ops;
int dwarf_entry_kind(const struct dwarf_entry *entry);

/* dwarf_scan.c */
int dwarf_visit(struct layout_reader *reader, const char *wanted, reader_visit *visit,
                void *context);
uint64_t dwarf_define(struct model *model, uint64_t id);

/* dwarf_variable.c */
int dwarf_variable(struct layout_reader *reader, const char *name, uint64_t *type);

/* dwarf_split.c: opens what the file refers to: the dwz supplement, .dwo files or the .dwp. */
int dwarf_open_others(struct dwarf *dwarf, struct dwarf_file *file);
/* The bases of a package's unit. */
void dwarf_package_bases(struct dwarf_unit *unit);

#endif
