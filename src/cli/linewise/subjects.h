/* SPDX-License-Identifier: MIT */
/*
 * Joins a recording with debug information: which variable and which field lies at an address.
 *
 * Watched objects have the type that the program said; variables of the recorded program are found
 * in its symbol table, and their types in its debug information. What has no type stays a name with
 * offsets. Only what the recording touches is looked up.
 */
#ifndef CLI_LINEWISE_SUBJECTS_H
#define CLI_LINEWISE_SUBJECTS_H

#include "coherence/log.h"
#include "coherence/subject.h"
#include "coherence/symbols.h"
#include "layout/flat.h"
#include "layout/set.h"

/* The fields of one type, and the types that were looked for in vain. */
struct linewise_fields {
    char *asked;                    /* as the program said, or a variable's name */
    char *name;                     /* of the type; NULL: not found */
    struct coherence_field *fields; /* into strings of flat */
    size_t count;
    uint64_t bytes; /* of the type */
    struct layout_flat flat;
};

struct linewise_subjects {
    const char *command;                /* that messages name */
    struct coherence_subjects subjects; /* what coherence/ asks for */
    struct coherence_subject *items;
    struct layout_set *set; /* NULL: the program has no debug information */
    struct linewise_fields *types;
    size_t type_count;
    struct coherence_symbols symbols;
};

/*
 * Looks up what @log touches, for the subcommand @command. @program: the file with debug
 * information; NULL: the recorded one. An object of 0 bytes has as many as its type. What is
 * missing is told on stderr. @subjects: the caller frees it in any case; the log must outlive it.
 * Returns an exit status.
 */
int linewise_subjects_make(const char *command, const struct coherence_log *log,
                           const char *program, const struct layout_open_options *options,
                           struct linewise_subjects *subjects);

/* Writes the class file of @log, which came from @source, to @path; NULL: none is wanted. */
int linewise_uses_write(const struct linewise_subjects *subjects, const struct coherence_log *log,
                        const char *source, const char *path);
void linewise_subjects_free(struct linewise_subjects *subjects);

#endif
