/* SPDX-License-Identifier: MIT */
/*
 * The command line of an analysis: FILE [FILE] [TYPE...] and the options that several commands
 * share. A command says which of them it takes.
 */
#ifndef CLI_LINEWISE_OPTIONS_H
#define CLI_LINEWISE_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Options that a command takes. */
enum linewise_takes {
    TAKES_CLASSES = 1 << 0,
    TAKES_LINE = 1 << 1,
    TAKES_BASE = 1 << 2,
    TAKES_UNICODE = 1 << 3,
    TAKES_JSON = 1 << 4,
    TAKES_PATCH = 1 << 5,
    TAKES_LOCK = 1 << 6,
    TAKES_OUTPUT = 1 << 7,
    TAKES_HTML = 1 << 8,
    TAKES_LINES = 1 << 9,
    TAKES_FILTERS = 1 << 10 /* --sort, --holes, --min-size */
};

enum linewise_sort { SORT_NAME, SORT_SIZE, SORT_LINES, SORT_HOLES, SORT_UNUSED };

struct linewise_syntax {
    const char *command;
    const char *help;   /* whole text */
    unsigned takes;     /* enum linewise_takes */
    unsigned files;     /* 1 or 2 */
    bool needs_type;    /* at least one TYPE */
    bool needs_classes; /* --classes */
};

struct linewise_options {
    const struct linewise_syntax *syntax;
    const char *files[2];
    const char **types; /* into argv */
    size_t type_count;
    const char *classes;
    const char *lock;
    const char *output; /* of -o */
    const char *json;
    const char *html;
    uint64_t lines[2]; /* first and last of --lines */
    uint64_t line_bytes;
    uint64_t base_bytes;
    bool any_base;
    bool unicode;
    bool patch;
    bool some_lines; /* --lines was given */
    bool line_given; /* --line was given */
    bool help;
    bool holes;        /* only types with holes */
    bool btf;          /* BTF where a file has DWARF as well */
    uint64_t min_size; /* only types of so many bytes */
    const char *btf_base;
    enum linewise_sort sort;
};

/*
 * Reads the command line; @argv is reordered. Returns LINEWISE_CLEAN, or the status after the
 * command has been told what is wrong on stderr. After --help, which is printed, help is set.
 */
int linewise_options_parse(int argc, char **argv, const struct linewise_syntax *syntax,
                           struct linewise_options *options);

#endif
