/* SPDX-License-Identifier: MIT */
/*
 * Which fields fight over a cache line, which only seem to, and what the map rests on.
 *
 * On one line:
 *   read x atomic                      false sharing, error
 *   atomic x lock(L)                   false sharing, warning: the writer steals the holder's line
 *   lock(L1) x lock(L2)                false sharing, warning
 *   owner x anything written           false sharing, warning
 *   read x lock(L), read x owner       note: each hand-over takes the reader's line too; with
 *                                      weights whose product is 7 or more a warning
 *   lock word L x lock(L)              note: waiters take the line from the holder
 *   lock(L) x lock(L)                  true sharing: no fight, explained
 * Of one type:
 *   elements with a CPU each, closer than a line apart            warning
 *   a hot field that straddles two lines                          warning
 *   a type aligned to more than its allocator keeps               warning
 *   data of one lock spread by padding over more lines than needed    warning: slower, not faster
 *
 * Parts of one union are never two fields. Nothing is said about cold and unknown fields.
 * One thread per list.
 */
#ifndef LAYOUT_CONFLICTS_H
#define LAYOUT_CONFLICTS_H

#include "layout/classify.h"

enum layout_verdict {
    LAYOUT_READ_ATOMIC,
    LAYOUT_ATOMIC_LOCK,
    LAYOUT_LOCK_LOCK,
    LAYOUT_OWNER_WRITTEN,
    LAYOUT_READ_LOCK,
    LAYOUT_READ_OWNER,
    LAYOUT_LOCK_WORD,
    LAYOUT_TRUE_SHARING,
    LAYOUT_ELEMENTS,
    LAYOUT_STRADDLE,
    LAYOUT_ALIGNMENT,
    LAYOUT_SPLIT,
    LAYOUT_VERDICTS
};

enum layout_severity { LAYOUT_NOTE, LAYOUT_WARNING, LAYOUT_ERROR };

struct layout_finding {
    uint64_t line; /* of the object; the first one */
    uint64_t last_line;
    enum layout_verdict verdict;
    enum layout_severity severity;
    const struct layout_field **readers; /* what @line's readers want; for true sharing: none */
    const struct layout_field **writers;
    size_t reader_count;
    size_t writer_count;
    uint64_t bases; /* bit b: it happens when the object starts b * 8 bytes behind a line's start */
    char *why;      /* a sentence or two */
};

/* Bases are multiples of this; smaller ones no allocator hands out. */
#define LAYOUT_BASE_STEP 8u
#define LAYOUT_LINE_MIN 16u
#define LAYOUT_LINE_MAX 512u /* 64 bases fit into layout_finding.bases */

struct layout_conflict_options {
    uint64_t line_bytes;  /* a power of 2 in LAYOUT_LINE_MIN..LAYOUT_LINE_MAX */
    uint64_t base_bytes;  /* where on a line the object starts */
    bool any_base;        /* every multiple of LAYOUT_BASE_STEP below line_bytes instead */
    uint64_t alloc_align; /* alignment of objects that is surely kept; UINT64_MAX: the type's */
};

struct layout_findings {
    struct layout_finding *items; /* by severity, worst first, then by line */
    size_t count;
    struct layout_conflict_options options;
};

/* Two fields that share a line, whichever line that is: what diff, lock and suggest compare. */
struct layout_pair {
    enum layout_verdict verdict;
    const struct layout_field *first; /* the reader where there is one */
    const struct layout_field *second;
};

/*
 * Finds all of the above in @map. @findings: filled in; empty after an error; points into @map.
 * 0; MGLRU_ENOMEM.
 */
int layout_conflicts_find(const struct layout_map *map,
                          const struct layout_conflict_options *options,
                          struct layout_findings *findings);
void layout_findings_free(struct layout_findings *findings);

/* Two hot fields on one line. False: nothing to say about them. The pair is in canonical order. */
bool layout_pair_judge(const struct layout_field *a, const struct layout_field *b,
                       struct layout_pair *pair);

enum layout_severity layout_verdict_severity(enum layout_verdict verdict);

/* "false sharing", "true sharing", ...; stable, also in JSON. */
const char *layout_verdict_name(enum layout_verdict verdict);

/* "read x atomic", ...: the pair of classes; stable, also in lock files. */
const char *layout_verdict_pair(enum layout_verdict verdict);
bool layout_verdict_of_pair(const char *text, enum layout_verdict *verdict);

/* "error", "warning", "note". */
const char *layout_severity_name(enum layout_severity severity);

/* What one pair on one line costs; the scale is measured, see suggest.h. 0 for what is no fight. */
unsigned layout_verdict_weight(enum layout_verdict verdict);

/* What the pair costs on one line: its verdict's weight times the heat of both fields. */
uint64_t layout_pair_cost(const struct layout_pair *pair);

/* First and last line of a field when its object starts @base_bytes behind a line's start. */
void layout_field_lines(const struct layout_field *field, uint64_t line_bytes, uint64_t base_bytes,
                        uint64_t lines[2]);

/* Bits of the object that lie on @line, for layout_field_text(). */
void layout_line_bits(const struct layout_conflict_options *options, uint64_t line,
                      uint64_t bits[2]);

#endif
