/* SPDX-License-Identifier: MIT */
/* ELF sections; see elf.h. */
#include "layout/read/elf.h"

#include <elf.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <mglru/error.h>

#include "base/check.h"
#include "layout/read/elf_reloc.h"
#include "layout/read/unpack.h"

/* zstd, newer than some systems' <elf.h>. */
#define COMPRESSION_ZSTD 2u

bool elf_is(struct span file)
{
    return file.bytes >= EI_NIDENT && memcmp(file.data, ELFMAG, SELFMAG) == 0;
}

/* Where the section headers are. */
struct header {
    uint64_t offset;
    uint64_t count;
    uint32_t entry_bytes;
    uint32_t names; /* index of the section with the names */
};

static bool read_header(struct elf *elf, struct header *header)
{
    struct bytes at = bytes_from(elf->file, EI_NIDENT, elf->big);
    unsigned word = elf->wide ? 8 : 4;
    elf->type = bytes_u16(&at);
    elf->machine = bytes_u16(&at);
    bytes_skip(&at, 4 + 2 * word);
    header->offset = bytes_uint(&at, word);
    bytes_skip(&at, 4 + 2 + 2 + 2);
    header->entry_bytes = bytes_u16(&at);
    header->count = bytes_u16(&at);
    header->names = bytes_u16(&at);
    return !at.bad;
}

static struct elf_section read_section(const struct elf *elf, struct bytes *at, uint32_t *name)
{
    unsigned word = elf->wide ? 8 : 4;
    struct elf_section section = {.name = ""};
    *name = bytes_u32(at);
    section.type = bytes_u32(at);
    section.flags = bytes_uint(at, word);
    bytes_skip(at, word);
    section.offset = bytes_uint(at, word);
    section.size_bytes = bytes_uint(at, word);
    section.link = bytes_u32(at);
    section.info = bytes_u32(at);
    return section;
}

/* The bytes as they lie in the file; empty for sections without. */
static struct span raw_bytes(const struct elf *elf, const struct elf_section *section)
{
    struct span none = {elf->file.data, 0};
    if (section->type == SHT_NOBITS || section->offset > elf->file.bytes ||
        section->size_bytes > elf->file.bytes - section->offset)
        return none;
    return (struct span){elf->file.data + section->offset, section->size_bytes};
}

static bool in_file(const struct elf *elf, const struct elf_section *section)
{
    return section->type == SHT_NOBITS || section->type == SHT_NULL || section->size_bytes == 0 ||
           (section->offset <= elf->file.bytes &&
            section->size_bytes <= elf->file.bytes - section->offset);
}

static void name_sections(struct elf *elf, const struct header *header, const uint32_t *names)
{
    if (header->names >= elf->section_count)
        return;
    struct span texts = raw_bytes(elf, &elf->sections[header->names]);
    for (size_t i = 0; i < elf->section_count; i++) {
        const char *name = span_text(texts, names[i]);
        if (name != NULL)
            elf->sections[i].name = name;
    }
}

static int read_sections(struct elf *elf, struct header *header, struct layout_error *error)
{
    uint32_t least = elf->wide ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr), name;
    struct bytes at = bytes_from(elf->file, header->offset, elf->big);
    if (header->offset != 0 && (header->entry_bytes < least || bytes_left(&at) < least))
        return layout_fail(error, MGLRU_EINVAL,
                           "%s: damaged ELF file: section headers at offset %" PRIu64
                           " lie outside its %zu bytes",
                           elf->path, header->offset, elf->file.bytes);
    /* Counts that do not fit the header stand in the first section. */
    if (header->offset != 0) {
        struct bytes first_at = at;
        struct elf_section first = read_section(elf, &first_at, &name);
        if (header->count == 0)
            header->count = first.size_bytes;
        if (header->names == SHN_XINDEX)
            header->names = first.link;
    }
    if (header->offset == 0 || header->count > bytes_left(&at) / header->entry_bytes)
        return layout_fail(error, MGLRU_EINVAL,
                           "%s: damaged ELF file: %" PRIu64 " section headers"
                           " do not fit",
                           elf->path, header->count);
    uint32_t *names = calloc(header->count + 1, sizeof(*names));
    elf->sections = calloc(header->count + 1, sizeof(*elf->sections));
    if (names == NULL || elf->sections == NULL) {
        free(names);
        return layout_fail(error, MGLRU_ENOMEM, "%s: out of memory", elf->path);
    }
    elf->section_count = header->count;
    for (size_t i = 0; i < header->count; i++) {
        struct bytes entry = at;
        elf->sections[i] = read_section(elf, &entry, &names[i]);
        bytes_skip(&at, header->entry_bytes);
    }
    name_sections(elf, header, names);
    free(names);
    return MGLRU_OK;
}

int elf_open(struct span file, const char *path, struct elf *elf, struct layout_error *error)
{
    struct header header;
    *elf = (struct elf){.file = file, .path = path};
    if (!elf_is(file))
        return layout_fail(error, MGLRU_EINVAL, "%s: not an ELF file", path);
    uint8_t class = file.data[EI_CLASS], order = file.data[EI_DATA];
    elf->wide = class == ELFCLASS64;
    elf->big = order == ELFDATA2MSB;
    if ((class != ELFCLASS32 && class != ELFCLASS64) ||
        (order != ELFDATA2LSB && order != ELFDATA2MSB))
        return layout_fail(error, MGLRU_EINVAL,
                           "%s: damaged ELF file: class %u, byte order %u, expected 1 or 2", path,
                           class, order);
    if (!read_header(elf, &header))
        return layout_fail(error, MGLRU_EINVAL, "%s: damaged ELF file: cut off in its header",
                           path);
    /* A file without section headers is no error here: it has no debug information. */
    if (header.offset == 0)
        return MGLRU_OK;
    int code = read_sections(elf, &header, error);
    if (code != MGLRU_OK)
        elf_close(elf);
    return code;
}

void elf_close(struct elf *elf)
{
    for (size_t i = 0; i < elf->section_count; i++)
        blob_free(&elf->sections[i].made);
    free(elf->sections);
    elf->sections = NULL;
    elf->section_count = 0;
}

static struct elf_section *find(const struct elf *elf, const char *name)
{
    for (size_t i = 0; i < elf->section_count; i++)
        if (strcmp(elf->sections[i].name, name) == 0 && elf->sections[i].type != SHT_NOBITS &&
            elf->sections[i].size_bytes != 0)
            return &elf->sections[i];
    return NULL;
}

/* Section @name, or the old compressed form of ".debug_x", ".zdebug_x". */
static struct elf_section *find_any(const struct elf *elf, const char *name)
{
    char old[64];
    struct elf_section *section = find(elf, name);
    if (section != NULL || strncmp(name, ".debug", 6) != 0)
        return section;
    snprintf(old, sizeof(old), ".z%s", name + 1);
    return find(elf, old);
}

bool elf_has(const struct elf *elf, const char *name)
{
    return find_any(elf, name) != NULL;
}

/* The old form: "ZLIB", the size as 8 bytes big-endian, a zlib stream. */
static bool is_old_form(const struct elf_section *section, struct span raw)
{
    return strncmp(section->name, ".zdebug", 7) == 0 && raw.bytes > 12 &&
           memcmp(raw.data, "ZLIB", 4) == 0;
}

/* Splits a compressed section into format and stream; UNPACK_NONE: it is not compressed. */
static enum unpack_format stream_of(const struct elf *elf, const struct elf_section *section,
                                    struct span *raw)
{
    size_t header = 12;
    enum unpack_format format = UNPACK_ZLIB;
    if ((section->flags & SHF_COMPRESSED) != 0) {
        struct bytes at = bytes_from(*raw, 0, elf->big);
        uint32_t kind = bytes_u32(&at);
        header = elf->wide ? sizeof(Elf64_Chdr) : sizeof(Elf32_Chdr);
        format = kind == ELFCOMPRESS_ZLIB   ? UNPACK_ZLIB
                 : kind == COMPRESSION_ZSTD ? UNPACK_ZSTD
                                            : UNPACK_OTHER;
    } else if (!is_old_form(section, *raw)) {
        return UNPACK_NONE;
    }
    header = header < raw->bytes ? header : raw->bytes;
    *raw = (struct span){raw->data + header, raw->bytes - header};
    return format;
}

/* The bytes of one section, ready to be read. */
static int ready_bytes(struct elf *elf, struct elf_section *section, struct span *span,
                       struct layout_error *error)
{
    char place[LAYOUT_ERROR_BYTES / 2];
    if (section->made.span.data != NULL) {
        *span = section->made.span;
        return MGLRU_OK;
    }
    snprintf(place, sizeof(place), "%s: section %s", elf->path, section->name);
    if (!in_file(elf, section))
        return layout_fail(error, MGLRU_EINVAL,
                           "%s ends at byte %" PRIu64 ", the file has %zu: it is cut off", place,
                           section->offset + section->size_bytes, elf->file.bytes);
    struct span raw = raw_bytes(elf, section);
    enum unpack_format format = stream_of(elf, section, &raw);
    int code = MGLRU_OK;
    if (format != UNPACK_NONE)
        code = unpack(format, raw, &section->made, place, error);
    if (code == MGLRU_OK && elf->type == ET_REL)
        code = elf_relocate(elf, section, raw, error);
    if (code == MGLRU_OK)
        *span = section->made.span.data != NULL ? section->made.span : raw;
    return code;
}

/* Appends @more to @whole, which owns its bytes. */
static int append(struct blob *whole, struct span more)
{
    uint8_t *data = realloc((void *)whole->span.data, whole->span.bytes + more.bytes + 1);
    if (data == NULL)
        return MGLRU_ENOMEM;
    memcpy(data + whole->span.bytes, more.data, more.bytes);
    *whole = (struct blob){.span = {data, whole->span.bytes + more.bytes}, .owner = BLOB_ALLOCATED};
    return MGLRU_OK;
}

/* Object files keep each type unit in a section of its own, all of one name: their bytes one after
 * the other, kept with the first. */
static int join(struct elf *elf, struct elf_section *first, struct layout_error *error)
{
    struct blob whole = {.owner = BLOB_ALLOCATED};
    struct span part;
    int code = MGLRU_OK;
    for (size_t i = (size_t)(first - elf->sections); i < elf->section_count; i++) {
        struct elf_section *one = &elf->sections[i];
        if (one->type == SHT_NOBITS || strcmp(one->name, first->name) != 0)
            continue;
        code = ready_bytes(elf, one, &part, error);
        if (code == MGLRU_OK && append(&whole, part) != MGLRU_OK)
            code = layout_fail(error, MGLRU_ENOMEM, "%s: out of memory", elf->path);
        if (code != MGLRU_OK) {
            blob_free(&whole);
            return code;
        }
        blob_free(&one->made);
    }
    first->made = whole;
    return MGLRU_OK;
}

static bool is_alone(const struct elf *elf, const struct elf_section *first)
{
    for (size_t i = (size_t)(first - elf->sections) + 1; i < elf->section_count; i++)
        if (elf->sections[i].type != SHT_NOBITS && elf->sections[i].size_bytes > 0 &&
            strcmp(elf->sections[i].name, first->name) == 0)
            return false;
    return true;
}

int elf_section(struct elf *elf, const char *name, struct span *span, struct layout_error *error)
{
    *span = (struct span){elf->file.data, 0};
    struct elf_section *section = find_any(elf, name);
    if (section == NULL)
        return MGLRU_OK;
    if (elf->type == ET_REL && section->made.span.data == NULL && !is_alone(elf, section)) {
        int code = join(elf, section, error);
        if (code != MGLRU_OK)
            return code;
    }
    return ready_bytes(elf, section, span, error);
}

const char *elf_machine_name(const struct elf *elf, char *text, size_t bytes)
{
    static const struct {
        uint32_t machine;
        const char *name;
    } names[] = {
        {EM_386, "i386"},    {EM_X86_64, "x86-64"},
        {EM_ARM, "arm"},     {EM_AARCH64, "arm64"},
        {EM_PPC, "powerpc"}, {EM_PPC64, "powerpc64"},
        {EM_S390, "s390"},   {EM_MIPS, "mips"},
        {EM_RISCV, "riscv"}, {EM_SPARC, "sparc"},
        {EM_68K, "m68k"},    {EM_SPARCV9, "sparc64"},
        {EM_BPF, "bpf"},     {EM_PARISC, "parisc"},
        {EM_SH, "sh"},       {EM_LOONGARCH, "loongarch"},
    };
    for (size_t i = 0; i < MGLRU_ARRAY_LEN(names); i++)
        if (names[i].machine == elf->machine)
            return names[i].name;
    snprintf(text, bytes, "machine %u", elf->machine);
    return text;
}
