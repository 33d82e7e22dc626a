/* SPDX-License-Identifier: MIT */
/* Relocations of debug sections in object files; part of elf.c's work, see elf.h. */
#ifndef LAYOUT_READ_ELF_RELOC_H
#define LAYOUT_READ_ELF_RELOC_H

#include "layout/read/elf.h"

/*
 * Applies the relocations of @section, whose bytes are @plain, or section->made when that is there;
 * a changed copy is left in section->made. Relocations of unknown kinds are skipped: those are
 * differences of code addresses, which layouts do not need.
 * 0; MGLRU_EINVAL: a relocation lies outside the section; MGLRU_ENOMEM.
 */
int elf_relocate(struct elf *elf, struct elf_section *section, struct span plain,
                 struct layout_error *error);

#endif
