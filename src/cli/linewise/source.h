/* SPDX-License-Identifier: MIT */
/*
 * The command line of the subcommands that analyse accesses, recorded or sampled: one file of them,
 * the program that they are of, where results go, and options of the subcommand's own.
 */
#ifndef CLI_LINEWISE_SOURCE_H
#define CLI_LINEWISE_SOURCE_H

#include "cli/args.h"
#include "layout/set.h"

struct linewise_source {
    const char *file;
    const char *program; /* NULL: not named */
    const char *classes_out;
    const char *json;
    uint64_t line_bytes;
    struct layout_open_options open;
    bool help; /* was printed: nothing is left to do */
};

/* Ids of a subcommand's own options begin here. */
#define SOURCE_OPTION_OWN 100

struct linewise_source_syntax {
    const char *command;
    const char *help;
    const char *what;              /* the file is, for messages: "log" */
    const char *made_by;           /* what makes one, for messages */
    const struct args_option *own; /* ends with a NULL name */
    /* Takes an option of the subcommand's own. Returns an exit status. */
    int (*take)(void *context, int id, const char *value);
    void *context;
};

/* Reads the command line into @source; says on stderr what is wrong. Returns an exit status. */
int linewise_source_read(struct linewise_source *source,
                         const struct linewise_source_syntax *syntax, int argc, char **argv);

#endif
