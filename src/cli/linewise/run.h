/* SPDX-License-Identifier: MIT */
/* Runs a command over its types, into one report: text, or JSON with --json. */
#ifndef CLI_LINEWISE_RUN_H
#define CLI_LINEWISE_RUN_H

#include "cli/linewise/session.h"
#include "report/json_stream.h"

struct linewise_run {
    struct linewise_session *session;
    struct report_out out;
    struct report_json_stream json;
    bool as_json;
    bool found; /* the exit status will be LINEWISE_FOUND */
};

struct linewise_action {
    const char *array; /* key of the JSON array that holds what look writes; NULL: none is opened */
    /* Looks at one type. Returns LINEWISE_CLEAN, or the status after an error was told. */
    int (*look)(struct linewise_run *run, const char *type);
    /* Writes what comes behind the array, or NULL. Returns as look does. */
    int (*finish)(struct linewise_run *run);
    bool no_gaps;     /* no empty line between types */
    const char *none; /* what a page says instead of no text at all; NULL: there always is some */
};

/* Reads the command line, opens everything, looks at each type. Returns the exit status. */
int linewise_run(int argc, char **argv, const struct linewise_syntax *syntax,
                 const struct linewise_action *action);

#endif
