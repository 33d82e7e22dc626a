/* SPDX-License-Identifier: MIT */
/*
 * What every analysis needs: the files opened, the class file read, the types found. Each function
 * says on stderr what is wrong and returns an exit status.
 */
#ifndef CLI_LINEWISE_SESSION_H
#define CLI_LINEWISE_SESSION_H

#include "cli/linewise/options.h"
#include "layout/classify.h"
#include "layout/conflicts.h"
#include "layout/set.h"
#include "report/out.h"

struct linewise_session {
    const struct linewise_options *options;
    struct layout_set *sets[2];
    struct layout_classes classes; /* empty without --classes */
    const char **types;            /* of the command line, or of the class file */
    size_t type_count;
};

/* Opens everything. The caller closes the session in any case. */
int linewise_session_open(struct linewise_session *session, const struct linewise_options *options);
void linewise_session_close(struct linewise_session *session);

/* Reads the command line, opens everything, does the work. Returns the exit status. */
int linewise_session_run(int argc, char **argv, const struct linewise_syntax *syntax,
                         int (*work)(struct linewise_session *session));

/* Finds type @name in file @file. */
int linewise_session_type(struct linewise_session *session, unsigned file, const char *name,
                          const struct layout_type **type);

/* Name of a type as people and class files write it: without keyword and "@FILE:LINE". */
const char *linewise_type_name(const struct layout_type *type, const char *asked, char *text,
                               size_t bytes);

/* Finds the type and joins it with the class file. The caller frees @map. Statements that begin
 * with the type but fit no field are told on stderr. */
int linewise_session_map(struct linewise_session *session, unsigned file, const char *name,
                         struct layout_map *map);

/* Options for layout_conflicts_find() of @type. */
struct layout_conflict_options linewise_session_conflicts(const struct linewise_session *session,
                                                          const struct layout_type *type);

/* Opens the output @path; tells on stderr what is wrong. */
int linewise_output_open(const struct linewise_options *options, struct report_out *out,
                         const char *path);
int linewise_output_close(const struct linewise_options *options, struct report_out *out);

#endif
