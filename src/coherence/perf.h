/* SPDX-License-Identifier: MIT */
/* The two texts of perf, line by line. Private to coherence/. */
#ifndef COHERENCE_PERF_H
#define COHERENCE_PERF_H

#include "coherence/samples.h"

/* The line in which the table of c2c begins. */
#define PERF_PARETO "Shared Cache Line Distribution Pareto"
/* What stands before the kind of a sample in `perf script`. */
#define PERF_OPERATION "|OP "

struct perf_text {
    char *rest; /* NULL: no line is left */
    const char *name;
    unsigned long number; /* of the last line */
    struct coherence_samples *samples;
    struct coherence_error *error;
};

/* The next line, ended by NUL, without its newline; NULL: none is left. The caller may cut it. */
char *perf_next_line(struct perf_text *text);

/* Says what is wrong with the last line; returns MGLRU_EINVAL. */
int perf_fail_line(const struct perf_text *text, const char *what);
/* Says why a sample of the last line could not be kept; returns @code. */
int perf_fail_add(const struct perf_text *text, int code);

/* The word at *@rest, ended by NUL; NULL: none is left. */
char *perf_next_word(char **rest);

/* Hexadecimal with or without 0x, decimal; false: it is none, or too large. */
bool perf_hex(const char *word, uint64_t *value);
bool perf_count(const char *word, uint64_t *value);

/* Read all lines. 0 or an error code, and the text's error says why. */
int perf_read_c2c(struct perf_text *text);
int perf_read_script(struct perf_text *text);

#endif
