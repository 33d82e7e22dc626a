/* SPDX-License-Identifier: MIT */
/*
 * The variables of an ELF file by address and by name, from its symbol table (.symtab, else
 * .dynsym), for 64-bit files of this machine's byte order. Used by the recorder inside of the
 * recorded program too: no memory is taken but one mapping of the file.
 */
#ifndef COHERENCE_SYMBOLS_H
#define COHERENCE_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct coherence_symbols {
    const uint8_t *file; /* NULL: not opened */
    size_t bytes;
    const uint8_t *entries; /* inside of file */
    size_t entry_count;
    const char *names;
    size_t names_bytes; /* the last one is a NUL */
};

struct coherence_symbol {
    const char *name; /* as long as the file is open */
    uint64_t address; /* without load bias */
    uint64_t bytes;
};

/* False: no such file, not such a file, or it has no symbols. Close it only after true. */
bool coherence_symbols_open(struct coherence_symbols *symbols, const char *path);
void coherence_symbols_close(struct coherence_symbols *symbols);

/* The next variable at or behind entry *@at, which moves on; false: none is left. */
bool coherence_symbols_next(const struct coherence_symbols *symbols, size_t *at,
                            struct coherence_symbol *symbol);

#endif
