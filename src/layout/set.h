/* SPDX-License-Identifier: MIT */
/*
 * A file with debug information, opened: which types it has, and one of them by name.
 *
 * What can be opened: ELF executables, shared objects, object files and kernel modules with DWARF 2
 * to 5 (gcc and clang; 32 and 64 bits; either byte order; compressed sections; type units; split
 * DWARF; dwz), ELF files with a .BTF section, raw BTF, and compressed kernels (vmlinuz, bzImage).
 * When an ELF file has both, DWARF is taken. A stripped file is followed to its separate debug
 * file.
 *
 * Hostile files: every size and offset is checked against what is there before it is used, depth
 * and counts are bounded, so a lying file costs memory and time in proportion to its size and ends
 * in one line of text.
 *
 * A set may be used by one thread at a time; types handed out may be read by any.
 */
#ifndef LAYOUT_SET_H
#define LAYOUT_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "layout/type.h"

#define LAYOUT_ERROR_BYTES 2048

struct layout_error {
    char text[LAYOUT_ERROR_BYTES]; /* one line without newline; empty when there was no error */
};

struct layout_set;

enum layout_format { LAYOUT_DWARF, LAYOUT_BTF };

struct layout_open_options {
    size_t size_bytes;    /* sizeof(struct layout_open_options) */
    const char *base;     /* file with the BTF that a module's BTF builds on; NULL: the kernel's own
                           * (/sys/kernel/btf/vmlinux) where it is needed */
    bool prefer_btf;      /* take BTF where an ELF file has both */
    bool no_debug_search; /* do not look for separate debug files, .dwo and .dwp */
};

struct layout_info {
    const char *path;   /* as opened */
    const char *source; /* file that the types came from: @path, or its separate debug file */
    const char *text;   /* "DWARF 5, x86-64, little-endian" */
    const char *note;   /* what is missing, such as .dwo files; "": nothing */
    enum layout_format format;
    uint32_t address_bytes; /* 4 or 8 */
    bool big_endian;
};

/*
 * Opens @path. @options may be NULL. @set: NULL after an error; the caller closes it.
 * 0; MGLRU_ENOENT, MGLRU_EPERM, MGLRU_EIO: the system refused; MGLRU_EINVAL: not such a file,
 * damaged, or without debug information (then @error says how to get it); MGLRU_ENOTSUP: this build
 * lacks the library for the file's compression; MGLRU_ENOMEM. @error names the file and what is
 * wrong.
 */
int layout_open(const char *path, const struct layout_open_options *options,
                struct layout_set **set, struct layout_error *error);

/* A file's bytes in memory; @name is for messages. */
struct layout_memory {
    const void *data;
    size_t bytes;
    const char *name;
};

/* The same on bytes in memory, which must stay until the set is closed. */
int layout_open_memory(const struct layout_memory *memory,
                       const struct layout_open_options *options, struct layout_set **set,
                       struct layout_error *error);

/* Frees the set and every type of it. NULL: nothing to do. */
void layout_close(struct layout_set *set);

const struct layout_info *layout_set_info(const struct layout_set *set);

/* Types that a name stands for; the array belongs to the set until its next call. */
struct layout_choices {
    const struct layout_type *const *types;
    size_t count;
};

/*
 * Finds the type @name: its full name ("foo", "struct foo", "ns::vec<int>"), or a typedef of one,
 * with an optional "@FILE:LINE", "@FILE", "@SIZE" or "@#N" that picks one of several layouts. FILE
 * is the end of a path, N counts as the message that lists them. @choices: all layouts of that
 * name, one when the result is 0; may be NULL. @type: NULL after an error.
 * 0; MGLRU_ENOENT: no such type (@error offers near names), or it is only declared here;
 * MGLRU_EEXIST: several different layouts, @error lists them with file, line and size;
 * MGLRU_EINVAL: the debug information is damaged, or the name is of no struct;
 * MGLRU_ENOMEM.
 */
int layout_find(struct layout_set *set, const char *name, const struct layout_type **type,
                struct layout_choices *choices, struct layout_error *error);

/*
 * The struct, union or class that the variable @name (outside of functions) is made of, arrays of
 * it included. Several variables of the name: the first. @type: NULL after an error.
 * 0; MGLRU_ENOENT: no such variable, or it is of something else; MGLRU_EINVAL: damaged;
 * MGLRU_ENOMEM.
 */
int layout_variable(struct layout_set *set, const char *name, const struct layout_type **type,
                    struct layout_error *error);

/*
 * All types that have a name (also one given by a typedef alone), each layout once, sorted by name.
 * @choices: empty after an error.
 * 0; MGLRU_EINVAL: damaged; MGLRU_ENOMEM.
 */
int layout_all(struct layout_set *set, struct layout_choices *choices, struct layout_error *error);

#endif
