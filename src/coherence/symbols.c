/* SPDX-License-Identifier: MIT */
/* Reads symbol tables; every offset of the file is checked before it is used. See symbols.h. */
#include "coherence/symbols.h"

#include <elf.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static bool inside(const struct coherence_symbols *symbols, uint64_t offset, uint64_t bytes)
{
    return offset <= symbols->bytes && bytes <= symbols->bytes - offset;
}

static bool take_table(struct coherence_symbols *symbols, const Elf64_Shdr *table,
                       const Elf64_Shdr *names)
{
    if (!inside(symbols, table->sh_offset, table->sh_size) ||
        !inside(symbols, names->sh_offset, names->sh_size) || names->sh_size == 0 ||
        symbols->file[names->sh_offset + names->sh_size - 1] != '\0')
        return false;
    symbols->entries = symbols->file + table->sh_offset;
    symbols->entry_count = table->sh_size / sizeof(Elf64_Sym);
    symbols->names = (const char *)symbols->file + names->sh_offset;
    symbols->names_bytes = names->sh_size;
    return true;
}

static bool find_table(struct coherence_symbols *symbols)
{
    Elf64_Ehdr head;
    if (symbols->bytes < sizeof(head))
        return false;
    memcpy(&head, symbols->file, sizeof(head));
    if (memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 || head.e_ident[EI_CLASS] != ELFCLASS64 ||
        head.e_ident[EI_DATA] !=
            (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB) ||
        head.e_shentsize != sizeof(Elf64_Shdr) ||
        !inside(symbols, head.e_shoff, (uint64_t)head.e_shnum * sizeof(Elf64_Shdr)))
        return false;
    static const uint32_t wanted[] = {SHT_SYMTAB, SHT_DYNSYM};
    for (size_t w = 0; w < sizeof(wanted) / sizeof(wanted[0]); w++)
        for (unsigned i = 0; i < head.e_shnum; i++) {
            Elf64_Shdr table, names;
            memcpy(&table, symbols->file + head.e_shoff + i * sizeof(table), sizeof(table));
            if (table.sh_type != wanted[w] || table.sh_link >= head.e_shnum)
                continue;
            memcpy(&names, symbols->file + head.e_shoff + table.sh_link * sizeof(names),
                   sizeof(names));
            if (take_table(symbols, &table, &names))
                return true;
        }
    return false;
}

bool coherence_symbols_open(struct coherence_symbols *symbols, const char *path)
{
    struct stat about;
    *symbols = (struct coherence_symbols){0};
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return false;
    bool regular = fstat(file, &about) == 0 && S_ISREG(about.st_mode) && about.st_size > 0;
    void *mapped = MAP_FAILED;
    if (regular)
        mapped = mmap(NULL, (size_t)about.st_size, PROT_READ, MAP_PRIVATE, file, 0);
    close(file);
    if (mapped == MAP_FAILED)
        return false;
    symbols->file = mapped;
    symbols->bytes = (size_t)about.st_size;
    if (find_table(symbols))
        return true;
    coherence_symbols_close(symbols);
    return false;
}

void coherence_symbols_close(struct coherence_symbols *symbols)
{
    if (symbols->file != NULL)
        munmap((void *)(uintptr_t)symbols->file, symbols->bytes);
    *symbols = (struct coherence_symbols){0};
}

bool coherence_symbols_next(const struct coherence_symbols *symbols, size_t *at,
                            struct coherence_symbol *symbol)
{
    while (*at < symbols->entry_count) {
        Elf64_Sym entry;
        memcpy(&entry, symbols->entries + *at * sizeof(entry), sizeof(entry));
        ++*at;
        if (ELF64_ST_TYPE(entry.st_info) != STT_OBJECT || entry.st_shndx == SHN_UNDEF ||
            entry.st_size == 0 || entry.st_name >= symbols->names_bytes ||
            entry.st_value + entry.st_size < entry.st_value)
            continue;
        *symbol = (struct coherence_symbol){symbols->names + entry.st_name, entry.st_value,
                                            entry.st_size};
        return true;
    }
    return false;
}
