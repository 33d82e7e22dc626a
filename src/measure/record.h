/* SPDX-License-Identifier: MIT */
/*
 * Records the accesses of a piece of work (work.h) to the hot objects of its build, as a trace for
 * the coherence model.
 *
 * Idea: threads of the process take turns of one operation, so that the same work gives the same
 * trace, and no wait for a lock or a processor is in it. Time between two accesses is told by what
 * was accessed meanwhile, COHERENCE_HIT_NS each.
 */
#ifndef MEASURE_RECORD_H
#define MEASURE_RECORD_H

#include "coherence/trace.h"
#include "measure/work.h"

/* Fields that are thought away from where they are, each object's onto a line of its own, while
 * nothing else changes: the proof that it is their place that costs. */
struct record_apart {
    const char *object; /* "lruvec" */
    const char *field;  /* "enabled" */
};

struct record_wish {
    struct work_setup setup;
    unsigned operations; /* a thread */
    unsigned warm;       /* before, which are not recorded */
    const struct record_apart *apart;
    size_t apart_count;
};

struct recording {
    struct coherence_trace trace;
    struct coherence_subject objects[WORK_OBJECTS_MAX]; /* by address */
    size_t object_count;
};

/*
 * Records @work of an instrumented @build. *@out: the caller frees it in any case.
 * 0; MGLRU_EAGAIN: no thread could be started; MGLRU_ENOMEM; an error of the work.
 */
int record_work(const struct work_build *build, const struct work *work,
                const struct record_wish *wish, struct recording *out);
void recording_free(struct recording *recording);

#endif
