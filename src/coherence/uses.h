/* SPDX-License-Identifier: MIT */
/*
 * How each field was used in a recording: what a class file wants to know.
 *
 * An object counts from the moment when a second thread touches it: what the first did before was
 * making it. An array counts as used by one thread each when no element is touched by two.
 */
#ifndef COHERENCE_USES_H
#define COHERENCE_USES_H

#include "coherence/blame.h"
#include "coherence/subject.h"
#include "coherence/trace.h"

enum coherence_used {
    COHERENCE_USED_COLD,   /* hardly */
    COHERENCE_USED_READ,   /* at most 1 write among 100 accesses */
    COHERENCE_USED_LOCK,   /* all writes under a common lock */
    COHERENCE_USED_OWNER,  /* written by one thread an object */
    COHERENCE_USED_ATOMIC, /* written by several without a common lock */
};

/* A field of a type, over all objects of it. */
struct coherence_use {
    const char *subject; /* name of the type or variable */
    const struct coherence_field *field;
    uint64_t reads;
    uint64_t writes; /* atomics among them */
    uint64_t atomics;
    enum coherence_used used;
    bool each;                       /* every element of the array has a thread of its own */
    unsigned heat;                   /* 1..10: share of the accesses of the busiest field */
    char lock[COHERENCE_NAME_BYTES]; /* of COHERENCE_USED_LOCK: letters, digits, '_', '.' */
};

struct coherence_uses {
    struct coherence_use *items; /* by type as they were met, then by place */
    size_t count;
};

/* Of subjects with fields. @uses: empty after an error; the caller frees. 0; MGLRU_ENOMEM. */
int coherence_uses_make(const struct coherence_trace *trace,
                        const struct coherence_subjects *subjects, struct coherence_uses *uses);
void coherence_uses_free(struct coherence_uses *uses);

#endif
