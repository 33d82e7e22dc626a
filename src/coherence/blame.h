/* SPDX-License-Identifier: MIT */
/*
 * Misses told by pairs of fields: who reads what, who writes what, on which line of which type.
 *
 * Idea: the model counts by bytes of lines; here the bytes get the names that the caller knows, and
 * what is the same field of different objects of a type is added up. Who missed and who caused it
 * are put in the order reader, writer: of a reader and a writer both directions are one pair, since
 * one cannot go without the other. Of two writers the one that missed stands first.
 */
#ifndef COHERENCE_BLAME_H
#define COHERENCE_BLAME_H

#include "coherence/model.h"
#include "coherence/subject.h"

#define COHERENCE_NAME_BYTES 128

enum coherence_verdict {
    COHERENCE_PAIR_FALSE,
    COHERENCE_PAIR_ARRAY, /* false sharing between elements of one array */
    COHERENCE_PAIR_TRUE,
    COHERENCE_PAIR_LOCKED,
    COHERENCE_VERDICTS
};

struct coherence_pair {
    char subject[COHERENCE_NAME_BYTES]; /* type or variable; "" when the memory has no name */
    uint64_t line; /* counted from the line in which the object starts; of memory without name the
                    * address */
    char reader[COHERENCE_NAME_BYTES];
    char writer[COHERENCE_NAME_BYTES];
    bool both_write;
    enum coherence_verdict verdict;
    uint64_t count;
};

struct coherence_blame {
    struct coherence_pair *pairs; /* most misses first */
    size_t count;
};

/* @blame: empty after an error; the caller frees. 0; MGLRU_ENOMEM. */
int coherence_blame_make(const struct coherence_trace *trace, const struct coherence_result *result,
                         const struct coherence_subjects *subjects, struct coherence_blame *blame);
void coherence_blame_free(struct coherence_blame *blame);

/* "false", "array", "true", "lock". */
const char *coherence_verdict_name(enum coherence_verdict verdict);

#endif
