/* SPDX-License-Identifier: MIT */
/* Rows of the comparison, and how they are printed: text, Markdown, JSON. */
#ifndef FIDELITY_TABLE_H
#define FIDELITY_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "bounds.h"

enum verdict {
    VERDICT_STUDY = 1, /* no bound */
    VERDICT_INSIDE,
    VERDICT_OUTSIDE
};

#define ROW_TEXT_BYTES 64

/* One compared figure. Texts that do not fit their arrays are cut. */
struct row {
    char kernel[8];
    char name[ROW_TEXT_BYTES];
    char mode[ROW_TEXT_BYTES];
    char what[ROW_TEXT_BYTES];
    char note[ROW_TEXT_BYTES]; /* flush schedule, kernel charge, or what was expected instead */
    uint64_t theirs;           /* the kernel's, median over repeats */
    uint64_t least, most;      /* over repeats */
    uint64_t ours;
    uint64_t low, high; /* over schedules; both equal to ours where there is one */
    uint64_t accesses;  /* whose misses were recorded one by one; 0: not */
    uint64_t differing; /* of them judged differently */
    struct bound bound;
    enum verdict verdict;
    bool exact; /* a count of things that must all agree: theirs of accesses */
};

struct table {
    struct row *rows;
    size_t count;
    size_t capacity;
};

/* Appends a copy. False: out of memory. */
bool table_add(struct table *table, const struct row *row);
void table_free(struct table *table);

/* Rows out of bounds. */
size_t table_outside(const struct table *table);

void table_print_head(FILE *out);
void table_print_row(FILE *out, const struct row *row);
void table_print_summary(FILE *out, const struct table *table);
void table_print_markdown(FILE *out, const struct table *table);
/* {"rows":[{...}],"outside":N}. False: out of memory. */
bool table_print_json(FILE *out, const struct table *table);

#endif
