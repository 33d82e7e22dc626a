/* SPDX-License-Identifier: MIT */
/* Values of options that several subcommands have in common. */
#ifndef CLI_MGLRU_VALUES_H
#define CLI_MGLRU_VALUES_H

#include "cli/args.h"

/* What a size looks like, for messages. */
extern const char values_size_expected[];

/* The name of a file that an option writes; once. False: @error says why. */
bool values_output(const char **path, const char *option, const char *text,
                   struct args_error *error);

/* A file that an option writes; path NULL: it was not given. */
struct values_output {
    const char *path;
    const char *option;
};

/* Every file for one purpose only. */
bool values_outputs_differ(const struct values_output *outputs, size_t count,
                           struct args_error *error);

/* The name says the format of --plot. NULL is allowed: no plot. */
bool values_check_plot(const char *path, struct args_error *error);

/* A comma list of names, each once. */
bool values_names(struct args_list *list, const char *option, const char *text,
                  struct args_error *error);

/* The names of --model are those of kernel models. */
bool values_check_models(const struct args_list *models, struct args_error *error);

/* The value of --swap, in bytes: 0 or at least a page. */
bool values_swap(const char *text, uint64_t *bytes, struct args_error *error);

/* The value of --readahead, in bytes; REPLAY_READAHEAD_AUTO for auto. */
bool values_readahead(const char *text, uint64_t *bytes, struct args_error *error);

#endif
