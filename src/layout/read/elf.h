/* SPDX-License-Identifier: MIT */
/*
 * ELF files as named runs of bytes: 32 and 64 bits, either byte order, sections decompressed and,
 * in object files and kernel modules, relocated.
 *
 * Idea: debug information needs few things of ELF, so this reads section headers and nothing else.
 * In a relocatable file the references between debug sections are zero until they are relocated;
 * only the absolute relocations of 4 and 8 bytes that debug sections use are applied, symbol
 * addresses being their values, which are right for section symbols since all sections start at 0.
 *
 * A section's bytes belong to the elf. One thread at a time.
 */
#ifndef LAYOUT_READ_ELF_H
#define LAYOUT_READ_ELF_H

#include "layout/read/blob.h"

struct elf_section {
    const char *name;
    uint32_t type;
    uint32_t link;
    uint32_t info;
    uint64_t flags;
    uint64_t offset;
    uint64_t size_bytes;
    struct blob made; /* decompressed or relocated copy; empty: not needed, or not yet asked for */
};

struct elf {
    struct span file; /* borrowed from the caller */
    const char *path; /* for messages; borrowed */
    struct elf_section *sections;
    size_t section_count;
    uint32_t machine; /* EM_ */
    uint16_t type;    /* ET_ */
    bool big;
    bool wide; /* 64-bit */
};

/* True when @file begins with ELF's magic. */
bool elf_is(struct span file);

/*
 * Reads the section headers of @file. @path is kept for messages. @elf: empty after an error.
 * 0; MGLRU_EINVAL: damaged; MGLRU_ENOMEM.
 */
int elf_open(struct span file, const char *path, struct elf *elf, struct layout_error *error);
void elf_close(struct elf *elf);

/*
 * The bytes of section @name (also found as ".z..." of old compressed files), ready to be read;
 * empty when there is none.
 * 0; MGLRU_EINVAL: damaged; MGLRU_ENOTSUP: a compression that this build lacks; MGLRU_ENOMEM.
 */
int elf_section(struct elf *elf, const char *name, struct span *span, struct layout_error *error);

/* True when the section exists and has bytes in the file. */
bool elf_has(const struct elf *elf, const char *name);

/* "x86-64"; "machine 243" for unknown ones written into @text. */
const char *elf_machine_name(const struct elf *elf, char *text, size_t bytes);

#endif
