/* SPDX-License-Identifier: MIT */
/*
 * Turns the result of a replay into what people and programs read; the only code that formats it.
 *
 * Everything printed is a function of the result alone: no clock, no locale, no machine. Two runs
 * with the same result give the same bytes. Writers put their errors into struct report_out, so a
 * caller opens an output, calls one or more writers and looks at report_out_close().
 *
 * Units: tables show memory in powers of 1024 (32M), JSON and CSV in bytes.
 * None of these functions keeps a pointer to its arguments. One thread per output.
 */
#ifndef REPORT_REPORT_H
#define REPORT_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "replay/result.h"
#include "report/out.h"

/* What the reader's screen can show. */
struct report_style {
    bool terminal;    /* the stream is a terminal */
    bool unicode;     /* the locale's character set is UTF-8 */
    unsigned columns; /* width in characters, at least 40 */
};

/* Looks at @stream, COLUMNS, LC_ALL, LC_CTYPE and LANG. */
void report_style_detect(FILE *stream, struct report_style *style);

/*
 * The aligned table: one row a run, then one section a memcg when there is more than one, then
 * report_matrix().
 */
void report_table(struct report_out *out, const struct replay_result *result);

/*
 * The summary: one row a policy and model, one column a size, miss ratios in the cells. Nothing
 * for less than two of either, or more than twelve sizes.
 */
void report_matrix(struct report_out *out, const struct replay_result *result);

/* Which generation, tier and rule evicted what was needed again; runs with explain rows only. */
void report_explain(struct report_out *out, const struct replay_result *result);

/*
 * Miss ratio over memory size drawn with characters, one mark a policy and model; a result with
 * one size each but with a series is drawn over accesses. Nothing when there is nothing to draw.
 */
void report_terminal_plot(struct report_out *out, const struct replay_result *result,
                          const struct report_style *style);

/* True when the result holds at least two sizes of one policy and model, or a series. */
bool report_can_plot(const struct replay_result *result);

/*
 * The JSON twin of the table with the keys of ARCHITECTURE.md.
 * 0; MGLRU_ENOMEM; MGLRU_ENOTSUP: built without json-c. Write errors stay in @out.
 */
int report_json(struct report_out *out, const struct replay_result *result,
                struct report_error *error);

/*
 * One row a run, memcg and sample (column kind), the same names as in JSON. oom is 0 or 1 for a
 * run, the number of events for a memcg.
 */
void report_csv(struct report_out *out, const struct replay_result *result);

/*
 * Draws the curves (or the series) through gnuplot into @path, whose name ends in .svg or .png.
 * Blocks until gnuplot is done.
 * 0; MGLRU_EINVAL: another ending, or nothing to draw; MGLRU_ENOTSUP: gnuplot is not installed, so
 * show report_terminal_plot() instead; MGLRU_EIO, _EPERM, _ENOENT as report_out_open, or gnuplot
 * failed; MGLRU_ENOMEM. Nothing is left at @path after an error.
 */
int report_plot(const char *path, const struct replay_result *result, struct report_error *error);

/* A result read back, with the strings it points to. */
struct report_loaded {
    struct replay_result result;
    char **strings; /* policy, model and counter names; owned here, not by the result */
    size_t string_count;
    size_t string_capacity;
};

/*
 * Reads what report_json wrote; @path "-" is standard input. @loaded: empty after an error.
 * 0; MGLRU_EINVAL: a folder, or not such a file, then @error names the key; MGLRU_ENOENT,
 * MGLRU_EPERM, MGLRU_EIO; MGLRU_ENOMEM; MGLRU_ENOTSUP: built without json-c.
 */
int report_json_read(const char *path, struct report_loaded *loaded, struct report_error *error);
void report_loaded_free(struct report_loaded *loaded);

/*
 * Moves the runs of @from into @into, for shards of one replay, in order of their index. @from is
 * empty afterwards.
 * 0; MGLRU_EINVAL: the two are of different traces, or hold the same run twice, and neither has
 * changed; MGLRU_ENOMEM: both are still to be freed, nothing else.
 */
int report_merge(struct report_loaded *into, struct report_loaded *from,
                 struct report_error *error);

#endif
