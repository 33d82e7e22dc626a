/* SPDX-License-Identifier: MIT */
/* Reads command lines: options by table, and the values they take. Nothing here prints. */
#ifndef CLI_MGLRU_ARGS_H
#define CLI_MGLRU_ARGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One option of a command. */
struct args_option {
    const char *name; /* with its dashes */
    bool has_value;
    int id; /* what args_next returns */
};

#define ARGS_END (-1)     /* no argument left */
#define ARGS_PLAIN (-2)   /* value is an argument that is no option */
#define ARGS_UNKNOWN (-3) /* value is an unknown option */
#define ARGS_MISSING (-4) /* value is an option whose value is missing */
#define ARGS_SURPLUS (-5) /* value is an option that takes none */

struct args {
    int argc;
    char **argv;
    int next;
    bool plain_only; /* "--" was seen */
    char name[64];   /* of an option written as --name=value */
};

/* Goes to the next argument: an option's id with its value, or one of ARGS_*. Options are written
 * in full, "--name VALUE" or "--name=VALUE"; after "--" everything is plain; "-" is plain. */
int args_next(struct args *args, const struct args_option *options, const char **value);

#define ARGS_ERROR_BYTES 512

struct args_error {
    char text[ARGS_ERROR_BYTES]; /* one line without newline */
};

/* Writes the line and returns false, so that a check can end with it. */
bool args_fail(struct args_error *error, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Whether @id of args_next is an argument that no command takes; then @error says why. @command:
 * program and subcommand, whose help lists the options. */
bool args_refused(int id, const char *value, const char *command, struct args_error *error);

/* Digits only. False: not a number, or too large. */
bool args_number(const char *text, uint64_t *value);

/* A number of bytes with an optional K, M, G or T (powers of 1024). */
bool args_size(const char *text, uint64_t *bytes);

/* A number with ns, us, ms, s, m or h. */
bool args_duration(const char *text, uint64_t *ns);

/* Parts of a comma list. */
struct args_list {
    char *copy;
    char **items; /* into copy */
    size_t count;
};

/* False: out of memory. An empty text has one empty part. */
bool args_list_split(struct args_list *list, const char *text);
void args_list_free(struct args_list *list);

#endif
