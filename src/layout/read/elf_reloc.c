/* SPDX-License-Identifier: MIT */
/* Relocations of debug sections; see elf_reloc.h. */
#include "layout/read/elf_reloc.h"

#include <elf.h>
#include <inttypes.h>
#include <stdlib.h>

#include <mglru/error.h>

#include "base/check.h"

/* Absolute relocations by machine: 4 and 8 bytes wide. 0: the machine has none of that width. */
static const struct machine {
    uint32_t machine;
    uint32_t type32;
    uint32_t type32_other; /* a second name for the same effect */
    uint32_t type64;
} machines[] = {
    {EM_X86_64, R_X86_64_32, R_X86_64_32S, R_X86_64_64},
    {EM_386, R_386_32, 0, 0},
    {EM_AARCH64, R_AARCH64_ABS32, 0, R_AARCH64_ABS64},
    {EM_ARM, R_ARM_ABS32, 0, 0},
    {EM_PPC, R_PPC_ADDR32, R_PPC_UADDR32, 0},
    {EM_PPC64, R_PPC64_ADDR32, R_PPC64_UADDR32, R_PPC64_ADDR64},
    {EM_S390, R_390_32, 0, R_390_64},
    {EM_RISCV, R_RISCV_32, 0, R_RISCV_64},
    {EM_SPARC, R_SPARC_32, R_SPARC_UA32, 0},
    {EM_SPARCV9, R_SPARC_32, R_SPARC_UA32, R_SPARC_64},
    {EM_68K, R_68K_32, 0, 0},
    {EM_MIPS, R_MIPS_32, 0, R_MIPS_64},
    {EM_BPF, 3 /* ABS32 */, 10 /* 64_32 */, 2 /* ABS64 */},
    {EM_LOONGARCH, 1 /* 32 */, 0, 2 /* 64 */},
};

static const struct machine *find_machine(uint32_t number)
{
    for (size_t i = 0; i < MGLRU_ARRAY_LEN(machines); i++)
        if (machines[i].machine == number)
            return &machines[i];
    return NULL;
}

/* Width in bytes of what relocation @type of @machine writes; 0: not one of those applied here. */
static unsigned width_of(const struct machine *machine, uint32_t type)
{
    if (type == 0)
        return 0;
    if (type == machine->type32 || type == machine->type32_other)
        return 4;
    return type == machine->type64 ? 8 : 0;
}

static void store(uint8_t *at, uint64_t value, unsigned width, bool big)
{
    for (unsigned i = 0; i < width; i++)
        at[big ? width - 1 - i : i] = (uint8_t)(value >> (8 * i));
}

static struct span section_bytes(const struct elf *elf, const struct elf_section *section)
{
    if (section->type == SHT_NOBITS || section->offset > elf->file.bytes ||
        section->size_bytes > elf->file.bytes - section->offset)
        return (struct span){elf->file.data, 0};
    return (struct span){elf->file.data + section->offset, section->size_bytes};
}

/* st_value of symbol @index; 0 when there is none. */
static uint64_t symbol_value(const struct elf *elf, struct span symbols, uint64_t index)
{
    size_t entry = elf->wide ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym);
    if (index >= symbols.bytes / entry)
        return 0;
    struct bytes at = bytes_from(symbols, index * entry + (elf->wide ? 8 : 4), elf->big);
    return bytes_uint(&at, elf->wide ? 8 : 4);
}

/* One relocation section applied to @target. */
static bool apply(const struct elf *elf, const struct elf_section *relocations,
                  const struct machine *machine, struct span target)
{
    bool addends = relocations->type == SHT_RELA;
    unsigned word = elf->wide ? 8 : 4;
    size_t entry = word * (addends ? 3u : 2u);
    struct span symbols = {elf->file.data, 0};
    if (relocations->link < elf->section_count)
        symbols = section_bytes(elf, &elf->sections[relocations->link]);
    struct bytes at = bytes_from(section_bytes(elf, relocations), 0, elf->big);
    while (bytes_left(&at) >= entry) {
        uint64_t offset = bytes_uint(&at, word);
        uint64_t info = bytes_uint(&at, word);
        uint64_t addend = addends ? bytes_uint(&at, word) : 0;
        unsigned width = width_of(machine, elf->wide ? (uint32_t)info : (uint8_t)info);
        if (width == 0)
            continue;
        if (offset > target.bytes || width > target.bytes - offset)
            return false;
        uint8_t *place = (uint8_t *)target.data + offset;
        if (!addends) {
            struct bytes old = bytes_from(target, offset, elf->big);
            addend = bytes_uint(&old, width);
        }
        uint64_t symbol = elf->wide ? info >> 32 : info >> 8;
        store(place, symbol_value(elf, symbols, symbol) + addend, width, elf->big);
    }
    return true;
}

/* A private copy of @plain in section->made, when there is none yet. */
static bool make_own(struct elf_section *section, struct span plain)
{
    if (section->made.span.data != NULL)
        return true;
    uint8_t *copy = malloc(plain.bytes != 0 ? plain.bytes : 1);
    if (copy == NULL)
        return false;
    memcpy(copy, plain.data, plain.bytes);
    section->made = (struct blob){.span = {copy, plain.bytes}, .owner = BLOB_ALLOCATED};
    return true;
}

int elf_relocate(struct elf *elf, struct elf_section *section, struct span plain,
                 struct layout_error *error)
{
    const struct machine *machine = find_machine(elf->machine);
    size_t index = (size_t)(section - elf->sections);
    for (size_t i = 0; machine != NULL && i < elf->section_count; i++) {
        const struct elf_section *one = &elf->sections[i];
        if ((one->type != SHT_RELA && one->type != SHT_REL) || one->info != index)
            continue;
        if (!make_own(section, plain))
            return layout_fail(error, MGLRU_ENOMEM, "%s: out of memory", elf->path);
        if (!apply(elf, one, machine, section->made.span))
            return layout_fail(error, MGLRU_EINVAL,
                               "%s: damaged ELF file: a relocation lies outside the %zu bytes of"
                               " section %s",
                               elf->path, section->made.span.bytes, section->name);
    }
    return MGLRU_OK;
}
